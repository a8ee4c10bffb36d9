"""Operations of adapters: what the daemon knows of them decides, what their danger blocks ask for happens, and trust is an operator's word."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adapter_files import DANGERS, LEVELS, adapter_file
from gate import Gate
from interlock.adapters.trust import TrustRecord
from interlock.approvals import answers
from interlock.audit.search import is_attempt
from interlock.config import ConfigError
from interlock.engine.replay import AGREES, replay_policy, replay_record
from interlock.error_codes import AnswerRefused
from interlock.model import Human, Level, Trust, operation
from interlock.runtime import adapter_trust
from interlock.runtime.adapters import TrustEntry, trust_seal
from interlock.startup import record_start

Make = Callable[..., Gate]


def test_a_trust_entry_with_any_text_for_its_seal_is_unproved_and_no_error() -> None:
    for seal in ("", "f" * 64, "höchst", "\ud800"):
        assert not TrustEntry(TrustRecord(), "", 0.0, "text", seal).proved(b"key")
    assert TrustEntry(TrustRecord(), "", 0.0, "text", trust_seal("text", b"key")).proved(b"key")


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    gates: list[Gate] = []

    def made(operations: str = DANGERS, trust: Trust = Trust.VALIDATED, policy: str = "default", **more: Any) -> Gate:
        file = adapter_file(tmp_path, operations, trust, **more)
        gate = Gate(tmp_path / "state", adapters={"files": [str(file)]}, policy={"use": policy})
        gate.enrol()
        gates.append(gate)
        return gate

    yield made
    for gate in gates:
        gate.close()


def trusted(gate: Gate, *levels: Trust) -> None:
    for level in levels:
        adapter_trust.change_trust(gate.state, gate.sign_in(), "things", level, "looked at it")


def standing(gate: Gate) -> Trust:
    return gate.state.adapters.standing("things", gate.clock.now()).trust


def edit(gate: Gate, sql: str, *values: object) -> None:
    db = sqlite3.connect(Path(gate.folder) / "state.db", timeout=10)
    with db:
        db.execute(sql, values)
    db.close()


# What is known


def test_an_adapter_that_nobody_loaded_may_only_be_introspected(make: Make) -> None:
    gate = make()
    for name in ("get_thing", "delete_thing"):
        found = gate.ask(operation(name, {}, "READ"), adapter="others")
        assert found.outcome == "block" and found.ticket is None
        assert "adapters.files in interlock.toml" in found.reason
    found = gate.ask(operation("list_things", {}, "READ"), adapter="others")
    assert found.code == "PERMISSION_TRUST_LEVEL_INSUFFICIENT" and found.details["actual_trust"] == "untested"
    assert gate.ask(operation("introspect", {"query": "operations"}), adapter="others").allowed
    assert not gate.ask(operation("introspect", {"command": "rm -rf /srv"}), adapter="others").allowed


def test_what_the_caller_says_of_an_operation_counts_for_nothing(make: Make) -> None:
    """The category is the adapter's, and so is the level."""
    gate = make(LEVELS)
    assert gate.ask(operation("sync_destructive", {}, "READ"), adapter="things").outcome == "confirm"
    lied = operation("sync_destructive", {}, "READ", "", Level.SAFE)
    assert gate.ask(lied, adapter="things").outcome == "confirm"
    assert gate.ask(operation("sync_reversible", {}, "DELETE"), adapter="things").allowed


def test_an_operation_that_the_adapter_does_not_have_is_refused(make: Make) -> None:
    found = make().ask(operation("list_others", {}, "READ"), adapter="things")
    assert (found.outcome, found.code) == ("block", "NOT_FOUND_OPERATION")
    assert "has no operation 'list_others'" in found.reason and found.details == {"operation": "list_others"}


def test_a_missing_or_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    broken = adapter_file(tmp_path, LEVELS.replace("level: dangerous", "level: deadly"))
    with pytest.raises(ConfigError) as told:
        Gate(tmp_path / "state", adapters={"files": [str(broken), str(tmp_path / "gone.yaml")]})
    assert f"{broken}:15: level 'deadly'" in str(told.value) and "gone.yaml: cannot be read: No such file" in str(
        told.value
    )


