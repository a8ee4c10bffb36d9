"""Plans the inspection of a judged action: every local change that it makes, and whether the impact may relax the requirement; None where nothing can be inspected."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.assess import Judgement
from interlock.analysis.facts import APPROXIMATE, HOLE, QUOTED, Command, Effect, Fact, known, without_holes
from interlock.analysis.programs.load import program_set, word_set
from interlock.analysis.programs.objects import in_repository, replaced_kinds
from interlock.analysis.targets import is_ephemeral_name, ordering
from interlock.analysis.targets.ephemeral import Ephemeral, ephemeral_targets
from interlock.analysis.targets.ordering import Key, fact_key, find_delete_query
from interlock.analysis.targets.provenance import FILE, NOTHING_CREATED, Provenance, copies_in
from interlock.model import Action, Assessment, Json, Kind, Level, Loss
from interlock.policy.circumstances import Circumstances
from interlock.policy.impact import INSPECTABLE_RULES, Impact
from interlock.policy.real_paths import RESOLVED

# The verb of a fact -> the verb in the inspection.
VERBS = {"delete": "delete", "truncate": "truncate", "overwrite": "overwrite", "write": "overwrite"}
AWAY = frozenset({"remote", "container", "privileged"})
_PASSING = ("/tmp/", "/var/tmp/", "/dev/", "/proc/", "/sys/")
_HOLES = re.compile(f"{HOLE}[^{HOLE}]*{HOLE}")
ANYTHING: Json = {"verb": "anything"}  # some file of the project
MOST = 50
MOST_CHANGES = 600  # targets of everyday work; more than that stand for anything
_CONTENTS = frozenset({"database", "statements", "compose"})  # effects that depend on the content of a file
_FILES_SERVER = "mcp__filesystem__"
_COPIED = frozenset({"delete", "truncate", "overwrite", "git", "replaced", "database"})  # verbs on local files


class Inspection(Struct, frozen=True):
    bases: tuple[str, ...]  # the folders that it may run in
    deeds: tuple[Json, ...]
    relieves: bool
    notes: tuple[str, ...] = ()  # what is known without an inspection
    created: tuple[Mapping[str, str], ...] = ()  # files and refs created in this session
    strayed: tuple[str, ...] = ()  # folders this session went to before: a target that is not here may be there
    home: str = ""  # the home that `~` stands for, where it is not the system's
    throwaway: bool = False  # everything forbidden in it happens to ephemeral databases
    in_files: bool = False  # everything forbidden in it happens to ephemeral databases or to database files
    moved: tuple[Json, ...] = ()  # sources of moves, which a snapshot keeps too

    @property
    def body(self) -> dict[str, Any]:
        lists = {"bases": self.bases, "deeds": self.deeds, "made": self.created, "strayed": self.strayed}
        home = {"home": self.home} if self.home else {}
        return {name: list(value) for name, value in lists.items() if value} | home

    @property
    def copyable(self) -> bool:
        return bool(self.deeds) and all(deed["verb"] in _COPIED for deed in self.deeds)

    def excuses(self, seen: Impact | None) -> bool:
        """A note explains the rest, and only a person may give up a whole history."""
        return self.relieves and not self.notes and not (seen is not None and seen.repositories)


def inspection_of(
    action: Action, judged: Judgement, created: Provenance = NOTHING_CREATED, own_tools: bool = False
) -> Inspection | None:
    """None for everyday work, and for effects elsewhere, as another user or that cannot be read.

    `own_tools` says that the tool really works on this machine's files.
    """
    assessment = judged.assessment
    here = action.kind is Kind.COMMAND or (own_tools and action.kind is Kind.TOOL)
    if not here or assessment.level < Level.DESTRUCTIVE or not action.cwd.startswith("/"):
        return None
    accused = {(f.subject, f.span) for f in assessment.findings if f.level >= Level.DESTRUCTIVE}
    line = judged.line if action.kind is Kind.COMMAND else ordering.CommandLine()
    facts = line.until(judged.facts, accused)
    may_be = created.things or any(finding.rule in word_set("ephemeral_rules") for finding in assessment.findings)
    answers = ephemeral_targets(action, judged.facts, line, accused, created) if may_be and not line.set_apart else {}
    rest = accused - answers.keys()
    beside = [fact for fact in judged.facts if not _belongs(fact, accused, answers)]
    if any(AWAY & fact.traits for fact in beside) or ordering.happens_elsewhere(action, judged.facts, rest):
        return None
    effects = [
        *_effects(judged.facts, rest, ordering.earlier_git_changes(facts)),
        *(one.deed for one in answers.values() if one.deed is not None),
    ]
    bases = _bases(action.cwd, facts)
    if not (effects or answers) or bases is None or len(effects) > MOST or any(effect is None for effect in effects):
        return None
    verbs = {key: (one.deed or {}).get("verb") for key, one in answers.items()}
    inspects = bool(rest) or not _CONTENTS.isdisjoint(verbs.values())
    apart = [key for key, verb in verbs.items() if verb != "database"]
    undisturbed = not inspects or ordering.is_undisturbed(facts, accused, apart)
    relieves = undisturbed and not line.set_apart and _all_visible(assessment, judged.facts, answers)
    notes = tuple(dict.fromkeys(one.note for one in answers.values() if one.note))
    inspected = tuple(effect for effect in effects if effect is not None)
    changes = local_changes(judged.facts, action.cwd)
    if not answers:  # all parts of a line are in its snapshot
        inspected += tuple(_beyond(changes.deeds, inspected, bases))
    relieves = relieves and (changes.exact or not inspects)
    local = tuple(created.local()) if effects and created.things else ()
    forbidden = [answers.get((one.subject, one.span)) for one in assessment.findings if one.level >= Level.FORBIDDEN]
    throwaway = all(one is not None and _is_throwaway(one, bases, created) for one in forbidden)
    in_files = None not in forbidden
    return Inspection(
        bases, inspected, relieves, notes, local, created.strayed, action.home, throwaway, in_files, changes.moved
    )


def _beyond(changes: Sequence[Json], named: Sequence[Json], bases: Sequence[str]) -> Iterator[Json]:
    def key(base: str, deed: Json) -> tuple[str, str]:
        return deed["verb"], posixpath.normpath(posixpath.join(base, str(deed.get("target", ""))))

    known_as = {key(base, one) for one in named for base in bases}
    commands = [one["words"] for one in named if "words" in one]
    for one in changes:
        named_already = one.get("words") in commands or key(bases[-1], one) in known_as
        if one != ANYTHING and not one.get("maybe") and not named_already:
            yield one


def _is_throwaway(answer: Ephemeral, bases: Sequence[str], created: Provenance) -> bool:
    """R-23: for tests by its name, or created in this session where the action runs."""
    file = str((answer.deed or {}).get("target", ""))
    own = {posixpath.join(one.base, one.name) for one in created.things if one.kind == FILE}
    here = own.issuperset(posixpath.join(base, file) for base in bases)
    return bool(answer.note) or is_ephemeral_name(posixpath.basename(file)) or here


def change_inspection(action: Action, judged: Judgement, created: Provenance) -> Inspection | None:
    """The files that everyday work changes: no question by its level, but none of them may be lost unasked (R-24)."""
    cwd, facts = action.cwd, judged.facts
    if action.kind not in (Kind.COMMAND, Kind.TOOL) or not cwd.startswith("/"):
        return None
    changes = judged.once(f"changes in {cwd}", lambda: local_changes(facts, cwd, copies_in(facts, cwd, judged.line)))
    if not changes.deeds:
        return None
    bases, own = tuple(dict.fromkeys((cwd, *created.strayed, *_entered(cwd, facts)))), tuple(created.local())
    deeds, exact = (changes.deeds, changes.exact) if len(changes.deeds) <= MOST_CHANGES else ((ANYTHING,), False)
    return Inspection(bases, deeds, exact, (), own, (), action.home, moved=changes.moved)


def _entered(cwd: str, facts: Sequence[Fact]) -> Iterator[str]:
    """Each from where the line begins and from the folder before."""
    at = cwd
    for fact in facts:
        if not isinstance(fact, Command) or fact.program not in program_set("moves_folder") or not fact.words:
            continue
        word = fact.words[-1]
        if word and known(word) and not word.startswith(("-", "~", QUOTED)):
            at = posixpath.normpath(posixpath.join(at, word))
            yield from (at, posixpath.normpath(posixpath.join(cwd, word)))


def with_impact(
    at: Circumstances, question: Inspection | None, inspect: Callable[[Json], Impact], relief: bool
) -> Circumstances:
    """Only the impact of the whole action relaxes anything."""
    if question is None:
        return at
    impact = run_inspection(question, inspect)
    counts = question.relieves and relief
    new = question.in_files and impact.missing and not impact.problem  # the action makes what it drops
    ephemeral = counts and (question.throwaway or new)
    return replace(at, impact=impact, loss=impact.loss if counts else Loss.UNKNOWN, ephemeral=ephemeral)


def unkept_words(question: Inspection, impact: Impact) -> str:
    """Empty where nothing can be lost."""
    if impact.loss in (Loss.NONE, Loss.RECOVERABLE) or impact.missing:
        return ""
    if not question.relieves:
        return "which files it changes is not certain, and some of them exist nowhere else"
    return "it changes files that exist nowhere else, and no copy of them was made"


def run_inspection(question: Inspection, inspect: Callable[[Json], Impact]) -> Impact:
    """Adds the notes that are known without it."""
    if not question.deeds:
        return Impact(Loss.RECOVERABLE, notes=question.notes)
    impact = inspect(question.body)
    worst = Loss.RECOVERABLE if question.notes and impact.loss is Loss.NONE else impact.loss
    return replace(impact, loss=worst, notes=(*question.notes, *impact.notes))


def is_own_tool(action: Action) -> bool:
    """Or of the server for this machine's files; any other server may be anywhere."""
    return action.kind is Kind.TOOL and (action.text.startswith(_FILES_SERVER) or "__" not in action.text)


