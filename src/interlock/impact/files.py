"""Reads script text from regular files, bounded, and resolves paths link by link as the kernel would."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence

from interlock.analysis.shell import MAX_SCRIPT

MAX_BYTES = MAX_SCRIPT
MAX_HASHED = 1 << 26
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_VIRTUAL = ("/proc/", "/sys/", "/dev/")  # made by the kernel as they are read
_FIRST_LINE = 80  # a shell takes a file for a program when there is a NUL in the first line, of which it reads so much


def read_text(path: str) -> str | None:
    """The text of a script; None for anything that is no ordinary file or no text; longer than MAX_BYTES when it was cut."""
    data = read_bytes(path, MAX_BYTES)
    if data is None or _is_program(data):
        return None
    return _cut(path, data) if len(data) > MAX_BYTES else decode(data)


def _cut(path: str, data: bytes) -> str:
    """The beginning, with a hash of the whole file in a comment at its end: an approval is for the whole script."""
    mark = f"\n#{_mark(path)}"
    return data.decode("latin-1")[: len(data) - len(mark)] + mark


def _mark(path: str) -> str:
    """A hash of a long file; beyond MAX_HASHED bytes its size and modification time stand for the rest."""
    whole = hashlib.sha256()
    try:
        handle = os.open(path, _FLAGS)
        try:
            left, found = MAX_HASHED, os.fstat(handle)
            while left > 0 and (part := os.read(handle, 1 << 20)):
                whole.update(part)
                left -= len(part)
        finally:
            os.close(handle)
        whole.update(f"{found.st_size} {found.st_mtime_ns if left <= 0 else ''}".encode())
    except OSError as error:
        whole.update(str(error).encode())
    return whole.hexdigest()


def read_bytes(path: str, limit: int) -> bytes | None:
    """The first `limit` + 1 bytes of a regular file; opens no device, FIFO or socket, and never waits for one."""
    try:
        before = os.stat(path)
        if not stat.S_ISREG(before.st_mode):
            return None
        # It may have been replaced since: O_NONBLOCK opens a FIFO without waiting, and the open file is checked again.
        handle = os.open(path, _FLAGS)
        try:
            opened = os.fstat(handle)
            if not stat.S_ISREG(opened.st_mode) or _is_virtual(path):
                return None
            return _read(handle, limit + 1)
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return None


def decode(data: bytes) -> str:
    """Bytes as text, any bytes: a stray one must not keep a script from being read."""
    text = data.replace(b"\0", b"")  # as shells do
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _is_virtual(path: str) -> bool:
    return os.path.realpath(path).startswith(_VIRTUAL)


def _read(handle: int, count: int) -> bytes:
    parts: list[bytes] = []
    while count > 0 and (part := os.read(handle, min(count, 65536))):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _is_program(data: bytes) -> bool:
    return b"\0" in data[:_FIRST_LINE].split(b"\n", 1)[0]


class Hidden(OSError):
    """This user may not search a folder on the way."""


def real_paths(paths: Sequence[tuple[str, bool]], strict: bool = False) -> list[str]:
    """Resolves the links of each absolute path; the flag beside it says whether a link at its end is followed. `strict` raises Hidden."""
    return [_real(path, follow, strict) for path, follow in paths]


def _real(path: str, follow: bool, strict: bool) -> str:
    head, name = os.path.split(path)
    try:
        if follow or name in ("", ".", ".."):
            return _realpath(path, strict)
        return os.path.join(_realpath(head, strict), name)
    except ValueError:  # a NUL: no such path
        return path


def _realpath(path: str, strict: bool) -> str:
    if strict:
        try:
            return os.path.realpath(path, strict=True)
        except PermissionError as error:
            raise Hidden(str(error)) from None
        except OSError:
            pass
    return os.path.realpath(path) if path else path
