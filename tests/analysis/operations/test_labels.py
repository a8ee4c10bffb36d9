"""What an operation is called never excuses what it is given to run; text that is only looked at is not run."""

from __future__ import annotations

from typing import Any

from cases import each
from interlock import assess
from interlock.model import operation, tool

RUN: list[tuple[str, dict[str, Any]]] = [
    ("find_rows", {"sql": "DELETE FROM users"}),
    ("search_files", {"command": "rm -rf ~"}),
    ("mcp__db__search", {"sql": "DROP TABLE users"}),
    ("mcp__db__search", {"query": "DROP TABLE users"}),
    ("check_rows", {"sql": "DELETE FROM users"}),
    ("describe_table", {"sql": "DROP TABLE users"}),
    ("preview_rows", {"sql": "DELETE FROM users"}),
    ("lookup_user", {"statement": "TRUNCATE users"}),
    ("print_report", {"command": "rm -rf ~"}),
    ("record_rows", {"sql": "DELETE FROM users"}),
    ("list_files", {"command": "rm -rf ~"}),
    ("search", {"sql": "DROP TABLE users"}),
    ("Grep", {"pattern": "x", "command": "rm -rf ~"}),
    ("read_file", {"path": "notes.md", "command": "rm -rf ~"}),
    ("WebFetch", {"url": "https://example.com", "command": "rm -rf ~"}),
]
LOOKED_AT: list[tuple[str, dict[str, Any]]] = [
    ("explain_query", {"sql": "DELETE FROM users"}),
    ("SQLFormatter", {"sql": "DROP TABLE users"}),
    ("sql.linter", {"sql": "DELETE FROM users"}),
    ("validate_sql", {"sql": "DROP TABLE users"}),
    ("format_sql", {"sql": "DROP TABLE users"}),
    ("check_syntax", {"sql": "DROP TABLE users"}),
    ("preview_migration", {"sql": "DROP TABLE users"}),
    ("review_code", {"code": "rm -rf ~"}),
    ("search_code", {"query": "DROP TABLE users"}),
    ("search_docs", {"query": "DROP TABLE users"}),
    ("web_search", {"query": "DELETE FROM users"}),
    ("save_snippet", {"command": "rm -rf ~"}),
    ("log_command", {"command": "rm -rf ~"}),
    ("find_rows", {"sql": "SELECT * FROM users"}),
    ("Grep", {"pattern": "rm -rf /"}),
]


@each(("name", "given"), RUN)
def test_a_name_excuses_no_payload(name: str, given: dict[str, Any]) -> None:
    for action in (operation(name, given, "read"), operation(name, given), tool(name, given)):
        assert int(assess(action).level) == 4, action


@each(("name", "given"), LOOKED_AT)
def test_text_that_is_only_looked_at_is_not_run(name: str, given: dict[str, Any]) -> None:
    for action in (operation(name, given, "read"), operation(name, given), tool(name, given)):
        assert int(assess(action).level) <= 1, action
