"""Which types does introspection know? The protocol's own, for every surface (INT-06, INT-08)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def unresolved(named: Iterable[str], known: Mapping[str, Type]) -> list[str]:
    """Those names that no type has, the members of unions and the fields of objects included."""
    inner = [part for one in known.values() if one.kind == "union" for part in one.parts]
    fields = [part for one in known.values() for part in one.parts if isinstance(part, Param)]
    return sorted({*named, *inner, *(param.type for param in fields)} - set(known))


PROTOCOL = types(
    Type("string", "scalar", "A text."),
    Type("integer", "scalar", "A whole number."),
    Type("number", "scalar", "A number."),
    Type("boolean", "scalar", "true or false."),
    Type("object", "scalar", "Any JSON object; its description says what it holds."),
    Type("array", "scalar", "Any JSON array; items says of what."),
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
    Type(
        "IntrospectionData",
        "union",
        "What introspect answers: lists of infos, or one in full.",
        ("OperationInfo", "OperationDetails", "TypeInfo", "TypeDetails", "DangerMetadata"),
    ),
    Type(
        "OperationInfo",
        "object",
        "One operation in a list.",
        (
            Param("name", "string", "Its name.", required=True),
            Param("semantic_category", "string", "A SemanticCategory.", required=True),
            Param("endpoint", "string", "Its endpoint.", required=True),
            Param("description", "string", "What it does.", required=True),
        ),
    ),
    Type(
        "OperationDetails",
        "object",
        "One operation in full.",
        (
            Param("name", "string", "Its name.", required=True),
            Param("semantic_category", "string", "A SemanticCategory.", required=True),
            Param("endpoint", "string", "Its endpoint.", required=True),
            Param("mcp_tool", "string", "On the wire: mcpTool. The tool to call.", required=True),
            Param("description", "string", "What it does.", required=True),
            Param("permissions", "object", "EndpointPermissions.", required=True),
            Param("parameters", "array", "Each a ParameterInfo.", required=True, items="object"),
            Param("returns", "object", "A TypeInfo.", required=True),
            Param("examples", "array", "Calls of it.", items="object"),
            Param("lifecycle", "object", "Its states."),
        ),
    ),
    Type(
        "ParameterInfo",
        "object",
        "One parameter.",
        (
            Param("name", "string", "Its name.", required=True),
            Param("type", "string", "A type.", required=True),
            Param("required", "boolean", "Whether it has to be there.", required=True),
            Param("description", "string", "What it means, other spellings included."),
        ),
    ),
    Type(
        "TypeInfo",
        "object",
        "One type in a list.",
        (
            Param("name", "string", "Its name.", required=True),
            Param("kind", "string", "What it is.", required=True, enum=("enum", "object", "scalar", "union")),
            Param("description", "string", "What it means."),
        ),
    ),
    Type(
        "TypeDetails",
        "object",
        "One type in full.",
        (
            Param("name", "string", "Its name.", required=True),
            Param("kind", "string", "What it is.", required=True, enum=("enum", "object", "scalar", "union")),
            Param("description", "string", "What it means."),
            Param("values", "array", "Of an enum.", items="string"),
            Param("fields", "array", "Of an object: each a ParameterInfo.", items="object"),
            Param("members", "array", "Of a union: types.", items="string"),
        ),
    ),
    Type(
        "DangerMetadata",
        "object",
        "How dangerous an operation is, and what is asked before it.",
        (
            Param("level", "string", "A DangerLevel.", required=True),
            Param("reasons", "array", "Why; also from where an undeclared level was inferred.", items="string"),
            Param("confirmation_message", "string", "What a person is asked."),
            Param("cooldown_seconds", "integer", "Between the answer and the act."),
            Param("requires_reauth", "boolean", "Whether a person signs in again."),
            Param("audit_context", "array", "Recorded with each call.", items="string"),
            Param("conditions", "array", "Each when, level and reason: those which hold raise the level.", items="object"),
            Param("approval", "object", "required, approvers and timeout_hours."),
            Param("escalation", "array", "Each after_count, level and message.", items="object"),
            Param("score_factors", "array", "base_level, and what each fact adds to it.", items="object"),
            Param("computed_level", "string", "The most that the score comes to."),
        ),
    ),
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
