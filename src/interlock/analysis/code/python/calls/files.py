"""Calls of os, shutil, glob, pathlib and their like -> effects on files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.values import (
    UNKNOWN,
    Marked,
    OpenFile,
    Sym,
    Value,
    file_traits,
    join_path,
    text_of,
    traits_of,
)
from interlock.analysis.code.program.walk import Answer, ProgramWalk
from interlock.analysis.code.python.pure import pure
from interlock.analysis.facts import known

OWNER = -1


class Touch(NamedTuple):
    """What happens to one argument; the argument OWNER is what a method is called on."""

    verb: str
    at: int
    keyword: str = ""
    traits: tuple[str, ...] = ()


def touch_all(walk: ProgramWalk, call: LibraryCall, touches: Sequence[Touch]) -> None:
    """Tell what a call does to each of its arguments."""
    for verb, at, keyword, traits in touches:
        walk.world.touch(verb, call.owner if at == OWNER else call.get(at, keyword), *traits)


def _touching(*touches: Touch) -> Answer:
    return lambda walk, call: touch_all(walk, call, touches)


def _moving(source: str, target: str) -> Answer:
    return _touching(Touch("move", 0, source), Touch("overwrite", 1, target))


def _copying(source: str, target: str) -> Answer:
    return _touching(Touch("read", 0, source), Touch("write", 1, target))


def _open(walk: ProgramWalk, call: LibraryCall) -> Value:
    mode = call.get(1, "mode", "r")
    return walk.world.open(call.get(0, "file"), mode if isinstance(mode, str) and known(mode) else "x")


def _open_by_flags(walk: ProgramWalk, call: LibraryCall) -> Value:
    flags = call.get(1, "flags", 0)
    bits = flags if isinstance(flags, int) else 1
    mode = "a" if bits & 1024 else "w" if bits & 512 else "x" if bits & 3 else "r"
    return walk.world.open(call.get(0, "path"), mode)


def _open_to_read(walk: ProgramWalk, call: LibraryCall) -> Value:
    return walk.world.open(call.get(0), "r")


def _write(walk: ProgramWalk, call: LibraryCall) -> Value:
    if isinstance(call.get(0), OpenFile):
        walk.world.fill(call.get(0), call.get(1))
    return UNKNOWN


def _edit(walk: ProgramWalk, call: LibraryCall) -> Value:
    if not call.named.get("inplace"):
        return _open_to_read(walk, call)
    return touch_all(walk, call, [Touch("overwrite", 0, "files")])


def chmod(walk: ProgramWalk, target: Value, mode: Value) -> None:
    """A path gets these rights."""
    rights = mode if isinstance(mode, int) else 0o700
    found = {"world_writable": rights & 0o002, "no_access": not rights & 0o777, "setuid": rights & 0o4000}
    walk.world.touch("chmod", target, *(trait for trait, there in found.items() if there))


def _chmod(walk: ProgramWalk, call: LibraryCall) -> Value:
    return chmod(walk, call.get(0, "path"), call.get(1, "mode"))


def bulk(*parts: Value, walk: bool = False) -> Marked:
    """A path that stands for many; with `walk`, for all below a directory."""
    text = join_path(*parts)
    return Marked(text, traits_of(text) | {"bulk"} | ({"walk"} if walk else set()))


def _glob(walk: ProgramWalk, call: LibraryCall) -> Value:
    root, pattern = call.named.get("root_dir"), call.get(0, "pathname")
    return [bulk(pattern) if root is None else bulk(root, pattern)]


def _walk(walk: ProgramWalk, call: LibraryCall) -> Value:
    return [(bulk(call.get(0, "top"), "**", walk=True), [bulk("*", walk=True)], [bulk("*", walk=True)])]


def _chdir(walk: ProgramWalk, call: LibraryCall) -> Value:
    walk.world.cwd = walk.world.located(call.text(0, "path"))
    return walk.world.cwd


CALLS: Mapping[str, Answer] = {
    "os.remove": _touching(Touch("delete", 0, "path")),
    "os.unlink": _touching(Touch("delete", 0, "path")),
    "os.rmdir": _touching(Touch("delete", 0, "path", ("empty_only",))),
    "os.removedirs": _touching(Touch("delete", 0, "name", ("empty_only",))),
    "shutil.rmtree": _touching(Touch("delete", 0, "path", ("recursive",))),
    "distutils.dir_util.remove_tree": _touching(Touch("delete", 0, "directory", ("recursive",))),
    **dict.fromkeys(["os.rename", "os.replace", "shutil.move"], _moving("src", "dst")),
    "os.renames": _moving("old", "new"),
    **dict.fromkeys(["shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree"], _copying("src", "dst")),
    "shutil.unpack_archive": _copying("filename", "extract_dir"),
    **dict.fromkeys(["os.link", "os.symlink"], _touching(Touch("write", 1, "dst"))),
    "os.truncate": _touching(Touch("truncate", 0, "path")),
    **dict.fromkeys(["os.chown", "os.lchown", "shutil.chown"], _touching(Touch("chown", 0, "path"))),
    **dict.fromkeys(["os.chmod", "os.lchmod"], _chmod),
    **dict.fromkeys(["open", "gzip.open", "bz2.open", "lzma.open", "zipfile.ZipFile"], _open),
    "os.open": _open_by_flags,
    "os.write": _write,
    "os.fdopen": lambda walk, call: call.get(0) if isinstance(call.get(0), OpenFile) else UNKNOWN,
    "linecache.getlines": _open_to_read,
    "fileinput.input": _edit,
    **dict.fromkeys(["glob.glob", "glob.iglob"], _glob),
    "os.listdir": lambda walk, call: [bulk("*")],
    "os.scandir": lambda walk, call: [bulk(call.get(0, "path", "."), "*")],
    **dict.fromkeys(["os.walk", "os.fwalk"], _walk),
    **dict.fromkeys(["os.chdir", "contextlib.chdir"], _chdir),
    "tempfile.mkstemp": lambda walk, call: (UNKNOWN, pure("tempfile.mktemp", (), {})),
}


_DELETES: Mapping[str, tuple[str, ...]] = {"unlink": (), "rmdir": ("empty_only",), "rmtree": ("recursive",)}


def _delete(walk: ProgramWalk, call: LibraryCall) -> Value:
    """Deletes on a path that is known or not; some libraries are given the path instead."""
    elsewhere = isinstance(call.owner, Sym) and "missing_ok" not in call.named
    if call.args and (call.name == "rmtree" or elsewhere):
        return walk.world.touch("delete", call.args[0], *(("recursive",) if call.name == "rmtree" else ()))
    return walk.world.touch("delete", call.owner, *_DELETES[call.name])


def _read(walk: ProgramWalk, call: LibraryCall) -> Value:
    if not isinstance(call.owner, str):
        return UNKNOWN
    walk.world.touch("read", call.owner)
    return Sym("?", traits=file_traits(call.owner))


def _link(walk: ProgramWalk, call: LibraryCall) -> Value:
    if not isinstance(call.owner, str):
        return UNKNOWN
    walk.world.touch("write", call.owner)
    return call.get(0, "target")


def _rename(walk: ProgramWalk, call: LibraryCall) -> Value:
    """`path.rename(target)`; other things that are not texts have a method of this name, too."""
    if not isinstance(call.owner, str):
        return UNKNOWN
    touch_all(walk, call, [Touch("move", OWNER), Touch("overwrite", 0, "target")])
    return call.get(0, "target")


def _replace(walk: ProgramWalk, call: LibraryCall) -> Value:
    """`path.replace(target)`; with two arguments it is a text's."""
    return _rename(walk, call) if len(call.args) == 1 else UNKNOWN


