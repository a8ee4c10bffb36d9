"""Sections 1.1 to 1.4 of the requirements through real clients, stdio and HTTP, both eras: each test names the ids that it shows."""

from __future__ import annotations

import re
import uuid
from datetime import datetime
from typing import Any

import pytest
from deeds import READ, UUID4, WIPE, challenge_in, record, shown, step, told
from foes import Foe
from servers import Servers, Talk, fresh

from interlock.identity.keys.codes import new_code

pytestmark = pytest.mark.xdist_group("mcp")
STAGES = ("Step limit:", "Previous outcome:", "Patterns:", "Safety tier:", "Risk tolerance:")
DIRECTIVE = {"continue", "factors", "stopped", "reason", "stepsRemaining", "nextStepRisk", "notifications"}
SAID = {"reading": READ, "everyday": "calling list_issues on the tracker to see what is open"}


def reset(name: str) -> str:
    return f"executing shell command: git -C /srv/{name} reset --hard HEAD~3"


def force(name: str) -> str:
    return f"executing shell command: git -C /srv/{name} push --force origin main"


def ended(talk: Talk, name: str) -> None:
    talk.execute("abort_execution", element_name=name)


def test_esl_03_esl_06_ae_09_ae_15_lc_01_the_loop_from_start_to_end(servers: Servers, talk: Talk) -> None:
    name = fresh()
    begun = servers.start(talk, name)
    assert begun["status"] == "running" and begun["safety_loop"] == "enforcing"
    for at, hint in enumerate(SAID.values(), 1):
        data = step(talk, name, hint, outcome="success", step_description="the one before")
        assert data["step"] == at and data["autonomy"]["continue"] is True
        assert data["autonomy"]["stepsRemaining"] == 10 - at
    done = talk.execute("complete_execution", element_name=name, outcome="success", summary="done")["data"]
    assert done["status"] == "completed"
    for operation in ("complete_execution", "abort_execution"):  # LC-01: nothing leaves a terminal state
        assert talk.execute(operation, element_name=name)["error"]["code"] == "NOT_FOUND_RESOURCE"
    servers.start(talk, name)
    failed = talk.execute("complete_execution", element_name=name, outcome="failure")["data"]
    assert failed["status"] == "failed"


REPORTABLE = (  # ESL-06, ESL-12: whatever server or tool it goes to
    "calling list_pages of the wiki server to find the runbook", "reading file src/app.py", "writing the file docs/new.md",
    "executing shell command: npm test", "sending a GET request to https://api.example.com/status", "running SELECT count(*) FROM users",
)  # fmt: skip


def test_esl_06_esl_12_actions_of_every_server_and_kind_are_judged(servers: Servers, talk: Talk) -> None:
    name = fresh()
    servers.start(talk, name)
    for hint in REPORTABLE:
        assert told(talk, name, hint)["continue"] is True, hint
    ended(talk, name)


def test_esl_07_the_parameters_of_a_step_are_those_of_the_core(servers: Servers, talk: Talk) -> None:
    detail = talk.read("introspect", query="operations", name="record_execution_step")["data"]["operation"]
    params = {one["name"]: one["required"] for one in detail["parameters"]}
    assert {name for name, required in params.items() if required} == {"element_name", "next_action_hint"}
    assert {"step_description", "outcome", "findings"} <= set(params)
    name = fresh()
    servers.start(talk, name)
    full = {"stepDescription": "looked", "outcome": "skipped", "findings": "nothing", "nextActionHint": READ}
    assert talk.create("record_execution_step", element_name=name, **full)["data"]["autonomy"]["continue"] is True
    ended(talk, name)


def test_esl_08_oob_02_oob_09_oob_10_after_a_stop_nothing_goes_on(servers: Servers, foe: Foe) -> None:
    servers.start(foe.talk, foe.name)
    said = told(foe.talk, foe.name, WIPE)
    assert said["continue"] is False and said["stopped"] is True and said["nextStepRisk"] == "danger_zone"
    assert told(foe.talk, foe.name)["stopped"] is True
    for operation in ("execute_agent", "complete_execution"):
        assert foe.talk.execute(operation, element_name=foe.name)["error"]["code"] == "PERMISSION_DENIED"
    state = foe.talk.read("get_execution_state", element_name=foe.name)["data"]
    assert state["status"] == "blocked"  # LC-03
    aborted = foe.talk.execute("abort_execution", element_name=foe.name)["data"]
    assert aborted["status"] == "cancelled"  # LC-03: reachable from everywhere; and it lifts nothing
    assert foe.talk.execute("execute_agent", element_name=foe.name)["error"]["code"] == "PERMISSION_DENIED"


