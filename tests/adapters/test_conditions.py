"""Conditions are bounded when they are loaded, and count as true when they cannot be evaluated."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import each
from effort import EFFORT
from interlock.adapters.conditions import ConditionError, compile_condition, evaluate_condition

TRUE = [
    ("params.count > 100", {"count": 101}),
    ("params.permanent == true", {"permanent": True}),
    ("size(params.ids) > 1", {"ids": [1, 2]}),
    ("has(params.force) && params.force", {"force": True}),
    ("params.branch in ['main', 'master']", {"branch": "main"}),
    ("params.name.startsWith('prod-') || params.name.matches('^live')", {"name": "live1"}),
    ("params.map == 'all(' // exists(x, true)", {"map": "all("}),
    ("type(params.n) == int", {"n": 3}),
]
FALSE = [
    ("params.count > 100", {"count": 100}),
    ("has(params.force) && params.force", {}),
    ("params.branch in ['main', 'master']", {"branch": "topic"}),
]
REFUSED = [
    ("", "is empty"),
    ("  ", "is empty"),
    ("1 +", "is no CEL expression: column "),
    ("params.a == 1" + " " * 500, "has 513 characters, at most 500"),
    ("(" * 21 + "true" + ")" * 21, "is nested deeper than 20"),
    ("true ? " * 21 + "true" + " : true" * 21, "is nested deeper than 20"),
    ("params.ids.all(x, x > 0)", "loops with all()"),
    ("params.ids.exists (x, x > 0)", "loops with exists()"),
    ("params.ids.exists_one(x, x > 0)", "loops with exists_one()"),
    ("params.ids.map(x, x) == []", "loops with map()"),
    ("params.ids.filter// a comment\n(x, x) == []", "loops with filter()"),
    ("'\\'' == r'\\' && params.ids.all(agent, true) || '' == ''", "loops with all()"),
    ("param.count > 1", "names the unknown variable 'param'; did you mean 'params'?"),
    ("zebra", "names the unknown variable 'zebra'; known: params, "),
    ("shell(params.a) == 1", "names the unknown function 'shell'"),
    ("params.a.startWith('a')", "names the unknown function 'startWith'; did you mean 'startsWith'?"),
]


def held(text: str, params: Any) -> bool:
    return evaluate_condition(compile_condition(text), {"params": params}).true


@pytest.mark.parametrize(("text", "params"), TRUE)
def test_a_condition_holds(text: str, params: dict[str, Any]) -> None:
    assert evaluate_condition(compile_condition(text), {"params": params}).error == ""
    assert held(text, params)


@pytest.mark.parametrize(("text", "params"), FALSE)
def test_a_condition_does_not_hold(text: str, params: dict[str, Any]) -> None:
    assert not held(text, params)


@each(("text", "said"), REFUSED)
def test_a_condition_that_is_not_right_does_not_load(text: str, said: str) -> None:
    with pytest.raises(ConditionError) as refused:
        compile_condition(text)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "params", "said"),
    [
        ("params.count > 100", {}, "there is no 'count'"),
        ("params.count > 100", {"count": "many"}, "No such overload"),
        ("params.count / 0 == 1", {"count": 1}, "division by zero"),
        ("params.count + 9223372036854775807 > 0", {"count": 1}, "overflow"),
        ("params.count", {"count": 1}, "is not true or false but '1'"),
        ("params.a == 'x'", {"a": "\ud800"}, "convert"),
        ("params.a == 'x'", {"a": object()}, "convert"),
        ("params.a == 'x'", {None: 1}, "key"),
    ],
)
def test_an_error_counts_as_true(text: str, params: Any, said: str) -> None:
    answer = evaluate_condition(compile_condition(text), {"params": params})
    assert answer.true and said in answer.error


def test_values_too_deep_or_too_many_count_as_true() -> None:
    deep: dict[str, Any] = {}
    inner = deep
    for _ in range(200_000):  # handed on, it would end the process
        inner["a"] = {}
        inner = inner["a"]
    cycle: dict[str, Any] = {}
    cycle["a"] = cycle
    for params in (deep, cycle, {"a": list(range(20_000))}, {"a": "x" * 2_000_000}):
        answer = evaluate_condition(compile_condition("false"), {"params": params})
        assert answer.true and "too many or too deep" in answer.error


@pytest.mark.parametrize("fact", ["production_env", "bulk_operation", "no_backup"])
def test_facts_of_the_readers_are_variables(fact: str) -> None:
    condition = compile_condition(f"{fact} && agent == 'a' && adapter == 'github'")
    for value in (True, False):
        assert evaluate_condition(condition, {fact: value, "agent": "a", "adapter": "github"}).true is value


@given(st.text(max_size=520))
@settings(max_examples=150 * EFFORT, deadline=None)
def test_whatever_is_written_either_loads_or_is_refused(text: str) -> None:
    try:
        condition = compile_condition(text)
    except ConditionError:
        return
    assert evaluate_condition(condition, {"params": {}}).true in (True, False)
