"""A gate without a daemon: it opens the folder, decides, holds, and gives the folder back."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from clock import TestClock
from daemons import PASSPHRASE, enrol_in_folder, write_config
from interlock import Denied, Gate, GateError, Held
from interlock.config import Config
from interlock.maintenance import TicketSettler
from interlock.model import Kind, Level, Witness, command, intent, operation, tool
from interlock.records import AuditQuery
from interlock.sdk.gate import folder_url, gate_config
from interlock.sdk.in_process import InProcessBackend

DATABASE: dict[str, Any] = {"operation": "drop_database", "resource": "main"}


def test_everyday_work_is_allowed_and_recorded(gate: Gate, inside: InProcessBackend) -> None:
    decision = gate.evaluate(command="git status", cwd="/home/dev/app")
    assert decision.allowed and decision and decision.assessment is not None
    assert decision.assessment.level is Level.SAFE
    inside.state.recorder.flush()
    rows = inside.state.store.read(lambda tx: tx.audit(AuditQuery(text="git status")))
    assert len(rows) == 1 and '"adapter_name":"python"' in rows[0].body


@pytest.mark.parametrize(
    ("named", "action"),
    [
        ({"command": "rm -rf /srv"}, command("rm -rf /srv")),
        ({"operation": "drop_database", "params": {"db": "x"}}, operation("drop_database", {"db": "x"})),
        ({"tool": "execute_sql", "input": {"query": "DROP TABLE t"}}, tool("execute_sql", {"query": "DROP TABLE t"})),
        ({"hint": "delete the production database"}, intent("delete the production database")),
    ],
    ids=[kind.value for kind in Kind],
)
def test_an_action_can_be_named_or_given_whole(tmp_path: Path, named: dict[str, Any], action: Any) -> None:
    enrol_in_folder(tmp_path)
    with Gate(store=tmp_path / "state") as gate:
        held = gate.evaluate(**named)
        assert not held.allowed and held.ticket is not None
        again = gate.evaluate(action)
        assert again.ticket is not None and again.ticket.id == held.ticket.id


def test_a_decision_and_a_ticket_print_as_a_line(gate: Gate) -> None:
    assert str(gate.evaluate(command="git status", cwd="/home/dev/app")) == "allow: Allowed."
    held = gate.evaluate(**DATABASE)
    assert held.ticket is not None
    assert str(held) == f"{held.outcome}: {held.reason}"
    assert str(held.ticket).startswith(f"{held.ticket.id} (pending_") and "drop_database" in str(held.ticket)


def test_a_decision_its_ticket_and_the_tickets_id_can_be_waited_for(gate: Gate) -> None:
    held = gate.evaluate(**DATABASE)
    assert held.ticket is not None
    found = [gate.wait(one, timeout=0).id for one in (held, held.ticket, held.ticket.id)]
    assert found == [held.ticket.id] * 3
    with pytest.raises(GateError, match="no ticket 'pdact_none'"):
        gate.wait("pdact_none", timeout=0)
    with pytest.raises(TypeError, match="expected a Decision, a Ticket or a ticket's id, got int"):
        gate.wait(7, timeout=0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"there is nothing to wait for: Allowed\."):
        gate.wait(gate.evaluate(command="ls"), timeout=0)


UNCLEAR: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    ((), {}, "say what is about to happen"),
    ((), {"command": "ls", "hint": "list"}, "say what is about to happen"),
    ((command("ls"),), {"command": "ls"}, "say what is about to happen"),
    (("ls",), {}, "expected an Action, got str"),
    ((), {"command": "ls", "params": {}}, "params= goes with operation="),
    ((), {"operation": "x", "input": {}}, "input= goes with tool="),
    ((), {"hint": "x", "resource": "r"}, "resource= goes with operation="),
    ((operation("x", {"a": 1}),), {"params": {}}, "params= goes with operation=, once"),
]


@pytest.mark.parametrize(("given", "named", "words"), UNCLEAR)
def test_a_question_that_is_not_clear_is_not_asked(
    gate: Gate, given: tuple[Any, ...], named: dict[str, Any], words: str
) -> None:
    with pytest.raises(TypeError, match=words):
        gate.evaluate(*given, **named)


def test_an_action_cannot_declare_itself_harmless(gate: Gate) -> None:
    from msgspec.structs import replace

    with pytest.raises(TypeError, match="declared: an agent's word for it does not count"):
        gate.evaluate(operation("drop_database", {}, declared=Level.SAFE))
    with pytest.raises(TypeError, match="witnesses"):
        gate.evaluate(replace(command("bash x.sh"), witnesses=(Witness("x.sh", "0" * 64),)))


@pytest.mark.parametrize(
    "named",
    [
        {"command": "rm -rf \0"},
        {"command": ""},
        {"command": "ls \ud800"},
        {"command": 7},
        {"operation": "list_users", "params": {"when": {1, 2}}},
        {"operation": "list_users", "params": {"x": float("nan")}},
        {"operation": "list_users", "params": {1: "a", "1": "b"}},
        {"operation": "list_users", "params": {"x": "a" * 2_000_000}},
        {"operation": "list_users", "resource": "r", "params": {"resource": "other"}},
    ],
    ids=lambda named: str(named)[:40],
)
def test_what_nobody_could_be_shown_is_denied(gate: Gate, named: dict[str, Any]) -> None:
    decision = gate.evaluate(**named)
    assert decision.outcome == "deny" and decision.code.startswith("VALIDATION_")


def test_nesting_without_an_end_is_denied(gate: Gate) -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    deep: dict[str, Any] = {}
    for _ in range(50_000):
        deep = {"d": deep}
    for params in (loop, deep):
        assert gate.evaluate(operation="list_users", params=params).outcome == "deny"


def test_check_returns_what_is_allowed_and_raises_what_is_not(gate: Gate) -> None:
    assert gate.check(command="ls").allowed
    with pytest.raises(Held, match="requires human approval") as held:
        gate.check(**DATABASE)
    assert held.value.decision.outcome == "approve" and held.value.decision.ticket is not None
    with pytest.raises(Denied) as denied:
        gate.check(command="mkfs.ext4 /dev/sdb")
    assert denied.value.decision.outcome == "block"


def test_an_approved_action_runs_once_and_is_reported(gate: Gate) -> None:
    held = gate.evaluate(**DATABASE)
    assert held.ticket is not None
    gate.approve(held.ticket.id, gate.sign_in("ana", PASSPHRASE), "looked at it")
    freed = gate.evaluate(**DATABASE, pending_id=held.ticket.id)
    assert freed.allowed
    done = gate.executed(freed, "dropped")
    assert done is not None and (done.state, done.outcome) == ("executed", "dropped")
    assert gate.evaluate(**DATABASE, pending_id=held.ticket.id).code == "TOKEN_ALREADY_USED"


def test_an_approval_is_for_its_agent_and_its_action(gate: Gate) -> None:
    vm: dict[str, Any] = {"operation": "terminate_vm", "resource": "vm1"}
    held = gate.evaluate(**vm)
    assert held.ticket is not None
    gate.approve(held.ticket.id, gate.sign_in("ana", PASSPHRASE))
    other = {**vm, "resource": "vm2"}
    assert gate.evaluate(**other, pending_id=held.ticket.id).code == "TOKEN_SCOPE_MISMATCH"
    assert gate.for_agent("codex").evaluate(**vm, pending_id=held.ticket.id).code == "TOKEN_SCOPE_MISMATCH"
    assert gate.evaluate(**vm).allowed


def test_what_needed_no_ticket_needs_no_report_and_what_was_not_allowed_has_none(gate: Gate) -> None:
    assert gate.executed(gate.evaluate(command="ls")) is None
    with pytest.raises(ValueError, match="not allowed to run"):
        gate.executed(gate.evaluate(**DATABASE))


def test_the_words_name_what_a_person_can_do_here(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    enrol_in_folder(tmp_path)
    with Gate(store=tmp_path / "state") as gate, caplog.at_level(logging.WARNING, "interlock"):
        held = gate.evaluate(**DATABASE)
    assert held.ticket is not None
    assert f"gate.approve('{held.ticket.id}', session)" in held.reason and "interlock approve" not in held.reason
    assert any(held.ticket.id in record.getMessage() for record in caplog.records), "somebody is told"


def test_a_wait_ends_when_a_person_answers(gate: Gate) -> None:
    held = gate.evaluate(**DATABASE)
    assert held.ticket is not None
    session, id = gate.sign_in("ana", PASSPHRASE), held.ticket.id
    thread = threading.Timer(0.3, lambda: gate.reject(id, session, "no"))
    thread.start()
    ticket = gate.wait(held, timeout=30)
    thread.join()
    assert (ticket.state, ticket.decision_reason) == ("rejected", "no")


def test_a_wait_ends_when_it_has_cooled(gate: Gate, clock: TestClock) -> None:
    held = gate.evaluate(operation="drop_table", resource="users")
    assert gate.wait(held, timeout=0).state == "pending_cooling"
    threading.Timer(0.2, lambda: clock.forward(120)).start()
    ticket = gate.wait(held, timeout=30)
    assert ticket.state == "approved"
    assert gate.evaluate(operation="drop_table", resource="users", pending_id=ticket.id).allowed


def test_a_retry_that_comes_as_its_cooling_off_ends_is_allowed(
    gate: Gate, inside: InProcessBackend, clock: TestClock
) -> None:
    """Upkeep settles tickets at the same moment, and must not be mistaken for somebody's answer."""
    ending = threading.Event()

    def settle() -> None:
        while not ending.is_set():
            TicketSettler(inside.state).settle()

    thread = threading.Thread(target=settle)
    thread.start()
    try:
        for n in range(40):
            agent = gate.for_agent(f"agent {n}")
            held = agent.evaluate(operation="ban_user", resource="u")
            assert held.ticket is not None
            clock.forward(31)
            freed = agent.evaluate(operation="ban_user", resource="u", pending_id=held.ticket.id)
            assert freed.allowed, freed.reason
    finally:
        ending.set()
        thread.join()


