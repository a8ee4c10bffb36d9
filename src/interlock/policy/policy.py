"""An operator's policy as values, read strictly from our TOML, seed 001's JSON or seed 002's externalRestrictions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.model import Human, Level, Requirement
from interlock.policy.patterns import Glob, PatternSet, PatternSyntax
from interlock.policy.trust_matrix import TrustPolicy
from interlock.problems import Path, Problem, Problems, WrittenTable, describe_value
from interlock.schema import read_table, says

Mode = Literal["enforcing", "monitoring", "logging", "disabled"]
MODES: tuple[str, ...] = get_args(Mode)
Tolerance = Literal["conservative", "moderate", "aggressive"]
TOLERANCES: Mapping[str, int] = {"conservative": 25, "moderate": 50, "aggressive": 75}  # AE-07
DEFAULT_APPROVERS = frozenset({"human"})  # any signed-in operator
OFF = "off"


class Control(Struct, frozen=True):
    requirement: Requirement = Requirement()
    # Instead of it:
    relief: Requirement | None = None  # when an inspection found that nothing would be lost
    kept: Requirement | None = None  # when a snapshot of everything it changes was taken first
    irreversible: Requirement | None = None
    denies: bool = False  # "deny with ticket": the call is denied, and an operator can still approve it

    @property
    def replacements(self) -> dict[str, Requirement]:
        return {key: one for key in _REPLACING if (one := getattr(self, key)) is not None}


_REPLACING = ("relief", "kept", "irreversible")


class Severities(Struct, frozen=True, rename="camel"):
    """Seed 003's gate, with its names and its defaults."""

    enabled: Annotated[
        bool,
        says(
            "whether anything is held at all",
            weakened_by="`false`: everything passes, blocks and deny patterns included",
        ),
    ] = True
    default_cooling_off_ms: Annotated[
        int,
        says(
            "for a registry pattern that asks for confirmation and names no time; `0`: somebody confirms instead",
            0,
            86_400_000,
            weakened_by="less than 30000",
        ),
    ] = 30_000
    max_cooling_off_ms: Annotated[
        int, says("no registry pattern's cooling-off is longer", 0, 86_400_000, weakened_by="less than 30000")
    ] = 300_000
    require_approval_for_critical: Annotated[
        bool, says("a critical registry pattern asks for approval", weakened_by="`false`")
    ] = True
    allowed_approvers: Annotated[frozenset[str], says("who may approve what a registry pattern holds")] = (
        DEFAULT_APPROVERS
    )
    auto_expire_ms: Annotated[  # one that is expired from the start could not be answered
        int,
        says(
            "how long a ticket waits, to the millisecond; one that has not cooled off by then expires as well",
            1,
            86_400_000,
        ),
    ] = 3_600_000
    bypass_for_trust_tiers: Annotated[
        frozenset[str],
        says("agents of these tiers skip time and `confirm` below `forbidden`", weakened_by="any tier", empty=True),
    ] = frozenset()
    block_on_match_failure: Annotated[
        bool, says("an operation that the registry cannot match is blocked", weakened_by="`false`")
    ] = True


_threshold = partial(says, least=1, most=1_000_000, none=OFF)


class Escalate(Struct, frozen=True):
    """Thresholds of escalation (R-13); None switches one off."""

    repetition: Annotated[
        int | None,
        _threshold("the same operation in one execution of the loop, from which on each one asks for a tier more"),
    ] = 50
    cumulative: Annotated[
        int | None,
        _threshold(
            "points of score by one agent in an hour, from which on every action asks that is more than `reversible`"
        ),
    ] = 2_000
    forbidden_attempts: Annotated[
        int | None,
        _threshold(
            "forbidden attempts within `forbidden_window_seconds` that block the principal; what was let through is none"
        ),
    ] = 3
    forbidden_window_seconds: Annotated[int, says("the time in which they are counted", 1, 1_000_000)] = 600


class Restriction(Struct, frozen=True):
    """Seed 002's externalRestrictions: patterns of tools, and how long one approval lasts."""

    patterns: PatternSet = PatternSet()
    scope: Annotated[Literal["once", "session"], says("what one approval answers", weakened_by="`session`")] = "once"
    ttl_seconds: Annotated[int, says("how long it lasts", 0, 86_400)] = field(default=0, name="ttlSeconds")


