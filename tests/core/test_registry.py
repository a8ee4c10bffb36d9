"""The registry knows the specification's patterns, takes new ones strictly, and never guesses."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.core.model import Category, Level
from interlock.core.registry import MAX_ACTION, MatchFailure, Pattern, PatternError, Registry, Severity, normalised

WIPE_CACHE: dict[str, Any] = {
    "id": "custom_wipe_cache",
    "pattern": "wipe_cache|flush_cdn|purge_edge",
    "category": "config_destruction",
    "severity": "high",
    "description": "Wipe CDN cache (causes cold-start storm)",
    "requiresConfirmation": True,
    "coolingOffMs": 120_000,
    "requiresHumanApproval": True,
    "canRollback": False,
}
PRINTED = [
    ("(drop|delete|truncate)_(database|db|schema)", "critical", 300_000),
    ("(drop|delete|truncate)_table", "high", 120_000),
    ("bulk_delete|mass_delete|delete_all|purge", "high", 60_000),
    ("terminate_production|shutdown_prod|kill_prod", "critical", 300_000),
    ("terminate_(vm|instance|server)", "high", 120_000),
    ("rotate_all_secrets|invalidate_all_tokens", "critical", 300_000),
    ("revoke_api_key|invalidate_token", "high", 60_000),
    ("delete_account|destroy_account|close_account", "critical", 300_000),
    ("suspend_org|disable_organization", "critical", 180_000),
]
CATEGORIES = {
    "data_deletion": "drop_database truncate_table bulk_delete",
    "access_revocation": "revoke_all_access remove_admin",
    "resource_termination": "terminate_production delete_container",
    "credential_invalidation": "rotate_all_secrets revoke_api_key",
    "config_destruction": "delete_policy clear_config",
    "communication_block": "ban_user suspend_user",
    "financial_action": "process_refund cancel_subscription",
    "account_action": "delete_account suspend_org",
}
SEVERITIES = {
    "critical": "drop_database terminate_production delete_account rotate_all_secrets",
    "high": "drop_table bulk_delete terminate_vm revoke_api_key",
    "medium": "file_delete remove_user_access delete_container ban_user",
}


@pytest.mark.parametrize(("expression", "severity", "cooling"), PRINTED)
def test_the_printed_patterns_are_there_word_for_word(expression: str, severity: str, cooling: int) -> None:
    found = [pattern for pattern in Registry() if pattern.pattern == expression]
    assert [(pattern.severity.word, pattern.cooling_off_ms) for pattern in found] == [(severity, cooling)]


def test_there_are_more_than_twenty() -> None:
    assert len(Registry()) > 20
    assert {pattern.category.value for pattern in Registry()} == set(CATEGORIES)


@pytest.mark.parametrize(("category", "action"), [(c, a) for c, actions in CATEGORIES.items() for a in actions.split()])
def test_every_example_of_a_category_is_in_it(category: str, action: str) -> None:
    assert Category(category) in Registry().match(action).categories


@pytest.mark.parametrize(("severity", "action"), [(s, a) for s, actions in SEVERITIES.items() for a in actions.split()])
def test_every_example_of_a_severity_has_it(severity: str, action: str) -> None:
    found = Registry().match(action)
    assert found.severity is not None and found.severity.word == severity
    assert found.requires_approval is (severity != "medium")


@pytest.mark.parametrize("action", ["Drop Table users", "drop-table", "DROP  TABLE x", "dropTable", "db.drop_table"])
def test_an_action_is_matched_raw_normalised_and_with_its_humps_split(action: str) -> None:
    assert [pattern.id for pattern in Registry().match(action).patterns] == ["drop_table"]


@pytest.mark.parametrize("action", ["get_user", "undelete_table", "unban_user", "list_tables", "create_policy", ""])
def test_near_misses_are_spared(action: str) -> None:
    found = Registry().match(action)
    assert not found and found.severity is None and found.level is Level.SAFE and not found.can_rollback


def test_a_custom_pattern_comes_and_goes() -> None:
    registry = Registry()
    registry.register(Pattern.of(WIPE_CACHE))
    assert [pattern.id for pattern in registry.match("flush_cdn").patterns] == ["custom_wipe_cache"]
    assert Pattern.of(registry.list()[-1].wire) == registry.list()[-1]
    registry.unregister("custom_wipe_cache")
    assert not registry.match("flush_cdn")
    with pytest.raises(PatternError, match="no pattern 'custom_wipe_cache'"):
        registry.unregister("custom_wipe_cache")


def test_two_registries_share_nothing() -> None:
    first, second = Registry(), Registry()
    first.register(Pattern.of(WIPE_CACHE))
    assert len(first) == len(second) + 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"severity": "severe"}, "known: low, medium, high, critical"),
        ({"category": "history_rewrite"}, "category"),
        ({"category": "nonsense"}, "category 'nonsense'"),
        ({"pattern": ""}, "expected an expression"),
        ({"pattern": "("}, "pattern '\\('"),
        ({"pattern": ".*"}, "matches everything"),
        ({"pattern": r"(a)\1"}, "pattern"),
        ({"id": ""}, "an id is"),
        ({"coolingOffMs": -1}, "coolingOffMs is -1"),
        ({"coolingOffMs": True}, "coolingOffMs is True"),
        ({"canRollback": "no"}, "can_rollback is 'no'"),
        ({"coolingoffms": 5}, "unknown key 'coolingoffms'"),
        ({"can_rollback": True}, "given twice"),
    ],
)
def test_what_is_wrong_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(PatternError, match=message):
        Pattern.of({**WIPE_CACHE, **change})


def test_an_id_is_taken_once() -> None:
    registry = Registry([Pattern.of(WIPE_CACHE)])
    with pytest.raises(PatternError, match="the id is taken"):
        registry.register(Pattern.of(WIPE_CACHE))


def test_controls_are_joined_over_all_that_matched() -> None:
    def pattern(id: str, cooling: int, rollback: bool) -> Pattern:
        return Pattern(
            id,
            "wipe",
            Category.DATA_DELETION,
            Severity.LOW,
            "",
            True,
            cooling,
            False,
            rollback,
            "put it back" if rollback else "",
        )

    both = Registry([pattern("a", 1_000, True), pattern("b", 900_000, False)]).match("wipe")
    assert (both.cooling_ms, both.can_rollback, both.undo) == (300_000, False, ())
    one = Registry([pattern("a", 1_000, True)]).match("wipe", max_cooling_ms=500)
    assert (one.cooling_ms, one.can_rollback, one.undo) == (500, True, ("put it back",))


@pytest.mark.parametrize("action", [None, 5, b"drop_table", "x" * (MAX_ACTION + 1)])
def test_what_cannot_be_matched_is_a_failure_and_no_pass(action: Any) -> None:
    with pytest.raises(MatchFailure):
        Registry().match(action)


def test_lone_surrogates_hide_nothing() -> None:
    assert Registry().match("\ud800 drop_table")


def test_normalised() -> None:
    assert normalised("Drop--TABLE users!") == "drop_table_users_"


@pytest.mark.parametrize(("severity", "level"), zip(Severity, list(Level)[1:], strict=True))
def test_severities_are_levels(severity: Severity, level: Level) -> None:
    assert severity.level is level
