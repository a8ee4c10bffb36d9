"""Text is read as the shell that runs it would: bash, a POSIX shell, or the worse of both where `sh` may be either."""

from __future__ import annotations

from cases import each
from interlock import assess
from interlock.analysis.facts import Command
from interlock.analysis.read import read
from interlock.model import command

DOCS = "rm -rf /home/me/docs"
CWD = "/home/me/app"


def level(text: str) -> int:
    return int(assess(text, CWD).level)


HARMFUL = [
    f"dash -c '(({DOCS}))'",
    f"sh -c '(({DOCS}))'",
    f"sh -c 'echo hi; (({DOCS}))'",
    f"sh -c '(({DOCS})); ls'",
    f"ash -c '(({DOCS}))'",
    f"echo '(({DOCS}))' | sh",
    f"sh <<< '(({DOCS}))'",
    f"sh <<'E'\n(({DOCS}))\nE",
    f"printf '#!/bin/sh\\n(({DOCS}))\\n' > x; chmod +x x; ./x",
    f"printf '(({DOCS}))' > x; sh x",
    f"python3 -c 'import os; os.system(\"(({DOCS}))\")'",
    f"sh -c 'echo \"{DOCS}\" &> x' | sh",
    f"dash -c '[[ a && {DOCS} ]]'",
    "dash -c 'echo \"\\0162m -rf /home/me/docs\" | sh'",
]
HARMLESS = [
    f"bash -c '(({DOCS.replace('/', '')}))'",
    "sh -c '((i = 1))'",
    "sh -c 'make &> out.txt'",
    "sh -c 'echo a; make &> out.txt'",
    "sh -c 'if [[ $x == y ]]; then echo z; fi'",
    "sh -c 'make &>/dev/null'",
    "dash -c 'echo $((1 + 2))'",
    "sh -c '[[ ( a || b ) && c ]]'",
]


@each("text", HARMFUL)
def test_a_posix_shell_runs_what_bash_takes_for_something_else(text: str) -> None:
    assert level(text) >= 3


@each("text", HARMLESS)
def test_what_both_shells_read_as_harmless_is(text: str) -> None:
    assert level(text) <= 1


# Each closing line is the delimiter as written, without its quotes.
DELIMITERS = ["$X", "${X}", "$(x y)", "`x`", "$((1+2))", "$X$Y", "a$X", "{a,b}", "~", "*"]


@each("word", DELIMITERS)
def test_a_here_document_ends_at_its_delimiter_as_written(word: str) -> None:
    assert level(f"cat <<{word}\nhi\n{word}\n{DOCS}") >= 3
    assert level(f"cat <<{word}\n{DOCS}\n{word}\nls") <= 1
    assert level(f"cat <<{word}\n$({DOCS})\n{word}") >= 3  # not quoted: expanded
    assert level(f"cat <<'{word}'\n$({DOCS})\n{word}\nls") <= 1
    assert level(f"cat <<'{word}'\nhi\n{word}\n{DOCS}") >= 3


JOINED = [
    (f"cat <<E\nfoo\\\nE\n{DOCS}\nE", False),  # one line, `fooE`
    (f"cat <<EF\nfoo\nE\\\nF\n{DOCS}", True),
    (f"cat <<'E'\nfoo\\\nE\n{DOCS}", True),
    (f"cat <<E\nfoo\\\\\nE\n{DOCS}", True),
]


@each(("text", "runs"), JOINED)
def test_a_backslash_joins_two_lines_of_a_here_document(text: str, runs: bool) -> None:
    assert (level(text) >= 3) is runs


def test_a_script_is_read_in_the_dialect_of_its_first_line() -> None:
    files = {f"{CWD}/x.sh": f"#!/bin/dash\n(({DOCS}))\n"}
    facts = read(command("./x.sh", CWD), files.get).facts
    assert any(isinstance(fact, Command) and fact.program == "rm" for fact in facts)
