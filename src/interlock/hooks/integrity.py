"""Compares the files that install the hooks with their last state around every call, and finds settings that switch hooks off."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from msgspec import Struct, field

from interlock.agents import CLIENT, ROUTE, SCOPES, AgentDialect
from interlock.agents import agent as agent_of
from interlock.identity import home_of
from interlock.impact.files import read_bytes

MOST = 2_000  # files
MOST_BYTES = 4 << 20
Stat = tuple[int, int, int, int]
GONE: Stat = (0, 0, 0, 0)


class WatchedFile(Struct):
    stat: Stat  # at the last check
    digest: str
    ours: bool  # whether our hook is in it


class HookFiles(Struct):
    """The watched files by path; used on the event loop only."""

    files: dict[str, WatchedFile] = field(default_factory=dict)
    own: tuple[str, ...] = ()  # those that run our hook, with their real paths

    def watch(self, paths: Iterable[str]) -> None:
        for path in paths:
            if path not in self.files:
                self._change(path, None)

    def changes(self, paths: Iterable[str]) -> list[str]:
        """The changes since the last check, in words; the first check sets the baseline."""
        found = []
        for path in paths:
            known = self.files.get(path)
            # `access` says that a file is still missing, without the price of an exception
            if known is None or (os.access(path, os.F_OK) if known.stat is GONE else _stat(path) != known.stat):
                found.append(self._change(path, known))
        return list(filter(None, found))

    def _change(self, path: str, known: WatchedFile | None) -> str:
        stat = _stat(path)
        data = read_bytes(path, MOST_BYTES)
        digest = hashlib.sha256(data).hexdigest() if data is not None else ""
        ours = data is not None and (CLIENT.encode() in data or ROUTE.encode() in data)
        if known is None and len(self.files) >= MOST:
            return ""
        self.files[path] = WatchedFile(stat, digest, ours)
        before = known is not None and known.ours
        if ours or before:
            calling = [one for one, watched in self.files.items() if watched.ours]
            self.own = tuple(sorted({*calling, *map(os.path.realpath, calling)}))
        if known is None or known.digest == digest or not (before or ours):
            return ""
        if not ours:
            return f"{path} no longer runs Interlock's hook"
        return f"{path} was changed; Interlock's hook is {'still ' if before else ''}in it"


@lru_cache(maxsize=256)
def hook_paths(word: str, principal: str, cwd: str) -> tuple[str, ...]:
    """Files that can install an agent's hooks for a call in this folder."""
    home = Path(home_of(principal))
    project = Path(cwd) if cwd.startswith("/") else home
    places = (str(place.path) for scope in SCOPES for place in agent_of(word).places(scope, home, project))
    return tuple(dict.fromkeys(path for path in places if "\0" not in path))  # no file has such a name


def _stat(path: str) -> Stat:
    try:
        found = os.stat(path)
    except OSError:
        return GONE
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns ^ found.st_ctime_ns


def disabling_settings(agent: AgentDialect, principal: str, cwd: str) -> list[str]:
    home = Path(home_of(principal))
    return agent.disablers(home, Path(cwd) if cwd.startswith("/") else home)
