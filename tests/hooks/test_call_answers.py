"""One answer counts for each announced call, from the first announcement to the end of its run."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from cases import each
from effort import EFFORT
from interlock.hooks.memory import (
    DEFERRED,
    DENIED,
    MOST,
    PASSED,
    PROMPTED,
    AnsweredCall,
    AnsweredCalls,
    CallAnswer,
    Recent,
)

CALLS = st.sampled_from(["one", "two", "three"])
ANSWERS = st.sampled_from(list(CallAnswer))


class CallAnswers(RuleBasedStateMachine):
    """Any order of announcements and runs, compared with the rule in words: the last answer counts, a deferral takes nothing back."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = AnsweredCalls()
        self.expected: dict[str, CallAnswer] = {}

    @rule(call=CALLS, answer=ANSWERS)
    def announce(self, call: str, answer: CallAnswer) -> None:
        self.calls.answer([call], AnsweredCall(answer))
        if not (answer is DEFERRED and self.expected.get(call) in (PASSED, PROMPTED)):
            self.expected[call] = answer

    @rule(call=CALLS, ran=st.booleans())
    def end(self, call: str, ran: bool) -> None:
        found = self.calls.finish([call], ran)
        assert (found.answer if found else None) is self.expected.get(call)
        if ran or self.expected.get(call) is not DENIED:
            self.expected.pop(call, None)

    @invariant()
    def nothing_else_is_known(self) -> None:
        known = {
            call: found.answer for call in ("one", "two", "three") if (found := self.calls.get([call])) is not None
        }
        assert known == self.expected
        assert {call for call in known if self.calls.passed(call)} == {c for c, a in known.items() if a is PASSED}


CallAnswers.TestCase.settings = settings(max_examples=60 * EFFORT, stateful_step_count=30, deadline=None)
test_any_order_of_announcements_and_runs = CallAnswers.TestCase


@each("answer", [DENIED, PROMPTED])
def test_an_answer_to_a_call_counts_before_that_to_an_equal_one(answer: CallAnswer) -> None:
    """A pass is also known by its content, as an agent may not send the id in every event."""
    calls = AnsweredCalls()
    calls.answer(["id 1", "content"], AnsweredCall(PASSED))
    calls.answer(["id 2"], AnsweredCall(answer))
    second, first = calls.finish(["id 2", "content"], ran=True), calls.finish(["id 1", "content"], ran=True)
    assert second is not None and second.answer is answer
    assert first is not None and first.answer is PASSED and len(calls) == 0


def test_a_deferral_under_its_id_is_settled_by_the_prompt_for_its_content() -> None:
    """The event that can prompt may come without the id."""
    calls = AnsweredCalls()
    calls.answer(["id"], AnsweredCall(DEFERRED))
    calls.answer(["content"], AnsweredCall(PROMPTED, "t1"))
    assert calls.finish(["id", "content"], ran=True) == AnsweredCall(PROMPTED, "t1") and len(calls) == 0


def test_the_oldest_calls_are_forgotten() -> None:
    calls = AnsweredCalls(most=3)
    for at in range(5):
        calls.answer([f"call {at}"], AnsweredCall(PASSED))
    assert [calls.passed(f"call {at}") for at in range(5)] == [False, False, True, True, True]


def test_of_what_was_remembered_the_oldest_goes_first() -> None:
    recent: Recent[bool] = Recent()
    assert all(recent.put(str(at), True) for at in range(MOST + 1))
    assert not recent.put(str(MOST), True) and recent.put("0", True)
