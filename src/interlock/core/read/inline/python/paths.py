"""Paths: what joining, climbing and renaming make of them, the way os.path and pathlib do."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping

from interlock.core.read.facts import HOLE, hole
from interlock.core.read.inline.python.values import MAX_TEXT, Value, marked, text_of


def join_path(*parts: Value) -> str:
    """Path segments put together."""
    texts = [text_of(part) for part in parts]
    joined = posixpath.join(*texts) if texts else "."
    while joined.startswith("./") and len(joined) > 2:
        joined = joined[2:].lstrip("/") or "."
    return marked(joined[:MAX_TEXT], *parts)


def parent_of(path: str) -> str:
    """The directory a path is in; unknown where the last known part is not the name."""
    head, slash, tail = path.rstrip("/").rpartition("/")
    if tail.count(HOLE) % 2 or (HOLE in path and not slash):
        return marked(hole(), path)
    return marked(head or ("/" if slash else "."), path)


def with_name(path: str, name: str) -> str:
    """The path with another last part."""
    head, slash, _ = path.rpartition("/")
    return marked(head + slash + name, path)


def with_suffix(path: str, suffix: str) -> str:
    """The path with another ending."""
    head, slash, tail = path.rpartition("/")
    return marked(head + slash + posixpath.splitext(tail)[0] + suffix, path)


PATH_ATTRIBUTES: Mapping[str, Callable[[str], Value]] = {
    "parent": parent_of,
    "name": lambda path: marked(posixpath.basename(path), path),
    "path": lambda path: path,
    "stem": lambda path: marked(posixpath.splitext(posixpath.basename(path))[0], path),
    "suffix": lambda path: posixpath.splitext(path)[1],
    "anchor": lambda path: "/" if path.startswith("/") else "",
}
