"""A judged action -> what has to be looked at before anything can be said about what would be lost; nothing where no look could answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from interlock.core.circumstances import Circumstances
from interlock.core.decide import Judgement
from interlock.core.elsewhere import elsewhere
from interlock.core.loss import Seen
from interlock.core.model import Action, Assessment, Kind, Level, Loss, Span
from interlock.core.read.facts import QUOTED, Command, Effect, Fact, known
from interlock.core.read.shell.session import shown

MOST = 50  # deeds of one action that are looked at
# The rules whose harm can be seen on the disk. What any other rule holds against an action, no look takes away.
SEEN = frozenset(
    "filesystem.delete_tree filesystem.delete_file filesystem.empty_file filesystem.overwrite_file git.reset_hard git.clean "
    "git.discard_changes git.drop_stash git.force_branch".split()
)
# Those that can be looked at for words alone: what a person has to know, and no look can excuse.
TOLD = SEEN | frozenset(
    "filesystem.wipe filesystem.delete_system_file filesystem.delete_state git.force_push git.force_push_with_lease".split()
)
_VERBS = frozenset({"delete", "truncate", "overwrite"})
_AWAY = frozenset({"remote", "container", "privileged"})
# What the command may stand in, and still run in this folder with these words.
_WITHIN = frozenset({"bash -c", "sh -c", "dash -c", "zsh -c", "timeout", "time", "nohup", "command", "nice"})
_WRAPPERS = frozenset({"bash", "sh", "dash", "zsh", "timeout", "time", "nohup", "command", "nice"})
# What may stand beside it: nothing of it brings other files to where something is destroyed.
_BESIDE = frozenset(
    "cd echo printf ls cat pwd true false : test [ [[ head tail grep egrep fgrep rg wc sort uniq cut tr du df stat file sleep date "
    "which type whoami id env uname mkdir rmdir rm unlink set exit read wait jq diff cmp less more basename dirname realpath "
    "pytest tox ruff mypy black eslint tsc prettier jest vitest".split()
)
_GIT_READS = frozenset("status log diff show rev-parse ls-files ls-remote blame describe grep shortlog".split())
_FOLLOWS = frozenset({"-L", "-H", "-follow"})
_BRINGS = frozenset(
    {"move", "unreadable", "run_script", "run_download"}
)  # effects after which a place may hold anything
Key = tuple[str, Span | None]  # what a finding points at


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked at, and whether the answer can lower what is asked for."""

    bases: tuple[str, ...]  # the folders that it may run in
    deeds: tuple[Mapping[str, Any], ...]
    relieves: bool

    @property
    def body(self) -> dict[str, Any]:
        return {"bases": list(self.bases), "deeds": [dict(deed) for deed in self.deeds]}


def question_of(action: Action, judged: Judgement) -> Question | None:
    """The question; None for everyday work, and for what happens elsewhere, as somebody else or in a way that cannot be read."""
    assessment = judged.assessment
    if action.kind is not Kind.COMMAND or assessment.level < Level.DESTRUCTIVE or not action.cwd.startswith("/"):
        return None
    accused = {(f.subject, f.span) for f in assessment.findings if f.level >= Level.DESTRUCTIVE}
    if any(_AWAY & fact.traits for fact in judged.facts) or elsewhere(action, judged.facts, accused):
        return None
    deeds = list(_deeds(judged.facts, accused))
    bases = _bases(action.cwd, judged.facts)
    if not deeds or bases is None or len(deeds) > MOST or any(deed is None for deed in deeds):
        return None
    relieves = _plain(judged.facts, accused) and _answered(assessment, judged.facts)
    return Question(bases, tuple(deed for deed in deeds if deed is not None), relieves)


def looked(
    at: Circumstances, action: Action, judged: Judgement, look: Callable[[Mapping[str, Any]], Seen], relief: bool
) -> Circumstances:
    """The circumstances, with what a look for this very decision saw; only what the whole action comes to lowers anything."""
    question = question_of(action, judged)
    if question is None:
        return at
    seen = look(question.body)
    return replace(at, seen=seen, loss=seen.loss if question.relieves and relief else Loss.UNKNOWN)


def _deeds(facts: Sequence[Fact], accused: set[Key]) -> Iterator[Mapping[str, Any] | None]:
    """What is destroyed; None for something whose target or folder is not known."""
    for fact in facts:
        if isinstance(fact, Effect):
            if fact.verb in _VERBS and (fact.subject, fact.span) in accused:
                clear = known(fact.target) and QUOTED not in fact.target and _near(fact.via)
                yield {"verb": fact.verb, "target": fact.target} if clear and fact.target else None
        elif fact.program == "git" and (shown(fact.program, fact.words), fact.span) in accused:
            clear = all(map(known, fact.words)) and not fact.env and _near(fact.via)
            yield {"verb": "git", "words": list(fact.words)} if clear else None


def _bases(cwd: str, facts: Sequence[Fact]) -> tuple[str, ...] | None:
    """Where it may run: here and, behind one `cd`, also there: nobody knows which of them succeeds."""
    moves = [fact for fact in facts if isinstance(fact, Command) and fact.program in ("cd", "pushd", "popd", "chdir")]
    if not moves:
        return (cwd,)
    words = [word for word in moves[0].words if word != "--"]
    if len(moves) > 1 or moves[0].program != "cd" or len(words) != 1 or not known(words[0]):
        return None
    if words[0].startswith(("-", "~", QUOTED)):
        return None
    there = words[0] if words[0].startswith("/") else f"{cwd.rstrip('/')}/{words[0]}"
    return (cwd, there) if there.rstrip("/") != cwd.rstrip("/") else (cwd,)


def _answered(assessment: Assessment, facts: Sequence[Fact]) -> bool:
    """Whether everything that is held against it can be seen on the disk, and a fact is there for each."""
    held = [finding for finding in assessment.findings if finding.level >= Level.DESTRUCTIVE]
    seen = {(f.subject, f.span) for f in facts if isinstance(f, Effect) and f.verb in _VERBS}
    seen |= {(shown(f.program, f.words), f.span) for f in facts if isinstance(f, Command) and f.program == "git"}
    return all(finding.rule in SEEN and (finding.subject, finding.span) in seen for finding in held)


def _plain(facts: Sequence[Fact], accused: set[Key]) -> bool:
    """Whether nothing beside the deed could change what it meets between the look and the deed: no move, no link, one Git command."""
    commands = [fact for fact in facts if isinstance(fact, Command)]
    changing = {(shown(fact.program, fact.words), fact.span) for fact in commands if _changes(fact)}
    moved = any(isinstance(fact, Effect) and fact.verb in _BRINGS for fact in facts)
    follows = any(fact.program == "find" and _FOLLOWS & set(fact.words) for fact in commands)
    set_apart = any(fact.env for fact in commands)
    return changing <= accused and len(changing) <= 1 and not moved and not follows and not set_apart


def _changes(fact: Command) -> bool:
    if fact.program == "git":
        return next((word for word in fact.words if not word.startswith("-")), "") not in _GIT_READS
    return fact.program not in _BESIDE and not (fact.program in _WRAPPERS and "wrapper" in fact.traits)


def _near(via: Sequence[str]) -> bool:
    return all(step in _WITHIN for step in via)
