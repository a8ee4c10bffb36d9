"""The language that a program runs, by its description: of a shell, an interpreter, a client of a database."""

from __future__ import annotations

import re

from interlock.analysis.programs import Program
from interlock.analysis.programs.load import shipped_programs

_VERSIONED = re.compile(r"([a-z]+)-?\d[\d.]*[a-z]*")
_WINDOWS = frozenset({"cmd", "powershell"})  # shells whose readers have the name of their language
SHELL = "shell"


def described_program(name: str) -> Program | None:
    """The description of a program; python3.11 and perl5.36 are interpreters with a version in their name."""
    programs = shipped_programs()
    if (found := programs.get(name)) is not None:
        return found
    versioned = _VERSIONED.fullmatch(name) if name[-1:].isdigit() or "." in name else None
    found = programs.get(versioned[1]) if versioned else None
    return found if found is not None and "interpreter" in found.reader else None


def dialect_of(name: str) -> str:
    """The dialect of a shell of Unix; empty for any other program."""
    program = shipped_programs().get(name)
    return program.dialect if program is not None else ""


def reads_posix(name: str) -> bool:
    """Whether a shell reads the text of a POSIX shell, and not a language of its own."""
    return dialect_of(name) not in ("", "fish")


def input_language(name: str) -> str:
    """The language in which a program runs what flows into it; empty where it runs nothing."""
    program = described_program(name.removesuffix(".exe"))
    if program is None:
        return ""
    if program.dialect:
        return SHELL
    own = next((reader for reader in program.reader if reader in _WINDOWS), "")
    read = next((item.stdin for item in program.carries if item.stdin and not item.subcommand), "")
    return own or read.partition(" ")[0]


def is_shell(name: str) -> bool:
    """Whether a program is a shell, of whichever system."""
    return input_language(name) in _WINDOWS or bool(dialect_of(name))