def test_two_files_with_one_name_are_refused(tmp_path: Path) -> None:
    files = [str(adapter_file(tmp_path, trust=trust)) for trust in (Trust.VALIDATED, Trust.GENERATED)]
    with pytest.raises(ConfigError, match="adapter 'things' is there already"):
        Gate(tmp_path / "state", adapters={"files": files})


# What a danger block asks for


def test_a_condition_on_the_params_raises_the_level(make: Make) -> None:
    gate = make()
    assert gate.ask(operation("sync_things", {"count": 5}), adapter="things").allowed
    ticket = gate.held(operation("sync_things", {"count": 500}), adapter="things")
    assert ticket.level is Level.DESTRUCTIVE and ticket.reason == "Sync 500 things?"
    assert (ticket.adapter, ticket.adapter_trust) == ("things", "validated")


def test_score_factors_that_are_true_add_up(make: Make) -> None:
    gate = make()
    assert gate.ask(operation("change_things", {"ids": ["1"], "env": "test"}), adapter="things").allowed
    levels = [
        gate.ask(operation("change_things", params), adapter="things").assessment
        for params in ({"ids": ["1"], "env": "production"}, {"ids": ["*"], "all": True, "env": "production"})
    ]
    assert [one.level for one in levels if one] == [Level.DESTRUCTIVE, Level.DANGEROUS]


@pytest.mark.parametrize("policy", ["default", "spec"])
def test_an_operation_that_is_performed_too_often_is_asked_about(make: Make, policy: str) -> None:
    gate = make(policy=policy)
    publish = operation("publish_things", {})
    for _ in range(3):
        assert gate.ask(publish, adapter="things").allowed
        gate.state.recorder.flush()
    found = gate.ask(publish, adapter="things")
    assert found.outcome == "confirm" and any("Three this hour" in factor for factor in found.factors)
    assert found.assessment is not None and found.assessment.level is Level.REVERSIBLE  # DL-13
    gate.clock.forward(3_700)
    assert gate.ask(operation("publish_things", {"again": 1}), adapter="things").allowed


def test_cooldown_and_a_fresh_sign_in_are_both_asked_for(make: Make) -> None:
    gate = make()
    rebuild = operation("rebuild_things", {})
    ticket = gate.held(rebuild, adapter="things")
    assert ticket.requirement.reauth and ticket.requirement.cooling_seconds == 30
    session = gate.sign_in()
    gate.clock.forward(121)
    with pytest.raises(AnswerRefused, match="fresh sign-in"):
        answers.approve(gate.state, session, ticket.id)
    gate.approve(ticket)
    assert gate.ask(rebuild, adapter="things").allowed
    body = json.loads(gate.records("CONFIRMATION_GRANTED")[-1].body)
    assert (body["adapter_name"], body["adapter_trust"], body["audit_context"]) == ("things", "validated", ["things"])


def test_nothing_runs_while_it_cools_though_somebody_agreed(make: Make) -> None:
    gate = make()
    rebuild = operation("rebuild_things", {})
    gate.approve(gate.held(rebuild, adapter="things"))
    assert gate.ask(rebuild, adapter="things").outcome == "cool_off"
    gate.clock.forward(31)
    assert gate.ask(rebuild, adapter="things").allowed


def test_only_whom_the_adapter_names_may_approve(make: Make) -> None:
    gate = make()
    gate.add("bo")
    gate.add("sam", teams=("security",))
    release = operation("release_things", {})
    ticket = gate.held(release, adapter="things")
    assert ticket.requirement.human is Human.APPROVE and ticket.requirement.approvers == {"team:security"}
    assert ticket.expires_at - ticket.opened_at == 2 * 3600
    with pytest.raises(AnswerRefused, match="team:security"):
        gate.approve(ticket, "bo")
    gate.approve(ticket, "sam")
    assert gate.ask(release, adapter="things").allowed


