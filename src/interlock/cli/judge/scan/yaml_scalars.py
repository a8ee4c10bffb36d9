"""Reads the scalars of YAML text with their key paths and lines; only as much YAML as CI files use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from msgspec import Struct

Key = str | int
_NO_KEY = tuple("#[]{}&*!|>%@`")  # what no plain key starts with
_CLOSING = {"[": "]", "{": "}"}
_BLOCK = re.compile(r"([|>])([0-9+-]*)\s*(?:#.*)?$")
_TAG = re.compile(r"^(?:[!&][^\s]*\s+)+")
_COMMENT = re.compile(r"(?:^|\s)#.*$")


class Scalar(Struct, frozen=True):
    """One value, and where it stands: the keys from the top, list positions as numbers."""

    path: tuple[Key, ...]
    text: str
    lines: tuple[int, ...]


def scalars(text: str) -> Iterator[Scalar]:
    """All scalars of all documents, in order."""
    reader = _ScalarReader(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return reader.run()


class _ScalarReader:
    """Goes down the lines with a stack of (indentation, key), as indentation is all that block YAML nests by."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.stack: list[tuple[int, Key]] = []

    def run(self) -> Iterator[Scalar]:
        while self.at < len(self.lines):
            number, line = self.at, self.lines[self.at]
            self.at += 1
            bare = line.strip()
            if not bare or bare.startswith("#"):
                continue
            if bare in ("---", "...") or bare.startswith(("--- ", "%")):
                self.stack.clear()
                continue
            yield from self._line(number, line)

    def _line(self, number: int, line: str) -> Iterator[Scalar]:
        indent = len(line) - len(line.lstrip(" "))
        rest = line[indent:].rstrip()
        while rest == "-" or rest.startswith("- "):
            self._open(indent, self._next_item(indent))
            inner = rest[1:].lstrip(" ")
            indent += len(rest) - len(inner)
            rest = inner
        if not rest:
            return
        key, value = _split(rest)
        if key is not None:
            self._open(indent, key)
            if value:
                yield from self._value(number, value, indent)
        elif self.stack:
            yield from self._value(number, rest, self.stack[-1][0])

    def _next_item(self, indent: int) -> int:
        """The position of a list item: one past the last at this indentation."""
        for depth, key in reversed(self.stack):
            if depth == indent and isinstance(key, int):
                return key + 1
            if depth < indent:
                break
        return 0

    def _open(self, indent: int, key: Key) -> None:
        while self.stack and self.stack[-1][0] >= indent:
            # `key:` and the `- ` of its list may stand at the same indentation
            if self.stack[-1][0] == indent and isinstance(key, int) and isinstance(self.stack[-1][1], str):
                break
            self.stack.pop()
        self.stack.append((indent, key))

    def _path(self) -> tuple[Key, ...]:
        return tuple(key for _, key in self.stack)

    def _value(self, number: int, rest: str, indent: int) -> Iterator[Scalar]:
        rest = _TAG.sub("", rest)
        block = _BLOCK.match(rest)
        if block:
            yield self._block(indent, folded=block[1] == ">")
        elif rest[:1] in ("'", '"'):
            yield self._quoted(number, rest)
        elif rest.startswith(("[", "{")):
            yield from self._flow(number, rest)
        elif rest[:1] not in ("*", "#"):
            yield self._plain(number, rest, indent)

    def _block(self, indent: int, folded: bool) -> Scalar:
        """`|` keeps the lines; `>` joins them, but for empty ones and those indented further."""
        start = self.at
        while self.at < len(self.lines) and (
            not self.lines[self.at].strip() or len(self.lines[self.at]) - len(self.lines[self.at].lstrip(" ")) > indent
        ):
            self.at += 1
        body = self.lines[start : self.at]
        margin = min((len(line) - len(line.lstrip(" ")) for line in body if line.strip()), default=0)
        texts = [line[margin:] for line in body]
        while texts and not texts[-1].strip():
            texts.pop()
        numbers = tuple(range(start + 1, start + 1 + len(texts))) or (start + 1,)
        return self._folded(texts, numbers) if folded else Scalar(self._path(), "\n".join(texts), numbers)

    def _folded(self, texts: list[str], numbers: tuple[int, ...]) -> Scalar:
        out: list[str] = []
        kept: list[int] = []
        for text, number in zip(texts, numbers, strict=False):
            if out and text.strip() and not text.startswith(" ") and out[-1].strip():
                out[-1] += " " + text
            else:
                out.append(text)
                kept.append(number)
        return Scalar(self._path(), "\n".join(out), tuple(kept) or numbers[:1])

    def _plain(self, number: int, rest: str, indent: int) -> Scalar:
        """A plain value, with the more deeply indented lines that continue it."""
        parts = [_COMMENT.sub("", rest)]
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip() or len(line) - len(line.lstrip(" ")) <= indent or line.lstrip().startswith(("#", "- ")):
                break
            if _split(line.strip())[0] is not None:
                break
            parts.append(_COMMENT.sub("", line.strip()))
            self.at += 1
        return Scalar(self._path(), " ".join(parts).strip(), (number + 1,))

    def _quoted(self, number: int, rest: str) -> Scalar:
        """A quoted value; one that goes on over several lines is folded."""
        quote = rest[0]
        text = rest
        while not _closed(text, quote) and self.at < len(self.lines):
            text += " " + self.lines[self.at].strip()
            self.at += 1
        text = _unquoted(text, quote)
        return Scalar(self._path(), text, (number + 1,) * (text.count("\n") + 1))

    def _flow(self, number: int, rest: str) -> Iterator[Scalar]:
        """`[a, "b"]` and `{a: b}`, over several lines where it takes them; one level deep."""
        while rest.count(rest[0]) > rest.count(_CLOSING[rest[0]]) and self.at < len(self.lines):
            rest += " " + self.lines[self.at].strip()
            self.at += 1
        for position, item in enumerate(_items(rest)):
            name, value = _split(item) if rest[0] == "{" else (None, item)
            text = _unquoted(value, value[0]) if value[:1] in ("'", '"') else value
            key: Key = position if name is None else name
            yield Scalar((*self._path(), key), text, (number + 1,) * (text.count("\n") + 1))


