"""Resolves a path, glob or `find` expression to the real paths that exist; raises Unclear where shells differ."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator

from msgspec import Struct

from interlock.impact import Budget, Unclear
from interlock.impact.files import real_paths
from interlock.model import Json

_GLOB = re.compile(r"[*?\[]")
_ODD = re.compile(r"[()]")  # patterns that only some shells know
AMBIGUOUS = re.compile(r"[()^#<>|]|.~")  # patterns of other shells, or of shells with other settings
_VIRTUAL = ("/proc", "/sys", "/dev", "/run")  # made by the kernel as they are read, or of the running system
MOST = 10_000


def existing_paths(base: str, target: str, home: str, budget: Budget) -> list[str]:
    """A glob names its matches, and a file of that literal name."""
    path = join_target(base, target, home)
    found = [path] if _exists(path) else []
    if _GLOB.search(target):
        if _ODD.search(target):
            raise Unclear("the pattern is not known here")
        found += list(_expand(path, budget))
    places = list(dict.fromkeys(real_path(one) for one in found))
    if any(is_virtual(one) for one in places):
        raise Unclear("it is no ordinary file system")
    return places


def _exists(path: str) -> bool:
    """Raises OSError where that cannot be told: an unreadable folder may hold anything."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def join_target(base: str, target: str, home: str) -> str:
    if target == "~" or target.startswith("~/"):
        if not home:
            raise Unclear("the home folder is not known")
        return os.path.join(home, target[2:])
    if target.startswith("~"):
        raise Unclear("another user's home is not inspected")
    return os.path.join(base, target)


def real_path(path: str) -> str:
    """Links resolved in its folders; the last part stays, unless a slash makes it a folder."""
    return real_paths([(path, False)])[0]


def is_virtual(path: str) -> bool:
    """Whether a path lies on the kernel's or the running system's own file systems, or is the root."""
    return path == "/" or any(path == one or path.startswith(f"{one}/") for one in _VIRTUAL)


def _expand(path: str, budget: Budget) -> Iterator[str]:
    parts = path.split("/")[1:]
    found = [("/", False)]  # and whether hidden names count
    for number, part in enumerate(parts, 1):
        last = number == len(parts)
        found = [one for at, hidden in found for one in _next(at, part, hidden, last, budget)]
        if len(found) > MOST:
            raise Unclear("the pattern fits too much")
    return (at for at, _ in found if _exists(at))


def _next(at: str, part: str, hidden: bool, last: bool, budget: Budget) -> Iterator[tuple[str, bool]]:
    if part == "**" and last:
        yield from ((entry.path, True) for entry in _list(at, budget))
    elif part == "**":  # the folder and all folders in it, without following links
        yield at, True
        for entry in _list(at, budget):
            if entry.is_dir(follow_symlinks=False):
                yield from _next(entry.path, part, hidden, last, budget)
    elif not _GLOB.search(part):
        yield os.path.join(at, part), hidden
    else:
        fits = re.compile(glob_regex(part), re.DOTALL)
        for entry in _list(at, budget):
            if (hidden or part.startswith(".") or not entry.name.startswith(".")) and fits.fullmatch(entry.name):
                yield entry.path, hidden


# A set, a quoting backslash, or any other character.
_TOKEN = re.compile(r"\[([!^]?)(\]?(?:\[[:.=][^\]]*[:.=]\]|[^\]])*)\]|(\\)(?=.)|.", re.DOTALL)
_PIECE = re.compile(r"\[([:.=])(.*?)\1\]|(.)-(.)|\\?(.)", re.DOTALL)
# Classes as any locale may understand them.
_CLASSES = {
    **dict.fromkeys(("alpha", "alnum", "lower", "upper", "word", "graph"), r"\w"), "digit": r"\d", "xdigit": "0-9A-Fa-f", "space": r"\s",
    "blank": r"\s",
}  # fmt: skip


def glob_regex(pattern: str) -> str:
    """Matches every name that any common shell and locale would, and few others."""
    return _TOKEN.sub(_token_regex, pattern)


def _token_regex(found: re.Match[str]) -> str:
    if found[2] is not None:
        return _set_regex(found[2], bool(found[1]))
    if found[3]:
        return "\\\\?"  # quoted, unless the name has it
    return {"*": ".*", "?": "."}.get(found[0]) or re.escape(found[0])


