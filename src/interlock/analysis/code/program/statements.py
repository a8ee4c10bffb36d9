"""Statements: definitions, returns, branches and loops; every branch is read and its results are kept."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from interlock.analysis.code.program.expressions import assign, narrow, narrowed
from interlock.analysis.code.program.results import operate
from interlock.analysis.code.program.values import (
    UNKNOWN,
    Class,
    Instance,
    ProgramFunction,
    ProgramScope,
    Sym,
    Value,
    either,
    flat,
    made_from,
    member_of,
)
from interlock.analysis.code.program.walk import ProgramWalk, Statement, leaves


def _define(walk: ProgramWalk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    func = walk.define(node)
    for default in [*node.args.defaults, *node.args.kw_defaults]:
        if default and not isinstance(default, ast.Constant):
            walk.eval(default)
    give = walk.scope.declare if walk.language.lexical else walk.scope.set
    give(node.name, _decorated(walk, func, node.decorator_list))


def _define_class(walk: ProgramWalk, node: ast.ClassDef) -> None:
    bases = [walk.eval(base) for base in node.bases]
    with walk.inside(ProgramScope(walk.scope)) as scope:
        walk.block(node.body)
    made = Class(node.name, scope.names, bases)
    for member in scope.names.values():
        if isinstance(member, ProgramFunction) and member.owner is None:
            member.owner = Instance(made)
    walk.scope.set(node.name, _decorated(walk, made, node.decorator_list))


def _decorated(walk: ProgramWalk, value: Value, decorators: Sequence[ast.expr]) -> Value:
    for decorator in map(walk.eval, reversed(decorators)):
        inline = isinstance(decorator, ProgramFunction) and isinstance(decorator.node, ast.Lambda)
        if inline or walk.language.handles(decorator):
            value = walk.call(decorator, [value], {})
    return value


def _return(walk: ProgramWalk, node: ast.Return) -> None:
    if node.value:
        walk.scope.returns.append(walk.eval(node.value))


def _assign(walk: ProgramWalk, node: ast.Assign) -> None:
    value = walk.eval(node.value)
    for target in node.targets:
        assign(walk, target, value)


def _assign_annotated(walk: ProgramWalk, node: ast.AnnAssign) -> None:
    """The name belongs to this block, even where the code around has one like it."""
    value = None if node.value is None else walk.eval(node.value)
    if walk.world.loose and isinstance(node.target, ast.Name):
        walk.scope.declare(node.target.id, value)
    elif node.value is not None:
        assign(walk, node.target, value)


def _assign_added(walk: ProgramWalk, node: ast.AugAssign) -> None:
    left, right = walk.eval(node.target), walk.eval(node.value)
    assign(walk, node.target, walk.spread(lambda a, b: operate(type(node.op).__name__, a, b), left, right))


def _import(walk: ProgramWalk, node: ast.Import) -> None:
    for alias in node.names:
        name = alias.name if alias.asname else alias.name.partition(".")[0]
        walk.scope.set(alias.asname or name, walk.language.attribute(walk, _NOWHERE, name))


def _import_from(walk: ProgramWalk, node: ast.ImportFrom) -> None:
    module = walk.language.attribute(walk, _NOWHERE, node.module or "")
    for alias in node.names:
        if alias.name == "*":
            walk.stars.append(module.path)
        else:
            walk.scope.set(alias.asname or alias.name, walk.language.attribute(walk, module, alias.name))


_NOWHERE = Sym("")  # what modules and built-in functions are found in
_Names = dict[str, Value]


def _if(walk: ProgramWalk, node: ast.If) -> None:
    walk.eval(node.test)
    if isinstance(node.test, ast.Constant):
        walk.block(node.body if node.test.value else node.orelse)
        return
    before, after = _branch(walk, node.body, node.test)
    walk.scope.restore(before)
    for name in [name for name, value in after.items() if narrowed(value, before[name])]:
        del after[name], before[name]  # the branch has not changed what its test narrowed
    other_before, _ = _branch(walk, node.orelse)
    for name in {**before, **other_before}:
        now = walk.scope.names.get(name, UNKNOWN)
        walk.scope.set(name, _joined(after.get(name, before.get(name, UNKNOWN)), now))
    if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not) and leaves(node.body[-1]):
        narrow(walk, node.test.operand)


def _branch(walk: ProgramWalk, body: Sequence[ast.stmt], test: ast.expr | None = None) -> tuple[_Names, _Names]:
    """What the names were that it changes, and what they are after it."""
    trail: _Names = {}
    scope = walk.scope
    scope.trails.append(trail)
    try:
        if test:
            narrow(walk, test)
        walk.block(body)
    finally:
        scope.leave(trail)
    return trail, {name: scope.names[name] for name in trail if name in scope.names}


def _joined(one: Value, other: Value) -> Value:
    if one is UNKNOWN or other is UNKNOWN:
        return other if one is UNKNOWN else one
    return either(one, other)


def _maybe(walk: ProgramWalk, body: Sequence[ast.stmt]) -> None:
    before, after = _branch(walk, body)
    walk.scope.restore(before)
    for name, value in after.items():
        walk.scope.set(name, _joined(before[name], value))


def _for(walk: ProgramWalk, node: ast.For | ast.AsyncFor) -> None:
    over = walk.eval(node.iter)
    read = _maybe if flat(over) is None else ProgramWalk.block
    for item in walk.items(over):
        if not walk.goes_on():
            break
        assign(walk, node.target, item)
        read(walk, node.body)
    walk.block(node.orelse)


_ROUNDS = 300  # of the loops of one program that are followed as they run


def _counted(walk: ProgramWalk, node: ast.While) -> bool:
    """False where its test is not known any more."""
    while walk.rounds < _ROUNDS:
        holds = walk.eval(node.test)
        if holds is not True:
            return holds is False
        walk.rounds += 1
        walk.block(node.body)
    return False


def _while(walk: ProgramWalk, node: ast.While) -> None:
    """Read the body as it begins, then again with what it counts no longer known."""
    tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
    endless = any(isinstance(test, ast.Constant) and bool(test.value) for test in tests)
    if walk.world.loose and not endless and _counted(walk, node):
        return
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


def _with(walk: ProgramWalk, node: ast.With | ast.AsyncWith) -> None:
    before = walk.world.cwd
    for item in node.items:
        value = walk.eval(item.context_expr)
        if isinstance(value, Instance) and "__enter__" in value.cls.names:
            value = walk.call(member_of(value, "__enter__"), [], {})
        if item.optional_vars:
            assign(walk, item.optional_vars, value)
    moved = walk.world.cwd != before
    walk.block(node.body)
    if moved:
        walk.world.cwd = before


def _try(walk: ProgramWalk, node: ast.Try | ast.TryStar) -> None:
    walk.block(node.body)
    for handler in node.handlers:
        _maybe(walk, handler.body)
    walk.block(node.orelse)
    walk.block(node.finalbody)


def _match(walk: ProgramWalk, node: ast.Match) -> None:
    subject = walk.eval(node.subject)
    for case in node.cases:
        for part in ast.walk(case.pattern):
            name = getattr(part, "name", None)
            if isinstance(name, str):
                walk.scope.set(name, subject)
        _maybe(walk, case.body)


STATEMENTS: Mapping[type[ast.stmt], Statement] = {
    ast.Expr: lambda walk, node: walk.eval(node.value),
    **dict.fromkeys((ast.Global, ast.Nonlocal), lambda walk, node: walk.scope.shared.update(node.names)),
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef), _define),
    ast.ClassDef: _define_class,
    ast.Return: _return,
    ast.Assign: _assign,
    ast.AnnAssign: _assign_annotated,
    ast.AugAssign: _assign_added,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.If: _if,
    **dict.fromkeys((ast.For, ast.AsyncFor), _for),
    ast.While: _while,
    **dict.fromkeys((ast.With, ast.AsyncWith), _with),
    **dict.fromkeys((ast.Try, ast.TryStar), _try),
    ast.Match: _match,
}
