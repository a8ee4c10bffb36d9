"""The facts of an action -> its goals: effect and resolved target, whatever tool or language would reach them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from interlock.core.elsewhere import elsewhere
from interlock.core.model import Action, Assessment, Kind, Level, Span
from interlock.core.read import read
from interlock.core.read.facts import Command, Effect, Fact, known
from interlock.core.read.shell.session import shown
from interlock.core.redact import redact
from interlock.core.registry import normalised
from interlock.core.which import noun, which

MOST = 200
LONGEST = 120  # characters of one target; of a longer one its hash counts as well
UNKNOWN = "?"
MORE = f"more:{UNKNOWN}"  # there are more goals than are listed
ELSEWHERE = f"elsewhere:{UNKNOWN}"  # on another machine, in a container, in a database that is named beside it: fits no grant on targets
_OTHER = re.compile(r"[\W_]+")
_ALL_OF_IT = re.compile(r"(?:/\**)+$")  # `data/`, `data/*`; `data*` is more than data
_STARS = re.compile(r"[*?\[]")
# Verbs that come to the same thing for whoever said no.
_SAME = {
    "delete": "destroy", "truncate": "destroy", "overwrite": "destroy", "act_delete": "destroy", "sql_drop": "destroy",
    "sql_truncate": "destroy", "sql_delete": "destroy", "store_drop": "destroy", "store_delete": "destroy", "move": "destroy",
    "act_terminate": "stop", "kill": "stop", "act_rewrite": "rewrite", "act_leak": "send", "send": "send", "act_disk": "destroy",
    "act_revoke": "revoke", "act_invalidate": "revoke", "act_account": "close", "act_pay": "pay", "act_block": "ban",
    "act_unconfigure": "disable", "act_override": "disable", "act_escalate": "escalate", "act_send": "tell",
    "chmod": "open", "chown": "open", "sql_grant": "escalate", "sql_revoke": "revoke", "http": "request", "run_download": "run",
    "write": "write", "append": "write", "sql_read": "read", "store_read": "read", "fetch": "read",
}  # fmt: skip
_STILL = frozenset({"act_read", "act_change", "act_vague", "declared", "unreadable"})
_READS = frozenset({"read", "fetch", "sql_read", "store_read"})
_BY_NAME_ALONE = frozenset({"table", "view", "collection"})  # as a statement in SQL has it
Key = tuple[str, Span | None]  # what a finding points at


def goals(action: Action, facts: Sequence[Fact], assessment: Assessment) -> tuple[str, ...]:
    """What the action is after: `destroy:/home/dev/app/src`; for a program without an effect of its own, its command.

    Only what a rule held against it counts; and everything that a rule held against it does.
    """
    if assessment.level < Level.DESTRUCTIVE:
        return ()
    accused = {(f.subject, f.span) for f in assessment.findings if f.level >= Level.DESTRUCTIVE}
    found: dict[str, None] = {}
    told: set[Key] = set()  # by an effect
    heard: set[Key] = set()
    for key, goal, reads in _effects(action, facts, accused):
        found[goal] = None
        heard.add(key)
        if not reads and not goal.endswith(f":{UNKNOWN}"):
            told.add(key)
    untold = accused - told
    for fact in facts:
        if isinstance(fact, Command) and (key := (shown(fact.program, fact.words), fact.span)) in untold:
            found[_run(fact)] = None
            heard.add(key)
    if not found or accused - heard:
        found |= dict.fromkeys(_by_name(action))
    if elsewhere(action, facts, accused):
        found[ELSEWHERE] = None
    return tuple(found) if len(found) <= MOST else (*list(found)[: MOST - 1], MORE)


def places(facts: Sequence[Fact]) -> tuple[str, ...]:
    """What happens to which path, harmful or not, in the same words; a name without a slash is no path."""
    found = (
        fact for fact in facts if isinstance(fact, Effect) and fact.path and known(fact.path) and "/" in fact.target
    )
    return tuple(dict.fromkeys(f"{_SAME.get(fact.verb, fact.verb)}:{_target(fact)}" for fact in found))[:MOST]


def takes_in(goal: str, other: str) -> bool:
    """Whether one goal would do to a folder, or to all that fits a glob, what the other would do to something in it."""
    effect, _, target = goal.partition(":")
    same, _, inner = other.partition(":")
    if effect != same or not target.startswith("/") or not inner.startswith("/"):
        return False
    return inner.startswith(f"{target.rstrip('/')}/") or (bool(_STARS.search(target)) and fnmatchcase(inner, target))


def _effects(action: Action, facts: Sequence[Fact], accused: set[Key]) -> Iterator[tuple[Key, str, bool]]:
    for fact in facts:
        if not isinstance(fact, Effect) or fact.verb in _STILL or not fact.target:
            continue
        key = (fact.subject, fact.span)
        if key not in accused:
            continue
        for target in _acted_on(action, fact) if fact.verb.startswith("act_") else [_target(fact)]:
            yield key, f"{_SAME.get(fact.verb, fact.verb)}:{target}", fact.verb in _READS


def _target(fact: Effect) -> str:
    """A path as it resolves, without its last slash; anything else in words; what cannot be known fits no grant."""
    if not known(fact.target):
        return UNKNOWN
    if fact.path or fact.place:
        return _ALL_OF_IT.sub("", fact.path or fact.target) or "/"
    text = _OTHER.sub("_", fact.target.casefold()).strip("_")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}_{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _acted_on(action: Action, fact: Effect) -> list[str]:
    """What an announced act is done to, one by one: its noun, and which of its kind by the params that name it."""
    if not known(fact.target):
        return [UNKNOWN]
    thing = noun(fact.target)
    targets, cut = which(_params(action), thing)
    kind = "" if thing in _BY_NAME_ALONE and all(targets) else f"{thing}_"
    return [f"{kind}{target}".strip("_") for target in targets] + ([UNKNOWN] if cut else [])


def _by_name(action: Action) -> list[str]:
    """The goals of an action whose effects nobody holds against it: what its name says, or the name itself, of these targets."""
    if action.kind not in (Kind.OPERATION, Kind.TOOL):
        return [f"{action.kind.value}:{normalised(action.text)[:200]}"]
    if action.fields.get("declared") is not None:  # what its adapter declares stands for what its name says
        bare = replace(action, fields={**action.fields, "declared": None})
        named = [fact for fact in read(bare).facts if isinstance(fact, Effect) and fact.verb.startswith("act_")]
        found = list(_effects(bare, named, {(fact.subject, fact.span) for fact in named}))
        if found:
            return [goal for _, goal, _ in found]
    targets, cut = which(_params(action), "")
    name = f"{action.kind.value}:{normalised(action.text)[:200]}"
    return [f"{name}_{target}".rstrip("_") for target in targets] + ([MORE] if cut else [])


def _params(action: Action) -> Mapping[str, object]:
    given = action.fields.get("params") or action.fields.get("input")
    return redact(given) if isinstance(given, Mapping) else {}


def _run(fact: Command) -> str:
    """A program whose effects are not known: its name, and the words that are no flags."""
    words = sorted(word.lstrip("+") for word in redact([fact.program, *fact.words])[1:] if not word.startswith("-"))
    return f"run:{fact.program} {' '.join(words)}"[:200]
