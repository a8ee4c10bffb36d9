"""R source -> its effects."""

from __future__ import annotations

import ast
import re

from interlock.analysis.code import token_parser as tokens
from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.lexing import CodeToken, Scanner, scan, template
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.results import result
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, index
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.code.token_parser import TokenDialect, TokenParser, parse_tokens

_OPERATORS_BY_RANK = {
    "<-": 1, "<<-": 1, "=": 1, "->": 1, "~": 2, "||": 3, "|": 3, "&&": 4, "&": 4, "==": 5, "!=": 5, "<": 5, ">": 5,
    "<=": 5, ">=": 5, "+": 6, "-": 6, "*": 7, "/": 7, "%op%": 8, "|>": 8, ":": 9, "^": 10,
}  # fmt: skip
_NAME = re.compile(r"(?:[A-Za-z][\w.]*:::?)?(?:[A-Za-z]|\.(?!\d))[\w.]*|`[^`\n]+`")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+L?|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?L?|\.\d+")
_RAW = re.compile(r"[rR](['\"])(-*)([(\[{])")
_INFIX = re.compile(r"%[^%\n]*%")
_OPERATORS = tuple(("<<- |> <- -> || && == != <= >= ::: ::").split())


def _scan(source: str) -> list[CodeToken]:
    """The tokens of an R program; a name before `=` inside a call is the argument's."""
    open_brackets: list[str] = []

    def one(scanner: Scanner) -> None:
        _one(scanner)
        _track(scanner, open_brackets)

    return scan(source, one, lambda scanner: not open_brackets or open_brackets[-1] == "{", "#")


def _track(scanner: Scanner, open_brackets: list[str]) -> None:
    token = scanner.last
    if token.kind != "op":
        return
    if token.text in ("(", "[", "{"):
        open_brackets.append(token.text)
    elif token.text in (")", "]", "}") and open_brackets:
        open_brackets.pop()
    elif token.text == "=" and open_brackets[-1:] == ["("] and len(scanner.tokens) > 1:
        before = scanner.tokens[-2]
        if before.kind in ("name", "text"):
            scanner.tokens[-2:] = [CodeToken("text", before.text), CodeToken("op", "=>")]


def _one(scanner: Scanner) -> None:
    char = scanner.peek()
    if found := scanner.take(_RAW):
        closer = {"(": ")", "[": "]", "{": "}"}[found[3]] + found[2] + found[1]
        scanner.emit("text", "r", (scanner.up_to(closer),))
    elif char in "'\"":
        scanner.emit("text", char, template(scanner.delimited()) or ("",))
    elif found := scanner.take(_NUMBER):
        scanner.emit("number", found.group().rstrip("L"))
    elif found := scanner.take(_NAME):
        scanner.emit("name", found.group().rpartition(":")[2].strip("`"))
    elif found := scanner.take(_INFIX):
        scanner.emit("op", "|>" if found.group() == "%>%" else "%op%")
    else:
        scanner.operator(_OPERATORS)


def _function(parser: TokenParser) -> ast.expr:
    given = tokens.params(parser, "name", "text")
    parser.names.update(given)
    return nodes.closure(given, nodes.returning(tokens.branch(parser)))


_DIALECT = TokenDialect(
    "r",
    _scan,
    _OPERATORS_BY_RANK,
    frozenset({"$", "@"}),
    frozenset(),
    {
        **dict.fromkeys(["function", "\\"], _function),
        "for": tokens.for_loop,
        "if": tokens.if_else,
        **dict.fromkeys(["while", "repeat"], tokens.while_loop),
    },
    fields=True,
    callee=nodes.name,
)


# -- calls that no table describes


def _evaluated(walk: ProgramWalk, call: LibraryCall) -> Value:
    given = call.get(0)
    if isinstance(given, Sym) and given.path == "parsed":
        walk.world.execute(given.args[0])
    return Sym("?")


def _item(walk: ProgramWalk, owner: Value, key: Value) -> Value:
    """R counts from one, and a negative number leaves an item out."""
    place = key[0] if isinstance(key, list) and len(key) == 1 else key
    if not isinstance(owner, list) or not isinstance(place, int) or isinstance(place, bool) or place == 0:
        return UNKNOWN
    return index(owner, place - 1) if place > 0 else [*owner[: -place - 1], *owner[-place:]]


_CONSTANTS = {"TRUE": True, "T": True, "FALSE": False, "F": False, "NULL": None}
read_r = CodeLanguage(
    "R",
    "r",
    lambda source: parse_tokens(_DIALECT, source),
    {
        "paste": lambda walk, call: result("join_rest", [call.named.get("sep", " "), *call.args]),
        "paste0": lambda walk, call: result("join_rest", ["", *call.args]),
        **dict.fromkeys(["eval", "evalq"], _evaluated),
    },
    lambda name: _CONSTANTS.get(name, UNKNOWN),
    own_item=_item,
).read