def test_what_is_approved_while_it_cools_is_waited_for_until_it_has_cooled(tmp_path: Path) -> None:
    from daemons import enrol_operators
    from interlock.config import config_of
    from interlock.sdk.in_process import open_in_process

    config = config_of({"store": {"url": folder_url(tmp_path / "s")}, "gate": {"maxCoolingOffMs": 1000}}, environ={})
    made = open_in_process(config)
    enrol_operators(made.state)
    with Gate._over(made) as gate:
        held = gate.evaluate(operation="terminate_vm", resource="vm1")
        assert held.ticket is not None and held.ticket.cooling_ends_at > held.ticket.opened_at
        gate.approve(held.ticket.id, gate.sign_in("ana", PASSPHRASE))
        ticket = gate.wait(held, timeout=30)
        assert ticket.state == "approved" and ticket.cooling_ends_at <= time.time()
        assert gate.evaluate(operation="terminate_vm", resource="vm1", pending_id=ticket.id).allowed


def test_a_wait_ends_with_its_time_and_shows_the_ticket_as_it_is(gate: Gate) -> None:
    assert gate.wait(gate.evaluate(**DATABASE), timeout=0.1).state == "pending_approval"
    with pytest.raises(ValueError, match="nothing to wait for"):
        gate.wait(gate.evaluate(command="ls"), timeout=1)


