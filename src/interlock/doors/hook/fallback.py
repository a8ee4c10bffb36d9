"""A hook that no daemon answers: judged in this process, closed from level 2 on, written into the journal."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.agents import Agent, Event, Reply, Verdict
from interlock.agents import agent as agent_of
from interlock.agents.contract import GATING, Call
from interlock.config import Config, config_of, load_config
from interlock.doors.hook.undumpable import undumpable
from interlock.service.homes import home_for, home_of

if TYPE_CHECKING:
    from interlock.core.classify import Rulebook
    from interlock.core.decide import Judgement
    from interlock.core.policy import Policy

MOST_INPUT = 16 << 20
DOWN = "No Interlock daemon answers, so nobody can be asked and nothing can be held."
NO_CONSENT = (
    "Silence is not consent: do not try the same by other means; tell the user to start it (`interlock serve`)."
)
_CLEAN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
Ask = Callable[[str, str, bytes, Config], Reply | None]


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict, and what the journal keeps of it."""

    verdict: Verdict
    level: int = -1
    findings: tuple[str, ...] = ()


def main(argv: Sequence[str]) -> int:
    """For the compiled client, which replays what is framed on stdout; anything else it takes for a no."""
    return run(argv, None, framed=True)


def run(argv: Sequence[str], ask: Ask | None, framed: bool = False) -> int:
    """`FOLDER CONFIGURATION AGENT EVENT`; whatever goes wrong is the agent's own no."""
    undumpable()
    folder, path, word, event = argv
    agent = agent_of(word)
    try:
        reply = _reply(agent, event, configured(Path(folder), path), ask)
    except BaseException as error:
        reply = agent.broken(f"Denied: the call could not be judged ({type(error).__name__}). {NO_CONSENT}")
    return _say(reply, framed)


def _say(reply: Reply, framed: bool) -> int:
    if not framed:
        sys.stdout.buffer.write(reply.stdout)
        sys.stderr.buffer.write(reply.stderr)
        return reply.exit
    body = reply.stdout + reply.stderr
    head = f"HTTP/1.1 200 OK\r\nInterlock-Exit: {reply.exit}\r\nInterlock-Stdout: {len(reply.stdout)}\r\n"
    sys.stdout.buffer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return 0


def _reply(agent: Agent, event: str, config: Config, ask: Ask | None) -> Reply:
    data = sys.stdin.buffer.read(MOST_INPUT + 1)
    if len(data) > MOST_INPUT:
        return agent.broken(f"Denied: the hook input is longer than {MOST_INPUT} bytes.")
    answered = ask(agent.word, event, data, config) if ask is not None else None
    if answered is not None:
        return answered
    from interlock.service.jails import is_inside

    told = agent.decode(data, event)
    said = judged(told, config)
    if told.kind in GATING:
        said = _kept(agent, told, said, config)
        if config.hooks.start_daemon and not is_inside(config.folder):
            start_daemon(config)
    return agent.encode(told, said.verdict)


def configured(folder: Path, path: str) -> Config:
    """As it was at the installation, whose state folder counts where the file names none; the environment has no say."""
    if path:
        return load_config(Path(path), _home_of(folder))
    return config_of({"store": {"url": f"sqlite://{folder}"}}, environ={})


def asking_home() -> str:
    """HOME as the agent's process has it: its files, never ours, which are where the system says."""
    home = os.environ.get("INTERLOCK_HOOK_HOME", "")
    return home if home.isprintable() else ""


def _home_of(folder: Path) -> dict[str, str]:
    """What makes this folder the default one."""
    return {"XDG_STATE_HOME": str(folder.parent)} if folder.name == "interlock" else {}


def judged(event: Event, config: Config) -> Said:
    """The verdict without a daemon: the worst of its calls."""
    if event.kind not in GATING:
        return Said(Verdict("allow"))
    if event.problem:
        return Said(Verdict("deny"))
    who = f"uid:{os.getuid()}"
    known = standing(config.folder, who)
    if known:
        return Said(Verdict("deny", f"Denied: {known}. {DOWN} {NO_CONSENT}"))
    from interlock.config import rules_of
    from interlock.core.decide import judge
    from interlock.core.model import AgentRef
    from interlock.core.titles import titles
    from interlock.looker.files import read_text
    from interlock.looker.paths import real_paths
    from interlock.service.guarding import guarded_of
    from interlock.service.request import Request
    from interlock.service.resolving import resolved

    rules, policy = rules_of(config), config.effective_policy()
    home, guarded = home_for(who, asking_home()), guarded_of(config)
    said = []
    for call in event.calls:
        action = replace(call.action, home=home)
        request = Request(action, AgentRef(who), "hook", files=read_text, resolve=real_paths)
        judgement, named = judge(action, rules, read_text), titles(action, ())
        judgement, _ = resolved(rules, guarded, request, judgement, named)
        said.append(_one(judgement, action, rules, _in_project(policy, call), config.hooks.passes))
    return max(said, key=lambda one: (one.verdict.word != "allow", one.level), default=Said(Verdict("allow")))


