"""Who answers an MCP server's calls? A daemon behind a socket, or a surface in this process: one protocol for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from mcp.server.context import ServerRequestContext

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, as MCP brought it."""

    tool: str
    arguments: Any
    who: Any = None  # of the transport's own making: the caller of an HTTP request
    asked: bool = False  # its user was asked already, and is not asked twice


class Backend(Protocol):
    """Whoever answers."""

    def who(self, context: Context) -> Any: ...

    def session_of(self, who: Any) -> str:
        """The session that a failure names (C-47)."""

    async def tools(self, who: Any) -> list[dict[str, Any]]: ...

    async def call(self, asked: ToolCall) -> Mapping[str, Any]:
        """`{envelope, isError}`; raises whatever went wrong, which the server answers as a failure."""

    async def ask(self, who: Any, token: str) -> Mapping[str, Any] | None:
        """`{ask, message}` where a user's word would be enough for this token; None where it would not."""

    async def elicited(self, who: Any, ask: str, approve: bool) -> bool:
        """Whether the answer to that question armed its token."""