def test_closing_ends_the_waits_and_everything_else(gate: Gate) -> None:
    held = gate.evaluate(**DATABASE)
    threading.Timer(0.3, gate.close).start()
    with pytest.raises(GateError, match="closed"):
        gate.wait(held, timeout=30)
    for ask in (lambda: gate.evaluate(command="ls"), gate.metrics, gate.registry.list, lambda: gate.place):
        with pytest.raises(GateError, match="closed"):
            ask()
    gate.close()


def test_a_second_opener_is_refused_with_words(tmp_path: Path) -> None:
    with Gate(store=tmp_path / "state") as gate:
        with pytest.raises(GateError, match=r"which is this one; share one Gate"):
            Gate(store=tmp_path / "state")
        code = f"from interlock import Gate; Gate(store={str(tmp_path / 'state')!r})"
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert other.returncode == 1
        assert "nothing can be decided" in other.stderr and "in use by process" in other.stderr
        assert "no daemon answers on" in other.stderr
        assert gate.evaluate(command="ls").allowed
    with Gate(store=tmp_path / "state") as again:
        assert again.evaluate(command="ls").allowed


def test_a_folder_that_cannot_be_used_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GateError, match="nothing can be decided"):
        Gate(store=tmp_path / "file")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "state.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(GateError):
        Gate(store=tmp_path / "broken")


