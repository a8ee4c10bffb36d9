"""Integrity baseline: remembers tickets, grants, denials and codes seen by this process, so that an edited row undoes none of it."""

from __future__ import annotations

import json
import math
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interlock.approvals.tickets import seal_of
from interlock.audit import CONFIRMED, EVENTS
from interlock.model import Seconds, TicketState
from interlock.policy.digest import normal_name
from interlock.policy.remembered_answers import LASTS
from interlock.ports import Tx
from interlock.records import AgentRow, Approval, AuditQuery, AuditRow, Block, Denial, Grant, Ticket, TicketQuery
from interlock.times import seconds_left

if TYPE_CHECKING:
    from interlock.runtime.state import State


MOST = 20_000  # of a kind; the oldest go first
_ENDED_WITHIN = 3_600  # seconds; no statement lasts longer
_GRANTS_WITHIN = 8 * 86_400
_LIVE = TicketQuery((TicketState.COOLING, TicketState.WAITING, TicketState.APPROVED), limit=1_000)
_TAKEN_BACK = object()


class IntegrityBaseline:
    """Tickets that ended, when others began, grants that were used or revoked, what people rejected, whom they gave a token.

    Whoever is the same user can read this installation's keys, so that seals alone keep no such editor out.
    """

    def __init__(self) -> None:
        self._ended: dict[str, object] = {}  # ticket -> whoever spent it
        self._since: dict[str, float] = {}  # ticket -> when it was opened
        self._asked: dict[str, float] = {}  # ticket -> when it was asked for last
        self._uses: Counter[str] = Counter()  # of a grant
        self._revoked: set[str] = set()  # grants
        self._denials: dict[str, dict[tuple[str, str, str], Denial]] = {}  # principal -> by key, session and ticket
        self._agents: dict[tuple[str, str], AgentRow] = {}

    def load(self, tx: Tx, state: State) -> None:
        """What the store says at the start; what the record says counts more than a row."""
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
        self._revoked |= set(_named(tx, "grant_revoked", "grant", now - _GRANTS_WITHIN))
        self.take_denials(tx, now)
        for id in _named(tx, "reject", "ticket", now - state.policy.denial_seconds):
            no = tx.ticket(id)
            if no is not None:
                self._rejected(no)

    # tickets

    def opened(self, ticket: Ticket) -> None:
        _put(self._since, ticket.id, ticket.opened_at)

    def ask(self, id: str, now: float) -> None:
        """Its caller is there."""
        self._asked.pop(id, None)
        _put(self._asked, id, now)

    def asked(self, ticket: Ticket) -> float:
        """When its caller was there last, as far as this process knows."""
        return max(ticket.opened_at, self._asked.get(ticket.id, 0.0))

    def cooling(self, ticket: Ticket, seconds: Seconds, now: float) -> int:
        """How many seconds it has to cool on; one that nobody here saw before begins now."""
        if ticket.id not in self._since:
            _put(self._since, ticket.id, now)
        return math.ceil(seconds_left(self._since[ticket.id] + seconds, now))

    def spend(self, id: str, by: object) -> bool:
        """Whether this ticket is `by`'s to spend: nobody spent it before, and nobody took it back."""
        if id not in self._ended:
            _put(self._ended, id, by)
        return self._ended[id] is by

    def ended(self, id: str) -> None:
        """Takes it back for good."""
        _put(self._ended, id, _TAKEN_BACK)

    def has_ended(self, id: str) -> bool:
        return id in self._ended

    # what is held or was rejected, for the whole principal: a name and a session are claims

    def take_denials(self, tx: Tx, now: float) -> None:
        """What the store says is denied, whoever wrote it; on a shared store that one alone decides, and this says when to ask it."""
        for one in tx.denials(now):
            known = self._denials.get(one.principal, {}).get((one.effect_key, one.session, one.ticket))
            if known is None or known.rejected_at <= one.rejected_at:  # a look from before a no takes none back
                self.deny(one)

    def deny(self, denial: Denial) -> None:
        """Remembers a denial, or that it ended."""
        of = self._denials.setdefault(denial.principal, {})
        _put(of, (denial.effect_key, denial.session, denial.ticket), denial)

    def denials(self, principal: str, now: float) -> list[Denial]:
        """The denials of a principal that still count, as this process saw them."""
        found = self._denials.get(principal)
        if not found:
            return []
        live = {key: one for key, one in list(found.items()) if one.until > now}
        if len(live) < len(found):
            self._denials[principal] = live
        return list(live.values())

    def _rejected(self, ticket: Ticket) -> None:
        """A rejection by the record, whatever became of its rows."""
        agent, at = ticket.agent, ticket.decided_at
        session = agent.session or f"{agent.principal}/{agent.name}"
        for text in ticket.effect_keys:
            known = self._denials.get(agent.principal, {}).get((text, session, ticket.id))
            if known is None:
                folder = str(ticket.action.get("cwd", ""))
                self.deny(Denial(text, agent.principal, session, ticket.id, at, at + LASTS, folder, rejected_at=at))

    # grants

    def use(self, grant: Grant, signed: int) -> bool:
        """Takes one of the uses that were signed; False where there is none left, whatever the row says."""
        if grant.id in self._revoked or self._uses[grant.id] >= signed:
            return False
        self._uses[grant.id] += 1
        return True

    def revoked(self, id: str) -> None:
        self._revoked.add(id)

    def counts(self, grant: Grant) -> bool:
        return grant.id not in self._revoked

    # agents

    def agent_changed(self, row: AgentRow) -> None:
        _put(self._agents, (row.principal, normal_name(row.name)), row)

    def agent(self, principal: str, name: str) -> AgentRow | None:
        """As operators left it."""
        return self._agents.get((principal, normal_name(name)))


