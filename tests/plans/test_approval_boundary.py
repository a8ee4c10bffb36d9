"""The absolute rule of seed 004: no AI-generated command runs without an explicit approval of that exact text."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from browsers import add_passkey, enter_with_passkey
from interlock.approvals import answers
from interlock.engine.statistics import figures_of
from interlock.error_codes import AnswerRefused
from interlock.plans import planning, running
from interlock.plans.releasing import PlanConsent, PlanHeld
from interlock.policy.policy import MODES
from interlock.web.wire import wire_state
from planner_desk import PlannerDesk, consent_to


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[PlannerDesk]:
    made = PlannerDesk(tmp_path)
    yield made
    running.stop_all(made.state)
    made.close()


def made(gate: PlannerDesk) -> list[str]:
    """What commands left behind."""
    return sorted(path.name for path in gate.here.iterdir())


def test_no_generated_command_runs_without_an_explicit_approval_of_that_exact_text(gate: PlannerDesk) -> None:
    """★ Every way past a yes to exactly this text, one after the other; then the yes."""
    plan = gate.plan("touch one")
    other = gate.plan("touch two")
    mark, good = plan.reviewed.mark, consent_to(plan)
    ways = [
        PlanConsent(plan.command, "", True),  # no mark
        PlanConsent(plan.command, mark[:-1] + ("1" if mark[-1] == "0" else "0"), True),  # a forged one
        PlanConsent(plan.command, other.reviewed.mark, True),  # another plan's
        PlanConsent("touch three", mark, True),  # another text under this mark
        PlanConsent("touch one; touch three", mark, True),
        PlanConsent("touch one ", mark, True),  # another blank
        replace(good, understood=False),  # the box
    ]
    for way in ways:
        with pytest.raises((AnswerRefused, PlanHeld)):
            running.start(gate.state, gate.by, plan.id, way)
        with pytest.raises((AnswerRefused, PlanHeld)):
            running.release_to_terminal(gate.state, gate.by, plan.id, way)
    gate.add("bo")
    with pytest.raises(AnswerRefused, match="of yours"):
        running.start(gate.state, gate.sign_in("bo"), plan.id, good)  # somebody else's plan
    assert made(gate) == [] and gate.row(plan).status == "planned"
    assert gate.run(plan).status == "success"
    assert made(gate) == ["one"]


def test_a_yes_is_good_for_one_run(gate: PlannerDesk) -> None:
    plan = gate.plan("touch one; echo x >> count")
    gate.run(plan)
    with pytest.raises(AnswerRefused, match="it runs once"):
        running.start(gate.state, gate.by, plan.id, consent_to(plan))
    assert (gate.here / "count").read_text() == "x\n"


def test_of_many_yeses_at_once_one_runs(gate: PlannerDesk) -> None:
    plan = gate.plan("echo x >> count")
    refused = []

    def press() -> None:
        try:
            running.start(gate.state, gate.by, plan.id, consent_to(plan))
        except AnswerRefused as error:
            refused.append(error)

    work = [threading.Thread(target=press) for _ in range(8)]
    for one in work:
        one.start()
    for one in work:
        one.join()
    gate.ended(plan)
    assert len(refused) == 7 and (gate.here / "count").read_text() == "x\n"


def test_editing_takes_every_yes_back(gate: PlannerDesk) -> None:
    plan = gate.plan("touch one")
    after = planning.edit(gate.state, gate.by, plan.id, "touch one && rm -rf ./data")
    assert (plan.reviewed.risk.word, after.reviewed.risk.word) == ("medium", "high")
    for way in (
        consent_to(plan),
        PlanConsent(after.command, plan.reviewed.mark, True),
        PlanConsent(plan.command, after.reviewed.mark, True),
    ):
        with pytest.raises(AnswerRefused, match="not the text that was shown"):
            running.start(gate.state, gate.by, plan.id, way)
    with pytest.raises(AnswerRefused, match=r"tick the box first: I understand the risks of this high-risk command\."):
        running.start(gate.state, gate.by, plan.id, consent_to(after, understood=False))
    assert made(gate) == []


def test_what_runs_is_what_was_edited_not_what_was_generated(gate: PlannerDesk) -> None:
    plan = gate.plan("touch generated")
    after = planning.edit(gate.state, gate.by, plan.id, "touch edited")
    row = gate.run(after)
    assert made(gate) == ["edited"] and (row.generated, row.command) == ("touch generated", "touch edited")


def test_a_second_tab_with_the_old_text_runs_nothing(gate: PlannerDesk) -> None:
    plan = gate.plan("touch one")
    planning.edit(gate.state, gate.by, plan.id, "touch two")
    with pytest.raises(AnswerRefused):
        running.start(gate.state, gate.by, plan.id, consent_to(plan))
    assert made(gate) == []


def test_a_script_that_changed_since_it_was_shown_is_looked_at_again(gate: PlannerDesk) -> None:
    script = gate.here / "go.sh"
    script.write_text("echo harmless\n")
    gate.state.plans.files = lambda path: Path(path).read_text() if Path(path).is_file() else None
    plan = gate.plan("bash go.sh")
    script.write_text("rm -rf ./everything\n")
    with pytest.raises(AnswerRefused, match="has changed since it was shown"):
        running.start(gate.state, gate.by, plan.id, consent_to(plan))
    assert gate.state.plans.of(gate.by.operator, plan.id).reviewed.risk.word == "high"


def test_rules_that_changed_since_it_was_shown_ask_again(gate: PlannerDesk) -> None:
    plan = gate.plan("touch one")
    plan = gate.state.plans.put(replace(plan, reviewed=replace(plan.reviewed, mark="0" * 64)))
    with pytest.raises(AnswerRefused, match="has changed since it was shown"):
        running.start(gate.state, gate.by, plan.id, consent_to(plan))


@pytest.mark.parametrize("setting", [True, False])
def test_high_risk_always_has_its_box_and_medium_as_the_setting_says(tmp_path: Path, setting: bool) -> None:
    gate = PlannerDesk(tmp_path, plan={"confirmMediumRisk": setting})
    medium, high = gate.plan("touch one"), gate.plan("rm -rf ./none")
    with pytest.raises(AnswerRefused, match="high-risk"):
        running.start(gate.state, gate.by, high.id, consent_to(high, understood=False))
    if setting:
        with pytest.raises(AnswerRefused, match="medium-risk"):
            running.start(gate.state, gate.by, medium.id, consent_to(medium, understood=False))
    else:
        assert gate.run(medium, understood=False).status == "success"
    assert gate.run(gate.plan("true"), understood=False).status == "success"  # low: at once
    gate.close()


def test_what_is_dangerous_also_needs_the_gate(gate: PlannerDesk) -> None:
    plan = gate.plan("rm -rf /home/nobody-7f3/photos; touch one")
    with pytest.raises(PlanHeld) as held:
        running.start(gate.state, gate.by, plan.id, consent_to(plan))
    assert held.value.ticket is not None and made(gate) == []
    cookie = replace(gate.by, cookie=True, fresh_at=0.0)  # a signed-in browser alone
    with pytest.raises(AnswerRefused, match=r"fresh sign-in|does not approve"):
        answers.approve(gate.state, cookie, held.value.ticket.id)
    answers.approve(gate.state, gate.sign_in(), held.value.ticket.id)
    assert gate.run(plan).status == "success" and made(gate) == ["one"]


def test_an_approval_of_one_plan_is_not_good_for_another_text(gate: PlannerDesk) -> None:
    plan, other = gate.plan("rm -rf /home/nobody-7f3/photos"), gate.plan("rm -rf /home/nobody-7f3/music")
    with pytest.raises(PlanHeld) as held:
        running.start(gate.state, gate.by, plan.id, consent_to(plan))
    assert held.value.ticket is not None
    answers.approve(gate.state, gate.sign_in(), held.value.ticket.id)
    with pytest.raises(PlanHeld):
        running.start(gate.state, gate.by, other.id, consent_to(other))


def test_a_signed_in_browsers_yes_is_the_confirmation_of_what_is_destructive_and_no_more(gate: PlannerDesk) -> None:
    """Level 2: the box and Run are the person's confirmation. Level 3: a cookie alone leads to a ticket."""
    gate.by = enter_with_passkey(gate, add_passkey(gate)).visitor.session
    plan = gate.plan("git reset --hard HEAD~3; touch one")
    assert plan.reviewed.assessment.level.word == "destructive" and gate.by.cookie
    assert gate.run(plan).status == "success" and made(gate) == ["one"]
    assert [row.event for row in gate.records("approve")] == ["approve"]
    worse = gate.plan("rm -rf /home/nobody-7f3/photos")
    with pytest.raises(PlanHeld):
        running.start(gate.state, gate.by, worse.id, consent_to(worse))


