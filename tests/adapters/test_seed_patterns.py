"""Every example of the danger levels' own document: each has its level, and a near miss that has not."""

from __future__ import annotations

import pytest

from cases import each
from interlock import assess
from interlock.adapters.levels import LevelClaims, NameLevel, effective_level, level_from_name
from interlock.analysis.operations.name_patterns import DANGEROUS, FORBIDDEN, SAFE, NamePatterns
from interlock.model import Level, Tier, intent, operation

# pattern: examples that it catches / near misses that it spares, as name:category.
DANGEROUS_NAMES = {
    "force_*": "force_push:execute force_delete:delete mcp__git__force_push:execute forceDelete:delete / enforce_policy:execute reinforce_link:update get_force_levels:read create_force_field:create workforce_sync:execute",
    "*_permanently": "remove_permanently:delete close_ticket_permanently:update / permanent_link:create list_permanently_closed:read add_permanently_open_shop:create",
    "bulk_delete*": "bulk_delete:delete bulk_delete_users:delete bulkDeleteUsers:delete / bulk_delivery_report:read bulk_update:update delete_user:delete list_bulk_delete_jobs:read",
    "override_*": "override_validation:execute override_limits:update / overridden_values:read get_override_rules:read add_override_button:create",
    "bypass_*": "bypass_approval:execute bypass-validation:execute / bypassed_checks:read list_bypass_requests:read create_bypass_lane:create",
    "*_without_backup": "delete_without_backup:delete upgrade_without_backup:execute / list_hosts_without_backup:read backup_without_downtime:execute create_backup:create",
    "purge_*": "purge_logs:delete purge_cache:delete db.purgeLogs:delete / purged_items:read search_purge_logs:read spurge_photos:read",
}  # fmt: skip
FORBIDDEN_NAMES = {
    "drop_*": "drop_table:delete drop_database:delete drop_collection:delete DropTable:delete / dropbox_sync:execute list_drop_zones:read airdrop_file:create undrop_table:update",
    "delete_all*": "delete_all:delete delete_all_users:delete force_delete_all:delete / delete_allocation:delete delete_user:delete count_delete_all_calls:read undelete_all:update",
    "truncate_*": "truncate_table:delete db.admin.truncateAll:execute / truncated_preview:read get_truncate_limit:read untruncate_table:update",
    "reset_*": "reset_database:execute reset_to_factory:execute / preset_theme:update check_reset_status:read add_reset_button:create send_reset_email:create",
    "destroy_*": "destroy_environment:delete destroyEnvironment:execute / destroyed_units:read count_destroy_events:read create_destroy_form:create",
    "wipe_*": "wipe_data:delete wipe_device:execute / swipe_card:execute wiped_disks:read get_wipe_report:read",
    "*_production": "deploy_production:execute update_production:update migrateProduction:execute / get_production:read production_report:read deploy_staging:execute list_production:read",
}  # fmt: skip
SAFE_NAMES = {
    "get_*": "get_user:read get_repo:read / forget_user:read getaway_plan:read target_audience:read",
    "list_*": "list_repos:read list_users:read / blacklist_ip:read listen_port:read enlist_member:read",
    "search_*": "search_issues:read / research_grant:read searchlight_on:read",
    "count_*": "count_records:read / discount_order:read countdown_start:read account_open:read",
    "check_*": "check_status:read / checkout_cart:read checkin_guest:read",
    "introspect*": "introspect:read introspect_operations:read introspection:read / inspection_plan:read",
}


def rows(table: dict[str, str], side: int) -> list[tuple[str, str, str]]:
    """(pattern, name, category) of one side of the table."""
    cases = [(glob, case.split(":")) for glob, both in table.items() for case in both.split(" / ")[side].split()]
    return [(glob, name, category) for glob, (name, category) in cases]


def alone(glob: str, level: Level) -> NamePatterns:
    """Only this one pattern."""
    lists = {Level.DANGEROUS: ((glob,), (), ()), Level.FORBIDDEN: ((), (glob,), ()), Level.SAFE: ((), (), (glob,))}
    return NamePatterns(*lists[level])


