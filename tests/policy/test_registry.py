"""The registry knows the specification's patterns, takes new ones strictly, and never guesses."""

from __future__ import annotations

from typing import Any

import pytest

from cases import each
from interlock.model import Category, Level
from interlock.policy.registry import (
    MAX_ACTION,
    MatchFailure,
    Pattern,
    PatternError,
    Registry,
    Severity,
    normalise_action,
)

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
# Every built-in: (id, category, severity, cooling-off in seconds, can be rolled back, actions it catches / near misses).
BUILT_IN = [
    ("drop_database", "data_deletion", "critical", 300, False, "drop_database delete_db truncateSchema DROP-DATABASE / create_database drop_down_menu list_databases undelete_database"),
    ("drop_table", "data_deletion", "high", 120, False, "drop_table delete_table truncate_table DropTable / list_tables drop_tab untruncate_table"),
    ("bulk_delete", "data_deletion", "high", 60, False, "bulk_delete mass_delete delete_all purge purge_logs / bulk_update mass_mail delete_alias unpurge"),
    ("file_delete", "data_deletion", "medium", 30, False, "file_delete delete_file remove_folders deleteDirectory delete_documents / file_deleted remove_filter delete_documentation_link profile_delete undelete_file"),
    ("record_delete", "data_deletion", "medium", 30, False, "delete_record remove_rows erase_entry delete_entries deleteMessage / delete_recording remove_rowing_club list_records undelete_record"),
    ("backup_delete", "data_deletion", "high", 120, False, "delete_backup remove_snapshots delete_all_snapshots expire_backups / create_backup restore_snapshot undelete_backup"),
    ("wipe_data", "data_deletion", "critical", 300, False, "wipe_data erase_disk shred_volume destroy_bucket destroyDatabase / swipe_data wipe_date_field list_disks"),
    ("revoke_all_access", "access_revocation", "critical", 180, True, "revoke_all_access revoke_all_user_permissions remove_all_members / grant_all_access revoke_allowance remove_all_filters"),
    ("remove_admin", "access_revocation", "high", 60, True, "remove_admin revoke_owner demote_administrators removeAdmin / add_admin remove_administration_fee list_owners"),
    ("remove_user_access", "access_revocation", "medium", 30, True, "remove_user_access revoke_access remove_roles remove-member / grant_user_access remove_accessory remove_user_story unrevoke_access"),
    ("terminate_production", "resource_termination", "critical", 300, False, "terminate_production shutdown_prod kill_prod shutdownProduction / terminate_staging kill_process check_prod unterminate_production"),
    ("terminate_vm", "resource_termination", "high", 120, False, "terminate_vm terminate_instances terminateServer / start_vm list_instances terminate_session"),
    ("delete_cluster", "resource_termination", "critical", 300, False, "delete_cluster destroy_environment terminate_stack delete_namespaces / scale_cluster delete_clustering_job create_environment"),
    ("delete_container", "resource_termination", "medium", 30, True, "delete_container kill_pod stop_services removeDeployment / delete_podcast start_container restart_service"),
    ("rotate_all_secrets", "credential_invalidation", "critical", 300, False, "rotate_all_secrets invalidate_all_tokens rotateAllSecrets / rotate_log rotate_secret validate_all_tokens"),
    ("revoke_api_key", "credential_invalidation", "high", 60, False, "revoke_api_key invalidate_token invalidateToken / create_api_key validate_token unrevoke_api_key"),
    ("delete_secret", "credential_invalidation", "high", 60, False, "delete_secret remove_api_key destroy_certificates delete_key / delete_keyboard get_secret remove_keyword undelete_secret"),
    ("delete_policy", "config_destruction", "high", 60, True, "delete_policy remove_rules drop_acl delete_policies deleteFirewallRule / create_policy remove_ruler list_rules undelete_policy"),
    ("clear_config", "config_destruction", "high", 60, False, "clear_config reset_settings wipe_configuration deleteConfig / get_config clear_configured_filter preset_settings"),
    ("delete_dns", "config_destruction", "high", 60, False, "delete_dns remove_domain delete_zones removeRoute / remove_router add_domain lookup_dns"),
    ("ban_user", "communication_block", "medium", 30, True, "ban_user block_sender kick_members muteUser / unban_user urban_user_map list_users unblock_sender"),
    ("suspend_user", "communication_block", "medium", 30, True, "suspend_user suspend_members suspendUser / unsuspend_user suspend_username_check resume_user"),
    ("process_refund", "financial_action", "high", 60, False, "process_refund issue_chargeback create_payouts refund_order refundAll / list_refunds process_refundable_items get_payout"),
    ("cancel_subscription", "financial_action", "medium", 30, True, "cancel_subscription cancel_orders cancelContract / cancel_planned_meeting create_subscription cancel_search"),
    ("delete_account", "account_action", "critical", 300, False, "delete_account destroy_account close_account closeAccount / open_account get_account undelete_account"),
    ("suspend_org", "account_action", "critical", 180, True, "suspend_org disable_organization suspendOrg / list_orgs enable_organization unsuspend_org"),
    ("suspend_account", "account_action", "medium", 30, True, "suspend_account disable_accounts lockAccount / unlock_account enable_account clock_account"),
]  # fmt: skip
CONTROLS = {"critical": (180_000, 300_000), "high": (60_000, 120_000), "medium": (30_000, 30_000)}


