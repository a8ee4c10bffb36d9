"""The facts of an action -> its goals: effect and resolved target, whatever tool or language would reach them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from interlock.core.model import Action, Assessment, Level
from interlock.core.read.facts import Command, Effect, Fact, known
from interlock.core.read.shell.session import shown
from interlock.core.registry import normalised

MOST = 20
UNKNOWN = "?"
# Verbs that come to the same thing for whoever said no.
_SAME = {
    "delete": "destroy", "truncate": "destroy", "overwrite": "destroy", "act_delete": "destroy", "sql_drop": "destroy",
    "sql_truncate": "destroy", "sql_delete": "destroy", "store_drop": "destroy", "store_delete": "destroy", "move": "destroy",
    "act_terminate": "stop", "kill": "stop", "act_rewrite": "rewrite", "act_leak": "send", "send": "send", "act_disk": "destroy",
    "act_revoke": "revoke", "act_invalidate": "revoke", "act_account": "close", "act_pay": "pay", "act_block": "ban",
    "act_unconfigure": "disable", "act_override": "disable", "act_escalate": "escalate", "act_send": "tell",
    "chmod": "open", "chown": "open", "sql_grant": "escalate", "sql_revoke": "revoke", "http": "request", "run_download": "run",
    "write": "write", "append": "write",
}  # fmt: skip
_STILL = frozenset(
    {"read", "fetch", "act_read", "act_change", "act_vague", "sql_read", "store_read", "declared", "unreadable"}
)


def goals(action: Action, facts: Sequence[Fact], assessment: Assessment) -> tuple[str, ...]:
    """What the action is after: `destroy:/home/dev/app/src`; for a program without an effect of its own, its command."""
    if assessment.level < Level.DESTRUCTIVE:
        return ()
    found = [*_effects(facts), *_commands(facts, assessment)]
    if not found:
        found = [f"{action.kind.value}:{normalised(action.text)[:200]}"]
    return tuple(dict.fromkeys(found))[:MOST]


def _effects(facts: Iterable[Fact]) -> list[str]:
    return [
        f"{_SAME.get(fact.verb, fact.verb)}:{_target(fact)}"
        for fact in facts
        if isinstance(fact, Effect) and fact.verb not in _STILL and fact.target
    ]


def _target(fact: Effect) -> str:
    """A path as it resolves, without its last slash; anything else in words; what cannot be known fits no grant."""
    if not known(fact.target):
        return UNKNOWN
    if fact.path or fact.place:
        return (fact.path or fact.target).rstrip("/*") or "/"
    return normalised(fact.target).strip("_")[:120]


def _commands(facts: Sequence[Fact], assessment: Assessment) -> list[str]:
    """Programs that a rule fired on and whose effects are not known: program, and the words that are no flags."""
    told = {
        fact.subject for fact in facts if isinstance(fact, Effect) and fact.verb not in _STILL and known(fact.target)
    }
    accused = {
        finding.subject.split(" ", 1)[0] for finding in assessment.findings if finding.level >= Level.DESTRUCTIVE
    }
    return [
        f"run:{fact.program} {' '.join(sorted(word.lstrip('+') for word in fact.words if not word.startswith('-')))}"[:200]
        for fact in facts
        if isinstance(fact, Command) and fact.program in accused and shown(fact.program, fact.words) not in told
    ]
