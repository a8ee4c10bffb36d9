"""Groovy source -> its effects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from interlock.analysis.code import effects, orm, values
from interlock.analysis.code.dialect import CodeCall, CodeDialect
from interlock.analysis.code.lexing import CodeToken, Part, Scanner, Splice, balanced, literal, template
from interlock.analysis.code.values import EMPTY, UNKNOWN, Value, listed, text, unknown
from interlock.analysis.code.walk import CodeWalk
from interlock.analysis.facts import Report

BINARY = {
    "=": 1, "+=": 1, "-=": 1, "?": 2, "?:": 2, "||": 3, "&&": 4, "==": 5, "!=": 5, "=~": 5, "==~": 5, "<": 6,
    ">": 6, "<=": 6, ">=": 6, "in": 6, "as": 6, "instanceof": 6, "..": 6, "<<": 7, ">>": 7, "+": 8, "-": 8, "*": 9,
    "/": 9, "%": 9,
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d[\d_]*(?:\.\d+)?[LGfd]?")
_LABEL = re.compile(r"([A-Za-z_]\w*)\s*:(?!:)")
_INNER = re.compile(r"\$[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_OPERATORS = tuple(("==~ <=> ... .. ?. *. ?: -> ++ -- == != <= >= =~ && || += -= << ::").split())
_NOISE = frozenset(
    (
        "def final static public private if else while for try catch finally return switch case default "
        "String throw assert"
    ).split()
)
_EACH = frozenset(("each eachFile eachFileRecurse eachDir eachFileMatch eachLine collect every any findAll").split())


def read_groovy(source: str, out: Report) -> None:
    """Tell what a Groovy program does, a Jenkins pipeline included."""
    effects.read(GROOVY, source, out)


def scan(source: str) -> list[CodeToken]:
    """The tokens of a Groovy program."""
    scanner = Scanner(source)
    while scanner.more:
        if scanner.skip_space():
            continue
        if scanner.starts("//") or scanner.starts("#!"):
            scanner.skip_line()
        elif scanner.starts("/*"):
            scanner.skip_past("*/")
        elif scanner.peek() == "\n":
            scanner.at += 1
            if scanner.last.kind != "op" or scanner.last.text in (")", "]", "}", "{"):
                scanner.emit("end", "\n")
        else:
            _one(scanner)
    return scanner.tokens


def _one(scanner: Scanner) -> None:
    char = scanner.peek()
    operand = scanner.last.kind in ("op", "end") and scanner.last.text not in (")", "]", "}")
    if scanner.starts('"""') or scanner.starts("'''"):
        quotes = scanner.source[scanner.at : scanner.at + 3]
        scanner.at += 3
        start = scanner.at
        scanner.skip_past(quotes)
        raw = scanner.source[start : scanner.at - 3]
        scanner.emit("text", quotes, (raw,) if char == "'" else template(raw, splice) or ("",))
    elif char == "'":
        scanner.emit("text", char, (literal(scanner.delimited()),))
    elif char == '"':
        scanner.emit("text", char, template(scanner.delimited("${"), splice) or ("",))
    elif char == "/" and operand:
        scanner.emit("text", char, (scanner.delimited(),))
    elif found := scanner.take(_NUMBER):
        scanner.emit("number", found.group())
    elif scanner.last.text in ("(", ",", "[") and (found := scanner.take(_LABEL)):
        scanner.emit("text", found[1])
        scanner.emit("op", "=>")
    elif found := scanner.take(_NAME):
        scanner.emit("name", found.group())
    else:
        scanner.operator(_OPERATORS)


def splice(raw: str, at: int) -> tuple[Part, int] | None:
    """The code that begins inside a double-quoted text."""
    if raw.startswith("${", at):
        end = balanced(raw, at + 1)
        return Splice(raw[at + 2 : end - 1]), end
    found = _INNER.match(raw, at)
    return (Splice(found.group()[1:]), found.end()) if found else None


def _block(walk: CodeWalk) -> Value:
    """A closure, with the names before its arrow."""
    closer = walk.source.mates[walk.at]
    start, params = walk.at + 1, []
    index = start
    while index < min(closer, start + 8) and walk.source.tokens[index].kind in ("name", "op"):
        token = walk.source.tokens[index]
        if token.kind == "op" and token.text == "->":
            start = index + 1
            break
        params += [token.text] if token.kind == "name" else []
        index += 1
    walk.at = closer + 1
    return walk.keep(tuple(params[-1:]) if start == index + 1 else ("it",), start, closer)


