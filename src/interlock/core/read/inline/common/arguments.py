"""Which values does a call get: arguments with and without brackets, options apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from interlock.core.read.inline.common.dialect import PAIRS
from interlock.core.read.inline.common.values import Value, listed

if TYPE_CHECKING:
    from interlock.core.read.inline.common.walk import Walk

_ANY = 1000


def bracketed(walk: Walk) -> tuple[Value, ...]:
    """Everything up to the end of this range."""
    plain: list[Value] = []
    pairs: list[Value] = []
    while walk.at < walk.stop:
        if walk.token.kind == "end" or walk.is_op(","):
            walk.at += 1
            continue
        before = walk.at
        _one(walk, 1, plain, pairs)
        walk.at = max(walk.at, before + 1)
    return _with_options(plain, pairs)


def unbracketed(walk: Walk, count: int) -> tuple[Value, ...]:
    """No argument, one, or as many as commas join."""
    plain: list[Value] = []
    pairs: list[Value] = []
    while len(plain) + len(pairs) < (count if count < 2 else _ANY) and walk.at < walk.stop:
        before = walk.at
        _one(walk, 6 if count == 1 else 1, plain, pairs)
        if walk.at == before:
            plain.pop()
        if count < 2 or not walk.is_op(","):
            break
        walk.at += 1
    return _with_options(plain, pairs)


def _one(walk: Walk, level: int, plain: list[Value], pairs: list[Value]) -> None:
    value = walk.expression(level)
    if walk.skip("=>"):
        pairs += [value, walk.expression(1)]
    else:
        plain.append(value)


def _with_options(plain: list[Value], pairs: list[Value]) -> tuple[Value, ...]:
    return (*plain, replace(listed(pairs), ref=PAIRS)) if pairs else tuple(plain)
