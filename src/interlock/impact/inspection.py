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
from interlock.analysis.targets import find_delete_query, happens_elsewhere, runs_here
from interlock.analysis.targets.addresses import is_ephemeral_name
from interlock.analysis.targets.ephemeral import RULES as EPHEMERAL_RULES
from interlock.analysis.targets.ephemeral import Ephemeral, ephemeral_targets
from interlock.analysis.targets.ordering import (
    CommandLine,
    Key,
    earlier_git_changes,
    fact_key,
    is_undisturbed,
    parse_command_line,
)
from interlock.analysis.targets.provenance import FILE, NOTHING_CREATED, Provenance
from interlock.model import Action, Assessment, Kind, Level, Loss
from interlock.policy.circumstances import Circumstances
from interlock.policy.impact import INSPECTABLE_RULES, Impact
from interlock.policy.real_paths import RESOLVED

MOST = 50  # effects of one action that are inspected
# Includes rules that are inspected only to inform a person: no impact relaxes their requirement.
INSPECTABLE = INSPECTABLE_RULES | frozenset(
    "filesystem.wipe filesystem.delete_system_file filesystem.delete_state git.force_push".split()
)
# The verb of a fact -> the verb in the inspection.
_VERBS = {"delete": "delete", "truncate": "truncate", "overwrite": "overwrite", "write": "overwrite"}
_AWAY = frozenset({"remote", "container", "privileged"})
_CONTENTS = frozenset({"database", "statements", "compose"})  # effects that depend on the content of a file
_PASSING = frozenset("temp sink build cache log device remote".split())  # places whose files are regenerated
_FILES_SERVER = "mcp__filesystem__"


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

    @property
    def body(self) -> dict[str, Any]:
        found: dict[str, Any] = {"bases": list(self.bases), "deeds": [dict(effect) for effect in self.deeds]}
        found |= {"made": [dict(one) for one in self.created]} if self.created else {}
        found |= {"home": self.home} if self.home else {}
        return found | ({"strayed": list(self.strayed)} if self.strayed else {})


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
    line = parse_command_line(action.text) if action.kind is Kind.COMMAND else CommandLine()
    facts = line.until(judged.facts, accused, [fact_key(fact) for fact in judged.facts])
    answers = ephemeral_targets(judged.facts, accused, created) if not line.set_apart else {}
    rest = accused - answers.keys()
    beside = [fact for fact in judged.facts if not _belongs(fact, answers)]
    if any(_AWAY & fact.traits for fact in beside) or happens_elsewhere(action, judged.facts, rest):
        return None
    effects = [
        *_effects(judged.facts, rest, earlier_git_changes(facts)),
        *(one.deed for one in answers.values() if one.deed is not None),
    ]
    bases = _bases(action.cwd, facts)
    if not (effects or answers) or bases is None or len(effects) > MOST or any(effect is None for effect in effects):
        return None
    inspects = bool(rest) or any((one.deed or {}).get("verb") in _CONTENTS for one in answers.values())
    undisturbed = not inspects or _is_undisturbed(line, facts, accused, answers)
    relieves = undisturbed and not line.set_apart and _all_visible(assessment, judged.facts, answers)
    notes = tuple(dict.fromkeys(one.note for one in answers.values() if one.note))
    inspected = tuple(effect for effect in effects if effect is not None)
    local = tuple(created.local()) if effects else ()
    throwaway = _forbidden_is_ephemeral(assessment, answers, bases, created)
    return Inspection(bases, inspected, relieves, notes, local, created.strayed, action.home, throwaway)


def _forbidden_is_ephemeral(
    assessment: Assessment, answers: Mapping[Key, Ephemeral], bases: Sequence[str], created: Provenance
) -> bool:
    """R-23: whether everything forbidden happens to local databases for tests or created in this session."""
    forbidden = [(one.subject, one.span) for one in assessment.findings if one.level >= Level.FORBIDDEN]
    return all(one in answers and (answers[one].note or _own_file(answers[one], bases, created)) for one in forbidden)


def _own_file(answer: Ephemeral, bases: Sequence[str], created: Provenance) -> bool:
    """Whether a database file is for tests by its name, or was created in this session where the action runs."""
    file = str((answer.deed or {}).get("target", ""))
    own = {posixpath.join(one.base, one.name) for one in created.things if one.kind == FILE}
    return is_ephemeral_name(posixpath.basename(file)) or own.issuperset(posixpath.join(base, file) for base in bases)


