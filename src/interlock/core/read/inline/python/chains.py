"""Chains of attributes and calls: `Order.objects.filter(…).delete`."""

from __future__ import annotations

from interlock.core.read.inline.python.objects import Class
from interlock.core.read.inline.python.values import Sym, Value, text_of

_MAX_LINKS = 1000


def links(value: Value) -> list[Sym]:
    """The links of a chain, the last one first."""
    found: list[Sym] = []
    while isinstance(value, Sym) and len(found) < _MAX_LINKS:
        found.append(value)
        value = value.owner
    return found


def label(value: Value) -> str:
    """The name of a model, a table or a collection."""
    if isinstance(value, Class):
        return value.name
    return value.name.rstrip("()") if isinstance(value, Sym) and value.name not in ("?", "[]") else text_of(value)
