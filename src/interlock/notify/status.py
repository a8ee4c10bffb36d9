"""Lists channels with their recent deliveries and sends test messages, for operators."""

from __future__ import annotations

import threading
from typing import Any

from interlock.config.channels import ALERT, BLOCK, CHALLENGE, HELD, WAITING
from interlock.error_codes import AnswerRefused
from interlock.identity.sessions import OperatorSession
from interlock.notify import TEST, notice_message
from interlock.notify.delivery import Courier, record_outcome
from interlock.notify.outbox import Outbox
from interlock.ports import CodeChannel, OpenChannel, Tx, Undelivered
from interlock.records.deliveries import FAILED, SENT, Delivery
from interlock.runtime.state import State
from interlock.times import iso

RECENT = 20  # deliveries that are listed
TEST_SECONDS = 30.0
_HEARD = {"console": WAITING, "terminal": (HELD, CHALLENGE, BLOCK, ALERT)}
_HERE = {"terminal": "the daemon's own terminal", "dialog": "codes in a window on this desktop"}


def list_channels(state: State, recent: int = RECENT) -> list[dict[str, Any]]:
    """Every channel: settings, usability and recent deliveries; without addresses and secrets."""
    outbox = state.outbox
    here = [
        _built_in(channel.name, _HERE.get(channel.name, ""), isinstance(channel, CodeChannel))
        for channel in state.channels
        if not isinstance(channel, Outbox)
    ]
    found = [_built_in("console", "the queue in a browser, after a sign-in", False), *here]
    if outbox is None:
        return found
    return found + state.store.read(lambda tx: [_channel_json(tx, one, recent) for one in outbox.opened])


def send_test(state: State, by: OperatorSession, name: str) -> dict[str, Any]:
    """Sends a test message now and returns its recorded outcome; refuses an unknown channel."""
    outbox = state.outbox
    opened = next((one for one in outbox.opened if one.way.name == name), None) if outbox else None
    if outbox is None or opened is None:
        raise AnswerRefused(f"there is no channel {name!r:.60} for messages", "NOT_FOUND_RESOURCE")
    courier = outbox.couriers.get(name)
    if courier is None:
        return {"name": name, "sent": False, "reason": opened.problem}
    if not courier.testing.acquire(blocking=False):
        raise AnswerRefused(f"a test of {name} is in progress")
    try:
        reason = _try_send(state, courier, by.operator)
    finally:
        courier.testing.release()
    outcome, now = FAILED if reason else SENT, state.clock.now()
    state.store.write(
        lambda tx: record_outcome(state, tx, now, name, outcome, by.operator, event=TEST, tries=1, reason=reason)
    )
    return {"name": name, "sent": not reason, "reason": reason}


def _try_send(state: State, courier: Courier, operator: str) -> str:
    """Sends the test: why it failed, or empty; does not wait for a channel that hangs."""
    words = f"{operator} tests the channel {courier.way.name}: messages get through."
    message = notice_message(state.new_id("test_"), TEST, words, state.store.read(courier.place), state.clock.now())
    failure = [f"no answer within {TEST_SECONDS:g} s"]

    def send() -> None:
        try:
            courier.carrier.send(message)
            failure[0] = ""
        except Undelivered as error:
            failure[0] = str(error)
        except Exception as error:
            failure[0] = type(error).__name__

    thread = threading.Thread(target=send, name=f"interlock-test-{courier.way.name}", daemon=True)
    thread.start()
    thread.join(TEST_SECONDS)
    return failure[0]


def _built_in(name: str, address: str, codes: bool) -> dict[str, Any]:
    return {
        "name": name, "kind": name, "address": address, "ready": True, "problem": "", "private": codes, "builtIn": True,
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
