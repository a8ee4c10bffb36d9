"""A real PostgreSQL for tests: started where its binaries are, on a unix socket only, gone at the end."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

USERS = ("postgres", "nobody")  # PostgreSQL refuses to run as root
NAME = "ilpg"
PATIENCE = 60.0
INITDB = "-U interlock -A trust -E UTF8 --no-locale --no-sync".split()
ENOUGH = 8 << 30  # bytes
SETTINGS = {"listen_addresses": "", "fsync": "off", "max_connections": "60", "shared_buffers": "32MB"}


class Server:
    """A running server; `stop` and `start` are for tests of what happens then."""

    def __init__(self, binaries: Path, folder: Path, prefix: list[str], settings: Mapping[str, str]) -> None:
        self._binaries, self._folder, self._prefix, self._settings = binaries, folder, prefix, settings
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count(1)

    def initdb(self) -> None:
        subprocess.run(
            [*self._prefix, self._binaries / "initdb", "-D", self._data, *INITDB],
            check=True,
            capture_output=True,
            cwd=self._folder,
        )

    def start(self) -> None:
        settings = [f"-c{name}={value}" for name, value in self._settings.items()]
        with open(self._folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                [*self._prefix, self._binaries / "postgres", "-D", self._data, "-k", self._folder, *settings],
                stdout=log,
                stderr=log,
                cwd=self._folder,
            )
        self._until_it_answers()

    def stop(self) -> None:
        """Ends the server and everybody's connections at once."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(PATIENCE)
            self._process = None

    def url(self, database: str) -> str:
        return f"postgresql://interlock@/{database}?host={self._folder}"

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"test{next(self._numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _until_it_answers(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=10).close()
                return
            except psycopg.OperationalError:
                assert self._process is not None
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError((self._folder / "log").read_text()) from None
                time.sleep(0.05)


@contextmanager
def running(where: str = "", **settings: str) -> Iterator[Server]:
    """Starts a server of its own; skips the test where PostgreSQL is not installed, but fails in CI."""
    binaries = find_binaries()
    if binaries is None:
        missing = "PostgreSQL is missing: install the Debian package postgresql"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    where = where or place()
    _sweep(Path(where))
    folder = Path(
        tempfile.mkdtemp(prefix=f"{NAME}{os.getpid()}-", dir=where)
    )  # short: a socket's path has at most 107 characters
    server = Server(binaries, folder, prepare(folder), {**SETTINGS, **settings})
    try:
        server.initdb()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(where: Path) -> None:
    """Removes the folders of killed test runs, whose servers have ended with them."""
    for folder in where.glob(f"{NAME}*-*"):
        pid = folder.name.removeprefix(NAME).partition("-")[0]
        if pid.isdecimal() and not Path("/proc", pid).exists():
            shutil.rmtree(folder, ignore_errors=True)


def place() -> str:
    """In memory where there is enough of it: hundreds of databases are made, and a busy disk is nobody's test."""
    memory = Path("/dev/shm")
    enough = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > ENOUGH
    return str(memory) if enough else "/tmp"


def find_binaries() -> Path | None:
    """Where both `initdb` and `postgres` are, the newest first."""
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    newest = sorted(installed, key=lambda path: float(path.parent.name), reverse=True)
    on_path = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    both = ("initdb", "postgres")
    return next(
        (folder for folder in (*newest, *on_path) if all(os.access(folder / name, os.X_OK) for name in both)), None
    )


def prepare(folder: Path) -> list[str]:
    """What to put before a command so that it runs as somebody who may write there, and ends when the tests do."""
    if os.getuid() != 0:
        return []
    user = next(user for user in map(_user, USERS) if user is not None)
    folder.chmod(0o755)
    os.chown(folder, user.pw_uid, user.pw_gid)
    as_user = ["--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups"]
    return ["setpriv", *as_user, "--pdeathsig", "INT"]


def _user(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None
