"""What is set for one agent, one adapter, one connection: AE-08, R-12, C-09, and what an agent's own side can only tighten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aql_lint import clean
from gate import Gate
from interlock.audit.search import is_attempt
from interlock.config import ConfigError, config_of, effective_settings
from interlock.engine.replay import replay_policy, replay_record
from interlock.identity.agents import add_agent
from interlock.loop.tightening import NO_TIGHTENING, parse_tightening
from loop_agents import READ, Agent, permissive_gate, refusal_of

INSTALL = "executing shell command: npm install express"
SEED = '{"deny": ["deploy_*"], "requiresApproval": ["npm *"], "autoApprove": ["delete_*"], "maxAutonomousSteps": 3}'


def loop(folder: Path, **tables: Any) -> Gate:
    made = Gate(folder / "state", loop=tables)
    made.enrol()
    return made


def test_AE_08_an_agent_has_settings_of_its_own(tmp_path: Path) -> None:
    own = {
        "maxAutonomousSteps": 2,
        "riskTolerance": "conservative",
        "deny": ["deploy_*"],
        "requiresApproval": ["list_*"],
    }
    made = loop(tmp_path, agent={"Builder": own})
    agent, other = Agent(made, "BUILDER").started(), Agent(made, "other").started()
    assert agent.standing()["max_autonomous_steps"] == 2 and other.standing()["max_autonomous_steps"] == 10
    assert agent.told(INSTALL)["continue"] is False and other.told(INSTALL)["continue"] is True
    assert other.told("deploy_site to staging").get("stopped") is None
    agent.abort()
    assert agent.started().told("deploy_site to staging")["stopped"] is True
    made.close()


def test_AE_08_a_claimed_name_gets_nothing_that_loosens(tmp_path: Path) -> None:
    made = loop(tmp_path, agent={"trusted": {"maxAutonomousSteps": 90, "autoApprove": ["do_*"]}})
    agent = Agent(made, "trusted").started()
    assert agent.standing()["max_autonomous_steps"] == 10
    assert agent.told("doing something")["continue"] is False
    made.close()


def test_AE_08_a_name_that_an_operator_gave_a_token_may_be_loosened(tmp_path: Path) -> None:
    made = loop(tmp_path, agent={"trusted": {"maxAutonomousSteps": 90, "autoApprove": ["do_*"]}})
    _, row = add_agent(made.state, made.sign_in(), "trusted")
    agent = Agent(made, "trusted", principal=row.principal).started()
    assert agent.standing()["max_autonomous_steps"] == 90
    directive = agent.told("doing something")
    assert directive["continue"] is True and "auto-approved by pattern do_*" in directive["factors"]
    assert agent.told("git push --force origin main")["continue"] is False
    made.close()


def test_AE_08_an_adapter_has_settings_of_its_own(tmp_path: Path) -> None:
    made = loop(tmp_path, adapter={"github": {"maxAutonomousSteps": 1, "deny": ["merge_*"]}})
    agent = Agent(made, door="adapter:github").started()
    assert agent.told("merge_branch feature into main")["stopped"] is True
    assert Agent(made, principal="uid:2000").started().standing()["max_autonomous_steps"] == 10
    made.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"agent": {"x": {"maxAutonomousSteps": 101}}},
        {"agent": {"x": {"riskTolerance": "bold"}}},
        {"agent": {"x": {"riskTolerance": ["bold"]}}},
        {"agent": {"x": {"denny": []}}},
        {"agent": {"x": {"deny": [""]}}},
        {"agent": {"X": {}, "x": {}}},
        {"agents": {}},
    ],
)
def test_settings_that_nobody_knows_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        config_of({"loop": wrong}, environ={"XDG_STATE_HOME": "/state"})


def test_settings_are_shown_as_they_are_written() -> None:
    written = {"agent": {"builder": {"maxAutonomousSteps": 0, "deny": ["drop_*"]}}, "adapter": {}}
    shown = effective_settings(config_of({"loop": written}, environ={"XDG_STATE_HOME": "/state"}))["loop"]
    assert {key: shown[key] for key in written} == written


# What an agent's own side brings


def test_an_agents_own_policy_only_tightens_and_says_what_it_could_not(gate: Gate) -> None:
    tight = parse_tightening(gate.state, SEED)
    agent = Agent(gate, tight=tight)
    assert any("autoApprove" in words for words in tight.ignored)
    agent.started()
    assert agent.standing()["max_autonomous_steps"] == 3
    directive = agent.told("delete_user 42")
    assert directive["continue"] is False and any("autoApprove" in factor for factor in directive["factors"])
    agent.abort()
    warned = Agent(gate, "warned", tight=tight)
    refusal_of(warned.start)
    warned.approve(warned.tickets()[0])
    (warning,) = warned.start()["warnings"]
    assert set(warning) == {"code", "message", "severity"} and clean(warning["message"])
    assert warned.told(INSTALL)["continue"] is False
    warned.abort()
    assert warned.started().told("deploy_site to staging")["stopped"] is True


def test_an_agents_own_policy_raises_no_limit(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path, steps=2)
    agent = Agent(
        made, tight=parse_tightening(made.state, '{"maxAutonomousSteps": 100, "riskTolerance": "aggressive"}')
    ).started()
    assert agent.standing()["max_autonomous_steps"] == 2
    made.close()


def test_what_a_policy_does_not_say_is_left_alone(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path, steps=50, more='tolerance = "aggressive"\n')
    agent = Agent(made, tight=parse_tightening(made.state, '{"deny": ["x_*"]}')).started()
    assert agent.standing()["max_autonomous_steps"] == 50
    assert agent.told(READ)["factors"][4].startswith("Risk tolerance: aggressive")
    made.close()


def test_the_daemons_own_policy_counts_whole_when_it_is_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "seed.json").write_text(SEED)
    made = Gate(tmp_path / "state", policy={"use": str(tmp_path / "seed.json")})
    made.enrol()
    assert parse_tightening(made.state, SEED) == NO_TIGHTENING
    assert parse_tightening(made.state, SEED + " ").ignored
    made.close()


@pytest.mark.parametrize("text", ["{", "[]", '{"denny": []}', "= x", '{"deny": 5}', "x" * 1_000_001])
def test_a_policy_that_cannot_be_read_refuses_the_call(gate: Gate, text: str) -> None:
    problem = refusal_of(lambda: parse_tightening(gate.state, text))
    assert problem is not None and problem.code == "VALIDATION_INVALID_VALUE"


@pytest.mark.parametrize(
    ("daemon", "asked", "counts", "said"),
    [
        ("enforcing", "monitoring", "enforcing", True),
        ("enforcing", "disabled", "enforcing", True),
        ("monitoring", "enforcing", "enforcing", False),
        ("monitoring", "logging", "monitoring", True),
        ("logging", "nonsense", "enforcing", True),
        ("enforcing", "enforcing", "enforcing", False),
        ("monitoring", "", "monitoring", False),
    ],
)
def test_R_12_a_mode_from_an_agents_side_only_tightens(
    tmp_path: Path, daemon: str, asked: str, counts: str, said: bool
) -> None:
    made = Gate(tmp_path / "state", safetyLoop={"mode": daemon})
    made.enrol()
    tight = parse_tightening(made.state, "", asked)
    assert bool(tight.ignored) is said
    agent = Agent(made, tight=tight).started()
    assert (agent.told("delete_user 42")["continue"] is False) is (counts == "enforcing")
    made.close()


def test_a_stricter_connection_of_a_disabled_loop_is_enforced(tmp_path: Path) -> None:
    made = Gate(tmp_path / "state", safetyLoop={"mode": "disabled"})
    made.enrol()
    assert Agent(made).started().told("rm -rf /")["continue"] is True
    assert (
        Agent(made, tight=parse_tightening(made.state, "", "enforcing")).started().told("rm -rf /")["stopped"] is True
    )
    made.close()


def test_AE_08_what_was_decided_under_an_agents_own_settings_is_made_again_under_them(tmp_path: Path) -> None:
    own = {"requiresApproval": ["npm *"], "riskTolerance": "conservative", "deny": ["deploy_*"]}
    made = loop(tmp_path, agent={"builder": own, "trusted": {"autoApprove": ["do_*"]}})
    _, row = add_agent(made.state, made.sign_in(), "trusted")
    agent, trusted = Agent(made).started(), Agent(made, "trusted", principal=row.principal, session="mcp_two").started()
    assert agent.told()["continue"] is True  # everyday work is recorded in short
    assert trusted.told("doing something")["continue"] is True
    assert agent.told(INSTALL)["continue"] is False
    given = '{"requiresApproval": ["list_*"]}'
    tight = Agent(made, "third", tight=parse_tightening(made.state, given), session="mcp_three").started()
    assert tight.told("list_files of the project")["continue"] is False
    by = replay_policy(made.config)
    found = [replay_record(one, by) for one in made.records() if is_attempt(one)]
    assert len(found) >= 7 and {one.verdict for one in found} == {"agrees"}, [(o.why, o.differences) for o in found]
    made.close()


def test_a_record_whose_settings_cannot_be_read_is_not_made_again_under_others(tmp_path: Path) -> None:
    made = loop(tmp_path, agent={"builder": {"requiresApproval": ["npm *"]}})
    Agent(made).started().told(INSTALL)
    row = [one for one in made.records() if is_attempt(one)][-1]
    garbled = replace(row, body=row.body.replace('"requiresApproval"', '"requiresNothing"'))
    assert replay_record(row, replay_policy(made.config)).verdict == "agrees"
    found = replay_record(garbled, replay_policy(made.config))
    assert found.verdict == "cannot" and "which settings" in found.why
    made.close()


def test_AE_08_several_adapters_of_one_server_tighten_together(tmp_path: Path) -> None:
    made = loop(tmp_path, adapter={"github": {"requiresApproval": ["list_*"]}, "shop": {"maxAutonomousSteps": 3}})
    both = Agent(made, door="adapter:github,shop").started()
    assert both.standing()["max_autonomous_steps"] == 3
    assert both.told("list_files of the project")["continue"] is False
    other = Agent(made, "other", door="adapter:else").started()
    assert (
        other.standing()["max_autonomous_steps"] == 10 and other.told("list_files of the project")["continue"] is True
    )
    made.close()
