"""Plans the inspection of a judged action: its targets and whether the impact may relax the requirement; None where nothing can be inspected."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.assess import Judgement
from interlock.analysis.facts import QUOTED, Command, Effect, Fact, known
from interlock.analysis.programs.load import program_set
from interlock.analysis.programs.objects import in_repository
from interlock.analysis.targets import (
    find_delete_query,
    happens_elsewhere,
    is_ephemeral_name,
    runs_here,
    search_behind,
    searches_in,
)
from interlock.analysis.targets.ephemeral import RULES as EPHEMERAL_RULES
from interlock.analysis.targets.ephemeral import Ephemeral, ephemeral_targets
from interlock.analysis.targets.ordering import CommandLine, Key, earlier_git_changes, fact_key, is_undisturbed
from interlock.analysis.targets.provenance import FILE, NOTHING_CREATED, Provenance, copies_in
from interlock.impact.changes import ANYTHING, AWAY, VERBS, local_changes
from interlock.model import Action, Assessment, Kind, Level, Loss
from interlock.policy.circumstances import Circumstances
from interlock.policy.impact import INSPECTABLE_RULES, Impact
from interlock.policy.real_paths import RESOLVED

MOST = 50  # effects of one action that are inspected
MOST_CHANGES = 600  # targets of everyday work; more than that stand for anything
_CONTENTS = frozenset({"database", "statements", "compose"})  # effects that depend on the content of a file
_FILES_SERVER = "mcp__filesystem__"


_COPIED = frozenset({"delete", "truncate", "overwrite", "git", "replaced", "database"})  # verbs on local files


class Inspection(Struct, frozen=True):
    """The effects to inspect, and whether their impact may relax the requirement."""

    bases: tuple[str, ...]  # the folders that it may run in
    deeds: tuple[Mapping[str, Any], ...]
    relieves: bool
    notes: tuple[str, ...] = ()  # what is known without an inspection
    created: tuple[Mapping[str, str], ...] = ()  # files and refs created in this session
    strayed: tuple[str, ...] = ()  # folders this session went to before: a target that is not here may be there
    home: str = ""  # the home that `~` stands for, where it is not the system's
    throwaway: bool = False  # everything forbidden in it happens to ephemeral databases
    in_files: bool = False  # everything forbidden in it happens to ephemeral databases or to database files
    moved: tuple[Mapping[str, Any], ...] = ()  # sources of moves, which a snapshot keeps too

    @property
    def body(self) -> dict[str, Any]:
        found: dict[str, Any] = {"bases": list(self.bases), "deeds": [dict(effect) for effect in self.deeds]}
        found |= {"made": [dict(one) for one in self.created]} if self.created else {}
        found |= {"home": self.home} if self.home else {}
        return found | ({"strayed": list(self.strayed)} if self.strayed else {})

    @property
    def copyable(self) -> bool:
        """Whether a snapshot can hold all that it changes: only local files can be copied."""
        return bool(self.deeds) and all(deed["verb"] in _COPIED for deed in self.deeds)

    def excuses(self, seen: Impact | None) -> bool:
        """Whether a snapshot can lower the requirement; a note explains the rest, and only a person may give up a whole history."""
        return self.relieves and not self.notes and not (seen is not None and seen.repositories)


def inspection_of(
    action: Action, judged: Judgement, created: Provenance = NOTHING_CREATED, own_tools: bool = False
) -> Inspection | None:
    """The inspection of an action; None for everyday work, and for effects elsewhere, as another user or that cannot be read.

    `own_tools` says that the tool really works on this machine's files.
    """
    assessment = judged.assessment
    here = action.kind is Kind.COMMAND or (own_tools and action.kind is Kind.TOOL)
    if not here or assessment.level < Level.DESTRUCTIVE or not action.cwd.startswith("/"):
        return None
    accused = {(f.subject, f.span) for f in assessment.findings if f.level >= Level.DESTRUCTIVE}
    line = judged.line if action.kind is Kind.COMMAND else CommandLine()
    facts = line.until(judged.facts, accused)
    may_be = created.things or any(finding.rule in EPHEMERAL_RULES for finding in assessment.findings)
    answers = ephemeral_targets(action, judged.facts, line, accused, created) if may_be and not line.set_apart else {}
    rest = accused - answers.keys()
    beside = [fact for fact in judged.facts if not _belongs(fact, accused, answers)]
    if any(AWAY & fact.traits for fact in beside) or happens_elsewhere(action, judged.facts, rest):
        return None
    effects = [
        *_effects(judged.facts, rest, earlier_git_changes(facts)),
        *(one.deed for one in answers.values() if one.deed is not None),
    ]
    bases = _bases(action.cwd, facts)
    if not (effects or answers) or bases is None or len(effects) > MOST or any(effect is None for effect in effects):
        return None
    inspects = bool(rest) or any((one.deed or {}).get("verb") in _CONTENTS for one in answers.values())
    undisturbed = not inspects or _is_undisturbed(facts, accused, answers)
    relieves = undisturbed and not line.set_apart and _all_visible(assessment, judged.facts, answers)
    notes = tuple(dict.fromkeys(one.note for one in answers.values() if one.note))
    inspected = tuple(effect for effect in effects if effect is not None)
    changes = local_changes(judged.facts, action.cwd)
    if not answers:  # all parts of a line are in its snapshot
        inspected += tuple(_beyond(changes.deeds, inspected, bases))
    relieves = relieves and (changes.exact or not inspects)
    local = tuple(created.local()) if effects and created.things else ()
    forbidden = [answers.get((one.subject, one.span)) for one in assessment.findings if one.level >= Level.FORBIDDEN]
    return Inspection(
        bases,
        inspected,
        relieves,
        notes,
        local,
        created.strayed,
        action.home,
        all(one is not None and _is_throwaway(one, bases, created) for one in forbidden),
        None not in forbidden,
        changes.moved,
    )


def _beyond(
    changes: Sequence[Mapping[str, Any]], named: Sequence[Mapping[str, Any]], bases: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    known_as = {(one["verb"], _whole(base, one)) for one in named for base in bases}
    commands = [one["words"] for one in named if "words" in one]
    for one in changes:
        if (
            one != ANYTHING
            and not one.get("maybe")
            and one.get("words") not in commands
            and (one["verb"], _whole(bases[-1], one)) not in known_as
        ):
            yield one


def _whole(base: str, deed: Mapping[str, Any]) -> str:
    return posixpath.normpath(posixpath.join(base, str(deed.get("target", ""))))


def _is_throwaway(answer: Ephemeral, bases: Sequence[str], created: Provenance) -> bool:
    """R-23: whether a local database is for tests, or was created in this session."""
    return bool(answer.note) or _own_file(answer, bases, created)


def _own_file(answer: Ephemeral, bases: Sequence[str], created: Provenance) -> bool:
    """Whether a database file is for tests by its name, or was created in this session where the action runs."""
    file = str((answer.deed or {}).get("target", ""))
    own = {posixpath.join(one.base, one.name) for one in created.things if one.kind == FILE}
    return is_ephemeral_name(posixpath.basename(file)) or own.issuperset(posixpath.join(base, file) for base in bases)


def change_inspection(action: Action, judged: Judgement, created: Provenance) -> Inspection | None:
    """The files that everyday work changes: no question by its level, but none of them may be lost unasked (R-24)."""
    if action.kind not in (Kind.COMMAND, Kind.TOOL) or not action.cwd.startswith("/"):
        return None
    facts = judged.facts
    changes = local_changes(facts, action.cwd, copies_in(facts, action.cwd, judged.line))
    if not changes.deeds:
        return None
    whole = len(changes.deeds) <= MOST_CHANGES
    deeds = changes.deeds if whole else (ANYTHING,)
    bases = tuple(dict.fromkeys((action.cwd, *created.strayed, *_entered(action.cwd, facts))))
    return Inspection(
        bases, deeds, whole and changes.exact, (), tuple(created.local()), (), action.home, moved=changes.moved
    )


def _entered(cwd: str, facts: Sequence[Fact]) -> Iterator[str]:
    """The folders that a line goes to, each from where it begins and from the one before."""
    at = cwd
    for fact in facts:
        word = (
            fact.words[-1]
            if isinstance(fact, Command) and fact.program in program_set("moves_folder") and fact.words
            else ""
        )
        if word and known(word) and not word.startswith(("-", "~", QUOTED)):
            at = posixpath.normpath(posixpath.join(at, word))
            yield from (at, posixpath.normpath(posixpath.join(cwd, word)))


def with_impact(
    at: Circumstances, question: Inspection | None, inspect: Callable[[Mapping[str, Any]], Impact], relief: bool
) -> Circumstances:
    """The circumstances with the impact inspected for this decision; only the impact of the whole action relaxes anything."""
    if question is None:
        return at
    impact = run_inspection(question, inspect)
    counts = question.relieves and relief
    loss = impact.loss if counts else Loss.UNKNOWN
    new = question.in_files and impact.missing and not impact.problem  # the action makes what it drops
    return replace(at, impact=impact, loss=loss, ephemeral=counts and (question.throwaway or new))


def unkept_words(question: Inspection, impact: Impact) -> str:
    """Why everyday work is asked about unless a snapshot is taken; empty where nothing can be lost."""
    if impact.loss in (Loss.NONE, Loss.RECOVERABLE) or impact.missing:
        return ""
    if not question.relieves:
        return "which files it changes is not certain, and some of them exist nowhere else"
    return "it changes files that exist nowhere else, and no copy of them was made"


def run_inspection(question: Inspection, inspect: Callable[[Mapping[str, Any]], Impact]) -> Impact:
    """Inspects the targets and adds the notes that are known without it."""
    if not question.deeds:
        return Impact(Loss.RECOVERABLE, notes=question.notes)
    impact = inspect(question.body)
    worst = Loss.RECOVERABLE if question.notes and impact.loss is Loss.NONE else impact.loss
    return replace(impact, loss=worst, notes=(*question.notes, *impact.notes))


def is_own_tool(action: Action) -> bool:
    """Whether a tool is the agent's own, or of the server for this machine's files; any other server may be anywhere."""
    return action.kind is Kind.TOOL and (action.text.startswith(_FILES_SERVER) or "__" not in action.text)


def _belongs(fact: Fact, accused: set[Key], answers: Mapping[Key, Ephemeral]) -> bool:
    """Whether a fact concerns a target that is known to be ephemeral, or is a harmless command that such a one carries."""
    carried = isinstance(fact, Command) and fact.via and fact_key(fact) not in accused
    return fact_key(fact) in answers or bool(carried and any(fact.span == span for _, span in answers))


def _is_undisturbed(facts: Sequence[Fact], accused: set[Key], answers: Mapping[Key, Ephemeral]) -> bool:
    files = [one for one in answers if (answers[one].deed or {}).get("verb") == "database"]
    return is_undisturbed(facts, accused, answers.keys() - set(files))


def _effects(facts: Sequence[Fact], accused: set[Key], before: Sequence[str]) -> Iterator[Mapping[str, Any] | None]:
    """The destructive effects; None for one whose target or folder is not known."""
    exactly = {fact_key(fact): _exactly(fact) for fact in facts if isinstance(fact, Command)}
    searches = searches_in(facts)
    pairs = {fact_key(fact) for fact in facts if isinstance(fact, Command) and _operands(fact) == 2}
    for fact in facts:
        if fact_key(fact) not in accused:
            continue
        if isinstance(fact, Effect):
            if fact.verb in VERBS and RESOLVED not in fact.traits:  # the inspection follows links by itself
                query = search_behind(fact, searches)
                clear = known(fact.target) and QUOTED not in fact.target and (query is not None or _near(fact.via))
                one_link = "link" in fact.traits and fact_key(fact) in pairs
                more = {"sure": True} if one_link else exactly.get(fact_key(fact), {})
                more = more if query is None else {"found": query, "sure": True}
                yield {"verb": VERBS[fact.verb], "target": fact.target, **more} if clear and fact.target else None
        elif in_repository(fact):
            clear = all(map(known, fact.words)) and not fact.env and _near(fact.via)
            after = {"after": list(before)} if before else {}
            yield {"verb": "git", "words": list(fact.words), **after} if clear else None


def _operands(fact: Command) -> int:
    return sum(not word.startswith("-") for word in fact.words)


def _exactly(fact: Command) -> Mapping[str, Any]:
    """What is known of a command beyond its targets: that it does nothing else, and the query of a search."""
    found = find_delete_query(fact)
    if found is not None:
        return {"found": found, "sure": True}
    return {"sure": True} if fact.program in program_set("deletes") else {}


def _bases(cwd: str, facts: Sequence[Fact]) -> tuple[str, ...] | None:
    """The folders it may run in: this one and, after one `cd`, also its target, since nobody knows whether that succeeds."""
    commands = [fact for fact in facts if isinstance(fact, Command)]
    moves = [fact for fact in commands if fact.program in program_set("moves_folder")]
    if any(fact.program in program_set("folder_stack") for fact in commands):
        return None
    if not moves:
        return (cwd,)
    words = [word for word in moves[0].words if word != "--"]
    if len(moves) > 1 or len(words) != 1 or not known(words[0]):
        return None
    if words[0].startswith(("-", "~", QUOTED)) or set("*?[") & set(words[0]):
        return None
    there = words[0] if words[0].startswith("/") else f"{cwd.rstrip('/')}/{words[0]}"
    return (cwd, there) if there.rstrip("/") != cwd.rstrip("/") else (cwd,)


def _all_visible(assessment: Assessment, facts: Sequence[Fact], answers: Mapping[Key, Ephemeral]) -> bool:
    """Whether each destructive finding can be inspected on the disk, by a fact of its own, or has an ephemeral target."""
    findings = [finding for finding in assessment.findings if finding.level >= Level.DESTRUCTIVE]
    visible = {fact_key(f) for f in facts if isinstance(f, Effect) and f.verb in VERBS}
    visible |= {fact_key(f) for f in facts if isinstance(f, Command) and in_repository(f)}
    return all(
        (finding.rule in INSPECTABLE_RULES and (finding.subject, finding.span) in visible)
        or (finding.rule in EPHEMERAL_RULES and (finding.subject, finding.span) in answers)
        for finding in findings
    )


def _near(via: Sequence[str]) -> bool:
    return all(runs_here(step) for step in via)
