"""Evaluates a policy: joins every contribution into one Requirement, each contribution named."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.model import (
    NOTHING,
    TIER_TOPS,
    Assessment,
    Human,
    Json,
    Level,
    Loss,
    Requirement,
    Tier,
    nothing,
    tier_of,
)
from interlock.policy.circumstances import (
    RAISED_TO,
    RAISING,
    TIERS,
    Circumstances,
    Contribution,
    escalation,
    escalation_factors,
    level_words,
)
from interlock.policy.exemptions import CONFIRM_PATTERN, PAUSED, apply_exemptions, reason_to_hold
from interlock.policy.impact import IMPACT_PREFIX, NO_SNAPSHOT_PREFIX
from interlock.policy.match_names import MatchNames
from interlock.policy.patterns import EVERYTHING, Glob, hits, spec_globs
from interlock.policy.policy import ADMIN, TOLERANCES, Control, Policy
from interlock.policy.registry_controls import replaces_level, severity_parts
from interlock.policy.trust_matrix import ALLOW, CONFIRM, DENY, OVERRIDE_REQUIRED, VERIFY, passage, untrusted_words
from interlock.times import milliseconds_to_seconds

EXEMPT = frozenset({  # an agent can always be stopped, confirmed and verified
    "execute_agent", "complete_execution", "continue_execution", "abort_execution", "confirm_operation", "verify_challenge",
    "release_deadlock", "permission_prompt", "approve_cli_permission", "get_pending_cli_approvals", "record_execution_step",
    "introspect",
})  # fmt: skip
DANGER_ZONE = "danger_zone"
TAMPERING = "self_protection"
SAME_EFFECT = "retry.same_effect"
BLOCK = Requirement(blocked=True)
ASK = Requirement(human=Human.CONFIRM)
APPROVE = Requirement(human=Human.APPROVE)


class PolicyResult(Struct, frozen=True):
    """The requirement of an action, its parts and factors, and the error code of a refusal."""

    requirement: Requirement
    factors: tuple[str, ...] = ()
    denies: bool = False
    parts: tuple[Contribution, ...] = ()
    code: str = ""  # the wire's error code where the matrix refuses
    details: Json = field(default_factory=nothing)  # of the code
    would: tuple[Contribution, ...] = ()  # the parts that the mode or a pause disregards

    def reason(self) -> str:
        """The reason of the strictest part that says what the action does, before escalations and that it cannot be undone."""
        own = [part for part in self.parts if part.name not in RAISING and part.requirement != Requirement()]
        named = [part for part in own if part.name != "irreversible"]
        return max(named or own or self.parts, key=_weight).reason if self.parts else ""


def evaluate_policy(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> PolicyResult:
    """Joins all contributions, less the exemptions by an operator, a grant or the impact; order cannot matter."""
    if at.mode in ("disabled", "logging"):
        return PolicyResult(Requirement(), (f"mode {at.mode}: not evaluated",))
    if not policy.severities.enabled:
        return PolicyResult(Requirement(), ("the gate is switched off (enabled = false)",))
    parts = [part for source in _SOURCES for part in source(assessment, named, policy, at)]
    if parts:
        result = _join(parts, assessment, named, policy, at)
    else:
        result = PolicyResult(Requirement(), tuple(_impact_factors(at)))
    return _apply_mode(_apply_pause(result, assessment, at), at.mode)


def _join(
    parts: list[Contribution], assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances
) -> PolicyResult:
    """The join of the contributions that no exemption removes."""
    remaining, exemptions = parts, list[str]()
    if _may_exempt(policy, at):
        remaining, exemptions = apply_exemptions(parts, assessment, named, policy, at)
    requirement = Requirement()
    for part in remaining:
        requirement = requirement.join(part.requirement)
    requirement = _without_cooling_alone(_admin_only(requirement, remaining), assessment, policy)
    factors = (
        *(f"{part.name}: {part.words}" for part in remaining),
        *exemptions,
        *escalation_factors(remaining),
        *_impact_factors(at),
    )
    denies = any(part.denies for part in remaining)
    refusing = next((part for part in remaining if part.code and part.requirement.blocked), None)
    code, details = (refusing.code, refusing.details) if refusing else ("", NOTHING)
    return PolicyResult(requirement, factors, denies, tuple(remaining), code, details)


def _may_exempt(policy: Policy, at: Circumstances) -> bool:
    """Whether anything could lower a requirement: a grant, a confirmation, a pattern, a trust tier, the impact or a copy."""
    answered = at.granted or at.confirmed_patterns or at.trust_tier
    recoverable = at.journaled or at.snapshot is not None or at.loss in (Loss.NONE, Loss.RECOVERABLE)
    return bool(answered or recoverable or policy.patterns.allow or policy.restriction.patterns.allow)


def _impact_factors(at: Circumstances) -> Iterable[str]:
    """The impact, where an inspection found one, and why there is no snapshot."""
    if at.impact is not None and at.impact.telling:
        yield f"{IMPACT_PREFIX}{at.impact.words}"
    if at.snapshot is not None and not at.snapshot.verified:
        yield f"{NO_SNAPSHOT_PREFIX}{at.snapshot.problem}"


def _apply_pause(result: PolicyResult, assessment: Assessment, at: Circumstances) -> PolicyResult:
    """Drops the requirement while an operator's pause covers the action, and records that; a block of the agent stays."""
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
    factor = (f"would have: {word}",) if word != "allow" else ()
    return PolicyResult(Requirement(), (*result.factors, *factor), would=result.parts)


