"""An assessment -> words for a person, as lines of styled parts; it renders what was judged and judges nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

from interlock.core.excerpt import excerpt, visible
from interlock.core.model import Action, Assessment, Finding, Kind, Level, Step, Tier

MAX_SHOWN = 40  # commands, and findings


@dataclass(frozen=True, slots=True)
class Verdict:
    """What would be answered, how a process says it, and who would have to agree."""

    word: str
    exit_code: int  # 2.13
    lead: str
    approval: str


# The row of the policy `default`, with nothing known of what would really be lost.
VERDICTS = MappingProxyType(
    {
        Level.SAFE: Verdict("allow", 0, "Allowed", "nobody needs to agree"),
        Level.REVERSIBLE: Verdict("allow", 0, "Allowed", "nobody needs to agree"),
        Level.DESTRUCTIVE: Verdict("ask", 10, "Asks first", "the person at the keyboard can agree"),
        Level.DANGEROUS: Verdict("ask", 10, "Held", "an operator can agree"),
        Level.FORBIDDEN: Verdict("deny", 20, "Denied", "only an admin could agree"),
    }
)
ASKS = VERDICTS[
    Level.DESTRUCTIVE
]  # what cannot be undone is confirmed, whatever the level; so is the confirm tier
NEVER = Verdict("deny", 20, "Denied", "nobody can agree to this")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a line; the style is a word, and the door knows what it looks like."""

    text: str
    style: str = ""


Line = tuple[Part, ...]
_BLANK: Line = ()


def verdict(assessment: Assessment) -> Verdict:
    """What the policy `default` answers to this assessment."""
    if not assessment.approvable:
        return NEVER
    row = VERDICTS[assessment.level]
    asks = assessment.irreversible or assessment.tier is not Tier.ADVISORY
    return ASKS if asks and row.word == "allow" else row


def explain(action: Action, assessment: Assessment) -> list[Line]:
    """The verdict, what would run, each finding where it stands in the text, and the score."""
    text = action.text
    lines = [summary(assessment), _BLANK]
    if action.kind is Kind.COMMAND or assessment.steps:
        lines += _commands(assessment.steps)
    else:
        lines += [(Part(f"{_KIND_WORDS[action.kind]}: ", "heading"), Part(visible(_call(action)), "command"))]
    for finding in assessment.findings[:MAX_SHOWN]:
        lines += [_BLANK, *_finding(text if action.kind in _TEXTS else "", finding)]
    if len(assessment.findings) > MAX_SHOWN:
        lines += [_BLANK, _plain(f"… and {len(assessment.findings) - MAX_SHOWN} more findings")]
    return [*lines, _BLANK, *_figures(assessment)]


_TEXTS = frozenset({Kind.COMMAND, Kind.INTENT})  # kinds whose text a finding can be shown in


def _call(action: Action) -> str:
    """An operation or tool with what it is given, cut where it gets long."""
    given = action.fields.get("params") or action.fields.get("input")
    words = f"{action.text} {json.dumps(given, ensure_ascii=False, default=str)}" if given else action.text
    return words if len(words) <= 400 else words[:397] + "..."


_KIND_WORDS = MappingProxyType({Kind.OPERATION: "Operation", Kind.TOOL: "Tool", Kind.INTENT: "Announced"})


def summary(assessment: Assessment) -> Line:
    """What would happen and what to do instead, in at most two sentences."""
    found = verdict(assessment)
    if not assessment.findings:
        return Part(f"{found.lead}:", found.word), Part(f" {_QUIET[assessment.level]}.")
    worst = assessment.findings[0]
    words = f" {_inside(worst.reason)} ({worst.rule})."
    return Part(f"{found.lead}:", found.word), Part(words + (f" {_sentence(worst.instead)}" if worst.instead else ""))


_QUIET = MappingProxyType(
    {
        Level.SAFE: "this only looks",
        Level.REVERSIBLE: "this can be undone by ordinary means",
        Level.DESTRUCTIVE: "this can destroy something",
        Level.DANGEROUS: "this can do great harm",
        Level.FORBIDDEN: "this can do harm beyond repair",
    }
)


def _commands(steps: tuple[Step, ...]) -> Iterator[Line]:
    if not steps:
        yield (Part("Nothing would run.", "dim"),)
        return
    yield (Part("What would run", "heading"),)
    for step in steps[:MAX_SHOWN]:
        line = Part(f"  {visible(step.text)}", "command")
        yield (line, Part(f"   inside {visible(' > '.join(step.via))}", "dim")) if step.via else (line,)
    if len(steps) > MAX_SHOWN:
        yield _plain(f"  … and {len(steps) - MAX_SHOWN} more")


def _finding(text: str, finding: Finding) -> Iterator[Line]:
    yield (
        Part(finding.level.word, f"level{int(finding.level)}"),
        Part(f"  {finding.rule}", "heading"),
        Part(f"  {finding.reason}"),
    )
    yield from _where(text, finding)
    for name, words in (("Instead", finding.instead), ("Undo", finding.undo), ("Asked for by", finding.requirement)):
        if words:
            yield Part(f"  {name}: ", "dim"), Part(visible(words))


def _where(text: str, finding: Finding) -> Iterator[Line]:
    if finding.span is None or not text:
        if not finding.subject:
            return
        yield (Part(f"  in {visible(finding.subject)}", "dim"),)
        return
    rows, more = excerpt(text, finding.span)
    numbered = "\n" in text
    for row in rows:
        gutter = f"  {row.number:>4} | " if numbered else "    "
        yield Part(gutter, "dim"), Part(row.text)
        yield Part(" " * len(gutter)), Part(row.marks, "mark")
    if more:
        yield (Part(f"    … and {more} more line{'s' if more > 1 else ''}", "dim"),)
    if finding.subject and finding.subject.strip() != text[slice(*finding.span)].strip():
        yield Part("  Command: ", "dim"), Part(visible(finding.subject))


def _figures(assessment: Assessment) -> Iterator[Line]:
    level = assessment.level
    named = {f"{finding.rule}: {finding.reason}" for finding in assessment.findings}
    factors = [factor for factor in assessment.factors if factor not in named]
    yield _row("Level", Part(f"{int(level)} {level.word}", f"level{int(level)}"))
    yield _row("Undo", Part(_undo(assessment)))
    yield _row("Score", Part(f"{assessment.score} of 100, tier {assessment.tier.value}: {', '.join(factors)}"))
    yield _row("Approval", Part(verdict(assessment).approval))


def _undo(assessment: Assessment) -> str:
    if assessment.irreversible:
        return "cannot be undone"
    if assessment.level is Level.SAFE:
        return "nothing to undo"
    ways = dict.fromkeys(finding.undo for finding in assessment.findings if finding.undo)
    return "can be undone" + (f": {visible('; '.join(ways))}" if ways else "")


def _row(name: str, value: Part) -> Line:
    return Part(f"{name:<10}", "dim"), value


def _plain(text: str) -> Line:
    return (Part(text),)


def _inside(reason: str) -> str:
    """A reason as it reads in the middle of a sentence."""
    text = reason.rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", ":")) else f"Try `{text}`." if text[:1].islower() else f"{text}."
