"""★ The hot path: one action over HTTP, or a batch; whatever goes wrong, the body says `allowed: false`."""

from __future__ import annotations

import json
import os
from typing import Any

from interlock.core.decision import Decision, decision_json, failure_json, status_of
from interlock.doors.deciding import decided
from interlock.doors.http.asking import request_of
from interlock.doors.http.context import Context
from interlock.doors.http.errors import Problem
from interlock.doors.http.json_body import parsed
from interlock.doors.http.who import Who
from interlock.service.evaluate import quick

MOST_ACTIONS = 100
SHORT = 4_096  # bytes; what is longer is not read on the event loop
Answer = tuple[int, dict[str, Any]]
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


async def one(context: Context, who: Who, body: bytes) -> Answer:
    """The answer to one action."""
    who.agent()
    request, token = request_of(parsed(body), who, _same_user(who))
    if request.files is None and len(body) <= SHORT and not token:
        decision = quick(context.state, request)
        if decision is not None:
            return 200, decision_json(decision)
    return answer(await context.pool.run(decided, context.state, request, token))


async def many(context: Context, who: Who, body: bytes) -> Answer:
    """The answers to several, one after the other; one that asks nothing clear is denied by itself."""
    who.agent()
    given = parsed(body)
    if type(given) is not dict or set(given) != {"actions"} or type(given["actions"]) is not list:
        raise Problem("VALIDATION_INVALID_TYPE", "expected an object with nothing but a list of actions")
    if not 1 <= len(given["actions"]) <= MOST_ACTIONS:
        raise Problem("VALIDATION_INVALID_VALUE", f"actions: expected 1 to {MOST_ACTIONS}, got {len(given['actions'])}")
    context.buckets.take(who.key, len(given["actions"]) - 1)
    return 200, {"results": await context.pool.run(_each, context, who, given["actions"])}


def answer(decision: Decision) -> Answer:
    """The decision on the wire; what is not allowed is an error of the registry as well."""
    return status_of(decision), {**decision_json(decision), **failure_json(decision)}


def encoded(body: dict[str, Any]) -> bytes:
    return _ENCODER.encode(body).encode("utf-8", "replace")


def _each(context: Context, who: Who, actions: list[Any]) -> list[dict[str, Any]]:
    return [_item(context, who, action) for action in actions]


def _item(context: Context, who: Who, action: Any) -> dict[str, Any]:
    try:
        request, token = request_of(action, who, _same_user(who))
    except Problem as problem:
        return problem.denial
    return answer(decided(context.state, request, token))[1]


def _same_user(who: Who) -> bool:
    """Scripts are read for whoever could read them as well."""
    return who.here and who.principal == f"uid:{os.getuid()}"
