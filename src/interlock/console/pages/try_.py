"""Try page: the effect of any action, and the answers of the policy in force and of another one side by side."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from interlock.console.trial import (
    KINDS,
    action_of,
    form_fields,
    plain_text,
    policy_from_text,
    trial_answer,
    try_action,
)
from interlock.console.visit import Answer, InvalidInput, Page, PageRoutes, Visit
from interlock.policy.load import load_policy, names, own_text
from interlock.policy.policy import Policy
from interlock.problems import Problem

HOME = "/console/try"
routes = PageRoutes(HOME)
EDITED = "edited"


@routes.get()
def page(visit: Visit) -> Answer:
    """The form; a link that fills it in is answered at once."""
    filled = bool(visit.query.get("text"))
    return Page("try/try.html", {**_form(visit, visit.query), **(_result(visit, visit.query) if filled else _NOTHING)})


@routes.post()
def explain(visit: Visit) -> Answer:
    """The answer to the form, or its error in the same place."""
    result = _result(visit, visit.form)
    if visit.part:
        return Page("try/_result.html", result)
    return Page("try/try.html", {**_form(visit, visit.form), **result}, 422 if result["error"] else 200)


def _form(visit: Visit, form: Mapping[str, str]) -> dict[str, Any]:
    return {
        "fields": form_fields(form),
        "kinds": KINDS,
        "others": [name for name in names() if name != visit.state.policy.name],
        "other": form.get("other", ""),
        "text_of_policy": plain_text(form.get("policy", "")) or own_text(visit.state.policy),
    }


_NOTHING: Mapping[str, Any] = MappingProxyType({"found": None, "error": "", "answers": (), "problems": (), "known": ()})


def _result(visit: Visit, form: Mapping[str, str]) -> dict[str, Any]:
    state = visit.state
    try:
        found = try_action(state, action_of(form))
        other, problems = _other(visit, form)
    except InvalidInput as error:
        return {**_NOTHING, "error": str(error)}
    answers = [("In force", trial_answer(state, found, state.policy))]
    if other is not None:
        answers.append(("The other", trial_answer(state, found, other)))
    return {"found": found, "error": "", "answers": answers, "problems": problems, "known": state.rules.rules}


def _other(visit: Visit, form: Mapping[str, str]) -> tuple[Policy | None, tuple[Problem, ...]]:
    """The policy to compare with the one in force, if any."""
    wanted = form.get("other", "")
    if not wanted:
        return None, ()
    if wanted == EDITED:
        return policy_from_text(visit, form.get("policy", ""))
    if wanted not in names():
        raise InvalidInput(f"no policy {wanted[:40]!r}; known: {', '.join(names())}")
    return visit.context.config.override(load_policy(wanted)), ()
