"""The manifest of a snapshot: saved paths, refs, databases and remote branches; parsed strictly, a damaged one is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from interlock.snapshots import parse_snapshot_id
from interlock.snapshots.folder import Attributes, RestoreRefused, SnapshotFolder, parse_attributes

VERSION = 1
KINDS = frozenset({"file", "folder", "link", "absent"})
# The role of a file for Git; ordinary files have none.
ROLES = frozenset({"", "index", "head", "config", "stash", "log", "state"})


class SavedPath(Struct, frozen=True):
    """One path as it was."""

    path: str
    kind: str
    mode: int = 0
    mtime_ns: int = 0
    size: int = 0
    sha256: str = ""
    link: str = ""
    owner: tuple[int, int] = (0, 0)
    twin: str = ""  # device and inode of a file with more than one name
    role: str = ""
    leaves: str = ""  # what the action is known to leave in its place
    attributes: Attributes | None = None  # None where they were not read


class SavedRef(Struct, frozen=True):
    """A branch: its value before and after the action, each empty where it does not exist."""

    name: str
    old: str
    leaves: str


class SavedRepository(Struct, frozen=True):
    """The saved refs of one repository."""

    git_dir: str
    shared: str
    work_tree: str
    refs: tuple[SavedRef, ...] = ()
    held: str = ""  # the commit that protects objects which only the snapshot refers to


class SavedRemoteRef(Struct, frozen=True):
    """A remote branch before and after a push."""

    git_dir: str
    remote: str
    branch: str
    old: str
    new: str


class SavedDatabase(Struct, frozen=True):
    """An SQLite database, copied as SQLite does it."""

    path: str
    size: int
    sha256: str
    mode: int
    owner: tuple[int, int]


class Manifest(Struct):
    """Everything that a snapshot saved; `pack` maps small contents to their place in the snapshot's pack."""

    id: str
    at: float
    bases: tuple[str, ...] = ()
    entries: list[SavedPath] = field(default_factory=list)
    git: list[SavedRepository] = field(default_factory=list)
    databases: list[SavedDatabase] = field(default_factory=list)
    remotes: list[SavedRemoteRef] = field(default_factory=list)
    pack: dict[str, tuple[int, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def files(self) -> int:
        return sum(1 for entry in self.entries if entry.kind in ("file", "link")) + len(self.databases)

    @property
    def bytes(self) -> int:
        return sum(entry.size for entry in self.entries) + sum(one.size for one in self.databases)

    @property
    def contents(self) -> dict[str, int]:
        """The size of every content by its SHA-256."""
        found = {entry.sha256: entry.size for entry in self.entries if entry.sha256}
        return found | {one.sha256: one.size for one in self.databases}


def manifest_json(manifest: Manifest) -> dict[str, Any]:
    return {
        "version": VERSION,
        "id": manifest.id,
        "at": manifest.at,
        "bases": list(manifest.bases),
        "entries": [_entry_json(entry) for entry in manifest.entries],
        "git": [
            {"git_dir": one.git_dir, "shared": one.shared, "work_tree": one.work_tree, "held": one.held, "refs": [[ref.name, ref.old, ref.leaves] for ref in one.refs]}
            for one in manifest.git
        ],
        "databases": [
            {"path": one.path, "size": one.size, "sha256": one.sha256, "mode": one.mode, "owner": list(one.owner)}
            for one in manifest.databases
        ],
        "remotes": [
            {"git_dir": one.git_dir, "remote": one.remote, "branch": one.branch, "old": one.old, "new": one.new}
            for one in manifest.remotes
        ],
        "pack": manifest.pack,
        "notes": list(manifest.notes),
    }  # fmt: skip


def _entry_json(entry: SavedPath) -> dict[str, Any]:
    body: dict[str, Any] = {"path": entry.path, "kind": entry.kind}
    if entry.kind != "absent":
        body |= {"mode": entry.mode, "mtime_ns": entry.mtime_ns, "owner": entry.owner}
    if entry.kind == "file":
        body |= {"size": entry.size, "sha256": entry.sha256}
    if entry.attributes is not None:
        body |= {"attributes": entry.attributes}
    more = (("link", entry.link), ("twin", entry.twin), ("role", entry.role), ("leaves", entry.leaves))
    return body | {name: value for name, value in more if value}


def parse_manifest(data: Mapping[str, Any], folder: SnapshotFolder) -> Manifest:
    """Parses a manifest; raises RestoreRefused for a damaged one, and for one that would change Interlock's own files."""
    try:
        if data["version"] != VERSION:
            raise RestoreRefused("the snapshot was taken by another version")
        found = Manifest(
            parse_snapshot_id(data["id"]),
            float(data["at"]),
            tuple(map(_path, data["bases"])),
            [_entry(one) for one in data["entries"]],
            [_git(one) for one in data["git"]],
            [SavedDatabase(_path(one["path"]), int(one["size"]), _sha(one["sha256"]), int(one["mode"]) & 0o7777, _owner(one["owner"])) for one in data["databases"]],
            [SavedRemoteRef(_path(one["git_dir"]), str(one["remote"]), str(one["branch"]), _oid(one["old"]), _oid(one["new"])) for one in data["remotes"]],
            {_sha(sha): (int(start), int(size)) for sha, (start, size) in data["pack"].items()},
            tuple(map(str, data["notes"])),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RestoreRefused("the manifest of the snapshot is damaged") from None
    paths = [*(one.path for one in found.entries), *(one.path for one in found.databases), *(one.git_dir for one in found.git)]  # fmt: skip
    if any(folder.is_own(path) for path in paths):
        raise RestoreRefused("it would change what is Interlock's own")
    return found


def _entry(one: Mapping[str, Any]) -> SavedPath:
    kind, role = one["kind"], one.get("role", "")
    if kind not in KINDS or role not in ROLES:
        raise ValueError("no such kind")
    return SavedPath(
        _path(one["path"]),
        kind,
        int(one.get("mode", 0)) & 0o7777,
        int(one.get("mtime_ns", 0)),
        int(one.get("size", 0)),
        _sha(one["sha256"]) if kind == "file" else "",
        str(one["link"]) if kind == "link" else "",
        _owner(one.get("owner", (0, 0))),
        str(one.get("twin", "")),
        role,
        str(one.get("leaves", "")),
        parse_attributes(one["attributes"]) if "attributes" in one else None,
    )


def _git(one: Mapping[str, Any]) -> SavedRepository:
    refs = tuple(SavedRef(_ref(name), _oid(old), _oid(leaves)) for name, old, leaves in one["refs"])
    return SavedRepository(
        _path(one["git_dir"]), _path(one["shared"]), _path(one["work_tree"]), refs, _oid(one["held"])
    )


def _path(value: object) -> str:
    if not isinstance(value, str) or not value.startswith("/") or "\0" in value:
        raise ValueError("no path")
    if any(part in (".", "..", "") for part in value.split("/")[1:]) and value != "/":
        raise ValueError("no plain path")
    return value


def _ref(value: object) -> str:
    name = str(value)
    _path(f"/{name}")
    if not name.startswith("refs/") or name.endswith(".lock"):
        raise ValueError("no branch")
    return name


def _sha(value: object) -> str:
    text = str(value)
    if len(text) != 64 or set(text) - set("0123456789abcdef"):
        raise ValueError("no SHA-256")
    return text


def _oid(value: object) -> str:
    text = str(value)
    if text and (len(text) != 40 or set(text) - set("0123456789abcdef")):
        raise ValueError("no object id")
    return text


def _owner(value: Any) -> tuple[int, int]:
    user, group = value
    return int(user), int(group)
