"""The daemon: one process on a loopback port and a unix socket, from the first record to the last."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import logging
import os
import resource
import signal
import socket
import stat
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
import uvloop

from interlock.channels import open_channels
from interlock.config import Config
from interlock.doors.hook.undumpable import undumpable
from interlock.doors.http.app import Door, build
from interlock.doors.http.protocol import PeerProtocol
from interlock.doors.otel import NoTelemetry, telling
from interlock.ports import Channel, Store, StoreError
from interlock.service.clock import SystemClock
from interlock.service.opening import open_state, record_start
from interlock.service.record import deed
from interlock.service.state import State
from interlock.service.upkeep import Upkeep, sign_record
from interlock.stores import open_store
from interlock.terminal.agents import agent_above

LOG = logging.getLogger("interlock")
GRACE = 10  # seconds that requests have to end once it stops
MOST_FILES = 65_536  # connections and databases that are open at once, where the system lets it


class CannotServe(Exception):
    """The daemon does not start; the message is a sentence for a person."""


class Daemon(uvicorn.Server):
    """uvicorn that sleeps until there is something to do, ends by itself on a signal, and wakes those who wait before it does."""

    def __init__(self, config: uvicorn.Config, door: Door, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.door, self.ready = door, ready
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = asyncio.Event()

    async def main_loop(self) -> None:
        """Until a signal; there is no date in the headers, so that nothing has to be done ten times a second."""
        self._loop = asyncio.get_running_loop()
        if not await self.on_tick(0):
            await self._ending.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._ending.set)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        before = {sig: signal.signal(sig, self.handle_exit) for sig in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self.door.stop()
        await super().shutdown(sockets)


def serve(config: Config, version: str, ready: Callable[[State, int], None]) -> None:
    """Runs until a signal; `ready` hears the port. Raises CannotServe."""
    undumpable()
    _more_files()
    store = _store(config)
    with contextlib.ExitStack() as ending:
        ending.callback(_quietly, store.close)
        try:
            state = open_state(config, store, SystemClock(), _channels(config))
            ending.enter_context(telling(state, config.telemetry, version))
            port = _listening(config)
            ending.callback(port.close)
            here = _unix(config.socket_path)
            ending.callback(_remove, config.socket_path, here)
            record_start(state, version)
        except StoreError as error:
            raise CannotServe(f"the store cannot be used: {error}") from None
        except NoTelemetry as error:
            raise CannotServe(str(error)) from None
        number = int(port.getsockname()[1])
        door = build(state, config, version)
        gc.freeze()  # rules and modules stay as long as the daemon: nobody has to look through them for garbage
        _run(config, state, door, [port, here], lambda: ready(state, number))


def _run(config: Config, state: State, door: Door, sockets: list[socket.socket], ready: Callable[[], None]) -> None:
    upkeep = Upkeep(
        state, config.audit.checkpoint_minutes * 60, config.audit.keep_days, config.audit.expired_share_alert
    )
    settings = uvicorn.Config(
        door,
        http=PeerProtocol,
        loop="uvloop",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # nobody but the kernel says who is there
        server_header=False,
        date_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=GRACE,
    )
    upkeep.start()
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(Daemon(settings, door, ready).serve(sockets))
    finally:
        door.close()  # 1. what was begun is done
        upkeep.stop()  # 2. what was allowed is written
        _quietly(_record_stop, state)  # 3. that it stopped, and a signature over it all


def _record_stop(state: State) -> None:
    body = deed(state.clock.now(), "stop", "interlock")
    state.store.write(lambda tx: state.recorder.now(tx, "stop", body))
    sign_record(state)


def _quietly(work: Callable[..., Any], *given: Any) -> None:
    """Ends what can be ended; a store that is gone is said, not raised."""
    try:
        work(*given)
    except StoreError as error:
        LOG.error("at the end: %s", error)


def _more_files() -> None:
    """As many as the system lets it have: connections that do nothing must not keep a person out."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _store(config: Config) -> Store:
    try:
        return open_store(config.store)
    except StoreError as error:
        hint = "; `interlock status` asks the daemon that runs" if "is in use by process" in str(error) else ""
        raise CannotServe(f"the store cannot be used: {error}{hint}") from None


def _channels(config: Config) -> list[Channel]:
    """The ways to a person; what is configured and not there is said."""
    found, missing = open_channels(config.channels.dialog, os.environ, agent_above(os.getpid()))
    for words in missing:
        LOG.warning("%s", words)
    return found


def _listening(config: Config) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((config.host, config.port))
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise CannotServe(f"port {config.port} is taken; set daemon.port, or start with --port") from None
        raise CannotServe(f"{config.host}:{config.port}: {error.strerror}") from None
    return sock


def _unix(path: Path) -> socket.socket:
    """A socket that only its owner can use; what a daemon that died left behind is replaced, what answers is not."""
    if path.is_symlink() or path.exists():
        if path.is_symlink() or not stat.S_ISSOCK(path.stat().st_mode):
            raise CannotServe(f"{path} is no socket; move it away, or set daemon.socket")
        if _answers(path):
            raise CannotServe(f"another daemon answers on {path}")
        path.unlink()
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o077)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        sock.bind(str(path))
    except OSError as error:
        sock.close()
        raise CannotServe(f"{path}: {error.strerror or error}") from None
    finally:
        os.umask(mask)
    path.chmod(0o700)
    return sock


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # somebody holds it, however badly it answers
    return True


def _remove(path: Path, sock: socket.socket) -> None:
    sock.close()
    with contextlib.suppress(OSError):
        path.unlink()
