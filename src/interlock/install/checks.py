"""Checks of `doctor`: hooked files, clients, canaries, disabling settings, the fail mode; and who can change a separate daemon."""

from __future__ import annotations

import grp
import os
import pwd
import secrets
import shutil
import stat
import statistics
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from msgspec import Struct

from interlock.agents import HookClient
from interlock.agents.jsonc import EditError
from interlock.config import Config
from interlock.install.canary import (
    BROKEN,
    COMMAND,
    SESSION,
    DidNotFire,
    HookReply,
    canary,
    environment,
    fire,
    verdict_of,
)
from interlock.install.client_build import client_path, is_compiled
from interlock.install.discovery import Handler, HookedFile
from interlock.install.files import digest, find_registered
from interlock.install.system.code import why_writable, why_writable_inside
from interlock.journal.build import problem_of
from interlock.journal.undo import wrapping_problem

OK, NOTE, PROBLEM = "ok", "note", "problem"
TIMES = 5
_GOT = {
    "allow": "the agent would run it",
    "ask": "the agent would ask its user",
    "deny": "it was denied",
    BROKEN: "the answer is none that this agent knows",
}
_AGAIN = "run `interlock install` again"

Call = Callable[[str | None], tuple[str, HookReply]]


class Check(Struct, frozen=True):
    what: str
    state: str  # ok | note | problem
    words: str
    milliseconds: float | None = None


def check_hooks(one: HookedFile, config: Config, home: Path) -> Iterator[Check]:
    if one.problem:
        yield Check("file", PROBLEM, one.problem)
    else:
        yield Check("file", *_file(one, config))
        if one.client is not None:
            yield Check("client", *_client(one.client, config))
        if is_trusted(one, config):
            yield from _canaries(one, agents_user(config))
        else:
            words = "not tried: what is in the file is not what install writes, and could be anything"
            yield Check("fires", PROBLEM, words)
    for words in one.agent.disablers(home, one.project):
        yield Check("switched off", PROBLEM, words)
    if one.place.note:
        yield Check("to do", NOTE, one.place.note)


def check_journal(config: Config) -> Check:
    why = problem_of(config)
    return Check("journal", NOTE, f"no journal: {why}") if why else Check("journal", OK, "keeps what commands change")


def check_wrapping(config: Config) -> Check:
    why = wrapping_problem(config)
    if config.undo.wrap:
        words = f"undo.wrap is on, but calls are judged without the journal: {why}"
        return Check("wrapped calls", NOTE, words) if why else Check("wrapped calls", OK, "run, and can be undone")
    words = f"they cannot be used: {why}" if why else "they could be used: `interlock install` sets undo.wrap"
    return Check("wrapped calls", NOTE, words)


def is_trusted(one: HookedFile, config: Config) -> bool:
    """Else doctor could be made to run another program."""
    client = one.client
    return client is not None and _whole(one, client) and (bool(client.url) or client.path == client_path(config))


def _whole(one: HookedFile, client: HookClient) -> bool:
    try:
        return one.agent.installed(one.place, one.text, client) == one.text
    except EditError:
        return False


def canary_calls(one: HookedFile, user: pwd.struct_passwd | None = None) -> Iterator[tuple[str, Call]]:
    for handler in one.handlers:
        if canary(one.agent.word, handler.event, COMMAND, str(one.project)) is not None:
            yield handler.event or "plugin", partial(_fire_canary, one, handler, user)


def agents_user(config: Config) -> pwd.struct_passwd | None:
    """Whose call root tries: a separate daemon guards the listed users, and root is none of them."""
    if os.geteuid() != 0 or not config.separate.on:
        return None
    return next((one for one in pwd.getpwall() if one.pw_name in config.separate.users), None)