HUMANS = {human.word: human for human in Human}
IRREVERSIBLE = {OFF: Human.NONE, **{word: human for word, human in HUMANS.items() if human}}
_WORDS = ("allow", "cool_off", "confirm", "approve", "verify", "block")
_CONTROL_KEYS = frozenset({*"require cooling_seconds approvers quorum reauth denies".split(), *_REPLACING})
_SEED_TOP = frozenset({"deny", "requiresApproval", "autoApprove", "safetyLoop", "maxAutonomousSteps", "riskTolerance"})
_WHO = re.compile(r"human|(?:role|team):[\w.@-]{1,64}|[\w.@-]{1,64}")


def globs_of(table: Mapping[str, Any], key: str, path: Path, problems: Problems) -> tuple[Glob, ...]:
    found, value = [], table.get(key, [])
    if not isinstance(value, list):
        problems.expected("a list", value, (*path, key))
        return ()
    for at, text in enumerate(value):
        try:
            found.append(Glob.of(text))
        except PatternSyntax as error:
            problems.error((*path, key, at), str(error))
    return tuple(found)


def _control(data: object, path: Path, problems: Problems) -> Control:
    if isinstance(data, str):
        return Control(_word(data, path, problems))
    given = problems.table(data, path)
    if given is None:
        return Control(Requirement(blocked=True))
    table = WrittenTable(given, path, problems)
    table.only(_CONTROL_KEYS)
    requirement = _word(given.get("require", "allow"), (*path, "require"), problems)
    approvers = frozenset(table.texts("approvers"))
    for who in sorted(one for one in approvers if not _WHO.fullmatch(one)):
        words = f"{describe_value(who)}: expected human, an operator's name, role:NAME or team:NAME"
        table.error(words, "approvers")
    cooling = table.number("cooling_seconds", 0, 86_400, whole=True)
    requirement = replace(
        requirement,
        cooling_seconds=int(cooling) if cooling is not None else requirement.cooling_seconds,
        approvers=approvers,
        quorum=int(table.number("quorum", 0, 20, whole=True) or 0),
        reauth=table.flag("reauth"),
    )
    instead = {key: _word(given[key], (*path, key), problems) for key in _REPLACING if key in table}
    return Control(requirement, **instead, denies=table.flag("denies"))


def _word(word: object, path: Path, problems: Problems) -> Requirement:
    if word not in _WORDS:
        problems.error(path, f"expected one of {', '.join(_WORDS)}, got {describe_value(word)}")
        return Requirement(blocked=True)
    if word in ("allow", "block"):
        return Requirement(blocked=word == "block")
    return Requirement(cooling_seconds=30) if word == "cool_off" else Requirement(human=HUMANS[str(word)])


def _read_levels(
    data: object, path: Path, problems: Problems, others: Mapping[Level, Control]
) -> Mapping[Level, Control]:
    table = problems.table(data, path) or {}
    problems.only(table, {level.word for level in Level}, path)
    own = {level: _control(table[level.word], (*path, level.word), problems) for level in Level if level.word in table}
    return MappingProxyType({**others, **own})


def _read_irreversible(word: object, path: Path, problems: Problems, plain: Human) -> Human:
    if isinstance(word, str) and word in IRREVERSIBLE:
        return IRREVERSIBLE[word]
    problems.expected(f"one of {', '.join(IRREVERSIBLE)}", word, path)
    return plain


def _read_patterns(data: object, path: Path, problems: Problems, plain: PatternSet) -> PatternSet:
    """Added to those of the policy that is extended."""
    return plain.joined(_pattern_set(data, path, problems, ("deny", "approve", "allow")))


def _pattern_set(data: object, path: Path, problems: Problems, keys: tuple[str, str, str]) -> PatternSet:
    table = problems.table(data, path) or {}
    problems.only(table, keys, path)
    return PatternSet(*(globs_of(table, key, path, problems) for key in keys))


def _read_restriction(data: object, path: Path, problems: Problems, plain: Restriction) -> Restriction:
    """Seed 002: `allowPatterns, confirmPatterns, denyPatterns`, and how far one approval reaches."""
    path = ("externalRestrictions",)
    table = dict(problems.table(data, path) or {})
    approval = table.pop("approvalPolicy", {})
    patterns = _pattern_set(table, path, problems, ("denyPatterns", "confirmPatterns", "allowPatterns"))
    found = read_table(Restriction, approval, (*path, "approvalPolicy"), problems, plain)
    return replace(found, patterns=plain.patterns.joined(patterns))


