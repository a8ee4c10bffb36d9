"""What was kept and what an undo does is said in words, and comes out of JSON as it went in, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import to_builtins

from interlock import snapshots
from interlock.snapshots import PruneResult, TakenSnapshot, UndoChange, UndoPlan, UndoResult, parse_answer

ID, OTHER = "u_abcdefghij", "u_2222222222"


def test_words_say_what_was_kept_and_how_to_have_it_back() -> None:
    assert TakenSnapshot(ID, "d" * 64, 312, 4_100_000).words == f"kept 312 files, 4.1 MB: interlock undo {ID}"
    assert TakenSnapshot(ID, "d" * 64, 1, 1, ("x can be regenerated",)).words.endswith(" (x can be regenerated)")
    assert snapshots.no_snapshot(ID, "it is too large").words == "no snapshot was taken: it is too large"
    assert not TakenSnapshot(ID).verified and not TakenSnapshot(ID, "d" * 64, problem="no").verified


@pytest.mark.parametrize(
    "value",
    [
        TakenSnapshot(ID, "d" * 64, 3, 4, ("note",), ""),
        UndoPlan(ID, (UndoChange("/a\udcff", "create", True, "-a\n+b"),), 1, 1, ("say",), ""),
        UndoResult(ID, OTHER, "e" * 64, (UndoChange("refs/heads/x", "ref"),), 1, False, "", ("say",)),
        PruneResult((ID,), 9, "problem"),
    ],
)
def test_everything_comes_out_as_it_went_in(value: Any) -> None:
    assert parse_answer(json.loads(json.dumps(to_builtins(value))), type(value)) == value


def test_what_a_child_says_at_length_is_cut() -> None:
    said = {"id": ID, "problem": "x" * 1_000, "changes": [{"path": "/a", "what": "create", "diff": "y" * 30_000}] * 600}
    found = parse_answer(said, UndoPlan)
    assert (len(found.problem), len(found.changes), len(found.changes[0].diff)) == (400, 500, 20_000)


@pytest.mark.parametrize(
    "name", ["", "u_", "../../etc/x", "u_ABCDEFGHIJ", "u_abcdefghi", "u_abcdefghijk", "u_abcdefgh/1", 7, None]
)
def test_no_other_name_becomes_that_of_a_file(name: object) -> None:
    with pytest.raises(ValueError):
        snapshots.parse_snapshot_id(name)


@pytest.mark.parametrize(
    "body", [{}, {"id": ID, "files": -1}, {"id": ID, "files": "3"}, {"id": ID, "bytes": 1.5}, {"id": "x"}]
)
def test_a_child_that_answers_nonsense_has_kept_nothing(body: dict[str, object]) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        parse_answer(body, TakenSnapshot)
