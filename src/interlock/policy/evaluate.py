"""Evaluates a policy: joins every contribution into one Requirement, each contribution named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.programs.load import word_set
from interlock.model import (
    ADMIN,
    NOTHING,
    TIER_TOPS,
    Assessment,
    Finding,
    Human,
    Json,
    Level,
    Loss,
    Requirement,
    Tier,
    tier_of,
)
from interlock.policy import exemptions, impact
from interlock.policy.circumstances import RAISING, Circumstances, Contribution, PolicyInput
from interlock.policy.exemptions import CONFIRM_PATTERN, PAUSED, Exemption, reason_to_hold
from interlock.policy.match_names import MatchNames
from interlock.policy.patterns import EVERYTHING, Glob, hits, spec_globs
from interlock.policy.policy import TOLERANCES, Policy
from interlock.policy.registry_controls import replaces_level, severity_parts
from interlock.policy.trust_matrix import declared_parts, matrix_part
from interlock.redaction import redact_text

DANGER_ZONE = "danger_zone"
TAMPERING = "self_protection"
SAME_EFFECT = "retry.same_effect"
BLOCK = Requirement(blocked=True)
ASK = Requirement(human=Human.CONFIRM)
APPROVE = Requirement(human=Human.APPROVE)
VERIFY = Requirement(human=Human.VERIFY)
_HINT_LENGTH = 120
TIERS = dict(zip(Tier, (Human.NONE, Human.CONFIRM, Human.VERIFY, Human.VERIFY)))
# The tier that an adapter's escalation or a caller's own word raises to, under every policy (DL-13).
_STRICTNESS = attrgetter("requirement.blocked", "requirement.human", "requirement.cooling_seconds")
RAISED_TO = (Human.NONE, Human.NONE, Human.CONFIRM, Human.VERIFY, Human.VERIFY)


class PolicyResult(Struct, frozen=True):
    requirement: Requirement
    factors: tuple[str, ...] = ()
    denies: bool = False
    parts: tuple[Contribution, ...] = ()
    code: str = ""  # the wire's error code where the matrix refuses
    details: Json = NOTHING
    would: tuple[Contribution, ...] = ()  # the parts that the mode or a pause disregards

    def reason(self) -> str:
        """Of the strictest part that says what the action does, before escalations and that it cannot be undone."""
        own = [part for part in self.parts if part.name not in RAISING and part.requirement != Requirement()]
        named = [part for part in own if part.name != "irreversible"]
        found = max(named or own or self.parts, key=_STRICTNESS, default=None)
        return found.explanation or found.words if found is not None else ""


def evaluate_policy(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> PolicyResult:
    """Joins all contributions, less the exemptions; order cannot matter."""
    if at.mode in ("disabled", "logging"):
        return PolicyResult(Requirement(), (f"mode {at.mode}: not evaluated",))
    if not policy.severities.enabled:
        return PolicyResult(Requirement(), ("the gate is switched off (enabled = false)",))
    case = PolicyInput(assessment, named, policy, at)
    result = _join([part for source in _SOURCES for part in source(case)], case)
    return _apply_mode(_apply_pause(result, assessment, at), at.mode)


def _join(parts: list[Contribution], case: PolicyInput) -> PolicyResult:
    remaining, lowered = parts, list[str]()
    for exempt in _exemptions(case.policy, case.at):
        remaining, factor = exempt(remaining, case)
        lowered += [factor] if factor else []
    requirement = _joined(remaining)
    if any(ADMIN in part.requirement.approvers for part in remaining if part.name != "approval"):
        requirement = replace(requirement, approvers=frozenset({ADMIN}))  # an adapter's approvers cannot replace one
    alone = requirement.cooling_seconds and requirement.human is Human.NONE
    if alone and case.assessment.irreversible and not case.policy.cooling_frees_irreversible:
        requirement = requirement.join(ASK)
    spoken = (f"{part.name}: {part.words}" for part in remaining)
    factors = (*spoken, *lowered, *_escalation_factors(remaining), *_impact_factors(case.at))
    denies = any(part.denies for part in remaining)
    refusing = (part for part in remaining if part.code and part.requirement.blocked)
    code, details = next(((part.code, part.details) for part in refusing), ("", NOTHING))
    return PolicyResult(requirement, factors, denies, tuple(remaining), code, details)


def _joined(parts: Iterable[Contribution]) -> Requirement:
    return reduce(Requirement.join, (part.requirement for part in parts), Requirement())


def _exemptions(policy: Policy, at: Circumstances) -> Iterator[Exemption]:
    if at.granted:
        yield exemptions.by_grant
    if at.confirmed_patterns:
        yield exemptions.by_confirmation
    if _is_kept(at):
        yield exemptions.by_snapshot
    if at.journaled:
        yield exemptions.by_journal
    if at.loss in (Loss.NONE, Loss.RECOVERABLE):
        yield exemptions.by_impact
    if policy.patterns.allow or policy.restriction.patterns.allow:
        yield exemptions.by_pattern
    if at.trust_tier and at.trust_tier in policy.severities.bypass_for_trust_tiers:
        yield exemptions.by_trust_tier


def _is_kept(at: Circumstances) -> bool:
    return at.snapshot is not None and at.snapshot.verified


def _escalation_factors(parts: list[Contribution]) -> Iterable[str]:
    raising = [part for part in parts if part.name in RAISING]
    if not raising:
        return
    usual = _joined(part for part in parts if part.name not in RAISING)
    if _joined(parts) != usual:
        lead = "asked about this time" if usual == Requirement() else "more is asked this time"
        yield from (f"{impact.ESCALATION_PREFIX}{lead}: {part.words}" for part in raising)


def _impact_factors(at: Circumstances) -> Iterable[str]:
    if at.impact is not None and at.impact.telling:
        yield f"{impact.IMPACT_PREFIX}{at.impact.words}"
    if at.snapshot is not None and not _is_kept(at):
        yield f"{impact.NO_SNAPSHOT_PREFIX}{at.snapshot.problem}"


def _apply_pause(result: PolicyResult, assessment: Assessment, at: Circumstances) -> PolicyResult:
    """Drops what an operator's pause covers, and records that; a block of the agent stays."""
    if not at.paused_by:
        return result
    word = result.requirement.word
    why = reason_to_hold(assessment, at.paused_to, bool(at.tampering))
    why = why or ("the agent is blocked" if at.blocked else "") or at.paused_short
    if word != "allow" and why:
        return replace(result, factors=(*result.factors, f"{PAUSED}: not for this, {why}"))
    factor = f"{PAUSED}: {at.paused_by}" + (f"; would have: {word}" if word != "allow" else "")
    return PolicyResult(Requirement(), (*result.factors, factor), would=result.parts)


