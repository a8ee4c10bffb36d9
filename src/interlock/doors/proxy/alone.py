"""A proxied call that no daemon answers: judged in this process as a hook's would be, and kept in the same journal."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from interlock.agents import Event
from interlock.agents.contract import Call
from interlock.config import Config
from interlock.core.model import Level, tool
from interlock.core.trust import CLAIMED, TRUSTS
from interlock.core.trust_gate import ALLOW, passage
from interlock.core.trust_gate import Call as Trusted
from interlock.doors.hook.fallback import DOWN, NO_CONSENT
from interlock.doors.hook.fallback import judged as by_hook
from interlock.doors.hook.journal import append
from interlock.doors.proxy.catalog import DESTRUCTIVE, RAISED, ToolClaims
from interlock.doors.proxy.gate import UNTESTED, Behind
from interlock.service.servers import Server
from interlock.service.tickets import action_json

EVENT = "tools/call"


def judged(body: Mapping[str, Any], behind: Behind, claims: ToolClaims, config: Config) -> tuple[bool, str]:
    """Whether it may be called, and why not; what cannot be kept is not allowed."""
    try:
        return _judged(body, behind, claims, config)
    except Exception as error:
        return False, f"Denied: the call could not be judged ({type(error).__name__}). {DOWN} {NO_CONSENT}"


def _judged(body: Mapping[str, Any], behind: Behind, claims: ToolClaims, config: Config) -> tuple[bool, str]:
    server = Server(behind.name, behind.mark, behind.words, hints=frozenset(claims.hints), stated=bool(behind.trust))
    plain = tool(body["tool"], body["input"], body["cwd"])
    action, claimed = server.labelled(plain), max(claims.level, RAISED if DESTRUCTIVE in claims.hints else 0)
    reads = action is not plain and not server.stated
    call = Call(body["tool"], body["input"], action, frozenset({"input"}))
    said = by_hook(Event("before", EVENT, (call,)), config)
    allowed, words, level = said.verdict.word == "allow", said.verdict.reason, max(said.level, claimed)
    if allowed and level > config.hooks.passes:
        allowed, words = False, f"Denied: the server says that it destroys. {DOWN} {NO_CONSENT}"
    trust = min(TRUSTS[behind.trust or UNTESTED], CLAIMED)
    word = passage(Trusted(body["tool"], Level(max(0, level)), trust, introspection=reads)).word
    if allowed and word != ALLOW:
        allowed, words = False, f"Denied: a server that is {trust.word} may not do this. {DOWN} {NO_CONSENT}"
    entry = {
        "at": time.time(),
        "principal": f"uid:{os.getuid()}",
        "agent": str(body["agent"]["name"])[:200],
        "event": EVENT,
        "session": str(body["agent"]["session"])[:200],
        "verdict": "allow" if allowed else "deny",
        "level": level,
        "findings": list(said.findings)[:50],
        "action": [action_json(action)],
    }
    try:
        append(config.folder, entry)
    except OSError as error:
        if allowed:
            return False, f"Denied: nothing can be recorded ({error.strerror or error}). {DOWN}"
    return allowed, words
