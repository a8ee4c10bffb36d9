"""The answer to one action, and its words on the wire (2.10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interlock.core.model import Assessment, Human, Requirement
from interlock.core.records import Ticket
from interlock.core.times import iso
from interlock.core.wire import finding_json

HELD = frozenset({"cool_off", "confirm", "approve", "verify"})


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to one action: outcome, why, what was found, the ticket that can change it."""

    outcome: str  # allow, cool_off, confirm, approve, verify, block, deny
    reason: str
    assessment: Assessment | None = None
    requirement: Requirement = field(default_factory=Requirement)
    factors: tuple[str, ...] = ()
    ticket: Ticket | None = None
    wait_seconds: int = 0
    patterns: tuple[Mapping[str, Any], ...] = ()  # what the registry said
    code: str = ""  # of the error registry, where one applies
    strength: str = "plain"
    unknown: bool = False  # the state could not be known; nothing was decided about the action itself

    @property
    def allowed(self) -> bool:
        return self.outcome == "allow"

    @property
    def held(self) -> bool:
        return self.outcome in HELD

    @property
    def instead(self) -> tuple[str, ...]:
        findings = self.assessment.findings if self.assessment else ()
        return tuple(dict.fromkeys(finding.instead for finding in findings if finding.instead))


def decision_json(decision: Decision) -> dict[str, Any]:
    """Seed 003's answer, and beside it everything that ours has; the body always has `allowed`."""
    body: dict[str, Any] = {
        "allowed": decision.allowed,
        "reason": decision.reason,
        "deniedPatterns": [dict(pattern) for pattern in decision.patterns] if not decision.allowed else [],
        "decision": decision.outcome,
        "strength": decision.strength,
        "factors": list(decision.factors),
    }
    if decision.ticket is not None:
        body |= _ticket_json(decision, decision.ticket)
    if decision.code:
        body["code"] = decision.code
    assessment = decision.assessment
    if assessment is not None:
        body |= {
            "level": int(assessment.level),
            "level_name": assessment.level.word,
            "irreversible": assessment.irreversible,
            "canRollback": assessment.can_rollback,
            "score": assessment.score,
            "tier": assessment.tier.value,
            "findings": [finding_json(finding) for finding in assessment.findings],
            "instead": list(decision.instead),
        }
    return body


def _ticket_json(decision: Decision, ticket: Ticket) -> dict[str, Any]:
    asked = decision.requirement
    body: dict[str, Any] = {"pendingId": ticket.id, "expiresAt": iso(ticket.expires_at)}
    if decision.wait_seconds:
        body["waitMs"] = decision.wait_seconds * 1000
    if ticket.cooling_ends_at:
        body["coolingEndsAt"] = iso(ticket.cooling_ends_at)
    if asked.human > Human.NONE and not decision.allowed:
        body["requiresApproval"] = True
        body["approvers"] = sorted(asked.approvers) or ["human"]
    return body


def status_of(decision: Decision) -> int:
    """200 allowed, 202 held, 403 denied, 503 state unknown."""
    if decision.unknown:
        return 503
    if decision.allowed:
        return 200
    return 202 if decision.held else 403
