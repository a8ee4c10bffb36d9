"""One test of many cases says the same as many tests would: nothing is skipped behind a failure, and each failure has its name."""

from __future__ import annotations

import pytest

from cases import each

SEEN: list[tuple[str, int, str]] = []


@pytest.fixture
def folder() -> str:
    return "here"


@each("word, number", [("one", 1), ("two", 2), ("three", 4)])
def _counted(word: str, number: int, folder: str) -> None:
    SEEN.append((word, number, folder))
    assert len(word) == number + 2, f"{word} has {len(word)} letters"


@each("word", ["a", "b"], ids=str.upper)
@each("number", [1, 2])
def _crossed(word: str, number: int) -> None:
    assert (word, number) != ("b", 2)


def test_every_case_runs_and_those_that_fail_are_named() -> None:
    SEEN.clear()
    with pytest.raises(
        AssertionError, match=r"(?s)2 of 3 cases.*\['two', 2\].*two has 3 letters.*\['three', 4\]"
    ) as said:
        _counted(folder="here")
    assert [word for word, *_ in SEEN] == ["one", "two", "three"] and "'one'" not in str(said.value)


def test_tables_can_be_crossed() -> None:
    with pytest.raises(AssertionError, match=r"(?s)1 of 2 cases.*\[B\].*1 of 2 cases.*\[2\]"):
        _crossed()


def test_an_empty_table_proves_nothing_and_is_refused() -> None:
    with pytest.raises(AssertionError, match="no case of text"):
        each("text", [])


@each("number", range(3))
def test_fixtures_come_as_ever(number: int, folder: str) -> None:
    assert number < 3 and folder == "here"
