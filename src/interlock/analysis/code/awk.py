"""awk programs -> their effects besides printing."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache

from interlock.analysis.code import token_parser as tokens
from interlock.analysis.code.grammar import CONDITION
from interlock.analysis.code.language import CodeLanguage, holes
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.results import result
from interlock.analysis.code.program.values import LibraryCall, Sym, Value, text_of
from interlock.analysis.code.program.walk import ProgramWalk, is_bare_shell
from interlock.analysis.code.token_parser import TokenParser
from interlock.analysis.facts import Report, known, without_holes

_REDIRECTS = frozenset({">", ">>", "|", "|&"})
_TCP = re.compile(r"/inet[46]?/(?:tcp|udp)/[^/]*/([^/]+)/([^/]+)")
_STREAMS = ("/dev/std", "/dev/tty", "/dev/null", "/dev/fd/")


def read_awk(source: str, out: Report, given: Mapping[str, str] | None = None) -> None:
    """Tell which commands an awk program runs and which files it writes; `given` are the variables of -v."""
    _AWK.read(source, out, {f"${name}": value for name, value in (given or {}).items()})


def _parse(source: str) -> tuple[ast.Module, bool]:
    """The rules of a program, of which only those for its begin and its end surely run."""
    parser = TokenParser(_dialect(), source)
    made: list[ast.stmt] = []
    while parser.at < parser.stop:
        before, sure = parser.at, parser.skip("BEGIN", "END")
        if parser.is_op("{"):
            block = parser.block()
            made += block if sure else nodes.branch(CONDITION, block, [])
        else:
            made += nodes.as_statements(parser.statement())
        parser.at = max(parser.at, before + 1)
    return ast.Module(made, []), True


# -- words with an own syntax


def _print(parser: TokenParser) -> ast.expr:
    formats = parser.tokens[parser.at - 1].text == "printf"
    printed: list[ast.expr] = []
    while parser.at < parser.stop and not parser.is_op(*_REDIRECTS, ";", "}") and parser.token.kind != "end":
        printed.append(parser.expression(2))
        if not parser.skip(","):
            break
    if len(printed) == 1 and isinstance(printed[0], ast.List):  # in brackets
        printed = printed[0].elts
    if formats:
        printed = [nodes.call("sprintf", printed)]
    if not parser.is_op(*_REDIRECTS):
        return nodes.several(printed)
    sign = nodes.text(parser.token.text)
    parser.at += 1
    return nodes.call("<print>", [sign, parser.expression(parser.dialect.adjacent), *printed])


def _getline(parser: TokenParser) -> ast.expr:
    if parser.token.kind == "var" or parser.is_word("$"):
        parser.operand()
    return nodes.call("<getline>", [], [nodes.named("file", parser.operand())] if parser.skip("<") else [])


def _indirect(parser: TokenParser) -> ast.expr:
    """gawk's @name(…) calls the function whose name is in a variable."""
    name = nodes.name(f"${parser.token.text}")
    parser.at += 1
    return nodes.call("<chosen>", [name, *parser.arguments()[0]]) if parser.is_op("(") else nodes.NOTHING


def _function(parser: TokenParser) -> ast.expr:
    title = parser.token.text
    parser.at += 1
    given = tokens.params(parser)
    return nodes.Body([nodes.function(given, parser.block() if parser.is_op("{") else [], title)])


def _field(parser: TokenParser) -> ast.expr:
    return nodes.Body([ast.Expr(parser.operand()), ast.Expr(nodes.name("$field"))])


_dialect = cache(lambda: tokens.dialect_of("awk", _print, _getline, _field, _indirect, _function))


# -- calls that no table describes


def _print_to(walk: ProgramWalk, call: LibraryCall) -> Value:
    """What is printed into a bare shell is what the shell runs."""
    sign, where, *printed = call.args
    path, text = text_of(where), text_of(result("join", [" ", printed]))
    if sign in ("|", "|&"):
        _run(walk, text if is_bare_shell(path) else path)
    elif not path.startswith(_STREAMS):
        empty = bool(printed) and known(text) and not text.strip()
        walk.world.effect("append" if sign == ">>" else "truncate" if empty else "write", path)
    return Sym("?")


def _read(walk: ProgramWalk, call: LibraryCall) -> Value:
    """A line of what a command prints, or of a file."""
    for command in call.args:
        _run(walk, text_of(command))
    path = text_of(call.named.get("file", "-"))
    if known(path) and path not in ("-", "/dev/stdin"):
        walk.world.effect("read", path)
    return Sym("?")


def _run(walk: ProgramWalk, command: str) -> None:
    """A command, or the name of a connection; what comes over that and is run makes it a reverse shell."""
    found = _TCP.match(command)
    if found:
        walk.world.peer = f"{found[1]}:{found[2]}"
    elif not without_holes(command) and walk.world.peer:
        walk.world.shells += 1
    elif command.strip():
        walk.world.shell(command)


_AWK = CodeLanguage("Awk", "awk", _parse, {"<print>": _print_to, "<getline>": _read}, holes("$"))
