"""★ The hot path: one action over HTTP, or a batch; whatever goes wrong, the body says `allowed: false`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from interlock.core.decision import Decision, decision_json, failure_json, status_of
from interlock.doors.deciding import decided
from interlock.doors.hook.eyes import Files, eyes, hands, sight, way
from interlock.doors.http.asking import request_of
from interlock.doors.http.context import Context
from interlock.doors.http.errors import Problem
from interlock.doors.http.json_body import parsed
from interlock.doors.http.who import Who
from interlock.service.evaluate import quick
from interlock.service.homes import home_for
from interlock.service.request import Request

MOST_ACTIONS = 100
SHORT = 4_096  # bytes; what is longer is not read on the event loop
Answer = tuple[int, dict[str, Any]]
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


async def one(context: Context, who: Who, body: bytes) -> Answer:
    """The answer to one action."""
    who.agent()
    request, token = _asked(context, who, parsed(body))
    if len(body) <= SHORT and not token:
        at_once = request if request.files is None else replace(request, files=_not_here)  # no disk on the event loop
        if at_once.project is not None:
            at_once = replace(at_once, project=context.projects.known(who.principal))
        decision = quick(context.state, at_once)
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
        request, token = _asked(context, who, action)
    except Problem as problem:
        return problem.denial
    return answer(decided(context.state, request, token))[1]


def _asked(context: Context, who: Who, body: Any) -> tuple[Request, str]:
    """What is asked; targets are looked at and kept for whoever is on the socket, and so on this machine."""
    request, token = request_of(body, who, _read(context, who))
    look = sight(who.principal, context.config.separate, context.look) if who.here else None
    keeper = hands(who.principal, context.keeper, context.state.keepers) if who.here else None
    if not who.here:
        return replace(request, look=look, keeper=keeper), token
    action = replace(request.action, home=home_for(who.principal, ""))  # the system's word, and not the caller's
    resolve, project = way(who.principal, context.config.separate, True), context.projects.finder(who.principal)
    here = replace(request, action=action, look=look, keeper=keeper, resolve=resolve, project=project, here=True)
    return here, token


def _not_here(path: str) -> str | None:
    raise LookupError(path)  # `quick` has no answer then, and the pool has


def _read(context: Context, who: Who) -> Files | None:
    """Scripts are read for whoever is on the socket, as that user could read them."""
    return eyes(who.principal, context.config.separate) if who.here else None
