"""A gate and fork(): a child of a client goes on, a child of a writer opens the folder for itself or says why it cannot."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from daemons import Daemon, enrol_in_folder
from forked_child import in_child
from interlock import Gate
from stored_records import child

DATABASE: dict[str, Any] = {"operation": "drop_database", "resource": "main"}


def test_a_child_of_a_client_goes_on(remote: Gate, running: Daemon) -> None:
    held = remote.evaluate(**DATABASE)
    assert held.ticket is not None
    assert in_child(lambda: remote.evaluate(**DATABASE).ticket.id) == held.ticket.id  # type: ignore[union-attr]
    assert remote.evaluate(command="ls").allowed


def test_a_child_of_a_writer_refuses_clearly_while_its_parent_has_the_folder(gate: Gate) -> None:
    words = in_child(lambda: gate.evaluate(command="ls").outcome)
    assert words.startswith(f"GateError: this gate belongs to process {os.getpid()}, which forked")
    assert "in use by process" in words and "a daemon serves any number" in words
    assert gate.evaluate(command="ls").allowed, "the parent goes on"
    gate.close()


def test_a_child_opens_the_folder_for_itself_once_its_parent_has_closed_it(tmp_path: Path) -> None:
    enrol_in_folder(tmp_path)
    gate = Gate(store=tmp_path / "state", policy="spec", agent="claude")
    gate.registry.register(id="wipe", pattern="wipe_cache", category="config_destruction", severity="high")
    held = gate.evaluate(**DATABASE)
    closed, close = os.pipe()

    def work() -> list[Any]:
        os.close(close)
        os.read(closed, 1)  # until the parent has closed its gate
        ticket = gate.evaluate(**DATABASE).ticket
        found = [ticket.id if ticket else None, gate.evaluate(operation="wipe_cache").outcome]
        gate.registry.unregister("wipe")
        gate.close()
        return found

    def said(say: Callable[[Any], None]) -> None:
        say(work())

    with child(said) as (_, lines):
        gate.close()
        os.close(close)
        assert held.ticket is not None
        assert next(lines) == [held.ticket.id, "cool_off"], "its tickets and its patterns came along"
    os.close(closed)
    with Gate(store=tmp_path / "state") as again:
        assert again.metrics()["totalChecked"] == 2, "asking after one's own ticket is no deed"


def test_a_child_that_ends_leaves_its_parents_folder_alone(gate: Gate, tmp_path: Path) -> None:
    for _ in range(3):
        gate.evaluate(command="ls")
        assert in_child(lambda: gate.close() or "ended") == "ended"
    assert gate.metrics()["totalChecked"] == 3, "nothing was written twice, nothing was lost"
    held = gate.evaluate(**DATABASE)
    assert held.ticket is not None and (tmp_path / "state" / "state.db").stat().st_size


def test_a_fork_while_another_thread_asks_hangs_nobody(remote: Gate) -> None:
    ending = threading.Event()

    def busy() -> None:
        while not ending.is_set():
            remote.evaluate(command="ls")

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        answers = [in_child(lambda: remote.evaluate(command="ls").outcome) for _ in range(5)]
    finally:
        ending.set()
        thread.join()
    assert answers == ["allow"] * 5


def test_a_gate_is_not_sent_to_another_process_by_accident(gate: Gate) -> None:
    import pickle

    with pytest.raises((TypeError, AttributeError)):
        pickle.dumps(gate)
