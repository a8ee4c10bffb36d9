"""Every sample of seed 003, in Python, and its decision tree step by step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clock import TestClock
from daemons import PASSPHRASE, daemon
from interlock import DestructiveGate, GateError, Registry
from interlock.config import ConfigError
from interlock.policy.policy import Severities
from interlock.policy.registry import Pattern
from interlock.sdk import SignedInSession
from interlock.sdk.destructive import settings

Make = Callable[..., DestructiveGate]

CACHE: dict[str, Any] = {
    "id": "custom_wipe_cache",
    "pattern": "wipe_cache|flush_cdn|purge_edge",
    "category": "config_destruction",
    "severity": "high",
    "description": "Wipe CDN cache (causes cold-start storm)",
    "requires_confirmation": True,
    "cooling_off_ms": 120_000,
    "requires_human_approval": True,
    "can_rollback": False,
}


def operator(gate: DestructiveGate, name: str = "ana") -> SignedInSession:
    return gate.sign_in(name, PASSPHRASE)


# (action, severity, cooling-off in ms) of the printed patterns, in each of their spellings
PRINTED = [
    ("drop_database", "critical", 300_000),
    ("delete_db", "critical", 300_000),
    ("truncate_schema", "critical", 300_000),
    ("drop_table", "high", 120_000),
    ("truncate_table", "high", 120_000),
    ("bulk_delete", "high", 60_000),
    ("mass_delete", "high", 60_000),
    ("delete_all", "high", 60_000),
    ("purge", "high", 60_000),
    ("terminate_production", "critical", 300_000),
    ("shutdown_prod", "critical", 300_000),
    ("kill_prod", "critical", 300_000),
    ("terminate_vm", "high", 120_000),
    ("terminate_instance", "high", 120_000),
    ("rotate_all_secrets", "critical", 300_000),
    ("invalidate_all_tokens", "critical", 300_000),
    ("revoke_api_key", "high", 60_000),
    ("invalidate_token", "high", 60_000),
    ("delete_account", "critical", 300_000),
    ("close_account", "critical", 300_000),
    ("suspend_org", "critical", 180_000),
    ("disable_organization", "critical", 180_000),
]


@pytest.mark.parametrize(("action", "severity", "cooling"), PRINTED, ids=[row[0] for row in PRINTED])
def test_the_printed_patterns_have_their_severity_and_their_cooling_off(
    action: str, severity: str, cooling: int
) -> None:
    found = Registry().match(action)
    assert found.severity is not None
    assert (found.severity.word, found.cooling_ms) == (severity, cooling)


@pytest.mark.parametrize("action", ["DROP_TABLE", "drop-table", "Drop Table", "drop.table", "dropTable"])
def test_actions_are_matched_without_regard_to_case_and_normalised(destructive: Make, action: str) -> None:
    found = destructive().evaluate("agent_123", action, "users")
    assert [pattern["id"] for pattern in found.denied_patterns] == ["drop_table"]


def test_what_cools_off_says_how_long_and_under_which_id(destructive: Make) -> None:
    decision = destructive().evaluate("agent_123", "drop_table", "users")
    assert decision.allowed is False
    assert decision.reason == "Action requires 120s cooling-off period"
    assert decision.pending_id is not None and decision.pending_id.startswith("pdact_")
    assert decision.wait_ms == 120_000
    assert (decision.requires_approval, decision.approvers) == (False, ())
    assert decision.denied_patterns[0]["severity"] == "high"


def test_after_the_cooling_off_a_retry_with_the_pending_id_is_allowed(destructive: Make, clock: TestClock) -> None:
    gate, ran = destructive(), False
    decision = gate.evaluate("agent_123", "drop_table", "users")

    if not decision.allowed and decision.pending_id:
        clock.forward((decision.wait_ms or 0) / 1000)  # wait for the cooling-off period

        # retry with the pending id
        retry = gate.evaluate("agent_123", "drop_table", "users", pending_id=decision.pending_id)

        if retry.allowed:
            ran = True  # proceed with the action
    assert ran


def test_a_retry_that_comes_too_early_says_how_long_is_left(destructive: Make, clock: TestClock) -> None:
    gate = destructive()
    first = gate.evaluate("agent_123", "drop_table", "users")
    clock.forward(90)
    again = gate.evaluate("agent_123", "drop_table", "users", first.pending_id)
    assert (again.allowed, again.wait_ms, again.pending_id) == (False, 30_000, first.pending_id)


def test_a_critical_action_requires_human_approval(destructive: Make) -> None:
    decision = destructive().evaluate("agent_123", "drop_database", "main")
    assert decision.allowed is False and decision.reason == "Critical action requires human approval"
    assert decision.pending_id is not None and decision.pending_id.startswith("pdact_")
    assert (decision.requires_approval, decision.approvers) == (True, ("human",))
    assert [pattern["id"] for pattern in decision.denied_patterns] == ["drop_database"]


def test_a_person_approves_it_and_it_runs_once(destructive: Make) -> None:
    gate = destructive()
    held = gate.evaluate("agent_123", "drop_database", "main")
    assert held.pending_id is not None
    gate.approve(held.pending_id, operator(gate))
    assert gate.pending(held.pending_id).state == "approved"
    assert gate.evaluate("agent_123", "drop_database", "main", held.pending_id).allowed
    again = gate.evaluate("agent_123", "drop_database", "main", held.pending_id)
    assert not again.allowed and again.decision.code == "TOKEN_ALREADY_USED"


def test_a_person_rejects_it_with_a_reason_that_the_agent_is_told(destructive: Make) -> None:
    gate = destructive()
    held = gate.evaluate("agent_123", "drop_database", "main")
    assert held.pending_id is not None
    gate.reject(held.pending_id, operator(gate), "Too risky for production")
    assert gate.pending(held.pending_id).state == "rejected"
    denied = gate.evaluate("agent_123", "drop_database", "main", held.pending_id)
    assert not denied.allowed and "Too risky for production" in denied.reason


@pytest.mark.parametrize("word", ["admin@company.com", "human", None, SignedInSession("ana", 9e9, "ses_made_up")])
def test_a_name_approves_nothing(destructive: Make, word: Any) -> None:
    gate = destructive()
    held = gate.evaluate("agent_123", "drop_database", "main")
    assert held.pending_id is not None
    with pytest.raises(GateError, match="sign in"):
        gate.approve(held.pending_id, word)
    with pytest.raises(GateError, match="sign in"):
        gate.reject(held.pending_id, word, "no")
    assert not gate.evaluate("agent_123", "drop_database", "main", held.pending_id)


def test_a_wrong_passphrase_signs_nobody_in(destructive: Make) -> None:
    with pytest.raises(GateError, match="the name or the passphrase is wrong"):
        destructive().sign_in("ana", "guessed it")


def test_a_session_that_has_ended_approves_nothing(destructive: Make, clock: TestClock) -> None:
    gate = destructive()
    session = operator(gate)
    clock.forward(16 * 60)
    held = gate.evaluate("agent_123", "drop_database", "main")
    assert held.pending_id is not None
    with pytest.raises(GateError, match="nobody is signed in with that"):
        gate.approve(held.pending_id, session)


def test_a_pending_action_moves_through_its_states(destructive: Make, clock: TestClock) -> None:
    gate = destructive()
    cooling = gate.evaluate("agent_123", "drop_table", "users").pending_id or ""
    waiting = gate.evaluate("agent_123", "drop_database", "main").pending_id or ""
    refused = gate.evaluate("agent_123", "delete_account", "7").pending_id or ""
    assert [gate.pending(id).state for id in (cooling, waiting, refused)] == [
        "pending_cooling", "pending_approval", "pending_approval",
    ]  # fmt: skip
    gate.reject(refused, operator(gate), "no")
    gate.approve(waiting, operator(gate))
    clock.forward(120)
    assert [gate.pending(id).state for id in (cooling, waiting, refused)] == ["approved", "expired", "rejected"]
    assert gate.evaluate("agent_123", "drop_table", "users", cooling)
    done = gate.executed(cooling, "dropped")
    assert (done.state, done.outcome) == ("executed", "dropped")


def test_any_pending_state_expires(destructive: Make, clock: TestClock) -> None:
    gate = destructive(auto_expire_ms=600_000)
    held = gate.evaluate("agent_123", "drop_database", "main")
    assert held.pending_id is not None
    clock.forward(600)
    assert gate.pending(held.pending_id).state == "expired"
    with pytest.raises(GateError, match="expired"):
        gate.approve(held.pending_id, operator(gate))
    denied = gate.evaluate("agent_123", "drop_database", "main", held.pending_id)
    assert not denied.allowed and denied.decision.code == "TOKEN_EXPIRED"


def test_the_settings_and_their_defaults_are_the_seeds(tmp_path: Path) -> None:
    gate = DestructiveGate(
        enabled=True,
        default_cooling_off_ms=30_000,  # 30 seconds
        max_cooling_off_ms=300_000,  # 5 minutes max
        require_approval_for_critical=True,  # critical always needs human approval
        allowed_approvers=["human"],  # who can approve
        auto_expire_ms=3_600_000,  # pending actions expire after 1 hour
        bypass_for_trust_tiers=[],  # no bypass by default
        block_on_match_failure=True,  # if pattern matching fails, block
        folder=tmp_path / "gate",
    )
    with gate:
        assert gate.evaluate("agent_123", "list_users").allowed
    assert settings(folder=tmp_path).effective_policy().severities == Severities()
    assert settings(folder=tmp_path).effective_policy().name == "spec"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"allowed_approvers": []}, "allowedApprovers"),
        ({"default_cooling_off_ms": -1}, "defaultCoolingOffMs"),
        ({"enabled": "yes"}, "enabled"),
        ({"auto_expire_ms": "1h"}, "autoExpireMs"),
        ({"auto_expire_ms": 0}, "autoExpireMs"),
    ],
)
def test_a_setting_that_means_nothing_is_refused(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        DestructiveGate(folder=tmp_path / "gate", **given)
    assert not (tmp_path / "gate").exists()


@pytest.mark.parametrize("milliseconds", [1, 250, 1_500, 45_000])
def test_times_count_to_the_millisecond(destructive: Make, clock: TestClock, milliseconds: int) -> None:
    gate = destructive(default_cooling_off_ms=milliseconds)
    gate.registry.register(id="tidy", pattern="tidy_up", category="data_deletion", severity="low", cooling_off_ms=0)
    held = gate.evaluate("agent_123", "tidy_up")
    assert not held.allowed and held.wait_ms == milliseconds
    assert gate.pending(held.pending_id or "").state == "pending_cooling"
    clock.forward(milliseconds / 1000)
    assert gate.evaluate("agent_123", "tidy_up", pending_id=held.pending_id).allowed


def test_a_confirmation_without_a_time_to_object_in_takes_a_person(destructive: Make) -> None:
    gate = destructive(default_cooling_off_ms=0)
    gate.registry.register(id="tidy", pattern="tidy_up", category="data_deletion", severity="low", cooling_off_ms=0)
    held = gate.evaluate("agent_123", "tidy_up")
    assert not held.allowed and held.requires_approval and held.wait_ms is None


@pytest.mark.parametrize("milliseconds", [500, 10_000, 90_000])
def test_a_pending_action_expires_when_the_settings_say(destructive: Make, clock: TestClock, milliseconds: int) -> None:
    """Whatever it waits for: no setting is stretched behind anybody's back."""
    gate = destructive(auto_expire_ms=milliseconds)
    held = [gate.evaluate("agent_123", action, "x").pending_id or "" for action in ("drop_table", "drop_database")]
    assert [gate.pending(id).state for id in held] == ["pending_cooling", "pending_approval"]
    clock.forward(milliseconds / 1000)
    assert [gate.pending(id).state for id in held] == ["expired", "expired"]


