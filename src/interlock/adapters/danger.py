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
from interlock.problems import MISSING, WrittenTable, describe_value

_HOLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]{0,63})\}")
_QUOTES = str.maketrans({"'": "\\'", '"': '\\"', "`": "\\`", "\\": "\\\\"})
_SHOWN = 80  # characters of one parameter in a message


class ConditionalLevel(Struct, frozen=True):
    when: Condition
    level: Level
    reason: str = ""


class Escalation(Struct, frozen=True):
    """The level of an operation that one agent performed this often in an hour (R-13)."""

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
    level: Level
    source: str  # the key that decided
    reasons: tuple[str, ...]


def declared_danger(block: DangerBlock, variables: Mapping[str, Any] | None = None) -> DeclaredDanger:
    """The block's level for these variables; without any, the level it starts from."""
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
        unclear = f" (the condition could not be evaluated, so it counts as true: {held.error})" if held.error else ""
        reasons.append(f"{case.reason or f'{case.when.text} holds'}{unclear}")
        if case.level > level:
            level, source = case.level, f"conditions[{at}]"
    return DeclaredDanger(level, source, tuple(reasons))


def reached_escalation(block: DangerBlock, count: int) -> Escalation | None:
    """The worst step reached; it raises the tier, not the level (DL-13)."""
    reached = [step for step in block.escalation if count >= step.after_count]
    return max(reached, key=lambda step: (step.level, step.after_count), default=None)


def message(template: str, params: Mapping[str, Any]) -> str:
    """Fills in each `{param}`; a value can neither end its quotes nor hide or forge text."""
    return _HOLE.sub(lambda hole: _filled(hole[1], params), template)


def template_params(template: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_HOLE.findall(template)))


def prose_form(block: DangerBlock, level: Level) -> dict[str, Any]:
    """What the schema has no room for, at the level in force, in the words of the file (DL-02, DL-03)."""
    approval: dict[str, Any] = {}
    if block.approval:  # who may approve, as `{"role": "admin"}`, and for how long they are waited for
        names = [dict([one.split(":", 1)]) for one in sorted(block.approval.approvers)]
        more = _said(approvers=names, timeout_hours=block.approval.timeout_hours)
        approval = {"required": block.approval.required, **more}
    scored = [{"base_level": block.level.word}, *({name: weight} for name, weight in block.score_factors)]
    return {"level": level.word} | _said(
        reasons=list(block.reasons),
        confirmation_message=block.confirmation_message,
        cooldown_seconds=block.cooldown_seconds,
        requires_reauth=block.requires_reauth,
        audit_context=list(block.audit_context),
        conditions=[_said(when=one.when.text, level=one.level.word, reason=one.reason) for one in block.conditions],
        approval=approval,
        escalation=[
            _said(after_count=one.after_count, level=one.level.word, message=one.message) for one in block.escalation
        ],
        score_factors=scored if block.score_factors else [],
        computed_level=block.computed_level.word if block.computed_level is not None else "",
    )


def _said(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value}


def _filled(name: str, params: Mapping[str, Any]) -> str:
    value: Any = params
    for key in name.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return f"(no {name})"
        value = value[key]
    if isinstance(value, Mapping):
        text = "(a table)"
    elif isinstance(value, list | tuple):
        text = f"({len(value)} values)"
    elif isinstance(value, int) and abs(value) >= 10**30:
        text = "(a huge number)"
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
    cut = text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")
    return visible(cut.translate(_QUOTES))


LEVELS = {level.word: level for level in Level}
_SHORT_KEYS = frozenset({"level", "reason", "requires_confirmation", "hook_blockable"})
_LONG_KEYS = {*DangerBlock.__struct_fields__, "default_level"} - {"requires_confirmation", "hook_blockable"}
_MAX_COOLDOWN = 86_400
_USUAL_COOLDOWN = 300  # maxCoolingOffMs unless an operator set another
_MAX_TIMEOUT_HOURS = 720
_MAX_COUNT = 1_000_000


