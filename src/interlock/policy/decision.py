"""The decision on one action, and its JSON on the wire (2.10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from interlock.analysis.wire import finding_json, flags_json, requirement_json
from interlock.error_codes import CODES
from interlock.model import Assessment, Confidential, Human, Requirement, Seconds
from interlock.records import Ticket, nothing
from interlock.times import iso

if TYPE_CHECKING:
    from interlock.policy.circumstances import Contribution

NO_REQUIREMENT = Requirement()
HELD = frozenset({"cool_off", "confirm", "approve", "verify"})
_OF_NAMES = "acts."  # begins the rules that read what an action is called


class Decision(Confidential, Struct, frozen=True):
    """The answer to one action: outcome, why, what was found, the ticket that can change it."""

    HIDDEN = ("token",)

    outcome: str  # allow, cool_off, confirm, approve, verify, block, deny
    reason: str
    assessment: Assessment | None = None
    requirement: Requirement = field(default_factory=Requirement)
    factors: tuple[str, ...] = ()
    ticket: Ticket | None = None
    wait_seconds: Seconds = 0
    patterns: tuple[Mapping[str, Any], ...] = ()  # matches of the registry
    code: str = ""  # of the error registry, where one applies
    strength: str = "plain"
    unknown: bool = False  # the state could not be known; nothing was decided about the action itself
    token: str = ""  # the conf_… of the ticket; inert until a human arms it (C-14)
    details: Mapping[str, Any] = field(default_factory=nothing)  # of the code
    message: str = ""  # better words than the code has by itself
    warnings: tuple[Mapping[str, Any], ...] = ()  # of an allowed action (2.11)
    parts: tuple[Contribution, ...] = ()  # of the requirement, also where the mode disregards it
    unspent: bool = False  # allowed in a preview: the approval behind it was not spent
    kept: str = ""  # the id of the snapshot taken first; `interlock undo` restores it
    weighed: tuple[str, ...] = ()  # the factors that are not the action's own

    def __bool__(self) -> bool:
        """True where the action may run."""
        return self.allowed

    def __str__(self) -> str:
        """`outcome: reason`."""
        return f"{self.outcome}: {self.reason}"

    @property
    def allowed(self) -> bool:
        return self.outcome == "allow"

    @property
    def held(self) -> bool:
        return self.outcome in HELD

    @property
    def can_rollback(self) -> bool:
        """X-08: as the matching patterns declare; they outrank rules that judge by the name alone."""
        findings = self.assessment.findings if self.assessment is not None else ()
        counted = [one for one in findings if not (self.patterns and one.rule.startswith(_OF_NAMES))]
        return all(one.get("canRollback") for one in self.patterns) and not any(one.irreversible for one in counted)

    @property
    def instead(self) -> tuple[str, ...]:
        findings = self.assessment.findings if self.assessment else ()
        return tuple(dict.fromkeys(finding.instead for finding in findings if finding.instead))


def decision_json(decision: Decision) -> dict[str, Any]:
    """Seed 003's answer, extended by our fields; the body always has `allowed`."""
    body: dict[str, Any] = {
        "allowed": decision.allowed,
        "reason": decision.reason,
        "deniedPatterns": [dict(pattern) for pattern in decision.patterns] if not decision.allowed else [],
        "decision": decision.outcome,
        "strength": decision.strength,
        "factors": list(decision.factors),
    }
    if decision.requirement != NO_REQUIREMENT:
        body["requirement"] = requirement_json(decision.requirement)
    if decision.ticket is not None:
        body |= _ticket_json(decision, decision.ticket)
    if decision.warnings:
        body["warnings"] = [dict(warning) for warning in decision.warnings]
    if decision.kept:
        body["kept"] = decision.kept
    if decision.code:
        body["code"] = decision.code
    assessment = decision.assessment
    if assessment is not None:
        body |= {
            "level": int(assessment.level),
            "level_name": assessment.level.word,
            "irreversible": assessment.irreversible,
            "canRollback": decision.can_rollback,
            "score": assessment.score,
            "tier": assessment.tier.value,
            "flags": flags_json(assessment.flags),
            "findings": [finding_json(finding) for finding in assessment.findings],
            "instead": list(decision.instead),
        }
    return body


def failure_json(decision: Decision) -> dict[str, Any]:
    """ERR-01: a decision that does not allow, as an error of the registry with the token of 2.9; nothing for an allowed one."""
    if decision.allowed or not decision.code:
        return {}
    error: dict[str, Any] = {"code": decision.code, "message": decision.message or CODES[decision.code].message}
    if decision.details:
        error["details"] = dict(decision.details)
    body: dict[str, Any] = {"success": False, "error": error}
    if decision.token:
        details = decision.details
        body["confirmation"] = {
            "token": decision.token,
            "expires_at": details.get("expires_at", ""),
            "message": details.get("confirmation_message", ""),
            "reasons": list(details.get("reasons", ())),
        }
    return body


def _ticket_json(decision: Decision, ticket: Ticket) -> dict[str, Any]:
    requirement = decision.requirement
    body: dict[str, Any] = {"pendingId": ticket.id, "expiresAt": iso(ticket.expires_at)}
    if decision.token:
        body["confirmation_token"] = decision.token
    if decision.wait_seconds:
        body["waitMs"] = round(decision.wait_seconds * 1000)
    if ticket.cooling_ends_at:
        body["coolingEndsAt"] = iso(ticket.cooling_ends_at)
    if requirement.human > Human.NONE and not decision.allowed and ticket.open:  # a rejection is no question
        body["requiresApproval"] = True
        body["approvers"] = sorted(requirement.approvers) or ["human"]
    return body


def status_of(decision: Decision) -> int:
    """200 allowed, 202 held, 403 denied, 503 state unknown."""
    if decision.unknown:
        return 503
    if decision.allowed:
        return 200
    return 202 if decision.held else 403
