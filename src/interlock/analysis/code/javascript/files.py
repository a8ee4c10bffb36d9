"""Effects of a JavaScript program's calls on files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from interlock.analysis.code.javascript.values import (
    UNKNOWN,
    JsFunction,
    JsOrigin,
    JsPath,
    Value,
    options,
    strongest,
    to_text,
)
from interlock.analysis.facts import hole, known

if TYPE_CHECKING:
    from interlock.analysis.code.javascript.walk import JsWalk

Args = list[Value]
Work = Callable[["JsWalk", JsPath, Args], Value]


def called_back(walk: JsWalk, args: Args, value: Value) -> Value:
    """Hand a result to the callbacks among the arguments."""
    for given in args:
        if isinstance(given, JsFunction):
            walk.invoke(given, [None, value])
    return value


def arg(args: Args, at: int) -> Value:
    """The argument at a place, None when there is none."""
    return args[at] if at < len(args) else None


def setting(args: Args, name: str) -> Value:
    """The value of an option in the last object among the arguments."""
    for value in reversed(args):
        if isinstance(value, dict) and name in value:
            found: Value = value[name]
            return found
    return None


def targets(value: Value) -> list[tuple[str, tuple[str, ...]]]:
    """The paths that a value may be, each with what is special about it."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for option in options(value):
        if isinstance(option, list):
            found += [pair for item in option[:1_000] for pair in (targets(item) if not isinstance(item, list) else [])]
        elif isinstance(option, JsOrigin) and option.kind in ("entry", "item"):
            found.append((folder(option.text), ("recursive", "bulk") if option.deep else ("bulk",)))
        else:  # what a file or an answer listed is a computed list
            listed = isinstance(option, JsOrigin) and option.kind in ("content", "fetched")
            found.append((to_text(option) or hole(), ("bulk",) if listed else ()))
    return found


def folder(pattern: str) -> str:
    """The folder whose entries a pattern names, all of them; any other pattern as it is."""
    while pattern.endswith("/*"):
        pattern = pattern[:-2] or "/"
    return "." if pattern == "*" else pattern


def _on_path(verb: str, *traits: str, at: int = 0) -> Work:
    def work(walk: JsWalk, callee: JsPath, args: Args) -> Value:
        for path, more in targets(arg(args, at)):
            walk.out.effect(verb, path, *dict.fromkeys((*traits, *more)))
        return UNKNOWN

    return work


