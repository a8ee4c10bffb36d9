"""Ruby source -> its effects."""

from __future__ import annotations

from interlock.analysis.code import effects
from interlock.analysis.code.dialect import CodeDialect
from interlock.analysis.code.lexing import CodeToken
from interlock.analysis.code.ruby.calls import call_ruby
from interlock.analysis.code.ruby.lexing import scan
from interlock.analysis.code.values import EMPTY, Value, computed, unknown
from interlock.analysis.code.walk import CodeWalk
from interlock.analysis.facts import Report

BINARY = {
    "or": 0, "and": 0, "=": 1, "+=": 1, "-=": 1, "*=": 1, "/=": 1, "||=": 1, "&&=": 1, "|=": 1, "<<=": 1, "**=": 1,
    "?": 2, "..": 3, "...": 3, "||": 4, "&&": 4, "<=>": 5, "==": 5, "===": 5, "!=": 5, "=~": 5, "!~": 5, "<": 6,
    ">": 6, "<=": 6, ">=": 6, "|": 6, "^": 6, "&": 6, "<<": 7, ">>": 7, "+": 8, "-": 8, "*": 9, "/": 9, "%": 9,
    "**": 10,
}  # fmt: skip
_NOISE = frozenset(
    (
        "if unless elsif else while until do begin then ensure rescue case when in not class module yield "
        "defined? BEGIN END private public protected loop next break redo retry"
    ).split()
)
_OPERATOR_WORDS = frozenset(("if unless while until and or do then rescue in end").split())


def read_ruby(source: str, out: Report) -> None:
    """Tell what a Ruby program does; `-n`, `-p` and `-i` are the caller's."""
    effects.read(RUBY, source, out, {"ARGV": computed("ARGV")})


# forms


def _def(walk: CodeWalk) -> Value:
    """A method: kept until something calls it."""
    name = ""
    while walk.token.kind == "name" or walk.is_op("."):
        name = walk.token.text
        walk.at += 1
        if not walk.is_op(".") and walk.source.tokens[walk.at - 1].text != ".":
            break
    params: list[str] = []
    while walk.at < walk.stop and not walk.is_op("{", "="):
        if walk.token.kind in ("name", "text"):
            params.append(walk.token.text)
        walk.at += 1
    if not walk.is_op("{"):
        walk.skip("=")
        walk.expression()
        return EMPTY
    walk.define(name, tuple(params))
    return EMPTY


def _lambda(walk: CodeWalk) -> Value:
    """lambda { |x| … } or proc { … }."""
    return _block(walk) if walk.is_op("{") else EMPTY


def _for(walk: CodeWalk) -> Value:
    name = walk.token.text
    walk.at += 1
    while walk.at < walk.stop and not walk.is_word("in") and walk.token.kind != "end":
        walk.at += 1
    walk.skip("in")
    walk.names[name] = walk.expression().each()
    return EMPTY


def _return(walk: CodeWalk) -> Value:
    walk.returned = walk.expression(1) if walk.token.kind != "end" and not walk.is_word(*_OPERATOR_WORDS) else EMPTY
    return walk.returned


def _block(walk: CodeWalk) -> Value:
    """Keep the block here, with the names between its bars."""
    closer = walk.source.mates[walk.at]
    start, params = walk.at + 1, []
    index = start
    if index < closer and walk.source.tokens[index].text == "|" and walk.source.tokens[index].kind == "op":
        index += 1
        while index < closer and walk.source.tokens[index].text != "|":
            if walk.source.tokens[index].kind == "name":
                params.append(walk.source.tokens[index].text)
            index += 1
        start = index + 1
    walk.at = closer + 1
    return walk.keep(tuple(params) or ("it", "_1"), start, closer)


def _bare(walk: CodeWalk, token: CodeToken) -> int:
    """Which operands follow a name without brackets."""
    nxt = walk.token
    lower = token.text[:1].islower() or token.text[:1] == "_"
    if nxt.kind == "op":
        starts = nxt.text in ("[", "->", "*", "&", "-", "::", "!", "<<") and nxt.spaced and not _next_spaced(walk)
        return 2 if starts and lower else 0 if lower or token.parts else -1
    if nxt.kind == "end" or (nxt.kind == "name" and nxt.text in _OPERATOR_WORDS):
        return 0 if lower or token.parts else -1
    return 2 if (lower or token.parts) and nxt.spaced else 0 if lower or token.parts else -1


def _next_spaced(walk: CodeWalk) -> bool:
    return walk.ahead(1).spaced or walk.ahead(1).kind == "end"


def _variable(name: str) -> Value:
    return unknown(name.lstrip("@$"))


RUBY = CodeDialect(
    name="Ruby",
    scan=scan,
    call=call_ruby,
    binary=BINARY,
    members=frozenset({".", "&.", "::"}),
    joins=frozenset({"+", "<<"}),
    repeats="*",
    forms={"def": _def, "lambda": _lambda, "proc": _lambda, "for": _for, "return": _return},
    noise=_NOISE,
    bare=_bare,
    variable=_variable,
    fork="fork",
    endless=frozenset({"while"}),
    block=_block,
)
