"""A gate that is a client: of the daemon whose socket answers, or of one at an address; and it denies when that is gone."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from daemons import PASSPHRASE, Daemon, bearer, daemon, start_daemon
from interlock import Denied, Gate, GateError, Held
from interlock.sdk import SignedInSession
from interlock.sdk.remote import RemoteBackend

DATABASE: dict[str, Any] = {"operation": "drop_database", "resource": "main"}


def token_of(running: Daemon, name: str = "shop-bot") -> str:
    answer = running.here().post("/api/v1/agents", json={"name": name}, headers=running.sign_in())
    return str(answer.json()["token"])


def test_the_daemon_is_asked_when_its_socket_answers(remote: Gate, running: Daemon) -> None:
    assert remote.place == str(running.socket)
    assert remote.evaluate(command="git status").allowed
    with pytest.raises(Held) as held:
        remote.check(**DATABASE)
    decision = held.value.decision
    assert decision.ticket is not None and decision.ticket.agent.principal == f"uid:{os.getuid()}"
    assert (decision.ticket.agent.name, decision.ticket.agent.session) == ("claude", "s1")
    assert running.here().get(f"/api/v1/tickets/{decision.ticket.id}").json()["title"] == decision.ticket.title
    with pytest.raises(Denied):
        remote.check(command="mkfs.ext4 /dev/sdb")


def test_the_store_leads_to_its_daemon_as_well(running: Daemon) -> None:
    with Gate(store=running.folder / "state") as gate:
        assert gate.place == str(running.socket)


def test_a_program_cannot_bring_its_own_policy_to_a_daemon(running: Daemon) -> None:
    with pytest.raises(GateError, match="decides by its own policy: leave policy= out"):
        Gate(running.folder / "interlock.toml", policy="headless")


def test_held_approved_spent_and_reported(remote: Gate) -> None:
    held = remote.evaluate(**DATABASE)
    assert held.ticket is not None and held.ticket.state == "pending_approval"
    session = remote.sign_in("ana", PASSPHRASE)
    assert session.operator == "ana" and PASSPHRASE not in repr(session) and session.token not in repr(session)
    approved = remote.approve(held.ticket.id, session, "looked at it")
    assert (approved.state, approved.decided_by) == ("approved", "ana")
    freed = remote.evaluate(**DATABASE, pending_id=held.ticket.id)
    assert freed.allowed and freed.ticket is not None
    done = remote.executed(freed, "dropped")
    assert done is not None and (done.state, done.outcome) == ("executed", "dropped")
    assert remote.evaluate(**DATABASE, pending_id=held.ticket.id).code == "TOKEN_ALREADY_USED"
    assert remote.metrics()["executed"] == 1


def test_neither_a_name_nor_a_made_up_session_answers(remote: Gate) -> None:
    held = remote.evaluate(**DATABASE)
    assert held.ticket is not None
    for session in ("admin@company.com", None, {"token": "ses_x"}):
        with pytest.raises(GateError, match="takes an operator's session"):
            remote.approve(held.ticket.id, session)  # type: ignore[arg-type]
    for made_up in ("ses_made_up", "agt_made_up", ""):
        with pytest.raises(GateError):
            remote.approve(held.ticket.id, SignedInSession("ana", 9e9, made_up))
    with pytest.raises(GateError, match="says why"):
        remote.reject(held.ticket.id, remote.sign_in("ana", PASSPHRASE), " ")
    assert not remote.evaluate(**DATABASE, pending_id=held.ticket.id)


def test_whoever_signed_out_answers_no_more(remote: Gate) -> None:
    held, session = remote.evaluate(**DATABASE), remote.sign_in("ana", PASSPHRASE)
    remote.sign_out(session)
    assert held.ticket is not None
    with pytest.raises(GateError, match="not valid"):
        remote.approve(held.ticket.id, session)
    with pytest.raises(GateError, match="the name or the passphrase is wrong"):
        remote.sign_in("ana", "guessed")


def test_a_wait_ends_when_a_person_answers(remote: Gate) -> None:
    held = remote.evaluate(**DATABASE)
    assert held.ticket is not None
    session, id = remote.sign_in("ana", PASSPHRASE), held.ticket.id
    threading.Timer(0.5, lambda: remote.reject(id, session, "Too risky")).start()
    ticket = remote.wait(held, timeout=60)
    assert (ticket.state, ticket.decision_reason) == ("rejected", "Too risky")
    assert "Too risky" in remote.evaluate(**DATABASE).reason


def test_a_wait_ends_with_its_time(remote: Gate) -> None:
    held = remote.evaluate(**DATABASE)
    assert remote.wait(held, timeout=0).state == remote.wait(held, timeout=1.2).state == "pending_approval"


def test_what_cools_off_is_waited_for(tmp_path: Path) -> None:
    with daemon(tmp_path, toml="[gate]\nmaxCoolingOffMs = 1000"), Gate(tmp_path / "interlock.toml") as gate:
        held = gate.evaluate(operation="drop_table", resource="users")
        assert held.outcome == "cool_off" and held.wait_seconds == 1
        ticket = gate.wait(held, timeout=60)
        assert ticket.state == "approved"
        assert gate.evaluate(operation="drop_table", resource="users", pending_id=ticket.id).allowed


def test_another_agents_ticket_is_as_if_there_were_none(remote: Gate, running: Daemon) -> None:
    url = f"http://127.0.0.1:{running.port}"
    held = remote.evaluate(**DATABASE)
    with Gate(url=url, token=token_of(running)) as other, pytest.raises(GateError, match="no ticket"):
        other.wait(held, timeout=1)


def test_a_daemon_at_an_address_knows_the_agent_by_its_token(running: Daemon) -> None:
    url, token = f"http://127.0.0.1:{running.port}", token_of(running)
    with Gate(url=url, token=token) as gate:
        held = gate.evaluate(operation="terminate_vm", resource="vm1")
        assert held.ticket is not None and held.ticket.agent.principal.startswith("agent:")
        assert held.ticket.agent.name == "shop-bot", "the token has a name of its own"
        gate.approve(held.ticket.id, gate.sign_in("ana", PASSPHRASE))
        freed = gate.evaluate(operation="terminate_vm", resource="vm1", pending_id=held.ticket.id)
        assert freed.allowed and gate.executed(freed) is not None
    with Gate(url=url, token="agt_made_up") as nobody:
        denied = nobody.evaluate(command="ls")
        assert denied.outcome == "deny" and "not valid" in denied.reason


def test_a_token_counts_on_the_socket_too_and_nowhere_without_a_daemon(running: Daemon, tmp_path: Path) -> None:
    with Gate(running.folder / "interlock.toml", token=token_of(running)) as gate:
        held = gate.evaluate(**DATABASE)
        assert held.ticket is not None and held.ticket.agent.principal.startswith("agent:")
    with pytest.raises(GateError, match="not valid"):
        Gate(running.folder / "interlock.toml", token="agt_made_up")
    with pytest.raises(GateError, match="a token counts at a daemon only"):
        Gate(store=tmp_path / "nowhere", token="agt_x")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://interlock.example", "elsewhere use https"),
        ("ftp://127.0.0.1", "expected https"),
        ("127.0.0.1:7310", "expected https"),
        ("https://user:pass@host", "expected https"),
    ],
)
def test_an_address_that_would_give_the_token_away_is_refused(url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Gate(url=url, token="agt_x")


def test_an_address_takes_a_token_and_nothing_of_this_machine(tmp_path: Path) -> None:
    with pytest.raises(GateError, match="takes token="):
        Gate(url="http://127.0.0.1:1")
    with pytest.raises(TypeError, match="do not go with it"):
        Gate(url="http://127.0.0.1:1", token="agt_x", store=tmp_path)


def test_a_daemon_that_is_gone_allows_nothing(running: Daemon) -> None:
    with Gate(running.folder / "interlock.toml") as gate:
        assert gate.evaluate(command="ls").allowed
        running.stop()
        decision = gate.evaluate(command="ls")
        assert decision.outcome == "deny" and decision.unknown and "no daemon answers" in decision.reason
        with pytest.raises(Denied):
            gate.check(command="ls")
        with pytest.raises(GateError, match="the state cannot be known"):
            gate.metrics()


def test_a_daemon_that_holds_the_folder_and_does_not_answer_is_not_gone_around(running: Daemon) -> None:
    """Frozen, with its socket there: the lock says that somebody else decides."""
    running.socket.unlink()
    with pytest.raises(GateError, match=r"in use by process \d+, and no daemon answers on"):
        Gate(running.folder / "interlock.toml")


def test_a_wait_outlives_a_restart_of_the_daemon(running: Daemon) -> None:
    with Gate(running.folder / "interlock.toml") as gate:
        held = gate.evaluate(**DATABASE)
        assert held.ticket is not None
        again: list[Daemon] = []

        def restart() -> None:
            running.stop(signal.SIGTERM)
            again.append(start_daemon(running.folder))
            path = f"/api/v1/tickets/{held.ticket.id}/reject"  # type: ignore[union-attr]
            again[0].here().post(path, json={"reason": "after all"}, headers=again[0].sign_in())

        thread = threading.Thread(target=restart)
        thread.start()
        try:
            ticket = gate.wait(held, timeout=60)
        finally:
            thread.join()
            for one in again:
                one.stop()
                assert one.process.stdout is not None
                one.process.stdout.close()
        assert (ticket.state, ticket.decision_reason) == ("rejected", "after all")


def test_one_approval_is_spent_once_however_many_threads_ask(remote: Gate) -> None:
    held = remote.evaluate(**DATABASE)
    assert held.ticket is not None
    id = held.ticket.id
    remote.approve(id, remote.sign_in("ana", PASSPHRASE))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: remote.evaluate(**DATABASE, pending_id=id).allowed, range(8)))
    assert sum(answers) == 1


def test_a_closed_gate_answers_no_more(remote: Gate) -> None:
    remote.close()
    with pytest.raises(GateError, match="closed"):
        remote.evaluate(command="ls")


def test_neither_tokens_nor_sessions_stand_in_any_text(running: Daemon) -> None:
    token = token_of(running)
    with Gate(url=f"http://127.0.0.1:{running.port}", token=token) as gate:
        backend = gate._shared.backend()
        assert isinstance(backend, RemoteBackend) and token not in repr(backend) and token not in repr(gate)
    assert bearer(token)["authorization"].endswith(token)