def test_no_built_in_is_without_examples() -> None:
    assert [pattern.id for pattern in Registry()] == [row[0] for row in BUILT_IN]


@each(("id", "category", "severity", "cooling", "rollback", "actions"), BUILT_IN)
def test_a_built_in_catches_its_actions_and_spares_near_misses(
    id: str, category: str, severity: str, cooling: int, rollback: bool, actions: str
) -> None:
    only = Registry([pattern for pattern in Registry() if pattern.id == id])
    caught, spared = (side.split() for side in actions.split(" / "))
    for action in caught:
        found = only.match(action)
        assert found.categories == {Category(category)} and found.severity is not None, action
        assert (found.severity.word, found.cooling_ms, found.can_rollback) == (severity, cooling * 1000, rollback)
        assert bool(found.undo) is rollback and found.requires_confirmation
        whole = Registry().match(action)
        assert whole.severity is not None and whole.severity >= found.severity
    for action in spared:
        assert not only.match(action), action


@each("pattern", Registry().list(), ids=lambda pattern: pattern.id)
def test_a_built_in_has_the_controls_of_its_severity(pattern: Pattern) -> None:
    shortest, longest = CONTROLS[pattern.severity.word]
    assert shortest <= pattern.cooling_off_ms <= longest
    if pattern.severity is not Severity.HIGH:  # high: usually required
        assert pattern.requires_human_approval is (pattern.severity is Severity.CRITICAL)


@pytest.mark.parametrize(("expression", "severity", "cooling"), PRINTED)
def test_the_printed_patterns_are_there_word_for_word(expression: str, severity: str, cooling: int) -> None:
    found = [pattern for pattern in Registry() if pattern.pattern == expression]
    assert [(pattern.severity.word, pattern.cooling_off_ms) for pattern in found] == [(severity, cooling)]


def test_there_are_more_than_twenty() -> None:
    assert len(Registry()) > 20
    assert {pattern.category.value for pattern in Registry()} == set(CATEGORIES)


@each(("category", "action"), [(c, a) for c, actions in CATEGORIES.items() for a in actions.split()])
def test_every_example_of_a_category_is_in_it(category: str, action: str) -> None:
    assert Category(category) in Registry().match(action).categories


@each(("severity", "action"), [(s, a) for s, actions in SEVERITIES.items() for a in actions.split()])
def test_every_example_of_a_severity_has_it(severity: str, action: str) -> None:
    found = Registry().match(action)
    assert found.severity is not None and found.severity.word == severity
    assert found.requires_approval is (severity != "medium" and action != "drop_table")  # its printed answer is to wait


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


def test_the_printed_custom_pattern_keeps_every_field() -> None:
    registry = Registry()
    registry.register(Pattern.of(WIPE_CACHE))
    for action in ("wipe_cache", "flushCDN", "Purge-Edge zone 7"):
        found = registry.match(action)
        assert found.patterns[-1].wire == {**WIPE_CACHE, "undo": ""}
        assert (found.level, found.cooling_ms, found.requires_approval) == (Level.DANGEROUS, 120_000, True)
        assert found.requires_confirmation and not found.can_rollback and found.undo == ()
    for action in ("warm_cache", "list_cdn", "edge_status", "flush_cache"):
        assert not registry.match(action), action


