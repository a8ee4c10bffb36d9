"""Styled lines -> text for a terminal in colour, or plain for anything else."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import MappingProxyType
from typing import TextIO

from interlock.core.styled import Line, Part
from interlock.doors.cli.wrap import wrapped

_CODES = MappingProxyType(
    {
        "allow": "1;32",
        "ask": "1;33",
        "deny": "1;31",
        "heading": "1",
        "command": "36",
        "dim": "2",
        "mark": "31",
        "level0": "32",
        "level1": "32",
        "level2": "33",
        "level3": "31",
        "level4": "1;31",
    }
)


def wants_colour(out: TextIO) -> bool:
    """Colour on a terminal that has it, unless the user said NO_COLOR."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(lines: Iterable[Line], out: TextIO) -> None:
    """Writes the lines: in colour and broken between words on a terminal, as they are anywhere else."""
    if out.isatty():
        lines = wrapped(lines, _columns(out))
    out.write(painted(lines, wants_colour(out)))
    out.flush()


def _columns(out: TextIO) -> int:
    """How wide it is; 0 where nobody knows."""
    try:
        return int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(out.fileno()).columns
    except (ValueError, OSError):
        return 0


def painted(lines: Iterable[Line], colour: bool) -> str:
    """The lines as one text."""
    return "".join("".join(_part(part, colour) for part in line).rstrip() + "\n" for line in lines)


def _part(part: Part, colour: bool) -> str:
    code = _CODES.get(part.style) if colour else None
    return f"\x1b[{code}m{part.text}\x1b[0m" if code and part.text.strip() else part.text
