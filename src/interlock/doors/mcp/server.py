"""★ MCP on one side, MCP-AQL on the other: a low-level server whose tools are those of a backend, in both protocol eras."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError

from interlock.doors.aql.envelope import AqlProblem, encoded, refused
from interlock.doors.aql.limits import bad_text, check
from interlock.doors.client import NoDaemon
from interlock.doors.mcp.backend import Backend, Context, ToolCall
from interlock.doors.mcp.elicit import answered, asked_again
from interlock.doors.mcp.progress import with_progress
from interlock.doors.mcp.readable import undecodable

LOG = logging.getLogger("interlock")
PERMISSION_TOOL = "permission_prompt"  # for `--permission-prompt-tool`, which knows nothing of MCP-AQL
UNTIL = "Nothing is allowed until it does."
NO_ANSWER = f"Interlock could not answer. {UNTIL}"


def build(
    backend: Backend,
    version: str,
    instructions: str,
    name: str = "interlock",
    schema: Callable[[str], Mapping[str, Any] | None] | None = None,
) -> Server[Any]:
    """The server; nothing it answers is an allow unless the backend said so.

    `schema` says what a tool takes; without it each call over HTTP lists all tools first, to compare its headers.
    """

    async def list_tools(context: Context, params: Any) -> types.ListToolsResult:
        listed = await backend.tools(backend.who(context))
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in listed])

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        given = {} if params.arguments is None else params.arguments
        asked = ToolCall(params.name, given, backend.who(context))
        return await with_progress(context, _answer(backend, context, params, asked))

    made: Server[Any] = Server(
        name,
        version=version,
        instructions=instructions,
        get_tool_input_schema=schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    made.middleware.clear()  # no spans: a call may carry a code
    return made


async def _answer(
    backend: Backend, context: Context, params: types.CallToolRequestParams, asked: ToolCall
) -> types.CallToolResult | types.InputRequiredResult:
    """The result of a call; this is the outermost place, so whatever goes wrong is answered here, with a no."""
    try:
        why = undecodable(asked.arguments)
        if why:
            raise bad_text(why)
        check(asked.arguments)
        asked = await asked_again(backend, params, asked)
        reply = await backend.call(asked)
        return await answered(backend, context, asked, reply, result)
    except AqlProblem as found:
        return result(refused(found, backend.session_of(asked.who)).wire, asked.tool)
    except MCPError:  # a tool that nobody has
        raise
    except Exception as error:
        LOG.error("a call failed: %s", type(error).__name__, exc_info=error)
        problem = AqlProblem("INTERNAL_ERROR", _unanswered(error))
        return result(refused(problem, backend.session_of(asked.who)).wire, asked.tool)


def _unanswered(error: Exception) -> str:
    """What happened, where we have words for it; what nobody expected is for the log alone."""
    return f"Interlock could not answer: {error}. {UNTIL}" if isinstance(error, NoDaemon) else NO_ANSWER


def unknown_tool(tool: str) -> MCPError:
    """MCP's own answer to a name that is not listed."""
    return MCPError(types.INVALID_PARAMS, f"Unknown tool: {tool[:80]}")


def result(reply: Mapping[str, Any], tool: str = "") -> types.CallToolResult:
    """The reply as the library has it."""
    text, failed = said(reply, tool)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)


def said(reply: Mapping[str, Any], tool: str = "") -> tuple[str, bool]:
    """EP-09: the envelope as text, and whether it is an error; a permission prompt gets the bare decision."""
    envelope = reply["envelope"]
    if tool == PERMISSION_TOOL:
        return encoded(_decision(envelope)), False
    return encoded(envelope), bool(reply["isError"])


def _decision(envelope: Mapping[str, Any]) -> Mapping[str, Any]:
    if envelope.get("success") is True and isinstance(envelope.get("data"), Mapping):
        return {key: value for key, value in envelope["data"].items() if key in ("behavior", "updatedInput", "message")}
    error = envelope.get("error") or {}
    return {"behavior": "deny", "message": str(error.get("message") or NO_ANSWER)}
