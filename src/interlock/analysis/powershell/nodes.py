"""Nodes of parsed PowerShell text."""

from __future__ import annotations

from dataclasses import dataclass


class PsSyntaxError(Exception):
    """The text is not PowerShell; the argument gives the reason."""


class PsTooDeep(PsSyntaxError):
    """The text nests deeper than a reader follows."""


@dataclass(frozen=True, slots=True)
class PsText:
    """A string or a bare word; what is filled in at run time stands between the constant parts."""

    parts: tuple[str | Expr, ...]
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    value: int | float


@dataclass(frozen=True, slots=True)
class PsVariable:
    name: str
    splat: bool = False


@dataclass(frozen=True, slots=True)
class PsType:
    name: str


@dataclass(frozen=True, slots=True)
class Cast:
    type: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Unary:
    operator: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators of one precedence, read from left to right."""

    first: Expr
    rest: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class Array:
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class PsTable:
    pairs: tuple[tuple[Expr, Statement], ...]


@dataclass(frozen=True, slots=True)
class PsGroup:
    """`( )`, `$( )` or `@( )`."""

    body: Body
    array: bool = False


@dataclass(frozen=True, slots=True)
class ScriptBlock:
    """`{ }`: code as a value."""

    body: Body
    params: tuple[PsParam, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Access:
    """One `.name`, `::name`, `.name(…)` or `[…]` behind a value; `name` is None for an index."""

    name: Expr | None
    static: bool = False
    call: bool = False
    arguments: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Postfix:
    base: Expr
    accesses: tuple[Access, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """`condition ? yes : no`."""

    condition: Expr
    branches: tuple[Expr, Expr]


Expr = (
    PsText
    | Number
    | PsVariable
    | PsType
    | Cast
    | Unary
    | Chain
    | Array
    | PsTable
    | PsGroup
    | ScriptBlock
    | Postfix
    | Choose
)


@dataclass(frozen=True, slots=True)
class PsParam:
    """One parameter of a function or block."""

    name: str
    default: Expr | None = None


@dataclass(frozen=True, slots=True)
class Flag:
    """`-Name` or `-Name:value` among the words of a command."""

    name: str
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class PsRedirect:
    target: Expr
    append: bool


@dataclass(frozen=True, slots=True)
class PipelineCall:
    """One command of a pipeline."""

    name: Expr
    words: tuple[Flag | Expr, ...]
    redirects: tuple[PsRedirect, ...]
    invoked: bool = False  # with & or .


@dataclass(frozen=True, slots=True)
class PsExpression:
    """An expression that stands as an element of a pipeline."""

    value: Expr
    redirects: tuple[PsRedirect, ...] = ()


@dataclass(frozen=True, slots=True)
class PsPipeline:
    elements: tuple[PipelineCall | PsExpression, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    target: Expr
    operator: str
    value: Statement


@dataclass(frozen=True, slots=True)
class Branch:
    """if, switch, try: heads are read in order, then each body on its own."""

    heads: tuple[Statement, ...]
    bodies: tuple[Body, ...]
    always: Body = ()


@dataclass(frozen=True, slots=True)
class PsLoop:
    """while, do, for."""

    heads: tuple[Statement, ...]
    body: Body


@dataclass(frozen=True, slots=True)
class Each:
    """foreach ($name in items)."""

    name: str
    items: Statement
    body: Body


@dataclass(frozen=True, slots=True)
class PsFunction:
    name: str
    block: ScriptBlock


Statement = PsPipeline | Assign | Branch | PsLoop | Each | PsFunction
Body = tuple[Statement, ...]
