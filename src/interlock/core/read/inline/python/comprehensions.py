"""Comprehensions: what `[… for … in … if …]` collects."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from interlock.core.read.inline.python.assign import assign
from interlock.core.read.inline.python.narrow import narrow
from interlock.core.read.inline.python.scope import Scope
from interlock.core.read.inline.python.values import UNKNOWN, Value
from interlock.core.read.inline.python.walk import Walk


def collect(walk: Walk, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    """The items of a list, a set or a generator, as a list."""
    made: list[Value] = []
    with walk.inside(Scope(walk.scope)):
        _loop(walk, node.generators, lambda: made.append(walk.eval(node.elt)))
    return made


def collect_pairs(walk: Walk, node: ast.DictComp) -> Value:
    """The keys and values of a dictionary."""
    made: dict[Value, Value] = {}

    def keep() -> None:
        key, value = walk.eval(node.key), walk.eval(node.value)
        made[key if isinstance(key, (str, int, bytes)) else UNKNOWN] = value

    with walk.inside(Scope(walk.scope)):
        _loop(walk, node.generators, keep)
    return made


def _loop(walk: Walk, generators: Sequence[ast.comprehension], keep: Callable[[], None]) -> None:
    if not generators:
        keep()
        return
    for item in walk.items(walk.eval(generators[0].iter)):
        assign(walk, generators[0].target, item)
        for test in generators[0].ifs:
            walk.eval(test)
            narrow(walk, test)
        _loop(walk, generators[1:], keep)
