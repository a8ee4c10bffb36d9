"""A plan as the daemon tells it -> words for the person who decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from interlock.core.excerpt import visible
from interlock.core.styled import Line, Part
from interlock.doors.cli.ticket_words import requirement_words

_STYLE = MappingProxyType({"low": "allow", "medium": "ask", "high": "deny"})


def plan_lines(plan: Mapping[str, Any]) -> Iterator[Line]:
    """Everything of a plan that a person needs: what was asked, what would run, what it risks, and why."""
    yield ()
    if plan.get("notice"):
        yield (Part(visible(str(plan["notice"])), "dim"),)
    yield _row("Asked", plan.get("intent"))
    lines = str(plan.get("command", "")).split("\n")
    yield _row("Command", lines[0], "command")
    for line in lines[1:]:
        yield _row("", line, "command")
    yield _row("In", plan.get("cwd"))
    risk = str(plan.get("risk", ""))
    lost = plan.get("irreversible") and not plan.get("copied")
    level = f"{risk} risk, {plan.get('level_name', '')}" + (", cannot be undone" if lost else "")
    yield _row("Risk", level, _STYLE.get(risk, "deny"))
    for flag in plan.get("safetyFlags") or ():
        yield _row("", flag, "mark")
    for words in plan.get("reasons") or ():
        yield _row("Because", words)
    if plan.get("blast"):
        yield _row("Looked", plan["blast"], "mark")
    if plan.get("copied"):
        yield _row("Copied", "what it would destroy is copied first; `interlock undo` brings it back", "allow")
    for words in plan.get("instead") or ():
        yield _row("Instead", words)
    asked = plan.get("requirement")
    if isinstance(asked, Mapping) and asked.get("word") != "allow":
        yield _row("Gate", requirement_words(asked))
    if plan.get("edited"):  # whatever the planner said was about another command
        yield _row("Edited", f"it was {plan.get('generated', '')}")
    else:
        yield from _claims(plan)
    if plan.get("contextUsed"):
        yield _row("It knew", ", ".join(map(str, plan["contextUsed"])))
    for words in plan.get("notes") or ():
        yield _row("Note", words)
    yield ()


def _claims(plan: Mapping[str, Any]) -> Iterator[Line]:
    """What the planner says of its own command."""
    if plan.get("explanation"):
        yield _row("Does", plan["explanation"])
    if plan.get("expectedEffect"):
        yield _row("Effect", plan["expectedEffect"])
    for words in plan.get("assumptions") or ():
        yield _row("Assumes", words)
    sure = plan.get("confidence")
    if isinstance(sure, int | float):
        yield _row("Sure", f"{round(sure * 100)} %, says {plan.get('planner', '')}")


def _row(name: str, value: object, style: str = "") -> Line:
    return (Part(f"{name:<9}", "dim"), Part(visible(str(value or "")), style))