def read_danger(operation: WrittenTable) -> DangerBlock | None:
    table = operation.required_table("danger") if "danger" in operation else None
    block = _block(table) if table is not None else None
    # The flat form: `danger_level` and `requires_confirmation` next to the operation's name.
    confirm, level = operation.flag("requires_confirmation"), read_level(operation, "danger_level")
    if "requires_confirmation" in operation and "danger_level" not in operation and "danger" not in operation:
        operation.error("requires_confirmation needs a danger_level", "requires_confirmation")
    if block is None:
        return DangerBlock(level, requires_confirmation=confirm) if level is not None else None
    if level is not None and level != block.level:
        said = f"danger_level {level.word!r} contradicts danger.level {block.level.word!r}"
        operation.error(said, "danger_level")
    return replace(block, requires_confirmation=block.requires_confirmation or confirm)


def _block(table: WrittenTable) -> DangerBlock | None:
    if not table.data:
        table.error("danger is empty")
        return None
    if (_SHORT_KEYS - {"level"}) & set(table.data):
        return _short(table)
    table.only(_LONG_KEYS)
    factors, base = _score(table)
    level = _start(table, base)
    start = level if level is not None else Level.SAFE
    block = DangerBlock(
        level=start,
        reasons=table.texts("reasons"),
        confirmation_message=table.text("confirmation_message"),
        cooldown_seconds=math.ceil(table.number("cooldown_seconds", 0, _MAX_COOLDOWN) or 0),
        requires_reauth=table.flag("requires_reauth"),
        audit_context=table.texts("audit_context"),
        conditions=_conditions(table, start),
        approval=_approval(table),
        escalation=_escalation(table, start),
        score_factors=factors,
        computed_level=_computed(table, start),
    )
    seconds = block.cooldown_seconds
    if seconds > _USUAL_COOLDOWN:
        table.warn(f"cooldown_seconds {seconds} is cut to maxCoolingOffMs (300 s)", "cooldown_seconds")
    return block if level is not None else None


def read_level(table: WrittenTable, key: str = "level", required: bool = False) -> Level | None:
    value = table.data.get(key, MISSING)
    if value is MISSING:
        if required:
            table.error(f"{key} is missing")
        return None
    if isinstance(value, str) and value in LEVELS:
        return LEVELS[value]
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 4:
        hint = f"levels are words: {Level(value).word}"
    else:
        near = get_close_matches(str(value)[:40].lower(), LEVELS, 1, 0.7) if isinstance(value, str) else []
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(LEVELS)}"
    table.error(f"{key} {describe_value(value)}; {hint}", key)
    return None


def _short(table: WrittenTable) -> DangerBlock | None:
    """The closed form: level, reason, requires_confirmation, hook_blockable and nothing else."""
    names = ", ".join(sorted(_SHORT_KEYS))
    for key in table.data:
        if key in _LONG_KEYS - _SHORT_KEYS:
            table.error(f"{key!r} belongs to the long form; with reason only these are known: {names}", key)
    table.only(_SHORT_KEYS | _LONG_KEYS)
    level, reason = read_level(table, required=True), table.text("reason")
    confirm, blockable = table.flag("requires_confirmation"), table.flag("hook_blockable", True)
    if level is None:
        return None
    return DangerBlock(level, (reason,) if reason else (), requires_confirmation=confirm, hook_blockable=blockable)


def _start(table: WrittenTable, base: Level | None) -> Level | None:
    found = [read_level(table, key) for key in ("level", "default_level")]
    said = [level for level in (*found, base) if level is not None]
    if len(set(said)) > 1:
        table.error(f"names several levels to start from: {', '.join(level.word for level in said)}")
    if not {"level", "default_level", "score_factors"} & set(table.data):
        table.error("level is missing")
    elif not said and not {"level", "default_level"} & set(table.data):
        table.error("score_factors need a base_level to start from", "score_factors")
    if "default_level" in table and "conditions" not in table:
        table.warn("default_level without conditions is just a level", "default_level")
    return max(said, default=None)


