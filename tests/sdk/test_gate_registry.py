"""Who may change which patterns are destructive: what a program may, what an agent could, what takes an operator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from daemons import PASSPHRASE, Daemon
from interlock import Gate, GateError, Pattern, Registry
from interlock.policy.registry import PatternError
from interlock.records import AuditQuery
from interlock.sdk.in_process import InProcessBackend

CACHE: dict[str, Any] = {
    "id": "custom_wipe_cache",
    "pattern": "wipe_cache|flush_cdn|purge_edge",
    "category": "config_destruction",
    "severity": "high",
    "coolingOffMs": 120_000,
    "requiresHumanApproval": True,
}


def changes(inside: InProcessBackend) -> list[dict[str, Any]]:
    rows = inside.state.store.read(lambda tx: tx.audit(AuditQuery(event="pattern_change")))
    return [json.loads(row.body) for row in rows]


def test_a_program_adds_patterns_and_takes_its_own_back_on_the_record(gate: Gate, inside: InProcessBackend) -> None:
    gate.registry.register(CACHE)
    assert gate.evaluate(operation="flush_cdn").outcome == "approve"
    with pytest.raises(GateError, match="the id is taken"):
        gate.registry.register(CACHE)
    gate.registry.unregister("custom_wipe_cache")
    assert gate.evaluate(operation="flush_cdn").allowed
    said = [("registered" in one, one["scope"], one["by"]) for one in changes(inside)]
    me = f"uid:{os.getuid()}"
    assert said == [(True, "this process", me), (False, "this process", me)]


@pytest.mark.parametrize("id", ["drop_table", "drop_database", "revoke_api_key"])
def test_nobody_disarms_the_gate_from_within_without_an_admin(gate: Gate, id: str) -> None:
    with pytest.raises(GateError, match="needs session=") as refused:
        gate.registry.unregister(id)
    assert refused.value.code == "PERMISSION_DENIED"
    with pytest.raises(GateError, match="the id is taken"):  # nor is it replaced by a harmless one
        gate.registry.register({**CACHE, "id": id, "pattern": "nothing_at_all", "severity": "low"})
    with pytest.raises(GateError, match="no admin"):
        gate.registry.unregister(id, session=gate.sign_in("bo", PASSPHRASE))
    assert not gate.evaluate(operation=id, resource="x")
    gate.registry.unregister(id, session=gate.sign_in("ana", PASSPHRASE))
    assert id not in {pattern.id for pattern in gate.registry}


def test_what_an_operator_saved_is_not_a_programs_to_take_back(gate: Gate) -> None:
    gate.registry.register(CACHE, session=gate.sign_in("bo", PASSPHRASE))
    with pytest.raises(GateError, match="was not registered by this program"):
        gate.registry.unregister("custom_wipe_cache")
    with pytest.raises(GateError, match="no pattern"):
        gate.registry.unregister("nonsense")


def test_a_programs_patterns_end_with_it_and_an_operators_stay(tmp_path: Path) -> None:
    """An agent that starts a program of its own changes nothing for anybody else."""
    from daemons import enrol_in_folder

    enrol_in_folder(tmp_path)
    store = str(tmp_path / "state")
    code = f"""
from interlock import Gate
with Gate(store={store!r}, policy="spec") as gate:
    gate.registry.register({CACHE!r})
    gate.registry.register({CACHE | {"id": "saved", "pattern": "wipe_saved"}!r}, session=gate.sign_in("ana", {PASSPHRASE!r}))
    try:
        gate.registry.unregister("drop_table")
    except Exception as error:
        print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0 and "needs session=" in ran.stdout, ran.stderr
    with Gate(store=store, policy="spec") as gate:
        known = {pattern.id for pattern in gate.registry}
        assert "custom_wipe_cache" not in known and {"saved", "drop_table"} <= known
        assert gate.evaluate(operation="flush_cdn").allowed and not gate.evaluate(operation="wipe_saved").allowed


def test_at_a_daemon_every_change_takes_an_operator(remote: Gate, running: Daemon) -> None:
    with pytest.raises(GateError, match="takes an operator's session") as refused:
        remote.registry.register(CACHE)
    assert refused.value.code == "PERMISSION_DENIED"
    with pytest.raises(GateError, match="takes an operator's session"):
        remote.registry.unregister("drop_table")
    assert remote.evaluate(operation="flush_cdn").allowed
    remote.registry.register(CACHE, session=remote.sign_in("bo", PASSPHRASE))
    assert remote.evaluate(operation="flush_cdn").outcome == "approve"
    with pytest.raises(GateError, match="the id is taken"):
        remote.registry.register(CACHE, session=remote.sign_in("bo", PASSPHRASE))
    with pytest.raises(GateError, match="no admin"):
        remote.registry.unregister("custom_wipe_cache", session=remote.sign_in("bo", PASSPHRASE))
    gone = remote.registry.unregister("custom_wipe_cache", session=remote.sign_in("ana", PASSPHRASE))
    assert gone == Pattern.of(CACHE)
    with pytest.raises(GateError, match="no pattern"):
        remote.registry.unregister("custom_wipe_cache", session=remote.sign_in("ana", PASSPHRASE))


def test_a_pattern_that_must_not_be_used_is_refused_before_anybody_is_asked(gate: Gate, remote: Gate) -> None:
    for one in (gate, remote):
        with pytest.raises(PatternError, match="severity"):
            one.registry.register({**CACHE, "severity": "terrible"})
        with pytest.raises(PatternError, match="matches everything"):
            one.registry.register({**CACHE, "pattern": ".*"})
        with pytest.raises(TypeError, match="complete"):
            one.registry.register(Pattern.of(CACHE), severity="low")


def test_the_registry_by_itself_needs_no_gate() -> None:
    registry = Registry()
    registry.register(CACHE)
    found = registry.match("purge edge")
    assert {pattern.id for pattern in found.patterns} == {"bulk_delete", "custom_wipe_cache"}
    registry.unregister("custom_wipe_cache")
    assert len(registry) == len(Registry())


def test_a_pattern_counts_as_soon_as_it_is_registered_whoever_is_matching() -> None:
    """Whoever compiles the patterns while another thread adds one must not keep the old ones."""
    registry, ending = Registry(), threading.Event()

    def busy() -> None:
        while not ending.is_set():
            registry.match("list_users")

    threads = [threading.Thread(target=busy) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for n in range(60):
            registry.register({**CACHE, "id": f"p{n}", "pattern": f"act_{n}_x"})
            assert registry.match(f"act_{n}_x").patterns, n
            if n % 2:
                registry.unregister(f"p{n}")
                assert not registry.match(f"act_{n}_x").patterns, n
    finally:
        ending.set()
        for thread in threads:
            thread.join()
