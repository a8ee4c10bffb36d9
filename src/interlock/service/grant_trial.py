"""What would a grant have covered, and what does it not? The record's last actions, and near misses made from the grant itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from interlock.analysis.effect_key import EffectKey, effect_keys
from interlock.analysis.effect_key.key import EARLIER, UNKNOWN
from interlock.core.grants import AT, covering
from interlock.core.model import Action, AgentRef, Assessment, Finding, Flags, Kind, Level, Tier
from interlock.core.records import AuditQuery, AuditRow, Grant
from interlock.core.redact import redact_text
from interlock.core.replay import ReplayError, facts_of, replay
from interlock.ports import Tx
from interlock.service.record import body_of
from interlock.service.replaying import ATTEMPTS, agent, title
from interlock.service.state import State

_UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Past:
    """A recorded action that a grant could be about."""

    row: AuditRow
    title: str
    agent: str
    level: Level
    covered: bool
    decision: str  # what was answered then


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Something beside what a grant names, and whether the grant covers it all the same."""

    words: str
    what: str
    covered: bool


def attempts(state: State, most: int) -> list[AuditRow]:
    """The last evaluated actions of the record, the newest first."""
    state.recorder.flush()

    def work(tx: Tx) -> list[AuditRow]:
        queries = (AuditQuery(event=event, limit=most, newest_first=True) for event in sorted(ATTEMPTS))
        return [row for query in queries for row in tx.audit(query)]

    return sorted(state.store.read(work), key=lambda row: (row.at, row.seq), reverse=True)[:most]


def covered(state: State, grant: Grant, rows: Iterable[AuditRow]) -> list[Past]:
    """Recorded actions that destroy something, each with whether the grant would have covered it; what is harmless needs none."""
    found = (_past(state, grant, row) for row in rows)
    return [past for past in found if past is not None]


def near_misses(grant: Grant) -> list[NearMiss]:
    """The folder above, a neighbour, the next level, somebody else: a narrow grant covers none of them."""
    return [
        NearMiss(words, what, _covers(grant, *asked))
        for words, what, *asked in (*_beside(grant), *_above(grant), *_others(grant))
    ]


def _past(state: State, grant: Grant, row: AuditRow) -> Past | None:
    body = body_of(row)
    given, judged = body.get("facts"), body.get("parameters")
    if not isinstance(given, Mapping) or not isinstance(judged, Mapping):
        return None
    try:
        assessment = replay(given, state.rules, state.policy).assessment
        action = _action(judged)
        after = tuple(
            replace(one, target=redact_text(one.target)) for one in effect_keys(action, facts_of(given), assessment)
        )
    except (ReplayError, ValueError, TypeError):
        return None
    if assessment.level < Level.DESTRUCTIVE:
        return None
    who, mark = _agent(body.get("agent")), str(body.get("digest", ""))
    fits = _covers(grant, after, assessment, who, mark)
    return Past(row, title(body), agent(body), assessment.level, fits, str(body.get("decision", "")))


def _action(judged: Mapping[str, Any]) -> Action:
    rest = {key: value for key, value in judged.items() if key not in ("kind", "cwd")}
    return Action(Kind(judged["kind"]), MappingProxyType(rest), str(judged.get("cwd", "")))


def _agent(said: object) -> AgentRef:
    who: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
    return AgentRef(*(str(who.get(key) or "") for key in ("principal", "name", "session", "parent")))


Asked = tuple[Sequence[EffectKey], Assessment, AgentRef, str]


def _covers(grant: Grant, after: Sequence[EffectKey], assessment: Assessment, who: AgentRef, mark: str) -> bool:
    return covering([grant], who, after, assessment, mark, grant.created_at) is not None


def _beside(grant: Grant) -> Iterator[tuple[Any, ...]]:
    """Targets that look like the ones that are named."""
    who, seen = _holder(grant), _seen(grant.ceiling)
    if grant.digests:
        words = "the same program with other words"
        yield words, "any other action than the one that was held", (_key(grant, "other"),), seen, who, "v1:other"
        return
    for target in grant.targets[:3]:
        plain, at, place = target.partition(AT)
        plain, rest = plain.removesuffix("/**"), f"{at}{place}"
        above = plain.rpartition("/")[0] if "/" in plain else ""
        if above:
            yield "the folder above", above, (_key(grant, f"{above}{rest}"),), seen, who, ""
        yield "a neighbour", f"{plain}-other", (_key(grant, f"{plain}-other{rest}"),), seen, who, ""
        both = (_key(grant, f"{plain}{rest}"), _key(grant, f"{plain}-other{rest}"))
        yield "both at once", f"{plain} and {plain}-other", both, seen, who, ""
    yield "a target that cannot be known", "?", (_key(grant, UNKNOWN),), seen, who, ""


def _above(grant: Grant) -> Iterator[tuple[Any, ...]]:
    """The same deed, but worse."""
    who, own, mark = _holder(grant), _own(grant), _mark(grant)
    if grant.ceiling < Level.FORBIDDEN:
        worse = Level(grant.ceiling + 1)
        yield "the same, one level up", worse.word, own, _seen(worse), who, mark
    hidden = _seen(grant.ceiling, _UNREADABLE)
    yield "the same inside something that cannot be read", "a script that is not there", own, hidden, who, mark


def _others(grant: Grant) -> Iterator[tuple[Any, ...]]:
    """The same deed by somebody else."""
    who, own, seen, mark = _holder(grant), _own(grant), _seen(grant.ceiling), _mark(grant)
    for words, other in (
        ("another user or token", replace(who, principal=f"{who.principal}-other")),
        ("an agent of another name", replace(who, name=f"{who.name}-other")),
        ("another session", replace(who, session=f"{who.session}-other")),
    ):
        yield words, "the same action", own, seen, other, mark


def _holder(grant: Grant) -> AgentRef:
    return AgentRef(grant.principal or "anybody", grant.name, grant.session)


def _own(grant: Grant) -> tuple[EffectKey, ...]:
    return tuple(_key(grant, target.replace("/**", "/inside")) for target in grant.targets[:1])


def _key(grant: Grant, target: str) -> EffectKey:
    """The effect that a grant names, on another target in the same place."""
    named, _, place = target.partition(AT)
    return EffectKey(EARLIER.get(grant.effect, grant.effect), named, place)


def _mark(grant: Grant) -> str:
    return grant.digests[0] if grant.digests else ""


def _seen(level: Level, rule: str = "near.miss") -> Assessment:
    finding = Finding(rule, level, False, "")
    return Assessment(level, False, 0, Tier.CONFIRM, Flags(), (finding,))
