"""Groovy and R source -> its effects."""

from __future__ import annotations

import ast
import re
from itertools import takewhile

from interlock.analysis.code import token_parser as tokens
from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.lexing import CodeToken, Part, Splice, balanced
from interlock.analysis.code.library import words
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.results import index, result
from interlock.analysis.code.program.values import UNKNOWN, LibraryCall, Sym, Value
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.code.token_parser import TokenParser, by_tokens

# -- Groovy

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


# -- R


def _function(parser: TokenParser) -> ast.expr:
    given = tokens.params(parser)
    parser.names.update(given)
    return nodes.closure(given, nodes.returning(tokens.branch(parser)))


def _evaluated(walk: ProgramWalk, call: LibraryCall) -> Value:
    given = call.get(0)
    if isinstance(given, Sym) and given.path == "parsed":
        walk.world.execute(given.args[0])
    return Sym("?")


def _item(walk: ProgramWalk, owner: Value, key: Value) -> Value:
    """`[[1]]` is `[1]`, and a negative number leaves an item out."""
    place = key[0] if isinstance(key, list) and len(key) == 1 else key
    if not isinstance(owner, list) or not isinstance(place, int) or isinstance(place, bool) or place == 0:
        return UNKNOWN
    return index(owner, place - 1) if place > 0 else [*owner[: -place - 1], *owner[-place:]]


_CONSTANTS = {"TRUE": True, "T": True, "FALSE": False, "F": False, "NULL": None}
read_r = CodeLanguage(
    "R",
    "r",
    by_tokens("r", _function),
    {
        "paste": lambda walk, call: result("join_rest", [call.named.get("sep", " "), *call.args]),
        "paste0": lambda walk, call: result("join_rest", ["", *call.args]),
        **dict.fromkeys(["eval", "evalq"], _evaluated),
    },
    lambda name: _CONSTANTS.get(name, UNKNOWN),
    own_item=_item,
    first=1,
).read
