"""★ A low-level MCP server in front of an MCP-AQL backend, in both protocol eras: tools, progress, and confirmation by the client's user."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, Protocol, TypeVar

import mcp_types as types
import msgspec
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import Struct
from msgspec.structs import replace

from interlock.client import NoDaemon
from interlock.client.connection import CONSENT_FORM, consent_in
from interlock.loop.protocol.envelope import AqlProblem, bad_text, check_request, encode, refusal
from interlock.mcp.wire import decoding_problem

Context = ServerRequestContext[Any, Any]


class ToolCall(Struct, frozen=True):
    """One tool call as received over MCP."""

    tool: str
    arguments: Any
    who: Any = None  # set by the transport: the caller of an HTTP request
    user_asked: bool = False  # the user was asked already, and is not asked twice


class McpBackend(Protocol):
    """Answers the calls of a server."""

    def who(self, context: Context) -> Any: ...

    def session_of(self, who: Any) -> str:
        """The session that a failure names (C-47)."""

    async def tools(self, who: Any) -> list[dict[str, Any]]: ...

    async def call(self, call: ToolCall) -> Mapping[str, Any]:
        """`{envelope, isError}`; the server turns any exception into a failure."""

    async def ask(self, who: Any, token: str) -> Mapping[str, Any] | None:
        """`{ask, message}` where the client's user may arm this token; None where that does not suffice."""

    async def elicited(self, who: Any, ask: str, approve: bool) -> bool:
        """Whether the answer to that question armed its token."""


KEY = "confirm"


class _State(Struct, frozen=True, array_like=True):
    """The state that comes back with the answer in the era without a back channel."""

    ask: str
    token: str
    failed: bool  # the call failed and needs its token on retry; a paused step is reported again unchanged (2.11)


def _state_of(text: str | None) -> _State | None:
    try:
        return msgspec.json.decode(text or "", type=_State)
    except ValueError:
        return None


async def resume_call(backend: McpBackend, params: types.CallToolRequestParams, call: ToolCall) -> ToolCall:
    """The call, with its token if a user has just agreed to it (2026-07-28: the answer comes with a retry)."""
    state = _state_of(params.request_state)
    responses = params.input_responses or {}
    if state is None or KEY not in responses:
        return call
    call, approve = replace(call, user_asked=True), _answer_in(responses[KEY])
    if approve is not None and await backend.elicited(call.who, state.ask, approve):
        return _confirmed(call, state)
    return call


async def confirm_with_user(
    backend: McpBackend, context: Context, call: ToolCall, reply: Mapping[str, Any]
) -> types.CallToolResult | types.InputRequiredResult:
    """The reply, or a question to the user where that could turn it into a yes."""
    token = offered_token(reply.get("envelope", {}))
    plain = tool_result(reply, call.tool)
    if not token or call.user_asked or not _can_ask(context):
        return plain
    question = await backend.ask(call.who, token)
    if question is None:
        return plain
    state = _State(str(question["ask"]), token, reply["envelope"].get("success") is False)
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        request = types.ElicitRequest(params=_form(question))
        return types.InputRequiredResult(
            input_requests={KEY: request}, request_state=msgspec.json.encode(state).decode()
        )
    form = await context.session.elicit_form(
        str(question["message"]), CONSENT_FORM, related_request_id=context.request_id
    )
    approve = _answer_in(form)
    if approve is None:
        return plain
    armed = await backend.elicited(call.who, state.ask, approve)
    again = _confirmed(call, state) if armed else replace(call, user_asked=True)  # a no becomes a refusal
    return tool_result(await backend.call(again), call.tool)


def offered_token(envelope: Mapping[str, Any]) -> str:
    """The token that a held call offers, whether it failed or paused."""
    if envelope.get("success") is False:
        error = envelope.get("error") or {}
        held = error.get("code") == "CONFIRMATION_REQUIRED"
        return str((error.get("details") or {}).get("confirmation_token", "")) if held else ""
    data = envelope.get("data")
    held_step = data.get("confirmation") if isinstance(data, Mapping) else None
    return str(held_step.get("token", "")) if isinstance(held_step, Mapping) else ""


def _form(question: Mapping[str, Any]) -> types.ElicitRequestFormParams:
    return types.ElicitRequestFormParams(message=str(question["message"]), requested_schema=CONSENT_FORM)


def _can_ask(context: Context) -> bool:
    """Whether the client declares that it can ask its user with a form."""
    capabilities = context.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    if elicitation is None:
        return False
    return elicitation.form is not None or elicitation.url is None  # an empty capability means forms


def _answer_in(form: Any) -> bool | None:
    return consent_in({"action": getattr(form, "action", ""), "content": getattr(form, "content", None)})


