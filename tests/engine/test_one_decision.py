"""The same action gets the same answer from everybody who decides or asks what would be decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from gate import Gate
from interlock.agents import AgentCall, Event
from interlock.analysis.rules.load import load_files
from interlock.audit.search import is_attempt
from interlock.cli.judge.rehearse.rehearsal import rehearse_call
from interlock.console.pages.try_ import trial_answer, try_action
from interlock.engine.assessment import Unjudged
from interlock.engine.evaluate import quick
from interlock.engine.fallback import judge_calls
from interlock.engine.preview import failed_cases, preview
from interlock.engine.replay import AGREES, CANNOT, replay_record
from interlock.model import Action, AgentRef, Kind
from interlock.plans import review
from interlock.policy.real_paths import OwnAssets
from interlock.records import AuditQuery
from interlock.runtime import Request

RULES = Path(__file__).parents[2] / "src/interlock/analysis/rules"
MOST = 2_000


@cache
def actions() -> tuple[Action, ...]:
    """Actions that the shipped rules must catch or spare, evenly from all of them."""
    rules = load_files(sorted(RULES.glob("*.toml"))).rules.values()
    found = {repr(action): action for rule in rules for action in (*rule.match, *rule.spare)}
    step = max(1, len(found) // MOST)
    return tuple(found.values())[::step][:MOST]


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    found = Gate(tmp_path_factory.mktemp("one") / "state")
    found.enrol()
    found.state.enforce(own_assets=OwnAssets())  # its folder is in /tmp, where some of the actions work
    yield found
    found.close()


@pytest.fixture(scope="module")
def explained(gate: Gate) -> list[tuple[Action, str]]:
    found = [(action, preview(action, gate.state.in_force)) for action in actions()]
    return [(action, "" if isinstance(answer, Unjudged) else answer.outcome) for action, answer in found]


@pytest.fixture(scope="module")
def decided(gate: Gate) -> list[tuple[Action, str]]:
    """The engine's own answers to every third action, each of an agent that it sees for the first time."""
    agents = (AgentRef(f"uid:{20_000 + number}", "claude", f"s{number}") for number in range(MOST))
    return [(action, gate.ask(action, next(agents)).outcome) for action in actions()[::3]]


def tried(gate: Gate, action: Action) -> str:
    return trial_answer(gate.state, try_action(gate.state, action), gate.state.policy).outcome


def rehearsed(gate: Gate, action: Action) -> str | None:
    answer = rehearse_call(action, gate.state.in_force)
    assert not isinstance(answer, Unjudged), answer
    return answer.outcome if answer.question is None else None  # a rehearsal supposes that everything is lost


def reviewed(gate: Gate, action: Action) -> str | None:
    if action.kind is not Kind.COMMAND:
        return None
    found = review(gate.state, "p1", action.text, action.cwd, None)
    return "deny" if found.denies else found.asked.word


def at_once(gate: Gate, action: Action) -> str | None:
    found = quick(gate.state, Request(action, AgentRef("uid:1", "claude", "s"), "test"))
    return found.outcome if found is not None else None


def without_a_daemon(gate: Gate, action: Action) -> str | None:
    call = AgentCall("Bash", {}, action, frozenset({"command"}))
    found = judge_calls(Event("before", "PreToolUse", (call,)), gate.config)
    return "allow" if found.verdict.word == "allow" else None  # it denies what would be asked about


@pytest.mark.parametrize(
    ("caller", "step"),
    [(tried, 1), (rehearsed, 1), (reviewed, 1), (at_once, 1), (without_a_daemon, 20)],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_whoever_asks_gets_the_same_answer(
    gate: Gate, explained: list[tuple[Action, str]], caller: Callable[[Gate, Action], str | None], step: int
) -> None:
    answers = [(action.text, caller(gate, action), answer) for action, answer in explained[::step]]
    assert [one for one in answers if one[1] is not None and one[1] != one[2]] == []
    assert sum(said is not None for _, said, _ in answers) > len(answers) / 5


def test_the_engine_decides_as_it_explains(
    decided: list[tuple[Action, str]], explained: list[tuple[Action, str]]
) -> None:
    assert [(said, answer) for said, answer in zip(decided, explained[::3], strict=True) if said != answer] == []
    assert {"allow", "confirm", "verify", "block"} <= {said for _, said in decided}


def test_a_policy_answers_its_cases_as_the_engine_decides(gate: Gate, decided: list[tuple[Action, str]]) -> None:
    words = {Kind.COMMAND: "command", Kind.INTENT: "hint", Kind.TOOL: "tool"}
    cases = [
        {words[action.kind]: action.text, "cwd": action.cwd, "input": action.fields.get("input", {}), "expect": said}
        for action, said in decided
        if action.kind in words
    ]
    assert failed_cases(replace(gate.state.policy, cases=tuple(cases)), gate.state.rules) == []


def test_every_record_is_decided_again_as_it_was(gate: Gate, decided: list[tuple[Action, str]]) -> None:
    gate.state.recorder.flush()
    rows = gate.store.read(lambda tx: tx.audit(AuditQuery(limit=MOST)))
    state = gate.state
    found = [replay_record(row, state.in_force) for row in rows if is_attempt(row)]
    assert len(found) >= len(decided) and {one.verdict for one in found} <= {AGREES, CANNOT}
    assert sum(one.verdict == AGREES for one in found) > 0.99 * len(found)
