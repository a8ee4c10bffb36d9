"""Parses PowerShell text into statements."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace

from interlock.analysis.powershell.expressions import (
    NUMBER,
    as_statement,
    read_argument,
    read_block,
    read_expression,
    read_param_list,
    read_params,
    read_postfix,
    read_primary,
)
from interlock.analysis.powershell.lexer import PsCursor, plain, read_bare, read_nested, skip_braces
from interlock.analysis.powershell.nodes import (
    Array,
    Assign,
    Body,
    Branch,
    Cast,
    Each,
    Expr,
    Flag,
    PipelineCall,
    Postfix,
    PsExpression,
    PsFunction,
    PsLoop,
    PsParam,
    PsPipeline,
    PsRedirect,
    PsSyntaxError,
    PsText,
    PsType,
    PsVariable,
    Statement,
    Unary,
)

_WORD = re.compile(r"[A-Za-z]+(?![\w.:\\/-])")
_EXPRESSION = re.compile(
    r"['\"$(@\[{!,]|[+-](?=[\s$(\d.'\"\[-])|--|\+\+|-(?:not|bnot|join|[ci]?split)\b", re.IGNORECASE
)
_ASSIGN = re.compile(r"\?\?=|[-+*/%]?=(?!=)")
_REDIRECT = re.compile(r"(?:[1-6*])?>>?(?:&[12])?")
_FLAG = re.compile(r"-([A-Za-z_?][\w?-]*)(:?)")
_FLAG_END = re.compile(r"$|[\s(){};,|&<>]")
_INVOKE = re.compile(r"&(?!&)|\.(?=[\s'\"$({&])")
_LABEL = re.compile(r":\w+\s")
_FUNCTION_NAME = re.compile(r"[^\s({]+")
_VERBATIM = re.compile(r"--%(?=\s)([^\r\n|]*)")
_NAME = re.compile(r"\$\{?([\w:]+)\}?")


def parse(source: str, step: Callable[[], None]) -> tuple[Body, PsSyntaxError | None]:
    """Every statement up to the first trouble, and that trouble."""
    cursor = PsCursor(plain(source), _body, step)
    statements: list[Statement] = []
    try:
        for param in read_params(cursor):
            if param.default is not None:
                statements.append(Assign(PsVariable(param.name), "=", as_statement(param.default)))
        while not _at_end(cursor, ""):
            statements.append(_statement(cursor))
    except PsSyntaxError as trouble:
        return tuple(statements), trouble
    return tuple(statements), None


def _body(cursor: PsCursor, close: str) -> Body:
    """Statements up to a closing mark; one statement only, for a value in a hash table."""
    if len(close) > 1:
        return (_statement(cursor),)
    statements: list[Statement] = []
    while not _at_end(cursor, close):
        statements.append(_statement(cursor))
    return tuple(statements)


def _at_end(cursor: PsCursor, close: str) -> bool:
    cursor.skip_lines("\r\n;")
    if cursor.done():
        if close:
            raise PsSyntaxError(f"{close!r} is missing")
        return True
    return bool(close) and cursor.take(close)


def _braces(cursor: PsCursor) -> Body:
    cursor.skip_lines()
    cursor.expect("{")
    return read_nested(cursor, "}")


def _parens(cursor: PsCursor) -> Body:
    cursor.skip_lines()
    cursor.expect("(")
    return read_nested(cursor, ")")


def _statement(cursor: PsCursor) -> Statement:
    cursor.step()
    cursor.match(_LABEL)
    found = cursor.look(_WORD)
    reader = _KEYWORDS.get(found.group().lower()) if found else None
    if found and reader:
        cursor.pos = found.end()
        cursor.skip_blanks()
        return reader(cursor)
    return _pipeline(cursor)


def _pipeline(cursor: PsCursor) -> Statement:
    start = cursor.pos
    elements: list[PipelineCall | PsExpression] = []
    while True:
        element = _element(cursor)
        cursor.skip_blanks()
        if not elements and isinstance(element, PsExpression) and (found := cursor.match(_ASSIGN)):
            if not _assignable(element.value):
                raise PsSyntaxError(f"nothing that can be assigned to at {start}")
            cursor.skip_lines()
            with cursor.deeper():
                return Assign(element.value, found.group(), _statement(cursor))
        elements.append(element)
        if not _more(cursor):
            break
    _ends(cursor)
    return PsPipeline(tuple(elements))


def _assignable(value: Expr) -> bool:
    if isinstance(value, Array):
        return all(_assignable(item) for item in value.items)
    return isinstance(value, (PsVariable, Postfix, Cast, PsType, Unary))


_NEXT_LINE_PIPE = re.compile(r"\s*\r?\n\s*\|(?!\|)")


def _more(cursor: PsCursor) -> bool:
    """True when a pipe leads to another element."""
    if cursor.at("||") or not (cursor.take("|") or cursor.match(_NEXT_LINE_PIPE)):
        return False
    cursor.skip_lines()
    return True


def _ends(cursor: PsCursor) -> None:
    """A pipeline ends at a line end, a closing mark, `;`, `&`, `&&` or `||`."""
    if cursor.take("&&") or cursor.take("||"):
        cursor.skip_lines()
        if cursor.done():
            raise PsSyntaxError("a command is missing behind && or ||")
        return
    if cursor.at("&"):
        cursor.pos += 1
        return
    if not cursor.done() and cursor.peek() not in "\r\n;)}":
        raise PsSyntaxError(f"unexpected {cursor.peek(8)!r} at {cursor.pos}")


def _element(cursor: PsCursor) -> PipelineCall | PsExpression:
    cursor.step()
    if cursor.match(_INVOKE):
        cursor.skip_blanks()
        if cursor.done() or cursor.peek() in "\r\n;|&)}":
            raise PsSyntaxError("a command is missing behind &")
        return _call(cursor, invoked=True)
    if cursor.look(_EXPRESSION) or cursor.look(NUMBER):
        value = read_expression(cursor)
        return PsExpression(value, _redirects(cursor))
    return _call(cursor, invoked=False)


def _redirects(cursor: PsCursor) -> tuple[PsRedirect, ...]:
    found: list[PsRedirect] = []
    cursor.skip_blanks()
    while (one := _redirect(cursor)) is not False:
        if isinstance(one, PsRedirect):
            found.append(one)
        cursor.skip_blanks()
    return tuple(found)


def _redirect(cursor: PsCursor) -> PsRedirect | bool:
    """A redirection to a file; True for one that is not to a file, False for none."""
    found = cursor.match(_REDIRECT)
    if not found:
        return False
    if "&" in found.group():
        return True
    cursor.skip_blanks()
    return PsRedirect(read_argument(cursor), ">>" in found.group())


def _call(cursor: PsCursor, invoked: bool) -> PipelineCall:
    """A command: its name, its words, its redirections."""
    name: Expr
    if invoked and cursor.peek() in "$('\"{":
        name = read_postfix(cursor, read_primary(cursor))
        if cursor.peek() and not cursor.look(_FLAG_END):
            name = PsText((name, *read_bare(cursor).parts), bare=True)
    else:
        name = read_bare(cursor)
    words: list[Flag | Expr] = []
    redirects: list[PsRedirect] = []
    while True:
        cursor.skip_blanks()
        if cursor.done() or cursor.peek() in "\r\n;|)}":
            break
        if cursor.at("&") and not cursor.look(_REDIRECT):
            break
        cursor.step()
        if verbatim := cursor.match(_VERBATIM):
            words += [PsText((word,), bare=True) for word in ["--%", *verbatim.group(1).split()]]
        elif (redirect := _redirect(cursor)) is not False:
            redirects += [redirect] if isinstance(redirect, PsRedirect) else []
        else:
            words.append(_word(cursor))
    return PipelineCall(name, tuple(words), tuple(redirects), invoked)


def _word(cursor: PsCursor) -> Flag | Expr:
    found = cursor.look(_FLAG)
    if not found:
        return read_argument(cursor)
    cursor.pos = found.end()
    if found.group(2) and cursor.peek() not in ("", "\\"):
        cursor.skip_blanks()
        return Flag(found.group(1), read_argument(cursor))
    if not found.group(2) and (cursor.done() or cursor.look(_FLAG_END)):
        return Flag(found.group(1))
    cursor.pos = found.start()
    return read_argument(cursor)


def _if(cursor: PsCursor) -> Statement:
    heads, bodies = list(_parens(cursor)), [_braces(cursor)]
    while found := cursor.match(re.compile(r"\s*(elseif|else)\b", re.IGNORECASE)):
        if found.group(1).lower() == "else":
            bodies.append(_braces(cursor))
            break
        heads += _parens(cursor)
        bodies.append(_braces(cursor))
    else:
        bodies.append(())
    return Branch(tuple(heads), tuple(bodies))


def _while(cursor: PsCursor) -> Statement:
    return PsLoop(_parens(cursor), _braces(cursor))


def _do(cursor: PsCursor) -> Statement:
    body = _braces(cursor)
    cursor.skip_lines()
    if not cursor.match(re.compile(r"while|until", re.IGNORECASE)):
        raise PsSyntaxError("do without while")
    return PsLoop((), (*body, *_parens(cursor)))


def _for(cursor: PsCursor) -> Statement:
    return PsLoop(_parens(cursor), _braces(cursor))


def _foreach(cursor: PsCursor) -> Statement:
    cursor.match(re.compile(r"-parallel\s*", re.IGNORECASE))
    cursor.skip_lines()
    cursor.expect("(")
    with cursor.deeper():
        cursor.skip_lines()
        found = cursor.match(_NAME)
        cursor.skip_lines()
        if not found or not cursor.match(re.compile(r"in\b", re.IGNORECASE)):
            raise PsSyntaxError("foreach without in")
        cursor.skip_lines()
        items = _statement(cursor)
        cursor.skip_lines()
        cursor.expect(")")
    cursor.skip_lines()
    cursor.match(re.compile(r"-throttlelimit\s+\d+\s*", re.IGNORECASE))
    return Each(found.group(1).lower(), items, _braces(cursor))


def _switch(cursor: PsCursor) -> Statement:
    while cursor.match(re.compile(r"-\w+\s*")):
        cursor.skip_blanks()
    heads: list[Statement] = list(_parens(cursor)) if cursor.at("(") else [as_statement(read_argument(cursor))]
    bodies: list[Body] = [()]
    cursor.skip_lines()
    cursor.expect("{")
    with cursor.deeper():
        while not _at_end(cursor, "}"):
            heads.append(as_statement(read_argument(cursor)))
            bodies.append(_braces(cursor))
    return Branch(tuple(heads), tuple(bodies))


def _try(cursor: PsCursor) -> Statement:
    body = _braces(cursor)
    branches: list[Body] = [()]
    always: Body = ()
    while found := cursor.match(re.compile(r"\s*(catch|finally)\b", re.IGNORECASE)):
        if found.group(1).lower() == "finally":
            always = _braces(cursor)
            break
        while cursor.match(re.compile(r"[\s,]*\[[\w.]+\]")):
            cursor.step()
        branches.append(_braces(cursor))
    return Branch((Branch((), (body,)),), tuple(branches), always)


def _trap(cursor: PsCursor) -> Statement:
    cursor.match(re.compile(r"\[[\w.]+\]"))
    return Branch((), ((), _braces(cursor)))


def _function(cursor: PsCursor) -> Statement:
    found = cursor.match(_FUNCTION_NAME)
    if not found:
        raise PsSyntaxError("a function without a name")
    cursor.skip_lines()
    params: tuple[PsParam, ...] = ()
    if cursor.at("("):
        params = read_param_list(cursor)
        cursor.skip_lines()
    block = read_block(cursor)
    return PsFunction(found.group().lower().split(":")[-1], replace(block, params=params or block.params))


def _value(cursor: PsCursor) -> Statement:
    """return, throw, exit: what stands behind, if anything."""
    if cursor.done() or cursor.peek() in "\r\n;}":
        return PsPipeline(())
    with cursor.deeper():
        return _statement(cursor)


def _rest_of_line(cursor: PsCursor) -> Statement:
    """break, continue, using: statements without an effect."""
    cursor.match(re.compile(r"[^\r\n;}]*"))
    return PsPipeline(())


def _named_block(cursor: PsCursor) -> Statement:
    """begin, process, end, clean and the blocks of workflows: their statements."""
    return Branch((), (_braces(cursor),))


def _declaration(cursor: PsCursor) -> Statement:
    """class, enum, data: nothing runs here."""
    if not cursor.match(re.compile(r"[^{\r\n]*\s*\{")):
        raise PsSyntaxError("a declaration without a body")
    skip_braces(cursor)
    return PsPipeline(())


_KEYWORDS: dict[str, Callable[[PsCursor], Statement]] = {
    "if": _if,
    "while": _while,
    "do": _do,
    "for": _for,
    "foreach": _foreach,
    "switch": _switch,
    "try": _try,
    "trap": _trap,
    "function": _function,
    "filter": _function,
    "workflow": _function,
    "return": _value,
    "throw": _value,
    "exit": _value,
    "break": _rest_of_line,
    "continue": _rest_of_line,
    "using": _rest_of_line,
    "begin": _named_block,
    "process": _named_block,
    "end": _named_block,
    "clean": _named_block,
    "dynamicparam": _named_block,
    "parallel": _named_block,
    "sequence": _named_block,
    "inlinescript": _named_block,
    "class": _declaration,
    "enum": _declaration,
    "data": _declaration,
}
