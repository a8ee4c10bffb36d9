"""Builds the program that hooks call: compiled where there is a C compiler, else a script around the Python client."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from interlock.agents import CLIENT, STATUS_LINE, AgentDialect, HookClient, words
from interlock.agents import agent as agent_of
from interlock.config import Config, load_config

SPARE = 2.0  # seconds of an agent's limit reserved for the fallback
GRACE = 1.5  # seconds of these for the fallback itself
BUSY = 10.0  # seconds for the daemon beyond the wait for an operator
SILENCE = "Denied: Interlock did not answer. Nothing was judged, and silence is not consent; tell the user."
# It judges one call and ends: looking for garbage would take a tenth of that.
_FALLBACK = "import gc; gc.disable(); from interlock.engine.fallback import main; main()"
_SOURCE = Path(__file__).with_name("client.c")
_PLAIN = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/ .,:-_{}"


class CannotBuild(Exception):
    """The client could not be written; the message is a sentence for a person."""


def client_path(config: Config) -> str:
    return str(Path(config.separate.code or config.folder.absolute(), "bin", CLIENT))


def build(config: Config) -> HookClient:
    """One client serves every agent; refuses an unwritable folder."""
    mode, path = 0o755 if config.separate.code else 0o700, Path(client_path(config))
    place = path.parent
    try:
        place.mkdir(mode=mode, parents=True, exist_ok=True)
        place.chmod(mode)
        with tempfile.TemporaryDirectory(dir=place) as work:
            new = Path(work) / CLIENT
            if not _compile(new, config):
                new.write_text(_script(config), "utf-8")
            new.chmod(mode)
            new.replace(path)
    except OSError as error:
        raise CannotBuild(f"{path}: {error.strerror or error}") from None
    return HookClient(str(path))


def is_compiled(client: HookClient) -> bool:
    try:
        with Path(client.path).open("rb") as file:
            return file.read(2) != b"#!"
    except OSError:
        return False


def limit_of(word: str, config: Config) -> float:
    return min(agent_of(word).limit_seconds - SPARE, config.hooks.wait_seconds + BUSY)


def fallback_argv(config: Config) -> list[str]:
    where = [str(config.folder.absolute()), os.path.abspath(config.path) if config.path else ""]
    return [sys.executable, "-I", "-c", _FALLBACK, *where]


def _compile(to: Path, config: Config) -> bool:
    from interlock.journal.build import compile_static  # of the journal, which no hook needs

    if sys.platform != "linux":
        return False
    table = to.with_name("table.h")
    table.write_bytes(_table(config))
    try:
        compile_static(to, [_SOURCE], f'-DTABLE="{table}"')
    except (OSError, subprocess.TimeoutExpired):
        return False
    return True


def _table(config: Config) -> bytes:
    rows = [_row(word, config) for word in words()]
    argv = [_literal(os.fsencode(word)) for word in fallback_argv(config)]
    return b"".join(
        [
            b"#define SOCKET %s\n" % _literal(os.fsencode(config.agents_socket)),
            b"#define OWNER %dul\n" % owner_of(config),
            b"static const struct agent AGENTS[] = {\n%s\n};\n" % b",\n".join(rows),
            b"static const char *FALLBACK[] = {%s, 0, 0, 0};\n" % b", ".join(argv),
        ]
    )


def _row(word: str, config: Config) -> bytes:
    no = agent_of(word).broken(SILENCE)
    said = _literal(no.stdout), _literal(no.stderr)
    milliseconds = int(limit_of(word, config) * 1000), int(GRACE * 1000)
    return b"  {%s, %d, %d, %d, %s, %s}" % (_literal(word.encode()), *milliseconds, no.exit, *said)


def owner_of(config: Config) -> int:
    """The owner of the socket's folder, or under [separate] of the state."""
    try:
        return (config.folder if config.separate.on else config.agents_socket.parent).stat().st_uid
    except OSError:
        return os.getuid()


def _literal(text: bytes) -> bytes:
    if b"\0" in text:
        raise CannotBuild("a path with a NUL in it")
    return b'"%s"' % b"".join(bytes([c]) if c in _PLAIN else b"\\%03o" % c for c in text)


def _script(config: Config) -> str:
    python = shlex.quote(sys.executable)
    argv = shlex.join(["-I", "-m", "interlock.hooks.client", *fallback_argv(config)[4:]])
    return (
        "#!/bin/sh\n"
        f'[ $# -eq 2 ] && [ -x {python} ] || {{ echo "{CLIENT}: installed wrongly; run interlock doctor" >&2; exit 2; }}\n'
        f'/usr/bin/env -i ${{HOME:+"INTERLOCK_HOOK_HOME=$HOME"}} {python} {argv} "$1" "$2" && exit 0\n'
        "exit 2\n"
    )


class NoAddress(ValueError):
    """The agent or the daemon does not support HTTP hooks."""


def client_for(agent: AgentDialect, config: Config, http: bool) -> HookClient:
    status = shlex.join([sys.executable, "-I", "-m", STATUS_LINE, str(config.agents_socket)])
    client = HookClient(client_path(config), status=status)
    if not http:
        return client
    if not agent.posts:
        raise NoAddress(f"{agent.title} cannot post: its hooks are programs; leave --http out")
    if not config.daemon.port:
        raise NoAddress("daemon.port is 0, so the daemon's address changes with every start; give it a port of its own")
    host = f"[{config.daemon.host}]" if ":" in config.daemon.host else config.daemon.host
    return replace(client, url=f"http://{host}:{config.daemon.port}")


def main(argv: Sequence[str]) -> int:
    from interlock.journal import JournalError
    from interlock.journal.build import build_for

    config = load_config(Path(argv[0]), {})
    os.umask(0o022)
    try:
        build(config)
    except CannotBuild as error:
        print(error, file=sys.stderr)
        return 1
    with suppress(JournalError):  # doctor says so
        build_for(config)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
