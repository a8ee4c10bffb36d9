"""Counts the questions of every recorded session: questions an hour, their rules, and losses that passed unasked."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

from recorded_sessions import read_session, session_names
from session_replay import CALLS_AN_HOUR, Replay, replay, share

# Needless questions an hour: the share of sessions, and the most that may be.
AIMS = (("median", 0.5, 1.0), ("90th percentile", 0.9, 3.0))
WIDTH = 110


def main(argv: list[str]) -> int:
    """Replays the sessions that are named, or all of them."""
    found = []
    for name in argv or session_names():
        with tempfile.TemporaryDirectory() as folder:
            found.append(replay(read_session(name), Path(folder)))
        _tell(found[-1])
    _summary(found)
    return 0 if argv or _holds(found) else 1


def _holds(found: list[Replay]) -> bool:
    """Nothing irrecoverable passes, and questions are no more than they were."""
    hours = [one.an_hour for one in found]
    return not any(one.unasked for one in found) and all(share(hours, part) <= most for _, part, most in AIMS)


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


def _summary(found: list[Replay]) -> None:
    hours = [one.an_hour for one in found]
    print(f"\n{len(found)} sessions, {sum(one.calls for one in found)} calls, at {CALLS_AN_HOUR} calls an hour")
    for title, part, aim in AIMS:
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
