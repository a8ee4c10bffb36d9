"""Parses a daemon's replies into the Decision and Ticket that this process would have made; an unreadable reply is a denial."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from interlock.client import DaemonReply
from interlock.model import HELD, NOTHING, AgentRef, Assessment, Decision, Human, Level, Requirement, TicketState
from interlock.records import Ticket
from interlock.snapshots import UndoChange, UndoResult, parse_answer
from interlock.times import milliseconds_to_seconds

Json = Mapping[str, Any]
_REFUSALS = frozenset({"block", "deny"})
_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError)
_CAPITAL = re.compile("([A-Z])")
_FLAGS = "destructive touchesFiles touchesNetwork escalatesPrivileges requiresConfirmation"
_FINDING = "id level irreversible reason category span subject instead undo approvable requirement"
_TICKET = (
    "id state level irreversible title reason action findings factors agent door severity categories openedAt expiresAt"
)


class UnreadableReply(ValueError):
    """A reply that is not an Interlock daemon's."""


def parse_decision(answer: DaemonReply) -> Decision:
    """Allows only where it is complete and its status, `allowed` and `decision` agree."""
    try:
        return _decision(answer.status, _table(answer.body))
    except _UNREADABLE:
        return deny_lost("the daemon's answer cannot be read")


def deny_lost(words: str) -> Decision:
    return Decision("deny", f"Denied: the state cannot be known ({words}).", unknown=True)


def _decision(status: int, body: Json) -> Decision:
    word = body["decision"]
    allowed = status == 200 and body["allowed"] is True and word == "allow"
    if not allowed and word not in HELD | _REFUSALS:
        raise UnreadableReply(word)
    error = _table(body.get("error", {}))
    requirement = _requirement(_table(body["requirement"])) if "requirement" in body else Requirement()
    return Decision(
        outcome="allow" if allowed else word,
        reason=str(body["reason"]),
        assessment=_assessment(body) if "level" in body else None,
        requirement=requirement,
        factors=_texts(body.get("factors", ())),
        ticket=_parse_first_ticket(body, allowed, requirement) if "pendingId" in body else None,
        wait_seconds=milliseconds_to_seconds(body.get("waitMs", 0)),
        patterns=tuple(_table(pattern) for pattern in body.get("deniedPatterns", ())),
        code=str(body.get("code") or error.get("code", "")),
        strength=str(body.get("strength", "plain")),
        unknown=status >= 500,
        token=str(body.get("confirmation_token", "")),
        details=_table(error["details"]) if "details" in error else NOTHING,
        kept=str(body.get("kept", "")) if allowed else "",
    )


def _parse_first_ticket(body: Json, allowed: bool, requirement: Requirement) -> Ticket:
    return Ticket(
        id=str(body["pendingId"]),
        digest="",
        agent=AgentRef(""),
        state=TicketState.SPENT if allowed else TicketState.WAITING,
        requirement=requirement,
        opened_at=0.0,
        expires_at=parse_time(body.get("expiresAt", "")),
        level=Level(body.get("level", Level.FORBIDDEN)),
        irreversible=bool(body.get("irreversible", True)),
        cooling_ends_at=parse_time(body.get("coolingEndsAt", "")),
    )


def _record_fields(body: Json, names: str) -> dict[str, Any]:
    """Under the record's names, times in seconds; raises KeyError without one of `names`."""
    if missing := set(names.split()) - body.keys():
        raise KeyError(missing)
    return {
        _CAPITAL.sub(r"_\1", key).lower(): parse_time(value) if key.endswith("At") else value
        for key, value in body.items()
    }


def _assessment(body: Json) -> Assessment:
    """A command's steps and the separate factors are not on the wire."""
    given = {key: body[key] for key in ("level", "irreversible", "score", "tier")}
    given["flags"] = _record_fields(_table(body["flags"]), _FLAGS)
    rows = [_record_fields(_table(finding), _FINDING) for finding in body["findings"]]
    given["findings"] = [
        row | {"rule": row["id"], "category": row["category"] or None, "span": row["span"] or None} for row in rows
    ]
    return convert(given, Assessment)


def parse_ticket(body: Any) -> Ticket:
    """Without its digest, token and seal, which stay at the daemon; raises UnreadableReply."""
    try:
        given = {"digest": "", "requirement": _requirement(_table(_table(body)["requirement"]))}
        made = convert(_record_fields(body, _TICKET) | given, Ticket)
    except _UNREADABLE:
        raise UnreadableReply("the daemon's answer is no ticket") from None
    # shown as approved until it is reported
    return replace(made, state=TicketState.SPENT) if made.spent_at else made


def parse_undo_result(body: Any) -> UndoResult:
    try:
        found = _table(body)
        changes = tuple(parse_answer(change, UndoChange) for change in found["changes"])
        refused = _flag(found["refused"])
        problem = str(found["problem"]) or ("" if _flag(found["undone"]) or refused else "no reason was given")
        id, as_id = str(_table(found["snapshot"])["id"]), str(found.get("undoableAs", ""))
        return UndoResult(id, as_id, "", changes, int(found["total"]), refused, problem, _texts(found["say"]))
    except _UNREADABLE:
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
