"""What was kept and what an undo does is said in words, and comes out of JSON as it went in, or not at all."""

from __future__ import annotations

import json

import pytest

from interlock import snapshots
from interlock.snapshots import PruneResult, SnapshotSummary, TakenSnapshot, UndoChange, UndoPlan, UndoResult

ID, OTHER = "u_abcdefghij", "u_2222222222"


def test_words_say_what_was_kept_and_how_to_have_it_back() -> None:
    assert TakenSnapshot(ID, "d" * 64, 312, 4_100_000).words == f"kept 312 files, 4.1 MB: interlock undo {ID}"
    assert TakenSnapshot(ID, "d" * 64, 1, 1, ("x can be regenerated",)).words.endswith(" (x can be regenerated)")
    assert snapshots.no_snapshot(ID, "it is too large").words == "no snapshot was taken: it is too large"
    assert not TakenSnapshot(ID).verified and not TakenSnapshot(ID, "d" * 64, problem="no").verified


@pytest.mark.parametrize(
    ("value", "out", "back"),
    [
        (TakenSnapshot(ID, "d" * 64, 3, 4, ("note",), ""), snapshots.snapshot_json, snapshots.parse_snapshot),
        (UndoPlan(ID, (UndoChange("/a\udcff", "create", True, "-a\n+b"),), 1, 1, ("say",), ""), snapshots.undo_plan_json, snapshots.parse_undo_plan),
        (UndoResult(ID, OTHER, "e" * 64, (UndoChange("refs/heads/x", "ref"),), 1, False, "", ("say",)), snapshots.undo_result_json, snapshots.parse_undo_result),
        (SnapshotSummary(ID, 1.5, "d" * 64, 3, 4, ("/a",)), snapshots.summary_json, snapshots.parse_summary),
        (PruneResult((ID,), 9, "problem"), snapshots.prune_result_json, snapshots.parse_prune_result),
    ],
)  # fmt: skip
def test_everything_comes_out_as_it_went_in(value: object, out: object, back: object) -> None:
    assert back(json.loads(json.dumps(out(value)))) == value  # type: ignore[operator]


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
        snapshots.parse_snapshot(body)