def _belongs(fact: Fact, accused: set[Key], answers: Mapping[Key, Ephemeral]) -> bool:
    """Whether a fact concerns a target that is known to be ephemeral, or is a harmless command that such a one carries."""
    carried = isinstance(fact, Command) and fact.via and fact_key(fact) not in accused
    return fact_key(fact) in answers or bool(carried and any(fact.span == span for _, span in answers))


def _effects(facts: Sequence[Fact], accused: set[Key], before: Sequence[str]) -> Iterator[Json | None]:
    """None for one whose target or folder is not known."""
    commands = {fact_key(fact): fact for fact in facts if isinstance(fact, Command)}
    searches = ordering.searches_in(facts)
    for fact in facts:
        if fact_key(fact) not in accused:
            continue
        here = all(map(ordering.runs_here, fact.via))
        if isinstance(fact, Effect):
            if fact.verb in VERBS and RESOLVED not in fact.traits:  # the inspection follows links by itself
                query, command = ordering.search_behind(fact, searches), commands.get(fact_key(fact))
                clear = fact.target and known(fact.target) and QUOTED not in fact.target and (query is not None or here)
                more = {"found": query, "sure": True} if query is not None else _exactly(fact, command)
                yield {"verb": VERBS[fact.verb], "target": fact.target, **more} if clear else None
        elif in_repository(fact):
            after = {"after": list(before)} if before else {}
            clear = here and not fact.env and all(map(known, fact.words))
            yield {"verb": "git", "words": list(fact.words), **after} if clear else None