def test_esl_14_the_session_is_the_servers_own_whatever_the_client_sends(servers: Servers, talk: Talk) -> None:
    found = talk.read("get_pending_cli_approvals")["_meta"]["session_id"]
    assert re.fullmatch(r"mcp_[0-9a-f]{16,64}", found)
    raw = talk.raw(
        "mcp_aql_read",
        {"operation": "get_pending_cli_approvals", "params": {}, "_meta": {"session_id": "mcp_" + "0" * 32}},
    )
    assert found in raw.content[0].text  # type: ignore[union-attr]
    error = talk.read("get_execution_state", element_name=fresh())["error"]
    assert error["details"]["session_id"] == found  # C-47


def test_ae_01_ae_02_five_stages_in_order_and_a_directive_of_the_cores_words(servers: Servers, talk: Talk) -> None:
    name = fresh()
    servers.start(talk, name)
    for hint in (READ, reset(name)):
        said = told(talk, name, hint)
        assert set(said) <= DIRECTIVE and isinstance(said["continue"], bool)
        assert [factor.startswith(stage) for factor, stage in zip(said["factors"], STAGES)] == [True] * 5
    ended(talk, name)


def test_ae_03_the_step_after_the_last_one_pauses_with_the_cores_words(servers: Servers, talk: Talk) -> None:
    name = fresh()
    servers.start(talk, name, max_autonomous_steps=1)
    assert told(talk, name)["stepsRemaining"] == 0
    said = step(talk, name, "reading docs/second.md")
    assert said["autonomy"]["continue"] is False and said["autonomy"]["reason"].startswith("Step limit exceeded")
    servers.approve(name)
    resumed = talk.execute("continue_execution", element_name=name)["data"]
    assert resumed["status"] == "running" and resumed["steps_remaining"] == 1  # C-20
    assert told(talk, name, "reading docs/second.md")["continue"] is True
    ended(talk, name)


def test_ae_06_ae_07_the_tier_follows_the_score(servers: Servers, talk: Talk) -> None:
    name = fresh()
    servers.start(talk, name)
    tiers = {30: "advisory", 31: "confirm", 60: "confirm", 61: "verify", 85: "verify"}
    for score, tier in tiers.items():
        said = told(talk, name, f"listing the issues of board {score}", risk_score=score)
        assert said["nextStepRisk"] == tier
        if not said["continue"]:
            ended(talk, name)
            servers.start(talk, name)
    assert "Risk tolerance: moderate (up to 50)" in " ".join(told(talk, name)["factors"])
    ended(talk, name)


def test_ae_10_ae_11_gk_07_a_pending_permission_is_told_until_it_is_confirmed(servers: Servers, talk: Talk) -> None:
    name = fresh()
    servers.start(talk, name)
    data = step(talk, name, reset(name))
    kinds = [note["type"] for note in data["autonomy"]["notifications"]]
    assert {"permission_pending", "autonomy_pause"} <= set(kinds)  # C-23
    for note in data["autonomy"]["notifications"]:
        assert set(note) <= {"type", "message", "metadata", "timestamp"}
        assert set(note.get("metadata", {})) <= {"operation", "reason", "level", "verificationId"}
        assert datetime.fromisoformat(note["timestamp"]).utcoffset() is not None  # EP-12
    given = {"confirmation_token": data["confirmation"]["token"], "operation": data["confirmation"]["operation"]}
    assert talk.execute("confirm_operation", **given)["error"]["code"] == "PERMISSION_DENIED"
    assert "permission_pending" in str(told(talk, name))  # a try that failed clears nothing
    servers.approve(name)
    assert talk.execute("confirm_operation", **given)["data"]["confirmed"] is True
    said = told(talk, name, reset(name))
    assert said["continue"] is True and "permission_pending" not in str(said)
    ended(talk, name)


