"""Vim and ex commands -> their effects outside the editor."""

from __future__ import annotations

import ast
import re
from functools import cache

from interlock.analysis.code.language import CodeLanguage, holes
from interlock.analysis.code.lexing import Unparsed
from interlock.analysis.code.library import library
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.values import LibraryCall, Sym, Value
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.code.token_parser import TokenParser, dialect_of
from interlock.analysis.facts import hole

_RANGE = re.compile(r"(?:[%.$]|\d+|'\w|/(?:[^/\\]|\\.)*/|[-+,;]\d*)*")
_MODIFIER = re.compile(
    r"(?:sil(?:e(?:n(?:t)?)?)?|noa(?:utocmd)?|verb(?:ose)?|keepalt|keepjumps|unsilent|tab|vert(?:ical)?|bot(?:right)?)\b!?\s*"
)
_WORD = re.compile(r"[A-Za-z]+\d?")
_NAME = re.compile(r"[A-Za-z_][\w:#]*(?=\s*\()")
_STRING = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"\\\n]|\\.)*\"")
_LEVELS = 5
_dialect = cache(lambda: dialect_of("vim"))

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
        rest = _RANGE.sub("", rest, count=1).lstrip()
        word = _WORD.match(rest)
        if rest.startswith("!"):
            return made + _does("<shell>", rest[1:])
        if word is None:
            rest = _at_bar(rest)[1]
        else:
            named, rest = _named(word.group(), rest[word.end() :], level)
            made += named
    return made


def _named(name: str, rest: str, level: int) -> tuple[_Code, str | None]:
    """What one command does, and what follows its bar."""
    kind = _dialect().commands.get(name, "")
    if kind[:1] == "<":
        return _does(kind, rest.strip(" !") if kind == "<shell>" else rest), None
    if kind in ("on_matches", "on_each"):
        return _line(_on_matches(rest) if kind == "on_matches" else rest, level + 1), None
    if kind == "program" and rest.strip(" !"):
        return [], None
    if kind in ("read", "write"):
        return _file(kind, rest)
    if kind == "keys":
        return _line(rest.partition(":")[2].replace("\\<CR>", "\n").split("\n")[0], level + 1), None
    own, after = (rest, None) if kind == "whole_line" else _at_bar(rest)
    called = frozenset(_NAME.findall(own))
    evaluates = kind in ("execute", "evaluate")
    reaches = evaluates or not (called.isdisjoint(_CALLS) and called.isdisjoint(library("vim").calls))
    made = TokenParser(_dialect(), own).sequence() if reaches else []
    return [ast.Expr(nodes.call("execute", [nodes.as_expression(made)]))] if kind == "execute" else made, after


def _does(name: str, text: str) -> _Code:
    return [ast.Expr(nodes.call(name, [nodes.text(text.strip())]))]


def _on_matches(rest: str) -> str:
    """What `:g/pattern/` does on each line."""
    rest = rest.lstrip("! ")
    if not rest:
        return ""
    end = re.compile(rf"(?:[^\\{re.escape(rest[0])}]|\\.)*{re.escape(rest[0])}").match(rest, 1)
    return rest[end.end() :] if end else ""


def _file(kind: str, rest: str) -> tuple[_Code, str | None]:
    stripped = rest.strip()
    if stripped.startswith("!") and (rest[:1].isspace() or kind == "read"):
        return _does("<shell>", stripped[1:]), None
    target, after = _at_bar(rest)
    target = target.strip().lstrip("!").strip()
    if target.startswith(">>"):
        return _does("<append>", target[2:]), after
    return _does("<write>", target) if kind == "write" and target not in ("", "%") else [], after


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
