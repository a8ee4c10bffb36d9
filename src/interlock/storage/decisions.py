"""Queries that decisions are made by and recorded with: tickets, blocks, denials, grants, the counts of agents' history, and the audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from interlock.approvals import BY_TIME
from interlock.audit.chain import FIRST_SEQ, GENESIS
from interlock.canonical_json import normal_name
from interlock.model import AgentRef, Level, TicketState
from interlock.ports import QueueFull, StoreError, StoreEvent
from interlock.records import (
    ANSWERED_WITHIN,
    Approval,
    AuditQuery,
    AuditRow,
    Block,
    Checkpoint,
    Counts,
    Denial,
    Grant,
    HistoryEntry,
    Ticket,
    TicketQuery,
)
from interlock.storage import RecordTable, Transaction, contains, insert_many, stored_text, where

DEEDS = RecordTable("deeds", HistoryEntry, by_name=True)
LIKE = "lower({}) LIKE ? ESCAPE '!'"
HOUR = 3600
FORBIDDEN_WINDOW = 600
_SLOTS = 128  # minutes in the ring: more than an hour
_ENOUGH = 1000  # forbidden attempts are not counted further
_SEVERITIES = {Level.DESTRUCTIVE: "medium", Level.DANGEROUS: "high", Level.FORBIDDEN: "critical"}
_TALLY = """
ON CONFLICT (principal, name_key, operation, slot) DO UPDATE SET
  deeds = CASE WHEN excluded.minute > tallies.minute THEN 0 ELSE tallies.deeds END + excluded.deeds,
  points = CASE WHEN excluded.minute > tallies.minute THEN 0 ELSE tallies.points END + excluded.points,
  minute = CASE WHEN excluded.minute > tallies.minute THEN excluded.minute ELSE tallies.minute END
