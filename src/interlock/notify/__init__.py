"""Builds the messages that people get, without secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.display_text import visible
from interlock.approvals.display import cut, display_action
from interlock.config.channels import ALERT, ANSWERED, BLOCK, CHALLENGE, CHANGE, COOLING, CREDENTIAL, EXPIRED, HELD
from interlock.model import NOTHING, AgentRef, Confidential, Json
from interlock.policy.impact import IRRECOVERABLE, recoverable
from interlock.records import AuditRow, Block, Challenge, Ticket
from interlock.redaction import redact_text
from interlock.times import iso

TEST = "test"
MOST = 600  # characters of one line
SUBJECT = 120
LISTED = 5  # items that a combined message names
DEVICE_ONLY = "this device only"
HEADINGS = {
    HELD: "waits for an answer", COOLING: "runs soon unless somebody objects", CHALLENGE: "waits for a code",
    BLOCK: "is blocked", ALERT: "Look at this", CHANGE: "Something was changed", CREDENTIAL: "A new credential waits",
    EXPIRED: "expired unanswered", ANSWERED: "was answered", TEST: "This is a test",
}  # fmt: skip
_SCHEME = re.compile(r"(?<=[A-Za-z])://")
_CALLS = re.compile(r"@(?=everyone|here|channel|all\b)|<(?=[!@#])", re.IGNORECASE)


class ConsoleAddress(Struct, frozen=True):
    address: str  # of the console
    public: bool = False  # reachable from other machines
    head: str = ""  # writer:number:hash

    def link(self, path: str) -> str:
        return f"{self.address}/console/{path}"


class Message(Confidential, Struct, frozen=True):
    """A message for one channel; includes the code only for a channel marked as private."""

    HIDDEN = ("code",)

    id: str
    event: str
    subject: str
    lines: tuple[tuple[str, str], ...]
    at: float
    link: str = ""
    public: bool = False
    head: str = ""
    about: tuple[str, ...] = ()  # tickets, challenges, principals
    data: Json = NOTHING  # the same for programs
    code: str = ""

    @property
    def text(self) -> str:
        """Links and mentions that an agent wrote are defused."""
        said = [f"{label}: {defang(words)}" if label else defang(words) for label, words in self.lines]
        if self.code:
            said.append(f"code: {self.code} (counts once)")
        if self.link:
            said.append(f"answer: {self.link}{'' if self.public else f' ({DEVICE_ONLY})'}")
        if self.head:
            writer, _, rest = self.head.partition(":")
            said.append(f"record: {writer} {rest[: rest.find(':') + 17]}")
        return "\n".join(said)

    @property
    def title(self) -> str:
        return defang(self.subject)

    @property
    def wire(self) -> dict[str, Any]:
        wire = {
            "id": self.id, "event": self.event, "subject": self.subject, "at": iso(self.at), "about": list(self.about),
            "link": self.link, "this_device_only": not self.public, "record": self.head, **self.data,
        }  # fmt: skip
        return wire | ({"code": self.code} if self.code else {})


def defang(text: str) -> str:
    """Of a text that an agent may have written."""
    return _CALLS.sub(lambda found: f"{found[0]} ", _SCHEME.sub("[:]//", text))


def request_line(ticket: Ticket) -> str:
    found = display_action(ticket.action, ticket.findings, ticket.title)
    return f"{who(ticket.agent)} {HEADINGS[HELD]}: {clean_line(found.lead)}"[:SUBJECT]


def ticket_message(ticket: Ticket, event: str, place: ConsoleAddress, now: float, like_it: int = 0) -> Message:
    named, back = who(ticket.agent), recoverable(ticket.factors)
    until = ticket.cooling_ends_at if event == COOLING else ticket.expires_at
    found, title = display_action(ticket.action, ticket.findings, ticket.title), clean_line(ticket.title)
    what = clean_line(found.lead) if found.harm else title
    cools = ticket.cooling_ends_at > now
    # the operators' descriptions of registered patterns (R-21)
    registered = (str(one.get("reason")) for one in ticket.findings if str(one.get("id", "")).startswith("registry."))
    described = [words for words in registered if words not in ticket.reason]
    lines = [
        ("what", what),
        *([("written as", title)] if found.harm else []),
        ("who", f"{named}{f' in {clean_line(str(cwd))}' if (cwd := ticket.action.get('cwd')) else ''}"),
        ("why", clean_line("; ".join([ticket.reason, *described]))),
        ("level", f"{ticket.level.word}{f', {IRRECOVERABLE}' if ticket.irreversible and not back else ''}"),
        ("it runs" if event == COOLING else "until", describe_time(until, now)),
        *([("not before", describe_time(ticket.cooling_ends_at, now))] if event != COOLING and cools else []),
        *([("beside it", f"{like_it} more with the same effect")] if like_it else []),
    ]
    data = {
        "ticket": ticket.id, "agent": _agent(ticket.agent), "title": title, "reason": clean_line(ticket.reason),
        "level": int(ticket.level), "level_name": ticket.level.word, "irreversible": ticket.irreversible,
        "decision": ticket.requirement.word, "until": iso(until), "same_effect": like_it,
    } | ({"not_before": iso(ticket.cooling_ends_at)} if cools else {})  # fmt: skip
    subject = f"{named} {HEADINGS[event if event != CHALLENGE else HELD]}: {what}"
    return _message(ticket.id, event, subject, lines, place, now, ticket.id, data, f"tickets/{ticket.id}")


def challenge_message(challenge: Challenge, place: ConsoleAddress, now: float) -> Message:
    named, heading = who(challenge.agent), HEADINGS[BLOCK if challenge.kind == "block" else CHALLENGE]
    why, until = clean_line(challenge.reason), challenge.expires_at
    lines = ("what", f"{named} {heading}"), ("why", why), ("until", describe_time(until, now))
    data = {"challenge": challenge.id, "agent": _agent(challenge.agent), "reason": why, "until": iso(until)}
    subject = f"{named} {heading}: {why}"
    return _message(challenge.id, CHALLENGE, subject, lines, place, now, challenge.id, data)


def block_message(block: Block, place: ConsoleAddress, now: float) -> Message:
    agent, why = AgentRef(block.principal, block.name), clean_line(block.reason)
    blocked = f"{who(agent)} is blocked: "
    lines = ("what", f"{blocked}none of its actions runs"), ("why", why), ("until", "somebody lifts it")
    data = {"agent": _agent(agent), "reason": why, "by": block.by}
    id, subject = f"{block.principal} {iso(block.since)}", f"{blocked}{why}"
    return _message(id, BLOCK, subject, lines, place, now, block.principal, data)


def notice_message(id: str, event: str, words: str, place: ConsoleAddress, now: float, about: str = "") -> Message:
    said = clean_line(words)
    return _message(id, event, f"{HEADINGS[event]}: {said}", [("", said)], place, now, about, {"words": said})


def _message(
    id: str, event: str, subject: str, lines: Iterable[tuple[str, str]], place: ConsoleAddress, now: float, about: str, data: Json,
    path: str = "queue",
) -> Message:  # fmt: skip
    there, about_ids = (place.link(path), place.public, place.head), (about,) if about else ()
    return Message(id, event, subject[:SUBJECT], tuple(lines), now, *there, about_ids, data)


def digest(messages: Sequence[Message], more: int = 0) -> Message:
    """The first in full, some in one line each, and the number of the others."""
    first, *others = messages
    if not others and not more:
        return first
    lines = [*first.lines, *(("and", one.subject) for one in others[: LISTED - 1])]
    if left := len(others[LISTED - 1 :]) + more:
        lines.append(("", f"and {left} more"))
    return replace(
        first,
        subject=f"{first.subject[: SUBJECT - 20]} (and {len(others) + more} more)",
        lines=tuple(lines),
        link=f"{first.link.partition('/console/')[0]}/console/queue" if first.link else "",
        about=tuple(dict.fromkeys(id for one in messages for id in one.about)),
        data={**first.data, "more": len(others) + more, "others": [one.wire for one in others[: LISTED - 1]]},
        code="",
    )


def clean_line(text: str) -> str:
    return cut(visible(redact_text(" ".join(text.split()))), MOST)


def who(agent: AgentRef) -> str:
    named = f"{agent.name} ({agent.principal})" if agent.name else agent.principal
    return clean_line(named)[:120]


def describe_time(at: float, now: float) -> str:
    """`2026-03-01T10:00:00Z (in 5 min)`."""
    left = max(0, round(at - now))
    said = f"{left} s" if left < 90 else f"{round(left / 60)} min" if left < 5_400 else f"{round(left / 3600)} h"
    return f"{iso(at)[:19]}Z (in {said})"


def head_words(row: AuditRow | None) -> str:
    return f"{row.writer}:{row.seq}:{row.hash}" if row else ""


def _agent(agent: AgentRef) -> dict[str, str]:
    return {"principal": clean_line(agent.principal), "name": clean_line(agent.name)}
