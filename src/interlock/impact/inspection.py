"""Plans the inspection of a judged action: its targets and whether the impact may relax the requirement; None where nothing can be inspected."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from interlock.analysis.assess import Judgement
from interlock.analysis.facts import QUOTED, Command, Effect, Fact, known
from interlock.analysis.targets import find_delete_query, happens_elsewhere
from interlock.analysis.targets.addresses import is_ephemeral_name
from interlock.analysis.targets.ephemeral import RULES as DISPOSABLE
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

MOST = 50  # deeds of one action that are looked at
# Those that can be looked at for words alone: what a person has to know, and no look can excuse.
INSPECTABLE = INSPECTABLE_RULES | frozenset(
    "filesystem.wipe filesystem.delete_system_file filesystem.delete_state git.force_push".split()
)
# An effect, and the deed that it is.
_VERBS = {"delete": "delete", "truncate": "truncate", "overwrite": "overwrite", "write": "overwrite"}
_AWAY = frozenset({"remote", "container", "privileged"})
# What the command may stand in, and still run in this folder with these words.
_WITHIN = frozenset({"bash -c", "sh -c", "dash -c", "zsh -c", "timeout", "time", "nohup", "command", "nice"})
_CONTENTS = frozenset({"database", "statements", "compose"})  # deeds for which it matters what is in a file
_PASSING = frozenset("temp sink build cache log device remote".split())  # where what is written over is made again
_FILES_SERVER = "mcp__filesystem__"
_MOVES = frozenset({"cd", "pushd", "popd", "chdir"})
# Programs that destroy what they are given and do nothing else: where that is not there, nothing is lost.
_DIRECT = frozenset({"rm", "unlink", "rmdir", "truncate", "shred"})


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is looked at, and whether the answer can lower what is asked for."""

    bases: tuple[str, ...]  # the folders that it may run in
    deeds: tuple[Mapping[str, Any], ...]
    relieves: bool
    notes: tuple[str, ...] = ()  # what is known without a look
    made: tuple[Mapping[str, str], ...] = ()  # by this session, as far as a look has to know
    strayed: tuple[str, ...] = ()  # where this session went before: what is not here may be there
    home: str = ""  # what `~` stands for, where that is not what the system says
    throwaway: bool = False  # all that is forbidden in it is done to databases that are there to be thrown away

    @property
    def body(self) -> dict[str, Any]:
        found: dict[str, Any] = {"bases": list(self.bases), "deeds": [dict(deed) for deed in self.deeds]}
        found |= {"made": [dict(one) for one in self.made]} if self.made else {}
        found |= {"home": self.home} if self.home else {}
        return found | ({"strayed": list(self.strayed)} if self.strayed else {})


def inspection_of(
    action: Action, judged: Judgement, made: Provenance = NOTHING_CREATED, own_tools: bool = False
) -> Inspection | None:
    """The question; None for everyday work, and for what happens elsewhere, as somebody else or in a way that cannot be read.

    `own_tools` is whether a tool works on this machine's files, and is not one that somebody only names.
    """
    assessment = judged.assessment
    here = action.kind is Kind.COMMAND or (own_tools and action.kind is Kind.TOOL)
    if not here or assessment.level < Level.DESTRUCTIVE or not action.cwd.startswith("/"):
        return None
    accused = {(f.subject, f.span) for f in assessment.findings if f.level >= Level.DESTRUCTIVE}
    line = parse_command_line(action.text) if action.kind is Kind.COMMAND else CommandLine()
    facts = line.until(judged.facts, accused, [fact_key(fact) for fact in judged.facts])
    answers = ephemeral_targets(judged.facts, accused, made) if not line.set_apart else {}
    rest = accused - answers.keys()
    beside = [fact for fact in judged.facts if not _belongs(fact, answers)]
    if any(_AWAY & fact.traits for fact in beside) or happens_elsewhere(action, judged.facts, rest):
        return None
    deeds = [
        *_deeds(judged.facts, rest, earlier_git_changes(facts)),
        *(one.deed for one in answers.values() if one.deed is not None),
    ]
    bases = _bases(action.cwd, facts)
    if not (deeds or answers) or bases is None or len(deeds) > MOST or any(deed is None for deed in deeds):
        return None
    looks = bool(rest) or any((one.deed or {}).get("verb") in _CONTENTS for one in answers.values())
    undisturbed = not looks or _undisturbed(line, facts, accused, answers)
    relieves = undisturbed and not line.set_apart and _all_visible(assessment, judged.facts, answers)
    notes = tuple(dict.fromkeys(one.note for one in answers.values() if one.note))
    looked_at = tuple(deed for deed in deeds if deed is not None)
    local = tuple(made.local()) if deeds else ()
    thrown = _throwaway(assessment, answers, bases, made)
    return Inspection(bases, looked_at, relieves, notes, local, made.strayed, action.home, thrown)


