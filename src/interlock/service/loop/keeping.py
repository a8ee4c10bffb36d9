"""What does the answer to a step change? Everything of it in the transaction that keeps the decision."""

from __future__ import annotations

from dataclasses import replace

from interlock.core.decision import Decision
from interlock.core.loop import LIVE, Pause, Verdict, moved, pause_json, pause_of, reason_of, tier_reached, verdict_of
from interlock.core.model import Level
from interlock.core.records import Execution, Ticket
from interlock.core.ticket import settled
from interlock.core.times import iso
from interlock.ports import Tx
from interlock.service.loop import challenges, notices
from interlock.service.loop.blocked import block
from interlock.service.loop.rendering import HOW, named, way
from interlock.service.loop.report import Report
from interlock.service.loop.running import freed, in_force, live, resumed
from interlock.service.request import Judged, Overtaken
from interlock.service.tickets import token_of

MOST_COUNTED = 200  # operations of one execution
SINGLE_USE = "CONFIRM_SINGLE_USE"


def keep(report: Report, tx: Tx, judged: Judged, decision: Decision) -> None:
    """Keeps what a step changes; raises Overtaken where the agent does not stand any more as it did when it was looked at."""
    report.tier = tier_reached(decision, report.step.risk)
    report.verdict = verdict_of(decision, report.tier)
    found = tx.execution(report.execution.id)
    if found is None or found.status not in LIVE:
        raise Overtaken
    now = judged.now
    row = freed(tx, found, now) if report.state.mode == "enforcing" else found
    if report.verdict is Verdict.GO:
        row = _gone_on(report, tx, judged, decision, row)
    elif report.verdict is Verdict.STOP:
        reason = reason_of(report.verdict, decision, report.operation)
        report.challenge = block(tx, report.state, report.agent, reason, now, digest=judged.digest, execution=row.id)
    elif report.verdict in (Verdict.CONFIRM, Verdict.VERIFY) and decision.ticket is not None:
        row = _paused(report, tx, judged, decision, decision.ticket, row)
    elif report.verdict is Verdict.REFUSE and decision.ticket is not None and settled(decision.ticket, now).open:
        row = _joined(report, judged, decision, decision.ticket, row)
    elif report.verdict is Verdict.WAIT and report.pause is not None:
        _reminded(report, tx, report.pause)
    if row != found and not tx.save_execution(row, found):
        raise Overtaken
    report.after = row
    report.notes = notices.deliver(tx, report.agent, now)


def _gone_on(report: Report, tx: Tx, judged: Judged, decision: Decision, row: Execution) -> Execution:
    """One more step. What a person agreed to is spent with it, and what waited for that waits no more."""
    spent, state, now = decision.ticket, report.state, judged.now
    if spent is None and state.mode == "enforcing":
        if row.steps >= row.max_steps or in_force(tx, report.agent, [row], now):
            raise Overtaken  # another step of this agent was faster
    if spent is not None:
        for one in live(tx, report.agent):
            pause = pause_of(one.pause)
            if pause is None or pause.ticket != spent.id:
                continue
            if one.id == row.id:
                row = resumed(tx, row, now)
            else:
                tx.save_execution(resumed(tx, one, now), one)
        challenges.end(tx, state, report.agent.principal, challenges.VERIFY, report.agent.name, challenges.ANSWERED)
        notices.clear(tx, report.agent, now, ticket=spent.id)
    assessment = decision.assessment
    risk = assessment.score if assessment is not None and assessment.level >= Level.DESTRUCTIVE else 0
    tally = dict(row.tally)
    if report.counted in tally or len(tally) < MOST_COUNTED:
        tally[report.counted] = int(tally.get(report.counted, 0)) + 1
    return replace(row, steps=row.steps + 1, risk=row.risk + risk, tally=tally)


def _paused(report: Report, tx: Tx, judged: Judged, decision: Decision, ticket: Ticket, row: Execution) -> Execution:
    """The execution waits for its ticket; where that has to be verified, for a challenge as well."""
    state, agent, now = report.state, report.agent, judged.now
    reason = reason_of(report.verdict, decision, report.operation)
    report.confirmation = {
        "token": decision.token,
        "operation": ticket.operation,
        "expires_at": iso(ticket.expires_at),
    }
    verify = report.verdict is Verdict.VERIFY
    if verify:
        report.challenge = challenges.issue(
            tx, state, agent, challenges.VERIFY, decision.reason, now, digest=judged.digest, execution=row.id
        )
    open_one = report.challenge is not None and report.challenge.state == "open" and now < report.challenge.expires_at
    pause = Pause(
        kind="verify" if open_one else "confirm",
        digest=judged.digest,
        human=int(decision.requirement.human),
        ticket=ticket.id,
        challenge=report.challenge.id if report.challenge is not None and open_one else "",
        operation=ticket.operation,
        reason=reason,
        since=now,
        grants=any(part.name == "steps" for part in decision.parts),
    )
    before = pause_of(row.pause)
    if before is None or (before.ticket, before.challenge) != (pause.ticket, pause.challenge):
        _told(report, tx, pause, ticket, now, row.id)
    return replace(moved(row, "pause", now), pause=pause_json(pause))


def _joined(report: Report, judged: Judged, decision: Decision, ticket: Ticket, row: Execution) -> Execution:
    """ESL-08, C-19: the same is held under another name; nothing of this one goes on either before a person has answered that."""
    pause = Pause(
        kind="other",
        digest=judged.digest,
        human=int(decision.requirement.human),
        ticket=ticket.id,
        operation=ticket.operation,
        reason=f"The same is held for agent {ticket.agent.name!r:.80}",
        since=judged.now,
    )
    return replace(moved(row, "pause", judged.now), pause=pause_json(pause))


def _told(report: Report, tx: Tx, pause: Pause, ticket: Ticket, now: float, execution: str) -> None:
    """AE-11, AE-12, C-23: that a permission is pending and for which action, and that the agent is paused and until when."""
    agent, about, title = report.agent, {"ticket": pause.ticket, "execution": execution}, named(ticket)
    notices.clear(tx, agent, now, execution=execution)
    if pause.kind == "confirm":
        what = f": {title}" if title != pause.operation else ""
        what = f": {report.allows}, '{title}' first" if pause.grants else what
        words = f"Operation '{pause.operation}' requires confirmation{what}"
        notices.notify(tx, agent, notices.PERMISSION, words, now, operation=pause.operation, level=SINGLE_USE, **about)
    how = f"{HOW} (challenge {pause.challenge})" if pause.challenge else way(pause.ticket)
    notices.notify(
        tx,
        agent,
        notices.PAUSE,
        f"{pause.reason.rstrip('.')}. {how}.",
        now,
        operation=pause.operation,
        level=report.tier.value,
        verificationId=pause.challenge,
        **about,
    )


def _reminded(report: Report, tx: Tx, pause: Pause) -> None:
    """What the agent waits for, once more."""
    ticket = report.waited = tx.ticket(pause.ticket) if pause.ticket else None
    if ticket is not None and settled(ticket, report.state.clock.now()).state in notices.OPEN_TICKETS:
        report.confirmation = {
            "token": token_of(report.state, ticket),
            "operation": ticket.operation,
            "expires_at": iso(ticket.expires_at),
        }
