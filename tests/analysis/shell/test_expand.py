"""Words as written -> the words a program gets; a mark where only running would tell."""

from __future__ import annotations

import pytest

from cases import each
from interlock.analysis.facts import QUOTED, hole
from interlock.analysis.shell import expand, variables
from interlock.analysis.shell.syntax import parse
from interlock.analysis.shell.syntax.nodes import ShellWord, SimpleCommand, Substitution


class Known:
    """A shell in which a few variables are set and every substitution prints `out`."""

    def __init__(self, **variables: list[str]) -> None:
        self.variables = {
            "x": ["one"],
            "two": ["a b"],
            "list": ["p", "q r", "s"],
            "path": ["/usr/local/lib/x.tar.gz"],
            "empty": [""],
            "name": ["x"],
            **variables,
        }

    def lookup(self, name: str) -> list[str] | None:
        return self.variables.get(name)

    def environment(self, name: str) -> list[str] | None:
        return {"HOME": ["~"]}.get(name)

    def assign(self, name: str, items: list[str]) -> None:
        self.variables[name] = items

    def output(self, part: Substitution) -> str:
        return "out put"

    def text(self, word: ShellWord | None) -> str:
        return expand.text(word, self)

    def step(self, count: int = 1) -> None:
        """A budget without end."""


def words(text: str, shell: Known | None = None) -> list[str]:
    found, errors = parse(f"c {text}", lambda _count: None)
    assert not errors, errors
    (node,) = found
    assert isinstance(node, SimpleCommand)
    return [item for word in node.words[1:] for item in expand.fields(word, shell or Known())]


WORDS = [
    ("a b", ["a", "b"]),
    ("'a b'", ["a b"]),
    ("a'b'\"c\"\\d", ["abcd"]),
    ("''", [""]),
    ("\"\"", [""]),
    ("$x", ["one"]),
    ("${x}y", ["oney"]),
    ("'$x'", ["$x"]),
    ("\\$x", ["$x"]),
    ("$two", ["a", "b"]),
    ("\"$two\"", ["a b"]),
    ("1$two-2", ["1a", "b-2"]),
    ("$empty", []),
    ("\"$empty\"", [""]),
    ("a$empty", ["a"]),
    ("$unset", [hole("unset")]),
    ("a/$unset/b", [f"a/{hole('unset')}/b"]),
    ("$HOME", ["~"]),
    ("\"~\"", [f"{QUOTED}~"]),
    ("~", ["~"]),
    ("$(cmd)", ["out", "put"]),
    ("\"$(cmd)\"", ["out put"]),
    ("`cmd`", ["out", "put"]),
    ("$((1 + 2 * 3))", ["7"]),
    ("$((1 - -2 - 3))", ["0"]),
    ("$((-7 / 2))", ["-3"]),
    ("$((7 % 4 * 2))", ["6"]),
    ("$((2 * -3))", [hole()]),
    ("$((1 2))", [hole()]),
    ("$((010))", [hole()]),
    ("$((unset + 1))", [hole()]),
    ("\"${list[@]}\"", ["p", "q r", "s"]),
    ("\"${list[*]}\"", ["p q r s"]),
    ("${list[@]}", ["p", "q", "r", "s"]),
    ("${list[1]}", ["q", "r"]),
    ("\"${list[-1]}\"", ["s"]),
    ("$list", ["p"]),
    ("${#x}", ["3"]),
    ("${!name}", ["one"]),
    ("${x:-y}", ["one"]),
    ("${unset:-y}", ["y"]),
    ("${unset:-$x}", ["one"]),
    ("${empty:-y}", ["y"]),
    ("${empty-y}", []),
    ("${unset:=y}", ["y"]),
    ("${x:+y}", ["y"]),
    ("${x:0:2}", ["on"]),
    ("${x:1}", ["ne"]),
    ("${x: -2}", ["ne"]),
    ("${path##*/}", ["x.tar.gz"]),
    ("${path%/*}", ["/usr/local/lib"]),
    ("${path%%.*}", ["/usr/local/lib/x"]),
    ("${path#*/}", ["usr/local/lib/x.tar.gz"]),
    ("${path/local/share}", ["/usr/share/lib/x.tar.gz"]),
    ("${x//o/0}", ["0ne"]),
    ("${path//\\//-}", ["-usr-local-lib-x.tar.gz"]),
    ("${x^}", ["One"]),
    ("${x^^}", ["ONE"]),
    ("${x@U}", ["ONE"]),
    ("{a,b}", ["a", "b"]),
    ("x{a,b}y", ["xay", "xby"]),
    ("{a,b}{1,2}", ["a1", "a2", "b1", "b2"]),
    ("{a,{b,c}}", ["a", "b", "c"]),
    ("{1..3}", ["1", "2", "3"]),
    ("{3..1}", ["3", "2", "1"]),
    ("{a..c}", ["a", "b", "c"]),
    ("{1..9..4}", ["1", "5", "9"]),
    ("{a}", ["{a}"]),
    ("'{a,b}'", ["{a,b}"]),
    ("{$x,b}", ["one", "b"]),
    ("{}", ["{}"]),
    ("*.py", ["*.py"]),
    ("$'a\\nb'", ["a\nb"]),
]  # fmt: skip


@each(("text", "expected"), WORDS)
def test_a_word_becomes_what_the_program_gets(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_ifs_says_where_values_are_split() -> None:
    assert words("$v", Known(v=["a:b c"], IFS=[":"])) == ["a", "b c"]
    assert words("$two", Known(IFS=[""])) == ["a b"]


def test_a_default_can_be_assigned() -> None:
    shell = Known()
    words("${made:=value}", shell)
    assert shell.lookup("made") == ["value"]


@pytest.mark.parametrize("text", ["{1..1000000}", "{a,b}" * 20, "{a,{b,{c,d}}}" * 8, "{" * 5000, "{a," * 3000])
def test_braces_cannot_make_more_words_than_a_person_would_read(text: str) -> None:
    assert len(words(text)) <= expand.MAX_WORDS + 1


@pytest.mark.parametrize("text", ["${v##*a*a*a*a*a*b}", "${v//*a*a*a*a*b/x}", "${v/a*a*a*a*a*a*a*b/}"])
def test_a_glob_cannot_be_made_to_hang(text: str) -> None:
    assert words(text, Known(v=["a" * 5000]))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1+2", 3),
        ("2*3+4", 10),
        ("10/3", 3),
        ("10%3", 1),
        ("-1+2", 1),
        ("n+1", 6),
        ("$n*2", 10),
        ("2**99", None),
        ("a[0]", None),
        ("9" * 500, None),
    ],
)
def test_plain_arithmetic_is_worked_out_and_the_rest_is_not_guessed(expression: str, value: int | None) -> None:
    assert variables.calculate(expression, Known(n=["5"])) == value
