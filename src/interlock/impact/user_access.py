"""Reads scripts and project files, inspects targets and takes snapshots with the rights of the agent's user; no answer is never a yes."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from interlock.analysis.shell import MAX_SCRIPT
from interlock.config.settings import SeparateSettings
from interlock.impact.files import Hidden, read_text, real_paths
from interlock.impact.privileged_helper import HEAD, NOTHING, TEXT
from interlock.impact.project_files import DEEPEST, FindProjectFiles, ProjectFileCache, ProjectFiles, find_project_files
from interlock.policy.impact import Impact, impact_of, unknown_impact
from interlock.policy.load import MOST, NAME, ProjectFile
from interlock.policy.real_paths import Resolve
from interlock.ports import SnapshotTaker
from interlock.snapshots import SnapshotLimits, TakenSnapshot

REQUEST_SECONDS = 10.0
PATIENCE = 3.0  # seconds for a search
INSPECTION_SECONDS = 3.0  # more than an inspection's own limit
_MOST = MAX_SCRIPT * 4 + 4_096


class HelperUnavailable(OSError):
    """The helper gave no clear answer: an action that depends on it must not pass."""


def read_as(place: str, uid: int, path: str) -> str | None:
    """`read_text` as that user; raises HelperUnavailable where there is no clear answer."""
    kind, data = _request(place, {"uid": uid, "path": path}, REQUEST_SECONDS)
    return data.decode("utf-8", "surrogatepass") if kind == TEXT else None


def inspect_as(place: str, uid: int, question: Mapping[str, Any]) -> Impact:
    """`inspect_targets` as that user; an unknown impact where there is no clear answer."""
    try:
        _, data = _request(place, {"uid": uid, "look": dict(question)}, INSPECTION_SECONDS)
        return impact_of(json.loads(data))
    except (OSError, ValueError, KeyError, TypeError):
        return unknown_impact("the inspection failed")


def resolve_as(place: str, uid: int, asked: Sequence[tuple[str, bool]]) -> list[str]:
    """`real_paths` as that user; raises HelperUnavailable where there is no clear answer."""
    try:
        found = real_paths(asked, strict=True)
    except Hidden:
        kind, data = _request(place, {"uid": uid, "real": [list(one) for one in asked]}, REQUEST_SECONDS)
        found = json.loads(data) if kind == TEXT else []
    if len(found) != len(asked) or not all(isinstance(one, str) for one in found):
        raise HelperUnavailable(f"{place}: no answer about where paths lead")
    return found


def ask_as(place: str, uid: int, kind: str, question: Mapping[str, Any], seconds: float, most: int) -> bytes:
    """The answer to another kind of request; raises HelperUnavailable where there is none, or one longer than `most`."""
    return _request(place, {"uid": uid, kind: dict(question)}, seconds, most + HEAD.size)[1]


def _request(place: str, question: Mapping[str, Any], seconds: float, most: int = _MOST) -> tuple[bytes, bytes]:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(seconds)
            sock.connect(place)
            sock.sendall(json.dumps(question).encode() + b"\n")
            answer = _receive(sock, most)
    except OSError as error:
        raise HelperUnavailable(f"{place}: {error.strerror or error}") from None
    kind, size = HEAD.unpack_from(answer) if len(answer) >= HEAD.size else (b"", 0)
    data = answer[HEAD.size :]
    if kind not in (NOTHING, TEXT) or len(data) != size:
        raise HelperUnavailable(f"{place}: no answer about {question.get('path', 'what is there')!r:.200}")
    return kind, data


def _receive(sock: socket.socket, most: int) -> bytes:
    parts, left = [], most
    while left > 0 and (part := sock.recv(65_536)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


ReadScript = Callable[[str], str | None]
Inspect = Callable[[Mapping[str, Any]], Impact]
TakeSnapshot = Callable[[Mapping[str, Any], str, float, SnapshotLimits], TakenSnapshot]


def script_reader(principal: str, separate: SeparateSettings) -> ReadScript | None:
    """Reads scripts as the principal's user; None where nothing here can. A helper that does not answer raises, and that is a denial."""
    uid = _uid(principal)
    if uid is None or uid == os.getuid():
        return read_text if uid is not None else None
    return partial(read_as, separate.inspector, uid) if separate.on and separate.inspector else None


def target_inspector(principal: str, separate: SeparateSettings, own: Inspect | None) -> Inspect | None:
    """Inspects targets as the principal's user; `own` inspects as this daemon's user. None where nothing here can."""
    uid = _uid(principal)
    if uid is None or own is None:
        return None
    if uid == os.getuid():
        return own
    return partial(inspect_as, separate.inspector, uid) if separate.on and separate.inspector else None


def path_resolver(principal: str, separate: SeparateSettings, here: bool) -> Resolve | None:
    """Resolves paths as the principal's user; None where nothing here can. `here` says that it is on this machine, whatever its name."""
    uid = _uid(principal)
    if uid is None:
        return real_paths if here and not separate.on else None
    if uid == os.getuid():
        return real_paths
    return partial(resolve_as, separate.inspector, uid) if separate.on and separate.inspector else None


def snapshot_taker(
    principal: str, own: SnapshotTaker | None, others: Mapping[str, SnapshotTaker]
) -> TakeSnapshot | None:
    """Takes snapshots as the principal's user or as this daemon's; None where nothing here can."""
    found = others.get(principal, own if _uid(principal) == os.getuid() else None)
    return found.take if found is not None else None


def project_finder(principal: str, separate: SeparateSettings, cache: ProjectFileCache) -> FindProjectFiles | None:
    """Finds project files as the principal's user and fills the cache; None for a principal that is not here or has no helper."""
    uid = _uid(principal)
    if uid is None:
        return None
    if uid == os.getuid():
        return partial(cache.find, principal, find_project_files)
    if separate.on and separate.inspector:
        return partial(cache.find, principal, partial(_find_as, separate.inspector, uid))
    return None


def _find_as(place: str, uid: int, cwd: str) -> ProjectFiles:
    """`find_project_files` as another user; a failed search is a problem, since a file may be there."""
    try:
        rows = json.loads(ask_as(place, uid, "project", {"cwd": cwd}, PATIENCE, DEEPEST * (MOST * 6 + 8_192)))
        return tuple(ProjectFile(*map(str, one)) for one in rows)
    except (HelperUnavailable, ValueError, TypeError) as error:
        return (ProjectFile(os.path.join(cwd, NAME), problem=f"it could not be searched for: {error}"[:200]),)


def _uid(principal: str) -> int | None:
    uid = principal.removeprefix("uid:")
    return int(uid) if principal.startswith("uid:") and uid.isdigit() else None
