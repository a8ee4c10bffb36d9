"""One channel's messages, one after the other on a thread of its own: sent, tried again, given up; each outcome is recorded."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from interlock.core.channel_rules import BLOCK, CHALLENGE, WAITING, Way
from interlock.core.codes import Refused
from interlock.core.deliveries import FAILED, NEEDLESS, QUEUED, SENT, Delivery, done, failed, taken
from interlock.core.messages import Message, Place, digest, head_words, of_notice
from interlock.ports import Carrier, StoreError, Tx, Undelivered
from interlock.service.loop.revealing import reveal_unsigned
from interlock.service.matters import Matter, waiting
from interlock.service.record import deed
from interlock.service.state import State

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
        way: Way,
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

    def place(self, tx: Tx) -> Place:
        return Place(self._address(), self._public, head_words(tx.audit_head(self.state.recorder.writer)))

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

    def _due(self, tx: Tx, now: float) -> tuple[list[Delivery], dict[str, Matter], float | None]:
        """What is due, what it may be about, and when there is more."""
        due = tx.due_deliveries(self.way.name, now, MOST)
        return due, waiting(tx, now) if due else {}, tx.next_delivery(self.way.name)

    def _taken(self, tx: Tx, due: Sequence[Delivery], found: dict[str, Matter], now: float) -> list[Delivery]:
        """What is ours to send now; what was answered meanwhile is not sent any more."""
        rows = []
        for row in due:
            needless = row.event in WAITING and row.about not in found
            after = done(row, NEEDLESS, now, "answered before it was sent") if needless else taken(row, now)
            if tx.change_delivery(after, row) and not needless:
                rows.append(after)
        return rows

    def _send(self, rows: Sequence[Delivery], found: dict[str, Matter], now: float) -> None:
        try:
            self.carrier.send(self._message(rows, found, now))
        except Undelivered as error:
            self._ended([failed(row, self.state.clock.now(), str(error), error.hopeless) for row in rows], rows)
        except Exception as error:
            LOG.error("channel %s failed: %s", self.way.name, type(error).__name__)  # its words may hold an address
            self._ended([failed(row, self.state.clock.now(), type(error).__name__) for row in rows], rows)
        else:
            self._ended([done(row, SENT, self.state.clock.now()) for row in rows], rows)

    def _ended(self, after: Sequence[Delivery], rows: Sequence[Delivery]) -> None:
        now, first = self.state.clock.now(), after[0]
        outcome = "retried" if first.state == QUEUED else first.state

        def work(tx: Tx) -> None:
            for one, before in zip(after, rows):
                tx.change_delivery(one, before)
            recorded(
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

    def _message(self, rows: Sequence[Delivery], found: dict[str, Matter], now: float) -> Message:
        place = self.state.store.read(self.place)
        matter = found.get(rows[0].about) if len(rows) == 1 else None
        made = [
            found[row.about].message(place, now)
            if row.event in WAITING
            else of_notice(row.id.partition("/")[2], row.event, row.words, place, now, row.about)
            for row in rows
        ]
        code = self._code(matter) if matter is not None and self._shows_codes else ""
        return replace(digest(made), code=code)

    def _code(self, matter: Matter) -> str:
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
        except Refused:
            return ""
        return revealed.code if revealed is not None else ""


def recorded(
    state: State, tx: Tx, now: float, channel: str, outcome: str, by: str = "interlock", event: str = "",
    about: Sequence[str] = (), tries: int = 0, reason: str = "",
) -> None:  # fmt: skip
    """Puts it on record what became of a message; never the message itself."""
    details = {"channel": channel, "outcome": outcome, "message": event, "about": list(about[:20]), "tries": tries}
    details |= {"reason": reason} if reason else {}
    state.recorder.now(tx, "delivery", deed(now, "delivery", by, details))
