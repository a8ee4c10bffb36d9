"""Elixir source -> its effects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from interlock.analysis.code import effects, values
from interlock.analysis.code.dialect import CodeCall, CodeDialect
from interlock.analysis.code.lexing import CodeToken, Part, Scanner, Splice, balanced, literal, template
from interlock.analysis.code.values import EMPTY, UNKNOWN, Value, glued, text, unknown
from interlock.analysis.code.walk import CodeWalk
from interlock.analysis.facts import Report

BINARY = {
    "=": 1, "|": 1, "or": 2, "||": 2, "and": 3, "&&": 3, "==": 4, "!=": 4, "=~": 4, "===": 4, "<": 5, ">": 5,
    "<=": 5, ">=": 5, "in": 5, "|>": 6, "++": 7, "<>": 7, "..": 7, "+": 8, "-": 8, "*": 9, "/": 9,
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z_]\w*[?!]?")
_LABEL = re.compile(r"([a-z_]\w*[?!]?):(?=\s)")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d[\d_]*(?:\.\d+)?")
_ATOM = re.compile(r":([A-Za-z_]\w*[?!]?)")
_SIGIL = re.compile(r"~([a-zA-Z])(?=[(\[{</|\"'])")
_ARITY = re.compile(r"/\d+")
_OPERATORS = tuple(("|> <> ++ -- -> <- => == != <= >= =~ && || .. :: %{ \\").split())
_NOISE = frozenset(
    (
        "if unless case cond with for else when defmodule import alias require use try rescue after not receive catch"
    ).split()
)


def read_elixir(source: str, out: Report) -> None:
    """Tell what an Elixir program does."""
    effects.read(ELIXIR, source, out)


def scan(source: str) -> list[CodeToken]:
    """The tokens of an Elixir program, every `do … end` and `fn … end` in brackets."""
    scanner = Scanner(source)
    while scanner.more:
        if scanner.skip_space():
            continue
        if scanner.peek() == "#":
            scanner.skip_line()
        elif scanner.peek() == "\n":
            scanner.at += 1
            if not re.compile(r"\s*\|>").match(scanner.source, scanner.at):
                scanner.emit("end", "\n")
        else:
            _one(scanner)
    return scanner.tokens


def _one(scanner: Scanner) -> None:
    char = scanner.peek()
    if scanner.starts('"""') or scanner.starts("'''"):
        quotes = scanner.source[scanner.at : scanner.at + 3]
        scanner.at += 3
        start = scanner.at
        scanner.skip_past(quotes)
        scanner.emit("text", quotes, template(scanner.source[start : scanner.at - 3], splice) or ("",))
    elif char in "\"'":
        scanner.emit("text", char, template(scanner.delimited("#{"), splice) or ("",))
    elif found := scanner.take(_SIGIL):
        raw = scanner.delimited()
        scanner.take(re.compile(r"[a-z]*"))
        scanner.emit("words" if found[1] in "wW" else "text", raw, () if found[1] in "wW" else (literal(raw),))
    elif found := scanner.take(_NUMBER):
        scanner.emit("number", found.group().replace("_", ""))
    elif char == ":" and (found := scanner.take(_ATOM)):
        scanner.emit("name" if scanner.peek() == "." else "text", found[1] if scanner.peek() != "." else ":" + found[1])
    elif found := scanner.take(_LABEL):
        scanner.emit("text", found[1])
        scanner.emit("op", "=>")
    elif found := scanner.take(_NAME):
        _word(scanner, found.group())
    else:
        scanner.operator(_OPERATORS)
        if scanner.last.text == "%{":
            scanner.tokens[-1] = CodeToken("op", "{")


def _word(scanner: Scanner, word: str) -> None:
    if word == "do":
        scanner.emit("op", "{")
    elif word == "end":
        scanner.emit("op", "}")
    elif word == "fn":
        scanner.emit("name", "fn")
        scanner.emit("op", "{")
    else:
        scanner.emit("name", word)
        if scanner.last.kind == "name" and len(scanner.tokens) > 1 and scanner.tokens[-2].text in (".", "&"):
            scanner.take(_ARITY)


