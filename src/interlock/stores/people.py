"""Operators and their credentials; agents, their blocks and what they were denied."""

from __future__ import annotations

from interlock.core.digest import normal_name
from interlock.core.records import AgentRow, Block, Credential, Denial, OperatorRow
from interlock.ports import Change
from interlock.stores.rows import Table
from interlock.stores.seam import Session

OPERATORS = Table("operators", OperatorRow, key=("name",))
CREDENTIALS = Table("credentials", Credential, key=("id",))
AGENTS = Table("agents", AgentRow, key=("principal", "name_key"), by_name=True)
BLOCKS = Table("blocks", Block, key=("principal", "since"))
DENIALS = Table("denials", Denial, key=("effect_key", "principal", "session", "ticket"))

_MOST_DENIALS = 2_000  # of one principal that are compared: rejections first, then the newest


class People:
    """The part of a transaction that is about who is who."""

    db: Session

    def operators(self) -> list[OperatorRow]:
        return OPERATORS.find(self.db, "ORDER BY name")

    def save_operator(self, row: OperatorRow) -> None:
        self.db.execute(OPERATORS.upsert, OPERATORS.values(row))
        self.db.changed.append(Change.OPERATORS)

    def credentials(self, operator: str) -> list[Credential]:
        return CREDENTIALS.find(self.db, "WHERE operator = ? ORDER BY created_at, id", (operator,))

    def all_credentials(self) -> list[Credential]:
        """Of everybody, the removed ones too."""
        return CREDENTIALS.find(self.db, "ORDER BY operator, created_at, id")

    def save_credential(self, row: Credential) -> None:
        self.db.execute(CREDENTIALS.upsert, CREDENTIALS.values(row))
        self.db.changed.append(Change.OPERATORS)

    def use_credential(self, id: str, before: int, counter: int, at: float) -> bool:
        """Counts a use up from what it was before; False when somebody was faster."""
        sql = "UPDATE credentials SET counter = ?, used_at = ? WHERE id = ? AND counter = ? RETURNING id"
        return bool(self.db.execute(sql, (counter, at, id, before)))

    def agent(self, principal: str, name: str) -> AgentRow | None:
        return AGENTS.first(self.db, "WHERE principal = ? AND name_key = ?", (principal, normal_name(name)))

    def agents(self) -> list[AgentRow]:
        return AGENTS.find(self.db, "ORDER BY principal, name_key")

    def agent_by_token(self, token_hash: str) -> AgentRow | None:
        """None for the empty hash; a revoked agent is returned as what it is."""
        return AGENTS.first(self.db, "WHERE token_hash = ? AND token_hash <> ''", (token_hash,))

    def save_agent(self, row: AgentRow) -> None:
        self.db.execute(AGENTS.upsert, AGENTS.values(row))
        self.db.changed.append(Change.AGENTS)

    def block(self, principal: str) -> Block | None:
        """The newest block that nobody lifted."""
        return BLOCKS.first(self.db, "WHERE principal = ? AND lifted_at = 0 ORDER BY since DESC", (principal,))

    def blocks(self) -> list[Block]:
        """All, the lifted ones too, the newest first."""
        return BLOCKS.find(self.db, "ORDER BY since DESC, principal")

    def save_block(self, block: Block) -> None:
        """Adds a block, or changes the one of this principal that began at the same time."""
        self.db.execute(BLOCKS.upsert, BLOCKS.values(block))
        self.db.changed.append(Change.BLOCKS)

    def denials(self, now: float, principal: str = "") -> list[Denial]:
        """What is held or was rejected and still binds, of one principal or of all; rejections first, then the newest."""
        if not principal:
            return DENIALS.find(self.db, "WHERE until > ?", (now,))
        where = "WHERE principal = ? AND until > ? ORDER BY rejected_at DESC, at DESC, effect_key DESC"
        return DENIALS.find(self.db, f"{where} LIMIT {_MOST_DENIALS}", (principal, now))

    def save_denial(self, denial: Denial) -> None:
        self.db.execute(DENIALS.upsert, DENIALS.values(denial))
        self.db.changed.append(Change.DENIALS)

    def forget_denials(self, before: float) -> None:
        """Lets go of what ended before that."""
        self.db.execute("DELETE FROM denials WHERE until < ?", (before,))
