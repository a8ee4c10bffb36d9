"""An operator's policy as values, read strictly from our TOML, seed 001's JSON or seed 002's externalRestrictions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.model import Human, Level, Requirement
from interlock.policy.patterns import Glob, PatternSet, PatternSyntax
from interlock.policy.trust_matrix import MATRICES, TrustPolicy
from interlock.problems import Path, Problem, Problems, describe_value
from interlock.schema import read_table, says

Mode = Literal["enforcing", "monitoring", "logging", "disabled"]
MODES: tuple[str, ...] = get_args(Mode)
TOLERANCES = MappingProxyType({"conservative": 25, "moderate": 50, "aggressive": 75})  # AE-07
DEFAULT_APPROVERS = frozenset({"human"})  # any signed-in operator
ADMIN = "role:admin"
OFF = "off"


class Control(Struct, frozen=True):
    """The requirement of one level, its replacements, and whether a held action is denied at once."""

    requirement: Requirement = field(default_factory=Requirement)
    relief: Requirement | None = None  # instead of `requirement`, when an inspection found that nothing would be lost
    kept: Requirement | None = (
        None  # instead of `requirement`, when a snapshot of everything it changes was taken first
    )
    irreversible: Requirement | None = None  # instead of `requirement`, when it cannot be undone
    denies: bool = False  # "deny with ticket": the call is denied, and an operator can still approve it


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


class Escalate(Struct, frozen=True):
    """Thresholds of escalation (R-13); None switches one off."""

    repetition: Annotated[int | None, says("equal actions of one agent", 1, 1_000_000, none=OFF)] = 50
    cumulative: Annotated[int | None, says("points of score in one execution or hour", 1, 1_000_000, none=OFF)] = 2_000
    forbidden_attempts: Annotated[
        int | None, says("forbidden actions after which an agent is blocked", 1, 1_000_000, none=OFF)
    ] = 3
    forbidden_window_seconds: Annotated[int, says("the time that these attempts are counted in", 1, 1_000_000)] = 600


class Restriction(Struct, frozen=True):
    """Seed 002's externalRestrictions: patterns of tools, and how long one approval lasts."""

    patterns: PatternSet = field(default_factory=PatternSet)
    scope: str = "once"  # once, or session
    ttl_seconds: int = 0


class Policy(Struct, frozen=True):
    """A policy: the requirements of levels, patterns, registry, tiers, escalation and the loop."""

    name: str
    description: str = ""
    extends: str = ""  # the policy whose settings count where this one has none
    levels: Mapping[Level, Control] = field(default_factory=lambda: MappingProxyType({}))
    irreversible: Human = Human.CONFIRM  # R-5
    patterns: PatternSet = field(default_factory=PatternSet)
    restriction: Restriction = field(default_factory=Restriction)
    allowed_operations: frozenset[str] = (
        frozenset()
    )  # X-04: what is not in it is denied; empty when nothing was declared
    matrix: str = "floor"
    trust: TrustPolicy = field(default_factory=TrustPolicy)
    severities: Severities = field(default_factory=Severities)
    registry: bool = True  # whether the registry's patterns count
    severity_replaces_level: bool = (
        False  # R-21: whether a pattern that an operator registered replaces the level's requirement
    )
    tiers: bool = True
    tolerance: str = "moderate"
    escalate: Escalate = field(default_factory=Escalate)
    literal_globs: bool = False  # R-7: seed 002's globs as they stand
    always_ask: bool = False
    block_on_danger_zone: bool = False
    denial_seconds: int = 600  # how long a rejected effect stays rejected
    open_tickets: int = 5
    cooling_frees_irreversible: bool = False  # only `spec` (R-3)
    start: str = "confirm"  # loop.start (R-11)
    max_autonomous_steps: int = 10
    step_ceiling: int = 100
    mode: str = ""  # safetyLoop.mode of seed 001's JSON (R-12); empty where it has none
    cases: tuple[Mapping[str, Any], ...] = ()
    source: str = ""  # its text, for its hash

    def control(self, level: Level) -> Control:
        """The control of a level; a level that the policy does not name requires verification."""
        return self.levels.get(level, Control(Requirement(human=Human.VERIFY)))


