"""Reads script text from regular files, bounded, and resolves paths link by link as the kernel would."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from interlock.analysis.shell import MAX_SCRIPT
from interlock.impact import Unclear, open_regular

MAX_BYTES = MAX_SCRIPT
MAX_HASHED = 1 << 26
_VIRTUAL = ("/proc/", "/sys/", "/dev/")  # made by the kernel as they are read
_FIRST_LINE = 80  # a shell takes a file for a program when there is a NUL in the first line, of which it reads so much


def read_text(path: str) -> str | None:
    """The text of a script; None for anything that is no ordinary file or no text; longer than MAX_BYTES when it was cut."""
    data = read_bytes(path, MAX_BYTES)
    if data is None or b"\0" in data[:_FIRST_LINE].split(b"\n", 1)[0]:
        return None
    if len(data) <= MAX_BYTES:
        return decode(data)
    mark = f"\n#{_mark(path)}"  # at its end a hash of the whole file, in a comment: an approval is for the whole script
    return data.decode("latin-1")[: len(data) - len(mark)] + mark


def _mark(path: str) -> str:
    """A hash of a long file; beyond MAX_HASHED bytes its size and modification time stand for the rest."""
    whole, left = hashlib.sha256(), MAX_HASHED
    try:
        with open_regular(path, links=True) as file:
            while left > 0 and (part := file.read(1 << 20)):
                whole.update(part)
                left -= len(part)
            found = os.fstat(file.fileno())
        whole.update(f"{found.st_size} {found.st_mtime_ns if left <= 0 else ''}".encode())
    except (OSError, Unclear) as error:
        whole.update(str(error).encode())
    return whole.hexdigest()


def read_bytes(path: str, limit: int) -> bytes | None:
    """The first `limit` + 1 bytes of a regular file, not one that the kernel makes; None for anything else."""
    try:
        with open_regular(path, links=True) as file:
            return file.read(limit + 1) if not os.path.realpath(path).startswith(_VIRTUAL) else None
    except (OSError, ValueError, Unclear):
        return None


def decode(data: bytes) -> str:
    """Bytes as text, any bytes: a stray one must not keep a script from being read."""
    text = data.replace(b"\0", b"")  # as shells do
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError:
        return text.decode("latin-1")


class Hidden(OSError):
    """This user may not search a folder on the way."""


def real_paths(paths: Sequence[tuple[str, bool]], strict: bool = False) -> list[str]:
    """Resolves the links of each absolute path; the flag beside it says whether a link at its end is followed. `strict` raises Hidden."""
    found = []
    for path, follow in paths:
        head, name = os.path.split(path)
        try:
            whole = follow or name in ("", ".", "..")
            found.append(_realpath(path, strict) if whole else os.path.join(_realpath(head, strict), name))
        except ValueError:  # a NUL: no such path
            found.append(path)
    return found


def _realpath(path: str, strict: bool) -> str:
    if strict:
        try:
            return os.path.realpath(path, strict=True)
        except PermissionError as error:
            raise Hidden(str(error)) from None
        except OSError:
            pass
    return os.path.realpath(path) if path else path
