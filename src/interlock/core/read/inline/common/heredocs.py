"""Where does a here-document end, and what does it say."""

from __future__ import annotations

import re
from collections.abc import Callable

from interlock.core.read.inline.common.lexing import Part, Scanner, Token, Unparsed, template


class Heredocs:
    """The here-documents that a line announces; their text begins on the next one."""

    def __init__(self, scanner: Scanner, splice: Callable[[str, int], tuple[Part, int] | None]) -> None:
        self.scanner = scanner
        self.splice = splice
        self.waiting: list[tuple[int, re.Match[str]]] = []

    def announce(self, found: re.Match[str]) -> None:
        """Leave a place for a text; the first group says that it is indented, the others hold its mark."""
        self.waiting.append((len(self.scanner.tokens), found))
        self.scanner.emit("text", "")

    def fill(self) -> None:
        """Take the texts that begin here; a mark in the group `plain` keeps code out, one in `ticks` makes a command."""
        scanner = self.scanner
        for index, found in self.waiting:
            quotes = found.groupdict()
            mark = next(group for group in found.groups()[1:] if group is not None)
            body, scanner.at = heredoc_body(scanner.source, scanner.at, mark, bool(found[1]))
            parts = (body,) if quotes["plain"] is not None else template(body, self.splice)
            scanner.tokens[index] = Token("text" if quotes.get("ticks") is None else "ticks", body, parts, True)
        self.waiting.clear()

    def finish(self) -> None:
        """Refuse a program that ends before its here-documents."""
        if self.waiting:
            raise Unparsed("no here-document")


def heredoc_body(source: str, at: int, mark: str, indented: bool) -> tuple[str, int]:
    """The lines from `at` up to the mark, and the offset after the mark."""
    lines: list[str] = []
    while at < len(source):
        end = source.find("\n", at)
        end = len(source) if end < 0 else end
        line = source[at:end]
        stripped = line.strip() if indented else line.rstrip("\r")
        if stripped.rstrip(";") == mark:
            return _dedent(lines) if indented else "".join(lines), at + len(line) - len(line.lstrip()) + len(mark)
        lines.append(line + "\n")
        at = end + 1
    raise Unparsed(f"no end of here-document {mark!r}")


def _dedent(lines: list[str]) -> str:
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return "".join(line[margin:] if line.strip() else line for line in lines)
