"""`introspect`: operations, types and danger of a surface, generous by default, closed on request (R-2, INT-06, INT-08)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import Struct, convert

from interlock.analysis.packs import load_packs
from interlock.loop.protocol import ENDPOINTS, KINDS, OperationSpec, ParamSpec, TableError
from interlock.loop.protocol.envelope import LIMITS
from interlock.loop.protocol.gatekeeper import permission
from interlock.loop.state import STATES
from interlock.model import NOTHING, Level

if TYPE_CHECKING:
    from interlock.loop.protocol.surface import ProtocolCaller, Surface


class ProtocolType(Struct, frozen=True):
    name: str
    kind: str
    description: str
    parts: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS or bool(self.parts) == (self.kind == "scalar"):
            raise TableError(f"type {self.name!r}: {self.kind!r} with {len(self.parts)} parts")

    @property
    def info(self) -> dict[str, Any]:
        return {"name": self.name, "kind": self.kind, "description": self.description}

    @property
    def details(self) -> dict[str, Any]:
        if self.kind == "scalar":
            return self.info
        parts = [part.info if isinstance(part, ParamSpec) else part for part in self.parts]
        return self.info | {KINDS[self.kind]: parts}


def unresolved_types(named: Iterable[str], known: Mapping[str, ProtocolType]) -> list[str]:
    inner = [part for one in known.values() if one.kind == "union" for part in one.parts]
    fields = [part for one in known.values() for part in one.parts if isinstance(part, ParamSpec)]
    return sorted({*named, *inner, *(param.type for param in fields)} - set(known))


def load_types(group: str, *more: ProtocolType) -> Mapping[str, ProtocolType]:
    """A group in types.toml, after `more`; a field whose enum is a name has that type's values."""
    found = {one.name: one for one in more}
    rows = load_packs(Path(__file__).parent, list, "types.toml")[0][group]
    values = {name: row["parts"] for name, row in rows.items() if row["kind"] == "enum"}
    values |= {one.name: one.parts for one in more if one.kind == "enum"}
    for name, row in rows.items():
        parts = []
        for part in row.get("parts", ()):
            if isinstance(part, Mapping):
                enum = part.get("enum", ())
                part = convert({**part, "enum": values[enum] if isinstance(enum, str) else enum}, ParamSpec)
            parts.append(part)
        found[name] = ProtocolType(name, row["kind"], row["description"], tuple(parts))
    return MappingProxyType(found)


PROTOCOL_TYPES = load_types("protocol")
VERSION = "1.0.0-draft"  # INT-03
DECLARED = load_packs(Path(__file__).parent, list, "operations.toml")[0]
LIFECYCLE: Mapping[str, Any] = {"states": list(STATES), **DECLARED["lifecycle"]}


def load_operation(row: Mapping[str, Any]) -> OperationSpec:
    danger = {**row["danger"], "level": Level[row["danger"]["level"].upper()]}
    return convert({**row, "danger": danger}, OperationSpec)


INTROSPECTION = load_operation(DECLARED["introspect"])


class SurfaceInfo(Struct, frozen=True):
    name: str
    version: str
    types: Mapping[str, ProtocolType] = NOTHING  # beside the protocol's own
    capabilities: Mapping[str, Any] = NOTHING
    protocol: Mapping[str, Any] = NOTHING  # more of `_protocol`, which is open
    info: Mapping[str, Any] = NOTHING  # adapter_info, beside name and version (TL-06)
    quota: Callable[[ProtocolCaller], Mapping[str, Any]] = lambda caller: {"quotas": []}  # RL-01


def answer_introspection(surface: Surface, params: Mapping[str, Any], caller: ProtocolCaller) -> dict[str, Any]:
    """An unknown name is null, not an error (INT-07)."""
    operations, about, name = surface.operations, surface.about, params.get("name")
    match params["query"]:
        case "operations":
            return _operations(surface, name, caller)
        case "types":
            known = known_types(about)
            if name is None:
                return {"types": [one.info for one in known.values()]}
            return {"type": known[name].details if name in known else None}
        case "danger":
            if name is None:
                return {"danger": {one.name: _dangerous(one) for one in operations.values()}}
            return {"name": name, "danger": _dangerous(operations[name]) if name in operations else None}
        case "adapter_info":
            return {"name": about.name, "version": about.version, **about.info}
        case "quota_status":
            return dict(about.quota(caller))
    return {"capabilities": capabilities(about)}


def _operations(surface: Surface, name: str | None, caller: ProtocolCaller) -> dict[str, Any]:
    operations, more = surface.operations, {} if caller.strict else {"capabilities": capabilities(surface.about)}
    if name is None:
        listed = [_info(one) for one in operations.values()]
        return {"_protocol": protocol(surface, caller), "operations": listed, **more}
    if (one := operations.get(name)) is None:
        return {"operation": None}
    found = {"operation": details(one, caller)}
    if caller.strict:
        return found
    return {**found, "name": one.name, "endpoint": one.category, "danger": one.danger.metadata, **more}


def known_types(about: SurfaceInfo) -> Mapping[str, ProtocolType]:
    return {**PROTOCOL_TYPES, **about.types}


def capabilities(about: SurfaceInfo) -> dict[str, Any]:
    return {**DECLARED["capabilities"], **about.capabilities}


def protocol(surface: Surface, caller: ProtocolCaller) -> dict[str, Any]:
    """`_protocol`, the one open object: danger, permissions and defaults stand here for everybody (C-04)."""
    operations, about = surface.operations.values(), surface.about
    return {
        "version": VERSION,
        "conformance": "level-2",
        "mode": caller.naming.mode,
        "capabilities": capabilities(about),
        "limits": dict(LIMITS),
        "concurrency": "read-concurrent",  # EP-12
        "danger_levels": {one.name: one.danger.info for one in operations},
        "danger": {one.name: one.danger.metadata for one in operations if one.danger.more},
        "permission_levels": {one.name: permission(one) for one in operations},
        **({"session_id": caller.session} if caller.session else {}),
        **about.protocol,
    }


def details(one: OperationSpec, caller: ProtocolCaller) -> dict[str, Any]:
    """OperationDetails (INT-04), closed; the permissions are the endpoint's, whatever the operation declares (C-24)."""
    read_only, destructive = ENDPOINTS[one.endpoint]
    found: dict[str, Any] = {
        **_info(one),
        "mcpTool": caller.naming.tool(one.endpoint),
        "permissions": {"readOnly": read_only, "destructive": destructive},
        "parameters": [param.info for param in one.params],
        "returns": one.returns.info,
    }
    if one.examples:
        found["examples"] = [dict(example) for example in one.examples]
    return found | ({"lifecycle": dict(LIFECYCLE)} if one.lifecycle else {})


def _info(one: OperationSpec) -> dict[str, Any]:
    kind = {"semantic_category": one.category, "endpoint": one.endpoint}
    return {"name": one.name, **kind, "description": one.description}


def _dangerous(one: OperationSpec) -> dict[str, Any]:
    return {**one.danger.metadata, "classification": one.danger.info, "permission": permission(one)}
