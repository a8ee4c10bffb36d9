"""One transaction in SQL: what decisions are made by, and the queries for executions, plans, deliveries, snapshots, people, agents and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from interlock.canonical_json import normal_name
from interlock.model import AgentRef
from interlock.ports import StoreError, StoreEvent
from interlock.records import (
    AgentRow,
    AgentTotals,
    Challenge,
    Credential,
    Delivery,
    Execution,
    Figures,
    HistoryEntry,
    Notification,
    OperatorRow,
    SealedSession,
    Snapshot,
    SnapshotQuery,
    Ticket,
)
from interlock.records.plans import PlanQuery, PlanRow, Workflow
from interlock.storage import RecordTable, contains, from_json, stored_text, to_json, where
from interlock.storage.decisions import DEEDS, LIKE, DecisionQueries, agent_key

# Uses the index of each agent's history, so that a long one costs no more than a short one.
_LAST = """
SELECT principal, name_key, (
  SELECT max(at) FROM deeds WHERE deeds.principal = figures.principal AND deeds.name_key = figures.name_key
) FROM figures WHERE figure = 'total_checked'
"""
CHALLENGES = RecordTable("challenges", Challenge, key=("id",))
EXECUTIONS = RecordTable("executions", Execution, key=("id",), by_name=True)
NOTIFICATIONS = RecordTable("notifications", Notification, key=("id",), by_name=True)
_LIVE = "status IN ('running', 'paused')"  # an execution starts running, and a block is its principal's
_FIXED_EXECUTION = ("id", "principal", "name", "session", "parent", "started_at", "goal", "quota")
# Delivered with every directive until they are cleared; all others once.
_PERSISTENT = "('permission_pending', 'autonomy_pause', 'danger_zone')"
PLANS = RecordTable("plans", PlanRow, key=("id",))
WORKFLOWS = RecordTable("workflows", Workflow, key=("id",))
_WORDS = " OR ".join(map(LIKE.format, ("intent", "generated", "command")))
SNAPSHOTS = RecordTable("snapshots", Snapshot, key=("id",))
DELIVERIES = RecordTable("deliveries", Delivery, key=("id",))
_FIXED_DELIVERY = ("id", "channel", "event", "about", "words", "made_at")
OPERATORS = RecordTable("operators", OperatorRow, key=("name",), announces=StoreEvent.OPERATORS)
CREDENTIALS = RecordTable("credentials", Credential, key=("id",), announces=StoreEvent.OPERATORS)
SESSIONS = RecordTable("sealed_sessions", SealedSession, key=("mark",))
AGENTS = RecordTable("agents", AgentRow, key=("principal", "name_key"), by_name=True, announces=StoreEvent.AGENTS)
PROBE = "probe"  # a setting that is written to test the store; not announced


class SqlTx(DecisionQueries):
    # figures

    def figures(self) -> Figures:
        rows = self.execute("SELECT figure, CAST(sum(value) AS BIGINT) FROM figures GROUP BY figure")
        totals = {str(figure): int(value) for figure, value in sorted(rows)}

        def part(prefix: str) -> dict[str, int]:
            return {name.removeprefix(prefix): total for name, total in totals.items() if name.startswith(prefix)}

        return Figures(
            **{name: totals.get(name, 0) for name, of in Figures.__annotations__.items() if of == "int"},
            by_severity=part("severity:"),
            by_category=part("category:"),
            by_decision=part("decision:"),
            answers=part("answered:"),
            answer_ms=part("answer_ms:"),
        )

    def deeds(self, principal: str, name: str, since: float, most: int) -> list[HistoryEntry]:
        where = "WHERE principal = ? AND name_key = ? AND at > ? ORDER BY at DESC LIMIT ?"
        return DEEDS.find(self, where, (principal, normal_name(name), since, most))

    def agent_totals(self) -> list[AgentTotals]:
        found: dict[tuple[str, str], dict[str, int]] = {}
        sql = "SELECT principal, name_key, figure, value FROM figures ORDER BY principal, name_key, figure"
        for principal, name, figure, value in self.execute(sql):
            found.setdefault((stored_text(principal), stored_text(name)), {})[str(figure)] = int(value)
        last = {(stored_text(who), stored_text(name)): float(at or 0) for who, name, at in self.execute(_LAST)}
        totals = [AgentTotals(*who, figures, last.get(who, 0.0)) for who, figures in found.items()]
        return sorted(totals, key=lambda one: (-one.last_at, one.principal, one.name))

    # executions

    challenge, save_challenge = CHALLENGES.getter(), CHALLENGES.saver()

    def challenges(self, principal: str = "", state: str = "open", since: float = 0.0) -> list[Challenge]:
        given = (("principal = ?", principal or None), ("state = ?", state or None), ("opened_at > ?", since))
        clause, params = where(*given)
        return CHALLENGES.find(self, f"{clause}ORDER BY opened_at, id", params)

    def challenged_ticket(self, challenge: Challenge) -> Ticket | None:
        return self.live_ticket(challenge.digest, challenge.agent) if challenge.digest else None

    execution = EXECUTIONS.getter()

    def executions(
        self, agent: AgentRef | None = None, status: str = "", most: int = 0, live: bool = False
    ) -> list[Execution]:
        principal, name = agent_key(agent) if agent is not None else (None, None)
        clause, params = where(
            ("principal = ?", principal), ("name_key = ?", name), ("status = ?", status or None), (_LIVE, live or None)
        )
        cut = f" LIMIT {int(most)}" if most else ""
        return EXECUTIONS.find(self, f"{clause}ORDER BY started_at DESC, id{cut}", params)

    def save_execution(self, execution: Execution, before: Execution | None) -> bool:
        if before is None:
            return EXECUTIONS.add_new(self, execution)
        if execution.id != before.id:
            raise StoreError(f"execution {before.id!r} cannot become execution {execution.id!r}")
        after = replace(execution, version=before.version + 1)
        same = (before.id, before.version)
        # To set a status to itself would write both indexes again, with every step of an agent.
        fixed = (*_FIXED_EXECUTION, "status") if after.status == before.status else _FIXED_EXECUTION
        return EXECUTIONS.change(self, after, fixed, "id = ? AND version = ?", same)

    def add_notification(self, note: Notification) -> int:
        number = self.next_number("notification")
        NOTIFICATIONS.add(self, [replace(note, id=number)])
        return number

    def notifications(self, agent: AgentRef, now: float) -> list[Notification]:
        """With those that stay until cleared."""
        clause = (
            "WHERE principal = ? AND name_key = ? AND cleared_at = 0 AND at <= ? "
            f"AND (delivered_at = 0 OR type IN {_PERSISTENT}) ORDER BY id"
        )
        return NOTIFICATIONS.find(self, clause, (*agent_key(agent), now))

    def change_notification(self, note: Notification) -> None:
        if not NOTIFICATIONS.change(self, note, ("id", "principal", "name"), "id = ?", (note.id,)):
            raise StoreError(f"there is no notification {note.id}")

    # plans and workflows

    plan, save_plan, save_workflow = PLANS.getter(), PLANS.saver(), WORKFLOWS.saver()

    def plans(self, query: PlanQuery) -> list[PlanRow]:
        """The newest first; a text is searched for in requests, proposals and runs."""
        clause, params = where(
            ("status = ?", query.status or None),
            ("operator = ?", query.operator or None),
            ("made_at < ?", query.before or None),
            (f"({_WORDS})", contains(query.text) if query.text else None),
        )
        return PLANS.readable(self, f"{clause}ORDER BY made_at DESC, id DESC LIMIT {max(1, int(query.limit))}", params)

    def workflow(self, id: str) -> Workflow | None:
        return WORKFLOWS.first(self, "WHERE id = ? AND removed_at = 0", id)

    def workflows(self) -> list[Workflow]:
        return WORKFLOWS.readable(self, "WHERE removed_at = 0 ORDER BY name, id")

    # snapshots

    snapshot = SNAPSHOTS.getter()

    def add_snapshot(self, row: Snapshot) -> None:
        SNAPSHOTS.add(self, [row])

    def snapshots(self, query: SnapshotQuery) -> list[Snapshot]:
        clause, params = where(
            *((f"{column} = ?", getattr(query, column) or None) for column in ("state", "principal", "machine")),
            ("undoes = ?", "" if query.actions else None),
            ("at < ?", query.before or None),
        )
        order = f"ORDER BY at DESC, id DESC LIMIT {max(1, int(query.limit))}"
        return SNAPSHOTS.readable(self, f"{clause}{order}", params)

    def end_snapshot(self, row: Snapshot, before: Snapshot) -> bool:
        sql = "UPDATE snapshots SET state = ?, ended_at = ?, ended_by = ? WHERE id = ? AND state = ? RETURNING id"
        return bool(self.execute(sql, (row.state, row.ended_at, row.ended_by, before.id, before.state)))

    # deliveries

    def add_delivery(self, row: Delivery) -> bool:
        return DELIVERIES.add_new(self, row)

    delivery = DELIVERIES.getter()

    def due_deliveries(self, channel: str, now: float, limit: int) -> list[Delivery]:
        where = f"WHERE channel = ? AND done_at = 0 AND due_at <= ? ORDER BY due_at LIMIT {max(1, int(limit))}"
        return DELIVERIES.readable(self, where, (channel, now))

    def next_delivery(self, channel: str) -> float | None:
        sql = "SELECT due_at FROM deliveries WHERE channel = ? AND done_at = 0 ORDER BY due_at LIMIT 1"
        found = self.execute(sql, (channel,))
        return float(found[0][0]) if found else None

    def owed(self, channel: str) -> int:
        return self._count("SELECT COUNT(*) FROM deliveries WHERE channel = ? AND done_at = 0", channel)

    def change_delivery(self, row: Delivery, before: Delivery) -> bool:
        return DELIVERIES.change(self, row, _FIXED_DELIVERY, "id = ? AND version = ?", (before.id, before.version))

    def deliveries(self, channel: str, limit: int) -> list[Delivery]:
        where = f"WHERE channel = ? ORDER BY made_at DESC LIMIT {max(1, int(limit))}"
        return DELIVERIES.readable(self, where, (channel,))

    def forget_deliveries(self, before: float) -> None:
        self.execute("DELETE FROM deliveries WHERE done_at > 0 AND done_at < ?", (before,))

    # operators, credentials and agents

    def operators(self) -> list[OperatorRow]:
        return OPERATORS.find(self, "ORDER BY name")

    save_operator, save_credential, save_agent = OPERATORS.saver(), CREDENTIALS.saver(), AGENTS.saver()

    def credentials(self, operator: str) -> list[Credential]:
        return CREDENTIALS.find(self, "WHERE operator = ? ORDER BY created_at, id", (operator,))

    def all_credentials(self) -> list[Credential]:
        """Of all operators, removed ones too."""
        return CREDENTIALS.find(self, "ORDER BY operator, created_at, id")

    def use_credential(self, id: str, before: int, counter: int, at: float) -> bool:
        sql = "UPDATE credentials SET counter = ?, used_at = ? WHERE id = ? AND counter = ? RETURNING id"
        return bool(self.execute(sql, (counter, at, id, before)))

    sealed_session, save_session = SESSIONS.getter(), SESSIONS.saver()

    def sealed_sessions(self, kind: str) -> list[SealedSession]:
        return SESSIONS.find(self, "WHERE kind = ? ORDER BY ends_at, mark", (kind,))

    def note_session(self, mark: str, at: float, before: float) -> None:
        self.execute("UPDATE sealed_sessions SET seen_at = ? WHERE mark = ? AND seen_at < ?", (at, mark, before))

    def delete_session(self, mark: str) -> bool:
        return bool(self.execute("DELETE FROM sealed_sessions WHERE mark = ? RETURNING mark", (mark,)))

    def delete_sessions(self, owner: str) -> None:
        self.execute("DELETE FROM sealed_sessions WHERE owner = ?", (owner,))

    def agent(self, principal: str, name: str) -> AgentRow | None:
        return AGENTS.get(self, principal, normal_name(name))

    def agents(self) -> list[AgentRow]:
        return AGENTS.find(self, "ORDER BY principal, name_key")

    def agent_by_token(self, token_hash: str) -> AgentRow | None:
        """None for the empty hash; revoked agents are returned too."""
        return AGENTS.first(self, "WHERE token_hash = ? AND token_hash <> ''", token_hash)

    # patterns and settings

    def patterns(self) -> list[Mapping[str, Any]]:
        return [from_json(body) for (body,) in self.execute("SELECT body FROM patterns ORDER BY id")]

    def save_pattern(self, pattern: Mapping[str, Any]) -> None:
        id = pattern.get("id")
        if not isinstance(id, str) or not id:
            raise StoreError(f"pattern: expected an id, got {id!r}")
        self.execute(
            "INSERT INTO patterns (id, body) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
            (id, to_json(pattern)),
        )
        self.changed.append(StoreEvent.PATTERNS)

    def delete_pattern(self, id: str) -> bool:
        if gone := bool(self.execute("DELETE FROM patterns WHERE id = ? RETURNING id", (id,))):
            self.changed.append(StoreEvent.PATTERNS)
        return gone

    def setting(self, key: str) -> str | None:
        found = self.execute('SELECT value FROM settings WHERE "key" = ?', (key,))
        return stored_text(found[0][0]) if found else None

    def save_setting(self, key: str, value: str) -> None:
        self.execute(
            'INSERT INTO settings ("key", value) VALUES (?, ?) ON CONFLICT ("key") DO UPDATE SET value = excluded.value',
            (key, value),
        )
        if key != PROBE:
            self.changed.append(StoreEvent.SETTING + key[:200])  # announcements are limited in length
