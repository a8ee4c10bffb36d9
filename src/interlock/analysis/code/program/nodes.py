"""Builds the form in which every language is walked: Python's syntax tree, with functions and blocks as expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

Made = ast.expr | list[ast.stmt]  # what one node of another language's tree becomes
Program = tuple[list[ast.stmt], bool]  # and whether all of it was parsed


class Closure(ast.expr):
    """A function without a name; what it assigns to names of the code around it stays there."""

    _fields = ("function",)

    def __init__(self, function: ast.FunctionDef) -> None:
        super().__init__()
        self.function = function


class Body(ast.expr):
    _fields = ("body",)

    def __init__(self, body: list[ast.stmt]) -> None:
        super().__init__()
        self.body = body


text = ast.Constant
member = ast.Attribute
item = ast.Subscript
named = ast.keyword
NOTHING = ast.Constant(None)
CONDITION = ast.Name("?")  # what nobody knows
THIS = "<this>"  # what a method is called on, where that is no parameter


def path(dotted: str) -> ast.expr:
    first, *rest = dotted.split(".")
    made: ast.expr = ast.Name(first)
    for part in rest:
        made = ast.Attribute(made, part)
    return made


def call(func: ast.expr | str, args: Iterable[ast.expr] = (), named: Iterable[ast.keyword] = ()) -> ast.Call:
    return ast.Call(path(func) if isinstance(func, str) else func, list(args), list(named))


def joined(parts: Sequence[str | ast.expr]) -> ast.expr:
    if all(isinstance(part, str) for part in parts):
        return ast.Constant("".join(map(str, parts)))
    return ast.JoinedStr([ast.Constant(part) if isinstance(part, str) else part for part in parts])


def add(left: ast.expr, right: ast.expr) -> ast.BinOp:
    return ast.BinOp(left, ast.Add(), right)


def several(values: Sequence[ast.expr]) -> ast.expr:
    return values[0] if len(values) == 1 else ast.Tuple(list(values)) if values else NOTHING


def function(
    params: Sequence[str], body: list[ast.stmt], title: str = "", rest: str = "", defaults: Sequence[ast.expr] = ()
) -> ast.FunctionDef:
    taken, left_over = [ast.arg(param) for param in params], ast.arg(rest) if rest else None
    given = ast.arguments([], taken, left_over, [], [], None, list(defaults))  # none by position or by name alone
    return ast.FunctionDef(name=title, args=given, body=body or [ast.Pass()], decorator_list=[], returns=None)


def closure(params: Sequence[str], body: list[ast.stmt]) -> Closure:
    return Closure(function(params, body))


def returning(body: list[ast.stmt]) -> list[ast.stmt]:
    if not body:
        return body
    last = body[-1]
    if isinstance(last, ast.Expr):
        return [*body[:-1], ast.Return(last.value)]
    if isinstance(last, ast.If):
        return [*body[:-1], ast.If(last.test, returning(last.body), returning(last.orelse))]
    if isinstance(last, ast.Assign):
        return [*body, ast.Return(last.targets[0])]
    return body


def as_expression(made: Made) -> ast.expr:
    if isinstance(made, ast.expr):
        return made
    if len(made) == 1:
        only = made[0]
        if isinstance(only, ast.Expr):
            return only.value
        if isinstance(only, ast.If):
            return ast.IfExp(only.test, as_expression(only.body), as_expression(only.orelse))
        if isinstance(only, ast.Assign) and len(only.targets) == 1:
            return ast.NamedExpr(cast(ast.Name, only.targets[0]), only.value)
    return Body(made) if made else NOTHING


def as_statements(made: Made) -> list[ast.stmt]:
    if isinstance(made, list):
        return made
    return list(made.body) if isinstance(made, Body) else [ast.Expr(made)]


def assign(target: ast.expr, value: ast.expr) -> list[ast.stmt]:
    return [ast.Assign([target], value)]


def declare(name: ast.expr, value: ast.expr) -> list[ast.stmt]:
    """A name of this function, whatever the code around calls by it."""
    return [ast.AnnAssign(cast(ast.Name, name), NOTHING, value, 1)]


def loop(target: ast.expr, over: ast.expr, body: list[ast.stmt]) -> list[ast.stmt]:
    return [ast.For(target, over, body or [ast.Pass()], [])]


def loop_last(targets: Sequence[ast.expr], over: ast.expr, body: list[ast.stmt]) -> list[ast.stmt]:
    """Sets the last of its targets to each value; its keys are as good as that."""
    keys = [made for key in targets[:-1] for made in assign(key, targets[-1])]
    return loop(targets[-1], over, [*keys, *body])


def repeat(test: ast.expr, body: list[ast.stmt]) -> list[ast.stmt]:
    return [ast.While(test, body or [ast.Pass()], [])]


def branch(test: ast.expr, body: list[ast.stmt], other: list[ast.stmt]) -> list[ast.stmt]:
    return [ast.If(test, body or [ast.Pass()], other)]


def maybe(body: list[ast.stmt]) -> list[ast.stmt]:
    return branch(CONDITION, body, [])


def signed(sign: str, value: ast.expr) -> ast.expr:
    """A value behind a sign; one that means nothing here leaves it as it is."""
    if sign == "-":
        return ast.UnaryOp(ast.USub(), value)
    return ast.UnaryOp(ast.Not(), value) if sign in ("!", "not", "~", "typeof", "-not", "-bnot") else value


def binary(sign: str, left: ast.expr, right: ast.expr, joins: frozenset[str] = frozenset()) -> ast.expr:
    if sign in joins:
        return add(left, right)
    if sign in _CHOICES:
        return ast.BoolOp(ast.Or(), [left, right])
    if sign in ("&&", "and"):
        return ast.BoolOp(ast.And(), [left, right])
    if sign == "|>":
        into = right if isinstance(right, ast.Call) else call(right)
        return call(into.func, [left, *into.args], into.keywords)
    if sign == "=>":
        return ast.Tuple([left, right])
    if sign in ("..", "..."):
        return call("<range>" if sign == ".." else "<until>", [left, right])
    made = _NUMERIC.get(sign)
    if made:
        return ast.BinOp(left, made(), right)
    return ast.Compare(left, [_COMPARES.get(sign, ast.Is)()], [right])


_CHOICES = frozenset({"||", "or", "??", "//", "?:"})
_NUMERIC: Mapping[str, Callable[[], ast.operator]] = {
    "-": ast.Sub, "*": ast.Mult, "%": ast.Mod, "|": ast.BitOr, "&": ast.BitAnd, "^": ast.BitXor, "<<": ast.LShift,
    ">>": ast.RShift, "x": ast.Mult, "+": ast.Add, "/": ast.Div, "**": ast.Pow, ">>>": ast.RShift,
}  # fmt: skip
_COMPARES: Mapping[str, Callable[[], ast.cmpop]] = {
    **dict.fromkeys(["==", "===", "eq"], ast.Eq), **dict.fromkeys(["!=", "!==", "~=", "ne", "<>"], ast.NotEq), "<": ast.Lt,
    "lt": ast.Lt, ">": ast.Gt, "gt": ast.Gt, "<=": ast.LtE, "le": ast.LtE, ">=": ast.GtE, "ge": ast.GtE,
}  # fmt: skip


def number(digits: str) -> ast.expr:
    """A number as most languages write it: `0x1f`, `0o17`, `017`, `1_000`, `1.5e3`, with letters behind it."""
    plain = digits.replace("_", "").lower()
    try:
        if plain[:2] in ("0x", "0b", "0o"):
            return ast.Constant(int(plain.rstrip("ln") if plain[:2] != "0x" else plain.rstrip("l"), 0))
        plain = plain.rstrip("lfdnumi")
        if len(plain) > 1 and plain[0] == "0" and plain.isdecimal():
            return ast.Constant(int(plain, 8))
        return ast.Constant(int(plain) if plain.isdecimal() and len(plain) < 300 else float(plain))
    except ValueError:
        return ast.Constant(digits)
