"""R source -> its effects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from interlock.analysis.code import effects, values
from interlock.analysis.code.dialect import PAIRS, CodeCall, CodeDialect
from interlock.analysis.code.lexing import CodeToken, Scanner, no_splice, template
from interlock.analysis.code.values import EMPTY, UNKNOWN, Value, glued, listed, text, unknown
from interlock.analysis.code.walk import CodeWalk
from interlock.analysis.facts import Report

BINARY = {
    "<-": 1, "<<-": 1, "=": 1, "->": 1, "~": 2, "||": 3, "|": 3, "&&": 4, "&": 4, "==": 5, "!=": 5, "<": 5, ">": 5,
    "<=": 5, ">=": 5, "+": 6, "-": 6, "*": 7, "/": 7, "%op%": 8, "|>": 8, ":": 9, "^": 10,
}  # fmt: skip
_NAME = re.compile(r"(?:[A-Za-z]|\.(?!\d))[\w.]*|`[^`\n]+`")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+L?|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?L?|\.\d+")
_RAW = re.compile(r"[rR](['\"])(-*)([(\[{])")
_INFIX = re.compile(r"%[^%\n]*%")
_OPERATORS = tuple(("<<- |> <- -> || && == != <= >= ::: ::").split())
_NOISE = frozenset(("if else while repeat for in next break invisible suppressWarnings").split())


def read_r(source: str, out: Report) -> None:
    """Tell what an R program does."""
    effects.read(R, source, out)


def scan(source: str) -> list[CodeToken]:
    """The tokens of an R program; a name before `=` inside a call is the argument's."""
    scanner = Scanner(source)
    open_brackets: list[str] = []
    while scanner.more:
        if scanner.skip_space():
            continue
        if scanner.peek() == "#":
            scanner.skip_line()
        elif scanner.peek() == "\n":
            scanner.at += 1
            if not open_brackets or open_brackets[-1] == "{":
                scanner.emit("end", "\n")
        else:
            _one(scanner)
            _track(scanner, open_brackets)
    return scanner.tokens


def _track(scanner: Scanner, open_brackets: list[str]) -> None:
    token = scanner.last
    if token.kind != "op":
        return
    if token.text in ("(", "[", "{"):
        open_brackets.append(token.text)
    elif token.text in (")", "]", "}") and open_brackets:
        open_brackets.pop()
    elif token.text == "=" and open_brackets[-1:] == ["("] and len(scanner.tokens) > 1:
        before = scanner.tokens[-2]
        if before.kind in ("name", "text"):
            scanner.tokens[-2:] = [CodeToken("text", before.text), CodeToken("op", "=>")]


def _one(scanner: Scanner) -> None:
    char = scanner.peek()
    if found := scanner.take(_RAW):
        closer = {"(": ")", "[": "]", "{": "}"}[found[3]] + found[2] + found[1]
        start = scanner.at
        scanner.skip_past(closer)
        scanner.emit("text", "r", (scanner.source[start : scanner.at - len(closer)],))
    elif char in "'\"":
        scanner.emit("text", char, template(scanner.delimited(), no_splice) or ("",))
    elif found := scanner.take(_NUMBER):
        scanner.emit("number", found.group().rstrip("L"))
    elif found := scanner.take(_NAME):
        scanner.emit("name", found.group().strip("`"))
    elif scanner.take(_INFIX):
        scanner.emit("op", "%op%")
    else:
        scanner.operator(_OPERATORS)


def _function(walk: CodeWalk) -> Value:
    params: tuple[str, ...] = ()
    if walk.is_op("("):
        closer = walk.source.mates[walk.at]
        params = tuple(token.text for token in walk.source.tokens[walk.at : closer] if token.kind in ("name", "text"))
        walk.at = closer + 1
    if walk.is_op("{"):
        closer = walk.source.mates[walk.at]
        value = walk.keep(params, walk.at + 1, closer)
        walk.at = closer + 1
        return value
    start = walk.at
    while walk.at < walk.stop and not walk.is_op(",") and walk.token.kind != "end":
        walk.at = walk.source.mates.get(walk.at, walk.at) + 1
    return walk.keep(params, start, walk.at)


