"""Lua source in, what it would do out."""

from __future__ import annotations

import pytest

from cases import each
from interlock.analysis.code.grammar_languages import read_lua
from interlock.analysis.facts import hole
from recording_report import Fact, Recorder

DEEDS: list[tuple[str, list[Fact]]] = [
    (
        'os.remove("x"); os.execute("rm -rf /") local h = io.popen("ls")',
        [("delete", "x"), ("shell", "rm -rf /"), ("shell", "ls")],
    ),
    ('os.execute "rm -rf x"', [("shell", "rm -rf x")]),
    ('os.execute("rm" .. " -rf " .. os.getenv("HOME"))', [("shell", f"rm -rf {hole('HOME')}")]),
    (
        'local f = io.open("a", "w") f:write("x") f:close() io.open("b", "w"):close()',
        [("write", "a"), ("truncate", "b")],
    ),
    ('for f in lfs.dir(".") do os.remove(f) end', [("delete", hole(), "bulk")]),
    ('if x then os.remove("a") elseif y then print("b") else os.remove("c") end', [("delete", "a"), ("delete", "c")]),
    ('function rm(p) os.remove(p) end rm("/etc/passwd")', [("delete", "/etc/passwd")]),
    ('local r = os.remove r("z") os["execute"]("id")', [("delete", "z"), ("shell", "id")]),
    ('os.execute(("/ fr- mr"):reverse())', [("shell", "rm -rf /")]),
    ('local p = io.popen("sh", "w") p:write("rm -rf /")', [("shell", "sh"), ("shell", "rm -rf /")]),
    ("load(\"os.remove('x')\")()", [("code", "lua", "os.remove('x')")]),
    ("loadstring(x)()", [("unreadable", "exec of text made at run time", "payload")]),
    ('os.rename("a", "b")', [("move", "a"), ("overwrite", "b")]),
]

BENIGN = [
    '-- os.remove("x")\nprint("os.execute") --[[ os.remove("y") ]] print([[rm -rf /]])',
    "for i = 1, 10 do print(i) end",
    "local t = {a = 1, b = {2, 3}} for k, v in pairs(t) do print(k, v) end",
    "repeat x = x + 1 until x > 3 while x do x = nil end",
]


@each(("source", "told"), DEEDS)
def test_what_lua_does_is_told(source: str, told: list[Fact]) -> None:
    out = Recorder()
    read_lua(source, out)
    assert out.told == told


@pytest.mark.parametrize("source", BENIGN)
def test_harmless_lua_tells_nothing(source: str) -> None:
    out = Recorder()
    read_lua(source, out)
    assert out.told == []


@pytest.mark.parametrize("source", ['os.remove("x', "end", "if x then", "[[", "f(" * 3000, "--[[ x"])
def test_lua_that_does_not_parse_is_told(source: str) -> None:
    out = Recorder()
    read_lua(source, out)
    assert "unreadable" in [fact[0] for fact in out.told]
