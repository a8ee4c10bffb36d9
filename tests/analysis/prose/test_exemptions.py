"""R-26: an operator's list of safe names lowers these names and no others, and no payload."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from cases import each
from gate import Gate
from interlock.adapters.levels import level_from_name
from interlock.analysis.assess import judge
from interlock.analysis.operations.name_patterns import NamePatterns
from interlock.analysis.rules import Rulebook
from interlock.analysis.rules.load import load
from interlock.model import Action, Assessment, intent, operation, tool

LISTED = ("drop_cache", "reset_demo_*", "purgeSandbox")
PATTERNS = NamePatterns.configured(safe=LISTED)


@cache
def rules() -> Rulebook:
    return replace(load(), patterns=PATTERNS)


def judged(action: Action) -> Assessment:
    return judge(action, rules()).assessment


@each("action", [
    operation("drop_cache", {}), operation("dropCache", {"id": 5}), operation("drop-cache", {}), tool("mcp__edge__drop_cache", {}),
    tool("drop_cache", {}), intent("calling drop_cache on the edge"), intent("drop-cache"), intent("run reset_demo_data for the trade fair"),
    operation("reset_demo_data", {}), operation("purge_sandbox", {}), operation("drop_cache", {}, "delete"),
])  # fmt: skip
def test_a_listed_name_is_safe_and_says_why(action: Action) -> None:
    found = judged(action)
    assert int(found.level) == 0
    assert any("danger_patterns.safe" in factor for factor in found.factors), found.factors


@each(("action", "level"), [
    (operation("drop_cache_table", {}), 4), (operation("force_drop_cache", {}), 3), (operation("reset_database", {}), 4),
    (operation("demo_reset_all", {}), 2), (operation("drop_c\u0430che", {}), 3), (intent("drop_cache_tables in staging"), 4),
    (intent("drop_cache and drop_table orders"), 4), (operation("drop_cache", {"command": "rm -rf ~"}), 4),
    (tool("drop_cache", {"sql": "DROP TABLE users"}), 4), (operation("get_and_delete_users", {}), 2),
])  # fmt: skip
def test_other_names_and_every_payload_keep_their_level(action: Action, level: int) -> None:
    assert int(judged(action).level) >= level


def test_the_shipped_list_lowers_nothing_and_a_file_that_was_shown_means_the_same() -> None:
    assert NamePatterns().exempt == NamePatterns.configured(safe=NamePatterns().safe, replace=True).exempt == ()
    assert PATTERNS.exempt == LISTED


def test_an_adapter_is_told_the_same() -> None:
    found = level_from_name("drop_cache", "", PATTERNS)
    assert found is not None and int(found.level) == 0 and found.pattern == "drop_cache"


def test_the_gate_lets_a_listed_name_pass_unless_somebody_registered_a_pattern_for_it(tmp_path: Path) -> None:
    listed: dict[str, Any] = {"danger_patterns": {"safe": ["drop_table"]}}
    wire = {"id": "ours", "pattern": "drop_table", "category": "data_deletion", "severity": "critical"}
    for more, allowed in (({}, True), ({"registry": {"pattern": [wire]}}, False)):
        gate = Gate(tmp_path / str(allowed), **listed, **more)
        assert gate.ask(operation("drop_table", {})).allowed is allowed
        gate.close()
