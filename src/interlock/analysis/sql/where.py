"""Decides whether a WHERE clause holds for every row, so that it filters nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from interlock.analysis.facts import HOLE
from interlock.analysis.sql.tokens import SqlToken

if TYPE_CHECKING:
    from sqlglot import exp

_LONGEST = 20_000  # characters of one condition that are given to a parser
_DEEPEST = 60
_ROWS_THAT_ARE_FEW = 10_000
_MANY = 10**9  # an upper bound that no table reaches
_KEYS = frozenset({"id", "_id", "pk", "uuid", "guid", "oid", "rowid", "_rowid_", "ctid"})
_LENGTHS = frozenset({"LENGTH", "CHAR_LENGTH", "LEN", "OCTET_LENGTH", "ABS", "COUNT", "CHARACTER_LENGTH"})
_NO_COLUMN = frozenset({"TRUE", "FALSE", "NULL", "NOT", "EXISTS", "CASE", "CURRENT", "SELECT", "ALL", "ANY"})
_HOLES = re.compile(f"{HOLE}(?:[^{HOLE};'\"\\n]{{0,120}}{HOLE})?")
_LEVELS = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


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
    return _parsed(source, condition, table, dialect)


def _plain(condition: Sequence[SqlToken]) -> bool:
    """True for `column = literal`, joined by AND: a filter without a doubt, and no need of a tree."""
    at = 0
    while True:
        if at >= len(condition) or condition[at].kind not in ("word", "name") or condition[at].word in _NO_COLUMN:
            return False
        at += 1
        while at + 1 < len(condition) and condition[at].text == "." and condition[at + 1].kind in ("word", "name"):
            at += 2
        if at + 1 >= len(condition) or condition[at].text != "=":
            return False
        if condition[at + 1].kind not in ("string", "number", "var", "hole"):
            return False
        at += 2
        if at == len(condition):
            return True
        if condition[at].word != "AND":
            return False
        at += 1


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


def _parsed(source: str, condition: Sequence[SqlToken], table: str, dialect: str) -> bool:
    """Whether the condition narrows the rows, by the tree of sqlglot; where there is none, by its words."""
    import logging

    import sqlglot
    from sqlglot import errors

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    known = _HOLES.sub("hole_", source) if HOLE in source else source
    try:
        tree = sqlglot.parse_one(f"SELECT 1 FROM t_ WHERE {known}", read=dialect or None)
        where = tree.args.get("where")
        truth = None if where is None else _Judge(table).truth(where.this, 0)
    except (errors.SqlglotError, RecursionError, MemoryError, ValueError, AttributeError, TypeError, KeyError):
        return _has_column(condition)
    return truth is not True


class _Judge:
    """Three answers about a condition: it holds for every row, for none, or it depends."""

    def __init__(self, table: str) -> None:
        bare = table.rsplit(".", 1)[-1].strip("\"'`[]").lower()
        self.table = bare
        one = bare[:-1] if bare.endswith("s") else bare
        self.keys = _KEYS | {f"{one}_id", f"{bare}_id", f"{one}id", f"id_{one}", f"{one}_pk", f"{one}_uuid"}

    def truth(self, node: exp.Expr | None, depth: int) -> bool | None:
        from sqlglot import exp

        if node is None or depth > 200:
            return None
        deeper = depth + 1
        if isinstance(node, exp.Paren):
            return self.truth(node.this, deeper)
        if isinstance(node, exp.Not):
            inner = self.truth(node.this, deeper)
            return None if inner is None else not inner
        if isinstance(node, exp.Or):
            return self._either(list(node.flatten()), deeper)
        if isinstance(node, exp.And):
            return _all_of([self.truth(part, deeper) for part in node.flatten()])
        for kind, judge in self._judges():
            if isinstance(node, kind):
                return judge(node)
        return self._constant(node)

    def _judges(self) -> tuple[tuple[type[exp.Expr], Callable[[exp.Expr], bool | None]], ...]:
        from sqlglot import exp

        return (
            (exp.Boolean, lambda node: bool(node.this)),
            (exp.Literal, _literal),
            (exp.Null, lambda node: False),
            (exp.Is, self._is),
            (exp.NullSafeEQ, lambda node: node.args.get("this") == node.args.get("expression") or None),
            (exp.Like, self._like),
            (exp.ILike, self._like),
            (exp.Exists, self._exists),
            (exp.In, self._in),
            (exp.Between, self._between),
            (exp.Binary, self._compare),
        )

    def _either(self, parts: list[exp.Expr], depth: int) -> bool | None:
        truths = [self.truth(part, depth) for part in parts]
        if True in truths:
            return True
        if all(truth is False for truth in truths):
            return False
        return True if _complementary(parts) else None

    def _is(self, node: exp.Expr) -> bool | None:
        """`x IS NULL` for a literal is known; for a key it is never so."""
        from sqlglot import exp

        if not isinstance(node.expression, exp.Null):
            inner = self.truth(node.this, 100)
            return inner if isinstance(node.expression, exp.Boolean) and node.expression.this else None
        if isinstance(node.this, exp.Null):
            return True
        return False if isinstance(node.this, exp.Literal | exp.Boolean) or self._key(node.this) else None

    def _like(self, node: exp.Expr) -> bool | None:
        """A pattern of nothing but `%` lets everything through."""
        from sqlglot import exp

        pattern = node.expression
        if isinstance(pattern, exp.Literal) and pattern.is_string and pattern.this and not pattern.this.strip("%"):
            return True
        return None

    def _exists(self, node: exp.Expr) -> bool | None:
        """True for an EXISTS without a condition; None where it may depend on the row."""
        query = node.this
        if query is None or query.args.get("where") or query.args.get("having") or query.args.get("joins"):
            return None
        return True

    def _in(self, node: exp.Expr) -> bool | None:
        """`id IN (SELECT id FROM the same table)`, or a column in a list with itself."""
        if any(node.this == option for option in node.expressions):
            return True
        query = node.args.get("query")
        select = query.this if query is not None and query.key == "subquery" else query
        if select is None or any(select.args.get(part) for part in ("where", "having", "limit", "joins", "distinct")):
            return None
        source = select.args.get("from_") or select.args.get("from")
        table = source.this.name.lower() if source is not None and source.this is not None else ""
        same = bool(select.expressions) and select.expressions[0].name.lower() == node.this.name.lower()
        return True if same and table == self.table else None

    def _between(self, node: exp.Expr) -> bool | None:
        low, high = _number(node.args.get("low")), _number(node.args.get("high"))
        if low is None or high is None or not self._counted(node.this):
            return self._constant(node)
        return True if low <= 1 and high >= _MANY else None

    def _compare(self, node: exp.Expr) -> bool | None:
        from sqlglot import exp

        left, right = _bare(node.args.get("this")), _bare(node.args.get("expression"))
        signs: dict[type[exp.Expr], str] = {
            exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.GT: ">", exp.LTE: "<=", exp.GTE: ">=",
        }  # fmt: skip
        sign = signs.get(type(node))
        if sign is None or left is None or right is None:
            return self._constant(node)
        if left == right:
            return sign in ("=", "<=", ">=")
        if isinstance(left, exp.Literal) and isinstance(right, exp.Literal):
            return _literals(left, right, sign)
        if isinstance(left, exp.Literal | exp.Neg):
            left, right, sign = right, left, _LEVELS.get(sign, sign)
        return self._bounded(left, right, sign) or self._constant(node)

    def _bounded(self, left: exp.Expr, right: exp.Expr, sign: str) -> bool | None:
        """`id > 0`, `id <> -1`, `length(x) >= 0`: true of every row that a key numbers."""
        bound = _number(right)
        if bound is None or not self._counted(left):
            return None
        if sign in (">", ">="):
            return True if bound <= (0 if sign == ">" else 1) else None
        if sign == "<>":
            return True if bound <= 0 else None
        return True if sign in ("<", "<=") and bound >= _MANY else None

    def _counted(self, node: exp.Expr | None) -> bool:
        from sqlglot import exp

        if isinstance(node, exp.Func):
            return node.sql_name() in _LENGTHS
        return self._key(node)

    def _key(self, node: exp.Expr | None) -> bool:
        from sqlglot import exp

        return isinstance(node, exp.Column) and node.name.lower() in self.keys

    def _constant(self, node: exp.Expr) -> bool | None:
        """What names no column, parameter or hole is the same for every row."""
        from sqlglot import exp

        varying = (exp.Column, exp.Placeholder, exp.Parameter, exp.SessionParameter, exp.Query, exp.Star, exp.Command)
        if node.find(*varying) or "hole_" in node.sql():
            return None
        return True


def _all_of(truths: list[bool | None]) -> bool | None:
    if False in truths:
        return False
    return True if all(truths) else None


def _bare(node: exp.Expr | None) -> exp.Expr | None:
    """A node without its parentheses."""
    for _ in range(50):
        if node is None or node.key != "paren":
            break
        node = node.this
    return node


def _literal(node: exp.Expr) -> bool | None:
    """`WHERE 1` and `WHERE '1'` hold; `WHERE 0` never does."""
    return str(node.this).strip().lower() not in ("0", "0.0", "", "f", "false", "n", "no", "off")


def _number(node: exp.Expr | None) -> float | None:
    if node is not None and node.key == "neg":
        inner = _number(node.this)
        return None if inner is None else -inner
    if node is None or node.key != "literal":
        return None
    try:
        return float(node.this)
    except ValueError:
        return None


def _literals(left: exp.Expr, right: exp.Expr, sign: str) -> bool:
    """Compares two literals as the server would: as numbers when both are, else as text."""
    one, two = _number(left), _number(right)
    order = (str(left.this) > str(right.this)) - (str(left.this) < str(right.this))
    if one is not None and two is not None:
        order = (one > two) - (one < two)
    held = {"=": order == 0, "<>": order != 0, "<": order < 0, ">": order > 0, "<=": order <= 0, ">=": order >= 0}
    return held[sign]


def _complementary(parts: list[exp.Expr]) -> bool:
    """True for `a OR NOT a`, `x IS NULL OR x IS NOT NULL`, `a = 1 OR a <> 1`."""
    from sqlglot import exp

    seen = set()
    for part in parts[:50]:
        bare = _bare(part)
        if bare is not None:
            seen.add(bare)
    for node in seen:
        if isinstance(node, exp.Not) and _bare(node.this) in seen:
            return True
        if isinstance(node, exp.EQ) and exp.NEQ(this=node.this, expression=node.expression) in seen:
            return True
    return False


def few(limit: SqlToken | None) -> bool:
    """True when LIMIT or TOP is a number that bounds the harm."""
    if limit is None or limit.kind != "number" or not limit.text.isdecimal():
        return False
    return int(limit.text[:9]) <= _ROWS_THAT_ARE_FEW