def _conditions(table: WrittenTable, start: Level) -> tuple[ConditionalLevel, ...]:
    found = []
    for case in table.tables("conditions"):
        case.only(ConditionalLevel.__struct_fields__)
        text, level = case.text("when", required=True), read_level(case, required=True)
        reason = case.text("reason")
        if level is not None and level <= start:
            case.warn(f"never matters: the operation is {start.word} without it", "level")
        try:
            if text and level is not None:
                found.append(ConditionalLevel(compile_condition(text), level, reason))
        except ConditionError as error:
            case.error(f"when {error}", "when")
    return tuple(found)


def _approval(block: WrittenTable) -> DeclaredApproval | None:
    table = block.required_table("approval") if "approval" in block else None
    if table is None:
        return None
    table.only(DeclaredApproval.__struct_fields__)
    required = table.flag("required", True)
    if required and "approvers" not in table:
        table.error("approvers is missing: without them the operation cannot be approved")
    names = set()
    for at, item in enumerate(table.items("approvers")):
        kind, name = next(iter(item.items())) if isinstance(item, Mapping) and len(item) == 1 else ("", "")
        if kind in ("role", "team") and isinstance(name, str) and name.strip():
            names.add(f"{kind}:{name.strip()}")
        else:
            said = f"an approver is `role: NAME` or `team: NAME`, got {describe_value(item)}"
            table.error(said, "approvers", at)
    return DeclaredApproval(required, frozenset(names), table.number("timeout_hours", 0.01, _MAX_TIMEOUT_HOURS))


def _escalation(table: WrittenTable, start: Level) -> tuple[Escalation, ...]:
    found: list[Escalation] = []
    for step in table.tables("escalation"):
        step.only(Escalation.__struct_fields__)
        count = step.number("after_count", 1, _MAX_COUNT, whole=True, required=True)
        level, text = read_level(step, required=True), step.text("message")
        if count is None or level is None:
            continue
        if any(count == other.after_count for other in found):
            step.error(f"after_count {count:g} is there twice", "after_count")
        if level <= max([start, *(other.level for other in found if other.after_count < count)]):
            step.warn(f"never matters: {level.word} is reached without it", "level")
        found.append(Escalation(int(count), level, text))
    return tuple(sorted(found, key=lambda step: step.after_count))


def _score(table: WrittenTable) -> tuple[tuple[tuple[str, int], ...], Level | None]:
    """The factors and the base level; refuses a factor that nothing establishes."""
    weights: dict[str, int] = {}
    base = None
    for at, item in enumerate(table.items("score_factors")):
        if not isinstance(item, Mapping) or len(item) != 1:
            table.error(f"a factor is one `name: +1`, got {describe_value(item)}", "score_factors", at)
            continue
        one = WrittenTable(item, (*table.path, "score_factors", at), table.problems)
        name, value = next(iter(item.items()))
        if name in weights or (name == "base_level" and base is not None):
            one.error(f"{name} is there twice", name)
        elif name == "base_level":
            base = read_level(one, name)
        elif name not in FACTS:
            one.error(f"no factor {describe_value(name)}; known: base_level, {', '.join(FACTS)}", name)
        elif value in ("+1", "+2", "+3", "+4") or (type(value) is int and 1 <= value <= 4):
            weights[name] = int(value)
        else:
            one.error(f"{name}: expected +1 to +4, got {describe_value(value)}", name)
    return tuple(weights.items()), base


def _computed(table: WrittenTable, start: Level) -> Level | None:
    if (level := read_level(table, "computed_level")) is None:
        return None
    if "score_factors" not in table:
        table.error("computed_level without score_factors caps nothing", "computed_level")
    if level < start:
        table.error(f"computed_level {level.word} is below the start, {start.word}", "computed_level")
        return start
    return level
