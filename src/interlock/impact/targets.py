"""Resolves a path, glob or `find` expression to the real paths that exist; raises Unclear where shells differ."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from fnmatch import translate
from typing import Any

from interlock.impact import Budget, Unclear

_GLOB = re.compile(r"[*?\[]")
_ODD = re.compile(r"[()]")  # patterns that only some shells know
_ELSE = re.compile(r"[()^#<>|]|.~")  # what another shell, or one with other settings, takes for a pattern
_MADE_UP = ("/proc", "/sys", "/dev", "/run")  # made by the kernel as they are read, or of the running system
MOST = 10_000


def existing_paths(base: str, target: str, home: str, budget: Budget) -> list[str]:
    """The real paths that a target names, from a folder; a glob names what fits it, and the file of that very name."""
    path = join_target(base, target, home)
    found = [path] if _is_there(path) else []
    if _GLOB.search(target):
        if _ODD.search(target):
            raise Unclear("the pattern is not known here")
        found += list(_expanded(path, budget))
    places = list(dict.fromkeys(real_path(one) for one in found))
    if any(is_virtual(one) for one in places):
        raise Unclear("it is no ordinary file system")
    return places


def is_unambiguous(target: str) -> bool:
    """Whether a target that names nothing names nothing for every shell."""
    return not _ELSE.search(target)


def _is_there(path: str) -> bool:
    """Raises OSError where that cannot be told: a folder that cannot be looked into may hold anything."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def join_target(base: str, target: str, home: str) -> str:
    """The path that a target names from a folder, nothing resolved."""
    if target == "~" or target.startswith("~/"):
        if not home:
            raise Unclear("the home folder is not known")
        return os.path.join(home, target[2:])
    if target.startswith("~"):
        raise Unclear("another user's home is not looked at")
    return os.path.join(base, target)


def real_path(path: str) -> str:
    """The path without links in its folders; the last part stays what it is, unless a slash makes a folder of it."""
    name = os.path.basename(path)
    if name in ("", ".", ".."):
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), name)


def is_virtual(path: str) -> bool:
    """Whether it is no ordinary file system."""
    return path == "/" or any(path == one or path.startswith(f"{one}/") for one in _MADE_UP)


def _expanded(path: str, budget: Budget) -> Iterator[str]:
    parts = path.split("/")
    found = [("/", False)]  # and whether hidden names count
    for number, part in enumerate(parts[1:], 1):
        last = number == len(parts) - 1
        found = [one for at, hidden in found for one in _next(at, part, hidden, last, budget)]
        if len(found) > MOST:
            raise Unclear("the pattern fits too much")
    for at, _ in found:
        if _is_there(at):
            yield at


def _next(at: str, part: str, hidden: bool, last: bool, budget: Budget) -> Iterator[tuple[str, bool]]:
    if part == "**":
        if last:
            yield from ((path, True) for path, _ in _listed(at, budget))
        else:
            yield from ((path, True) for path in _below(at, budget))
    elif not _GLOB.search(part):
        yield os.path.join(at, part), hidden
    else:
        fits = re.compile(translate(part))
        for path, name in _listed(at, budget):
            shown = hidden or not name.startswith(".") or part.startswith(".")
            if shown and fits.match(name):
                yield path, hidden


def _below(at: str, budget: Budget) -> Iterator[str]:
    """A folder and all folders in it, without following links."""
    todo = [at]
    while todo:
        folder = todo.pop()
        yield folder
        for path, _ in _listed(folder, budget):
            if os.path.isdir(path) and not os.path.islink(path):
                todo.append(path)


def _listed(folder: str, budget: Budget) -> list[tuple[str, str]]:
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                budget.entry()
                found.append((entry.path, entry.name))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return found


_TYPES = {"f": stat.S_ISREG, "d": stat.S_ISDIR, "l": stat.S_ISLNK}
_ODD_NAME = re.compile(r"\[[^\]]*\[:|\\")


def find_paths(root: str, search: Mapping[str, Any], budget: Budget) -> Iterator[str]:
    """The paths below a real folder, itself included; raises Unclear for a pattern whose meaning is not sure here."""
    name = str(search["name"])
    if _ODD_NAME.search(name):
        raise Unclear("the pattern is not known here")
    fits = re.compile(translate(name), re.IGNORECASE if search["icase"] else 0)
    kind = _TYPES.get(str(search["type"]))
    least, most = (int(depth) for depth in search["depth"])
    if not os.path.lexists(root):
        return
    todo = [(root, os.lstat(root).st_mode, 0)]
    while todo:
        path, mode, depth = todo.pop()
        budget.entry()
        if depth >= least and fits.match(os.path.basename(path)) and (kind is None or kind(mode)):
            yield path
        if stat.S_ISDIR(mode) and depth != most:
            todo += [(entry.path, _mode(entry), depth + 1) for entry in os.scandir(path)]


def _mode(entry: os.DirEntry[str]) -> int:
    """What kind of thing it is, as the folder says; only where it does not, the thing itself is asked."""
    if entry.is_symlink():
        return stat.S_IFLNK
    if entry.is_dir(follow_symlinks=False):
        return stat.S_IFDIR
    return stat.S_IFREG if entry.is_file(follow_symlinks=False) else stat.S_IFIFO


def effective_home(question: Mapping[str, Any], own: str) -> str:
    """Empty, and so not known, where the question names a home that is not its user's."""
    named = question.get("home")
    if named is None or named == own:
        return own
    try:
        found = os.stat(str(named))
    except (OSError, ValueError):
        return ""
    return str(named) if str(named).startswith("/") and found.st_uid == os.getuid() else ""
