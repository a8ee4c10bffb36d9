"""What a person could read past is said beside a command: harm in a long one, letters that only look Latin."""

from __future__ import annotations

import pytest

from interlock.analysis.display_text import harm, lookalikes

FINDINGS = [
    {"level": 3, "subject": "rm -rf src"},
    {"level": 1, "subject": "cp a b"},
    {"level": 3, "subject": "rm -rf src"},
]


@pytest.mark.parametrize(
    "text", ["echo " + "a" * 600 + "; rm -rf src", "git status\n\n\n\nrm -rf src"], ids=["long", "lines"]
)
def test_the_worst_in_a_long_text_is_said_by_itself(text: str) -> None:
    assert harm(text, FINDINGS) == ("rm -rf src",)


def test_of_a_short_text_nothing_is_said_twice() -> None:
    assert harm("cp a b; rm -rf src", FINDINGS) == ()


@pytest.mark.parametrize(
    "text", ["rm -rf /srv/\u0430pp", "git push f\u043erce", "c\u03bfnfig", "/srv/\u0430", "s\u0131c", "аррӏе"]
)
def test_letters_that_look_like_others_are_named(text: str) -> None:
    (said,) = lookalikes(text)
    assert "U+0" in said and " is " in said


@pytest.mark.parametrize(
    "text", ["rm -rf /srv/app", "echo Müller café", "rm Привет.txt", "echo 你好 ελληνικά", "naïve", ""]
)
def test_words_of_other_languages_are_no_trick(text: str) -> None:
    assert lookalikes(text) == ()
