"""Lists what of this machine is Interlock's own: its files wherever they are configured, its process, its port."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from interlock.config import SYSTEM_CONFIG, Config
from interlock.core.guarded import Guarded, Process
from interlock.policybook import files_of

_PACKAGES = frozenset({"site-packages", "dist-packages"})


def guarded_of(config: Config) -> Guarded:
    """What this process must be able to rely on, under each name and where links lead."""
    paths = [os.path.abspath(path) for path in _paths(config)]
    real = [os.path.realpath(path) for path in paths]
    ports = {config.port} if config.port else set()
    found = tuple(sorted({*paths, *real, f"/proc/{os.getpid()}"} - {"/"}))
    return Guarded(found, (_process(),), frozenset(ports))


def _paths(config: Config) -> Iterator[Path]:
    base = Path(config.path).parent if config.path else None
    yield config.folder
    yield config.socket_path
    yield config.agents_socket
    if config.path:
        yield Path(config.path)
    yield from files_of(config.policy, base)
    yield from config.rule_files
    for name in config.adapters:
        yield (base or Path()) / Path(name).expanduser()
    if config.separate.code:
        yield Path(config.separate.code)
    if SYSTEM_CONFIG.exists():
        yield SYSTEM_CONFIG.parent
    package = Path(__file__).resolve().parent.parent
    if package.parent.name in _PACKAGES:  # a checkout that is worked on is nobody's installation
        yield package


def _process() -> Process:
    pid = os.getpid()
    return Process(pid, os.getpgrp(), _read(f"/proc/{pid}/comm"), _read(f"/proc/{pid}/cmdline"))


def _read(path: str) -> str:
    try:
        text = Path(path).read_bytes()
    except OSError:
        return ""
    return text.decode("utf-8", "replace").rstrip("\n\0").replace("\0", " ")
