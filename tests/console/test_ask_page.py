"""Ask in this process: who may be offered what, what the gate's notice says, and which planner answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from browser_window import signed_in_window
from console_visitor import ConsoleVisitor, page_text, visit_console
from daemons import PASSPHRASE
from interlock.approvals import answers
from interlock.config.plans import PlannerSettings
from interlock.identity.operators import sign_in
from interlock.plans import planning, running
from interlock.plans.planner_choice import PlannerOffer
from interlock.plans.planners.mock import Mock
from interlock.plans.releasing import PlanConsent, PlanHeld
from interlock.ports import Planner, PortListener
from interlock.runtime.plan_desk import ReviewedPlan
from planner_desk import ScriptedPlanner

ASK, SETTINGS = "/console/ask", "/console/settings"
DANGEROUS = "rm -rf /home/nobody-7f3/photos; true"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleVisitor]:
    with visit_console(tmp_path_factory.mktemp("ask"), policy={"use": "default"}) as found:
        yield found
        running.stop_all(found.app.state)


@pytest.fixture
def open_choice(here: ConsoleVisitor) -> Iterator[None]:
    """Somebody listens where Ollama would, and nobody has chosen."""

    def opened(settings: PlannerSettings) -> Planner:
        return Mock()

    plans = here.app.state.plans
    before = plans.planner
    plans.planner, plans.offer = (
        None,
        PlannerOffer(PlannerSettings(), opened, lambda url: PortListener(998, "<b>ollama")),
    )
    yield
    plans.planner, plans.offer = before, None
    here.app.state.store.write(lambda tx: tx.save_setting("planner", ""))


def planned(here: ConsoleVisitor, command: str) -> ReviewedPlan:
    state = here.app.state
    state.plans.planner = ScriptedPlanner({"command": command})
    return planning.make_plan(state, sign_in(state, "ana", PASSPHRASE, "test")[1], "do something", "/tmp")


def shown(here: ConsoleVisitor, plan: ReviewedPlan) -> str:
    return here.page(f"{ASK}?plan={quote(plan.id)}")


def held(here: ConsoleVisitor, plan: ReviewedPlan) -> str:
    session = sign_in(here.app.state, "ana", PASSPHRASE, "test")[1]
    with pytest.raises(PlanHeld) as error:
        running.start(here.app.state, session, plan.id, PlanConsent(plan.command, plan.reviewed.mark, True))
    assert error.value.ticket is not None
    return error.value.ticket.id


@pytest.mark.parametrize(
    ("command", "box", "button"),
    [
        ("ls", False, "Run Plan</button>"),
        ("touch x", True, "Run Plan</button>"),
        (DANGEROUS, True, "Run Plan with passkey…</button>"),
        ("mkfs.ext4 /dev/sdz", False, ""),
        ("dd if=/dev/zero of=/dev/sda", False, ""),
    ],
)
@pytest.mark.parametrize("mode", ["enforcing", "monitoring"])
def test_a_plan_offers_what_can_be_answered_and_no_more(
    here: ConsoleVisitor, monkeypatch: pytest.MonkeyPatch, mode: str, command: str, box: bool, button: str
) -> None:
    in_force = replace(here.app.state.in_force, mode=mode)
    monkeypatch.setattr(here.app.state, "in_force", in_force)
    page = shown(here, planned(here, command))
    assert ("data-understood" in page) is box
    assert ("data-go" in page) is bool(button) and ("Nobody may approve this" in page) is not button
    if mode == "enforcing":
        assert button in page
    assert page.index("data-risk") < page.index("data-command")  # what it risks stands first


def test_the_gate_says_no_only_where_somebody_did(here: ConsoleVisitor) -> None:
    plan = planned(here, DANGEROUS)
    ticket = held(here, plan)
    assert "The gate holds this" in shown(here, plan)
    _, bo = sign_in(here.app.state, "bo", PASSPHRASE, "test")
    answers.reject(here.app.state, bo, ticket, "not today")
    assert "bo said no: not today" in page_text(shown(here, plan))


def test_above_a_success_nothing_is_held_or_refused(here: ConsoleVisitor) -> None:
    plan = planned(here, "git reset --hard HEAD~3; true")
    session = sign_in(here.app.state, "ana", PASSPHRASE, "test")[1]
    running.start(here.app.state, session, plan.id, PlanConsent(plan.command, plan.reviewed.mark, True))
    assert here.app.state.plans.processes[plan.id].wait(30)
    page = shown(here, plan)
    assert "data-gate" not in page and "says no" not in page and "data-go" not in page


@pytest.mark.usefixtures("open_choice")
def test_an_admin_chooses_the_planner_on_the_page_that_needs_it(here: ConsoleVisitor) -> None:
    assert "Your requests are sent there." in here.said(ASK) and "A program of the user <b>ollama listens" in here.said(
        ASK
    )
    assert "not chosen yet" in here.said(SETTINGS) and "<b>ollama" not in here.page(SETTINGS)
    done = here.window.form(f"{SETTINGS}/planner", {"use": "mock", "back": "ask"})
    assert done.headers["location"] == f"{ASK}?said=planner"
    assert "the built-in planner answers" in here.said(ASK) and "Chosen by ana" in here.said(SETTINGS)
    assert here.window.form(f"{SETTINGS}/planner", {"use": "oracle"}).status_code == 422


@pytest.mark.usefixtures("open_choice")
def test_whoever_may_not_choose_is_told_who_may(here: ConsoleVisitor) -> None:
    window, _ = signed_in_window(here.app, "bo")
    assert "an admin chooses one in Settings" in page_text(window.get(ASK).text)
    assert window.form(f"{SETTINGS}/planner", {"use": "mock"}).status_code == 403


def test_settings_say_how_ask_is_set_up(here: ConsoleVisitor, tmp_path: Path) -> None:
    said = here.said(SETTINGS)
    assert "Confirm medium risk yes" in said and "Command time limit" in said
