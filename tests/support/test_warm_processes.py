"""A forked `interlock` is one like any other: words, files, folder, environment, signals, exit code and parent."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import warm_processes

GONE = {"XDG_CONFIG_HOME": "/nonexistent", "HOME": "/nonexistent", "PATH": os.environ["PATH"]}


@pytest.mark.parametrize(
    "words", [("explain", "rm -rf /"), ("explain", "ls"), ("config", "path"), ("nothing",), ("serve", "--port", "x")]
)
def test_it_says_and_ends_as_one_that_was_started_anew(words: tuple[str, ...], tmp_path: Path) -> None:
    anew = subprocess.run(
        [*warm_processes.INTERLOCK, *words],
        capture_output=True,
        text=True,
        timeout=60,
        env=GONE,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
    )
    forked = warm_processes.run(*words, env=GONE, cwd=tmp_path)
    assert (forked.returncode, forked.stdout, forked.stderr) == (anew.returncode, anew.stdout, anew.stderr)


def test_it_reads_what_it_is_given() -> None:
    found = warm_processes.run("classify", given='{"command": "rm -rf /"}\n')
    assert found.returncode == 0 and '"forbidden"' in found.stdout, found


def test_it_is_a_child_with_the_three_files_it_was_given_and_dies_by_signals() -> None:
    with warm_processes.Popen(
        [*warm_processes.INTERLOCK, "classify"], stdin=subprocess.PIPE, start_new_session=True
    ) as child:
        status = Path(f"/proc/{child.pid}/status").read_text()
        assert f"\nPPid:\t{os.getpid()}\n" in status
        assert child.poll() is None
        child.send_signal(signal.SIGKILL)
        assert child.wait(60) == -signal.SIGKILL


@pytest.mark.parametrize("how", [{"preexec_fn": os.setpgrp}, {"env": {**GONE, "PYTHONPATH": "/nonexistent"}}])
def test_what_it_cannot_pass_on_is_started_anew(how: dict[str, Any]) -> None:
    with warm_processes.Popen([*warm_processes.INTERLOCK, "--version"], stdout=subprocess.PIPE, **how) as child:
        assert b"warm_processes.py" not in Path(f"/proc/{child.pid}/cmdline").read_bytes()
        assert child.communicate(timeout=60)[0].startswith(b"interlock ")