def _for(walk: CodeWalk) -> Value:
    """for (x in LIST)."""
    if walk.is_op("("):
        with walk.inside():
            name = walk.token.text
            walk.at += 2
            walk.names[name] = walk.expression(1).each()
    return EMPTY


def _option(call: CodeCall, name: str) -> Value:
    options = call.args[-1] if call.args and call.args[-1].ref == PAIRS else EMPTY
    return options.at(text(name)) if name in options.items[::2] else EMPTY


def _arg(call: CodeCall, index: int, name: str) -> Value:
    return call.plain[index] if index < len(call.plain) else _option(call, name)


def _is_true(value: Value) -> bool:
    return value.ref in ("TRUE", "T") or value.text in ("1", "TRUE") or "TRUE" in value.text


def _unlink(walk: CodeWalk, call: CodeCall) -> Value:
    recursive = _is_true(_option(call, "recursive")) or (len(call.plain) > 1 and _is_true(call.plain[1]))
    path = _arg(call, 0, "x")
    star = ["bulk"] if "*" in path.text else []
    return effects.delete(walk, [path], *star, *(["recursive"] if recursive else []))


def _files(walk: CodeWalk, call: CodeCall) -> Value:
    place = _arg(call, 0, "path")
    recursive = ["recursive"] if _is_true(_option(call, "recursive")) or _is_true(_option(call, "recurse")) else []
    return effects.listing(text(place.text or "."), *recursive)