HUMANS = MappingProxyType(
    {"none": Human.NONE, "confirm": Human.CONFIRM, "approve": Human.APPROVE, "verify": Human.VERIFY}
)
IRREVERSIBLE = MappingProxyType(
    {"off": Human.NONE, **{word: HUMANS[word] for word in ("confirm", "approve", "verify")}}
)
_WORDS = ("allow", "cool_off", "confirm", "approve", "verify", "block")
_CONTROL_KEYS = frozenset(
    {"require", "cooling_seconds", "approvers", "quorum", "reauth", "relief", "kept", "irreversible", "denies"}
)
_TOP = frozenset(
    {
        "name", "description", "extends", "levels", "irreversible", "patterns", "restrictions", "externalRestrictions", "allowed_operations",
        "matrix", "trust_policy", "gate", "registry", "severity_replaces_level", "tiers", "tolerance", "escalation", "literal_globs", "always_ask",
        "block_on_danger_zone", "denial_seconds", "open_tickets", "cooling_frees_irreversible", "loop", "case",
    }
)  # fmt: skip
_SEED_TOP = frozenset({"deny", "requiresApproval", "autoApprove", "safetyLoop", "maxAutonomousSteps", "riskTolerance"})
_WHO = re.compile(r"human|(?:role|team):[\w.@-]{1,64}|[\w.@-]{1,64}")


class PolicyError(ValueError):
    """A policy that must not be used; the message names every problem and where it stands."""

    def __init__(self, name: str, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            "; ".join(
                f"{name}: {problem.place + ': ' if problem.place else ''}{problem.message}" for problem in self.problems
            )
        )


def policy_of(data: object, name: str, source: str = "", base: Policy | None = None) -> Policy:
    """The policy that `data` describes; settings that it extends, or that seed 001's JSON leaves out, come from `base`."""
    problems = Problems()
    table = problems.table(data, ())
    policy = None
    if table is not None:
        policy = _seed(table, name, problems, base) if _is_seed(table) else _own(table, name, problems, base)
    errors = [problem for problem in problems.found if problem.error]
    if errors or policy is None:
        raise PolicyError(name, errors)
    return replace(policy, source=source)


def extends_value(data: object) -> object:
    """The policy that a policy extends (seed 001's JSON extends `default`); None where it extends none."""
    if not isinstance(data, Mapping):
        return None
    return "default" if _is_seed(data) else data.get("extends")


def _is_seed(data: Mapping[str, Any]) -> bool:
    return bool(_SEED_TOP & data.keys()) and not {"levels", "patterns", "extends"} & data.keys()


def _seed(data: Mapping[str, Any], name: str, problems: Problems, base: Policy | None) -> Policy:
    """Seed 001, 5.2: three lists of globs."""
    problems.only(data, _SEED_TOP, ())
    start = base or Policy(name)
    patterns = PatternSet(*(globs_of(data, key, (), problems) for key in ("deny", "requiresApproval", "autoApprove")))
    steps = problems.number(data, "maxAutonomousSteps", (), 0, 100, whole=True)
    tolerance = _choice(data, "riskTolerance", TOLERANCES, start.tolerance, (), problems)
    mode = data.get("safetyLoop")
    if mode is not None and (not isinstance(mode, Mapping) or mode.get("mode") not in MODES or set(mode) != {"mode"}):
        problems.error(("safetyLoop",), f"safetyLoop.mode: expected one of {', '.join(MODES)}")
        mode = None
    return replace(
        start, name=name, patterns=patterns, tolerance=tolerance, mode=str(mode["mode"]) if isinstance(mode, Mapping) else "",
        max_autonomous_steps=start.max_autonomous_steps if steps is None else int(steps),
    )  # fmt: skip