def test_the_cooling_off_is_capped(destructive: Make) -> None:
    assert destructive(max_cooling_off_ms=45_000).evaluate("a", "drop_table", "users").wait_ms == 45_000


# The decision tree, a step a line: settings, trust tier of the agent, action -> allowed, requires approval, wait_ms
TREE: list[tuple[str, dict[str, Any], str, str, tuple[bool, bool, int | None]]] = [
    ("1 disabled", {"enabled": False}, "", "drop_database", (True, False, None)),
    ("2 bypass", {"bypass_for_trust_tiers": ["privileged"]}, "privileged", "ban_user", (True, False, None)),
    ("2 no bypass for others", {"bypass_for_trust_tiers": ["privileged"]}, "basic", "ban_user", (False, False, 30_000)),
    ("2 no bypass by default", {}, "privileged", "ban_user", (False, False, 30_000)),
    ("5 not destructive", {}, "", "list_users", (True, False, None)),
    ("6 critical", {}, "", "drop_database", (False, True, None)),
    ("7 human approval", {}, "", "terminate_vm", (False, True, None)),
    ("8 cooling-off", {}, "", "drop_table", (False, False, 120_000)),
    ("8 medium", {}, "", "file_delete", (False, False, 30_000)),
    ("9 confirmation", {"default_cooling_off_ms": 45_000}, "", "tidy_up", (False, False, 45_000)),
]


