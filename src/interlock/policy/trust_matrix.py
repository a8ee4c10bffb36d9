"""The requirements of adapters: the trust x danger matrix with our floor under it, an operator's trust_policy, and what an adapter declares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from interlock.model import ADMIN, NOTHING, Human, Json, Level, Requirement, Trust
from interlock.policy.circumstances import Contribution, PolicyInput
from interlock.schema import says
from interlock.times import milliseconds_to_seconds

ALLOW, CONFIRM, VERIFY, INTROSPECT_ONLY, DENY = WORDS = ("allow", "confirm", "verify", "introspect_only", "deny")

# Rows are danger, columns trust from untested to certified (DL-12).
PUBLISHED = {
    Level.SAFE: (INTROSPECT_ONLY, ALLOW, ALLOW, ALLOW, ALLOW),
    Level.REVERSIBLE: (DENY, DENY, ALLOW, ALLOW, ALLOW),
    Level.DESTRUCTIVE: (DENY, DENY, CONFIRM, ALLOW, ALLOW),
    Level.DANGEROUS: (DENY, DENY, DENY, CONFIRM, ALLOW),
    Level.FORBIDDEN: (DENY, DENY, DENY, DENY, CONFIRM),
}
# The requirement of a level at every trust (C-02); a forbidden operation takes an admin's override first.
FLOOR = dict(zip(Level, (ALLOW, ALLOW, CONFIRM, VERIFY, DENY)))
OVERRIDE_REQUIRED = "operator override required"
MATRICES = ("floor", "spec")


class TrustPolicy(Struct, frozen=True):
    """An operator's requirements beyond the matrix (TL-08); they can only tighten."""

    minimum_trust_for_writes: Annotated[
        Trust | None, says("the least trust of an [adapter](adapters.md#trust) for operations that change something")
    ] = None
    minimum_trust_for_deletes: Annotated[
        Trust | None, says("the same for those that delete, and for level `destructive` and up")
    ] = None
    allow_untested_introspection: Annotated[bool, says("whether an untested adapter may be introspected")] = True
    require_confirmation_below: Annotated[
        Trust | None, says("adapters of less trust are confirmed before they change anything")
    ] = None
    strict_category_minimums: Annotated[
        bool, says("deletes need `community_reviewed`, dangerous operations `certified`")
    ] = False


class AdapterCall(Struct, frozen=True):
    operation: str
    level: Level
    trust: Trust
    category: str = ""
    introspection: bool = False
    reasons: tuple[str, ...] = ()


class Passage(Struct, frozen=True):
    """A refusal carries its error code and details."""

    word: str
    published: str
    code: str = ""
    details: Json = NOTHING


def gate(level: Level, trust: Trust, matrix: str = "floor") -> str:
    """One cell: as published (`spec`), or the stricter of that and the floor (`floor`, R-1)."""
    published = PUBLISHED[level][trust]
    if matrix == "spec":
        return published
    if matrix != "floor":
        raise ValueError(f"no matrix {matrix!r}; known: {', '.join(MATRICES)}")
    return stricter(published, FLOOR[level])


def stricter(one: str, other: str) -> str:
    return max(one, other, key=WORDS.index)


def minimum_trust_required(level: Level) -> Trust:
    """Whose published cell lets an operation through; `introspect_only` lets none (R-1)."""
    return next(trust for trust in Trust if PUBLISHED[level][trust] not in (DENY, INTROSPECT_ONLY))


def category_minimum(category: str, level: Level) -> Trust:
    """The least trust by kind of operation (TL-06); introspection needs none."""
    if level >= Level.DANGEROUS:
        return Trust.CERTIFIED
    if category == "delete" or level is Level.DESTRUCTIVE:
        return Trust.COMMUNITY_REVIEWED
    return Trust.GENERATED if category == "read" and level is Level.SAFE else Trust.VALIDATED


def passage(
    call: AdapterCall, matrix: str = "floor", policy: TrustPolicy | None = None, override: bool = False
) -> Passage:
    """`override` is an admin's, with step-up."""
    policy = policy or TrustPolicy()
    published = PUBLISHED[call.level][call.trust]
    if call.introspection and call.level is Level.SAFE:
        untested = call.trust is Trust.UNTESTED and not policy.allow_untested_introspection
        return _insufficient(call, Trust.GENERATED, published) if untested else Passage(ALLOW, published)
    needed = _needed_trust(call, policy)
    if published == INTROSPECT_ONLY or call.trust < needed:
        return _insufficient(call, max(needed, minimum_trust_required(call.level)), published)
    if published == DENY:
        return Passage(DENY, published, "PERMISSION_DANGER_LEVEL_DENIED", _denied(call))
    word = gate(call.level, call.trust, matrix)
    if word == DENY:  # only the floor denies
        if not override:
            return Passage(DENY, published, "PERMISSION_DENIED", {"reason": OVERRIDE_REQUIRED})
        word = VERIFY
    below = policy.require_confirmation_below
    if below is not None and call.trust < below and call.level > Level.SAFE:
        word = stricter(word, CONFIRM)
    return Passage(word, published, "CONFIRMATION_REQUIRED" if word != ALLOW else "")


