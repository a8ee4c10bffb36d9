"""Files that an agent writes, judged as if they ran; what runs, imports or tests one inherits its findings."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.assess import Judgement, assess, judge
from interlock.analysis.classify import classify
from interlock.analysis.facts import Command, Effect, Fact, known
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import described_program, program_set, program_sets, shipped_programs
from interlock.analysis.rules import Rulebook
from interlock.analysis.shell.imports import ALWAYS_IMPORTED
from interlock.analysis.shell.interpreters import is_interpreter
from interlock.analysis.targets.ordering import commands_of
from interlock.model import Action, Kind, Level, command

NAMED, RUN = "named", "run"  # how a file is reached
SHELL = "shell"
MOST_TEXT = 262_144  # characters of a file


class WrittenFile(Struct, frozen=True):
    path: str
    judgement: Judgement
    family: str
    text: str

    @property
    def dangerous(self) -> bool:
        return self.judgement.assessment.level >= Level.DANGEROUS


def judge_file(path: str, text: str, cwd: str, rules: Rulebook) -> WrittenFile | None:
    """None for one that is no program, or too long."""
    program = _program(path, text)
    if not program or len(text) > MOST_TEXT:
        return None
    run = forward_part(text) if is_migration(path) else text
    judgement = judge(command(f"{program} {shlex.quote(path)}", cwd), rules, {path: run}.get)
    return WrittenFile(path, _certain(judgement, rules), _language(program), text)


def _certain(judgement: Judgement, rules: Rulebook) -> Judgement:
    """Only the effects on literal targets: a test that removes its temporary folder harms nothing."""

    def certain(fact: Fact) -> bool:
        if isinstance(fact, Command):
            return all(map(known, fact.words))
        return fact.verb != "unreadable" and known(fact.target + fact.path)

    facts = tuple(filter(certain, judgement.facts))
    return Judgement(assess(facts, classify(facts, rules), rules.programs), judgement.witnesses, facts)


def inherited_judgement(
    written: Sequence[WrittenFile], action: Action, judgement: Judgement, texts: Mapping[str, str]
) -> Judgement | None:
    """None where no dangerous file of the session runs; scripts in `texts` were judged already, their imports not."""
    commands = commands_of(judgement.facts)
    if action.kind is not Kind.COMMAND and not commands:
        return None
    ways = {one.path: _reach(one, action, commands, texts) for one in written if one.path not in texts}
    found = [one for one in written if ways.get(one.path)]
    facts = tuple(
        replace(fact, span=None, via=(f"written by this session: {one.path}", *fact.via))
        for one in found
        for fact in one.judgement.facts
        # Tests and builds use a database of their own.
        if ways[one.path] == NAMED or not (isinstance(fact, Effect) and fact.verb.startswith(("sql_", "store_")))
    )
    if not facts:
        return None
    witnesses = tuple(witness for one in found for witness in one.judgement.witnesses)
    return Judgement(found[0].judgement.assessment, witnesses, facts)


_SHEBANG = lazy_regex(r"#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(?:\S*/)?([\w.-]+)")


def _program(path: str, text: str) -> str:
    found = programs_by_ending().get(posixpath.splitext(path)[1].casefold(), "")
    if found or not text.startswith("#!"):
        return found
    named = _SHEBANG.match(text)
    return named[1] if named and is_interpreter(named[1]) else programs_by_ending()[".sh"]


@cache
def programs_by_ending() -> Mapping[str, str]:
    described = shipped_programs().telling("endings")
    return {ending: name for name, program in described.items() if name == program.name for ending in program.endings}


def _language(program: str) -> str:
    described = described_program(program)
    return next((one.file for one in described.carries if one.file), SHELL) if described is not None else SHELL


def _starts(program: str, language: str) -> bool:
    """Whether a program starts files of a project without naming them."""
    return program in program_set("starts_any") or program in program_sets().get(f"starts_{language}", ())


def _reach(one: WrittenFile, action: Action, commands: list[Command], texts: Mapping[str, str]) -> str:
    """NAMED by name or import, RUN by a runner in its tree that may not use it, else empty."""
    name = posixpath.basename(one.path)
    base = name.partition(".")[0]
    stem = re.compile(rf"(?<![\w.-]){re.escape(base)}(?![\w-])")
    inside = not action.cwd or one.path.startswith(action.cwd.rstrip("/") + "/")
    ran = ""
    for found in commands:
        words = (found.program, *found.words)
        if inside and any(_starts(posixpath.basename(word), one.family) for word in words[:4]):
            if not is_migration(one.path):
                ran = RUN
            elif _MIGRATES.search(" ".join(words)):
                return NAMED
        if found.program == name:
            return NAMED
        if is_interpreter(found.program) and (
            (_language(found.program) == one.family and base in ALWAYS_IMPORTED)
            or any(name in word for word in found.words)
            or any(map(stem.search, (" ".join(found.words), *texts.values())))
        ):
            return NAMED
    return ran


_PLACE = lazy_regex(r"/(?:migrations?|migrate|versions)/[^/]+\.(?:php|rb|py|js|mjs|cjs|ts)$")
# The start of a migration's function in PHP, JavaScript, Python and Ruby, by name.
_WAY = lazy_regex(
    r"^[ \t]*(?:(?:public|protected|private|static|async|export|const)\s+)*(?:function\s+|def\s+|exports\.|module\.exports\.)?"
    r"(up|down|change|upgrade|downgrade)\b\s*(?:\(|=|:|$)",
    re.MULTILINE,
)
_MIGRATES = lazy_regex(r"migrat|\bupgrade\b|\bdb:(?:setup|prepare|schema:load)\b")


def is_migration(path: str) -> bool:
    return _PLACE.search(path) is not None


def forward_part(text: str) -> str:
    """Without the parts that only a downgrade runs."""
    ways = list(_WAY.finditer(text))
    ends = [*(way.start() for way in ways[1:]), len(text)]
    for way, end in reversed(list(zip(ways, ends))):
        if way[1] in ("down", "downgrade"):
            text = text[: way.start()] + _closing(text[way.start() : end]) + text[end:]
    return text


def _closing(part: str) -> str:
    """Those indented less than the part's first line."""
    own = len(part) - len(part.lstrip(" \t"))
    lines = [line for line in part.splitlines(keepends=True)[1:] if line.strip()]
    return "".join(line for line in lines if len(line) - len(line.lstrip(" \t")) < own)
