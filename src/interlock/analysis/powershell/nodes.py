"""Nodes of parsed PowerShell text."""

from __future__ import annotations

from msgspec import Struct


class PsSyntaxError(Exception):
    """The text is not PowerShell; the argument gives the reason."""


class PsTooDeep(PsSyntaxError):
    """The text nests deeper than a reader follows."""


class PsText(Struct, frozen=True):
    """A string or a bare word; what is filled in at run time stands between the constant parts."""

    parts: tuple[str | Expr, ...]
    bare: bool = False


class Number(Struct, frozen=True):
    value: int | float


class PsVariable(Struct, frozen=True):
    name: str
    splat: bool = False


class PsType(Struct, frozen=True):
    name: str


class Cast(Struct, frozen=True):
    type: str
    value: Expr


class Unary(Struct, frozen=True):
    operator: str
    value: Expr


class Chain(Struct, frozen=True):
    """Operators of one precedence, read from left to right."""

    first: Expr
    rest: tuple[tuple[str, Expr], ...]


class Array(Struct, frozen=True):
    items: tuple[Expr, ...]


class PsTable(Struct, frozen=True):
    pairs: tuple[tuple[Expr, Statement], ...]


class PsGroup(Struct, frozen=True):
    """`( )`, `$( )` or `@( )`."""

    body: Body
    array: bool = False


class ScriptBlock(Struct, frozen=True):
    """`{ }`: code as a value."""

    body: Body
    params: tuple[PsParam, ...]
    source: str


class Access(Struct, frozen=True):
    """One `.name`, `::name`, `.name(…)` or `[…]` behind a value; `name` is None for an index."""

    name: Expr | None
    static: bool = False
    call: bool = False
    arguments: tuple[Expr, ...] = ()


class Postfix(Struct, frozen=True):
    base: Expr
    accesses: tuple[Access, ...]


class Choose(Struct, frozen=True):
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


class PsParam(Struct, frozen=True):
    """One parameter of a function or block."""

    name: str
    default: Expr | None = None


class Flag(Struct, frozen=True):
    """`-Name` or `-Name:value` among the words of a command."""

    name: str
    value: Expr | None = None


class PsRedirect(Struct, frozen=True):
    target: Expr
    append: bool


class PipelineCall(Struct, frozen=True):
    """One command of a pipeline."""

    name: Expr
    words: tuple[Flag | Expr, ...]
    redirects: tuple[PsRedirect, ...]
    invoked: bool = False  # with & or .


class PsExpression(Struct, frozen=True):
    """An expression that stands as an element of a pipeline."""

    value: Expr
    redirects: tuple[PsRedirect, ...] = ()


class PsPipeline(Struct, frozen=True):
    elements: tuple[PipelineCall | PsExpression, ...]


class Assign(Struct, frozen=True):
    target: Expr
    operator: str
    value: Statement


class Branch(Struct, frozen=True):
    """if, switch, try: heads are read in order, then each body on its own."""

    heads: tuple[Statement, ...]
    bodies: tuple[Body, ...]
    always: Body = ()


class PsLoop(Struct, frozen=True):
    """while, do, for."""

    heads: tuple[Statement, ...]
    body: Body


class Each(Struct, frozen=True):
    """foreach ($name in items)."""

    name: str
    items: Statement
    body: Body


class PsFunction(Struct, frozen=True):
    name: str
    block: ScriptBlock


Statement = PsPipeline | Assign | Branch | PsLoop | Each | PsFunction
Body = tuple[Statement, ...]