@pytest.mark.parametrize(("given", "tier", "action", "expected"), [row[1:] for row in TREE], ids=[r[0] for r in TREE])
def test_the_decision_tree(
    destructive: Make, given: dict[str, Any], tier: str, action: str, expected: tuple[bool, bool, int | None]
) -> None:
    gate = destructive(**given)
    gate.registry.register(id="tidy", pattern="tidy_up", category="data_deletion", severity="low", cooling_off_ms=0)
    if tier:
        gate.trust("agent_123", tier, operator(gate))
    found = gate.evaluate("agent_123", action, "x")
    assert (found.allowed, found.requires_approval, found.wait_ms) == expected


def test_an_agent_gets_a_trust_tier_from_an_admin_only(destructive: Make) -> None:
    gate = destructive(bypass_for_trust_tiers=["privileged"])
    with pytest.raises(GateError, match="sign in"):
        gate.trust("agent_123", "privileged", "agent_123")  # type: ignore[arg-type]
    with pytest.raises(GateError, match="no admin"):
        gate.trust("agent_123", "privileged", operator(gate, "bo"))
    assert not gate.evaluate("agent_123", "ban_user", "x")


def test_only_those_who_are_named_may_approve(destructive: Make) -> None:
    gate = destructive(allowed_approvers=["bo"])
    held = gate.evaluate("agent_123", "drop_database", "main")
    assert held.pending_id is not None and held.approvers == ("bo",)
    with pytest.raises(GateError, match="ana may not answer"):
        gate.approve(held.pending_id, operator(gate, "ana"))
    gate.approve(held.pending_id, operator(gate, "bo"))
    assert gate.evaluate("agent_123", "drop_database", "main", held.pending_id)


