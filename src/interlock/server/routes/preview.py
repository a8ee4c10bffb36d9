"""The route for "what if": the policy's answer to a command that a person typed; nothing is opened, recorded or counted."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from interlock.engine.assessment import Unjudged
from interlock.engine.preview import preview
from interlock.model import command
from interlock.runtime.state import State
from interlock.server.routes import ANYBODY, describe
from interlock.web.bodies import TypedCommand
from interlock.web.context import Context, caller_of
from interlock.web.errors import HttpProblem


def preview_routes(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/v1", tags=["evaluate"])

    @router.post("/preview", **describe("preview", ANYBODY, "What would be answered to this command", 400))
    async def preview_command(request: Request, body: TypedCommand) -> Any:
        who = caller_of(request).known()
        return await context.pool.run(_answer, context.state, who.principal if who.here else "", body)

    return router


def _answer(state: State, principal: str, body: TypedCommand) -> dict[str, Any]:
    """The answer without an agent's history; targets are inspected with the caller's rights, where it is on this machine."""
    action = command(body.command, body.cwd)
    plans = state.plans
    look = plans.inspect(principal) if principal and body.cwd else None
    read = state.reader.read(action, plans.files if principal else None)
    answer = preview(action, state.in_force, read=read, look=look)
    if isinstance(answer, Unjudged) or answer.judgement is None:
        raise HttpProblem("VALIDATION_INVALID_VALUE", "this command could not be judged")
    assessment = answer.judgement.assessment
    worst = max(assessment.findings, key=lambda finding: finding.level, default=None)
    return {
        "verdict": answer.verdict.word,
        "outcome": answer.outcome,
        "level": int(assessment.level),
        "levelName": assessment.level.word,
        "irreversible": assessment.irreversible,
        "reason": worst.reason if worst else "",
        "rule": worst.rule if worst else "",
        "instead": worst.instead if worst else "",
        "impact": answer.seen.words if answer.seen is not None else "",
    }
