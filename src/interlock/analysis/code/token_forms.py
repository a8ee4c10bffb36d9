"""Words whose syntax several languages share that are parsed by tokens: branches, loops, parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from interlock.analysis.code.program import nodes
from interlock.analysis.code.token_parser import TokenParser


def branch(parser: TokenParser) -> list[ast.stmt]:
    """A block, or one statement in its place."""
    return parser.block() if parser.is_op("{") else nodes.as_statements(parser.expression())


def if_else(parser: TokenParser) -> ast.expr:
    """if (test) …, with what follows `else`; as a word behind a statement only its test is left to read."""
    test, body = parser.group() if parser.is_op("(") else parser.expression(), branch(parser)
    if parser.skip("elsif"):
        return nodes.as_expression(nodes.branch(test, body, nodes.as_statements(if_else(parser))))
    return nodes.as_expression(nodes.branch(test, body, branch(parser) if parser.skip("else") else []))


def while_loop(parser: TokenParser) -> ast.expr:
    """while (test) …; a loop without a test is repeated for ever."""
    test = parser.group() if parser.is_op("(") else ast.Constant(True)
    return nodes.as_expression(nodes.repeat(test, branch(parser)))


def for_loop(parser: TokenParser) -> ast.expr:
    """for (x in list), for (Type x : list), or a counted loop, whose head is read once."""
    if not parser.is_op("("):
        return nodes.NOTHING
    closer = parser.mates[parser.at]
    words = parser.tokens[parser.at + 1 : closer]
    counted = any(token.kind == "op" and token.text == ";" for token in words)
    at = next((number for number, token in enumerate(words) if token.text in ("in", ":")), -1)
    if counted or at < 1:
        with parser.inside():
            first = parser.sequence()
        again = nodes.name("?") if len(words) > 2 else ast.Constant(True)  # for (;;)
        return nodes.as_body([*first, *nodes.repeat(again, branch(parser))])
    named = words[at - 1].text
    parser.names.add(named)
    with parser.within(parser.at + at + 2, closer, closer + 1):
        over = parser.expression()
    return nodes.as_expression(nodes.loop(nodes.name(named), over, branch(parser)))


def returned(parser: TokenParser) -> ast.expr:
    return nodes.as_body([ast.Return(parser.expression() if parser.token.kind != "end" else nodes.NOTHING)])


def skip_statement(parser: TokenParser) -> ast.expr:
    """What a statement says that does nothing."""
    while parser.at < parser.stop and not (parser.token.kind == "end" or parser.is_op(";")):
        parser.at += 1
    return nodes.NOTHING


def params(parser: TokenParser, *kinds: str) -> list[str]:
    """The names of the parameters between the brackets here, if there are any."""
    if not parser.is_op("("):
        return []
    with parser.inside():
        return [token.text for token in parser.tokens[parser.at : parser.stop] if token.kind in kinds]


@contextmanager
def unbracketed(parser: TokenParser) -> Iterator[None]:
    """Read what is between the brackets here, or the same without brackets."""
    if parser.is_op("("):
        with parser.inside():
            yield
    else:
        yield
