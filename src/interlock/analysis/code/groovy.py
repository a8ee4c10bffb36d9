"""Groovy source -> its effects."""

from __future__ import annotations

import ast
import re
from itertools import takewhile

from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.lexing import CodeToken, Part, Splice, balanced
from interlock.analysis.code.library import words
from interlock.analysis.code.program import nodes
from interlock.analysis.code.token_parser import TokenParser, by_tokens

_IN_PARAMS = frozenset(",.<>=?")
_INNER = re.compile(r"\$([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")


def _splice(raw: str, at: int) -> tuple[Part, int] | None:
    """The code that begins inside a double-quoted text."""
    if raw.startswith("${", at):
        end = balanced(raw, at + 1)
        return Splice(raw[at + 2 : end - 1]), end
    found = _INNER.match(raw, at)
    return (Splice(found[1]), found.end()) if found else None


def _block(parser: TokenParser) -> ast.expr:
    """A closure, with the names before its arrow."""
    closer, start = parser.mates[parser.at], parser.at + 1
    first = parser.tokens[start : min(closer, start + 8)]
    head = list(
        takewhile(lambda token: token.kind == "name" or (token.kind == "op" and token.text in _IN_PARAMS), first)
    )
    behind = parser.tokens[start + len(head)]
    named = ["it"]
    if behind.kind == "op" and behind.text == "->":
        named = [token.text for token in head if token.kind == "name"][-1:]
        start += len(head) + 1
    parser.names.update(named)
    with parser.within(start, closer, closer + 1):
        return nodes.closure(named, nodes.returning(parser.sequence()))


def _new(parser: TokenParser) -> ast.expr:
    name = ""
    while parser.token.kind == "name" or parser.is_op("."):
        name = parser.token.text
        parser.at += 1
    if parser.is_op("["):
        parser.at = parser.mates[parser.at] + 1
        return ast.List(parser.arguments()[0]) if parser.is_op("{") else nodes.NOTHING
    given = parser.arguments() if parser.is_op("(") else ([], [])
    return nodes.call(f"{name}.new", *given)


def _bare(parser: TokenParser, token: CodeToken) -> int:
    named = parser.token.kind == "name"
    printed = named and (token.text in ("println", "print") or parser.ahead(1).text == ":")
    if parser.token.spaced and (printed or parser.token.kind in ("text", "number")):
        return 2
    return 0 if parser.is_op("{") and (token.parts or token.text in words("groovy")["steps"]) else -1


read_groovy = CodeLanguage("Groovy", "groovy", by_tokens("groovy", _new, splice=_splice, bare=_bare, block=_block)).read
