"""Program names by which a command is told from a sentence."""

from __future__ import annotations

from functools import cache

from interlock.analysis.programs.load import program_set


@cache
def programs() -> frozenset[str]:
    """The names that nobody writes in a sentence without meaning the program: all that a rule names, and some more."""
    from interlock.analysis.rules.load import load

    named = {name.lower() for name in load().by_program if not _PATTERN.intersection(name)}
    return (program_set("said") | named) - program_set("said_plain")


_PATTERN = frozenset("*[: ")
