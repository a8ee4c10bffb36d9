"""Runs the daemon on a loopback port and a unix socket, its start and stop on record, its log as JSON lines."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
import uvloop

from interlock.config import Config
from interlock.identity import make_undumpable
from interlock.identity.agent_detection import agent_above
from interlock.identity.isolation import PLAIN, SEPARATE
from interlock.impact.files import read_text
from interlock.maintenance import Maintenance, sign_record
from interlock.notify.channels import open_builtin_channels, open_configured_channels, open_implied_channel
from interlock.notify.outbox import Outbox
from interlock.plans.planner_choice import PlannerOffer, listener_at
from interlock.plans.planners import open_planner
from interlock.plans.running import stop_all
from interlock.ports import PlannerError, StoreError
from interlock.redaction import redact_text
from interlock.runtime.state import State, SystemClock
from interlock.server.app import DaemonApp, build
from interlock.server.otel import NoTelemetry, export_figures
from interlock.server.protocol import PeerProtocol
from interlock.socket_peers import LoopbackPeers
from interlock.startup import open_state, open_store, record_start
from interlock.times import iso
from interlock.web.sockets import CannotServe, open_sockets

LOG = logging.getLogger("interlock")
SWITCH = 0.001  # seconds that a long evaluation in the pool may delay the event loop
GRACE = 10  # seconds for requests to end at a stop
MOST_FILES = 65_536  # files open at once, where the system permits


class DaemonServer(uvicorn.Server):
    """uvicorn without a tick, which ends on a signal and wakes waiting requests first."""

    def __init__(self, config: uvicorn.Config, app: DaemonApp, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.app, self.ready = app, ready
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = asyncio.Event()

    async def main_loop(self) -> None:
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
        # nohup is for the daemon: the commands it runs end with it
        if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
            before[signal.SIGHUP] = signal.signal(signal.SIGHUP, lambda *_: None)
        try:
            yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self.app.stop()
        await super().shutdown(sockets)


def serve(
    config: Config, version: str, ready: Callable[[State, int], None], given: Sequence[socket.socket] = ()
) -> None:
    """Runs until a signal; calls `ready` with the port; `given` are inherited sockets. Raises CannotServe."""
    make_undumpable()
    _raise_file_limit()
    with contextlib.ExitStack() as ending:
        try:
            store = open_store(config.store)
            ending.callback(_attempt, store.close)
            strength = SEPARATE if config.separate.on else PLAIN
            channels, missing = open_builtin_channels(config.channels.dialog, os.environ, agent_above(os.getpid()))
            for words in missing:
                LOG.warning(words)
            state = open_state(config, store, SystemClock(), channels, strength)
            ending.enter_context(export_figures(state, config.telemetry, version))
            places = open_sockets(config, given)
            ending.callback(places.close)
            state.jails.load(config.folder)
            _plans(config, state)
            state.publish_blocks()
            record_start(state, version)
        except StoreError as error:
            hint = "; `interlock status` asks the daemon that runs" if "is in use by process" in str(error) else ""
            raise CannotServe(f"the store cannot be used: {error}{hint}") from None
        except NoTelemetry as error:
            raise CannotServe(str(error)) from None
        number = int(places.port.getsockname()[1])
        app = build(state, config, version)
        app.context.port = number
        state.outbox = _outbox(config, state, app)
        sys.setswitchinterval(SWITCH)
        gc.freeze()  # rules and modules live as long as the daemon: exempt from garbage collection
        _run(config, state, app, places.all, lambda: ready(state, number))


def _run(config: Config, state: State, app: DaemonApp, sockets: list[socket.socket], ready: Callable[[], None]) -> None:
    upkeep = Maintenance(state, config.audit)
    settings = uvicorn.Config(
        app,
        http=partial(PeerProtocol, LoopbackPeers()),  # type: ignore[arg-type]
        loop="uvloop",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # peers are identified by the kernel only
        server_header=False,
        date_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=GRACE,
    )
    if state.outbox is not None:
        state.outbox.start()
    upkeep.start()
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(DaemonServer(settings, app, ready).serve(sockets))
    finally:
        stop_all(state)  # 0. running plans end
        app.close()  # 1. running work completes
        if state.outbox is not None:
            state.outbox.stop()
        upkeep.stop()  # 2. allowed actions are written
        _attempt(state.recorder.event_alone, "stop", "interlock", {})  # 3. the stop is recorded
        _attempt(sign_record, state)  # 4. a checkpoint is signed


def _attempt(work: Callable[..., Any], *given: Any) -> None:
    try:
        work(*given)
    except StoreError as error:
        LOG.error("at the end: %s", error)


def _raise_file_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _plans(config: Config, state: State) -> None:
    if config.planner.open:
        state.plans.offer = PlannerOffer(config.planner, lambda chosen: open_planner(chosen, os.environ), listener_at)
    else:
        try:
            state.plans.planner = open_planner(config.planner, os.environ)
        except PlannerError as error:
            LOG.warning("%s", error)
    state.plans.files = None if config.separate.on else read_text  # another user's scripts are not read as this user


def _outbox(config: Config, state: State, app: DaemonApp) -> Outbox:
    """Channel secrets are read here and nowhere else."""
    folder = Path(config.path).parent if config.path else Path.cwd()
    opened = open_configured_channels(config.channels.send, folder, os.environ, agent_above(os.getpid()))
    opened += open_implied_channel(config.channels, os.environ)
    return Outbox(state, opened, lambda: app.context.address, bool(config.console.public_url))


class JsonLineFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, object] = {
            "at": iso(record.created),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": redact_text(record.getMessage()),
        }
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            said["error"] = redact_text(f"{type(error).__name__}: {error}")
            said["where"] = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-8:]]
        return json.dumps(said, ensure_ascii=True)


def log_to_stderr(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLineFormatter())
    for name, least in (("interlock", level), ("uvicorn.error", "warning"), ("opentelemetry", "warning")):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(least.upper())
        logger.propagate = False
    logging.getLogger().setLevel("WARNING")
