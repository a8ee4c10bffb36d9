"""JavaScript source -> its tree, in bounded time whatever the source is."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from interlock.core.read.inline.javascript.types import erase_types

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

LARGEST = 65_536
DEEPEST = 300
_PIECE = 1_536  # how much more is parsed at a time, to see whether it goes well
_ERRORS = 300  # more tokens in errors than this is no program, and each costs the parser more than the last
_UNSURE = 100
_TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|'(?:[^'\\\n]|\\.)*'?|\"(?:[^\"\\\n]|\\.)*\"?|`(?:[^`\\]|\\.)*`?|[\w$]+|.",
    re.S,
)
_REGEX = re.compile(r"/(?![/*])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.){0,200}\]){1,300}/[a-z]{0,8}")
_BEFORE_REGEX = frozenset("(,=:[!&|?{};+")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_AMBIGUOUS = re.compile(r"\b(?:await|yield|async|let|of|static|get|set|new)\b")
_STATEMENT_END = re.compile(r"[;\n{}]")


def too_much(source: str) -> bool:
    """Whether the source is larger or nests deeper than what is read."""
    return len(source.encode("utf-8", "replace")) > LARGEST or _nesting(source) > DEEPEST


def _nesting(source: str) -> int:
    depth = deepest = 0
    for char in source:
        if char in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in ")]}" and depth:
            depth -= 1
    return deepest


def parsed(source: str) -> tuple[Tree | None, bool]:
    """The tree, and whether it is that of the whole source or only of a beginning that could be parsed.

    Where plain JavaScript does not parse, it is the tree without types if that has fewer errors.
    """
    if _costly(source):
        return None, False
    tree, whole = _piecewise(source)
    if whole and tree is not None and not tree.root_node.has_error:
        return tree, True
    bare, bare_whole = _piecewise(erase_types(source))
    if tree is None or bare is None or whole != bare_whole:
        return (bare, bare_whole) if tree is None or (bare_whole and bare is not None) else (tree, whole)
    return (bare if damage(bare.root_node) < damage(tree.root_node) else tree), whole


def _costly(source: str) -> bool:
    """Whether the source holds what takes a parser quadratic time without being an error."""
    unclosed = source.count("/*", source.rfind("*/") + 1)
    return unclosed > 10 or any(
        len(_AMBIGUOUS.findall(statement)) > _UNSURE for statement in _STATEMENT_END.split(source)
    )


def _piecewise(source: str) -> tuple[Tree | None, bool]:
    """Parse longer and longer beginnings, until one has too many errors or all is parsed."""
    last: Tree | None = None
    for end, closing in [*_cuts(source), (len(source), "")]:
        tree = _parser().parse((source[:end] + closing).encode("utf-8", "replace"))
        if _weight(tree.root_node) > _ERRORS:
            return last, False
        last = tree
    return last, True


def _cuts(source: str) -> list[tuple[int, str]]:
    """Where beginnings end, each with the brackets that would close it; after a separator, if there is one near."""
    cuts: list[tuple[int, str]] = []
    opened: list[str] = []
    at, before = 0, ""
    while at < len(source):
        match = (_REGEX.match(source, at) if before in _BEFORE_REGEX else None) or _TOKEN.match(source, at)
        text = match[0] if match else source[at]
        at += len(text)
        if text.isspace() or text.startswith(("//", "/*")):
            continue
        before = text[-1]
        if text in _CLOSERS:
            opened.append(_CLOSERS[text])
        elif opened and text == opened[-1]:
            opened.pop()
        past = at - (cuts[-1][0] if cuts else 0)
        if past > _PIECE + 256 or (past > _PIECE and text in (";", ",", "{", "}")):
            cuts.append((at, "".join(reversed(opened))))
    return cuts


@cache
def _parser() -> Parser:
    import tree_sitter_javascript
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_javascript.language()))


def errors(root: Node) -> list[Node]:
    """The nodes that stand for text that did not parse, or for what was missing."""
    found: list[Node] = []
    stack = [root] if root.has_error else []
    while stack:
        node = stack.pop()
        if node.type == "ERROR" or node.is_missing:
            found.append(node)
        stack += [child for child in node.children if child.has_error or child.is_missing]
    return found


def _weight(root: Node) -> int:
    return sum(1 + node.child_count for node in errors(root))


def damage(root: Node) -> int:
    """How much of the text did not parse."""
    return sum(1 + node.end_byte - node.start_byte for node in errors(root))
