"""Confirmation tokens (CT-01 to CT-14): checks the conf_… of a ticket, explains a refusal, and records its use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from interlock.approvals import SELF_APPROVAL, Resolution, TicketChange
from interlock.approvals.tickets import token_of
from interlock.audit import fingerprint as name_of
from interlock.audit import token_body
from interlock.identity.attempts import Attempts
from interlock.identity.keys import fingerprint
from interlock.model import TicketState
from interlock.runtime import operation_name
from interlock.times import iso

if TYPE_CHECKING:
    from interlock.audit.chain import AuditEvent
    from interlock.policy.evaluate import PolicyResult
    from interlock.ports import Tx
    from interlock.records import Ticket
    from interlock.runtime import Judged
    from interlock.runtime.state import State

FAILURES = Attempts("token.failures")  # of one principal (C-14, CT-13)
HELD = "CONFIRMATION_REQUIRED"
_FORM = re.compile(r"(?:conf|quota_continue)_[A-Za-z0-9_-]{1,64}")  # CT-01


def ticket_of(tx: Tx, token: str) -> Ticket | None:
    """The ticket that a token stands for; one that is malformed stands for none, like one that nobody issued (CT-13)."""
    return tx.ticket_by_token(fingerprint(token)) if _FORM.fullmatch(token) else None


def pending_token(state: State, judged: Judged, held: Resolution) -> str:
    """The token of the ticket that this very action waits for; nothing where there is none to arm."""
    ticket = held.ticket
    waits = ticket is not None and ticket.digest == judged.digest and not held.code
    if held.outcome == "allow" or ticket is None or not waits:
        return ""
    return token_of(state, ticket) if ticket.open or ticket.state is TicketState.APPROVED else ""


def code_of(held: Resolution, weighed: PolicyResult, token: str) -> str:
    """The error code of an answer; empty for an allow."""
    if held.outcome == "allow":
        return ""
    return held.code or weighed.code or (HELD if token else "PERMISSION_DENIED")


def details(
    state: State, judged: Judged, weighed: PolicyResult, held: Resolution, code: str, token: str
) -> dict[str, Any]:
    """The details of a code (1.9); a token is named as in the record."""
    ticket = held.ticket
    if code == HELD and ticket is not None:
        assessment, adapted = judged.judgement.assessment, judged.request.adapter_context
        declared = adapted.call.reasons if adapted else ()  # the adapter's own words only
        reasons = declared or dict.fromkeys(finding.reason for finding in assessment.findings)
        return {
            "operation": ticket.operation,
            "danger_level": assessment.level.word,
            "reasons": list(reasons) or [weighed.reason()],
            "confirmation_message": ticket.reason,
            "confirmation_token": token,
            "expires_at": iso(ticket.expires_at),  # until when it can be armed
        }
    if code == "RATE_LIMIT_EXCEEDED":
        return _limits(state, judged, held)
    if code == weighed.code:
        return dict(weighed.details)
    if not code.startswith("TOKEN_"):
        return {"reason": SELF_APPROVAL} if held.reason.startswith(SELF_APPROVAL) else {}
    said: dict[str, Any] = {"token": name_of(_presented(state, judged, ticket)), **held.details}
    if code == "TOKEN_EXPIRED" and ticket is not None:
        said |= {"expired_at": iso(ticket.expires_at), "current_time": iso(judged.now)}
    elif code == "TOKEN_ALREADY_USED" and ticket is not None:
        said["consumed_at"] = iso(ticket.spent_at)
    return said


def _limits(state: State, judged: Judged, held: Resolution) -> dict[str, Any]:
    if held.wait_seconds:
        return {
            "limit": FAILURES.most,
            "remaining": 0,
            "window": "minute",
            "resets_at": iso(judged.now + held.wait_seconds),
            "retry_after_seconds": held.wait_seconds,
        }
    return {"limit": state.policy.open_tickets, "remaining": 0}


def token_entries(state: State, judged: Judged, held: Resolution, issued: bool) -> list[AuditEvent]:
    """CT-12: the records of a token that was issued, spent or refused."""
    request, ticket = judged.request, held.ticket
    if issued and ticket is not None:
        return [_entry(state, judged, "TOKEN_ISSUED", ticket)]
    if held.keep is TicketChange.SPEND and held.outcome == "allow" and ticket is not None:
        return [_entry(state, judged, "TOKEN_VALIDATED", ticket, user=ticket.decided_by)]
    if (request.token or request.pending) and (reason := _failure(held)):
        return [_entry(state, judged, "TOKEN_REJECTED", ticket, reason)]
    return []


def is_failure(judged: Judged, held: Resolution) -> bool:
    """Whether this was a failed attempt with a token."""
    return bool(judged.request.token) and bool(_failure(held))


def revocation_entry(state: State, ticket: Ticket, by: str, now: float) -> AuditEvent:
    """The record of a token that an operator revoked."""
    event, session = "TOKEN_REVOKED", ticket.agent.session
    return event, token_body(now, event, token_of(state, ticket), ticket.operation, ticket.adapter, "", session, by)


def _failure(held: Resolution) -> str:
    if held.outcome != "deny":
        return ""
    if held.code.startswith("TOKEN_"):
        return held.code
    return SELF_APPROVAL if held.reason.startswith(SELF_APPROVAL) else ""


def _entry(
    state: State, judged: Judged, event: str, ticket: Ticket | None, failure: str = "", user: str = ""
) -> AuditEvent:
    request = judged.request
    operation = ticket.operation if ticket else operation_name(request)
    token, adapter = _presented(state, judged, ticket), request.adapter or request.door
    return event, token_body(judged.now, event, token, operation, adapter, failure, request.agent.session, user)


def _presented(state: State, judged: Judged, ticket: Ticket | None) -> str:
    """The token in question, also where a ticket's id stood for it."""
    return judged.request.token or (token_of(state, ticket) if ticket else judged.request.pending)