def _own(data: Mapping[str, Any], name: str, problems: Problems, base: Policy | None) -> Policy:
    """A policy in our words; where it extends another, own keys replace the other's, and patterns add up."""
    problems.only(data, _TOP, ())
    extends = problems.text(data, "extends", ())
    if extends and base is None:
        problems.error(("extends",), f"{describe_value(extends)} was not loaded")
    plain = base if extends and base is not None else Policy(name)
    loop = problems.table(data.get("loop", {}), ("loop",)) or {}
    problems.only(loop, {"start", "max_autonomous_steps", "step_ceiling"}, ("loop",))
    restrictions = data.get("restrictions", data.get("externalRestrictions"))
    patterns = _patterns(data.get("patterns", {}), ("patterns",), problems, ("deny", "approve", "allow"))
    return Policy(
        name=problems.text(data, "name", ()) or name,
        description=problems.text(data, "description", ()),
        extends=extends,
        levels=_levels(data, problems, plain.levels),
        irreversible=IRREVERSIBLE[
            _choice(data, "irreversible", IRREVERSIBLE, _word_of(plain.irreversible), (), problems)
        ],
        patterns=plain.patterns.joined(patterns),
        restriction=_restriction(restrictions, problems, plain.restriction),
        allowed_operations=frozenset(problems.texts(data, "allowed_operations", ())) or plain.allowed_operations,
        matrix=_choice(data, "matrix", dict.fromkeys(MATRICES), plain.matrix, (), problems),
        trust=read_table(TrustPolicy, data.get("trust_policy", {}), ("trust_policy",), problems, plain.trust),
        severities=read_table(Severities, data.get("gate", {}), ("gate",), problems, plain.severities),
        registry=problems.flag(data, "registry", (), plain.registry),
        severity_replaces_level=problems.flag(data, "severity_replaces_level", (), plain.severity_replaces_level),
        tiers=problems.flag(data, "tiers", (), plain.tiers),
        tolerance=_choice(data, "tolerance", TOLERANCES, plain.tolerance, (), problems),
        escalate=read_table(Escalate, data.get("escalation", {}), ("escalation",), problems, plain.escalate),
        literal_globs=problems.flag(data, "literal_globs", (), plain.literal_globs),
        always_ask=problems.flag(data, "always_ask", (), plain.always_ask),
        block_on_danger_zone=problems.flag(data, "block_on_danger_zone", (), plain.block_on_danger_zone),
        denial_seconds=_whole(data, "denial_seconds", (), plain.denial_seconds, 0, 86_400, problems),
        open_tickets=_whole(data, "open_tickets", (), plain.open_tickets, 1, 1_000, problems),
        cooling_frees_irreversible=problems.flag(
            data, "cooling_frees_irreversible", (), plain.cooling_frees_irreversible
        ),
        start=_choice(loop, "start", dict.fromkeys(("confirm", "allow")), plain.start, ("loop",), problems),
        max_autonomous_steps=_whole(
            loop, "max_autonomous_steps", ("loop",), plain.max_autonomous_steps, 0, 10_000, problems
        ),
        step_ceiling=_whole(loop, "step_ceiling", ("loop",), plain.step_ceiling, 0, 10_000, problems),
        mode=plain.mode,
        cases=_cases(data, problems),
    )


def _word_of(human: Human) -> str:
    return next(word for word, value in IRREVERSIBLE.items() if value is human)


def _levels(data: Mapping[str, Any], problems: Problems, others: Mapping[Level, Control]) -> Mapping[Level, Control]:
    table = problems.table(data.get("levels", {}), ("levels",)) or {}
    problems.only(table, {level.word for level in Level}, ("levels",))
    missing = [level.word for level in Level if level.word not in table and level not in others]
    for word in missing:
        problems.error(("levels",), f'{word} is missing; say what it asks for, or extends = "default" at the top')
    own = {
        level: _control(table[level.word], ("levels", level.word), problems) for level in Level if level.word in table
    }
    return MappingProxyType({**others, **own})


