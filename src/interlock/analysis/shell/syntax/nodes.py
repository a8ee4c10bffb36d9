"""Nodes of parsed shell text."""

from __future__ import annotations

from msgspec import Struct

from interlock.model import Span


class ShellText(Struct):
    """Characters that stand for themselves; quoted ones neither split nor expand."""

    text: str
    quoted: bool


class ShellVariable(Struct):
    """`$x` or `${x…}`."""

    name: str
    quoted: bool
    operator: str = ""  # as written: ":-", "##", "//", ":", "^^", "@"…
    argument: ShellWord | None = None
    second: ShellWord | None = None  # the replacement of `/`, the length of `:`
    index: str = ""  # the text between [ ]
    length: bool = False
    indirect: bool = False


class Substitution(Struct):
    """`$(…)`, backticks, `<(…)` (direction "<") or `>(…)`."""

    body: list[Node]
    quoted: bool
    direction: str = ""


class Arithmetic(Struct):
    """`$((…))`: its value is a number, and what it contains may run commands."""

    parts: list[Part]


Part = ShellText | ShellVariable | Substitution | Arithmetic


class ShellWord(Struct):
    parts: list[Part]
    start: int = 0
    end: int = 0
    literal: str | None = None  # the text when nothing in it is expanded or quoted


class Assignment(Struct):
    """`name=value`, `name+=value`, `name[i]=value` or `name=(…)`."""

    name: str
    value: ShellWord | None
    items: list[ShellWord] | None = None
    append: bool = False
    index: str = ""
    keys: list[str] = []  # one for each item; empty where none was written


class ShellRedirect(Struct):
    """`> file` and the like; a here-document has its text in `body`."""

    operator: str
    target: ShellWord | None
    fd: str = ""
    body: ShellWord | None = None


class SimpleCommand(Struct):
    words: list[ShellWord]
    assigns: list[Assignment]
    redirects: list[ShellRedirect]
    span: Span
    negated: bool = False  # behind a `!`: succeeds where the command fails


class ShellPipeline(Struct):
    stages: list[Node]


class AndOr(Struct):
    """Nodes joined by `&&` and `||`; operators[i] stands before nodes[i + 1]."""

    nodes: list[Node]
    operators: list[str]


class ShellGroup(Struct):
    """`{ …; }` or `( … )`."""

    body: list[Node]
    subshell: bool
    redirects: list[ShellRedirect] = []


class Branches(Struct):
    """if, case: `head` runs before any body; its nodes at `tests` decide about the bodies of an if."""

    head: list[Node]
    bodies: list[list[Node]]
    words: list[ShellWord] = []
    redirects: list[ShellRedirect] = []
    tests: list[int] = []


class ShellLoop(Struct):
    """for, select, while, until; `items` is None when it does not go over words."""

    body: list[Node]
    head: list[Node] = []
    name: str = ""
    items: list[ShellWord] | None = None
    redirects: list[ShellRedirect] = []
    until: bool = False


class ShellFunction(Struct):
    name: str
    body: Node
    span: Span


class Expression(Struct):
    """`[[ … ]]` and `(( … ))`: decides something; what it expands may run commands."""

    words: list[ShellWord]
    arithmetic: bool = False
    negated: bool = False


class Background(Struct):
    """A node followed by `&`, or behind `coproc`."""

    node: Node
    coprocess: str = ""  # the variable that holds its descriptors


Node = (
    SimpleCommand | ShellPipeline | AndOr | ShellGroup | Branches | ShellLoop | ShellFunction | Expression | Background
)