def splice(raw: str, at: int) -> tuple[Part, int] | None:
    """The code that begins inside a text."""
    if not raw.startswith("#{", at):
        return None
    end = balanced(raw, at + 1)
    return Splice(raw[at + 2 : end - 1]), end


def _fn(walk: CodeWalk) -> Value:
    if not walk.is_op("{"):
        return UNKNOWN
    closer = walk.source.mates[walk.at]
    index, params = walk.at + 1, []
    while index < closer and walk.source.tokens[index].text != "->":
        params += [walk.source.tokens[index].text] if walk.source.tokens[index].kind == "name" else []
        index += 1
    walk.at = closer + 1
    return walk.keep(tuple(params), index + 1, closer)


def _def(walk: CodeWalk) -> Value:
    """def name(a, b) do … end: kept until something calls it."""
    name = walk.token.text
    walk.at += 1
    params: tuple[str, ...] = ()
    if walk.is_op("("):
        closer = walk.source.mates[walk.at]
        params = tuple(token.text for token in walk.source.tokens[walk.at : closer] if token.kind == "name")
        walk.at = closer + 1
    if walk.is_op("{"):
        closer = walk.source.mates[walk.at]
        walk.functions[name] = walk.keep(params, walk.at + 1, closer).body
        walk.at = closer + 1
    return EMPTY


def _from(walk: CodeWalk) -> Value:
    """from x in Table, where: …: which table, and whether all of it."""
    start = walk.at
    walk.at = walk.source.mates[start] + 1 if walk.is_op("(") else walk.stop
    tokens = walk.source.tokens[start : walk.at]
    table = next((token.text for token in tokens if token.kind == "name" and token.text[:1].isupper()), "")
    narrow = any(token.kind == "text" and token.text in ("where", "limit", "or_where", "join") for token in tokens)
    return Value(ref=f"{table}.where" if narrow else table)


