"""The project files that count for a call: found with the rights of the user who asks, and remembered for some seconds."""

from __future__ import annotations

import json
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from interlock.core.project import MOST, NAME, ProjectFile
from interlock.core.separate import SeparateSettings
from interlock.looker.asking import CannotLook, ask_as
from interlock.looker.project import DEEPEST, find

SECONDS = 5.0  # that what was found counts, so that the event loop never waits for a disk
PATIENCE = 3.0  # seconds for a helper
KEPT = 1_000  # folders
Files = tuple[ProjectFile, ...]
Find = Callable[[str], Files]


class NotKnown(Exception):
    """It has to be looked for, which the event loop does not do."""


@dataclass(slots=True)
class Projects:
    """One for a daemon."""

    separate: SeparateSettings
    found: OrderedDict[tuple[str, str], tuple[float, Files]] = field(default_factory=OrderedDict)
    clock: Callable[[], float] = time.monotonic

    def finder(self, principal: str) -> Find | None:
        """Looks where that is due; None for whoever is not on this machine, or cannot be looked for."""
        number = principal.removeprefix("uid:")
        if not principal.startswith("uid:") or not number.isdigit():
            return None
        if int(number) == os.getuid():
            return partial(self._look, principal, find)
        if self.separate.on and self.separate.looker:
            return partial(self._look, principal, partial(_find_as, self.separate.looker, int(number)))
        return None

    def known(self, principal: str) -> Find:
        """What was found a moment ago; raises NotKnown."""
        return partial(self._remembered, principal)

    def _remembered(self, principal: str, cwd: str) -> Files:
        at, files = self.found.get((principal, cwd), (-SECONDS, ()))
        if self.clock() - at >= SECONDS:
            raise NotKnown(cwd)
        return files

    def _look(self, principal: str, look: Find, cwd: str) -> Files:
        files = look(cwd)
        self.found[principal, cwd] = self.clock(), files
        while len(self.found) > KEPT:
            self.found.popitem(last=False)
        return files


def _find_as(place: str, uid: int, cwd: str) -> Files:
    """The same as another user; what nobody could look for may be there."""
    try:
        told = json.loads(ask_as(place, uid, "project", {"cwd": cwd}, PATIENCE, DEEPEST * (MOST * 6 + 8_192)))
        return tuple(ProjectFile(*map(str, one)) for one in told)
    except (CannotLook, ValueError, TypeError) as error:
        return (ProjectFile(os.path.join(cwd, NAME), problem=f"it could not be looked for: {error}"[:200]),)
