"""What is remembered of a text: its judgement, and what that weighed as long as nothing else is different."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from cases import each
from gate import AGENT, Gate
from interlock.engine.evaluate import Request, evaluate, quick
from interlock.model import Action, command, operation, tool
from interlock.policy.circumstances import Circumstances
from interlock.policy.evaluate import evaluate_policy
from interlock.runtime import recall

EVERYDAY = command("npm install", "/home/dev/app")


def test_what_was_weighed_once_is_weighed_anew_when_anything_is_different(gate: Gate) -> None:
    reader, policy = gate.state.reader, gate.state.policy
    judgement, named = reader.read(EVERYDAY)
    stricter = replace(policy, tolerance="conservative")
    cases = [
        (policy, Circumstances()),
        (policy, Circumstances(blocked="enough")),
        (policy, Circumstances(mode="disabled", blocked="enough")),
        (policy, Circumstances(claimed_risk=90)),
        (stricter, Circumstances(claimed_risk=90)),
        (stricter, Circumstances()),
        (policy, Circumstances()),
    ]
    for book, at in cases:
        for _ in range(2):
            decide = partial(evaluate_policy, judgement.assessment, named, book, at)
            weighed = recall(judgement, book, at, decide)
            assert weighed == evaluate_policy(judgement.assessment, named, book, at)
            assert weighed.parts == evaluate_policy(judgement.assessment, named, book, at).parts


def test_a_judgement_that_is_not_the_remembered_one_is_weighed_by_itself(gate: Gate) -> None:
    reader, policy, at = gate.state.reader, gate.state.policy, Circumstances()
    reader.read(EVERYDAY)
    other, named = reader.read(command("rm -rf /srv/data", "/"))
    weighed = recall(other, policy, at, lambda: evaluate_policy(other.assessment, named, policy, at))
    assert weighed == evaluate_policy(other.assessment, named, policy, at)


def test_what_needed_no_script_is_remembered_and_what_needed_one_is_not(gate: Gate) -> None:
    reader, asked = gate.state.reader, []

    def files(path: str) -> str | None:
        asked.append(path)
        return "rm -rf /srv/data" if len(asked) > 1 else "ls"

    alone = command("ls -la", "/home/dev/app")
    assert reader.read(alone, files)[0] is reader.read(alone, files)[0] is reader.read(alone)[0]
    script = command("bash run.sh", "/home/dev/app")
    unread = reader.read(script)[0]
    first, second = reader.read(script, files)[0], reader.read(script, files)[0]
    assert len(asked) == 2 and first.assessment.level < second.assessment.level
    assert reader.read(script)[0] is unread


ALIKE = [
    (tool("set_limit", {"force": True}), tool("set_limit", {"force": 1})),
    (tool("set_limit", {"force": "1"}), tool("set_limit", {"force": 1})),
    (tool("set_limit", {"n": 1.0}), tool("set_limit", {"n": 1})),
    (tool("note", {"text": "a"}, "/srv/a"), tool("note", {"text": "a"}, "/srv/b")),
    (tool("note", {"a": "b"}), operation("note", {"a": "b"})),
]


@each("one, other", ALIKE)
def test_calls_that_look_alike_are_remembered_apart(one: Action, other: Action, gate: Gate) -> None:
    reader = gate.state.reader
    assert reader.read(one)[0] is reader.read(one)[0]
    assert reader.read(one)[0] is not reader.read(other)[0]


LARGE = [
    tool("note", {"text": "a" * 5_000}),
    tool("note", {"deep": {"text": "a"}}),
    tool("note", {f"k{number}": 1 for number in range(100)}),
    command("ls " + "a" * 5_000),
]


@each("action", LARGE)
def test_what_is_large_is_judged_anew(action: Action, gate: Gate) -> None:
    reader = gate.state.reader
    assert reader.read(action)[0] is not reader.read(action)[0]
    assert reader.read(action)[0] == reader.read(action)[0]


def test_a_short_text_that_takes_long_to_read_is_not_answered_at_once(gate: Gate) -> None:
    """Whoever answers at once keeps everybody else waiting: that is the event loop."""
    loops = command("for a in {1..24}; do " * 4 + "ls" + "; done" * 4, "/home/dev/app")
    assert quick(gate.state, Request(loops, AGENT, "hook")) is None
    assert not evaluate(gate.state, Request(loops, AGENT, "hook")).allowed
    assert quick(gate.state, Request(command("ls", "/home/dev/app"), AGENT, "hook")) is not None
