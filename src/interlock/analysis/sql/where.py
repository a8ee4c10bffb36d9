"""Decides whether a WHERE clause holds for every row, so that it filters nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interlock.analysis.facts import HOLE
from interlock.analysis.sql.tokens import PIECE, SqlToken

_LONGEST = 20_000  # characters of one condition that are given to a parser
_DEEPEST = 60
_ROWS_THAT_ARE_FEW = 10_000
_NO_COLUMN = frozenset({"TRUE", "FALSE", "NULL", "NOT", "EXISTS", "CASE", "CURRENT", "SELECT", "ALL", "ANY"})
_VALUES = frozenset({"string", "number", "var", "hole"})


def filters(condition: Sequence[SqlToken], text: str, table: str, dialect: str) -> bool:
    """False when a condition lets every row through, or has no words at all."""
    if not condition:
        return False
    if condition[0].word == "CURRENT" or _plain(condition):
        return True
    source = text[condition[0].start : condition[-1].end]
    if len(source) > _LONGEST:
        return _has_column(condition)
    if _deepest(condition) > _DEEPEST:
        return False
    from interlock.analysis.sql.tautology import UnreadCondition, always_true  # sqlglot: 160 modules

    try:
        return not always_true(re.sub(PIECE, "hole_", source) if HOLE in source else source, table, dialect)
    except UnreadCondition:  # no tree, and so by its words
        return _has_column(condition)


def _plain(condition: Sequence[SqlToken]) -> bool:
    """True for `column = literal`, joined by AND: a filter without a doubt, and no need of a tree."""
    at, named = 0, ("word", "name")
    while at < len(condition) and condition[at].kind in named and condition[at].word not in _NO_COLUMN:
        at += 1
        while at + 1 < len(condition) and condition[at].text == "." and condition[at + 1].kind in named:
            at += 2
        if at + 1 >= len(condition) or condition[at].text != "=" or condition[at + 1].kind not in _VALUES:
            return False
        if at + 2 == len(condition):
            return True
        if condition[at + 2].word != "AND":
            return False
        at += 3
    return False


def _has_column(condition: Sequence[SqlToken]) -> bool:
    """True when some word could be a column that makes rows differ, and no OR can undo it."""
    words = {token.word for token in condition if token.kind == "word"}
    names = any(token.kind == "name" for token in condition)
    return "OR" not in words and (names or bool(words - _NO_COLUMN - {"AND", "IS", "LIKE", "IN"}))


def _deepest(condition: Sequence[SqlToken]) -> int:
    depth = deepest = runs = 0
    for token in condition:
        depth += (token.text == "(") - (token.text == ")")
        runs += token.word == "NOT" or token.text in ("-", "~", "+")
        deepest = max(deepest, depth)
    return max(deepest, runs // 4)


def few(limit: SqlToken) -> bool:
    """True when LIMIT or TOP is a number that bounds the harm."""
    return limit.kind == "number" and limit.text.isdecimal() and int(limit.text[:9]) <= _ROWS_THAT_ARE_FEW