def _system2(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.shell(walk, glued([_arg(call, 0, "command"), _arg(call, 1, "args")], " "))


def _eval(walk: CodeWalk, call: CodeCall) -> Value:
    value = call.arg(0)
    if value.ref == "parsed":
        return effects.evaluate(walk, Value(value.items, url=value.url), "r", "R")
    return UNKNOWN


def _parse(walk: CodeWalk, call: CodeCall) -> Value:
    value = _option(call, "text") if call.args and call.args[-1].ref == PAIRS else call.arg(0)
    return Value(value.items, ref="parsed", url=value.url)


def _source(walk: CodeWalk, call: CodeCall) -> Value:
    value = _arg(call, 0, "file")
    walk.out.effect("run_download" if values.is_url(value.text) or value.url else "run_script", value.url or value.text)
    return UNKNOWN


def _download(walk: CodeWalk, call: CodeCall) -> Value:
    effects.fetch(walk, _arg(call, 0, "url"))
    effects.paths(walk, "write", [_arg(call, 1, "destfile")])
    return UNKNOWN


def _write(index: int, name: str) -> Callable[[CodeWalk, CodeCall], Value]:
    def tell(walk: CodeWalk, call: CodeCall) -> Value:
        path = _arg(call, index, name)
        if path.text and path.ref not in ("stdout", "stderr") and not path.blank:
            effects.paths(walk, "write", [path])
        return UNKNOWN

    return tell


def _apply(walk: CodeWalk, call: CodeCall) -> Value:
    """lapply and its kin call a function with every item."""
    items, function = (call.arg(1), call.arg(0)) if call.name in ("Map", "map_chr") else (call.arg(0), call.arg(1))
    return walk.called(function, (items.each(),)) if function.ref or function.body >= 0 else UNKNOWN


def _do_call(walk: CodeWalk, call: CodeCall) -> Value:
    return walk.called(call.arg(0), tuple(text(item) for item in call.arg(1).items))


def _sql(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.sql(walk, _arg(call, 1, "statement"))


def _rename(walk: CodeWalk, call: CodeCall) -> Value:
    effects.paths(walk, "move", call.plain[:1])
    return UNKNOWN


def _drop(walk: CodeWalk, call: CodeCall) -> Value:
    walk.out.effect("sql_drop", _arg(call, 1, "name").text, "table")
    return UNKNOWN


def _paste(walk: CodeWalk, call: CodeCall) -> Value:
    between = (
        _option(call, "sep").text if call.args and "sep" in call.args[-1].items else " " if call.name == "paste" else ""
    )
    return glued(call.plain, between)


_CALLS: Mapping[str, Callable[[CodeWalk, CodeCall], Value]] = {
    "unlink": _unlink,
    "file.remove": lambda walk, call: effects.delete(walk, call.plain),
    "file_delete": lambda walk, call: effects.delete(walk, call.plain),
    "dir_delete": lambda walk, call: effects.delete(walk, call.plain, "recursive"),
    "list.files": _files,
    "dir": _files,
    "dir_ls": _files,
    "list.dirs": _files,
    "Sys.glob": lambda walk, call: effects.listing(call.arg(0)),
    "system": lambda walk, call: effects.shell(walk, _arg(call, 0, "command")),
    "shell": lambda walk, call: effects.shell(walk, _arg(call, 0, "cmd")),
    "pipe": lambda walk, call: effects.shell(walk, _arg(call, 0, "description")),
    "system2": _system2,
    "eval": _eval,
    "parse": _parse,
    "source": _source,
    "download.file": _download,
    "writeLines": _write(1, "con"),
    "write": _write(1, "file"),
    "cat": _write(1000, "file"),
    "saveRDS": _write(1, "file"),
    **dict.fromkeys(["write.csv", "write.csv2", "write.table", "write_csv", "write_tsv", "fwrite"], _write(1, "file")),
    **dict.fromkeys(["write_xlsx", "write.xlsx", "write_rds", "write_dta"], _write(1, "path")),
    "write_parquet": _write(1, "sink"),
    "file.create": lambda walk, call: effects.write_file(walk, call.arg(0), EMPTY),
    "file.rename": _rename,
    "file.copy": _write(1, "to"),
    "Sys.chmod": lambda walk, call: effects.chmod(walk, _arg(call, 1, "mode"), call.plain[:1]),
    "pskill": lambda walk, call: effects.kill(walk, call.plain[:1]),
    "lapply": _apply,
    "sapply": _apply,
    "vapply": _apply,
    "walk": _apply,
    "map": _apply,
    "Map": _apply,
    "do.call": _do_call,
    "dbExecute": _sql,
    "dbSendQuery": _sql,
    "dbGetQuery": _sql,
    "dbSendStatement": _sql,
    "sqlQuery": _sql,
    "dbRemoveTable": _drop,
    "paste": _paste,
    "paste0": _paste,
    "file.path": lambda walk, call: glued(call.plain, "/"),
    "sprintf": lambda walk, call: values.formatted(call.arg(0), call.args[1:]),
    "Sys.getenv": lambda walk, call: unknown(call.arg(0).text),
    "normalizePath": lambda walk, call: call.arg(0),
    "path.expand": lambda walk, call: call.arg(0),
    "c": lambda walk, call: listed(call.plain),
    "list": lambda walk, call: listed(call.plain),
    "intToUtf8": lambda walk, call: values.character(listed(call.plain)),
    "rawToChar": lambda walk, call: call.arg(0),
    "base64decode": lambda walk, call: values.unbase64(call.arg(0)),
    "base64_dec": lambda walk, call: values.unbase64(call.arg(0)),
    "url": lambda walk, call: effects.fetch(walk, call.arg(0)),
    **dict.fromkeys(
        "readLines read.csv read.csv2 read.table read_csv read_tsv fread readRDS read_rds read_excel read.xlsx read_parquet "
        "read_dta".split(),
        lambda walk, call: call.arg(0) if call.arg(0).url else effects.read_file(walk, call.arg(0)),
    ),
}


def _call(walk: CodeWalk, call: CodeCall) -> Value | None:
    known = _CALLS.get(call.name)
    return known(walk, call) if known and (call.on is None or bool(call.on.ref)) else None


R = CodeDialect(
    name="R",
    scan=scan,
    call=_call,
    binary=BINARY,
    members=frozenset({"::", ":::", "$", "@"}),
    joins=frozenset(),
    forms={"function": _function, "\\": _function, "for": _for},
    noise=_NOISE,
    fields=True,
)