def recorded_blocks(tx: Tx) -> list[Block]:
    """The blocks that were never lifted by the record, and of which there is no row."""
    told = [
        row
        for event in ("block", "unblock")
        for row in tx.audit(AuditQuery(event=event, limit=MOST, newest_first=True))
    ]
    last: dict[str, Block | None] = {}
    for row in sorted(told, key=lambda row: (row.at, row.seq)):
        said = own_body(row)
        principal, reason = said.get("principal"), said.get("reason")
        if isinstance(principal, str):
            blocks = row.event == "block"
            last[principal] = (
                Block(principal, str(reason or "blocked"), row.at, str(said.get("by"))) if blocks else None
            )
    return [block for block in last.values() if block is not None and tx.block(block.principal) is None]


def _put(table: dict[Any, Any], key: Any, value: Any) -> None:
    table[key] = value
    while len(table) > MOST:
        table.pop(next(iter(table)))


def _named(tx: Tx, event: str, key: str, since: float) -> Iterator[str]:
    """What the records of an event name; one that cannot be read names nothing."""
    for row in tx.audit(AuditQuery(event=event, since=since, limit=MOST, newest_first=True)):
        named = own_body(row).get(key)
        if isinstance(named, str) and named:
            yield named


def own_body(row: AuditRow) -> dict[str, Any]:
    """What a record says; nothing where somebody wrote it who is not us."""
    try:
        body = json.loads(row.body)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


MOST_CODES = 1_000  # codes; the oldest go first


@dataclass(frozen=True, slots=True)
class Release:
    """What a code frees when it comes back: a block, or one held step; signed by the operator who had it shown."""

    channel: str
    by: str = ""  # empty where a channel showed it that takes no sign-in
    lift: str = ""  # a signed order
    approval: Approval | None = None


@dataclass(frozen=True, slots=True)
class ShownCode:
    """One code that a person was shown, as its hash."""

    hash: str
    expires_at: float
    release: Release = field(repr=False)


class ShownCodes:
    """What one process remembers of codes; the codes themselves are not in it."""

    def __init__(self) -> None:
        self._shown: dict[str, ShownCode] = {}  # by the challenge's id
        self._agreed: dict[str, float] = {}  # ticket -> until when a code that nobody signed for frees it
        self._issued: dict[str, float] = {}  # challenges that channels have not been told of, and since when
        self._lock = threading.Lock()

    def show(self, challenge: str, shown: ShownCode) -> None:
        """Replaces the code that was shown before."""
        with self._lock:
            self._shown.pop(challenge, None)
            self._shown[challenge] = shown
            while len(self._shown) > MOST_CODES:
                self._shown.pop(next(iter(self._shown)))

    def shown(self, challenge: str, now: float) -> ShownCode | None:
        found = self._shown.get(challenge)
        return found if found is not None and now < found.expires_at else None

    def forget(self, challenge: str) -> None:
        """The code was wrong, was used, or counts no more."""
        with self._lock:
            self._shown.pop(challenge, None)

    def agree(self, ticket: str, until: float) -> None:
        """A code from a channel without sign-in came back for this ticket."""
        with self._lock:
            self._agreed[ticket] = until
            while len(self._agreed) > MOST_CODES:
                self._agreed.pop(next(iter(self._agreed)))

    def agreed(self, ticket: str, now: float) -> bool:
        return now < self._agreed.get(ticket, 0.0)

    def issue(self, challenge: str, now: float) -> None:
        """To be told to people as soon as it is on disk."""
        with self._lock:
            self._issued.setdefault(challenge, now)

    def issued(self) -> dict[str, float]:
        """What people have not been told."""
        with self._lock:
            return dict(self._issued)

    def told(self, challenge: str) -> None:
        with self._lock:
            self._issued.pop(challenge, None)
