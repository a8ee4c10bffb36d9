"""Marks the effects of words that are computed more simply here than by the shell."""

from __future__ import annotations

from cases import each
from interlock.analysis.facts import APPROXIMATE, Effect
from interlock.analysis.read import read
from interlock.analysis.shell import MAX_SCRIPT
from interlock.model import Action, Kind

FILES = {"/home/dev/app/list": "a\nb\n", "/home/dev/app/back": "a\\ b\n", "/home/dev/app/long": "a\n" * MAX_SCRIPT}


def deleted(text: str) -> dict[str, bool]:
    """The paths that a text deletes, and whether each is a guess."""
    facts = read(Action(Kind.COMMAND, {"command": text}, cwd="/home/dev/app"), FILES.get).facts
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
        ("find . -name '*.pyc' -not -path './.venv/*' -delete", ["./**/*.pyc"]),
        ("find . -name x ! -regex '.*/keep/.*' ! -path './a/*' -exec rm -rf {} +", ["./**/x"]),
    ],
)
def test_words_that_every_shell_computes_alike_are_exact(text: str, targets: list[str]) -> None:
    assert deleted(text) == dict.fromkeys(targets, False)


@each(
    "text",
    [
        "rm $(ls)", "rm $(printf 'f%d ' 010)", "rm $(seq -w 8 10)", "rm $(basename -s .c a.c)", "echo a | sed s/a/b/ | xargs rm",
        "i=1; while [ $i -lt 9 ]; do rm f$i; i=$((i+1)); done", "x=abc; rm ${x%[bc]}", "rm $(git rev-parse --show-toplevel)/docs", "find . -path './a/*' -delete",
        "find . -name x ! ! -path './a/*' -delete", "find . -name x -o ! -path './b/*' -path './a/*' -delete", "find -L . -name x ! -path './a/*' -delete",
    ],
)  # fmt: skip
def test_words_that_may_be_others_are_marked(text: str) -> None:
    assert all(deleted(text).values()) and deleted(text)


def test_a_number_in_octal_is_not_computed() -> None:
    assert deleted("rm f$((010)).txt").keys() != {"f10.txt"}


@each(
    "text",
    [
        "rm $(cat list)", "rm $(<list)", "for f in `cat list`; do rm $f; done", "while read -r f; do rm $f; done < list", "xargs rm < list", "xargs -a list rm",
        "cat list | xargs -n1 rm", "mapfile -t all < list; rm ${all[@]}", "rm $(sort -u list)", "head -n 2 list | while read f; do rm $f; done",
        "ls; git status; rm $(cat list)", "grep -v x < list | xargs rm",
    ],
)  # fmt: skip
def test_a_list_in_a_file_gives_exact_words_and_its_text_is_a_witness(text: str) -> None:
    assert deleted(text) == {"a": False, "b": False}
    read_files = read(Action(Kind.COMMAND, {"command": text}, cwd="/home/dev/app"), FILES.get).witnesses
    assert [one.path for one in read_files] == ["/home/dev/app/list"]


@each(
    "text",
    [
        "./make-list; rm $(cat list)", "cat -n list | xargs rm", "cat list | grep -o . | xargs rm", "uniq -c list | xargs rm", "mapfile -n 1 all < list; rm ${all[@]}",
        "while read f; do rm $f; done < back", "find . -path './a/*' > found; xargs rm < found",
    ],
)  # fmt: skip
def test_a_list_that_may_be_another_by_then_is_a_guess(text: str) -> None:
    assert all(deleted(text).values()) and deleted(text)


@each(
    "text",
    [
        "sed -i s/a/c/ list; rm $(cat list)",
        "cp other list && rm $(cat list)",
        "sort -o list more; xargs rm < list",
        "rm $(cat long)",
    ],
)
def test_a_list_that_the_action_changes_or_that_is_long_is_not_known(text: str) -> None:
    assert {"a", "b"}.isdisjoint(deleted(text)) and deleted(text)


def test_what_is_appended_stands_behind_what_was_there() -> None:
    assert deleted("echo c >> list; rm $(cat list)") == {"a": False, "b": False, "c": False}
    assert deleted("echo c >> new; rm $(cat new)") == {"c": False}
    assert deleted("echo c > list; echo d >> list; rm $(cat list)") == {"c": False, "d": False}


def test_a_long_file_that_is_only_shown_is_no_script() -> None:
    def verbs(text: str) -> set[str]:
        facts = read(Action(Kind.COMMAND, {"command": text}, cwd="/home/dev/app"), FILES.get).facts
        return {one.verb for one in facts if isinstance(one, Effect)}

    assert verbs("cat long; wc -l < long; head long") == {"read"}
    assert "unreadable" in verbs("bash long")
    assert "unreadable" in verbs("bash < long")
