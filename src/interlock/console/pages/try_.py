"""Try page: the effect of any action, and the answers of two policies; nothing is run, opened or recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from interlock.analysis.assess import Judgement, judge
from interlock.console.cards import Piece, highlight, runs
from interlock.console.visit import VIEWER, InvalidInput, PageRoutes, Visit
from interlock.engine.assessment import Unjudged
from interlock.engine.explain import PolicyAnswer
from interlock.engine.preview import preview
from interlock.model import Action, Assessment, Kind, command, intent, operation, tool
from interlock.policy.load import load_policy, names, own_text, text_policy
from interlock.policy.match_names import match_names
from interlock.policy.policy import Policy, PolicyError
from interlock.problems import Problem
from interlock.runtime.state import State

HOME = "/console/try"
routes = PageRoutes(HOME)
EDITED = "edited"


@routes.get()
def page(visit: Visit) -> Response:
    filled = bool(visit.query.get("text"))
    return visit.page(
        "try/try.html", **_form(visit, visit.query), **(_result(visit, visit.query) if filled else _NOTHING)
    )


@routes.post(role=VIEWER)
def explain(visit: Visit) -> Response:
    result = _result(visit, visit.form)
    if visit.part:
        return visit.page("try/_result.html", **result)
    return visit.page("try/try.html", 422 if result["error"] else 200, **_form(visit, visit.form), **result)


def _form(visit: Visit, form: Mapping[str, str]) -> dict[str, Any]:
    return {
        "fields": form_fields(form),
        "kinds": KINDS,
        "others": [name for name in names() if name != visit.state.policy.name],
        "other": form.get("other", ""),
        "text_of_policy": plain_text(form.get("policy", "")) or own_text(visit.state.policy),
    }


_NOTHING: Mapping[str, Any] = {"found": None, "error": ""}


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
    wanted = form.get("other", "")
    if not wanted:
        return None, ()
    if wanted == EDITED:
        return policy_from_text(visit, form.get("policy", ""))
    if wanted not in names():
        raise InvalidInput(f"no policy {wanted[:40]!r}; known: {', '.join(names())}")
    return visit.context.config.override(load_policy(wanted)), ()


LONGEST = 20_000  # characters of a tried text
LONGEST_POLICY = 200_000
CWD = "/home/dev/app"
KINDS: Mapping[str, str] = {
    "command": "Command",
    "operation": "Operation",
    "tool": "Tool call",
    "intent": "Intent, in words",
}


class TrialResult(Struct, frozen=True):
    action: Action
    judgement: Judgement
    runs: list[tuple[bool, list[Piece]]]

    @property
    def assessment(self) -> Assessment:
        return self.judgement.assessment


def form_fields(form: Mapping[str, str]) -> dict[str, str]:
    plain = {"kind": "command", "text": "", "params": "", "cwd": CWD}
    return {name: plain_text(form.get(name, value)) for name, value in plain.items()}


def plain_text(text: str) -> str:
    """With plain line ends, without lone surrogates."""
    return text.replace("\r\n", "\n").encode("utf-8", "replace").decode()


def action_of(form: Mapping[str, str]) -> Action:
    fields = form_fields(form)
    kind, text, cwd = fields["kind"], fields["text"], fields["cwd"].strip()
    if kind not in KINDS:
        raise InvalidInput(f"no kind {kind[:40]!r}; known: {', '.join(KINDS)}")
    if not text.strip():
        raise InvalidInput("there is nothing to try yet")
    if max(len(text), len(fields["params"])) > LONGEST or len(cwd) > 4_096:
        raise InvalidInput(f"this is longer than {LONGEST} characters")
    if kind == "command":
        return command(text, cwd)
    if kind == "intent":
        return intent(text, cwd)
    params = _object(fields["params"])
    return operation(text.strip(), params, cwd=cwd) if kind == "operation" else tool(text.strip(), params, cwd)


def try_action(state: State, action: Action) -> TrialResult:
    judgement = judge(action, state.rules)
    assessment = judgement.assessment
    worst = max((finding.level for finding in assessment.findings), default=0)
    spans = [one.span for one in assessment.findings if one.span and one.level == worst]
    marks = spans if action.kind in (Kind.COMMAND, Kind.INTENT) else []
    return TrialResult(action, judgement, runs(highlight(action.text, marks)))


def trial_answer(state: State, found: TrialResult, policy: Policy) -> PolicyAnswer:
    read = found.judgement, match_names(found.action, found.judgement.facts)
    answer = preview(found.action, replace(state.in_force, policy=policy), read=read)
    if isinstance(answer, Unjudged):
        raise InvalidInput(f"this {answer.error}")
    return answer


def policy_from_text(visit: Visit, text: str) -> tuple[Policy | None, tuple[Problem, ...]]:
    if len(text) > LONGEST_POLICY:
        return None, (Problem((), f"longer than {LONGEST_POLICY} characters"),)
    try:
        made = text_policy(plain_text(text), EDITED, visit.state.policy)
    except PolicyError as error:
        return None, error.problems
    return visit.context.config.override(made), ()


def _object(text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the parameters are no JSON: {error}"[:200]) from None
    if not isinstance(found, dict):
        raise InvalidInput('the parameters have to be a JSON object, such as {"name": "users"}')
    return found
