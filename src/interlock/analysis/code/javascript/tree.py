"""JavaScript or TypeScript source -> its syntax tree, types blanked out as far as tokens alone tell them apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct, field

from interlock.analysis.code.lexing import Unparsed
from interlock.analysis.code.syntax_tree import errors, parsed

if TYPE_CHECKING:
    from tree_sitter import Node


def tree(source: str) -> Node:
    """The tree of a source; without its types where that has fewer errors."""
    try:
        plain = parsed("javascript", source)
    except Unparsed as problem:
        if problem.trait != "syntax":
            raise
        return parsed("javascript", _erase_types(source))
    if not plain.has_error:
        return plain
    try:
        bare = parsed("javascript", _erase_types(source))
    except Unparsed:
        return plain
    return bare if _damage(bare) < _damage(plain) else plain


def _damage(root: Node) -> int:
    return sum(1 + node.end_byte - node.start_byte for node in errors(root))


_TOKENS = {
    "skip": r"\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)",
    "text": r"'(?:[^'\\\n]|\\.)*'?|\"(?:[^\"\\\n]|\\.)*\"?|`(?:[^`\\]|\\.)*`?",
    "word": r"[A-Za-z_$#][\w$]*",
    "number": r"\d[\w.]*",
    "mark": r"=>|\.\.\.|\?\.|\?\?|===?|!==?|[<>]=|&&|\|\||.",
}
_TYPE_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _TOKENS.items()), re.S)
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


def _erase_types(source: str) -> str:
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
