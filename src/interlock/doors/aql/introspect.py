"""What can be asked here, and how dangerous is it? `introspect`, generous by default, closed where that is asked for (R-2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interlock.doors.aql.gatekeeper import flags, permission
from interlock.doors.aql.limits import LIMITS
from interlock.doors.aql.operations import Danger, Operation, Param, Returns
from interlock.doors.aql.vocabulary import PROTOCOL, Type

if TYPE_CHECKING:
    from interlock.doors.aql.surface import Caller
from interlock.core.model import Level

VERSION = "1.0.0-draft"  # INT-03
QUERIES = ("operations", "types", "danger", "adapter_info", "quota_status", "capabilities")
CAPABILITIES = {
    "batch": True,
    "field_selection": True,
    "aggregations": False,
    "computed_fields": False,
    "pagination": False,
    "relationship_queries": False,
    "warnings": True,
    "confirmation": True,
    "dangerous_operations": True,
}
INTROSPECTION = Operation(
    "introspect",
    "read",
    "Lists operations, types, danger levels, capabilities, quotas, or says everything about one of them. Danger level: safe.",
    (
        Param("query", "string", "What to list.", required=True, enum=QUERIES),
        Param("name", "string", "One operation or type, in full.", min_length=1),
    ),
    Returns("IntrospectionData", "union"),
    Danger(Level.SAFE, ("It reads and changes nothing.",)),
    examples=(
        {
            "description": "Everything about one operation.",
            "request": {"operation": "introspect", "params": {"query": "operations", "name": "introspect"}},
        },
    ),
)


@dataclass(frozen=True, slots=True)
class About:
    """What a surface says of itself beyond its table."""

    name: str
    version: str
    conformance: str = "level-2"
    types: Mapping[str, Type] = field(default_factory=dict)  # beside the protocol's own
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    protocol: Mapping[str, Any] = field(default_factory=dict)  # more of `_protocol`, which is open
    info: Mapping[str, Any] = field(default_factory=dict)  # adapter_info, beside name and version (TL-06)
    quota: Callable[[Caller], Mapping[str, Any]] = lambda caller: {"quotas": []}  # RL-01
    concurrency: str = "read-concurrent"  # EP-12


def introspected(
    operations: Mapping[str, Operation], about: About, params: Mapping[str, Any], caller: Caller
) -> dict[str, Any]:
    """The data of an introspection; an unknown name is null, not an error (INT-07)."""
    answer = _ANSWERS[params["query"]]
    return answer(operations, about, params.get("name"), caller)


def _operations(operations: Mapping[str, Operation], about: About, name: str | None, caller: Caller) -> dict[str, Any]:
    if name is None:
        found = {
            "_protocol": protocol(operations, about, caller),
            "operations": [_info(one) for one in operations.values()],
        }
        return found if caller.strict else found | {"capabilities": capabilities(about)}
    one = operations.get(name)
    if one is None:
        return {"operation": None}
    found = {"operation": details(one, caller)}
    if caller.strict:
        return found
    return found | {
        "name": one.name,
        "endpoint": one.category,
        "danger": one.danger.metadata,
        "capabilities": capabilities(about),
    }


def _types(operations: Mapping[str, Operation], about: About, name: str | None, caller: Caller) -> dict[str, Any]:
    known = known_types(about)
    if name is None:
        return {"types": [one.info for one in known.values()]}
    found = known.get(name)
    return {"type": found.details if found else None}


def known_types(about: About) -> Mapping[str, Type]:
    """Everything that `query: types` resolves."""
    return {**PROTOCOL, **about.types}


def _danger(operations: Mapping[str, Operation], about: About, name: str | None, caller: Caller) -> dict[str, Any]:
    if name is None:
        return {"danger": {one.name: _dangerous(one) for one in operations.values()}}
    found = operations.get(name)
    return {"name": name, "danger": _dangerous(found) if found else None}


def _adapter(operations: Mapping[str, Operation], about: About, name: str | None, caller: Caller) -> dict[str, Any]:
    return {"name": about.name, "version": about.version, **about.info}


def _quota(operations: Mapping[str, Operation], about: About, name: str | None, caller: Caller) -> dict[str, Any]:
    return dict(about.quota(caller))


def _capable(operations: Mapping[str, Operation], about: About, name: str | None, caller: Caller) -> dict[str, Any]:
    return {"capabilities": capabilities(about)}


_ANSWERS = {
    "operations": _operations,
    "types": _types,
    "danger": _danger,
    "adapter_info": _adapter,
    "quota_status": _quota,
    "capabilities": _capable,
}


def capabilities(about: About) -> dict[str, Any]:
    return {**CAPABILITIES, **about.capabilities}


def protocol(operations: Mapping[str, Operation], about: About, caller: Caller) -> dict[str, Any]:
    """`_protocol`, the one object that is open: danger, permissions and defaults stand here for everybody (C-04)."""
    return {
        "version": VERSION,
        "conformance": about.conformance,
        "mode": caller.naming.mode,
        "capabilities": capabilities(about),
        "limits": dict(LIMITS),
        "concurrency": about.concurrency,
        "danger_levels": {one.name: one.danger.info for one in operations.values()},
        "danger": {one.name: one.danger.metadata for one in operations.values() if one.danger.more},
        "permission_levels": {one.name: permission(one) for one in operations.values()},
        **({"session_id": caller.session} if caller.session else {}),
        **about.protocol,
    }


def details(one: Operation, caller: Caller) -> dict[str, Any]:
    """OperationDetails (INT-04), closed."""
    found: dict[str, Any] = {
        "name": one.name,
        "semantic_category": one.category,
        "endpoint": one.endpoint,
        "mcpTool": caller.naming.tool(one.endpoint),
        "description": one.description,
        "permissions": flags(one),
        "parameters": [param.info for param in one.params],
        "returns": one.returns.info,
    }
    if one.examples:
        found["examples"] = [dict(example) for example in one.examples]
    return found | ({"lifecycle": dict(one.lifecycle)} if one.lifecycle else {})


def _info(one: Operation) -> dict[str, Any]:
    return {
        "name": one.name,
        "semantic_category": one.category,
        "endpoint": one.endpoint,
        "description": one.description,
    }


def _dangerous(one: Operation) -> dict[str, Any]:
    return {**one.danger.metadata, "classification": one.danger.info, "permission": permission(one)}
