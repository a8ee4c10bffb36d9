"""A small surface for tests of the language itself: a shelf of notes."""

from __future__ import annotations

from typing import Any

from aql_lint import lint
from interlock.core.model import Level
from interlock.doors.aql.envelope import AqlProblem, Reply
from interlock.doors.aql.introspect import INTROSPECTION, About
from interlock.doors.aql.operations import Danger, Operation, Param, Returns, table
from interlock.doors.aql.surface import Call, Caller, Said, Surface, call
from interlock.doors.aql.tools import Naming
from interlock.doors.aql.vocabulary import Type, types

NOTES = table(
    INTROSPECTION,
    Operation(
        "create_note",
        "create",
        "Keeps a note.",
        (
            Param("title", "string", "Its title.", required=True, min_length=1, max_length=20),
            Param("body_text", "string", "Its text.", aliases=("bodyText",)),
            Param("stars", "integer", "How good.", default=3, minimum=0, maximum=5),
            Param("share", "number", "Of all.", minimum=0, maximum=1),
            Param("kind", "string", "What kind.", enum=("idea", "task")),
            Param("tags", "array", "Words.", items="string", max_length=2),
            Param("meta", "object", "Anything."),
            Param("slug", "string", "Short.", pattern="^[a-z]+$"),
            Param("pinned", "boolean", "On top."),
        ),
        Returns("Note"),
    ),
    Operation(
        "get_note",
        "read",
        "Says a note.",
        (Param("title", "string", "Which.", required=True), Param("fields", "array", "Only these.", items="string")),
        Returns("Note"),
        Danger(Level.SAFE),
        selects=("title", "stars"),
    ),
    Operation(
        "repeat",
        "execute",
        "Repeats an operation's name.",
        (Param("operation", "string", "Which.", required=True, nested=True),),
    ),
    Operation("burn_shelf", "delete", "Burns it.", danger=Danger(Level.FORBIDDEN, ("All notes are gone.",)), permission="DENY"),
    Operation("fail", "execute", "Fails."),
)  # fmt: skip


def _fail(asked: Call) -> dict[str, Any]:
    raise AqlProblem("PERMISSION_DENIED", "Held until tomorrow at noon")


NOTE = types(Type("Note", "object", "A note.", (Param("title", "string", "Its title."),)))
SHELF = Surface(
    NOTES,
    {
        "create_note": lambda asked: Said(
            dict(asked.params), [{"code": "NEW", "message": "It is new", "severity": "low"}]
        ),
        "get_note": lambda asked: {"title": asked.params["title"], "stars": 3, "text": "x"},
        "repeat": lambda asked: {"operation": asked.params["operation"]},
        "burn_shelf": lambda asked: {},
        "fail": _fail,
    },
    About("shelf", "1", types=NOTE),
)


def ask(arguments: Any, endpoint: str = "any", strict: bool = False, mode: str = "all", prefix: str = "") -> Reply:
    """One call, linted."""
    reply = call(SHELF, endpoint, arguments, Caller("uid:1", "mcp_s1", Naming(mode, prefix), strict))
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