def _control(data: object, path: Path, problems: Problems) -> Control:
    """A word, or a table with a word and what goes with it."""
    if isinstance(data, str):
        return Control(_word(data, path, problems))
    table = problems.table(data, path)
    if table is None:
        return Control(Requirement(blocked=True))
    problems.only(table, _CONTROL_KEYS, path)
    requirement = _word(table.get("require", "allow"), (*path, "require"), problems)
    approvers = frozenset(problems.texts(table, "approvers", path))
    for who in sorted(approvers):
        if not _WHO.fullmatch(who):
            problems.error(
                (*path, "approvers"),
                f"{describe_value(who)}: expected human, an operator's name, role:NAME or team:NAME",
            )
    requirement = replace(
        requirement,
        cooling_seconds=_whole(table, "cooling_seconds", path, int(requirement.cooling_seconds), 0, 86_400, problems),
        approvers=approvers,
        quorum=_whole(table, "quorum", path, 0, 0, 20, problems),
        reauth=problems.flag(table, "reauth", path, False),
    )
    instead = {
        key: _word(table[key], (*path, key), problems) for key in ("relief", "kept", "irreversible") if key in table
    }
    return Control(requirement, **instead, denies=problems.flag(table, "denies", path, False))


def _word(word: object, path: Path, problems: Problems) -> Requirement:
    if word not in _WORDS:
        problems.error(path, f"expected one of {', '.join(_WORDS)}, got {describe_value(word)}")
        return Requirement(blocked=True)
    if word in ("allow", "block"):
        return Requirement(blocked=word == "block")
    return Requirement(cooling_seconds=30) if word == "cool_off" else Requirement(human=HUMANS[str(word)])


def _patterns(data: object, path: Path, problems: Problems, keys: tuple[str, str, str]) -> PatternSet:
    table = problems.table(data, path) or {}
    problems.only(table, keys, path)
    return PatternSet(*(globs_of(table, key, path, problems) for key in keys))


def globs_of(table: Mapping[str, Any], key: str, path: Path, problems: Problems) -> tuple[Glob, ...]:
    found = []
    value = table.get(key, [])
    if not isinstance(value, list):
        problems.error((*path, key), f"{key}: expected a list, got {describe_value(value)}")
        return ()
    for at, text in enumerate(value):
        try:
            found.append(Glob.of(text))
        except PatternSyntax as error:
            problems.error((*path, key, at), str(error))
    return tuple(found)


def _restriction(data: object, problems: Problems, plain: Restriction) -> Restriction:
    """Seed 002: `allowPatterns, confirmPatterns, denyPatterns`, and how far one approval reaches."""
    if data is None:
        return plain
    path: Path = ("externalRestrictions",)
    table = problems.table(data, path) or {}
    problems.only(table, {"allowPatterns", "confirmPatterns", "denyPatterns", "approvalPolicy"}, path)
    approval = problems.table(table.get("approvalPolicy", {}), (*path, "approvalPolicy")) or {}
    problems.only(approval, {"scope", "ttlSeconds"}, (*path, "approvalPolicy"))
    patterns = PatternSet(
        *(globs_of(table, key, path, problems) for key in ("denyPatterns", "confirmPatterns", "allowPatterns"))
    )
    scopes = dict.fromkeys(("once", "session"))
    scope = _choice(approval, "scope", scopes, plain.scope, (*path, "approvalPolicy"), problems)
    ttl = _whole(approval, "ttlSeconds", (*path, "approvalPolicy"), plain.ttl_seconds, 0, 86_400, problems)
    return Restriction(plain.patterns.joined(patterns), scope, ttl)


def _cases(data: Mapping[str, Any], problems: Problems) -> tuple[Mapping[str, Any], ...]:
    cases = []
    for at, case in enumerate(problems.items(data, "case", ()) if "case" in data else []):
        table = problems.table(case, ("case", at))
        if table is None:
            continue
        if not isinstance(table.get("expect"), str):
            problems.error(("case", at), "expect is missing: allow, cool_off, confirm, approve, verify, deny or block")
        cases.append(MappingProxyType(dict(table)))
    return tuple(cases)


def _choice(
    data: Mapping[str, Any], key: str, known: Mapping[str, Any], default: str, path: Path, problems: Problems
) -> str:
    value = data.get(key, default)
    if isinstance(value, str) and value in known:
        return value
    problems.error((*path, key), f"{key}: expected one of {', '.join(known)}, got {describe_value(value)}")
    return default


def _whole(
    data: Mapping[str, Any], key: str, path: Path, default: int, least: int, most: int, problems: Problems
) -> int:
    value = problems.number(data, key, path, least, most, whole=True)
    return default if value is None else int(value)
