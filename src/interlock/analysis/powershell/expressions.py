"""Parses PowerShell expressions, script blocks and parameter lists."""

from __future__ import annotations

import re

from interlock.analysis.powershell.lexer import PsCursor, read_bare, read_double, read_here, read_nested, read_single
from interlock.analysis.powershell.lexer import read_variable as read_dollar
from interlock.analysis.powershell.nodes import (
    Access,
    Array,
    Cast,
    Chain,
    Choose,
    Expr,
    Number,
    Postfix,
    PsExpression,
    PsGroup,
    PsParam,
    PsPipeline,
    PsSyntaxError,
    PsTable,
    PsText,
    PsType,
    PsVariable,
    ScriptBlock,
    Statement,
    Unary,
)

# Weakest first; the operators of one row are read from left to right.
_ROWS = (
    r"\?\?(?!=)",
    r"-(?:and|or|xor)\b",
    r"-(?:band|bor|bxor)\b",
    r"-(?:[ci]?(?:eq|ne|[gl][te]|(?:not)?(?:like|match|contains|in)|replace|split)|join|is|isnot|as|shl|shr)\b",
    r"\+(?![+=])|-(?![-=A-Za-z])",
    r"[*/%](?!=)",
    r"-f(?![\w])",
    r"\.\.",
)
_OPERATORS = tuple(re.compile(row, re.IGNORECASE) for row in _ROWS)
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


def read_expression(cursor: PsCursor) -> Expr:
    """One expression, with every operator that belongs to it."""
    value = _operators(cursor, 0)
    cursor.skip_blanks()
    if not cursor.match(_TERNARY):
        return value
    with cursor.deeper():
        cursor.skip_lines()
        yes = read_expression(cursor)
        cursor.skip_lines()
        cursor.expect(":")
        cursor.skip_lines()
        return Choose(value, (yes, read_expression(cursor)))


def read_operand(cursor: PsCursor) -> Expr:
    """One expression that no comma belongs to: an argument of a method, the default of a parameter."""
    return _operators(cursor, 0, commas=False)


def _operators(cursor: PsCursor, weakest: int, commas: bool = True) -> Expr:
    """A value and the operators behind it, down to a row of the table."""
    tightest = len(_OPERATORS) - 1
    operand = _comma if commas else _unary
    value, row, rest = operand(cursor), tightest + 1, list[tuple[str, Expr]]()
    while True:
        cursor.skip_blanks()
        found = _operator(cursor, weakest)
        if found is None:
            return Chain(value, tuple(rest)) if rest else value
        if found[0] != row and rest:
            value, rest = Chain(value, tuple(rest)), []
        row = found[0]
        cursor.skip_lines()
        with cursor.deeper():
            rest.append((found[1], operand(cursor) if row == tightest else _operators(cursor, row + 1, commas)))


def _operator(cursor: PsCursor, weakest: int) -> tuple[int, str] | None:
    if cursor.peek() not in _OPERATOR_START:
        return None
    for row in range(weakest, len(_OPERATORS)):
        if found := cursor.match(_OPERATORS[row]):
            return row, _plain_operator(found.group())
    return None


def _plain_operator(text: str) -> str:
    """The operator without its letter for case."""
    word = text.lower()
    return re.sub(r"^-[ci](?=eq|ne|gt|ge|lt|le|like|notlike|match|notm|repl|split|cont|notc|in$|notin)", "-", word)


def _comma(cursor: PsCursor) -> Expr:
    if cursor.take(","):
        cursor.skip_lines()
        return Array((_unary(cursor),))
    items = [_unary(cursor)]
    while True:
        cursor.skip_blanks()
        if not cursor.take(","):
            return items[0] if len(items) == 1 else Array(tuple(items))
        cursor.step()
        cursor.skip_lines()
        items.append(_unary(cursor))


def _unary(cursor: PsCursor) -> Expr:
    if not cursor.look(NUMBER):
        if found := cursor.match(_UNARY):
            cursor.skip_lines()
            with cursor.deeper():
                operand = _comma(cursor) if found.group()[1:2].isalpha() else _unary(cursor)
            return Unary(_plain_operator(found.group()), operand)
        if found := cursor.look(_TYPE):
            return _typed(cursor, found)
    return read_postfix(cursor, read_primary(cursor))


