"""Lua source -> its effects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from interlock.analysis.code import effects, values
from interlock.analysis.code.dialect import CodeCall, CodeDialect
from interlock.analysis.code.lexing import CodeToken, Scanner, no_splice, template, unescape
from interlock.analysis.code.values import EMPTY, UNKNOWN, Value, computed, listed, text, unknown
from interlock.analysis.code.walk import CodeWalk
from interlock.analysis.facts import Report

BINARY = {
    "=": 1, "or": 2, "and": 3, "==": 4, "~=": 4, "<": 4, ">": 4, "<=": 4, ">=": 4, "|": 5, "~": 5, "&": 5, "<<": 6,
    ">>": 6, "..": 7, "+": 8, "-": 8, "*": 9, "/": 9, "//": 9, "%": 9, "^": 10,
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F.]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
_LONG = re.compile(r"\[(=*)\[\r?\n?")
_OPERATORS = tuple(("... .. :: == ~= <= >= // << >>").split())
_NOISE = frozenset({"local", "if", "elseif", "while", "not", "break", "goto", "until"})


def read_lua(source: str, out: Report) -> None:
    """Tell what a Lua program does."""
    effects.read(LUA, source, out, {"arg": computed("arg")})


def scan(source: str) -> list[CodeToken]:
    """The tokens of a Lua program, every `end` turned into the bracket that it is."""
    scanner = Scanner(source)
    if source.startswith("#"):
        scanner.skip_line()
    while scanner.more:
        if scanner.skip_space():
            continue
        if scanner.peek() == "\n":
            scanner.at += 1
            scanner.spaced = True
        elif scanner.starts("--"):
            scanner.at += 2
            found = scanner.take(_LONG)
            if found:
                scanner.skip_past(f"]{found[1]}]")
            else:
                scanner.skip_line()
        else:
            _one(scanner)
    return _bracketed(scanner.tokens)


def _one(scanner: Scanner) -> None:
    char = scanner.peek()
    if char in "'\"":
        scanner.emit("text", char, template(scanner.delimited(), no_splice, _escape) or ("",))
    elif found := scanner.take(_LONG):
        start = scanner.at
        scanner.skip_past(f"]{found[1]}]")
        scanner.emit("text", "[[", (scanner.source[start : scanner.at - 2 - len(found[1])],))
    elif found := scanner.take(_NUMBER):
        scanner.emit("number", found.group())
    elif found := scanner.take(_NAME):
        scanner.emit("name", found.group())
    else:
        scanner.operator(_OPERATORS)


def _escape(raw: str, at: int) -> tuple[str, int]:
    return unescape(raw, at, octal=False)


def _bracketed(tokens: list[CodeToken]) -> list[CodeToken]:
    made: list[CodeToken] = []
    header = False
    for token in tokens:
        word = token.text if token.kind == "name" and (not made or made[-1].text not in (".", ":")) else ""
        if word in ("do", "then", "repeat"):
            made.append(CodeToken("op", "{"))
        elif word in ("else", "elseif"):
            made.append(CodeToken("op", "}"))
            made.append(CodeToken("op", "{") if word == "else" else token)
        elif word in ("end", "until"):
            made.append(CodeToken("op", "}"))
        else:
            made.append(token)
            header = header or word == "function"
            if header and token.kind == "op" and token.text == ")":
                made.append(CodeToken("op", "{"))
                header = False
    return made


def _function(walk: CodeWalk) -> Value:
    name = ""
    while walk.token.kind == "name" or walk.is_op(".", ":"):
        name = walk.token.text
        walk.at += 1
    if not walk.is_op("("):
        return UNKNOWN
    closer = walk.source.mates[walk.at]
    params = tuple(token.text for token in walk.source.tokens[walk.at : closer] if token.kind == "name")
    walk.at = closer + 1
    end = walk.source.mates[walk.at]
    value = walk.keep(params, walk.at + 1, end)
    walk.at = end + 1
    if name:
        walk.functions[name] = value.body
    return value


def _for(walk: CodeWalk) -> Value:
    """for a, b in LIST: every name is bound to what the list holds."""
    names = []
    while walk.at < walk.stop and not walk.is_op("=") and not walk.is_word("in"):
        if walk.token.kind == "name":
            names.append(walk.token.text)
        walk.at += 1
    walk.at += 1
    over = listed([walk.expression(1)])
    while walk.skip(","):
        walk.expression(1)
    for name in names:
        walk.names[name] = replace(over.each(), url=over.url)
    return EMPTY


def _return(walk: CodeWalk) -> Value:
    walk.returned = walk.expression() if walk.at < walk.stop else EMPTY
    return walk.returned


def _open(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.opened(walk, call.arg(0), call.arg(1).text or "r")


def _load(walk: CodeWalk, call: CodeCall) -> Value:
    effects.evaluate(walk, call.arg(0), "lua", "Lua")
    return Value(ref="chunk")


def _rename(walk: CodeWalk, call: CodeCall) -> Value:
    effects.paths(walk, "move", call.plain[:1])
    effects.paths(walk, "write", call.plain[1:2])
    return UNKNOWN


def _output(walk: CodeWalk, call: CodeCall) -> Value:
    effects.opened(walk, call.arg(0), "w")
    walk.notes.wrote(call.arg(0).text)
    return UNKNOWN


def _script(walk: CodeWalk, call: CodeCall) -> Value:
    walk.out.effect("run_script", call.arg(0).text)
    return UNKNOWN


_CALLS: Mapping[str, Callable[[CodeWalk, CodeCall], Value | None]] = {
    "os.remove": lambda walk, call: effects.delete(walk, call.plain),
    "os.rename": _rename,
    "os.execute": lambda walk, call: effects.command(walk, call.plain[:1]),
    "io.popen": lambda walk, call: effects.command(walk, call.plain[:1]),
    "io.open": _open,
    "io.output": _output,
    "io.lines": lambda walk, call: effects.read_file(walk, call.arg(0)),
    "lfs.rmdir": lambda walk, call: effects.delete(walk, call.plain, "empty_only"),
    "lfs.dir": lambda walk, call: computed(),
    "vim.fn.system": lambda walk, call: effects.command(walk, call.plain[:1]),
    "vim.fn.delete": lambda walk, call: _vim_delete(walk, call),
    "vim.cmd": lambda walk, call: effects.evaluate(walk, call.arg(0), "vim", "Vim"),
    "redis.call": lambda walk, call: effects.run(walk, [text("redis-cli"), *call.plain]),
    "load": _load,
    "loadstring": _load,
    "dofile": _script,
    "socket.connect": lambda walk, call: effects.socket(walk, call.arg(0), call.arg(1)),
    "socket.http.request": lambda walk, call: effects.fetch(walk, call.arg(0)),
    "http.request": lambda walk, call: effects.fetch(walk, call.arg(0)),
    "os.getenv": lambda walk, call: unknown(call.arg(0).text),
    "table.concat": lambda walk, call: values.joined(call.arg(1), call.arg(0)),
    "string.char": lambda walk, call: values.character(listed(call.args)),
    "string.reverse": lambda walk, call: values.backwards(call.arg(0)),
    "string.format": lambda walk, call: values.formatted(call.arg(0), call.args[1:]),
    "string.rep": lambda walk, call: values.repeated(call.arg(0), call.arg(1)),
    "string.lower": lambda walk, call: values.lower(call.arg(0)),
    "string.upper": lambda walk, call: values.upper(call.arg(0)),
    "tostring": lambda walk, call: call.arg(0),
    "ipairs": lambda walk, call: call.arg(0),
    "pairs": lambda walk, call: call.arg(0),
    "assert": lambda walk, call: call.arg(0),
    "pcall": lambda walk, call: walk.called(call.arg(0), call.args[1:]),
    "require": lambda walk, call: Value(ref=call.arg(0).text if call.arg(0).known else ""),
}
_ON_TEXT: Mapping[str, str] = {
    "reverse": "string.reverse",
    "lower": "string.lower",
    "upper": "string.upper",
    "format": "string.format",
    "rep": "string.rep",
}


def _vim_delete(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.delete(walk, call.plain[:1], *(["recursive"] if call.arg(1).text == "rf" else []))


def _call(walk: CodeWalk, call: CodeCall) -> Value | None:
    known = _CALLS.get(call.path.removeprefix("_G."))
    if known:
        return known(walk, call)
    if call.on is None:
        return None
    if call.on.ref == "_G" and call.name == "[]":
        return Value(ref=call.arg(0).text)
    if call.name == "[]":
        return (
            Value(ref=f"{call.on.ref}.{call.arg(0).text}")
            if call.arg(0).known and call.on.ref in ("os", "io", "string")
            else None
        )
    if call.on.ref in ("file", effects.PIPE):
        if call.name == "write":
            effects.written(walk, call.on, call.plain)
        return call.on
    if call.on.url:
        return call.on
    if call.name in _ON_TEXT and call.on.known:
        return _CALLS[_ON_TEXT[call.name]](walk, CodeCall(call.name, (call.on, *call.args)))
    return None


def _bare(walk: CodeWalk, token: CodeToken) -> int:
    """f "text" and f { … } are calls."""
    return 1 if walk.token.kind == "text" else -1


LUA = CodeDialect(
    name="Lua",
    scan=scan,
    call=_call,
    binary=BINARY,
    members=frozenset({".", ":"}),
    joins=frozenset({".."}),
    forms={"function": _function, "for": _for, "return": _return},
    noise=_NOISE,
    bare=_bare,
    fields=True,
)