def test_a_declaration_lowers_a_name_by_trust_and_that_is_on_record(make: Make) -> None:
    """C-13."""
    gate = make()
    found = gate.ask(operation("force_sync", {}), adapter="things")
    assert found.allowed and any("lowers it to reversible" in factor for factor in found.factors)
    trusted(gate, Trust.GENERATED)
    found = gate.ask(operation("force_sync", {}), adapter="things")
    assert found.outcome == "block" and found.assessment is not None and found.assessment.level is Level.DANGEROUS


def test_a_ticket_of_one_adapter_is_not_spent_at_another_level(make: Make) -> None:
    """What people saw is what they signed: other params, another level, another ticket."""
    gate = make()
    ticket = gate.held(operation("sync_things", {"count": 500}), adapter="things")
    gate.approve(ticket)
    assert not gate.ask(operation("sync_things", {"count": 501}), adapter="things").allowed
    assert not gate.ask(operation("sync_things", {"count": 500})).ticket
    assert gate.ask(operation("sync_things", {"count": 500}), adapter="things").allowed


def test_decisions_about_adapters_are_made_again_byte_for_byte(make: Make) -> None:
    gate = make()
    trusted(gate, Trust.GENERATED, Trust.VALIDATED)
    asked = [
        ("sync_things", {"count": 5}),
        ("sync_things", {"count": 500}),
        ("force_sync", {}),
        ("rebuild_things", {}),
        ("nope", {}),
    ]
    for name, params in asked:
        gate.ask(operation(name, params), adapter="things")
    gate.ask(operation("get_thing", {}), adapter="others")
    gate.state.recorder.flush()
    rows = [row for row in gate.records() if is_attempt(row)]
    assert len(rows) == len(asked) + 1
    by = replay_policy(gate.config)
    assert {found.verdict for found in (replay_record(row, by) for row in rows)} == {AGREES}


# Trust


@pytest.mark.parametrize("claimed", list(Trust))
def test_what_a_file_says_of_itself_counts_up_to_validated(make: Make, claimed: Trust) -> None:
    assert standing(make(trust=claimed)) == min(claimed, Trust.VALIDATED)


def test_trust_rises_one_step_at_a_time_and_falls_any_number(make: Make) -> None:
    gate = make(trust=Trust.CERTIFIED)
    with pytest.raises(AnswerRefused, match="skips a level"):
        trusted(gate, Trust.CERTIFIED)
    trusted(gate, Trust.COMMUNITY_REVIEWED, Trust.CERTIFIED)
    assert standing(gate) is Trust.CERTIFIED
    trusted(gate, Trust.UNTESTED)
    assert standing(gate) is Trust.UNTESTED
    history = gate.state.adapters.kept["things"].record.history
    assert [(one.before.word, one.after.word, one.by, one.reason) for one in history] == [
        ("validated", "community_reviewed", "ann", "looked at it"),
        ("community_reviewed", "certified", "ann", "looked at it"),
        ("certified", "untested", "ann", "looked at it"),
    ]
    told = [json.loads(row.body) for row in gate.records("adapter_trust")]
    assert [(one["from"], one["to"], one["by"], one["reason"]) for one in told] == [
        (one.before.word, one.after.word, one.by, one.reason) for one in history
    ]


def test_only_an_admin_raises_trust_and_any_operator_lowers_it(make: Make) -> None:
    gate = make()
    gate.add("bo", "reviewer")
    with pytest.raises(AnswerRefused, match="bo is no admin"):
        adapter_trust.change_trust(gate.state, gate.sign_in("bo"), "things", Trust.COMMUNITY_REVIEWED, "please")
    adapter_trust.change_trust(gate.state, gate.sign_in("bo"), "things", Trust.GENERATED, "it lied")
    assert standing(gate) is Trust.GENERATED


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_change_of_trust_says_why(make: Make, reason: str) -> None:
    gate = make()
    with pytest.raises(AnswerRefused, match="reason is empty"):
        adapter_trust.change_trust(gate.state, gate.sign_in(), "things", Trust.GENERATED, reason)


