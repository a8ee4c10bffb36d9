"""Assignments: a value goes to a name, several names, an attribute or an item."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from interlock.core.read.inline.python.objects import Class, Instance
from interlock.core.read.inline.python.values import MAX_ITEMS, File, Sym, Value, flat, made_from
from interlock.core.read.inline.python.walk import Walk


def assign(walk: Walk, target: ast.expr, value: Value) -> None:
    """Give the target this value."""
    if isinstance(target, ast.Name):
        walk.scope.set(target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(walk, target.elts, value)
    elif isinstance(target, ast.Starred):
        assign(walk, target.value, value)
    elif isinstance(target, ast.Attribute):
        _set_attribute(walk, walk.eval(target.value), target.attr, value)
    elif isinstance(target, ast.Subscript):
        _set_item(walk.eval(target.value), walk.eval(target.slice), value)


def _unpack(walk: Walk, targets: Sequence[ast.expr], value: Value) -> None:
    items = None if isinstance(value, (str, dict)) else flat(value)
    star = next((at for at, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    if items is not None and star is not None and len(items) >= len(targets) - 1:
        end = len(items) - (len(targets) - star - 1)
        items = [*items[:star], items[star:end], *items[end:]]
    if items is None or len(items) != len(targets):
        items = [made_from(value) for _ in targets]
    for target, item in zip(targets, items, strict=True):
        assign(walk, target, item)


def _set_attribute(walk: Walk, owner: Value, name: str, value: Value) -> None:
    if isinstance(value, File):  # it may be written by code that is not seen
        value.written = True
    if isinstance(owner, (Instance, Class)):
        owner.names[name] = value
    elif isinstance(owner, Sym):
        walk.attributes[f"{owner.path}.{name}"] = value


def _set_item(owner: Value, key: Value, value: Value) -> None:
    slot = isinstance(owner, list) and isinstance(key, int) and -len(owner) <= key < len(owner)
    entry = isinstance(owner, dict) and isinstance(key, (str, int, bytes)) and len(owner) < MAX_ITEMS
    if slot or entry:
        owner[key] = value