def _apply_mode(result: PolicyResult, mode: str) -> PolicyResult:
    """R-12: monitoring drops the requirement, and records what it would have been."""
    if mode != "monitoring":
        return result
    word = result.requirement.word
    would = [f"would have: {word}"] if word != "allow" else []
    return PolicyResult(Requirement(), (*result.factors, *would), would=result.parts)


# Yields the contributions of one concern.
Source = Callable[[PolicyInput], Iterable[Contribution]]


def _hard_blocks(case: PolicyInput) -> Iterator[Contribution]:
    if case.at.blocked and case.assessment.level > Level.SAFE:  # reading stays possible
        yield Contribution("blocked", BLOCK, f"this agent is blocked: {case.at.blocked}")
    if not case.assessment.approvable:
        rules = ", ".join(dict.fromkeys(f.rule for f in case.assessment.findings if not f.approvable))
        yield Contribution("never", BLOCK, f"nobody may approve this ({rules})")


def _operator_patterns(case: PolicyInput) -> Iterator[Contribution]:
    own = ("", case.policy.patterns, "approve_pattern", APPROVE)
    for lead, patterns, name, ask in own, ("restriction ", case.policy.restriction.patterns, CONFIRM_PATTERN, ASK):
        for glob in hits(patterns.deny, case.named) if patterns.deny else ():
            by = f" by {glob.origin}" if glob.origin else ""
            yield Contribution("deny", BLOCK, f"{lead}pattern match: {glob.text} is denied{by}")
        for glob in hits(patterns.approve, case.named) if patterns.approve else ():
            yield Contribution(name, ask, _approval_words(glob, lead), pattern=glob.text)
        if case.named.cut and (patterns.deny or patterns.approve):  # what was not compared may be what a pattern means
            yield Contribution("approve_pattern", APPROVE, f"too many parts to compare with every {lead}pattern")


