"""Which level an operation has: unlabelled never below reversible, lowering only where somebody is trusted."""

from __future__ import annotations

import pytest

from cases import each
from interlock.adapters.conditions import compile_condition
from interlock.adapters.danger import ConditionalLevel, DangerBlock
from interlock.adapters.levels import LevelClaims, NameLevel, effective_level
from interlock.model import Level, Trust

SAFE, REVERSIBLE, DESTRUCTIVE, DANGEROUS, FORBIDDEN = Level
UNTESTED, GENERATED, VALIDATED, REVIEWED, CERTIFIED = Trust
NAMES = {"get_": SAFE, "force_": DANGEROUS, "drop_": FORBIDDEN}


def named(name: str, category: str) -> NameLevel | None:
    return next((NameLevel(level, f"{start}*") for start, level in NAMES.items() if name.startswith(start)), None)


def claims(name: str, category: str, level: Level | None = None, mapped: Level | None = None) -> LevelClaims:
    return LevelClaims(name, category, DangerBlock(level) if level is not None else None, mapped)


@each(
    ("name", "category", "level", "source"),
    [
        ("get_user", "read", SAFE, "category and name"),
        ("users", "read", REVERSIBLE, "default"),
        ("get_user", "", REVERSIBLE, "default"),
        ("get_user", "create", REVERSIBLE, "category"),
        ("get_user", "delete", DESTRUCTIVE, "category"),
        ("add_user", "create", REVERSIBLE, "category"),
        ("edit_user", "update", REVERSIBLE, "category"),
        ("rm_user", "delete", DESTRUCTIVE, "category"),
        ("run", "execute", REVERSIBLE, "category"),
        ("run", "unheard_of", REVERSIBLE, "default"),
        ("force_push", "execute", DANGEROUS, "name"),
        ("force_push", "read", DANGEROUS, "name"),
        ("drop_table", "delete", FORBIDDEN, "name"),
    ],
)
def test_an_unlabelled_operation_has_what_category_and_name_imply(
    name: str, category: str, level: Level, source: str
) -> None:
    found = effective_level(claims(name, category), named)
    assert (found.level, found.source) == (level, source)


def test_a_level_taken_from_the_name_is_told() -> None:
    (notice,) = effective_level(claims("drop_table", "delete"), named).warnings
    assert notice.code == "DANGER_LEVEL_INFERRED" and notice.severity == "high"
    assert notice.message == "drop_table declares no danger level; its name implies forbidden (drop_*)"
    assert notice.as_json()["details"] == {"pattern": "drop_*", "danger_level": "forbidden"}
    for name, category in [("rm_user", "delete"), ("get_user", "read"), ("add_user", "create")]:
        assert effective_level(claims(name, category), named).warnings == ()


@pytest.mark.parametrize("trust", list(Trust))
def test_anybody_may_raise(trust: Trust) -> None:
    for name, category in [("get_user", "read"), ("force_push", "execute"), ("rm", "delete")]:
        found = effective_level(claims(name, category, FORBIDDEN), named, trust)
        assert (found.level, found.source, found.warnings) == (FORBIDDEN, "declared", ())


@pytest.mark.parametrize(
    ("name", "category", "said", "trust", "level", "code"),
    [
        ("force_sync", "execute", SAFE, UNTESTED, DANGEROUS, "DANGER_LEVEL_KEPT"),
        ("force_sync", "execute", SAFE, GENERATED, DANGEROUS, "DANGER_LEVEL_KEPT"),
        ("force_sync", "execute", SAFE, VALIDATED, SAFE, "DANGER_LEVEL_LOWERED"),
        ("force_sync", "execute", SAFE, CERTIFIED, SAFE, "DANGER_LEVEL_LOWERED"),
        ("drop_cache", "delete", SAFE, GENERATED, FORBIDDEN, "DANGER_LEVEL_KEPT"),
        ("drop_cache", "delete", SAFE, CERTIFIED, DESTRUCTIVE, "DANGER_LEVEL_LOWERED"),
        ("drop_cache", "delete", DANGEROUS, VALIDATED, DANGEROUS, "DANGER_LEVEL_LOWERED"),
        ("rm", "delete", REVERSIBLE, UNTESTED, DESTRUCTIVE, "DANGER_LEVEL_KEPT"),
        ("rm", "delete", REVERSIBLE, VALIDATED, REVERSIBLE, "DANGER_LEVEL_LOWERED"),
        ("run", "", SAFE, UNTESTED, REVERSIBLE, "DANGER_LEVEL_KEPT"),
        ("users", "read", SAFE, UNTESTED, SAFE, ""),  # an explicit word is enough for a read
    ],
)
def test_lowering_takes_trust_and_a_forbidden_name_keeps_destructive(
    name: str, category: str, said: Level, trust: Trust, level: Level, code: str
) -> None:
    found = effective_level(claims(name, category, said), named, trust)
    assert (found.level, "".join(notice.code for notice in found.warnings)) == (level, code)


def test_a_request_that_deletes_is_destructive_wherever_it_stands() -> None:
    found = effective_level(claims("get_user", "read", mapped=DESTRUCTIVE), named)
    assert (found.level, found.source) == (DESTRUCTIVE, "maps_to")
    kept = effective_level(claims("get_user", "read", SAFE, mapped=DESTRUCTIVE), named)
    assert kept.level is DESTRUCTIVE and kept.warnings[0].code == "DANGER_LEVEL_KEPT"


def test_parameters_count_where_they_are_known() -> None:
    case = ConditionalLevel(compile_condition("params.count > 100"), DANGEROUS, "Bulk")
    bulk = LevelClaims("rm", "delete", DangerBlock(DESTRUCTIVE, conditions=(case,)))
    assert effective_level(bulk, named).level is DESTRUCTIVE
    found = effective_level(bulk, named, variables={"params": {"count": 101}})
    assert (found.level, found.source, found.reasons) == (DANGEROUS, "conditions[0]", ("Bulk",))
