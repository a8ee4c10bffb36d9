"""No daemon answers: start one, detached, with an environment and a log of its own, and wait until it does."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from interlock.config import Config
from interlock.doors.client import NoDaemon

PATIENCE = 30.0  # seconds
LOG = "daemon.log"
# What a daemon may know of whoever started it: nothing that could change what it decides.
_KEPT = (
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TZ",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
)


async def start_daemon(config: Config, config_path: Path | None) -> None:
    """Returns when it answers; raises NoDaemon with the log's place when it does not."""
    process = _spawned(config, config_path)
    end = asyncio.get_running_loop().time() + PATIENCE
    while asyncio.get_running_loop().time() < end:
        if _answers(config.agents_socket):
            return
        if process.poll() is not None and not _answers(config.agents_socket):  # another one may have been faster
            await asyncio.sleep(0.2)
            if not _answers(config.agents_socket):
                break
        await asyncio.sleep(0.05)
    else:
        process.terminate()
    raise NoDaemon(f"no daemon answers on {config.agents_socket}, and none could be started; see {config.folder / LOG}")


def _spawned(config: Config, config_path: Path | None) -> subprocess.Popen[bytes]:
    config.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    words = ["--config", str(config_path.absolute())] if config_path is not None else []
    log = os.open(config.folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-m", "interlock", "serve", *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment(os.environ),
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise NoDaemon(f"no daemon could be started: {error.strerror}") from None
    finally:
        os.close(log)


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What is passed on."""
    return {key: environ[key] for key in _KEPT if key in environ}


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