def _read_cases(data: object, path: Path, problems: Problems, plain: object) -> tuple[Mapping[str, Any], ...]:
    cases = []
    for at, case in enumerate(problems.items(data, path)):
        table = problems.table(case, (*path, at))
        if table is None:
            continue
        if not isinstance(table.get("expect"), str):
            problems.error((*path, at), "expect is missing: allow, cool_off, confirm, approve, verify, deny or block")
        cases.append(MappingProxyType(dict(table)))
    return tuple(cases)


class LoopLimits(Struct, frozen=True):
    start: Annotated[
        Literal["confirm", "allow"],
        says("whether the start of an execution is confirmed", weakened_by="`allow`"),
    ] = "confirm"
    max_autonomous_steps: Annotated[int, says("steps without a person", 0, 10_000)] = 10
    step_ceiling: Annotated[int, says("the most that anybody can raise them to", 0, 10_000)] = 100


class Policy(Struct, frozen=True):
    name: Annotated[str, says("its name", default="the file's name")]
    description: Annotated[str, says("what it is for")] = ""
    extends: Annotated[
        str,
        says(
            "another policy, shipped or a file beside this one, that [speaks where this one says nothing](../guide/policies.md)"
        ),
    ] = ""
    levels: Annotated[
        Mapping[Level, Control],
        says(
            "what each of the five levels [asks for](../guide/policies.md); all five have to be there, unless `extends` brings them",
            default="needed",
            read=_read_levels,
        ),
    ] = MappingProxyType({})
    irreversible: Annotated[
        Human,
        says(
            "the least for what cannot be undone: `off`, `confirm`, `approve`, `verify`; unless `off` it is `verify` from level "
            "`dangerous` up",
            read=_read_irreversible,
        ),
    ] = Human.CONFIRM
    patterns: Annotated[
        PatternSet, says("[`deny`, `approve`, `allow`](../guide/policies.md)", default="none", read=_read_patterns)
    ] = PatternSet()
    restriction: Annotated[
        Restriction,
        says(
            "the same for tools, in seed 002's words; also under `externalRestrictions`",
            default="none",
            read=_read_restriction,
        ),
    ] = field(default=Restriction(), name="restrictions")
    allowed_operations: Annotated[
        frozenset[str],
        says(
            "where given, every other named operation or tool is blocked, but for those that stop, confirm or verify an agent"
        ),
    ] = frozenset()
    registry: Annotated[bool, says("whether registry patterns ask for time and approval")] = True
    severity_replaces_level: Annotated[
        bool,
        says(
            "in `default` and `spec` `true`: what an operator registered asks for the controls of its pattern instead of its "
            "level's, where no rule finds more"
        ),
    ] = False
    severities: Annotated[
        Severities, says("as the [configuration's](settings.md#gate) `[gate]`, which replaces this one whole")
    ] = field(default=Severities(), name="gate")
    tiers: Annotated[bool, says("whether the score asks: from 31 confirm, from 61 verify")] = True
    tolerance: Annotated[
        Tolerance, says("`conservative` asks from a score of 26; `moderate` and `aggressive` add nothing")
    ] = "moderate"
    always_ask: Annotated[bool, says("confirm for everything, reading included")] = False
    escalate: Annotated[Escalate, says("what much of the same asks for")] = field(default=Escalate(), name="escalation")
    denial_seconds: Annotated[int, says("how long a rejected effect stays rejected", 0, 86_400)] = 600
    open_tickets: Annotated[int, says("how many one session of an agent may have open", 1, 1_000)] = 5
    literal_globs: Annotated[
        bool,
        says(
            "seed 002's globs as they stand, and registry patterns without regard to what an action would do; for `spec`",
            weakened_by="`true`, where levels allow",
        ),
    ] = False
    cooling_frees_irreversible: Annotated[
        bool, says("time alone frees what cannot be undone; for `spec`", weakened_by="`true`")
    ] = False
    matrix: Annotated[
        Literal["floor", "spec"],
        says("which trust matrix counts for operations of an adapter ([adapters](adapters.md))"),
    ] = "floor"
    trust: Annotated[
        TrustPolicy,
        says(
            "what [adapters](adapters.md) need beyond the matrix; as in the [configuration](settings.md#trust_policy)"
        ),
    ] = field(default=TrustPolicy(), name="trust_policy")
    block_on_danger_zone: Annotated[
        bool,
        says("a score of 86 and more is refused without a ticket, and blocks the principal until an operator lifts it"),
    ] = False
    loop: Annotated[LoopLimits, says("of [the loop](loop.md#what-can-be-set)")] = LoopLimits()
    cases: Annotated[
        tuple[Mapping[str, Any], ...], says("[the promises](../guide/policies.md)", default="none", read=_read_cases)
    ] = field(default=(), name="case")
    mode: str = ""  # safetyLoop.mode of seed 001's JSON (R-12); empty where it has none
    source: str = ""  # its text, for its hash


