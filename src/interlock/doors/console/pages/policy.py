"""Policy: what is in force, in words; another text checked, tested by its cases and compared with the record. It writes no file."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from interlock.core.model import Level
from interlock.core.policy import Policy
from interlock.core.weakening import concerns
from interlock.doors.cli.policy_words import level_words, setting_words
from interlock.doors.console.trying import edited, plain_text
from interlock.doors.console.visit import Answer, NotHere, Page, Route, Visit
from interlock.policybook import load_policy, names, own_text
from interlock.service.grant_trial import attempts
from interlock.service.policy_cases import failures
from interlock.service.policy_history import history
from interlock.service.replaying import compared

HOME = "/console/policy"
RECORDS = MappingProxyType({"0": 0, "100": 100, "500": 500, "2000": 2_000})  # actions that are judged again
SHOWN = 100  # of the changes
SHOWN_TURNS = 50


def page(visit: Visit) -> Answer:
    """The policy in force, and when it became so."""
    state = visit.context.state
    values = {
        **_shown(visit, state.policy),
        "in_force": True,
        "turns": history(state)[:SHOWN_TURNS],
        "mark": state.policy_hash,
        "file": visit.context.config.policy,
    }
    return Page("policy/policy.html", values)


def shipped(visit: Visit) -> Answer:
    """One of those that come with Interlock."""
    name = visit.params["name"]
    if name not in names():
        raise NotHere(f"there is no policy {name[:80]}")
    policy = visit.context.config.beside(load_policy(name))
    return Page("policy/policy.html", {**_shown(visit, policy), "in_force": False, "turns": (), "mark": "", "file": ""})


def _shown(visit: Visit, policy: Policy) -> dict[str, Any]:
    return {
        "policy": policy,
        "levels": [(level, level_words(policy, level)) for level in Level],
        "settings": list(setting_words(policy)),
        "concerns": concerns(policy, visit.context.state.mode, visit.context.config.danger_patterns),
        "names": names(),
        "own": own_text(policy),
    }


def edit(visit: Visit) -> Answer:
    """A text to begin with: what is in force, or one that is shipped."""
    start = visit.query.get("start", "")
    policy = load_policy(start) if start in names() else visit.context.state.policy
    return Page("policy/edit.html", {"text": own_text(policy), "names": names(), "records": "500", **_UNTRIED})


_UNTRIED: Mapping[str, Any] = MappingProxyType(
    {"tried": None, "problems": (), "levels": (), "wrong": (), "cases": 0, "concerns": (), "found": None, "changes": (), "most": 0}
)  # fmt: skip


def try_it(visit: Visit) -> Answer:
    """Everything about an edited text: its problems, or what it changes, its cases, and what the record would have come to."""
    text = plain_text(visit.form.get("policy", ""))
    chosen = visit.form.get("records", "500")
    values = {**_UNTRIED, "text": text, "names": names(), "records": chosen, **_tried(visit, text, chosen)}
    if visit.part:
        return Page("policy/_tried.html", values)
    return Page("policy/edit.html", values, 422 if values["problems"] else 200)


def _tried(visit: Visit, text: str, chosen: str) -> dict[str, Any]:
    state = visit.context.state
    policy, problems = edited(visit, text)
    if policy is None:
        return {"problems": problems}
    most = RECORDS.get(chosen, 500)
    found = compared(attempts(state, most), state.rules, state.policy, policy) if most else None
    before, after = (dict(setting_words(one)) for one in (state.policy, policy))
    return {
        "tried": policy,
        "levels": [(level, level_words(state.policy, level), level_words(policy, level)) for level in Level],
        "settings": [
            (name, before.get(name, ""), after.get(name, ""))
            for name in dict.fromkeys([*before, *after])
            if before.get(name, "") != after.get(name, "")
        ],
        "wrong": failures(policy, state.rules) if policy.cases else (),
        "cases": len(policy.cases),
        "concerns": concerns(policy, state.mode, visit.context.config.danger_patterns),
        "found": found,
        "changes": found.changes[:SHOWN] if found else (),
        "most": most,
    }


ROUTES = (
    Route("GET", HOME, page),
    Route("GET", f"{HOME}/edit", edit),
    Route("POST", f"{HOME}/edit", try_it),
    Route("GET", f"{HOME}/shipped/{{name}}", shipped),
)
