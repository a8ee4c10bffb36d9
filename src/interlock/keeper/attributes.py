"""Extended attributes and access lists of files and folders: what a user can give them beside a mode, read and put back."""

from __future__ import annotations

import base64
import errno
import os
from collections.abc import Iterable
from typing import Any

from interlock.looker.budget import Unclear

Attributes = tuple[tuple[str, str], ...]  # names with their values in base64, sorted
MOST = 65_536  # bytes of one file's
_PREFIX = "user."
_NAMES = frozenset({"system.posix_acl_access", "system.posix_acl_default"})
_NONE = frozenset({errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENODATA, errno.ENOSYS})


def attributes(target: int | str) -> Attributes:
    """Those of an open file, or of a path whose last part is not followed; none where the file system has none."""
    found = {name: _value(target, name) for name in _listed(target)}
    if sum(map(len, found.values())) > MOST:
        raise Unclear("it has too large attributes")
    return tuple(sorted((name, base64.b64encode(value).decode()) for name, value in found.items()))


def put(target: int | str, wanted: Attributes) -> bool:
    """These and no others of their kinds; False where that could not be done."""
    try:
        there = dict(attributes(target))
        for name in there.keys() - dict(wanted).keys():
            os.removexattr(target, name, follow_symlinks=isinstance(target, int))
        for name, value in wanted:
            if there.get(name) != value:
                os.setxattr(target, name, base64.b64decode(value), follow_symlinks=isinstance(target, int))
    except (OSError, Unclear):
        return False
    return True


def attributes_of(given: Iterable[Any]) -> Attributes:
    """Out of JSON; raises ValueError and TypeError for what is none."""
    found = tuple((str(name), str(value)) for name, value in given)
    for name, value in found:
        if not _ours(name) or len(base64.b64decode(value, validate=True)) > MOST:
            raise ValueError("no attribute that is kept")
    return found


def _ours(name: str) -> bool:
    return name.startswith(_PREFIX) or name in _NAMES


def _listed(target: int | str) -> list[str]:
    try:
        return [name for name in os.listxattr(target, follow_symlinks=isinstance(target, int)) if _ours(name)]
    except OSError as error:
        if error.errno in _NONE:
            return []
        raise


def _value(target: int | str, name: str) -> bytes:
    return os.getxattr(target, name, follow_symlinks=isinstance(target, int))