def test_certified_takes_a_certification(make: Make) -> None:
    gate = make(trust=Trust.VALIDATED)
    trusted(gate, Trust.COMMUNITY_REVIEWED)
    with pytest.raises(AnswerRefused, match="takes a certification"):
        trusted(gate, Trust.CERTIFIED)


def test_a_certification_that_expires_takes_its_trust_along(make: Make) -> None:
    gate = make(trust=Trust.CERTIFIED, expires="2030-01-01T00:00:00Z")
    trusted(gate, Trust.COMMUNITY_REVIEWED, Trust.CERTIFIED)
    assert adapter_trust.settle_trust(gate.state) == 0
    gate.clock.forward(40 * 365 * 86_400)
    assert standing(gate) is Trust.COMMUNITY_REVIEWED  # before anybody wrote it down
    gate.sign_in()
    assert adapter_trust.settle_trust(gate.state) == 1 and adapter_trust.settle_trust(gate.state) == 0
    last = gate.state.adapters.kept["things"].record.history[-1]
    assert (last.after, last.by, last.reason) == (
        Trust.COMMUNITY_REVIEWED,
        "interlock",
        "the certification has expired",
    )
    assert json.loads(gate.records("adapter_trust")[-1].body)["reason"] == "the certification has expired"


def test_after_a_restart_raised_trust_counts_once_an_operator_has_signed_in(make: Make) -> None:
    gate = make()
    trusted(gate, Trust.COMMUNITY_REVIEWED)
    gate.restart()
    assert standing(gate) is Trust.VALIDATED
    found = gate.state.adapters.standing("things", gate.clock.now())
    assert "interlock unlock" in found.why
    gate.sign_in()
    assert standing(gate) is Trust.COMMUNITY_REVIEWED


def test_lowered_trust_counts_at_once_after_a_restart(make: Make) -> None:
    gate = make()
    trusted(gate, Trust.UNTESTED)
    gate.restart()
    assert standing(gate) is Trust.UNTESTED


def test_trust_is_given_to_one_file_and_not_to_what_somebody_makes_of_it(make: Make, tmp_path: Path) -> None:
    gate = make()
    trusted(gate, Trust.COMMUNITY_REVIEWED)
    file = Path(gate.config.adapters[0])
    file.write_text(file.read_text().replace("level: destructive", "level: safe"))
    gate.restart()
    gate.sign_in()
    assert standing(gate) is Trust.VALIDATED
    trusted(gate, Trust.COMMUNITY_REVIEWED)
    steps = [(one.after.word, one.by) for one in gate.state.adapters.kept["things"].record.history]
    assert steps == [("community_reviewed", "ann"), ("validated", "interlock"), ("community_reviewed", "ann")]


def test_a_file_that_was_changed_between_two_starts_is_told(make: Make) -> None:
    gate = make()
    for changed in (False, True):
        gate.restart()
        record_start(gate.state, "1")
        assert ("changed adapters" in gate.state.alerts) is changed
        file = Path(gate.config.adapters[0])
        file.write_text(file.read_text() + "\n# a comment\n")


@pytest.mark.parametrize("how", ["forged", "put back", "deleted", "garbled"])
def test_a_row_that_an_agent_edits_raises_nothing(make: Make, how: str) -> None:
    gate = make()
    trusted(gate, Trust.COMMUNITY_REVIEWED)
    key = f"{adapter_trust.SETTING}things"
    high = gate.store.read(lambda tx: tx.setting(key)) or ""
    trusted(gate, Trust.UNTESTED)
    low = gate.store.read(lambda tx: tx.setting(key)) or ""
    forged = low.replace('level\\":\\"untested', 'level\\":\\"certified')
    assert forged != low
    rows = {"forged": forged, "put back": high, "deleted": None, "garbled": "{"}
    if rows[how] is None:
        edit(gate, "DELETE FROM settings WHERE key = ?", key)
    else:
        edit(gate, "UPDATE settings SET value = ? WHERE key = ?", rows[how], key)
    assert standing(gate) is Trust.UNTESTED  # while it runs
    gate.restart()
    assert standing(gate) is Trust.UNTESTED
    gate.sign_in()
    assert standing(gate) is Trust.UNTESTED