def overwrite_inspection(
    action: Action, facts: Sequence[Fact], created: Provenance, own_tools: bool, edits: bool = False
) -> Inspection | None:
    """The files that everyday work would overwrite: nobody is asked about them, and a snapshot keeps what Git does not have.

    `edits` includes changes to a part of a file.
    """
    here = action.kind is Kind.COMMAND or (own_tools and action.kind is Kind.TOOL)
    if not here or not action.cwd.startswith("/"):
        return None
    written = [
        fact for fact in facts if isinstance(fact, Effect) and _replaces(fact, edits) and RESOLVED not in fact.traits
    ]
    bases = _bases(action.cwd, facts) if written else None
    if bases is None or len(written) > MOST:
        return None
    targets = dict.fromkeys(fact.target for fact in written)
    effects = tuple({"verb": "overwrite", "target": target, "worked": True} for target in targets)
    return Inspection(bases, effects, False, (), tuple(created.local()), created.strayed, action.home)


def _replaces(fact: Effect, edits: bool) -> bool:
    """Whether a whole file is written in a place where it may be the only copy."""
    clear = known(fact.target) and QUOTED not in fact.target and not set("*?[{") & set(fact.target)
    passing = fact.place in _PASSING or fact.traits & (_AWAY if edits else _AWAY | {"edit"})
    return fact.verb in ("write", "overwrite") and clear and not passing and _near(fact.via)


def with_impact(
    at: Circumstances,
    action: Action,
    judged: Judgement,
    inspect: Callable[[Mapping[str, Any]], Impact],
    relief: bool,
    created: Provenance = NOTHING_CREATED,
    own_tools: bool = False,
) -> Circumstances:
    """The circumstances with the impact inspected for this decision; only the impact of the whole action relaxes anything."""
    question = inspection_of(action, judged, created, own_tools)
    if question is None:
        return at
    impact = run_inspection(question, inspect)
    counts = question.relieves and relief
    loss = impact.loss if counts else Loss.UNKNOWN
    return replace(at, impact=impact, loss=loss, ephemeral=counts and question.throwaway)


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


def _belongs(fact: Fact, answers: Mapping[Key, Ephemeral]) -> bool:
    """Whether a fact concerns a target that is known to be ephemeral."""
    return fact_key(fact) in answers


def _is_undisturbed(
    line: CommandLine, facts: Sequence[Fact], accused: set[Key], answers: Mapping[Key, Ephemeral]
) -> bool:
    files = [one for one in answers if (answers[one].deed or {}).get("verb") == "database"]
    return is_undisturbed(facts, accused, answers.keys() - set(files))


def moved_targets(facts: Sequence[Fact]) -> list[Mapping[str, Any]] | None:
    """The sources of moves as deletions: a move destroys nothing, but an undo has to put them back; None where one is not known."""
    moves = [fact for fact in facts if isinstance(fact, Effect) and fact.verb == "move" and RESOLVED not in fact.traits]
    if not all(known(one.target) and QUOTED not in one.target and _near(one.via) for one in moves):
        return None
    return [{"verb": "delete", "target": one.target} for one in moves]


def _effects(facts: Sequence[Fact], accused: set[Key], before: Sequence[str]) -> Iterator[Mapping[str, Any] | None]:
    """The destructive effects; None for one whose target or folder is not known."""
    exactly = {fact_key(fact): _exactly(fact) for fact in facts if isinstance(fact, Command)}
    pairs = {fact_key(fact) for fact in facts if isinstance(fact, Command) and _operands(fact) == 2}
    for fact in facts:
        if fact_key(fact) not in accused:
            continue
        if isinstance(fact, Effect):
            if fact.verb in _VERBS and RESOLVED not in fact.traits:  # the inspection follows links by itself
                clear = known(fact.target) and QUOTED not in fact.target and _near(fact.via)
                one_link = "link" in fact.traits and fact_key(fact) in pairs
                more = {"sure": True} if one_link else exactly.get(fact_key(fact), {})
                yield {"verb": _VERBS[fact.verb], "target": fact.target, **more} if clear and fact.target else None
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
    if words[0].startswith(("-", "~", QUOTED)):
        return None
    there = words[0] if words[0].startswith("/") else f"{cwd.rstrip('/')}/{words[0]}"
    return (cwd, there) if there.rstrip("/") != cwd.rstrip("/") else (cwd,)


def _all_visible(assessment: Assessment, facts: Sequence[Fact], answers: Mapping[Key, Ephemeral]) -> bool:
    """Whether each destructive finding can be inspected on the disk, by a fact of its own, or has an ephemeral target."""
    findings = [finding for finding in assessment.findings if finding.level >= Level.DESTRUCTIVE]
    visible = {fact_key(f) for f in facts if isinstance(f, Effect) and f.verb in _VERBS}
    visible |= {fact_key(f) for f in facts if isinstance(f, Command) and in_repository(f)}
    return all(
        (finding.rule in INSPECTABLE_RULES and (finding.subject, finding.span) in visible)
        or (finding.rule in EPHEMERAL_RULES and (finding.subject, finding.span) in answers)
        for finding in findings
    )


def _near(via: Sequence[str]) -> bool:
    return all(runs_here(step) for step in via)
