"""The types that the loop's operations answer with, for introspection."""

from __future__ import annotations

from interlock.loop.protocol.introspection import ProtocolType, load_types
from interlock.loop.state import STATES

TYPES = load_types(
    "loop",
    ProtocolType(
        "ExecutionStatus",
        "enum",
        "pending, running, completed, failed and cancelled are the core's. paused and blocked are our own, both a kind of "
        "running: a paused execution waits for a person, a blocked one for a code; cancelled is reachable from each.",
        STATES,
    ),
)
