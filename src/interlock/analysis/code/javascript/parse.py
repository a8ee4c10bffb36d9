"""JavaScript or TypeScript source -> its syntax tree, types blanked out, in bounded time."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct, field

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


_TYPE_TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z))"
    r"|(?P<text>'(?:[^'\\\n]|\\.)*'?|\"(?:[^\"\\\n]|\\.)*\"?|`(?:[^`\\]|\\.)*`?)"
    r"|(?P<word>[A-Za-z_$#][\w$]*)|(?P<number>\d[\w.]*)"
    r"|(?P<mark>=>|\.\.\.|\?\.|\?\?|===?|!==?|[<>]=|&&|\|\||.)",
    re.S,
)
_OPEN, _CLOSE = frozenset("([{<"), frozenset(")]}>")
_DECLARE = frozenset({"const", "let", "var"})
_MODIFIERS = frozenset({"private", "public", "protected", "readonly", "declare", "abstract", "override"})
_JOINING = frozenset({"|", "&", "=>", ":", ".", "<", ",", "?", "[", "extends", "keyof", "typeof", "infer", "is"})


class _Tokens(Struct):
    source: str
    at: list[tuple[str, str, int, int]] = field(default_factory=list)  # kind, text, start, end
    gone: list[tuple[int, int]] = field(default_factory=list)

    def text(self, index: int) -> str:
        return self.at[index][1] if 0 <= index < len(self.at) else ""

    def kind(self, index: int) -> str:
        return self.at[index][0] if 0 <= index < len(self.at) else ""

    def erase(self, first: int, end: int) -> int:
        """Blank out the tokens from `first` up to `end`, and go on there."""
        if first < end:
            self.gone.append((self.at[first][2], self.at[min(end, len(self.at)) - 1][3]))
        return max(end, first + 1)

    def new_line(self, index: int) -> bool:
        return 0 < index < len(self.at) and "\n" in self.source[self.at[index - 1][3] : self.at[index][2]]


def erase_types(source: str) -> str:
    """The source with what only TypeScript knows replaced by spaces, as far as tokens alone tell it apart."""
    tokens = _Tokens(source)
    for match in _TYPE_TOKEN.finditer(source):
        if match.lastgroup != "skip":
            tokens.at.append((match.lastgroup or "", match[0], match.start(), match.end()))
    _walk(tokens)
    parts, last = [], 0
    for start, end in tokens.gone:
        if start >= last:
            parts += [source[last:start], "".join("\n" if char == "\n" else " " for char in source[start:end])]
            last = end
    return "".join([*parts, source[last:]])


def _walk(tokens: _Tokens) -> None:
    opened: list[tuple[str, int]] = [("", -1)]  # the brackets around, each with the token before it
    waiting = [0]  # the `?` of conditionals that wait for their `:`, one count a bracket
    class_next = False
    index = 0
    while index < len(tokens.at):
        text, kind = tokens.text(index), tokens.kind(index)
        bracket = opened[-1][0]
        end = _type_at(tokens, index, bracket, waiting[-1])
        if end > index:
            index = end
            continue
        class_next = class_next or (kind == "word" and text == "class")
        if kind == "mark" and text in "([{":
            opened.append(("class" if text == "{" and class_next else text, index - 1))
            class_next = class_next and text != "{"
            waiting.append(0)
        elif kind == "mark" and text in ")]}" and len(opened) > 1:
            _, before = opened.pop()
            waiting.pop()
            if text in "}]" and tokens.text(index + 1) == ":" and _starts_pattern(tokens, before, opened[-1][0]):
                index = tokens.erase(index + 1, _type_end(tokens, index + 2)) - 1
        elif text == "?" and tokens.text(index + 1) not in (":", ")", ","):
            waiting[-1] += 1
        elif text == ":" and waiting[-1]:
            waiting[-1] -= 1
        index += 1


def _starts_pattern(tokens: _Tokens, before: int, bracket: str) -> bool:
    return tokens.text(before) in _DECLARE or (bracket == "(" and tokens.text(before) in ("(", ","))


def _type_at(tokens: _Tokens, index: int, bracket: str, waiting: int) -> int:
    """Erase what is TypeScript's own at this token; the token to go on from, or the same when there is nothing."""
    text, kind, before, after = tokens.text(index), tokens.kind(index), tokens.text(index - 1), tokens.text(index + 1)
    if kind == "word" and (index == 0 or before in (";", "}", "{", "export") or tokens.new_line(index)):
        end = _declaration(tokens, index)
        if end > index:
            return tokens.erase(index, end)
    if kind == "word" and text in _MODIFIERS and tokens.kind(index + 1) == "word" and bracket in ("class", "("):
        return tokens.erase(index, index + 1)
    if kind == "word" and text in ("as", "satisfies") and _ends_value(tokens, index - 1) and bracket != "import":
        imported = bracket == "{" and tokens.kind(index + 1) == "word" and tokens.text(index + 2) in (",", "}")
        return index if imported or after == "from" else tokens.erase(index, _type_end(tokens, index + 1))
    if text == "!" and _ends_value(tokens, index - 1) and after in (".", ")", ",", ";", "]", "[", "(", "?."):
        return tokens.erase(index, index + 1)
    if text == "<" and tokens.kind(index - 1) == "word":
        end = _generic_end(tokens, index)
        return tokens.erase(index, end) if end > index and tokens.text(end) in ("(", "{") else index
    if text == ":" and not waiting:
        return _annotation(tokens, index, bracket)
    if text == "?" and after == ":" and tokens.kind(index - 1) == "word" and bracket in ("(", "class"):
        return tokens.erase(index, _type_end(tokens, index + 2))
    return index


