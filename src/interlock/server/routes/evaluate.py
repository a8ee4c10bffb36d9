"""★ The hot path: evaluates one action over HTTP, or a batch, or previews one; whatever goes wrong, the body says `allowed: false`."""

from __future__ import annotations

import json
from typing import Any

from msgspec.json import encode
from msgspec.structs import replace

from interlock.engine.assessment import Unjudged
from interlock.engine.evaluate import evaluate, quick
from interlock.engine.preview import preview, preview_json
from interlock.identity import home_for
from interlock.model import Decision, command
from interlock.policy.wire import decision_json, failure_json, status_of
from interlock.runtime import Request
from interlock.server.routes import ANYBODY, RouteGroup
from interlock.web.bodies import TypedCommand
from interlock.web.callers import ApiCaller
from interlock.web.context import Context, TheState, Who
from interlock.web.errors import HttpProblem, invalid_type, invalid_value
from interlock.web.evaluate_body import request_of
from interlock.web.json_body import parse_json

MOST_ACTIONS = 100
SHORT = 4_096  # bytes; longer bodies are not parsed on the event loop
Answer = tuple[int, dict[str, Any]]


async def evaluate_one(context: Context, who: ApiCaller, body: bytes) -> Answer:
    who.agent()
    request = _request(context, who, parse_json(body))
    if len(body) <= SHORT and not request.token:
        at_once = replace(request, access=context.projects.at_once(who.principal, request.access))
        decision = quick(context.state, at_once)
        if decision is not None:
            return 200, decision_json(decision)
    return decision_answer(await context.pool.run(evaluate, context.state, request))


async def evaluate_many(context: Context, who: ApiCaller, body: bytes) -> Answer:
    """The answers to several actions in order; a malformed one is denied by itself."""
    who.agent()
    given = parse_json(body)
    if type(given) is not dict or set(given) != {"actions"} or type(given["actions"]) is not list:
        raise invalid_type("expected an object with nothing but a list of actions")
    if not 1 <= len(given["actions"]) <= MOST_ACTIONS:
        raise invalid_value(f"actions: expected 1 to {MOST_ACTIONS}, got {len(given['actions'])}")
    context.buckets.take(who.key, len(given["actions"]) - 1)
    results = await context.pool.run(lambda: [_item(context, who, action) for action in given["actions"]])
    return 200, {"results": results}


def decision_answer(decision: Decision) -> Answer:
    """A denial is an error of the registry as well."""
    return status_of(decision), {**decision_json(decision), **failure_json(decision)}


def encode_json(body: dict[str, Any]) -> bytes:
    try:
        return encode(body)
    except (UnicodeEncodeError, TypeError):  # a lone surrogate that an agent sent, or a subclass of str or int
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _item(context: Context, who: ApiCaller, action: Any) -> dict[str, Any]:
    try:
        request = _request(context, who, action)
    except HttpProblem as problem:
        return problem.denial
    return decision_answer(evaluate(context.state, request))[1]


def _request(context: Context, who: ApiCaller, body: Any) -> Request:
    """Targets are inspected and copied only for callers on the socket, which are on this machine."""
    request = request_of(body, who)
    if not who.here:
        return request
    action = replace(request.action, home=home_for(who.principal, ""))  # from the system, not from the caller
    return replace(request, action=action, access=context.access(who.principal, True), local=True)


routes = RouteGroup("/api/v1", "evaluate")


@routes("POST", "/preview", "preview", "What would be answered to this command", who=ANYBODY)
def preview_command(state: TheState, who: Who, body: TypedCommand) -> Any:
    # without an agent's history; targets are inspected with the rights of a caller on this machine
    principal, plans = who.principal if who.here else "", state.plans
    action = command(body.command, body.cwd)
    look = plans.access(principal).inspect if principal and body.cwd else None
    read = state.reader.read(action, plans.files if principal else None)
    answer = preview(action, state.in_force, read=read, look=look)
    if isinstance(answer, Unjudged):
        raise invalid_value("this command could not be judged")
    return preview_json(answer)
