"""Settings for one agent, one adapter or one session of the loop, and the policy that results from them (AE-08)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial, reduce
from types import MappingProxyType
from typing import Annotated, Any, Literal

from msgspec import Struct, field
from msgspec.structs import asdict, astuple, replace

from interlock.canonical_json import normal_name
from interlock.model import Level
from interlock.policy.patterns import Glob, PatternSet
from interlock.policy.policy import TOLERANCES, Policy, globs_of, seed_settings
from interlock.problems import Path, Problems
from interlock.schema import says

KEYS = ("maxAutonomousSteps", "riskTolerance", "deny", "requiresApproval", "autoApprove")
Consequence = Literal["off", "note", "pause", "block"]
_TIGHTEST = tuple(TOLERANCES)  # conservative first


class LoopRules(Struct, frozen=True):
    """Seed 001's settings; those left out stay as in the policy."""

    max_steps: int | None = None
    tolerance: str = ""
    patterns: PatternSet = PatternSet()
    asks: tuple[Glob, ...] = ()  # patterns that a project's file wants confirmed
    origin: str = ""  # the source in words, where it is not the configuration
    proved: bool = False  # whether the agent that they apply to was authenticated; else they only tighten

    def __bool__(self) -> bool:
        return self.max_steps is not None or bool(self.tolerance or self.patterns or self.asks)


def _rules_by_name(
    spelling: Callable[[str], str], data: object, path: Path, problems: Problems, plain: object
) -> Mapping[str, LoopRules]:
    found: dict[str, LoopRules] = {}
    for name, table in (problems.table(data, path) or {}).items():
        place, spelled = (*path, name), spelling(name)
        if not spelled or spelled in found:
            problems.error(place, "is empty, or another spelling of a name before it")
        found[spelled] = rules_of(table, place, problems)
    return MappingProxyType(found)


class DeclarationRules(Struct, frozen=True):
    """`[loop.mismatch]`: the consequence of a call that differs from the reported steps."""

    everyday: Annotated[Consequence, says("below level 2", weakened_by="`off`")] = "note"
    destructive: Annotated[Consequence, says("from level 2 on", weakened_by="`off`")] = "pause"

    def word(self, level: Level) -> str:
        return self.destructive if level >= Level.DESTRUCTIVE else self.everyday


class LoopSettings(Struct, frozen=True):
    agents: Annotated[
        Mapping[str, LoopRules],
        says(
            "the loop's settings for [one agent](loop.md#what-can-be-set), by its name",
            weakened_by="`autoApprove`, a higher `maxAutonomousSteps`: only for an agent with a token",
            read=partial(_rules_by_name, normal_name),
        ),
    ] = field(default=MappingProxyType({}), name="agent")
    adapters: Annotated[
        Mapping[str, LoopRules], says("the same for one adapter, by its name", read=partial(_rules_by_name, str))
    ] = field(default=MappingProxyType({}), name="adapter")
    mismatch: Annotated[
        DeclarationRules,
        says("what a call costs that [differs from the reported step](loop.md#declared-and-actual-effects)"),
    ] = DeclarationRules()


def settings_json(settings: LoopSettings) -> dict[str, Any]:
    tables = {"agent": settings.agents, "adapter": settings.adapters}
    by_name = {key: {name: rules_json(rules) for name, rules in table.items()} for key, table in tables.items()}
    return {**by_name, "mismatch": asdict(settings.mismatch)}


def rules_of(data: object, path: Path, problems: Problems) -> LoopRules:
    table = problems.table(data, path) or {}
    problems.only(table, KEYS, path)
    return LoopRules(*seed_settings(table, path, problems))


def apply_rules(policy: Policy, rules: LoopRules) -> Policy:
    """Rules that would loosen it count only where they are `proved`."""
    patterns = policy.patterns.joined(rules.patterns if rules.proved else replace(rules.patterns, allow=()))
    steps = policy.loop.max_autonomous_steps
    if rules.max_steps is not None:
        steps = rules.max_steps if rules.proved else min(steps, rules.max_steps)
    tolerance = min(policy.tolerance, rules.tolerance or policy.tolerance, key=_TIGHTEST.index)  # C-09
    loop = replace(policy.loop, max_autonomous_steps=steps)
    policy = replace(policy, patterns=patterns, loop=loop, tolerance=tolerance)
    if not rules.asks:
        return policy
    confirmed = policy.restriction.patterns.joined(PatternSet(approve=rules.asks))
    return replace(policy, restriction=replace(policy.restriction, patterns=confirmed))


def apply_all_rules(policy: Policy, rules: Iterable[LoopRules]) -> Policy:
    return reduce(apply_rules, rules, policy)


def applied_rules_json(rules: Iterable[LoopRules]) -> list[dict[str, Any]]:
    found = []
    for one in rules:
        beside = {"ask": [glob.text for glob in one.asks], "origin": one.origin}  # which no configuration has
        found.append(rules_json(one) | {key: said for key, said in beside.items() if said} | {"proved": one.proved})
    return found


def applied_rules_of(data: object) -> tuple[LoopRules, ...] | None:
    """None where those of an audit record cannot be read."""
    problems, found = Problems(), []
    for at, given in enumerate(data if isinstance(data, list) else []):
        place: Path = ("loop_rules", at)
        table = dict(problems.table(given, place) or {})
        proved, origin = table.pop("proved", False) is True, str(table.pop("origin", ""))
        asks = globs_of({"ask": table.pop("ask", [])}, "ask", place, problems)
        own = rules_of(table, place, problems)
        found.append(with_origin(replace(own, asks=asks, proved=proved), origin))
    return None if problems.found or (data is not None and not isinstance(data, list)) else tuple(found)


def with_origin(rules: LoopRules, origin: str) -> LoopRules:
    if not origin:
        return rules
    *patterns, asks = (
        tuple(replace(glob, origin=origin) for glob in globs) for globs in (*astuple(rules.patterns), rules.asks)
    )
    return replace(rules, patterns=PatternSet(*patterns), asks=asks, origin=origin)


def step_quota(policy: Policy, wanted: int | None) -> int:
    """The caller can only lower it, and the ceiling always holds."""
    most = min(policy.loop.max_autonomous_steps, policy.loop.step_ceiling)
    return most if wanted is None else max(0, min(most, wanted))


def rules_json(rules: LoopRules) -> dict[str, Any]:
    values = (rules.max_steps, rules.tolerance or None, *(texts or None for texts in rules.patterns.texts.values()))
    return {key: value for key, value in zip(KEYS, values) if value is not None}
