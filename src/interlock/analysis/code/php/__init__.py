"""PHP source -> its effects."""

from __future__ import annotations

from msgspec.structs import replace

from interlock.analysis.code import effects, values
from interlock.analysis.code.dialect import PAIRS, CodeDialect
from interlock.analysis.code.php.calls import call_php
from interlock.analysis.code.php.lexing import scan
from interlock.analysis.code.values import EMPTY, UNKNOWN, Value, computed, unknown
from interlock.analysis.code.walk import CodeWalk
from interlock.analysis.facts import Report

BINARY = {
    "or": 0, "and": 0, "xor": 0, "=": 1, ".=": 1, "+=": 1, "-=": 1, "*=": 1, "/=": 1, "??=": 1, "|=": 1, "&=": 1,
    "%=": 1, "?": 2, "??": 3, "||": 4, "&&": 4, "|": 5, "^": 5, "&": 5, "==": 6, "!=": 6, "===": 6, "!==": 6,
    "<>": 6, "<=>": 6, "<": 6, ">": 6, "<=": 6, ">=": 6, ".": 7, "<<": 7, ">>": 7, "+": 8, "-": 8, "*": 9, "/": 9,
    "%": 9, "instanceof": 10, "**": 10,
}  # fmt: skip
_NOISE = frozenset(
    (
        "if else elseif while do for switch case default try catch finally echo print static global var "
        "public private protected final abstract clone throw endif endforeach endwhile endfor const match "
        "readonly declare goto yield"
    ).split()
)


def read_php(source: str, out: Report) -> None:
    """Tell what a PHP program does."""
    effects.read(PHP, source, out, {"$argv": computed("argv"), "$_SERVER": Value(ref="ENV"), "$_ENV": Value(ref="ENV")})


# forms


def _function(walk: CodeWalk) -> Value:
    """function name(…) { … } or an anonymous one: kept until something calls it."""
    walk.skip("&")
    name = walk.token.text if walk.token.kind == "name" else ""
    walk.at += bool(name)
    params = walk.parameters() if walk.is_op("(") else ()
    while walk.at < walk.stop and not walk.is_op("{", ";"):
        walk.at = walk.source.mates.get(walk.at, walk.at) + 1
    return walk.define(name, params) if walk.is_op("{") else EMPTY


def _arrow(walk: CodeWalk) -> Value:
    """fn(…) => …: its body ends where the argument does."""
    walk.skip("&")
    params = walk.parameters() if walk.is_op("(") else ()
    while walk.at < walk.stop and not walk.is_op("=>"):
        walk.at += 1
    start = walk.at + 1
    walk.at = start
    while walk.at < walk.stop and not walk.is_op(",", ";"):
        walk.at = walk.source.mates.get(walk.at, walk.at) + 1
    return walk.keep(params, start, min(walk.at, walk.stop))


def _foreach(walk: CodeWalk) -> Value:
    """foreach (LIST as $key => $value): the value is bound to what the list holds."""
    if not walk.is_op("("):
        return EMPTY
    with walk.inside():
        over = walk.expression(1)
        walk.skip("as")
        names = []
        while walk.at < walk.stop:
            if walk.token.kind == "var":
                names.append(walk.token.text)
            walk.at += 1
    named = over.ref and over.ref not in (PAIRS, "files")
    for name in names[-1:]:
        one = over.each()
        walk.names[name] = (
            replace(one, ref=f"{over.ref}.each", traits=over.traits) if named else replace(one, ref=over.ref)
        )
    for name in names[:-1]:
        walk.names[name] = replace(over.each(), ref=over.ref) if over.ref == "files" else UNKNOWN
    return EMPTY


def _new(walk: CodeWalk) -> Value:
    """new Name(…): some names stand for files or connections."""
    if walk.is_word("class"):
        return EMPTY
    name = walk.token.text
    walk.at += 1
    args = walk.arguments() if walk.is_op("(") else ()
    first = args[0] if args else EMPTY
    if name in ("RecursiveDirectoryIterator", "RecursiveIteratorIterator", "CallbackFilterIterator", "RegexIterator"):
        items = first.items if args else UNKNOWN.items
        return Value(items, True, frozenset({"bulk", "recursive"}), ref="files")
    if name in ("DirectoryIterator", "FilesystemIterator", "GlobIterator"):
        return Value(first.items, True, frozenset({"bulk"}), ref="files")
    if name in ("SplFileObject", "SplFileInfo"):
        return effects.opened(walk, first, args[1].text if len(args) > 1 else "r")
    if name == "COM":
        return Value(ref="COM")
    return Value(ref=name)


def _return(walk: CodeWalk) -> Value:
    walk.returned = walk.expression() if walk.at < walk.stop and not walk.is_op(";") else EMPTY
    return walk.returned


def _include(walk: CodeWalk) -> Value:
    """include and require run what they are given."""
    value = walk.expression(1)
    if value.url or values.is_url(value.text):
        walk.out.effect("run_download", value.url or value.text)
    return UNKNOWN


def _skip_statement(walk: CodeWalk) -> Value:
    while walk.at < walk.stop and not walk.is_op(";", "{"):
        walk.at += 1
    return EMPTY


PHP = CodeDialect(
    name="PHP",
    scan=scan,
    call=call_php,
    binary=BINARY,
    members=frozenset({"->", "?->", "::"}),
    joins=frozenset({"."}),
    forms={
        "function": _function,
        "fn": _arrow,
        "foreach": _foreach,
        "new": _new,
        "return": _return,
        "include": _include,
        "include_once": _include,
        "require": _include,
        "require_once": _include,
        "use": _skip_statement,
        "namespace": _skip_statement,
        "class": _skip_statement,
        "interface": _skip_statement,
        "trait": _skip_statement,
    },
    noise=_NOISE,
    variable=lambda name: unknown(name.lstrip("$")),
    fields=True,
    fork="pcntl_fork",
    endless=frozenset({"while", "for"}),
)