def _exactly(fact: Effect, command: Command | None) -> Json:
    """That the command does nothing else, and the query of a search."""
    if command is None:
        return {}
    found = find_delete_query(command)
    if found is not None:
        return {"found": found, "sure": True}
    link = "link" in fact.traits and sum(not word.startswith("-") for word in command.words) == 2
    return {"sure": True} if link or command.program in program_set("deletes") else {}


def _bases(cwd: str, facts: Sequence[Fact]) -> tuple[str, ...] | None:
    """After one `cd` also its target, since nobody knows whether that succeeds."""
    commands = [fact for fact in facts if isinstance(fact, Command)]
    moves = [fact for fact in commands if fact.program in program_set("moves_folder")]
    if any(fact.program in program_set("folder_stack") for fact in commands) or len(moves) > 1:
        return None
    if not moves:
        return (cwd,)
    words = [word for word in moves[0].words if word != "--"]
    if len(words) != 1 or not known(words[0]) or words[0].startswith(("-", "~", QUOTED)) or set("*?[") & set(words[0]):
        return None
    there = posixpath.join(cwd, words[0])
    return (cwd, there) if there.rstrip("/") != cwd.rstrip("/") else (cwd,)


def _all_visible(assessment: Assessment, facts: Sequence[Fact], answers: Mapping[Key, Ephemeral]) -> bool:
    """Whether each destructive finding can be inspected on the disk, or has an ephemeral target."""
    visible = {fact_key(f) for f in facts if (f.verb in VERBS if isinstance(f, Effect) else in_repository(f))}
    return all(
        (finding.rule in INSPECTABLE_RULES and (finding.subject, finding.span) in visible)
        or (finding.rule in word_set("ephemeral_rules") and (finding.subject, finding.span) in answers)
        for finding in assessment.findings
        if finding.level >= Level.DESTRUCTIVE
    )