def _confirmed(call: ToolCall, state: _State) -> ToolCall:
    """The same call, with its token where it needs one."""
    if not state.failed:
        return call
    params = call.arguments.get("params")
    inner = {**(params if isinstance(params, dict) else {}), "_confirmation": state.token}
    return replace(call, arguments={**call.arguments, "params": inner})


EVERY = 1.0  # seconds
WAITING = "waiting for an answer; nothing is allowed yet"
T = TypeVar("T")


async def with_progress(context: ServerRequestContext[Any, Any], work: Coroutine[Any, Any, T]) -> T:
    """Returns the result of the work, and sends progress until then."""
    if context.meta is None or context.meta.get("progress_token", context.meta.get("progressToken")) is None:
        return await work
    telling = asyncio.ensure_future(_report_progress(context))
    try:
        return await work
    finally:
        telling.cancel()
        with suppress(asyncio.CancelledError):
            await telling


async def _report_progress(context: ServerRequestContext[Any, Any]) -> None:
    seconds = 0
    while True:
        await asyncio.sleep(EVERY)
        seconds += 1
        with suppress(Exception):  # a client that has gone needs no progress
            await context.session.report_progress(float(seconds), None, WAITING)


LOG = logging.getLogger("interlock")
PERMISSION_TOOL = "permission_prompt"  # for `--permission-prompt-tool`, which knows nothing of MCP-AQL
UNTIL = "Nothing is allowed until it does."
NO_ANSWER = f"Interlock could not answer. {UNTIL}"


def build_server(
    backend: McpBackend,
    version: str,
    instructions: str,
    name: str = "interlock",
    schema: Callable[[str], Mapping[str, Any] | None] | None = None,
) -> Server[Any]:
    """Builds the server; only the backend's own answer can be an allow.

    `schema` returns a tool's input schema; without it each call over HTTP lists all tools first, to compare its headers.
    """

    async def list_tools(context: Context, params: Any) -> types.ListToolsResult:
        listed = await backend.tools(backend.who(context))
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in listed])

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        given = {} if params.arguments is None else params.arguments
        call = ToolCall(params.name, given, backend.who(context))
        return await with_progress(context, _answer(backend, context, params, call))

    server: Server[Any] = Server(
        name,
        version=version,
        instructions=instructions,
        get_tool_input_schema=schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.clear()  # no spans: a call may carry a code
    return server


async def _answer(
    backend: McpBackend, context: Context, params: types.CallToolRequestParams, call: ToolCall
) -> types.CallToolResult | types.InputRequiredResult:
    """The result of a call; as the outermost place, it turns every failure into a refusal."""
    try:
        why = decoding_problem(call.arguments)
        if why:
            raise bad_text(why)
        check_request(call.arguments)
        call = await resume_call(backend, params, call)
        reply = await backend.call(call)
        return await confirm_with_user(backend, context, call, reply)
    except AqlProblem as found:
        return tool_result(refusal(found, backend.session_of(call.who)).wire, call.tool)
    except MCPError:  # an unknown tool
        raise
    except Exception as error:
        LOG.error("a call failed: %s", type(error).__name__, exc_info=error)
        problem = AqlProblem("INTERNAL_ERROR", _failure_text(error))
        return tool_result(refusal(problem, backend.session_of(call.who)).wire, call.tool)


def _failure_text(error: Exception) -> str:
    """The message of a failure; an unexpected one goes to the log only."""
    return f"Interlock could not answer: {error}. {UNTIL}" if isinstance(error, NoDaemon) else NO_ANSWER


def unknown_tool(tool: str) -> MCPError:
    """MCP's own error for a name that is not listed."""
    return MCPError(types.INVALID_PARAMS, f"Unknown tool: {tool[:80]}")


def tool_result(reply: Mapping[str, Any], tool: str = "") -> types.CallToolResult:
    """The reply as a result of the library."""
    text, failed = reply_text(reply, tool)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)


def reply_text(reply: Mapping[str, Any], tool: str = "") -> tuple[str, bool]:
    """EP-09: the envelope as text, and whether it is an error; a permission prompt gets the bare decision."""
    envelope = reply["envelope"]
    if tool == PERMISSION_TOOL:
        return encode(_decision(envelope)), False
    return encode(envelope), bool(reply["isError"])


def _decision(envelope: Mapping[str, Any]) -> Mapping[str, Any]:
    if envelope.get("success") is True and isinstance(envelope.get("data"), Mapping):
        return {key: value for key, value in envelope["data"].items() if key in ("behavior", "updatedInput", "message")}
    error = envelope.get("error") or {}
    return {"behavior": "deny", "message": str(error.get("message") or NO_ANSWER)}
