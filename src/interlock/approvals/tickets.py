"""Builds the ticket of a held action, sealed and redacted, and its confirmation token (CT-01 to CT-14): checked, explained when refused, its use recorded."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlock.adapters.danger import message
from interlock.analysis.display_text import visible
from interlock.approvals import LIVE_STATES, SELF_APPROVAL, WAITING, Resolution, TicketChange, first_state
from interlock.approvals.display import RUNS, one_line, unwrap_commands
from interlock.audit.chain import AuditEvent, token_body
from interlock.audit.chain import fingerprint as name_of
from interlock.error_codes import limit_details
from interlock.identity.attempts import Attempts
from interlock.model import Action, Kind, Span, finding_json, requirement_json
from interlock.policy.impact import undo_words_after
from interlock.ports import Tx
from interlock.records import Ticket
from interlock.redaction import action_json, hash_token, json_default, redact, redact_around, redact_text
from interlock.runtime import Judged, operation_name
from interlock.times import iso

if TYPE_CHECKING:
    from interlock.policy.evaluate import PolicyResult
    from interlock.runtime.state import State

TITLE = 300  # characters
HARM = 120  # of them for what a long command does


def new_ticket(state: State, judged: Judged, weighed: PolicyResult) -> Ticket:
    """Every readable text in it is redacted."""
    request, assessment, now, asked = judged.request, judged.assessment, judged.now, weighed.requirement
    adapted, marks = request.adapter_context, _marks(judged)
    block = adapted.block if adapted else None
    hours = block.approval.timeout_hours if block and block.approval else None
    wait = hours * 3600 if hours else judged.policy.severities.auto_expire_ms / 1000
    words = message(block.confirmation_message, request.action.params) if block and block.confirmation_message else ""
    ticket = Ticket(
        id=state.new_id("pdact_"),
        digest=judged.digest,
        agent=request.agent,
        state=WAITING,
        requirement=asked,
        opened_at=now,
        expires_at=now + wait,
        level=assessment.level,
        irreversible=assessment.irreversible,
        cooling_ends_at=now + asked.cooling_seconds if asked.cooling_seconds else 0.0,
        title=title_of(request.action, marks),
        reason=redact_text(undo_words_after(words or weighed.reason(), weighed.factors)) + _given(judged, weighed),
        action=_stored_action(judged, marks),
        findings=tuple(redact(list(map(finding_json, assessment.findings)))),
        factors=tuple(redact([*assessment.factors, *weighed.factors])),
        effect_keys=tuple(map(str, judged.effect_keys)),
        door=request.door,
        operation=request.operation or _operation(request.action),
        adapter=request.adapter or request.door,
        adapter_trust=adapted.call.trust.word if adapted else "none",
        params_hash=hashlib.sha256(canonical(action_json(request.action, marks)).encode()).hexdigest(),
        severity=judged.severity,
        categories=tuple(sorted(assessment.categories)),
        patterns=tuple(pattern.wire for pattern in judged.registry_match.patterns) if judged.registry_match else (),
        policy=judged.in_force.policy_hash,
        rulebook=judged.in_force.rulebook_hash,
        execution=request.execution,
        strength=judged.isolation,
        witnesses=tuple({"path": w.path, "sha256": w.sha256} for w in judged.judgement.witnesses),
    )
    if asked.cooling_seconds:
        ticket = replace(ticket, state=first_state(ticket))
    return sealed(state, ticket)


def _given(judged: Judged, weighed: PolicyResult) -> str:
    """The further steps that an approval gives, where an execution had none left (C-20)."""
    step = judged.request.step
    if step is None or not step.more or all(part.name != "steps" for part in weighed.parts):
        return ""
    after = f" and {step.more - 1} more after it" if step.more > 1 else ""
    return f". A yes allows this step{after}, of execution {judged.request.execution}"


def _stored_action(judged: Judged, marks: Sequence[Span]) -> dict[str, Any]:
    action, assessment = judged.action, judged.assessment
    stored = action_json(action, marks)
    if [step.text for step in assessment.steps] != [action.text]:
        plain, findings = {"kind": action.kind.value, **action.fields}, list(map(finding_json, assessment.findings))
        if runs := unwrap_commands(assessment.steps, findings, plain):
            return {**stored, RUNS: runs}
    return stored


def _operation(action: Action) -> str:
    return action.text[:200] if action.kind in (Kind.OPERATION, Kind.TOOL) else action.kind.value


def sealed(state: State, ticket: Ticket) -> Ticket:
    ticket = replace(ticket, token_hash=hash_token(token_of(state, ticket)), shown_hash=shown_hash(ticket))
    return replace(ticket, seal=seal_of(state, ticket))


def seal_of(state: State, ticket: Ticket) -> str:
    """Binds what a ticket holds and its times to this installation."""
    times, asked = (repr(ticket.opened_at), repr(ticket.cooling_ends_at)), requirement_json(ticket.requirement)
    rest = ticket.shown_hash, list(ticket.effect_keys), ticket.token_hash
    return _mac(state, b"ticket", canonical([ticket.id, ticket.digest, *times, asked, *rest]))


def token_of(state: State, ticket: Ticket) -> str:
    """conf_…, the same each time: inert until a human arms the ticket (C-14)."""
    return f"conf_{_mac(state, b'token', ticket.id)}"


def _mac(state: State, purpose: bytes, text: str) -> str:
    return hmac.new(state.installation.digest_key, purpose + b"\0" + text.encode(), hashlib.sha256).hexdigest()


def shown_hash(ticket: Ticket) -> str:
    """A hash of what an operator is shown; an approval is for exactly this."""
    shown = {name: getattr(ticket, name) for name in ("title", "reason", "action", "irreversible")} | {
        "level": int(ticket.level),
        "findings": [finding.get("id") for finding in ticket.findings],
        "agent": [ticket.agent.principal, ticket.agent.name],
    }
    return hashlib.sha256(canonical(shown).encode()).hexdigest()


def is_altered(state: State, ticket: Ticket) -> bool:
    return ticket.seal != seal_of(state, ticket) or ticket.shown_hash != shown_hash(ticket)


def shows_action(ticket: Ticket, judged: Judged) -> bool:
    """As the action is judged now: people sign what they saw."""
    action, assessment, marks = judged.action, judged.assessment, _marks(judged)
    return (
        ticket.title == title_of(action, marks)
        and canonical(ticket.action) == canonical(_stored_action(judged, marks))
        and (ticket.level, ticket.irreversible) == (assessment.level, assessment.irreversible)
        and [one.get("id") for one in ticket.findings] == [finding_json(one)["id"] for one in assessment.findings]
    )


def _marks(judged: Judged) -> tuple[Span, ...]:
    """Spans of the harm in a command, the worst first; a person is always shown them."""
    if judged.action.kind is not Kind.COMMAND:
        return ()
    found = sorted(judged.assessment.harmful, key=lambda one: -one.level)
    return tuple(dict.fromkeys(one.span for one in found if one.span))


def title_of(action: Action, marks: Sequence[Span] = ()) -> str:
    if marks:
        return _around(action.text, marks)
    return visible(redact_text(one_line(action_json(action), action.text)))[:TITLE]


def _around(text: str, marks: Sequence[Span]) -> str:
    line = visible(" ".join(redact_around(text, marks).split()))
    start, end = marks[0]
    piece = visible(" ".join(redact_text(text[start:end]).split()))
    at = line.find(piece)
    if len(line) <= TITLE or (at >= 0 and at + min(len(piece), HARM) <= TITLE):
        return line[:TITLE]
    return f"{line[: TITLE - HARM - 5]} … {piece[:HARM]} …"


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=json_default)


TOKEN_FAILURES = Attempts("token.failures")  # of one principal (C-14, CT-13)
HELD = "CONFIRMATION_REQUIRED"
_FORM = re.compile(r"(?:conf|quota_continue)_[A-Za-z0-9_-]{1,64}")  # CT-01


def ticket_of(tx: Tx, token: str) -> Ticket | None:
    """None for a malformed token, like one that nobody issued (CT-13)."""
    return tx.ticket_by_token(hash_token(token)) if _FORM.fullmatch(token) else None


def pending_token(state: State, judged: Judged, held: Resolution) -> str:
    """The token of the ticket that this very action waits for."""
    ticket = held.ticket
    if held.outcome == "allow" or held.code or ticket is None or ticket.digest != judged.digest:
        return ""
    return token_of(state, ticket) if ticket.state in LIVE_STATES else ""


def code_of(held: Resolution, weighed: PolicyResult, token: str) -> str:
    if held.outcome == "allow":
        return ""
    return held.code or weighed.code or (HELD if token else "PERMISSION_DENIED")


def token_details(
    state: State, judged: Judged, weighed: PolicyResult, held: Resolution, code: str, token: str
) -> dict[str, Any]:
    """The details of a code (1.9); a token is named as in the record."""
    ticket = held.ticket
    if code == HELD and ticket:
        assessment, adapted = judged.assessment, judged.request.adapter_context
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
        if held.wait_seconds:
            return limit_details(TOKEN_FAILURES.most, held.wait_seconds, judged.now)
        return {"limit": judged.policy.open_tickets, "remaining": 0}
    if code == weighed.code:
        return dict(weighed.details)
    if not code.startswith("TOKEN_"):
        return {"reason": SELF_APPROVAL} if held.reason.startswith(SELF_APPROVAL) else {}
    said: dict[str, Any] = {"token": name_of(_presented(state, judged, ticket)), **held.details}
    if ticket and code == "TOKEN_EXPIRED":
        return said | {"expired_at": iso(ticket.expires_at), "current_time": iso(judged.now)}
    return said | ({"consumed_at": iso(ticket.spent_at)} if ticket and code == "TOKEN_ALREADY_USED" else {})


def token_entries(state: State, judged: Judged, held: Resolution, issued: bool) -> list[AuditEvent]:
    """CT-12."""
    request, ticket = judged.request, held.ticket
    if issued and ticket:
        return [_entry(state, judged, "TOKEN_ISSUED", ticket)]
    if held.keep is TicketChange.SPEND and held.outcome == "allow" and ticket:
        return [_entry(state, judged, "TOKEN_VALIDATED", ticket, user=ticket.decided_by)]
    if (request.token or request.pending) and (reason := _failure(held)):
        return [_entry(state, judged, "TOKEN_REJECTED", ticket, reason)]
    return []


def is_failure(judged: Judged, held: Resolution) -> bool:
    return bool(judged.request.token) and bool(_failure(held))


def revocation_entry(state: State, ticket: Ticket, by: str, now: float) -> AuditEvent:
    event, session = "TOKEN_REVOKED", ticket.agent.session
    return event, token_body(now, event, token_of(state, ticket), ticket.operation, ticket.adapter, "", session, by)


def _failure(held: Resolution) -> str:
    if held.outcome != "deny":
        return ""
    own = SELF_APPROVAL if held.reason.startswith(SELF_APPROVAL) else ""
    return held.code if held.code.startswith("TOKEN_") else own


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
