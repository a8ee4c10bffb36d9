"""Renders an action for approval: the commands that would really run, the harm marked, and the original text."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from interlock.analysis.display_text import harm, lookalikes, short_id, visible
from interlock.analysis.wire import step_json
from interlock.model import EffectiveCommand, Span, finding_factor
from interlock.policy import impact
from interlock.policy.circumstances import RAISING
from interlock.records import Ticket
from interlock.redaction import redact_text

RUNS = "runs"  # the key of the effective commands in a stored action
MOST = 40  # stored effective commands
LINE = 300  # characters of a title
MOST_TEXT = 4_000  # characters of an action in a window
_TEXTS = ("command", "operation", "tool", "hint")
_GIVEN = ("params", "input")
_BESIDE = frozenset({*_TEXTS, *_GIVEN, "kind", "cwd", RUNS})
_SPANNED = ("command", "intent")  # kinds whose text the spans of findings point into
_REDACTED = "<secret:"
_QUOTES = re.compile(r"['\"\\]")
_SHORT, _WHOLE = 80, 200  # characters of one parameter, and of a call, that stand in one line


class UnwrappedCommand(Struct, frozen=True):
    text: str
    via: tuple[str, ...] = ()

    @property
    def inside(self) -> str:
        return " > ".join(filter(None, self.via))


class ActionDisplay(Struct, frozen=True):
    """`harm` leads where `text` does not show what would run."""

    text: str  # as it was written; of an operation or a tool, its call in one line
    marks: tuple[Span, ...] = ()  # the harm in `text`
    fields: Mapping[str, str] = {}  # parameters that do not fit into the line, and the rest
    harm: tuple[UnwrappedCommand, ...] = ()  # effective commands that do the worst of it
    others: tuple[UnwrappedCommand, ...] = ()  # effective commands beside them

    @property
    def lead(self) -> str:
        return _one_line("; ".join(run.text for run in self.harm) or self.text)

    @property
    def letters(self) -> tuple[str, ...]:
        texts = (self.text, *self.fields.values(), *(run.text for run in (*self.harm, *self.others)))
        return tuple(dict.fromkeys(words for text in texts for words in lookalikes(text)))


def display_action(
    action: Mapping[str, Any], findings: Iterable[Mapping[str, Any]] = (), title: str = ""
) -> ActionDisplay:
    """Builds the display of a stored, redacted action; `title` stands in for an empty one."""
    text, fields = action_text(action, title)
    worst = _worst(findings)
    runs = [_run(one) for one in action.get(RUNS) or () if isinstance(one, Mapping)]
    subjects = {str(one.get("subject") or "") for one in worst}
    leads = tuple(run for run in runs if run.text in subjects) or tuple(runs)
    others = tuple(run for run in runs if run not in leads)
    if not runs and action.get("kind") in _SPANNED:  # in a text that is not read at a glance
        leads = tuple(map(UnwrappedCommand, harm(text, worst)))
    return ActionDisplay(text, _marks(text, action, worst), fields, leads, others)


def unwrap_commands(
    steps: Sequence[EffectiveCommand], findings: Sequence[Mapping[str, Any]], action: Mapping[str, Any]
) -> list[Any]:
    """The effective commands to store; none where the text shows the harm as it would run."""
    text, fields = action_text(action)
    worst = _worst(findings)
    whole = "\n".join((text, *fields.values()))
    if not steps or all(_plain(one, text, whole, action.get("kind")) for one in worst if one.get("subject")):
        return []
    subjects = {str(one.get("subject")) for one in worst}
    kept = [step for step in steps if not _wraps(step, steps)]
    kept = [step for step in kept if step.text in subjects or not _repeats(step, steps, subjects)]
    kept = sorted(kept, key=lambda step: step.text not in subjects)[:MOST]  # the worst is never cut off
    return [{**step_json(step), "command": redact_text(step.text)} for step in kept]


def action_text(action: Mapping[str, Any], title: str = "") -> tuple[str, Mapping[str, str]]:
    """The action's own text, and its parameters that are too long for that line."""
    name, given = _named(action, title)
    rest = {key: _written(value) for key, value in action.items() if key not in _BESIDE and value}
    if given is None:
        loose = {key: _written(action[key]) for key in _GIVEN if action.get(key)}
        return name, {**loose, **rest}
    call, long = _call(name, given)
    return call, {**long, **rest}