def _split(text: str) -> tuple[str | None, str]:
    """`key: value` as its two halves; no key when there is none."""
    if text.startswith(_NO_KEY):
        return None, text
    if text[:1] in ("'", '"'):
        end = _end(text, text[0])
        rest = text[end + 1 :].lstrip()
        return (text[1:end], rest[1:].strip()) if end > 0 and (rest == ":" or rest.startswith(": ")) else (None, text)
    head, colon, value = text.partition(": ")
    if colon:
        return (None, text) if " #" in head else (head.rstrip(), value.strip())
    return (text[:-1].rstrip(), "") if text.endswith(":") else (None, text)


def _closed(text: str, quote: str) -> bool:
    return _end(text, quote) > 0


def _end(text: str, quote: str) -> int:
    """Where a quoted text ends; -1 when it does not."""
    at = 1
    while at < len(text):
        if quote == '"' and text[at] == "\\":
            at += 2
            continue
        if text[at] == quote:
            if quote == "'" and text[at + 1 : at + 2] == "'":
                at += 2
                continue
            return at
        at += 1
    return -1


def _unquoted(text: str, quote: str) -> str:
    end = _end(text, quote)
    inner = text[1:end] if end > 0 else text[1:]
    if quote == "'":
        return inner.replace("''", "'")
    try:
        return str(json.loads(f'"{inner}"', strict=False))
    except ValueError:
        return inner.replace('\\"', '"').replace("\\\\", "\\")


def _items(text: str) -> Iterator[str]:
    at, start = 1, 1
    while at < len(text):
        if text[at] in "'\"" and (not text[start:at].strip() or text[at - 2 : at] == ": "):
            end = _end(text[at:], text[at])
            at += end if end > 0 else len(text)
        elif text[at] in ",]}":
            if item := text[start:at].strip():
                yield item
            start = at + 1
            if text[at] == _CLOSING[text[0]]:
                return
        at += 1