def matrix_part(case: PolicyInput) -> tuple[Contribution, ...]:
    """Denies an operation that the adapter does not have."""
    worst, context = case.assessment.worst, case.at.adapter_context
    if context is None:
        return ()
    if context.missing:
        asked, named = Requirement(blocked=True), {"operation": context.call.operation}
        return (Contribution("matrix_deny", asked, context.note, code="NOT_FOUND_OPERATION", details=named),)
    call = replace(context.call, level=max(context.call.level, case.assessment.level))
    found = passage(call, case.policy.matrix, case.policy.trust, context.override)
    words = f"trust {call.trust.word} x danger {call.level.word}: published {found.published}"
    does = next(iter(call.reasons), "") or (worst.reason if worst is not None else "")
    name, asked, details = "matrix", Requirement(), NOTHING
    explanation = f"{call.level.word}: {does or call.operation}"
    if found.word == ALLOW:
        explanation = f"{call.operation} of an adapter that is {call.trust.word}"
    elif found.word in (CONFIRM, VERIFY):
        asked = Requirement(human=Human.CONFIRM if found.word == CONFIRM else Human.VERIFY)
    elif found.word == DENY and found.code == "PERMISSION_DENIED":  # only the floor: an admin can override
        asked = Requirement(human=Human.VERIFY, approvers=frozenset({ADMIN}), reauth=True)
        words, explanation = (f"{one.rstrip('.')}; {OVERRIDE_REQUIRED}" for one in (words, explanation))
    else:
        name, asked, details = "matrix_deny", Requirement(blocked=True), found.details
        explanation = _untrusted_words(call, found, does, context.note)
    return (Contribution(name, asked, words, code=found.code, details=details, explanation=explanation),)


def declared_parts(case: PolicyInput) -> Iterator[Contribution]:
    """What an adapter declares besides its level (DL-02, DL-10, seed 000 9.2)."""
    context = case.at.adapter_context
    if context is None:
        return
    yield from (Contribution("declared", Requirement(), words) for words in context.notices)
    block = context.block
    if block is None:
        return
    if block.cooldown_seconds:
        most = case.policy.severities.max_cooling_off_ms
        seconds = milliseconds_to_seconds(min(block.cooldown_seconds * 1000, most))
        yield Contribution("cooldown", Requirement(seconds), f"the adapter asks for {seconds}s to reconsider")
    if block.requires_reauth:
        asked = Requirement(human=Human.CONFIRM, reauth=True)
        yield Contribution("reauth", asked, "the adapter asks for a new sign-in")
    if block.requires_confirmation:
        yield Contribution("confirmation", Requirement(human=Human.CONFIRM), "the adapter asks for confirmation")
    if block.approval is not None and block.approval.required:
        who = block.approval.approvers
        asked = Requirement(human=Human.APPROVE, approvers=who, quorum=1)
        yield Contribution("approval", asked, f"the adapter asks for approval by {', '.join(sorted(who))}")


def _untrusted_words(call: AdapterCall, found: Passage, does: str, note: str) -> str:
    needed = found.details.get("required_trust") or found.details.get("minimum_trust_required")
    what = f"{call.operation} is {call.level.word}" + (f" ({does.rstrip('.')})" if does else "")
    takes = f", and takes an adapter that is {needed}" if needed else ""
    return f"{what}{takes}; {note or f'this one is {call.trust.word}'}"


def _needed_trust(call: AdapterCall, policy: TrustPolicy) -> Trust:
    """The category minimums count only where an operator enabled them (C-07)."""
    asked = (
        (call.category != "read" or call.level > Level.SAFE) and policy.minimum_trust_for_writes,
        (call.category == "delete" or call.level >= Level.DESTRUCTIVE) and policy.minimum_trust_for_deletes,
        policy.strict_category_minimums and category_minimum(call.category, call.level),
    )
    return max(trust or Trust.UNTESTED for trust in asked)


def _insufficient(call: AdapterCall, needed: Trust, published: str) -> Passage:
    levels = {"required_trust": needed.word, "actual_trust": call.trust.word, "danger_level": int(call.level)}
    details = {"operation": call.operation, **levels}
    return Passage(DENY, published, "PERMISSION_TRUST_LEVEL_INSUFFICIENT", details)


def _denied(call: AdapterCall) -> Json:
    return {
        "operation": call.operation,
        "danger_level": call.level.word,
        "adapter_trust": call.trust.word,
        "minimum_trust_required": minimum_trust_required(call.level).word,
        "reasons": list(call.reasons),
    }