def _remove(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    wide = setting(args, "recursive")
    recursive = wide is not None and wide is not False
    traits = ("recursive",) if recursive else ("empty_only",) if callee.last.startswith("rmdir") else ()
    return _on_path("delete", *traits)(walk, callee, args)


def remove_globs(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    for path, more in targets(arg(args, 0)):
        if not path.startswith("!"):
            bulk = ("bulk",) if "*" in path else ()
            walk.out.effect("delete", path, *dict.fromkeys(("recursive", *more, *bulk)))
    return called_back(walk, args, UNKNOWN)


def _write(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    content, how = arg(args, 1), to_text(setting(args, "flag") or setting(args, "flags") or "w")
    verb = "truncate" if content == "" or setting(args, "length") == 0 else "append" if how.startswith("a") else "write"
    if setting(args, "append") is True:
        verb = "append"
    origin = strongest([content])
    for path, more in targets(arg(args, 0)):
        walk.out.effect(verb, path, *more)
        if origin is not None and origin.kind == "fetched" and known(path):
            walk.downloads[path] = origin.source
    return JsOrigin("file", to_text(arg(args, 0)))


def _open(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    mode = to_text(arg(args, 1)) if isinstance(arg(args, 1), str) else "r"
    if mode[:1] in "wa" and mode:
        _on_path("append" if mode.startswith("a") else "write")(walk, callee, args)
    return UNKNOWN


def _read(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    if isinstance(arg(args, 0), int):
        return UNKNOWN
    _on_path("read")(walk, callee, args)
    return JsOrigin("content", to_text(arg(args, 0)))


def _move(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    _on_path("move")(walk, callee, args)
    return _on_path("overwrite", at=1)(walk, callee, args)


def _copy(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    _on_path("read")(walk, callee, args)
    return _on_path("write", at=1)(walk, callee, args)


def _chmod(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    mode = arg(args, 1)
    if isinstance(mode, str) and mode.isdigit() and len(mode) <= 5 and not set(mode) & {"8", "9"}:
        mode = int(mode, 8)
    traits: list[str] = ["recursive"] if callee.name.startswith("chmodr") else []
    if isinstance(mode, int):
        bits = {"world_writable": mode & 0o002, "setuid": mode & 0o6000, "no_access": not mode & 0o777}
        traits += [trait for trait, on in bits.items() if on]
    return _on_path("chmod", *traits)(walk, callee, args)


def _list(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    source = arg(args, 0) if args else "."
    inside = isinstance(source, JsOrigin) and source.kind == "entry"
    return JsOrigin("entry", to_text(source), "*", deep=inside or setting(args, "recursive") is True)


def _glob(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    pattern = arg(args, 0)
    pattern = pattern[0] if isinstance(pattern, list) and pattern else pattern
    if callee.last.startswith("scan"):
        pattern = callee.chain[-1][1][0] if callee.chain and callee.chain[-1][1] else None
    where = setting(args, "cwd")
    text = to_text(pattern)
    made = JsOrigin(
        "entry", text, f"{to_text(where)}/{text}" if where is not None and not text.startswith("/") else text
    )
    return called_back(walk, args, made)


def _bun_file(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    return JsOrigin("file", to_text(arg(args, 0)))


def args_known(args: Args) -> bool:
    return bool(args) and isinstance(args[0], str) and known(args[0])


FILES: dict[str, Work] = {
    "fs.rm": _remove, "fs.rmdir": _remove, "fs.unlink": _on_path("delete"),
    "fs.remove": _on_path("delete", "recursive"), "fs.emptyDir": _on_path("delete", "recursive"),
    "fs.emptydir": _on_path("delete", "recursive"), "fs.truncate": _on_path("truncate"), "fs.writeFile": _write,
    "fs.outputFile": _write, "fs.writeJson": _on_path("write"), "fs.writeJSON": _on_path("write"),
    "fs.outputJson": _on_path("write"), "fs.appendFile": _on_path("append"), "fs.createWriteStream": _write,
    "fs.open": _open, "fs.readFile": _read, "fs.createReadStream": _read, "fs.readJson": _read, "fs.rename": _move,
    "fs.move": _move, "fs.copyFile": _copy, "fs.cp": _copy,
    "fs.copy": _copy, "fs.symlink": _on_path("write", at=1), "fs.link": _on_path("write", at=1),
    "fs.chmod": _chmod, "fs.lchmod": _chmod, "fs.chown": _on_path("chown"), "fs.lchown": _on_path("chown"),
    "chmodr": _chmod, "fs.readdir": _list, "fs.opendir": _list, "fs.glob": _glob, "glob": _glob, "glob.glob": _glob,
    "glob.sync": _glob, "glob.async": _glob, "glob.globby": _glob, "glob.stream": _glob, "glob.globStream": _glob,
    "glob.globIterate": _glob, "Bun.Glob().scan": _glob, "zx.glob": _glob, "Bun.file": _bun_file, "Bun.write": _write,
    "Deno.remove": _remove, "Deno.writeTextFile": _write, "Deno.writeFile": _write,
    "Deno.truncate": _on_path("truncate"), "Deno.rename": _move, "Deno.readTextFile": _read, "Deno.readFile": _read,
    "Deno.copyFile": _copy, "Deno.chmod": _chmod, "Deno.readDir": _list,
    "Deno.chown": _on_path("chown"), "Deno.env.toObject": lambda w, c, a: JsOrigin("environment"),
    "Deno.env.get": lambda w, c, a: "~" if arg(a, 0) == "HOME" else hole(to_text(arg(a, 0)) if args_known(a) else ""),
   
}  # fmt: skip
