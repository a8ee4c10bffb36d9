"""May this operation be called like this? Layers 1 and 2 of the Gatekeeper, and the permission level of every operation."""

# Layer 3 (policy) and layer 4 (confirmation) are `service.evaluate` and the ticket it opens: what a door could decide by itself, an agent
# could ask of another door.

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from interlock.doors.aql.checking import shown
from interlock.doors.aql.envelope import AqlProblem
from interlock.doors.aql.operations import ENDPOINTS, Operation

AUTO, SESSION, SINGLE, DENY = "AUTO_APPROVE", "CONFIRM_SESSION", "CONFIRM_SINGLE_USE", "DENY"
PERMISSIONS: Mapping[str, str] = MappingProxyType(  # GK-08
    {"read": AUTO, "create": SESSION, "update": SINGLE, "delete": SINGLE, "execute": SINGLE}
)
ANY = "any"  # the endpoint of single mode: every operation, with the same checks (GK-10)


def routed(operations: Mapping[str, Operation], name: str, endpoint: str) -> Operation:
    """Layer 1: the operation of that name, if it came through its own endpoint (EP-03)."""
    operation = operations.get(name)
    if operation is None:
        details = {"operation": name[:80], "available": sorted(operations)}
        words = f"Unknown operation {shown(name)}. Use introspect with query 'operations' to list them."
        raise AqlProblem("NOT_FOUND_OPERATION", words, details)
    if endpoint not in (ANY, operation.endpoint):
        raise mismatch(operation, endpoint)
    return _admitted(operation)


def mismatch(operation: Operation, endpoint: str) -> AqlProblem:
    details = {
        "operation": operation.name,
        "expected_endpoint": operation.endpoint,
        "actual_endpoint": endpoint,
    }
    words = f"Operation '{operation.name}' belongs to the '{operation.endpoint}' endpoint, not '{endpoint}'. "
    words += f"Call it through mcp_aql_{operation.endpoint}."
    return AqlProblem("VALIDATION_ENDPOINT_MISMATCH", words, details)


def permission(operation: Operation) -> str:
    """The level that is asked of a caller; an operation's own word outranks its endpoint's (R-11, C-22)."""
    return operation.permission or PERMISSIONS.get(operation.endpoint, SINGLE)


def flags(operation: Operation) -> dict[str, bool]:
    """EndpointPermissions: the endpoint's class, whatever the operation says of itself (C-24)."""
    read_only, destructive = ENDPOINTS[operation.endpoint]
    return {"readOnly": read_only, "destructive": destructive}


def offered(operations: Iterable[Operation]) -> list[str]:
    """The endpoints that have operations, in CRUDE order (R-17)."""
    used = {operation.endpoint for operation in operations}
    return [endpoint for endpoint in ENDPOINTS if endpoint in used]


def _admitted(operation: Operation) -> Operation:
    """Layer 2: what a table denies is denied, whoever calls it and through whatever tool."""
    if permission(operation) == DENY:
        raise AqlProblem("PERMISSION_DENIED", f"Operation '{operation.name}' is denied here", {"reason": DENY})
    return operation
