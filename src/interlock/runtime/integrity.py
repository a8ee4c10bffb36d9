"""Integrity baseline: remembers tickets, grants, denials and codes seen by this process, so that an edited row undoes none of it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from interlock.approvals import LIVE_STATES
from interlock.approvals.denials import rejections_of
from interlock.approvals.tickets import seal_of
from interlock.audit.chain import CONFIRMED, EVENTS
from interlock.canonical_json import json_table, normal_name
from interlock.model import Confidential
from interlock.ports import Tx
from interlock.records import AgentRow, Approval, AuditQuery, Block, Denial, Grant, Ticket, TicketQuery
from interlock.runtime import put_bounded

if TYPE_CHECKING:
    from interlock.runtime.state import State


MOST = 20_000  # of a kind; the oldest go first
_ENDED_WITHIN = 3_600  # seconds; no statement lasts longer
_GRANTS_WITHIN = 8 * 86_400
_LIVE = TicketQuery(LIVE_STATES, limit=1_000)
_TAKEN_BACK = object()


class IntegrityBaseline:
    """Remembers ended and open tickets, used and revoked grants, denials and agents, independently of their rows.

    Any process of the same user can read this installation's keys, so seals alone do not stop an edited row.
    """

    def __init__(self) -> None:
        self._ended: dict[str, object] = {}  # ticket -> the resolution that spent it
        self._since: dict[str, float] = {}  # ticket -> when it was opened
        self._asked: dict[str, float] = {}  # ticket -> time of the caller's last request
        self._uses: Counter[str] = Counter()  # of a grant
        self._revoked: set[str] = set()  # grants
        self._denials: dict[str, dict[tuple[str, str, str], Denial]] = {}  # principal -> by key, session and ticket
        self._agents: dict[tuple[str, str], AgentRow] = {}

    def load(self, tx: Tx, state: State) -> None:
        """The audit record counts more than a row."""
        now = state.clock.now()
        for row in tx.agents():
            self.agent_changed(row)
        for ticket in tx.tickets(_LIVE):
            if ticket.seal == seal_of(state, ticket):
                self.opened(ticket)
        for event in (EVENTS[CONFIRMED], "revoke", "reject"):
            for id in _named(tx, event, "ticket", now - _ENDED_WITHIN):
                self.ended(id)
        self._uses.update(_named(tx, "grant_used", "grant", now - _GRANTS_WITHIN))
        self._revoked.update(_named(tx, "grant_revoked", "grant", now - _GRANTS_WITHIN))
        self.take_denials(tx, now)
        rejected = map(tx.ticket, _named(tx, "reject", "ticket", now - state.policy.denial_seconds))
        for no in filter(None, rejected):  # the recorded rejection counts, whatever became of its rows
            for one in rejections_of(no, no.decided_at):
                if one.key not in self._denials.get(one.principal, {}):
                    self.deny(one)

    # tickets

    def opened(self, ticket: Ticket) -> None:
        put_bounded(self._since, ticket.id, ticket.opened_at, MOST)

    def ask(self, id: str, now: float) -> None:
        self._asked.pop(id, None)
        put_bounded(self._asked, id, now, MOST)

    def last_asked_at(self, ticket: Ticket) -> float:
        return max(ticket.opened_at, self._asked.get(ticket.id, 0.0))

    def cooling_since(self, ticket: Ticket, now: float) -> float:
        """A ticket unknown to this process starts cooling now."""
        if ticket.id not in self._since:
            put_bounded(self._since, ticket.id, now, MOST)
        return self._since[ticket.id]

    def spend(self, id: str, by: object) -> bool:
        """False where it was spent or revoked before."""
        if id not in self._ended:
            put_bounded(self._ended, id, by, MOST)
        return self._ended[id] is by

    def ended(self, id: str) -> None:
        put_bounded(self._ended, id, _TAKEN_BACK, MOST)

    def has_ended(self, id: str) -> bool:
        return id in self._ended

    # denials, for the whole principal: a name and a session are claims

    def take_denials(self, tx: Tx, now: float) -> None:
        """Whoever wrote them; a shared store decides alone, and this copy says when to read it."""
        for one in tx.denials(now):
            known = self._denials.get(one.principal, {}).get(one.key)
            if known is None or known.rejected_at <= one.rejected_at:  # a row older than a rejection lifts nothing
                self.deny(one)

    def deny(self, denial: Denial) -> None:
        """Remembers a denial, or that it ended."""
        put_bounded(self._denials.setdefault(denial.principal, {}), denial.key, denial, MOST)

    def denials(self, principal: str, now: float) -> list[Denial]:
        found = self._denials.get(principal, {})
        live = {key: one for key, one in list(found.items()) if one.until > now}
        if len(live) < len(found):
            self._denials[principal] = live
        return list(live.values())

    # grants

    def use(self, grant: Grant, signed: int) -> bool:
        """Takes one of the signed uses; False where none is left, whatever the row says."""
        if grant.id in self._revoked or self._uses[grant.id] >= signed:
            return False
        self._uses[grant.id] += 1
        return True

    def revoke(self, id: str) -> None:
        self._revoked.add(id)

    def is_in_force(self, grant: Grant) -> bool:
        return grant.id not in self._revoked

    # agents

    def agent_changed(self, row: AgentRow) -> None:
        put_bounded(self._agents, (row.principal, normal_name(row.name)), row, MOST)

    def agent(self, principal: str, name: str) -> AgentRow | None:
        return self._agents.get((principal, normal_name(name))) if self._agents else None


def recorded_blocks(tx: Tx) -> list[Block]:
    """Blocks that the record never lifted and that have no row."""
    queries = (AuditQuery(event=event, limit=MOST, newest_first=True) for event in ("block", "unblock"))
    rows = [row for query in queries for row in tx.audit(query)]
    last: dict[str, Block] = {}
    for row in sorted(rows, key=lambda row: (row.at, row.seq)):
        said = json_table(row.body)
        if isinstance(principal := said.get("principal"), str):
            last.pop(principal, None)
            if row.event == "block":
                last[principal] = Block(principal, str(said.get("reason") or "blocked"), row.at, str(said.get("by")))
    return [block for block in last.values() if tx.block(block.principal) is None]


def _named(tx: Tx, event: str, key: str, since: float) -> Iterator[str]:
    for row in tx.audit(AuditQuery(event=event, since=since, limit=MOST, newest_first=True)):
        if isinstance(named := json_table(row.body).get(key), str) and named:
            yield named


MOST_CODES = 1_000  # codes; the oldest go first


class Release(Struct, frozen=True):
    """A block, or one held step; signed by the operator who revealed the code."""

    channel: str
    by: str = ""  # empty for a channel without sign-in
    lift: str = ""  # a signed order
    approval: Approval | None = None


class ShownCode(Confidential, Struct, frozen=True):
    HIDDEN = ("release",)

    hash: str
    expires_at: float
    release: Release


class ShownCodes:
    """Codes shown by this process, as hashes only."""

    def __init__(self) -> None:
        self._shown: dict[str, ShownCode] = {}  # by the challenge's id
        self._agreed: dict[str, float] = {}  # ticket -> until when an unsigned code frees it
        self._issued: dict[str, float] = {}  # challenges not yet announced to channels -> since when
        self._lock = threading.Lock()

    def show(self, challenge: str, shown: ShownCode) -> None:
        """Replaces the code that was shown before."""
        with self._lock:
            self._shown.pop(challenge, None)
            put_bounded(self._shown, challenge, shown, MOST_CODES)

    def shown(self, challenge: str, now: float) -> ShownCode | None:
        found = self._shown.get(challenge)
        return found if found is not None and now < found.expires_at else None

    def forget(self, challenge: str) -> None:
        with self._lock:
            self._shown.pop(challenge, None)

    def agree(self, ticket: str, until: float) -> None:
        """By a channel without sign-in."""
        with self._lock:
            put_bounded(self._agreed, ticket, until, MOST_CODES)

    def is_agreed(self, ticket: str, now: float) -> bool:
        return now < self._agreed.get(ticket, 0.0)

    def issue(self, challenge: str, now: float) -> None:
        """Queues a challenge to be announced once it is on disk."""
        with self._lock:
            self._issued.setdefault(challenge, now)

    def issued(self) -> dict[str, float]:
        with self._lock:
            return dict(self._issued)

    def mark_announced(self, challenge: str) -> None:
        with self._lock:
            self._issued.pop(challenge, None)
