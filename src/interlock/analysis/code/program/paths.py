"""Results of calls that make paths: put together, listed, taken apart."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping

from interlock.analysis.code.program.values import (
    UNKNOWN,
    Marked,
    Value,
    flat,
    join_path,
    marked,
    origin,
    parent_of,
    tagged,
    text_of,
    traits_of,
)
from interlock.analysis.facts import hole, known

PATH = "kind:path"  # trait of a text that is a path object


def items(value: Value) -> list[Value]:
    """A text is one item."""
    found = None if isinstance(value, (str, bytes)) else flat(value)
    return [value] if found is None else found


def spread(values: Iterable[Value]) -> list[Value]:
    return [one for value in values for one in items(value)]


def as_path(*parts: Value) -> Value:
    texts = [one for one in spread(parts) if one is not None and one != ""]
    joined = join_path(*texts) if texts else "."
    return tagged(joined, PATH)


def listing(*patterns: Value) -> Value:
    return [tagged(one, "bulk", PATH, *["deep"] * ("**" in text_of(one))) for one in spread(patterns) or ["*"]]


def tree(*places: Value) -> Value:
    return [tagged(text, "deep") for text in listing(*places)]


def _bulk(*parts: Value, walk: bool = False) -> str:
    return tagged(join_path(*parts), "bulk", *["walk"] * walk)


def _joined_path(*parts: Value) -> Value:
    joined = "/".join(text for text in map(text_of, parts) if text) or "."
    return marked(_tidied(joined), *parts)


def _tidied(path: str) -> str:
    if known(path):
        path = posixpath.normpath(path)
    return path[1:] if path.startswith("//") else path


def _below_folder(path: Value, base: Value = None, *_: Value) -> Value:
    if base is None or "://" in text_of(path):
        return path
    return _joined_path(parent_of(text_of(base)) if known(text_of(base)) else ".", path)


def _names_in(folder: Value = ".", options: Value = None, *_: Value) -> Value:
    below = "deep" in traits_of(folder) or (isinstance(options, dict) and options.get("recursive") is True)
    return [Marked("*", {"bulk", f"in:{text_of(folder)}"} | ({"deep"} if below else set()))]


def _found(pattern: Value, options: Value = None, *_: Value) -> Value:
    where = options.get("cwd") if isinstance(options, dict) else None
    return listing(*(one if where is None else join_path(where, one) for one in items(pattern)))


PATHS: Mapping[str, Callable[..., Value]] = {
    "path": as_path,
    "joined": join_path,
    "joined_path": _joined_path,
    "resolved_path": lambda *parts: marked(_tidied(join_path(*(part for part in parts if part != ""))), *parts),
    "below_folder": _below_folder,
    "listing": listing,
    "found": _found,
    "entries": lambda *_: [Marked(hole(), {"bulk"})],
    "bulk": lambda *parts: [_bulk(*parts)],
    "bulk_below": lambda *parts: [_bulk(*parts, "*")],
    "bulk_deep": lambda place, pattern="*", *_: [_bulk(place, "**", pattern, walk=True)],
    "names_in": _names_in,
    "folder": lambda value, *_: origin(value, "in:") or hole(),
    "walked": lambda top=".", *_: [(_bulk(top, "**", walk=True), [_bulk("*", walk=True)], [_bulk("*", walk=True)])],
    "tree": tree,
    "tmp": lambda *_: Marked(f"/tmp/tmp{hole()}", {PATH}),  # made by the program itself
    "tmp_pair": lambda *_: (UNKNOWN, Marked(f"/tmp/tmp{hole()}", {PATH})),
    "with_name": lambda path, name: marked(f"{path[: path.rfind('/') + 1]}{text_of(name)}", path),
    "with_suffix": lambda path, suffix: marked(posixpath.splitext(path)[0] + text_of(suffix), path),
    "basename": lambda path, *_: marked(posixpath.basename(text_of(path)), path),
    "dirname": lambda value, *_: parent_of(text_of(value)),
    "stem": lambda path, *_: marked(posixpath.splitext(posixpath.basename(path))[0], path),
    "suffix": lambda path, *_: posixpath.splitext(path)[1],
    "anchor": lambda path, *_: "/" if path.startswith("/") else "",
}
