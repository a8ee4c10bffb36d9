"""Vim and ex commands -> their effects outside the editor."""

from __future__ import annotations

import ast
import re

from interlock.analysis.code.language import CodeLanguage, holes
from interlock.analysis.code.lexing import Unparsed
from interlock.analysis.code.library import library
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.values import Sym, Value
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.code.token_parser import by_tokens
from interlock.analysis.facts import hole

_RANGE = re.compile(r"(?:[%.$]|\d+|'\w|/(?:[^/\\]|\\.)*/|[-+,;]\d*)*")
_MODIFIER = re.compile(
    r"(?:sil(?:e(?:n(?:t)?)?)?|noa(?:utocmd)?|verb(?:ose)?|keepalt|keepjumps|unsilent|tab|vert(?:ical)?|bot(?:right)?)\b!?\s*"
)
_WORD = re.compile(r"[A-Za-z]+\d?")
_CODE = {
    **dict.fromkeys("python py py3 python3 pyx pythonx".split(), "python"),
    **dict.fromkeys(["ruby", "rub"], "ruby"),
    **dict.fromkeys(["perl", "pe"], "perl"),
    "lua": "lua",
    "tcl": "tcl",
}
_READS = frozenset({"r", "re", "rea", "read"})
_WRITES = frozenset("w wr wri writ write up update sav saveas".split())
_GLOBALS = frozenset({"g", "global", "v", "vglobal"})
_DOES = frozenset({"bufdo", "windo", "argdo", "tabdo", "cdo", "cfdo", "ldo", "folddoo"})
_RUNS = frozenset({"ter", "term", "terminal", "make", "grep"})
_WHOLE = frozenset("s substitute au autocmd map com command fu function".split())  # no bar ends them
_NAME = re.compile(r"[A-Za-z_][\w:#]*(?=\s*\()")
_STRING = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"\\\n]|\\.)*\"")
_EXECUTES = frozenset({"exe", "exec", "execute"})
_EVALUATES = _EXECUTES | {"let"}
_LEVELS = 5
_EXPRESSION = by_tokens("vim")

_Code = list[ast.stmt]


def _parse(source: str) -> tuple[ast.Module, bool]:
    return ast.Module([made for line in source.split("\n") for made in _line(line, 0)], []), True


def _line(line: str, level: int) -> _Code:
    if level > _LEVELS:
        raise Unparsed("nested too deeply", "nesting")
    made: _Code = []
    rest: str | None = line
    while rest is not None and rest.strip():
        rest = rest.lstrip(": \t")
        while found := _MODIFIER.match(rest):
            rest = rest[found.end() :].lstrip(": ")
        ranged = _RANGE.match(rest)
        rest = rest[ranged.end() if ranged else 0 :].lstrip()
        word = _WORD.match(rest)
        if rest.startswith("!"):
            return made + _does("shell", rest[1:])
        if word is None:
            rest = _at_bar(rest)[1]
        else:
            named, rest = _named(word.group(), rest[word.end() :], level)
            made += named
    return made


def _named(name: str, rest: str, level: int) -> tuple[_Code, str | None]:
    """What one command does, and what follows its bar."""
    if name in _CODE:
        return _does(_CODE[name], rest), None
    if name in _GLOBALS or name in _DOES:
        return _line(_global_command(rest) if name in _GLOBALS else rest, level + 1), None
    if name in _RUNS and rest.strip(" !"):
        return _does("shell", rest.strip(" !")) if name.startswith("ter") else [], None
    if name in _READS or name in _WRITES:
        return _file(name, rest)
    if name in ("so", "source"):
        return _does("source", rest), None
    if name in ("norm", "normal"):  # types keys
        return _line(rest.partition(":")[2].replace("\\<CR>", "\n").split("\n")[0], level + 1), None
    own, after = (rest, None) if name in _WHOLE else _at_bar(rest)
    called = frozenset(_NAME.findall(own))
    reaches = name in _EVALUATES or not (called.isdisjoint(_CALLS) and called.isdisjoint(library("vim").calls))
    made = _EXPRESSION(own)[0].body if reaches else []
    return [ast.Expr(nodes.call("execute", [nodes.as_expression(made)]))] if name in _EXECUTES else made, after


def _does(name: str, text: str) -> _Code:
    return [ast.Expr(nodes.call(f"<{name}>", [nodes.text(text.strip())]))]


def _global_command(rest: str) -> str:
    """What `:g/pattern/` does on each line."""
    rest = rest.lstrip("! ")
    if not rest:
        return ""
    end = re.compile(rf"(?:[^\\{re.escape(rest[0])}]|\\.)*{re.escape(rest[0])}").match(rest, 1)
    return rest[end.end() :] if end else ""


def _file(name: str, rest: str) -> tuple[_Code, str | None]:
    stripped = rest.strip()
    if stripped.startswith("!") and (rest[:1].isspace() or name in _READS):
        return _does("shell", stripped[1:]), None
    target, after = _at_bar(rest)
    target = target.strip().lstrip("!").strip()
    if target.startswith("!"):
        return _does("shell", target[1:]), after
    if target.startswith(">>"):
        return _does("append", target[2:]), after
    return _does("write", target) if name in _WRITES and target not in ("", "%") else [], after


def _at_bar(rest: str) -> tuple[str, str | None]:
    """What is before and behind the first bar that is neither escaped nor in a text."""
    at = 0
    while at < len(rest):
        if found := _STRING.match(rest, at):
            at = found.end()
        elif rest[at] == "|":
            return rest[:at], rest[at + 1 :].lstrip("|")
        else:
            at += 1 + (rest[at] == "\\")
    return rest, None


# -- calls that no table describes


def _execute(walk: ProgramWalk, call: LibraryCall) -> Value:
    """The text of an expression is a command."""
    text = call.text(0)
    if text.lstrip(": ").startswith(hole()[0]):
        walk.world.unreadable("a Vim command made at run time", "command")
    else:
        walk.block(_line(text, 0))
    return Sym("?")


def _delete(walk: ProgramWalk, call: LibraryCall) -> Value:
    walk.world.touch("delete", call.get(0), *["recursive"] * ("rf" in call.text(1)))
    return Sym("?")


_CALLS = {"execute": _execute, "delete": _delete}
read_vim = CodeLanguage("Vim", "vim", _parse, _CALLS, holes("$")).read
