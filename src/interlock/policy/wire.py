"""Renders a decision as JSON on the wire (2.10)."""

from __future__ import annotations

from typing import Any

from interlock.analysis.wire import flags_json
from interlock.error_codes import codes
from interlock.model import Decision, Human, Requirement, finding_json, requirement_json
from interlock.records import Ticket
from interlock.times import iso


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
    if decision.requirement != Requirement():
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
    """ERR-01: an error of the registry with the token of 2.9; nothing for an allowed decision."""
    if decision.allowed or not decision.code:
        return {}
    error: dict[str, Any] = {"code": decision.code, "message": decision.message or codes()[decision.code].message}
    if decision.details:
        error["details"] = dict(decision.details)
    body: dict[str, Any] = {"success": False, "error": error}
    if decision.token:
        body["confirmation"] = {
            "token": decision.token,
            "expires_at": decision.details.get("expires_at", ""),
            "message": decision.details.get("confirmation_message", ""),
            "reasons": list(decision.details.get("reasons", ())),
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
