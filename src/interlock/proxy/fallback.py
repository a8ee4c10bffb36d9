"""Judges a proxied call in this process when no daemon answers, as the hook fallback does, and records it in the same journal."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from interlock.adapters.trust import HIGHEST_CLAIM
from interlock.agents import AgentCall, Event
from interlock.audit.journal import append
from interlock.config import Config
from interlock.engine.fallback import DOWN, NO_CONSENT, judge_calls
from interlock.model import TRUSTS, Level, tool
from interlock.policy.trust_matrix import ALLOW, AdapterCall, passage
from interlock.proxy import DESTRUCTIVE, RAISED, UNTESTED, ServerIdentity, ToolClaims
from interlock.redaction import action_json
from interlock.runtime.servers import ServerClaim

EVENT = "tools/call"


def judge_locally(
    body: Mapping[str, Any], behind: ServerIdentity, claims: ToolClaims, config: Config
) -> tuple[bool, str]:
    """Refuses a call that cannot be judged or recorded."""
    try:
        return _judge(body, behind, claims, config)
    except Exception as error:
        return False, f"Denied: the call could not be judged ({type(error).__name__}). {DOWN} {NO_CONSENT}"


def _judge(body: Mapping[str, Any], behind: ServerIdentity, claims: ToolClaims, config: Config) -> tuple[bool, str]:
    server = ServerClaim(
        behind.name, behind.mark, behind.words, hints=frozenset(claims.hints), stated=bool(behind.trust)
    )
    plain = tool(body["tool"], body["input"], body["cwd"])
    action, claimed = server.labelled(plain), max(claims.level, RAISED if DESTRUCTIVE in claims.hints else 0)
    reads = action is not plain and not server.stated
    call = AgentCall(body["tool"], body["input"], action, frozenset({"input"}))
    judgement = judge_calls(Event("before", EVENT, (call,)), config)
    allowed, words, level = judgement.verdict.word == "allow", judgement.verdict.reason, max(judgement.level, claimed)
    if allowed and level > config.hooks.passes:
        allowed, words = False, f"Denied: the server declares this call destructive. {DOWN} {NO_CONSENT}"
    trust = min(TRUSTS[behind.trust or UNTESTED], HIGHEST_CLAIM)
    word = passage(AdapterCall(body["tool"], Level(max(0, level)), trust, introspection=reads)).word
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
        "findings": list(judgement.findings)[:50],
        "action": [action_json(action)],
    }
    try:
        append(config.folder, entry)
    except OSError as error:
        if allowed:
            return False, f"Denied: nothing can be recorded ({error.strerror or error}). {DOWN}"
    return allowed, words