"""
TICKETS = RecordTable("tickets", Ticket, key=("id",), by_name=True)
APPROVALS = RecordTable("approvals", Approval, key=("ticket", "operator", "signature"))
# The action of a ticket is fixed: these columns are never changed.
_FIXED = ("id", "digest", "principal", "name", "session", "parent", "opened_at")
# Spelled as in the partial indexes, so that both databases use them.
_LIVE = "spent_at = 0 AND state IN ('pending_cooling', 'pending_approval', 'approved')"
_UNSPENT = "spent_at = 0 AND state <> 'executed'"
_OPEN = "state IN ('pending_cooling', 'pending_approval')"
_ALL_NAMES = 20  # times the limit of one name, for all names of a principal
_SAME = "digest = ? AND principal = ? AND name_key = ?"
_OPENED_AS = {TicketState.COOLING: "blocked_by_cooling", TicketState.WAITING: "blocked_by_approval"}
_BECAME = {TicketState.APPROVED: "approved", TicketState.REJECTED: "rejected", TicketState.EXPIRED: "expired"}
BLOCKS = RecordTable("blocks", Block, key=("principal", "since"), announces=StoreEvent.BLOCKS)
_DENIAL = ("effect_key", "principal", "session", "ticket")
DENIALS = RecordTable("denials", Denial, key=_DENIAL, announces=StoreEvent.DENIALS)
GRANTS = RecordTable("grants", Grant, key=("id",))
_MOST_DENIALS = 2_000  # compared per principal: rejections first, then the newest
_GOOD = "revoked_at = 0 AND remaining > 0 AND expires_at > ?"
AUDIT = RecordTable("audit", AuditRow, key=("writer", "seq"))
CHECKPOINTS = RecordTable("checkpoints", Checkpoint, key=("id",))
# Jumps from writer to writer by the index, so that a long audit costs no more than a short one.
_WRITERS = """
WITH RECURSIVE named(writer) AS (
  SELECT min(writer) FROM audit
  UNION ALL SELECT (SELECT min(audit.writer) FROM audit WHERE audit.writer > named.writer) FROM named WHERE named.writer IS NOT NULL
) SELECT writer FROM named WHERE writer IS NOT NULL UNION SELECT writer FROM audit_heads
"""


def _figures(deed: HistoryEntry) -> list[str]:
    severity = deed.severity or _SEVERITIES.get(deed.level, "")
    harm = ["destructive_detected", f"severity:{severity}", *(f"category:{one}" for one in deed.categories)]
    return ["total_checked", f"decision:{deed.outcome}:{deed.level.word}", *(harm if severity else ())]


def agent_key(agent: AgentRef) -> tuple[str, str]:
    return agent.principal, normal_name(agent.name)


class DecisionQueries(Transaction):
    # agents' history

    def add_deeds(self, deeds: Iterable[HistoryEntry]) -> None:
        deeds = list(deeds)
        DEEDS.add(self, deeds)
        minutes: Counter[tuple[str, str, str, int]] = Counter()
        points: Counter[tuple[str, str, str, int]] = Counter()
        figures: Counter[tuple[str, str, str]] = Counter()
        for deed in deeds:
            who, minute = agent_key(deed.agent), int(deed.at // 60)
            for operation in ("", f"o{deed.operation}"):
                minutes[*who, operation, minute] += 1
                points[*who, operation, minute] += deed.score
            figures.update((*who, figure) for figure in _figures(deed))
        rows = [(*key[:3], key[3] % _SLOTS, key[3], count, points[key]) for key, count in sorted(minutes.items())]
        insert_many(self, "tallies (principal, name_key, operation, slot, minute, deeds, points)", rows, _TALLY)
        self._add_figures(figures)

    def _increment(self, agent: AgentRef, figures: Mapping[str, int]) -> None:
        self._add_figures({(*agent_key(agent), name): count for name, count in figures.items()})

    def _add_figures(self, figures: Mapping[tuple[str, str, str], int]) -> None:
        """In one order, so that two transactions cannot deadlock."""
        rows = [(*key, count) for key, count in sorted(figures.items())]
        then = "ON CONFLICT (principal, name_key, figure) DO UPDATE SET value = figures.value + excluded.value"
        insert_many(self, "figures (principal, name_key, figure, value)", rows, then)

    def counts(
        self, agent: AgentRef, operation: str, execution: str, now: float, window: float = FORBIDDEN_WINDOW
    ) -> Counts:
        repeats, (hourly, points) = 0, self._hour(agent, operation, now)
        if execution:
            repeats, points = self._tally(operation, "execution = ? AND execution <> ''", (execution,))
        return Counts(repeats, hourly, points, self._forbidden(agent, now - window))

    def _hour(self, agent: AgentRef, operation: str, now: float) -> tuple[int, int]:
        """Whole minutes from the ring, the first one from the history."""
        who, since = agent_key(agent), now - HOUR
        edge = int(since // 60)
        ring = self.execute(
            "SELECT operation, CAST(sum(deeds) AS BIGINT), CAST(sum(points) AS BIGINT) FROM tallies "
            "WHERE principal = ? AND name_key = ? AND operation IN ('', ?) AND minute > ? GROUP BY operation",
            (*who, f"o{operation}", edge),
        )
        part = (*who, since, (edge + 1) * 60.0)
        first = self._tally(operation, "principal = ? AND name_key = ? AND at > ? AND at < ?", part)
        whole = {name: (int(deeds), int(points)) for name, deeds, points in ring}
        return first[0] + whole.get(f"o{operation}", (0, 0))[0], first[1] + whole.get("", (0, 0))[1]

    def _tally(self, operation: str, condition: str, params: tuple[Any, ...]) -> tuple[int, int]:
        row = self.execute(
            "SELECT count(CASE WHEN operation = ? THEN 1 END), CAST(coalesce(sum(score), 0) AS BIGINT) FROM deeds "
            f"WHERE {condition}",
            (operation, *params),
        )[0]
        return int(row[0]), int(row[1])

    def _forbidden(self, agent: AgentRef, since: float) -> int:
        """Under all names since the last block was lifted; allowed actions do not count."""
        lifted = self.execute("SELECT max(lifted_at) FROM blocks WHERE principal = ?", (agent.principal,))[0][0]
        return self._count(
            "SELECT count(*) FROM (SELECT 1 AS one FROM deeds WHERE principal = ? AND level = 4 AND outcome <> 'allow' AND at > ? LIMIT ?) AS newest",
            agent.principal, max(since, float(lifted or 0)), _ENOUGH,
        )  # fmt: skip

    # tickets

    def open_ticket(self, ticket: Ticket, most_open: int) -> Ticket:
        """Adds it, or returns the live one of the same action; raises QueueFull."""
        agent, principal = ticket.agent, ticket.agent.principal
        if (live := TICKETS.first(self, f"WHERE {_SAME} AND {_LIVE}", ticket.digest, *agent_key(agent))) is not None:
            return live
        # Two openers of one agent change the same row, so that they count one after the other.
        self._increment(agent, {"opened": 1})
        # The open tickets of one session, so that those of another do not count; and those under all names: names are claims,
        # and with new ones an agent could flood the queue.
        waiting = self._open_tickets("name_key = ? AND session = ?", principal, normal_name(agent.name), agent.session)
        if self._open_tickets("TRUE", principal) >= most_open * _ALL_NAMES:
            raise QueueFull(f"{principal!r} has {most_open * _ALL_NAMES} open tickets under all its names")
        if waiting >= most_open:
            whose = f"{agent.name or principal!r}{f' in session {agent.session!r}' if agent.session else ''}"
            raise QueueFull(f"{whose} has {waiting} open tickets, at most {most_open}")
        if not TICKETS.add_new(self, ticket):
            raise StoreError(f"ticket {ticket.id!r} cannot be opened: its id or its token is taken")
        if ticket.state in _OPENED_AS:
            self._increment(agent, {_OPENED_AS[ticket.state]: 1})
        self.changed.append(ticket.id)
        return ticket

    ticket = TICKETS.getter()

    def live_ticket(self, digest: str, agent: AgentRef) -> Ticket | None:
        same, last = (digest, *agent_key(agent)), f"WHERE {_SAME} AND {_UNSPENT} ORDER BY opened_at DESC, id DESC"
        return TICKETS.first(self, f"WHERE {_SAME} AND {_LIVE}", *same) or TICKETS.first(self, last, *same)

    def ticket_by_token(self, token_hash: str) -> Ticket | None:
        """None for the empty hash, which many tickets have."""
        return TICKETS.first(self, "WHERE token_hash = ? AND token_hash <> ''", token_hash)

    def tickets(self, query: TicketQuery) -> list[Ticket]:
        """Queries each state by itself, so that a rare one is found among millions."""
        clause, params = where(
            ("principal = ?", query.principal or None),
            ("name_key = ?", normal_name(query.name) if query.name else None),
            ("substr(id, 1, length(?)) = ?", query.prefix or None),  # not a range: the databases differ in collation
            ("opened_at < ?", query.before or None),
        )
        order = f"{clause or 'WHERE TRUE '}AND state = ? ORDER BY opened_at DESC, id DESC LIMIT ?"
        found = [
            ticket
            for state in query.states or tuple(TicketState)
            for ticket in TICKETS.readable(self, order, [*params, str(state), query.limit])
        ]
        found.sort(key=lambda ticket: (ticket.opened_at, ticket.id), reverse=True)
        return found[: query.limit]

    def change_ticket(self, ticket: Ticket, before: Ticket) -> bool:
        """Compare-and-set on state and version; its action stays."""
        if ticket.id != before.id:
            raise StoreError(f"ticket {before.id!r} cannot become ticket {ticket.id!r}")
        after = replace(ticket, version=before.version + 1)
        same = (before.id, str(before.state), before.version)
        if not TICKETS.change(self, after, _FIXED, "id = ? AND state = ? AND version = ?", same):
            return False
        became = {_BECAME[after.state]: 1} if after.state is not before.state and after.state in _BECAME else {}
        if after.executed_at and not before.executed_at:
            became["executed"] = 1
        verdict = _BECAME.get(after.state, "expired")
        if before.open and verdict != "expired" and after.decided_by not in ("", BY_TIME):
            seconds = after.decided_at - before.opened_at
            within = next((most for most in ANSWERED_WITHIN if seconds <= most), "inf")
            became |= {f"answered:{verdict}:{within}": 1, f"answer_ms:{verdict}": max(0, int(seconds * 1000))}
        self._increment(before.agent, became)
        self.changed.append(before.id)
        return True

    def add_approval(self, approval: Approval) -> None:
        APPROVALS.add_new(self, approval)
        self.changed.append(approval.ticket)

    def approvals(self, ticket: str) -> list[Approval]:
        return APPROVALS.find(self, "WHERE ticket = ? ORDER BY at, operator", (ticket,))

    def next_number(self, name: str) -> int:
        added = "INSERT INTO counters (name, value) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = counters.value + 1"
        return self._count(f"{added} RETURNING value", name)

    def _open_tickets(self, of: str, *params: str) -> int:
        return self._count(f"SELECT count(*) FROM tickets WHERE principal = ? AND {of} AND {_OPEN}", *params)

    def _count(self, sql: str, *params: Any) -> int:
        return int(self.execute(sql, params)[0][0])

    # blocks, denials and grants

    def block(self, principal: str) -> Block | None:
        return BLOCKS.first(self, "WHERE principal = ? AND lifted_at = 0 ORDER BY since DESC", principal)

    def blocks(self) -> list[Block]:
        """Lifted ones too, the newest first."""
        return BLOCKS.find(self, "ORDER BY since DESC, principal")

    save_block = BLOCKS.saver()  # in place of the one of this principal that began at the same time

    def denials(self, now: float, principal: str = "") -> list[Denial]:
        if not principal:
            return DENIALS.find(self, "WHERE until > ?", (now,))
        order = f"ORDER BY rejected_at DESC, at DESC, effect_key DESC LIMIT {_MOST_DENIALS}"
        return DENIALS.find(self, f"WHERE principal = ? AND until > ? {order}", (principal, now))

    save_denial = DENIALS.saver()

    def forget_denials(self, before: float) -> None:
        self.execute("DELETE FROM denials WHERE until < ?", (before,))

    def grants(self, now: float) -> list[Grant]:
        return GRANTS.find(self, f"WHERE {_GOOD} ORDER BY created_at, id", (now,))

    grant = GRANTS.getter()

    def save_grant(self, grant: Grant) -> None:
        """An existing one can only be revoked or lose uses, as the rest of it is signed."""
        self.execute(
            f"{GRANTS.insert} ON CONFLICT (id) DO UPDATE SET "
            "remaining = CASE WHEN excluded.remaining < grants.remaining THEN excluded.remaining ELSE grants.remaining END, "
            "revoked_by = CASE WHEN grants.revoked_at = 0 THEN excluded.revoked_by ELSE grants.revoked_by END, "
            "revoked_at = CASE WHEN grants.revoked_at = 0 THEN excluded.revoked_at ELSE grants.revoked_at END",
            GRANTS.values(grant),
        )

    def use_grant(self, id: str, now: float) -> bool:
        sql = f"UPDATE grants SET remaining = remaining - 1 WHERE id = ? AND {_GOOD} RETURNING id"
        return bool(self.execute(sql, (id, now)))

    # the audit

    def audit_head(self, writer: str) -> AuditRow | None:
        """None for records that belong to no chain."""
        known = "EXISTS (SELECT 1 FROM audit_heads AS head WHERE head.writer = audit.writer)"
        return AUDIT.first(self, f"WHERE writer = ? AND {known} ORDER BY seq DESC", writer)

    def append_audit(self, rows: Iterable[AuditRow]) -> None:
        ordered = sorted(rows, key=lambda row: (row.writer, row.seq))
        for writer, group in groupby(ordered, key=lambda row: row.writer):
            chain = list(group)
            self._move_head(writer, chain)
            AUDIT.add(self, chain)

    def audit(self, query: AuditQuery) -> list[AuditRow]:
        clause, params = where(
            ("writer = ?", query.writer or None),
            ("seq > ?", query.after_seq if query.after_seq >= 0 else None),
            ("event = ?", query.event or None),
            ("at >= ?", query.since or None),
            ("at <= ?", query.until or None),
            (LIKE.format("body"), contains(query.text) if query.text else None),
        )
        order = "seq" if query.writer else "at, writer, seq"
        if query.newest_first:
            order = ", ".join(f"{column} DESC" for column in order.split(", "))
        return AUDIT.find(self, f"{clause}ORDER BY {order} LIMIT ?", [*params, query.limit])

    def audit_writers(self) -> list[str]:
        return sorted(stored_text(writer) for (writer,) in self.execute(_WRITERS))

    def prune_audit(self, writer: str, before_seq: int) -> int:
        """Always keeps a chain's last record."""
        head = self.execute("SELECT seq FROM audit_heads WHERE writer = ?", (writer,))
        if not head:
            return 0
        sql = "DELETE FROM audit WHERE writer = ? AND seq < ? RETURNING seq"
        return len(self.execute(sql, (writer, min(before_seq, head[0][0]))))

    def checkpoints(self) -> list[Checkpoint]:
        return CHECKPOINTS.find(self, "ORDER BY id")

    def add_checkpoint(self, checkpoint: Checkpoint) -> int:
        number = self.next_number("checkpoint")
        CHECKPOINTS.add(self, [replace(checkpoint, id=number)])
        return number

    def _move_head(self, writer: str, chain: list[AuditRow]) -> None:
        found = self.execute("SELECT seq, hash FROM audit_heads WHERE writer = ?", (writer,))
        seq, hash = found[0] if found else (FIRST_SEQ - 1, GENESIS)
        there = "SELECT 1 FROM audit WHERE writer = ? AND seq = ?"
        for row in chain:
            if row.seq != seq + 1 or row.prev != hash:
                if found and row is chain[0] and not self.execute(there, (writer, seq)):
                    raise StoreError(
                        f"the record was cut off outside Interlock: the end of {writer!r}, number {seq}, is gone; put a copy of the state"
                        " back, or move it away to start over"
                    )
                got, expected = f"{row.seq} after {row.prev[:12]!r}", f"{seq + 1} after {hash[:12]!r}"
                raise StoreError(f"audit of {writer!r}: record {got} does not continue it, expected {expected}")
            seq, hash = row.seq, row.hash
        if found:
            moved = self.execute(
                "UPDATE audit_heads SET seq = ?, hash = ? WHERE writer = ? AND seq = ? AND hash = ? RETURNING seq",
                (seq, hash, writer, *found[0]),
            )
        else:
            moved = self.execute(
                "INSERT INTO audit_heads (writer, seq, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING seq",
                (writer, seq, hash),
            )
        if not moved:
            raise StoreError(f"audit of {writer!r}: somebody else added to it at the same time")
