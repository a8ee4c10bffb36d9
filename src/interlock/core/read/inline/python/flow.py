"""Statements that choose or repeat: every branch is read, and what any of them leaves behind is kept."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from interlock.core.read.inline.python.assign import assign
from interlock.core.read.inline.python.narrow import narrow, narrowed
from interlock.core.read.inline.python.objects import Instance, member
from interlock.core.read.inline.python.values import UNKNOWN, Value, either, flat, made_from
from interlock.core.read.inline.python.walk import Statement, Walk, leaves

_Names = dict[str, Value]


def _if(walk: Walk, node: ast.If) -> None:
    walk.eval(node.test)
    if isinstance(node.test, ast.Constant):
        walk.block(node.body if node.test.value else node.orelse)
        return
    before, after = _branch(walk, node.body, node.test)
    walk.scope.restore(before)
    _forget_narrowed(before, after)
    other_before, _ = _branch(walk, node.orelse)
    for name in {**before, **other_before}:
        now = walk.scope.names.get(name, UNKNOWN)
        walk.scope.set(name, _joined(after.get(name, before.get(name, UNKNOWN)), now))
    if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not) and leaves(node.body[-1]):
        narrow(walk, node.test.operand)


def _branch(walk: Walk, body: Sequence[ast.stmt], test: ast.expr | None = None) -> tuple[_Names, _Names]:
    """Read a branch: what the names were that it changes, and what they are after it."""
    trail: _Names = {}
    scope = walk.scope
    scope.trails.append(trail)
    try:
        if test is not None:
            narrow(walk, test)
        walk.block(body)
    finally:
        scope.leave(trail)
    return trail, {name: scope.names[name] for name in trail if name in scope.names}


def _forget_narrowed(before: _Names, after: _Names) -> None:
    """A name that the test narrowed is not one that the branch changed."""
    for name in [name for name, value in after.items() if narrowed(value, before[name])]:
        del after[name], before[name]


def _joined(one: Value, other: Value) -> Value:
    if one is UNKNOWN or other is UNKNOWN:
        return other if one is UNKNOWN else one
    return either(one, other)


def _maybe(walk: Walk, body: Sequence[ast.stmt]) -> None:
    """Read what may not be reached, and keep the names as they were beside what it makes of them."""
    before, after = _branch(walk, body)
    walk.scope.restore(before)
    for name, value in after.items():
        walk.scope.set(name, _joined(before[name], value))


def _for(walk: Walk, node: ast.For | ast.AsyncFor) -> None:
    over = walk.eval(node.iter)
    read = _maybe if flat(over) is None else Walk.block
    for item in walk.items(over):
        assign(walk, node.target, item)
        read(walk, node.body)
    walk.block(node.orelse)


def _while(walk: Walk, node: ast.While) -> None:
    """Read the body as it begins, then again with what it counts no longer known."""
    tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
    endless = any(isinstance(test, ast.Constant) and bool(test.value) for test in tests)
    walk.endless += endless
    walk.eval(node.test)
    scope = walk.scope
    walk.out.step(len(scope.names) // 8)
    before = dict(scope.names)
    walk.block(node.body)
    changed = [name for name, value in scope.names.items() if name in before and before[name] is not value]
    for name in changed:
        scope.set(name, either(scope.names[name], made_from(before[name])))
    if changed:
        walk.block(node.body)
    for name in changed:
        scope.set(name, either(before[name], scope.names.get(name, UNKNOWN)))
    walk.endless -= endless
    walk.block(node.orelse)


def _with(walk: Walk, node: ast.With | ast.AsyncWith) -> None:
    cwd = walk.world.cwd
    for item in node.items:
        value = walk.eval(item.context_expr)
        if isinstance(value, Instance) and "__enter__" in value.cls.names:
            value = walk.call(member(value, "__enter__"), [], {})
        if item.optional_vars is not None:
            assign(walk, item.optional_vars, value)
    walk.block(node.body)
    if any("chdir" in ast.dump(item.context_expr)[:400] for item in node.items):
        walk.world.cwd = cwd


def _try(walk: Walk, node: ast.Try | ast.TryStar) -> None:
    walk.block(node.body)
    for handler in node.handlers:
        _maybe(walk, handler.body)
    walk.block(node.orelse)
    walk.block(node.finalbody)


def _match(walk: Walk, node: ast.Match) -> None:
    subject = walk.eval(node.subject)
    for case in node.cases:
        for part in ast.walk(case.pattern):
            name = getattr(part, "name", None)
            if isinstance(name, str):
                walk.scope.set(name, subject)
        _maybe(walk, case.body)


FLOW: Mapping[type[ast.stmt], Statement] = {
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.Match: _match,
}