def _cmd(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.run(walk, call.plain[:2])


def _shell(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.shell(walk, call.arg(0))


def _each(walk: CodeWalk, call: CodeCall) -> Value:
    items, function = call.arg(0), call.arg(1)
    if function.body >= 0 or function.ref:
        walk.called(function, (items.each(),))
    return items


def _repo_delete(walk: CodeWalk, call: CodeCall) -> Value:
    value = call.arg(0)
    whole = value.ref[:1].isupper() and "where" not in value.ref
    walk.out.effect(
        "sql_delete",
        value.ref.removesuffix(".where") or value.text,
        *(["unfiltered"] if whole and call.name == "delete_all" else []),
    )
    return UNKNOWN


def _query(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.sql(walk, call.arg(1) if call.path.startswith("Ecto") else call.arg(0))


def _deletes(*traits: str) -> Callable[[CodeWalk, CodeCall], Value]:
    return lambda walk, call: effects.delete(walk, call.plain[:1], *traits)


_CALLS: Mapping[str, Callable[[CodeWalk, CodeCall], Value]] = {
    **dict.fromkeys(("File.rm", "File.rm!", ":file.delete"), _deletes()),
    **dict.fromkeys(("File.rm_rf", "File.rm_rf!", ":file.del_dir_r"), _deletes("recursive")),
    **dict.fromkeys(("File.rmdir", "File.rmdir!", ":file.del_dir"), _deletes("empty_only")),
    **dict.fromkeys(
        ("File.write", "File.write!"), lambda walk, call: effects.write_file(walk, call.arg(0), call.arg(1))
    ),
    **dict.fromkeys(("System.cmd", "MuonTrap.cmd"), _cmd),
    **dict.fromkeys(("System.shell", ":os.cmd", "Mix.shell.cmd"), _shell),
    **dict.fromkeys(
        ("Code.eval_string", "Code.eval_quoted"),
        lambda walk, call: effects.evaluate(walk, call.arg(0), "elixir", "Elixir"),
    ),
    **dict.fromkeys(("Enum.each", "Enum.map", "Task.async_stream"), _each),
    "Path.wildcard": lambda walk, call: effects.listing(call.arg(0)),
    "File.ls!": lambda walk, call: effects.listing(UNKNOWN),
    "Path.join": lambda walk, call: glued(
        call.plain if len(call.plain) > 1 else [text(i) for i in call.arg(0).items], "/"
    ),
    "Path.expand": lambda walk, call: call.arg(0),
    "System.get_env": lambda walk, call: unknown(call.arg(0).text),
    "System.user_home!": lambda walk, call: unknown("HOME"),
    "System.user_home": lambda walk, call: unknown("HOME"),
    "Base.decode64!": lambda walk, call: values.unbase64(call.arg(0)),
    "String.reverse": lambda walk, call: values.backwards(call.arg(0)),
    "Enum.join": lambda walk, call: values.joined(call.arg(1), call.arg(0)),
    "String.to_charlist": lambda walk, call: call.arg(0),
    "Mix.Task.run": lambda walk, call: effects.run(walk, [text("mix"), *call.plain]),
}


def _call(walk: CodeWalk, call: CodeCall) -> Value | None:
    known = _CALLS.get(call.path)
    if known:
        return known(walk, call)
    if call.on is not None and call.on.ref.endswith("Repo") and call.name in ("delete_all", "delete", "delete!"):
        return _repo_delete(walk, call)
    if call.name in ("query", "query!") and call.on is not None and call.on.ref.endswith(("Repo", "SQL")):
        return _query(walk, call)
    return Value(ref=f"{call.arg(0).ref}.where") if call.name == "where" and call.args else None


def _bare(walk: CodeWalk, token: CodeToken) -> int:
    """A call may stand without brackets before a text, a name or a list."""
    starts = walk.token.kind in ("text", "words", "number") and walk.token.spaced
    return 2 if starts and (token.parts or token.text[:1].islower()) else -1


def _piped(dialect: CodeDialect) -> CodeDialect:
    """`x |> f(y)` is `f(x, y)`: the tokens are put in that order before they are walked."""
    return replace(dialect, scan=lambda source: _unpiped(scan(source)))


def _unpiped(tokens: list[CodeToken]) -> list[CodeToken]:
    """The tokens with every pipe turned into the argument that it is."""
    made: list[CodeToken] = []
    start = 0  # where the piped value began
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "op" and token.text == "|>":
            index = _pipe(tokens, index + 1, made, start)
            continue
        if token.kind == "end" or (token.kind == "op" and token.text in (";", "{", "}", "=", "->", ",")):
            start = len(made) + 1
        made.append(token)
        index += 1
    return made


def _pipe(tokens: list[CodeToken], index: int, made: list[CodeToken], start: int) -> int:
    value = made[start:]
    del made[start:]
    while index < len(tokens) and (tokens[index].kind in ("name", "end") or tokens[index].text == "."):
        made += [tokens[index]] if tokens[index].kind != "end" else []
        index += 1
    made += [CodeToken("op", "("), *value]
    if index < len(tokens) and tokens[index].kind == "op" and tokens[index].text == "(":
        closes = index + 1 < len(tokens) and tokens[index + 1].text == ")" and tokens[index + 1].kind == "op"
        made += [] if closes else [CodeToken("op", ",")]
        return _copy_arguments(tokens, index + 1, made)
    made.append(CodeToken("op", ")"))
    return index


def _copy_arguments(tokens: list[CodeToken], index: int, made: list[CodeToken]) -> int:
    depth = 1
    while index < len(tokens) and depth:
        token = tokens[index]
        if token.kind == "op":
            depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        made.append(token)
        index += 1
    return index


ELIXIR = _piped(
    CodeDialect(
        name="Elixir",
        scan=scan,
        call=_call,
        binary=BINARY,
        members=frozenset({"."}),
        joins=frozenset({"<>", "++"}),
        forms={"fn": _fn, "from": _from, "def": _def, "defp": _def},
        noise=_NOISE,
        bare=_bare,
        fields=True,
    )
)
