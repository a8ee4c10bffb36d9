"""PowerShell text -> statements."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from interlock.core.read.powershell.expression import (
    NUMBER,
    read_argument,
    read_block,
    read_expression,
    read_postfix,
    read_primary,
    shown,
)
from interlock.core.read.powershell.params import read_param_list, read_params
from interlock.core.read.powershell.tree import (
    Array,
    Assign,
    Body,
    Branch,
    Call,
    Cast,
    Each,
    Expr,
    Flag,
    Function,
    Loop,
    Param,
    Pipeline,
    Postfix,
    Redirect,
    Shown,
    Statement,
    Text,
    Trouble,
    Type,
    Unary,
    Variable,
)
from interlock.core.read.powershell.words import Cursor, plain, read_bare, read_nested, skip_braces

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


def parse(source: str, step: Callable[[], None]) -> tuple[Body, Trouble | None]:
    """Every statement up to the first trouble, and that trouble."""
    cursor = Cursor(plain(source), _body, step)
    statements: list[Statement] = []
    try:
        for param in read_params(cursor):
            if param.default is not None:
                statements.append(Assign(Variable(param.name), "=", shown(param.default)))
        while not _at_end(cursor, ""):
            statements.append(_statement(cursor))
    except Trouble as trouble:
        return tuple(statements), trouble
    return tuple(statements), None


def _body(cursor: Cursor, close: str) -> Body:
    """Statements up to a closing mark; one statement only, for a value in a hash table."""
    if len(close) > 1:
        return (_statement(cursor),)
    statements: list[Statement] = []
    while not _at_end(cursor, close):
        statements.append(_statement(cursor))
    return tuple(statements)


def _at_end(cursor: Cursor, close: str) -> bool:
    cursor.skip_lines("\r\n;")
    if cursor.done():
        if close:
            raise Trouble(f"{close!r} is missing")
        return True
    return bool(close) and cursor.take(close)


def _braces(cursor: Cursor) -> Body:
    cursor.skip_lines()
    cursor.expect("{")
    return read_nested(cursor, "}")


def _parens(cursor: Cursor) -> Body:
    cursor.skip_lines()
    cursor.expect("(")
    return read_nested(cursor, ")")


def _statement(cursor: Cursor) -> Statement:
    cursor.step()
    cursor.match(_LABEL)
    found = cursor.look(_WORD)
    reader = _KEYWORDS.get(found.group().lower()) if found else None
    if found and reader:
        cursor.pos = found.end()
        cursor.skip_blanks()
        return reader(cursor)
    return _pipeline(cursor)


def _pipeline(cursor: Cursor) -> Statement:
    start = cursor.pos
    elements: list[Call | Shown] = []
    while True:
        element = _element(cursor)
        cursor.skip_blanks()
        if not elements and isinstance(element, Shown) and (found := cursor.match(_ASSIGN)):
            if not _assignable(element.value):
                raise Trouble(f"nothing that can be assigned to at {start}")
            cursor.skip_lines()
            with cursor.deeper():
                return Assign(element.value, found.group(), _statement(cursor))
        elements.append(element)
        if not _more(cursor):
            break
    _ends(cursor)
    return Pipeline(tuple(elements))


def _assignable(value: Expr) -> bool:
    if isinstance(value, Array):
        return all(_assignable(item) for item in value.items)
    return isinstance(value, (Variable, Postfix, Cast, Type, Unary))


_NEXT_LINE_PIPE = re.compile(r"\s*\r?\n\s*\|(?!\|)")


def _more(cursor: Cursor) -> bool:
    """True when a pipe leads to another element."""
    if cursor.at("||") or not (cursor.take("|") or cursor.match(_NEXT_LINE_PIPE)):
        return False
    cursor.skip_lines()
    return True


def _ends(cursor: Cursor) -> None:
    """A pipeline ends at a line end, a closing mark, `;`, `&`, `&&` or `||`."""
    if cursor.take("&&") or cursor.take("||"):
        cursor.skip_lines()
        if cursor.done():
            raise Trouble("a command is missing behind && or ||")
        return
    if cursor.at("&"):
        cursor.pos += 1
        return
    if not cursor.done() and cursor.peek() not in "\r\n;)}":
        raise Trouble(f"unexpected {cursor.peek(8)!r} at {cursor.pos}")


def _element(cursor: Cursor) -> Call | Shown:
    cursor.step()
    if cursor.match(_INVOKE):
        cursor.skip_blanks()
        if cursor.done() or cursor.peek() in "\r\n;|&)}":
            raise Trouble("a command is missing behind &")
        return _call(cursor, invoked=True)
    if cursor.look(_EXPRESSION) or cursor.look(NUMBER):
        value = read_expression(cursor)
        return Shown(value, _redirects(cursor))
    return _call(cursor, invoked=False)


def _redirects(cursor: Cursor) -> tuple[Redirect, ...]:
    found: list[Redirect] = []
    cursor.skip_blanks()
    while (one := _redirect(cursor)) is not False:
        if isinstance(one, Redirect):
            found.append(one)
        cursor.skip_blanks()
    return tuple(found)


def _redirect(cursor: Cursor) -> Redirect | bool:
    """A redirection to a file; True for one that is not to a file, False for none."""
    found = cursor.match(_REDIRECT)
    if not found:
        return False
    if "&" in found.group():
        return True
    cursor.skip_blanks()
    return Redirect(read_argument(cursor), ">>" in found.group())


def _call(cursor: Cursor, invoked: bool) -> Call:
    """A command: its name, its words, its redirections."""
    name: Expr
    if invoked and cursor.peek() in "$('\"{":
        name = read_postfix(cursor, read_primary(cursor))
        if cursor.peek() and not cursor.look(_FLAG_END):
            name = Text((name, *read_bare(cursor).parts), bare=True)
    else:
        name = read_bare(cursor)
    words: list[Flag | Expr] = []
    redirects: list[Redirect] = []
    while True:
        cursor.skip_blanks()
        if cursor.done() or cursor.peek() in "\r\n;|)}":
            break
        if cursor.at("&") and not cursor.look(_REDIRECT):
            break
        cursor.step()
        if verbatim := cursor.match(_VERBATIM):
            words += [Text((word,), bare=True) for word in ["--%", *verbatim.group(1).split()]]
        elif (redirect := _redirect(cursor)) is not False:
            redirects += [redirect] if isinstance(redirect, Redirect) else []
        else:
            words.append(_word(cursor))
    return Call(name, tuple(words), tuple(redirects), invoked)


def _word(cursor: Cursor) -> Flag | Expr:
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


def _if(cursor: Cursor) -> Statement:
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


def _while(cursor: Cursor) -> Statement:
    return Loop(_parens(cursor), _braces(cursor))


def _do(cursor: Cursor) -> Statement:
    body = _braces(cursor)
    cursor.skip_lines()
    if not cursor.match(re.compile(r"while|until", re.IGNORECASE)):
        raise Trouble("do without while")
    return Loop((), (*body, *_parens(cursor)))


def _for(cursor: Cursor) -> Statement:
    return Loop(_parens(cursor), _braces(cursor))


def _foreach(cursor: Cursor) -> Statement:
    cursor.match(re.compile(r"-parallel\s*", re.IGNORECASE))
    cursor.skip_lines()
    cursor.expect("(")
    with cursor.deeper():
        cursor.skip_lines()
        found = cursor.match(_NAME)
        cursor.skip_lines()
        if not found or not cursor.match(re.compile(r"in\b", re.IGNORECASE)):
            raise Trouble("foreach without in")
        cursor.skip_lines()
        items = _statement(cursor)
        cursor.skip_lines()
        cursor.expect(")")
    cursor.skip_lines()
    cursor.match(re.compile(r"-throttlelimit\s+\d+\s*", re.IGNORECASE))
    return Each(found.group(1).lower(), items, _braces(cursor))


def _switch(cursor: Cursor) -> Statement:
    while cursor.match(re.compile(r"-\w+\s*")):
        cursor.skip_blanks()
    heads: list[Statement] = list(_parens(cursor)) if cursor.at("(") else [shown(read_argument(cursor))]
    bodies: list[Body] = [()]
    cursor.skip_lines()
    cursor.expect("{")
    with cursor.deeper():
        while not _at_end(cursor, "}"):
            heads.append(shown(read_argument(cursor)))
            bodies.append(_braces(cursor))
    return Branch(tuple(heads), tuple(bodies))


def _try(cursor: Cursor) -> Statement:
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


def _trap(cursor: Cursor) -> Statement:
    cursor.match(re.compile(r"\[[\w.]+\]"))
    return Branch((), ((), _braces(cursor)))


def _function(cursor: Cursor) -> Statement:
    found = cursor.match(_FUNCTION_NAME)
    if not found:
        raise Trouble("a function without a name")
    cursor.skip_lines()
    params: tuple[Param, ...] = ()
    if cursor.at("("):
        params = read_param_list(cursor)
        cursor.skip_lines()
    block = read_block(cursor)
    return Function(found.group().lower().split(":")[-1], replace(block, params=params or block.params))


def _value(cursor: Cursor) -> Statement:
    """return, throw, exit: what stands behind, if anything."""
    if cursor.done() or cursor.peek() in "\r\n;}":
        return Pipeline(())
    with cursor.deeper():
        return _statement(cursor)


def _rest_of_line(cursor: Cursor) -> Statement:
    """break, continue, using: nothing that acts."""
    cursor.match(re.compile(r"[^\r\n;}]*"))
    return Pipeline(())


def _named_block(cursor: Cursor) -> Statement:
    """begin, process, end, clean and the blocks of workflows: their statements."""
    return Branch((), (_braces(cursor),))


def _declaration(cursor: Cursor) -> Statement:
    """class, enum, data: nothing runs here."""
    if not cursor.match(re.compile(r"[^{\r\n]*\s*\{")):
        raise Trouble("a declaration without a body")
    skip_braces(cursor)
    return Pipeline(())


_KEYWORDS: dict[str, Callable[[Cursor], Statement]] = {
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