HARMFUL = [(Level.DANGEROUS, DANGEROUS_NAMES), (Level.FORBIDDEN, FORBIDDEN_NAMES)]
EVERY = [*HARMFUL, (Level.SAFE, SAFE_NAMES)]
CAUGHT = [(level, *row) for level, table in EVERY for row in rows(table, 0)]
SPARED = [(level, *row) for level, table in EVERY for row in rows(table, 1)]


def test_no_printed_pattern_is_without_examples() -> None:
    assert (tuple(DANGEROUS_NAMES), tuple(FORBIDDEN_NAMES), tuple(SAFE_NAMES)) == (DANGEROUS, FORBIDDEN, SAFE)


@pytest.mark.parametrize(("level", "glob", "name", "category"), CAUGHT)
def test_a_pattern_gives_its_level(level: Level, glob: str, name: str, category: str) -> None:
    assert level_from_name(name, category, alone(glob, level)) == NameLevel(level, glob)
    found = assess(operation(name, {}, category)).level
    assert found >= level if level else found is Level.SAFE


@pytest.mark.parametrize(("level", "glob", "name", "category"), SPARED)
def test_a_near_miss_of_a_pattern_is_spared(level: Level, glob: str, name: str, category: str) -> None:
    assert level_from_name(name, category, alone(glob, level)) is None
    if level:
        ordinary = Level.DESTRUCTIVE if category == "delete" else Level.REVERSIBLE
        assert assess(operation(name, {}, category)).level <= ordinary


@each(("level", "glob", "name", "category"), [row for row in CAUGHT if row[0]])
def test_a_level_taken_from_a_name_is_told_with_its_pattern(level: Level, glob: str, name: str, category: str) -> None:
    (notice,) = effective_level(LevelClaims(name, category), level_from_name).warnings
    said = notice.as_json()
    assert list(said) == ["code", "message", "severity", "details"]
    assert (said["code"], said["severity"]) == ("DANGER_LEVEL_INFERRED", "high")
    pattern, word = said["details"]["pattern"], said["details"]["danger_level"]
    assert pattern in (FORBIDDEN if word == "forbidden" else DANGEROUS) and pattern in said["message"]
    assert pattern == glob or word == "forbidden"  # the highest of several counts


@pytest.mark.parametrize(
    "name", ["get_user", "list_repos", "search_issues", "count_records", "check_status", "introspect"]
)
def test_safe_takes_two_signals_that_agree(name: str) -> None:
    for category, level in [("read", Level.SAFE), ("", Level.REVERSIBLE), ("execute", Level.REVERSIBLE)]:
        assert effective_level(LevelClaims(name, category), level_from_name).level is level
        assert assess(operation(name, {}, category)).level is level


# The examples of the five levels as operations: (level, the document's words, name:category, near miss at another level).
OPERATIONS = [
    (0, "List resources", "list_resources:read", "unlist_resource:update"),
    (0, "Get resource details", "get_resource_details:read", "set_resource_details:update"),
    (0, "Search operations", "search_issues:read", "search_and_replace:update"),
    (0, "Introspection queries", "introspect:read", "introspect:execute"),
    (1, "Create a new record", "create_record:create", "delete_record:delete"),
    (1, "Update existing fields", "update_fields:update", "get_fields:read"),
    (1, "Add permissions", "add_permission:create", "remove_permission:delete"),
    (1, "Enable features", "enable_feature:update", "disable_feature:update"),
    (2, "Delete a single resource", "delete_resource:delete", "undelete_resource:update"),
    (2, "Overwrite file contents", "overwrite_file:update", "append_file:update"),
    (2, "Remove permissions", "remove_permission:delete", "list_permissions:read"),
    (2, "Archive resources", "archive_project:update", "unarchive_project:update"),
    (2, "Disable resources", "disable_user:update", "enable_user:update"),
    (3, "Force push", "force_push:execute", "push:execute"),
    (3, "Bulk delete operations", "bulk_delete:delete", "bulk_update:update"),
    (3, "Override safety validations", "override_validation:execute", "run_validation:execute"),
    (3, "Clear audit logs", "clear_audit_logs:delete", "get_audit_logs:read"),
    (4, "Drop database", "drop_database:delete", "create_database:create"),
    (4, "Drop table", "drop_table:delete", "list_tables:read"),
    (4, "Delete all records", "delete_all_records:delete", "delete_record:delete"),
    (4, "Reset to factory state", "reset_to_factory:execute", "get_factory_state:read"),
    (4, "Reset to factory state", "factory_reset:execute", "factory_status:read"),
    (4, "Production data mutations", "update_production:update", "update_staging:update"),
    (4, "Truncate operations", "truncate_table:delete", "describe_table:read"),
]
TIERS = {
    0: {Tier.ADVISORY},
    1: {Tier.ADVISORY, Tier.CONFIRM},
    2: {Tier.CONFIRM},
    3: {Tier.VERIFY},
    4: {Tier.DANGER_ZONE},
}


