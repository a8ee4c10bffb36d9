"""A rehearsal in words and as JSON: how often, why, what was really lost, what would help; and what a false alarm asks to be changed."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interlock.core.excerpt import visible
from interlock.core.redact import redact_text
from interlock.core.styled import Line, Part
from interlock.doors.cli.operating import counted
from interlock.doors.rehearse.suggesting import Suggestion, suggested
from interlock.moments import clock

if TYPE_CHECKING:
    from interlock.doors.rehearse.rehearsal import Asked, Rehearsal

SHOWN = 10  # rules, losses, near misses
LONGEST = 100  # characters of a call that are shown


def told(days: int, found: Rehearsal) -> Iterator[Line]:
    """The whole of it for a person."""
    yield (Part(_headline(days, found), "heading"),)
    sources = ", ".join(f"{word} {count:,}" for word, count in sorted(found.calls.items()))
    yield (Part(sources or "nothing read", "dim"),)
    yield from _beside(found)
    yield from _rules(found)
    yield from _losses(found.lost)
    yield from _grants(suggested(found.asked))
    yield from _skipped(found)


def false_alarms(found: Rehearsal, rules: Sequence[str], known: Collection[str]) -> Iterator[Line]:
    """What would have to change for these rules to be silent, and what would then be left."""
    left = list(found.asked)
    for rule in rules:
        marked = [one for one in left if rule in one.rules]
        left = [one for one in left if rule not in one.rules]
        yield ()
        yield (Part(f"{rule}: {counted(len(marked), 'false alarm')}", "heading"),)
        yield from _near_misses(rule, marked, rule in known)
        yield from _instead(suggested(marked))
    yield ()
    yield (Part(f"Without them you would have been asked {_times(len(left))}."),)


def as_json(days: int, found: Rehearsal) -> dict[str, Any]:
    """The same for programs, with every question."""
    tally = found.tally
    return {
        "days": days, "calls": sum(found.calls.values()), "sources": dict(found.calls), "files": tally.files,
        "asked": len(found.asked), "kept": len(found.kept), "lost": len(found.lost), "open": len(found.open),
        "malformed": tally.malformed, "unjudged": tally.unjudged, "unread": tally.unread,
        "questions": [_question(one) for one in found.asked], "snapshots": [_question(one) for one in found.kept],
        "grants": [_grant(one) for one in suggested(found.asked)],
    }  # fmt: skip


def _headline(days: int, found: Rehearsal) -> str:
    span = "Last day" if days == 1 else f"Last {days} days"
    lost = f"{len(found.lost):,} really lost data" if found.lost else "nothing is known to be lost"
    return f"{span}: {sum(found.calls.values()):,} calls, you would have been asked {_times(len(found.asked))}, {lost}"


def _times(count: int) -> str:
    return counted(count, "time")


def _beside(found: Rehearsal) -> Iterator[Line]:
    """What was no question, and what nobody can tell."""
    if found.kept:
        yield (Part(f"{counted(len(found.kept), 'call')} more would have passed with a snapshot taken first", "dim"),)
    if found.open:
        yield (Part(f"{counted(len(found.open), 'call')} may have lost something: today's disk does not tell", "dim"),)


def _rules(found: Rehearsal) -> Iterator[Line]:
    rules = found.by_rule()
    if rules:
        yield ()
        yield (Part("Why you would have been asked", "heading"),)
    for rule, asked in rules[:SHOWN]:
        yield Part(f"  {len(asked):>4}  {rule}  "), Part(_shown(asked[-1]), "command")
    if len(rules) > SHOWN:
        yield (Part(f"        and {counted(len(rules) - SHOWN, 'other rule')} (--json has all)", "dim"),)
    if rules:
        yield (Part("A false alarm? interlock rehearse --false-alarm RULE says what would have to change.", "dim"),)


def _losses(lost: Sequence[Asked]) -> Iterator[Line]:
    if lost:
        yield ()
        yield (Part("What ran and is gone", "heading"),)
    for one in lost[-SHOWN:]:
        spared = "  (a snapshot would have kept it)" if one.kept else ""
        yield Part(f"  {clock(one.past.at)}  "), Part(_shown(one), "command"), Part(spared, "dim")
    if len(lost) > SHOWN:
        yield (Part(f"  and {counted(len(lost) - SHOWN, 'call')} before these (--json has all)", "dim"),)


def _grants(grants: Sequence[Suggestion]) -> Iterator[Line]:
    if grants:
        yield ()
        yield (Part("Grants that would have spared you most of it", "heading"),)
    for grant in grants:
        yield Part(f"  {grant.spares:>4}  "), Part(visible(shlex.join(grant.command())), "command")


def _near_misses(rule: str, marked: Sequence[Asked], known: bool) -> Iterator[Line]:
    """As the rule's own block would have them."""
    if not marked:
        yield (Part("  nothing of these days was asked about because of it", "dim"),)
        return
    if not known:
        yield (Part("  no rule asks here, but the policy: interlock policy show", "dim"),)
        return
    texts = list(dict.fromkeys(_shown(one) for one in marked))
    yield (Part("  the rule would have to spare these, as near misses in its block:"),)
    yield (Part(f"  # {rule}", "dim"),)
    yield (Part("  examples.spare = [", "command"),)
    for text in texts[:SHOWN]:
        yield (Part(f"    {json.dumps(text, ensure_ascii=False)},", "command"),)
    if len(texts) > SHOWN:
        yield (Part(f"    # and {len(texts) - SHOWN} more (--json has all)", "dim"),)
    yield (Part("  ]", "command"),)


def _instead(grants: Sequence[Suggestion]) -> Iterator[Line]:
    for grant in grants[:1]:
        yield (Part(f"  until then, a grant spares {grant.spares} of them:"),)
        yield (Part(f"  {visible(shlex.join(grant.command()))}", "command"),)


def _skipped(found: Rehearsal) -> Iterator[Line]:
    tally = found.tally
    said = [counted(tally.malformed, "line") + " that could not be read"] if tally.malformed else []
    said += [counted(tally.unjudged, "call") + " that could not be judged"] if tally.unjudged else []
    said += [f"not opened: {name}" for name in tally.unread[:SHOWN]]
    if said:
        yield ()
        yield (Part(f"Passed over: {'; '.join(said)}", "dim"),)


def _shown(one: Asked) -> str:
    """The call on one line, with its secrets as placeholders."""
    action = one.past.action
    given = action.fields.get("input")
    target = given.get("command") or given.get("file_path", "") if isinstance(given, Mapping) else ""
    return visible(" ".join(redact_text(f"{action.text} {target}").split())[:LONGEST])


def _question(one: Asked) -> dict[str, Any]:
    past = one.past
    return {
        "at": past.at, "source": past.source, "session": past.session, "what": _shown(one), "outcome": one.outcome,
        "level": one.assessment.level.word, "irreversible": one.assessment.irreversible, "ran": past.outcome,
        "fate": one.fate if past.outcome == "ran" else "", "rules": list(one.rules),
    }  # fmt: skip


def _grant(one: Suggestion) -> dict[str, Any]:
    command = visible(shlex.join(one.command()))
    return {
        "effect": one.effect,
        "target": one.target,
        "ceiling": one.ceiling.word,
        "spares": one.spares,
        "command": command,
    }
