"""Policy page: the policy in force in words; another text checked, tested and compared. It writes no file."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from interlock.audit.search import policy_changes
from interlock.console.pages.try_ import plain_text, policy_from_text
from interlock.console.visit import VIEWER, PageNotFound, PageRoutes, Visit
from interlock.engine.preview import failed_cases
from interlock.engine.replay import compare_policies
from interlock.engine.trials import recent_attempts
from interlock.model import Level
from interlock.policy.load import load_policy, names, own_text
from interlock.policy.policy import Policy
from interlock.policy.rendering import level_words, policy_warnings, setting_words

HOME = "/console/policy"
routes = PageRoutes(HOME)
RECORDS = {"0": 0, "100": 100, "500": 500, "2000": 2_000}  # recorded actions judged again
SHOWN = 100  # of the changes
SHOWN_TURNS = 50


@routes.get()
def page(visit: Visit) -> Response:
    state = visit.state
    return visit.page(
        "policy/policy.html",
        **_policy_values(visit, state.policy),
        in_force=True,
        turns=policy_changes(state)[:SHOWN_TURNS],
        mark=state.in_force.policy_hash,
        file=visit.context.config.policy,
    )


@routes.get("/shipped/{name}")
def shipped(visit: Visit) -> Response:
    name = visit.params["name"]
    if name not in names():
        raise PageNotFound(f"there is no policy {name[:80]}")
    policy = visit.context.config.override(load_policy(name))
    return visit.page("policy/policy.html", **_policy_values(visit, policy), in_force=False, turns=(), mark="", file="")


def _policy_values(visit: Visit, policy: Policy) -> dict[str, Any]:
    return {
        "policy": policy,
        "levels": [(level, level_words(policy, level)) for level in Level],
        "settings": list(setting_words(policy)),
        "concerns": policy_warnings(policy, visit.state.mode, visit.context.config.danger_patterns),
        "names": names(),
        "own": own_text(policy),
    }


@routes.get("/edit")
def edit(visit: Visit) -> Response:
    start = visit.query.get("start", "")
    policy = load_policy(start) if start in names() else visit.state.policy
    return visit.page("policy/edit.html", text=own_text(policy), names=names(), records="500", problems=(), tried=None)


@routes.post("/edit", VIEWER)
def try_it(visit: Visit) -> Response:
    text = plain_text(visit.form.get("policy", ""))
    chosen = visit.form.get("records", "500")
    values = {"problems": (), "text": text, "names": names(), "records": chosen, **_trial_values(visit, text, chosen)}
    if visit.part:
        return visit.page("policy/_tried.html", **values)
    return visit.page("policy/edit.html", 422 if values["problems"] else 200, **values)


def _trial_values(visit: Visit, text: str, chosen: str) -> dict[str, Any]:
    state = visit.state
    policy, problems = policy_from_text(visit, text)
    if policy is None:
        return {"problems": problems}
    most = RECORDS.get(chosen, 500)
    found = compare_policies(recent_attempts(state, most), state.rules, state.policy, policy) if most else None
    before, after = (dict(setting_words(one)) for one in (state.policy, policy))
    return {
        "tried": policy,
        "levels": [(level, level_words(state.policy, level), level_words(policy, level)) for level in Level],
        "settings": [
            (name, before.get(name, ""), after.get(name, ""))
            for name in before | after
            if before.get(name, "") != after.get(name, "")
        ],
        "wrong": failed_cases(policy, state.rules) if policy.cases else (),
        "cases": len(policy.cases),
        "concerns": policy_warnings(policy, state.mode, visit.context.config.danger_patterns),
        "found": found,
        "changes": found.changes[:SHOWN] if found else (),
        "most": most,
    }
