"""Tests that leave fewer of the many files a name stands for: `if name.endswith('.pyc')`."""

from __future__ import annotations

import ast

from interlock.core.read.facts import known
from interlock.core.read.inline.python.values import Marked, Value, text_of
from interlock.core.read.inline.python.walk import Walk

_FILTERS = {"endswith": "*{}", "startswith": "{}*", "match": "{}", "fnmatch": "{}"}


def narrow(walk: Walk, test: ast.expr) -> None:
    """Keep what passes the test."""
    for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
        name, pattern = _filter(walk, part)
        value = walk.scope.find(name) if name else None
        if isinstance(value, Marked) and "bulk" in value.traits and value.endswith("*") and known(pattern):
            walk.scope.set(name, Marked(f"{value[:-1]}{pattern}", value.traits))


def narrowed(after: Value, before: Value) -> bool:
    """True where a branch did no more to a name than narrow it."""
    many = isinstance(before, Marked) and "bulk" in before.traits
    return many and isinstance(after, Marked) and after.traits == before.traits


def _filter(walk: Walk, test: ast.expr) -> tuple[str, str]:
    """The name that a test filters, and the pattern that is left of `*`."""
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.args:
        return _method(walk, test.func, test.args)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _comparison(walk, test.left, test.ops[0], test.comparators[0])
    return "", ""


def _method(walk: Walk, func: ast.Attribute, args: list[ast.expr]) -> tuple[str, str]:
    given = walk.eval(args[0])
    if func.attr == "fnmatch" and len(args) > 1:
        return _root(args[0]), text_of(walk.eval(args[1]))
    if func.attr not in _FILTERS:
        return "", ""
    one_of = isinstance(given, tuple) and given
    return _root(func.value), _FILTERS[func.attr].format(_any_of(given) if one_of else text_of(given))


def _comparison(walk: Walk, left: ast.expr, op: ast.cmpop, right: ast.expr) -> tuple[str, str]:
    if not isinstance(op, (ast.Eq, ast.In)):
        return "", ""
    start = "*" if isinstance(left, ast.Attribute) and left.attr == "suffix" else ""
    value = walk.eval(right)
    if isinstance(op, ast.Eq):
        return _root(left), start + text_of(value)
    if isinstance(value, (list, tuple)):
        return _root(left), start + _any_of(value)
    return (_root(right), f"*{text_of(left.value)}*") if isinstance(left, ast.Constant) else ("", "")


def _any_of(values: list[Value] | tuple[Value, ...]) -> str:
    return "{" + ",".join(map(text_of, values)) + "}"


def _root(node: ast.expr) -> str:
    """`f` of `f`, `f.name`, `f.suffix.lower()`."""
    for _ in range(4):
        if isinstance(node, ast.Attribute):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
    return node.id if isinstance(node, ast.Name) else ""
