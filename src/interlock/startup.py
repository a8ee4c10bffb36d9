"""Builds the state that decisions are made with: store, keys, rules, policy, registry, and remembered answers."""

from __future__ import annotations

import logging
import platform
import secrets
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from interlock.analysis.rules import Rulebook
from interlock.analysis.rules.load import rulebook_hash
from interlock.approvals import challenges, grants, pausing
from interlock.audit.chain import AuditRecorder
from interlock.canonical_json import json_table
from interlock.config import Config, policy_mark
from interlock.engine.own_assets import guarded_of
from interlock.identity.session_shelf import SessionShelf
from interlock.identity.sessions import OperatorSessions
from interlock.identity.visitors import Visitors
from interlock.plans import history
from interlock.policy.policy import MODES
from interlock.policy.registry import Pattern, PatternError
from interlock.ports import Channel, Clock, Store, StoreError
from interlock.records import AuditQuery, Block
from interlock.runtime import ActionReader, InForce, adapter_trust, rules_of
from interlock.runtime.adapters import Adapters, read_adapters
from interlock.runtime.integrity import recorded_blocks
from interlock.runtime.memory import MODE_SETTING, STRICTNESS, Memory
from interlock.runtime.plan_desk import PlanDesk
from interlock.runtime.state import Installation, SnapshotPlaces, State
from interlock.storage.sqlite import SqliteStore

LOG = logging.getLogger("interlock")


def open_state(
    config: Config,
    store: Store,
    clock: Clock,
    channels: Sequence[Channel] = (),
    strength: str = "plain",
    known: tuple[Rulebook, str] | None = None,
) -> State:
    """Loads what the store remembers; `known` are the rules and their hash, slow to read."""
    installation = Installation.open(config.folder)
    policy = config.effective_policy()
    rules, mark = known or read_rules(config)
    hashes = mark, policy_mark(config, policy)
    shared, writer = bool(getattr(store, "shared", False)), "main"
    if shared:
        store.write(installation.agree)
        writer = f"w-{secrets.token_hex(4)}"
    in_force = InForce(
        rules=rules,
        policy=policy,
        mode=config.mode,
        policy_hash=hashes[1],
        rulebook_hash=mark,
        own_assets=guarded_of(config),
        challenge_seconds=config.limits.challenge_seconds,
        loops=config.loop,
        hooks=config.hooks,
        impact=config.impact,
        undo=config.undo,
        pauses=config.pause,
    )
    sessions = OperatorSessions(config.limits.session_minutes, clock.now)
    state = State(
        store=store,
        in_force=in_force,
        reader=ActionReader(rules),
        clock=clock,
        installation=installation,
        recorder=AuditRecorder(store, clock, writer, installation.checkpoint.key_id, hashes),
        sessions=sessions,
        strength=strength,
        channels=channels,
        shared=shared,
        snapshots=SnapshotPlaces(machine=platform.node()),
        visitors=Visitors(config.console, SessionShelf(store, sessions.seal_key) if shared else None),
        plans=PlanDesk(config.plan, config.planner),
    )
    state.adapters = Adapters(read_adapters(config), sessions.seal_key)
    if shared:
        state.memory = Memory(state)
        state.memory.begin(lambda: _remember(state, config))
    else:
        _remember(state, config)
    adapter_trust.begin(state)
    history.recover_interrupted(state)
    pausing.warn(state)
    return state


def read_rules(config: Config) -> tuple[Rulebook, str]:
    rules = rules_of(config)
    return rules, rulebook_hash(rules)


def _remember(state: State, config: Config) -> None:
    blocks, patterns, mode = state.store.read(lambda tx: (tx.blocks(), tx.patterns(), tx.setting(MODE_SETTING)))
    for block in (one for one in blocks if not one.lifted_at):
        state.remember_block(block)
    state.store.read(lambda tx: state.baseline.load(tx, state))
    state.store.read(lambda tx: grants.load_answers(state, tx))
    if not state.shared:
        challenges.settle_restart(state)
        state.store.read(state.sessions.pin)
        for block in state.store.read(recorded_blocks):
            _block_again(state, block)
    for wire in (*(pattern.wire for pattern in config.patterns), *patterns):
        try:
            state.registry.register(Pattern.of(wire))
        except PatternError as error:
            LOG.warning("%s", error)
    # after a restart the file rules, unless it is laxer
    if mode in MODES and STRICTNESS[mode] > STRICTNESS[state.mode]:
        state.enforce(mode=mode)


def _block_again(state: State, block: Block) -> None:
    state.trouble(f"the block of {block.principal!r} was deleted outside Interlock; it is in force again", "altered")
    state.store.write(lambda tx: tx.save_block(block))
    state.remember_block(block)


def record_start(state: State, version: str) -> None:
    """Raises an alert for each thing that changed since the last one."""
    starts = state.store.read(lambda tx: tx.audit(AuditQuery(event="start", limit=1, newest_first=True)))
    adapters = {name: loaded.mark for name, loaded in sorted(state.adapters.loaded.items())}
    for last in starts:
        start, by = json_table(last.body), state.in_force
        pairs = {
            "policy": (last.policy, by.policy_hash),
            "rules": (last.rulebook, by.rulebook_hash),
            "mode": (start.get("mode", state.mode), state.mode),
            "adapters": (start.get("adapters", {}), adapters),
        }
        for what in (what for what, (before, now) in pairs.items() if before != now):
            words = state.alerts[f"changed {what}"] = f"{what}: not what it was at the last start"
            LOG.warning(words)
    details = {"version": version, "policy": state.policy.name, "mode": state.mode, "strength": state.strength}
    state.recorder.event_alone("start", "interlock", details | ({"adapters": adapters} if adapters else {}))


def open_store(url: str) -> Store:
    """Opens `sqlite:///path/to/folder` or `postgresql://…`; raises StoreError where it cannot."""
    scheme = urlsplit(url).scheme
    if scheme not in _KNOWN:
        raise StoreError(f"no store {scheme!r}; known: {', '.join(sorted(_KNOWN))}")
    return _KNOWN[scheme](url)


def _sqlite(url: str) -> Store:
    parts = urlsplit(url)
    if parts.netloc or not parts.path.strip("/"):
        raise StoreError(f"expected sqlite:///path/to/folder, got {url!r}")
    return SqliteStore(Path(unquote(parts.path)))


def _postgres(url: str) -> Store:
    from interlock.storage.postgres import PostgresStore  # psycopg: 280 modules

    return PostgresStore(url)


_KNOWN = {"postgres": _postgres, "postgresql": _postgres, "sqlite": _sqlite}
