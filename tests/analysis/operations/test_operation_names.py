"""Hints that call an operation by its name are judged as that operation; hints that only name one are spared."""

from __future__ import annotations

from cases import each
from interlock import assess
from interlock.analysis.operations.names import is_operation, may_be_operation
from interlock.analysis.read import read
from interlock.model import intent, operation, tool
from interlock.policy.evaluate import level_words
from interlock.policy.match_names import match_names
from interlock.policy.patterns import Glob, hits

# Each stands for the operation of that name: whichever way it is written or called, the level is the same.
SPELLED = {
    "drop_table": ["drop_table", "dropTable", "DropTable", "drop-table", "DROP_TABLE", "Drop_Table", "DROP-TABLE"],
    "drop_database": ["drop_database", "mcp__MongoDB__drop-database", "db.drop_database", "DropDatabase"],
    "delete_all_users": ["DeleteAllUsers", "deleteAllUsers", "delete-all-users", "admin.deleteAllUsers"],
    "destroy_environment": ["destroy_environment", "destroy-environment", "destroyEnvironment"],
    "delete_repository": ["delete-repository", "mcp__github__delete_repository", "github.delete_repository"],
    "terminate_instances": ["TerminateInstances", "ec2:TerminateInstances", "terminate-instances"],
    "reset_database": ["reset_database", "reset-database", "resetDatabase"],
    "purge_queue": ["purge_queue", "purge-queue", "PurgeQueue"],
}
AROUND = [
    "{}", "{} orders in staging", "{} on staging", "calling {} on app", "I will call {} for acme", "run {}", "Next: {} orders", "next step: {}",
    "use the {} tool on orders", "the next action is {}", "tool: {}", "operation={} target=orders", "{}(orders)", "{}('orders')",
    '{{"tool":"{}","target":"orders"}}', '{{"tool":"{}",…}}', '{{"name": "{}", "arguments": {{"target": "orders"}}}}', "calling `{}` on app",
    "1. {} orders", "- {} orders", "please {} orders", "list_tables and {} orders", "list_tables, then {} orders", "invoking the operation {} with x=1",
    "call the tool named {}", "about to execute {}", "{} orders en staging", "try {} on app",
]  # fmt: skip
NAMED = [
    "rename drop_table to remove_table in the code", "I'm renaming drop_table to remove_table", "change drop_table to remove_table in migrations",
    "replace drop_table with archive_rows in the docs", "open drop_table.sql", "edit src/delete_user.py to add logging",
    "do not call drop_table", "never run drop_database on prod", "avoid calling delete-repository", "without calling drop_table",
    "rather than drop_table I'll list the tables", "drop_table is not allowed here", "drop_table is deprecated",
    "drop_table removes a table and its rows", "drop_table should ask for confirmation", "delete_user endpoint returns 500",
    "the delete_user endpoint needs tests", "what does drop_table do?", "should I call drop_table?", "explain what drop-database does",
    "document the delete-repository operation", "write unit tests for deleteAllUsers", "add a docstring to drop_table",
    "add drop_table to the deny list", "block drop_table in the policy", "forbid drop_table and delete_all", "grep for drop_table in src",
    "find calls to drop_table", "review the delete-repository workflow", "fix the bug in deleteAllUsers", "style the delete-account button",
    "implement the DeleteUser mutation", "mock drop_table in the tests", "check whether drop_table was called",
    "compare drop_table and truncate_table", "drop_table vs truncate_table", "list the tools: drop_table, delete_user",
    "drop_table failed, looking at the logs", "the agent called drop_table yesterday", "drop_duplicates from the dataframe",
    "drop-in replacement for lodash", "fix the drop-down menu", "lock-file conflicts in the repo", "DeleteUserDialog renders twice",
    "the env var DELETE_TOKEN is missing", "drop_table appears in three files", "purge_interval = 60", "kill_timeout setting to 30",
    "ask the user before calling drop_table", "alert when drop_table is used",
]  # fmt: skip
HARMLESS = [
    "get_deleted_items", "getDeletedItems", "list-deleted-users", "undelete_table orders", "undeleteTable orders", "create_force_field",
    "add_reset_button to page", "list_dropped_tables in staging", "restore_deleted_file notes.txt", "get_production_status",
]  # fmt: skip


@each(("name", "spelled"), [(name, spelled) for name, every in SPELLED.items() for spelled in every])
def test_a_hint_that_calls_an_operation_is_judged_as_that_operation(name: str, spelled: str) -> None:
    level = assess(operation(name, {})).level
    assert level >= 3 and assess(operation(spelled, {})).level == assess(tool(spelled, {})).level == level
    hints = [around.format(spelled) for around in AROUND]
    wrong = [hint for hint in hints if assess(intent(hint)).level < level]
    assert not wrong, wrong