def _in_project(policy: Policy, call: Call) -> Policy:
    """The policy under what the project's own file denies and wants asked."""
    from interlock.core.loop_rules import ruled
    from interlock.core.project import project_rules
    from interlock.looker.project import find

    return ruled(policy, project_rules(find(call.action.cwd)))


def _one(judgement: Judgement, action: object, rules: Rulebook, policy: Policy, passes: int) -> Said:
    from interlock.core.circumstances import Circumstances
    from interlock.core.model import Level, Requirement
    from interlock.core.weigh import require

    assessment = judgement.assessment
    found = tuple(finding.rule for finding in assessment.findings)
    weighed = require(action, judgement, policy, Circumstances(mode="enforcing"))  # type: ignore[arg-type]
    asked = weighed.denies or (assessment.level <= Level.REVERSIBLE and weighed.requirement != Requirement())
    if assessment.level <= passes and not asked:
        return Said(Verdict("allow"), int(assessment.level), found)
    worst = max(assessment.findings, key=lambda finding: finding.level, default=None)
    what = f"{worst.reason} ({worst.rule})" if worst else "it needs somebody's agreement"
    words = f"Denied at level {assessment.level.word}: {what} {DOWN} {NO_CONSENT}"
    return Said(Verdict("deny", words), int(assessment.level), found)


def standing(folder: Path, principal: str) -> str:
    """Why this principal may do nothing at all without a daemon; empty where the state says that it may."""
    import sqlite3

    from interlock.service.jails import is_inside
    from interlock.service.jails import standing as told

    if is_inside(folder):
        try:
            why = told(folder).get(principal)
        except (OSError, ValueError, LookupError, AttributeError):
            return f"whether {principal} is blocked cannot be known"
        return f"{principal} is blocked ({why})" if why is not None else ""
    path = folder / "state.db"
    try:
        if path.stat().st_uid != os.getuid():
            return f"{principal} is not who this installation belongs to"
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=1.0)
        try:
            rows = connection.execute(
                "SELECT reason FROM blocks WHERE principal = ? AND lifted_at = 0", (principal,)
            ).fetchall()
        finally:
            connection.close()
    except (OSError, sqlite3.Error, ValueError):
        return f"whether {principal} is blocked cannot be known"
    return f"{principal} is blocked ({rows[0][0]})" if rows else ""


def _kept(agent: Agent, event: Event, said: Said, config: Config) -> Said:
    """The same, once the journal has it; what cannot be kept is not allowed."""
    from interlock.doors.hook.journal import append, place
    from interlock.service.tickets import action_json

    entry = {
        "at": time.time(),
        "principal": f"uid:{os.getuid()}",
        "agent": agent.word,
        "event": event.name,
        "session": event.session[:200],
        "calls": [call.id[:200] for call in event.calls],
        "verdict": said.verdict.word,
        "level": said.level,
        "findings": list(said.findings)[:50],
        "problem": event.problem[:500],
        "action": [action_json(call.action) for call in event.calls][:20],
    }
    try:
        append(place(config.folder), entry)
    except OSError as error:
        if said.verdict.word != "allow":
            return said
        return Said(Verdict("deny", f"Denied: nothing can be recorded ({error.strerror or error}). {DOWN}"))
    return said


def start_daemon(config: Config) -> None:
    """A daemon of its own, with nothing of the agent's environment; where one comes up already, it ends by itself."""
    if not config.path and config.folder.name != "interlock":  # no daemon would find it
        return
    where = ["--config", config.path] if config.path else []
    try:
        subprocess.Popen(
            [sys.executable, "-I", "-m", "interlock", "serve", *where],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            close_fds=True,
            cwd="/",
            env={**_CLEAN, "HOME": home_of(f"uid:{os.getuid()}"), **_home_of(config.folder)},
        )
    except OSError:
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
