"""Parses JSON with comments into a tree of values with their positions; refuses broken text and duplicate keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from interlock.strict_json import UnclearJson, no_constant

MAX_DEPTH = 200
BLANKS = " \t\r\n"
COMMENTS = re.compile(rf"(?:[{BLANKS}]*(?://.*?(?=\r?\n|\Z)|/\*(?s:.*?)\*/))*")
GAP = re.compile(rf"{COMMENTS.pattern}[{BLANKS}]*")
_BLANK = re.compile(rf"[{BLANKS}]*")
_SCALARS = json.JSONDecoder(parse_constant=no_constant)


class EditError(ValueError):
    """A file that cannot be edited safely; begins with line and column where they are known."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(f"line {line}, column {column}: {message}" if line else message)
        self.line, self.column = line, column


def error_at(text: str, at: int, message: str) -> EditError:
    before = text[:at]
    return EditError(message, before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1)


def end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    return found.end() if (found := pattern.match(text, at)) else at


class Node(Struct):
    """Each child comes with its offset (of the key, in an object)."""

    start: int
    end: int
    value: Any
    children: list[tuple[str | int, int, Node]] = []

    def child(self, key: str | int) -> Node | None:
        return next((node for name, _, node in self.children if name == key), None)


class Document(Struct):
    text: str
    root: Node


def parse_jsonc(text: str, comments: bool = True) -> Document:
    """Refuses broken text, duplicate keys, all but an object, and comments where the agent does not allow them."""
    root = _JsoncReader(text, comments).document()
    if not isinstance(root.value, dict):
        raise error_at(text, root.start, "expected an object at the top")
    return Document(text, root)


class _JsoncReader:
    def __init__(self, text: str, comments: bool) -> None:
        self.text, self.comments = text, comments

    def document(self) -> Node:
        root = self._value(self._blank(1 if self.text.startswith("\ufeff") else 0), 0)
        at = self._blank(root.end)
        if at < len(self.text):
            raise error_at(self.text, at, f"expected the end of the file, got {self.text[at]!r}")
        return root

    def _blank(self, at: int) -> int:
        at = end_of(_BLANK, self.text, at)
        if not self.text.startswith(("//", "/*"), at):
            return at
        if not self.comments:
            raise error_at(self.text, at, "a comment, which the agent cannot read here; take it out first")
        at = end_of(GAP, self.text, at)
        if self.text.startswith("/*", at):
            raise error_at(self.text, at, "a comment that does not end")
        return at

    def _value(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise error_at(self.text, at, f"nested deeper than {MAX_DEPTH}")
        char = self.text[at : at + 1]
        if char == "{":
            return self._object(at, depth)
        if char == "[":
            return self._list(at, depth)
        return self._scalar(at)

    def _scalar(self, at: int) -> Node:
        words = f"expected a value, got {repr(self.text[at]) if at < len(self.text) else 'the end'}"
        try:
            value, end = _SCALARS.raw_decode(self.text, at)
            return Node(at, end, value)
        except json.JSONDecodeError as error:
            if "escape" in error.msg:
                words = "text with an escape that JSON does not have"
            elif self.text.startswith('"', at):
                words = "text that does not end on its line"
        except UnclearJson:
            pass
        except ValueError:
            words = "a number that is too long"
        raise error_at(self.text, at, words)

    def _object(self, start: int, depth: int) -> Node:
        node = Node(start, start, {})
        for at in self._members(node, "}"):
            if self.text[at : at + 1] != '"':
                raise error_at(self.text, at, f"expected a key, got {self.text[at : at + 1]!r}")
            key = self._scalar(at)
            if key.value in node.value:
                raise error_at(self.text, at, f"key {key.value!r} occurs twice")
            colon = self._blank(key.end)
            if self.text[colon : colon + 1] != ":":
                raise error_at(self.text, colon, f"expected ':' behind {key.value!r}")
            value = self._value(self._blank(colon + 1), depth + 1)
            node.value[key.value] = value.value
            node.children.append((key.value, at, value))
        return node

    def _list(self, start: int, depth: int) -> Node:
        node = Node(start, start, [])
        for at in self._members(node, "]"):
            value = self._value(at, depth + 1)
            node.value.append(value.value)
            node.children.append((len(node.children), at, value))
        return node

    def _members(self, node: Node, closer: str) -> Iterator[int]:
        at = self._blank(node.start + 1)
        while self.text[at : at + 1] != closer:
            yield at
            at = self._blank(node.children[-1][2].end)
            if self.text[at : at + 1] == ",":
                comma, at = at, self._blank(at + 1)
                if self.text[at : at + 1] == closer and not self.comments:
                    raise error_at(self.text, comma, "a comma behind the last member, which the agent cannot read here")
            elif self.text[at : at + 1] != closer:
                got = self.text[at : at + 1] or "the end"
                raise error_at(self.text, at, f"expected ',' or {closer!r}, got {got!r}")
        node.end = at + 1
