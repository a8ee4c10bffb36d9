"""R source -> its effects."""

from __future__ import annotations

import ast

from interlock.analysis.code import token_parser as tokens
from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.results import result
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, index
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.code.token_parser import TokenParser, by_tokens


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
