"""The shipped program descriptions, by every name of each program, and the language that a program runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.analysis.packs import Pack, PackError, load_packs, only_keys, word_list
from interlock.analysis.programs import Program, build_program
from interlock.analysis.programs.net import NetWords, build_net

VARIABLE_KINDS = ("data", "loads", "runs")
SETS = frozenset(  # kinds of programs, told in sets.toml and its neighbours
    """converts deletes encoder ended fetcher file_database fill filter folder_stack forge globbing interactive launches limit link
    moves_folder
    neutral not_below open opens operation_alone operation_colons operation_frameworks operation_hyphens operation_names operation_scripts
    operation_wraps other_root packs part placing
    relocates rewriter said said_aimed said_aimed_second said_alone
    said_anywhere said_capital said_copies said_familiar said_flagged said_names said_nouns said_numbered said_plain
    said_spoken said_subcommands said_typed said_verbs said_wrappers searches sender shell_session shell_setup shows_variables shell_state signals_names
    signals_numbers signals_ports signals_users signals_whole_names starts_any starts_javascript starts_perl starts_php
    starts_python starts_ruby tool_names transparent typed unpacker windows windows_too""".split()
)
WORDS = frozenset(  # kinds of words, told in words.toml
    """articles aside body_options cmd_silent cmdlet_nouns cmdlet_verbs cmdlet_verbs_in_capitals copying cql_reads data_ends data_verbs
    dropped_objects ending_alone ending_hints ending_how find_limits find_loose find_takes first_modules harmful_effects identifying
    issuers judges money_hosts not_packed placing_parameters posting powershell_values receiving redis_admin redis_admin_pairs
    redis_deletes redis_quiet_pairs redis_writes removing_verbs search_paths selecting_variables services setters setup short_data
    test_flags token_services transfer_deletes transfer_puts""".split()
)
TABLES = frozenset("folders languages powershell_variables shell_variables windows_variables".split())
UNDESCRIBED = Program()
_SHIPPED = Path(__file__).parent


@cache
def shipped_variables() -> Mapping[str, tuple[str, ...]]:
    """Patterns of the names of variables: `loads` where the value is a place of code, `data` where it never runs."""
    return _listed(_packs(), "variable", VARIABLE_KINDS)


@cache
def program_set(kind: str) -> frozenset[str]:
    """The names of the programs of one of `SETS`."""
    return _sets()[kind]


@cache
def word_set(kind: str) -> frozenset[str]:
    """The words of one of `WORDS`."""
    return frozenset(_told(_packs(), "words", WORDS)[kind].split())


@cache
def word_table(kind: str) -> Mapping[str, str]:
    """The value of each name in one of `TABLES`."""
    said = _told(_packs(), "table", TABLES)[kind]
    return {name: value for value, text in said.items() for name in text.split()}


def _told(packs: Sequence[Pack], heading: str, known: frozenset[str]) -> Mapping[str, Any]:
    """What these packs say under a heading; raises PackError on a kind that is not known, or that none of them tells."""
    found = {kind: said for pack in packs for kind, said in pack.get(heading, {}).items()}
    if found.keys() != known:
        raise PackError(f"{heading}: {', '.join(sorted(found.keys() ^ known))}: not known, or not told")
    return found


@cache
def _sets() -> Mapping[str, frozenset[str]]:
    return {kind: frozenset(names) for kind, names in _listed(_packs(), "set", SETS).items()}


def _listed(packs: Sequence[Pack], heading: str, known: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What all of these packs list under a heading; raises PackError on a kind that is not known."""
    found: dict[str, tuple[str, ...]] = dict.fromkeys(known, ())
    for pack in packs:
        only_keys(heading, pack.get(heading, {}), found)
        for kind, names in pack.get(heading, {}).items():
            found[kind] += word_list(heading, kind, names)
    return found


class ProgramTable(Mapping[str, Program]):
    """Descriptions under every name that they are for, each built when it is first asked for."""

    __slots__ = ("_built", "_owners", "_tables")

    def __init__(self, tables: Mapping[str, Mapping[str, Any]], aliases: Mapping[str, str]) -> None:
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
            program = self._built[name] = self._build(name)
        return program

    def _build(self, name: str) -> Program:
        owner, kind = self._owners[name]
        if not kind:
            return build_program(name, self._tables[name])
        program = self[owner]
        if kind == "alike":
            return replace(program, name=name, aliases=())
        return program if kind == "aliases" else replace(program, aliases=(name,))

    def get(self, name: str, default: Program | None = None) -> Program | None:  # type: ignore[override]
        """As of any mapping; most programs have no description, and an exception is slow."""
        found = self._built.get(name)
        return found if found is not None else self[name] if name in self._owners else default

    def telling(self, key: str) -> dict[str, Program]:
        """The descriptions that say anything under this key; building all of them would take a tenth of a second."""
        return {name: self[name] for name in sorted(self.written(key))}

    def written(self, key: str) -> dict[str, Any]:
        """What is written under this key, by every name that it is for, without building a description."""
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
    """Every shipped description; refuses all of them when one is wrong."""
    return build_programs(_packs())


@cache
def called_programs() -> Mapping[str, str]:
    """What operations and tools call a program -> its name, with a subcommand where that is meant."""
    return {str(word): str(name) for pack in _packs() for word, name in pack.get("called", {}).items()}


def describe(name: str) -> Program:
    """The shipped description of a program; an empty one where there is none."""
    return shipped_programs().get(name) or UNDESCRIBED


@cache
def net_words() -> NetWords:
    """What words mean on a command line, from the one pack that says so."""
    return build_net(next(pack["net"] for pack in _packs() if "net" in pack))


@cache
def _packs() -> Sequence[Pack]:
    return load_packs(_SHIPPED, _checked)


def _checked(packs: Sequence[Pack]) -> Sequence[Pack]:
    dict(build_programs(packs))
    _listed(packs, "variable", VARIABLE_KINDS)
    _listed(packs, "set", SETS)
    _told(packs, "words", WORDS)
    _told(packs, "table", TABLES)
    return packs


def build_programs(packs: Sequence[Pack]) -> ProgramTable:
    """The descriptions of these packs; raises PackError where a program is described twice, or when a wrong one is asked for."""
    described: dict[str, Mapping[str, Any]] = {}
    for pack in packs:
        for name, data in pack.get("program", {}).items():
            if name in described:
                raise PackError(f"program {name!r} is described twice")
            described[name] = data
    aliases = {str(alias): str(name) for pack in packs for alias, name in pack.get("alias", {}).items()}
    return ProgramTable({name: _completed(name, described) for name in described}, aliases)


def _completed(name: str, described: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """A description with what it does not say itself taken from the program that it is like."""
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