def _write_path(walk: ProgramWalk, call: LibraryCall) -> Value:
    return walk.world.fill(walk.world.open(call.owner, "w"), call.get(0, "data"))


def _open_path(walk: ProgramWalk, call: LibraryCall) -> Value:
    known_path = isinstance(call.owner, str)
    return walk.world.open(call.owner, text_of(call.get(0, "mode", "r"))) if known_path else UNKNOWN


def _chmod_path(walk: ProgramWalk, call: LibraryCall) -> Value:
    return chmod(walk, call.owner, call.get(0, "mode")) if isinstance(call.owner, str) else UNKNOWN


def _glob_path(walk: ProgramWalk, call: LibraryCall) -> Value:
    if isinstance(call.owner, (list, dict)):
        return UNKNOWN
    below = ("**",) if call.name == "rglob" else ()
    pattern = "*" if call.name == "iterdir" else call.get(0, "pattern")
    return [bulk(call.owner, *below, pattern, walk=bool(below))]


PATH_METHODS: Mapping[str, Answer] = {
    **dict.fromkeys(_DELETES, _delete),
    "read_text": _read,
    "read_bytes": _read,
    "symlink_to": _link,
    "rename": _rename,
    "replace": _replace,
    "write_text": _write_path,
    "write_bytes": _write_path,
    "open": _open_path,
    "chmod": _chmod_path,
    **dict.fromkeys(["glob", "rglob", "iterdir"], _glob_path),
}
