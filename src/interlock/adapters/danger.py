"""The danger that an adapter declares for an operation: read strictly, and resolved to a level for given parameters (DL-02, DL-03, DL-14)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.adapters.conditions import FACTS, Condition, ConditionError, compile_condition, evaluate_condition
from interlock.analysis.display_text import visible
from interlock.model import Level
from interlock.problems import MISSING, Path, Problems, describe_value

_HOLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]{0,63})\}")
_QUOTES = str.maketrans({"'": "\\'", '"': '\\"', "`": "\\`", "\\": "\\\\"})
_SHOWN = 80  # characters of one parameter in a message


class ConditionalLevel(Struct, frozen=True):
    """A level that applies while a condition holds."""

    when: Condition
    level: Level
    reason: str = ""


class Escalation(Struct, frozen=True):
    """A level that applies once the operation was performed this often by one agent in an hour (R-13)."""

    after_count: int
    level: Level
    message: str = ""


class DeclaredApproval(Struct, frozen=True):
    """Who has to approve: `role:admin`, `team:security`."""

    required: bool
    approvers: frozenset[str]
    timeout_hours: float | None = None


class DangerBlock(Struct, frozen=True):
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
    approval: DeclaredApproval | None = None
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


class DeclaredDanger(Struct, frozen=True):
    """What a block comes to for one call."""

    level: Level
    source: str  # the key that decided
    reasons: tuple[str, ...]


def declared_danger(block: DangerBlock, variables: Mapping[str, Any] | None = None) -> DeclaredDanger:
    """The block's level for these variables; without variables, the level it starts from."""
    level, source, reasons = block.level, "declared", list(block.reasons)
    if variables is None:
        return DeclaredDanger(level, source, tuple(reasons))
    scored = block.scored(variables)
    if scored > level:
        level, source = scored, "score_factors"
        true = [name for name, _ in block.score_factors if variables.get(name)]
        reasons.append(f"Score: {', '.join(true)}.")
    for at, case in enumerate(block.conditions):
        held = evaluate_condition(case.when, variables)
        if not held.true:
            continue
        reasons.append(_why(case, held.error))
        if case.level > level:
            level, source = case.level, f"conditions[{at}]"
    return DeclaredDanger(level, source, tuple(reasons))


def reached_escalation(block: DangerBlock, count: int) -> Escalation | None:
    """The worst step reached by `count` earlier performances in the hour; it raises the tier, not the level (DL-13)."""
    reached = [step for step in block.escalation if count >= step.after_count]
    return max(reached, key=lambda step: (step.level, step.after_count), default=None)


def message(template: str, params: Mapping[str, Any]) -> str:
    """The template with each `{param}` filled in; a value can neither end its quotes nor hide or forge text."""
    return _HOLE.sub(lambda hole: _filled(hole[1], params), template)


def template_params(template: str) -> tuple[str, ...]:
    """The params that a template names."""
    return tuple(dict.fromkeys(_HOLE.findall(template)))


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
        "approval": _approval_json(block.approval) if block.approval else {},
        "escalation": [
            _said(after_count=one.after_count, level=one.level.word, message=one.message) for one in block.escalation
        ],
        "score_factors": scored if block.score_factors else [],
        "computed_level": block.computed_level.word if block.computed_level is not None else "",
    }
    return {"level": level.word, **{key: value for key, value in rest.items() if value}}


def _approval_json(approval: DeclaredApproval) -> dict[str, Any]:
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


LEVELS = {level.word: level for level in Level}
FLAT_KEYS = frozenset({"danger_level", "requires_confirmation"})
_SHORT_KEYS = frozenset({"level", "reason", "requires_confirmation", "hook_blockable"})
_LONG_KEYS = frozenset(
    {"level", "reasons", "confirmation_message", "cooldown_seconds", "requires_reauth", "audit_context"}
    | {"default_level", "conditions", "approval", "escalation", "score_factors", "computed_level"}
)
_MAX_COOLDOWN = 86_400
_USUAL_COOLDOWN = 300  # maxCoolingOffMs unless an operator set another
_MAX_TIMEOUT_HOURS = 720
_MAX_COUNT = 1_000_000


def read_danger(operation: Mapping[str, Any], path: Path, problems: Problems) -> DangerBlock | None:
    """The danger that an operation declares in any form; None if it declares none."""
    block = None
    if "danger" in operation:
        data = problems.table(operation["danger"], (*path, "danger"))
        block = read_block(data, (*path, "danger"), problems) if data is not None else None
    confirm = problems.flag(operation, "requires_confirmation", path, False)
    flat = _flat(operation, confirm, path, problems)
    if block is None:
        return flat
    if flat is not None and flat.level != block.level:
        said = f"danger_level {flat.level.word!r} contradicts danger.level {block.level.word!r}"
        problems.error((*path, "danger_level"), said)
    return replace(block, requires_confirmation=block.requires_confirmation or confirm)


