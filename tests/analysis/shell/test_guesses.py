"""Marks the effects of words that are computed more simply here than by the shell."""

from __future__ import annotations

from cases import each
from interlock.analysis.facts import APPROXIMATE, Effect
from interlock.analysis.read import read
from interlock.model import Action, Kind


def deleted(text: str) -> dict[str, bool]:
    """The paths that a text deletes, and whether each is a guess."""
    facts = read(Action(Kind.COMMAND, {"command": text}, cwd="/home/dev/app")).facts
    return {one.target: APPROXIMATE in one.traits for one in facts if isinstance(one, Effect) and one.verb == "delete"}


@each(
    "text, targets",
    [
        ("rm $(seq 2)", ["1", "2"]),
        ("rm $(printf 'f%02d ' 7 8)", ["f07", "f08"]),
        ("rm $(basename docs/a.txt)", ["a.txt"]),
        ("rm f{08..10}", ["f08", "f09", "f10"]),
        ("echo a | grep a | xargs rm", ["a"]),
        ("ls; rm a", ["a"]),
        ("while sleep 1; do rm a; done", ["a"]),
    ],
)
def test_words_that_every_shell_computes_alike_are_exact(text: str, targets: list[str]) -> None:
    assert deleted(text) == dict.fromkeys(targets, False)


@each(
    "text",
    [
        "rm $(ls)", "rm $(printf 'f%d ' 010)", "rm $(seq -w 8 10)", "rm $(basename -s .c a.c)", "echo a | sed s/a/b/ | xargs rm",
        "i=1; while [ $i -lt 9 ]; do rm f$i; i=$((i+1)); done", "x=abc; rm ${x%[bc]}", "rm $(git rev-parse --show-toplevel)/docs", "find . -path './a/*' -delete",
    ],
)  # fmt: skip
def test_words_that_may_be_others_are_marked(text: str) -> None:
    assert all(deleted(text).values()) and deleted(text)


def test_a_number_in_octal_is_not_computed() -> None:
    assert deleted("rm f$((010)).txt").keys() != {"f10.txt"}
