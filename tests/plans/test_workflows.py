"""Workflows: each step is reviewed, the first failure stops, and a frozen whole asks again when anything drifts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from interlock.approvals import answers
from interlock.error_codes import AnswerRefused
from interlock.plans import running, workflows
from interlock.plans.releasing import PlanConsent
from interlock.plans.workflows import OpenWorkflow
from interlock.records.plans import Workflow
from planner_desk import PlannerDesk, consent_to, until


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[PlannerDesk]:
    made = PlannerDesk(tmp_path)
    made.state.plans.files = lambda path: Path(path).read_text() if Path(path).is_file() else None
    yield made
    running.stop_all(made.state)
    made.close()


def saved(gate: PlannerDesk, *commands: str, stops: bool = True) -> Workflow:
    steps = [{"command": text, "cwd": str(gate.here)} for text in commands]
    return workflows.save(gate.state, gate.by, "flow", steps, stops)


def said(opened: OpenWorkflow, understood: bool = True) -> list[tuple[str, PlanConsent]]:
    return [(plan.id, consent_to(plan, understood)) for plan in opened.plans]


def ran(gate: PlannerDesk, flow: workflows.RunningWorkflow) -> tuple[str, list[str]]:
    until(lambda: flow.status != "running")
    return flow.status, flow.statuses


def names(gate: PlannerDesk) -> list[str]:
    return sorted(path.name for path in gate.here.iterdir())


def opened(gate: PlannerDesk, flow: Workflow) -> OpenWorkflow:
    return workflows.open_steps(gate.state, gate.by, flow.id)


def test_all_steps_run_after_a_yes_to_each(gate: PlannerDesk) -> None:
    flow = saved(gate, "touch one", "ls", "touch two")
    found = workflows.start_run(gate.state, gate.by, flow.id, said(opened(gate, flow)))
    assert ran(gate, found) == ("success", ["success"] * 3) and names(gate) == ["one", "two"]
    with pytest.raises(AnswerRefused, match="it runs once"):
        workflows.start_run(gate.state, gate.by, flow.id, [(plan.id, consent_to(plan)) for plan in found.plans])


@pytest.mark.parametrize(("stops", "left"), [(True, ["one"]), (False, ["one", "two"])])
def test_a_failure_stops_it_if_it_says_so(gate: PlannerDesk, stops: bool, left: list[str]) -> None:
    flow = saved(gate, "touch one", "false", "touch two", stops=stops)
    status, _ = ran(gate, workflows.start_run(gate.state, gate.by, flow.id, said(opened(gate, flow))))
    assert status == "failure" and names(gate) == left


def test_a_saved_workflow_skips_no_box_and_no_step(gate: PlannerDesk) -> None:
    flow = saved(gate, "ls", "touch one", "touch two")
    steps = said(opened(gate, flow))
    unticked = [(id, replace(one, understood=False)) for id, one in steps]
    other = [(steps[0][0], replace(steps[0][1], command="touch evil")), *steps[1:]]
    for wrong in (unticked, steps[:2], steps[1:], steps[::-1], [*steps, steps[0]], other, []):
        with pytest.raises(AnswerRefused):
            workflows.start_run(gate.state, gate.by, flow.id, wrong)
    assert names(gate) == []


def test_steps_of_one_workflow_are_no_yes_to_another(gate: PlannerDesk) -> None:
    flow = saved(gate, "ls")
    other = workflows.save(gate.state, gate.by, "other", [{"command": "ls", "cwd": str(gate.here)}])
    with pytest.raises(AnswerRefused, match="not the steps of this workflow"):
        workflows.start_run(gate.state, gate.by, other.id, said(opened(gate, flow)))


def test_a_dangerous_step_holds_the_whole_before_anything_runs(gate: PlannerDesk) -> None:
    flow = saved(gate, "touch one", "rm -rf /home/nobody-7f3/photos", "touch two")
    first = opened(gate, flow)
    with pytest.raises(workflows.StepsHeld) as held:
        workflows.start_run(gate.state, gate.by, flow.id, said(first))
    assert [at for at, _ in held.value.held] == [2] and names(gate) == []
    ticket = held.value.held[0][1].ticket
    assert ticket is not None
    answers.approve(gate.state, gate.sign_in(), ticket.id)
    assert ran(gate, workflows.start_run(gate.state, gate.by, flow.id, said(first)))[0] == "success"
    assert names(gate) == ["one", "two"]


def frozen(gate: PlannerDesk, flow: Workflow, runs: int = 2) -> OpenWorkflow:
    return workflows.freeze(gate.state, gate.sign_in(), flow.id, said(opened(gate, flow)), runs, 1)


def begin(gate: PlannerDesk, found: OpenWorkflow) -> workflows.RunningWorkflow:
    return workflows.start_run(gate.state, gate.by, found.workflow.id, said(found, understood=False), found.mark)


def test_a_frozen_workflow_takes_one_yes_as_often_as_it_was_said(gate: PlannerDesk) -> None:
    flow = saved(gate, "touch one", "git reset --hard; echo x >> count")
    found = frozen(gate, flow)
    assert found.frozen and not found.drifted
    for _ in range(2):
        ran(gate, begin(gate, opened(gate, flow)))
    assert (gate.here / "count").read_text() == "x\nx\n"
    third = opened(gate, flow)
    assert not third.frozen and third.drifted
    with pytest.raises(AnswerRefused, match="not what was frozen"):
        begin(gate, third)


def test_windows_that_begin_it_at_once_share_the_runs_that_were_said(gate: PlannerDesk) -> None:
    flow = saved(gate, "echo x >> count")
    frozen(gate, flow, runs=1)
    first, second = opened(gate, flow), opened(gate, flow)
    taken = workflows.find(gate.state, flow.id)
    workflows.take_run(gate.state, gate.by, taken)  # what another window did since this one looked
    with pytest.raises(AnswerRefused, match="changed just now"):
        workflows.take_run(gate.state, gate.by, taken)
    for one in (first, second):
        with pytest.raises(AnswerRefused):
            begin(gate, one)
    assert names(gate) == []


def test_a_run_does_not_bring_back_a_workflow_that_was_taken_away(gate: PlannerDesk) -> None:
    flow = saved(gate, "touch one")
    frozen(gate, flow)
    seen = workflows.find(gate.state, flow.id)
    workflows.remove(gate.state, gate.by, flow.id)
    with pytest.raises(AnswerRefused, match="changed just now"):
        workflows.take_run(gate.state, gate.by, seen)
    assert workflows.list_workflows(gate.state) == []


def test_freezing_takes_every_box(gate: PlannerDesk) -> None:
    flow = saved(gate, "touch one")
    with pytest.raises(AnswerRefused, match="tick the box"):
        workflows.freeze(gate.state, gate.by, flow.id, said(opened(gate, flow), understood=False), 1, 1)
    assert not opened(gate, flow).frozen


def test_freezing_a_dangerous_step_in_a_browser_takes_a_touch_for_exactly_that(gate: PlannerDesk) -> None:
    flow = saved(gate, "rm -rf /home/nobody-7f3/photos")
    cookie = replace(gate.sign_in(), cookie=True, fresh_at=0.0)
    with pytest.raises(AnswerRefused, match="exactly these terms"):
        workflows.freeze(gate.state, cookie, flow.id, said(opened(gate, flow)), 1, 1)
    assert frozen(gate, flow).frozen


def test_a_script_that_drifts_after_the_freeze_asks_again(gate: PlannerDesk) -> None:
    (gate.here / "go.sh").write_text("touch one\n")
    flow = saved(gate, "bash go.sh")
    found = frozen(gate, flow)
    (gate.here / "go.sh").write_text("touch evil\n")
    with pytest.raises(AnswerRefused, match="has changed since it was shown"):
        begin(gate, found)  # opened before it drifted
    later = opened(gate, flow)
    assert later.drifted and not later.frozen
    with pytest.raises(AnswerRefused, match="not what was frozen"):
        begin(gate, later)
    assert names(gate) == ["go.sh"]


def test_a_step_that_was_edited_in_the_database_asks_again(gate: PlannerDesk) -> None:
    flow = saved(gate, "touch one")
    found = frozen(gate, flow)
    kept = workflows.find(gate.state, flow.id)
    evil = replace(kept, steps=({**kept.steps[0], "command": "touch evil"},))
    gate.store.write(lambda tx: tx.save_workflow(evil))
    with pytest.raises(AnswerRefused, match="not what was frozen"):
        begin(gate, found)
    assert opened(gate, flow).drifted and names(gate) == []


def test_nobody_elses_freeze_counts_and_none_after_its_time(gate: PlannerDesk) -> None:
    flow = saved(gate, "touch one")
    frozen(gate, flow)
    gate.add("bo")
    assert not workflows.open_steps(gate.state, gate.sign_in("bo"), flow.id).frozen
    gate.clock.forward(2 * 86_400)
    gate.by = gate.sign_in()
    assert not opened(gate, flow).frozen


def test_cancelling_ends_the_step_and_begins_no_other(gate: PlannerDesk) -> None:
    flow = saved(gate, "sleep 600", "touch two")
    found = workflows.start_run(gate.state, gate.by, flow.id, said(opened(gate, flow)))
    until(lambda: found.plans[0].id in gate.state.plans.processes)
    workflows.cancel_run(gate.state, gate.by, flow.id)
    assert ran(gate, found)[0] == "interrupted" and names(gate) == []


@pytest.mark.parametrize(
    ("name", "commands", "words"),
    [
        ("", ["ls"], "a name of"),
        ("x" * 81, ["ls"], "a name of"),
        ("x", [], "1 to 20 steps"),
        ("x", ["ls"] * 21, "1 to 20 steps"),
        ("x", ["ls", " "], "no command"),
        ("x", ["curl -u ana:hunter2-very-secret-9 http://127.0.0.1:9"], "has a secret in it"),
    ],
)
def test_what_cannot_be_kept_as_it_is_is_refused(gate: PlannerDesk, name: str, commands: list[str], words: str) -> None:
    with pytest.raises(AnswerRefused, match=words):
        workflows.save(gate.state, gate.by, name, [{"command": text, "cwd": str(gate.here)} for text in commands])


def test_a_workflow_is_found_by_name_and_gone_when_it_is_removed(gate: PlannerDesk) -> None:
    flow = saved(gate, "ls")
    with pytest.raises(AnswerRefused, match="already"):
        saved(gate, "pwd")
    assert workflows.find(gate.state, "FLOW").id == flow.id
    workflows.remove(gate.state, gate.by, flow.id)
    assert workflows.list_workflows(gate.state) == []
    with pytest.raises(AnswerRefused, match="no workflow"):
        opened(gate, flow)
