"""Calls of a program: its own functions are followed, classes are made, a library's functions are its language's to answer; what nothing called is read last."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from interlock.analysis.code.library import words
from interlock.analysis.code.program.nodes import THIS
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
    lineage,
    made_from,
    member_of,
    tagged,
)
from interlock.analysis.code.program.walk import MAX_LOOP, ProgramWalk

MAX_DEPTH = 20
MAX_CALLS = 2000

_Args = list[Value]
_Named = dict[str, Value]


def invoke(walk: ProgramWalk, func: Value, args: _Args, named: _Named) -> Value:
    kind = _KINDS.get(type(func))
    return kind(walk, func, args, named) if kind else made_from([*args, *named.values()])


def _make(walk: ProgramWalk, cls: Class, args: _Args, named: _Named) -> Value:
    made = Instance(cls)
    if any("__init__" in kind.names for kind in lineage(cls)):
        walk.call(member_of(made, "__init__"), args, named)
    return made


def follow(walk: ProgramWalk, func: ProgramFunction, args: _Args, named: _Named) -> Value:
    """Tells where the program calls too deeply or too often."""
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
            walk.call(value[0], list(value[1]), {})
    if scope.yields:
        return scope.yields[:MAX_LOOP]
    return either(*scope.returns) if scope.returns else None


def _bind(walk: ProgramWalk, func: ProgramFunction, args: _Args, named: _Named) -> None:
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
