"""What calling a value gives: a function of the source is followed, a library's is answered."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from interlock.core.read.inline.python.objects import Call, Class, Func, Instance, Partial, lineage, member
from interlock.core.read.inline.python.scope import Scope
from interlock.core.read.inline.python.values import UNKNOWN, File, Sym, Value, either, made_from
from interlock.core.read.inline.python.walk import MAX_LOOP, Walk

MAX_DEPTH = 20
MAX_CALLS = 2000

_Args = list[Value]
_Named = dict[str, Value]


def invoke(walk: Walk, func: Value, args: _Args, named: _Named) -> Value:
    """Call one value; what is not known gives what is not known."""
    kind = _KINDS.get(type(func))
    return kind(walk, func, args, named) if kind else made_from([*args, *named.values()])


def _partial(walk: Walk, func: Partial, args: _Args, named: _Named) -> Value:
    return walk.call(func.func, [*func.args, *args], {**func.named, **named})


def _make(walk: Walk, cls: Class, args: _Args, named: _Named) -> Value:
    made = Instance(cls)
    if any("__init__" in kind.names for kind in lineage(cls)):
        walk.call(member(made, "__init__"), args, named)
    return made


def _instance(walk: Walk, func: Instance, args: _Args, named: _Named) -> Value:
    return walk.call(member(func, "__call__"), args, named)


def _library(walk: Walk, func: Sym, args: _Args, named: _Named) -> Value:
    bound = func.args if func.path.startswith("plumbum.cmd.") else ()
    return walk.language.answer(walk, func, Call(func.path, func.owner, [*bound, *args], named))


def follow(walk: Walk, func: Func, args: _Args, named: _Named) -> Value:
    """Read a function's body with what it is called with; tells where it calls too deeply or too often."""
    key = id(func.node)
    if walk.active.count(key) > 1:  # it calls itself, and was read twice
        if walk.forks and _forks(func):
            walk.world.effect("fork_bomb")
        return UNKNOWN
    if len(walk.active) >= MAX_DEPTH:
        walk.world.unreadable("Python that calls too deeply to follow", "nesting")
        return UNKNOWN
    walk.followed.add(key)
    walk.calls += 1
    if walk.calls > MAX_CALLS:
        walk.world.unreadable("Python that calls its functions too often to follow", "budget")
        return UNKNOWN
    walk.active.append(key)
    try:
        with walk.inside(Scope(func.scope)) as scope:
            _bind(walk, func, args, named)
            return _body(walk, func, scope)
    finally:
        walk.active.pop()


_KINDS: Mapping[type, Callable[..., Value]] = {
    Func: follow,
    Partial: _partial,
    Class: _make,
    Instance: _instance,
    Sym: _library,
}


def _forks(func: Func) -> bool:
    return any("fork" in (getattr(node, "attr", ""), getattr(node, "id", "")) for node in ast.walk(func.node))


def _body(walk: Walk, func: Func, scope: Scope) -> Value:
    if isinstance(func.node, ast.Lambda):
        return walk.eval(func.node.body)
    walk.block(func.node.body)
    for value in scope.returns:
        if isinstance(value, File):  # whoever called may write to it
            value.written = True
        pair = isinstance(value, tuple) and len(value) >= 2 and isinstance(value[1], tuple)
        if func.node.name.startswith("__reduce") and pair:  # what pickle would call
            walk.call(value[0], list(value[1]), {})
    if scope.yields:
        return scope.yields[:MAX_LOOP]
    return either(*scope.returns) if scope.returns else None


def _bind(walk: Walk, func: Func, args: _Args, named: _Named) -> None:
    """Give the parameters what the call gives, else their defaults."""
    spec, names = func.node.args, walk.scope.names
    given = [func.owner, *args] if func.owner is not None and not _static(func) else args
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


def _static(func: Func) -> bool:
    decorators = getattr(func.node, "decorator_list", ())
    return any(isinstance(node, ast.Name) and node.id == "staticmethod" for node in decorators)
