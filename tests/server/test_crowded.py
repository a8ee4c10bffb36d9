"""A daemon with more than a thousand open files goes on: what it starts is read, what it looks at is seen."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.impact.warm_child import WarmInspector
from interlock.plans.process import RunningCommand

MANY = 1_100  # select() ends with file 1023
PATIENCE = 30.0


@pytest.fixture
def crowd() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * MANY:
        pytest.skip(f"no more than {hard} files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * MANY), hard))
    files = [os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC) for _ in range(MANY)]
    yield
    for file in files:
        os.close(file)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("crowd")
def test_what_a_plan_runs_is_read_to_its_end(tmp_path: Path) -> None:
    ended: list[tuple[int, bool, str, bool]] = []
    running = RunningCommand(
        "echo begun; echo done", str(tmp_path), dict(os.environ), 10_000, 60, lambda *how: ended.append(how), list
    )
    assert running.wait(PATIENCE) and ended[0][0] == 0
    assert running.output(0)[0].split() == ["begun", "done"]


@pytest.mark.usefixtures("crowd")
def test_what_would_be_lost_is_looked_at(tmp_path: Path) -> None:
    looker = WarmInspector()
    try:
        seen = looker({"cwd": str(tmp_path), "targets": [], "deeds": [], "ms": 5_000})
    finally:
        looker.close()
    assert "the inspection failed" not in str(seen)