def _throwaway(
    assessment: Assessment, answers: Mapping[Key, Ephemeral], bases: Sequence[str], made: Provenance
) -> bool:
    """R-23: whether all that is forbidden in it is done to databases here, made for tests or by this session."""
    forbidden = [(one.subject, one.span) for one in assessment.findings if one.level >= Level.FORBIDDEN]
    return all(one in answers and (answers[one].note or _own_file(answers[one], bases, made)) for one in forbidden)


def _own_file(answer: Ephemeral, bases: Sequence[str], made: Provenance) -> bool:
    """Whether a database that is a file is for tests by its name, or was made by this session where the action runs."""
    file = str((answer.deed or {}).get("target", ""))
    own = {posixpath.join(one.base, one.name) for one in made.things if one.kind == FILE}
    return is_ephemeral_name(posixpath.basename(file)) or own.issuperset(posixpath.join(base, file) for base in bases)


def overwrite_inspection(
    action: Action, facts: Sequence[Fact], made: Provenance, own_tools: bool, edits: bool = False
) -> Inspection | None:
    """What everyday work would write over if it is there: nobody is asked about that, and what Git does not have is kept first.

    `edits` is whether a change of a part of a file counts as well.
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
    deeds = tuple({"verb": "overwrite", "target": target, "worked": True} for target in targets)
    return Inspection(bases, deeds, False, (), tuple(made.local()), made.strayed, action.home)


def _replaces(fact: Effect, edits: bool) -> bool:
    """Whether a file is written as a whole, in a place where it may be the only one."""
    clear = known(fact.target) and QUOTED not in fact.target and not set("*?[{") & set(fact.target)
    passing = fact.place in _PASSING or fact.traits & (_AWAY if edits else _AWAY | {"edit"})
    return fact.verb in ("write", "overwrite") and clear and not passing and _near(fact.via)


def with_impact(
    at: Circumstances,
    action: Action,
    judged: Judgement,
    look: Callable[[Mapping[str, Any]], Impact],
    relief: bool,
    made: Provenance = NOTHING_CREATED,
    own_tools: bool = False,
) -> Circumstances:
    """The circumstances, with what a look for this very decision saw; only what the whole action comes to lowers anything."""
    question = inspection_of(action, judged, made, own_tools)
    if question is None:
        return at
    seen = run_inspection(question, look)
    counts = question.relieves and relief
    return replace(at, impact=seen, loss=seen.loss if counts else Loss.UNKNOWN, ephemeral=counts and question.throwaway)


def run_inspection(question: Inspection, look: Callable[[Mapping[str, Any]], Impact]) -> Impact:
    """What was seen, with what is known without a look."""
    if not question.deeds:
        return Impact(Loss.RECOVERABLE, notes=question.notes)
    seen = look(question.body)
    worst = Loss.RECOVERABLE if question.notes and seen.loss is Loss.NONE else seen.loss
    return replace(seen, loss=worst, notes=(*question.notes, *seen.notes))


def is_own_tool(action: Action) -> bool:
    """A tool of the agent itself, or of the server that gives it this machine's files; any other server may be anywhere."""
    return action.kind is Kind.TOOL and (action.text.startswith(_FILES_SERVER) or "__" not in action.text)


