"""Sed scripts and Vim commands in, what they would do out."""

from __future__ import annotations

from cases import each
from interlock.analysis.code.sed import read_sed
from interlock.analysis.code.tokenised import read_vim
from interlock.analysis.facts import hole
from recording_report import Fact, Recorder

SED: list[tuple[str, list[Fact]]] = [
    ("1e rm -rf /", [("shell", "rm -rf /")]),
    ("e", [("shell", hole("line"))]),
    ("s/.*/rm -rf \\/tmp\\/x/e", [("shell", "rm -rf /tmp/x")]),
    (
        "s/x/rm &/ge; s/x/y/w out.txt",
        [("shell", f"{hole('line')}rm {hole('match')}{hole('line')}"), ("write", "out.txt", "output")],
    ),
    ("s/^/rm /e", [("shell", f"rm {hole('line')}")]),
    ("s/^.*$/date/e", [("shell", "date")]),
    ("/x/w out.txt", [("write", "out.txt", "output")]),
    ("2,5!s#a#ls#Ie", [("shell", f"{hole('line')}ls{hole('line')}")]),
    ("s/unterminated", [("unreadable", "Sed that does not parse", "syntax")]),
]
SED_BENIGN = [
    "s/a/b/g",
    "/foo/d;/bar/{s/x/y/;p};$!N",
    "s|/a/[/]b|rm|g; y/abc/xyz/",
    "a\\\nrm -rf / e\np",
    "/x/a rm -rf /",
    ":a;N;$!ba;s/\\n/ /g",
    "/start/,/end/{//!d}",
    "0,/re/s//x/;5q;r file.txt",
    "w /dev/stdout",
]
VIM: list[tuple[str, list[Fact]]] = [
    (":!/bin/sh", [("shell", "/bin/sh")]),
    ("!rm -rf /", [("shell", "rm -rf /")]),
    (":silent! !rm -rf x", [("shell", "rm -rf x")]),
    (":call system('rm -rf ' . '/')", [("shell", "rm -rf /")]),
    (':let x = system("id")', [("shell", "id")]),
    (":r !ls", [("shell", "ls")]),
    (":w !sudo tee %", [("shell", "sudo tee %")]),
    (":1,$!sort", [("shell", "sort")]),
    (":exe '!rm -rf /'", [("shell", "rm -rf /")]),
    (":g/foo/!rm x", [("shell", "rm x")]),
    (":w! x | :!ls", [("write", "x"), ("shell", "ls")]),
    (":call delete('/x', 'rf')", [("delete", "/x", "recursive")]),
    (":let c = 'rm -rf /' | call system(c)", [("shell", "rm -rf /")]),
    (":exe '!rm -rf ' . x", [("shell", f"rm -rf {hole('x')}")]),
    (":py3 import os", [("code", "python", "import os")]),
    (":lua os.execute('ls')", [("code", "lua", "os.execute('ls')")]),
]
VIM_BENIGN = [
    ":q",
    ":wq",
    "%s/foo/rm -rf/g",
    ":%s/a/b/g | w | q",
    ":g/foo/d",
    ":echo \"system('x')\"",
    "+10",
    ":set nu",
]


@each(("script", "told"), [*SED, *((script, []) for script in SED_BENIGN)])
def test_sed_tells_commands_and_files_only(script: str, told: list[Fact]) -> None:
    out = Recorder()
    read_sed(script, out)
    assert out.told == told


@each(("command", "told"), [*VIM, *((command, []) for command in VIM_BENIGN)])
def test_vim_tells_what_leaves_the_editor(command: str, told: list[Fact]) -> None:
    out = Recorder()
    read_vim(command, out)
    assert out.told == told
