"""Parses PowerShell expressions, script blocks and parameter lists."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TypeVar

from interlock.analysis.code.program import nodes
from interlock.analysis.facts import hole
from interlock.analysis.powershell.lexer import (
    PsCursor,
    group,
    read_bare,
    read_double,
    read_here,
    read_nested,
    read_single,
    read_variable,
    skip_to_mate,
    text,
    variable,
    yielding,
)
from interlock.analysis.windows import WindowsSyntaxError

# Weakest first; the operators of one row are read from left to right.
_OPERATORS = [
    re.compile(row, re.IGNORECASE)
    for row in (
        r"\?\?(?!=)",
        r"-(?:and|or|xor)\b",
        r"-(?:band|bor|bxor)\b",
        r"-(?:[ci]?(?:eq|ne|[gl][te]|(?:not)?(?:like|match|contains|in)|replace|split)|join|is|isnot|as|shl|shr)\b",
        r"\+(?![+=])|-(?![-=A-Za-z])",
        r"[*/%](?!=)",
        r"-f(?![\w])",
        r"\.\.",
    )
]
_OPERATOR_START = frozenset("?-+*/%.")
_UNARY = re.compile(r"-(?:not|bnot|join|[ci]?split)\b|!|\+\+|--|[+-](?=[\s$(\d.'\"\[@])", re.IGNORECASE)
NUMBER = re.compile(
    r"(?:0x[0-9a-f]+|\d+(?:\.(?!\.)\d*)?(?:e[+-]?\d+)?|\.\d+)(?:u?[ysld]|n)?(?:kb|mb|gb|tb|pb)?(?![\w\\/:-])",
    re.IGNORECASE,
)
_UNITS = {"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40, "pb": 1 << 50}
_TYPE = re.compile(r"\[([A-Za-z_][\w.+`]*(?:\[[\w.+,\[\]\s`]*\])?)\s*(?:,[^\]\"'\n]*)?\]")
_ATTRIBUTE = re.compile(r"\[[A-Za-z_][\w.]*\s*\(")
_NAME = re.compile(r"\w+")
_KEY = re.compile(r"[\w-]+(?=\s*=)")
_TERNARY = re.compile(r"\?(?![?.\[])")
Item = TypeVar("Item")


_SIGNS = {  # those that other languages write otherwise
    "-bxor": "^", "-band": "&", "-bor": "|", "-shl": "<<", "-shr": ">>",
    **{f"-{word}": word for word in ("eq", "ne", "lt", "le", "gt", "ge")},
}  # fmt: skip
_CALLS = frozenset({"-f", "..", "-join", "-split", "-replace", "-as"})


def read_expression(cursor: PsCursor) -> ast.expr:
    value = _operators(cursor, 0)
    cursor.skip_blanks()
    if not cursor.match(_TERNARY):
        return value
    with cursor.deeper():
        cursor.skip_lines()
        yes = read_expression(cursor)
        cursor.expect(":")
        cursor.skip_lines()
        return ast.IfExp(value, yes, read_expression(cursor))


def read_operand(cursor: PsCursor) -> ast.expr:
    """No comma belongs to it: an argument of a method, the default of a parameter."""
    return _operators(cursor, 0, commas=False)


def _operators(cursor: PsCursor, weakest: int, commas: bool = True) -> ast.expr:
    tightest = len(_OPERATORS) - 1
    operand = _comma if commas else _unary
    value = operand(cursor)
    while True:
        cursor.skip_blanks()
        found = _operator(cursor, weakest)
        if found is None:
            return value
        row, sign = found
        cursor.skip_lines()
        with cursor.deeper():
            other = operand(cursor) if row == tightest else _operators(cursor, row + 1, commas)
        value = _binary(sign, value, other)


def _binary(sign: str, left: ast.expr, right: ast.expr) -> ast.expr:
    if sign in _CALLS:
        return nodes.call(ast.Name(f"<{sign}>"), [left, right])
    if sign[1:].isalpha() and sign not in _SIGNS:
        return ast.BoolOp(ast.And(), [left, right])
    return nodes.binary(_SIGNS.get(sign, sign), left, right)


def _operator(cursor: PsCursor, weakest: int) -> tuple[int, str] | None:
    if cursor.peek() not in _OPERATOR_START:
        return None
    for row in range(weakest, len(_OPERATORS)):
        if found := cursor.match(_OPERATORS[row]):
            return row, _plain_operator(found[0])
    return None


def _plain_operator(text: str) -> str:
    """Without its letter for case."""
    return re.sub(r"^-[ci](?!n$|s$|snot|ontains)", "-", text.lower())


def _comma(cursor: PsCursor) -> ast.expr:
    if cursor.take(","):
        cursor.skip_lines()
        return ast.List([_unary(cursor)])
    return _several(cursor, _unary)


def _several(cursor: PsCursor, read: Callable[[PsCursor], ast.expr]) -> ast.expr:
    items = [read(cursor)]
    end = cursor.pos
    cursor.skip_blanks()
    while cursor.take(","):
        cursor.skip_lines()
        items.append(read(cursor))
        end = cursor.pos
        cursor.skip_blanks()
    cursor.pos = end
    return items[0] if len(items) == 1 else ast.List(items)


def _unary(cursor: PsCursor) -> ast.expr:
    if not cursor.look(NUMBER):
        if found := cursor.match(_UNARY):
            cursor.skip_lines()
            with cursor.deeper():
                operand = _comma(cursor) if found[0][1:2].isalpha() else _unary(cursor)
            return _signed(_plain_operator(found[0]), operand)
        if found := cursor.look(_TYPE):
            return _typed(cursor, found)
    return read_postfix(cursor, read_primary(cursor))


def _signed(sign: str, operand: ast.expr) -> ast.expr:
    if sign in ("-join", "-split"):
        return nodes.call(f"<{sign}>", [operand, nodes.text("" if sign == "-join" else r"\s+")])
    if sign in ("++", "--"):
        step = ast.BinOp(operand, ast.Add() if sign == "++" else ast.Sub(), ast.Constant(1))
        return nodes.as_expression(nodes.assign(operand, step))
    return nodes.signed(sign, operand)


def _typed(cursor: PsCursor, found: re.Match[str]) -> ast.expr:
    cursor.pos = found.end()
    name = re.sub(r"\s", "", found[1]).lower()
    start = cursor.pos
    cursor.skip_blanks()
    if cursor.at("::") or (cursor.pos == start and cursor.look(_DOT)):
        return read_postfix(cursor, ast.Name(f"[{name}]"))
    if cursor.peek() in "\r\n;|)},=]" or cursor.look(_OPERATORS[3]):
        cursor.pos = start
        return ast.Name(f"[{name}]")
    with cursor.deeper():
        return nodes.call("<cast>", [nodes.text(name), _unary(cursor)])


def read_primary(cursor: PsCursor) -> ast.expr:
    letter = cursor.peek()
    if letter == "'":
        return nodes.text(read_single(cursor))
    if letter == '"':
        return text(read_double(cursor))
    if letter == "$":
        if value := read_variable(cursor):
            return value
        raise WindowsSyntaxError("a lone dollar sign")
    if letter == "@":
        return _at(cursor)
    if cursor.take("("):
        return group(read_nested(cursor, ")"))
    if letter == "{":
        return read_block(cursor)
    if found := cursor.match(NUMBER):
        return ast.Constant(_number(found[0]))
    if cursor.look(_ATTRIBUTE):
        skip_attribute(cursor)
        cursor.skip_lines()
        return _unary(cursor)
    raise WindowsSyntaxError(f"unexpected {cursor.peek(8)!r} at {cursor.pos}")


def _at(cursor: PsCursor) -> ast.expr:
    if (here := read_here(cursor)) is not None:
        return here
    if cursor.take("@("):
        return nodes.call("<array>", [group(read_nested(cursor, ")"))])
    if cursor.take("@{"):
        return _table(cursor)
    cursor.expect("@")
    if found := cursor.match(_NAME):
        return ast.Starred(nodes.call("<splat>", [variable(found[0])]))
    raise WindowsSyntaxError("a lone @")


def _table(cursor: PsCursor) -> ast.expr:
    keys: list[ast.expr | None] = []
    values: list[ast.expr] = []
    with cursor.deeper():
        cursor.skip_lines("\r\n;")
        while not cursor.take("}"):
            found = cursor.match(_KEY)
            keys.append(_lower(nodes.text(found[0]) if found else read_postfix(cursor, read_primary(cursor))))
            cursor.expect("=")
            cursor.skip_lines()
            body = cursor.block(cursor, "\n;}")
            if not body:
                raise WindowsSyntaxError("a key without a value")
            values.append(group(body))
            cursor.skip_lines("\r\n;")
    return ast.Dict(keys, values)


def _lower(key: ast.expr) -> ast.expr:
    """A name as it is looked up, in whatever case it is written."""
    return nodes.text(key.value.lower()) if isinstance(key, ast.Constant) and isinstance(key.value, str) else key


def read_block(cursor: PsCursor) -> nodes.Closure:
    cursor.expect("{")
    with cursor.deeper():
        params = read_params(cursor)
        body = cursor.block(cursor, "}")
    return nodes.Closure(function(params, body))


def function(params: list[PsParam], body: list[ast.stmt]) -> ast.FunctionDef:
    """What flows into it are parameters too, which it finds around it where none is given."""
    made = nodes.function([f"${name}" for name, _ in params], yielding(body), rest="$args")
    made.args.defaults = [default or ast.Constant(hole(name)) for name, default in params]
    made.args.kwonlyargs = [ast.arg("$_"), ast.arg("$input")]
    made.args.kw_defaults = [ast.Name("$_"), ast.Name("$input")]
    return made


def skip_attribute(cursor: PsCursor) -> None:
    """`[Name(…)]`; its arguments are read and dropped."""
    cursor.expect("[")
    cursor.match(re.compile(r"[\w.]+"))
    cursor.skip_blanks()
    if cursor.take("("):
        skip_to_mate(cursor, "(", ")")
    cursor.expect("]")


def read_postfix(cursor: PsCursor, base: ast.expr) -> ast.expr:
    value = base
    while found := _access(cursor, value, value is not base):
        value = found
    step = cursor.match(_STEP)
    return _signed(step[0], value) if step else value


_STEP = re.compile(r"\+\+|--")
_STATIC = re.compile(r"\s*::\s*")
_DOT = re.compile(r"\??\.(?:\s*\n\s*)?(?=[\w'\"$({])")
_NEXT_LINE_DOT = re.compile(r"\s*\r?\n\s*\.(?=[A-Za-z])")


def _access(cursor: PsCursor, base: ast.expr, behind: bool) -> ast.expr | None:
    if cursor.match(_STATIC) or cursor.match(_DOT) or (behind and cursor.match(_NEXT_LINE_DOT)):
        return _member(cursor, base)
    if cursor.take("?[") or cursor.take("["):
        cursor.skip_lines()
        with cursor.deeper():
            index = read_expression(cursor)
        cursor.expect("]")
        return nodes.item(base, _lower(index))
    return None


def _member(cursor: PsCursor, base: ast.expr) -> ast.expr:
    found = cursor.match(_NAME)
    name = nodes.text(found[0].lower()) if found else _lower(read_primary(cursor))
    if cursor.take("("):
        return nodes.call("<call>", [base, name, *_listed(cursor, read_operand)])
    if cursor.at("{"):
        return nodes.call("<call>", [base, name, read_block(cursor)])
    if isinstance(name, ast.Constant):
        return nodes.member(base, str(name.value))
    return nodes.item(base, name)


def _listed(cursor: PsCursor, read: Callable[[PsCursor], Item]) -> list[Item]:
    items: list[Item] = []
    with cursor.deeper():
        cursor.skip_lines()
        while not cursor.take(")"):
            items.append(read(cursor))
            cursor.skip_lines()
            if not cursor.at(")"):
                cursor.expect(",")
                cursor.skip_lines()
    return items


def read_argument(cursor: PsCursor) -> ast.expr:
    return _several(cursor, _argument)


ENDS_WORD = re.compile(r"$|[\s(){};,|&<>]")
_AT = re.compile(r"@[({'\"\w]")


def _argument(cursor: PsCursor) -> ast.expr:
    letter = cursor.peek()
    if letter in "({" or cursor.look(_AT):
        return read_postfix(cursor, read_primary(cursor))
    if letter and letter in "$'\"":
        value = read_variable(cursor) if letter == "$" else read_primary(cursor)
        if value is not None:
            value = read_postfix(cursor, value)
            return value if cursor.look(ENDS_WORD) else read_bare(cursor, value)
    return read_bare(cursor)


def _number(text: str) -> int | float:
    word = text.lower()
    unit = _UNITS.get(word[-2:], 1)
    digits = word[:-2] if unit > 1 else word
    if digits.startswith("0x"):
        return int(digits.rstrip("uysln"), 16) * unit
    digits = digits.rstrip("uysldn")
    if len(digits) > 300:
        raise WindowsSyntaxError("a number that is too long")
    return float(digits) * unit if set(digits) & set(".e") else int(digits) * unit


PsParam = tuple[str, ast.expr | None]  # the name of a parameter and its default
PARAM_NAME = re.compile(r"\$\{?([\w:]+)\}?")
_PARAM = re.compile(r"param\s*(?=\()", re.IGNORECASE)
_PARAM_TYPE = re.compile(r"\[[\w.+\[\],\s`]+\]")


def read_params(cursor: PsCursor) -> list[PsParam]:
    start = cursor.pos
    cursor.skip_lines("\r\n;")
    while cursor.match(re.compile(r"using\b[^\r\n;]*", re.IGNORECASE)):
        cursor.skip_lines("\r\n;")
    while cursor.look(_ATTRIBUTE):
        skip_attribute(cursor)
        cursor.skip_lines()
    if cursor.match(_PARAM):
        return read_param_list(cursor)
    cursor.pos = start
    return []


def read_param_list(cursor: PsCursor) -> list[PsParam]:
    cursor.expect("(")
    return _listed(cursor, _param)


def _param(cursor: PsCursor) -> PsParam:
    while cursor.at("["):
        if cursor.look(_ATTRIBUTE):
            skip_attribute(cursor)
        elif not cursor.match(_PARAM_TYPE):
            raise WindowsSyntaxError("a type has no end")
        cursor.skip_lines()
    found = cursor.match(PARAM_NAME)
    if not found:
        raise WindowsSyntaxError("a parameter without a name")
    cursor.skip_lines()
    if not cursor.take("="):
        return found[1].lower(), None
    cursor.skip_lines()
    return found[1].lower(), read_operand(cursor)