@pytest.mark.parametrize("mode", MODES)
def test_what_nobody_may_approve_never_runs(gate: PlannerDesk, mode: str) -> None:
    gate.state.enforce(mode=mode)
    plan = gate.plan("mkfs.ext4 /dev/sdz", risk="low", flags={})
    for run in (running.start, running.release_to_terminal):
        with pytest.raises(PlanHeld, match=r"(?i)nobody may approve"):
            run(gate.state, gate.by, plan.id, consent_to(plan))
    assert gate.row(plan).status == "planned"


def test_the_ticket_of_a_plan_that_ran_is_executed(gate: PlannerDesk) -> None:
    """However it ended, and wherever it ran; the figures count it."""
    ends = {"git reset --hard; true": "success", "git reset --hard; false": "failure"}
    for number, (command, status) in enumerate(ends.items(), 1):
        row = gate.run(gate.plan(command))
        ticket = gate.state.store.read(lambda tx, id=row.ticket: tx.ticket(id))
        assert row.status == status and wire_state(ticket) == "executed" and ticket.outcome == status
        assert figures_of(gate.state).executed == number
    plan = gate.plan("git reset --hard")
    running.release_to_terminal(gate.state, gate.by, plan.id, consent_to(plan))
    running.end_at_terminal(gate.state, gate.by, plan.id, 0)
    assert figures_of(gate.state).executed == 3


