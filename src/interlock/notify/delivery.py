"""Delivers what waits for an answer on one thread per channel: paced, retried, given up; every outcome is recorded."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from interlock import notify
from interlock.approvals import settle
from interlock.approvals.challenges.releasing import reveal_unsigned
from interlock.config.channels import BLOCK, CHALLENGE, COOLING, HELD, WAITING, ChannelRoute
from interlock.error_codes import AnswerRefused
from interlock.model import Level, TicketState
from interlock.notify import ConsoleAddress, Message, digest, head_words, notice_message
from interlock.ports import Carrier, StoreError, Tx, Undelivered
from interlock.records import (
    FAILED,
    NEEDLESS,
    OPEN_STATES,
    QUEUED,
    SENT,
    Block,
    Challenge,
    Delivery,
    Ticket,
    TicketQuery,
    claim_delivery,
    fail_delivery,
    finish_delivery,
)
from interlock.runtime.state import State

MOST_TICKETS = 1_000  # tickets considered; an agent that opens more is reported already
_OPEN = TicketQuery(OPEN_STATES, limit=MOST_TICKETS)


class PendingItem(Struct, frozen=True):
    id: str
    event: str
    since: float
    about: Ticket | Challenge | Block
    challenge: str = ""  # the challenge whose code frees it
    like_it: int = 0  # others of the same effect

    @property
    def level(self) -> Level | None:
        return self.about.level if isinstance(self.about, Ticket) else None

    def message(self, place: ConsoleAddress, now: float) -> Message:
        if isinstance(self.about, Ticket):
            return notify.ticket_message(self.about, self.event, place, now, self.like_it)
        if isinstance(self.about, Challenge):
            return notify.challenge_message(self.about, place, now)
        return notify.block_message(self.about, place, now)


def pending_items(tx: Tx, now: float) -> dict[str, PendingItem]:
    open_ones = [one for one in tx.challenges() if now < one.expires_at]
    codes = {one.agent.principal: one.id for one in open_ones if one.kind == "block"}
    found = _tickets([settle(ticket, now) for ticket in tx.tickets(_OPEN)], open_ones)
    for block in tx.blocks():
        if not block.lifted_at:
            id, code = f"block {block.principal} {block.since!r}", codes.get(block.principal, "")
            found.append(PendingItem(id, BLOCK, block.since, block, code))
    told = {matter.challenge for matter in found}
    rest = (one for one in open_ones if one.id not in told)
    found += [PendingItem(f"challenge {one.id}", CHALLENGE, one.opened_at, one, one.id) for one in rest]
    return {matter.id: matter for matter in sorted(found, key=lambda matter: matter.since)}


def _tickets(tickets: list[Ticket], challenges: list[Challenge]) -> list[PendingItem]:
    """One item per effect and principal: the oldest ticket represents the others."""
    codes = {(one.agent.principal, one.digest): one.id for one in challenges if one.digest}
    found: dict[tuple[str, ...], PendingItem] = {}
    for ticket in sorted((ticket for ticket in tickets if ticket.open), key=lambda ticket: ticket.opened_at):
        own = ticket.effect_keys or (ticket.id,)
        key = (ticket.agent.principal, *own)  # names are only claims
        if key in found:
            found[key] = replace(found[key], like_it=found[key].like_it + 1)
            continue
        code = codes.get((ticket.agent.principal, ticket.digest), "")
        event = CHALLENGE if code else COOLING if ticket.state is TicketState.COOLING else HELD
        found[key] = PendingItem(f"ticket {ticket.id}", event, ticket.opened_at, ticket, code)
    return list(found.values())


LOG = logging.getLogger("interlock")
LOOK = 5.0  # seconds between two checks without a wake-up: another replica may have ended
IDLE = 60.0  # without other replicas
BURST = 3  # messages that may be sent at once
MOST = 100  # items of one message


class Worker:
    """Works whenever it is woken, or after the seconds that its work returns; an error does not end it."""

    def __init__(self, state: State, name: str, what: str, work: Callable[[], float], traced: bool = False) -> None:
        """`traced` errors are logged with their message, in which there must be no address."""
        self._state, self._what, self._work, self._traced = state, what, work, traced
        self._wake, self._ending = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        self._wake.set()

    def stop(self, seconds: float) -> None:
        self._ending.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        while not self._ending.is_set():
            wait = LOOK
            try:
                wait = self._work()
            except StoreError as error:
                if not self._ending.is_set():
                    self._state.trouble(f"{self._what}: the store cannot be used: {error}", "store")
            except Exception as error:  # the thread goes on: without it no message is sent
                LOG.error("%s failed: %s", self._what, type(error).__name__, exc_info=self._traced)
            self._wake.wait(wait)
            self._wake.clear()


class Courier:
    """Combines the messages of one channel that come faster than its pace."""

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
        """`stuck` is called when a message is not delivered: another channel may have to take over."""
        self.state, self.way, self.carrier, self._stuck = state, way, carrier, stuck
        self._address, self._public, self._shows_codes = address, public, shows_codes
        self.testing = threading.Lock()  # one test at a time
        self._left, self._counted_at = float(BURST), time.monotonic()
        name, what = f"interlock-to-{way.name}", f"channel {way.name}"
        self.worker = Worker(state, name, what, lambda: self._pace_delay() or self.round())

    def place(self, tx: Tx) -> ConsoleAddress:
        return ConsoleAddress(self._address(), self._public, head_words(tx.audit_head(self.state.recorder.writer)))

    def _pace_delay(self) -> float:
        now, gap = time.monotonic(), 60.0 / self.way.per_minute
        self._left = min(float(BURST), self._left + (now - self._counted_at) / gap)
        self._counted_at = now
        return 0.0 if self._left >= 1 else (1 - self._left) * gap

    def round(self) -> float:
        """Everything due in one message; returns the seconds until the next is due."""
        now = self.state.clock.now()
        due, found, next_at = self.state.store.read(lambda tx: self._due(tx, now))
        if not due:
            look = LOOK if self.state.shared else IDLE
            return look if next_at is None else min(look, max(0.05, next_at - now))
        if self._shows_codes and due[0].event in (CHALLENGE, BLOCK):
            due = due[:1]  # a message with a code has no other content
        rows = self.state.store.write(lambda tx: self._claim(tx, due, found, now))
        if rows:
            self._left -= 1
            self._send(rows, found, now)
        return 0.0

    def _due(self, tx: Tx, now: float) -> tuple[list[Delivery], dict[str, PendingItem], float | None]:
        due = tx.due_deliveries(self.way.name, now, MOST)
        return due, pending_items(tx, now) if due else {}, tx.next_delivery(self.way.name)

    def _claim(self, tx: Tx, due: Sequence[Delivery], found: dict[str, PendingItem], now: float) -> list[Delivery]:
        rows = []
        for row in due:
            if row.event in WAITING and row.about not in found:
                tx.change_delivery(finish_delivery(row, NEEDLESS, now, "answered before it was sent"), row)
            elif tx.change_delivery(after := claim_delivery(row, now), row):
                rows.append(after)
        return rows

    def _send(self, rows: Sequence[Delivery], found: dict[str, PendingItem], now: float) -> None:
        failure = self.attempt(partial(self._message, rows, found, now))
        now = self.state.clock.now()
        after = [
            fail_delivery(row, now, str(failure), failure.hopeless) if failure else finish_delivery(row, SENT, now)
            for row in rows
        ]
        self._finish(after, rows)

    def attempt(self, message: Callable[[], Message]) -> Undelivered | None:
        """Why it was not delivered; a message that cannot be written counts as failed, and holds up no others."""
        try:
            self.carrier.send(message())
        except Undelivered as error:
            return error
        except Exception as error:  # its message may contain an address
            LOG.error("channel %s failed: %s", self.way.name, type(error).__name__)
            return Undelivered(type(error).__name__)
        return None

    def _finish(self, after: Sequence[Delivery], rows: Sequence[Delivery]) -> None:
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
            self.state.alerts[alert] = words = f"{alert}: a message did not get through: {first.reason}"
            self.state.trouble(words, "channel")
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
        return replace(digest(made), code=self._code(matter) if matter and self._shows_codes else "")

    def _code(self, matter: PendingItem) -> str:
        """For a private channel; empty where a person was shown one already."""
        id, by = matter.challenge, f"channel:{self.way.name}"
        if not id or self.state.store.read(lambda tx: tx.challenge(id)) is None:
            return ""
        shown = self.state.codes.shown(id, self.state.clock.now())
        if shown and shown.release.channel != by:
            return ""
        try:
            revealed = reveal_unsigned(self.state, by, id)
        except AnswerRefused:
            return ""
        return revealed.code if revealed else ""


def record_outcome(
    state: State, tx: Tx, now: float, channel: str, outcome: str, by: str = "interlock", event: str = "",
    about: Sequence[str] = (), tries: int = 0, reason: str = "",
) -> None:  # fmt: skip
    """Never the message itself."""
    details = {"channel": channel, "outcome": outcome, "message": event, "about": list(about[:20]), "tries": tries}
    details |= {"reason": reason} if reason else {}
    state.recorder.event(tx, "delivery", by, details)
