"""Every key of a policy does something: escalation, the danger zone, approvals for a session, the mode of seed 001's JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gate import AGENT, Gate
from interlock.approvals import answers
from interlock.config import config_of, load_config
from interlock.model import AgentRef, command, operation, tool

W = "/home/dev/app"
FORBIDDEN = [command(f"rm -rf /{name}", W) for name in ("usr", "etc", "bin", "lib", "var")]
LEVELS = """
[levels]
safe = "allow"
reversible = "allow"
destructive = "confirm"
dangerous = "verify"
forbidden = "verify"
"""
Make = Callable[[str], Gate]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    gates: list[Gate] = []

    def made(text: str, levels: str = LEVELS) -> Gate:
        path = tmp_path / "team.toml"
        path.write_text(text + levels)
        gate = Gate(tmp_path / "state", policy={"use": str(path)})
        gate.enrol()
        gates.append(gate)
        return gate

    yield made
    for gate in gates:
        gate.close()


# escalation


def test_repetition_in_one_execution_raises_a_tier(make: Make) -> None:
    gate = make("escalation = { repetition = 3 }")
    asked = [gate.ask(operation("sync_thing", {"n": n}), execution="e1").outcome for n in range(5)]
    assert asked == ["allow", "allow", "allow", "confirm", "confirm"]
    assert gate.ask(operation("sync_thing", {}), execution="e2").allowed


def test_repetition_can_be_off(make: Make) -> None:
    gate = make('escalation = { repetition = "off" }')
    assert all(gate.ask(operation("sync_thing", {"n": n}), execution="e1").allowed for n in range(60))


@pytest.mark.parametrize(("window", "between", "blocked"), [(60, 20, True), (60, 40, False), (3_000, 1_400, True)])
def test_forbidden_attempts_count_within_their_window(make: Make, window: int, between: int, blocked: bool) -> None:
    gate = make(f"escalation = {{ forbidden_window_seconds = {window} }}")
    for action in FORBIDDEN[:3]:
        gate.ask(action)
        gate.clock.forward(between)
    assert bool(gate.state.blocked(AGENT.principal)) is blocked
    if blocked:
        assert f"three forbidden attempts in {window // 60} minute" in gate.state.blocked(AGENT.principal)


def test_forbidden_attempts_and_cumulative_risk_can_be_off(make: Make) -> None:
    gate = make('open_tickets = 100\nescalation = { forbidden_attempts = "off", cumulative = "off" }')
    for number in range(30):
        gate.ask(command(f"rm -rf /usr/x{number} /etc/x", W))
    assert not gate.state.blocked(AGENT.principal)
    assert gate.ask(command("npm install", W)).allowed and gate.ask(command("touch x", W)).allowed


def test_spec_counts_nothing_and_blocks_nobody(tmp_path: Path) -> None:
    """Seed 003's agents share one principal, and its flow knows neither."""
    gate = Gate(tmp_path / "state", policy={"use": "spec"})
    gate.enrol()
    try:
        for number in range(60):
            gate.ask(operation("drop_database", {"resource": f"db{number}"}), AgentRef("uid:1000", f"agent_{number}"))
        assert not gate.state.blocked("uid:1000")
        found = gate.ask(operation("sync_users", {}), AgentRef("uid:1000", "agent_1"))
        assert found.allowed and not any("cumulative" in factor for factor in found.factors)
    finally:
        gate.close()


# block_on_danger_zone


def test_the_danger_zone_blocks_the_principal_where_the_policy_opts_in(make: Make) -> None:
    gate = make("block_on_danger_zone = true")
    found = gate.ask(FORBIDDEN[0])
    assert found.outcome == "block" and found.ticket is None and "danger zone" in found.reason
    assert gate.state.blocked(AGENT.principal) == "an action in the danger zone"
    assert gate.ask(command("npm install", W), AgentRef(AGENT.principal, "somebody else")).outcome == "block"
    assert gate.ask(command("ls", W)).allowed  # reading stays possible
    assert [json.loads(row.body)["reason"] for row in gate.records("block")] == ["an action in the danger zone"]


def test_an_agent_that_rates_itself_into_the_danger_zone_is_blocked_too(make: Make) -> None:
    gate = make("block_on_danger_zone = true")
    assert gate.ask(command("npm install", W), claimed_risk=90).outcome == "block"
    assert gate.state.blocked(AGENT.principal)


def test_without_it_the_danger_zone_holds_and_blocks_nobody(make: Make) -> None:
    gate = make("block_on_danger_zone = false")
    assert gate.held(FORBIDDEN[0]).open and not gate.state.blocked(AGENT.principal)


def test_monitoring_blocks_nobody(make: Make) -> None:
    gate = make("block_on_danger_zone = true")
    gate.state.enforce(mode="monitoring")
    assert gate.ask(FORBIDDEN[0]).allowed and not gate.state.blocked(AGENT.principal)


# approvalPolicy


def restricted(scope: str, seconds: int = 600) -> str:
    ttl = f", ttlSeconds = {seconds}" if seconds else ""
    return f"""
    [externalRestrictions]
    confirmPatterns = ["Edit:*", "Write:*", "Bash:git push*", "Bash:git branch*"]
    approvalPolicy = {{ scope = "{scope}"{ttl} }}
    """


def edit(name: str) -> Any:
    return tool("Edit", {"file_path": f"{W}/{name}", "old_string": "a", "new_string": "b"}, W)


def agreed(gate: Gate, action: Any, **more: Any) -> None:
    gate.approve(gate.held(action, **more))
    assert gate.ask(action, **more).allowed


