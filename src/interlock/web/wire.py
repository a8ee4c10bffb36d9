"""Converts stored objects to their JSON on the wire; tokens, digests and seals stay here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from interlock.adapters.trust import TrustStep
from interlock.audit.verify import AuditVerdict
from interlock.model import Category, Level, TicketState, requirement_json
from interlock.policy.impact import impact_words
from interlock.policy.patterns import PatternSet
from interlock.policy.policy import Control, Policy
from interlock.policy.registry import CATEGORIES, Severity
from interlock.records import AgentRow, Approval, AuditRow, Block, Figures, Grant, OperatorRow, Ticket
from interlock.runtime.adapter_trust import review_due
from interlock.runtime.adapters import LoadedAdapter
from interlock.runtime.state import State
from interlock.times import iso

Json = dict[str, Any]


def wire_state(ticket: Ticket) -> str:
    """R-4: `approved` until it is reported executed."""
    if ticket.state is TicketState.SPENT and not ticket.executed_at:
        return TicketState.APPROVED.value
    return ticket.state.value


def ticket_json(ticket: Ticket, approvals: Iterable[Approval]) -> Json:
    """A ticket and its answers, without its token, digest and seal."""
    agent = ticket.agent
    body: Json = {
        "id": ticket.id,
        "state": wire_state(ticket),
        "level": int(ticket.level),
        "level_name": ticket.level.word,
        "irreversible": ticket.irreversible,
        "title": ticket.title,
        "reason": ticket.reason,
        "action": dict(ticket.action),
        "findings": [dict(finding) for finding in ticket.findings],
        "factors": list(ticket.factors),
        "agent": {"principal": agent.principal, "name": agent.name, "session": agent.session},
        "door": ticket.door,
        "requirement": requirement_json(ticket.requirement),
        "approvals": [approval_json(approval) for approval in approvals],
        "severity": ticket.severity,
        "categories": list(ticket.categories),
        "openedAt": iso(ticket.opened_at),
        "expiresAt": iso(ticket.expires_at),
        "strength": ticket.strength,
    }
    times = {
        "coolingEndsAt": ticket.cooling_ends_at,
        "decidedAt": ticket.decided_at,
        "spentAt": ticket.spent_at,
        "executedAt": ticket.executed_at,
    }
    texts = {"decidedBy": ticket.decided_by, "decisionReason": ticket.decision_reason, "outcome": ticket.outcome}
    texts["blast"] = impact_words(ticket.factors)
    if ticket.patterns:
        body["patterns"] = [dict(pattern) for pattern in ticket.patterns]
    body |= {key: iso(at) for key, at in times.items() if at}
    return body | {key: text for key, text in texts.items() if text}


def approval_json(approval: Approval) -> Json:
    return {
        "operator": approval.operator,
        "channel": approval.channel,
        "at": iso(approval.at),
        "verdict": approval.verdict,
    }


def grant_json(grant: Grant) -> Json:
    body: Json = {
        "id": grant.id,
        "effect": grant.effect,
        "targets": list(grant.targets),
        "ceiling": grant.ceiling.word,
        "environment": grant.environment,
        "remaining": grant.remaining,
        "principal": grant.principal,
        "name": grant.name,
        "session": grant.session,
        "digests": list(grant.digests),
        "by": grant.by,
        "why": grant.why,
        "createdAt": iso(grant.created_at),
        "expiresAt": iso(grant.expires_at),
    }
    return body | ({"revokedAt": iso(grant.revoked_at), "revokedBy": grant.revoked_by} if grant.revoked_at else {})


def agent_json(row: AgentRow) -> Json:
    body: Json = {
        "principal": row.principal,
        "name": row.name,
        "trust_tier": row.trust_tier,
        "token": bool(row.token_hash),
    }
    times = {"firstSeen": row.first_seen, "lastSeen": row.last_seen, "revokedAt": row.revoked_at}
    return body | {key: iso(at) for key, at in times.items() if at}


def block_json(block: Block) -> Json:
    body: Json = {
        "principal": block.principal,
        "name": block.name,
        "reason": block.reason,
        "since": iso(block.since),
        "by": block.by,
    }
    return body | ({"liftedAt": iso(block.lifted_at), "liftedBy": block.lifted_by} if block.lifted_at else {})


def operator_json(row: OperatorRow) -> Json:
    body: Json = {
        "name": row.name,
        "roles": list(row.roles),
        "teams": list(row.teams),
        "service": row.service,
        "keyId": row.key_id,
        "createdAt": iso(row.created_at),
        "createdBy": row.created_by,
        "disabled": bool(row.disabled_at),
    }
    return body | ({"disabledAt": iso(row.disabled_at)} if row.disabled_at else {})


def policy_json(policy: Policy) -> Json:
    """What an agent may know beforehand: the requirement of each level, and the patterns."""
    return {
        "name": policy.name,
        "description": policy.description,
        "levels": {level.word: _control(policy.control(level)) for level in Level},
        "irreversible": policy.irreversible.name.lower(),
        "matrix": policy.matrix,
        "patterns": _patterns(policy.patterns),
        "restrictions": _patterns(policy.restriction.patterns),
        "openTickets": policy.open_tickets,
    }


def _control(control: Control) -> Json:
    body: Json = {"requirement": requirement_json(control.requirement), "denies": control.denies}
    extra = {"relief": control.relief, "kept": control.kept, "irreversible": control.irreversible}
    return body | {key: requirement_json(value) for key, value in extra.items() if value is not None}


def _patterns(patterns: PatternSet) -> Json:
    return {
        "deny": [glob.text for glob in patterns.deny],
        "approve": [glob.text for glob in patterns.approve],
        "allow": [glob.text for glob in patterns.allow],
    }


def figures_json(figures: Figures) -> Json:
    """The specification's metrics object, with all keys."""
    categories = sorted({category.value for category in CATEGORIES}) + sorted(
        category.value for category in Category if category not in CATEGORIES
    )
    return {
        "totalChecked": figures.total_checked,
        "destructiveDetected": figures.destructive_detected,
        "blockedByCooling": figures.blocked_by_cooling,
        "blockedByApproval": figures.blocked_by_approval,
        "approved": figures.approved,
        "rejected": figures.rejected,
        "expired": figures.expired,
        "executed": figures.executed,
        "bySeverity": {severity.word: figures.by_severity.get(severity.word, 0) for severity in Severity},
        "byCategory": {category: figures.by_category.get(category, 0) for category in categories},
    }


