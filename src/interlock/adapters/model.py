"""The nouns of an adapter file: the adapter, its operations, their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from interlock.core.danger import DangerBlock
from interlock.core.levels import Claims
from interlock.core.model import Level
from interlock.core.quota import Limits
from interlock.core.trust import TrustRecord

METHODS = frozenset("GET HEAD OPTIONS POST PUT PATCH DELETE".split())
NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter as an operation declares it."""

    name: str
    type: str = ""
    required: bool = False
    description: str = ""
    rest: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, its endpoint family, and the danger it declares."""

    name: str
    category: str
    line: int
    maps_to: str = ""
    description: str = ""
    params: tuple[Param, ...] = ()
    danger: DangerBlock | None = None

    @property
    def method(self) -> str:
        """The HTTP method that it maps to, if it says one."""
        word, *rest = self.maps_to.split(None, 1) or [""]
        return word.upper() if rest and word.upper() in METHODS else ""

    @property
    def claims(self) -> Claims:
        """What its level is made from; a request that deletes is destructive under whatever heading it stands."""
        mapped = Level.DESTRUCTIVE if self.method == "DELETE" else None
        return Claims(self.name, self.category, self.danger, mapped)


@dataclass(frozen=True, slots=True)
class Adapter:
    """One adapter file, read."""

    name: str
    type: str
    version: str
    description: str
    target: Mapping[str, Any]
    operations: tuple[Operation, ...]
    trust: TrustRecord
    auth: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    limits: Limits = field(default_factory=Limits)

    def operation(self, name: str) -> Operation | None:
        """The operation of that name."""
        return next((item for item in self.operations if item.name == name), None)
