"""The pages of the docs: their text, fenced blocks and tables."""

from __future__ import annotations

import re

from repository import ROOT

DOCS = ROOT / "docs"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")


def text(name: str) -> str:
    """A page by its name, whichever shelf it is on."""
    [path] = DOCS.rglob(name)
    return path.read_text(encoding="utf-8")


def fenced(page: str, *languages: str) -> list[str]:
    return [body for language, body in _FENCE.findall(page) if language in languages]


def prose(page: str) -> str:
    return _FENCE.sub("", page)


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the table whose first heading this is."""
    lines = iter(prose(page).splitlines())
    for line in lines:
        if line.startswith(f"| {heading} |"):
            next(lines)
            found = []
            for row in lines:
                if not row.startswith("|"):
                    return found
                found.append([cell.strip() for cell in row.strip("|").split(" | ")])
            return found
    raise AssertionError(f"no table {heading!r}")


def documented(name: str, heading: str) -> set[str]:
    """The names in the first column of a table."""
    return {key for row in rows(text(name), heading) for key in INLINE.findall(row[0])}