class LocalChanges(Struct, frozen=True):
    """`exact`: the shell will name exactly these."""

    deeds: tuple[Json, ...] = ()
    moved: tuple[Json, ...] = ()  # a move destroys nothing, but an undo has to put its source back
    exact: bool = True


def local_changes(facts: Sequence[Fact], cwd: str, copies: Mapping[str, str] = MappingProxyType({})) -> LocalChanges:
    """A target in part unknown stands for every name that it may have.

    `copies` are the files that it surely copies, each with its copy: one that is copied before it is replaced is no loss.
    """
    near = [fact for fact in facts if isinstance(fact, Effect) and not (AWAY | {RESOLVED}) & fact.traits]
    effects = [fact for fact in near if not (fact.path or fact.target).startswith(_PASSING)]
    commands = [fact for fact in facts if isinstance(fact, Command)]
    found = _Found(cwd, effects, commands if effects else ())
    for fact in effects:
        if fact.verb in VERBS:
            if not _copied_before(fact, effects, copies):
                found.change(fact)
        elif fact.verb == "move":
            found.move(fact)
    for command in commands:
        if AWAY & command.traits:
            continue
        if in_repository(command):  # the files and refs that an everyday command may replace
            kinds = ("replaced" if kind == "file" else "git" for kind in replaced_kinds(command))
            found.deeds += [{"verb": verb, "words": list(command.words)} for verb in kinds]
        else:
            found.deeds += _named_files(command, effects)
    if any(one.program in program_set("globbing") for one in commands):
        found.exact = False
    return LocalChanges(tuple(found.deeds), tuple(found.moved), found.exact)


def _copied_before(fact: Effect, effects: Sequence[Effect], copies: Mapping[str, str]) -> bool:
    """And nothing else reaches its copy."""
    copy = copies.get(fact.path)
    if copy is None or not known(copy) or copy.startswith(_PASSING):
        return False
    reaching = [one for one in effects if one.verb != "read" and _touches(one.path, copy)]
    return len(reaching) == 1 and effects.index(reaching[0]) < effects.index(fact)


_LISTS = frozenset("-l -t -v -Z --list l t".split())
_WRITES_DATABASE = re.compile(r"\s*\.(?:restore|import|read|recover|archive|ar)\b")


def _named_files(fact: Command, effects: Sequence[Effect]) -> Iterator[dict[str, Any]]:
    """Where nothing says that the program only reads them; a copy of these is no condition."""
    if fact.program in program_set("neutral") or "wrapper" in fact.traits:
        return
    own = [one for one in effects if fact_key(one) == fact_key(fact)]
    if fact.program in program_set("file_database"):
        yield from _database_files(fact, own)
        return
    if fact.program in program_set("unpacker") and not _LISTS.intersection(fact.words):
        yield {"verb": "overwrite", "target": ".", "maybe": True}
    if any(one.verb in VERBS or one.verb == "move" for one in own):  # they are listed already
        return
    read = {one.target for one in own if one.verb == "read"}
    for word in fact.words:
        value = word.partition("=")[2] if word.startswith("-") else word
        if value and value not in read and known(value) and not set("*?[ \n") & set(value):
            yield {"verb": "overwrite", "target": value, "maybe": True}


def _database_files(fact: Command, own: Sequence[Effect]) -> Iterator[dict[str, Any]]:
    """The database that statements change, and the files that dot-commands name."""
    named = [word for word in fact.words if not word.startswith("-") and known(word)]
    commands = [word for word in named[1:] if word.lstrip().startswith(".")]
    changes = any(one.verb.startswith("sql_") and one.verb != "sql_read" for one in own)
    if named and (changes or any(map(_WRITES_DATABASE.match, commands))):
        yield {"verb": "database", "target": named[0], "maybe": True}
    for word in (word.strip("'\"") for command in commands for word in command.split()[1:]):
        yield {"verb": "overwrite", "target": word, "maybe": True}


