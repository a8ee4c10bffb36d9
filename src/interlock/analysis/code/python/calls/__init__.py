"""Calls of Python's libraries, looked up in the tables of this package."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.analysis.code.program.objects import MAX_PATH, LibraryCall
from interlock.analysis.code.program.values import UNKNOWN, OpenFile, Sym, Value, made_from, traits_of
from interlock.analysis.code.program.walk import Answer, ProgramWalk
from interlock.analysis.code.python.calls import data, execution, files, indirect, network, stores
from interlock.analysis.code.python.calls.data import on_file, on_value
from interlock.analysis.code.python.calls.stores import asked_of_service
from interlock.analysis.code.python.pure import PURE, pure

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


def answer(walk: ProgramWalk, func: Sym, call: LibraryCall) -> Value:
    """What a call gives, after telling what it does; the first that knows the call has the answer."""
    if call.path.startswith("plumbum.cmd."):
        call = LibraryCall(call.path, call.owner, [*func.args, *call.args], call.named)
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


def _escape(walk: ProgramWalk, call: LibraryCall) -> None:
    """A file handed to a function is taken to be written by it."""
    for value in call.given():
        if isinstance(value, OpenFile):
            walk.world.fill(value, made_from([other for other in call.given() if other is not value]))


def _made_up(path: str) -> Answer:
    """Libraries whose functions are made up as they are named."""
    if path.startswith("sh."):
        return execution.sh
    return execution.plumbum if path.startswith("plumbum.cmd.") else stores.aws


def _without_effect(walk: ProgramWalk, call: LibraryCall) -> Value:
    return on_value(call) if call.path.startswith(".") else pure(call.path, call.args, call.named)