def test_a_low_custom_pattern_asks_for_no_more_than_it_says() -> None:
    low = Pattern.of(
        {
            "id": "x",
            "pattern": "touch_sign",
            "category": "config_destruction",
            "severity": "low",
            "requiresConfirmation": False,
        }
    )
    found = Registry([low]).match("touch_sign")
    assert (found.level, found.cooling_ms) == (Level.REVERSIBLE, 0)
    assert not found.requires_confirmation and not found.requires_approval


@pytest.mark.parametrize("expression", ["unlock_account", "un(ban|block)_user", r"\bunarchive|unlock_account"])
def test_a_pattern_about_undoing_meets_what_it_names(expression: str) -> None:
    custom = Pattern("custom", expression, Category.ACCOUNT_ACTION, Severity.MEDIUM)
    actions = ("unlock_account", "unbanUser", "unarchive project 7")
    assert any(Registry([custom]).match(action) for action in actions)
    assert not any(Registry([custom]).match(action) for action in ("lock_account", "ban_user", "archive project 7"))


def test_two_registries_share_nothing() -> None:
    first, second = Registry(), Registry()
    first.register(Pattern.of(WIPE_CACHE))
    assert len(first) == len(second) + 1


@each(
    ("change", "message"),
    [
        ({"severity": "severe"}, "expected one of low, medium, high, critical"),
        ({"category": "history_rewrite"}, "category"),
        ({"category": "nonsense"}, "category is 'nonsense'"),
        ({"pattern": ""}, "expected an expression"),
        ({"pattern": "("}, "pattern '\\('"),
        ({"pattern": ".*"}, "matches everything"),
        ({"pattern": r"(a)\1"}, "pattern"),
        ({"id": ""}, "id is ''"),
        ({"coolingOffMs": -1}, "cooling_off_ms is -1"),
        ({"coolingOffMs": True}, "cooling_off_ms is True"),
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


@pytest.mark.parametrize("action", [None, 5, b"drop_table", "x" * (MAX_ACTION + 1)])
def test_a_matching_failure_blocks_while_that_is_on(action: Any) -> None:
    blocked = Registry().check(action)
    assert blocked and blocked.blocked and blocked.failure and blocked.level is Level.FORBIDDEN
    assert not blocked.can_rollback and blocked.undo == ()
    passed = Registry().check(action, block_on_match_failure=False)
    assert not passed and passed.failure == blocked.failure and passed.level is Level.SAFE


@pytest.mark.parametrize("on", [True, False])
def test_what_can_be_matched_is_never_blocked_for_failing(on: bool) -> None:
    for action in ("drop_table", "get_user"):
        assert Registry().check(action, block_on_match_failure=on) == Registry().match(action)


@pytest.mark.parametrize(
    ("abilities", "undo"),
    [
        ((True,), ("undo 0",)),
        ((True, True), ("undo 0", "undo 1")),
        ((False,), ()),
        ((True, False), ()),
        ((False, True), ()),
    ],
)
def test_undo_is_told_only_when_everything_can_be_rolled_back(
    abilities: tuple[bool, ...], undo: tuple[str, ...]
) -> None:
    patterns = [
        Pattern(f"p{at}", "wipe", Category.DATA_DELETION, Severity.LOW, can_rollback=able, undo=f"undo {at}")
        for at, able in enumerate(abilities)
    ]
    found = Registry(patterns).match("wipe")
    assert (found.can_rollback, found.undo) == (all(abilities), undo)


def test_lone_surrogates_hide_nothing() -> None:
    assert Registry().match("\ud800 drop_table")


def test_normalised() -> None:
    assert normalise_action("Drop--TABLE users!") == "drop_table_users_"


@pytest.mark.parametrize(("severity", "level"), list(zip(Severity, list(Level)[1:], strict=True)))
def test_severities_are_levels(severity: Severity, level: Level) -> None:
    assert severity.level is level
