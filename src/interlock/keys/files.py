"""The installation's own keys: 32 random bytes each, made once, in files that only its user can read."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from interlock.keys.signing import SigningKey

KEY_BYTES = 32
INSTALLATION = "installation.key"  # digests are made under it
CHECKPOINTS = "checkpoint.key"  # the audit's checkpoints are signed with it


class KeyFileError(Exception):
    """A key file that cannot be trusted or used; the message says what to do."""


def installation_key(folder: Path) -> bytes:
    """The key that digests are made under; made at the first start."""
    return _kept(folder / INSTALLATION)


def checkpoint_key(folder: Path) -> SigningKey:
    """The key that the audit's checkpoints are signed with; made at the first start."""
    return SigningKey.of(_kept(folder / CHECKPOINTS))


def _kept(path: Path) -> bytes:
    """The key in a file, made where there is none; refuses a file that others can read, that is a link, or that is cut short."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.path.lexists(path):
            _make(path)
        return _read(path)
    except OSError as error:
        raise KeyFileError(f"{path}: {error.strerror or error}") from None


def _make(path: Path) -> None:
    """Written beside its place, then linked into it: a crash leaves no half key, and of two makers one wins."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(file, "wb") as out:
            out.write(secrets.token_bytes(KEY_BYTES))
            out.flush()
            os.fsync(out.fileno())
        with suppress(FileExistsError):
            os.link(beside, path)
    finally:
        os.unlink(beside)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read(path: Path) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(file, "rb") as source:
        found = os.fstat(source.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise KeyFileError(f"{path}: expected a regular file")
        if found.st_uid != os.geteuid():
            raise KeyFileError(f"{path}: belongs to user {found.st_uid}, expected {os.geteuid()}")
        if found.st_mode & 0o077:
            mode = stat.S_IMODE(found.st_mode)
            raise KeyFileError(f"{path}: mode {mode:04o}, expected 0600; others could read it, so replace the key")
        key = source.read(KEY_BYTES + 1)
    if len(key) != KEY_BYTES:
        raise KeyFileError(f"{path}: expected {KEY_BYTES} bytes, got {'more' if len(key) > KEY_BYTES else len(key)}")
    return key