class PolicyError(ValueError):
    """A policy that must not be used; the message names every problem and where it stands."""

    def __init__(self, name: str, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        words = (": ".join(filter(None, (name, one.place, one.message))) for one in self.problems)
        super().__init__("; ".join(words))


def policy_of(data: object, name: str, source: str = "", base: Policy | None = None) -> Policy:
    """Settings that it extends, or that seed 001's JSON leaves out, come from `base`."""
    problems = Problems()
    table = problems.table(data, ())
    policy = Policy(name)
    if table is not None:
        policy = (_seed if _is_seed(table) else _own)(table, name, problems, base)
    if errors := [problem for problem in problems.found if problem.error]:
        raise PolicyError(name, errors)
    return replace(policy, source=f"{source}\0{base.source}" if base else source)


def extended_name(data: object) -> str:
    """Seed 001's JSON extends `default`; empty where a policy extends none, or what is no name, which the form refuses."""
    found = ("default" if _is_seed(data) else data.get("extends")) if isinstance(data, Mapping) else None
    return found if isinstance(found, str) and found.strip() else ""


def _is_seed(data: Mapping[str, Any]) -> bool:
    return bool(_SEED_TOP & data.keys()) and not {"levels", "patterns", "extends"} & data.keys()


def _seed(data: Mapping[str, Any], name: str, problems: Problems, base: Policy | None) -> Policy:
    problems.only(data, _SEED_TOP, ())
    start = base or Policy(name)
    steps, tolerance, patterns = seed_settings(data, (), problems)
    mode = next((word for word in MODES if data.get("safetyLoop") == {"mode": word}), "")
    if not mode and data.get("safetyLoop") is not None:
        problems.error(("safetyLoop",), f"safetyLoop.mode: expected one of {', '.join(MODES)}")
    return replace(
        start, name=name, patterns=patterns, tolerance=tolerance or start.tolerance, mode=mode,
        loop=start.loop if steps is None else replace(start.loop, max_autonomous_steps=steps),
    )  # fmt: skip


def seed_settings(table: Mapping[str, Any], path: Path, problems: Problems) -> tuple[int | None, str, PatternSet]:
    """Nothing for those that are left out."""
    steps = WrittenTable(table, path, problems).number("maxAutonomousSteps", 0, 100, whole=True)
    tolerance = table.get("riskTolerance", "")
    if "riskTolerance" in table and not (isinstance(tolerance, str) and tolerance in TOLERANCES):
        problems.expected(f"one of {', '.join(TOLERANCES)}", tolerance, (*path, "riskTolerance"))
        tolerance = ""
    globs = (globs_of(table, key, path, problems) for key in ("deny", "requiresApproval", "autoApprove"))
    return None if steps is None else int(steps), tolerance, PatternSet(*globs)


def _own(data: Mapping[str, Any], name: str, problems: Problems, base: Policy | None) -> Policy:
    """Where it extends another, own keys replace the other's, and patterns add up."""
    table = dict(data)
    if "externalRestrictions" in table:
        table.setdefault("restrictions", table.pop("externalRestrictions"))
    plain = base if "extends" in table and base is not None else Policy(name)
    found = read_table(Policy, table, (), problems, replace(plain, name=name, description="", extends="", cases=()))
    if found.extends and base is None:
        problems.error(("extends",), f"{describe_value(found.extends)} was not loaded")
    for word in (level.word for level in Level if level not in found.levels):
        problems.error(("levels",), f'{word} is missing; say what it asks for, or extends = "default" at the top')
    return found
