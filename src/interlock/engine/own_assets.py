"""Interlock's own files, process and port, under each of their names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from interlock.config import SYSTEM_CONFIG, Config
from interlock.policy.load import files_of
from interlock.policy.real_paths import OwnAssets, Process

_PACKAGES = frozenset({"site-packages", "dist-packages"})


def guarded_of(config: Config) -> OwnAssets:
    """Under each name, and where links lead."""
    paths, pid = [os.path.abspath(path) for path in _paths(config)], os.getpid()
    found = {*paths, *map(os.path.realpath, paths), f"/proc/{pid}"} - {"/"}
    process = Process(pid, os.getpgrp(), _read(f"/proc/{pid}/comm"), _read(f"/proc/{pid}/cmdline"))
    return OwnAssets(tuple(sorted(found)), (process,), frozenset({config.daemon.port} - {0}))


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
    if package.parent.name in _PACKAGES:  # a development checkout is no installation
        yield package


def _read(path: str) -> str:
    try:
        text = Path(path).read_bytes()
    except OSError:
        return ""
    return text.decode("utf-8", "replace").rstrip("\n\0").replace("\0", " ")