def list_text(action: Mapping[str, Any], title: str = "") -> str:
    """With parameters as far as a list has room for them; line breaks are kept."""
    name, given = _named(action, title)
    if given:
        name = f"{name}({', '.join(f'{key}={cut(_json(value), _SHORT)}' for key, value in given.items())})"
    return cut("\n".join(" ".join(line.split()) for line in name.split("\n")), LINE)


def _named(action: Mapping[str, Any], title: str) -> tuple[str, Mapping[str, Any] | None]:
    name = next((str(action[key]) for key in _TEXTS if action.get(key)), title)
    called = () if action.get("kind") in _SPANNED else map(action.get, _GIVEN)
    return name, next((given for given in called if isinstance(given, Mapping)), None)


def one_line(action: Mapping[str, Any], title: str = "") -> str:
    return _one_line(list_text(action, title))


def _worst(findings: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    known = [one for one in findings if isinstance(one, Mapping)]
    worst = max((int(one.get("level") or 0) for one in known), default=0)
    return [one for one in known if int(one.get("level") or 0) == worst]


def _call(name: str, given: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """`delete_user(id=5, force=true)`; what is long, or has lines of its own, stands below by its name."""
    said, long = [], {}
    room = _WHOLE
    for key, value in given.items():
        words = _json(value)
        if len(words) <= min(_SHORT, room) and not (isinstance(value, str) and "\n" in value):
            said.append(f"{key}={words}")
            room -= len(words)
        else:
            said.append(f"{key}=…")
            long[str(key)] = _written(value)
    return f"{name}({', '.join(said)})" if said else name, long


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _one_line(text: str) -> str:
    return cut(" ".join(text.split()), LINE)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _run(data: Mapping[str, Any]) -> UnwrappedCommand:
    via = data.get("via")
    inside = map(str, via) if isinstance(via, list | tuple) else ()
    return UnwrappedCommand(str(data.get("command") or ""), tuple(inside))


def _marks(text: str, action: Mapping[str, Any], worst: Iterable[Mapping[str, Any]]) -> tuple[Span, ...]:
    points = action.get("kind") in _SPANNED and _REDACTED not in text
    found: dict[Span, None] = {}
    for one in worst:
        span, subject = one.get("span"), str(one.get("subject") or "")
        if points and isinstance(span, list | tuple) and len(span) == 2:
            found[int(span[0]), int(span[1])] = None
        elif subject and (at := text.find(subject)) >= 0:
            found[at, at + len(subject)] = None
    return tuple(found)


def _plain(finding: Mapping[str, Any], text: str, whole: str, kind: object) -> bool:
    subject, span = str(finding["subject"]), finding.get("span")
    if kind not in _SPANNED or not isinstance(span, list | tuple):
        return _says(whole, subject)
    start, end = int(span[0]), int(span[1])
    quoted = kind == "command" and start > 0 and text[start - 1] in "'\"`"  # text that a shell is given to run
    return not quoted and _says(text[start:end], subject)


def _says(written: str, subject: str) -> bool:
    """Whether a text has a command in it as it would run, but for its quotes."""
    meant = " ".join(subject.removesuffix("...").split())
    said = " ".join(written.split())
    return meant in said or ("'" in meant and _QUOTES.sub("", meant) in _QUOTES.sub("", said))


def _wraps(step: EffectiveCommand, steps: Sequence[EffectiveCommand]) -> bool:
    """Whether a command only starts others that are shown themselves: `bash -c '…'`, `sh`, `eval …`."""
    name, depth = step.text.split(" ", 1)[0], len(step.via)
    inner = (one for one in steps if one.via[:depth] == step.via and len(one.via) > depth and _within(one, step))
    return any(one.via[depth].split(" ", 1)[0] == name and not step.text.endswith(f" {one.text}") for one in inner)


def _repeats(step: EffectiveCommand, steps: Sequence[EffectiveCommand], subjects: Collection[str]) -> bool:
    """Whether another command says the same: `sudo rm x` of its `rm x`, which is only shown where it is the harm itself."""
    for one in steps:
        if one.span == step.span and len(one.via) < len(step.via) and one.text.endswith(f" {step.text}"):
            return True
        if one.span == step.span and len(step.via) < len(one.via) and step.text.endswith(f" {one.text}"):
            return one.text in subjects
    return False


def _within(one: EffectiveCommand, outer: EffectiveCommand) -> bool:
    if one.span is None or outer.span is None:
        return True
    return outer.span[0] <= one.span[0] and one.span[1] <= outer.span[1]


def ticket_text(ticket: Ticket) -> list[str]:
    """Up to the size of a window; a cut is marked."""
    found = display_action(ticket.action, ticket.findings, ticket.title)
    lines = [f"! {run.text}{f'   (inside {run.inside})' if run.inside else ''}" for run in found.harm]
    lines += [f"  {run.text}" for run in found.others]
    lines += ["", "As it was written:"] if lines else []
    lines += [f"  {line}" for line in found.text.split("\n")]
    for name, value in found.fields.items():
        lines += [f"  {name}:", *(f"    {line}" for line in value.split("\n"))]
    lines += [f"Letters: {words}" for words in found.letters]
    lines += [f"In {cwd}"] if (cwd := ticket.action.get("cwd")) else []
    whole = [visible(line) for line in ("What would run:", *lines)]
    if sum(map(len, whole)) <= MOST_TEXT:
        return whole
    kept, room = [], MOST_TEXT
    for line in whole:
        if room > 0:
            kept.append(line[:room])
            room -= len(line)
    return [*kept, f"… the rest is cut off here; the whole: interlock show {short_id(ticket.id)}"]


# Factors that other parts of a ticket show already: the score, the level's own requirement, the inspected impact.
_SHOWN_ELSEWHERE = (
    "base: ", "level: ", "irreversible: ", "tier: ", "tolerance: ", "severity: ", impact.IMPACT_PREFIX, impact.NO_SNAPSHOT_PREFIX, impact.ESCALATION_PREFIX,
    *(f"{name}: " for name in sorted(RAISING)),
)  # fmt: skip
_ADDS = re.compile(r"\([+]\d+\)$")


def reasons(reason: str, level: str, findings: Iterable[Mapping[str, Any]], factors: Iterable[str]) -> tuple[str, ...]:
    """What asks for most, each finding, and whatever else changed the answer; each once."""
    known = [one for one in findings if isinstance(one, Mapping)]
    named = {finding_factor(str(one.get("id")), str(one.get("reason"))) for one in known}
    factors, said = list(factors), list[str]()
    rest = [one for one in factors if one not in named and not one.startswith(_SHOWN_ELSEWHERE)]
    first = reason.removeprefix(f"{level}: ")
    raised = [
        one for one in impact.escalation_reasons(factors) if one.split(": ", 1)[-1].casefold() not in first.casefold()
    ]
    found = [str(one.get("reason") or "") for one in known]
    more = (one for one in rest if not _ADDS.search(one))
    for words in (first, *map(_because, raised), *found, *map(_because, more)):
        words = impact.undo_words_after(words, factors)
        if words and not any(words.rstrip(".").casefold() in one.casefold() for one in said):
            said.append(words)
    return tuple(said)


def _because(factor: str) -> str:
    name, found, words = factor.partition(": ")
    said = words if found and " " not in name else factor
    return said[:1].upper() + said[1:]