def test_without_the_critical_rule_a_critical_pattern_still_asks_for_what_it_declares(destructive: Make) -> None:
    calm = Pattern.of({**CACHE, "severity": "critical", "requires_human_approval": False, "cooling_off_ms": 180_000})
    gate = destructive(Registry([calm]), require_approval_for_critical=False)
    assert gate.evaluate("a", "flush_cdn").wait_ms == 180_000
    assert destructive(Registry([calm])).evaluate("a", "flush_cdn").requires_approval


@pytest.mark.parametrize("blocks", [True, False])
def test_what_cannot_be_matched_is_blocked_unless_that_is_switched_off(destructive: Make, blocks: bool) -> None:
    found = destructive(block_on_match_failure=blocks).evaluate("a", "list_" + "a" * 20_000)
    assert found.allowed is not blocks


def test_a_custom_pattern_is_registered_and_unregistered(destructive: Make) -> None:
    gate = destructive()
    assert gate.evaluate("agent_123", "flush_cdn")
    gate.registry.register(
        id="custom_wipe_cache",
        pattern="wipe_cache|flush_cdn|purge_edge",
        category="config_destruction",
        severity="high",
        description="Wipe CDN cache (causes cold-start storm)",
        requires_confirmation=True,
        cooling_off_ms=120_000,
        requires_human_approval=True,
        can_rollback=False,
    )
    held = gate.evaluate("agent_123", "flush_cdn")
    assert held.requires_approval and [pattern["id"] for pattern in held.denied_patterns] == ["custom_wipe_cache"]
    gate.registry.unregister("custom_wipe_cache")
    assert gate.evaluate("agent_123", "flush_cdn")


