"""Calls of a program: its own functions are followed, classes are made, and a library's functions are its language's to answer."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from interlock.analysis.code.program.nodes import THIS
from interlock.analysis.code.program.objects import (
    Class,
    Instance,
    LibraryCall,
    Partial,
    ProgramFunction,
    ProgramScope,
    lineage,
    member_of,
)
from interlock.analysis.code.program.values import UNKNOWN, Marked, OpenFile, Sym, Value, either, made_from, traits_of
from interlock.analysis.code.program.walk import MAX_LOOP, ProgramWalk

MAX_DEPTH = 20
MAX_CALLS = 2000

_Args = list[Value]
_Named = dict[str, Value]


def invoke(walk: ProgramWalk, func: Value, args: _Args, named: _Named) -> Value:
    """Call one value; what is not known gives what is not known."""
    kind = _KINDS.get(type(func))
    return kind(walk, func, args, named) if kind else made_from([*args, *named.values()])


def _make(walk: ProgramWalk, cls: Class, args: _Args, named: _Named) -> Value:
    made = Instance(cls)
    if any("__init__" in kind.names for kind in lineage(cls)):
        walk.call(member_of(made, "__init__"), args, named)
    return made


def follow(walk: ProgramWalk, func: ProgramFunction, args: _Args, named: _Named) -> Value:
    """Read a function's body with what it is called with; tells where it calls too deeply or too often."""
    key = id(func.node)
    if walk.active.count(key) > (not walk.world.loose):  # it calls itself, and was read often enough
        if walk.forks and any(
            "fork" in (getattr(one, "attr", ""), getattr(one, "id", "")) for one in ast.walk(func.node)
        ):
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
    if walk.world.loose and _calls_itself(func):  # it walks down whatever it is given
        args = [Marked(one, traits_of(one) | {"deep"}) if isinstance(one, str) else one for one in args]
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
        walk, func, LibraryCall(func.path, func.owner, args, named)
    ),
}


def _calls_itself(func: ProgramFunction) -> bool:
    name = getattr(func.node, "name", "")
    return bool(name) and any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(func.node))


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
    """Give the parameters what the call gives, else their defaults."""
    spec, names = func.node.args, walk.scope.names
    given = [func.owner, *args] if func.owner is not None and not _static(func) else args
    if takes_this(func):
        given, named = args, named if func.owner is None else {**named, THIS: func.owner}
    params = [*spec.posonlyargs, *spec.args]
    defaults = [None] * (len(params) - len(spec.defaults)) + list(spec.defaults)
    placed = dict(zip([param.arg for param in params], given, strict=False))
    for param, default in [*zip(params, defaults, strict=True), *zip(spec.kwonlyargs, spec.kw_defaults, strict=True)]:
        if param.arg in placed or param.arg in named:
            names[param.arg] = placed[param.arg] if param.arg in placed else named[param.arg]
        else:
            names[param.arg] = Sym(param.arg) if default is None else walk.eval(default)
    if spec.vararg:
        names[spec.vararg.arg] = given[len(params) :] or Sym(spec.vararg.arg)
    if spec.kwarg:
        names[spec.kwarg.arg] = {key: value for key, value in named.items() if key not in names}


def takes_this(func: ProgramFunction) -> bool:
    """Whether a function knows what it is called on without a parameter for it."""
    return bool(func.node.args.kwonlyargs) and func.node.args.kwonlyargs[0].arg == THIS


def _static(func: ProgramFunction) -> bool:
    decorators = getattr(func.node, "decorator_list", ())
    return any(isinstance(node, ast.Name) and node.id == "staticmethod" for node in decorators)
