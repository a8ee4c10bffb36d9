"""Collects what waits for an answer and delivers it on one thread per channel: paced, retried, given up; every outcome is recorded."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from interlock import notify
from interlock.approvals import settle
from interlock.approvals.challenges.revealing import reveal_unsigned
from interlock.audit.chain import event_body
from interlock.config.channels import BLOCK, CHALLENGE, COOLING, HELD, WAITING, ChannelRoute
from interlock.error_codes import AnswerRefused
from interlock.model import Level, TicketState
from interlock.notify import ConsoleAddress, Message, digest, head_words, notice_message
from interlock.ports import Carrier, StoreError, Tx, Undelivered
from interlock.records import Block, Challenge, Ticket, TicketQuery
from interlock.records.deliveries import (
    FAILED,
    NEEDLESS,
    QUEUED,
    SENT,
    Delivery,
    claim_delivery,
    fail_delivery,
    finish_delivery,
)
from interlock.runtime.state import State

MOST_TICKETS = 1_000  # tickets that are looked at; an agent that opens more has been told of
_OPEN = TicketQuery((TicketState.COOLING, TicketState.WAITING), limit=MOST_TICKETS)


@dataclass(frozen=True, slots=True)
class PendingItem:
    """One thing that somebody has to answer."""

    id: str
    event: str
    since: float
    about: Ticket | Challenge | Block
    challenge: str = ""  # whose code frees it
    like_it: int = 0  # others of the same effect

    @property
    def level(self) -> Level | None:
        return self.about.level if isinstance(self.about, Ticket) else None

    def message(self, place: ConsoleAddress, now: float) -> Message:
        """What people are told of it."""
        if isinstance(self.about, Ticket):
            return notify.ticket_message(self.about, self.event, place, now, self.like_it)
        if isinstance(self.about, Challenge):
            return notify.challenge_message(self.about, place, now)
        return notify.block_message(self.about, place, now)


def pending_items(tx: Tx, now: float) -> dict[str, PendingItem]:
    """All of them by id, the oldest first."""
    open_ones = [one for one in tx.challenges() if now < one.expires_at]
    blocks = [block for block in tx.blocks() if not block.lifted_at]
    tickets = [settle(ticket, now) for ticket in tx.tickets(_OPEN)]
    found = [*_tickets(tickets, open_ones), *_blocks(blocks, open_ones)]
    told = {matter.challenge for matter in found}
    found += [
        PendingItem(f"challenge {one.id}", CHALLENGE, one.opened_at, one, one.id)
        for one in open_ones
        if one.id not in told
    ]
    return {matter.id: matter for matter in sorted(found, key=lambda matter: matter.since)}


def _tickets(tickets: list[Ticket], challenges: list[Challenge]) -> list[PendingItem]:
    """One for each effect of each principal: its oldest ticket stands for all of them."""
    codes = {(one.agent.principal, one.digest): one.id for one in challenges if one.digest}
    found: dict[tuple[str, ...], PendingItem] = {}
    for ticket in sorted((ticket for ticket in tickets if ticket.open), key=lambda ticket: ticket.opened_at):
        own = ticket.effect_keys or (ticket.id,)
        key = (ticket.agent.principal, *own)  # a name is only claimed
        if key in found:
            found[key] = replace(found[key], like_it=found[key].like_it + 1)
            continue
        code = codes.get((ticket.agent.principal, ticket.digest), "")
        event = CHALLENGE if code else COOLING if ticket.state is TicketState.COOLING else HELD
        found[key] = PendingItem(f"ticket {ticket.id}", event, ticket.opened_at, ticket, code)
    return list(found.values())


def _blocks(blocks: list[Block], challenges: list[Challenge]) -> list[PendingItem]:
    codes = {one.agent.principal: one.id for one in challenges if one.kind == "block"}
    return [
        PendingItem(
            f"block {block.principal} {block.since!r}", BLOCK, block.since, block, codes.get(block.principal, "")
        )
        for block in blocks
    ]


LOG = logging.getLogger("interlock")
LOOK = 5.0  # seconds between two looks, where nothing wakes it: another replica may have ended
IDLE = 60.0  # where there is no other one
BURST = 3  # messages that may follow each other at once
MOST = 100  # things that one message is about


class Courier:
    """Sends what its channel owes; what comes faster than its pace goes out as one message."""

    def __init__(
        self,
        state: State,
        way: ChannelRoute,
        carrier: Carrier,
        address: Callable[[], str],
        public: bool,
        shows_codes: bool = False,
        stuck: Callable[[], object] = lambda: None,
    ) -> None:
        """`stuck` is called when a message did not get through: somebody else may have to be told."""
        self.state, self.way, self.carrier = state, way, carrier
        self._address, self._public, self._shows_codes = address, public, shows_codes
        self._stuck = stuck
        self.testing = threading.Lock()  # one test at a time
        self._wake, self._ending = threading.Event(), threading.Event()
        self._left, self._counted_at = float(BURST), time.monotonic()
        self._thread = threading.Thread(target=self._run, name=f"interlock-to-{way.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        self._wake.set()

    def stop(self) -> None:
        """A message that is on its way may get there; nobody waits long for it."""
        self._ending.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(2)

    def place(self, tx: Tx) -> ConsoleAddress:
        return ConsoleAddress(self._address(), self._public, head_words(tx.audit_head(self.state.recorder.writer)))

    def _run(self) -> None:
        while not self._ending.is_set():
            wait = LOOK
            try:
                wait = self._paced() or self.round()
            except StoreError as error:
                if not self._ending.is_set():
                    self.state.trouble(f"channel {self.way.name}: the store cannot be used: {error}", "store")
            except Exception as error:
                LOG.error("channel %s failed: %s", self.way.name, type(error).__name__)  # its words may hold an address
            self._wake.wait(wait)
            self._wake.clear()

    def _paced(self) -> float:
        """How long to wait before the next message may go out."""
        now, gap = time.monotonic(), 60.0 / self.way.per_minute
        self._left = min(float(BURST), self._left + (now - self._counted_at) / gap)
        self._counted_at = now
        return 0.0 if self._left >= 1 else (1 - self._left) * gap

    def round(self) -> float:
        """Sends what is due, in one message; how many seconds until something is due again."""
        now = self.state.clock.now()
        due, found, next_at = self.state.store.read(lambda tx: self._due(tx, now))
        if not due:
            look = LOOK if self.state.shared else IDLE
            return look if next_at is None else min(look, max(0.05, next_at - now))
        if self._shows_codes and due[0].event in (CHALLENGE, BLOCK):
            due = due[:1]  # a message with a code is about nothing else
        rows = self.state.store.write(lambda tx: self._taken(tx, due, found, now))
        if rows:
            self._left -= 1
            self._send(rows, found, now)
        return 0.0

    def _due(self, tx: Tx, now: float) -> tuple[list[Delivery], dict[str, PendingItem], float | None]:
        """What is due, what it may be about, and when there is more."""
        due = tx.due_deliveries(self.way.name, now, MOST)
        return due, pending_items(tx, now) if due else {}, tx.next_delivery(self.way.name)

    def _taken(self, tx: Tx, due: Sequence[Delivery], found: dict[str, PendingItem], now: float) -> list[Delivery]:
        """What is ours to send now; what was answered meanwhile is not sent any more."""
        rows = []
        for row in due:
            needless = row.event in WAITING and row.about not in found
            after = (
                finish_delivery(row, NEEDLESS, now, "answered before it was sent")
                if needless
                else claim_delivery(row, now)
            )
            if tx.change_delivery(after, row) and not needless:
                rows.append(after)
        return rows

    def _send(self, rows: Sequence[Delivery], found: dict[str, PendingItem], now: float) -> None:
        try:
            self.carrier.send(self._message(rows, found, now))
        except Undelivered as error:
            self._ended([fail_delivery(row, self.state.clock.now(), str(error), error.hopeless) for row in rows], rows)
        except Exception as error:
            LOG.error("channel %s failed: %s", self.way.name, type(error).__name__)  # its words may hold an address
            self._ended([fail_delivery(row, self.state.clock.now(), type(error).__name__) for row in rows], rows)
        else:
            self._ended([finish_delivery(row, SENT, self.state.clock.now()) for row in rows], rows)

    def _ended(self, after: Sequence[Delivery], rows: Sequence[Delivery]) -> None:
        now, first = self.state.clock.now(), after[0]
        outcome = "retried" if first.state == QUEUED else first.state

        def work(tx: Tx) -> None:
            for one, before in zip(after, rows):
                tx.change_delivery(one, before)
            record_outcome(
                self.state, tx, now, self.way.name, outcome, event=first.event, about=[row.about for row in rows if row.about],
                tries=first.tries, reason=first.reason,
            )  # fmt: skip

        self.state.store.write(work)
        if any(one.stuck for one in after):
            self._stuck()
        alert = f"channel {self.way.name}"
        if outcome == FAILED and not self.way.implied:
            self.state.alerts[alert] = f"{alert}: a message did not get through: {first.reason}"
            self.state.trouble(f"{alert}: a message did not get through: {first.reason}", "channel")
        elif outcome == SENT:
            self.state.alerts.pop(alert, None)

    def _message(self, rows: Sequence[Delivery], found: dict[str, PendingItem], now: float) -> Message:
        place = self.state.store.read(self.place)
        matter = found.get(rows[0].about) if len(rows) == 1 else None
        made = [
            found[row.about].message(place, now)
            if row.event in WAITING
            else notice_message(row.id.partition("/")[2], row.event, row.words, place, now, row.about)
            for row in rows
        ]
        code = self._code(matter) if matter is not None and self._shows_codes else ""
        return replace(digest(made), code=code)

    def _code(self, matter: PendingItem) -> str:
        """A new code for a channel that an operator called private; none where a person has been shown one."""
        if not matter.challenge:
            return ""
        try:
            kept = self.state.store.read(lambda tx: tx.challenge(matter.challenge))
            by = f"channel:{self.way.name}"
            shown = self.state.codes.shown(matter.challenge, self.state.clock.now())
            if kept is None or (shown is not None and shown.release.channel != by):
                return ""
            revealed = reveal_unsigned(self.state, by, matter.challenge)
        except AnswerRefused:
            return ""
        return revealed.code if revealed is not None else ""


def record_outcome(
    state: State, tx: Tx, now: float, channel: str, outcome: str, by: str = "interlock", event: str = "",
    about: Sequence[str] = (), tries: int = 0, reason: str = "",
) -> None:  # fmt: skip
    """Puts it on record what became of a message; never the message itself."""
    details = {"channel": channel, "outcome": outcome, "message": event, "about": list(about[:20]), "tries": tries}
    details |= {"reason": reason} if reason else {}
    state.recorder.now(tx, "delivery", event_body(now, "delivery", by, details))
