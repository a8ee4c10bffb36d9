"""Groovy source -> its effects."""

from __future__ import annotations

import ast
import re
from itertools import takewhile

from interlock.analysis.code import token_parser as tokens
from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.lexing import CodeToken, Part, Scanner, Splice, balanced, literal, scan, template
from interlock.analysis.code.library import words
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.code.token_parser import TokenDialect, TokenParser, parse_tokens
from interlock.analysis.facts import known

_OPERATORS_BY_RANK = {
    "=": 1, "+=": 1, "-=": 1, "?": 2, "?:": 2, "||": 3, "&&": 4, "==": 5, "!=": 5, "=~": 5, "==~": 5, "<": 6,
    ">": 6, "<=": 6, ">=": 6, "in": 6, "as": 6, "instanceof": 6, "..": 6, "<<": 7, ">>": 7, "+": 8, "-": 8, "*": 9,
    "/": 9, "%": 9,
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d[\d_]*(?:\.\d+)?[LGfd]?")
_LABEL = re.compile(r"([A-Za-z_]\w*)\s*:(?!:)")
_INNER = re.compile(r"\$[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_OPERATORS = tuple(("==~ <=> ... .. ?. *. ?: -> ++ -- == != <= >= =~ && || += -= << ::").split())


def _scan(source: str) -> list[CodeToken]:
    def ends(scanner: Scanner) -> bool:
        return scanner.last.kind != "op" or scanner.last.text in (")", "]", "}", "{")

    return scan(source, _one, ends, "//", "#!")


def _one(scanner: Scanner) -> None:
    char = scanner.peek()
    operand = scanner.last.kind in ("op", "end") and scanner.last.text not in (")", "]", "}")
    if scanner.starts("/*"):
        scanner.skip_past("*/")
    elif scanner.starts('"""') or scanner.starts("'''"):
        raw = scanner.up_to(3 * char, 3)
        scanner.emit("text", 3 * char, (raw,) if char == "'" else template(raw, splice) or ("",))
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


def _is_param(token: CodeToken) -> bool:
    return token.kind == "name" or (token.kind == "op" and token.text in (",", ".", "<", ">", "=", "?"))


def _block(parser: TokenParser) -> ast.expr:
    """A closure, with the names before its arrow."""
    closer, start = parser.mates[parser.at], parser.at + 1
    head = list(takewhile(_is_param, parser.tokens[start : min(closer, start + 8)]))
    behind = parser.tokens[start + len(head)]
    named = ["it"]
    if behind.kind == "op" and behind.text == "->":
        named = [token.text for token in head if token.kind == "name"][-1:]
        start += len(head) + 1
    parser.names.update(named)
    parser.sink()
    with parser.within(start, closer, closer + 1):
        body = parser.sequence()
    parser.depth -= 1
    return nodes.closure(named, nodes.returning(body))


def _new(parser: TokenParser) -> ast.expr:
    name = ""
    while parser.token.kind == "name" or parser.is_op("."):
        name = parser.token.text
        parser.at += 1
    if parser.is_op("["):
        parser.at = parser.mates[parser.at] + 1
        return ast.List(parser.arguments()[0]) if parser.is_op("{") else nodes.NOTHING
    given = parser.arguments() if parser.is_op("(") else ([], [])
    return nodes.call(f"{name}.new", *given)


def _bare(parser: TokenParser, token: CodeToken) -> int:
    printed = token.text in ("println", "print") and parser.token.kind == "name"
    if parser.token.spaced and (printed or parser.token.kind in ("text", "number")):
        return 2
    return 0 if parser.is_op("{") and (token.parts or token.text in words("groovy")["steps"]) else -1


_DIALECT = TokenDialect(
    "groovy",
    _scan,
    _OPERATORS_BY_RANK,
    frozenset({".", "?.", "*."}),
    frozenset({"+"}),
    {
        "new": _new,
        "if": tokens.if_else,
        "while": tokens.while_loop,
        "for": tokens.for_loop,
        "return": tokens.returned,
        "import": tokens.skip_statement,
        "package": tokens.skip_statement,
    },
    bare=_bare,
    block=_block,
    fields=True,
)


def _execute(walk: ProgramWalk, call: LibraryCall) -> Value:
    """The words of a text are run without a shell."""
    line = call.owner
    if not isinstance(line, str):
        return UNKNOWN
    if known(line):
        walk.world.run(line.split(), call)
    else:
        walk.world.shell(line, call)
    return Sym("?")


read_groovy = CodeLanguage(
    "Groovy",
    "groovy",
    lambda source: parse_tokens(_DIALECT, source),
    {"<text>.execute": _execute},
).read
