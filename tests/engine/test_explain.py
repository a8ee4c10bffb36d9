"""Words for a person: what the policy makes of an action, and spans underlined wherever they stand."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from interlock.analysis.assess import Judgement
from interlock.analysis.display_text import excerpt, visible
from interlock.analysis.rules.load import load
from interlock.engine.explain import PolicyAnswer, explain, summary
from interlock.engine.preview import suppose
from interlock.model import Assessment, EffectiveCommand, Finding, Flags, Level, Loss, Span, Tier, command
from interlock.policy.circumstances import Circumstances
from interlock.policy.impact import Impact
from interlock.policy.load import load_policy
from interlock.policy.match_names import MatchNames
from interlock.runtime import InForce


def assessment(level: Level, *findings: Finding, irreversible: bool = False, **more: Any) -> Assessment:
    tier = Tier.ADVISORY if level <= Level.REVERSIBLE else Tier.CONFIRM
    return Assessment(level, irreversible, (5, 25, 50, 75, 95)[level], tier, Flags(), findings, **more)


def finding(level: Level = Level.DANGEROUS, reason: str = "Overwrites commits.", **more: Any) -> Finding:
    return Finding("git.force_push", level, True, reason, **more)


def answer(found: Assessment, policy: str = "default", mode: str = "enforcing") -> PolicyAnswer:
    """What the path makes of it."""
    used = load_policy(policy)
    at = Circumstances(mode=mode)
    judged = Judgement(found)
    outcome = suppose(judged, MatchNames(), InForce(load(), used), at)
    return PolicyAnswer(outcome.held.outcome, outcome.weighed, judged, used.name, mode)


def words(text: str, found: Assessment, policy: str = "default", mode: str = "enforcing") -> str:
    lines = explain(command(text), answer(found, policy, mode))
    return "\n".join("".join(part.text for part in line) for line in lines)


@pytest.mark.parametrize(
    ("policy", "level", "outcome", "word", "code"),
    [
        ("default", Level.SAFE, "allow", "allow", 0),
        ("default", Level.REVERSIBLE, "allow", "allow", 0),
        ("default", Level.DESTRUCTIVE, "confirm", "ask", 10),
        ("default", Level.DANGEROUS, "verify", "ask", 10),
        ("default", Level.FORBIDDEN, "verify", "deny", 20),  # only an admin can free it
        ("headless", Level.DESTRUCTIVE, "cool_off", "ask", 10),
        ("headless", Level.DANGEROUS, "deny", "deny", 20),
        ("strict", Level.REVERSIBLE, "confirm", "ask", 10),
        ("strict", Level.DESTRUCTIVE, "approve", "ask", 10),
        ("strict", Level.FORBIDDEN, "block", "deny", 20),
        ("spec", Level.FORBIDDEN, "allow", "allow", 0),
    ],
)
def test_the_policy_gives_the_verdict(policy: str, level: Level, outcome: str, word: str, code: int) -> None:
    said = answer(assessment(level), policy)
    assert (said.outcome, said.verdict.word, said.verdict.exit_code) == (outcome, word, code)


def test_what_cannot_be_undone_is_asked_about_at_any_level() -> None:
    assert answer(assessment(Level.REVERSIBLE, irreversible=True)).verdict.word == "ask"


def test_what_nobody_may_approve_is_denied_at_any_level() -> None:
    said = answer(assessment(Level.DESTRUCTIVE, finding(approvable=False)))
    assert said.verdict.word == "deny" and said.approval == "nobody can agree to this"


def test_the_mode_in_force_counts_and_is_named() -> None:
    said = words("x", assessment(Level.DANGEROUS, finding()), mode="monitoring")
    assert (
        said.startswith("Allowed: ") and "mode monitoring: allow (asked for by level, tier; would have: verify)" in said
    )


@pytest.mark.parametrize(
    ("policy", "level", "said"),
    [
        ("default", Level.DESTRUCTIVE, "somebody has to confirm"),
        ("default", Level.FORBIDDEN, "an admin has to approve after a fresh sign-in"),
        ("headless", Level.DESTRUCTIVE, "it passes by itself after 30 s, unless an operator objects"),
        ("default", Level.SAFE, "nobody needs to agree"),
    ],
)
def test_it_says_who_would_have_to_agree(policy: str, level: Level, said: str) -> None:
    assert f"Approval  {said}\nPolicy    {policy}: " in words("x", assessment(level), policy)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            assessment(Level.DANGEROUS, finding(instead="git push --force-with-lease")),
            "Held: overwrites commits (git.force_push). Try `git push --force-with-lease`.",
        ),
        (
            assessment(Level.DESTRUCTIVE, finding(instead="Look first.")),
            "Asks first: overwrites commits (git.force_push). Look first.",
        ),
        (assessment(Level.FORBIDDEN, finding(reason="SQL is run")), "Denied: SQL is run (git.force_push)."),
        (assessment(Level.SAFE), "Allowed: this only reads."),
    ],
)
def test_the_first_line_says_what_and_what_instead(found: Assessment, said: str) -> None:
    assert "".join(part.text for part in summary(answer(found))) == said


@pytest.mark.parametrize(
    ("text", "span", "rows"),
    [
        ("rm -rf x", (0, 8), [(1, "rm -rf x", "^^^^^^^^")]),
        ("ls; rm x", (4, 8), [(1, "ls; rm x", "    ^^^^")]),
        ("ls\nrm x\nls", (3, 7), [(2, "rm x", "^^^^")]),
        ("a \\\n  b", (0, 7), [(1, "a \\", "^^^"), (2, "  b", "^^^")]),
        ("\trm x", (1, 5), [(1, "    rm x", "    ^^^^")]),
        ("echo 日本; rm", (9, 11), [(1, "echo 日本; rm", "           ^^")]),
        ("e\u0301; rm", (4, 6), [(1, "e\u0301; rm", "   ^^")]),
        ("\x1b[2J; rm", (6, 8), [(1, "\\x1b[2J; rm", "         ^^")]),
        ("x", (0, 99), [(1, "x", "^")]),
        ("", (0, 0), [(1, "", "")]),
    ],
)
def test_a_span_is_underlined_where_it_stands(text: str, span: Span, rows: list[tuple[int, str, str]]) -> None:
    found, more = excerpt(text, span)
    assert [(row.number, row.text, row.marks) for row in found] == rows
    assert more == 0


def test_a_span_far_to_the_right_is_still_seen() -> None:
    rows, _ = excerpt("x" * 5000 + " rm -rf /", (5001, 5009))
    assert rows[0].text.endswith("rm -rf /") and len(rows[0].text) < 140
    assert rows[0].text[rows[0].marks.index("^") :] == "rm -rf /"


def test_a_long_span_is_cut_after_some_lines() -> None:
    rows, more = excerpt("\n".join(["rm x"] * 50), (0, 249))
    assert len(rows) == 6 and more == 44


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb", "a    b"),
        ("\x07", "\\x07"),
        ("\u202erm", "\\u202erm"),
        ("\ud800", "\\ud800"),
        ("é日", "é日"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_nothing_printed_can_act_on_the_terminal(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_unwrapping_undo_and_factors_are_told() -> None:
    found = assessment(
        Level.DESTRUCTIVE,
        Finding(
            "a.b",
            Level.DESTRUCTIVE,
            False,
            "Goes.",
            span=(0, 4),
            subject="rm x",
            undo="git restore x",
            requirement="X-01",
        ),
        steps=(EffectiveCommand("rm x", ("sudo", "bash -c"), (0, 4)),),
        factors=("base: destructive (50)", "Goes (a.b)"),
    )
    said = words("sudo bash -c 'rm x'", found)
    for part in (
        "rm x   inside sudo > bash -c",
        "can be undone: git restore x",
        "base: destructive (50)",
        "Asked for by: X-01",
    ):
        assert part in said
    assert said.count("Goes") == 1


def test_what_cannot_be_undone_is_told_with_what_its_vendor_keeps() -> None:
    kept = [finding(undo="Restore the snapshot."), finding(undo="From a backup.")]
    said = words("x", assessment(Level.DANGEROUS, *kept, irreversible=True))
    assert "Undo      cannot be undone by ordinary means. Restore the snapshot.\n" in said
    assert "Recover: Restore the snapshot." in said and "Recover: From a backup." in said


def test_a_flood_of_findings_is_bounded() -> None:
    found = assessment(Level.DANGEROUS, *[finding(span=(0, 1))] * 5000, steps=(EffectiveCommand("x"),) * 5000)
    assert len(explain(command("x" * 100_000), answer(found))) < 300


def test_cannot_be_undone_is_not_said_beside_a_look_that_found_everything_again() -> None:
    found = assessment(Level.DANGEROUS, finding(), irreversible=True, factors=("cannot be undone (+10)",))
    back = Impact(Loss.RECOVERABLE, files=3, bytes=900)
    for look, said in ((None, True), (back, False)):
        lines = explain(command("rm -rf src"), replace(answer(found), seen=look))
        text = "\n".join("".join(part.text for part in line) for line in lines)
        assert ("cannot be undone" in text) is said and ("can be had back" in text) is not said
