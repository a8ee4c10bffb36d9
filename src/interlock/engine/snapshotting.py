"""Takes a snapshot first where that turns the answer into an allow; where it cannot, the requirement stays."""

from __future__ import annotations

import secrets

from msgspec.structs import replace

from interlock.approvals import TicketChange
from interlock.engine.decide import Outcome, World, with_snapshot
from interlock.impact.inspection import Inspection
from interlock.model import Level, Loss, TicketState
from interlock.policy.impact import Impact
from interlock.records import LETTERS, Snapshot, new_id
from interlock.redaction import redact_text
from interlock.runtime import Judged
from interlock.runtime.state import State
from interlock.snapshots import SnapshotLimits, TakenSnapshot, no_snapshot

COMMAND = 2_000  # characters of a stored command
_GOES = (Loss.LOST, Loss.RECOVERABLE)
_LOSSES = (Loss.LOST, Loss.UNKNOWN)


def take_snapshot(state: State, judged: Judged, world: World, answer: Outcome) -> Outcome:
    """Takes a snapshot where that allows the action, and answers again; never for an action that stays held or denied, or a trial."""
    question, request = _copyable(state, judged, world, answer), judged.request
    if question is None:
        return answer
    if answer.held.outcome == "allow":  # it lowers nothing, and makes an undo possible
        found = _take(state, judged, question) if request.spend else None
        return replace(answer, kept=found) if found is not None and found.verified else answer
    supposed = with_snapshot(judged, world)
    if supposed.held.outcome != "allow" or _refused(answer):
        return answer
    if not request.spend:  # evaluated again before it runs, with the snapshot taken then
        return supposed
    found = _take(state, judged, question)
    made = with_snapshot(judged, world, found)
    return replace(made, kept=found) if found.verified else made


def keep_changes(state: State, judged: Judged, question: Inspection) -> TakenSnapshot | None:
    """Takes a snapshot where everyday work changes files that nothing proves to be elsewhere; None where nothing is lost."""
    look = judged.request.inspect_impact
    seen = look(question.body) if look is not None else None
    if seen is None or seen.missing or (seen.loss in (Loss.NONE, Loss.RECOVERABLE) and not seen.presumed):
        return None
    if not question.relieves or seen.repositories:
        return no_snapshot(fresh_id(), "which files it changes is not certain") if seen.loss in _LOSSES else None
    found = _take(state, judged, question)
    needed = tuple(deed for deed in question.deeds if not deed.get("maybe"))
    if not found.verified and len(needed) < len(question.deeds) and seen.loss in _LOSSES:
        found = _take(state, judged, replace(question, deeds=needed))
    return found if found.verified or seen.loss in _LOSSES else None


def needs_snapshot(judged: Judged) -> bool:
    """Whether a server declares the call destructive, so that only a snapshot allows it."""
    server = judged.request.server
    return server is not None and server.destroys and judged.judgement.assessment.level < Level.DESTRUCTIVE


def snapshot_of(state: State, judged: Judged, found: TakenSnapshot) -> Snapshot:
    """The database row of a snapshot."""
    agent, action = judged.request.agent, judged.request.action
    command = redact_text(action.text[: COMMAND * 2])[:COMMAND]
    return Snapshot(
        found.id, judged.now, judged.request.owner, agent.name, agent.session, action.cwd, command, found.digest, found.files,
        found.bytes, machine=state.snapshots.machine,
    )  # fmt: skip


def fresh_id() -> str:
    return new_id(secrets.token_bytes(LETTERS))


def _copyable(state: State, judged: Judged, world: World, answer: Outcome) -> Inspection | None:
    """The inspection to take a snapshot by; None where none can be taken, nothing is enforced, or the answer would not change."""
    request, at, held = judged.request, answer.at, answer.held
    if request.take_snapshot is None or at.mode != "enforcing" or at.paused_by or not state.in_force.undo.enabled:
        return None
    if not _worth(at.impact) and (held.keep is not TicketChange.SPEND or (at.impact is not None and at.impact.missing)):
        return None
    question = world.question
    if question is None or not question.copyable:
        return None
    lowers = question.excuses(at.impact) and state.in_force.impact.exempt
    return question if lowers or held.outcome == "allow" else None


def _worth(seen: Impact | None) -> bool:
    """Whether the inspection found something to lose; an empty file or a merged branch counts."""
    return seen is not None and (seen.loss in _GOES or (seen.loss is Loss.NONE and bool(seen.files or seen.commits)))


def _refused(answer: Outcome) -> bool:
    """Whether a person recently rejected this very action; a snapshot never overrides that."""
    held = answer.held
    return held.ticket is not None and held.ticket.state is TicketState.REJECTED and held.keep is not TicketChange.OPEN


def _take(state: State, judged: Judged, question: Inspection) -> TakenSnapshot:
    id, limits = (
        fresh_id(),
        SnapshotLimits(state.in_force.undo.files, state.in_force.undo.bytes, state.in_force.undo.ms),
    )
    whose = state.snapshots.owner_of(judged.request.owner)
    if state.snapshots.usage.bytes.get(whose, 0) >= state.in_force.undo.total_bytes:  # until maintenance has pruned
        return no_snapshot(id, "snapshots use all of their space (undo.total_bytes)")
    assert judged.request.take_snapshot is not None
    body = question.body
    found = judged.request.take_snapshot({**body, "deeds": [*body["deeds"], *question.moved]}, id, judged.now, limits)
    state.snapshots.usage.bytes[whose] = state.snapshots.usage.bytes.get(whose, 0) + found.bytes
    return found
