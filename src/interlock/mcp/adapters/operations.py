"""Describes an adapter's operations as MCP-AQL rows: parameters, danger level, and nested fields of an UPDATE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct

from interlock.adapters import Adapter, AdapterOperationSpec, AdapterParam
from interlock.adapters.danger import prose_form
from interlock.adapters.levels import Named, call_facts, effective_level
from interlock.loop.protocol import TYPES, Danger, OperationSpec, ParamSpec, Returns, TableError
from interlock.loop.protocol.gatekeeper import AUTO, SINGLE, check_parameters, missing_parameter
from interlock.mcp.adapters.requests import INPUT, AdapterUnusable, ServiceCall
from interlock.model import Level, Trust
from interlock.policy.trust_matrix import ALLOW, gate

_KINDS = {"int": "integer", "float": "number", "bool": "boolean", "str": "string", "list": "array", "dict": "object"}
_NESTED = frozenset({"operation", "params"})  # names that mean something else beside `params`
_NUMBERS = {"minimum": "minimum", "maximum": "maximum", "minLength": "min_length", "maxLength": "max_length"}


class OfferedOperation(Struct, frozen=True):
    """One operation as offered to clients, and the fields that its UPDATE takes inside `input`."""

    operation: OperationSpec
    inner: OperationSpec | None = None

    def params(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The params to judge and perform; refuses an undeclared field (EP-14)."""
        if self.inner is None or INPUT not in given:
            return dict(given)
        fields = given[INPUT]
        known = {param.name: param for param in self.inner.params}
        removed = {name: None for name, value in fields.items() if value is None and name in known}
        for name in removed:
            if known[name].required:
                raise missing_parameter(f"{INPUT}.{name}", self.operation.name, known[name].type)
        rest = {name: value for name, value in fields.items() if name not in removed}
        found = check_parameters(self.inner, {"operation": self.inner.name, "params": rest})
        return {**given, INPUT: {**found.params, **removed}}

    def judged(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The params as the adapter declares them and its conditions name them: nested fields beside the others."""
        if self.inner is None or INPUT not in params:
            return dict(params)
        return {**{name: value for name, value in params.items() if name != INPUT}, **params[INPUT]}


def row_of(call: ServiceCall, trust: Trust, named: Named) -> OfferedOperation:
    """The row of one operation; raises AdapterUnusable where its parameters contradict themselves."""
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
    adapter: Adapter, own: AdapterOperationSpec, params: Mapping[str, Any], trust: Trust, named: Named
) -> list[dict[str, Any]]:
    """2.11: an allowed operation whose level came from its name says so."""
    facts = call_facts(own.name, params, own.category)
    variables = {"params": params, **facts, "agent": "", "adapter": adapter.name}
    found = effective_level(own.claims, named, trust, variables=variables)
    return [notice.as_json() for notice in found.warnings if notice.code == "DANGER_LEVEL_INFERRED"]


def _split(call: ServiceCall) -> tuple[tuple[ParamSpec, ...], OperationSpec | None]:
    """Splits the params of an UPDATE: those that identify the resource, and the fields to change inside `input`."""
    own = call.operation
    declared = {param.name: param for param in own.params}
    if not call.updates:
        return tuple(_param(param, call) for param in own.params), None
    outer = [_param(param, call) for param in own.params if param.name in call.outer]
    fields = [param for param in own.params if param.name not in call.outer]
    if INPUT in declared:  # the adapter declares `input` itself
        return (*outer, _param(declared[INPUT], call)), None
    if not fields:
        return tuple(outer), None
    inner = tuple(_param(param, call, default=False) for param in fields)
    names = ", ".join(param.name for param in inner)
    words = f"The fields to change: {names}. Others stay as they are; null removes one."
    return (*outer, ParamSpec(INPUT, "object", words, required=True)), OperationSpec(
        own.name, own.category, own.name, inner
    )


def _param(given: AdapterParam, call: ServiceCall, default: bool = True) -> ParamSpec:
    rest = given.rest
    kind = _KINDS.get(given.type, given.type) if given.type else "string"
    kind = kind if kind in TYPES else "string"
    value = rest.get("default", UNSET) if default else UNSET
    if value is not UNSET and type(value) not in TYPES[kind]:
        raise TableError(f"parameter {given.name!r}: its default is no {kind}")
    required = (given.required or given.name in call.template.path_names) and value is UNSET
    numbers = {name: rest[key] for key, name in _NUMBERS.items() if isinstance(rest.get(key), int | float)}
    enum, items = rest.get("enum"), rest.get("items")
    return ParamSpec(
        given.name,
        kind,
        given.description,
        required=required,
        default=value,
        enum=tuple(enum) if isinstance(enum, list) else (),
        pattern=rest["pattern"] if isinstance(rest.get("pattern"), str) else "",
        items=items["type"] if isinstance(items, Mapping) and items.get("type") in TYPES else "",
        sensitive=rest.get("sensitive") is True,
        nested=given.name in _NESTED,
        **numbers,
    )
