"""MCP-AQL operations as values: name, endpoint, parameters, danger, permission; a contradictory table is refused when it is built."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from msgspec import UNSET, Struct

from interlock.model import NOTHING, Level

NAME = re.compile(r"[a-z][a-z0-9_]*")  # LC-05: of operations and parameters
ENDPOINTS: Mapping[str, tuple[bool, bool]] = {  # GK-03: readOnly, destructive
    "create": (False, False),
    "read": (True, False),
    "update": (False, True),
    "delete": (False, True),
    "execute": (False, True),
}
TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}
KINDS = {
    "enum": "values",
    "object": "fields",
    "union": "members",
    "scalar": "",
}  # and what the parts of each are called


class TableError(ValueError):
    """Raised when a table is built, never to a caller."""


class ParamSpec(Struct, frozen=True):
    """One parameter; everything that is checked is also documented (INT-07)."""

    name: str
    type: str
    description: str = ""
    required: bool = False
    default: Any = UNSET  # where it has none
    enum: tuple[Any, ...] = ()
    minimum: int | float | None = None
    maximum: int | float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str = ""
    format: str = ""  # documented, not checked
    items: str = ""  # the type of an array's elements
    sensitive: bool = False
    aliases: tuple[str, ...] = ()  # other spellings that are accepted
    fills: bool = True  # the default replaces a missing value; else the handler decides, and reports it
    nested: bool = False  # read from `params` alone: its name means something else beside it (2.7)

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise TableError(f"parameter {self.name!r}: expected lower_snake_case")
        if self.type not in TYPES or (self.items and self.items not in TYPES):
            raise TableError(f"parameter {self.name!r}: unknown type {self.type!r}")
        if self.required and self.default is not UNSET:
            raise TableError(f"parameter {self.name!r}: required, and has a default")

    @property
    def info(self) -> dict[str, Any]:
        """ParameterInfo (INT-05), closed."""
        also = f" Also accepted as {', '.join(self.aliases)}." if self.aliases else ""
        said = {
            "description": f"{self.description}{also}".strip(),
            "enum": list(self.enum),
            "minimum": self.minimum,
            "maximum": self.maximum,
            "minLength": self.min_length,
            "maxLength": self.max_length,
            "pattern": self.pattern,
            "format": self.format,
            "items": {"type": self.items} if self.items else None,
        }
        found: dict[str, Any] = {"name": self.name, "type": self.type, "required": self.required}
        found |= {key: value for key, value in said.items() if value not in (None, "", [])}
        if self.default is not UNSET:
            found["default"] = self.default
        return found | ({"sensitive": True} if self.sensitive else {})


class Returns(Struct, frozen=True):
    name: str
    kind: str = "object"
    description: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise TableError(f"type {self.name!r}: unknown kind {self.kind!r}")

    @property
    def info(self) -> dict[str, Any]:
        found = {"name": self.name, "kind": self.kind}
        return found | ({"description": self.description} if self.description else {})


class Danger(Struct, frozen=True):
    level: Level = Level.REVERSIBLE
    reasons: tuple[str, ...] = ()
    confirmation_message: str = ""
    requires_confirmation: bool = False
    more: Mapping[str, Any] = NOTHING  # of the prose form: conditions, cooling-off, approval, escalation

    @property
    def info(self) -> dict[str, Any]:
        """The closed form of danger-level.schema.json (C-05)."""
        found: dict[str, Any] = {"level": self.level.word, "requires_confirmation": self.requires_confirmation}
        return found | ({"reason": self.reasons[0]} if self.reasons else {})

    @property
    def metadata(self) -> dict[str, Any]:
        """The prose form (DL-02)."""
        found: dict[str, Any] = {**self.more, "level": self.level.word}
        if self.reasons:
            found["reasons"] = list(self.reasons)
        if self.confirmation_message:
            found["confirmation_message"] = self.confirmation_message
        return found


class OperationSpec(Struct, frozen=True, dict=True):
    name: str
    endpoint: str
    description: str
    params: tuple[ParamSpec, ...] = ()
    returns: Returns = Returns("OperationResult", "union")
    danger: Danger = Danger()
    permission: str = ""  # GK-08; the endpoint's where empty
    lifecycle: bool = False  # it belongs to that of an execution (LC-04)
    examples: tuple[Mapping[str, Any], ...] = ()
    selects: tuple[str, ...] = ()  # the fields of its data that `fields` can choose from

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise TableError(f"operation {self.name!r}: expected lower_snake_case")
        if self.endpoint not in ENDPOINTS:
            raise TableError(f"operation {self.name!r}: unknown endpoint {self.endpoint!r}")
        spelled = [name for param in self.params for name in (param.name, *param.aliases)]
        if len(spelled) != len(set(spelled)):
            raise TableError(f"operation {self.name!r}: a parameter's name is taken twice")
        if "operation" in spelled and not next(p for p in self.params if p.name == "operation").nested:
            raise TableError(f"operation {self.name!r}: a parameter called 'operation' has to be nested")

    @property
    def category(self) -> str:
        return self.endpoint.upper()

    @property
    def names(self) -> list[str]:
        return [param.name for param in self.params]

    @cached_property
    def spelled(self) -> Mapping[str, ParamSpec]:
        """By every spelling that `params` may have."""
        return {name: param for param in self.params for name in (param.name, *param.aliases)}

    @cached_property
    def beside(self) -> frozenset[str]:
        """Spellings that may also stand beside `params`."""
        return frozenset(name for name, param in self.spelled.items() if not param.nested)


def table(*operations: OperationSpec) -> Mapping[str, OperationSpec]:
    """Refuses duplicates."""
    found = {operation.name: operation for operation in operations}
    if len(found) != len(operations):
        raise TableError("an operation stands twice in the table")
    return MappingProxyType(found)
