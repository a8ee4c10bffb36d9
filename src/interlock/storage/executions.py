"""Queries for executions, challenges, notifications to agents, plans and workflows."""

from __future__ import annotations

from msgspec.structs import replace

from interlock.model import AgentRef
from interlock.policy.digest import normal_name
from interlock.ports import StoreError
from interlock.records import Challenge, Execution, Notification
from interlock.records.plans import PlanQuery, PlanRow, Workflow
from interlock.storage import Transaction
from interlock.storage.rows import RecordTable

CHALLENGES = RecordTable("challenges", Challenge, key=("id",))
EXECUTIONS = RecordTable("executions", Execution, key=("id",), by_name=True)
NOTIFICATIONS = RecordTable("notifications", Notification, key=("id",), by_name=True)

_FIXED = ("id", "principal", "name", "session", "parent", "started_at", "goal", "quota")
# Delivered with every directive until they are cleared; all others once.
_PERSISTENT = "('permission_pending', 'autonomy_pause', 'danger_zone')"


def next_number(db: Transaction, name: str) -> int:
    """The next number of a sequence; never the same twice."""
    return int(
        db.execute(
            "INSERT INTO counters (name, value) VALUES (?, 1) "
            "ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value",
            (name,),
        )[0][0]
    )


class LoopQueries:
    """The part of a transaction for executions."""

    db: Transaction

    def challenge(self, id: str) -> Challenge | None:
        return CHALLENGES.first(self.db, "WHERE id = ?", (id,))

    def challenges(self, principal: str = "", state: str = "open", since: float = 0.0) -> list[Challenge]:
        """The oldest first; an empty filter matches any."""
        wanted = {column: value for column, value in (("principal", principal), ("state", state)) if value}
        later = f"{_where(wanted) or 'WHERE TRUE'} AND opened_at > ? ORDER BY opened_at, id"
        return CHALLENGES.find(self.db, later, [*wanted.values(), since])

    def save_challenge(self, challenge: Challenge) -> None:
        self.db.execute(CHALLENGES.upsert, CHALLENGES.values(challenge))

    def execution(self, id: str) -> Execution | None:
        return EXECUTIONS.first(self.db, "WHERE id = ?", (id,))

    def executions(self, agent: AgentRef | None = None, status: str = "", most: int = 0) -> list[Execution]:
        """The newest first, at most so many; 0 means all."""
        wanted = {} if agent is None else {"principal": agent.principal, "name_key": normal_name(agent.name)}
        if status:
            wanted["status"] = status
        cut = f" LIMIT {int(most)}" if most else ""
        return EXECUTIONS.find(self.db, f"{_where(wanted)} ORDER BY started_at DESC, id{cut}", list(wanted.values()))

    def save_execution(self, execution: Execution, before: Execution | None) -> bool:
        """Adds an execution, or compare-and-sets it on its version; False where it changed in between."""
        if before is None:
            added = f"{EXECUTIONS.insert} ON CONFLICT DO NOTHING RETURNING id"
            return bool(self.db.execute(added, EXECUTIONS.values(execution)))
        if execution.id != before.id:
            raise StoreError(f"execution {before.id!r} cannot become execution {execution.id!r}")
        after = replace(execution, version=before.version + 1)
        sql = f"{EXECUTIONS.update(_FIXED)} WHERE id = ? AND version = ? RETURNING id"
        return bool(self.db.execute(sql, [*EXECUTIONS.changes(after, _FIXED), before.id, before.version]))

    def add_notification(self, note: Notification) -> int:
        """Stores it under the next number, whatever number it has."""
        number = next_number(self.db, "notification")
        self.db.execute(NOTIFICATIONS.insert, NOTIFICATIONS.values(replace(note, id=number)))
        return number

    def notifications(self, agent: AgentRef, now: float) -> list[Notification]:
        """The agent's undelivered notifications, and those that stay until cleared."""
        where = (
            "WHERE principal = ? AND name_key = ? AND cleared_at = 0 AND at <= ? "
            f"AND (delivered_at = 0 OR type IN {_PERSISTENT}) ORDER BY id"
        )
        return NOTIFICATIONS.find(self.db, where, (agent.principal, normal_name(agent.name), now))

    def change_notification(self, note: Notification) -> None:
        """Changes a notification; refuses an unknown number."""
        sql = f"{NOTIFICATIONS.update(('id', 'principal', 'name'))} WHERE id = ? RETURNING id"
        if not self.db.execute(sql, [*NOTIFICATIONS.changes(note, ("id", "principal", "name")), note.id]):
            raise StoreError(f"there is no notification {note.id}")


def _where(wanted: dict[str, str]) -> str:
    return "WHERE " + " AND ".join(f"{column} = ?" for column in wanted) if wanted else ""


PLANS = RecordTable("plans", PlanRow, key=("id",))
WORKFLOWS = RecordTable("workflows", Workflow, key=("id",))
_WORDS = ("intent", "generated", "command")


class PlanQueries:
    """The part of a transaction for plans and workflows."""

    db: Transaction

    def plan(self, id: str) -> PlanRow | None:
        return PLANS.first(self.db, "WHERE id = ?", (id,))

    def plans(self, query: PlanQuery) -> list[PlanRow]:
        """The newest first; a text is searched for in requests, proposals and runs."""
        wanted: list[str] = []
        params: list[str | float] = []
        for column, value in (("status", query.status), ("operator", query.operator)):
            if value:
                wanted.append(f"{column} = ?")
                params.append(value)
        if query.before:
            wanted.append("made_at < ?")
            params.append(query.before)
        if query.text:
            like = f"%{_escape_like(query.text.lower())}%"
            wanted.append("(" + " OR ".join(f"lower({column}) LIKE ? ESCAPE '!'" for column in _WORDS) + ")")
            params += [like] * len(_WORDS)
        where = f"WHERE {' AND '.join(wanted)} " if wanted else ""
        return PLANS.readable(
            self.db, f"{where}ORDER BY made_at DESC, id DESC LIMIT {max(1, int(query.limit))}", params
        )

    def save_plan(self, row: PlanRow) -> None:
        self.db.execute(PLANS.upsert, PLANS.values(row))

    def workflow(self, id: str) -> Workflow | None:
        return WORKFLOWS.first(self.db, "WHERE id = ? AND removed_at = 0", (id,))

    def workflows(self) -> list[Workflow]:
        """By name, without the removed ones."""
        return WORKFLOWS.readable(self.db, "WHERE removed_at = 0 ORDER BY name, id")

    def save_workflow(self, row: Workflow) -> None:
        self.db.execute(WORKFLOWS.upsert, WORKFLOWS.values(row))


def _escape_like(text: str) -> str:
    """The text with LIKE's wildcards escaped."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