def _admin_only(requirement: Requirement, parts: Iterable[Contribution]) -> Requirement:
    """Where the policy requires an admin, approvers that an adapter names cannot replace them."""
    if any(ADMIN in part.requirement.approvers for part in parts if part.name != "approval"):
        return replace(requirement, approvers=frozenset({ADMIN}))
    return requirement


def _without_cooling_alone(requirement: Requirement, assessment: Assessment, policy: Policy) -> Requirement:
    """R-3: an irreversible action also needs a person's confirmation, outside `spec`."""
    alone = requirement.cooling_seconds and requirement.human is Human.NONE
    if alone and assessment.irreversible and not policy.cooling_frees_irreversible:
        return requirement.join(ASK)
    return requirement


def _weight(part: Contribution) -> tuple[bool, int, float]:
    return part.requirement.blocked, int(part.requirement.human), part.requirement.cooling_seconds


# Returns the contributions of one concern.
Source = Callable[[Assessment, MatchNames, Policy, Circumstances], Iterable[Contribution]]


def _hard_blocks(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    parts = []
    if at.blocked and assessment.level > Level.SAFE:  # reading stays possible
        parts.append(Contribution("blocked", BLOCK, f"this agent is blocked: {at.blocked}"))
    if not assessment.approvable:
        rules = ", ".join(dict.fromkeys(f.rule for f in assessment.findings if not f.approvable))
        parts.append(Contribution("never", BLOCK, f"nobody may approve this ({rules})"))
    return parts


def _operator_patterns(
    assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances
) -> list[Contribution]:
    parts = []
    for source, patterns in (("", policy.patterns), ("restriction ", policy.restriction.patterns)):
        parts += [
            Contribution("deny", BLOCK, f"{source}pattern match: {glob.text} is denied{_by(glob)}")
            for glob in (hits(patterns.deny, named) if patterns.deny else ())
        ]
        if patterns.approve:
            ask = APPROVE if not source else ASK
            name = "approve_pattern" if not source else CONFIRM_PATTERN
            parts += [
                Contribution(
                    name,
                    ask,
                    _approval_words(glob, source),
                    pattern=glob.text,
                )
                for glob in hits(patterns.approve, named)
            ]
        if named.cut and (patterns.deny or patterns.approve):  # what was not compared may be what a pattern means
            parts.append(
                Contribution("approve_pattern", APPROVE, f"too many parts to compare with every {source}pattern")
            )
    return parts


def _by(glob: Glob) -> str:
    return f" by {glob.origin}" if glob.origin else ""


def _approval_words(glob: Glob, source: str) -> str:
    if not glob.origin:
        return f"{source}pattern match: {glob.text} requires approval"
    if glob.text == EVERYTHING:  # of a project's file that cannot be used
        return f"{glob.origin}; until it can, everything here is asked about"
    return f"pattern match: {glob.text} requires approval, says {glob.origin}"


def _allowlist(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    """X-04: a declared allowlist denies everything else, except the operations that stop an agent."""
    if not policy.allowed_operations or not named.operations:
        return []
    name = named.operations[0]
    if name in policy.allowed_operations or name in EXEMPT:
        return []
    return [Contribution("allowlist", BLOCK, f"{name} is not among the operations this agent declared")]


def _matrix(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    """R-1: the trust matrix, for operations of an adapter only; denies an operation that the adapter does not have."""
    if at.adapter_context is None:
        return []
    if at.adapter_context.missing:
        details = {"operation": at.adapter_context.call.operation}
        return [
            Contribution("matrix_deny", BLOCK, at.adapter_context.note, code="NOT_FOUND_OPERATION", details=details)
        ]
    call = replace(at.adapter_context.call, level=max(at.adapter_context.call.level, assessment.level))
    found = passage(call, policy.matrix, policy.trust, at.adapter_context.override)
    words = f"trust {call.trust.word} x danger {call.level.word}: published {found.published}"
    does = next(iter(call.reasons), "") or _worst_reason(assessment)
    if found.word == ALLOW:
        return [
            Contribution(
                "matrix", Requirement(), words, explanation=f"{call.operation} of an adapter that is {call.trust.word}"
            )
        ]
    explanation = f"{call.level.word}: {does or call.operation}"
    if found.word == DENY and found.code == "PERMISSION_DENIED":  # only the floor: an admin can override
        override = Requirement(human=Human.VERIFY, approvers=frozenset({ADMIN}), reauth=True)
        words, explanation = (f"{one.rstrip('.')}; {OVERRIDE_REQUIRED}" for one in (words, explanation))
        return [Contribution("matrix", override, words, code=found.code, explanation=explanation)]
    if found.word == DENY or found.word not in (CONFIRM, VERIFY):
        explanation = untrusted_words(call, found, does, at.adapter_context.note)
        return [
            Contribution("matrix_deny", BLOCK, words, code=found.code, details=found.details, explanation=explanation)
        ]
    human = Human.CONFIRM if found.word == CONFIRM else Human.VERIFY
    return [Contribution("matrix", Requirement(human=human), words, code=found.code, explanation=explanation)]


def _worst_reason(assessment: Assessment) -> str:
    return max(assessment.findings, key=lambda finding: finding.level).reason if assessment.findings else ""


def _level(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    if at.registry_match is not None and replaces_level(assessment, policy, at):
        return []
    control = policy.levels[assessment.level]
    requirement = control.requirement
    if assessment.irreversible and control.irreversible is not None:
        requirement = requirement.join(control.irreversible)
    if requirement == Requirement():
        return []
    return [
        Contribution(
            "level",
            requirement,
            level_words(assessment),
            denies=control.denies or _denies_irreversible(control, assessment),
        )
    ]


def _unkept(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    """R-24: everyday work that would lose something is asked about like a destructive action, unless a snapshot keeps it."""
    control = policy.levels[Level.DESTRUCTIVE]
    kept = at.snapshot is not None and at.snapshot.verified
    if not at.unkept or kept or control.kept is None:
        return []
    return [Contribution("unkept", control.requirement, at.unkept, denies=control.denies)]


def _denies_irreversible(control: Control, assessment: Assessment) -> bool:
    return assessment.irreversible and control.irreversible is not None and control.irreversible.human > Human.NONE


def _irreversible(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    """R-5: whatever the score; from level 3 up it means verify."""
    if not assessment.irreversible or policy.irreversible is Human.NONE:
        return []
    human = Human.VERIFY if assessment.level >= Level.DANGEROUS else policy.irreversible
    return [Contribution("irreversible", Requirement(human=human), "cannot be undone")]


def _severity(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    return severity_parts(assessment, policy, at) if at.registry_match is not None else []


def _declared(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    """Requirements that an adapter declares besides its level: time, a new sign-in, approvers (DL-02, DL-10, seed 000 9.2)."""
    block = at.adapter_context.block if at.adapter_context else None
    parts = [
        Contribution("declared", Requirement(), words)
        for words in (at.adapter_context.notices if at.adapter_context else ())
    ]
    if block is None:
        return parts
    if block.cooldown_seconds:
        seconds = milliseconds_to_seconds(min(block.cooldown_seconds * 1000, policy.severities.max_cooling_off_ms))
        parts.append(Contribution("cooldown", Requirement(seconds), f"the adapter asks for {seconds}s to reconsider"))
    if block.requires_reauth:
        parts.append(
            Contribution("reauth", Requirement(human=Human.CONFIRM, reauth=True), "the adapter asks for a new sign-in")
        )
    if block.requires_confirmation:
        parts.append(Contribution("confirmation", ASK, "the adapter asks for confirmation"))
    if block.approval is not None and block.approval.required:
        who = block.approval.approvers
        approval = Requirement(human=Human.APPROVE, approvers=who, quorum=1)
        parts.append(Contribution("approval", approval, f"the adapter asks for approval by {', '.join(sorted(who))}"))
    return parts


def _claimed(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    """The level that the caller claims: required as that level under every policy; it can only raise."""
    level = at.claimed_level
    if level is None or level <= assessment.level:
        return []
    requirement = policy.levels[level].requirement.join(Requirement(human=RAISED_TO[level]))
    return [Contribution("claimed", requirement, f"its caller says that it is {level.word}")]


def _tier(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    replaced = at.registry_match is not None and replaces_level(assessment, policy, at)
    own = 0 if replaced else assessment.score
    score = max(own, at.claimed_risk or 0)  # the agent may raise its own risk, never lower it
    parts = []
    tiers = policy.tiers or at.steps_left is not None  # C-10: in the loop the tier always counts
    if tiers:
        human = TIERS[tier_of(score)]
        if human is not Human.NONE:
            parts.append(Contribution("tier", Requirement(human=human), _score_words(assessment, score)))
    limit = TOLERANCES[policy.tolerance]
    if tiers and policy.tolerance == "conservative" and limit < score <= TIER_TOPS[0]:  # C-09: it can only tighten
        parts.append(
            Contribution("tolerance", ASK, f"score {score} is above the {policy.tolerance} tolerance of {limit}")
        )
    return parts


def _score_words(assessment: Assessment, score: int) -> str:
    """The basis of a score for a person: the agent's own estimate, or the worst finding."""
    words = f"score {score}: {tier_of(score).value}"
    if score > assessment.score:
        return f"{words}, by the agent's own estimate"
    worst = max(assessment.findings, key=lambda finding: finding.level, default=None)
    return f"{worst.reason.rstrip('.')} ({words})" if worst is not None else words


def _danger_zone(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    """R-9: where a policy opts in, the last tier is a hard stop in every interface; the engine then blocks the principal."""
    score = max(assessment.score, at.claimed_risk or 0)
    if not policy.block_on_danger_zone or tier_of(score) is not Tier.DANGER_ZONE:
        return []
    return [
        Contribution(
            DANGER_ZONE, BLOCK, f"score {score} is in the danger zone: the agent is blocked until an operator lifts it"
        )
    ]


def _tampering(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    """R-9: an attack on the guard is held as its rules require; the engine blocks the principal."""
    return (
        [Contribution(TAMPERING, Requirement(human=Human.VERIFY), f"attacks Interlock itself: it {at.tampering}")]
        if at.tampering
        else []
    )


def _loop(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    parts = [at.mismatch] if at.mismatch is not None else []
    if at.steps_left is not None and at.steps_left <= 0:
        parts.append(Contribution("steps", ASK, "Step limit exceeded"))
    if at.previous == "failure":
        parts.append(Contribution("outcome", ASK, "the step before failed"))
    if at.starting and policy.loop.start != "allow":
        parts.append(Contribution("start", ASK, "an execution starts when a person agrees to it"))
    if at.pause:  # C-19: the held step itself needs what it needed; nothing else goes on
        held = Requirement(human=at.pause_human) if at.pause_human is not Human.NONE else BLOCK
        parts.append(Contribution("pause", held, at.pause))
    return parts


def _denied(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    """R-22: a denial binds the effect on its target, not the wording."""
    denied = at.earlier_denial
    if denied is None:
        return []
    parts = [Contribution(SAME_EFFECT, denied.requirement, denied.words, denies=denied.denies)]
    if denied.tries >= 3:
        words = f"tried {denied.tries} ways to the same effect"
        parts.append(Contribution("evasion.search", Requirement(human=Human.VERIFY), words, denies=denied.denies))
    return parts


def _always(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    return [Contribution("always_ask", ASK, "this policy asks about everything")] if policy.always_ask else []


def _literal(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    return (
        [Contribution(name, requirement, words) for name, requirement, words in spec_globs(named)]
        if policy.literal_globs
        else []
    )


_SOURCES: tuple[Source, ...] = (
    _hard_blocks, _operator_patterns, _allowlist, _matrix, _level, _unkept, _irreversible, _severity, _declared, escalation, _claimed,
    _tier, _danger_zone, _tampering, _loop, _denied, _always, _literal,
)  # fmt: skip
