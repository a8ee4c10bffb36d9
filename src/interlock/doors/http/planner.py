"""Which planner answers, over HTTP: how it stands, and an operator's choice."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request

from interlock.doors.http.bodies import Body
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import OPERATOR, says
from interlock.service.plans import choosing
from interlock.service.plans.choosing import CHOICES, MOST_MODEL, Standing


class PlannerChoice(Body):
    use: Annotated[str, Field(pattern=f"^({'|'.join(CHOICES)})$")]
    model: Annotated[str, Field(max_length=MOST_MODEL, description="of Ollama; the configured one where empty")] = ""


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1/planner", tags=["plans"]), context.state

    @router.get("", **says("planner", OPERATOR, "Which planner answers, who chose it, and who listens for it"))
    async def stands(request: Request) -> Any:
        who_asks(request).operator()
        return standing_json(await context.pool.run(choosing.standing, state))

    @router.put("", **says("planner", OPERATOR, "Chooses the planner; an admin's to say", 403))
    async def choose(request: Request, body: PlannerChoice) -> Any:
        by = who_asks(request).operator()
        return standing_json(await context.pool.run(choosing.choose, state, by, body.use, body.model))

    return router


def standing_json(found: Standing) -> dict[str, Any]:
    body: dict[str, Any] = {
        "use": found.use,
        "chosenBy": found.chosen_by,
        "open": found.open,
        "choices": list(CHOICES),
        "host": found.settings.host,
        "model": found.settings.model,
        "listens": found.listener is not None,
    }
    return body | ({"listener": found.listener.user} if found.listener else {})
