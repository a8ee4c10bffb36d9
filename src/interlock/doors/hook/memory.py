"""What the daemon remembers about hooks between two of them; bounded, and gone with it unless said otherwise."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from interlock.core.separate import SeparateSettings
from interlock.doors.hook.coverage import Coverage
from interlock.doors.hook.late import Late
from interlock.doors.hook.made import MadeThings
from interlock.doors.hook.sharing import Shared
from interlock.doors.hook.transcript import Transcripts
from interlock.doors.hook.watching import HookFiles
from interlock.doors.hook.written import WrittenFiles

V = TypeVar("V")
MOST = 5_000


class Recent(Generic[V]):
    """So many entries; the oldest go first. Threads of the pool use it, too."""

    def __init__(self, most: int = MOST) -> None:
        self._entries: OrderedDict[str, V] = OrderedDict()
        self._most = most
        self._lock = threading.Lock()

    def put(self, key: str, value: V) -> None:
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            if len(self._entries) > self._most:
                self._entries.popitem(last=False)

    def take(self, *keys: str) -> V | None:
        """Removes all of these; the first one that was there."""
        with self._lock:
            found = [self._entries.pop(key, None) for key in keys]
        return next((one for one in found if one is not None), None)

    def get(self, key: str) -> V | None:
        return self._entries.get(key)

    def new(self, key: str, value: V) -> bool:
        """Puts it; False where the key was there."""
        with self._lock:
            if key in self._entries:
                return False
            self._entries[key] = value
            return True

    def __contains__(self, key: str) -> bool:
        return key in self._entries


@dataclass(frozen=True, slots=True)
class Passed:
    """A call that was let through: on which ticket, which scripts were read for it, and which snapshot was taken first."""

    ticket: str = ""
    level: int = 0
    scripts: Mapping[str, str] = field(default_factory=dict)  # path -> hash
    kept: str = ""


@dataclass(slots=True)
class Hooks:
    """Built once for an app; what has no lock of its own is used on the event loop alone."""

    coverage: Coverage = field(default_factory=Coverage)
    files: HookFiles = field(default_factory=HookFiles)
    shared: Shared = field(default_factory=Shared)
    late: Late = field(default_factory=Late)
    transcripts: Transcripts = field(default_factory=Transcripts)
    written: WrittenFiles = field(default_factory=WrittenFiles)
    made: MadeThings = field(default_factory=MadeThings)  # by session
    passed: Recent[Passed] = field(default_factory=Recent)  # by call
    asked: Recent[str] = field(default_factory=Recent)  # call -> ticket that the client's user is asked about
    deferred: Recent[str] = field(default_factory=Recent)  # call -> ticket that the event which follows asks about
    denied: Recent[str] = field(default_factory=Recent)  # call -> why
    second: Recent[bool] = field(default_factory=Recent)  # sessions that are known to send the event that can ask
    said: Recent[bool] = field(default_factory=Recent)  # alerts that were raised
    separate: SeparateSettings = field(default_factory=SeparateSettings)
    looked: float = 0.0  # when the journal was looked for
