"""Variables have the value, the scope and the attributes that bash gives them; text that a number or a subscript runs is read."""

from __future__ import annotations

from cases import each
from interlock import assess
from interlock.analysis.facts import Effect
from interlock.analysis.read import read
from interlock.model import command

DOCS = "rm -rf /home/me/docs"
CWD = "/home/me/app"


def level(text: str) -> int:
    return int(assess(text, CWD).level)


RUN_BY_EVALUATION = [
    f"declare 'a[$({DOCS})]=1'",
    f"typeset 'a[$({DOCS})]+=1'",
    f"f() {{ local 'a[$({DOCS})]=1'; }}; f",
    f"command declare 'a[$({DOCS})]=1'",
    f"readonly 'a[`{DOCS}`]=1'",
    f"declare -a 'a=($({DOCS}))'",
    f"declare -n r='a[$({DOCS})]'; echo $r",
    f"a=([$({DOCS})]=1)",
    f"a[$({DOCS})]=1",
    f"x='a[$({DOCS})]'; echo ${{!x}}",
    f"x='a[$({DOCS})]'; ((x))",
    f"x='a[$({DOCS})]'; y=x; echo $((y + 1))",
    f"x='a[$({DOCS})]'; echo $[x]",
    f"x='a[$({DOCS})]'; s=abc; echo ${{s:x:1}}",
    f"x='a[$({DOCS})]'; for ((i = x; i < 1; i++)); do :; done",
    f"i='a[$({DOCS})]'; echo ${{list[$i]}}",
    f"i='a[$({DOCS})]'; echo ${{list[b[i]]}}",
    f"i='a[$({DOCS})]'; list[i]=1",
    f"declare -i n; n='a[$({DOCS})]'",
    f"x='a[$({DOCS})]'; typeset -i y=$x",
    f"f() {{ local -i n=\"$1\"; }}; f 'a[$({DOCS})]'",
    f"let 'a[$({DOCS})]=1'",
    f"[[ 'a[$({DOCS})]' -eq 1 ]]",
    f"if [[ $n -gt 'a[$({DOCS})]' ]]; then :; fi",
    f"[[ -v 'a[$({DOCS})]' ]]",
    f"test -v 'a[$({DOCS})]'",
    f"[ -v 'a[$({DOCS})]' ]",
    f"printf -v 'a[$({DOCS})]' x",
    f"read 'a[$({DOCS})]' <<< x",
    f"unset 'a[$({DOCS})]'",
    f"x & wait -p 'a[$({DOCS})]' $!",
    f"f() {{ (( $1 )); }}; f 'a[$({DOCS})]'",
    f"read -r x <<< 'a[$({DOCS})]'; echo $((x))",
    f"n='a[$({DOCS})]' bash -c '((n))'",
    f"declare -A m=([$({DOCS})]=1)",
    f"x='$({DOCS})'; echo ${{x@P}}",
]
ONLY_TEXT = [
    f"echo 'a[$({DOCS})]'",
    f"printf '%s' 'a[$({DOCS})]'",
    f"[[ $x == 'a[$({DOCS})]' ]]",
    f"x='a[$({DOCS})]'; echo \"$x\"",
    f"[ -n 'a[$({DOCS})]' ]",
    f"x='a[$({DOCS})]'; test \"$x\" -eq 1",  # only [[ ]] evaluates
    f"printf '%d' 'a[$({DOCS})]'",
    "x='y[$(date)]'; ((x))",
    "n=1; ((n += 2)); echo ${a[n]}",
    "read -p 'delete [y/N]? ' answer",
    "[[ $a -gt 3 && $b -lt 2 ]]",
]


@each("text", RUN_BY_EVALUATION)
def test_text_in_a_subscript_or_a_number_runs(text: str) -> None:
    assert level(text) >= 3


@each("text", ONLY_TEXT)
def test_text_that_nothing_evaluates_is_only_text(text: str) -> None:
    assert level(text) <= 1


VALUES = [
    ("f() { local d=/tmp/a; }; d=/home/me/docs; f; rm -rf $d", 3),
    ("f() { local d=/tmp/a; rm -rf $d; }; d=/home/me/docs; f", 1),
    ("f() { declare -g d=/home/me/docs; }; d=/tmp/a; f; rm -rf $d", 3),
    ("f() { declare d=/home/me/docs; }; d=/tmp/a; f; rm -rf $d", 1),
    ("f() { typeset d=/tmp/a; g; }; g() { rm -rf $d; }; d=/home/me/docs; f", 1),
    ("f() { d=/home/me/docs; }; d=/tmp/a; f; rm -rf $d", 3),
    ("(d=/tmp/a); d=/home/me/docs; rm -rf $d", 3),
    ("readonly d=/home/me/docs; d=/tmp/a; rm -rf $d", 3),
    ("declare -r d=/home/me/docs; d=/tmp/a; rm -rf $d", 3),
    ("declare -n r=d; r=/home/me/docs; rm -rf $d", 3),
    ("declare -l c=RM; $c -rf /home/me/docs", 3),
    ("declare x=/home; declare x+=/me/docs; rm -rf $x", 3),
    ("export x=/tmp/a; bash -c 'rm -rf $x/*'", 1),
    ("declare -x x=/tmp/a; sh -c 'rm -rf $x/*'", 1),
    ("x=/tmp/a bash -c 'rm -rf $x/*'", 1),
    ("env x=/tmp/a bash -c 'rm -rf $x/*'", 1),
    ("x=/tmp/a; bash -c 'rm -rf $x/*'", 4),  # not exported: the child has no x
    ("x=/tmp/a; bash -c \"rm -rf $x/*\"", 1),
    ("x=/tmp/a; eval 'rm -rf $x/*'", 1),
    ("x=/tmp/a; (rm -rf $x/*)", 1),
]  # fmt: skip


@each(("text", "expected"), VALUES)
def test_a_variable_has_the_value_that_it_has_there_in_bash(text: str, expected: int) -> None:
    assert level(text) == expected


@each("text", ["x='a[$((x))]'; ((x))", "x='${x@P}$(ls)'; echo ${x@P}", "x=y; y=x; ((x))"])
def test_an_expression_that_names_itself_is_read_once(text: str) -> None:
    facts = read(command(text, CWD), budget=2_000).facts
    assert not any(isinstance(fact, Effect) and "budget" in fact.traits for fact in facts)
