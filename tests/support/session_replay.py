"""Replays a recorded session: every call through the hook, before and after it runs, with a person who approves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from msgspec.structs import replace

from daemons import BASE, PASSPHRASE, InProcessDaemon, in_process_daemon
from interlock.analysis.rules import Rule
from interlock.approvals import answers
from interlock.audit.false_alarms import rules_of
from interlock.engine.evaluate import fresh_id
from interlock.error_codes import AnswerRefused
from interlock.identity.agents import unblock
from interlock.identity.operators import sign_in
from interlock.journal.undo import JournalUndo
from interlock.journal.wrapping import MARKS, front_of
from interlock.model import TicketState
from interlock.policy.real_paths import ROUTE
from interlock.records import AuditQuery, Ticket, TicketQuery
from interlock.snapshots import SnapshotLimits, TakenSnapshot
from interlock.snapshots.folder import SnapshotFolder
from interlock.snapshots.restore import settle, undo
from interlock.snapshots.take import take
from recorded_sessions import RecordedSession, World, apply_call, text_of, world

CALLS_AN_HOUR = 120
SESSION = "replayed"
_PRE, _POST = "PreToolUse", "PostToolUse"
_ASKED = ("ask", "deny")
_SNAPSHOT = re.compile(r"interlock undo (u_\w+)")
_WHO = f"uid:{os.getuid()}"


@dataclass(frozen=True)
class Question:
    """A call that was not simply allowed."""

    number: int
    text: str
    outcome: str
    rules: tuple[str, ...]
    reason: str
    loses: str


@dataclass(frozen=True)
class Replay:
    """The result of a replayed session."""

    name: str
    calls: int
    questions: tuple[Question, ...]
    unasked: tuple[str, ...]  # irrecoverable losses that passed
    kept: int = 0  # snapshots that were taken first

    @property
    def an_hour(self) -> float:
        return self.needless * CALLS_AN_HOUR / self.calls

    @property
    def needless(self) -> int:
        """Questions about what loses nothing."""
        return sum(not question.loses for question in self.questions)


@dataclass
class SessionSnapshotter:
    """Takes snapshots as the daemon does, in the session's own home and with time enough for a busy machine."""

    folder: SnapshotFolder
    home: str

    def take(self, question: Mapping[str, Any], id: str, at: float, limits: SnapshotLimits) -> TakenSnapshot:
        return take(question, self.folder, id, at, replace(limits, ms=10_000), self.home)

    def settle(self, id: str) -> bool:
        return settle(self.folder, id)


@dataclass
class Desk:
    """The app in this process, an agent that sends it its hooks, and a person who answers."""

    app: InProcessDaemon
    made: World
    client: httpx.AsyncClient
    hands: SessionSnapshotter | None
    kept: list[str] = field(default_factory=list)  # snapshots that were taken first
    said: list[Question] = field(default_factory=list)
    wrapped: set[int] = field(default_factory=set)  # calls that run below the journal

    async def before(self, number: int, call: Mapping[str, Any]) -> tuple[str, str]:
        """The hook's decision, empty where it lets the call pass silently, and the reason."""
        answer = await self._sent(_PRE, number, call)
        found = answer.get("hookSpecificOutput", {})
        self.kept += _SNAPSHOT.findall(str(found.get("additionalContext", "")))
        if "updatedInput" in found:  # a prompt there is Claude Code's own
            self.wrapped.add(number)
            return "", ""
        return str(found.get("permissionDecision", "")), str(found.get("permissionDecisionReason", ""))

    def brought_back(self, id: str, before: Mapping[str, str]) -> bool:
        """Whether it did something, and an undo leaves everything as it was; that is undone itself, and the session goes on."""
        if self.hands is None or self.made.contents() == before:
            return False
        folder = self.hands.folder
        back = undo(folder, id, fresh_id(), 0.0, "", False)
        whole = back.done and self.made.contents() == before
        return whole and undo(folder, back.as_id, fresh_id(), 0.0, "", False).done

    def undone(self, number: int, call: Mapping[str, Any]) -> bool:
        """Whether a call that runs below the journal changed something, and an undo leaves every byte as it was; that is undone itself."""
        wrapper, journal, before = (
            self.app.daemon.hooks.hooks.wrapper,
            JournalUndo(self.app.config),
            self.made.every_byte(),
        )
        assert wrapper is not None
        effect = self.made.filled(call.get("then") or call["input"]["command"])
        self.made.run(wrapper.wrap(effect, "claude-code", f"toolu_{number}"))
        id, after = journal.newest(), self.made.every_byte()
        if not id or after == before:
            return False
        back = journal.undo(id, False)
        whole = self.made.every_byte() == before
        return whole and bool(journal.undo(back["undoableAs"], False)["undone"])

    async def after(self, number: int, call: Mapping[str, Any]) -> None:
        """The call ran; nothing goes on before everything that follows from that is done."""
        if number in self.wrapped:
            (front_of(self.app.config).parent / MARKS / f"toolu_{number}").touch()  # as the front leaves it
        await self._sent(_POST, number, call)
        while left := list(self.app.daemon.hooks._background):
            await asyncio.wait(left)

    async def _sent(self, event: str, number: int, call: Mapping[str, Any]) -> dict[str, Any]:
        body = {
            "session_id": SESSION, "transcript_path": "/dev/null", "cwd": str(self.made.repository),
            "permission_mode": "default", "hook_event_name": event, "tool_name": call["tool"],
            "tool_input": self.made.filled(call["input"]), "tool_use_id": f"toolu_{number}",
        }  # fmt: skip
        if event == _POST:
            body["tool_response"] = {"stdout": "", "stderr": "", "interrupted": False}
        # As the program sends it that the agent starts for each call.
        client = {"interlock-limit": "60000", "interlock-home": str(self.made.home)}
        answer = await self.client.post(f"{ROUTE}claude-code", json=body, headers=client)
        assert answer.status_code == 200, answer.text
        said = answer.content[: int(answer.headers["interlock-stdout"])]
        found: dict[str, Any] = json.loads(said) if said.strip() else {}
        return found

    def rules(self) -> tuple[str, tuple[str, ...]]:
        """The last attempt by the record: its outcome, and the rules at its highest level."""
        self.app.state.recorder.flush()
        newest = AuditQuery(limit=20, newest_first=True)
        for row in self.app.state.store.read(lambda tx: tx.audit(newest)):
            body = json.loads(row.body)
            if "findings" in body and "decision" in body:
                return str(body["decision"]), _worst(body, self.app.state.rules.rules)
        return "", ("no record",)

    def approve(self) -> bool:
        """An operator approves every open ticket; False where nobody may."""
        if self.app.state.blocked(_WHO):
            unblock(self.app.state, sign_in(self.app.state, "ana", PASSPHRASE, "test")[1], _WHO)
        waiting = TicketQuery((TicketState.COOLING, TicketState.WAITING), limit=100)
        tickets: list[Ticket] = self.app.state.store.read(lambda tx: list(tx.tickets(waiting)))
        agreed = False
        for ticket in tickets:
            _, person = sign_in(self.app.state, "ana", PASSPHRASE, "test")
            with contextlib.suppress(AnswerRefused):
                answers.approve(self.app.state, person, ticket.id)
                agreed = True
        return agreed


