"""Which planner answers is a person's choice: nobody who merely listens on a port is told what people ask."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from interlock.config.plans import PlannerSettings
from interlock.error_codes import AnswerRefused
from interlock.plans import planner_choice, planning
from interlock.plans.planner_choice import PlannerOffer, listener_at
from interlock.ports import Planner, PlannerReply, PortListener
from planner_desk import PlannerDesk

OLLAMA, STRANGER = PortListener(998, "ollama"), PortListener(1666, "mallory")


class Opened:
    """A planner that says which settings it was opened with."""

    def __init__(self, settings: PlannerSettings) -> None:
        self.settings = settings

    def plan(self, intent: str, context: Mapping[str, Any]) -> PlannerReply:
        return PlannerReply({"command": "true"}, f"{self.settings.use} {self.settings.model}")


class Port:
    """Who listens where Ollama would."""

    def __init__(self) -> None:
        self.now: PortListener | None = None

    def __call__(self, url: str) -> PortListener | None:
        return self.now


@pytest.fixture
def port() -> Port:
    return Port()


@pytest.fixture
def gate(tmp_path: Path, port: Port) -> Iterator[PlannerDesk]:
    made = PlannerDesk(tmp_path)
    made.state.plans.offer = PlannerOffer(PlannerSettings(), _opened, port)
    yield made
    made.close()


def _opened(settings: PlannerSettings) -> Planner:
    return Opened(settings)


def asked(gate: PlannerDesk) -> str:
    return planning.make_plan(gate.state, gate.by, "list files", str(gate.here)).planner


def refusal(gate: PlannerDesk) -> str:
    with pytest.raises(AnswerRefused) as error:
        asked(gate)
    assert error.value.code == "PLANNER_NOT_CHOSEN"
    return str(error.value)


def test_while_nobody_listens_there_is_nothing_to_choose(gate: PlannerDesk) -> None:
    assert asked(gate) == "auto llama3.2" and planner_choice.planner_state(gate.state).use == "mock"


def test_whoever_listens_is_asked_nothing_until_somebody_chose_it(gate: PlannerDesk, port: Port) -> None:
    port.now = OLLAMA
    assert "user ollama answers at http://127.0.0.1:11434" in refusal(gate) and "interlock ask --planner" in refusal(
        gate
    )
    planner_choice.choose(gate.state, gate.by, "ollama", "qwen3")
    assert asked(gate) == "auto qwen3"
    gate.restart()  # it is asked once
    gate.state.plans.offer, gate.by = PlannerOffer(PlannerSettings(), _opened, port), gate.sign_in()
    assert asked(gate) == "auto qwen3"
    assert json.loads(gate.records("planner_change")[0].body)["use"] == "ollama"


def test_a_stranger_who_takes_the_place_of_what_was_chosen_is_told_nothing(gate: PlannerDesk, port: Port) -> None:
    port.now = OLLAMA
    planner_choice.choose(gate.state, gate.by, "ollama")
    port.now = STRANGER
    assert "user mallory answers" in refusal(gate) and "not the program that ann chose" in refusal(gate)
    assert planner_choice.planner_state(gate.state).use == ""
    for there in (PortListener(0, "root"), OLLAMA, None):
        port.now = there
        assert asked(gate)


def test_chosen_before_it_was_started_it_has_to_be_this_users_own(gate: PlannerDesk, port: Port) -> None:
    planner_choice.choose(gate.state, gate.by, "ollama")
    port.now = STRANGER
    assert refusal(gate)
    port.now = PortListener(os.getuid(), "ann")
    assert asked(gate)


def test_the_built_in_planner_is_a_choice_too(gate: PlannerDesk, port: Port) -> None:
    port.now = STRANGER
    planner_choice.choose(gate.state, gate.by, "mock")
    assert asked(gate) == "mock llama3.2"


@pytest.mark.parametrize("text", ["x", "[]", '{"use":"ollama"}', '{"use":"ollama","model":"","owner":1666,"by":"ann","at":1,"seal":"00"}', '{"use":"ollama","model":"","owner":1666,"by":"ann","at":1,"seal":"é"}'])  # fmt: skip
def test_a_choice_that_somebody_wrote_into_the_store_is_none(gate: PlannerDesk, port: Port, text: str) -> None:
    port.now = STRANGER
    gate.store.write(lambda tx: tx.save_setting(planner_choice.SETTING, text))
    assert refusal(gate)


def test_only_an_admin_chooses_and_only_what_there_is(gate: PlannerDesk) -> None:
    gate.add("bo")
    with pytest.raises(AnswerRefused, match="no admin"):
        planner_choice.choose(gate.state, gate.sign_in("bo"), "mock")
    with pytest.raises(AnswerRefused, match="choose one of ollama, mock"):
        planner_choice.choose(gate.state, gate.by, "oracle")
    gate.state.plans.offer = None
    with pytest.raises(AnswerRefused, match=r"planner\.use"):
        planner_choice.choose(gate.state, gate.by, "mock")


@pytest.mark.parametrize(
    ("given", "asks"),
    [
        ({}, True),
        ({"model": "qwen3"}, True),
        ({"host": "http://127.0.0.1:11434/"}, True),
        ({"use": "ollama"}, False),
        ({"use": "mock"}, False),
        ({"host": "http://10.0.0.7:11434"}, False),  # named by whoever wrote the file
    ],
)
def test_a_configuration_that_names_a_planner_is_the_choice(tmp_path: Path, given: dict[str, str], asks: bool) -> None:
    gate = PlannerDesk(tmp_path, planner=given)
    assert gate.config.planner.open is asks
    gate.close()


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_the_kernel_says_whose_program_listens(family: socket.AddressFamily) -> None:
    host = "127.0.0.1" if family == socket.AF_INET else "::1"
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        try:
            listening.bind((host, 0))
        except OSError:
            pytest.skip("there is no such address here")
        listening.listen(1)
        url = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        found = listener_at(url)
    assert found is not None and found.uid == os.getuid() and found.user
    assert listener_at(url) is None