def _fire_canary(
    one: HookedFile, handler: Handler, user: pwd.struct_passwd | None, command: str | None
) -> tuple[str, HookReply]:
    """The verdict in a new session; without a command, on a malformed call."""
    cwd = Path(user.pw_dir) if user else one.project
    cwd = cwd if cwd.is_dir() else Path("/")
    payload = canary(one.agent.word, handler.event, command, str(cwd), f"{SESSION}-{secrets.token_hex(4)}")
    assert payload is not None
    decoded = one.agent.decode(payload, handler.event)
    answer = fire(one.agent, handler, payload, cwd, environment(one.agent.word, str(cwd)), user)
    return verdict_of(one.agent, decoded, answer.reply), answer


def lost_hooks(one: HookedFile) -> str:
    """Empty where all are as install writes them."""
    client = one.client
    if client is None:
        return f"its hooks do not all call the same client; {_AGAIN}"
    return "" if _whole(one, client) else f"hooks are missing or changed; {_AGAIN}"


def _file(one: HookedFile, config: Config) -> tuple[str, str]:
    entry = find_registered(config, one.place.path)
    if words := lost_hooks(one):
        state = PROBLEM
    elif entry is None:
        state, words = NOTE, "the hooks are whole, but this installation did not write them"
    elif digest(one.text.encode()) != entry.written:
        state, words = NOTE, "the hooks are whole; something else in the file changed since"
    else:
        state, words = OK, "as it was written"
    return state, f"{one.place.path}: {words}"


def _client(client: HookClient, config: Config) -> tuple[str, str]:
    path, expected = client.path, client_path(config)
    if client.url:
        return NOTE, f"posts to {client.url}: a stopped daemon blocks everything, and the port can be squatted"
    if not (Path(path).is_file() and os.access(path, os.X_OK)):
        return PROBLEM, f"{path} cannot be run, so every call is blocked; {_AGAIN}"
    if loose := _writable_by_others(Path(path)):
        return PROBLEM, f"{loose} can be written by others, who could put another program there"
    if path != expected:
        return PROBLEM, f"{path} is not this installation's client, {expected}; {_AGAIN}"
    if is_compiled(client):
        return OK, f"{path}, compiled"
    return NOTE, f"{path} is a Python script, slower by tens of milliseconds: install a C compiler and {_AGAIN}"


def _canaries(one: HookedFile, user: pwd.struct_passwd | None) -> Iterator[Check]:
    found = list(canary_calls(one, user))
    if not found and one.place.form != "script":  # scripts have one file for each event
        yield Check("fires", PROBLEM, f"nothing here is asked before {one.agent.title} runs a command; {_AGAIN}")
    for name, call in found:
        try:
            yield _check_allows(call, name)
            yield _check_denies(call, name, one.agent.title)
        except DidNotFire as error:
            yield Check("fires", PROBLEM, f"{name}: {error}")


def _check_allows(call: Call, name: str) -> Check:
    took = []
    for _ in range(TIMES):
        verdict, answer = call(COMMAND)
        took.append(answer.milliseconds)
        if verdict != "allow":
            said = " ".join((answer.reply.stderr or answer.reply.stdout).decode("utf-8", "replace").split())[:200]
            words = f"{name}: `{COMMAND}` was not allowed: {_GOT[verdict]} (exit code {answer.reply.exit}): {said}"
            return Check("allows", PROBLEM, words.rstrip(": "))
    middle = statistics.median(took)
    return Check("allows", OK, f"{name}: `{COMMAND}` is allowed, in {middle:.1f} ms (median of {TIMES})", middle)


def _check_denies(call: Call, name: str, title: str) -> Check:
    verdict, answer = call(None)
    if verdict == "deny":
        return Check("denies", OK, f"{name}: a call without its command is denied, as {title} understands it")
    got = f"{_GOT[verdict]} (exit code {answer.reply.exit})"
    return Check("denies", PROBLEM, f"{name}: a call without its command was not denied: {got}")