def test_a_pattern_may_come_as_a_mapping_in_the_seeds_own_words(destructive: Make) -> None:
    gate = destructive()
    made = gate.registry.register(Pattern.of(CACHE).wire)
    assert made == Pattern.of(CACHE) and made in gate.registry.list()
    assert gate.registry.match("wipe-cache").severity == made.severity


def test_can_rollback_is_the_and_over_everything_that_matched(destructive: Make) -> None:
    gate = destructive()
    undoable = {"category": "communication_block", "severity": "medium", "can_rollback": True, "undo": "unmute"}
    gate.registry.register(id="hush", pattern="hush_everybody", **undoable)
    assert gate.evaluate("a", "hush_everybody").can_rollback is True
    gate.registry.register(id="loud", pattern="hush", category="communication_block", severity="medium")
    assert gate.evaluate("a", "hush_everybody").can_rollback is False


def test_can_rollback_is_what_the_pattern_says_whatever_its_name_sounds_like(destructive: Make) -> None:
    gate = destructive()
    stored = {"category": "data_deletion", "severity": "high", "can_rollback": True, "undo": "restore it from the bin"}
    gate.registry.register(id="bin", pattern="erase_note", **stored)
    assert gate.evaluate("a", "erase_note").can_rollback is True
    assert gate.evaluate("a", "erase_ticket").can_rollback is False


def test_the_metrics_are_the_seeds_object(destructive: Make, clock: TestClock) -> None:
    gate = destructive()
    gate.evaluate("agent_123", "list_users")
    cooling = gate.evaluate("agent_123", "drop_table", "users").pending_id or ""
    waiting = gate.evaluate("agent_123", "drop_database", "main").pending_id or ""
    gate.reject(waiting, operator(gate), "no")
    clock.forward(120)
    gate.evaluate("agent_123", "drop_table", "users", cooling)
    gate.executed(cooling)
    found = gate.get_metrics()
    assert {key: found[key] for key in ("totalChecked", "blockedByCooling", "blockedByApproval")} == {
        "totalChecked": 4, "blockedByCooling": 1, "blockedByApproval": 1,
    }  # fmt: skip
    assert (found["approved"], found["rejected"], found["expired"], found["executed"]) == (1, 1, 0, 1)
    assert set(found["bySeverity"]) == {"low", "medium", "high", "critical"}
    eight = "data_deletion access_revocation resource_termination credential_invalidation config_destruction communication_block financial_action account_action"
    assert set(eight.split()) <= set(found["byCategory"])


def test_a_daemon_that_decides_in_the_folder_is_not_overruled(tmp_path: Path) -> None:
    with daemon(tmp_path), pytest.raises(GateError, match=r"a daemon decides in .* by its own settings"):
        DestructiveGate(folder=tmp_path / "state")
