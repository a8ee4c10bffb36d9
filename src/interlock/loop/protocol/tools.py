"""MCP tools of a surface by endpoint mode and prefix, with exact annotations and input schemas (EP-02 to EP-08)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from interlock.loop.protocol import ENDPOINTS, OperationSpec
from interlock.loop.protocol.gatekeeper import ANY

MODES = ("semantic", "single", "all")
PROFILES = ("crude",)
_PREFIX = re.compile(r"[a-z0-9_]{0,18}_")
_BASE = "mcp_aql"
_ANNOTATIONS: Mapping[str, tuple[bool, bool]] = {**ENDPOINTS, ANY: (False, True)}  # EP-08


class SurfaceSettingError(ValueError):
    """The message is for a person."""


class ToolNaming(Struct, frozen=True):
    """A connection's endpoint mode and tool prefix; refuses invalid ones."""

    mode: str = "all"
    prefix: str = ""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise SurfaceSettingError(f"endpoint mode: expected one of {', '.join(MODES)}, got {self.mode!r:.40}")
        if self.prefix and not _PREFIX.fullmatch(self.prefix):  # EP-04
            expected = "up to 19 of a-z, 0-9 and _, with _ last"
            raise SurfaceSettingError(f"tool prefix: expected {expected}, got {self.prefix!r:.40}")

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> ToolNaming:
        """As MCP_AQL_ENDPOINT_MODE, MCP_AQL_ENDPOINT_PROFILE and MCP_AQL_TOOL_PREFIX say."""
        profile = environ.get("MCP_AQL_ENDPOINT_PROFILE") or PROFILES[0]
        if profile not in PROFILES:
            raise SurfaceSettingError(f"endpoint profile: expected one of {', '.join(PROFILES)}, got {profile!r:.40}")
        return cls(environ.get("MCP_AQL_ENDPOINT_MODE") or "all", environ.get("MCP_AQL_TOOL_PREFIX") or "")

    def tool(self, endpoint: str) -> str:
        own = "" if self.mode == "single" or endpoint == ANY else f"_{endpoint}"
        return f"{self.prefix}{_BASE}{own}"

    def endpoints(self, operations: Iterable[OperationSpec]) -> list[str]:
        """Those in use, in CRUDE order (R-17)."""
        used = {operation.endpoint for operation in operations if self.mode != "single"}
        return [endpoint for endpoint in ENDPOINTS if endpoint in used] + ([ANY] if self.mode != "semantic" else [])

    def endpoint_of(self, tool: str) -> str | None:
        meant = [ANY] if self.mode == "single" else list(ENDPOINTS) if self.mode == "semantic" else [*ENDPOINTS, ANY]
        return next((one for one in meant if self.tool(one) == tool), None)


def list_tools(operations: Mapping[str, OperationSpec], naming: ToolNaming, teach: str = "") -> list[dict[str, Any]]:
    return [_tool(endpoint, operations, naming, teach) for endpoint in naming.endpoints(operations.values())]


def _tool(endpoint: str, operations: Mapping[str, OperationSpec], naming: ToolNaming, teach: str) -> dict[str, Any]:
    mine = [one for one in operations.values() if endpoint in (ANY, one.endpoint)]
    params = {"type": "object", "description": "Its parameters; see introspect.", "additionalProperties": True}
    called = {"type": "string", "description": "The operation to call.", "enum": [one.name for one in mine]}
    read_only, destructive = _ANNOTATIONS[endpoint]
    return {
        "name": naming.tool(endpoint),
        "description": _description(endpoint, mine, naming, teach),
        "inputSchema": {
            "type": "object",
            "properties": {"operation": called, "params": params},
            "required": ["operation"],
        },
        "annotations": {"readOnlyHint": read_only, "destructiveHint": destructive},
    }


def _description(endpoint: str, mine: list[OperationSpec], naming: ToolNaming, teach: str) -> str:
    what = "All operations." if endpoint == ANY else f"{endpoint.upper()} operations."
    lines = [f"{what} {teach}".strip(), "", "Operations:"]
    for one in mine:
        params = ", ".join(param.name if param.required else f"{param.name}?" for param in one.params)
        lines.append(f"- {one.name}({params}): {one.description.split('. ')[0].rstrip('.')}.")
    if example := next((one.examples[0]["request"] for one in mine if one.examples), None):
        lines += ["", f"Quick start: {json.dumps(example, separators=(',', ':'))}"]
    ask = '{"operation":"introspect","params":{"query":"operations","name":"<operation>"}}'
    lines += ["", f"Discover parameters: call {naming.tool('read')} with {ask}."]
    return "\n".join(lines)