@each("name", ["purge", "queue.purge", "purge_cache", "queue-purge", "PurgeEdge"])
def test_purging_is_dangerous_whatever_is_purged(name: str) -> None:
    assert int(assess(operation(name, {})).level) == int(assess(tool(name, {})).level) == 3
    assert int(assess(intent(f"calling {name} on the edge")).level) == 3


@each(("hint", "level"), [
    ('{"method": "tools/call", "params": {"name": "drop_table", "arguments": {"table": "orders"}}}', 4),
    ('{"type": "tool_use", "name": "delete_repository", "input": {"repo": "acme/web"}}', 3),
    ('{"tool_calls": [{"function": {"name": "drop_table", "arguments": "{}"}}]}', 4),
    ('{"tool": "Bash", "input": {"command": "rm -rf ~"}}', 4),
    ('next call: {"tool": "run_sql", "sql": "DROP TABLE users"}', 4),
    ('{"tool": "write_file", "path": "/etc/passwd", "content": "x"}', 3),
    ('{"action": "delete", "resource": "database"}', 4),
    ('{"hint": "drop the orders table"}', 4),
    ('{"operation": "delete_user", "params": {"id": 5}}', 2),
    ('{"tool": "delete_users", "dry_run": true}', 1),
    ('{"tool": "list_tables"}', 1),
    ('write {"tool": "drop_table"} to fixtures/call.json', 1),
    ('do not send {"tool": "drop_table"}', 0),
    ('what does {"tool": "drop_table"} do?', 0),
])  # fmt: skip
def test_a_hint_that_is_a_call_in_JSON_is_judged_as_that_call(hint: str, level: int) -> None:
    assert int(assess(intent(hint)).level) == level


@each("hint", [*NAMED, *HARMLESS])
def test_a_hint_that_only_names_an_operation_is_spared(hint: str) -> None:
    assert int(assess(intent(hint)).level) <= 1


@each("hint", NAMED)
def test_a_deny_pattern_meets_no_operation_that_is_only_named(hint: str) -> None:
    action = intent(hint)
    assert not hits([Glob.of("drop_*"), Glob.of("delete_*")], match_names(action, read(action).facts))


@each("hint", ["drop-table orders", "DropTable(orders)", "use the dropTable tool", '{"tool":"drop_table"}'])
def test_a_deny_pattern_meets_an_operation_in_any_style(hint: str) -> None:
    action = intent(hint)
    assert hits([Glob.of("drop_*")], match_names(action, read(action).facts))


@each("hint", [
    "use the payment system", "start the storybook", "take the database", "do the usual on the orders table", "größe",
    "die Einleitung der README umschreiben", "list_tables in staging", "hello world",
])  # fmt: skip
def test_C_01_a_hint_that_nothing_matches_is_reversible(hint: str) -> None:
    assert int(assess(intent(hint)).level) == 1


@each(
    "word",
    [
        "order",
        "Delete",
        "long-term",
        "read-only",
        "drop-in",
        "README",
        "src/app.py",
        "v1.2",
        "DeleteButton",
        "e.g",
    ],
)
def test_other_words_name_no_operation(word: str) -> None:
    assert not may_be_operation(word) and not is_operation(word)


@each(("hint", "part"), [
    ("list the files and then drop the orders table", "drop the orders table"),
    ("drop the orders table and then list the files", "drop the orders table"),
    ("read the config, then delete all users", "delete all users"),
    ("run tests and drop_table orders", "drop_table orders"),
    ("check the logs; call drop_table on orders; then report", "call drop_table on orders"),
    ("back up the database, then wipe the disk and email the team", "wipe the disk"),
    ("list_tables, then list_tables again, then drop_table orders", "drop_table orders"),
    ('first list_tables, then {"tool": "drop_table"}', '{"tool": "drop_table"}'),
    ("list the files, then run rm -rf /srv/data and report", "rm -rf /srv/data"),
    ("run `git push --force origin main` after the tests pass", "git push --force origin main"),
])  # fmt: skip
def test_the_reason_of_a_compound_hint_names_the_harmful_part(hint: str, part: str) -> None:
    found = assess(intent(hint))
    worst = found.findings[0]
    assert worst.subject == part and worst.span is not None and hint[slice(*worst.span)] == part
    assert f'"{part}"' in level_words(found)


def test_the_reason_of_a_hint_that_says_one_thing_is_not_told_twice() -> None:
    assert '"' not in level_words(assess(intent("I will drop the orders table.")))


def test_a_secret_in_the_harmful_part_is_not_in_the_reason() -> None:
    found = assess(
        intent("list the files, then delete all users with the token ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    )
    assert "ghp_16" not in level_words(found)
