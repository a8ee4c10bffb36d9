"""What the operator sets, through real clients, stdio and HTTP, both eras: modes, patterns, tolerance, how long a challenge waits."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator

import pytest
from deeds import READ, WIPE, challenge_in, free, shown, told
from servers import KINDS, Servers, Talk, fresh, serving

pytestmark = pytest.mark.xdist_group("mcp")
POLICY = """
name = "operated"
extends = "default"
tolerance = "conservative"
[loop]
start = "allow"
max_autonomous_steps = 6
step_ceiling = 8
[patterns]
deny = ["launch_*"]
approve = ["publish_*"]
allow = ["tidy_*"]
"""
LIMITS = "[limits]\nchallenge_seconds = 60\n"


@pytest.fixture(scope="module")
def operated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("operated")
    (folder / "policy.toml").write_text(POLICY)
    with serving(folder, LIMITS, str(folder / "policy.toml")) as made:
        for kind in KINDS:
            made.shared[kind] = made.talk(kind)
        yield made


@pytest.fixture(params=KINDS)
def talk(operated: Servers, request: pytest.FixtureRequest) -> Iterator[Talk]:
    found = operated.shared[request.param]
    yield found
    mode(operated, "enforcing")
    free(operated)


def mode(servers: Servers, word: str) -> None:
    body = {"mode": word, "reason": "a test"}
    answer = servers.daemon.here().put("/api/v1/mode", json=body, headers=servers.operator())
    assert answer.status_code == 200, answer.text


def over(servers: Servers, challenge: str) -> None:
    """As if its time were over: nobody waits a minute for that."""
    database = sqlite3.connect(servers.daemon.folder / "state" / "state.db", timeout=30)
    with database:
        database.execute("UPDATE challenges SET expires_at = ? WHERE id = ?", (time.time() - 1, challenge))
    database.close()


def begun(talk: Talk) -> str:
    name = fresh()
    said = talk.execute("execute_agent", element_name=name)
    assert said["success"], said
    return name


def capability(talk: Talk) -> str:
    data = talk.read("introspect", query="operations")["data"]
    return str(data["_protocol"]["capabilities"]["execution_safety_loop"])


def test_esl_09_monitoring_judges_and_stops_nobody(operated: Servers, talk: Talk) -> None:
    mode(operated, "monitoring")
    assert capability(talk) == "monitoring"
    name = begun(talk)
    for hint in (READ, WIPE, "calling launch_missile"):
        said = told(talk, name, hint, outcome="failure")
        assert said["continue"] is True and said.get("stopped") is not True
    assert said["nextStepRisk"] and "would have: stop" in " ".join(said["factors"])
    assert operated.waiting(name) == []  # no ticket, no challenge, no block
    mode(operated, "enforcing")
    assert told(talk, name)["continue"] is True


def test_esl_10_logging_records_and_judges_nothing(operated: Servers, talk: Talk) -> None:
    mode(operated, "logging")
    assert capability(talk) == "logging"
    said = told(talk, begun(talk), WIPE)
    assert said["continue"] is True and "Not evaluated" in said["factors"][0] and "nextStepRisk" not in said


def test_esl_11_r_25_disabled_goes_on_and_says_everywhere_that_nothing_is_judged(operated: Servers, talk: Talk) -> None:
    before = {tool.name for tool in talk.tools()}
    mode(operated, "disabled")
    assert capability(talk) == "disabled"
    name, unjudged = fresh(), "SAFETY_LOOP_DISABLED"
    assert talk.execute("execute_agent", element_name=name)["warnings"][0]["code"] == unjudged
    said = talk.create("record_execution_step", element_name=name, next_action_hint=WIPE)
    assert said["data"]["autonomy"]["continue"] is True and said["warnings"][0]["code"] == unjudged
    assert "Nothing is judged" in said["data"]["autonomy"]["factors"][0]
    assert talk.execute("complete_execution", element_name=name)["data"]["status"] == "completed"
    assert {tool.name for tool in talk.tools()} == before
    assert all("nothing is judged" in (tool.description or "") for tool in talk.tools())
    details = talk.read("introspect", query="operations", name="execute_agent")["data"]
    assert "nothing is judged" in details["operation"]["description"]
    assert "A person has to agree" not in details["operation"]["description"]


@pytest.mark.parametrize("kind", KINDS)
def test_r_25_whoever_connects_to_a_disabled_loop_is_told(operated: Servers, kind: str) -> None:
    mode(operated, "disabled")
    later = operated.talk(kind)
    assert "nothing is judged" in (later.client.instructions or "")
    later.close()
    mode(operated, "enforcing")
    again = operated.talk(kind)
    assert "record_execution_step" in (again.client.instructions or "") and "DISABLED" not in again.client.instructions
    again.close()


def test_ae_05_gk_04_deny_stands_before_approval_and_approval_before_auto_approval(
    operated: Servers, talk: Talk
) -> None:
    name = begun(talk)
    assert told(talk, name, "tidy_notes")["continue"] is True
    held = told(talk, name, "publish_notes")
    assert held["continue"] is False and "stopped" not in held
    talk.execute("abort_execution", element_name=name)
    name = begun(talk)
    said = told(talk, name, "tidy_notes; launch_rocket")  # C-11: an auto-approval is for one whole action
    assert said["stopped"] is True and challenge_in(said)  # OOB-01


def test_ae_07_a_conservative_tolerance_asks_from_26_on(operated: Servers, talk: Talk) -> None:
    name = begun(talk)
    assert told(talk, name, "listing the issues of the board", risk_score=25)["continue"] is True
    assert told(talk, name, "listing the issues of the wiki", risk_score=26)["continue"] is False
    talk.execute("abort_execution", element_name=name)


def test_ae_03_ae_08_limits_and_patterns_are_the_operators_and_introspection_shows_them(
    operated: Servers, talk: Talk
) -> None:
    loop = talk.read("introspect", query="operations")["data"]["_protocol"]["safety_loop"]
    assert loop["defaults"]["max_autonomous_steps"] == 6 and loop["step_ceiling"] == 8
    assert loop["defaults"]["risk_tolerance"] == "conservative" and loop["defaults"]["deny"] == ["launch_*"]
    assert loop["challenge_seconds"] == 60  # OOB-08
    for asked, counts in ((2, 2), (8, 6), (None, 6)):
        said = talk.execute("execute_agent", element_name=fresh(), max_autonomous_steps=asked)
        assert said["data"]["max_autonomous_steps"] == counts


def test_oob_08_oob_12_a_challenge_that_ran_out_fails_and_its_step_is_judged_anew(
    operated: Servers, talk: Talk
) -> None:
    name = begun(talk)
    hint = f"executing shell command: git -C /srv/{name} push --force origin main"
    challenge = challenge_in(told(talk, name, hint))
    code = shown(operated, challenge)
    assert talk.execute("execute_agent", element_name=name)["success"]  # a new execution may start …
    assert told(talk, name)["continue"] is False  # … and waits as well
    over(operated, challenge)
    assert told(talk, name, f"reading docs/{name}.md")["continue"] is True
    late = talk.create("verify_challenge", challenge_id=challenge, code=code)["error"]
    assert late["code"] == "TOKEN_EXPIRED" and late["details"]["token"] == challenge  # C-17
    again = told(talk, name, hint)
    assert again["continue"] is False and challenge_in(again) != challenge
    talk.execute("abort_execution", element_name=name)


def test_oob_09_an_admin_lifts_a_block_without_a_code_and_with_a_reason(operated: Servers, talk: Talk) -> None:
    name = begun(talk)
    assert told(talk, name, WIPE)["stopped"] is True
    assert talk.execute("execute_agent", element_name=name)["success"] is False
    free(operated)
    assert talk.execute("execute_agent", element_name=name)["success"] is True
