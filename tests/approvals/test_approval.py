"""Approval that is approval: each way in which it was not, and the answer that holds."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gate import AGENT, PASSPHRASE, Gate
from interlock.approvals import answers
from interlock.error_codes import AnswerRefused
from interlock.identity import operators
from interlock.identity.keys.passphrases import enrol
from interlock.identity.sessions import SignInRefused
from interlock.model import AgentRef, TicketState, command, operation

PUSH = command("git push --force origin main", "/home/dev/app")
RESET = command("git reset --hard HEAD~3", "/home/dev/app")
DESTROY = command("terraform destroy", "/home/dev/app")


def test_an_approval_is_good_for_one_action_only(gate: Gate) -> None:
    """An approval for `make build` was spent on `terraform destroy`."""
    ticket = gate.held(RESET)
    gate.approve(ticket)
    other = gate.ask(DESTROY, pending=ticket.id)
    assert not other.allowed and other.code == "TOKEN_SCOPE_MISMATCH"
    assert (other.message, other.details["token_operation"], other.details["requested_operation"]) == (
        "This ticket is for another operation",
        "command:git",  # and no word of it more (CT-13)
        "command:terraform",
    )
    more = gate.ask(command("git reset --hard HEAD~4", "/home/dev/app"), pending=ticket.id)
    assert more.message == "This ticket is for this operation with other parameters"
    assert gate.ask(RESET).allowed


@pytest.mark.parametrize(
    "change",
    [
        {"action": command("git reset --hard HEAD~4", "/home/dev/app")},
        {"action": command("git reset --hard HEAD~3", "/srv")},
        {"agent": AgentRef("uid:1001", "claude", "s1")},
        {"agent": AgentRef("uid:1000", "other", "s1")},
    ],
)
def test_another_text_folder_principal_or_name_is_another_action(gate: Gate, change: dict[str, Any]) -> None:
    gate.approve(gate.held(RESET))
    assert not gate.ask(**{"action": RESET, "agent": AGENT, **change}).allowed
    assert gate.ask(RESET).allowed


def test_an_approval_is_spent_once(gate: Gate) -> None:
    ticket = gate.held(PUSH)
    gate.approve(ticket)
    first, second = gate.ask(PUSH), gate.ask(PUSH)
    assert first.allowed and not second.allowed
    assert second.ticket is not None and second.ticket.id != ticket.id
    assert gate.ask(PUSH, pending=ticket.id).code == "TOKEN_ALREADY_USED"


def test_a_retry_finds_its_ticket(gate: Gate) -> None:
    """Confirm patterns could never be satisfied, because every retry opened a new request."""
    assert gate.held(PUSH).id == gate.held(PUSH).id
    assert gate.held(PUSH, replace(AGENT, session="s2")).id == gate.held(PUSH).id


def test_an_approved_ticket_that_is_not_used_expires(gate: Gate) -> None:
    ticket = gate.held(PUSH)
    gate.approve(ticket)
    gate.clock.forward(301)
    again = gate.ask(PUSH)
    assert not again.allowed and again.ticket is not None and again.ticket.id != ticket.id


def test_a_ticket_that_nobody_answers_expires(gate: Gate) -> None:
    ticket = gate.held(PUSH)
    gate.clock.forward(3601)
    with pytest.raises(AnswerRefused):
        gate.approve(ticket)
    assert gate.held(PUSH).id != ticket.id


def edit(gate: Gate, sql: str, *values: object) -> None:
    """What an agent that is the same user can do to the database behind our back."""
    with sqlite3.connect(Path(gate.folder) / "state.db") as db:
        db.execute(sql, values)


def test_a_row_edited_in_the_database_never_allows(gate: Gate) -> None:
    ticket = gate.held(PUSH)
    gate.sign_in()
    edit(gate, "UPDATE tickets SET state = 'approved', expires_at = ? WHERE id = ?", gate.clock.now() + 900, ticket.id)
    answer = gate.ask(PUSH)
    assert not answer.allowed and "approval does not hold" in answer.reason


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE tickets SET digest = (SELECT digest FROM tickets WHERE id = '{other}') WHERE id = '{id}'",
        "UPDATE tickets SET requirement = '{{}}' WHERE id = '{id}'",
        "UPDATE approvals SET ticket = '{other}'",
        "INSERT INTO approvals SELECT * FROM approvals WHERE 0",
    ],
)
def test_an_approval_cannot_be_moved_to_another_ticket(gate: Gate, sql: str) -> None:
    other, ticket = gate.held(DESTROY), gate.held(RESET)
    gate.approve(ticket)
    try:
        edit(gate, sql.format(id=ticket.id, other=other.id))
        edit(gate, "UPDATE tickets SET state = 'approved' WHERE id = ?", other.id)
    except sqlite3.Error:
        pass
    assert not gate.ask(DESTROY).allowed


def test_a_cooling_off_that_was_shortened_in_the_database_frees_nothing(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "s", policy={"use": "spec"})
    drop = operation("drop_table", {"name": "users"})
    ticket = gate.held(drop)
    edit(
        gate, "UPDATE tickets SET cooling_ends_at = ?, state = 'approved' WHERE id = ?", gate.clock.now() - 1, ticket.id
    )
    assert not gate.ask(drop, pending=ticket.id).allowed
    gate.close()


def test_an_operator_added_in_the_database_approves_nothing(gate: Gate) -> None:
    """A key changed outside the operator command is a denial."""
    ticket = gate.held(PUSH)
    forged, _ = enrol("mallory", PASSPHRASE, None, now=1.0, by="ann", roles=["admin"])
    gate.store.write(lambda tx: tx.save_operator(forged))
    with pytest.raises(SignInRefused):
        gate.sign_in("mallory")
    with pytest.raises(SignInRefused):  # and the altered roster is noticed by the next honest sign-in
        gate.sign_in()
    assert not gate.ask(PUSH).allowed
    assert ticket.state is TicketState.WAITING


def test_an_operators_key_swapped_in_the_database_counts_for_nothing(gate: Gate) -> None:
    gate.approve(gate.held(PUSH))
    row = gate.store.read(lambda tx: tx.operators())[0]
    forged, _ = enrol("ann", "another passphrase entirely", None, now=row.created_at, by="ann", roles=["admin"])
    gate.store.write(lambda tx: tx.save_operator(forged))
    assert gate.ask(PUSH).allowed  # the daemon in memory knows the real one
    gate.restart()
    with pytest.raises(SignInRefused):
        operators.sign_in(gate.state, "ann", "another passphrase entirely", "cli")


def test_after_a_restart_nothing_is_spent_until_an_operator_unlocks(gate: Gate) -> None:
    gate.approve(gate.held(PUSH))
    gate.restart()
    refused = gate.ask(PUSH)
    assert not refused.allowed and "interlock unlock" in refused.reason
    gate.sign_in()
    assert gate.ask(PUSH).allowed


@pytest.mark.parametrize("name", ["nobody", "Ann ", "admin", ""])
def test_an_approver_is_never_any_string_the_caller_sent(gate: Gate, name: str) -> None:
    with pytest.raises(SignInRefused):
        operators.sign_in(gate.state, name, "wrong passphrase", "cli")


def test_only_who_is_asked_for_can_answer(gate: Gate) -> None:
    gate.add("bob", "dev")
    ticket = gate.held(command("rm -rf /", "/"))
    with pytest.raises(AnswerRefused, match="may not answer"):
        gate.approve(ticket, "bob")
    gate.approve(ticket)
    assert gate.ask(command("rm -rf /", "/")).allowed


def test_what_has_to_be_verified_takes_a_fresh_sign_in(gate: Gate) -> None:
    ticket, session = gate.held(PUSH), gate.sign_in()
    gate.clock.forward(121)
    with pytest.raises(AnswerRefused, match="fresh sign-in"):
        answers.approve(gate.state, session, ticket.id)
    gate.approve(ticket)


def test_a_rejection_reaches_the_agent_and_binds_the_target(gate: Gate) -> None:
    ticket = gate.held(command("rm -rf /srv/data", "/srv"))
    answers.reject(gate.state, gate.sign_in(), ticket.id, "that is the only copy")
    for text in (
        "rm -rf /srv/data",
        "rm -r -f /srv/data",
        "find /srv/data -delete",
        "python3 -c \"import shutil; shutil.rmtree('/srv/data')\"",
    ):
        answer = gate.ask(command(text, "/srv"))
        assert not answer.allowed and answer.ticket is not None and answer.ticket.id == ticket.id, text
    assert "that is the only copy" in gate.ask(command("rm -rf /srv/data", "/srv")).reason
    gate.clock.forward(601)
    assert gate.held(command("rm -rf /srv/data", "/srv")).id != ticket.id


def test_three_ways_to_the_same_effect_are_an_evasion(gate: Gate) -> None:
    gate.held(command("rm -rf /srv/data", "/srv"))
    texts = [
        "rm -r -f /srv/data",
        "find /srv/data -delete",
        "perl -e 'use File::Path; rmtree(\"/srv/data\")'",
        "rm -Rf /srv/data/",
    ]
    factors = [factor for text in texts for factor in gate.ask(command(text, "/srv")).factors]
    assert any(factor.startswith("retry.same_effect") for factor in factors)
    assert any(factor.startswith("evasion.search") for factor in factors)


def test_cooling_off_is_a_notice_and_a_veto(tmp_path: Path) -> None:
    """Cooling-off that silently becomes consent, with nobody told."""
    told: list[tuple[str, str]] = []

    class Bell:
        name = "bell"

        def tell(self, event: str, ticket: Any, words: str) -> None:
            told.append((event, ticket.id))

    gate = Gate(tmp_path / "s", policy={"use": "headless"})
    gate.enrol()
    gate.state.channels = [Bell()]
    branch = command("git branch -D old", "/home/dev/app")
    ticket = gate.held(branch)
    assert told == [("held", ticket.id)] and gate.ask(branch).wait_seconds == 30
    answers.reject(gate.state, gate.sign_in(), ticket.id, "still needed")
    gate.clock.forward(31)
    assert not gate.ask(branch).allowed
    gate.close()


def test_at_most_five_tickets_of_an_agent_are_open(gate: Gate) -> None:
    for number in range(5):
        gate.held(command(f"git push --force origin branch{number}", "/home/dev/app"))
    full = gate.ask(command("git push --force origin branch6", "/home/dev/app"))
    assert not full.allowed and full.ticket is None and "queue is full" in full.reason
    assert gate.held(PUSH, AgentRef("uid:1000", "another", "s1"))


def test_a_quorum_takes_different_people(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(
        'name = "two"\n[levels]\nsafe = "allow"\nreversible = "allow"\ndestructive = "confirm"\n'
        'dangerous = { require = "approve", quorum = 2 }\nforbidden = "block"\n'
    )
    gate = Gate(tmp_path / "s", policy={"use": str(path)})
    gate.enrol()
    gate.add("bob", "dev")
    ticket = gate.held(PUSH)
    gate.approve(ticket)
    gate.approve(ticket)
    assert not gate.ask(PUSH).allowed
    gate.approve(ticket, "bob")
    assert gate.ask(PUSH).allowed
    gate.close()


def test_what_became_of_it_is_reported_by_whoever_spent_it(gate: Gate) -> None:
    ticket = gate.held(PUSH)
    with pytest.raises(AnswerRefused, match="not used"):
        answers.report_execution(gate.state, AGENT, ticket.id, "success")
    gate.approve(ticket)
    assert gate.ask(PUSH).allowed
    with pytest.raises(AnswerRefused):
        answers.report_execution(gate.state, AgentRef("uid:7", "claude"), ticket.id, "success")
    done = answers.report_execution(gate.state, AGENT, ticket.id, "success")
    assert done.executed_at and done.outcome == "success"
