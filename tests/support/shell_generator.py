"""Shell text by the thousand from one seed: made by a grammar, or of random pieces that break it."""

from __future__ import annotations

import random
from collections.abc import Iterator

HARMLESS = ["true", "ls -la", "pwd", "echo hi", "git status", "cat README.md", "date", "test -f x"]
PROGRAMS = "ls cat echo rm git touch cp mv find xargs sed awk grep curl tar python3 bash sh env sudo docker kubectl psql make dd kill ssh".split()
WORDS = [
    "-rf",
    "-f",
    "-c",
    "-e",
    "--force",
    "/",
    "~",
    ".",
    "*",
    "src",
    "/tmp/x",
    "a b",
    "$HOME",
    "$x",
    "${x:-y}",
    "status",
    "origin",
    "'q u'",
    '"d q"',
    "\\ ",
    "{a,b}",
]
PIECES = [
    *"'\"`$(){}[]<>|&;#!\\=*?~ \t\n\r",
    "$(", "${", "<<", "<<<", ">>", "&&", "||", ";;", "$((", "))", "<(", "[[", "]]", "$'", "EOF", "\nEOF\n", "<<EOF\n", "if ", "then ", "fi", "for x in ",
    "do ", "done", "case x in ", "esac", "function f", "f()", "rm -rf /", "sudo ", "bash -c ", "eval ", "| sh", "-exec ", "\\;", "python3 -c ", "SELECT 1", "\0",
    "\u202e", "\ufffc", "\ufffb", "\U0001f600", "\ud800", "\x1b[2J", "é", "\u00a0", "${x//", "${!", "base64 -d", "C:\\", "%PATH%", "Remove-Item ", "cmd /c ",
]  # fmt: skip


class Grammar:
    """Text that is mostly right, a few levels deep."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def text(self, depth: int = 3) -> str:
        pick = self.chance.choice
        if depth == 0 or self.chance.random() < 0.3:
            return self.simple(depth)
        inner = self.text(depth - 1)
        form = pick(
            [
                "{a}; {b}", "{a} && {b}", "{a} || {b}", "{a} | {b}", "{a}\n{b}", "{a} & {b}", "( {a} )", "{{ {a}; }}", "if {a}; then {b}; fi",
                "for i in 1 2; do {a}; done", "while {a}; do {b}; done", "case x in x) {a};; *) {b};; esac", "f() {{ {a}; }}; f", "sudo {s}",
                "bash -c {q}", "eval {q}", "echo $({a})", "x=$({a}); {b}", "timeout 5 {s}", "cat <<EOF\n{a}\nEOF", "bash <<'EOF'\n{a}\nEOF",
                "echo {q} | sh", "env A=1 {s}", "find . -exec {s} \\;", "echo x | xargs {s}", "diff <({a}) <({b})", "{a} > out.txt", "{a} 2>/dev/null",
                "python3 -c {q}", "ssh host {q}", "psql -c {q}", "# {s}", "[[ -n $({a}) ]] && {b}", "trap {q} EXIT", "alias z={q}; z",
            ]
        )  # fmt: skip
        return str(form.format(a=inner, b=self.text(depth - 1), s=self.simple(0), q=quote_word(inner)))

    def simple(self, depth: int) -> str:
        words = [self.chance.choice(PROGRAMS), *self.chance.choices(WORDS, k=self.chance.randrange(5))]
        if depth and self.chance.random() < 0.1:
            words.append(f"$({self.text(depth - 1)})")
        return " ".join(words)


def quote_word(text: str) -> str:
    """The text as one word that a shell takes literally."""
    return "'" + text.replace("'", "'\\''") + "'"


def noise(chance: random.Random) -> str:
    """Pieces of shell in no order."""
    return "".join(chance.choices(PIECES, k=chance.randrange(1, 30)))


def spoil_text(chance: random.Random) -> str:
    """Grammatical text with a piece put in, taken out or cut off."""
    text = Grammar(chance).text(3)
    at = chance.randrange(len(text) + 1)
    form = chance.randrange(3)
    if form == 0:
        return text[:at] + chance.choice(PIECES) + text[at:]
    return text[:at] + text[at + chance.randrange(1, 5) :] if form == 1 else text[:at]


def texts(count: int, seed: int) -> Iterator[str]:
    """`count` inputs, the same for the same seed: half grammatical, the rest spoiled or noise."""
    chance = random.Random(seed)
    for number in range(count):
        form = number % 4
        if form < 2:
            yield Grammar(chance).text(3)
        elif form == 2:
            yield spoil_text(chance)
        else:
            yield noise(chance)
