"""Calls of a Python source: its own functions are followed, a library's are looked up in the tables of this package."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from interlock.analysis.code.python.calls import data, execution, files, indirect, network, stores
from interlock.analysis.code.python.calls.data import on_file, on_value
from interlock.analysis.code.python.calls.stores import asked_of_service
from interlock.analysis.code.python.objects import (
    MAX_PATH,
    Class,
    Instance,
    LibraryCall,
    Partial,
    PythonFunction,
    PythonScope,
    lineage,
    member_of,
)
from interlock.analysis.code.python.pure import PURE, pure
from interlock.analysis.code.python.values import UNKNOWN, OpenFile, Sym, Value, either, made_from, traits_of
from interlock.analysis.code.python.walk import MAX_LOOP, Answer, PythonWalk

MAX_DEPTH = 20
MAX_CALLS = 2000

_Args = list[Value]
_Named = dict[str, Value]


def invoke(walk: PythonWalk, func: Value, args: _Args, named: _Named) -> Value:
    """Call one value; what is not known gives what is not known."""
    kind = _KINDS.get(type(func))
    return kind(walk, func, args, named) if kind else made_from([*args, *named.values()])


def _partial(walk: PythonWalk, func: Partial, args: _Args, named: _Named) -> Value:
    return walk.call(func.func, [*func.args, *args], {**func.named, **named})


def _make(walk: PythonWalk, cls: Class, args: _Args, named: _Named) -> Value:
    made = Instance(cls)
    if any("__init__" in kind.names for kind in lineage(cls)):
        walk.call(member_of(made, "__init__"), args, named)
    return made


def _instance(walk: PythonWalk, func: Instance, args: _Args, named: _Named) -> Value:
    return walk.call(member_of(func, "__call__"), args, named)


def _library(walk: PythonWalk, func: Sym, args: _Args, named: _Named) -> Value:
    bound = func.args if func.path.startswith("plumbum.cmd.") else ()
    return walk.language.answer(walk, func, LibraryCall(func.path, func.owner, [*bound, *args], named))


def follow(walk: PythonWalk, func: PythonFunction, args: _Args, named: _Named) -> Value:
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
        with walk.inside(PythonScope(func.scope)) as scope:
            _bind(walk, func, args, named)
            return _body(walk, func, scope)
    finally:
        walk.active.pop()


_KINDS: Mapping[type, Callable[..., Value]] = {
    PythonFunction: follow,
    Partial: _partial,
    Class: _make,
    Instance: _instance,
    Sym: _library,
}


def _forks(func: PythonFunction) -> bool:
    return any("fork" in (getattr(node, "attr", ""), getattr(node, "id", "")) for node in ast.walk(func.node))


def _body(walk: PythonWalk, func: PythonFunction, scope: PythonScope) -> Value:
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


def _bind(walk: PythonWalk, func: PythonFunction, args: _Args, named: _Named) -> None:
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


def _static(func: PythonFunction) -> bool:
    decorators = getattr(func.node, "decorator_list", ())
    return any(isinstance(node, ast.Name) and node.id == "staticmethod" for node in decorators)


# the functions of libraries by path, and methods by name alone, as the type of what they are called on is not known
_CALLS: Mapping[str, Answer] = {
    **files.CALLS,
    **data.CALLS,
    **execution.CALLS,
    **execution.CODE_CALLS,
    **indirect.LOOKUP_CALLS,
    **indirect.CALLS,
    **network.CALLS,
    **stores.CALLS,
}
_METHODS: Mapping[str, Answer] = {
    **data.METHODS,
    **files.PATH_METHODS,
    **network.METHODS,
    **stores.METHODS,
    **execution.METHODS,
    **indirect.METHODS,
    **indirect.LOOKUP_METHODS,
    **execution.CODE_METHODS,
}
HANDLED = frozenset(_CALLS) | frozenset(PURE)


def answer(walk: PythonWalk, func: Sym, call: LibraryCall) -> Value:
    """What a call gives, after telling what it does; the first that knows the call has the answer."""
    if isinstance(call.owner, OpenFile) and call.path.startswith("."):
        return on_file(walk, call.owner, call)
    _escape(walk, call)
    for answering in (
        _CALLS.get(call.path),
        asked_of_service,
        _METHODS.get(call.name),
        _made_up(call.path),
        _without_effect,
    ):
        given = answering(walk, call) if answering is not None else UNKNOWN
        if given is not UNKNOWN:
            return given
    traits = traits_of(call.given()) | func.traits
    return Sym(f"{func.path}()"[-MAX_PATH:], func, tuple(call.args), call.named, traits)


def _escape(walk: PythonWalk, call: LibraryCall) -> None:
    """A file handed to a function is taken to be written by it."""
    for value in call.given():
        if isinstance(value, OpenFile):
            walk.world.fill(value, made_from([other for other in call.given() if other is not value]))


def _made_up(path: str) -> Answer:
    """Libraries whose functions are made up as they are named."""
    if path.startswith("sh."):
        return execution.sh
    return execution.plumbum if path.startswith("plumbum.cmd.") else stores.aws


def _without_effect(walk: PythonWalk, call: LibraryCall) -> Value:
    return on_value(call) if call.path.startswith(".") else pure(call.path, call.args, call.named)
