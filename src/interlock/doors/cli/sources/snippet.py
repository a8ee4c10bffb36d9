"""A piece of shell text that was found in a file, and the line of the file that each of its lines is from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_TEMPLATE = re.compile(
    r"\$\{\{[^\n]{0,300}?\}\}|\$\[\[[^\n]{0,300}?\]\]|<<[ ]?(?:parameters|pipeline|matrix)\.[^\n>]{0,100}>>"
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """Shell text out of a file."""

    text: str
    lines: tuple[int, ...]  # the file's line for each line of the text
    cwd: str = ""  # where it would run, when the file says so

    def line_at(self, offset: int) -> int:
        """The file's line for a place in the text."""
        return self.lines[min(self.text.count("\n", 0, offset), len(self.lines) - 1)]


def snippet(text: str, first: int, cwd: str = "") -> Snippet:
    """Text whose lines follow one another in the file, from line `first` on."""
    return Snippet(text, tuple(range(first, first + text.count("\n") + 1)), cwd)


def joined(parts: Sequence[Snippet]) -> Snippet:
    """Several pieces that run one after the other in the same shell."""
    return Snippet(
        "\n".join(part.text for part in parts), tuple(line for part in parts for line in part.lines), parts[0].cwd
    )


def in_language(language: str, piece: Snippet) -> Snippet:
    """Code in another language, as the shell command that would run it."""
    end = "INTERLOCK_END"
    return Snippet(
        f"{language} <<'{end}'\n{piece.text}\n{end}", (piece.lines[0], *piece.lines, piece.lines[-1]), piece.cwd
    )


def without_templates(text: str) -> str:
    """CI expressions such as `${{ github.ref }}` as a plain word of the same length: unknown, and no deed by itself."""
    return _TEMPLATE.sub(lambda found: "template".ljust(len(found[0]), "_")[: len(found[0])], text)
