"""★ The hot path: one action over HTTP, or a batch; whatever goes wrong, the body says `allowed: false`."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any

from interlock.core.decision import Decision, decision_json, status_of
from interlock.doors.http.asking import request_of
from interlock.doors.http.context import Context
from interlock.doors.http.errors import NO_STORE, Problem
from interlock.doors.http.json_body import parsed
from interlock.doors.http.who import Who
from interlock.keys import fingerprint
from interlock.ports import StoreError
from interlock.service.evaluate import evaluate, quick
from interlock.service.request import Request

MOST_ACTIONS = 100
SHORT = 4_096  # bytes; what is longer is not read on the event loop
UNKNOWN_TOKEN = "of that token"
Answer = tuple[int, dict[str, Any]]


async def one(context: Context, who: Who, body: bytes) -> Answer:
    """The answer to one action."""
    who.agent()
    request, token = request_of(parsed(body), who, _same_user(who))
    if request.files is None and len(body) <= SHORT and not token:
        decision = quick(context.state, request)
        if decision is not None:
            return 200, decision_json(decision)
    return answer(await context.pool.run(_decide, context, request, token))


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
    """The decision on the wire; where nothing could be decided, that is an error as well."""
    body = decision_json(decision)
    if decision.unknown:
        words = decision.reason.removeprefix("Denied: ").rstrip(".")
        body |= Problem(decision.code or "INTERNAL_ERROR", words).body
    return status_of(decision), body


def encoded(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _each(context: Context, who: Who, actions: list[Any]) -> list[dict[str, Any]]:
    return [_item(context, who, action) for action in actions]


def _item(context: Context, who: Who, action: Any) -> dict[str, Any]:
    try:
        request, token = request_of(action, who, _same_user(who))
    except Problem as problem:
        return problem.denial
    return answer(_decide(context, request, token))[1]


def _decide(context: Context, request: Request, token: str) -> Decision:
    """Runs in the pool."""
    if token:
        try:
            request = _armed(context, request, token)
        except StoreError as error:
            return Decision("deny", f"Denied: {NO_STORE} ({error}).", unknown=True, strength=context.state.strength)
    return evaluate(context.state, request)


def _armed(context: Context, request: Request, token: str) -> Request:
    """The request with the ticket that its confirmation token stands for; a wrong one stands for none (CT-05)."""
    ticket = context.state.store.read(lambda tx: tx.ticket_by_token(fingerprint(token)))
    if ticket is not None and request.pending in ("", ticket.id):
        return replace(request, pending=ticket.id)
    return replace(request, pending=UNKNOWN_TOKEN)


def _same_user(who: Who) -> bool:
    """Scripts are read for whoever could read them as well."""
    return who.here and who.principal == f"uid:{os.getuid()}"
