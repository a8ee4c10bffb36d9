"""Evaluates a condition's tree: whether it holds for every row, for none, or depends on the row."""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import sqlglot
from sqlglot import errors, exp

from interlock.analysis.sql.tokens import WORDS

_MANY = 10**9  # an upper bound that no table reaches
_HOLDS: Mapping[type[exp.Expr], Callable[[Any, Any], bool]] = {
    exp.EQ: operator.eq, exp.NEQ: operator.ne, exp.LT: operator.lt, exp.GT: operator.gt, exp.LTE: operator.le, exp.GTE: operator.ge,
}  # fmt: skip
_TURNED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.GTE: exp.LTE,
}  # fmt: skip
_LOWEST: Mapping[type[exp.Expr], int] = {exp.GT: 0, exp.GTE: 1, exp.NEQ: 0}  # bound below every key


class UnreadCondition(Exception):
    """The condition has no tree, or none that can be evaluated."""


def always_true(condition: str, table: str, dialect: str) -> bool:
    """Raises UnreadCondition."""
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    try:
        tree = sqlglot.parse_one(f"SELECT 1 FROM t_ WHERE {condition}", read=dialect or None)
        where = tree.args.get("where")
        bare = table.rsplit(".", 1)[-1].strip("\"'`[]").lower()
        return where is not None and _truth(bare, where.this) is True
    except (errors.SqlglotError, RecursionError, MemoryError, ValueError, AttributeError, TypeError, KeyError):
        raise UnreadCondition from None


def _truth(table: str, node: exp.Expr) -> bool | None:
    if isinstance(node, exp.Paren):
        return _truth(table, node.this)
    if isinstance(node, exp.Not):
        inner = _truth(table, node.this)
        return None if inner is None else not inner
    if isinstance(node, exp.And | exp.Or):
        parts = list(node.flatten())
        truths = [_truth(table, part) for part in parts]
        decides = isinstance(node, exp.Or)  # one that is so decides the whole
        if decides in truths:
            return decides
        if None not in truths:
            return not decides
        return (decides and _complementary(parts)) or None
    judge = next((judge for kind, judge in _JUDGES.items() if isinstance(node, kind)), _constant)
    return judge(table, node)


def _is(table: str, node: exp.Expr) -> bool | None:
    """`x IS NULL` for a literal is known; for a key it is never so."""
    if not isinstance(node.expression, exp.Null):
        inner = _truth(table, node.this)
        return inner if isinstance(node.expression, exp.Boolean) and node.expression.this else None
    if isinstance(node.this, exp.Null):
        return True
    return False if isinstance(node.this, exp.Literal | exp.Boolean) or _key(table, node.this) else None


def _like(table: str, node: exp.Expr) -> bool | None:
    """Nothing but `%` lets everything through."""
    pattern = node.expression
    text = isinstance(pattern, exp.Literal) and pattern.is_string and pattern.this
    return bool(text and not text.strip("%")) or None


def _exists(table: str, node: exp.Expr) -> bool | None:
    return not any(node.this.args.get(part) for part in ("where", "having", "joins")) or None


def _in(table: str, node: exp.Expr) -> bool | None:
    """`id IN (SELECT id FROM the same table)`, or a column in a list with itself."""
    if any(node.this == option for option in node.expressions):
        return True
    query = node.args.get("query")
    select = query and query.unnest()
    if not select or any(select.args.get(part) for part in ("where", "having", "limit", "joins", "distinct")):
        return None
    source = select.args.get("from_") or select.args.get("from")
    named = source.this.name.lower() if source else ""
    same = bool(select.expressions) and select.expressions[0].name.lower() == node.this.name.lower()
    return (same and named == table) or None


def _between(table: str, node: exp.Expr) -> bool | None:
    low, high = _number(node.args.get("low")), _number(node.args.get("high"))
    if low is None or high is None or not _counted(table, node.this):
        return _constant(table, node)
    return (low <= 1 and high >= _MANY) or None


def _compare(table: str, node: exp.Expr) -> bool | None:
    sign = type(node)
    if sign not in _HOLDS:
        return _constant(table, node)
    left, right = node.this.unnest(), node.expression.unnest()
    if left == right:
        return _HOLDS[sign](1, 1)
    if isinstance(left, exp.Literal) and isinstance(right, exp.Literal):
        # as the server would: as numbers where both are, else as text
        numbers = _number(left), _number(right)
        return _HOLDS[sign](*(numbers if None not in numbers else (str(left.this), str(right.this))))
    if isinstance(left, exp.Literal | exp.Neg):
        left, right, sign = right, left, _TURNED.get(sign, sign)
    return _bounded(table, left, right, sign) or _constant(table, node)


def _bounded(table: str, left: exp.Expr, right: exp.Expr, sign: type[exp.Expr]) -> bool | None:
    """`id > 0`, `id <> -1`, `length(x) >= 0`: true of every row that a key numbers."""
    bound = _number(right)
    if bound is None or not _counted(table, left):
        return None
    lowest = _LOWEST.get(sign)
    return (bound <= lowest if lowest is not None else sign is not exp.EQ and bound >= _MANY) or None


def _counted(table: str, node: exp.Expr | None) -> bool:
    return node.sql_name() in WORDS.lengths if isinstance(node, exp.Func) else _key(table, node)


def _key(table: str, node: exp.Expr | None) -> bool:
    one = table.removesuffix("s")
    keys = WORDS.keys | {f"{one}_id", f"{table}_id", f"{one}id", f"id_{one}", f"{one}_pk", f"{one}_uuid"}
    return isinstance(node, exp.Column) and node.name.lower() in keys


def _constant(table: str, node: exp.Expr) -> bool | None:
    """What names no column, parameter or hole is the same for every row."""
    varying = (exp.Column, exp.Placeholder, exp.Parameter, exp.SessionParameter, exp.Query, exp.Star, exp.Command)
    return None if node.find(*varying) or "hole_" in node.sql() else True


_JUDGES: Mapping[type[exp.Expr], Callable[[str, exp.Expr], bool | None]] = {
    exp.Boolean: lambda table, node: bool(node.this),
    # `WHERE 1` and `WHERE '1'` hold; `WHERE 0` never does
    exp.Literal: lambda table, node: (
        str(node.this).strip().lower() not in ("0", "0.0", "", "f", "false", "n", "no", "off")
    ),
    exp.Null: lambda table, node: False,
    exp.Is: _is,
    exp.NullSafeEQ: lambda table, node: node.args.get("this") == node.args.get("expression") or None,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Exists: _exists,
    exp.In: _in,
    exp.Between: _between,
    exp.Binary: _compare,
}


def _number(node: exp.Expr | None) -> float | None:
    if isinstance(node, exp.Neg):
        inner = _number(node.this)
        return None if inner is None else -inner
    with suppress(ValueError):
        return float(node.this) if isinstance(node, exp.Literal) else None
    return None


def _complementary(parts: list[exp.Expr]) -> bool:
    """True for `a OR NOT a`, `x IS NULL OR x IS NOT NULL`, `a = 1 OR a <> 1`."""
    seen = set(parts[:50])
    return any(
        (isinstance(node, exp.Not) and node.this.unnest() in seen)
        or (isinstance(node, exp.EQ) and exp.NEQ(this=node.this, expression=node.expression) in seen)
        for node in seen
    )