def _typed(cursor: PsCursor, found: re.Match[str]) -> Expr:
    """A cast, or a type whose members are used."""
    cursor.pos = found.end()
    name = re.sub(r"\s", "", found.group(1)).lower()
    start = cursor.pos
    cursor.skip_blanks()
    if cursor.at("::") or (cursor.pos == start and cursor.look(_DOT)):
        return read_postfix(cursor, PsType(name))
    if cursor.done() or cursor.peek() in "\r\n;|)},=]" or cursor.look(_OPERATORS[3]):
        cursor.pos = start
        return PsType(name)
    with cursor.deeper():
        return Cast(name, _unary(cursor))


def read_primary(cursor: PsCursor) -> Expr:
    """One value without what stands behind it."""
    letter = cursor.peek()
    if letter == "'":
        return PsText((read_single(cursor),))
    if letter == '"':
        return PsText(read_double(cursor))
    if letter == "$":
        value = read_dollar(cursor)
        if value is None:
            raise PsSyntaxError("a lone dollar sign")
        return value
    if letter == "@":
        return _at(cursor)
    if cursor.take("("):
        return PsGroup(read_nested(cursor, ")"))
    if letter == "{":
        return read_block(cursor)
    if found := cursor.match(NUMBER):
        return Number(_number(found.group()))
    if cursor.look(_ATTRIBUTE):
        skip_attribute(cursor)
        cursor.skip_lines()
        return _unary(cursor)
    raise PsSyntaxError(f"unexpected {cursor.peek(8)!r} at {cursor.pos}")


def _at(cursor: PsCursor) -> Expr:
    if (here := read_here(cursor)) is not None:
        return here
    if cursor.take("@("):
        return PsGroup(read_nested(cursor, ")"), array=True)
    if cursor.take("@{"):
        return _table(cursor)
    cursor.expect("@")
    if found := cursor.match(_NAME):
        return PsVariable(found.group(), splat=True)
    raise PsSyntaxError("a lone @")


def _table(cursor: PsCursor) -> PsTable:
    pairs: list[tuple[Expr, Statement]] = []
    with cursor.deeper():
        cursor.skip_lines("\r\n;")
        while not cursor.take("}"):
            cursor.step()
            found = cursor.match(_KEY)
            key: Expr = PsText((found.group(),)) if found else read_postfix(cursor, read_primary(cursor))
            cursor.skip_blanks()
            cursor.expect("=")
            cursor.skip_lines()
            body = cursor.block(cursor, "\n;}")
            if not body:
                raise PsSyntaxError("a key without a value")
            pairs.append((key, body[0]))
            cursor.skip_lines("\r\n;")
    return PsTable(tuple(pairs))


def read_block(cursor: PsCursor) -> ScriptBlock:
    """`{ … }` with its parameters."""

    start = cursor.pos
    cursor.expect("{")
    with cursor.deeper():
        params = read_params(cursor)
        body = cursor.block(cursor, "}")
    return ScriptBlock(body, params, cursor.source[start : cursor.pos])


def skip_attribute(cursor: PsCursor) -> None:
    """Step over `[Name(…)]`; its arguments are read and dropped."""
    cursor.expect("[")
    cursor.match(re.compile(r"[\w.]+"))
    cursor.skip_blanks()
    if cursor.take("("):
        depth = 1
        while depth and not cursor.done():
            letter = cursor.peek()
            if letter == "'":
                read_single(cursor)
            elif letter == '"':
                read_double(cursor)
            elif letter == "{":
                read_block(cursor)
            else:
                depth += (letter == "(") - (letter == ")")
                cursor.pos += 1
    cursor.skip_lines()
    cursor.expect("]")


def read_postfix(cursor: PsCursor, base: Expr) -> Expr:
    """The members, calls and indexes behind a value."""
    accesses: list[Access] = []
    while access := _access(cursor, bool(accesses)):
        cursor.step()
        accesses.append(access)
    if cursor.at("++") or cursor.at("--"):
        cursor.pos += 2
        return Unary("++", base)
    return Postfix(base, tuple(accesses)) if accesses else base


_STATIC = re.compile(r"\s*::\s*")
_DOT = re.compile(r"\??\.(?:\s*\n\s*)?(?=[\w'\"$({])")
_NEXT_LINE_DOT = re.compile(r"\s*\r?\n\s*\.(?=[A-Za-z])")


def _access(cursor: PsCursor, behind: bool) -> Access | None:
    if cursor.match(_STATIC):
        return _member(cursor, static=True)
    if cursor.match(_DOT) or (behind and cursor.match(_NEXT_LINE_DOT)):
        return _member(cursor, static=False)
    if cursor.take("?[") or cursor.take("["):
        cursor.skip_lines()
        with cursor.deeper():
            index = read_expression(cursor)
        cursor.skip_lines()
        cursor.expect("]")
        return Access(None, arguments=(index,))
    return None