def _writable_by_others(path: Path) -> Path | None:
    """Itself or a folder above it, except sticky ones like /tmp."""
    for place in (path, *path.parents):
        found = place.stat()
        sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
        if found.st_uid not in (0, os.getuid()) or (found.st_mode & 0o022 and not sticky):
            return place
    return None


# Of level 3; nothing runs, and no ticket is opened without a daemon.
DESTRUCTIVE = "git push --force origin interlock-canary"
_ASIDE = ".put-aside-by-doctor"


def check_without_daemon(one: HookedFile, config: Config) -> Iterator[Check]:
    """One dangerous and one harmless call of every gating event."""
    if not is_trusted(one, config):
        return
    with _silent(config.agents_socket):
        for name, call in canary_calls(one, agents_user(config)):
            try:
                if (verdict := call(DESTRUCTIVE)[0]) == "deny":
                    yield Check("daemon down", OK, f"{name}: fails closed, `{DESTRUCTIVE}` is denied")
                else:
                    words = f"{name}: fails open, `{DESTRUCTIVE}` was not denied but {verdict}"
                    yield Check("daemon down", PROBLEM, words)
                verdict = call(COMMAND)[0]
                words = f"{name}: `{COMMAND}` gets {verdict} ({fail_mode(config)})"
                yield Check("daemon down", OK if verdict == "allow" else NOTE, words)
            except DidNotFire as error:
                yield Check("daemon down", PROBLEM, f"{name}: {error}")


def fail_mode(config: Config) -> str:
    level = config.hooks.without_daemon
    if level == "none" or config.separate.on:
        return "nothing passes"
    return f"up to level {level} passes, the rest is denied"


@contextmanager
def _silent(socket: Path) -> Iterator[None]:
    aside = socket.with_name(socket.name + _ASIDE)
    try:
        socket.rename(aside)
    except FileNotFoundError:  # the daemon is down already
        yield
        return
    try:
        yield
    finally:
        aside.rename(socket)


# Members of these groups can become root, or read what root reads.
_MIGHTY = frozenset({"sudo", "wheel", "admin", "docker", "lxd", "libvirt", "disk", "shadow", "root", "interlock"})


def check_separation(config: Config) -> Iterator[Check]:
    if not config.separate.on:
        return
    for place in (Path(config.separate.code or "/"), Path(config.path)):
        why = why_writable(place) or (why_writable_inside(place) if place.is_dir() and place != Path("/") else "")
        yield Check("separate", PROBLEM if why else OK, why or f"{place}: only root can change it")
    for state, words in (_state(config.folder), *(found for name in config.separate.users for found in _user(name))):
        yield Check("separate", state, words)


def _state(folder: Path) -> tuple[str, str]:
    try:
        found = folder.stat()
    except OSError as error:
        return PROBLEM, f"{folder}: {error.strerror}"
    if stat.S_IMODE(found.st_mode) & 0o077:
        return PROBLEM, f"{folder} is open to others; chmod 700 it"
    return OK, f"{folder}: for user {found.st_uid} alone"


def _user(name: str) -> Iterator[tuple[str, str]]:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        yield PROBLEM, f"separate.users: there is no user {name!r}"
        return
    own = set(os.getgrouplist(name, entry.pw_gid))
    if mighty := sorted(one.gr_name for one in grp.getgrall() if one.gr_gid in own and one.gr_name in _MIGHTY):
        words = f"{name} is in the group {mighty[0]}: its members can become root, or read what only the daemon may"
        yield NOTE if mighty[0] in ("sudo", "wheel", "admin") else PROBLEM, words
    sudo = shutil.which("sudo", path="/usr/bin:/bin:/usr/local/bin") if os.geteuid() == 0 else None
    if sudo is None:
        return
    done = subprocess.run([sudo, "-n", "-l", "-U", name], capture_output=True, text=True, timeout=20)
    if "NOPASSWD" in done.stdout:
        yield PROBLEM, f"{name} becomes root by sudo without a password, and so does every agent of theirs"
