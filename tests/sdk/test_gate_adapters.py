"""A gate asks about operations of adapters, in its own process and at a daemon, and gets the same answers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from adapter_files import DANGERS, adapter_file
from daemons import daemon, enrol_in_folder
from interlock import AsyncGate, Gate
from interlock.config import ConfigError


def answers(gate: Gate) -> list[tuple[str, str]]:
    asked = [
        gate.evaluate(operation="sync_things", params={"count": 5}, adapter="things"),
        gate.evaluate(operation="sync_things", params={"count": 500}, adapter="things"),
        gate.evaluate(operation="list_things", adapter="others"),
        gate.evaluate(operation="nope", adapter="things"),
    ]
    return [(decision.outcome, decision.code) for decision in asked]


EXPECTED = [
    ("allow", ""),
    ("confirm", "CONFIRMATION_REQUIRED"),
    ("block", "PERMISSION_DANGER_LEVEL_DENIED"),
    ("block", "NOT_FOUND_OPERATION"),
]


def test_a_gate_in_this_process_knows_the_adapters_of_its_configuration(tmp_path: Path) -> None:
    file = adapter_file(tmp_path, DANGERS)
    config = tmp_path / "interlock.toml"
    config.write_text(f'[store]\nurl = "sqlite://{tmp_path}/state"\n[adapters]\nfiles = ["{file.name}"]\n')
    enrol_in_folder(tmp_path)
    with Gate(config) as gate:
        assert answers(gate) == EXPECTED


def test_a_gate_at_a_daemon_asks_about_the_daemons_adapters(tmp_path: Path) -> None:
    file = adapter_file(tmp_path, DANGERS)
    toml = f'[adapters]\nfiles = ["{file.name}"]'
    with (
        daemon(tmp_path, toml=toml, policy="default") as running,
        Gate(running.folder / "interlock.toml") as gate,
    ):
        assert answers(gate) == EXPECTED


def test_an_async_gate_asks_the_same(tmp_path: Path) -> None:
    config = tmp_path / "interlock.toml"
    file = adapter_file(tmp_path, DANGERS)
    config.write_text(f'[store]\nurl = "sqlite://{tmp_path}/state"\n[adapters]\nfiles = ["{file}"]\n')

    async def asked() -> bool:
        async with AsyncGate(config) as gate:
            return (await gate.evaluate(operation="sync_things", params={"count": 5}, adapter="things")).allowed

    assert asyncio.run(asked())


def test_an_adapter_goes_with_an_operation(tmp_path: Path) -> None:
    with Gate(store=tmp_path / "state") as gate, pytest.raises(TypeError, match="adapter= goes with operation="):
        gate.evaluate(command="ls", adapter="things")


def test_a_broken_adapter_file_opens_no_gate(tmp_path: Path) -> None:
    file = adapter_file(tmp_path, DANGERS.replace("level: destructive", "level: deadly"))
    config = tmp_path / "interlock.toml"
    config.write_text(f'[store]\nurl = "sqlite://{tmp_path}/state"\n[adapters]\nfiles = ["{file}"]\n')
    with pytest.raises(ConfigError, match="level 'deadly'"):
        Gate(config)
