"""`interlock show`: what would run leads, the harm is marked, and every reason is told."""

from __future__ import annotations

from typing import Any

from interlock.approvals.rendering import ticket_lines
from interlock.cli.answer.tickets import pending_lines
from interlock.cli.output import render_text
from interlock.policy.impact import RECOVERABLE

RM = "rm -rf /srv/data"


def said(command: str, **more: Any) -> str:
    made: dict[str, Any] = {
        "id": "pdact_1", "state": "pending_approval", "level": 3, "level_name": "dangerous", "reason": "dangerous: Deletes.",
        "action": {"kind": "command", "command": command, "cwd": "/srv", **more.pop("action", {})},
    }  # fmt: skip
    return render_text(ticket_lines({**made, **more}), colour=False)


def test_what_would_run_leads_and_the_text_stands_below() -> None:
    runs = [{"command": RM, "via": ["sh"]}, {"command": "base64 -d", "via": []}]
    shown = said("echo cm0= | base64 -d | sh", action={"runs": runs}, findings=[{"level": 3, "subject": RM}])
    assert shown.index(f"  ! {RM}   inside sh") < shown.index("    base64 -d\n") < shown.index("As it was written")
    assert "  echo cm0= | base64 -d | sh\n" in shown and "runs" not in shown


def test_the_list_of_what_waits_leads_with_what_would_run() -> None:
    action = {"kind": "command", "command": "echo cm0= | base64 -d | sh", "runs": [{"command": RM, "via": ["sh"]}]}
    named = {"id": "pdact_1", "title": action["command"], "level": 3, "level_name": "dangerous"}
    waiting = [{**named, "action": action, "findings": [{"level": 3, "subject": RM}]}]
    assert f"    {RM}\n" in render_text(pending_lines(waiting), colour=False)


def test_a_part_that_does_the_harm_is_underlined() -> None:
    shown = said(f"cd /srv && {RM} && ls", findings=[{"level": 3, "subject": RM, "span": [11, 27]}])
    assert f"  cd /srv && {RM} && ls\n  {' ' * 11}{'^' * 16}\n" in shown
    assert "^" not in said(RM, findings=[{"level": 3, "subject": RM, "span": [0, 16]}])


def test_reasons_patterns_and_what_can_be_had_back_are_told() -> None:
    factors = ["irreversible: cannot be undone", "raised: 50 times the same", f"looked: would delete 2 files; {RECOVERABLE}"]  # fmt: skip
    shown = said(RM, irreversible=True, factors=factors, patterns=[{"id": "p", "description": "Empties the demo"}])
    assert "50 times the same" in shown and "Empties the demo" in shown
    assert "cannot be undone" not in shown and RECOVERABLE in shown
