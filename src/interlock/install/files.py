"""Reads and replaces one file of a user, backed up, whole or not at all; and the register of installed files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct, ValidationError, convert
from msgspec.structs import asdict

from interlock.config import Config, state_folder
from interlock.problems import ExpectedError

_MOST_BYTES = 16 * 1024 * 1024


class FileProblem(ExpectedError):
    """A file that cannot be read or replaced; the message names it and says why."""


class FileState(Struct, frozen=True):
    """`data` is None where the file does not exist."""

    path: Path  # behind every symbolic link
    data: bytes | None = None
    mode: int = 0o600
    owner: tuple[int, int] = (-1, -1)

    @property
    def text(self) -> str | None:
        if self.data is None:
            return None
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise FileProblem(f"{self.path}: line {line}: not UTF-8") from None


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_state(path: Path) -> FileState:
    """Refuses all but regular files, and files too large for settings."""
    with _named_errors(path):
        try:
            real = path.resolve()
            found = real.stat()
        except FileNotFoundError:
            return FileState(path.resolve())
        if not stat.S_ISREG(found.st_mode):
            raise FileProblem(f"{path}: not a regular file")
        if found.st_size > _MOST_BYTES:
            raise FileProblem(f"{path}: {found.st_size} bytes are too many for settings")
        return FileState(real, real.read_bytes(), stat.S_IMODE(found.st_mode), (found.st_uid, found.st_gid))


def fill_file(path: Path, words: Mapping[str, object]) -> str:
    """Each @WORD@ of a file of ours is filled in."""
    return re.sub("@([A-Z_]+)@", lambda word: str(words[word[1]]), path.read_text("utf-8"))


def replace_file(current: FileState, data: bytes, mode: int) -> list[Path]:
    """Keeps mode and owner; refuses where it changed meanwhile. Returns the folders it created."""
    made: list[Path] = []
    try:
        with _named_errors(current.path):
            made = _folders(current.path.parent)
            _replace(current, data, current.mode if current.data is not None else mode)
    except FileProblem:
        _remove_folders(made)
        raise
    return made


def write_file(path: Path, data: bytes, mode: int = 0o644) -> None:
    replace_file(read_state(path), data, mode)


def back_up(current: FileState, stamp: str) -> Path:
    """Beside the file, with its mode and owner; never overwrites."""
    assert current.data is not None
    for more in ("", *(f"-{number}" for number in range(2, 100))):
        path = current.path.with_name(f"{current.path.name}.interlock-backup-{stamp}{more}")
        with _named_errors(path), suppress(FileExistsError):
            _write_new(path, current.data, current.mode, current.owner)
            return path
    raise FileProblem(f"{current.path}: too many backups beside it")


def remove_file(current: FileState, made: Sequence[Path] = ()) -> None:
    """With those of these folders that are then empty; refuses where it changed meanwhile."""
    _unchanged(current)
    with _named_errors(current.path):
        current.path.unlink()
    _remove_folders(made)


def _replace(current: FileState, data: bytes, mode: int) -> None:
    temporary = current.path.with_name(f".{current.path.name}.{secrets.token_hex(6)}")
    try:
        _write_new(temporary, data, mode, current.owner)
        _unchanged(current)
        temporary.replace(current.path)
    finally:
        temporary.unlink(missing_ok=True)
    folder = os.open(current.path.parent, os.O_RDONLY | os.O_DIRECTORY)
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


def _unchanged(current: FileState) -> None:
    if read_state(current.path).data != current.data:
        raise FileProblem(f"{current.path}: it changed just now; try again")


def _folders(folder: Path) -> list[Path]:
    missing = [one for one in reversed((folder, *folder.parents)) if not one.is_dir()]
    for path in missing:
        path.mkdir(mode=0o755)
    return missing


def _remove_folders(made: Sequence[Path]) -> None:
    for folder in reversed(made):
        with suppress(OSError):
            folder.rmdir()


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        why = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        raise FileProblem(f"{path}: {why}") from None


NAME = "hooks.json"
_VERSION = 1


class RegisteredFile(Struct, frozen=True):
    agent: str
    scope: str
    project: str  # the folder where install ran
    path: str  # as the agent spells it
    written: str  # the hash of the file as install left it
    client: str = ""  # the hook client's path
    url: str = ""  # the daemon's address, for HTTP hooks
    backup: str = ""  # the copy of the original; empty where there was none
    before: str = ""  # the hash of the original
    made: tuple[str, ...] = ()  # the folders that install created


def register_path(config: Config) -> Path:
    """Beside the state, or in this user's own folder where another user has the state."""
    folder = state_folder() if config.separate.on and not os.access(config.folder, os.W_OK) else config.folder
    return folder / NAME


def registered_files(config: Config) -> tuple[RegisteredFile, ...]:
    """Empty where it is unreadable, as the files themselves are what counts."""
    try:
        text = read_state(register_path(config)).text
        data = json.loads(text) if text else {}
    except (FileProblem, ValueError, RecursionError):
        return ()
    rows = data.get("hooks") if isinstance(data, dict) else None
    found = []
    for row in rows if isinstance(rows, list) else ():
        with suppress(ValidationError):  # what no installation wrote
            found.append(convert(row, RegisteredFile))
    return tuple(found)


def find_registered(config: Config, path: Path) -> RegisteredFile | None:
    return next((entry for entry in registered_files(config) if entry.path == str(path)), None)


def register_file(config: Config, entry: RegisteredFile) -> None:
    """Uninstall restores the original from before the first installation."""
    _save(config, [*(other for other in registered_files(config) if other.path != entry.path), entry])


def unregister_file(config: Config, path: str) -> None:
    _save(config, [entry for entry in registered_files(config) if entry.path != path])


def _save(config: Config, rows: Iterable[RegisteredFile]) -> None:
    path, data = register_path(config), {"version": _VERSION, "hooks": list(map(asdict, rows))}
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_file(path, json.dumps(data, indent=2).encode() + b"\n", 0o600)
