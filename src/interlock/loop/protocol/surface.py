"""★ One call -> one envelope: a table of operations with a handler each, the same through every tool and interface."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field
from msgspec.structs import force_setattr

from interlock.error_codes import LoopProblem
from interlock.loop.protocol import OperationSpec, envelope, introspection
from interlock.loop.protocol.envelope import ProtocolReply, refusal, success
from interlock.loop.protocol.gatekeeper import (
    ANY,
    CheckedParameters,
    check_parameters,
    requested_operation,
    route,
    wrong_type,
    wrong_value,
)
from interlock.loop.protocol.tools import ToolNaming

INTROSPECT = "introspect"
MOST_IN_A_BATCH = 20


class ProtocolCaller(Struct, frozen=True):
    """The caller, as the interface proved it; `session` is the interface's own (ESL-14)."""

    principal: str
    session: str = ""
    naming: ToolNaming = field(default_factory=ToolNaming)
    strict: bool = False  # introspection keeps to the core's closed schemas
    more: Any = None  # what a surface's own handlers need of the connection


class OperationCall(Struct, frozen=True):
    operation: OperationSpec
    given: CheckedParameters
    caller: ProtocolCaller

    @property
    def params(self) -> Mapping[str, Any]:
        return self.given.params


class DataWithWarnings(Struct, frozen=True):
    data: Mapping[str, Any]
    warnings: Sequence[Mapping[str, Any]] = ()


Handler = Callable[[OperationCall], "Mapping[str, Any] | DataWithWarnings"]


class Surface(Struct, frozen=True):
    """A server's operations; `introspect` answers from the table that calls are checked with (INT-07)."""

    operations: Mapping[str, OperationSpec]
    handlers: Mapping[str, Handler]
    about: introspection.SurfaceInfo

    def __post_init__(self) -> None:
        wanted = set(self.operations) - {INTROSPECT}
        if wanted != set(self.handlers):
            raise ValueError(f"operations without a handler, or the reverse: {sorted(wanted ^ set(self.handlers))}")
        returned = [one.returns.name for one in self.operations.values()]
        if nowhere := introspection.unresolved_types(returned, introspection.known_types(self.about)):
            raise ValueError(f"types that introspection does not know: {', '.join(nowhere)}")
        force_setattr(self, "handlers", MappingProxyType(dict(self.handlers)))


def call(surface: Surface, endpoint: str, arguments: Any, caller: ProtocolCaller) -> ProtocolReply:
    """Refusals use the registry's codes; the interface has to catch anything unexpected."""
    started = time.perf_counter()
    closed = isinstance(arguments, dict) and arguments.get("operation") == INTROSPECT
    try:
        envelope.check_request(arguments)  # 1. it can be read
        if isinstance(arguments, dict) and "operations" in arguments and "operation" not in arguments:
            return ProtocolReply(_batch(surface, endpoint, arguments, caller))
        reply = _one(surface, endpoint, arguments, caller)  # 2.-5.
        meta: dict[str, Any] = {}
        if not closed:  # INT-09
            spent = round((time.perf_counter() - started) * 1000, 3)
            meta = {"request_id": f"req_{secrets.token_hex(8)}", "duration_ms": spent}
            meta |= {"session_id": caller.session} if caller.session else {}
        made = success(dict(reply.data), reply.warnings, meta)
        envelope.check_reply(made)
    except LoopProblem as problem:
        return refusal(problem, caller.session, closed)
    return ProtocolReply(made)


def _one(surface: Surface, endpoint: str, arguments: Any, caller: ProtocolCaller) -> DataWithWarnings:
    name = requested_operation(arguments)  # 2. it names an operation
    operation = route(surface.operations, name, endpoint)  # 3. that came through its own endpoint
    given = check_parameters(operation, arguments)  # 4. with parameters of its own
    if name == INTROSPECT:
        return DataWithWarnings(introspection.answer_introspection(surface, given.params, caller))
    answer = surface.handlers[name](OperationCall(operation, given, caller))  # 5. and its handler answers
    reply = answer if isinstance(answer, DataWithWarnings) else DataWithWarnings(answer)
    fields = given.params.get("fields")
    if not operation.selects or not isinstance(fields, list):
        return reply
    if not fields or not set(fields) <= set(operation.selects):
        raise wrong_value("fields", f"names among {', '.join(operation.selects)}")
    return DataWithWarnings({key: value for key, value in reply.data.items() if key in fields}, reply.warnings)


def _batch(surface: Surface, endpoint: str, arguments: Mapping[str, Any], caller: ProtocolCaller) -> dict[str, Any]:
    """READ operations only, in order; one other refuses it whole."""
    items = arguments["operations"]
    if any(key != "operations" and not key.startswith("_") for key in arguments):
        raise wrong_value("operations", "nothing beside it")
    if not isinstance(items, list):
        raise wrong_type("operations", "array", items)
    if not 1 <= len(items) <= MOST_IN_A_BATCH:
        raise wrong_value("operations", f"1 to {MOST_IN_A_BATCH} operations")
    if endpoint not in (ANY, "read"):
        raise wrong_value("operations", "a batch through the 'read' endpoint")
    for item in items:
        if not isinstance(item, dict):
            raise wrong_type("operations", "array of object", item)
    names = [route(surface.operations, requested_operation(item), "read").name for item in items]
    results = []
    for item in items:
        try:
            results.append(success(dict(_one(surface, "read", item, caller).data)))
        except LoopProblem as problem:
            results.append(dict(refusal(problem, closed=item.get("operation") == INTROSPECT).envelope))
    succeeded = sum(1 for one in results if one["success"])
    summary = {"total": len(items), "succeeded": succeeded, "failed": len(items) - succeeded}
    listed = [{"index": at, "operation": name, "result": one} for at, name, one in zip(count(), names, results)]
    made = {"success": True, "data": None, "results": listed, "summary": summary}
    envelope.check_reply(made)
    return made