def _annotation(tokens: _Tokens, index: int, bracket: str) -> int:
    named, before = tokens.kind(index - 1) == "word", tokens.text(index - 2)
    declared = named and before in _DECLARE
    parameter = named and bracket == "(" and before in ("(", ",", "...")
    attribute = named and bracket == "class"
    end = _type_end(tokens, index + 1)
    returned = tokens.text(index - 1) == ")" and tokens.text(end) in ("{", "=>")
    return tokens.erase(index, end) if declared or parameter or attribute or returned else index


def _declaration(tokens: _Tokens, index: int) -> int:
    """The end of a statement that only declares types."""
    text, after = tokens.text(index), tokens.text(index + 1)
    if text == "interface" and tokens.kind(index + 1) == "word":
        end = index + 2
        while end < len(tokens.at) and tokens.text(end) != "{":
            end += 1
        return _closed(tokens, end)
    if text == "type" and tokens.kind(index + 1) == "word" and tokens.text(index + 2) in ("=", "<"):
        end = index + 2 if tokens.text(index + 2) == "=" else _generic_end(tokens, index + 2)
        return _type_end(tokens, end + 1)
    if text == "import" and after == "type" and tokens.text(index + 2) not in ("from", ","):
        end = index
        while end < len(tokens.at) and tokens.kind(end) != "text":
            end += 1
        return end + 1
    return index


def _ends_value(tokens: _Tokens, index: int) -> bool:
    return tokens.kind(index) in ("word", "text", "number") or tokens.text(index) in (")", "]", "}")


def _closed(tokens: _Tokens, index: int) -> int:
    """The token after the bracket that closes the one at `index`."""
    depth = 0
    while index < len(tokens.at):
        mark = tokens.text(index) if tokens.kind(index) == "mark" else ""
        depth += (mark in _OPEN and mark != "<") - (mark in _CLOSE and mark != ">")
        index += 1
        if depth <= 0:
            break
    return index


def _generic_end(tokens: _Tokens, index: int) -> int:
    """The token after `<…>` when that can be a list of types, else the same token."""
    depth, at = 0, index
    while at < min(len(tokens.at), index + 60):
        mark = tokens.text(at)
        if tokens.kind(at) == "mark" and mark not in "<>,.[]{}|&:;?()" and mark != "=>":
            return index
        depth += (mark == "<") - (mark == ">")
        at += 1
        if depth == 0:
            return at
    return index


def _type_end(tokens: _Tokens, index: int) -> int:
    """The token after a type that starts at `index`."""
    start = index
    while index < len(tokens.at):
        text, joined = tokens.text(index), index == start or tokens.text(index - 1) in _JOINING
        if tokens.new_line(index) and not joined and text not in ("|", "&", "."):
            break
        if tokens.kind(index) != "mark":
            if not joined and text not in ("extends", "is", "keyof"):
                break
            index += 1
        elif text in ("(", "{", "["):
            if (text == "{" and not joined) or (text == "(" and not joined):
                break
            index = _closed(tokens, index)
            if text == "(" and tokens.text(index) == "=>":
                index += 1
        elif text == "<":
            end = _generic_end(tokens, index)
            if end == index:
                break
            index = end
        elif text in ("|", "&", ".") or (text == "-" and joined):
            index += 1
        else:
            break
    return index
