"""Loads adapter files, keeps the last good version of a changed one, and presents them as MCP-AQL surfaces."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from interlock.adapters import Adapter, AdapterOperationSpec, AdapterParam, read_file, reserved_names
from interlock.adapters.danger import prose_form
from interlock.adapters.levels import Named, call_facts, effective_level
from interlock.loop.protocol import (
    TYPES,
    Danger,
    OperationSpec,
    ParamSpec,
    Returns,
    TableError,
    loop_operations,
    table,
)
from interlock.loop.protocol.gatekeeper import AUTO, SINGLE, check_parameters, missing_parameter
from interlock.loop.protocol.introspection import INTROSPECTION, SurfaceInfo, load_types
from interlock.loop.protocol.surface import Handler, ProtocolCaller, Surface
from interlock.mcp.adapters.requests import INPUT, AdapterUnusable, Service, ServiceCall
from interlock.model import Json, Level, Trust
from interlock.policy.policy import Policy
from interlock.policy.trust_matrix import ALLOW, gate
from interlock.strict_json import list_in, table_in

_KINDS = {"int": "integer", "float": "number", "bool": "boolean", "str": "string", "list": "array", "dict": "object"}
_NESTED = frozenset({"operation", "params"})  # names that mean something else beside `params`
_NUMBERS = {"minimum": "minimum", "maximum": "maximum", "minLength": "min_length", "maxLength": "max_length"}


class OfferedOperation(Struct, frozen=True):
    """One operation as offered to clients, and the fields that its UPDATE takes inside `input`."""

    operation: OperationSpec
    inner: OperationSpec | None = None

    def params(self, given: Json) -> dict[str, Any]:
        """Refuses an undeclared field (EP-14)."""
        if self.inner is None or INPUT not in given:
            return dict(given)
        fields = given[INPUT]
        known = {param.name: param for param in self.inner.params}
        removed = dict.fromkeys(name for name, value in fields.items() if value is None and name in known)
        for name in removed:
            if known[name].required:
                raise missing_parameter(f"{INPUT}.{name}", self.operation.name, known[name].type)
        rest = {name: value for name, value in fields.items() if name not in removed}
        found = check_parameters(self.inner, {"operation": self.inner.name, "params": rest})
        return {**given, INPUT: {**found.params, **removed}}

    def judged(self, params: Json) -> dict[str, Any]:
        """As the adapter's conditions name them: nested fields beside the others."""
        found = dict(params)
        if self.inner is not None:
            found |= found.pop(INPUT, {})
        return found


def row_of(call: ServiceCall, trust: Trust, named: Named) -> OfferedOperation:
    """Raises AdapterUnusable where its parameters contradict themselves."""
    own, block = call.operation, call.operation.danger
    found = effective_level(own.claims, named, trust)
    try:
        params, inner = _split(call)
        made = OperationSpec(
            own.name,
            own.category,
            f"{own.description.rstrip('. ') or own.name.replace('_', ' ').capitalize()}. Danger level: {found.level.word}.",
            params,
            Returns("ServiceAnswer", "object", "The answer of the service."),
            Danger(
                found.level,
                found.why,
                block.confirmation_message if block else "",
                found.level >= Level.DESTRUCTIVE or bool(block and block.requires_confirmation),
                prose_form(block, found.level) if block else {},
            ),
            AUTO if gate(found.level, trust) == ALLOW else SINGLE,
        )
    except TableError as error:
        raise AdapterUnusable(f"{own.name}: {error}") from None
    return OfferedOperation(made, inner)


def inference_warning(
    adapter: Adapter, own: AdapterOperationSpec, params: Json, trust: Trust, named: Named
) -> list[dict[str, Any]]:
    """2.11: an allowed operation whose level came from its name says so."""
    facts = call_facts(own.name, params, own.category)
    variables = {"params": params, **facts, "agent": "", "adapter": adapter.name}
    found = effective_level(own.claims, named, trust, variables=variables)
    return [notice.as_json() for notice in found.warnings if notice.code == "DANGER_LEVEL_INFERRED"]


def _split(call: ServiceCall) -> tuple[tuple[ParamSpec, ...], OperationSpec | None]:
    """Those that identify the resource, and the fields to change inside `input`."""
    own = call.operation
    fields = [param for param in own.params if call.updates and param.name not in call.outer]
    whole = [param for param in own.params if call.updates and param.name == INPUT]  # declared by the adapter itself
    outer = tuple(_param(param, call) for param in (*(one for one in own.params if one not in fields), *whole))
    if whole or not fields:
        return outer, None
    inner = tuple(_param(param, call, default=False) for param in fields)
    names = ", ".join(param.name for param in inner)
    words = f"The fields to change: {names}. Others stay as they are; null removes one."
    operation = OperationSpec(own.name, own.category, own.name, inner)
    return (*outer, ParamSpec(INPUT, "object", words, required=True)), operation


def _param(given: AdapterParam, call: ServiceCall, default: bool = True) -> ParamSpec:
    rest = given.rest
    kind = _KINDS.get(given.type, given.type)
    kind = kind if kind in TYPES else "string"
    value = rest.get("default", UNSET) if default else UNSET
    if value is not UNSET and type(value) not in TYPES[kind]:
        raise TableError(f"parameter {given.name!r}: its default is no {kind}")
    required = (given.required or given.name in call.template.path_names) and value is UNSET
    numbers = {name: rest[key] for key, name in _NUMBERS.items() if isinstance(rest.get(key), int | float)}
    items = str(table_in(rest, "items").get("type"))
    return ParamSpec(
        given.name,
        kind,
        given.description,
        required=required,
        default=value,
        enum=tuple(list_in(rest, "enum")),
        pattern=rest["pattern"] if isinstance(rest.get("pattern"), str) else "",
        items=items if items in TYPES else "",
        sensitive=rest.get("sensitive") is True,
        nested=given.name in _NESTED,
        **numbers,
    )


