"""awk programs -> their effects besides printing."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from interlock.analysis.code import token_parser as tokens
from interlock.analysis.code.grammar import CONDITION
from interlock.analysis.code.language import CodeLanguage, holes
from interlock.analysis.code.lexing import CodeToken, Scanner, scan, template
from interlock.analysis.code.library import words
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.results import result
from interlock.analysis.code.program.values import Sym, Value, text_of
from interlock.analysis.code.program.walk import ProgramWalk, is_bare_shell
from interlock.analysis.code.token_parser import TokenDialect, TokenParser
from interlock.analysis.facts import Report, known, without_holes

_OPERATORS_BY_RANK = {
    "=": 1, "+=": 1, "-=": 1, "*=": 1, "/=": 1, "%=": 1, "^=": 1, ">": 1, "|>": 1, "?": 2, "||": 3, "&&": 4, "in": 5, "~": 6,
    "!~": 6, "<": 7, "<=": 7, ">=": 7, "==": 7, "!=": 7, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10, "^": 11, "**": 11,
}  # fmt: skip
_ADJACENT = 8  # how tightly values bind that stand side by side
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+")
_OPERATORS = tuple(("**= || && |& >> == != <= >= += -= *= /= %= ^= !~ **").split())
_COUNTS = re.compile(r"\+\+|--")
_INTO_GETLINE = re.compile(r"\|&?\s*(?=getline\b)")
_UNENDED = frozenset({",", "{", "&&", "||", "do", "else"})  # a line behind these goes on in the next
_REDIRECTS = frozenset({">", ">>", "|", "|&"})
_TCP = re.compile(r"/inet[46]?/(?:tcp|udp)/[^/]*/([^/]+)/([^/]+)")
_STREAMS = ("/dev/std", "/dev/tty", "/dev/null", "/dev/fd/")


def read_awk(source: str, out: Report, given: Mapping[str, str] | None = None) -> None:
    """Tell which commands an awk program runs and which files it writes; `given` are the variables of -v."""
    _AWK.read(source, out, {f"${name}": value for name, value in (given or {}).items()})


def _parse(source: str) -> tuple[ast.Module, bool]:
    """The rules of a program, of which only those for its begin and its end surely run."""
    parser = TokenParser(_DIALECT, scan(source, _one, lambda scanner: scanner.last.text not in _UNENDED, "#"))
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


# -- tokens


def _one(scanner: Scanner) -> None:
    char = scanner.peek()
    if scanner.starts("\\\n"):
        scanner.at += 2
    elif char == '"':
        scanner.emit("text", char, template(scanner.delimited()) or ("",))
    elif char == "/" and not _ends_value(scanner.last):
        scanner.pattern()
        scanner.emit("regex", "/")
    elif found := scanner.take(_NUMBER):
        scanner.emit("number", found.group())
    elif found := scanner.take(_NAME):
        word = found.group()
        known_word = any(word in known for known in (_DIALECT.forms, words("awk")["noise"], _OPERATORS_BY_RANK))
        own = scanner.peek() == "(" or known_word
        scanner.emit("name" if own else "var", word if own else f"${word}")
    elif char in "$@":
        scanner.at += 1
        scanner.emit("name", char)
    elif scanner.take(_INTO_GETLINE):
        scanner.emit("op", "|>")
    elif not scanner.take(_COUNTS):
        scanner.operator(_OPERATORS)


def _ends_value(token: CodeToken) -> bool:
    if token.kind == "name":
        return False
    return token.kind in ("var", "number", "text", "regex") or token.text in (")", "]")


# -- words with an own syntax


def _print(parser: TokenParser) -> ast.expr:
    """What is printed, and where it goes."""
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
    return nodes.call("<print>", [sign, parser.expression(_ADJACENT), *printed])


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
    given = tokens.params(parser, "var")
    return nodes.Body([nodes.function(given, parser.block() if parser.is_op("{") else [], title)])


_DIALECT = TokenDialect(
    "awk",
    lambda source: [],
    _OPERATORS_BY_RANK,
    frozenset(),
    frozenset(),
    {
        **dict.fromkeys(["print", "printf"], _print),
        "getline": _getline,
        "$": lambda parser: nodes.Body([ast.Expr(parser.operand()), ast.Expr(nodes.name("$field"))]),
        "@": _indirect,
        **dict.fromkeys(["function", "func"], _function),
        "if": tokens.if_else,
        "while": tokens.while_loop,
        "for": tokens.for_loop,
        "return": tokens.returned,
    },
    adjacent=_ADJACENT,
)


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
