"""★ A low-level MCP server in front of an MCP-AQL backend, in both protocol eras."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from itertools import count
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
from interlock.error_codes import LoopProblem
from interlock.loop.protocol.envelope import bad_text, check_request, encode, refusal
from interlock.model import Json
from interlock.strict_json import table_in

Context = ServerRequestContext[Any, Any]
MARK = "_undecodable"  # in the arguments of a call whose own could not be read
MOST_BYTES = 16 * 1024 * 1024  # of one message


def decode_message(message: bytes) -> str:
    """One that is not UTF-8 or has a lone surrogate becomes the same call with the problem as arguments (EP-11)."""
    try:
        text = message.decode()
    except UnicodeDecodeError as error:
        return _with_problem(message.decode("utf-8", "replace"), f"The request is not UTF-8; see byte {error.start}")
    if len(message) > MOST_BYTES:
        return _with_problem(text, "The request is too long to be read")
    if "\\u" in text and _has_lone_surrogate(text):
        return _with_problem(text, "A text holds half of a character (a lone surrogate)")
    return text


def decoding_problem(arguments: Any) -> str:
    """Why the arguments of a call could not be read; empty where they could."""
    return str(arguments[MARK])[:200] if isinstance(arguments, dict) and set(arguments) == {MARK} else ""


def _has_lone_surrogate(text: str) -> bool:
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        pass  # not JSON: left to the parser
    return False


def _with_problem(text: str, why: str) -> str:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(message, dict) or not isinstance(message.get("params"), dict):
        return text
    params = {**message["params"], "arguments": {MARK: why}}
    return json.dumps({**message, "params": params}, ensure_ascii=True)


class ToolCall(Struct, frozen=True):
    tool: str
    arguments: Any
    who: Any = None  # set by the transport: the caller of an HTTP request
    user_asked: bool = False  # already, and is not asked twice


class McpBackend(Protocol):
    def who(self, context: Context) -> Any: ...

    def session_of(self, who: Any) -> str:
        """The session that a failure names (C-47)."""

    async def tools(self, who: Any) -> list[dict[str, Any]]: ...

    async def call(self, call: ToolCall) -> Json:
        """`{envelope, isError}`; the server turns any exception into a failure."""

    async def ask(self, who: Any, token: str) -> Json | None:
        """`{ask, message}` where the client's user may arm this token; None where that does not suffice."""

    async def elicited(self, who: Any, ask: str, approve: bool) -> bool:
        """Whether the answer armed its token."""


KEY = "confirm"


class _State(Struct, frozen=True, array_like=True):
    ask: str
    token: str
    failed: bool  # the call failed and needs its token on retry; a paused step is reported again unchanged (2.11)


async def resume_call(backend: McpBackend, params: types.CallToolRequestParams, call: ToolCall) -> ToolCall:
    """With its token if a user has just agreed to it (2026-07-28: the answer comes with a retry)."""
    responses = params.input_responses or {}
    try:
        state = msgspec.json.decode(params.request_state or "", type=_State)
        approve = _answer_in(responses[KEY])
    except (ValueError, KeyError):
        return call
    call = replace(call, user_asked=True)
    if approve is not None and await backend.elicited(call.who, state.ask, approve):
        return _confirmed(call, state)
    return call


async def confirm_with_user(
    backend: McpBackend, context: Context, call: ToolCall, reply: Json
) -> types.CallToolResult | types.InputRequiredResult:
    """The reply, or a question to the user where that could turn it into a yes."""
    token = offered_token(reply.get("envelope", {}))
    plain = tool_result(reply, call.tool)
    capabilities = context.session.client_capabilities
    form = capabilities.elicitation if capabilities is not None else None
    can_ask = form is not None and (form.form is not None or form.url is None)  # an empty capability means forms
    if not token or call.user_asked or not can_ask:
        return plain
    question = await backend.ask(call.who, token)
    if question is None:
        return plain
    state = _State(str(question["ask"]), token, reply["envelope"].get("success") is False)
    message = str(question["message"])
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        params = types.ElicitRequestFormParams(message=message, requested_schema=CONSENT_FORM)
        request = types.ElicitRequest(params=params)
        return types.InputRequiredResult(
            input_requests={KEY: request}, request_state=msgspec.json.encode(state).decode()
        )
    answer = await context.session.elicit_form(message, CONSENT_FORM, related_request_id=context.request_id)
    approve = _answer_in(answer)
    if approve is None:
        return plain
    armed = await backend.elicited(call.who, state.ask, approve)
    again = _confirmed(call, state) if armed else call  # a no becomes a refusal
    return tool_result(await backend.call(again), call.tool)


