"""Reads scripts and project files, inspects targets and takes snapshots with the rights of the agent's user; no answer is never a yes."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from interlock.analysis.shell import MAX_SCRIPT
from interlock.config.settings import SeparateSettings
from interlock.impact.files import (
    DEEPEST,
    Hidden,
    ProjectFileCache,
    ProjectFiles,
    find_project_files,
    read_text,
    real_paths,
)
from interlock.impact.privileged_helper import HEAD, NOTHING, TEXT
from interlock.model import Json
from interlock.policy.impact import Impact, impact_of, unknown_impact
from interlock.policy.load import MOST, NAME, ProjectFile
from interlock.ports import Access, SnapshotTaker

REQUEST_SECONDS = 10.0
PATIENCE = 3.0  # seconds for a search
INSPECTION_SECONDS = 3.0  # more than an inspection's own limit
_MOST = MAX_SCRIPT * 4 + 4_096


class HelperUnavailable(OSError):
    """The helper gave no clear answer: an action that depends on it must not pass."""


def read_as(place: str, uid: int, path: str) -> str | None:
    kind, data = _request(place, {"uid": uid, "path": path}, REQUEST_SECONDS)
    return data.decode("utf-8", "surrogatepass") if kind == TEXT else None


def inspect_as(place: str, uid: int, question: Json) -> Impact:
    try:
        _, data = _request(place, {"uid": uid, "look": dict(question)}, INSPECTION_SECONDS)
        return impact_of(json.loads(data))
    except (OSError, ValueError, KeyError, TypeError):
        return unknown_impact("the inspection failed")


def resolve_as(place: str, uid: int, asked: Sequence[tuple[str, bool]]) -> list[str]:
    try:
        found = real_paths(asked, strict=True)
    except Hidden:
        kind, data = _request(place, {"uid": uid, "real": list(asked)}, REQUEST_SECONDS)
        found = json.loads(data) if kind == TEXT else []
    if len(found) != len(asked) or not all(isinstance(one, str) for one in found):
        raise HelperUnavailable(f"{place}: no answer about where paths lead")
    return found


def ask_as(place: str, uid: int, kind: str, question: Json, seconds: float, most: int) -> bytes:
    """Raises HelperUnavailable where there is no answer, or one longer than `most`."""
    return _request(place, {"uid": uid, kind: dict(question)}, seconds, most + HEAD.size)[1]


def _request(place: str, question: Json, seconds: float, most: int = _MOST) -> tuple[bytes, bytes]:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(seconds)
            sock.connect(place)
            sock.sendall(json.dumps(question).encode() + b"\n")
            answer = sock.makefile("rb").read(most)
    except OSError as error:
        raise HelperUnavailable(f"{place}: {error.strerror or error}") from None
    kind, size = HEAD.unpack_from(answer) if len(answer) >= HEAD.size else (b"", 0)
    data = answer[HEAD.size :]
    if kind not in (NOTHING, TEXT) or len(data) != size:
        raise HelperUnavailable(f"{place}: no answer about {question.get('path', 'what is there')!r:.200}")
    return kind, data


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
    uid, place = int(number), separate.inspector
    own = uid == os.getuid()
    taker = takers.get(principal, snapshotter if own else None)
    take = taker.take if taker is not None else None
    find = partial(projects.find, principal)
    if own:
        return Access(read_text, partial(find, find_project_files), inspect, take, real_paths)
    if not separate.on or not place:
        return Access(snapshot=take)
    return Access(
        partial(read_as, place, uid),
        partial(find, partial(_find_as, place, uid)),
        partial(inspect_as, place, uid) if inspect is not None else None,
        take,
        partial(resolve_as, place, uid),
    )


def _find_as(place: str, uid: int, cwd: str) -> ProjectFiles:
    """A failed search is a problem, since a file may be there."""
    try:
        rows = json.loads(ask_as(place, uid, "project", {"cwd": cwd}, PATIENCE, DEEPEST * (MOST * 6 + 8_192)))
        return tuple(ProjectFile(*map(str, one)) for one in rows)
    except (HelperUnavailable, ValueError, TypeError) as error:
        return (ProjectFile(os.path.join(cwd, NAME), problem=f"it could not be searched for: {error}"[:200]),)