def _approval_words(glob: Glob, lead: str) -> str:
    if not glob.origin:
        return f"{lead}pattern match: {glob.text} requires approval"
    if glob.text == EVERYTHING:  # of a project's file that cannot be used
        return f"{glob.origin}; until it can, everything here is asked about"
    return f"pattern match: {glob.text} requires approval, says {glob.origin}"


def _allowlist(case: PolicyInput) -> Iterator[Contribution]:
    """X-04: a declared allowlist denies everything else, except the operations that stop, confirm and verify an agent (R-15)."""
    allowed = case.policy.allowed_operations
    name = case.named.operations[0] if allowed and case.named.operations else ""
    if name and name not in allowed and name not in word_set("always_allowed_operations"):
        yield Contribution("allowlist", BLOCK, f"{name} is not among the operations this agent declared")


def _replaces_level(case: PolicyInput) -> bool:
    return case.at.registry_match is not None and replaces_level(case)


def level_words(assessment: Assessment) -> str:
    worst = assessment.worst
    return f"{assessment.level.word}: {finding_words(worst)}" if worst else f"{assessment.level.word} action"


def finding_words(finding: Finding) -> str:
    """The reason, and the part of the hint that it concerns, where the hint has several."""
    act = finding.rule.startswith("acts.") and finding.span is not None and (finding.span[0] or " " in finding.subject)
    quote = redact_text(finding.subject) if (act or finding.quoted) and finding.subject else ""
    return f'{finding.reason.rstrip(".")}: "{quote[:_HINT_LENGTH]}".' if quote else finding.reason


def _level(case: PolicyInput) -> Iterator[Contribution]:
    """The level's requirement, and R-5: what cannot be undone asks whatever the score; from level 3 up it means verify."""
    final, control = case.assessment.irreversible, case.policy.levels[case.assessment.level]
    requirement, denies = control.requirement, control.denies
    if final and control.irreversible is not None:
        requirement = requirement.join(control.irreversible)
        denies = denies or control.irreversible.human > Human.NONE
    if requirement != Requirement() and not _replaces_level(case):
        yield Contribution("level", requirement, level_words(case.assessment), denies=denies)
    # everyday work that would lose something is asked about like a destructive action, unless a snapshot keeps it.
    control = case.policy.levels[Level.DESTRUCTIVE]
    if case.at.unkept and not _is_kept(case.at) and control.kept is not None:
        yield Contribution("unkept", control.requirement, case.at.unkept, denies=control.denies)
    if final and case.policy.irreversible is not Human.NONE:
        human = Human.VERIFY if case.assessment.level >= Level.DANGEROUS else case.policy.irreversible
        yield Contribution("irreversible", Requirement(human=human), "cannot be undone")


def _escalation(case: PolicyInput) -> Iterator[Contribution]:
    """Repetition, count and cumulative risk raise the requirement, not the level (DL-13, R-13)."""
    at, often, most = case.at, case.policy.escalate.repetition, case.policy.escalate.cumulative
    if at.escalated is not None:
        level, message = at.escalated
        words = message or f"counts as {level.word} after {at.hourly:,} of the same in an hour"
        yield Contribution("escalation", _raised(case, level), words)
    if often is not None and at.repeats >= often:
        human = Human(min(TIERS[case.assessment.tier] + 1, Human.VERIFY))
        words = f"the same operation {at.repeats} times in this execution, and from {often} on more is asked"
        yield Contribution("repetition", Requirement(human=human), words)
    if most is not None and at.cumulative >= most:
        yield Contribution("cumulative", ASK, cumulative_words(at.cumulative, most, at.steps_left is not None))


def _raised(case: PolicyInput, level: Level) -> Requirement:
    """At least the tier of the level, under every policy."""
    return case.policy.levels[level].requirement.join(Requirement(human=RAISED_TO[level]))