def audit_json(row: AuditRow) -> Json:
    try:
        body = json.loads(row.body)
    except ValueError:  # not written by Interlock
        body = row.body
    return {
        "writer": row.writer,
        "seq": row.seq,
        "at": iso(row.at),
        "event": row.event,
        "body": body,
        "prev": row.prev,
        "hash": row.hash,
        "rulebook": row.rulebook,
        "policy": row.policy,
    }


def verdict_json(verdict: AuditVerdict) -> Json:
    return {
        "ok": verdict.ok,
        "records": verdict.rows,
        "faults": [
            {"writer": fault.writer, "seq": fault.seq, "what": fault.what, "words": fault.words, "since": fault.since}
            for fault in verdict.faults
        ],
        "notes": list(verdict.notes),
        "proved": dict(verdict.proved),
        "unproved": verdict.unproved,
        "provedUntil": iso(verdict.proved_until) if verdict.proved_until is not None else None,
        "touches": verdict.touches,
        "touchedUntil": iso(verdict.touched_until) if verdict.touched_until is not None else None,
    }


def adapter_json(state: State, loaded: LoadedAdapter, whole: bool) -> dict[str, Any]:
    """One adapter's state; its file's path is for operators only."""
    adapter = loaded.adapter
    standing = state.adapters.standing_of(loaded, state.clock.now())
    kept = state.adapters.kept.get(adapter.name)
    if kept is not None and kept.mark != loaded.mark and loaded.kind == "server":
        kept = None  # of another server of that name
    proved = kept is not None and kept.proved(state.sessions.seal_key())
    body: dict[str, Any] = {
        "name": adapter.name,
        "kind": loaded.kind,
        "version": adapter.version,
        "trust": standing.trust.word,
        "claimed": adapter.trust.level.word,
        "why": standing.why,
        "operations": len(adapter.operations),
        "history": [_step(one) for one in kept.record.history] if kept and proved else [],
    }
    body |= review_due(state, loaded)
    if adapter.trust.certification is not None:
        found = adapter.trust.certification
        ends = {"expires_at": iso(found.expires_at)} if found.expires_at is not None else {}
        body["certification"] = {"authority": found.authority, "certificate_id": found.certificate_id, **ends}
    body |= {"mark": loaded.mark} if loaded.kind == "server" else {}
    return body | ({"file" if loaded.kind == "adapter" else "starts": loaded.path} if whole else {})


def _step(one: TrustStep) -> dict[str, str]:
    return {"from": one.before.word, "to": one.after.word, "at": iso(one.at), "by": one.by, "reason": one.reason}
