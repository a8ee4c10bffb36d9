"""What somebody typed on a page -> an action, and what a policy makes of it; nothing is run, asked, opened or recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from interlock.core.circumstances import Circumstances
from interlock.core.decide import Judgement, judge
from interlock.core.explain import Answer, answered
from interlock.core.model import Action, Assessment, Kind, command, intent, operation, tool
from interlock.core.policy import Policy
from interlock.core.policy_form import PolicyError
from interlock.core.problems import Problem
from interlock.core.weigh import require
from interlock.doors.console.colour import Piece, coloured, runs
from interlock.doors.console.visit import Invalid, Visit
from interlock.policybook import text_policy
from interlock.service.state import State

LONGEST = 20_000  # characters of what is tried
LONGEST_POLICY = 200_000
CWD = "/home/dev/app"
KINDS: Mapping[str, str] = MappingProxyType(
    {"command": "Command", "operation": "Operation", "tool": "Tool call", "intent": "Intent, in words"}
)


@dataclass(frozen=True, slots=True)
class Tried:
    """One action as it was read, with its text for a page."""

    action: Action
    judgement: Judgement
    runs: list[tuple[bool, list[Piece]]]

    @property
    def assessment(self) -> Assessment:
        return self.judgement.assessment


def given(form: Mapping[str, str]) -> dict[str, str]:
    """The fields of a form that say what is tried, as they are shown again."""
    plain = {"kind": "command", "text": "", "params": "", "cwd": CWD}
    return {name: plain_text(form.get(name, value)) for name, value in plain.items()}


def plain_text(text: str) -> str:
    """Text as a form has it: lines end as everywhere else, and half a character is none."""
    return text.replace("\r\n", "\n").encode("utf-8", "replace").decode()


def action_of(form: Mapping[str, str]) -> Action:
    """The action that a form describes; raises Invalid with words for whoever filled it in."""
    fields = given(form)
    kind, text, cwd = fields["kind"], fields["text"], fields["cwd"].strip()
    if kind not in KINDS:
        raise Invalid(f"no kind {kind[:40]!r}; known: {', '.join(KINDS)}")
    if not text.strip():
        raise Invalid("there is nothing to try yet")
    if max(len(text), len(fields["params"])) > LONGEST or len(cwd) > 4_096:
        raise Invalid(f"this is longer than {LONGEST} characters")
    if kind == "command":
        return command(text, cwd)
    if kind == "intent":
        return intent(text, cwd)
    params = _object(fields["params"])
    return operation(text.strip(), params, cwd=cwd) if kind == "operation" else tool(text.strip(), params, cwd)


def tried(state: State, action: Action) -> Tried:
    """The action judged by the rules in force; scripts that it names are not opened."""
    judgement = judge(action, state.rules)
    assessment = judgement.assessment
    worst = max((finding.level for finding in assessment.findings), default=0)
    spans = [one.span for one in assessment.findings if one.span and one.level == worst]
    marks = spans if action.kind in (Kind.COMMAND, Kind.INTENT) else []
    return Tried(action, judgement, runs(coloured(action.text, marks)))


def answer(state: State, found: Tried, policy: Policy) -> Answer:
    """What a policy would answer to somebody about whom nothing is known."""
    at = Circumstances(mode=state.mode, matched=None)
    if found.action.kind in (Kind.OPERATION, Kind.TOOL) and policy.registry:
        gate = policy.severities
        matched = state.registry.check(found.action.text, gate.max_cooling_off_ms, gate.block_on_match_failure)
        at = Circumstances(mode=state.mode, matched=matched)
    return answered(require(found.action, found.judgement, policy, at), policy, state.mode)


def edited(visit: Visit, text: str, name: str = "edited") -> tuple[Policy | None, tuple[Problem, ...]]:
    """The policy in a text, with what the configuration says beside it; or every problem of it."""
    if len(text) > LONGEST_POLICY:
        return None, (Problem((), f"longer than {LONGEST_POLICY} characters"),)
    try:
        made = text_policy(plain_text(text), name, visit.context.state.policy)
    except PolicyError as error:
        return None, error.problems
    return visit.context.config.beside(made), ()


def _object(text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"the parameters are no JSON: {error}"[:200]) from None
    if not isinstance(found, dict):
        raise Invalid('the parameters have to be a JSON object, such as {"name": "users"}')
    return found
