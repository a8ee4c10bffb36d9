"""Renders an assessment and a policy's answer as styled lines; it explains what was decided and never decides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from interlock.analysis.display_text import Line, StyledText, excerpt, mid_sentence, undo_words, visible
from interlock.model import (
    ADMIN,
    Action,
    Assessment,
    EffectiveCommand,
    Finding,
    Kind,
    Level,
    finding_factor,
    requirement_words,
)
from interlock.policy.impact import IMPACT_PREFIX, Impact, recoverable, undo_words_after

if TYPE_CHECKING:  # rendering alone does not load the policy
    from interlock.analysis.assess import Judgement
    from interlock.impact.inspection import Inspection
    from interlock.policy.evaluate import PolicyResult

MAX_SHOWN = 40  # commands, and findings


class ExplainVerdict(Struct, frozen=True):
    word: str
    exit_code: int
    lead: str


ALLOW, DENY = ExplainVerdict("allow", 0, "Allowed"), ExplainVerdict("deny", 20, "Denied")
_HELD = {"cool_off": "Waits", "confirm": "Asks first", "approve": "Held", "verify": "Held"}
_VERDICTS = {
    "allow": ALLOW,
    **{word: ExplainVerdict("ask", 10, lead) for word, lead in _HELD.items()},
    **dict.fromkeys(("deny", "block"), DENY),
}


class PolicyAnswer(Struct, frozen=True):
    outcome: str  # allow, cool_off, confirm, approve, verify, deny, block
    weighed: PolicyResult
    judgement: Judgement
    policy: str = "default"
    mode: str = "enforcing"
    seen: Impact | None = None  # on the inspected targets
    keepable: bool = False  # a snapshot taken first would allow it
    question: Inspection | None = None

    @property
    def assessment(self) -> Assessment:
        return self.judgement.assessment

    @property
    def verdict(self) -> ExplainVerdict:
        """An action that only an admin can free is denied to everybody else."""
        return DENY if self.weighed.requirement.approvers == {ADMIN} else _VERDICTS[self.outcome]

    @property
    def approval(self) -> str:
        return requirement_words(self.weighed.requirement)


def explain(action: Action, answer: PolicyAnswer) -> list[Line]:
    assessment, text = answer.assessment, action.text
    lines = [summary(answer), ()]
    if action.kind is Kind.COMMAND or assessment.steps:
        lines += _commands(assessment.steps)
    else:
        heading = StyledText(f"{_KIND_WORDS[action.kind]}: ", "heading")
        lines.append((heading, StyledText(visible(_call(action)), "command")))
    for finding in assessment.findings[:MAX_SHOWN]:
        lines += [(), *_finding(text if action.kind in _TEXTS else "", finding)]
    if len(assessment.findings) > MAX_SHOWN:
        lines += [(), _plain(f"… and {len(assessment.findings) - MAX_SHOWN} more findings")]
    return _beside(answer.seen, [*lines, (), *_figures(assessment), *_policy_lines(answer)])


def _beside(seen: Impact | None, lines: list[Line]) -> list[Line]:
    looked = (f"{IMPACT_PREFIX}{seen.words}",) if seen is not None else ()
    if not recoverable(looked):
        return lines
    return [tuple(StyledText(undo_words_after(part.text, looked), part.style) for part in line) for line in lines]


_TEXTS = frozenset({Kind.COMMAND, Kind.INTENT})


def _call(action: Action) -> str:
    given = json.dumps(action.params, ensure_ascii=False, default=str) if action.params else ""
    words = f"{action.text} {given}".rstrip()
    return words if len(words) <= 400 else words[:397] + "..."


_KIND_WORDS = {Kind.OPERATION: "Operation", Kind.TOOL: "Tool", Kind.INTENT: "Announced"}


def summary(answer: PolicyAnswer) -> Line:
    """What would happen and what to do instead, in at most two sentences."""
    found, assessment = answer.verdict, answer.assessment
    if not assessment.findings:
        return StyledText(f"{found.lead}:", found.word), StyledText(f" {_QUIET[assessment.level]}.")
    worst = assessment.findings[0]
    words, instead = f" {mid_sentence(worst.reason)} ({worst.rule}).", worst.instead
    if instead and not instead.endswith((".", "!", "?", ":")):
        instead = f"Try `{instead}`." if instead[:1].islower() else f"{instead}."
    return StyledText(f"{found.lead}:", found.word), StyledText(f"{words} {instead}".rstrip())


_QUIET = {
    Level.SAFE: "this only reads",
    Level.REVERSIBLE: "this can be undone by ordinary means",
    Level.DESTRUCTIVE: "this can destroy something",
    Level.DANGEROUS: "this can do great harm",
    Level.FORBIDDEN: "this can do harm beyond repair",
}


def _commands(steps: tuple[EffectiveCommand, ...]) -> Iterator[Line]:
    if not steps:
        yield (StyledText("Nothing would run.", "dim"),)
        return
    yield (StyledText("What would run", "heading"),)
    for step in steps[:MAX_SHOWN]:
        line = StyledText(f"  {visible(step.text)}", "command")
        yield (line, StyledText(f"   inside {visible(' > '.join(step.via))}", "dim")) if step.via else (line,)
    if len(steps) > MAX_SHOWN:
        yield _plain(f"  … and {len(steps) - MAX_SHOWN} more")


def _finding(text: str, finding: Finding) -> Iterator[Line]:
    yield (
        StyledText(finding.level.word, f"level{int(finding.level)}"),
        StyledText(f"  {finding.rule}", "heading"),
        StyledText(f"  {finding.reason}"),
    )
    yield from _where(text, finding)
    undo = "Recover" if finding.irreversible else "Undo"
    for name, words in (("Instead", finding.instead), (undo, finding.undo), ("Asked for by", finding.requirement)):
        if words:
            yield StyledText(f"  {name}: ", "dim"), StyledText(visible(words))


def _where(text: str, finding: Finding) -> Iterator[Line]:
    if finding.span is None or not text:
        if finding.subject:
            yield (StyledText(f"  in {visible(finding.subject)}", "dim"),)
        return
    rows, more = excerpt(text, finding.span)
    numbered = "\n" in text
    for row in rows:
        gutter = f"  {row.number:>4} | " if numbered else "    "
        yield StyledText(gutter, "dim"), StyledText(row.text)
        yield StyledText(" " * len(gutter)), StyledText(row.marks, "mark")
    if more:
        yield (StyledText(f"    … and {more} more line{'s' if more > 1 else ''}", "dim"),)
    if finding.subject and finding.subject.strip() != text[slice(*finding.span)].strip():
        yield StyledText("  Command: ", "dim"), StyledText(visible(finding.subject))


def _figures(assessment: Assessment) -> Iterator[Line]:
    level = assessment.level
    named = {finding_factor(finding.rule, finding.reason) for finding in assessment.findings}
    factors = [factor for factor in assessment.factors if factor not in named]
    yield _row("Level", StyledText(f"{int(level)} {level.word}", f"level{int(level)}"))
    harmless = level is Level.SAFE and not assessment.irreversible
    undo = undo_words(assessment.irreversible, (finding.undo for finding in assessment.findings))
    yield _row("Undo", StyledText("nothing to undo" if harmless else visible(undo)))
    yield _row("Score", StyledText(f"{assessment.score} of 100, tier {assessment.tier.value}: {', '.join(factors)}"))


def _policy_lines(answer: PolicyAnswer) -> Iterator[Line]:
    yield _row("Approval", StyledText(answer.approval))
    mode = f", mode {answer.mode}" if answer.mode != "enforcing" else ""
    parts = answer.weighed.parts or answer.weighed.would
    spoke = [part.name for part in parts]
    named = {f"{part.name}: {part.words}" for part in parts}
    said = [f"asked for by {', '.join(dict.fromkeys(spoke))}"] if spoke else []
    said += [one for one in answer.weighed.factors if one not in named and not one.startswith(IMPACT_PREFIX)]
    if answer.seen is not None:
        yield _row("Impact", StyledText(visible(answer.seen.words)))
    if answer.keepable:
        words = "from an agent on this machine it passes, after a snapshot was taken (interlock undo)"
        yield _row("Snapshot", StyledText(words))
    why = f" ({'; '.join(said)})" if said else ""
    yield _row("Policy", StyledText(visible(f"{answer.policy}{mode}: {answer.outcome}{why}")))


def _row(name: str, value: StyledText) -> Line:
    return StyledText(f"{name:<10}", "dim"), value


def _plain(text: str) -> Line:
    return (StyledText(text),)
