"""A recorded session -> what the gate says to each of its calls, in the repository state that the session assumes; nothing is approved."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gate import Gate
from interlock.agents import agent as agent_of
from interlock.agents.contract import Call
from interlock.core.decide import Judgement
from interlock.core.decision import Decision
from interlock.core.loss import Seen
from interlock.core.model import AgentRef, Kind
from interlock.doors.hook.written import WrittenFiles
from interlock.looker.files import read_text
from interlock.looker.look import look
from interlock.service.evaluate import evaluate
from interlock.service.request import Request

SESSIONS = Path(__file__).parent / "sessions"
CALLS_AN_HOUR = 120
_AGENT = agent_of("claude-code")
_GIT = {
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_EDITOR": "true", "PATH": os.environ["PATH"],
    "GIT_AUTHOR_NAME": "dev", "GIT_AUTHOR_EMAIL": "dev@example.com",
    "GIT_COMMITTER_NAME": "dev", "GIT_COMMITTER_EMAIL": "dev@example.com",
}  # fmt: skip


@dataclass(frozen=True)
class Recorded:
    """A session as it lies in its file: the state it assumes, and its calls with what each of them really loses."""

    name: str
    about: str
    state: Mapping[str, Any]
    calls: tuple[Mapping[str, Any], ...]


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
    """What a session met."""

    name: str
    calls: int
    questions: tuple[Question, ...]
    unasked: tuple[str, ...]  # irrecoverable losses that passed

    @property
    def an_hour(self) -> float:
        return self.needless * CALLS_AN_HOUR / self.calls

    @property
    def needless(self) -> int:
        """Questions about what loses nothing."""
        return sum(not question.loses for question in self.questions)


@dataclass
class World:
    """The folder in which a session goes on."""

    home: Path
    repository: Path
    session: str = "replayed"
    written: WrittenFiles = field(default_factory=WrittenFiles)

    def filled(self, value: Any) -> Any:
        """The session's own places in a recorded value."""
        if isinstance(value, str):
            return value.replace("{repo}", str(self.repository)).replace("{home}", str(self.home))
        if isinstance(value, dict):
            return {key: self.filled(one) for key, one in value.items()}
        return [self.filled(one) for one in value] if isinstance(value, list) else value

    def look(self, question: Mapping[str, Any]) -> Seen:
        """As the looker does it, in the session's own home, and with time enough on a busy machine."""
        return look({**question, "ms": 10_000}, str(self.home))

    def run(self, script: str) -> None:
        """What a call did to the folder; one that fails there failed in the session as well."""
        subprocess.run(
            ["bash", "-c", script], cwd=self.repository, env={**_GIT, "HOME": str(self.home)},
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip


def recorded(name: str) -> Recorded:
    """One session by its name."""
    head, *calls = map(json.loads, (SESSIONS / f"{name}.jsonl").read_text().splitlines())
    return Recorded(head["session"], head["about"], head["state"], tuple(calls))


def names() -> list[str]:
    return sorted(path.stem for path in SESSIONS.glob("*.jsonl"))


@contextmanager
def world(state: Mapping[str, Any]) -> Iterator[World]:
    """The state that a session assumes; not below a folder for temporary files, where nothing would matter."""
    home = Path.home() / f"replayed-{secrets.token_hex(4)}"
    made = World(home, home / "src" / state["repository"])
    made.repository.mkdir(parents=True)
    before = os.environ.get("HOME", "")
    try:
        os.environ["HOME"] = str(home)
        _build(made, state)
        yield made
    finally:
        os.environ["HOME"] = before
        shutil.rmtree(home, ignore_errors=True)


def _build(made: World, state: Mapping[str, Any]) -> None:
    remote = made.home / "remote.git"
    made.run(f"git init -q -b main . && git init -q --bare {remote} && git remote add origin {remote}")
    _put(made.repository, state.get("tracked", ()), "committed\n")
    (made.repository / ".gitignore").write_text("\n".join(state.get("ignore", ())) + "\n")
    made.run("git add -A && git commit -qm one && touch .second && git add -A && git commit -qm two")
    for branch, ahead in state.get("branches", {}).items():
        commits = " && ".join(f"git commit -q --allow-empty -m {branch}-{n}" for n in range(ahead)) or "true"
        made.run(f"git switch -q -C {branch} main && {commits}; git switch -q main")
    for branch in state.get("pushed", ()):
        made.run(f"git push -q origin {branch} || git push -q origin main:{branch}; git fetch -q")
    made.run(f"git remote set-url origin git@github.com:acme/{state['repository']}.git && rm -rf {remote}")
    _put(made.repository, state.get("ignored", ()), "ignored\n")
    _put(made.repository, state.get("untracked", ()), "untracked\n")
    _put(made.repository, state.get("modified", ()), "changed by a person\n")
    _put(made.home, state.get("home", ()), "at home\n")


def _put(folder: Path, paths: Any, text: str) -> None:
    for name in paths:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def replay(session: Recorded, folder: Path) -> Replay:
    """Every call through the gate, half a minute apart; what the session did to its folder is done whatever the gate said."""
    gate = Gate(folder, policy={"use": "default"})
    questions, unasked = [], []
    try:
        with world(session.state) as made:
            for number, call in enumerate(session.calls, 1):
                gate.clock.forward(3600 / CALLS_AN_HOUR)
                question = _asked(gate, made, number, call)
                if question is not None:
                    questions.append(question)
                elif call.get("loses"):
                    unasked.append(f"{number}: {_text(call)} loses {call['loses']}")
                _go_on(made, call)
    finally:
        gate.close()
    return Replay(session.name, len(session.calls), tuple(questions), tuple(unasked))


def _asked(gate: Gate, made: World, number: int, call: Mapping[str, Any]) -> Question | None:
    body = {
        "session_id": made.session, "transcript_path": "/dev/null", "cwd": str(made.repository),
        "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": call["tool"],
        "tool_input": made.filled(call["input"]), "tool_use_id": f"toolu_{number}",
    }  # fmt: skip
    event = _AGENT.decode(json.dumps(body).encode(), "PreToolUse")
    assert not event.problem, event.problem
    for one in event.calls:
        decision = _decided(gate, made, one)
        if not decision.allowed:
            return Question(
                number, _text(call), decision.outcome, rules_of(decision), decision.reason, call.get("loses", "")
            )
    return None


def _decided(gate: Gate, made: World, call: Call) -> Decision:
    """As the hook door does it: one evaluation, with what the session wrote before."""
    texts: dict[str, str] = {}

    def files(path: str) -> str | None:
        text = read_text(path)
        if text is not None:
            texts[path] = text
        return text

    def inherits(own: Judgement) -> Judgement | None:
        return made.written.inherited(made.session, call.action, own, texts)

    who = AgentRef(f"uid:{os.getuid()}", _AGENT.word, made.session)
    request = Request(call.action, who, "hook", judged=call.judged, files=files, inherits=inherits, look=made.look)
    decision = evaluate(gate.state, request)
    if call.action.kind is Kind.TOOL and (decision.allowed or decision.held):
        made.written.remember(made.session, call.action, gate.state.rules, read_text)
    return decision


def rules_of(decision: Decision) -> tuple[str, ...]:
    """The rules that stand at the level of the whole; where there are none, what was weighed."""
    found = decision.assessment.findings if decision.assessment else ()
    top = max((finding.level for finding in found), default=None)
    named = tuple(dict.fromkeys(finding.rule for finding in found if finding.level == top))
    return named or tuple(str(factor) for factor in decision.weighed) or ("no rule",)


def _go_on(made: World, call: Mapping[str, Any]) -> None:
    """What the session's folder is like after this call."""
    given = made.filled(call["input"])
    if "then" in call:
        made.run(made.filled(call["then"]))
    elif call["tool"] == "Write":
        path = Path(given["file_path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(given["content"])
    elif call["tool"] in ("Edit", "MultiEdit") and Path(given["file_path"]).is_file():
        with Path(given["file_path"]).open("a") as file:
            file.write(given.get("new_string", "edited\n"))


def _text(call: Mapping[str, Any]) -> str:
    given = call["input"]
    return str(given.get("command") or f"{call['tool']} {given.get('file_path', given)}")


def share(values: list[float], part: float) -> float:
    """The value below which this part of them lies; the nearest one that was measured."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(part * (len(ordered) - 1)))]
