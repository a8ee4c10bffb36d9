"""Effects of Ruby's file functions (File, FileUtils, Dir, Pathname), and the values that their blocks get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from msgspec.structs import replace

from interlock.analysis.code import effects, values
from interlock.analysis.code.dialect import PAIRS, CodeCall
from interlock.analysis.code.values import UNKNOWN, Value, computed, glued, listed, text, unknown
from interlock.analysis.code.walk import CodeWalk


def _delete(*traits: str) -> Callable[[CodeWalk, CodeCall], Value]:
    return lambda walk, call: effects.delete(walk, call.plain, *traits)


def _mv(walk: CodeWalk, call: CodeCall) -> Value:
    effects.paths(walk, "move", call.plain[:1])
    effects.paths(walk, "write", call.plain[1:2])
    return UNKNOWN


def _cp(walk: CodeWalk, call: CodeCall) -> Value:
    effects.paths(walk, "write", call.plain[1:2])
    return UNKNOWN


def _chmod(*traits: str) -> Callable[[CodeWalk, CodeCall], Value]:
    return lambda walk, call: effects.chmod(walk, call.arg(0), call.plain[1:], *traits)


def _chown(*traits: str) -> Callable[[CodeWalk, CodeCall], Value]:
    def tell(walk: CodeWalk, call: CodeCall) -> Value:
        effects.paths(walk, "chown", call.plain[2:], *traits)
        return UNKNOWN

    return tell


def _write(walk: CodeWalk, call: CodeCall) -> Value:
    mode = call.args[-1].at(text("mode")).text if call.args and call.args[-1].ref == PAIRS else ""
    if mode.startswith("a"):
        walk.out.effect("append", call.arg(0).text)
        return UNKNOWN
    return effects.write_file(walk, call.arg(0), call.plain[1] if len(call.plain) > 1 else None)


def _open(walk: CodeWalk, call: CodeCall) -> Value:
    path = call.arg(0)
    if path.text.lstrip().startswith("|"):
        return effects.shell(walk, text(path.text.lstrip()[1:].strip()))
    if values.is_url(path.text):
        return effects.fetch(walk, path)
    mode = call.plain[1].text if len(call.plain) > 1 else "r"
    handle = effects.opened(walk, path, mode)
    run_blocks(walk, call, (handle,))
    return handle


def _truncate(walk: CodeWalk, call: CodeCall) -> Value:
    effects.paths(walk, "truncate", call.plain[:1])
    return UNKNOWN


def _read(walk: CodeWalk, call: CodeCall) -> Value:
    path = call.arg(0)
    if path.text.startswith("|"):
        return effects.shell(walk, text(path.text[1:].strip()))
    return effects.read_file(walk, path)


def _glob(walk: CodeWalk, call: CodeCall) -> Value:
    pattern = effects.listing(
        listed(call.plain), *(["recursive"] if any("**" in value.text for value in call.plain) else [])
    )
    run_blocks(walk, call, (pattern.each(),))
    return pattern


def _children(walk: CodeWalk, call: CodeCall) -> Value:
    """The names inside a directory, to be joined to it."""
    names = computed()
    run_blocks(walk, call, (names.each(),))
    return names


def _find(walk: CodeWalk, call: CodeCall) -> Value:
    files = Value(listed(call.plain).items, True, frozenset({"bulk", "recursive"}))
    run_blocks(walk, call, (files.each(),))
    return files


def _only_tried(function: Callable[[CodeWalk, CodeCall], Value | None]) -> Callable[[CodeWalk, CodeCall], Value | None]:
    """The function, which does nothing when it is told `noop: true`."""

    def tried(walk: CodeWalk, call: CodeCall) -> Value | None:
        named = [value.items for value in call.args if value.ref == PAIRS]
        written = len(named) == 1 and all(value.known for value in call.plain) and not _hides_options(walk)
        off = (
            [value for name, value in zip(named[0][::2], named[0][1::2], strict=False) if name == "noop"]
            if written
            else []
        )
        return UNKNOWN if off == ["true"] else function(walk, call)

    return tried


def _hides_options(walk: CodeWalk) -> bool:
    """True when options may come out of a hash that was changed since: `**options`, `{noop: true}`."""
    words = [token.text for token in walk.source.tokens]
    return "**" in words or any(one == "{" and other.strip(":") == "noop" for one, other in pairwise(words))


def _join(_walk: CodeWalk, call: CodeCall) -> Value:
    return glued(call.plain, "/")


def same(_walk: CodeWalk, call: CodeCall) -> Value:
    """A function that only changes how its argument is written."""
    return call.arg(0)


def _path(_walk: CodeWalk, call: CodeCall) -> Value:
    return Value(call.arg(0).items, ref="path")


def _home(_walk: CodeWalk, _call: CodeCall) -> Value:
    return unknown("HOME")


_RECURSIVE = _delete("recursive")
_FILES: Mapping[str, Callable[[CodeWalk, CodeCall], Value | None]] = {
    **{f"FileUtils.{name}": _delete() for name in ("rm", "rm_f", "remove", "remove_file", "safe_unlink")},
    **{
        f"FileUtils.{name}": _RECURSIVE
        for name in ("rm_r", "rm_rf", "remove_dir", "remove_entry", "remove_entry_secure", "rmtree", "uninstall")
    },
    "FileUtils.rmdir": _delete("empty_only"),
    "Dir.rmdir": _delete("empty_only"),
    "Dir.delete": _delete("empty_only"),
    "Dir.unlink": _delete("empty_only"),
    "File.delete": _delete(),
    "File.unlink": _delete(),
    "FileUtils.mv": _mv,
    "FileUtils.move": _mv,
    "File.rename": _mv,
    "FileUtils.cp": _cp,
    "FileUtils.cp_r": _cp,
    "FileUtils.copy": _cp,
    "FileUtils.copy_file": _cp,
    "FileUtils.install": _cp,
    "IO.copy_stream": _cp,
    "FileUtils.ln_sf": _cp,
    "FileUtils.chmod": _chmod(),
    "FileUtils.chmod_R": _chmod("recursive"),
    "File.chmod": _chmod(),
    "FileUtils.chown": _chown(),
    "FileUtils.chown_R": _chown("recursive"),
    "File.chown": _chown(),
    "File.write": _write,
    "IO.write": _write,
    "File.binwrite": _write,
    "IO.binwrite": _write,
    "File.truncate": _truncate,
    "File.open": _open,
    "File.new": _open,
    "Kernel.open": _open,
    "open": _open,
    "File.read": _read,
    "IO.read": _read,
    "File.readlines": _read,
    "File.binread": _read,
    "File.foreach": _read,
    "IO.readlines": _read,
    "Dir.glob": _glob,
    "Dir.[]": _glob,
    "Dir.children": _children,
    "Dir.entries": _children,
    "Dir.each_child": _children,
    "Dir.foreach": _children,
    "Find.find": _find,
    "Pathname.glob": _glob,
    "Dir.home": _home,
    "Dir.pwd": lambda walk, call: text("."),
    "true": lambda walk, call: text("true"),
    "false": lambda walk, call: text("false"),
    "Rails.root": lambda walk, call: Value((".",), ref="path"),
    "Rails.root.join": lambda walk, call: Value(glued(call.plain, "/").items, ref="path"),
    "File.join": _join,
    "File.expand_path": same,
    "File.realpath": same,
    "File.absolute_path": same,
    "Pathname.new": _path,
    "Pathname": _path,
}
FILES: Mapping[str, Callable[[CodeWalk, CodeCall], Value | None]] = {
    name: _only_tried(function) if name.startswith("FileUtils.") else function for name, function in _FILES.items()
}


def run_blocks(walk: CodeWalk, call: CodeCall, given: tuple[Value, ...]) -> None:
    """Read every block that a call is handed with the values it gets."""
    for value in call.args:
        if value.body >= 0:
            walk.run(value.body, given)


def looped(walk: CodeWalk, call: CodeCall, on: Value) -> Value:
    """each and its kin: the block, or the function after `&`, gets one item at a time."""
    named = on.ref and on.ref != "path"
    one = replace(on.each(), ref=f"{on.ref}.each" if named else on.ref, traits=on.traits if named else on.each().traits)
    for value in call.args:
        if value.body >= 0:
            walk.run(value.body, (one,))
        elif value.ref and value.ref != PAIRS:
            walk.called(value, (one,))
        elif value.known and value.text.isidentifier():
            walk.invoke(CodeCall(value.text, (), one))
    return replace(on, many=True) if on.ref in ("", "path") else replace(on, ref=f"{on.ref}.{call.name}")
