"""Judges a proxied call in this process when no daemon answers, as the hook fallback does, and records it in the same journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.adapters.trust import HIGHEST_CLAIM
from interlock.agents import AgentCall, Event, HookVerdict
from interlock.config import Config
from interlock.engine.fallback import DOWN, NO_CONSENT, FallbackVerdict, judge_calls, record
from interlock.model import TRUSTS, Level, tool
from interlock.policy.trust_matrix import ALLOW, AdapterCall, passage
from interlock.proxy import DESTRUCTIVE, RAISED, UNTESTED, ServerIdentity, ToolClaims
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
    event = Event("before", EVENT, (call,), session=str(body["agent"]["session"]))
    said = judge_calls(event, config)
    verdict, level = said.verdict, max(said.level, claimed)
    trust = min(TRUSTS[behind.trust or UNTESTED], HIGHEST_CLAIM)
    word = passage(AdapterCall(body["tool"], Level(max(0, level)), trust, introspection=reads)).word
    why = f"a server that is {trust.word} may not do this" if word != ALLOW else ""
    if level > config.hooks.passes:
        why = "the server declares this call destructive"
    if verdict.word == "allow" and why:
        verdict = HookVerdict("deny", f"Denied: {why}. {DOWN} {NO_CONSENT}")
    said = record(str(body["agent"]["name"]), event, FallbackVerdict(verdict, level, said.findings), config)
    return said.verdict.word == "allow", said.verdict.reason
