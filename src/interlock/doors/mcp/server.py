"""★ MCP on one side, MCP-AQL on the other: a low-level server whose tools are those of a backend, in both protocol eras."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError

from interlock.doors.aql.envelope import AqlProblem, encoded, refused
from interlock.doors.aql.limits import bad_text, check
from interlock.doors.mcp.backend import Backend, Context, ToolCall
from interlock.doors.mcp.elicit import answered, asked_again
from interlock.doors.mcp.progress import with_progress
from interlock.doors.mcp.readable import undecodable

LOG = logging.getLogger("interlock")
PERMISSION_TOOL = "permission_prompt"  # for `--permission-prompt-tool`, which knows nothing of MCP-AQL
NO_ANSWER = "Interlock could not answer. Nothing is allowed until it does."


def build(backend: Backend, version: str, instructions: str, name: str = "interlock") -> Server[Any]:
    """The server; nothing it answers is an allow unless the backend said so."""

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
        name, version=version, instructions=instructions, on_list_tools=list_tools, on_call_tool=call_tool
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
        problem = AqlProblem("INTERNAL_ERROR", NO_ANSWER)
        return result(refused(problem, backend.session_of(asked.who)).wire, asked.tool)


def unknown_tool(tool: str) -> MCPError:
    """MCP's own answer to a name that is not listed."""
    return MCPError(types.INVALID_PARAMS, f"Unknown tool: {tool[:80]}")


def result(reply: Mapping[str, Any], tool: str = "") -> types.CallToolResult:
    """EP-09: the envelope as text; a permission prompt gets the bare decision."""
    envelope = reply["envelope"]
    body = _decision(envelope) if tool == PERMISSION_TOOL else envelope
    text = types.TextContent(type="text", text=encoded(body))
    return types.CallToolResult(content=[text], is_error=bool(reply["isError"]) and tool != PERMISSION_TOOL)


def _decision(envelope: Mapping[str, Any]) -> Mapping[str, Any]:
    if envelope.get("success") is True and isinstance(envelope.get("data"), Mapping):
        return {key: value for key, value in envelope["data"].items() if key in ("behavior", "updatedInput", "message")}
    error = envelope.get("error") or {}
    return {"behavior": "deny", "message": str(error.get("message") or NO_ANSWER)}
