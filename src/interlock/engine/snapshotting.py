"""Takes a snapshot first where that turns the answer into an allow; where it cannot, the requirement stays."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable

from msgspec.structs import replace

from interlock.approvals import TicketChange
from interlock.engine.answer import DecisionDraft
from interlock.engine.gathering import own_tools, runs_elsewhere
from interlock.impact.inspection import Inspection, inspection_of, moved_targets, overwrite_inspection
from interlock.model import Level, Loss, TicketState
from interlock.policy.circumstances import Circumstances
from interlock.policy.impact import Impact
from interlock.records import LETTERS, Snapshot, new_id
from interlock.redaction import redact_text
from interlock.runtime import Judged
from interlock.runtime.state import State
from interlock.snapshots import SnapshotLimits, TakenSnapshot, no_snapshot

COMMAND = 2_000  # characters of a stored command
HYPOTHETICAL = TakenSnapshot("u_aaaaaaaaaa", "0" * 64)  # to find the answer with a snapshot, before one is taken
_SMALL = 1 << 20  # bytes of an overwritten file that is copied without a question
_GOES = (Loss.LOST, Loss.RECOVERABLE)
_VERBS = frozenset({"delete", "truncate", "overwrite", "git", "database"})


def take_snapshot(
    state: State, judged: Judged, answer: DecisionDraft, again: Callable[[Circumstances], DecisionDraft]
) -> DecisionDraft:
    """Takes a snapshot where that allows the action, and answers again; never for an action that stays held or denied, or a trial."""
    question, request = _question(state, judged, answer), judged.request
    if question is None:
        return answer
    if answer.held.outcome == "allow":  # it lowers nothing, and makes an undo possible
        found = _take(state, judged, question) if request.spend else None
        return replace(answer, kept=found) if found is not None and found.verified else answer
    with_snapshot = again(replace(answer.at, snapshot=HYPOTHETICAL))
    if with_snapshot.held.outcome != "allow" or _refused(answer):
        return answer
    if not request.spend:  # evaluated again before it runs, with the snapshot taken then
        return with_snapshot
    found = _take(state, judged, question)
    made = again(replace(answer.at, snapshot=found))
    return replace(made, kept=found) if found.verified else made


def overwritten_targets(state: State, judged: Judged) -> Inspection | None:
    """Existing files that everyday work would overwrite; None where there are none, or no snapshot can be taken."""
    request = judged.request
    if (
        request.take_snapshot is None
        or request.inspect_impact is None
        or not state.undo.enabled
        or state.mode != "enforcing"
    ):
        return None
    if runs_elsewhere(judged):
        return None
    edits = request.server is not None  # an agent's own edits are shown to its user
    question = overwrite_inspection(
        request.action, judged.judgement.facts, request.provenance, own_tools(request), edits
    )
    if question is None or request.owner != f"uid:{os.getuid()}":
        return question
    places = [
        os.path.join(base, _at_home(str(deed["target"]), question.home))
        for base in question.bases
        for deed in question.deeds
    ]
    return question if any(map(os.path.isfile, places)) else None


def _at_home(target: str, home: str) -> str:
    """Expands `~` with the caller's home, else with this process's."""
    if home.startswith("/") and (target == "~" or target.startswith("~/")):
        return f"{home}{target[1:]}"
    return os.path.expanduser(target)


def snapshot_only_copies(state: State, judged: Judged, over: Inspection) -> TakenSnapshot | None:
    """Takes a snapshot of small overwritten files that have no other copy."""
    look = judged.request.inspect_impact
    seen = look(over.body) if look is not None else None
    if needs_snapshot(judged):
        harmless = seen is not None and seen.loss in (Loss.NONE, Loss.RECOVERABLE)
        return None if harmless else _take(state, judged, over)
    small = seen is not None and seen.loss is Loss.LOST and seen.bytes <= _SMALL
    return _take(state, judged, over) if small else None


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
        found.bytes, machine=state.machine,
    )  # fmt: skip


def fresh_id() -> str:
    return new_id(secrets.token_bytes(LETTERS))


def _question(state: State, judged: Judged, answer: DecisionDraft) -> Inspection | None:
    """The inspection to take a snapshot by; None where none can be taken, nothing is enforced, or the answer would not change."""
    request, at, held = judged.request, answer.at, answer.held
    if request.take_snapshot is None or at.mode != "enforcing" or at.paused_by or not state.undo.enabled:
        return None
    if runs_elsewhere(judged):
        return None
    if not _worth(at.impact) and (held.keep is not TicketChange.SPEND or (at.impact is not None and at.impact.missing)):
        return None
    question = inspection_of(request.action, judged.judgement, request.provenance, own_tools(request))
    if question is None or not question.deeds or any(deed["verb"] not in _VERBS for deed in question.deeds):
        return None  # only local files can be copied
    lowers = question.relieves and not question.notes and state.impact_settings.exempt  # a note explains the rest
    lowers = lowers and not (
        at.impact is not None and at.impact.repositories
    )  # only a person may give up a whole history
    return question if lowers or held.outcome == "allow" else None


def _worth(seen: Impact | None) -> bool:
    """Whether the inspection found something to lose; an empty file or a merged branch counts."""
    return seen is not None and (seen.loss in _GOES or (seen.loss is Loss.NONE and bool(seen.files or seen.commits)))


def _refused(answer: DecisionDraft) -> bool:
    """Whether a person recently rejected this very action; a snapshot never overrides that."""
    held = answer.held
    return held.ticket is not None and held.ticket.state is TicketState.REJECTED and held.keep is not TicketChange.OPEN


def _take(state: State, judged: Judged, question: Inspection) -> TakenSnapshot:
    id, limits = fresh_id(), SnapshotLimits(state.undo.files, state.undo.bytes, state.undo.ms)
    whose = state.snapshot_owner(judged.request.owner)
    if state.snapshot_usage.bytes.get(whose, 0) >= state.undo.total_bytes:  # until maintenance has pruned
        return no_snapshot(id, "snapshots use all of their space (undo.total_bytes)")
    moved = moved_targets(judged.judgement.facts)
    if moved is None:
        return no_snapshot(id, "what it moves away is not known")
    assert judged.request.take_snapshot is not None
    body = question.body
    found = judged.request.take_snapshot({**body, "deeds": [*body["deeds"], *moved]}, id, judged.now, limits)
    state.snapshot_usage.bytes[whose] = state.snapshot_usage.bytes.get(whose, 0) + found.bytes
    return found
