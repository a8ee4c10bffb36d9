"""What a route tells the OpenAPI document: who may ask, what comes back, with which statuses."""

from __future__ import annotations

from typing import Any

AGENT, OPERATOR = "agent", "operator"
ANYBODY = "agent or operator"
OPEN = "anybody"
SAYS = "x-says"
_SECURITY: dict[str, list[dict[str, list[str]]]] = {
    AGENT: [{"agentToken": []}],
    OPERATOR: [{"operatorSession": []}],
    ANYBODY: [{"agentToken": []}, {"operatorSession": []}],
    OPEN: [],
}


def says(schema: str, who: str, summary: str, *statuses: int, media: str = "application/json") -> dict[str, Any]:
    """The keywords of a FastAPI route; `openapi.document` makes its answers of them."""
    return {
        "summary": summary,
        "response_model": None,
        "openapi_extra": {
            "security": _SECURITY[who],
            SAYS: {"schema": schema, "statuses": list(statuses), "media": media, "who": who},
        },
    }
