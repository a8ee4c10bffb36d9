"""Plans and workflows come back as they were kept, in whichever store, and are found by their words."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from interlock.model import Level
from interlock.ports import Store
from interlock.records.plans import PlanQuery, PlanRow, Workflow
from stored_records import NOW


def row(id: str, **more: Any) -> PlanRow:
    values: dict[str, Any] = {"intent": f"intent of {id}", "generated": "ls", "command": "ls -la", "status": "planned"}
    return PlanRow(id, "ana", more.pop("made_at", NOW), **(values | more))


def found(store: Store, **query: Any) -> list[str]:
    return [one.id for one in store.read(lambda tx: tx.plans(PlanQuery(**query)))]


def test_every_field_of_a_plan_comes_back_and_saving_again_changes_it(store: Store) -> None:
    full = row(
        "p", cwd="/x", risk="high", level=Level.DANGEROUS, planner="mock", place="daemon", details={"a": ["\0", "ünï"]}, ticket="t",
        workflow="w", step=3, started_at=NOW + 1.5, ended_at=NOW + 2, exit_code=137, output="out\0 \ud800", cut=True, writer="main",
    )  # fmt: skip
    store.write(lambda tx: tx.save_plan(full))
    assert store.read(lambda tx: tx.plan("p")) == full
    store.write(lambda tx: tx.save_plan(replace(full, status="success")))
    assert store.read(lambda tx: tx.plan("p")) == replace(full, status="success")
    assert store.read(lambda tx: tx.plan("nobody")) is None


def test_plans_are_found_newest_first_by_words_status_operator_and_time(store: Store) -> None:
    rows = [row(f"p{at}", made_at=NOW + at, command=f"cat 50%_of_{at}!") for at in range(3)]
    rows += [replace(row("other", made_at=NOW + 9, status="success"), operator="bo")]
    for one in rows:
        store.write(lambda tx, one=one: tx.save_plan(one))
    assert found(store) == ["other", "p2", "p1", "p0"]
    assert found(store, limit=2) == ["other", "p2"] and found(store, before=NOW + 2) == ["p1", "p0"]
    assert found(store, status="success") == ["other"] and found(store, operator="ana") == ["p2", "p1", "p0"]
    assert found(store, text="50%_OF_1!") == ["p1"] and found(store, text="INTENT OF P2") == ["p2"]
    assert (
        found(store, text="%") == ["p2", "p1", "p0"]
        and found(store, text="50_") == []
        and found(store, text="'; --") == []
    )


def test_workflows_come_back_by_name_until_they_are_removed(store: Store) -> None:
    flow = Workflow("w1", "morning", ({"command": "ls", "cwd": "/"},), True, "ana", NOW, {"mark": "m", "runs": "3"})
    other = replace(flow, id="w2", name="evening", stop_on_failure=False, frozen={})
    for one in (flow, other):
        store.write(lambda tx, one=one: tx.save_workflow(one))
    assert store.read(lambda tx: tx.workflow("w1")) == flow
    assert [one.name for one in store.read(lambda tx: tx.workflows())] == ["evening", "morning"]
    store.write(lambda tx: tx.save_workflow(replace(flow, removed_at=NOW + 1)))
    assert store.read(lambda tx: tx.workflow("w1")) is None
    assert [one.id for one in store.read(lambda tx: tx.workflows())] == ["w2"]