def test_ae_12_oob_01_oob_02_oob_05_oob_06_a_verify_pause_names_its_challenge_and_no_code(
    servers: Servers, talk: Talk
) -> None:
    name = fresh()
    servers.start(talk, name)
    said = told(talk, name, force(name))
    assert said["continue"] is False and "stopped" not in said
    challenge = challenge_in(said)
    (note,) = [one for one in said["notifications"] if one["type"] == "autonomy_pause"]
    assert note["metadata"]["verificationId"] == challenge and challenge in said["reason"]
    assert challenge in told(talk, name)["reason"]  # OOB-12
    assert UUID4.fullmatch(challenge)  # OOB-03
    code = shown(servers, challenge)
    assert talk.create("verify_challenge", challenge_id=challenge, code=code)["data"]["verified"] is True
    assert told(talk, name, force(name))["continue"] is True  # this step
    assert told(talk, name, force(name))["continue"] is False  # once
    ended(talk, name)


def test_ae_13_oob_05_a_stop_is_broadcast_without_the_actions_text_until_it_is_lifted(
    servers: Servers, foe: Foe
) -> None:
    witness, name = servers.shared["http-2025"], fresh()
    servers.start(witness, name)
    servers.start(foe.talk, foe.name)
    challenge = challenge_in(told(foe.talk, foe.name, WIPE))
    (note,) = [one for one in told(witness, name)["notifications"] if one["type"] == "danger_zone"]
    assert note["metadata"]["verificationId"] == challenge and foe.name in note["message"]
    assert "rm" not in note["message"].split()
    code = shown(servers, challenge)
    freed = foe.talk.create("verify_challenge", challenge_id=challenge, code=code)["data"]
    assert freed["unblocked_agent"] == foe.name  # OOB-07
    assert "danger_zone" not in str(told(witness, name).get("notifications", ()))
    ended(witness, name)


def test_oob_03_oob_07_a_wrong_code_ends_the_code_and_ids_and_codes_do_not_follow_each_other(
    servers: Servers, foe: Foe
) -> None:
    servers.start(foe.talk, foe.name)
    challenge = challenge_in(told(foe.talk, foe.name, WIPE))
    code = shown(servers, challenge)
    assert len(code.replace("-", "")) == 26 and code != shown(servers, challenge)  # 130 bits, new each time
    newest = shown(servers, challenge)
    assert (
        foe.talk.create("verify_challenge", challenge_id=challenge, code=new_code())["error"]["code"] == "TOKEN_INVALID"
    )
    assert foe.talk.create("verify_challenge", challenge_id=challenge, code=newest)["error"]["code"] == "TOKEN_INVALID"
    failures = record(servers, "verify_failed")  # OOB-13: each on record, the code in none
    assert sum(one["body"].get("challenge") == challenge for one in failures) == 2 and newest not in str(failures)
    right = foe.talk.create("verify_challenge", challenge_id=challenge, code=shown(servers, challenge))
    assert right["data"]["verified"] is True and right["data"]["challenge_id"] == challenge  # 2.8


def test_oob_08_oob_13_err_04_a_challenge_nobody_issued_is_one_invalid_token_like_any(
    servers: Servers, talk: Talk
) -> None:
    for id in (str(uuid.uuid4()), "7d5c1a52", "x" * 300):
        said = talk.create("verify_challenge", challenge_id=id, code=new_code())["error"]
        assert said["code"] in ("TOKEN_INVALID", "RATE_LIMIT_EXCEEDED"), said
    quotas = talk.read("introspect", query="quota_status")["data"]["quotas"]
    (one,) = [quota for quota in quotas if quota["metric"] == "verification_failures"]
    assert one["limit"] == 10 and one["window"] == "minute"  # RL-03


def test_lc_02_lc_05_replies_show_an_id_a_state_and_times(servers: Servers, talk: Talk) -> None:
    name = fresh()
    begun = servers.start(talk, name, parameters={"goal": "docs"})
    assert {"execution_id", "status", "started_at"} <= set(begun)
    state = talk.read("get_execution_state", element_name=name)["data"]
    assert state["execution_id"] == begun["execution_id"] and state["progress"] == {"current": 0, "total": 10}
    gone = talk.execute("abort_execution", element_name=name, reason="enough")["data"]
    assert gone["status"] == "cancelled" and gone["finished_at"] >= gone["started_at"]
    listed = talk.read("introspect", query="operations")["data"]["operations"]
    names: list[Any] = [one["name"] for one in listed]
    for one in listed:
        detail = talk.read("introspect", query="operations", name=one["name"])["data"]["operation"]
        names += [param["name"] for param in detail["parameters"]]
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", one) for one in names)  # LC-05