def _member(cursor: PsCursor, static: bool) -> Access:
    found = cursor.match(_NAME)
    name: Expr = PsText((found.group(),)) if found else read_primary(cursor)
    if cursor.take("("):
        return Access(name, static, call=True, arguments=_arguments(cursor))
    if cursor.at("{"):
        return Access(name, static, call=True, arguments=(read_block(cursor),))
    return Access(name, static)


def _arguments(cursor: PsCursor) -> tuple[Expr, ...]:
    with cursor.deeper():
        cursor.skip_lines()
        if cursor.take(")"):
            return ()
        values = [read_operand(cursor)]
        cursor.skip_lines()
        while cursor.take(","):
            cursor.skip_lines()
            values.append(read_operand(cursor))
            cursor.skip_lines()
        cursor.expect(")")
    return tuple(values)


def read_argument(cursor: PsCursor) -> Expr:
    """One argument of a command: a value, a bare word, or several with commas between."""
    items = [_argument(cursor)]
    while True:
        before = cursor.pos
        cursor.skip_blanks()
        if not cursor.take(","):
            cursor.pos = before
            return items[0] if len(items) == 1 else Array(tuple(items))
        cursor.step()
        cursor.skip_lines()
        items.append(_argument(cursor))


_ENDS_WORD = re.compile(r"$|[\s(){};,|&<>]")


def _argument(cursor: PsCursor) -> Expr:
    letter = cursor.peek()
    if letter in "({" or cursor.look(re.compile(r"@[({'\"\w]")):
        return read_postfix(cursor, read_primary(cursor))
    start = cursor.pos
    if letter and letter in "$'\"":
        value = read_dollar(cursor) if letter == "$" else read_primary(cursor)
        if value is not None:
            value = read_postfix(cursor, value)
            if cursor.done() or cursor.look(_ENDS_WORD):
                return value
            if isinstance(value, Postfix):
                return PsText((value, *read_bare(cursor).parts), bare=True)
        cursor.pos = start
    return read_bare(cursor)


def as_statement(value: Expr) -> Statement:
    """An expression as a statement."""
    return PsPipeline((PsExpression(value),))


def _number(text: str) -> int | float:
    word = text.lower()
    unit = _UNITS.get(word[-2:], 1)
    digits = word[:-2] if unit > 1 else word
    if digits.startswith("0x"):
        return int(digits.rstrip("uysln"), 16) * unit
    digits = digits.rstrip("uysldn")
    if len(digits) > 300:
        raise PsSyntaxError("a number that is too long")
    return float(digits) * unit if set(digits) & set(".e") else int(digits) * unit


_PARAM_NAME = re.compile(r"\$\{?([\w:]+)\}?")
_PARAM = re.compile(r"param\s*\(", re.IGNORECASE)

_PARAM_TYPE = re.compile(r"\[[\w.+\[\],\s`]+\]")


def read_params(cursor: PsCursor) -> tuple[PsParam, ...]:
    """The parameters that a block or script starts with, if it does."""
    start = cursor.pos
    cursor.skip_lines("\r\n;")
    while cursor.match(re.compile(r"using\b[^\r\n;]*", re.IGNORECASE)):
        cursor.skip_lines("\r\n;")
    while cursor.look(_ATTRIBUTE):
        skip_attribute(cursor)
        cursor.skip_lines()
    found = cursor.look(_PARAM)
    if not found:
        cursor.pos = start
        return ()
    cursor.pos = found.end() - 1
    return read_param_list(cursor)


def read_param_list(cursor: PsCursor) -> tuple[PsParam, ...]:
    """The parameters between parentheses."""
    params: list[PsParam] = []
    cursor.expect("(")
    with cursor.deeper():
        cursor.skip_lines()
        while not cursor.take(")"):
            params.append(_param(cursor))
            cursor.skip_lines()
            if not cursor.take(",") and not cursor.at(")"):
                raise PsSyntaxError("a parameter list has no end")
            cursor.skip_lines()
    return tuple(params)


def _param(cursor: PsCursor) -> PsParam:
    while cursor.at("["):
        if cursor.look(_ATTRIBUTE):
            skip_attribute(cursor)
        elif not cursor.match(_PARAM_TYPE):
            raise PsSyntaxError("a type has no end")
        cursor.skip_lines()
    found = cursor.match(_PARAM_NAME)
    if not found:
        raise PsSyntaxError("a parameter without a name")
    cursor.skip_lines()
    default: Expr | None = None
    if cursor.take("="):
        cursor.skip_lines()
        default = read_operand(cursor)
    return PsParam(found.group(1).lower(), default)
