"""A client that kills the daemon, edits its database and brings settings of its own. What was stopped stays stopped."""

from __future__ import annotations

import json
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from deeds import READ, RESET, WIPE, challenge_in, goes_on, shown, step, told
from servers import Servers, fresh, serving
from wire import wired

from daemons import start_daemon
from interlock.identity.keys.codes import code_hash, new_code

pytestmark = pytest.mark.xdist_group("mcp")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """A daemon that may be killed and whose rows may be edited."""
    with serving(tmp_path_factory.mktemp("foes")) as made:
        yield made


def edit(servers: Servers, *statements: str) -> None:
    """What anybody can do who runs as the daemon's user."""
    database = sqlite3.connect(servers.daemon.folder / "state" / "state.db", timeout=30)
    with database:
        for one in statements:
            database.execute(one)
    database.close()


def restarted(servers: Servers) -> None:
    """The next daemon, in place of one that was killed."""
    before = servers.daemon
    assert before.process.stdout is not None
    before.process.stdout.close()
    servers.daemon = start_daemon(before.folder, config=before.folder / "interlock.toml")


EDITS: dict[str, tuple[str, ...]] = {
    "lifted": ("UPDATE blocks SET lifted_at = 1, lifted_by = 'ana'", "UPDATE challenges SET state = 'verified'"),
    "moved to another": ("UPDATE blocks SET principal = 'uid:1'", "UPDATE challenges SET principal = 'uid:1'"),
    "deleted": tuple(f"DELETE FROM {table}" for table in ("blocks", "challenges", "notifications", "executions")),
}


@pytest.mark.parametrize("how", EDITS)
@pytest.mark.slow("kills a daemon and starts the next one")
def test_oob_11_a_block_survives_edited_rows_with_the_daemon_running_and_stopped(ours: Servers, how: str) -> None:
    token, name = ours.token(), fresh()
    talk = ours.talk("http-2025", token)
    ours.start(talk, name)
    assert told(talk, name, WIPE)["stopped"] is True
    edit(ours, *EDITS[how])
    said = talk.create("record_execution_step", element_name=name, next_action_hint=READ)
    assert not goes_on(said) and not goes_on(talk.execute("execute_agent", element_name=name))
    ours.daemon.stop(signal.SIGKILL)
    edit(ours, *EDITS[how])
    restarted(ours)
    again = ours.talk("http-2026", token)
    assert again.execute("execute_agent", element_name=fresh())["error"]["code"] == "PERMISSION_DENIED"
    assert told(again, name)["stopped"] is True


def test_a_code_that_was_put_into_the_database_frees_nothing(ours: Servers) -> None:
    talk, name, mine = ours.talk("http-2026"), fresh(), new_code()
    ours.start(talk, name)
    challenge = challenge_in(told(talk, name, WIPE))
    edit(ours, f"UPDATE challenges SET code_hash = '{code_hash(challenge, mine)}' WHERE id = '{challenge}'")
    assert talk.create("verify_challenge", challenge_id=challenge, code=mine)["success"] is False
    shown(ours, challenge)
    edit(ours, f"UPDATE challenges SET code_hash = '{code_hash(challenge, mine)}' WHERE id = '{challenge}'")
    assert talk.create("verify_challenge", challenge_id=challenge, code=mine)["success"] is False
    assert told(talk, name)["stopped"] is True


TICKETS = (
    "UPDATE tickets SET state = 'approved', decided_by = 'ana', decided_at = 1",
    "UPDATE tickets SET human = 0, approvers = '[]', level = 0, state = 'approved'",
    "UPDATE executions SET pause = '{}', status = 'running'",
)


def test_an_approval_that_was_put_into_the_database_frees_no_step(ours: Servers) -> None:
    talk, name = ours.talk("http-2026"), fresh()
    ours.start(talk, name)
    offered = step(talk, name, RESET)["confirmation"]
    for statement in TICKETS:
        edit(ours, statement)
        assert not goes_on(talk.create("record_execution_step", element_name=name, next_action_hint=RESET)), statement
        given = {"confirmation_token": offered["token"], "operation": offered["operation"]}
        assert talk.execute("confirm_operation", **given)["success"] is False, statement


@pytest.mark.slow("kills a daemon and starts the next one")
def test_a_killed_daemon_in_the_middle_of_calls_lets_nothing_through_and_forgets_no_step(ours: Servers) -> None:
    token, name = ours.token(), fresh()
    with wired(ours.words(token)[3:], ours.daemon.folder / "errors") as wire:

        def call(operation: str, **params: Any) -> dict[str, Any]:
            return wire.call("mcp_aql", {"operation": operation, "params": {"element_name": name, **params}})

        held = call("execute_agent", max_autonomous_steps=4)
        ours.approve(name)
        begun = call("execute_agent", max_autonomous_steps=4, _confirmation=held["confirmation"]["token"])
        assert begun["success"], begun
        gone = sum(goes_on(call("record_execution_step", next_action_hint=f"reading file {at}")) for at in range(2))
        ours.daemon.stop(signal.SIGKILL)
        restarted(ours)
        gone += sum(goes_on(call("record_execution_step", next_action_hint=f"reading file {at}")) for at in range(2, 8))
        assert gone == 4  # C-21: the count goes on where it was


LOOSE = {
    "MCPAQL_SAFETY_LOOP": "disabled",
    "INTERLOCK_MODE": "disabled",
    "INTERLOCK_POLICY": "permissive",
    "SAFETY_LOOP": "off",
}


@pytest.mark.slow("starts a server with settings of its own")
def test_no_variable_flag_or_file_of_the_agents_side_loosens(ours: Servers, tmp_path: Path) -> None:
    token, name = ours.token(), fresh()
    policy = tmp_path / "loose.json"
    policy.write_text(
        json.dumps(
            {
                "autoApprove": ["*"],
                "maxAutonomousSteps": 100,
                "riskTolerance": "aggressive",
                "safetyLoop": {"mode": "disabled"},
            }
        )
    )
    words = [*ours.words(token)[3:], "--policy", str(policy), "--safety-mode", "disabled"]
    with wired(words, tmp_path / "errors", LOOSE) as wire:

        def call(operation: str, **params: Any) -> dict[str, Any]:
            return wire.call("mcp_aql", {"operation": operation, "params": {"element_name": name, **params}})

        held = call("execute_agent")
        assert held["error"]["code"] == "CONFIRMATION_REQUIRED"
        ours.approve(name)
        begun = call("execute_agent", _confirmation=held["confirmation"]["token"])["data"]
        assert begun["safety_loop"] == "enforcing" and begun["max_autonomous_steps"] == 10
        assert not goes_on(call("record_execution_step", next_action_hint=RESET))
        assert not goes_on(call("record_execution_step", next_action_hint=WIPE))
