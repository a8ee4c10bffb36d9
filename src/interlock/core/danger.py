"""What an adapter says of one operation's danger, and what level that comes to for given parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.core.conditions import FACTS, Condition, holds
from interlock.core.excerpt import visible
from interlock.core.model import Level

_HOLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]{0,63})\}")
_QUOTES = str.maketrans({"'": "\\'", '"': '\\"', "`": "\\`", "\\": "\\\\"})
_SHOWN = 80  # characters of one parameter in a message


@dataclass(frozen=True, slots=True)
class ConditionalLevel:
    """A level that applies while a condition holds."""

    when: Condition
    level: Level
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Escalation:
    """A level that applies once the operation was performed this often by one agent in an hour (R-13)."""

    after_count: int
    level: Level
    message: str = ""


@dataclass(frozen=True, slots=True)
class Approval:
    """Who has to approve: `role:admin`, `team:security`."""

    required: bool
    approvers: frozenset[str]
    timeout_hours: float | None = None


@dataclass(frozen=True, slots=True)
class DangerBlock:
    """One operation's declared danger, whichever of the three forms it was written in (C-05)."""

    level: Level  # `level`, `default_level`, `danger_level` or the `base_level` of the score
    reasons: tuple[str, ...] = ()
    confirmation_message: str = ""
    cooldown_seconds: int = 0
    requires_reauth: bool = False
    audit_context: tuple[str, ...] = ()
    requires_confirmation: bool = False
    hook_blockable: bool = True
    conditions: tuple[ConditionalLevel, ...] = ()
    approval: Approval | None = None
    escalation: tuple[Escalation, ...] = ()
    score_factors: tuple[tuple[str, int], ...] = ()
    computed_level: Level | None = None

    @property
    def highest(self) -> Level:
        """The level if everything that can raise it does, escalation apart."""
        return max(self.scored(dict.fromkeys(FACTS, True)), *(case.level for case in self.conditions), self.level)

    def scored(self, facts: Mapping[str, Any]) -> Level:
        """The base level plus every factor that is true, capped at `computed_level` (R-13)."""
        total = self.level + sum(weight for name, weight in self.score_factors if facts.get(name))
        return Level(min(total, self.computed_level if self.computed_level is not None else Level.FORBIDDEN))


@dataclass(frozen=True, slots=True)
class Declared:
    """What a block comes to for one call."""

    level: Level
    source: str  # the key that decided
    reasons: tuple[str, ...]


def declared(block: DangerBlock, variables: Mapping[str, Any] | None = None) -> Declared:
    """The block's level for these variables; without variables, the level it starts from."""
    level, source, reasons = block.level, "declared", list(block.reasons)
    if variables is None:
        return Declared(level, source, tuple(reasons))
    scored = block.scored(variables)
    if scored > level:
        level, source = scored, "score_factors"
        true = [name for name, _ in block.score_factors if variables.get(name)]
        reasons.append(f"Score: {', '.join(true)}.")
    for at, case in enumerate(block.conditions):
        held = holds(case.when, variables)
        if not held.true:
            continue
        reasons.append(_why(case, held.error))
        if case.level > level:
            level, source = case.level, f"conditions[{at}]"
    return Declared(level, source, tuple(reasons))


def escalated(block: DangerBlock, count: int) -> Escalation | None:
    """The worst step reached by `count` earlier performances in the hour; it raises the tier, not the level (DL-13)."""
    reached = [step for step in block.escalation if count >= step.after_count]
    return max(reached, key=lambda step: (step.level, step.after_count), default=None)


def message(template: str, params: Mapping[str, Any]) -> str:
    """The template with each `{param}` filled in; a value can neither end its quotes nor hide or forge text."""
    return _HOLE.sub(lambda hole: _filled(hole[1], params), template)


def holes(template: str) -> tuple[str, ...]:
    """The params that a template names."""
    return tuple(dict.fromkeys(_HOLE.findall(template)))


def short_form(block: DangerBlock, level: Level) -> dict[str, Any]:
    """The block as the closed schema has it, at the level that is in force (C-05)."""
    return {
        "level": level.word,
        **({"reason": " ".join(block.reasons)} if block.reasons else {}),
        "requires_confirmation": block.requires_confirmation or level >= Level.DESTRUCTIVE,
        "hook_blockable": block.hook_blockable,
    }


def prose_form(block: DangerBlock, level: Level) -> dict[str, Any]:
    """The block with everything that the schema has no room for, at the level that is in force, in the words of the file (DL-02, DL-03)."""
    scored = [{"base_level": block.level.word}, *({name: weight} for name, weight in block.score_factors)]
    rest: dict[str, Any] = {
        "reasons": list(block.reasons),
        "confirmation_message": block.confirmation_message,
        "cooldown_seconds": block.cooldown_seconds,
        "requires_reauth": block.requires_reauth,
        "audit_context": list(block.audit_context),
        "conditions": [_said(when=one.when.text, level=one.level.word, reason=one.reason) for one in block.conditions],
        "approval": _approval(block.approval) if block.approval else {},
        "escalation": [
            _said(after_count=one.after_count, level=one.level.word, message=one.message) for one in block.escalation
        ],
        "score_factors": scored if block.score_factors else [],
        "computed_level": block.computed_level.word if block.computed_level is not None else "",
    }
    return {"level": level.word, **{key: value for key, value in rest.items() if value}}


def _approval(approval: Approval) -> dict[str, Any]:
    """Who may approve, as `{"role": "admin"}`, and for how long they are waited for."""
    names = [dict([one.split(":", 1)]) for one in sorted(approval.approvers)]
    return {"required": approval.required, **_said(approvers=names, timeout_hours=approval.timeout_hours)}


def _said(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value}


def _why(case: ConditionalLevel, error: str) -> str:
    said = case.reason or f"{case.when.text} holds"
    return f"{said} (the condition could not be evaluated, so it counts as true: {error})" if error else said


def _filled(name: str, params: Mapping[str, Any]) -> str:
    value: Any = params
    for key in name.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return f"(no {name})"
        value = value[key]
    if isinstance(value, Mapping | list | tuple):
        text = f"({len(value)} values)" if not isinstance(value, Mapping) else "(a table)"
    elif isinstance(value, int) and abs(value) >= 10**30:
        text = "(a huge number)"
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
    cut = text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")
    return visible(cut.translate(_QUOTES))