def _belongs(fact: Fact, answers: Mapping[Key, Ephemeral]) -> bool:
    """Whether all that is to be said of a fact is known."""
    return fact_key(fact) in answers


def _undisturbed(line: CommandLine, facts: Sequence[Fact], accused: set[Key], answers: Mapping[Key, Ephemeral]) -> bool:
    files = [one for one in answers if (answers[one].deed or {}).get("verb") == "database"]
    return is_undisturbed(facts, accused, answers.keys() - set(files))


def moved_targets(facts: Sequence[Fact]) -> list[Mapping[str, Any]] | None:
    """What leaves its place for another, which is destroyed nowhere and yet missed by whoever takes it all back; None where that is not known."""
    moves = [fact for fact in facts if isinstance(fact, Effect) and fact.verb == "move" and RESOLVED not in fact.traits]
    if not all(known(one.target) and QUOTED not in one.target and _near(one.via) for one in moves):
        return None
    return [{"verb": "delete", "target": one.target} for one in moves]


def _deeds(facts: Sequence[Fact], accused: set[Key], before: Sequence[str]) -> Iterator[Mapping[str, Any] | None]:
    """What is destroyed; None for something whose target or folder is not known."""
    exactly = {fact_key(fact): _exactly(fact) for fact in facts if isinstance(fact, Command)}
    for fact in facts:
        if fact_key(fact) not in accused:
            continue
        if isinstance(fact, Effect):
            if fact.verb in _VERBS and RESOLVED not in fact.traits:  # a look follows links by itself
                clear = known(fact.target) and QUOTED not in fact.target and _near(fact.via)
                more = exactly.get(fact_key(fact), {})
                yield {"verb": _VERBS[fact.verb], "target": fact.target, **more} if clear and fact.target else None
        elif fact.program == "git":
            clear = all(map(known, fact.words)) and not fact.env and _near(fact.via)
            after = {"after": list(before)} if before else {}
            yield {"verb": "git", "words": list(fact.words), **after} if clear else None


def _exactly(fact: Command) -> Mapping[str, Any]:
    """What is known of a command beyond what it destroys: that this is all, and what exactly a search finds."""
    found = find_delete_query(fact)
    if found is not None:
        return {"found": found, "sure": True}
    one_link = fact.program == "ln" and sum(not word.startswith("-") for word in fact.words) == 2
    return {"sure": True} if fact.program in _DIRECT or one_link else {}


def _bases(cwd: str, facts: Sequence[Fact]) -> tuple[str, ...] | None:
    """Where it may run: here and, behind one `cd`, also there: nobody knows which of them succeeds."""
    moves = [fact for fact in facts if isinstance(fact, Command) and fact.program in _MOVES]
    if not moves:
        return (cwd,)
    words = [word for word in moves[0].words if word != "--"]
    if len(moves) > 1 or moves[0].program != "cd" or len(words) != 1 or not known(words[0]):
        return None
    if words[0].startswith(("-", "~", QUOTED)):
        return None
    there = words[0] if words[0].startswith("/") else f"{cwd.rstrip('/')}/{words[0]}"
    return (cwd, there) if there.rstrip("/") != cwd.rstrip("/") else (cwd,)


def _all_visible(assessment: Assessment, facts: Sequence[Fact], answers: Mapping[Key, Ephemeral]) -> bool:
    """Whether everything that is held against it can be seen on the disk, with a fact for each, or is known without that."""
    held = [finding for finding in assessment.findings if finding.level >= Level.DESTRUCTIVE]
    seen = {fact_key(f) for f in facts if isinstance(f, Effect) and f.verb in _VERBS}
    seen |= {fact_key(f) for f in facts if isinstance(f, Command) and f.program == "git"}
    return all(
        (finding.rule in INSPECTABLE_RULES and (finding.subject, finding.span) in seen)
        or (finding.rule in DISPOSABLE and (finding.subject, finding.span) in answers)
        for finding in held
    )


def _near(via: Sequence[str]) -> bool:
    return all(step in _WITHIN for step in via)
