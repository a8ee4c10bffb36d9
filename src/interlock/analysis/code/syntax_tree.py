"""Source -> the tree of its tree-sitter grammar, in bounded time."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from interlock.analysis.code.lexing import CLOSERS, TooDeep, Unparsed

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LARGEST = 100_000
DEEPEST = 200  # brackets inside each other
_FIRST = 1_024  # parsed first, then twice as much, to see whether it goes well
_ERRORS = 200  # more tokens in errors than this is no program, and each costs the parser more than the last
_LONG = 4_096  # characters of one statement
_UNCLOSED = 10  # comments that begin and never end: a parser looks for the end of each
_STATEMENT_END = re.compile(r"[;\n{}]")
_SEPARATOR = re.compile(r"[;,\n{}]")
_BRACKET = re.compile(r"[()\[\]{}]")
_OPERATOR = re.compile(r"[+*/|&<>=!?^~%-]")
_SLOW = {"julia": re.compile(r"[+*/|&<>=!?^~%-]|\w[ \t]+(?=\w)")}  # words side by side take it ever longer, too
_CLAUSE = {"elixir": "->"}  # in a block, one costs the parser more the longer the text before it is
_CLAUSES = 20_000_000  # of these times the length of the text take it a second
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_MODULES = {"csharp": "c_sharp", "php_only": "php"}


@cache
def _parser(key: str) -> Parser:
    from tree_sitter import Language, Parser

    module = import_module(f"tree_sitter_{_MODULES.get(key, key)}")
    language = getattr(module, "language", None) or getattr(module, f"language_{key}")
    with warnings.catch_warnings():  # some grammars still hand over a bare address
        warnings.simplefilter("ignore")
        return Parser(Language(language()))


def parsed(key: str, source: str) -> Node:
    """Raises Unparsed where it would be no program, or would take long."""
    if len(source) > LARGEST or len(source.encode("utf-8", "replace")) > LARGEST:
        raise Unparsed("of more than is read", "budget")
    cuts = _cuts(source)
    deepest, opened = _brackets(source, sorted({place for cut in cuts for place in cut}))
    if deepest > DEEPEST:
        raise TooDeep
    signs = _SLOW.get(key, _OPERATOR)
    for statement in _STATEMENT_END.split(source) if len(source) > _LONG else ():
        # More operators than any has: a parser that recovers from an error in it takes seconds.
        if len(statement) > _LONG and len(signs.findall(_QUOTED.sub("", statement))) > _LONG // 2:
            raise Unparsed("with statements without an end", "budget")
    if key in _CLAUSE and source.count(_CLAUSE[key]) * len(source) > _CLAUSES:
        raise Unparsed("with more clauses than are read", "budget")
    if source.count("/*", source.rfind("*/") + 1) > _UNCLOSED < _QUOTED.sub("", source).count("/*"):
        raise Unparsed
    parser = _parser(key)
    for start, end in cuts:
        _probe(parser, source[start:end], opened[start], opened[end])
    root = _tree(parser, source)
    if _weight(root) > _ERRORS:
        raise Unparsed
    return root


def _tree(parser: Parser, source: str) -> Node:
    return parser.parse(f"{source}\n".encode("utf-8", "replace")).root_node


def _cuts(source: str) -> list[tuple[int, int]]:
    """The pieces that are parsed first: one here and there, then longer and longer beginnings."""

    def near(place: int) -> int:
        found = _SEPARATOR.search(source, place, place + 256)
        return found.end() if found else min(place, len(source))

    size = len(source)
    pieces = [(near(at), near(at + _FIRST)) for at in range(0, size if size > 2 * _FIRST else 0, 2 * _FIRST)]
    beginnings = [(0, near(_FIRST << power)) for power in range(12) if _FIRST << power < size]
    return [(start, end) for start, end in (*pieces, *beginnings) if start < end < size]


def _brackets(source: str, places: list[int]) -> tuple[int, Mapping[int, str]]:
    stack, deepest, opened = list[str](), 0, dict[int, str]()
    found = [(bracket.start(), bracket[0]) for bracket in _BRACKET.finditer(source)]
    for place, bracket in sorted([*found, *((place, "") for place in places)]) if places else found:
        if not bracket:
            opened[place] = "".join(stack)
        elif bracket in CLOSERS:
            stack.append(bracket)
            deepest = max(deepest, len(stack))
        elif stack:
            stack.pop()
    return deepest, opened


def _probe(parser: Parser, piece: str, before: str, after: str) -> None:
    """By itself or inside the brackets around it; raises Unparsed where both are mostly errors."""
    closing = "".join(CLOSERS[bracket] for bracket in reversed(after))
    inner = closing[: max(0, len(after) - len(before))]
    for text in dict.fromkeys((piece + inner, before + piece + closing)):
        if _weight(_tree(parser, text)) <= _ERRORS:
            return
    raise Unparsed


def errors(root: Node) -> list[Node]:
    damaged = _below(root, lambda node: node.has_error or node.is_missing)
    return [node for node in damaged if node.type == "ERROR" or node.is_missing]


def here_documents(root: Node) -> list[Node]:
    return [node for node in _below(root) if any(child.type == "heredoc_end" for child in node.children)]


def _below(root: Node, enters: Callable[[Node], bool] = lambda node: True) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        if enters(node):
            yield node
            stack += reversed(node.children)


def _weight(root: Node) -> int:
    return sum(1 + node.child_count for node in errors(root))
