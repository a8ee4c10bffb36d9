"""The shipped program descriptions, by every name of each program, and the language that a program runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.analysis.packs import Pack, PackError, Words, load_packs, word_list
from interlock.analysis.programs import Program, build_program

UNDESCRIBED = Program()
_SHIPPED = Path(__file__).parent


@cache
def program_set(kind: str) -> frozenset[str]:
    """Names of one kind, told in sets.toml and its neighbours; KeyError for a kind that none tells."""
    return program_sets()[kind]


@cache
def word_set(kind: str) -> frozenset[str]:
    """The words of one kind, told in words.toml; KeyError for a kind that none tells."""
    return frozenset(entries("words")[kind].split())


def any_word(kind: str) -> str:
    """An expression; the words may be expressions themselves."""
    return "|".join(sorted(word_set(kind)))


@cache
def word_table(kind: str) -> Mapping[str, str]:
    return {name: value for value, text in entries("table")[kind].items() for name in text.split()}


def entries(heading: str) -> Pack:
    """What the packs say under a heading, by its kind."""
    return {kind: said for pack in _packs() for kind, said in pack.get(heading, {}).items()}


def _listed(packs: Sequence[Pack], heading: str) -> dict[str, Words]:
    """Raises PackError on anything but words."""
    found: dict[str, Words] = {}
    for pack in packs:
        for kind, names in pack.get(heading, {}).items():
            found[kind] = found.get(kind, ()) + word_list(heading, kind, names)
    return found


class ProgramTable(Mapping[str, Program]):
    """Each is built when it is first asked for."""

    __slots__ = ("_built", "_owners", "_tables")

    def __init__(self, tables: Mapping[str, Pack], aliases: Mapping[str, str]) -> None:
        """Raises PackError where a name has two descriptions, or an alias none."""
        self._tables = tables
        self._built: dict[str, Program] = {}
        self._owners = {name: (name, "") for name in tables}
        for name, data in tables.items():
            for kind in ("aliases", "alike"):
                for other in data.get(kind, ()):
                    if other in self._owners:
                        raise PackError(f"program {other!r} is described twice, by itself and by {name!r}")
                    self._owners[other] = (name, kind)
        for alias, name in aliases.items():
            if alias in self._owners or name not in self._owners:
                raise PackError(f"alias {alias!r}: {name!r} is not described, or {alias!r} is")
            self._owners[alias] = (name, "alias")

    def __getitem__(self, name: str) -> Program:
        program = self._built.get(name)
        if program is None:
            owner, kind = self._owners[name]
            program = self[owner] if kind else build_program(name, self._tables[name])
            if kind == "alike":
                program = replace(program, name=name, aliases=())
            elif kind == "alias":
                program = replace(program, aliases=(name,))
            self._built[name] = program
        return program

    def get(self, name: str, default: Program | None = None) -> Program | None:  # type: ignore[override]
        """Most programs have no description, and an exception is slow."""
        found = self._built.get(name)
        return found if found is not None else self[name] if name in self._owners else default

    def telling(self, key: str) -> dict[str, Program]:
        """What says anything under this key; building all descriptions would take a tenth of a second."""
        return {name: self[name] for name in sorted(self.written(key))}

    def written(self, key: str) -> dict[str, Any]:
        """What is written under this key, by every name, without building a description."""
        found = {name: data[key] for name, data in self._tables.items() if data.get(key)}
        for _ in range(2):  # an alias may be of a program that is like the described one
            found |= {name: found[owner] for name, (owner, _) in self._owners.items() if owner in found}
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._owners

    def __iter__(self) -> Iterator[str]:
        return iter(self._owners)

    def __len__(self) -> int:
        return len(self._owners)


@cache
def shipped_programs() -> ProgramTable:
    """Refuses all of them when one is wrong."""
    return build_programs(_packs())


# What operations and tools call a program -> its name, with a subcommand where that is meant.
called_programs = cache(lambda: {str(word): str(name) for word, name in entries("called").items()})


def describe(name: str) -> Program:
    """The shipped description of a program; an empty one where there is none."""
    return shipped_programs().get(name) or UNDESCRIBED


@cache
def _packs() -> Sequence[Pack]:
    return load_packs(_SHIPPED, _checked)


# Patterns of the names of variables: `loads` where the value is a place of code, `data` where it never runs.
shipped_variables = cache(lambda: _listed(_packs(), "variable"))
program_sets = cache(lambda: {kind: frozenset(names) for kind, names in _listed(_packs(), "set").items()})


def _checked(packs: Sequence[Pack]) -> Sequence[Pack]:
    dict(build_programs(packs))
    _listed(packs, "variable")
    _listed(packs, "set")
    return packs


def build_programs(packs: Sequence[Pack]) -> ProgramTable:
    """Raises PackError where a program is described twice, or when a wrong one is asked for."""
    described: dict[str, Pack] = {}
    for pack in packs:
        for name, data in pack.get("program", {}).items():
            if name in described:
                raise PackError(f"program {name!r} is described twice")
            described[name] = data
    aliases = {str(alias): str(name) for pack in packs for alias, name in pack.get("alias", {}).items()}
    return ProgramTable({name: _completed(name, described) for name in described}, aliases)


def _completed(name: str, described: Mapping[str, Pack]) -> Pack:
    """What a description does not say itself is taken from the program that it is like."""
    own = described[name]
    other = own.get("like")
    if other is None:
        return own
    if other not in described or "like" in described[other]:
        raise PackError(f"program {name}: like is {other!r}, which is no description of its own")
    return {**described[other], "aliases": [], "alike": [], **{key: own[key] for key in own if key != "like"}}


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
    return describe(name).dialect


def reads_posix(name: str) -> bool:
    """Whether a shell reads no language of its own."""
    return dialect_of(name) not in ("", "fish")


def input_language(name: str) -> str:
    """Empty where what flows in does not run."""
    program = described_program(name.removesuffix(".exe"))
    if program is None:
        return ""
    if program.dialect:
        return SHELL
    own = next((reader for reader in program.reader if reader in _WINDOWS), "")
    read = next((item.stdin for item in program.carries if item.stdin and not item.subcommand), "")
    return own or read.partition(" ")[0]


def is_shell(name: str) -> bool:
    return input_language(name) in _WINDOWS or bool(dialect_of(name))
