"""Builds a decision's record: DL-07's fields and the inputs of the decision as JSON, and reads them back for a replay; refuses a record that says too little."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from typing import Any

from msgspec import convert, to_builtins

from interlock.adapters.danger import DangerBlock
from interlock.analysis.facts import Command, Effect, Fact
from interlock.approvals import Resolution, TicketChange
from interlock.audit.chain import EVENTS, HELD, Attempt, AuditEvent, attempt_body, attempt_event
from interlock.canonical_json import canonical_json
from interlock.model import NOTHING, TRUSTS, Human, Json, Level, Loss, Requirement
from interlock.policy.circumstances import AdapterContext, Circumstances, Contribution, EarlierDenial
from interlock.policy.evaluate import PolicyResult
from interlock.policy.impact import impact_json, impact_of
from interlock.policy.match_names import MatchNames
from interlock.policy.overrides import applied_rules_json
from interlock.policy.real_paths import RESOLVED
from interlock.policy.registry import Pattern, RegistryMatch
from interlock.policy.trust_matrix import AdapterCall
from interlock.redaction import action_json, has_no_secret, redact
from interlock.runtime import Judged, operation_name
from interlock.snapshots import TakenSnapshot, parse_answer
from interlock.times import iso


class ReplayError(ValueError):
    """A record that cannot be replayed, and why."""


def inputs_json(facts: Sequence[Fact], named: MatchNames, at: Circumstances) -> dict[str, Any]:
    names = ["operations", "commands", "tools", "single", *(name for name in ("places", "cut") if getattr(named, name))]
    titles = {name: to_builtins(getattr(named, name)) for name in names}
    return {"facts": list(map(_fact_json, facts)), "titles": titles, "circumstances": _circumstances_json(at)}


def inputs_of(given: Json) -> tuple[tuple[Fact, ...], MatchNames, Circumstances]:
    """Raises ReplayError where the record is incomplete."""
    with _complete():
        return facts_of(given), convert(given["titles"], MatchNames), _circumstances_of(given["circumstances"])


@contextmanager
def _complete() -> Iterator[None]:
    try:
        yield
    except ReplayError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ReplayError(f"the record does not say what was judged: {type(error).__name__} {error}"[:200]) from None


def facts_of(given: Json) -> tuple[Fact, ...]:
    with _complete():
        return tuple(convert(data, Command) if "program" in data else convert(data, Effect) for data in given["facts"])


def _fact_json(fact: Fact) -> dict[str, Any]:
    body: dict[str, Any] = to_builtins(fact, order="deterministic")
    if isinstance(fact, Command):
        body["words"] = redact([fact.program, *fact.words])[1:]  # which of them are secrets depends on the program
        return body if fact.cwd else {key: value for key, value in body.items() if key != "cwd"}
    return body


def _circumstances_json(at: Circumstances) -> dict[str, Any]:
    always = {key: write(getattr(at, name)) for key, (name, write, _) in _ALWAYS.items()}
    return always | {
        key: write(value)
        for key, (name, write, _) in _OPTIONAL.items()
        if (value := getattr(at, name)) != getattr(_USUAL, name)
    }


def _circumstances_of(data: Json) -> Circumstances:
    if data.get("denied_goal") and not data.get("denied"):  # as earlier versions wrote it: the ticket alone
        words = f"the same effect on the same target was refused as {data['denied_goal']}"
        denied = EarlierDenial(data["denied_goal"], words, Requirement(human=Human.APPROVE), True, data.get("tries", 0))
        data = {**data, "denied": _denied_json(denied)}
    return Circumstances(
        **{name: read(data[key]) for key, (name, _, read) in _ALWAYS.items()},
        **{name: read(data[key]) for key, (name, _, read) in _OPTIONAL.items() if data.get(key) is not None},
    )


def _denied_json(denied: EarlierDenial) -> dict[str, Any]:
    body: dict[str, Any] = to_builtins(denied, order="deterministic")
    asked = body.pop("requirement")
    del asked["blocked"]
    return {**body, "asked": asked}


def _adapted_json(adapted: AdapterContext) -> dict[str, Any]:
    told = {name: getattr(adapted, name) for name in ("override", "note", "missing")}
    block = None
    if adapted.block:
        names = ("cooldown_seconds", "requires_reauth", "requires_confirmation")
        block = {"level": int(adapted.block.level), **{name: getattr(adapted.block, name) for name in names}}
        approval = adapted.block.approval
        approvers = {"required": approval.required, "approvers": sorted(approval.approvers)} if approval else None
        block["approval"] = approvers
    call = {**to_builtins(adapted.call), "trust": adapted.call.trust.word}
    return {**call, **told, "notices": list(adapted.notices), "block": block}


def _adapted_of(data: Json) -> AdapterContext:
    call = convert({**data, "trust": int(TRUSTS[data["trust"]])}, AdapterCall)
    block = convert(data["block"], DangerBlock) if data["block"] else None
    told = (str(data.get("note", "")), bool(data.get("missing")), tuple(data.get("notices", ())))
    return AdapterContext(call, block, data["override"], *told)


def _matched_json(matched: RegistryMatch) -> dict[str, Any]:
    names = ("max_cooling_ms", "failure", "blocked")
    return {"patterns": [one.wire for one in matched.patterns], **{name: getattr(matched, name) for name in names}}


def _matched_of(data: Json) -> RegistryMatch:
    patterns = tuple(map(Pattern.of, data["patterns"]))
    return RegistryMatch(patterns, data["max_cooling_ms"], data["failure"], data["blocked"])


def _differs_json(part: Contribution) -> dict[str, Any]:
    asked = part.requirement
    return {"name": part.name, "words": part.words, "human": int(asked.human), "blocked": asked.blocked}


_Convert = Callable[[Any], Any]


def _unless_none(convert: _Convert) -> _Convert:
    return lambda value: None if value is None else convert(value)


_PLAIN = "mode blocked trust_tier repeats hourly cumulative claimed_risk steps_left previous granted".split()
# Key in the record -> field of the circumstances, how it is written, and how it is read.
_ALWAYS: Mapping[str, tuple[str, _Convert, _Convert]] = {
    **{name: (name, lambda value: value, lambda value: value) for name in _PLAIN},
    "loss": ("loss", attrgetter("value"), Loss),
    "grant_ceiling": ("grant_ceiling", int, Level),
    "escalated": (
        "escalated",
        _unless_none(lambda found: [int(found[0]), found[1]]),
        _unless_none(lambda found: (Level(found[0]), found[1])),
    ),
    "adapted": ("adapter_context", _unless_none(_adapted_json), _unless_none(_adapted_of)),
    "matched": ("registry_match", _unless_none(_matched_json), _unless_none(_matched_of)),
}
# The same, left out where it is as usual.
_OPTIONAL: Mapping[str, tuple[str, _Convert, _Convert]] = {
    "seen": ("impact", impact_json, impact_of),
    "kept": ("snapshot", to_builtins, partial(parse_answer, kind=TakenSnapshot)),
    "throwaway": ("ephemeral", bool, bool),
    "confirmed": ("confirmed_patterns", sorted, frozenset),
    "claimed_level": ("claimed_level", int, Level),
    "denied": (
        "earlier_denial",
        _denied_json,
        lambda said: convert({**said, "requirement": said["asked"]}, EarlierDenial),
    ),
    "starting": ("starting", bool, bool),
    "pause": ("pause", str, str),
    "pause_human": ("pause_human", int, Human),
    "differs": ("mismatch", _differs_json, lambda said: convert({**said, "requirement": said}, Contribution)),
    "paused_by": ("paused_by", str, str),
    "paused_to": ("paused_to", int, Level),
    "paused_short": ("paused_short", str, str),
}
_USUAL = Circumstances()


def decision_entry(
    judged: Judged,
    weighed: PolicyResult,
    at: Circumstances,
    held: Resolution,
    kept: TakenSnapshot | None = None,
) -> AuditEvent:
    request, assessment = judged.request, judged.assessment
    outcome = "denied" if held.outcome != "allow" else ("confirmed" if held.keep is TicketChange.SPEND else "allowed")
    waits = held.ticket is not None and outcome == "denied" and held.ticket.open
    adapted = request.adapter_context
    attempt = Attempt(
        at=judged.now,
        adapter_name=request.adapter or request.door,
        operation=operation_name(request),
        level=assessment.level,
        outcome=outcome,
        agent=request.agent,
        adapter_trust=adapted.call.trust.word if adapted else "none",
        reason=HELD if waits else held.reason,
        user_id=held.ticket.decided_by if held.ticket and outcome == "confirmed" else "",
        parameters=action_json(request.action),
        door=request.door,
        strength=judged.isolation,
        digest=judged.digest,
        ticket=held.ticket.id if held.ticket else "",
        execution=request.execution,
        step=request.step.told if request.step else NOTHING,
        irreversible=assessment.irreversible,
        score=assessment.score,
        tier=assessment.tier.value,
        factors=(*assessment.factors, *weighed.factors),
        findings=(*(finding.rule for finding in assessment.findings), *([at.mismatch.name] if at.mismatch else [])),
        facts=inputs_json(judged.judgement.facts, judged.named, at),
        requirement=weighed.requirement,
        decision=held.outcome,
        policy_name=judged.policy.name,
        mode=judged.in_force.mode,
        grant=at.granted,
        kept={"id": kept.id, "digest": kept.digest} if kept is not None else NOTHING,
        paused_by_operator=at.paused_by,
        audit_context=adapted.block.audit_context if adapted and adapted.block else (),
    )
    return attempt_event(attempt), {**attempt_body(attempt), **_ruled(judged)}


def short_entry(judged: Judged, weighed: PolicyResult, at: Circumstances) -> AuditEvent:
    """The short record of everyday work: the action itself suffices for replay, unless a secret was redacted."""
    request, assessment = judged.request, judged.assessment
    if (
        request.adapter_context is not None
        or at.registry_match
        or at.paused_by
        or judged.judgement.witnesses
        or not has_no_secret(canonical_json(request.action.fields))
    ):
        return decision_entry(judged, weighed, at, Resolution("allow"))
    body: dict[str, Any] = {
        "timestamp": iso(judged.now),
        "adapter_name": request.adapter or request.door,
        "operation": operation_name(request),
        "danger_level": int(assessment.level),
        "level": assessment.level.word,
        "adapter_trust": "none",
        "outcome": "allowed",
        "agent": to_builtins(request.agent),
        "score": assessment.score,
        "irreversible": assessment.irreversible,
        "strength": judged.isolation,
        "decision": "allow",
        "policy_name": judged.policy.name,
        "mode": judged.in_force.mode,
        "judged": {"kind": request.action.kind.value, "cwd": request.action.cwd, "fields": request.action.fields},
    }
    if request.action.home:
        body["judged"]["home"] = request.action.home
    if any(RESOLVED in fact.traits for fact in judged.judgement.facts):
        body["resolved"] = True  # links were resolved, which no record keeps
    if request.execution:
        body["execution"] = request.execution
    if request.step is not None and request.step.told:
        body["step"] = request.step.told
    claims = {"claimed_risk": at.claimed_risk, "claimed_level": at.claimed_level}
    body |= {name: int(claim) for name, claim in claims.items() if claim is not None}
    return EVENTS["allowed"], {**body, **_ruled(judged)}


def _ruled(judged: Judged) -> dict[str, Any]:
    """AE-08: settings of this agent alone, which a replay of its decision needs."""
    rules = judged.in_force.applied_rules
    return {"loop_rules": applied_rules_json(rules)} if rules else {}
