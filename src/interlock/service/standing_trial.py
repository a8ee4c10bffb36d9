"""What a standing answer would have changed of what really happened: the record's last actions, judged again with it and without."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.core.loop_rules import LoopRules, ruled
from interlock.core.model import Level
from interlock.core.patterns import PatternSet, covers, hits
from interlock.core.records import Grant
from interlock.core.replay import ReplayError
from interlock.core.standing import DENY, readable
from interlock.service.grant_trial import attempts
from interlock.service.record import body_of
from interlock.service.replaying import agent, made_again, title
from interlock.service.state import State

RECORDS = 500  # actions that an answer is tried on
EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class Tried:
    """One recorded action that a pattern meets, and what would be answered with it and without."""

    title: str
    agent: str
    level: Level
    before: str
    after: str
    why: str  # more is asked all the same


@dataclass(frozen=True, slots=True)
class Trial:
    """The record's last actions under one more answer."""

    records: int
    changed: tuple[Tried, ...]
    unchanged: tuple[Tried, ...]  # which the pattern meets, and which are answered as before


def trial(state: State, grant: Grant) -> Trial:
    """What an answer would have changed; recorded actions that cannot be judged again are passed over."""
    ((_, glob),) = readable([grant]).values()
    rows = attempts(state, RECORDS)
    one = PatternSet(deny=(glob,)) if grant.effect == DENY else PatternSet(allow=(glob,))
    with_it = ruled(state.policy, [(LoopRules(patterns=one), True)])
    changed: list[Tried] = []
    unchanged: list[Tried] = []
    for row in rows:
        body = body_of(row)
        try:
            before, after = made_again(body, state.rules, state.policy), made_again(body, state.rules, with_it)
        except ReplayError:
            continue
        whole = bool(covers((glob,), after.named))
        if not whole and not hits((glob,), after.named):
            continue
        part = "" if whole else "the pattern meets only a part of it: several commands, or one that runs another"
        why = (part or after.weighed.reason()) if after.word != "allow" else ""
        found = Tried(title(body), agent(body), after.assessment.level, before.word, after.word, why)
        (changed if before.word != after.word else unchanged).append(found)
    return Trial(len(rows), tuple(changed), tuple(unchanged))
