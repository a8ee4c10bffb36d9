"""Failing closed: whatever goes wrong is a no, said clearly, and nothing that was acknowledged is lost."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from gate import AGENT, Gate
from interlock import maintenance
from interlock.approvals import grants
from interlock.audit.export import compare_export
from interlock.audit.verify import verify
from interlock.error_codes import AnswerRefused
from interlock.identity import agents
from interlock.identity.keys.signing import verify_signature
from interlock.model import AgentRef, Level, command, intent, operation, tool
from interlock.notify.channels import TerminalLine
from interlock.policy import evaluate as weighing
from interlock.ports import StoreError
from interlock.records import AuditQuery

PUSH = command("git push --force origin main", "/home/dev/app")


def test_any_exception_is_a_denial(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(weighing, "_SOURCES", (broken,))
    for action in (command("ls"), PUSH):
        answer = gate.ask(action)
        assert not answer.allowed and answer.unknown and "secret detail" not in answer.reason


def test_a_store_that_cannot_be_used_denies_and_recovers(gate: Gate) -> None:
    away = Path(gate.folder).with_name("away")
    os.rename(gate.folder, away)
    answer = gate.ask(PUSH)
    assert not answer.allowed and answer.unknown
    os.rename(away, gate.folder)
    assert gate.ask(PUSH).ticket is not None


def test_a_closed_store_denies(gate: Gate) -> None:
    gate.store.close()
    assert gate.ask(PUSH).unknown


def test_everyday_work_is_not_recorded_without_end_while_the_store_is_gone(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlock.audit.chain.MOST_WAITING", 3)
    answers = [gate.ask(command("ls")).allowed for _ in range(5)]
    assert answers == [True, True, True, False, False]
    gate.state.recorder.flush()
    assert gate.ask(command("ls")).allowed


@pytest.mark.parametrize(
    "action",
    [
        operation("transfer", {"amount": 12.5, "to": "x"}),
        operation("delete_user", {"ratio": 0.1, "ids": [1.5, 2]}),
        tool("Bash", {"command": "rm -rf ~"}),
        command(""),
        intent(""),
        operation("", {}),
        command("\ud800 rm -rf /"),
        operation("x", {"deep": [[[[1.0]]]]}),
    ],
)
def test_odd_actions_are_judged_or_denied_and_never_crash(gate: Gate, action: Any) -> None:
    answer = gate.ask(action)
    assert answer.outcome in ("allow", "cool_off", "confirm", "approve", "verify", "block", "deny")
    if answer.ticket is not None:
        gate.approve(answer.ticket)
        assert gate.ask(action).allowed


def test_a_blocked_agent_does_not_go_on_under_another_name(gate: Gate) -> None:
    agents.block(gate.state, gate.sign_in(), "uid:1000", "looked odd")
    for name in ("claude", "Claude", "claude ", "second", ""):
        answer = gate.ask(command("npm install", "/w"), AgentRef("uid:1000", name, "s9"))
        assert answer.outcome == "block" and "looked odd" in answer.reason, name
    assert gate.ask(command("npm install", "/w"), AgentRef("uid:1001", "claude")).allowed


def test_a_block_survives_a_restart_and_a_row_that_was_deleted(gate: Gate) -> None:
    import sqlite3

    agents.block(gate.state, gate.sign_in(), "uid:1000", "looked odd")
    gate.restart()
    assert gate.ask(command("npm install", "/w")).outcome == "block"
    with sqlite3.connect(Path(gate.folder) / "state.db") as db:
        db.execute("DELETE FROM blocks")
    assert gate.ask(command("npm install", "/w")).outcome == "block"
    gate.sign_in()
    gate.store.write(lambda tx: None)


def test_three_forbidden_attempts_block_and_asking_again_does_not(gate: Gate) -> None:
    for _ in range(10):
        assert gate.held(command("rm -rf /", "/w"))
    assert gate.ask(command("npm install", "/w")).allowed
    gate.ask(command("mkfs.ext4 /dev/sda1", "/w"))
    gate.ask(command("dd if=/dev/zero of=/dev/sda", "/w"))
    blocked = gate.ask(command("npm install", "/w"))
    assert blocked.outcome == "block" and "three forbidden attempts" in blocked.reason


def test_people_are_told_once_that_an_agent_was_blocked(gate: Gate) -> None:
    screen = io.StringIO()
    gate.state.channels = [TerminalLine(screen)]
    for number in range(5):
        gate.ask(command(f"psql -h db{number} -c 'drop table one'", "/w"))
    said = [line for line in screen.getvalue().splitlines() if "is blocked" in line]
    assert said == [
        "interlock: claude (uid:1000) is blocked: three forbidden attempts in ten minutes. "
        "To lift it: interlock unblock uid:1000 --reason …"
    ]


def test_whoever_is_blocked_is_told_to_stop_and_nothing_that_would_be_denied_too(gate: Gate) -> None:
    for action in ("psql -h db1 -c 'drop table one'", "mkfs.ext4 /dev/sda1", "dd if=/dev/zero of=/dev/sda"):
        gate.ask(command(action, "/w"))
    said = gate.ask(command("rm -rf src", "/w")).reason
    assert "Stop here, and tell the user" in said and "interlock unblock uid:1000" in said
    assert "Instead" not in said and "Impact:" not in said


def test_a_block_that_was_lifted_is_a_new_beginning(gate: Gate) -> None:
    tried = [command(f"psql -h db{number} -c 'drop table one'", "/w") for number in range(4)]
    for action in tried[:3]:
        gate.ask(action)
    assert gate.state.blocked(AGENT.principal)
    gate.clock.forward(1)
    agents.unblock(gate.state, gate.sign_in(), AGENT.principal, "was me")
    gate.clock.forward(1)
    gate.ask(tried[3])
    assert not gate.state.blocked(AGENT.principal)


def test_what_a_person_let_through_is_no_forbidden_attempt(gate: Gate) -> None:
    first = command("psql -h db1 -c 'drop table one'", "/w")
    gate.approve(gate.held(first))
    assert gate.ask(first).allowed
    assert gate.held(command("psql -h db1 -c 'drop table two'", "/w"))
    assert not gate.state.blocked(AGENT.principal)


def test_monitoring_asks_nobody_and_says_what_it_would_have_done(gate: Gate) -> None:
    agents.set_mode(gate.state, gate.sign_in(), "monitoring", "a trial")
    answer = gate.ask(PUSH)
    assert answer.allowed and "would have: verify" in answer.factors
    assert not gate.records("CONFIRMATION_REQUIRED")
    gate.restart()
    assert gate.state.mode == "enforcing"  # after a restart the file rules


def test_only_an_admin_changes_the_mode(gate: Gate) -> None:
    gate.add("bob", "dev")
    with pytest.raises(AnswerRefused, match="no admin"):
        agents.set_mode(gate.state, gate.sign_in("bob"), "disabled")


GRANT = {
    "effect": "destroy",
    "targets": ["/srv/media/**"],
    "why": "nightly cleanup",
    "count": 2,
    "ceiling": "dangerous",
}


def test_a_grant_covers_its_effect_and_targets_so_often_and_no_more(gate: Gate) -> None:
    grants.add_grant(gate.state, gate.sign_in(), GRANT)
    assert not gate.ask(command("rm -rf /srv/data/a", "/srv")).allowed
    assert not gate.ask(command("rm -rf /srv/media/../data", "/srv")).allowed
    assert gate.ask(command("rm -rf /srv/media/a", "/srv")).allowed
    assert gate.ask(command("find /srv/media/b -delete", "/srv")).allowed
    assert not gate.ask(command("rm -rf /srv/media/c", "/srv")).allowed  # used up


def test_a_grant_edited_in_the_database_grants_nothing(gate: Gate) -> None:
    import sqlite3

    grants.add_grant(gate.state, gate.sign_in(), GRANT)
    with sqlite3.connect(Path(gate.folder) / "state.db") as db:
        db.execute("UPDATE grants SET targets = '[\"/srv/**\"]', remaining = 500")
    assert not gate.ask(command("rm -rf /srv/data", "/srv")).allowed


@pytest.mark.parametrize(
    "change",
    [
        {"targets": []}, {"targets": ["/"]}, {"targets": ["*"]}, {"why": ""}, {"effect": ""}, {"ceiling": "x"}, {"count": 0},
        {"count": 10_000}, {"seconds": 10**9}, {"unknown": 1}, {"targets": "x"},
    ],
)  # fmt: skip
def test_a_grant_that_means_everything_or_nothing_is_refused(gate: Gate, change: dict[str, Any]) -> None:
    with pytest.raises(AnswerRefused):
        grants.add_grant(gate.state, gate.sign_in(), {**GRANT, **change})


def test_a_grant_for_the_forbidden_takes_an_admin(gate: Gate) -> None:
    gate.add("bob", "dev")
    with pytest.raises(AnswerRefused, match="no admin"):
        grants.add_grant(gate.state, gate.sign_in("bob"), {**GRANT, "ceiling": "forbidden"})


def proof(gate: Gate) -> Any:
    gate.state.recorder.flush()
    rows = gate.store.read(
        lambda tx: {writer: tx.audit(AuditQuery(writer=writer, limit=10**6)) for writer in tx.audit_writers()}
    )
    points = gate.store.read(lambda tx: tx.checkpoints())
    key = gate.state.installation.checkpoint
    return verify(rows, points, lambda id, data, signature: verify_signature(key.public_key, data, signature))


def test_the_record_proves_and_an_edit_shows(gate: Gate) -> None:
    import sqlite3

    gate.ask(command("ls"))
    gate.approve(gate.held(PUSH))
    gate.ask(PUSH)
    maintenance.sign_record(gate.state)
    assert proof(gate).ok
    with sqlite3.connect(Path(gate.folder) / "state.db") as db:
        db.execute("UPDATE audit SET body = body || ' ' WHERE seq = 3")
    found = proof(gate)
    assert not found.ok and found.first.seq == 3


def test_a_pruned_record_still_proves(gate: Gate) -> None:
    for _ in range(20):
        gate.ask(command("ls"))
        gate.state.recorder.flush()
        gate.clock.forward(86_400)
    maintenance.sign_record(gate.state)
    assert maintenance.prune_record(gate.state, keep_days=5) > 10
    assert proof(gate).ok


def test_secrets_do_not_reach_a_ticket_or_the_record(gate: Gate) -> None:
    secret = "AKIAIOSFODNN7EXAMPLF"
    gate.ask(operation("delete_user", {"id": 7, "password": "hunter2hunter2", "note": f"key {secret}"}))
    gate.ask(command(f"git push --force https://ann:hunter2hunter2@host/x && export AWS_ACCESS_KEY_ID={secret}", "/w"))
    gate.ask(command(f"echo {secret}", "/w"))
    gate.state.recorder.flush()
    gate.store.close()
    for file in Path(gate.folder).glob("state.db*"):
        data = file.read_bytes()
        assert secret.encode() not in data and b"hunter2hunter2" not in data, file


def test_an_older_copy_of_the_folder_proves_whole_and_is_missed_by_an_export_that_was_kept_elsewhere(
    gate: Gate, tmp_path: Path
) -> None:
    gate.ask(PUSH)
    maintenance.sign_record(gate.state)
    gate.restart()
    shutil.copytree(gate.folder, tmp_path / "copy")
    gate.ask(command("rm -rf /srv/media", "/srv"))
    maintenance.sign_record(gate.state)
    kept = gate.records()
    assert compare_export(kept, kept).ok
    gate.store.close()
    shutil.rmtree(gate.folder)
    shutil.move(tmp_path / "copy", gate.folder)
    gate.restart()
    assert proof(gate).ok  # nothing inside the folder can show it
    found = compare_export(kept, gate.records())
    assert found.gone == f"main/{found.same}" and found.same and "not in the record any more" in found.words
    gate.ask(command("ls"))
    gate.ask(command("rm -rf /srv/other", "/srv"))
    assert "is another one" in compare_export(kept, gate.records()).words  # also once the numbers are taken again


def test_what_was_let_go_by_age_is_not_missed(gate: Gate) -> None:
    for _ in range(20):
        gate.ask(command("ls"))
        gate.state.recorder.flush()
        gate.clock.forward(86_400)
    kept = gate.records()
    maintenance.sign_record(gate.state)
    maintenance.prune_record(gate.state, keep_days=5)
    found = compare_export(kept, gate.records())
    assert found.ok and found.pruned > 10 and found.same


def test_store_errors_are_not_swallowed_by_the_recorder(gate: Gate) -> None:
    gate.ask(command("ls"))
    gate.store.close()
    with pytest.raises(StoreError):
        gate.state.recorder.flush()


def test_levels_are_what_the_policy_says(gate: Gate) -> None:
    answer = gate.ask(command("rm -rf /", "/"), AGENT)
    assert answer.assessment is not None and answer.assessment.level is Level.FORBIDDEN
    assert answer.requirement.approvers == {"role:admin"} and answer.requirement.reauth
