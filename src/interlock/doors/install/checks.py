"""Does the guard fire? One hooked file -> findings in words: its hooks, its client, a canary sent through it, what switches it off."""

from __future__ import annotations

import os
import secrets
import stat
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from interlock.agents import Client, Event
from interlock.agents.contract import CLIENT
from interlock.agents.jsonc import EditError
from interlock.config import Config
from interlock.doors.hook.wrapper import client_folder
from interlock.doors.install.canary import COMMAND, SESSION, canary, environment
from interlock.doors.install.files import digest
from interlock.doors.install.firing import DidNotFire, Fired, fire
from interlock.doors.install.handlers import Handler, client_of, event_of, handlers
from interlock.doors.install.present import Hooked
from interlock.doors.install.register import find
from interlock.doors.install.verdicts import BROKEN, verdict_of

OK, NOTE, PROBLEM = "ok", "note", "problem"
TIMES = 5
_GOT = {
    "allow": "the agent would run it",
    "ask": "the agent would ask its user",
    "deny": "it was denied",
    BROKEN: "the answer is none that this agent knows",
}
_AGAIN = "run `interlock install` again"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: str  # ok | note | problem
    words: str
    milliseconds: float | None = None


def findings(one: Hooked, config: Config, home: Path) -> Iterator[Finding]:
    """Everything about one file that has hooks of ours."""
    if one.problem:
        yield Finding("file", PROBLEM, one.problem)
    else:
        client = client_of(one.agent, one.place, one.text)
        yield from _file(one, config, client)
        yield from _client(client, config)
        if is_trusted(one, config):
            yield from _canaries(one)
        else:
            yield Finding(
                "fires", PROBLEM, "not tried: what is in the file is not what install writes, and could be anything"
            )
    for words in one.agent.disablers(home, one.project):
        yield Finding("switched off", PROBLEM, words)
    if one.place.note:
        yield Finding("to do", NOTE, one.place.note)


def is_trusted(one: Hooked, config: Config) -> bool:
    """Whether running what the file says runs our client and nothing else: doctor is no way to have a person run a program."""
    client = client_of(one.agent, one.place, one.text)
    return client is not None and _whole(one, client) and (bool(client.url) or client.path == _expected(config))


def _whole(one: Hooked, client: Client) -> bool:
    try:
        return one.agent.installed(one.place, one.text, client) == one.text
    except EditError:
        return False


def _expected(config: Config) -> str:
    return str(client_folder(config) / CLIENT)


def gating(one: Hooked) -> list[tuple[Handler, str]]:
    """The handlers that a shell command has to pass, each with its event."""
    found = ((handler, event_of(handler)) for handler in handlers(one.agent, one.place, one.text))
    return [
        (handler, event)
        for handler, event in found
        if canary(one.agent.word, event, COMMAND, str(one.project)) is not None
    ]


def fired(one: Hooked, handler: Handler, event: str, command: str | None) -> tuple[str, Fired]:
    """What the agent would make of the answer to this command, in a session of its own; without a command the call cannot be judged."""
    cwd = _folder(one)
    payload = canary(one.agent.word, event, command, str(cwd), f"{SESSION}-{secrets.token_hex(4)}")
    assert payload is not None
    decoded: Event = one.agent.decode(payload, event)
    answer = fire(one.agent, handler, payload, cwd, environment(one.agent.word, str(cwd)))
    return verdict_of(one.agent, decoded, answer.reply), answer


def _file(one: Hooked, config: Config, client: Client | None) -> Iterator[Finding]:
    if client is None:
        yield Finding("file", PROBLEM, f"{one.place.path}: its hooks do not all call the same client; {_AGAIN}")
        return
    entry = find(config, one.place.path)
    if not _whole(one, client):
        yield Finding("file", PROBLEM, f"{one.place.path}: hooks are missing or changed; {_AGAIN}")
    elif entry is None:
        yield Finding("file", NOTE, f"{one.place.path}: the hooks are whole, but this installation did not write them")
    elif digest(one.text.encode()) != entry.written:
        yield Finding("file", NOTE, f"{one.place.path}: the hooks are whole; something else in the file changed since")
    else:
        yield Finding("file", OK, f"{one.place.path}: as it was written")


def _client(client: Client | None, config: Config) -> Iterator[Finding]:
    if client is None:
        return
    if client.url:
        yield Finding(
            "client", NOTE, f"posts to {client.url}: a stopped daemon blocks everything, and the port can be squatted"
        )
        return
    from interlock.doors.hook.wrapper import is_compiled

    expected = _expected(config)
    if not (Path(client.path).is_file() and os.access(client.path, os.X_OK)):
        yield Finding("client", PROBLEM, f"{client.path} cannot be run, so every call is blocked; {_AGAIN}")
    elif loose := _loose(Path(client.path)):
        yield Finding("client", PROBLEM, f"{loose} can be written by others, who could put another program there")
    elif client.path != expected:
        yield Finding("client", PROBLEM, f"{client.path} is not this installation's client, {expected}; {_AGAIN}")
    elif is_compiled(client):
        yield Finding("client", OK, f"{client.path}, compiled")
    else:
        yield Finding(
            "client",
            NOTE,
            f"{client.path} is a Python script, slower by tens of milliseconds: install a C compiler and {_AGAIN}",
        )


def _canaries(one: Hooked) -> Iterator[Finding]:
    found = gating(one)
    if not found and one.place.form != "script":  # of scripts there is one for each event
        yield Finding("fires", PROBLEM, f"nothing here is asked before {one.agent.title} runs a command; {_AGAIN}")
    for handler, event in found:
        name = event or "plugin"
        try:
            yield _allowed(one, handler, event, name)
            yield _denied(one, handler, event, name)
        except DidNotFire as error:
            yield Finding("fires", PROBLEM, f"{name}: {error}")


def _allowed(one: Hooked, handler: Handler, event: str, name: str) -> Finding:
    """The harmless command passes, time after time."""
    took = []
    for _ in range(TIMES):
        verdict, answer = fired(one, handler, event, COMMAND)
        took.append(answer.milliseconds)
        if verdict != "allow":
            said = " ".join((answer.reply.stderr or answer.reply.stdout).decode("utf-8", "replace").split())[:200]
            words = f"{name}: `{COMMAND}` was not allowed: {_GOT[verdict]} (exit code {answer.reply.exit}): {said}"
            return Finding("allows", PROBLEM, words.rstrip(": "))
    middle = statistics.median(took)
    return Finding("allows", OK, f"{name}: `{COMMAND}` is allowed, in {middle:.1f} ms (median of {TIMES})", middle)


def _denied(one: Hooked, handler: Handler, event: str, name: str) -> Finding:
    """A call that cannot be judged is refused, in the shape that stops this agent."""
    verdict, answer = fired(one, handler, event, None)
    if verdict == "deny":
        return Finding(
            "denies", OK, f"{name}: a call without its command is denied, as {one.agent.title} understands it"
        )
    return Finding(
        "denies",
        PROBLEM,
        f"{name}: a call without its command was not denied: {_GOT[verdict]} (exit code {answer.reply.exit})",
    )


def _loose(path: Path) -> Path | None:
    """The file or the folder on its way that others can write; a sticky folder like /tmp lets nobody replace our own."""
    for place in (path, *path.parents):
        found = place.stat()
        sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
        if found.st_uid not in (0, os.getuid()) or (found.st_mode & 0o022 and not sticky):
            return place
    return None


def _folder(one: Hooked) -> Path:
    return one.project if one.project.is_dir() else Path("/")
