"""What does migrating run of a migration? Its way up; the way down is run by commands that are asked about themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLACE = re.compile(r"/(?:migrations?|migrate|versions)/[^/]+\.(?:php|rb|py|js|mjs|cjs|ts)$")
# Where a way begins, in PHP, JavaScript, Python and Ruby, by its name.
_WAY = re.compile(
    r"^[ \t]*(?:(?:public|protected|private|static|async|export|const)\s+)*(?:function\s+|def\s+|exports\.|module\.exports\.)?"
    r"(up|down|change|upgrade|downgrade)\b\s*(?:\(|=|:|$)",
    re.MULTILINE,
)
_DOWN = frozenset({"down", "downgrade"})
_MIGRATES = re.compile(r"migrat|\bupgrade\b|\bdb:(?:setup|prepare|schema:load)\b")


def is_migration(path: str) -> bool:
    return _PLACE.search(path) is not None


def upward(text: str) -> str:
    """The text without the parts that only going down runs."""
    ways = list(_WAY.finditer(text))
    ends = [*(way.start() for way in ways[1:]), len(text)]
    for way, end in reversed(list(zip(ways, ends, strict=False))):
        if way[1] in _DOWN:
            text = text[: way.start()] + _closing(text[way.start() : end]) + text[end:]
    return text


def _closing(part: str) -> str:
    """The lines at its end that close what was opened before it: those with less space before them than its first."""
    own = len(part) - len(part.lstrip(" \t"))
    lines = [line for line in part.splitlines(keepends=True)[1:] if line.strip()]
    return "".join(line for line in lines if len(line) - len(line.lstrip(" \t")) < own)


def migrates(words: Sequence[str]) -> bool:
    """Whether a command runs migrations."""
    return _MIGRATES.search(" ".join(words)) is not None
