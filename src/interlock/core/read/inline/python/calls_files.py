"""Functions of os, shutil, glob and their like: what they do to files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from interlock.core.read.facts import known
from interlock.core.read.inline.python.objects import Call
from interlock.core.read.inline.python.paths import join_path
from interlock.core.read.inline.python.pure import pure
from interlock.core.read.inline.python.values import UNKNOWN, File, Marked, Value, traits_of
from interlock.core.read.inline.python.walk import Answer, Walk

OWNER = -1


class Touch(NamedTuple):
    """What happens to one argument; the argument OWNER is what a method is called on."""

    verb: str
    at: int
    keyword: str = ""
    traits: tuple[str, ...] = ()


def touch_all(walk: Walk, call: Call, touches: Sequence[Touch]) -> None:
    """Tell what a call does to each of its arguments."""
    for verb, at, keyword, traits in touches:
        walk.world.touch(verb, call.owner if at == OWNER else call.get(at, keyword), *traits)


def _touching(*touches: Touch) -> Answer:
    return lambda walk, call: touch_all(walk, call, touches)


def _moving(source: str, target: str) -> Answer:
    return _touching(Touch("move", 0, source), Touch("overwrite", 1, target))


def _copying(source: str, target: str) -> Answer:
    return _touching(Touch("read", 0, source), Touch("write", 1, target))


def _open(walk: Walk, call: Call) -> Value:
    mode = call.get(1, "mode", "r")
    return walk.world.open(call.get(0, "file"), mode if isinstance(mode, str) and known(mode) else "x")


def _open_by_flags(walk: Walk, call: Call) -> Value:
    flags = call.get(1, "flags", 0)
    bits = flags if isinstance(flags, int) else 1
    mode = "a" if bits & 1024 else "w" if bits & 512 else "x" if bits & 3 else "r"
    return walk.world.open(call.get(0, "path"), mode)


def _open_to_read(walk: Walk, call: Call) -> Value:
    return walk.world.open(call.get(0), "r")


def _write(walk: Walk, call: Call) -> Value:
    if isinstance(call.get(0), File):
        walk.world.fill(call.get(0), call.get(1))
    return UNKNOWN


def _edit(walk: Walk, call: Call) -> Value:
    if not call.named.get("inplace"):
        return _open_to_read(walk, call)
    return touch_all(walk, call, [Touch("overwrite", 0, "files")])


def chmod(walk: Walk, target: Value, mode: Value) -> None:
    """A path gets these rights."""
    rights = mode if isinstance(mode, int) else 0o700
    found = {"world_writable": rights & 0o002, "no_access": not rights & 0o777, "setuid": rights & 0o4000}
    walk.world.touch("chmod", target, *(trait for trait, there in found.items() if there))


def _chmod(walk: Walk, call: Call) -> Value:
    return chmod(walk, call.get(0, "path"), call.get(1, "mode"))


def bulk(*parts: Value, walk: bool = False) -> Marked:
    """A path that stands for many; with `walk`, for all below a directory."""
    text = join_path(*parts)
    return Marked(text, traits_of(text) | {"bulk"} | ({"walk"} if walk else set()))


def _glob(walk: Walk, call: Call) -> Value:
    root, pattern = call.named.get("root_dir"), call.get(0, "pathname")
    return [bulk(pattern) if root is None else bulk(root, pattern)]


def _walk(walk: Walk, call: Call) -> Value:
    return [(bulk(call.get(0, "top"), "**", walk=True), [bulk("*", walk=True)], [bulk("*", walk=True)])]


def _chdir(walk: Walk, call: Call) -> Value:
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
    "os.fdopen": lambda walk, call: call.get(0) if isinstance(call.get(0), File) else UNKNOWN,
    "linecache.getlines": _open_to_read,
    "fileinput.input": _edit,
    **dict.fromkeys(["glob.glob", "glob.iglob"], _glob),
    "os.listdir": lambda walk, call: [bulk("*")],
    "os.scandir": lambda walk, call: [bulk(call.get(0, "path", "."), "*")],
    **dict.fromkeys(["os.walk", "os.fwalk"], _walk),
    **dict.fromkeys(["os.chdir", "contextlib.chdir"], _chdir),
    "tempfile.mkstemp": lambda walk, call: (UNKNOWN, pure("tempfile.mktemp", (), {})),
}