def offered_token(envelope: Json) -> str:
    """The token that a held call offers, whether it failed or paused."""
    if envelope.get("success") is False:
        error = table_in(envelope, "error")
        held = error.get("code") == "CONFIRMATION_REQUIRED"
        return str(table_in(error, "details").get("confirmation_token", "")) if held else ""
    return str(table_in(envelope.get("data"), "confirmation").get("token", ""))


def _answer_in(form: Any) -> bool | None:
    return consent_in({"action": getattr(form, "action", ""), "content": getattr(form, "content", None)})


def _confirmed(call: ToolCall, state: _State) -> ToolCall:
    if not state.failed:
        return call
    params = {**table_in(call.arguments, "params"), "_confirmation": state.token}
    return replace(call, arguments={**call.arguments, "params": params})


EVERY = 1.0  # seconds
WAITING = "waiting for an answer; nothing is allowed yet"
T = TypeVar("T")


async def with_progress(context: ServerRequestContext[Any, Any], work: Coroutine[Any, Any, T]) -> T:
    if context.meta is None or context.meta.get("progress_token", context.meta.get("progressToken")) is None:
        return await work

    async def report() -> None:
        for seconds in count(1):
            await asyncio.sleep(EVERY)
            with suppress(Exception):  # a client that has gone needs no progress
                await context.session.report_progress(float(seconds), None, WAITING)

    telling = asyncio.ensure_future(report())
    try:
        return await work
    finally:
        telling.cancel()
        with suppress(asyncio.CancelledError):
            await telling


LOG = logging.getLogger("interlock")
PERMISSION_TOOL = "permission_prompt"  # for `--permission-prompt-tool`, which knows nothing of MCP-AQL
UNTIL = "Nothing is allowed until it does."
NO_ANSWER = f"Interlock could not answer. {UNTIL}"


def build_server(
    backend: McpBackend,
    version: str,
    instructions: str,
    name: str = "interlock",
    schema: Callable[[str], Json | None] | None = None,
) -> Server[Any]:
    """Only the backend's own answer can be an allow.

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
    """As the outermost place, it turns every failure into a refusal."""
    try:
        if why := decoding_problem(call.arguments):
            raise bad_text(why)
        check_request(call.arguments)
        call = await resume_call(backend, params, call)
        reply = await backend.call(call)
        return await confirm_with_user(backend, context, call, reply)
    except LoopProblem as found:
        return tool_result(refusal(found, backend.session_of(call.who)).wire, call.tool)
    except MCPError:  # an unknown tool
        raise
    except Exception as error:
        LOG.error("a call failed: %s", type(error).__name__, exc_info=error)
        problem = LoopProblem("INTERNAL_ERROR", failure_text(error))
        return tool_result(refusal(problem, backend.session_of(call.who)).wire, call.tool)


def failure_text(error: Exception) -> str:
    """The words of a failure for an agent: of what nobody expected, none of its own."""
    return f"Interlock could not answer: {error}. {UNTIL}" if isinstance(error, NoDaemon) else NO_ANSWER


def unknown_tool(tool: str) -> MCPError:
    """MCP's own error for a name that is not listed."""
    return MCPError(types.INVALID_PARAMS, f"Unknown tool: {tool[:80]}")


def tool_result(reply: Json, tool: str) -> types.CallToolResult:
    text, failed = reply_text(reply, tool)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)


def reply_text(reply: Json, tool: str) -> tuple[str, bool]:
    """EP-09: the envelope as text, and whether it is an error; a permission prompt gets the bare decision."""
    envelope = reply["envelope"]
    if tool != PERMISSION_TOOL:
        return encode(envelope), bool(reply["isError"])
    decision = {"behavior": "deny", "message": str(table_in(envelope, "error").get("message") or NO_ANSWER)}
    if envelope.get("success") is True and isinstance(envelope.get("data"), Mapping):
        kept = ("behavior", "updatedInput", "message")
        decision = {key: value for key, value in envelope["data"].items() if key in kept}
    return encode(decision), False