def read_block(data: Mapping[str, Any], path: Path, problems: Problems) -> DangerBlock | None:
    """The block in `data`; what is wrong goes to `problems`, and without a level there is no block."""
    if not data:
        problems.error(path, "danger is empty")
        return None
    short = bool((_SHORT_KEYS - {"level"}) & set(data))
    if short:
        return _short(data, path, problems)
    problems.only(data, _LONG_KEYS, path)
    factors, base = _score(data, path, problems)
    level = _start(data, base, path, problems)
    start = level if level is not None else Level.SAFE
    block = DangerBlock(
        level=start,
        reasons=problems.texts(data, "reasons", path),
        confirmation_message=problems.text(data, "confirmation_message", path),
        cooldown_seconds=_cooldown(data, path, problems),
        requires_reauth=problems.flag(data, "requires_reauth", path, False),
        audit_context=problems.texts(data, "audit_context", path),
        conditions=_conditions(data, start, path, problems),
        approval=_approval(data, path, problems),
        escalation=_escalation(data, start, path, problems),
        score_factors=factors,
        computed_level=_computed(data, start, path, problems),
    )
    return block if level is not None else None


def read_level(data: Mapping[str, Any], key: str, path: Path, problems: Problems) -> Level | None:
    """The level named under `key`, by its exact word."""
    value = data.get(key, MISSING)
    if value is MISSING:
        return None
    if isinstance(value, str) and value in LEVELS:
        return LEVELS[value]
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 4:
        hint = f"levels are words: {Level(value).word}"
    else:
        near = get_close_matches(str(value)[:40].lower(), LEVELS, 1, 0.7) if isinstance(value, str) else []
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(LEVELS)}"
    problems.error((*path, key), f"{key} {describe_value(value)}; {hint}")
    return None


def _flat(operation: Mapping[str, Any], confirm: bool, path: Path, problems: Problems) -> DangerBlock | None:
    """The short form: `danger_level` and `requires_confirmation` next to the operation's name."""
    level = read_level(operation, "danger_level", path, problems)
    if "requires_confirmation" in operation and "danger_level" not in operation and "danger" not in operation:
        problems.error((*path, "requires_confirmation"), "requires_confirmation needs a danger_level")
    return DangerBlock(level, requires_confirmation=confirm) if level is not None else None


def _short(data: Mapping[str, Any], path: Path, problems: Problems) -> DangerBlock | None:
    """The closed form: level, reason, requires_confirmation, hook_blockable and nothing else."""
    for key in data:
        if key in _LONG_KEYS - _SHORT_KEYS:
            problems.error(
                (*path, key),
                f"{key!r} belongs to the long form; with reason only these are known: {_words(_SHORT_KEYS)}",
            )
    problems.only(data, _SHORT_KEYS | _LONG_KEYS, path)
    level = read_level(data, "level", path, problems)
    if "level" not in data:
        problems.error(path, "level is missing")
    reason = problems.text(data, "reason", path)
    confirm = problems.flag(data, "requires_confirmation", path, False)
    blockable = problems.flag(data, "hook_blockable", path, True)
    if level is None:
        return None
    return DangerBlock(level, (reason,) if reason else (), requires_confirmation=confirm, hook_blockable=blockable)


def _start(data: Mapping[str, Any], base: Level | None, path: Path, problems: Problems) -> Level | None:
    """The level before anything raises it: one of level, default_level and base_level, or several that agree."""
    found = [read_level(data, key, path, problems) for key in ("level", "default_level")]
    said = [level for level in (*found, base) if level is not None]
    if len(set(said)) > 1:
        problems.error(path, f"names several levels to start from: {', '.join(level.word for level in said)}")
    if not {"level", "default_level", "score_factors"} & set(data):
        problems.error(path, "level is missing")
    elif not said and not {"level", "default_level"} & set(data):
        problems.error((*path, "score_factors"), "score_factors need a base_level to start from")
    if "default_level" in data and "conditions" not in data:
        problems.warn((*path, "default_level"), "default_level without conditions is just a level")
    return max(said, default=None)


def _cooldown(data: Mapping[str, Any], path: Path, problems: Problems) -> int:
    seconds = math.ceil(problems.number(data, "cooldown_seconds", path, 0, _MAX_COOLDOWN) or 0)
    if seconds > _USUAL_COOLDOWN:
        problems.warn((*path, "cooldown_seconds"), f"cooldown_seconds {seconds} is cut to maxCoolingOffMs (300 s)")
    return seconds


