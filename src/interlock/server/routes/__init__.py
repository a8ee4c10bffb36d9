"""Describes the routes: who may ask, the schema of a response, its error statuses; and their OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, iscoroutinefunction, signature
from typing import Any, TypeVar

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi

from interlock.server.schemas import schemas
from interlock.web.context import Context, TheContext

JSON = "application/json"
H = TypeVar("H", bound=Callable[..., Any])

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


class RouteGroup:
    """Routes below one prefix; a plain function runs in the daemon's pool, and `document` makes its answers of the rest."""

    def __init__(self, prefix: str, tag: str) -> None:
        self.router, self._tag = APIRouter(prefix=prefix), tag

    def __call__(
        self, method: str, path: str, schema: str, who: str, summary: str, *statuses: int, media: str = JSON
    ) -> Callable[[H], H]:
        says = {"schema": schema, "statuses": list(statuses), "media": media, "who": who}

        def declare(work: H) -> H:
            self.router.add_api_route(
                path,
                work if iscoroutinefunction(work) else _in_pool(work),
                methods=[method],
                tags=[self._tag],
                summary=summary,
                response_model=None,
                openapi_extra={"security": _SECURITY[who], ROUTE_EXTRA: says},
            )
            return work

        return declare


def _in_pool(work: Callable[..., Any]) -> Callable[..., Any]:
    """FastAPI provides the context as well."""

    @wraps(work)
    async def run(_context: Context, **given: Any) -> Any:
        return await _context.pool.run(work, **given)

    own, taken = signature(work), Parameter("_context", Parameter.KEYWORD_ONLY, annotation=TheContext)
    run.__signature__ = own.replace(parameters=[*own.parameters.values(), taken])  # type: ignore[attr-defined]
    return run


Json = dict[str, Any]
_DESCRIPTION = (
    "Agents ask whether an action may run; operators answer held ones. An agent carries an agent token or comes over the "
    "daemon's unix socket, an operator carries a session. Each sees only its own side."
)
_WORDS = {
    200: "Done", 202: "Held: a ticket waits", 400: "The request is not valid", 401: "No valid credential",
    403: "Not allowed", 404: "No such thing", 405: "No such operation", 409: "Too late: expired or used already",
    413: "Too large", 429: "Too often", 500: "Something went wrong here", 503: "The state cannot be known",
}  # fmt: skip
_ALWAYS = (400, 401, 403, 413, 429, 500, 503)
_SCHEMES = {
    "agentToken": {"type": "http", "scheme": "bearer", "bearerFormat": "agt_…"},
    "operatorSession": {"type": "http", "scheme": "bearer", "bearerFormat": "ses_…"},
}


def document(app: FastAPI) -> Json:
    """FastAPI's parameters and bodies, our schemas of every answer."""
    made = get_openapi(title=app.title, version="1", description=_DESCRIPTION, routes=app.routes)
    for path, operations in made["paths"].items():
        for operation in operations.values():
            said = operation.pop(ROUTE_EXTRA)
            operation["responses"] = _responses(said, "{" in path)
    made["paths"] = {**_evaluate_paths(), **made["paths"]}
    components = made.setdefault("components", {})
    known = {name: schema for name, schema in components.get("schemas", {}).items() if "Validation" not in name}
    components["schemas"] = {**known, **schemas()}
    components["securitySchemes"] = _SCHEMES
    return made


def _responses(said: Json, has_id: bool) -> Json:
    statuses = sorted({*_ALWAYS, *said["statuses"], *([404] if has_id else [])})
    return {"200": _answer(200, said["schema"], said["media"])} | _answers("Error", *statuses)


def _answers(schema: str, *statuses: int) -> Json:
    return {str(status): _answer(status, schema) for status in statuses}


def _answer(status: int, schema: str, media: str = JSON) -> Json:
    if schema == "export":
        text = {"schema": {"type": "string"}}
        return {"description": _WORDS[status], "content": {"application/x-ndjson": text, "text/csv": text}}
    return {"description": _WORDS[status], "content": {media: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}}


def _evaluate_paths() -> Json:
    denials = _answers("Denial", *_ALWAYS)
    one, many = _answers("Decision", 200, 202) | denials, _answers("Decisions", 200) | denials
    return {
        "/api/v1/evaluate": {"post": _operation("evaluate", "May this action run?", "Ask", one)},
        "/api/v1/evaluate/batch": {"post": _operation("evaluate_batch", "May these actions run?", "Asks", many)},
    }


def _operation(name: str, summary: str, body: str, answers: Json) -> Json:
    return {
        "tags": ["evaluate"],
        "summary": summary,
        "operationId": name,
        "security": [{"agentToken": []}],
        "x-who": AGENT,
        "requestBody": {
            "required": True,
            "content": {JSON: {"schema": {"$ref": f"#/components/schemas/{body}"}}},
        },
        "responses": answers,
    }