def _worst(body: Mapping[str, Any], rules: Mapping[str, Rule]) -> tuple[str, ...]:
    found = [rule for rule in rules_of(body) if rule in rules]
    top = max((rules[rule].level for rule in found), default=None)
    return tuple(rule for rule in found if rules[rule].level is top) or ("no rule",)


def replay(session: RecordedSession, folder: Path, keeps: bool = True, supervisor: Path | None = None) -> Replay:
    """Every call, half a minute apart, below this supervisor where one is given; what the session did to its folder is done whatever the gate said."""
    return asyncio.run(_replayed(session, folder, keeps, supervisor))


async def _replayed(session: RecordedSession, folder: Path, keeps: bool, supervisor: Path | None) -> Replay:
    undo = {"enabled": keeps, "wrap": supervisor is not None, "free_bytes": 0}
    tables: dict[str, Any] = {"policy": {"use": "default"}, "hooks": {"wait_seconds": 0}, "undo": undo}
    if supervisor is not None:
        shutil.copytree(supervisor.parent, folder / "state/bin")
    with in_process_daemon(folder, **tables) as app, world(session.state) as made, _at_home(app, made, keeps) as hands:
        app.daemon.start()
        transport = httpx.ASGITransport(app.daemon, client=(_WHO, 1))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url=BASE, timeout=60) as client:
            desk, unasked = Desk(app, made, client, hands), []
            if supervisor is not None:
                await app.daemon.hooks._prepare_wrapping()
            for number, call in enumerate(session.calls, 1):
                unasked += await _lived(desk, number, call)
    return Replay(session.name, len(session.calls), tuple(desk.said), tuple(unasked), len(desk.kept))


@contextmanager
def _at_home(app: InProcessDaemon, made: World, keeps: bool) -> Iterator[SessionSnapshotter | None]:
    """Makes inspections and snapshots use the session's home instead of this process's."""
    context = app.daemon.context
    warm = context.inspect, context.snapshotter, app.state.snapshots.taker
    hands = (
        SessionSnapshotter(SnapshotFolder.open(str(app.config.snapshots), str(app.config.folder)), str(made.home))
        if keeps
        else None
    )
    context.inspect, context.snapshotter, app.state.snapshots.taker = made.look, hands, hands  # type: ignore[assignment]
    try:
        yield hands
    finally:
        context.inspect, context.snapshotter, app.state.snapshots.taker = warm


async def _lived(desk: Desk, number: int, call: Mapping[str, Any]) -> list[str]:
    """One call of a user's day; the loss that passed unasked, where one did and no undo brings it back."""
    desk.app.clock.forward(3600 / CALLS_AN_HOUR)
    so_far = len(desk.kept)
    word, reason = await desk.before(number, call)
    asked, loses = word in _ASKED, call.get("loses", "")
    if asked:
        outcome, rules = desk.rules()
        desk.said.append(Question(number, text_of(call), outcome or word, rules, reason, loses))
    runs = word != "deny"
    if not runs and desk.approve():
        runs = (await desk.before(number, call))[0] not in _ASKED  # the agent tries again
    kept = desk.kept[so_far:] if loses and not asked else []
    if loses and not asked and number in desk.wrapped:
        kept, loses = [], "" if desk.undone(number, call) else loses
    else:
        stood = desk.made.contents() if kept else {}
        if kept and "then" not in call:
            desk.made.run(desk.made.filled(call["input"])["command"])  # what it loses is really gone
        apply_call(desk.made, call)
    if runs:
        await desk.after(number, call)
    if asked or not loses or (kept and desk.brought_back(kept[0], stood)):
        return []
    return [f"{number}: {text_of(call)} loses {loses}"]


def share(values: list[float], part: float) -> float:
    """The value below which this part of them lies; the nearest one that was measured."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(part * (len(ordered) - 1)))]