def _new(walk: CodeWalk) -> Value:
    name = ""
    while walk.token.kind == "name" or walk.is_op("."):
        name = walk.token.text
        walk.at += 1
    args = walk.arguments() if walk.is_op("(") else ()
    first = args[0] if args else EMPTY
    if name == "File":
        return Value(("/".join(value.text for value in args),), ref="path")
    if name == "ProcessBuilder":
        return Value(listed(args).items, True, ref="process")
    if name == "URL":
        return Value(first.items, ref="url", url=first.text)
    if name == "Socket" and args:
        return effects.socket(walk, first, args[1] if len(args) > 1 else None)
    if name == "AntBuilder":
        return Value(ref="ant")
    return Value(ref=name)


def _sh(walk: CodeWalk, call: CodeCall) -> Value:
    options = call.args[-1] if call.args else EMPTY
    return effects.shell(walk, call.plain[0] if call.plain else options.at(text("script")))


_CALLS: Mapping[str, Callable[[CodeWalk, CodeCall], Value]] = {
    "sh": _sh,
    "bat": _sh,
    "evaluate": lambda walk, call: effects.evaluate(walk, call.arg(0), "groovy", "Groovy"),
    "Eval.me": lambda walk, call: effects.evaluate(walk, call.arg(0), "groovy", "Groovy"),
    "GroovyShell.evaluate": lambda walk, call: effects.evaluate(walk, call.arg(0), "groovy", "Groovy"),
    "Runtime.getRuntime.exec": lambda walk, call: effects.command(walk, call.plain[:1]),
    "Runtime.runtime.exec": lambda walk, call: effects.command(walk, call.plain[:1]),
    "System.getenv": lambda walk, call: unknown(call.arg(0).text),
    "System.getProperty": lambda walk, call: unknown("HOME" if call.arg(0).text == "user.home" else ""),
    "Files.delete": lambda walk, call: effects.delete(walk, call.plain),
    "Files.deleteIfExists": lambda walk, call: effects.delete(walk, call.plain),
    "FileUtils.deleteDirectory": lambda walk, call: effects.delete(walk, call.plain, "recursive"),
    "Paths.get": lambda walk, call: Value(("/".join(value.text for value in call.plain),), ref="path"),
    "ant.delete": lambda walk, call: effects.delete(walk, [listed(call.args).at(text("dir"))], "recursive"),
    "deleteDir": lambda walk, call: effects.delete(walk, [text(".")], "recursive"),
    "file": lambda walk, call: Value(call.arg(0).items, ref="path"),
}
_ON_PATH: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "delete": ("delete", ()),
    "deleteDir": ("delete", ("recursive",)),
    "deleteOnExit": ("delete", ()),
    "write": ("write", ()),
    "setText": ("write", ()),
    "append": ("append", ()),
    "renameTo": ("move", ()),
}


def _call(walk: CodeWalk, call: CodeCall) -> Value | None:
    known = _CALLS.get(call.path)
    if known and (call.args or call.name in ("deleteDir",)):
        return known(walk, call)
    on = call.on
    if on is None:
        return None
    if call.name == "execute" and not on.ref:
        return (
            effects.run(walk, [on])
            if on.many
            else effects.run(walk, [values.split(on, None)])
            if on.known
            else effects.shell(walk, on)
        )
    if call.name in ("start", "command") and on.ref == "process":
        return effects.run(walk, [replace(on, ref="")])
    if on.ref == "url" and call.name in ("getText", "openStream", "text"):
        return effects.fetch(walk, Value(on.items))
    if call.name in _EACH:
        return _looped(walk, call, on)
    if on.ref == "path" and call.name in _ON_PATH:
        verb, traits = _ON_PATH[call.name]
        effects.paths(walk, verb, [on], *traits)
        return UNKNOWN
    return orm.common(walk, call)


def _looped(walk: CodeWalk, call: CodeCall, on: Value) -> Value:
    deeper = {"recursive"} if call.name == "eachFileRecurse" else set()
    inside = call.name.startswith("eachFile") or call.name == "eachDir"
    one = replace(on, many=False, traits=frozenset({"bulk", *deeper})) if inside else replace(on.each(), ref=on.ref)
    for value in call.args:
        if value.body >= 0:
            walk.run(value.body, (one,))
    return on


def _bare(walk: CodeWalk, token: CodeToken) -> int:
    if walk.token.kind in ("text", "number") and walk.token.spaced:
        return 2
    return (
        0 if walk.is_op("{") and (token.parts or token.text in ("node", "stage", "steps", "pipeline", "script")) else -1
    )


GROOVY = CodeDialect(
    name="Groovy",
    scan=scan,
    call=_call,
    binary=BINARY,
    members=frozenset({".", "?.", "*."}),
    joins=frozenset({"+"}),
    repeats="*",
    forms={"new": _new},
    noise=_NOISE,
    bare=_bare,
    fields=True,
    block=_block,
)
