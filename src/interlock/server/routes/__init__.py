"""Describes a route for the OpenAPI document: who may ask, the schema of its response, its error statuses."""

from __future__ import annotations

from typing import Any

AGENT, OPERATOR = "agent", "operator"
ANYBODY = "agent or operator"
OPEN = "anybody"
ROUTE_EXTRA = "x-says"
_SECURITY: dict[str, list[dict[str, list[str]]]] = {
    AGENT: [{"agentToken": []}],
    OPERATOR: [{"operatorSession": []}],
    ANYBODY: [{"agentToken": []}, {"operatorSession": []}],
    OPEN: [],
}


def describe(schema: str, who: str, summary: str, *statuses: int, media: str = "application/json") -> dict[str, Any]:
    """The keywords of a FastAPI route; `openapi.document` makes its answers of them."""
    return {
        "summary": summary,
        "response_model": None,
        "openapi_extra": {
            "security": _SECURITY[who],
            ROUTE_EXTRA: {"schema": schema, "statuses": list(statuses), "media": media, "who": who},
        },
    }
