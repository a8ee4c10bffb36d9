"""`interlock rehearse`: judges past calls from a person's own logs as if the gate had been there; runs and sends nothing."""

from __future__ import annotations

import argparse
import json
import posixpath
import shlex
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from interlock.analysis.display_text import Lines, line, visible
from interlock.approvals.grant_coverage import find_covering
from interlock.cli.command import Args, CommandError, command, wrong_usage
from interlock.cli.judge.rehearse.logs import agent_logs, named_logs, shell_histories
from interlock.cli.judge.rehearse.rehearsal import DAY, LOST, OPEN, Rehearsal, RehearsedQuestion, rehearse
from interlock.cli.output import pluralize, progress, report
from interlock.engine.preview import local_policy
from interlock.local_times import clock
from interlock.model import AgentRef, Level
from interlock.policy.impact import count_words
from interlock.records import Grant
from interlock.redaction import redact_text


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 36_500:
        raise argparse.ArgumentTypeError(f"expected a number of days from 1 on, got {text!r}")
    return int(text)


@command(days={"type": _days})
def main(args: Args) -> int:
    by, files = local_policy(args.policy, args.config), _files(args)
    with progress("Rehearsing", len(files), quiet=args.json) as tick:
        found = rehearse(files, time.time() - args.days * DAY, by, tick)
    alarms = args.false_alarm
    lines = false_alarm_lines(found, alarms, by.rules.rules) if alarms else rehearsal_lines(args.days, found)
    return report(args, rehearsal_json(args.days, found), lines, found.calls)


def _files(args: Args) -> list[Path]:
    home = Path.home()
    with wrong_usage(FileNotFoundError):
        found = named_logs(args.paths) if args.paths else agent_logs(home)
    if args.history or not (found or args.paths):
        found += shell_histories(home)
    if not found:
        raise CommandError("no logs of Claude Code or Codex and no shell history here; name a PATH")
    return found


SHOWN = 10  # rules, losses, near misses
LONGEST = 100  # characters of a call that are shown


def rehearsal_lines(days: int, found: Rehearsal) -> Lines:
    span = "Last day" if days == 1 else f"Last {days} days"
    gone = found.of(LOST)
    lost = f"{len(gone):,} really lost data" if gone else "nothing is known to be lost"
    asked = f"you would have been asked {pluralize(len(found.asked), 'time')}"
    yield line(f"{span}: {count_words(found.calls.total(), 'call')}, {asked}, {lost}", "heading")
    sources = ", ".join(f"{word} {count:,}" for word, count in sorted(found.calls.items()))
    yield line(sources or "nothing read", "dim")
    for calls, words in (
        (found.with_snapshot, "more would have passed with a snapshot taken first"),
        (found.of(OPEN), "may have lost something: today's disk does not tell"),
    ):
        if calls:
            yield line(f"{pluralize(len(calls), 'call')} {words}", "dim")
    yield from _rules(found)
    yield from _losses(gone)
    if grants := suggest_grants(found.asked):
        yield ()
        yield line("Grants that would have spared you most of it", "heading")
    for grant in grants:
        yield line(f"  {grant.spares:>4}  ") + line(shlex.join(grant.command()), "command")
    yield from _skipped(found)


def false_alarm_lines(found: Rehearsal, rules: Sequence[str], known: Collection[str]) -> Lines:
    """For each rule, the examples it would have to spare and a grant until then."""
    left = list(found.asked)
    for rule in rules:
        marked = [one for one in left if rule in one.rules]
        left = [one for one in left if rule not in one.rules]
        yield ()
        yield line(f"{rule}: {pluralize(len(marked), 'false alarm')}", "heading")
        yield from _near_misses(rule, marked, rule in known)
        for grant in suggest_grants(marked)[:1]:
            yield line(f"  until then, a grant spares {grant.spares} of them:")
            yield line(f"  {shlex.join(grant.command())}", "command")
    yield ()
    yield line(f"Without them you would have been asked {pluralize(len(left), 'time')}.")


def rehearsal_json(days: int, found: Rehearsal) -> dict[str, Any]:
    tally = found.tally
    return {
        "days": days, "calls": found.calls.total(), "sources": dict(found.calls), "files": tally.files,
        "asked": len(found.asked), "kept": len(found.with_snapshot), "lost": len(found.of(LOST)), "open": len(found.of(OPEN)),
        "malformed": tally.malformed, "unjudged": tally.unjudged, "unread": tally.unread,
        "questions": [_question(one) for one in found.asked], "snapshots": [_question(one) for one in found.with_snapshot],
        "grants": [
            {"effect": one.effect, "target": one.target, "ceiling": one.ceiling.word, "spares": one.spares,
             "command": visible(shlex.join(one.command()))}
            for one in suggest_grants(found.asked)
        ],
    }  # fmt: skip


def _rules(found: Rehearsal) -> Lines:
    rules = found.by_rule()
    if not rules:
        return
    yield ()
    yield line("Why you would have been asked", "heading")
    for rule, asked in rules[:SHOWN]:
        yield line(f"  {len(asked):>4}  {rule}  ") + line(_shown(asked[-1]), "command")
    if len(rules) > SHOWN:
        yield line(f"        and {pluralize(len(rules) - SHOWN, 'other rule')} (--json has all)", "dim")
    yield line("A false alarm? interlock rehearse --false-alarm RULE says what would have to change.", "dim")