@each(("level", "words", "caught", "spared"), OPERATIONS)
def test_an_operation_has_the_level_that_the_document_gives_it(
    level: int, words: str, caught: str, spared: str
) -> None:
    name, category = caught.split(":")
    found = assess(operation(name, {}, category))
    assert found.level == level and found.tier in TIERS[level]
    name, category = spared.split(":")
    other = assess(operation(name, {}, category)).level
    assert other > level if level == 0 else other != level and other <= max(level, 2)


# The same examples announced in words: (level, hint, near miss at most reversible).
INTENTS = [
    (0, "list the repositories of acme", ""),
    (0, "get the details of repository acme/widgets", ""),
    (0, "search the issues for crash reports", ""),
    (0, "introspect the operations of the adapter", ""),
    (1, "create a new record in the customers table", ""),
    (1, "update the phone field of customer 42", ""),
    (1, "add write permission for alice on repo widgets", ""),
    (1, "enable the dark mode feature for user 42", ""),
    (2, "delete customer record 42", "undelete customer record 42"),
    (2, "remove alice's write permission on repo widgets", "list alice's permissions on repo widgets"),
    (2, "disable the account of user bob", "enable the account of user bob"),
    (3, "force push my branch over main", "push my branch to origin"),
    (3, "bulk delete the inactive users", "count the inactive users"),
    (3, "override the safety validation and submit anyway", "run the safety validation before submitting"),
    (3, "clear the audit logs", "read the audit logs"),
    (4, "drop the customers database", "back up the customers database"),
    (4, "drop the orders table", "describe the orders table"),
    (4, "delete all records of the users table", "count all records of the users table"),
    (4, "truncate the orders table", "truncate the title to 40 characters"),
]


@each(("level", "hint", "spared"), INTENTS)
def test_an_announced_example_has_its_level(level: int, hint: str, spared: str) -> None:
    assert assess(intent(hint)).level == level
    if spared:
        assert assess(intent(spared)).level <= Level.REVERSIBLE


# The loop's own hints: five good ones are judged by what they say, three poor ones are asked about (C-45).
GOOD_HINTS = [
    (
        "calling write_file on project/config.json to update database URL",
        1,
        "calling delete_file on project/config.json",
    ),
    ("executing shell command: npm install express", 1, "executing shell command: rm -rf ~"),
    (
        "sending message to #general channel via Slack MCP server",
        1,
        "deleting the #general channel via Slack MCP server",
    ),
    ("deleting all records from staging_users table via database MCP server", 4, ""),
    ("reading /etc/passwd to check user configuration", 0, "overwriting /etc/passwd to change user configuration"),
]
POOR_HINTS = [
    ("doing something", "running the unit tests of the parser"),
    ("writing a file", "writing the changelog entry to docs/CHANGES.md"),
    ("running a command", "running the command `git status`"),
]


@pytest.mark.parametrize(("hint", "level", "worse"), GOOD_HINTS)
def test_a_good_hint_is_judged_by_what_it_says(hint: str, level: int, worse: str) -> None:
    found = assess(intent(hint))
    assert found.level == level
    assert found.tier is (Tier.DANGER_ZONE if level == 4 else Tier.ADVISORY)
    if worse:
        assert assess(intent(worse)).level > max(level, 1)
    else:
        assert assess(intent("counting all records from staging_users table via database MCP server")).level == 0


@pytest.mark.parametrize(("poor", "detailed"), POOR_HINTS)
def test_a_poor_hint_is_asked_about_and_its_detailed_twin_is_not(poor: str, detailed: str) -> None:
    found = assess(intent(poor))
    assert found.tier is not Tier.ADVISORY and any("detail" in factor for factor in found.factors)
    assert assess(intent(detailed)).tier is Tier.ADVISORY
