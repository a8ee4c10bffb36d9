"""The facts of an action -> its goals: effect and resolved target, whatever tool or language would reach them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlock.core.model import Action, Assessment, Level, Span
from interlock.core.read.facts import Command, Effect, Fact, known
from interlock.core.read.shell.session import shown
from interlock.core.redact import redact
from interlock.core.registry import normalised

MOST = 200
UNKNOWN = "?"
MORE = f"more:{UNKNOWN}"  # there are more goals than are listed
_OTHER = re.compile(r"[\W_]+")
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
# Params that say which one of its kind a thing is: to delete user 7 is not to delete user 8.
_NAMES = re.compile(
    r"(?i)(?:^|[_.-]|(?<=[a-z])(?=[A-Z]))_*(?:ids?|uuid|guid|uid|arn|names?|keys?|slug|e?mail|address|number|refs?|reference|path"
    r"|users?|accounts?|resource|target|table|database|collection|bucket|host|repo|branch|url|query|filter|where)$"
)
_WHICH = 20  # of them that are named

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
        found[f"{action.kind.value}:{normalised(action.text)[:200]}"] = None
    return tuple(found) if len(found) <= MOST else (*list(found)[: MOST - 1], MORE)


def _effects(action: Action, facts: Sequence[Fact], accused: set[Key]) -> Iterator[tuple[Key, str, bool]]:
    which = None
    for fact in facts:
        if not isinstance(fact, Effect) or fact.verb in _STILL or not fact.target:
            continue
        key = (fact.subject, fact.span)
        if key not in accused:
            continue
        target = _target(fact)
        if fact.verb.startswith("act_"):
            which = _which(action) if which is None else which
            target = f"{target} {which}".rstrip()
        yield key, f"{_SAME.get(fact.verb, fact.verb)}:{target}", fact.verb in _READS


def _target(fact: Effect) -> str:
    """A path as it resolves, without its last slash; anything else in words; what cannot be known fits no grant."""
    if not known(fact.target):
        return UNKNOWN
    if fact.path or fact.place:
        return (fact.path or fact.target).rstrip("/*") or "/"
    return _OTHER.sub("_", fact.target.casefold()).strip("_")[:120]


def _which(action: Action) -> str:
    """Which one is meant, by the params that name it; their order and their keys do not matter."""
    given = action.fields.get("params") or action.fields.get("input")
    if not isinstance(given, Mapping):
        return ""
    named = {text for key, value in redact(given).items() if _NAMES.search(str(key)) for text in _values(value)}
    return " ".join(sorted(named)[:_WHICH])[:200]


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        yield _OTHER.sub("_", str(value).casefold()).strip("_")[:100]
    elif isinstance(value, list | tuple):
        for item in value[:_WHICH]:
            yield from _values(item) if not isinstance(item, list | tuple) else ()


def _run(fact: Command) -> str:
    """A program whose effects are not known: its name, and the words that are no flags."""
    words = sorted(word.lstrip("+") for word in redact([fact.program, *fact.words])[1:] if not word.startswith("-"))
    return f"run:{fact.program} {' '.join(words)}"[:200]
