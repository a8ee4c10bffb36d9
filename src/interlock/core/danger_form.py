"""A danger block as it was written -> a DangerBlock; every problem is named (DL-02, DL-03, DL-14)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from interlock.core.conditions import FACTS, ConditionError, compile_condition
from interlock.core.danger import Approval, ConditionalLevel, DangerBlock, Escalation
from interlock.core.model import Level
from interlock.core.problems import MISSING, Path, Problems, shown

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
    problems.error((*path, key), f"{key} {shown(value)}; {hint}")
    return None


def _flat(operation: Mapping[str, Any], confirm: bool, path: Path, problems: Problems) -> DangerBlock | None:
    """`danger_level` and `requires_confirmation` beside the operation's name."""
    level = read_level(operation, "danger_level", path, problems)
    if "requires_confirmation" in operation and "danger_level" not in operation and "danger" not in operation:
        problems.error(
            (*path, "requires_confirmation"), "requires_confirmation without a danger_level says no level to confirm"
        )
    return DangerBlock(level, requires_confirmation=confirm) if level is not None else None


def _short(data: Mapping[str, Any], path: Path, problems: Problems) -> DangerBlock | None:
    """The closed form: level, reason, requires_confirmation, hook_blockable and nothing else."""
    for key in data:
        if key in _LONG_KEYS - _SHORT_KEYS:
            problems.error(
                (*path, key), f"{key!r} belongs to the long form; beside reason there are only {_words(_SHORT_KEYS)}"
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
        problems.error(path, f"says several levels to start from: {', '.join(level.word for level in said)}")
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
    for at, item in enumerate(problems.items(data, "conditions", path)):
        here = (*path, "conditions", at)
        case = problems.table(item, here)
        if case is None:
            continue
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


def _approval(data: Mapping[str, Any], path: Path, problems: Problems) -> Approval | None:
    if "approval" not in data:
        return None
    here = (*path, "approval")
    table = problems.table(data["approval"], here)
    if table is None:
        return None
    problems.only(table, ("required", "approvers", "timeout_hours"), here)
    required = problems.flag(table, "required", here, True)
    if required and "approvers" not in table:
        problems.error(here, "approvers is missing: nobody could approve")
    names = [
        _approver(item, (*here, "approvers", at), problems)
        for at, item in enumerate(problems.items(table, "approvers", here))
    ]
    hours = problems.number(table, "timeout_hours", here, 0.01, _MAX_TIMEOUT_HOURS)
    return Approval(required, frozenset(filter(None, names)), hours)


def _approver(item: object, path: Path, problems: Problems) -> str:
    if isinstance(item, Mapping) and len(item) == 1:
        kind, name = next(iter(item.items()))
        if kind in ("role", "team") and isinstance(name, str) and name.strip():
            return f"{kind}:{name.strip()}"
    problems.error(path, f"an approver is `role: NAME` or `team: NAME`, got {shown(item)}")
    return ""


def _escalation(data: Mapping[str, Any], start: Level, path: Path, problems: Problems) -> tuple[Escalation, ...]:
    found: list[Escalation] = []
    for at, item in enumerate(problems.items(data, "escalation", path)):
        here = (*path, "escalation", at)
        step = problems.table(item, here)
        if step is None:
            continue
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
            problems.error(here, f"a factor is one `name: +1`, got {shown(item)}")
            continue
        name, value = next(iter(item.items()))
        if name in weights or (name == "base_level" and base is not None):
            problems.error((*here, name), f"{name} is there twice")
        elif name == "base_level":
            base = read_level(item, name, here, problems)
        elif name not in FACTS:
            problems.error((*here, name), f"no factor {shown(name)}; known: base_level, {', '.join(FACTS)}")
        elif (weight := _weight(value)) is None:
            problems.error((*here, name), f"{name}: expected +1 to +4, got {shown(value)}")
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
