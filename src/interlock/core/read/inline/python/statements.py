"""Statements that name things: imports, definitions, assignments, returns."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from interlock.core.read.inline.python.assign import assign
from interlock.core.read.inline.python.modules import canonical, reach
from interlock.core.read.inline.python.objects import Class, Func, Instance
from interlock.core.read.inline.python.operators import operate
from interlock.core.read.inline.python.scope import Scope
from interlock.core.read.inline.python.values import Sym, Value
from interlock.core.read.inline.python.walk import Statement, Walk


def _expression(walk: Walk, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        walk.eval(node.value)


def _import(walk: Walk, node: ast.Import) -> None:
    for alias in node.names:
        name = alias.name if alias.asname else alias.name.partition(".")[0]
        walk.scope.set(alias.asname or name, Sym(canonical(name)))


def _import_from(walk: Walk, node: ast.ImportFrom) -> None:
    for alias in node.names:
        if alias.name == "*":
            walk.stars.append(canonical(node.module or ""))
        else:
            walk.scope.set(alias.asname or alias.name, reach(canonical(f"{node.module or ''}.{alias.name}")))


def _share(walk: Walk, node: ast.Global | ast.Nonlocal) -> None:
    walk.scope.shared.update(node.names)


def _define(walk: Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    func = Func(node, walk.scope)
    walk.defined.append(func)
    for default in [*node.args.defaults, *node.args.kw_defaults]:
        if default is not None and not isinstance(default, ast.Constant):
            walk.eval(default)
    walk.scope.set(node.name, _decorated(walk, func, node.decorator_list))


def _define_class(walk: Walk, node: ast.ClassDef) -> None:
    bases = [walk.eval(base) for base in node.bases]
    with walk.inside(Scope(walk.scope)) as scope:
        walk.block(node.body)
    made = Class(node.name, scope.names, bases)
    for member in scope.names.values():
        if isinstance(member, Func) and member.owner is None:
            member.owner = Instance(made)
    walk.scope.set(node.name, _decorated(walk, made, node.decorator_list))


def _decorated(walk: Walk, value: Value, decorators: Sequence[ast.expr]) -> Value:
    for node in reversed(decorators):
        decorator = walk.eval(node)
        inline = isinstance(decorator, Func) and isinstance(decorator.node, ast.Lambda)
        if inline or (isinstance(decorator, Sym) and decorator.path in walk.language.handled):
            value = walk.call(decorator, [value], {})
    return value


def _return(walk: Walk, node: ast.Return) -> None:
    if node.value is not None:
        walk.scope.returns.append(walk.eval(node.value))


def _assign(walk: Walk, node: ast.Assign) -> None:
    value = walk.eval(node.value)
    for target in node.targets:
        assign(walk, target, value)


def _assign_annotated(walk: Walk, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(walk, node.target, walk.eval(node.value))


def _assign_added(walk: Walk, node: ast.AugAssign) -> None:
    left, right = walk.eval(node.target), walk.eval(node.value)
    assign(walk, node.target, walk.spread(lambda a, b: operate(type(node.op).__name__, a, b), left, right))


def _delete(walk: Walk, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            walk.eval(target.value)


STATEMENTS: Mapping[type[ast.stmt], Statement] = {
    ast.Expr: _expression,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Global: _share,
    ast.Nonlocal: _share,
    ast.FunctionDef: _define,
    ast.AsyncFunctionDef: _define,
    ast.ClassDef: _define_class,
    ast.Return: _return,
    ast.Assign: _assign,
    ast.AnnAssign: _assign_annotated,
    ast.AugAssign: _assign_added,
    ast.Delete: _delete,
}