def _conditions(data: Mapping[str, Any], start: Level, path: Path, problems: Problems) -> tuple[ConditionalLevel, ...]:
    found = []
    for here, case in problems.tables(data, "conditions", path):
        problems.only(case, ("when", "level", "reason"), here)
        text = problems.text(case, "when", here, required=True)
        level = _needed_level(case, here, problems)
        reason = problems.text(case, "reason", here)
        if level is not None and level <= start:
            problems.warn((*here, "level"), f"never matters: the operation is {start.word} without it")
        try:
            if text and level is not None:
                found.append(ConditionalLevel(compile_condition(text), level, reason))
        except ConditionError as error:
            problems.error((*here, "when"), f"when {error}")
    return tuple(found)


def _approval(data: Mapping[str, Any], path: Path, problems: Problems) -> DeclaredApproval | None:
    if "approval" not in data:
        return None
    here = (*path, "approval")
    table = problems.table(data["approval"], here)
    if table is None:
        return None
    problems.only(table, ("required", "approvers", "timeout_hours"), here)
    required = problems.flag(table, "required", here, True)
    if required and "approvers" not in table:
        problems.error(here, "approvers is missing: without them the operation cannot be approved")
    names = [
        _approver(item, (*here, "approvers", at), problems)
        for at, item in enumerate(problems.items(table, "approvers", here))
    ]
    hours = problems.number(table, "timeout_hours", here, 0.01, _MAX_TIMEOUT_HOURS)
    return DeclaredApproval(required, frozenset(filter(None, names)), hours)


def _approver(item: object, path: Path, problems: Problems) -> str:
    if isinstance(item, Mapping) and len(item) == 1:
        kind, name = next(iter(item.items()))
        if kind in ("role", "team") and isinstance(name, str) and name.strip():
            return f"{kind}:{name.strip()}"
    problems.error(path, f"an approver is `role: NAME` or `team: NAME`, got {describe_value(item)}")
    return ""


def _escalation(data: Mapping[str, Any], start: Level, path: Path, problems: Problems) -> tuple[Escalation, ...]:
    found: list[Escalation] = []
    for here, step in problems.tables(data, "escalation", path):
        problems.only(step, ("after_count", "level", "message"), here)
        if "after_count" not in step:
            problems.error(here, "after_count is missing")
        count = problems.number(step, "after_count", here, 1, _MAX_COUNT, whole=True)
        level = _needed_level(step, here, problems)
        text = problems.text(step, "message", here)
        if count is None or level is None:
            continue
        if any(count == other.after_count for other in found):
            problems.error((*here, "after_count"), f"after_count {count:g} is there twice")
        if level <= max([start, *(other.level for other in found if other.after_count < count)]):
            problems.warn((*here, "level"), f"never matters: {level.word} is reached without it")
        found.append(Escalation(int(count), level, text))
    return tuple(sorted(found, key=lambda step: step.after_count))


def _score(data: Mapping[str, Any], path: Path, problems: Problems) -> tuple[tuple[tuple[str, int], ...], Level | None]:
    """The factors and the base level; a factor that no reader establishes would never count, and is refused."""
    weights: dict[str, int] = {}
    base = None
    for at, item in enumerate(problems.items(data, "score_factors", path)):
        here = (*path, "score_factors", at)
        if not isinstance(item, Mapping) or len(item) != 1:
            problems.error(here, f"a factor is one `name: +1`, got {describe_value(item)}")
            continue
        name, value = next(iter(item.items()))
        if name in weights or (name == "base_level" and base is not None):
            problems.error((*here, name), f"{name} is there twice")
        elif name == "base_level":
            base = read_level(item, name, here, problems)
        elif name not in FACTS:
            problems.error((*here, name), f"no factor {describe_value(name)}; known: base_level, {', '.join(FACTS)}")
        elif (weight := _weight(value)) is None:
            problems.error((*here, name), f"{name}: expected +1 to +4, got {describe_value(value)}")
        else:
            weights[name] = weight
    return tuple(weights.items()), base


def _weight(value: object) -> int | None:
    if isinstance(value, str) and value in ("+1", "+2", "+3", "+4"):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 4 else None


def _computed(data: Mapping[str, Any], start: Level, path: Path, problems: Problems) -> Level | None:
    level = read_level(data, "computed_level", path, problems)
    if level is None:
        return None
    if "score_factors" not in data:
        problems.error((*path, "computed_level"), "computed_level without score_factors caps nothing")
    if level < start:
        problems.error((*path, "computed_level"), f"computed_level {level.word} is below the start, {start.word}")
        return start
    return level


def _needed_level(data: Mapping[str, Any], path: Path, problems: Problems) -> Level | None:
    if "level" not in data:
        problems.error(path, "level is missing")
    return read_level(data, "level", path, problems)


def _words(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
