"""Keeps this process's memory of a shared store current: blocks, patterns, the mode, operators; replicas change them too."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from interlock.approvals import grants, pausing, signed_orders
from interlock.approvals.denials import SETTING
from interlock.identity.keys.roster import ROSTER_SETTING, Roster
from interlock.identity.sessions import SignInRefused
from interlock.policy.policy import MODES
from interlock.policy.registry import Pattern, PatternError
from interlock.ports import StoreError, StoreEvent, Tx
from interlock.records import Block

if TYPE_CHECKING:
    from interlock.runtime.state import State

# A change is announced in the transaction that makes it, and adopted on its announcement. A row that tightens is believed as it
# stands; a row that loosens has to be signed (`signed_orders`), or proved as the roster is: an edited row lifts nothing.

LOG = logging.getLogger("interlock")
MODE_SETTING = "mode"
STRICTNESS = {mode: rank for rank, mode in enumerate(reversed(MODES))}
_SETTINGS = ("", MODE_SETTING, ROSTER_SETTING, signed_orders.REMOVE, signed_orders.PAUSE, SETTING)
_EVENTS = (StoreEvent.BLOCKS, StoreEvent.DENIALS, StoreEvent.OPERATORS, StoreEvent.PATTERNS)
_HEARD = frozenset({*_EVENTS, *(StoreEvent.SETTING + name for name in _SETTINGS)})


class Memory:
    def __init__(self, state: State) -> None:
        self._state = state
        self._counting = threading.Lock()
        self._due = self._done = 0  # announced and adopted changes
        self._first = self._newest = 0.0  # orders about the mode: the one at the start, the last one followed
        self._removed: dict[str, float] = {}  # pattern -> the removal order that was followed, or preceded it
        self._since: dict[str, float] = {}  # principal -> start of its newest known block
        self._roster: Roster | None = None  # that signatures were checked with
        self._said = ""

    def begin(self, load: Callable[[], None]) -> None:
        """Loads the store's state after subscribing to changes, so that none is missed in between."""
        with self._state.lock:
            self._state.store.listen(self.heard)
            load()
            self._state.store.read(self._baseline)

    def fresh(self) -> bool:
        """Whether every announced change was adopted, and none can have been missed."""
        heard = self._due == self._done and self._roster is self._state.sessions.roster
        return heard and self._state.store.hears()

    def heard(self, id: str) -> None:
        """Called by the store's feed; ignores tickets."""
        if id == StoreEvent.AGENTS:
            self._state.agents_version = object()
        if id in _HEARD:
            self.changed()

    def changed(self) -> None:
        """Refreshes after a change, including our own: another process may have changed the same later."""
        with self._counting:
            self._due += 1
        try:
            self.refresh()
        except StoreError as error:  # stays outdated until the next decision refreshes it
            LOG.warning("a change could not be read yet: %s", error)

    def refresh(self) -> None:
        """Raises StoreError."""
        with self._state.lock:
            due = self._due
            self._state.store.read(self._take)
            self._done, self._roster = due, self._state.sessions.roster

    def _baseline(self, tx: Tx) -> None:
        self._first = self._newest = signed_orders.read_order(tx, signed_orders.MODE).at
        self._removed = signed_orders.removals(signed_orders.read_order(tx, signed_orders.REMOVE))
        self._saw(tx.blocks())

    def _take(self, tx: Tx) -> None:
        try:
            self._state.sessions.refresh(tx)  # first, as the roster says whose signatures count
        except SignInRefused as error:
            self._say(str(error))
        self._take_blocks(tx)
        self._state.baseline.take_denials(tx, self._state.clock.now())
        self._take_patterns(tx)
        self._take_mode(tx)
        pausing.adopt(self._state, tx)
        grants.load_answers(self._state, tx)

    def _take_blocks(self, tx: Tx) -> None:
        rows = tx.blocks()  # the newest first
        self._saw(rows)
        newest = {block.principal: block for block in reversed(rows)}
        known = self._state.blocks
        kept = {name: why for name, why in known.items() if not self._lifted(tx, newest.get(name))}
        self._state.blocks = kept | {block.principal: block.reason for block in reversed(rows) if not block.lifted_at}
        self._state.publish_blocks()

    def _lifted(self, tx: Tx, block: Block | None) -> bool:
        """A missing, unsigned or redated row lifts nothing."""
        if block is None or not block.lifted_at or block.since < self._since.get(block.principal, 0.0):
            return False
        words = signed_orders.load_order(self._state, tx, f"{signed_orders.LIFT}{block.principal}").words
        return words == (block.principal, repr(block.since))

    def _saw(self, rows: Iterable[Block]) -> None:
        for block in rows:
            if not block.lifted_at:
                self._since[block.principal] = max(block.since, self._since.get(block.principal, 0.0))

    def _take_patterns(self, tx: Tx) -> None:
        registry, stored = self._state.registry, {wire["id"]: wire for wire in tx.patterns()}
        here = {pattern.id: pattern.wire for pattern in registry}
        for id, at in signed_orders.removals(signed_orders.load_order(self._state, tx, signed_orders.REMOVE)).items():
            if at > self._removed.get(id, 0.0):
                self._removed[id] = at
                if id in here and stored.get(id) != here[id]:
                    del here[id]
                    with contextlib.suppress(PatternError):  # removed already, by the process that ordered it
                        registry.unregister(id)
        for id, wire in stored.items():
            try:
                if id not in here:
                    registry.register(Pattern.of(wire))
                elif here[id] != wire:
                    raise PatternError(f"pattern {id!r}: the store has another one without a signed order")
            except PatternError as error:
                self._say(str(error))
        for id, at in signed_orders.removals(signed_orders.read_order(tx, signed_orders.REMOVE)).items():
            if id in here and stored.get(id) == here[id]:  # it was added again after that order
                self._removed[id] = max(at, self._removed.get(id, 0.0))

    def _take_mode(self, tx: Tx) -> None:
        """Adopts the newest signed mode since the start; without one, only a stricter mode."""
        order, stored = signed_orders.load_order(self._state, tx, signed_orders.MODE), tx.setting(MODE_SETTING)
        # an older order that is put back is ignored
        self._newest = max(self._newest, signed_orders.read_order(tx, signed_orders.MODE).at)
        if order.at > self._first and order.at >= self._newest and order.words[0] in MODES:
            self._state.enforce(mode=order.words[0])
        if stored in MODES and STRICTNESS[stored] > STRICTNESS[self._state.mode]:
            self._state.enforce(mode=stored)

    def _say(self, words: str) -> None:
        if words != self._said:
            self._said = words
            self._state.trouble(words)
