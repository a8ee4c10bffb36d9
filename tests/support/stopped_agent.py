"""A state folder in which an agent was stopped, before any daemon has it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from interlock.approvals import challenges
from interlock.config import load_config
from interlock.engine.evaluate import Request, evaluate
from interlock.identity.keys.passphrases import Kdf, enrol
from interlock.identity.operators import enrol_first
from interlock.model import AgentRef, intent
from interlock.ports import Tx
from interlock.records import Block, Challenge
from interlock.startup import open_state, open_store

AGENT = AgentRef(f"uid:{os.getuid()}", "claude", "s1")
PUSH = intent("run git push --force origin main")
REASON = "the danger zone: wipes a disk"


class _Wall:
    def now(self) -> float:
        return time.time()


def stop_agent(config: Path, operator: str, passphrase: str, kind: str = "block") -> Challenge:
    """One operator, and this user's agent blocked or paused, with a live challenge."""
    settings = load_config(config, environ={})
    store = open_store(settings.store)
    try:
        state, now = open_state(settings, store, _Wall()), time.time()
        made = enrol(operator, passphrase, None, now=now, by="terminal", roles=("admin",), kdf=Kdf(1, 64, 1))
        enrol_first(state, *made)
        digest = ""
        if kind == "verify":
            held = evaluate(state, Request(PUSH, AGENT, "test", execution="e1")).ticket
            assert held is not None
            digest = held.digest

        def work(tx: Tx) -> Challenge:
            if kind == "block":
                tx.save_block(Block(AGENT.principal, REASON, now, "interlock", AGENT.name))
            return challenges.issue(tx, state, AGENT, kind, REASON, now, digest=digest)

        return store.write(work)
    finally:
        store.close()