def test_a_store_that_breaks_denies(gate: Gate, inside: InProcessBackend, tmp_path: Path) -> None:
    (tmp_path / "state" / "state.db").write_bytes(b"")
    decision = gate.evaluate(**DATABASE)
    assert decision.outcome == "deny" and decision.unknown
    with pytest.raises(GateError, match="the state cannot be known"):
        gate.registry.register(id="x", pattern="xyz", category="data_deletion", severity="low")
    assert gate.registry.match("xyz").patterns == ()


def test_the_record_of_a_program_is_signed_and_whole(tmp_path: Path) -> None:
    from interlock.audit.proof import verify_chains
    from interlock.sdk.in_process import open_in_process

    with Gate(store=tmp_path / "state") as gate:
        for _ in range(20):
            gate.evaluate(command="ls")
    made = open_in_process(gate_config(None, None, tmp_path / "state"))
    try:
        events = [row.event for row in made.state.store.read(lambda tx: tx.audit(AuditQuery(limit=1000)))]
        verdict = verify_chains(made.state)
    finally:
        made.close()
    assert events[0] == "start" and "stop" in events and len(events) >= 23
    assert verdict.ok and verdict.proved_until is not None


def test_what_was_not_closed_is_written_when_the_program_ends(tmp_path: Path) -> None:
    store = str(tmp_path / "state")
    code = f"from interlock import Gate; g = Gate(store={store!r}); print(g.evaluate(command='ls').allowed)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "True\n", "")
    with Gate(store=store) as gate:
        assert gate.metrics()["totalChecked"] == 1


def test_many_threads_share_one_gate(gate: Gate) -> None:
    def ask(n: int) -> str:
        return gate.evaluate(command=f"echo {n}").outcome if n % 2 else gate.evaluate(**DATABASE).outcome

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(200)))
    assert answers == ["approve", "allow"] * 100
    assert gate.metrics()["blockedByApproval"] == 1


def test_one_approval_is_spent_once_however_many_threads_ask(gate: Gate) -> None:
    held = gate.evaluate(**DATABASE)
    assert held.ticket is not None
    gate.approve(held.ticket.id, gate.sign_in("ana", PASSPHRASE))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: gate.evaluate(**DATABASE, pending_id=held.ticket.id).allowed, range(8)))  # type: ignore[union-attr]
    assert sum(answers) == 1


def test_the_configuration_may_be_a_file_or_made_and_policy_and_store_stand_above_it(tmp_path: Path) -> None:
    path = write_config(tmp_path, f'[daemon]\nsocket = "{tmp_path}/s"')
    assert gate_config(path, None, None).policy == gate_config(str(path), None, None).policy == "spec"
    assert gate_config(Config(policy="strict"), None, None).policy == "strict"
    chosen = gate_config(path, "strict", tmp_path / "other")
    assert (chosen.policy, chosen.folder) == ("strict", tmp_path / "other")
    assert chosen.socket_path == tmp_path / "other" / "interlock.sock", "another store has another daemon"
    assert gate_config(path, None, folder_url(tmp_path / "state")).daemon.socket == f"{tmp_path}/s"
    assert gate_config(None, None, "postgresql://localhost/x").store == "postgresql://localhost/x"
    with pytest.raises(ValueError, match="no %, # or"):
        folder_url(tmp_path / "50%41")


def test_a_policy_that_does_not_exist_opens_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no policy 'lax'"):
        Gate(store=tmp_path / "state", policy="lax")
    enrol_in_folder(tmp_path)
    with Gate(store=tmp_path / "state", policy="strict") as gate:  # nothing was left locked
        assert gate.evaluate(command="npm install").outcome == "confirm"
