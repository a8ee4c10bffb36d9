"""★ The hot path: evaluates one action over HTTP, or a batch; whatever goes wrong, the body says `allowed: false`."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from interlock.engine.evaluate import evaluate_with_token, quick
from interlock.identity import home_for
from interlock.impact.user_access import ReadScript, path_resolver, script_reader, snapshot_taker, target_inspector
from interlock.policy.decision import Decision, decision_json, failure_json, status_of
from interlock.runtime import Request
from interlock.web.callers import ApiCaller
from interlock.web.context import Context
from interlock.web.errors import HttpProblem
from interlock.web.evaluate_body import request_of
from interlock.web.json_body import parse_json

MOST_ACTIONS = 100
SHORT = 4_096  # bytes; longer bodies are not parsed on the event loop
Answer = tuple[int, dict[str, Any]]
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


async def evaluate_one(context: Context, who: ApiCaller, body: bytes) -> Answer:
    """The answer to one action."""
    who.agent()
    request, token = _request(context, who, parse_json(body))
    if len(body) <= SHORT and not token:
        at_once = (
            request if request.files is None else replace(request, files=_refuse_to_read)
        )  # no disk on the event loop
        if at_once.project is not None:
            at_once = replace(at_once, project=context.projects.known(who.principal))
        decision = quick(context.state, at_once)
        if decision is not None:
            return 200, decision_json(decision)
    return decision_answer(await context.pool.run(evaluate_with_token, context.state, request, token))


async def evaluate_many(context: Context, who: ApiCaller, body: bytes) -> Answer:
    """The answers to several actions in order; a malformed one is denied by itself."""
    who.agent()
    given = parse_json(body)
    if type(given) is not dict or set(given) != {"actions"} or type(given["actions"]) is not list:
        raise HttpProblem("VALIDATION_INVALID_TYPE", "expected an object with nothing but a list of actions")
    if not 1 <= len(given["actions"]) <= MOST_ACTIONS:
        raise HttpProblem(
            "VALIDATION_INVALID_VALUE", f"actions: expected 1 to {MOST_ACTIONS}, got {len(given['actions'])}"
        )
    context.buckets.take(who.key, len(given["actions"]) - 1)
    return 200, {"results": await context.pool.run(_each, context, who, given["actions"])}


def decision_answer(decision: Decision) -> Answer:
    """The decision on the wire; a denial is an error of the registry as well."""
    return status_of(decision), {**decision_json(decision), **failure_json(decision)}


def encode_json(body: dict[str, Any]) -> bytes:
    return _ENCODER.encode(body).encode("utf-8", "replace")


def _each(context: Context, who: ApiCaller, actions: list[Any]) -> list[dict[str, Any]]:
    return [_item(context, who, action) for action in actions]


def _item(context: Context, who: ApiCaller, action: Any) -> dict[str, Any]:
    try:
        request, token = _request(context, who, action)
    except HttpProblem as problem:
        return problem.denial
    return decision_answer(evaluate_with_token(context.state, request, token))[1]


def _request(context: Context, who: ApiCaller, body: Any) -> tuple[Request, str]:
    """The request; targets are inspected and copied only for callers on the socket, which are on this machine."""
    request, token = request_of(body, who, _read(context, who))
    inspect = target_inspector(who.principal, context.config.separate, context.inspect) if who.here else None
    snapshot = snapshot_taker(who.principal, context.snapshotter, context.state.snapshots.takers) if who.here else None
    if not who.here:
        return replace(request, inspect_impact=inspect, take_snapshot=snapshot), token
    action = replace(request.action, home=home_for(who.principal, ""))  # from the system, not from the caller
    resolve, project = (
        path_resolver(who.principal, context.config.separate, True),
        context.projects.finder(who.principal),
    )
    here = replace(
        request,
        action=action,
        inspect_impact=inspect,
        take_snapshot=snapshot,
        resolve=resolve,
        project=project,
        local=True,
    )
    return here, token


def _refuse_to_read(path: str) -> str | None:
    raise LookupError(path)  # `quick` then leaves the answer to the pool


def _read(context: Context, who: ApiCaller) -> ReadScript | None:
    """Reads scripts for callers on the socket, with the rights of their user."""
    return script_reader(who.principal, context.config.separate) if who.here else None
