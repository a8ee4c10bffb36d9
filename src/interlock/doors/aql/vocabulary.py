"""Which types does introspection know? The protocol's own, for every surface (INT-06, INT-08)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from interlock.doors.aql.operations import Param, TableError

_PART = {"enum": "values", "object": "fields", "union": "members", "scalar": ""}


@dataclass(frozen=True, slots=True)
class Type:
    """One type: an enum has values, an object fields, a union members."""

    name: str
    kind: str
    description: str
    parts: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in _PART or bool(self.parts) == (self.kind == "scalar"):
            raise TableError(f"type {self.name!r}: {self.kind!r} with {len(self.parts)} parts")

    @property
    def info(self) -> dict[str, Any]:
        return {"name": self.name, "kind": self.kind, "description": self.description}

    @property
    def details(self) -> dict[str, Any]:
        if self.kind == "scalar":
            return self.info
        parts = [part.info if isinstance(part, Param) else part for part in self.parts]
        return self.info | {_PART[self.kind]: parts}


def types(*given: Type) -> Mapping[str, Type]:
    return MappingProxyType({one.name: one for one in given})


PROTOCOL = types(
    Type("SemanticCategory", "enum", "The five CRUDE categories.", ("CREATE", "READ", "UPDATE", "DELETE", "EXECUTE")),
    Type(
        "OperationInput",
        "object",
        "What every tool takes.",
        (
            Param("operation", "string", "The operation to call.", required=True),
            Param("params", "object", "Its parameters."),
        ),
    ),
    Type("OperationResult", "union", "What every call answers.", ("OperationSuccess", "OperationFailure")),
    Type(
        "OperationSuccess",
        "object",
        "A call that was done.",
        (
            Param("success", "boolean", "Always true.", required=True),
            Param("data", "object", "The result.", required=True),
            Param("warnings", "array", "What the caller should know besides.", items="object"),
        ),
    ),
    Type(
        "OperationFailure",
        "object",
        "A call that was not done.",
        (
            Param("success", "boolean", "Always false.", required=True),
            Param("error", "object", "Code, message and details.", required=True),
            Param("confirmation", "object", "The token that a human can arm, until when, and why."),
        ),
    ),
    Type(
        "EndpointPermissions",
        "object",
        "What an endpoint may do.",
        (Param("read_only", "boolean", "On the wire: readOnly."), Param("destructive", "boolean", "Whether it can destroy.")),
    ),
    Type("IntrospectionData", "union", "What introspect answers.", ("OperationInfo", "OperationDetails", "TypeInfo")),
    Type(
        "DangerLevel",
        "enum",
        "How much harm an operation can do.",
        ("safe", "reversible", "destructive", "dangerous", "forbidden"),
    ),
    Type(
        "PermissionLevel",
        "enum",
        "What a caller is asked for: nothing, once a session, every time, or it is refused.",
        ("AUTO_APPROVE", "CONFIRM_SESSION", "CONFIRM_SINGLE_USE", "DENY"),
    ),
)  # fmt: skip
