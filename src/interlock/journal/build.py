"""Builds the supervisor from its C sources and runs commands below it; there is no journal where that fails."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from interlock.config import Config, state_folder
from interlock.journal import FOLDER, PROGRAM, JournalError
from interlock.journal.store import JournalStore

SOURCES = Path(__file__).with_name("supervisor")
_COMPILERS = ("/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang", "/usr/local/bin/cc")
_SECONDS = 120
_CURES = {  # words of the supervisor -> what to do
    "seccomp": "it takes Linux 5.9, and in a container `--security-opt seccomp=unconfined`",
    "memory": "allow a parent to read its children: `sysctl -w kernel.yama.ptrace_scope=1`, in a container `--cap-add SYS_PTRACE`",
    "/": "its folder has to be yours alone (chmod 700), on a disk that can be written",
}


def supervisor_of(config: Config) -> Path:
    return Path(config.separate.code or config.folder.absolute(), "bin", PROGRAM)


def store_of(config: Config) -> JournalStore:
    """The store of this user's journals, also where the daemon has a user of its own and hides its state."""
    return JournalStore((state_folder() if config.separate.on else config.folder).absolute() / FOLDER)


def ready(config: Config) -> tuple[Path, JournalStore]:
    """Raises JournalError with the reason why there is none."""
    program, store = supervisor_of(config), store_of(config)
    if not is_built(program):
        build_for(config)
    try:
        store.prepare(config)
        store.prune(time.time(), config.undo.days)  # there may be no daemon that does
    except OSError as error:
        raise JournalError(f"{error.filename}: {error.strerror}") from None
    return program, store


def problem_of(config: Config) -> str:
    """Empty where a command has just run below the supervisor."""
    if not config.undo.journal:
        return "it is switched off (undo.journal)"
    if sys.platform != "linux":
        return "it needs Linux; snapshots are taken instead"
    if not is_built(supervisor_of(config)):
        why = "install a C compiler (gcc, clang) and" if _compiler() is None else "to build its supervisor,"
        return f"{why} run `interlock install`"
    try:
        program, store = ready(config)
        done = run_quietly([program, store.path, "--", "/bin/sh", "-c", ": > /dev/null"])
    except (JournalError, OSError, subprocess.TimeoutExpired) as error:
        return f"{error}; make that folder yours, with some space left"
    if done.returncode == 0:
        return ""
    said = done.stderr.strip().rpartition("\n")[2].removeprefix("interlock: the command was not run: ")
    cures = (cure for word, cure in _CURES.items() if word in said)
    return f"{said or done.returncode}; {next(cures, '`interlock journal --probe` tries again')}"


def is_built(program: Path) -> bool:
    try:
        return os.access(program, os.X_OK) and program.with_suffix(".sources").read_text("ascii") == _version()
    except OSError:
        return False


def build_for(config: Config) -> None:
    build(supervisor_of(config), 0o755 if config.separate.code else 0o700)


def build(to: Path, mode: int = 0o700) -> None:
    """Whole; one that runs goes on as it is."""
    if sys.platform != "linux" or _compiler() is None:
        raise JournalError("the journal needs Linux and a C compiler to build its supervisor once")
    try:
        to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=to.parent) as work:
            new = Path(work) / PROGRAM
            compile_static(new, sorted(SOURCES.glob("*.c")))
            new.chmod(mode)
            new.replace(to)
            to.with_suffix(".sources").write_text(_version(), "ascii")
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JournalError(f"the supervisor cannot be built: {error}") from None


def compile_static(to: Path, sources: Sequence[Path], *options: str) -> None:
    """Statically, so that an agent cannot preload a library; raises OSError and TimeoutExpired.

    It has to reject a call without arguments, as ours do: a cross-compiled one does not even start.
    """
    compiler = _compiler()
    if compiler is None:
        raise OSError("there is no C compiler")
    argv = [compiler, "-O2", "-static", "-Wall", *options, "-o", str(to), *map(str, sources)]
    done = run_quietly(argv, env={"PATH": "/usr/bin:/bin"})
    if done.returncode != 0 or run_quietly([to], 10.0).returncode != 2:
        raise OSError(done.stderr.strip()[-300:] or "it does not run here")


def run_quietly(
    argv: Sequence[str | Path], seconds: float | None = _SECONDS, **how: Any
) -> subprocess.CompletedProcess[str]:
    """Without input, its output kept; raises OSError and TimeoutExpired."""
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "errors": "replace"}
    return subprocess.run(argv, timeout=seconds, **quiet, **how)


def _compiler() -> str | None:
    return next((path for path in _COMPILERS if os.access(path, os.X_OK)), None) or shutil.which("cc")


def _version() -> str:
    sources = (path.read_bytes() for path in sorted(SOURCES.iterdir()) if path.suffix in (".c", ".h"))
    return hashlib.sha256(b"".join(sources)).hexdigest()


_ENDING = 2.0  # seconds for a supervisor to see that nothing was changed


class JournalRun(Struct, frozen=True):
    """Nobody else has its label."""

    program: Path
    store: JournalStore
    label: str
    skips: tuple[str, ...] = ()  # folders that can be built again

    def argv(self, words: Sequence[str], *options: str) -> list[str]:
        skips = [word for folder in self.skips for word in ("--skip", folder)]
        return [str(self.program), str(self.store.path), "--label", self.label, *skips, *options, "--", *words]

    def id(self) -> str:
        """What `interlock undo` calls it, once it has run; empty where it changed nothing."""
        found = self.store.labelled(self.label)
        gone = found and (stored := self.store.journal(found)).wait(_ENDING) and stored.action() is None
        return "" if gone else found


def begin_run(config: Config, agent: str, build: bool = False) -> JournalRun | None:
    """None where the journal is off or not possible; builds the supervisor only if told to."""
    if not config.undo.journal or not (build or is_built(supervisor_of(config))):
        return None
    try:
        program, store = ready(config)
        done = run_quietly([program, "--probe", store.path], 10.0)
    except (JournalError, OSError, subprocess.TimeoutExpired):
        return None
    label = f"{(agent.split() or ['agent'])[0]} {secrets.token_hex(8)}"
    return JournalRun(program, store, label) if done.returncode == 0 else None
