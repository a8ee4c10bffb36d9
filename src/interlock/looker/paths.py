"""Says where paths really lead, link by link, as the kernel would."""

from __future__ import annotations

import os
from collections.abc import Sequence


class Hidden(OSError):
    """A folder on the way cannot be looked into by this user."""


def real_paths(asked: Sequence[tuple[str, bool]], strict: bool = False) -> list[str]:
    """Each absolute path without links; the link at its end is followed where that is said. `strict` raises Hidden."""
    return [_real(path, follow, strict) for path, follow in asked]


def _real(path: str, follow: bool, strict: bool) -> str:
    head, name = os.path.split(path)
    try:
        if follow or name in ("", ".", ".."):
            return _led(path, strict)
        return os.path.join(_led(head, strict), name)
    except ValueError:  # a NUL: no such path
        return path


def _led(path: str, strict: bool) -> str:
    if strict:
        try:
            return os.path.realpath(path, strict=True)
        except PermissionError as error:
            raise Hidden(str(error)) from None
        except OSError:
            pass
    return os.path.realpath(path) if path else path
