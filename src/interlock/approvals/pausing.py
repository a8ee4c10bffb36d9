"""An operator's pause of enforcement: begins, ends, expires, and survives a restart only by its signature."""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec.structs import replace

from interlock.approvals import signed_orders
from interlock.canonical_json import json_table
from interlock.error_codes import AnswerRefused, NotFound
from interlock.identity.sessions import OperatorSession
from interlock.model import Action, Level
from interlock.policy.exemptions import OperatorPause, reason_to_hold
from interlock.ports import Tx
from interlock.records import AuditQuery
from interlock.redaction import redact_text
from interlock.runtime import InForce
from interlock.runtime.state import State
from interlock.times import iso

BEGIN, END = "pause", "end"  # the first word of an order
ALERT = "pause"
REASON = 500  # characters


def pause(state: State, by: OperatorSession, seconds: int, reason: str) -> OperatorPause:
    """Takes a fresh sign-in and a reason; refuses more time than the configuration allows."""
    now, most = state.clock.now(), state.in_force.pauses.max_minutes
    if not most:
        raise AnswerRefused("pauses are switched off here (pause.max_minutes = 0)")
    if not 1 <= seconds <= most * 60:
        words = f"a pause may last {most} minutes here and no longer (pause.max_minutes)"
        raise AnswerRefused(words, "VALIDATION_INVALID_VALUE")
    if not (said := redact_text(reason.strip())[:REASON]):
        raise AnswerRefused("say why: it goes on the record", "VALIDATION_MISSING_PARAM")
    by.require_fresh(now)
    made = OperatorPause(by.operator, said, now, now + seconds, _ceiling(state, by.operator))
    order = (BEGIN, said, repr(made.since), repr(made.until), str(int(made.ceiling)))
    details = {"until": iso(made.until), "seconds": seconds, "ceiling": made.ceiling.word, "reason": said}
    _order(state, by, order, "pause", details)
    state.pause.found = made
    state.changed()
    state.tell("pause", None, f"{by.operator} paused enforcement until {iso(made.until)}: {said}")
    return made


def end(state: State, by: OperatorSession, reason: str = "") -> None:
    refresh(state)  # one that a restart left is proved by whoever ends it
    if state.pause.found is None:
        raise NotFound("nothing is paused")
    details = {"pause": repr(state.pause.order), "reason": redact_text(reason)[:REASON]}
    _order(state, by, (END,), "pause_end", details)
    state.pause.found = None
    state.changed()
    state.tell("pause_end", None, f"{by.operator} ended the pause")


def _order(
    state: State, by: OperatorSession, words: tuple[str, ...], event: str, details: Mapping[str, object]
) -> None:
    """Valid after a restart and at every replica."""

    def work(tx: Tx) -> float:
        tx.save_setting(signed_orders.PAUSE, signed_orders.sign_order(state, tx, by, signed_orders.PAUSE, *words))
        state.recorder.event(tx, event, by.operator, details)
        return signed_orders.read_order(tx, signed_orders.PAUSE).at

    state.pause.order = state.store.write(work)


def refresh(state: State) -> None:
    """Ends an expired pause, and adopts one from before a restart once its signature is proved."""
    roster = state.sessions.roster
    if roster and state.pause.roster is not roster and not state.shared:
        state.store.read(lambda tx: adopt(state, tx))
        state.pause.roster = roster
    found = state.pause.found
    if found is None or state.clock.now() < found.until:
        return
    state.pause.found = None
    if state.store.write(lambda tx: _over(state, tx)):
        state.tell("pause_end", None, f"the pause by {found.by} is over")


def _over(state: State, tx: Tx) -> bool:
    """Records the end once, by whichever replica notices first."""
    mark = repr(state.pause.order)
    if _ended(tx) == mark:
        return False
    state.recorder.event(tx, "pause_end", "time", {"pause": mark})
    return True


def adopt(state: State, tx: Tx) -> None:
    """The newest order of an entitled signer counts; ignores an older one that is put back."""
    order = signed_orders.load_order(state, tx, signed_orders.PAUSE)
    if order.at > state.pause.order:
        state.pause.order = order.at
        state.pause.found = _of(state, order) if _ended(tx) != repr(order.at) else None
    if state.sessions.roster:
        state.alerts.pop(ALERT, None)


def warn(state: State) -> None:
    """Its signature cannot be checked before an operator signs in."""
    found = state.store.read(lambda tx: _read(signed_orders.read_order(tx, signed_orders.PAUSE)))
    if found and found.at(state.clock.now()):
        before = f"a pause until {iso(found.until)} was in force before this start"
        state.alerts[ALERT] = f"{before}; `interlock unlock` brings it back"


def monitored_while_paused(state: State, by: InForce, action: Action) -> InForce:
    operator, ceiling = state.paused(state.clock.now())
    if not operator or by.mode != "enforcing" or reason_to_hold(state.reader.read(action)[0].assessment, ceiling):
        return by
    return by.under(by.policy, "monitoring")


def _of(state: State, order: signed_orders.Order) -> OperatorPause | None:
    """The pause of an order; None where it is longer or reaches further than its signer may."""
    found = _read(order)
    if found is None or found.until - found.since > state.in_force.pauses.max_minutes * 60:
        return None
    return replace(found, by=order.by, ceiling=min(found.ceiling, _ceiling(state, order.by)))


def _read(order: signed_orders.Order) -> OperatorPause | None:
    try:
        word, reason, since, until, ceiling = order.words
        found = OperatorPause("", reason, float(since), float(until), Level(int(ceiling)))
    except ValueError:
        return None
    return found if word == BEGIN and math.isfinite(found.since) and math.isfinite(found.until) else None


def _ceiling(state: State, operator: str) -> Level:
    return Level.FORBIDDEN if state.sessions.is_admin(operator) else Level.DANGEROUS


def _ended(tx: Tx) -> str:
    rows = tx.audit(AuditQuery(event="pause_end", limit=1, newest_first=True))
    return str(json_table(rows[0].body).get("pause", "")) if rows else ""
