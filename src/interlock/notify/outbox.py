"""Queues messages for channels, stored before they are sent; lists and tests channels."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from interlock.config.channels import (
    ALERT,
    ANSWERED,
    BLOCK,
    CHALLENGE,
    CHANGE,
    CREDENTIAL,
    EXPIRED,
    HELD,
    WAITING,
    ChannelRoute,
)
from interlock.error_codes import AnswerRefused, NotFound
from interlock.identity.sessions import OperatorSession
from interlock.model import Level
from interlock.notify import TEST, clean_line, notice_message
from interlock.notify.delivery import LOG, LOOK, Courier, PendingItem, Worker, pending_items, record_outcome
from interlock.ports import CodeChannel, OpenChannel, StoreEvent, Tx
from interlock.records import DROPPED, FAILED, SENT, Challenge, Delivery, Ticket, finish_delivery
from interlock.runtime.state import State
from interlock.times import iso

MOST_NOTES = 1_000  # not stored yet; the oldest are dropped
MOST_OWED = 200  # messages of one channel; the oldest are dropped
KEPT = 30 * 86_400.0  # seconds that finished deliveries are kept
_TIDY = 600  # checks between two clean-ups
# Events of the engine -> events of messages; any other is an alert.
_SILENT = frozenset({"held", "challenge", "block"})  # pending items, which are read from the store
_TOLD = {
    "credential": CREDENTIAL, "expired": EXPIRED, "mode": CHANGE, "operator": CHANGE, "pause": CHANGE, "pause_end": CHANGE,
    "adapter_trust": CHANGE, "approve": ANSWERED, "reject": ANSWERED, "revoke": ANSWERED,
}  # fmt: skip
_VERBS = {"approve": "approved", "reject": "rejected", "revoke": "took back"}


class Note(Struct, frozen=True):
    id: str
    event: str
    words: str
    about: str = ""
    level: Level | None = None  # of the action that it is about


class Outbox:
    name = "messages"

    def __init__(self, state: State, opened: Sequence[OpenChannel], address: Callable[[], str], public: bool) -> None:
        self.state, self.opened = state, list(opened)
        codes, self._worker = self._code_way(), Worker(state, "interlock-outbox", "messages", self.look, traced=True)
        self.couriers = {
            one.way.name: Courier(state, one.way, one.carrier, address, public, one is codes, self._worker.wake)
            for one in self.opened
            if one.carrier
        }
        self._notes: deque[Note] = deque()
        self._known: set[str] = set()
        self._lost = self._looks = 0
        self._lock = threading.Lock()

    def _code_way(self) -> OpenChannel | None:
        """One channel only: a second code would replace the first."""
        if any(isinstance(channel, CodeChannel) for channel in self.state.channels):
            return None
        return next((one for one in self.opened if one.way.private and one.carrier is not None), None)

    def start(self) -> None:
        for one in self.opened:
            if one.problem:
                alert = f"channel {one.way.name}"
                self.state.alerts[alert] = f"{alert}: {one.problem}"
                LOG.warning("%s: %s", alert, one.problem)
        if not self.couriers:
            return
        self.state.channels = [*self.state.channels, self]
        self.state.store.listen(lambda id: self._worker.wake() if id == StoreEvent.BLOCKS else None)
        for courier in self.couriers.values():
            courier.worker.start()
        self._worker.start()

    def stop(self) -> None:
        self._worker.stop(5)
        for courier in self.couriers.values():
            courier.worker.stop(2)

    def tell(self, event: str, about: Ticket | Challenge | None, words: str) -> None:
        """Queues an event without delay: the caller may be deciding an action."""
        if event not in _SILENT:
            said, level = clean_line(_words(event, about, words)), about.level if isinstance(about, Ticket) else None
            note = Note(self.state.new_id("note_"), _TOLD.get(event, ALERT), said, about.id if about else "", level)
            with self._lock:
                self._notes.append(note)
                while len(self._notes) > MOST_NOTES:
                    self._notes.popleft()
                    self._lost += 1
        self._worker.wake()

    def look(self) -> float:
        now = self.state.clock.now()
        with self._lock:
            notes, self._notes = list(self._notes), deque()
            lost, self._lost = self._lost, 0
        try:
            found, stuck = self.state.store.read(lambda tx: self._waiting(tx, now))
            due, wait = self._due(found, stuck, now)
            told = [
                Delivery(f"{way.name}/{note.id}", way.name, note.event, note.about, note.words, now, now)
                for way in self._ways()
                for note in notes
                if way.wants(note.event, note.level)
            ]
            self._keep([*due, *told], lost, now)
        except BaseException:
            with self._lock:
                self._notes.extendleft(reversed(notes))
                self._lost += lost
            raise
        self._known = {row.id for row in due} | {id for id in self._known if id.partition("/")[2] in found}
        self._looks += 1
        if self._looks % _TIDY == 1:
            self.state.store.write(lambda tx: tx.forget_deliveries(now - KEPT))
        return wait

    def _waiting(self, tx: Tx, now: float) -> tuple[dict[str, PendingItem], frozenset[str]]:
        found, ways = pending_items(tx, now), self._ways()
        latest = max((way.after_seconds for way in ways), default=0)
        sooner = [way.name for way in ways if way.after_seconds < latest]
        rows = (tx.delivery(f"{name}/{id}") for id in islice(found, MOST_OWED) for name in sooner)
        return found, frozenset(row.id for row in rows if row and row.stuck)

    def _due(self, found: dict[str, PendingItem], stuck: frozenset[str], now: float) -> tuple[list[Delivery], float]:
        rows, wait = [], LOOK
        for way in self._ways():
            for matter in found.values():
                id = f"{way.name}/{matter.id}"
                if id in self._known or not way.wants(matter.event, matter.level):
                    continue
                left = matter.since + way.after_seconds - now
                if left <= 0 or self._earlier_stuck(way, matter, stuck):
                    rows.append(Delivery(id, way.name, matter.event, matter.id, "", now, now))
                else:
                    wait = min(wait, left)
        return rows, wait

    def _earlier_stuck(self, way: ChannelRoute, matter: PendingItem, stuck: frozenset[str]) -> bool:
        sooner = [
            one for one in self.opened
            if one.way.after_seconds < way.after_seconds and one.way.wants(matter.event, matter.level) and not one.way.implied
        ]  # fmt: skip
        return bool(sooner) and all(one.carrier is None or f"{one.way.name}/{matter.id}" in stuck for one in sooner)

    def _keep(self, rows: Sequence[Delivery], lost: int, now: float) -> None:
        """Each once across replicas; drops the oldest above the limit, and records that."""
        if not rows and not lost:
            return

        def work(tx: Tx) -> None:
            for row in rows:
                tx.add_delivery(row)
            dropped = {"": lost} | {name: self._drop_oldest(tx, name, now) for name in {row.channel for row in rows}}
            for name, count in dropped.items():
                if count:
                    reason = f"{count} messages were too many"
                    record_outcome(self.state, tx, now, name or "all", DROPPED, reason=reason)

        self.state.store.write(work)
        for name in {row.channel for row in rows}:
            self.couriers[name].worker.wake()

    def _drop_oldest(self, tx: Tx, channel: str, now: float) -> int:
        over = tx.owed(channel) - MOST_OWED
        oldest = tx.due_deliveries(channel, float("inf"), over) if over > 0 else ()
        return sum(tx.change_delivery(finish_delivery(row, DROPPED, now, "too many"), row) for row in oldest)

    def _ways(self) -> list[ChannelRoute]:
        return [courier.way for courier in self.couriers.values()]


def _words(event: str, about: Ticket | Challenge | None, words: str) -> str:
    if event in _VERBS and isinstance(about, Ticket):
        return f"{about.decided_by or 'somebody'} {_VERBS[event]} {about.id}: {about.title}"
    return words or (about.title if isinstance(about, Ticket) else event)


RECENT = 20  # deliveries that are listed
TEST_SECONDS = 30.0
_HEARD = {"console": WAITING, "terminal": (HELD, CHALLENGE, BLOCK, ALERT)}
_HERE = {
    "console": "the queue in a browser, after a sign-in",
    "terminal": "the daemon's own terminal",
    "dialog": "codes in a window on this desktop",
}


def list_channels(state: State, recent: int = RECENT) -> list[dict[str, Any]]:
    """Without addresses and secrets."""
    outbox = state.outbox
    found = [_built_in("console", False)]
    found += [_built_in(one.name, isinstance(one, CodeChannel)) for one in state.channels if one is not outbox]
    opened = outbox.opened if outbox else ()
    return found + state.store.read(lambda tx: [_channel_json(tx, one, recent) for one in opened])


def send_test(state: State, by: OperatorSession, name: str) -> dict[str, Any]:
    outbox = state.outbox
    opened = next((one for one in outbox.opened if one.way.name == name), None) if outbox else None
    if outbox is None or opened is None:
        raise NotFound(f"there is no channel {name!r:.60} for messages")
    if (courier := outbox.couriers.get(name)) is None:
        return {"name": name, "sent": False, "reason": opened.problem}
    if not courier.testing.acquire(blocking=False):
        raise AnswerRefused(f"a test of {name} is in progress")
    try:
        reason = _try_send(state, courier, by.operator)
    finally:
        courier.testing.release()
    outcome, now, by_whom = FAILED if reason else SENT, state.clock.now(), by.operator
    state.store.write(lambda tx: record_outcome(state, tx, now, name, outcome, by_whom, TEST, (), 1, reason))
    return {"name": name, "sent": not reason, "reason": reason}


def _try_send(state: State, courier: Courier, operator: str) -> str:
    """Why it failed, or empty; does not wait for a channel that hangs."""
    words = f"{operator} tests the channel {courier.way.name}: messages get through."
    message = notice_message(state.new_id("test_"), TEST, words, state.store.read(courier.place), state.clock.now())
    failure = [f"no answer within {TEST_SECONDS:g} s"]

    def send() -> None:
        failure[0] = str(courier.attempt(lambda: message) or "")

    thread = threading.Thread(target=send, name=f"interlock-test-{courier.way.name}", daemon=True)
    thread.start()
    thread.join(TEST_SECONDS)
    return failure[0]


def _built_in(name: str, codes: bool) -> dict[str, Any]:
    return {
        "name": name, "kind": name, "address": _HERE.get(name, ""), "ready": True, "problem": "", "private": codes, "builtIn": True,
        "events": list(_HEARD.get(name, (CHALLENGE,))), "level": "safe", "afterSeconds": 0, "perMinute": 0,
        "waiting": 0, "recent": [],
    }  # fmt: skip


def _channel_json(tx: Tx, one: OpenChannel, recent: int) -> dict[str, Any]:
    way = one.way
    return {
        "name": way.name, "kind": way.kind, "address": one.address, "ready": one.carrier is not None, "problem": one.problem,
        "private": way.private, "builtIn": False, "events": list(way.events), "level": way.level.word,
        "afterSeconds": way.after_seconds, "perMinute": way.per_minute, "waiting": tx.owed(way.name),
        "recent": [_delivery(row) for row in tx.deliveries(way.name, recent)],
    }  # fmt: skip


def _delivery(row: Delivery) -> dict[str, Any]:
    found = {
        "event": row.event, "about": row.about, "state": row.state, "tries": row.tries, "madeAt": iso(row.made_at),
        "reason": row.reason, "doneAt": iso(row.done_at) if row.done_at else "",
        "nextAt": iso(row.due_at) if row.waits else "",
    }  # fmt: skip
    return {key: value for key, value in found.items() if value not in ("", 0)} | {"tries": row.tries}
