"""What a call of a library does and gives, whichever library it is."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.read.inline.python import (
    calls_aws,
    calls_code,
    calls_databases,
    calls_files,
    calls_frames,
    calls_functions,
    calls_names,
    calls_network,
    calls_paths,
    calls_programs,
)
from interlock.core.read.inline.python.calls_services import asked_of_service
from interlock.core.read.inline.python.calls_values import on_file, on_value
from interlock.core.read.inline.python.modules import MAX_PATH
from interlock.core.read.inline.python.objects import Call
from interlock.core.read.inline.python.pure import PURE, pure
from interlock.core.read.inline.python.values import UNKNOWN, File, Sym, Value, made_from, traits_of
from interlock.core.read.inline.python.walk import Answer, Walk

# the functions of libraries by path, and methods by name alone, as the type of what they are called on is not known
_CALLS: Mapping[str, Answer] = {
    **calls_files.CALLS,
    **calls_frames.CALLS,
    **calls_programs.CALLS,
    **calls_code.CALLS,
    **calls_names.CALLS,
    **calls_functions.CALLS,
    **calls_network.CALLS,
    **calls_databases.CALLS,
}
_METHODS: Mapping[str, Answer] = {
    **calls_frames.METHODS,
    **calls_paths.METHODS,
    **calls_network.METHODS,
    **calls_databases.METHODS,
    **calls_programs.METHODS,
    **calls_functions.METHODS,
    **calls_names.METHODS,
    **calls_code.METHODS,
}
HANDLED = frozenset(_CALLS) | frozenset(PURE)


def answer(walk: Walk, func: Sym, call: Call) -> Value:
    """What a call gives, after telling what it does; the first that knows the call has the answer."""
    if isinstance(call.owner, File) and call.path.startswith("."):
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


def _escape(walk: Walk, call: Call) -> None:
    """A file handed to a function is taken to be written by it."""
    for value in call.given():
        if isinstance(value, File):
            walk.world.fill(value, made_from([other for other in call.given() if other is not value]))


def _made_up(path: str) -> Answer:
    """Libraries whose functions are made up as they are named."""
    if path.startswith("sh."):
        return calls_programs.sh
    return calls_programs.plumbum if path.startswith("plumbum.cmd.") else calls_aws.aws


def _without_effect(walk: Walk, call: Call) -> Value:
    return on_value(call) if call.path.startswith(".") else pure(call.path, call.args, call.named)
