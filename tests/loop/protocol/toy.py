"""A small surface for tests of the language itself: a shelf of notes."""

from __future__ import annotations

from typing import Any

from aql_lint import lint
from interlock.error_codes import LoopProblem
from interlock.loop.protocol import Danger, OperationSpec, ParamSpec, Returns, table
from interlock.loop.protocol.envelope import ProtocolReply
from interlock.loop.protocol.introspection import INTROSPECTION, ProtocolType, SurfaceInfo
from interlock.loop.protocol.surface import DataWithWarnings, OperationCall, ProtocolCaller, Surface, call
from interlock.loop.protocol.tools import ToolNaming
from interlock.model import Level

NOTES = table(
    INTROSPECTION,
    OperationSpec(
        "create_note",
        "create",
        "Keeps a note.",
        (
            ParamSpec("title", "string", "Its title.", required=True, min_length=1, max_length=20),
            ParamSpec("body_text", "string", "Its text.", aliases=("bodyText",)),
            ParamSpec("stars", "integer", "How good.", default=3, minimum=0, maximum=5),
            ParamSpec("share", "number", "Of all.", minimum=0, maximum=1),
            ParamSpec("kind", "string", "What kind.", enum=("idea", "task")),
            ParamSpec("tags", "array", "Words.", items="string", max_length=2),
            ParamSpec("meta", "object", "Anything."),
            ParamSpec("slug", "string", "Short.", pattern="^[a-z]+$"),
            ParamSpec("pinned", "boolean", "On top."),
        ),
        Returns("Note"),
    ),
    OperationSpec(
        "get_note",
        "read",
        "Says a note.",
        (ParamSpec("title", "string", "Which.", required=True), ParamSpec("fields", "array", "Only these.", items="string")),
        Returns("Note"),
        Danger(Level.SAFE),
        selects=("title", "stars"),
    ),
    OperationSpec(
        "repeat",
        "execute",
        "Repeats an operation's name.",
        (ParamSpec("operation", "string", "Which.", required=True, nested=True),),
    ),
    OperationSpec("burn_shelf", "delete", "Burns it.", danger=Danger(Level.FORBIDDEN, ("All notes are gone.",)), permission="DENY"),
    OperationSpec("fail", "execute", "Fails."),
)  # fmt: skip


def _fail(asked: OperationCall) -> dict[str, Any]:
    raise LoopProblem("PERMISSION_DENIED", "Held until tomorrow at noon")


NOTE = {"Note": ProtocolType("Note", "object", "A note.", (ParamSpec("title", "string", "Its title."),))}
SHELF = Surface(
    NOTES,
    {
        "create_note": lambda asked: DataWithWarnings(
            dict(asked.params), [{"code": "NEW", "message": "It is new", "severity": "low"}]
        ),
        "get_note": lambda asked: {"title": asked.params["title"], "stars": 3, "text": "x"},
        "repeat": lambda asked: {"operation": asked.params["operation"]},
        "burn_shelf": lambda asked: {},
        "fail": _fail,
    },
    SurfaceInfo("shelf", "1", types=NOTE),
)


def ask(
    arguments: Any, endpoint: str = "any", strict: bool = False, mode: str = "all", prefix: str = ""
) -> ProtocolReply:
    """One call, linted."""
    reply = call(SHELF, endpoint, arguments, ProtocolCaller("uid:1", "mcp_s1", ToolNaming(mode, prefix), strict))
    asked = isinstance(arguments, dict) and arguments.get("operation") == "introspect"
    lint(reply.envelope, asked)
    return reply


def data(arguments: Any, endpoint: str = "any", **more: Any) -> Any:
    """What a success holds."""
    reply = ask(arguments, endpoint, **more)
    assert reply.envelope["success"], reply
    return reply.envelope["data"]


def error(arguments: Any, endpoint: str = "any", **more: Any) -> Any:
    """What a failure says."""
    reply = ask(arguments, endpoint, **more)
    assert not reply.envelope["success"], reply
    return reply.envelope["error"]
