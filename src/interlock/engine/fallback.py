"""Judges a hook call without a daemon: denies from level 2 on, and writes every verdict into the journal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import replace

from interlock.agents import GATING, AgentDialect, Event, HookOutput, HookVerdict
from interlock.agents import agent as agent_of
from interlock.agents.rewriting import with_originals
from interlock.analysis.assess import Judgement, judge
from interlock.audit.journal import append, journal_path
from interlock.config import Config, config_of, load_config
from interlock.engine.assessment import Unjudged
from interlock.engine.own_assets import guarded_of
from interlock.engine.preview import preview
from interlock.identity import home_for, home_of, make_undumpable
from interlock.identity.isolation import is_jailed, read_blocks
from interlock.impact.files import find_project_files, read_text, real_paths
from interlock.journal import FRONT
from interlock.model import Action, Level, Requirement
from interlock.policy.match_names import MatchNames, match_names
from interlock.policy.real_paths import resolve_paths
from interlock.ports import Access
from interlock.redaction import action_json
from interlock.runtime import InForce, rules_of

MOST_INPUT = 16 << 20
DOWN = "No Interlock daemon answers, so nobody can be asked and nothing can be held."
NO_CONSENT = (
    "Silence is not consent: do not try the same by other means; tell the user to start it (`interlock serve`)."
)
_CLEAN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
Ask = Callable[[str, str, bytes, Config], HookOutput | None]


class FallbackVerdict(Struct, frozen=True):
    verdict: HookVerdict
    level: int = -1
    findings: tuple[str, ...] = ()


_ALLOWED = FallbackVerdict(HookVerdict("allow"))


def main() -> NoReturn:
    """Serves the compiled client, which replays the framed reply and denies on anything else."""
    status = run(sys.argv[1:], None, framed=True)
    sys.stdout.flush()
    os._exit(status)  # it has judged its one call: taking the interpreter apart took a tenth of that


def run(argv: Sequence[str], ask: Ask | None, framed: bool = False) -> int:
    """Runs `FOLDER CONFIGURATION AGENT EVENT`; any error becomes a denial in the agent's dialect."""
    make_undumpable()
    folder, path, word, event = argv
    agent = agent_of(word)
    try:
        reply = _reply(agent, event, installed_config(Path(folder), path), ask)
    except BaseException as error:
        reply = agent.broken(f"Denied: the call could not be judged ({type(error).__name__}). {NO_CONSENT}")
    return _say(reply, framed)


def _say(reply: HookOutput, framed: bool) -> int:
    if not framed:
        sys.stdout.buffer.write(reply.stdout)
        sys.stderr.buffer.write(reply.stderr)
        return reply.exit
    body = reply.stdout + reply.stderr
    head = f"HTTP/1.1 200 OK\r\nInterlock-Exit: {reply.exit}\r\nInterlock-Stdout: {len(reply.stdout)}\r\n"
    sys.stdout.buffer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return 0


def _reply(agent: AgentDialect, event: str, config: Config, ask: Ask | None) -> HookOutput:
    data = sys.stdin.buffer.read(MOST_INPUT + 1)
    if len(data) > MOST_INPUT:
        return agent.broken(f"Denied: the hook input is longer than {MOST_INPUT} bytes.")
    if ask is not None and (answered := ask(agent.word, event, data, config)) is not None:
        return answered
    call = agent.decode(data, event)
    if FRONT.encode() in data:
        from interlock.journal.wrapping import Wrapper, front_of  # with shutil, which few calls need

        call = with_originals(call, Wrapper(str(front_of(config))).original)
    said = judge_calls(call, config)
    if call.kind in GATING:
        said = record(agent.word, call, said, config)
        if config.hooks.start_daemon and not is_jailed(config.folder):
            start_daemon(config)
    return agent.encode(call, said.verdict)


def installed_config(folder: Path, path: str) -> Config:
    """With its state folder as the default; ignores the environment."""
    if path:
        return load_config(Path(path), _home_of(folder))
    return config_of({"store": {"url": f"sqlite://{folder}"}}, environ={})


