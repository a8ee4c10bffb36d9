"""What does an operator do to the values on its sides: assign, choose, join, repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.core.read.inline.common.values import UNKNOWN, Value, glued, listed, one_of, repeated, text

if TYPE_CHECKING:
    from interlock.core.read.inline.common.walk import Walk

_ASSIGNS = frozenset({"=", ":=", "<-"})
_COMPARES = frozenset({"==", "!=", "<=", ">=", "===", "!==", "~="})
_CHOICES = frozenset({"||", "&&", "or", "and", "//", "??"})


def combine(walk: Walk, start: int, left: Value, rank: int) -> Value:
    """The value of the operator here and its right side; the left side began at token `start`."""
    op, op_at = walk.token.text, walk.at
    walk.at += 1
    if op in _ASSIGNS:
        right = walk.expression(rank)
        _assign(walk, start, op_at, right)
        return right
    if op == "?":
        return _choice(walk, rank)
    if op in _CHOICES:
        with walk.branch():
            right = walk.expression(rank + 1)
        return right if op in ("&&", "and") else left
    if op == "=~":
        return _matched(walk, start, op_at, rank)
    right = walk.expression(rank + 1)
    if op == "<<" and left.ref == "file":
        walk.notes.wrote(left.text)
        return left
    if op in walk.dialect.joins:
        return (
            listed([left, right])
            if left.many and right.many and not (left.either or right.either)
            else glued([left, right])
        )
    if op == walk.dialect.repeats:
        return repeated(left, right)
    if op.endswith("=") and op not in _COMPARES:
        return _updated(walk, start, op_at, left, right)
    return UNKNOWN


def _choice(walk: Walk, rank: int) -> Value:
    with walk.branch():
        yes = walk.expression(1)
    walk.skip(":")
    with walk.branch():
        return one_of(yes, walk.expression(rank))


def _matched(walk: Walk, start: int, op_at: int, rank: int) -> Value:
    """A substitution changes what it is bound to; a match does not."""
    changes = walk.token.kind == "regex" and walk.token.text != "m"
    walk.expression(rank + 1)
    if changes:
        _assign(walk, start, op_at, UNKNOWN)
    return UNKNOWN


def _updated(walk: Walk, start: int, op_at: int, left: Value, right: Value) -> Value:
    """`x .= y` and its kin."""
    op = walk.source.tokens[op_at].text[:-1]
    if op in walk.dialect.joins:
        made = glued([left, right])
    elif op in ("||", "//", "??"):
        made = left if left.known else right
    else:
        made = UNKNOWN
    _assign(walk, start, op_at, made)
    return made


def _assign(walk: Walk, start: int, end: int, value: Value) -> None:
    while start < end and walk.is_noise(walk.source.tokens[start]):
        start += 1
    tokens = walk.source.tokens[start:end]
    if len(tokens) > 2 and tokens[0].text in ("(", "["):
        targets = [token.text for token in tokens if token.kind in ("var", "name")]
        for index, name in enumerate(targets):
            walk.names[name] = value if name.startswith("@") else value.at(text(str(index)))
    elif tokens and len(tokens) <= 8:
        walk.names["".join(token.text for token in tokens)] = value
