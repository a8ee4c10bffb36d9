"""May the client's own user confirm? Asked through MCP elicitation, in the way of each era; unattested, so good for a confirm alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import mcp_types as types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from interlock.doors.mcp.backend import Backend, Context, ToolCall

KEY = "confirm"
_SCHEMA: types.ElicitRequestedSchema = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean", "title": "Go on", "description": "Whether this may be done, once."},
    },
    "required": ["approve"],
}
Render = Callable[..., types.CallToolResult]


@dataclass(frozen=True, slots=True)
class _State:
    """What comes back with the answer in the era without a back channel."""

    ask: str
    token: str
    failed: bool  # it was refused, and wants its token back; a step that paused is reported again as it was (2.11)

    @property
    def text(self) -> str:
        return json.dumps([self.ask, self.token, self.failed])

    @classmethod
    def of(cls, text: str | None) -> _State | None:
        try:
            ask, token, failed = json.loads(text or "")
        except (ValueError, TypeError):
            return None
        return cls(str(ask), str(token), failed is True)


async def asked_again(backend: Backend, params: types.CallToolRequestParams, asked: ToolCall) -> ToolCall:
    """The call, with its token if a user has just agreed to it (2026-07-28: the answer comes with a retry)."""
    state = _State.of(params.request_state)
    responses = params.input_responses or {}
    if state is None or KEY not in responses:
        return asked
    asked, said = replace(asked, asked=True), _said(responses[KEY])
    if said is not None and await backend.elicited(asked.who, state.ask, said):
        return _confirmed(asked, state)
    return asked


async def answered(
    backend: Backend,
    context: Context,
    asked: ToolCall,
    reply: Mapping[str, Any],
    render: Render,
) -> types.CallToolResult | types.InputRequiredResult:
    """The reply, or a question to the user where that could turn it into a yes."""
    token = offered(reply.get("envelope", {}))
    plain = render(reply, asked.tool)
    if not token or asked.asked or not _can(context):
        return plain
    question = await backend.ask(asked.who, token)
    if question is None:
        return plain
    state = _State(str(question["ask"]), token, reply["envelope"].get("success") is False)
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        request = types.ElicitRequest(params=_form(question))
        return types.InputRequiredResult(input_requests={KEY: request}, request_state=state.text)
    form = await context.session.elicit_form(str(question["message"]), _SCHEMA, related_request_id=context.request_id)
    said = _said(form)
    if said is None:
        return plain
    armed = await backend.elicited(asked.who, state.ask, said)
    again = _confirmed(asked, state) if armed else replace(asked, asked=True)  # a no is answered as one
    return render(await backend.call(again), asked.tool)


def offered(envelope: Mapping[str, Any]) -> str:
    """The token that a held call offers, whether it failed or paused."""
    if envelope.get("success") is False:
        error = envelope.get("error") or {}
        held = error.get("code") == "CONFIRMATION_REQUIRED"
        return str((error.get("details") or {}).get("confirmation_token", "")) if held else ""
    data = envelope.get("data")
    held_step = data.get("confirmation") if isinstance(data, Mapping) else None
    return str(held_step.get("token", "")) if isinstance(held_step, Mapping) else ""


def _form(question: Mapping[str, Any]) -> types.ElicitRequestFormParams:
    return types.ElicitRequestFormParams(message=str(question["message"]), requested_schema=_SCHEMA)


def _can(context: Context) -> bool:
    """Whether the client said that it can ask its user with a form."""
    capabilities = context.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    if elicitation is None:
        return False
    return elicitation.form is not None or elicitation.url is None  # an empty capability means forms


def _said(form: Any) -> bool | None:
    """Only an accepted form that says so is a yes; None where the question was put away unanswered."""
    action, content = getattr(form, "action", ""), getattr(form, "content", None)
    if action not in ("accept", "decline"):
        return None
    return action == "accept" and isinstance(content, dict) and content.get("approve") is True


def _confirmed(asked: ToolCall, state: _State) -> ToolCall:
    """The same call, with its token where it needs one."""
    if not state.failed:
        return asked
    params = asked.arguments.get("params")
    inner = {**(params if isinstance(params, dict) else {}), "_confirmation": state.token}
    return replace(asked, arguments={**asked.arguments, "params": inner})
