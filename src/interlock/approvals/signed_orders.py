"""Operators' signed orders for every replica (mode, removals, lifted blocks, trust tiers, pauses); an unsigned row is no order."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.canonical_json import canonical_json, json_table, normal_name
from interlock.identity.sessions import OperatorSession
from interlock.ports import Tx
from interlock.records import AgentRow, Block
from interlock.runtime.state import State

MODE, REMOVE, PAUSE = "order.mode", "order.remove", "order.pause"  # settings
LIFT, TIER = "order.lift:", "order.tier:"  # with whom behind them
_ADMINS = (MODE, REMOVE)
_REMOVALS = 500  # patterns; what was removed before them is forgotten
_STEP = 0.001  # seconds


class Order(Struct, frozen=True):
    """None where `at` is 0."""

    words: tuple[str, ...] = ()
    at: float = 0.0
    by: str = ""  # proved where `given` says it


def save_order(state: State, tx: Tx, by: OperatorSession, setting: str, *words: str) -> None:
    """For replicas; each is later than the one before, whatever the clocks say."""
    if state.shared:
        tx.save_setting(setting, sign_order(state, tx, by, setting, *words))


def sign_order(state: State, tx: Tx, by: OperatorSession, setting: str, *words: str) -> str:
    at, own = max(state.clock.now(), read_order(tx, setting).at + _STEP), by.unlocked
    signature = own.sign(_text(setting, words, at))
    return json.dumps({"words": words, "at": at, "by": by.operator, "key": own.key_id, "signature": signature})


def load_order(state: State, tx: Tx, setting: str) -> Order:
    """None where no entitled operator signed it, or this replica is not unlocked."""
    return verify_order(state, setting, tx.setting(setting) or "")


def verify_order(state: State, setting: str, text: str) -> Order:
    """None where no entitled operator signed it."""
    kept, sessions = json_table(text), state.sessions
    order = _order(kept)
    if setting in _ADMINS and not sessions.is_admin(order.by):
        return Order()
    bound, key, signature = _text(setting, order.words, order.at), str(kept.get("key")), str(kept.get("signature"))
    return order if sessions.has_signed(order.by, key, bound, signature) else Order()


def read_order(tx: Tx, setting: str) -> Order:
    """Unverified."""
    return _order(json_table(tx.setting(setting) or ""))


def _order(kept: dict[str, Any]) -> Order:
    try:
        return Order(tuple(map(str, kept["words"])), float(kept["at"]), str(kept.get("by", "")))
    except (ValueError, TypeError, KeyError):
        return Order()


def order_removal(state: State, tx: Tx, by: OperatorSession, pattern: str) -> None:
    listed = removals(load_order(state, tx, REMOVE))
    at = max([state.clock.now(), *(then + _STEP for then in listed.values())])
    listed.pop(pattern, None)
    newest = [*listed.items(), (pattern, at)][-_REMOVALS:]
    save_order(state, tx, by, REMOVE, *(word for id, then in newest for word in (id, repr(then))))


def removals(order: Order) -> dict[str, float]:
    try:
        return {id: float(at) for id, at in zip(order.words[::2], order.words[1::2])}
    except ValueError:
        return {}


def order_tier(state: State, tx: Tx, by: OperatorSession, row: AgentRow) -> None:
    save_order(state, tx, by, _tier_of(row), *_tier_words(row))


def with_signed_tier(state: State, tx: Tx, row: AgentRow | None) -> AgentRow | None:
    """On a shared store, an unsigned trust tier is dropped."""
    if row is None or not row.trust_tier or not state.shared:
        return row
    return row if load_order(state, tx, _tier_of(row)).words == _tier_words(row) else replace(row, trust_tier="")


def lift_of(block: Block) -> tuple[str, str, str]:
    """The setting of the order that lifts it, and its words."""
    return f"{LIFT}{block.principal}", block.principal, repr(block.since)


def _tier_of(row: AgentRow) -> str:
    return TIER + hashlib.sha256(canonical_json(list(_tier_words(row)[:2])).encode()).hexdigest()[:32]


def _tier_words(row: AgentRow) -> tuple[str, str, str]:
    return row.principal, normal_name(row.name), row.trust_tier


def _text(setting: str, words: tuple[str, ...], at: float) -> str:
    return canonical_json(["interlock.order", setting, list(words), repr(at)])