def agent_home() -> str:
    """HOME as the agent's process has it: its files, never ours, which are where the system says."""
    home = os.environ.get("INTERLOCK_HOOK_HOME", "")
    return home if home.isprintable() else ""


def _home_of(folder: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(folder.parent)} if folder.name == "interlock" else {}


def judge_calls(event: Event, config: Config) -> FallbackVerdict:
    if event.kind not in GATING:
        return _ALLOWED
    if event.problem:
        return _denied("")
    who = f"uid:{os.getuid()}"
    if known := refusal_in_force(config.folder, who):
        return _denied(f"Denied: {known}. {DOWN} {NO_CONSENT}")
    by = InForce(rules_of(config), config.effective_policy())
    home, guarded = home_for(who, agent_home()), guarded_of(config)
    said, access = [], Access(read_text, resolve=real_paths)
    for call in event.calls:
        action = replace(call.action, home=home)
        judgement = judge(action, by.rules, read_text)
        named = match_names(action, judgement.facts)
        read = resolve_paths(by.rules, guarded, action, judgement, named, home or home_of(who), access)
        said.append(_one(action, by, read, config.hooks.passes))
    return max(said, key=lambda one: (one.verdict.word != "allow", one.level), default=_ALLOWED)


def _denied(words: str, level: int = -1, findings: tuple[str, ...] = ()) -> FallbackVerdict:
    return FallbackVerdict(HookVerdict("deny", words), level, findings)


def _one(action: Action, by: InForce, read: tuple[Judgement, MatchNames], passes: int) -> FallbackVerdict:
    answer = preview(action, by, read=read, project=find_project_files(action.cwd))
    if isinstance(answer, Unjudged):
        return _denied(f"Denied: the action could not be judged. {NO_CONSENT}")
    level, weighed, worst = answer.assessment.level, answer.weighed, answer.assessment.worst
    found = tuple(finding.rule for finding in answer.assessment.findings)
    asked = weighed.denies or (level <= Level.REVERSIBLE and weighed.requirement != Requirement())
    if level <= passes and not asked:
        return FallbackVerdict(HookVerdict("allow"), int(level), found)
    what = f"{worst.reason} ({worst.rule})" if worst else "it needs somebody's agreement"
    return _denied(f"Denied at level {level.word}: {what} {DOWN} {NO_CONSENT}", int(level), found)


def refusal_in_force(folder: Path, principal: str) -> str:
    """Why this principal is refused without a daemon; empty where it is not."""
    import sqlite3

    path = folder / "state.db"
    try:
        if is_jailed(folder):
            why = read_blocks(folder).get(principal)
        elif path.stat().st_uid != os.getuid():
            return f"{principal} is not who this installation belongs to"
        else:
            with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=1.0)) as connection:
                query = "SELECT reason FROM blocks WHERE principal = ? AND lifted_at = 0"
                row = connection.execute(query, (principal,)).fetchone()
            why = None if row is None else str(row[0])
    except (OSError, sqlite3.Error, ValueError, LookupError, AttributeError):
        return f"whether {principal} is blocked cannot be known"
    return f"{principal} is blocked ({why})" if why is not None else ""


def record(agent: str, event: Event, said: FallbackVerdict, config: Config) -> FallbackVerdict:
    """Denies where nothing can be written."""
    entry = {
        "at": time.time(),
        "principal": f"uid:{os.getuid()}",
        "agent": agent[:200],
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
        append(journal_path(config.folder), entry)
    except OSError as error:
        if said.verdict.word == "allow":
            return _denied(f"Denied: nothing can be recorded ({error.strerror or error}). {DOWN}")
    return said


def start_daemon(config: Config) -> None:
    """Starts a daemon without the agent's environment; a second one ends by itself."""
    if not config.path and config.folder.name != "interlock":  # no daemon would find it
        return
    import subprocess  # most calls find a daemon

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


if __name__ == "__main__":  # as clients of earlier versions start it
    main()
