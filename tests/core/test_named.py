"""The specified name patterns as levels: highest wins, readers and things merely named after a deed are spared."""

from __future__ import annotations

import pytest

from interlock.core.model import Level
from interlock.core.named import named_level
from interlock.core.read.name_patterns import DANGEROUS, FORBIDDEN, Patterns


@pytest.mark.parametrize(
    ("glob", "level"), [(g, Level.DANGEROUS) for g in DANGEROUS] + [(g, Level.FORBIDDEN) for g in FORBIDDEN]
)
def test_every_pattern_has_its_level(glob: str, level: Level) -> None:
    name = glob.replace("_*", "_things").replace("*_", "archive_").replace("*", "_things")
    assert named_level(name, "execute") is level, name


@pytest.mark.parametrize(
    ("name", "category", "level"),
    [
        ("force_delete_all", "delete", Level.FORBIDDEN),
        ("get_user", "read", Level.SAFE),
        ("introspect", "read", Level.SAFE),
        ("list_drop_zones", "read", Level.SAFE),
        ("get_production", "read", Level.SAFE),
        ("create_force_field", "create", None),
        ("delete_repo", "delete", None),
        ("", "", None),
    ],
)
def test_names_and_near_misses(name: str, category: str, level: Level | None) -> None:
    assert named_level(name, category) is level


def test_configured_patterns_count() -> None:
    mine = Patterns.configured(forbidden=["defenestrate_*"])
    assert named_level("defenestrate_user", "execute", mine) is Level.FORBIDDEN
