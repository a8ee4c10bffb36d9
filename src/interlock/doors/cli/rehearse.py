"""`interlock rehearse`: what you would have been asked about in the last weeks, from your own logs; nothing leaves the machine."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlock.doors.cli.operating import FAILED, OK, USAGE, Stop, command, counted, run, say, say_json

if TYPE_CHECKING:
    from interlock.core.explain import Line
    from interlock.doors.rehearse.rehearsal import Asked, Rehearsal

SHOWN = 10  # rules, and losses
DAYS = 30
LONGEST = 100  # characters of a call that are shown
_EXAMPLES = """
interlock rehearse                                  your Claude Code and Codex sessions of the last 30 days
interlock rehearse --days 7 --policy strict         another policy, to see what it would cost you
interlock rehearse ~/.claude/projects/-home-me-app  one project
interlock rehearse ~/.zsh_history --json            for programs
"""
_EXITS = "exit codes: 0 done, 1 nothing to read, 2 wrong usage"


def main(argv: Sequence[str]) -> int:
    """Judge past calls."""
    parser = command(
        "rehearse",
        "Judge what your agents did before, as if Interlock had been there. Reads their logs; runs nothing, sends nothing.",
        _EXAMPLES,
        _EXITS,
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="a log or a folder of logs (default: all that are found)"
    )
    parser.add_argument("--days", type=_days, default=DAYS, metavar="N", help="how far back (default: 30)")
    parser.add_argument("--history", action="store_true", help="your shells' histories as well")
    parser.add_argument("--policy", metavar="NAME|FILE", help="by this policy (default: the one in force)")
    return run("rehearse", _rehearse, parser.parse_args(list(argv)))


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 36_500:
        raise argparse.ArgumentTypeError(f"expected a number of days from 1 on, got {text!r}")
    return int(text)


def _rehearse(args: argparse.Namespace) -> int:
    from interlock.doors.cli.judging import in_force
    from interlock.doors.cli.progress import progress
    from interlock.doors.rehearse.rehearsal import DAY, rehearse

    by, files = in_force(args.policy, args.config), _files(args)
    with progress("Rehearsing", "files", len(files), quiet=args.json) as tick:
        found = rehearse(files, time.time() - args.days * DAY, by, tick)
    if args.json:
        say_json(_json(args.days, found))
    else:
        say(_told(args.days, found))
    return OK if found.calls else FAILED


def _files(args: argparse.Namespace) -> list[Path]:
    from interlock.doors.rehearse.logs import given, histories, transcripts

    home = Path.home()
    if args.paths:
        try:
            found = given(args.paths) + (histories(home) if args.history else [])
        except FileNotFoundError as error:
            raise Stop(str(error), USAGE) from None
    else:
        found = transcripts(home)
        if args.history or not found:
            found += histories(home)
    if not found:
        raise Stop("no logs of Claude Code or Codex and no shell history here; name a PATH")
    return found


def _told(days: int, found: Rehearsal) -> Iterator[Line]:
    from interlock.core.explain import Part

    total = sum(found.calls.values())
    yield (Part(_headline(days, total, found), "heading"),)
    yield (
        Part(", ".join(f"{word} {count:,}" for word, count in sorted(found.calls.items())) or "nothing read", "dim"),
    )
    yield from _rules(found)
    yield from _losses(found.lost)
    yield from _grants(found)
    yield from _skipped(found)


def _headline(days: int, total: int, found: Rehearsal) -> str:
    asked, lost = len(found.asked), len(found.lost)
    span = "Last day" if days == 1 else f"Last {days} days"
    ran = f"; {lost:,} of those ran and cannot be undone" if lost else ""
    return f"{span}: {total:,} calls, you would have been asked {asked:,} time{'' if asked == 1 else 's'}{ran}"


def _rules(found: Rehearsal) -> Iterator[Line]:
    from interlock.core.explain import Part

    rules = found.by_rule()
    if rules:
        yield ()
        yield (Part("Why you would have been asked", "heading"),)
    for rule, asked in rules[:SHOWN]:
        yield Part(f"  {len(asked):>4}  {rule}  "), Part(_shown(asked[-1]), "command")
    if len(rules) > SHOWN:
        yield (Part(f"        and {counted(len(rules) - SHOWN, 'other rule')} (--json has all)", "dim"),)


def _losses(lost: Sequence[Asked]) -> Iterator[Line]:
    from interlock.core.explain import Part
    from interlock.doors.cli.moments import clock

    if lost:
        yield ()
        yield (Part("What ran and cannot be undone by ordinary means", "heading"),)
    for one in lost[-SHOWN:]:
        yield Part(f"  {clock(one.past.at)}  "), Part(_shown(one), "command")


def _grants(found: Rehearsal) -> Iterator[Line]:
    from interlock.core.excerpt import visible
    from interlock.core.explain import Part
    from interlock.doors.rehearse.suggesting import suggested

    grants = suggested(found.asked)
    if grants:
        yield ()
        yield (Part("Grants that would have spared you most of it", "heading"),)
    for grant in grants:
        yield Part(f"  {grant.spares:>4}  "), Part(visible(shlex.join(grant.command())), "command")


def _skipped(found: Rehearsal) -> Iterator[Line]:
    from interlock.core.explain import Part

    tally = found.tally
    said = [counted(tally.malformed, "line") + " that could not be read"] if tally.malformed else []
    said += [counted(tally.unjudged, "call") + " that could not be judged"] if tally.unjudged else []
    said += [f"not opened: {name}" for name in tally.unread[:SHOWN]]
    if said:
        yield ()
        yield (Part(f"Passed over: {'; '.join(said)}", "dim"),)


def _shown(one: Asked) -> str:
    """The call on one line, with its secrets as placeholders."""
    from interlock.core.excerpt import visible
    from interlock.core.redact import redact_text

    action = one.past.action
    given = action.fields.get("input")
    target = given.get("command") or given.get("file_path", "") if isinstance(given, Mapping) else ""
    return visible(" ".join(redact_text(f"{action.text} {target}").split())[:LONGEST])


def _json(days: int, found: Rehearsal) -> dict[str, Any]:
    from interlock.doors.rehearse.suggesting import suggested

    tally = found.tally
    return {
        "days": days, "calls": sum(found.calls.values()), "sources": dict(found.calls), "files": tally.files,
        "asked": len(found.asked), "lost": len(found.lost),
        "malformed": tally.malformed, "unjudged": tally.unjudged, "unread": tally.unread,
        "questions": [_question(one) for one in found.asked],
        "grants": [
            {"effect": one.effect, "target": one.target, "ceiling": one.ceiling.word, "spares": one.spares}
            for one in suggested(found.asked)
        ],
    }  # fmt: skip


def _question(one: Asked) -> dict[str, Any]:
    past = one.past
    return {
        "at": past.at, "source": past.source, "session": past.session, "what": _shown(one), "outcome": one.outcome,
        "level": one.assessment.level.word, "irreversible": one.assessment.irreversible, "ran": past.outcome,
        "rules": list(one.rules),
    }  # fmt: skip
