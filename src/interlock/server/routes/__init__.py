"""Describes the routes: who may ask, the schema of a response, its error statuses; and their OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, iscoroutinefunction, signature
from typing import Any, TypeVar

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi

from interlock.server.schemas import schemas, tables
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
    """Routes below one prefix, for operators unless they say otherwise; a plain function runs in the daemon's pool."""

    def __init__(self, prefix: str, tag: str) -> None:
        self.router, self._tag = APIRouter(prefix=prefix), tag

    def __call__(
        self, method: str, path: str, schema: str, summary: str, *statuses: int, who: str = OPERATOR, media: str = JSON
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
_ALWAYS = (400, 401, 403, 413, 429, 500, 503)


def document(app: FastAPI) -> Json:
    """FastAPI's parameters and bodies, our schemas of every answer."""
    words = tables()["document"]
    made = get_openapi(title=app.title, version="1", description=words["description"], routes=app.routes)
    for path, operations in made["paths"].items():
        for operation in operations.values():
            said = operation.pop(ROUTE_EXTRA)
            statuses = {*_ALWAYS, *said["statuses"], *([404] if "{" in path else [])}
            operation["responses"] = {"200": _answer(200, said["schema"], said["media"])} | _answers("Error", *statuses)
    made["paths"] = {**_evaluate_paths(), **made["paths"]}
    components = made.setdefault("components", {})
    known = {name: schema for name, schema in components.get("schemas", {}).items() if "Validation" not in name}
    components["schemas"] = {**known, **schemas()}
    components["securitySchemes"] = words["security"]
    return made


def _answers(schema: str, *statuses: int) -> Json:
    return {str(status): _answer(status, schema) for status in sorted(statuses)}


def _answer(status: int, schema: str, media: str = JSON) -> Json:
    content = {media: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    if schema == "export":
        content = {kind: {"schema": {"type": "string"}} for kind in ("application/x-ndjson", "text/csv")}
    return {"description": tables()["document"]["status"][str(status)], "content": content}


def _evaluate_paths() -> Json:
    denials = _answers("Denial", *_ALWAYS)
    answers = {"evaluate": _answers("Decision", 200, 202), "evaluate_batch": _answers("Decisions", 200)}
    paths = tables()["document"]["evaluate"]
    return {
        path: {"post": {**asked, "responses": answers[asked["operationId"]] | denials}} for path, asked in paths.items()
    }
