"""Queries for operators, credentials, agents, patterns and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.policy.digest import normal_name
from interlock.ports import StoreError, StoreEvent
from interlock.records import AgentRow, Credential, OperatorRow, SealedSession
from interlock.storage import RecordTable, Transaction, from_json, stored_text, to_json

OPERATORS = RecordTable("operators", OperatorRow, key=("name",))
CREDENTIALS = RecordTable("credentials", Credential, key=("id",))
SESSIONS = RecordTable("sealed_sessions", SealedSession, key=("mark",))
AGENTS = RecordTable("agents", AgentRow, key=("principal", "name_key"), by_name=True)


class IdentityQueries:
    """The part of a transaction for operators, credentials and agents."""

    db: Transaction

    def operators(self) -> list[OperatorRow]:
        return OPERATORS.find(self.db, "ORDER BY name")

    def save_operator(self, row: OperatorRow) -> None:
        OPERATORS.save(self.db, row)
        self.db.changed.append(StoreEvent.OPERATORS)

    def credentials(self, operator: str) -> list[Credential]:
        return CREDENTIALS.find(self.db, "WHERE operator = ? ORDER BY created_at, id", (operator,))

    def all_credentials(self) -> list[Credential]:
        """Of all operators, removed ones too."""
        return CREDENTIALS.find(self.db, "ORDER BY operator, created_at, id")

    def save_credential(self, row: Credential) -> None:
        CREDENTIALS.save(self.db, row)
        self.db.changed.append(StoreEvent.OPERATORS)

    def use_credential(self, id: str, before: int, counter: int, at: float) -> bool:
        """Compare-and-set on the counter; False when another use came first."""
        sql = "UPDATE credentials SET counter = ?, used_at = ? WHERE id = ? AND counter = ? RETURNING id"
        return bool(self.db.execute(sql, (counter, at, id, before)))

    def sealed_session(self, mark: str) -> SealedSession | None:
        return SESSIONS.first(self.db, "WHERE mark = ?", (mark,))

    def sealed_sessions(self, kind: str) -> list[SealedSession]:
        return SESSIONS.find(self.db, "WHERE kind = ? ORDER BY ends_at, mark", (kind,))

    def save_session(self, row: SealedSession) -> None:
        SESSIONS.save(self.db, row)

    def note_session(self, mark: str, at: float, before: float) -> None:
        self.db.execute("UPDATE sealed_sessions SET seen_at = ? WHERE mark = ? AND seen_at < ?", (at, mark, before))

    def delete_session(self, mark: str) -> bool:
        return bool(self.db.execute("DELETE FROM sealed_sessions WHERE mark = ? RETURNING mark", (mark,)))

    def delete_sessions(self, owner: str) -> None:
        self.db.execute("DELETE FROM sealed_sessions WHERE owner = ?", (owner,))

    def agent(self, principal: str, name: str) -> AgentRow | None:
        return AGENTS.first(self.db, "WHERE principal = ? AND name_key = ?", (principal, normal_name(name)))

    def agents(self) -> list[AgentRow]:
        return AGENTS.find(self.db, "ORDER BY principal, name_key")

    def agent_by_token(self, token_hash: str) -> AgentRow | None:
        """None for the empty hash; revoked agents are returned too."""
        return AGENTS.first(self.db, "WHERE token_hash = ? AND token_hash <> ''", (token_hash,))

    def save_agent(self, row: AgentRow) -> None:
        AGENTS.save(self.db, row)
        self.db.changed.append(StoreEvent.AGENTS)


PROBE = "probe"  # a setting that is written to test the store; not announced


class SettingQueries:
    """The part of a transaction for patterns and settings."""

    db: Transaction

    def patterns(self) -> list[Mapping[str, Any]]:
        return [from_json(body) for (body,) in self.db.execute("SELECT body FROM patterns ORDER BY id")]

    def save_pattern(self, pattern: Mapping[str, Any]) -> None:
        """Adds or replaces a pattern; refuses one without an id."""
        id = pattern.get("id")
        if not isinstance(id, str) or not id:
            raise StoreError(f"pattern: expected an id, got {id!r}")
        self.db.execute(
            "INSERT INTO patterns (id, body) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
            (id, to_json(pattern)),
        )
        self.db.changed.append(StoreEvent.PATTERNS)

    def delete_pattern(self, id: str) -> bool:
        gone = bool(self.db.execute("DELETE FROM patterns WHERE id = ? RETURNING id", (id,)))
        if gone:
            self.db.changed.append(StoreEvent.PATTERNS)
        return gone

    def setting(self, key: str) -> str | None:
        found = self.db.execute('SELECT value FROM settings WHERE "key" = ?', (key,))
        return stored_text(found[0][0]) if found else None

    def save_setting(self, key: str, value: str) -> None:
        self.db.execute(
            'INSERT INTO settings ("key", value) VALUES (?, ?) ON CONFLICT ("key") DO UPDATE SET value = excluded.value',
            (key, value),
        )
        if key != PROBE:
            self.db.changed.append(StoreEvent.SETTING + key[:200])  # announcements are limited in length
