"""What is offered: an adapter's own operations and, beside them or by itself, the loop (seed 001, 7.3), each as a surface of MCP-AQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.core.levels import Named
from interlock.core.policy import Policy
from interlock.core.trust import Trust
from interlock.doors.adapter.offering import Row, row_of
from interlock.doors.adapter.reload import Served
from interlock.doors.aql import loop_table, loop_types
from interlock.doors.aql.introspect import INTROSPECTION, About
from interlock.doors.aql.operations import Operation, Param, table
from interlock.doors.aql.surface import Caller, Handler, Surface
from interlock.doors.aql.vocabulary import Type, types

TYPES = types(
    Type(
        "ServiceAnswer",
        "object",
        "The answer of the service: its JSON; a list stands under items, text beside its content_type.",
        (
            Param("http_status", "integer", "Where the answer was no JSON."),
            Param("items", "array", "Where it was a list."),
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Loop:
    """The loop's operations: the daemon does what they ask."""

    policy: Policy
    mode: str
    handler: Handler
    challenge_seconds: float

    @property
    def operations(self) -> Mapping[str, Operation]:
        rows = loop_table.operations(self.policy, self.mode)
        return {name: row for name, row in rows.items() if name != INTROSPECTION.name}

    @property
    def protocol(self) -> dict[str, Any]:
        return loop_table.protocol(self.policy, self.mode, self.challenge_seconds)


def rows_of(served: Served, trust: Trust, named: Named) -> dict[str, Row]:
    """The adapter's own operations."""
    return {name: row_of(call, trust, named) for name, call in served.service.calls.items()}


def adapter_surface(
    served: Served,
    rows: Mapping[str, Row],
    handler: Handler,
    standing: Mapping[str, Any],
    quota: Callable[[Caller], Mapping[str, Any]],
    loop: Loop | None,
) -> Surface:
    """One adapter; with the loop beside it where it is served alone."""
    beside = {name: row for name, row in (loop.operations if loop else {}).items() if name not in rows}
    own = [row.operation for row in rows.values()]
    handlers: dict[str, Handler] = {row.name: handler for row in own}
    handlers |= dict.fromkeys(beside, loop.handler) if loop else {}
    about = About(
        name=served.name,
        version=served.adapter.version,
        types={**TYPES, **(loop_types.TYPES if loop else {})},
        capabilities={"execution_safety_loop": loop.mode} if loop else {},
        protocol=loop.protocol if loop else {},
        info=_info(served, standing),
        quota=quota,
    )
    return Surface(table(INTROSPECTION, *own, *beside.values()), handlers, about)


def loop_surface(loop: Loop, version: str) -> Surface:
    """The loop by itself, where several adapters are served."""
    about = About(
        "interlock",
        version,
        types=loop_types.TYPES,
        capabilities={"execution_safety_loop": loop.mode},
        protocol=loop.protocol,
    )
    rows = loop.operations
    return Surface(table(INTROSPECTION, *rows.values()), dict.fromkeys(rows, loop.handler), about)


def _info(served: Served, standing: Mapping[str, Any]) -> dict[str, Any]:
    """TL-06: how far it is trusted, by whom that is said, and whether the file served is the one that the daemon knows."""
    known = bool(standing)
    same = standing.get("file") == served.mark
    trust: dict[str, Any] = {"level": standing["trust"] if same else Trust.UNTESTED.word}
    trust["claimed"] = served.adapter.trust.level.word
    trust |= {key: standing[key] for key in ("revalidate_by", "overdue") if same and key in standing}
    if not known:
        trust["reason"] = "the daemon does not know this adapter"
    elif not same:
        trust["reason"] = "the file served is not the one the daemon loaded"
    found = {"description": served.adapter.description, "trust": trust, "operations": len(served.service.calls)}
    return found | (
        {"problem": "the file on disk cannot be used; the version before it is served"} if served.problem else {}
    )
