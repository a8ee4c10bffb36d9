"""Tells when a command only asks for help or a version: then the program prints, ends and does nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.analysis.programs import Program

DEFAULT_HELP = ("--help", "--version")
_RUNS = frozenset({"exec", "run"})  # from the next operand on, the words belong to another program
_WINDOWS_HELP = frozenset({"/?", "-?"})


def may_be_value(words: Sequence[str], at: int, valued: frozenset[str], switches: frozenset[str]) -> bool:
    """Whether the word at this place can be the value of an option before it: of any but a known switch."""
    before = words[at - 1] if at else ""
    if len(before) < 2 or before[0] != "-" or before == "--" or "=" in before:
        return False
    return before in valued or before not in switches


def asks_for_help(program: Program, words: Sequence[str], switches: frozenset[str], windows: bool = False) -> bool:
    """True when a help or version word stands where the program takes it for that, and for nothing else."""
    asked = program.help
    if not asked or not words:
        return False
    if windows and words[-1] in _WINDOWS_HELP:
        return len(words) < 2 or not words[-2].startswith(("/", "-"))
    if not any(word in words for word in asked):
        return False
    last = program.options_first  # whether the next operand ends what the program reads itself
    for at, word in enumerate(words):
        if word == "--":
            return False
        if word in asked:
            if word == "--version" and 0 < at < len(words) - 1:
                continue
            if word[0] not in "-/" and not _last_of_names(words, at):
                continue
            return not may_be_value(words, at, program.value_flags, switches)
        if word[:1] != "-" and not (at and words[at - 1] in program.value_flags):
            if last:
                return False
            last = word in _RUNS
    return False


def _last_of_names(words: Sequence[str], at: int) -> bool:
    """`aws s3 rm help`: the word is the last, behind nothing but names of subcommands."""
    return at == len(words) - 1 and all(word.replace("-", "").isalnum() and word[0] != "-" for word in words[:at])
