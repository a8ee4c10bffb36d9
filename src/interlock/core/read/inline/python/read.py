"""One reading of a Python source, from its text to the last file that it leaves open."""

from __future__ import annotations

import ast
import re

from interlock.core.read.facts import Report
from interlock.core.read.inline.python.answers import HANDLED, answer
from interlock.core.read.inline.python.calling import follow, invoke
from interlock.core.read.inline.python.expressions import EXPRESSIONS
from interlock.core.read.inline.python.flow import FLOW
from interlock.core.read.inline.python.idle import idle_in
from interlock.core.read.inline.python.parse import parse
from interlock.core.read.inline.python.statements import STATEMENTS
from interlock.core.read.inline.python.walk import Language, Walk
from interlock.core.read.inline.python.world import World

MAX_SOURCE = 100_000
_LONG_WORD = re.compile(r"\b\w{65,}")  # padding: it takes no time to parse, and what comes after it is still read
_LANGUAGE = Language({**STATEMENTS, **FLOW}, EXPRESSIONS, invoke, answer, HANDLED)

# Python that does not parse does not run; but a newer Python may parse more than this one, so what could do harm is told.
_RISKY = re.compile(r"import|exec|eval|open|os\.|remove|unlink|rmtree|system|popen|subprocess|!|%")


def read_python(source: str, out: Report) -> None:
    """Report what this source would do; what is too long, nests too deeply or does not parse is unreadable."""
    if len(source) > MAX_SOURCE and len(_LONG_WORD.sub("", source)) > MAX_SOURCE:
        out.unreadable("more Python than is read", "budget")
        return
    # parsing cannot be interrupted, so its likely cost is paid before it starts
    out.step(1 + len(source) // 256 + sum(map(source.count, "\n(=")))
    try:
        tree = parse(source)
        if tree is None:
            if _RISKY.search(source):
                out.unreadable("Python that does not parse", "syntax")
            return
        _read(tree, Walk(out, _LANGUAGE, World(out)))
    except (RecursionError, MemoryError):
        out.unreadable("Python nested too deeply", "nesting")


def _read(tree: ast.Module, walk: Walk) -> None:
    try:
        walk.block(tree.body)
        _uncalled(tree, walk)
    finally:
        walk.world.close()


def _uncalled(tree: ast.Module, walk: Walk) -> None:
    """Read what nothing called: first what is never named, as that may call the rest."""
    if not walk.defined:
        return
    nodes = list(ast.walk(tree))
    used = {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in nodes
        if isinstance(node, (ast.Name, ast.Attribute))
    }
    idle = idle_in(tree, nodes)
    for named in (False, True):
        for func in walk.defined:  # grows while inner functions are met
            name = getattr(func.node, "name", "")
            if id(func.node) not in walk.followed and (name in used) is named:
                walk.world.idle = id(func.node) in idle
                follow(walk, func, [], {})
    walk.world.idle = False