class _Found:
    def __init__(self, cwd: str, effects: Sequence[Effect], commands: Sequence[Command]) -> None:
        self.cwd, self.effects = cwd, effects
        self.commands = {fact_key(one): one for one in commands}
        self.searches = ordering.searches_in(commands) if commands else {}
        self.deeds: list[dict[str, Any]] = []
        self.moved: list[dict[str, Any]] = []
        self.exact = True

    def change(self, fact: Effect) -> None:
        command, verb = self.commands.get(fact_key(fact)), VERBS[fact.verb]
        if fact.verb == "write" and "link" in fact.traits:  # without force a link replaces nothing
            return
        query = None
        if not (approximate := APPROXIMATE in fact.traits):
            query = (find_delete_query(command) if command is not None else None) or ordering.search_behind(
                fact, self.searches
            )
        more: dict[str, Any] = {"found": query} if query is not None else {}
        if verb == "overwrite":
            more = {"from": self._sources(fact)}
        # A search deletes what it finds, perhaps the very path that it starts from.
        searched = fact.subject.partition(" ")[0] in program_set("searches") or fact.via[-1:] == ordering.SEARCHED
        if query is None and searched and fact.verb == "delete" and "/**" in fact.target:
            root, _, name = fact.target.partition("/**")
            here = {"root": root or "/", "name": name.strip("/") or "*", "icase": False, "type": "", "depth": [0, 0]}
            self.deeds.append({"verb": "delete", "target": root or "/", "found": here})
        if approximate or (command is not None and query is None and "-iname" in command.words):
            self.exact = False
            self.deeds.append(dict(ANYTHING))
        targets = list(self._targets(fact))
        if "shredded" in fact.traits and fact.verb == "delete":  # written through a link before its name goes
            self.deeds += [{"verb": "truncate", "target": target} for target, _ in targets if target]
        self.exact = self.exact and all(exact for _, exact in targets)
        self.deeds += [{"verb": verb, "target": target, **more} if target else dict(ANYTHING) for target, _ in targets]

    def move(self, fact: Effect) -> None:
        """What is moved away; where another effect reaches its new place, it goes for good."""
        changed = [one for one in self.effects if one.verb in VERBS]
        places = [one.path for one in changed if fact_key(one) == fact_key(fact)]
        others = [one.path for one in changed if fact_key(one) != fact_key(fact)]
        for target, exact in self._targets(fact):
            self.exact = self.exact and exact and APPROXIMATE not in fact.traits
            self.moved.append({"verb": "delete", "target": target or "."})
            if any(_touches(other, place) for other in others for place in places):
                self.deeds.append(self.moved[-1])

    def _sources(self, fact: Effect) -> list[str] | None:
        """None where any name may come into the folder."""
        names = [one.target for one in self.effects if one.verb in ("read", "move") and fact_key(one) == fact_key(fact)]
        program = fact.subject.partition(" ")[0]
        return names if names and program in program_set("placing") and all(map(known, names)) else None

    def _targets(self, fact: Effect) -> Iterator[tuple[str, bool]]:
        """From where the action begins and from where it went; empty for any path."""
        here = posixpath.normpath(posixpath.join(self.cwd, fact.target)) == fact.path
        for path in filter(None, dict.fromkeys((fact.target, "" if here else fact.path))):
            if path.startswith(QUOTED):
                path = f"./{path[1:]}"
            if known(path):
                yield path, True
                continue
            exact, rest = not path.startswith(HOLE), _HOLES.sub("*", path)
            if not exact:  # the same name anywhere in the project, where the beginning of the path is not known
                name = rest.lstrip("*").lstrip("/")
                rest = f"**/{name}" if name.strip("*/.") else ""
            yield rest, exact
            if (emptied := without_holes(path)).startswith("/") and fact.verb != "write":
                yield emptied, False


def _touches(one: str, other: str) -> bool:
    inside = f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
    unclear = bool(set("*?[") & set(one)) or not known(one)
    return inside or unclear or posixpath.normpath(one) == posixpath.normpath(other)
