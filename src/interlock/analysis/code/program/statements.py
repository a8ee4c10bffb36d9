"""Statements and functions: every branch is read and its results are kept, calls of functions are followed, what nothing called is read last."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from interlock.analysis.code.library import words
from interlock.analysis.code.program.expressions import assign, narrow, narrowed
from interlock.analysis.code.program.nodes import THIS
from interlock.analysis.code.program.results import operate
from interlock.analysis.code.program.values import (
    UNKNOWN,
    Class,
    Instance,
    LibraryCall,
    OpenFile,
    Partial,
    ProgramFunction,
    ProgramScope,
    Sym,
    Value,
    either,
    flat,
    lineage,
    made_from,
    member_of,
    tagged,
)
from interlock.analysis.code.program.walk import MAX_LOOP, ProgramWalk, Statement, leaves

MAX_DEPTH = 20
MAX_CALLS = 2000
_Names = dict[str, Value]


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
            value = walk.call(decorator, [value])
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
    return other if one is UNKNOWN else one if other is UNKNOWN else either(one, other)


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
            value = walk.call(member_of(value, "__enter__"))
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
    ast.FunctionDef: _define,
    ast.AsyncFunctionDef: _define,
    ast.ClassDef: _define_class,
    ast.Return: _return,
    ast.Assign: _assign,
    ast.AnnAssign: _assign_annotated,
    ast.AugAssign: _assign_added,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
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


def invoke(walk: ProgramWalk, func: Value, args: list[Value], named: _Names) -> Value:
    kind = _KINDS.get(type(func))
    return kind(walk, func, args, named) if kind else made_from([*args, *named.values()])


def _make(walk: ProgramWalk, cls: Class, args: list[Value], named: _Names) -> Value:
    made = Instance(cls)
    if any("__init__" in kind.names for kind in lineage(cls)):
        walk.call(member_of(made, "__init__"), args, named)
    return made


def follow(walk: ProgramWalk, func: ProgramFunction, args: list[Value], named: _Names) -> Value:
    key = id(func.node)
    if walk.active.count(key) > (not walk.world.loose):  # it calls itself, and was read often enough
        used = (getattr(one, "attr", getattr(one, "id", "")) for one in ast.walk(func.node))
        if walk.forks and "fork" in used:
            walk.world.effect("fork_bomb")
        return UNKNOWN
    if len(walk.active) >= MAX_DEPTH:
        walk.world.unreadable(f"{walk.language.name} that calls too deeply to follow", "nesting")
        return UNKNOWN
    walk.followed.add(key)
    walk.calls += 1
    if walk.calls > MAX_CALLS:
        walk.world.unreadable(f"{walk.language.name} that calls its functions too often to follow", "budget")
        return UNKNOWN
    name = getattr(func.node, "name", "")
    names = [node.id for node in ast.walk(func.node) if isinstance(node, ast.Name)] if name and walk.world.loose else []
    if name in names:  # it calls itself, and walks down whatever it is given
        args = [tagged(one, "deep") if isinstance(one, str) else one for one in args]
    walk.active.append(key)
    try:
        with walk.inside(ProgramScope(func.scope, closes=func.closes or walk.language.lexical)) as scope:
            _bind(walk, func, args, named)
            return _body(walk, func, scope)
    finally:
        walk.active.pop()


_KINDS: Mapping[type, Callable[..., Value]] = {
    ProgramFunction: follow,
    Partial: lambda walk, func, args, named: walk.call(func.func, [*func.args, *args], {**func.named, **named}),
    Class: _make,
    Instance: lambda walk, func, args, named: walk.call(member_of(func, "__call__"), args, named),
    Sym: lambda walk, func, args, named: walk.language.answer(
        func, LibraryCall(walk, func.path, func.owner, args, named)
    ),
}


def _body(walk: ProgramWalk, func: ProgramFunction, scope: ProgramScope) -> Value:
    if isinstance(func.node, ast.Lambda):
        return walk.eval(func.node.body)
    walk.block(func.node.body)
    for value in scope.returns:
        if isinstance(value, OpenFile):  # whoever called may write to it
            value.written = True
        pair = isinstance(value, tuple) and len(value) >= 2 and isinstance(value[1], tuple)
        if func.node.name.startswith("__reduce") and pair:  # what pickle would call
            walk.call(value[0], list(value[1]))
    if scope.yields:
        return scope.yields[:MAX_LOOP]
    return either(*scope.returns) if scope.returns else None


def _bind(walk: ProgramWalk, func: ProgramFunction, args: list[Value], named: _Names) -> None:
    spec, names = func.node.args, walk.scope.names
    decorators = getattr(func.node, "decorator_list", ())
    static = "staticmethod" in (getattr(node, "id", "") for node in decorators)
    given = [func.owner, *args] if func.owner is not None and not static else args
    if takes_this(func):
        given, named = args, named if func.owner is None else {**named, THIS: func.owner}
    params = [*spec.posonlyargs, *spec.args]
    defaults = [None] * (len(params) - len(spec.defaults)) + list(spec.defaults)
    found = {**named, **dict(zip([param.arg for param in params], given, strict=False))}
    for param, default in [*zip(params, defaults, strict=True), *zip(spec.kwonlyargs, spec.kw_defaults, strict=True)]:
        if param.arg in found:
            names[param.arg] = found[param.arg]
        else:
            names[param.arg] = Sym(param.arg) if default is None else walk.eval(default)
    if spec.vararg:
        names[spec.vararg.arg] = given[len(params) :] or Sym(spec.vararg.arg)
    if spec.kwarg:
        names[spec.kwarg.arg] = {key: value for key, value in named.items() if key not in names}


def takes_this(func: ProgramFunction) -> bool:
    return bool(func.node.args.kwonlyargs) and func.node.args.kwonlyargs[0].arg == THIS


def read_uncalled(body: list[ast.stmt], walk: ProgramWalk) -> None:
    """First what is never named, as that may call the rest."""
    if all(id(func.node) in walk.followed for func in walk.defined):
        return
    nodes = list(ast.walk(ast.Module(body, [])))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    members = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    idle = _idle_in(body, nodes, names, members)
    never = _never_run(nodes) if walk.language.lexical else frozenset()
    for named in (False, True):
        for func in walk.defined:  # grows while inner functions are met
            name = getattr(func.node, "name", "")
            if name not in never and id(func.node) not in walk.followed and (name in names or name in members) is named:
                walk.world.idle = id(func.node) in idle
                follow(walk, func, [], {})
    walk.world.idle = False


def _never_run(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Functions that only their definition mentions; none where text is run that could."""
    silent = {id(node.target) for node in nodes if isinstance(node, (ast.AnnAssign, ast.NamedExpr))}
    for node in nodes:
        if isinstance(node, ast.Assign):
            out = (node.value, *ast.iter_child_nodes(node.value)) if _exports(node) else ()
            silent |= set(map(id, (node.targets[0], *out)))
    named = [node for node in nodes if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in silent]
    mentioned = {node.id if isinstance(node, ast.Name) else node.attr for node in named}
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    return frozenset() if mentioned & {"eval", "Function"} else frozenset(defined - mentioned - {"", "__init__"})


def _exports(node: ast.Assign) -> bool:
    """Whether it only hands something to those that would load it."""
    target: ast.expr = node.targets[0]
    while isinstance(target, ast.Attribute):
        target = target.value
    return isinstance(target, ast.Name) and target.id in ("exports", "module") and target is not node.targets[0]


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _idle_in(body: list[ast.stmt], nodes: Sequence[ast.AST], names: set[str], members: set[str]) -> frozenset[int]:
    """Those that nothing mentions; none where one could be found by a name that is not written out."""
    imported = {alias.name.partition(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module).partition(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
    found: set[int] = set()
    for node in body if words("python")["dynamic"].isdisjoint(names | members | imported) else ():
        if isinstance(node, _Function) and _plain(node) and node.name not in names:
            found.add(id(node))
        elif isinstance(node, ast.ClassDef) and not (node.bases or node.keywords or node.decorator_list):
            methods = (one for one in node.body if isinstance(one, _Function) and _plain(one))
            found |= {id(one) for one in methods if one.name not in members}
    return frozenset(found)


def _plain(node: _Function) -> bool:
    """Not handed to anybody by a decorator, and not called by the language itself."""
    return not node.decorator_list and not node.name.startswith("__")
