"""Nodes of parsed shell text."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlock.model import Span


@dataclass(slots=True)
class ShellText:
    """Characters that stand for themselves; quoted ones neither split nor expand."""

    text: str
    quoted: bool


@dataclass(slots=True)
class ShellVariable:
    """`$x` or `${x…}`."""

    name: str
    quoted: bool
    operator: str = ""  # as written: ":-", "##", "//", ":", "^^", "@"…
    argument: ShellWord | None = None
    second: ShellWord | None = None  # the replacement of `/`, the length of `:`
    index: str = ""  # the text between [ ]
    length: bool = False
    indirect: bool = False


@dataclass(slots=True)
class Substitution:
    """`$(…)`, backticks, `<(…)` (direction "<") or `>(…)`."""

    body: list[Node]
    quoted: bool
    direction: str = ""


@dataclass(slots=True)
class Arithmetic:
    """`$((…))`: its value is a number, and what it contains may run commands."""

    text: str
    parts: list[Part]


Part = ShellText | ShellVariable | Substitution | Arithmetic


@dataclass(slots=True)
class ShellWord:
    """One word as written."""

    parts: list[Part]
    start: int
    end: int

    @property
    def literal(self) -> str | None:
        """The text when nothing in it is expanded or quoted."""
        if len(self.parts) == 1:
            part = self.parts[0]
            if isinstance(part, ShellText) and not part.quoted:
                return part.text
        return None


@dataclass(slots=True)
class Assignment:
    """`name=value`, `name+=value`, `name[i]=value` or `name=(…)`."""

    name: str
    value: ShellWord | None
    items: list[ShellWord] | None = None
    append: bool = False
    index: str = ""
    keys: list[str] = field(default_factory=list)  # one for each item; empty where none was written


@dataclass(slots=True)
class ShellRedirect:
    """`> file` and the like; a here-document has its text in `body`."""

    operator: str
    target: ShellWord | None
    fd: str = ""
    body: ShellWord | None = None


@dataclass(slots=True)
class SimpleCommand:
    words: list[ShellWord]
    assigns: list[Assignment]
    redirects: list[ShellRedirect]
    span: Span
    negated: bool = False  # behind a `!`: succeeds where the command fails


@dataclass(slots=True)
class ShellPipeline:
    stages: list[Node]


@dataclass(slots=True)
class AndOr:
    """Nodes joined by `&&` and `||`; operators[i] stands before nodes[i + 1]."""

    nodes: list[Node]
    operators: list[str]


@dataclass(slots=True)
class ShellGroup:
    """`{ …; }` or `( … )`."""

    body: list[Node]
    subshell: bool
    redirects: list[ShellRedirect] = field(default_factory=list)


@dataclass(slots=True)
class Branches:
    """if, case: each body may run; `head` runs before any of them, the nodes of it that decide about the bodies of an if are at `tests`."""

    head: list[Node]
    bodies: list[list[Node]]
    words: list[ShellWord] = field(default_factory=list)
    redirects: list[ShellRedirect] = field(default_factory=list)
    tests: list[int] = field(default_factory=list)


@dataclass(slots=True)
class ShellLoop:
    """for, select, while, until; `items` is None when it does not go over words."""

    body: list[Node]
    head: list[Node] = field(default_factory=list)
    name: str = ""
    items: list[ShellWord] | None = None
    redirects: list[ShellRedirect] = field(default_factory=list)
    until: bool = False


@dataclass(slots=True)
class ShellFunction:
    name: str
    body: Node
    span: Span


@dataclass(slots=True)
class Expression:
    """`[[ … ]]` and `(( … ))`: decides something; what it expands may run commands."""

    words: list[ShellWord]
    arithmetic: bool = False
    negated: bool = False


@dataclass(slots=True)
class Background:
    """A node followed by `&`, or behind `coproc`."""

    node: Node
    coprocess: str = ""  # the variable that holds its descriptors


Node = (
    SimpleCommand | ShellPipeline | AndOr | ShellGroup | Branches | ShellLoop | ShellFunction | Expression | Background
)
