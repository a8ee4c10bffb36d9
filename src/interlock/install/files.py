"""Reads and replaces one file of a user: backed up first, replaced whole or not at all, refused where it changed meanwhile."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_MOST_BYTES = 16 * 1024 * 1024


class FileProblem(Exception):
    """A file that cannot be read or replaced; the message names it and says why."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file at the moment when it was looked at; `data` is None where there is none."""

    path: Path  # behind every symbolic link
    data: bytes | None = None
    mode: int = 0o600
    owner: tuple[int, int] = (-1, -1)

    @property
    def text(self) -> str | None:
        """What is in it; refuses what is no UTF-8."""
        if self.data is None:
            return None
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise FileProblem(f"{self.path}: line {line}: not UTF-8") from None


def digest(data: bytes) -> str:
    """A hash to tell contents apart by."""
    return hashlib.sha256(data).hexdigest()


def read_state(path: Path) -> FileState:
    """The file that a path leads to; refuses what is no regular file and what is too large to be settings."""
    try:
        real = path.resolve()
        found = real.stat()
    except FileNotFoundError:
        return FileState(path.resolve())
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead to each other
        raise FileProblem(f"{path}: {_why(error)}") from None
    if not stat.S_ISREG(found.st_mode):
        raise FileProblem(f"{path}: not a regular file")
    if found.st_size > _MOST_BYTES:
        raise FileProblem(f"{path}: {found.st_size} bytes are too many for settings")
    try:
        data = real.read_bytes()
    except OSError as error:
        raise FileProblem(f"{path}: {_why(error)}") from None
    return FileState(real, data, stat.S_IMODE(found.st_mode), (found.st_uid, found.st_gid))


def replace_file(seen: FileState, data: bytes, mode: int) -> list[Path]:
    """Puts these bytes in the file's place, with its mode and owner; refuses where it changed meanwhile. Answers the folders that it made."""
    made: list[Path] = []
    try:
        made = _folders(seen.path.parent)
        _replace(seen, data, seen.mode if seen.data is not None else mode)
    except OSError as error:
        _unmake(made)
        raise FileProblem(f"{seen.path}: {_why(error)}") from None
    except FileProblem:
        _unmake(made)
        raise
    return made


def back_up(seen: FileState, stamp: str) -> Path:
    """A copy beside the file, with its mode and owner; never over another one."""
    assert seen.data is not None
    for more in ("", *(f"-{number}" for number in range(2, 100))):
        path = seen.path.with_name(f"{seen.path.name}.interlock-backup-{stamp}{more}")
        try:
            _write_new(path, seen.data, seen.mode, seen.owner)
        except FileExistsError:
            continue
        except OSError as error:
            raise FileProblem(f"{path}: {_why(error)}") from None
        return path
    raise FileProblem(f"{seen.path}: too many backups beside it")


def remove_file(seen: FileState, made: tuple[Path, ...] = ()) -> None:
    """Removes the file, and of these folders those that are empty then; refuses where the file changed meanwhile."""
    _unchanged(seen)
    try:
        seen.path.unlink()
    except OSError as error:
        raise FileProblem(f"{seen.path}: {_why(error)}") from None
    _unmake(list(made))


def _replace(seen: FileState, data: bytes, mode: int) -> None:
    temporary = seen.path.with_name(f".{seen.path.name}.{secrets.token_hex(6)}")
    try:
        _write_new(temporary, data, mode, seen.owner)
        _unchanged(seen)
        temporary.replace(seen.path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
    folder = os.open(seen.path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _write_new(path: Path, data: bytes, mode: int, owner: tuple[int, int]) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(file, "wb") as out:
            out.write(data)
            out.flush()
            made = os.fstat(out.fileno())
            if owner != (-1, -1) and owner != (made.st_uid, made.st_gid):
                os.fchown(out.fileno(), *owner)
            os.fchmod(out.fileno(), mode)
            os.fsync(out.fileno())
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def _unchanged(seen: FileState) -> None:
    if read_state(seen.path).data != seen.data:
        raise FileProblem(f"{seen.path}: it changed just now; try again")


def _folders(folder: Path) -> list[Path]:
    """Makes the folders that are missing, outermost first."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(mode=0o755)
    return list(reversed(missing))


def _unmake(made: list[Path]) -> None:
    for folder in reversed(made):
        with suppress(OSError):
            folder.rmdir()


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
