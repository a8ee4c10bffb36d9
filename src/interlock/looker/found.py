"""What would `find` find? The same walk: no link is followed, and a name fits as it does there."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from fnmatch import translate
from typing import Any

from interlock.looker.budget import Budget, Unclear

_TYPES = {"f": stat.S_ISREG, "d": stat.S_ISDIR, "l": stat.S_ISLNK}
_ODD = re.compile(r"\[[^\]]*\[:|\\")


def found(root: str, search: Mapping[str, Any], budget: Budget) -> Iterator[str]:
    """The paths below a real folder, itself included; raises Unclear for a pattern whose meaning is not sure here."""
    name = str(search["name"])
    if _ODD.search(name):
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
