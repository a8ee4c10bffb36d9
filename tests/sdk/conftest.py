"""Gates in this process on a real folder, with operators and a clock that tests move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clock import TestClock
from daemons import Daemon, daemon, enrol_operators, folder_config
from interlock import DestructiveGate, Gate, Registry
from interlock.sdk.destructive import settings
from interlock.sdk.in_process import InProcessBackend, open_in_process

Destructive = Callable[..., DestructiveGate]


@pytest.fixture
def clock() -> TestClock:
    return TestClock()


@pytest.fixture
def inside(tmp_path: Path, clock: TestClock) -> Iterator[InProcessBackend]:
    """What decides in this process, under policy `spec`."""
    made = open_in_process(folder_config(tmp_path), clock=clock)
    enrol_operators(made.state)
    yield made
    made.close()


@pytest.fixture
def gate(inside: InProcessBackend) -> Gate:
    return Gate._over(inside).for_agent("claude", "s1")


@pytest.fixture
def destructive(tmp_path: Path, clock: TestClock) -> Iterator[Destructive]:
    """Makes a DestructiveGate with the settings that are given, whose clock tests move."""
    made: list[DestructiveGate] = []

    def make(registry: Registry | None = None, **given: Any) -> DestructiveGate:
        folder = tmp_path / f"gate{len(made)}"
        opened = open_in_process(settings(folder=folder, **given), registry, clock)
        enrol_operators(opened.state)
        gate = DestructiveGate.__new__(DestructiveGate)
        gate._gate = Gate._over(opened)
        made.append(gate)
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Daemon]:
    """A real daemon under policy `spec`, with two operators."""
    folder = tmp_path / "there"
    folder.mkdir()
    with daemon(folder) as made:
        yield made


@pytest.fixture
def remote(running: Daemon) -> Iterator[Gate]:
    """A gate that found the daemon's socket by the configuration."""
    with Gate(running.folder / "interlock.toml", agent="claude", session="s1") as made:
        yield made
