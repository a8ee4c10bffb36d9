"""Reads scripts and project files, inspects targets and takes snapshots with the rights of the agent's user; no answer is never a yes."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from interlock.analysis.shell import MAX_SCRIPT
from interlock.config.settings import SeparateSettings
from interlock.impact.files import DEEPEST, ProjectFileCache, ProjectFiles, find_project_files, read_text, real_paths
from interlock.model import Json
from interlock.policy.impact import Impact, impact_of
from interlock.policy.load import MOST, NAME, ProjectFile
from interlock.ports import Access, SnapshotTaker

REQUEST_SECONDS = 10.0
PATIENCE = 3.0  # seconds for a search
INSPECTION_SECONDS = 3.0  # more than an inspection's own limit
_MOST = MAX_SCRIPT * 6 + 4_096  # bytes


class HelperUnavailable(OSError):
    """The helper gave no clear answer: an action that depends on it must not pass."""


class UserHelper(Struct, frozen=True):
    """Each request raises HelperUnavailable where there is no clear answer."""

    place: str
    uid: int

    def ask(self, kind: str, question: Any, seconds: float, most: int = _MOST) -> Any:
        """None where there is nothing; an answer longer than `most` is none."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
                sock.settimeout(seconds)
                sock.connect(self.place)
                sock.sendall(json.dumps({"uid": self.uid, kind: question}).encode() + b"\n")
                answer = sock.makefile("rb").read(most)
        except OSError as error:
            raise HelperUnavailable(f"{self.place}: {error.strerror or error}") from None
        try:
            if answer.endswith(b"\n"):
                return json.loads(answer)
        except (ValueError, RecursionError):
            pass
        about = question if kind == "path" else "what is there"
        raise HelperUnavailable(f"{self.place}: no answer about {about!r:.200}")

    def read(self, path: str) -> str | None:
        text = self.ask("path", path, REQUEST_SECONDS)
        if not isinstance(text, str | None):
            raise HelperUnavailable(f"{self.place}: no answer about {path!r:.200}")
        return text

    def inspect(self, question: Json) -> Impact:
        """An unknown impact where there is no clear answer."""
        try:
            return impact_of(self.ask("look", dict(question), INSPECTION_SECONDS))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return Impact(problem="the inspection failed")

    def resolve(self, asked: Sequence[tuple[str, bool]]) -> list[str]:
        try:
            found = real_paths(asked, strict=True)
        except PermissionError:  # this user may not search a folder on the way
            found = self.ask("real", list(asked), REQUEST_SECONDS)
        if not isinstance(found, list) or len(found) != len(asked) or not all(isinstance(one, str) for one in found):
            raise HelperUnavailable(f"{self.place}: no answer about where paths lead")
        return found

    def find(self, cwd: str) -> ProjectFiles:
        """A failed search is a problem, since a file may be there."""
        try:
            rows = self.ask("project", {"cwd": cwd}, PATIENCE, DEEPEST * (MOST * 6 + 8_192))
            return tuple(ProjectFile(*map(str, one)) for one in rows)
        except (HelperUnavailable, ValueError, TypeError) as error:
            return (ProjectFile(os.path.join(cwd, NAME), problem=f"it could not be searched for: {error}"[:200]),)


def user_access(
    principal: str,
    separate: SeparateSettings,
    projects: ProjectFileCache,
    inspect: Callable[[Json], Impact] | None = None,
    snapshotter: SnapshotTaker | None = None,
    takers: Mapping[str, SnapshotTaker] = MappingProxyType({}),
    here: bool = False,
) -> Access:
    """The files of a principal's user: as this process's user, who has `inspect` and `snapshotter`, or by root's helper as that one.

    Without a helper, another user's files are nobody's here. A helper that does not answer raises, and that is a denial.
    `here` says that the principal is on this machine, whatever its name.
    """
    kind, _, number = principal.partition(":")
    if kind != "uid" or not number.isdigit():
        return Access(resolve=real_paths if here and not separate.on else None)
    uid = int(number)
    own = uid == os.getuid()
    taker = takers.get(principal, snapshotter if own else None)
    take = taker.take if taker is not None else None
    find = partial(projects.find, principal)
    if own:
        return Access(read_text, partial(find, find_project_files), inspect, take, real_paths)
    if not separate.on or not separate.inspector:
        return Access(snapshot=take)
    user = UserHelper(separate.inspector, uid)
    return Access(user.read, partial(find, user.find), inspect and user.inspect, take, user.resolve)
