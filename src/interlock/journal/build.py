"""Builds the supervisor from its C sources, statically; there is no journal where that fails."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from interlock.config import Config
from interlock.journal import FOLDER, PROGRAM, JournalError
from interlock.journal.store import JournalStore

SOURCES = Path(__file__).with_name("supervisor")
_COMPILERS = ("/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang", "/usr/local/bin/cc")
_SECONDS = 120


def supervisor_of(config: Config) -> Path:
    """The supervisor's path, whether or not it is built."""
    folder = Path(config.separate.code) if config.separate.code else config.folder.absolute()
    return folder / "bin" / PROGRAM


def store_of(config: Config) -> JournalStore:
    """The store of this user's journals."""
    return JournalStore(config.folder.absolute() / FOLDER)


def ready(config: Config) -> tuple[Path, JournalStore]:
    """A supervisor that is built and a store that it can use; raises JournalError with the reason why there is none."""
    program, store = supervisor_of(config), store_of(config)
    if not is_built(program):
        build(program)
    try:
        store.prepare(config)
        store.prune(time.time(), config.undo.days)  # there may be no daemon that does
    except OSError as error:
        raise JournalError(f"{error.filename}: {error.strerror}") from None
    return program, store


def is_built(program: Path) -> bool:
    """Whether the supervisor is there, and made from the present sources."""
    try:
        return os.access(program, os.X_OK) and _stamp(program).read_text("ascii") == _version()
    except OSError:
        return False


def build(to: Path) -> None:
    """Compiles the supervisor and puts it in place whole; one that runs goes on as it is."""
    compiler = next((path for path in _COMPILERS if os.access(path, os.X_OK)), None) or shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        raise JournalError("the journal needs Linux and a C compiler to build its supervisor once")
    try:
        to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=to.parent) as work:
            new = Path(work) / PROGRAM
            sources = map(str, sorted(SOURCES.glob("*.c")))
            argv = [compiler, "-O2", "-static", "-Wall", "-o", str(new), *sources]
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                env={"PATH": "/usr/bin:/bin"},
            )
            if done.returncode != 0 or subprocess.run([new], capture_output=True, timeout=10).returncode != 2:
                raise JournalError(
                    f"the supervisor cannot be built: {done.stderr.strip()[-300:] or 'it does not run here'}"
                )
            new.chmod(0o700)
            new.replace(to)
            _stamp(to).write_text(_version(), "ascii")
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JournalError(f"the supervisor cannot be built: {error}") from None


def _stamp(program: Path) -> Path:
    return program.with_suffix(".sources")


def _version() -> str:
    """Changes with the sources."""
    found = hashlib.sha256()
    for path in sorted(SOURCES.iterdir()):
        if path.suffix in (".c", ".h"):
            found.update(path.read_bytes())
    return found.hexdigest()
