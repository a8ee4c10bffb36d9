"""Parses PowerShell text into statements."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from interlock.analysis.code.program import nodes
from interlock.analysis.packs import each_name
from interlock.analysis.powershell.expressions import (
    ENDS_WORD,
    NUMBER,
    PARAM_NAME,
    function,
    read_argument,
    read_block,
    read_expression,
    read_param_list,
    read_params,
    read_postfix,
    read_primary,
)
from interlock.analysis.powershell.lexer import (
    PsCursor,
    group,
    plain,
    read_bare,
    read_nested,
    skip_to_mate,
    variable,
    yielding,
)
from interlock.analysis.windows import WindowsSyntaxError

_Body = list[ast.stmt]
_WORD = re.compile(r"[A-Za-z]+(?![\w.:\\/-])")
_EXPRESSION = re.compile(
    r"['\"$(@\[{!,]|[+-](?=[\s$(\d.'\"\[-])|--|\+\+|-(?:not|bnot|join|[ci]?split)\b", re.IGNORECASE
)
_ASSIGN = re.compile(r"\?\?=|[-+*/%]?=(?!=)")
_REDIRECT = re.compile(r"(?:[1-6*])?>>?(?:&[12])?")
_FLAG = re.compile(r"-([A-Za-z_?][\w?-]*)(:?)")
_INVOKE = re.compile(r"&(?!&)|\.(?=[\s'\"$({&])")
_LABEL = re.compile(r":\w+\s")
_FUNCTION_NAME = re.compile(r"[^\s({]+")
_VERBATIM = re.compile(r"--%(?=\s)([^\r\n|]*)")
_ELSE = re.compile(r"\s*(elseif|else)\b", re.IGNORECASE)
_AGAIN = re.compile(r"while|until", re.IGNORECASE)
_PARALLEL = re.compile(r"-parallel\s*", re.IGNORECASE)
_THROTTLE = re.compile(r"-throttlelimit\s+\d+\s*", re.IGNORECASE)
_IN = re.compile(r"in\b", re.IGNORECASE)
_OPTION = re.compile(r"-\w+\s*")
_CATCH = re.compile(r"\s*(catch|finally)\b", re.IGNORECASE)
_CAUGHT = re.compile(r"[\s,]*\[[\w.]+\]")
_REST = re.compile(r"[^\r\n;}]*")
_DECLARED = re.compile(r"[^{\r\n]*\s*\{")


def parse(source: str) -> tuple[_Body, WindowsSyntaxError | None]:
    cursor = PsCursor(plain(source), _body)
    statements: _Body = []
    try:
        for title, default in read_params(cursor):
            if default:
                statements += nodes.assign(variable(title), default)
        while not _at_end(cursor, ""):
            statements += yielding(_statement(cursor))
    except WindowsSyntaxError as trouble:
        return statements, trouble
    return statements, None


def _body(cursor: PsCursor, close: str) -> _Body:
    """One statement only, for a value in a hash table."""
    if len(close) > 1:
        return _statement(cursor)
    statements: _Body = []
    while not _at_end(cursor, close):
        statements += _statement(cursor)
    return statements


def _at_end(cursor: PsCursor, close: str) -> bool:
    cursor.skip_lines("\r\n;")
    if not cursor.peek():
        if close:
            raise WindowsSyntaxError(f"{close!r} is missing")
        return True
    return bool(close) and cursor.take(close)


def _braces(cursor: PsCursor) -> _Body:
    cursor.expect("{")
    return read_nested(cursor, "}")


def _parens(cursor: PsCursor) -> _Body:
    cursor.expect("(")
    return read_nested(cursor, ")")


def _statement(cursor: PsCursor) -> _Body:
    cursor.match(_LABEL)
    found = cursor.look(_WORD)
    reader = _KEYWORDS.get(found[0].lower()) if found else None
    if found and reader:
        cursor.pos = found.end()
        cursor.skip_blanks()
        return reader(cursor)
    return _pipeline(cursor)


def _pipeline(cursor: PsCursor) -> _Body:
    start, made = cursor.pos, _element(cursor, nodes.NOTHING)
    cursor.skip_blanks()
    if found := cursor.match(_ASSIGN):
        if not _assignable(made):
            raise WindowsSyntaxError(f"nothing that can be assigned to at {start}")
        cursor.skip_lines()
        with cursor.deeper():
            return _assign(made, found[0], group(_statement(cursor)))
    while _more(cursor):
        made = _element(cursor, made)
        cursor.skip_blanks()
    _ends(cursor)
    return [ast.Expr(made)]


def _assign(target: ast.expr, sign: str, value: ast.expr) -> _Body:
    while _is_cast(target):
        assert isinstance(target, ast.Call)
        value, target = nodes.call("<cast>", [target.args[0], value]), target.args[1]
    if isinstance(target, ast.List) and target.elts:  # the last name gets all that is left
        target = ast.Tuple([*target.elts[:-1], ast.Starred(target.elts[-1])])
    if sign != "=":
        value = nodes.binary(sign[:-1], target, value)
    return nodes.assign(target, value)


def _is_cast(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "<cast>"


def _assignable(value: ast.expr) -> bool:
    if isinstance(value, ast.List):
        return all(_assignable(item) for item in value.elts)
    return isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.Constant)) or _is_cast(value)


_NEXT_LINE_PIPE = re.compile(r"\s*\r?\n\s*\|(?!\|)")


def _more(cursor: PsCursor) -> bool:
    if cursor.at("||") or not (cursor.take("|") or cursor.match(_NEXT_LINE_PIPE)):
        return False
    cursor.skip_lines()
    return True


def _ends(cursor: PsCursor) -> None:
    if cursor.take("&&") or cursor.take("||"):
        cursor.skip_lines()
        if not cursor.peek():
            raise WindowsSyntaxError("a command is missing behind && or ||")
        return
    if not cursor.take("&") and cursor.peek() not in "\r\n;)}":
        raise WindowsSyntaxError(f"unexpected {cursor.peek(8)!r} at {cursor.pos}")


def _element(cursor: PsCursor, piped: ast.expr) -> ast.expr:
    """Where its output is saved, nothing comes out."""
    if cursor.match(_INVOKE):
        cursor.skip_blanks()
        if cursor.peek() in "\r\n;|&)}":
            raise WindowsSyntaxError("a command is missing behind &")
        return _call(cursor, piped, invoked=True)
    if cursor.look(_EXPRESSION) or cursor.look(NUMBER):
        value = read_expression(cursor)
        saved: list[ast.expr] = []
        cursor.skip_blanks()
        while _redirect(cursor, saved):
            cursor.skip_blanks()
        return _saved(value, saved, constant=True)
    return _call(cursor, piped, invoked=False)


def _redirect(cursor: PsCursor, saved: list[ast.expr]) -> bool:
    found = cursor.match(_REDIRECT)
    if found and "&" not in found[0]:
        cursor.skip_blanks()
        saved += [read_argument(cursor), ast.Constant(">>" in found[0])]
    return found is not None


def _saved(value: ast.expr, saved: list[ast.expr], constant: bool) -> ast.expr:
    return nodes.call("<save>", [value, ast.Constant(constant), *saved]) if saved else value


def _call(cursor: PsCursor, piped: ast.expr, invoked: bool) -> ast.expr:
    if invoked and cursor.peek() in "$('\"{":
        name = read_postfix(cursor, read_primary(cursor))
        if not cursor.look(ENDS_WORD):
            name = read_bare(cursor, name)
    else:
        name = read_bare(cursor)
    words: list[ast.expr] = []
    saved: list[ast.expr] = []
    while True:
        cursor.skip_blanks()
        if cursor.peek() in "\r\n;|)}" or (cursor.at("&") and not cursor.look(_REDIRECT)):
            break
        if verbatim := cursor.match(_VERBATIM):
            words += map(nodes.text, ["--%", *verbatim[1].split()])
        elif not _redirect(cursor, saved):
            words.append(_word(cursor))
    return _saved(nodes.call(ast.Name("&"), [piped, name, *words]), saved, constant=False)


def _word(cursor: PsCursor) -> ast.expr:
    found = cursor.look(_FLAG)
    if not found:
        return read_argument(cursor)
    cursor.pos = found.end()
    if found[2] and cursor.peek() not in ("", "\\"):
        cursor.skip_blanks()
        return nodes.call("<flag>", [nodes.text(found[1]), read_argument(cursor)])
    if not found[2] and cursor.look(ENDS_WORD):
        return nodes.call("<flag>", [nodes.text(found[1])])
    cursor.pos = found.start()
    return read_argument(cursor)


def _if(cursor: PsCursor) -> _Body:
    test, body, other = group(_parens(cursor)), _braces(cursor), list[ast.stmt]()
    if found := cursor.match(_ELSE):
        other = _if(cursor) if found[1].lower() == "elseif" else _braces(cursor)
    return nodes.branch(test, body, other)


def _do(cursor: PsCursor) -> _Body:
    body = _braces(cursor)
    cursor.skip_lines()
    if not cursor.match(_AGAIN):
        raise WindowsSyntaxError("do without while")
    return nodes.repeat(nodes.CONDITION, [*body, *_parens(cursor)])


def _for(cursor: PsCursor) -> _Body:
    first, body = _parens(cursor), _braces(cursor)
    if len(first) == 3 and isinstance(first[1], ast.Expr):
        return [first[0], *nodes.repeat(first[1].value, [*body, first[2]])]
    return [*first, *nodes.repeat(nodes.CONDITION, body)]


def _foreach(cursor: PsCursor) -> _Body:
    cursor.match(_PARALLEL)
    cursor.expect("(")
    with cursor.deeper():
        cursor.skip_lines()
        found = cursor.match(PARAM_NAME)
        cursor.skip_lines()
        if not found or not cursor.match(_IN):
            raise WindowsSyntaxError("foreach without in")
        cursor.skip_lines()
        over = nodes.call("<array>", [group(_statement(cursor))])
        cursor.expect(")")
    cursor.skip_lines()
    cursor.match(_THROTTLE)
    return nodes.loop(variable(found[1]), over, _braces(cursor))


def _switch(cursor: PsCursor) -> _Body:
    while cursor.match(_OPTION):
        cursor.skip_blanks()
    over = group(_parens(cursor)) if cursor.at("(") else read_argument(cursor)
    made = nodes.assign(ast.Name("$_"), over)
    cursor.expect("{")
    with cursor.deeper():
        while not _at_end(cursor, "}"):
            test = read_argument(cursor)
            made += nodes.branch(ast.BoolOp(ast.And(), [test, nodes.CONDITION]), _braces(cursor), [])
    return made


def _try(cursor: PsCursor) -> _Body:
    made = ast.Try(_braces(cursor), [], [], [])
    while found := cursor.match(_CATCH):
        if found[1].lower() == "finally":
            made.finalbody = _braces(cursor)
            break
        while cursor.match(_CAUGHT):
            pass
        made.handlers.append(ast.ExceptHandler(None, None, _braces(cursor)))
    return [made]


def _trap(cursor: PsCursor) -> _Body:
    cursor.match(_CAUGHT)
    return nodes.maybe(_braces(cursor))


def _function(cursor: PsCursor) -> _Body:
    found = cursor.match(_FUNCTION_NAME)
    if not found:
        raise WindowsSyntaxError("a function without a name")
    cursor.skip_lines()
    params = read_param_list(cursor) if cursor.at("(") else []
    made = read_block(cursor).function
    if params:
        made.args = function(params, []).args
    made.name = "function:" + found[0].lower().split(":")[-1]
    return [made]


def _value(cursor: PsCursor) -> _Body:
    if cursor.peek() in "\r\n;}":
        return [ast.Return(None)]
    with cursor.deeper():
        return [*_statement(cursor), ast.Return(None)]


def _rest_of_line(cursor: PsCursor) -> _Body:
    cursor.match(_REST)
    return []


def _declaration(cursor: PsCursor) -> _Body:
    if not cursor.match(_DECLARED):
        raise WindowsSyntaxError("a declaration without a body")
    skip_to_mate(cursor, "{", "}")
    return []


_KEYWORDS: dict[str, Callable[[PsCursor], _Body]] = each_name({
    "if": _if,
    "while": lambda cursor: nodes.repeat(group(_parens(cursor)), _braces(cursor)),
    "do": _do,
    "for": _for,
    "foreach": _foreach,
    "switch": _switch,
    "try": _try,
    "trap": _trap,
    "function filter workflow": _function,
    "return throw exit": _value,
    "break continue using": _rest_of_line,
    "begin process end clean dynamicparam parallel sequence inlinescript": _braces,
    "class enum data": _declaration,
})  # fmt: skip
