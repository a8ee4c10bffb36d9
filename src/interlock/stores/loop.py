"""The execution safety loop's state: executions, challenges, and what agents are still to be told."""

from __future__ import annotations

from dataclasses import replace

from interlock.core.digest import normal_name
from interlock.core.model import AgentRef
from interlock.core.records import Challenge, Execution, Notification
from interlock.ports import StoreError
from interlock.stores.rows import Table
from interlock.stores.seam import Session

CHALLENGES = Table("challenges", Challenge, key=("id",))
EXECUTIONS = Table("executions", Execution, key=("id",), by_name=True)
NOTIFICATIONS = Table("notifications", Notification, key=("id",), by_name=True)

_FIXED = ("id", "principal", "name", "session", "parent", "started_at", "goal", "quota")
# These are told with every directive until they are cleared; all others once.
_STAYING = "('permission_pending', 'autonomy_pause', 'danger_zone')"


def next_number(db: Session, name: str) -> int:
    """1, 2, 3…; a number is never given twice."""
    return int(
        db.execute(
            "INSERT INTO counters (name, value) VALUES (?, 1) "
            "ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value",
            (name,),
        )[0][0]
    )


class Loop:
    """The part of a transaction that is about executions."""

    db: Session

    def challenge(self, id: str) -> Challenge | None:
        return CHALLENGES.first(self.db, "WHERE id = ?", (id,))

    def challenges(self, principal: str = "", state: str = "open", since: float = 0.0) -> list[Challenge]:
        """The oldest first; an empty word means any."""
        wanted = {column: value for column, value in (("principal", principal), ("state", state)) if value}
        later = f"{_where(wanted) or 'WHERE TRUE'} AND opened_at > ? ORDER BY opened_at, id"
        return CHALLENGES.find(self.db, later, [*wanted.values(), since])

    def save_challenge(self, challenge: Challenge) -> None:
        self.db.execute(CHALLENGES.upsert, CHALLENGES.values(challenge))

    def execution(self, id: str) -> Execution | None:
        return EXECUTIONS.first(self.db, "WHERE id = ?", (id,))

    def executions(self, agent: AgentRef | None = None, status: str = "", most: int = 0) -> list[Execution]:
        """The newest first; so many of them, or all."""
        wanted = {} if agent is None else {"principal": agent.principal, "name_key": normal_name(agent.name)}
        if status:
            wanted["status"] = status
        cut = f" LIMIT {int(most)}" if most else ""
        return EXECUTIONS.find(self.db, f"{_where(wanted)} ORDER BY started_at DESC, id{cut}", list(wanted.values()))

    def save_execution(self, execution: Execution, before: Execution | None) -> bool:
        """Adds it, or changes it if it is still as it was before, and counts its version up."""
        if before is None:
            added = f"{EXECUTIONS.insert} ON CONFLICT DO NOTHING RETURNING id"
            return bool(self.db.execute(added, EXECUTIONS.values(execution)))
        if execution.id != before.id:
            raise StoreError(f"execution {before.id!r} cannot become execution {execution.id!r}")
        after = replace(execution, version=before.version + 1)
        sql = f"{EXECUTIONS.update(_FIXED)} WHERE id = ? AND version = ? RETURNING id"
        return bool(self.db.execute(sql, [*EXECUTIONS.changes(after, _FIXED), before.id, before.version]))

    def add_notification(self, note: Notification) -> int:
        """Keeps it under the next number, whatever number it came with."""
        number = next_number(self.db, "notification")
        self.db.execute(NOTIFICATIONS.insert, NOTIFICATIONS.values(replace(note, id=number)))
        return number

    def notifications(self, agent: AgentRef, now: float) -> list[Notification]:
        """What the agent was not told yet, and what stays until it is cleared."""
        where = (
            "WHERE principal = ? AND name_key = ? AND cleared_at = 0 AND at <= ? "
            f"AND (delivered_at = 0 OR type IN {_STAYING}) ORDER BY id"
        )
        return NOTIFICATIONS.find(self.db, where, (agent.principal, normal_name(agent.name), now))

    def change_notification(self, note: Notification) -> None:
        """Refuses a number that was never given."""
        sql = f"{NOTIFICATIONS.update(('id', 'principal', 'name'))} WHERE id = ? RETURNING id"
        if not self.db.execute(sql, [*NOTIFICATIONS.changes(note, ("id", "principal", "name")), note.id]):
            raise StoreError(f"there is no notification {note.id}")


def _where(wanted: dict[str, str]) -> str:
    return "WHERE " + " AND ".join(f"{column} = ?" for column in wanted) if wanted else ""