def _losses(lost: Sequence[RehearsedQuestion]) -> Lines:
    if lost:
        yield ()
        yield line("What ran and is gone", "heading")
    for one in lost[-SHOWN:]:
        spared = "  (a snapshot would have been taken)" if one.snapshot else ""
        yield line(f"  {clock(one.past.at)}  ") + line(_shown(one), "command") + line(spared, "dim")
    if len(lost) > SHOWN:
        yield line(f"  and {pluralize(len(lost) - SHOWN, 'call')} before these (--json has all)", "dim")


def _near_misses(rule: str, marked: Sequence[RehearsedQuestion], known: bool) -> Lines:
    if not marked:
        yield line("  nothing of these days was asked about because of it", "dim")
        return
    if not known:
        yield line("  no rule asks here, but the policy: interlock policy show", "dim")
        return
    texts = list(dict.fromkeys(map(_shown, marked)))
    yield line("  the rule would have to spare these, as near misses in its block:")
    yield line(f"  # {rule}", "dim")
    yield line("  examples.spare = [", "command")
    for text in texts[:SHOWN]:
        yield line(f"    {json.dumps(text, ensure_ascii=False)},", "command")
    if len(texts) > SHOWN:
        yield line(f"    # and {len(texts) - SHOWN} more (--json has all)", "dim")
    yield line("  ]", "command")


def _skipped(found: Rehearsal) -> Lines:
    tally = found.tally
    said = [f"{pluralize(tally.malformed, 'line')} that could not be read"] if tally.malformed else []
    said += [f"{pluralize(tally.unjudged, 'call')} that could not be judged"] if tally.unjudged else []
    said += [f"not opened: {name}" for name in tally.unread[:SHOWN]]
    if said:
        yield ()
        yield line(f"Passed over: {'; '.join(said)}", "dim")


def _shown(one: RehearsedQuestion) -> str:
    action = one.past.action
    given = action.fields.get("input")
    target = given.get("command") or given.get("file_path", "") if isinstance(given, Mapping) else ""
    return visible(" ".join(redact_text(f"{action.text} {target}").split())[:LONGEST])


def _question(one: RehearsedQuestion) -> dict[str, Any]:
    past = one.past
    return {
        "at": past.at, "source": past.source, "session": past.session, "what": _shown(one), "outcome": one.outcome,
        "level": one.assessment.level.word, "irreversible": one.assessment.irreversible, "ran": past.outcome,
        "fate": one.fate if past.outcome == "ran" else "", "rules": list(one.rules),
    }  # fmt: skip


MOST, CANDIDATES = 5, 300  # shown; tried
LEAST, LEAST_OF_A_FOLDER = 2, 3  # questions that a grant has to spare
HIGHEST = Level.DANGEROUS
_ANYBODY = AgentRef("uid:0", "agent")


class Suggestion(Struct, frozen=True):
    effect: str
    target: str
    ceiling: Level
    spares: int

    @property
    def wide(self) -> bool:
        return self.target.endswith("/**")

    def command(self) -> list[str]:
        return [
            "interlock", "grants", "add", "--effect", self.effect, "--target", self.target,
            "--ceiling", self.ceiling.word, "--count", str(self.spares), "--for", "8h", "--why", "rehearsed",
        ]  # fmt: skip


def suggest_grants(asked: Sequence[RehearsedQuestion]) -> list[Suggestion]:
    """The best suggestions, each counted on the questions that the earlier ones leave."""
    left = [one for one in asked if one.effect_keys and one.assessment.level <= HIGHEST]
    found: list[Suggestion] = []
    while len(found) < MOST:
        tried = [_try_grant(effect, target, left) for effect, target in _candidates(left)]
        enough = (one for one in tried if one[0].spares >= (LEAST_OF_A_FOLDER if one[0].wide else LEAST))
        best = max(enough, key=lambda one: (one[0].spares, not one[0].wide), default=None)  # then the narrower grant
        if best is None:
            return found
        found.append(best[0])
        left = [one for one in left if one not in best[1]]
    return found


def _candidates(asked: Sequence[RehearsedQuestion]) -> list[tuple[str, str]]:
    found: dict[tuple[str, str], None] = {}
    for one in asked:
        cwd = one.past.action.cwd
        for key in one.effect_keys:
            if key.grantable and key.known and key.in_a_folder:
                found[key.family, key.target] = None
                folder = posixpath.dirname(key.target)
                if cwd and cwd != "/" and folder.startswith(f"{cwd}/"):
                    found[key.family, f"{folder}/**"] = None
    return list(found)[:CANDIDATES]


def _try_grant(
    effect: str, target: str, asked: Sequence[RehearsedQuestion]
) -> tuple[Suggestion, list[RehearsedQuestion]]:
    grants = [Grant("rehearsed", effect, (target,), HIGHEST, "", "", 0.0, 1.0)]
    spared = [one for one in asked if find_covering(grants, _ANYBODY, one.effect_keys, one.assessment, "", 0.0)]
    ceiling = max((one.assessment.level for one in spared), default=Level.DESTRUCTIVE)
    return Suggestion(effect, target, ceiling, len(spared)), spared
