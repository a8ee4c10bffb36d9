"""Renders a ticket's JSON as text for the person who answers it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlock.analysis.display_text import Line, StyledText, undo_words, visible
from interlock.approvals import BY_TIME, STATES, display
from interlock.local_times import ago, clock, moment_seconds
from interlock.model import ANYBODY, Span, requirement_words
from interlock.policy.impact import RECOVERABLE, escalation_reasons, recoverable
from interlock.strict_json import table_in

TicketJson = Mapping[str, Any]
OPEN = ("pending_cooling", "pending_approval")
_STYLE = {"approved": "allow", "executed": "allow", "rejected": "deny", "expired": "deny"}


def ticket_lines(ticket: TicketJson) -> Iterator[Line]:
    level = ticket.get("level", 0)
    style = _STYLE.get(str(ticket.get("state")), "ask")
    yield StyledText(str(ticket.get("id", "")), "heading"), StyledText("  "), StyledText(state_words(ticket), style)
    yield ()
    yield from _action(ticket)
    yield ()
    yield _row("Level", f"{level} {ticket.get('level_name', '')}", f"level{level}")
    ways = (str(finding.get("undo") or "") for finding in _tables(ticket, "findings"))
    back = recoverable(_factors(ticket))
    yield _row("Undo", RECOVERABLE if back else undo_words(bool(ticket.get("irreversible")), ways))
    if ticket.get("blast"):
        yield _row("Impact", str(ticket["blast"]))
    yield from _reasons(ticket)
    yield _row("Agent", agent_words(ticket))
    yield _row("Through", f"{ticket.get('door', '')}, {ticket.get('strength', 'plain')} isolation")
    yield _row("Needs", requirement_words(ticket.get("requirement")))
    yield from _times(ticket)
    yield from _answers(ticket)


def state_words(ticket: TicketJson) -> str:
    state = str(ticket.get("state", ""))
    return "approved and used" if state == "approved" and ticket.get("spentAt") else STATES.get(state, state)


def agent_words(ticket: TicketJson) -> str:
    agent = table_in(ticket, "agent")
    name = f", calls itself {agent['name']}" if agent.get("name") else ""
    session = f", session {agent['session']}" if agent.get("session") else ""
    return f"{agent.get('principal', '?')}{name}{session}"


def requirement_word(ticket: TicketJson) -> str:
    asked = ticket.get("requirement")
    return str(asked.get("word", "") if isinstance(asked, Mapping) else asked or "")


def approvers(ticket: TicketJson) -> list[str]:
    """Who is named to answer; nobody where any operator may."""
    return [str(one) for one in table_in(ticket, "requirement").get("approvers") or () if one != ANYBODY]


def approved_by(ticket: TicketJson) -> list[str]:
    signed = (one for one in _tables(ticket, "approvals") if one.get("verdict") == "approve")
    return list(dict.fromkeys(str(one.get("operator")) for one in signed))


def decided_by(ticket: TicketJson) -> str:
    """` by ana`, or nothing where nobody but the clock did."""
    by = str(ticket.get("decidedBy") or "")
    return f" by {by}" if by and by != BY_TIME else ""


def folder_of(ticket: TicketJson) -> str:
    return str(table_in(ticket, "action").get("cwd") or "")


def _tables(ticket: TicketJson, key: str) -> list[Mapping[str, Any]]:
    return [one for one in ticket.get(key) or () if isinstance(one, Mapping)]


def _factors(ticket: TicketJson) -> list[str]:
    return [str(one) for one in ticket.get("factors") or ()]


def escalation_words(ticket: TicketJson) -> list[str]:
    return list(escalation_reasons(_factors(ticket)))


def lead_line(ticket: TicketJson) -> str:
    return visible(_display(ticket).lead)


def _display(ticket: TicketJson) -> display.ActionDisplay:
    return display.display_action(table_in(ticket, "action"), _tables(ticket, "findings"), str(ticket.get("title", "")))


def _action(ticket: TicketJson) -> Iterator[Line]:
    """Whole, since what is not shown was not approved; what would really run leads."""
    action, found = table_in(ticket, "action"), _display(ticket)
    if found.harm:
        yield (StyledText("What would run", "heading"),)
        yield from (_run(run, "! ", "deny") for run in found.harm)
        yield from (_run(run, "  ", "command") for run in found.others)
        yield (StyledText("As it was written", "heading"),)
    yield from _marked(found.text, () if found.harm else found.marks)
    for name, value in found.fields.items():
        yield (StyledText(f"  {visible(name)}:", "dim"),)
        yield from ((StyledText(f"    {visible(line)}", "command"),) for line in value.split("\n"))
    for words in found.letters:
        yield _row("Letters", words, "deny")
    for name, key in (("On", "resource"), ("In", "cwd")):
        if action.get(key):
            yield _row(name, str(action[key]))


def _run(run: display.UnwrappedCommand, sign: str, style: str) -> Line:
    line = StyledText(f"  {sign}{visible(run.text)}", style)
    return (line, StyledText(f"   inside {visible(run.inside)}", "dim")) if run.inside else (line,)


def _marked(text: str, marks: Sequence[Span]) -> Iterator[Line]:
    first = 0
    for line in text.split("\n"):
        yield (StyledText(f"  {visible(line)}", "command"),)
        for start, end in marks:
            low, high = max(start, first) - first, min(end, first + len(line)) - first
            if 0 <= low < high and line[low:high].strip() != text.strip():
                before, harm = " " * len(visible(line[:low])), visible(line[low:high].rstrip())
                yield StyledText(f"  {before}"), StyledText("^" * len(harm), "mark")
        first += len(line) + 1


def _reasons(ticket: TicketJson) -> Iterator[Line]:
    findings, factors = _tables(ticket, "findings"), _factors(ticket)
    why = display.reasons(str(ticket.get("reason", "")), str(ticket.get("level_name", "")), findings, factors)
    described = [str(one.get("description") or "") for one in _tables(ticket, "patterns")]
    instead = [str(finding.get("instead", "")) for finding in findings]
    for name, said in (("Why", why), ("Pattern", described), ("Instead", instead)):
        for words in filter(None, dict.fromkeys(said)):
            yield _row(name, words)
            name = ""


def _times(ticket: TicketJson) -> Iterator[Line]:
    yield _row("Opened", f"{clock(ticket.get('openedAt'))}, {ago(ticket.get('openedAt'))}")
    cools = str(ticket.get("coolingEndsAt") or "")
    if cools and ticket.get("state") == "pending_cooling":
        yield _row("Runs", f"{clock(cools)}, {ago(cools)}, unless somebody objects")
    elif ago(cools).startswith("in ") and ticket.get("state") in ("pending_approval", "approved"):
        yield _row("Runs", f"no sooner than {clock(cools)}, {ago(cools)}")
    until = ticket.get("expiresAt")
    if ticket.get("state") in (*OPEN, "approved") and not ticket.get("spentAt") and moment_seconds(until):
        yield _row("Expires", f"{clock(until)}, {ago(until)}")


def _answers(ticket: TicketJson) -> Iterator[Line]:
    for one in _tables(ticket, "approvals"):
        verdict = {"approve": "approved", "reject": "rejected"}.get(str(one.get("verdict")), "answered")
        yield _row("Signed", f"{one.get('operator')} {verdict} at {clock(one.get('at'))} through {one.get('channel')}")
    if ticket.get("decidedAt"):
        why = ticket.get("decisionReason") or ("nobody answered in time" if ticket.get("state") == "expired" else "")
        said = f"{decided_by(ticket)} at {clock(ticket['decidedAt'])}{f': {why}' if why else ''}"
        yield _row("Decided", said.lstrip())
    if ticket.get("spentAt"):
        yield _row("Used", clock(ticket["spentAt"]))
    if ticket.get("executedAt"):
        yield _row("Reported", f"{ticket.get('outcome') or 'executed'} at {clock(ticket['executedAt'])}")


def _row(name: str, value: str, style: str = "") -> Line:
    return StyledText(f"{name:<10}", "dim"), StyledText(visible(value), style)
