"""The manifest of a snapshot: saved paths, refs, databases and remote branches; parsed strictly, a damaged one is refused."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, convert

from interlock.snapshots import SnapshotId
from interlock.snapshots.folder import Attributes, RestoreRefused, SnapshotFolder, check_attributes

VERSION = 1
_Kind = Annotated[str, Meta(pattern=r"^(?:file|folder|link|absent)\Z")]
_Role = Annotated[str, Meta(pattern=r"^(?:index|head|config|stash|log|state|)\Z")]  # for Git; ordinary files have none
_PART = r"/(?!\.{1,2}(?:/|\Z))[^/\0]+"  # of a plain path
PlainPath = Annotated[str, Meta(pattern=rf"^(?:(?:{_PART})+|/)\Z")]
_RefName = Annotated[str, Meta(pattern=rf"^refs(?:{_PART})+(?<!\.lock)\Z")]
_Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
_Oid = Annotated[str, Meta(pattern=r"^(?:[0-9a-f]{40})?\Z")]
_Mode = Annotated[int, Meta(ge=0, le=0o7777)]
_Size = Annotated[int, Meta(ge=0)]


class SavedPath(Struct, frozen=True, omit_defaults=True):
    path: PlainPath
    kind: _Kind
    mode: _Mode = 0
    mtime_ns: int = 0
    size: _Size = 0
    sha256: Annotated[str, Meta(pattern=r"^(?:[0-9a-f]{64})?\Z")] = ""
    link: str = ""
    owner: tuple[int, int] = (0, 0)
    twin: str = ""  # device and inode of a file with more than one name
    role: _Role = ""
    leaves: str = ""  # what the action is known to leave in its place
    attributes: Attributes | None = None  # None where they were not read

    def __post_init__(self) -> None:
        if (self.kind == "file", self.kind == "link") != (bool(self.sha256), bool(self.link)):
            raise ValueError("a file has a content, and a link has a target")


class SavedRef(Struct, frozen=True, array_like=True):
    """Each value is empty where the branch does not exist."""

    name: _RefName
    old: _Oid
    leaves: _Oid


class SavedRepository(Struct, frozen=True):
    git_dir: PlainPath
    shared: PlainPath
    work_tree: PlainPath
    refs: tuple[SavedRef, ...] = ()
    held: _Oid = ""  # the commit that protects objects which only the snapshot refers to


class SavedRemoteRef(Struct, frozen=True):
    git_dir: PlainPath
    remote: str
    branch: str
    old: _Oid
    new: _Oid


class SavedDatabase(Struct, frozen=True):
    path: PlainPath
    size: _Size
    sha256: _Sha256
    mode: _Mode
    owner: tuple[int, int]


class Manifest(Struct):
    """`pack` maps small contents to their place in the snapshot's pack."""

    id: SnapshotId
    at: float
    bases: tuple[PlainPath, ...] = ()
    entries: list[SavedPath] = []
    git: list[SavedRepository] = []
    databases: list[SavedDatabase] = []
    remotes: list[SavedRemoteRef] = []
    pack: dict[_Sha256, tuple[_Size, _Size]] = {}
    notes: tuple[str, ...] = ()
    version: int = VERSION

    @property
    def files(self) -> int:
        return sum(1 for entry in self.entries if entry.kind in ("file", "link")) + len(self.databases)

    @property
    def bytes(self) -> int:
        return sum(entry.size for entry in self.entries) + sum(one.size for one in self.databases)

    @property
    def contents(self) -> dict[str, int]:
        found = {entry.sha256: entry.size for entry in self.entries if entry.sha256}
        return found | {one.sha256: one.size for one in self.databases}


def parse_manifest(data: Any, folder: SnapshotFolder) -> Manifest:
    """Raises RestoreRefused for a damaged one, and for one that would change Interlock's own files."""
    if isinstance(data, dict) and data.get("version", VERSION) != VERSION:
        raise RestoreRefused("the snapshot was taken by another version")
    try:
        found = convert(data, Manifest)
        for entry in found.entries:
            check_attributes(entry.attributes or ())
    except ValueError:
        raise RestoreRefused("the manifest of the snapshot is damaged") from None
    paths = [one.path for one in found.entries] + [one.path for one in found.databases]
    if any(map(folder.is_own, [*paths, *(one.git_dir for one in found.git)])):
        raise RestoreRefused("it would change what is Interlock's own")
    return found