def test_an_approval_once_is_for_one_action(make: Make) -> None:
    gate = make(restricted("once"))
    agreed(gate, edit("a.py"))
    assert not gate.ask(edit("b.py")).allowed and not gate.ask(edit("a.py")).allowed


def test_an_approved_pattern_is_remembered_for_the_session_until_its_time_is_over(make: Make) -> None:
    gate = make(restricted("session"))
    agreed(gate, edit("a.py"))
    found = gate.ask(edit("b.py"))
    assert found.allowed and "confirmed for this session: Edit:*" in found.factors
    gate.clock.forward(601)
    assert gate.ask(edit("c.py")).outcome == "confirm"


@pytest.mark.parametrize(
    "other",
    [
        {"agent": AgentRef("uid:1000", "claude", "s2")},
        {"agent": AgentRef("uid:1000", "claude", "")},
        {"agent": AgentRef("uid:1000", "other", "s1")},
        {"agent": AgentRef("uid:7", "claude", "s1")},
        {"action": tool("Write", {"file_path": f"{W}/new.py", "content": "x"}, W)},
        {"action": command("git push origin main", W)},
    ],
    ids=["another session", "no session", "another name", "another principal", "another pattern", "another tool"],
)
def test_it_is_bound_to_the_session_the_pattern_and_the_tool(make: Make, other: dict[str, Any]) -> None:
    gate = make(restricted("session"))
    agreed(gate, edit("a.py"))
    assert gate.ask(edit("b.py")).allowed
    assert gate.ask(**{"action": edit("b.py"), **other}).outcome == "confirm"


def test_an_agent_that_claims_no_session_has_none_to_remember(make: Make) -> None:
    gate, nobody = make(restricted("session")), AgentRef("uid:1000", "claude", "")
    agreed(gate, edit("a.py"), agent=nobody)
    assert not gate.ask(edit("b.py"), nobody).allowed


def test_it_takes_away_what_the_pattern_asks_for_and_nothing_else(make: Make) -> None:
    gate = make(restricted("session"))
    agreed(gate, command("git push origin main", W))
    assert gate.ask(command("git push origin other", W)).allowed
    assert gate.ask(command("git push --force origin main", W)).outcome == "verify"  # never beyond level 2
    assert (
        gate.ask(command("git push origin main && npm publish", W)).outcome == "confirm"
    )  # more than what was confirmed
    agreed(gate, command("git branch -D old", W))
    assert gate.ask(command("git branch -D other", W)).outcome == "confirm"  # the level asks by itself


def test_a_no_forgets_what_was_confirmed(make: Make) -> None:
    gate = make(restricted("session"))
    agreed(gate, edit("a.py"))
    answers.reject(gate.state, gate.sign_in(), gate.held(command("git push origin main", W)).id, "stop")
    assert gate.ask(edit("b.py")).outcome == "confirm"


def test_a_restart_forgets_it(make: Make) -> None:
    gate = make(restricted("session"))
    agreed(gate, edit("a.py"))
    gate.restart()
    gate.sign_in()
    assert gate.ask(edit("b.py")).outcome == "confirm"


# safetyLoop.mode of seed 001's JSON


def write(folder: Path, mode: str, own: str = "") -> Path:
    (folder / "team.json").write_text(json.dumps({"deny": ["delete_production*"], "safetyLoop": {"mode": mode}}))
    path = folder / "interlock.toml"
    loop = f'[safetyLoop]\nmode = "{own}"\n' if own else ""
    path.write_text(f'[store]\nurl = "sqlite://{folder}/state"\n[policy]\nuse = "team.json"\n{loop}')
    return path


@pytest.mark.parametrize(
    ("policys", "own", "environment", "expected"),
    [
        ("monitoring", "", "", "monitoring"),
        ("enforcing", "", "", "enforcing"),
        ("monitoring", "enforcing", "", "enforcing"),  # what the configuration itself says comes first
        ("enforcing", "monitoring", "", "monitoring"),
        ("monitoring", "", "enforcing", "enforcing"),  # the environment tightens
        ("enforcing", "", "disabled", "enforcing"),
        ("monitoring", "", "nonsense", "enforcing"),
    ],
)
def test_the_policys_mode_counts_where_nobody_else_says_one(
    tmp_path: Path, policys: str, own: str, environment: str, expected: str
) -> None:
    config = load_config(write(tmp_path, policys, own), {"MCPAQL_SAFETY_LOOP": environment})
    assert config.mode == expected
    assert any("safetyLoop.mode" in words for words in config.concerns()) is (expected != "enforcing")


def test_the_mode_of_a_policy_is_the_mode_in_force(tmp_path: Path) -> None:
    (tmp_path / "team.json").write_text(json.dumps({"autoApprove": ["list_*"], "safetyLoop": {"mode": "monitoring"}}))
    gate = Gate(tmp_path / "state", policy={"use": str(tmp_path / "team.json")})
    try:
        found = gate.ask(command("git push --force origin main", W))
        assert found.allowed and "would have: verify" in found.factors and found.ticket is None
    finally:
        gate.close()


def test_a_policy_that_names_no_known_mode_is_refused(tmp_path: Path) -> None:
    (tmp_path / "team.json").write_text(json.dumps({"deny": ["x_*"], "safetyLoop": {"mode": "off"}}))
    config = config_of({"policy": {"use": str(tmp_path / "team.json")}}, environ={})
    assert config.mode == "enforcing"
    with pytest.raises(ValueError, match=r"safetyLoop\.mode: expected one of enforcing"):
        config.effective_policy()