def cumulative_words(points: int, most: int, execution: bool = False) -> str:
    where = "in this execution" if execution else "within an hour"
    return f"this agent's actions add up to {points:,} points of risk {where}, and from {most:,} on somebody is asked"


def _claimed(case: PolicyInput) -> Iterator[Contribution]:
    level = case.at.claimed_level
    if level is not None and level > case.assessment.level:
        yield Contribution("claimed", _raised(case, level), f"its caller says that it is {level.word}")


def _tier(case: PolicyInput) -> Iterator[Contribution]:
    own = 0 if _replaces_level(case) else case.assessment.score
    score = max(own, case.at.claimed_risk or 0)  # the agent may raise its own risk, never lower it
    tolerance, limit = case.policy.tolerance, TOLERANCES[case.policy.tolerance]
    if not case.policy.tiers and case.at.steps_left is None:  # C-10: in the loop the tier always counts
        return
    if (human := TIERS[tier_of(score)]) is not Human.NONE:
        yield Contribution("tier", Requirement(human=human), _score_words(case.assessment, score))
    if tolerance == "conservative" and limit < score <= TIER_TOPS[0]:  # C-09: it can only tighten
        yield Contribution("tolerance", ASK, f"score {score} is above the {tolerance} tolerance of {limit}")


def _score_words(assessment: Assessment, score: int) -> str:
    words, worst = f"score {score}: {tier_of(score).value}", assessment.worst
    if score > assessment.score:
        return f"{words}, by the agent's own estimate"
    return f"{worst.reason.rstrip('.')} ({words})" if worst is not None else words


def _stops(case: PolicyInput) -> Iterator[Contribution]:
    """R-9: the last tier where a policy opts in, and an attack on the guard, block the principal."""
    score = max(case.assessment.score, case.at.claimed_risk or 0)
    if case.policy.block_on_danger_zone and tier_of(score) is Tier.DANGER_ZONE:
        words = f"score {score} is in the danger zone: the agent is blocked until an operator lifts it"
        yield Contribution(DANGER_ZONE, BLOCK, words)
    if case.at.tampering:
        yield Contribution(TAMPERING, VERIFY, f"attacks Interlock itself: it {case.at.tampering}")


def _loop(case: PolicyInput) -> Iterator[Contribution]:
    at = case.at
    if at.mismatch is not None:
        yield at.mismatch
    if at.steps_left is not None and at.steps_left <= 0:
        yield Contribution("steps", ASK, "Step limit exceeded")
    if at.previous == "failure":
        yield Contribution("outcome", ASK, "the step before failed")
    if at.starting and case.policy.loop.start != "allow":
        yield Contribution("start", ASK, "an execution starts when a person agrees to it")
    if at.pause:  # C-19: the held step itself needs what it needed; nothing else goes on
        held = Requirement(human=at.pause_human) if at.pause_human is not Human.NONE else BLOCK
        yield Contribution("pause", held, at.pause)


def _denied(case: PolicyInput) -> Iterator[Contribution]:
    """R-22: a denial binds the effect on its target, not the wording."""
    denied = case.at.earlier_denial
    if denied is None:
        return
    yield Contribution(SAME_EFFECT, denied.requirement, denied.words, denies=denied.denies)
    if denied.tries >= 3:
        yield Contribution(
            "evasion.search", VERIFY, f"tried {denied.tries} ways to the same effect", denies=denied.denies
        )


def _always(case: PolicyInput) -> Iterator[Contribution]:
    if case.policy.always_ask:
        yield Contribution("always_ask", ASK, "this policy asks about everything")
    if case.policy.literal_globs:
        yield from (Contribution(*part) for part in spec_globs(case.named))


def _where(fact: str, source: Source) -> Source:
    return lambda case: source(case) if getattr(case.at, fact) is not None else ()


_SOURCES: tuple[Source, ...] = (
    _hard_blocks, _operator_patterns, _allowlist, _where("adapter_context", matrix_part), _level,
    _where("registry_match", severity_parts), _where("adapter_context", declared_parts), _escalation, _claimed, _tier,
    _stops, _loop, _denied, _always,
)  # fmt: skip
