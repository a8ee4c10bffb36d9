"""Adapter files on disk -> what is served: read again when they change, and the last good one is kept when they break."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from interlock.adapters import Adapter, read_file
from interlock.adapters.form import RESERVED
from interlock.core.trust import Trust
from interlock.doors.adapter.calls import CannotServe, Service
from interlock.doors.adapter.offering import row_of
from interlock.doors.adapter.template import TemplateError

Signature = tuple[int, int, int]  # when it was written, how long it is, which file it is


@dataclass(frozen=True, slots=True)
class Served:
    """One adapter that is served."""

    path: Path
    adapter: Adapter
    service: Service
    mark: str  # the file's hash
    signature: Signature
    problem: str = ""  # why the file as it is now is not what is served

    @property
    def name(self) -> str:
        return self.adapter.name


def read(path: Path) -> Served:
    """The adapter in a file; raises CannotServe with everything that is wrong with it."""
    try:
        signature = _signature(path)
        reading = read_file(path)
    except OSError as error:
        raise CannotServe(f"{path}: {error.strerror or 'cannot be read'}") from None
    if reading.adapter is None or not reading.usable:
        errors = [f"{path}:{problem.line}: {problem.message}" for problem in reading.problems if problem.error]
        raise CannotServe("\n".join(errors))
    try:
        service = Service.of(reading.adapter)
    except (CannotServe, TemplateError) as error:
        raise CannotServe(f"{path}: {error}") from None
    if taken := sorted(set(service.calls) & set(RESERVED)):
        raise CannotServe(f"{path}: the name {taken[0]!r} is the loop's own")
    for call in service.calls.values():  # what contradicts itself is found now, not by the first call
        row_of(call, Trust.UNTESTED, lambda name, category: None)
    return Served(path, reading.adapter, service, reading.mark, signature)


class Shelf:
    """The files that are served, in their order."""

    def __init__(self, paths: Iterable[Path], say: Callable[[str], None] = lambda words: None) -> None:
        self._say, self._lock = say, threading.Lock()
        self._served = [read(path) for path in paths]
        names = [one.name for one in self._served]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise CannotServe(f"adapter {twice[0]!r} is in two files; names have to be unique")

    def look(self) -> list[Served]:
        """What is served now; a file that changed is read again."""
        with self._lock:
            self._served = [self._again(one) for one in self._served]
            return list(self._served)

    def _again(self, one: Served) -> Served:
        try:
            signature = _signature(one.path)
        except OSError as error:
            return self._kept(one, f"{one.path}: {error.strerror or 'cannot be read'}", (0, 0, 0))
        if signature == one.signature:
            return one
        try:
            found = read(one.path)
        except CannotServe as error:
            return self._kept(one, str(error), signature)
        if found.name != one.name:
            return self._kept(one, f"{one.path}: the adapter's name changed; start the server again", signature)
        if found.mark != one.mark:
            self._say(f"{one.path}: read again")
        return found

    def _kept(self, one: Served, problem: str, signature: Signature) -> Served:
        if problem != one.problem:
            self._say(f"{problem}\nThe version before it is served on.")
        return replace(one, problem=problem, signature=signature)


def _signature(path: Path) -> Signature:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size, found.st_ino
