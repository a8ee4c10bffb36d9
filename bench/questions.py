"""Counts the questions of every recorded session: questions an hour, their rules, and losses that passed unasked; below the journal with --journal."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from journals import built
from recorded_sessions import read_session, session_names
from session_replay import CALLS_AN_HOUR, Replay, replay, share

Aims = tuple[tuple[str, float, float], ...]
# Needless questions an hour: the share of sessions, and the most that may be.
AIMS = (("median", 0.5, 1.0), ("90th percentile", 0.9, 3.0))
AIMS_BELOW = (("median", 0.5, 0.5), ("90th percentile", 0.9, 2.0))
JOURNAL = "--journal"
WIDTH = 110


def main(argv: list[str]) -> int:
    """Replays the sessions that are named, or all of them."""
    named, found = [word for word in argv if word != JOURNAL], []
    aims = AIMS_BELOW if JOURNAL in argv else AIMS
    with tempfile.TemporaryDirectory() as built_in:
        supervisor = built(Path(built_in)) if JOURNAL in argv else None
        for name in named or session_names():
            with tempfile.TemporaryDirectory() as folder:
                found.append(replay(read_session(name), Path(folder), supervisor=supervisor))
            _tell(found[-1])
    _summary(found, aims)
    return 0 if named or _holds(found, aims) else 1


def _holds(found: list[Replay], aims: Aims) -> bool:
    """Nothing irrecoverable passes, and questions are no more than they were."""
    hours = [one.an_hour for one in found]
    return not any(one.unasked for one in found) and all(share(hours, part) <= most for _, part, most in aims)


def _tell(one: Replay) -> None:
    asked = len(one.questions)
    print(
        f"{one.name}: {one.calls} calls, {asked} questions, {one.needless} of them needless ({one.an_hour:.1f} an hour), {one.kept} snapshots"
    )
    for question in one.questions:
        mark = "loses" if question.loses else "asked"
        text = " ".join(question.text.split())[:WIDTH]
        print(f"  {mark}  {question.outcome:<8} {', '.join(question.rules):<40} {question.number}: {text}")
    for words in one.unasked:
        print(f"  PASSED UNASKED  {words}")


def _summary(found: list[Replay], aims: Aims) -> None:
    hours = [one.an_hour for one in found]
    print(f"\n{len(found)} sessions, {sum(one.calls for one in found)} calls, at {CALLS_AN_HOUR} calls an hour")
    for title, part, aim in aims:
        reached = share(hours, part)
        missed = "" if reached <= aim else ", missed"
        print(f"  needless questions an hour, {title}: {reached:.1f} (aim: at most {aim:g}{missed})")
    every = [len(one.questions) * CALLS_AN_HOUR / one.calls for one in found]
    print(f"  all questions an hour: median {share(every, 0.5):.1f}, 90th percentile {share(every, 0.9):.1f}")
    losses = sum(bool(question.loses) for one in found for question in one.questions)
    passed = sum(len(one.unasked) for one in found)
    print(
        f"  irrecoverable losses: {losses} asked about, {passed} passed unasked; snapshots taken first: {sum(one.kept for one in found)}"
    )
    rules = Counter(", ".join(question.rules) for one in found for question in one.questions if not question.loses)
    print("  rules behind needless questions:")
    for rule, count in rules.most_common(25):
        print(f"    {count:>4}  {rule}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