def test_an_agents_approval_machinery_frees_no_plan_and_a_plans_frees_no_agent(gate: PlannerDesk) -> None:
    """A ticket is bound to who asked: the same text by an agent is another one."""
    from interlock.model import command

    text = "rm -rf /home/nobody-7f3/photos"
    theirs = gate.held(command(text, str(gate.here)))
    answers.approve(gate.state, gate.sign_in(), theirs.id)
    plan = gate.plan(text)
    with pytest.raises(PlanHeld):
        running.start(gate.state, gate.by, plan.id, consent_to(plan))


def test_a_secret_that_was_taken_out_has_to_be_put_back(gate: PlannerDesk) -> None:
    first = gate.plan("curl -H 'Authorization: Bearer sk-live-abcdef0123456789abcdef' http://127.0.0.1:9/")
    assert "sk-live" not in gate.row(first).command
    again = planning.rerun(gate.state, gate.by, first.id)
    with pytest.raises(AnswerRefused, match="put it back in"):
        running.start(gate.state, gate.by, again.id, consent_to(again))


def test_a_rerun_goes_through_review_like_a_new_plan(gate: PlannerDesk) -> None:
    plan = gate.plan("touch one")
    gate.run(plan)
    again = planning.rerun(gate.state, gate.by, plan.id)
    assert again.id != plan.id and again.status == "planned" and again.reviewed.mark != plan.reviewed.mark
    for way in (consent_to(plan), consent_to(again, understood=False)):
        with pytest.raises(AnswerRefused):
            running.start(gate.state, gate.by, again.id, way)
    assert gate.run(again).status == "success"


def test_after_a_restart_nothing_that_was_agreed_to_counts(gate: PlannerDesk) -> None:
    plan = gate.plan("touch one")
    gate.restart()
    gate.by = gate.sign_in()
    with pytest.raises(AnswerRefused, match="ask again"):
        running.start(gate.state, gate.by, plan.id, consent_to(plan))
    assert made(gate) == [] and gate.row(plan).status == "planned"


def test_what_ran_is_on_the_record_with_its_yes(gate: PlannerDesk) -> None:
    gate.run(gate.plan("touch one"))
    begun, ended = gate.records("plan")[-1].body, gate.records("plan_end")[-1].body
    assert '"understood":true' in begun.replace(" ", "") and "touch one" in begun
    assert '"status":"success"' in ended.replace(" ", "")
