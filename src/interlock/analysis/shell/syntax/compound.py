"""Parses compound commands: if, for, while, case, groups, functions, coproc, `[[ ]]` and `(( ))`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from interlock.analysis.shell.syntax.cursor import ShellCursor, arithmetic_end
from interlock.analysis.shell.syntax.nodes import (
    Background,
    Branches,
    Expression,
    Node,
    ShellFunction,
    ShellGroup,
    ShellLoop,
    ShellText,
    ShellVariable,
    ShellWord,
    SimpleCommand,
)
from interlock.analysis.shell.syntax.words import expansions, word

_IN = re.compile(r"in(?=[\s;])")
_ESAC = re.compile(r"esac(?=[\s;&|()<>]|$)")
_TIGHT = re.compile(r"\{(?![\s;&|()<>])")  # `f(){f|f&}`: zsh reads it so, and bash refuses the whole text
_NAMED_COPROC = re.compile(r"[A-Za-z_]\w*[ \t]+(?=[{(])")


def _if(cursor: ShellCursor) -> Node:
    head: list[Node] = []
    bodies: list[list[Node]] = []
    tests: list[int] = []
    closing = "elif"
    while closing == "elif":
        head += cursor.body("then")[0]
        tests.append(len(head) - 1)
        body, closing = cursor.body("elif", "else", "fi")
        bodies.append(body)
    if closing == "else":
        bodies.append(cursor.body("fi")[0])
    return Branches(head, bodies, tests=tests)


def _while(cursor: ShellCursor, until: bool = False) -> Node:
    head, _ = cursor.body("do")
    return ShellLoop(cursor.body("done")[0], head, until=until)


def _for(cursor: ShellCursor) -> Node:
    cursor.blank()
    if cursor.at("(("):
        arithmetic = arithmetic_command(cursor)
        return ShellLoop(_do_body(cursor), [arithmetic] if arithmetic else [])
    name = word(cursor).literal or ""
    cursor.lines()
    items = _items(cursor) if cursor.match(_IN) else [ShellWord([ShellVariable("@", True)])]
    return ShellLoop(_do_body(cursor), name=name, items=items)


def _items(cursor: ShellCursor) -> list[ShellWord]:
    items: list[ShellWord] = []
    while True:
        cursor.blank()
        char = cursor.peek()
        if char in ";\n&|)":
            return items
        if char in "<>(" and not cursor.at("<("):
            cursor.refuse("unexpected '('" if char == "(" else "unexpected redirection")
        items.append(word(cursor))


def _do_body(cursor: ShellCursor) -> list[Node]:
    cursor.separators()
    if cursor.take("{"):
        return cursor.body("}")[0]
    cursor.expect("do")
    return cursor.body("done")[0]


def _case(cursor: ShellCursor) -> Node:
    cursor.blank()
    subject = word(cursor)
    cursor.lines()
    cursor.expect("in")
    bodies: list[list[Node]] = []
    words = [subject]
    while True:
        cursor.separators()
        if cursor.match(_ESAC):
            return Branches([], bodies, words)
        words += _patterns(cursor)
        bodies.append(cursor.grammar.nodes(cursor, ")"))
        cursor.separators()
        if not any(map(cursor.take, (";;&", ";;", ";&"))) and not cursor.at("esac"):
            cursor.refuse("expected ;; or esac")


def _patterns(cursor: ShellCursor) -> list[ShellWord]:
    """What they expand runs too."""
    found: list[ShellWord] = []
    cursor.blank()
    cursor.take("(")
    while True:
        cursor.blank()
        if not cursor.peek():
            cursor.refuse("a case pattern is not closed")
        if cursor.take(")"):
            return found
        if cursor.take("|"):
            continue
        before = cursor.pos
        found.append(word(cursor))
        if cursor.pos == before:
            cursor.refuse("a case pattern cannot be read")


def _group(cursor: ShellCursor) -> Node:
    return ShellGroup(cursor.body("}")[0], subshell=False)


def _function(cursor: ShellCursor) -> Node:
    start = cursor.pos
    cursor.blank()
    name = word(cursor).literal or ""
    cursor.blank()
    if cursor.take("("):
        cursor.expect(")")
    return function_body(cursor, name, start)


def function_body(cursor: ShellCursor, name: str, start: int) -> Node:
    cursor.deeper()
    cursor.lines()
    body = _group(cursor) if cursor.match(_TIGHT) else cursor.grammar.command(cursor)
    cursor.depth -= 1
    if isinstance(body, SimpleCommand) and cursor.dialect != "zsh":
        cursor.refuse("a function's body is a compound command")
    return ShellFunction(name, body, (start + cursor.base, cursor.pos + cursor.base))


def _coproc(cursor: ShellCursor) -> Node:
    cursor.blank()
    named = cursor.match(_NAMED_COPROC)
    return Background(cursor.grammar.command(cursor), named[0].rstrip() if named else "COPROC")


def _test(cursor: ShellCursor) -> Node:
    words: list[ShellWord] = []
    while True:
        cursor.lines()
        if not cursor.peek():
            cursor.refuse("[[ is not closed")
        if cursor.take("]]"):
            return Expression(words)
        operator = cursor.text[cursor.pos : cursor.pos + 2]
        if operator not in ("&&", "||"):
            operator = operator[:1]
        if operator[0] in "|&;<>()":
            if operator[0] not in ";<>":
                words.append(ShellWord([ShellText(operator, False)]))
            cursor.pos += len(operator)
            continue
        words.append(word(cursor))


def arithmetic_command(cursor: ShellCursor) -> Node | None:
    """`(( … ))`; None when it turns out to be a subshell in a subshell."""
    start = cursor.pos + 2
    end = arithmetic_end(cursor, start)
    if end < 0:
        return None
    inner = cursor.inner(cursor.text[start:end], start)
    cursor.pos = end + 2
    return Expression([ShellWord(expansions(inner))], arithmetic=True)


COMPOUNDS: dict[str, Callable[[ShellCursor], Node]] = {
    "if": _if,
    "while": _while,
    "until": partial(_while, until=True),
    "for": _for,
    "select": _for,
    "case": _case,
    "{": _group,
    "function": _function,
    "coproc": _coproc,
    "[[": _test,
}
