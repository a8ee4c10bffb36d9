"""The source distribution makes a wheel, and the wheel an installation that works without this repository, as pipx and uv make one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from interlock import __version__
from repository import ROOT

CLEAN = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def build(target: str, source: Path, out: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", out],
        cwd=source,
        check=True,
        capture_output=True,
    )
    [made] = [path for path in out.iterdir() if path.suffix == {"sdist": ".gz", "wheel": ".whl"}[target]]
    return made


def install(wheel: Path, place: Path) -> Path:
    """The program of a new environment that has the dependencies, but not this repository; nothing is downloaded."""
    venv.create(place, with_pip=False, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(place), "platbase": str(place)}))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python")]
    subprocess.run([*pip, "install", "-q", "--no-deps", "--no-index", wheel], check=True, capture_output=True)
    return place / "bin" / "interlock"


@contextmanager
def served(program: Path, home: Path) -> Iterator[str]:
    """The first line of a daemon that answers."""
    process = subprocess.Popen(
        [program, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**CLEAN, "HOME": str(home)},
        cwd=home,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline()
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        process.stdout.close()


@pytest.fixture
def home() -> Iterator[Path]:
    """A short name, for the path of a socket has at most 107 characters."""
    with TemporaryDirectory(prefix="i-") as made:
        yield Path(made)


@pytest.mark.slow(why="an sdist and a wheel are built, installed and run")
def test_the_wheel_of_the_source_distribution_runs_by_itself(tmp_path: Path, home: Path) -> None:
    sdist = build("sdist", ROOT, tmp_path / "sdist")
    (tmp_path / "source").mkdir()
    subprocess.run(["tar", "-xzf", sdist, "-C", tmp_path / "source"], check=True)
    wheel = build("wheel", tmp_path / "source" / f"interlock-{__version__}", tmp_path / "wheel")
    assert wheel.name == f"interlock-{__version__}-py3-none-any.whl"
    program = install(wheel, tmp_path / "env")

    def run(*words: str) -> str:
        env = {**CLEAN, "HOME": str(home)}
        return subprocess.run([program, *words], capture_output=True, text=True, env=env, cwd=home, timeout=60).stdout

    assert run("--version").split() == ["interlock", __version__]
    assert "forbidden" in run("explain", "rm -rf /")
    with served(program, home) as line:
        assert re.search(rf"http://127\.0\.0\.1:\d+ and {re.escape(str(home))}/\.local/state/interlock/", line)
    assert os.stat(home / ".local/state/interlock").st_mode & 0o077 == 0
