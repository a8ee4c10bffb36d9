"""A configuration -> a service that is ready: store, keys, rules, policy, registry, and what the store remembers."""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from interlock.config import Config
from interlock.core.audit_json import canonical_json
from interlock.core.classify import Rulebook
from interlock.core.policy import MODES, Policy
from interlock.core.registry import Pattern, PatternError, Registry
from interlock.policybook import policy_hash
from interlock.ports import Channel, Clock, Store
from interlock.rulebook import load, rulebook_hash
from interlock.service.agents import MODE_SETTING
from interlock.service.installation import Installation
from interlock.service.reading import Reader
from interlock.service.record import Recorder, deed
from interlock.service.sessions import Sessions
from interlock.service.state import State

LOG = logging.getLogger("interlock")
_STRICTNESS = {mode: rank for rank, mode in enumerate(reversed(MODES))}


def open_state(
    config: Config, store: Store, clock: Clock, channels: Sequence[Channel] = (), strength: str = "plain"
) -> State:
    """Everything that decisions are made with; what the store remembers counts from the start."""
    installation = Installation.open(config.folder)
    policy = config.effective_policy()
    rules = rules_of(config)
    hashes = (rulebook_hash(rules), policy_mark(config, policy))
    shared = bool(getattr(store, "shared", False))
    writer = f"w-{secrets.token_hex(4)}" if shared else "main"
    state = State(
        store=store,
        rules=rules,
        reader=Reader(rules),
        policy=policy,
        clock=clock,
        installation=installation,
        registry=Registry(),
        recorder=Recorder(store, clock, writer, installation.checkpoint.key_id, hashes),
        sessions=Sessions(config.limits.session_minutes),
        mode=config.mode,
        strength=strength,
        channels=channels,
        shared=shared,
        policy_hash=hashes[1],
        rulebook_hash=hashes[0],
    )
    _remember(state, config)
    return state


def rules_of(config: Config) -> Rulebook:
    """The shipped rules and the operator's own, with the name patterns in force (R-19)."""
    return replace(load(*(_path(config, name) for name in config.rules)), patterns=config.danger_patterns)


def policy_mark(config: Config, policy: Policy) -> str:
    """One hash over everything that weighs: the policy's text, and what the configuration says beside it."""
    beside = canonical_json({"gate": config.gate, "trust": config.trust_policy})
    return hashlib.sha256(f"{policy_hash(policy)}{beside}".encode()).hexdigest()


def _remember(state: State, config: Config) -> None:
    blocks, patterns, mode = state.store.read(lambda tx: (tx.blocks(), tx.patterns(), tx.setting(MODE_SETTING)))
    state.remember_blocks(block for block in blocks if not block.lifted_at)
    for wire in (*(pattern.wire for pattern in config.patterns), *patterns):
        try:
            state.registry.register(Pattern.of(wire))
        except PatternError as error:
            LOG.warning("%s", error)
    if (
        mode in MODES and _STRICTNESS[mode] > _STRICTNESS[state.mode]
    ):  # after a restart the file rules, unless it is laxer
        state.mode = mode


def record_start(state: State, version: str) -> None:
    """The first record of a run."""
    details = {"version": version, "policy": state.policy.name, "mode": state.mode, "strength": state.strength}
    body = deed(state.clock.now(), "start", "interlock", details)
    state.store.write(lambda tx: state.recorder.now(tx, "start", body))


def _path(config: Config, name: str) -> Path:
    path = Path(name).expanduser()
    return path if path.is_absolute() or not config.path else Path(config.path).parent / path
