"""A no binds the effect on its target in its place: in the session, for other sessions, elsewhere, and until when (R-22)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

import postgres
from gate import AGENT, Gate
from interlock.analysis.display_text import short_id
from interlock.approvals import answers, grants
from interlock.engine.evaluate import Request, quick
from interlock.model import Action, command, operation
from interlock.ports import StoreEvent
from interlock.records import Ticket
from shared_services import Replica, eventually

A, B = "/home/dev/a", "/home/dev/b"
OTHER = replace(AGENT, session="s2")
WIPE, AWAY = command("rm -rf /srv/x", A), command("mv /srv/x /tmp/y", A)
RESET, DESTROY = "git reset --hard", "terraform destroy"


@pytest.fixture(params=["sqlite", "postgres"])
def gate(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    store = {}
    if request.param == "postgres":
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        server: postgres.Server = request.getfixturevalue("server")
        store = {"store": {"url": server.new_database()}}
    made = Gate(tmp_path / "state", **store)
    made.enrol()
    yield made
    made.close()


def reject(gate: Gate, action: Action, reason: str = "not now") -> Ticket:
    return answers.reject(gate.state, gate.sign_in(), gate.held(action).id, reason)


def test_a_no_holds_in_its_session_and_everyday_work_does_not_get_around_it(gate: Gate) -> None:
    assert gate.ask(AWAY).allowed
    ticket = reject(gate, WIPE, "customers' files")
    for action in (AWAY, command("mv /srv/x/a /tmp/a", A), command("mv /srv /tmp/y", A), WIPE):
        found = gate.ask(action)
        assert found.outcome == "deny" and found.ticket is not None and found.ticket.id == ticket.id, action
        assert "ann" in found.reason and "customers' files" in found.reason and short_id(ticket.id) in found.reason, (
            found.reason
        )
    for action in (command("mv /srv/other /tmp/y", A), command("cp -r /srv/x /tmp/y", A), command("ls /srv/x", A)):
        assert gate.ask(action).allowed, action
    gate.clock.forward(3600)
    assert gate.ask(AWAY).outcome == "deny"


def test_after_ten_minutes_the_session_is_denied_with_a_ticket_that_a_person_can_answer(gate: Gate) -> None:
    ticket = reject(gate, WIPE)
    gate.clock.forward(601)
    again = gate.ask(AWAY)
    assert again.outcome == "deny" and again.ticket is not None and again.ticket.id != ticket.id and again.ticket.open
    other = gate.ask(command("python3 -c \"import shutil; shutil.move('/srv/x', '/tmp/z')\"", A))
    assert not other.allowed and other.ticket is not None and other.ticket.id == again.ticket.id
    gate.approve(again.ticket)
    assert gate.ask(AWAY).allowed
    assert gate.ask(AWAY).allowed  # a person answered otherwise: it is everyday work again


def test_a_no_reaches_other_sessions_of_its_principal_for_ten_minutes(gate: Gate) -> None:
    ticket = reject(gate, WIPE)
    reject(gate, operation("delete_user", {"id": 4}, cwd=A))
    found = gate.ask(command("find /srv/x -delete", B), OTHER)
    assert found.outcome == "deny" and found.ticket is not None and found.ticket.id == ticket.id
    assert gate.ask(AWAY, OTHER).outcome == "deny"
    assert gate.ask(operation("remove-user", {"user_id": "4"}, cwd=A), OTHER).outcome == "deny"
    assert gate.ask(operation("delete_user", {"id": 4}, cwd=B), OTHER).held  # in another place
    assert gate.ask(AWAY, replace(AGENT, principal="uid:7")).allowed
    gate.clock.forward(601)
    assert gate.ask(AWAY, OTHER).allowed
    asked = gate.ask(WIPE, OTHER)
    assert asked.held and not any(factor.startswith("retry") for factor in asked.factors)


@pytest.mark.parametrize("agent", [AGENT, OTHER], ids=["the same session", "another session"])
def test_elsewhere_it_is_asked_anew(gate: Gate, agent: object) -> None:
    branch = operation("delete_branch", {"branch": "old"}, cwd=A)
    for action in (command(RESET, A), command("git clean -fdx", A), command(DESTROY, A), branch):
        ticket = reject(gate, action)
        there = gate.ask(replace(action, cwd=B), agent)  # type: ignore[arg-type]
        assert there.held and there.ticket is not None and there.ticket.id != ticket.id, action
        assert not any(factor.startswith("retry") for factor in there.factors), there.factors
        answers.reject(gate.state, gate.sign_in(), there.ticket.id, "not there either")


def test_another_wording_of_what_was_rejected_is_no_new_question(gate: Gate) -> None:
    ticket = reject(gate, command(DESTROY, A))
    for text in ("terraform apply -destroy", f"terraform -chdir={A} destroy -auto-approve", f"cd {A} && tofu destroy"):
        found = gate.ask(command(text, A))
        assert not found.allowed and found.ticket is not None and found.ticket.id == ticket.id, (text, found)


def test_another_user_is_another_target_while_the_first_waits(gate: Gate) -> None:
    first = gate.held(operation("delete_user", {"id": 4}, cwd=A))
    other = gate.ask(operation("delete_user", {"id": 5}, cwd=A))
    assert other.held and other.ticket is not None and other.ticket.id != first.id


def test_what_waits_is_met_in_other_words_with_how_it_is_answered(gate: Gate) -> None:
    first = gate.held(WIPE)
    for text in ("find /srv/x -delete", "rm -rf /srv/x/y", "sudo rm -rf /srv"):
        found = gate.ask(command(text, A))
        assert found.held and found.ticket is not None and found.ticket.id == first.id and not found.token, found
        assert "waits for an answer" in found.reason and f"interlock approve {short_id(first.id)}" in found.reason
    assert gate.ask(AWAY).allowed  # as the rule advises
    gate.approve(first)
    assert gate.ask(command("find /srv/x -delete", A)).ticket != first  # approved for its own words alone
    assert gate.ask(WIPE).allowed
    assert gate.ask(AWAY).allowed


def test_a_ticket_that_nobody_answered_leaves_no_dead_end(gate: Gate) -> None:
    first = gate.held(WIPE)
    gate.clock.forward(3601)
    second = gate.ask(command("find /srv/x -delete", A))
    assert second.held and second.ticket is not None and second.ticket.id != first.id and second.ticket.open
    gate.approve(second.ticket)
    assert gate.ask(command("find /srv/x -delete", A)).allowed
    third = gate.held(command("rm -r -f /srv/x", A))  # the second is spent
    assert third.id not in (first.id, second.ticket.id) and third.open


def test_a_grant_answers_otherwise(gate: Gate) -> None:
    ticket = reject(gate, WIPE)
    grants.add_grant(gate.state, gate.sign_in(), {**grants.suggest_grant(gate.state, ticket.id), "why": "after all"})
    assert gate.ask(command("find /srv/x -delete", A)).allowed


def test_a_no_outlasts_a_restart(gate: Gate) -> None:
    ticket = reject(gate, WIPE)
    gate.restart()
    gate.sign_in()
    assert quick(gate.state, Request(AWAY, AGENT, "test")) is None
    found = gate.ask(AWAY)
    assert found.outcome == "deny" and found.ticket is not None and found.ticket.id == ticket.id


def test_everyday_work_does_not_ask_the_store_unless_it_meets_a_denial(gate: Gate) -> None:
    reject(gate, WIPE)
    everyday = Request(command("mv notes.txt old.txt", A), AGENT, "test")
    eventually(
        lambda: gate.state.fresh() and quick(gate.state, everyday) is not None
    )  # once it has heard of its own no
    assert quick(gate.state, Request(AWAY, AGENT, "test")) is None


def test_what_an_earlier_version_remembered_denies_no_more_than_it_says(gate: Gate) -> None:
    first = gate.held(WIPE)

    def before(tx: object) -> None:
        for one in tx.denials(gate.clock.now(), AGENT.principal):  # type: ignore[attr-defined]
            tx.save_denial(replace(one, until=0.0))  # type: ignore[attr-defined]
            for key in ("destroy:/srv/x", "run:git reset", "elsewhere:?", "more:?", "garbled"):
                tx.save_denial(replace(one, effect_key=key))  # type: ignore[attr-defined]

    gate.store.write(before)
    found = gate.ask(command("find /srv/x -delete", A))
    assert found.ticket is not None and found.ticket.id == first.id
    assert gate.ask(command(RESET, A)).ticket != found.ticket
    assert gate.ask(command("mv notes.txt old.txt", A)).allowed


def test_another_replica_hears_of_a_no(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    assert two.quick(AWAY) is not None
    ticket = one.ask(WIPE).ticket
    assert ticket is not None
    with two.hearing(StoreEvent.DENIALS):
        answers.reject(one.state, one.sign_in(), ticket.id, "not now")
    assert two.quick(AWAY) is None and two.ask(AWAY).outcome == "deny"
