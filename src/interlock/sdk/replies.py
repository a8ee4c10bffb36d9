"""Parses a daemon's replies into the Decision and Ticket that this process would have made; an unreadable reply is a denial."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from interlock.client import DaemonReply
from interlock.model import (
    HELD,
    NOTHING,
    AgentRef,
    Assessment,
    Category,
    Decision,
    Finding,
    Flags,
    Human,
    Level,
    Requirement,
    TicketState,
    Tier,
)
from interlock.records import Ticket
from interlock.snapshots import UndoChange, UndoResult, parse_answer
from interlock.times import milliseconds_to_seconds

Json = Mapping[str, Any]
_REFUSALS = frozenset({"block", "deny"})


class UnreadableReply(ValueError):
    """A reply that is not an Interlock daemon's."""


def parse_decision(answer: DaemonReply) -> Decision:
    """The decision of a reply; allows only where it is complete and its status, `allowed` and `decision` agree."""
    try:
        return _decision(answer.status, _table(answer.body))
    except (KeyError, TypeError, ValueError, AttributeError):
        return deny_lost("the daemon's answer cannot be read")


def deny_lost(words: str) -> Decision:
    """The denial for an unknown state."""
    return Decision("deny", f"Denied: the state cannot be known ({words}).", unknown=True)


def _decision(status: int, body: Json) -> Decision:
    word = body["decision"]
    allowed = status == 200 and body["allowed"] is True and word == "allow"
    if not allowed and word not in HELD | _REFUSALS:
        raise UnreadableReply(word)
    error = _table(body.get("error", {}))
    return Decision(
        outcome="allow" if allowed else word,
        reason=str(body["reason"]),
        assessment=_assessment(body) if "level" in body else None,
        requirement=_parse_requirement(body),
        factors=_texts(body.get("factors", ())),
        ticket=_parse_first_ticket(body, allowed) if "pendingId" in body else None,
        wait_seconds=milliseconds_to_seconds(body.get("waitMs", 0)),
        patterns=tuple(_table(pattern) for pattern in body.get("deniedPatterns", ())),
        code=str(body.get("code") or error.get("code", "")),
        strength=str(body.get("strength", "plain")),
        unknown=status >= 500,
        token=str(body.get("confirmation_token", "")),
        details=_table(error["details"]) if "details" in error else NOTHING,
        kept=str(body.get("kept", "")) if allowed else "",
    )


def _parse_requirement(body: Json) -> Requirement:
    return _requirement(_table(body["requirement"])) if "requirement" in body else Requirement()


def _parse_first_ticket(body: Json, allowed: bool) -> Ticket:
    """The ticket, as far as the reply describes it."""
    return Ticket(
        id=str(body["pendingId"]),
        digest="",
        agent=AgentRef(""),
        state=TicketState.SPENT if allowed else TicketState.WAITING,
        requirement=_parse_requirement(body),
        opened_at=0.0,
        expires_at=parse_time(body.get("expiresAt", "")),
        level=Level(body.get("level", Level.FORBIDDEN)),
        irreversible=bool(body.get("irreversible", True)),
        cooling_ends_at=parse_time(body.get("coolingEndsAt", "")),
    )


def _assessment(body: Json) -> Assessment:
    """The daemon's assessment; a command's steps and the separate factors are not on the wire."""
    flags = _table(body["flags"])
    return Assessment(
        level=Level(body["level"]),
        irreversible=_flag(body["irreversible"]),
        score=int(body["score"]),
        tier=Tier(body["tier"]),
        flags=Flags(
            destructive=_flag(flags["destructive"]),
            touches_files=_flag(flags["touchesFiles"]),
            touches_network=_flag(flags["touchesNetwork"]),
            escalates_privileges=_flag(flags["escalatesPrivileges"]),
            requires_confirmation=_flag(flags["requiresConfirmation"]),
        ),
        findings=tuple(_finding(_table(finding)) for finding in body["findings"]),
    )


def _finding(body: Json) -> Finding:
    span = body["span"]
    return Finding(
        rule=str(body["id"]),
        level=Level(body["level"]),
        irreversible=_flag(body["irreversible"]),
        reason=str(body["reason"]),
        category=Category(body["category"]) if body["category"] else None,
        span=(int(span[0]), int(span[1])) if span else None,
        subject=str(body["subject"]),
        instead=str(body["instead"]),
        undo=str(body["undo"]),
        approvable=_flag(body["approvable"]),
        requirement=str(body["requirement"]),
    )


def parse_ticket(body: Any) -> Ticket:
    """A ticket as the daemon shows it, without its digest, token and seal, which stay there; raises UnreadableReply."""
    try:
        return _ticket(_table(body))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UnreadableReply("the daemon's answer is no ticket") from None


def _ticket(body: Json) -> Ticket:
    agent = _table(body["agent"])
    state = TicketState(body["state"])
    return Ticket(
        id=str(body["id"]),
        digest="",
        agent=AgentRef(str(agent["principal"]), str(agent["name"]), str(agent["session"])),
        state=TicketState.SPENT if "spentAt" in body else state,  # shown as approved until it is reported
        requirement=_requirement(_table(body["requirement"])),
        opened_at=parse_time(body["openedAt"]),
        expires_at=parse_time(body["expiresAt"]),
        level=Level(body["level"]),
        irreversible=_flag(body["irreversible"]),
        cooling_ends_at=parse_time(body.get("coolingEndsAt", "")),
        title=str(body["title"]),
        reason=str(body["reason"]),
        action=_table(body["action"]),
        findings=tuple(_table(finding) for finding in body["findings"]),
        factors=_texts(body["factors"]),
        door=str(body["door"]),
        severity=str(body["severity"]),
        categories=_texts(body["categories"]),
        decided_at=parse_time(body.get("decidedAt", "")),
        decided_by=str(body.get("decidedBy", "")),
        decision_reason=str(body.get("decisionReason", "")),
        spent_at=parse_time(body.get("spentAt", "")),
        executed_at=parse_time(body.get("executedAt", "")),
        outcome=str(body.get("outcome", "")),
    )


def parse_undo_result(body: Any) -> UndoResult:
    """The result of an undo; raises UnreadableReply."""
    try:
        found = _table(body)
        changes = tuple(parse_answer(change, UndoChange) for change in found["changes"])
        refused = _flag(found["refused"])
        problem = str(found["problem"]) or ("" if _flag(found["undone"]) or refused else "no reason was given")
        id, as_id = str(_table(found["snapshot"])["id"]), str(found.get("undoableAs", ""))
        return UndoResult(id, as_id, "", changes, int(found["total"]), refused, problem, _texts(found["say"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UnreadableReply("the daemon's answer has no undo result") from None


def _requirement(body: Json) -> Requirement:
    return Requirement(
        cooling_seconds=milliseconds_to_seconds(body["cooling_seconds"] * 1000),
        human=Human[str(body["human"]).upper()],
        approvers=frozenset(_texts(body["approvers"])),
        quorum=int(body["quorum"]),
        reauth=_flag(body["reauth"]),
        blocked=_flag(body["blocked"]),
    )


def parse_time(text: str) -> float:
    """Seconds since 1970; 0 for an empty text."""
    return datetime.fromisoformat(text).timestamp() if text else 0.0


def _table(value: Any) -> Json:
    if not isinstance(value, dict):
        raise UnreadableReply(type(value).__name__)
    return value


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise UnreadableReply(type(value).__name__)
    return value