def _set_regex(inside: str, negated: bool) -> str:
    pieces = [one.groups() for one in _PIECE.finditer(inside)]
    if negated:
        plain = inside and all(one[4] is not None for one in pieces)
        return f"[^{re.escape(''.join(one[4] for one in pieces))}]" if plain else "."
    found = ""
    for mark, name, first, last, char in pieces:
        if mark == ":":
            found += _CLASSES.get(name, r"\W\w")
        elif mark:
            return "."
        elif first is not None:  # a range has what the locale sorts between its ends, in both cases
            digits = first.isdigit() and last.isdigit() and first <= last
            found += f"{first}-{last}" if digits else r"\w" if first.isalnum() and last.isalnum() else r"\W\w"
        else:
            found += re.escape(char)
    return f"[{found}]" if found else "."


def _list(folder: str, budget: Budget) -> Iterator[os.DirEntry[str]]:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            budget.entry()
            yield entry


class EffectTargets(Struct, frozen=True):
    """Resolves the targets of a request's effects in every folder that it may run in."""

    bases: tuple[str, ...]
    home: str
    budget: Budget
    strayed: tuple[str, ...] = ()  # folders that the session went to before

    @classmethod
    def of(cls, question: Json, home: str, budget: Budget) -> EffectTargets:
        bases = tuple(map(str, question["bases"]))
        if not bases or not all(base.startswith("/") for base in bases):
            raise Unclear("the folder is not known")
        return cls(bases, effective_home(question, home), budget, tuple(map(str, question.get("strayed", ()))))

    def existing(self, target: object) -> list[str]:
        return [path for base in self.bases for path in existing_paths(base, str(target), self.home, self.budget)]

    def joined(self, target: object) -> list[str]:
        return [join_target(base, str(target), self.home) for base in self.bases]

    def paths(self, effect: Json) -> list[str]:
        if "found" not in effect:
            return self.existing(effect["target"])
        roots = self.existing(effect["found"]["root"])
        return [path for root in roots for path in find_paths(root, effect["found"], self.budget)]

    def named(self, effect: Json) -> list[str]:
        """A folder only where the program unpacks into it."""
        return [path for path in self.paths(effect) if effect["target"] == "." or os.path.isfile(path)]

    def replaced(self, path: str, effect: Json) -> list[str]:
        """The path itself, or in a folder the names that come; the folder where any may come."""
        sources = effect.get("from")
        if not os.path.isdir(path) or not sources:
            return [path]
        names: dict[str, None] = {}
        for source in map(str, sources):
            name = os.path.basename(source.rstrip("/"))
            if name in ("", ".", ".."):
                return [path]
            found = self.existing(source) if _GLOB.search(name) else [name]
            names |= dict.fromkeys(map(os.path.basename, found))
        return [one for name in names if _exists(one := os.path.join(path, name))]


_TYPES = {"f": stat.S_ISREG, "d": stat.S_ISDIR, "l": stat.S_ISLNK}


def find_paths(root: str, search: Json, budget: Budget) -> Iterator[str]:
    """The root included; raises Unclear for an ambiguous pattern."""
    fits = re.compile(glob_regex(str(search["name"])), re.DOTALL | (re.IGNORECASE if search["icase"] else 0))
    kind = _TYPES.get(str(search["type"]))
    least, most = (int(depth) for depth in search["depth"])
    if not os.path.lexists(root):
        return
    todo = [(root, os.lstat(root).st_mode, 0)]
    while todo:
        path, mode, depth = todo.pop()
        budget.entry()
        if depth >= least and fits.fullmatch(os.path.basename(path)) and (kind is None or kind(mode)):
            yield path
        if stat.S_ISDIR(mode) and depth != most:
            todo += [(entry.path, _mode(entry), depth + 1) for entry in os.scandir(path)]


def _mode(entry: os.DirEntry[str]) -> int:
    """The file itself is read only where the folder does not say."""
    if entry.is_symlink():
        return stat.S_IFLNK
    if entry.is_dir(follow_symlinks=False):
        return stat.S_IFDIR
    return stat.S_IFREG if entry.is_file(follow_symlinks=False) else stat.S_IFIFO


def effective_home(question: Json, own: str) -> str:
    """Empty, and so not known, where the request names one that is not its user's."""
    named = question.get("home")
    if named is None or named == own:
        return own
    try:
        found = os.stat(str(named))
    except (OSError, ValueError):
        return ""
    return str(named) if str(named).startswith("/") and found.st_uid == os.getuid() else ""
