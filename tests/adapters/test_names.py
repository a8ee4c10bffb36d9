"""The specified name patterns as levels: highest wins, readers and things merely named after a deed are spared."""

from __future__ import annotations

from typing import Any

import pytest

from cases import each
from interlock.adapters.levels import NameLevel, call_facts, level_from_name
from interlock.analysis.operations.name_patterns import DANGEROUS, FORBIDDEN, NamePatterns
from interlock.model import Level


@each(("glob", "level"), [(g, Level.DANGEROUS) for g in DANGEROUS] + [(g, Level.FORBIDDEN) for g in FORBIDDEN])
def test_every_pattern_has_its_level(glob: str, level: Level) -> None:
    name = glob.replace("_*", "_things").replace("*_", "archive_").replace("*", "_things")
    assert level_from_name(name, "execute") == NameLevel(level, glob), name


@pytest.mark.parametrize(
    ("name", "category", "level"),
    [
        ("force_delete_all", "delete", NameLevel(Level.FORBIDDEN, "delete_all*")),  # also force_*: the highest counts
        ("force_reset_router", "execute", NameLevel(Level.FORBIDDEN, "reset_*")),
        ("set_force_permanently", "update", NameLevel(Level.DANGEROUS, "*_permanently")),  # force is what is set
        ("get_user", "read", NameLevel(Level.SAFE, "get_*")),
        ("introspect", "read", NameLevel(Level.SAFE, "introspect*")),
        ("list_drop_zones", "read", NameLevel(Level.SAFE, "list_*")),
        ("get_production", "read", NameLevel(Level.SAFE, "get_*")),
        ("create_force_field", "create", None),
        ("delete_repo", "delete", None),
        ("", "", None),
    ],
)
def test_names_and_near_misses(name: str, category: str, level: NameLevel | None) -> None:
    assert level_from_name(name, category) == level


def test_configured_patterns_count() -> None:
    mine = NamePatterns.configured(forbidden=["defenestrate_*"])
    assert level_from_name("defenestrate_user", "execute", mine) == NameLevel(Level.FORBIDDEN, "defenestrate_*")


@each(
    ("name", "params", "facts"),
    [
        ("sync_record", {"id": 7}, ""),
        ("sync_record", {"id": 7, "environment": "staging"}, ""),
        ("sync_record", {"id": 7, "environment": "production"}, "production_env"),
        ("sync_production", {"id": 7}, "production_env"),
        ("sync_preproduction", {"id": 7}, ""),
        ("sync_record", {"ids": "*"}, "bulk_operation"),
        ("sync_records", {}, "bulk_operation"),
        ("sync_records", {"id": 7}, ""),
        ("sync_all_records", {"id": 7}, "bulk_operation"),
        ("delete_record", {"ids": list(range(50))}, "bulk_operation"),
        ("sync_record", {"id": 7, "backup": False}, "no_backup"),
        ("sync_record", {"id": 7, "skip_backup": True}, "no_backup"),
        ("sync_record", {"id": 7, "backup": True}, ""),
        ("wipe_records", {"env": "prod", "backup": False}, "production_env bulk_operation no_backup"),
    ],
)
def test_the_facts_of_a_score_are_those_of_the_call(name: str, params: dict[str, Any], facts: str) -> None:
    assert [fact for fact, true in call_facts(name, params).items() if true] == facts.split()