Signature = tuple[int, int, int]  # modification time, size, inode


class ServedAdapter(Struct, frozen=True):
    path: Path
    adapter: Adapter
    service: Service
    mark: str  # the file's hash
    signature: Signature
    problem: str = ""  # why the current file is not served

    @property
    def name(self) -> str:
        return self.adapter.name


def load_adapter(path: Path) -> ServedAdapter:
    """Raises AdapterUnusable with every problem found."""
    try:
        signature, reading = _signature(path), read_file(path)
    except OSError as error:
        raise AdapterUnusable(f"{path}: {error.strerror or 'cannot be read'}") from None
    if reading.adapter is None or not reading.usable:
        raise AdapterUnusable(reading.errors(path))
    try:
        service = Service.of(reading.adapter)
    except AdapterUnusable as error:
        raise AdapterUnusable(f"{path}: {error}") from None
    if taken := sorted(service.calls.keys() & reserved_names()):
        raise AdapterUnusable(f"{path}: the name {taken[0]!r} is the loop's own")
    for call in service.calls.values():  # finds contradictions now, not at the first call
        row_of(call, Trust.UNTESTED, lambda name, category: None)
    return ServedAdapter(path, reading.adapter, service, reading.mark, signature)


class AdapterFiles:
    def __init__(self, paths: Iterable[Path], say: Callable[[str], None] = lambda words: None) -> None:
        self._say, self._lock = say, threading.Lock()
        self._served = [load_adapter(path) for path in paths]
        names = sorted(one.name for one in self._served)
        for name, following in pairwise(names):
            if name == following:
                raise AdapterUnusable(f"adapter {name!r} is in two files; names have to be unique")

    def look(self) -> list[ServedAdapter]:
        with self._lock:
            self._served = [self._reload(one) for one in self._served]
            return list(self._served)

    def _reload(self, one: ServedAdapter) -> ServedAdapter:
        signature = (0, 0, 0)
        with suppress(OSError):
            signature = _signature(one.path)
        if signature == one.signature:
            return one
        try:
            found = load_adapter(one.path)
            if found.name != one.name:
                raise AdapterUnusable(f"{one.path}: the adapter's name changed; start the server again")
        except AdapterUnusable as problem:
            if str(problem) != one.problem:
                self._say(f"{problem}\nThe previous version is still served.")
            return replace(one, problem=str(problem), signature=signature)
        if found.mark != one.mark:
            self._say(f"{one.path}: read again")
        return found


def _signature(path: Path) -> Signature:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size, found.st_ino


_ADAPTER_TYPES = load_types("adapter")


class LoopSurface(Struct, frozen=True):
    policy: Policy
    mode: str
    handler: Handler
    challenge_seconds: float


def rows_of(served: ServedAdapter, trust: Trust, named: Named) -> dict[str, OfferedOperation]:
    return {name: row_of(call, trust, named) for name, call in served.service.calls.items()}


def adapter_surface(
    served: ServedAdapter,
    rows: Mapping[str, OfferedOperation],
    handler: Handler,
    standing: Json,
    quota: Callable[[ProtocolCaller], Json],
    loop: LoopSurface | None,
) -> Surface:
    """With the loop's operations where it is the only adapter."""
    own, info = [row.operation for row in rows.values()], _info(served, standing)
    about = SurfaceInfo(served.name, served.adapter.version, types=_ADAPTER_TYPES, info=info, quota=quota)
    made = Surface(table(INTROSPECTION, *own), {row.name: handler for row in own}, about)
    return made if loop is None else _with_loop(made, loop)


def loop_surface(loop: LoopSurface, version: str) -> Surface:
    """Where several adapters are served."""
    return _with_loop(Surface(table(INTROSPECTION), {}, SurfaceInfo("interlock", version)), loop)


def _with_loop(surface: Surface, loop: LoopSurface) -> Surface:
    operations = loop_operations.operations(loop.policy, loop.mode)
    beside = {name: row for name, row in operations.items() if name not in surface.operations}
    about = replace(
        surface.about,
        types={**surface.about.types, **loop_operations.LOOP_TYPES},
        capabilities={"execution_safety_loop": loop.mode},
        protocol=loop_operations.protocol(loop.policy, loop.mode, loop.challenge_seconds),
    )
    handlers = {**surface.handlers, **dict.fromkeys(beside, loop.handler)}
    return Surface({**surface.operations, **beside}, handlers, about)


def _info(served: ServedAdapter, standing: Json) -> dict[str, Any]:
    """TL-06: the trust in force and the trust claimed, and whether the daemon knows the file that is served."""
    same = standing.get("file") == served.mark
    trust = {"level": standing["trust"] if same else Trust.UNTESTED.word, "claimed": served.adapter.trust.level.word}
    if same:
        trust |= {key: standing[key] for key in ("revalidate_by", "overdue") if key in standing}
    elif standing:
        trust["reason"] = "the file served is not the one the daemon loaded"
    else:
        trust["reason"] = "the daemon does not know this adapter"
    found = {"description": served.adapter.description, "trust": trust, "operations": len(served.service.calls)}
    if served.problem:
        found["problem"] = "the file on disk cannot be used; the previous version is served"
    return found
