"""Tries grants and standing answers on recorded actions and near misses, and suggests a grant for repeated approvals."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.approvals import BY_TIME
from interlock.approvals.denials import DENY, parse_answers
from interlock.approvals.grant_coverage import AT, find_covering
from interlock.audit.chain import body_of
from interlock.audit.decision_entries import ReplayError
from interlock.audit.search import ATTEMPTS, agent_words, record_title
from interlock.engine.replay import ChangedAnswer, replay_decision, replay_inputs
from interlock.error_codes import NotFound
from interlock.model import Action, AgentRef, Assessment, Finding, Flags, Kind, Level, TicketState, Tier
from interlock.policy.effect_key import EffectKey, effect_keys, parse
from interlock.policy.effect_key.key import EARLIER, UNKNOWN
from interlock.policy.overrides import LoopRules, apply_rules
from interlock.policy.patterns import PatternSet, covers, hits
from interlock.ports import Tx
from interlock.records import AuditQuery, AuditRow, Grant, Ticket, TicketQuery
from interlock.redaction import redact_text
from interlock.runtime.state import State

_UNREADABLE = "unreadable"


class PastAction(Struct, frozen=True):
    row: AuditRow
    title: str
    agent: str
    level: Level
    covered: bool
    decision: str  # the answer then


class NearMiss(Struct, frozen=True):
    words: str
    what: str
    covered: bool


def recent_attempts(state: State, most: int) -> list[AuditRow]:
    state.recorder.flush()

    def work(tx: Tx) -> list[AuditRow]:
        queries = (AuditQuery(event=event, limit=most, newest_first=True) for event in sorted(ATTEMPTS))
        return [row for query in queries for row in tx.audit(query)]

    return sorted(state.store.read(work), key=lambda row: (row.at, row.seq), reverse=True)[:most]


def try_grant(state: State, grant: Grant, rows: Iterable[AuditRow]) -> list[PastAction]:
    return [past for row in rows if (past := _past(state, grant, row)) is not None]


def near_misses(grant: Grant) -> list[NearMiss]:
    """The folder above, a neighbour, the next level, somebody else: a narrow grant covers none of them."""
    keys = tuple(_key(grant, target.replace("/**", "/inside")) for target in grant.targets[:1])
    who = AgentRef(grant.principal or "anybody", grant.name, grant.session)
    own = _Asked(keys, _seen(grant.ceiling), who, grant.digests[0] if grant.digests else "")
    found = (*_beside(grant, own), *_above(grant, own), *_others(own))
    return [NearMiss(words, what, asked.is_covered(grant)) for words, what, asked in found]


class _Asked(Struct, frozen=True):
    keys: tuple[EffectKey, ...]
    assessment: Assessment
    who: AgentRef
    mark: str

    def is_covered(self, grant: Grant) -> bool:
        return bool(find_covering([grant], self.who, self.keys, self.assessment, self.mark, grant.created_at))


def _past(state: State, grant: Grant, row: AuditRow) -> PastAction | None:
    body = body_of(row)
    given, judged = body.get("facts"), body.get("parameters")
    if not isinstance(given, Mapping) or not isinstance(judged, Mapping):
        return None
    try:
        judgement = replay_inputs(given, state.rules, state.policy).judgement
        found = effect_keys(_action(judged), judgement.facts, judgement.assessment)
    except (ReplayError, ValueError, TypeError):
        return None
    assessment, keys = judgement.assessment, tuple(replace(one, target=redact_text(one.target)) for one in found)
    if (level := assessment.level) < Level.DESTRUCTIVE:
        return None
    fits = _Asked(keys, assessment, _agent(body.get("agent")), str(body.get("digest", ""))).is_covered(grant)
    return PastAction(row, record_title(body), agent_words(body), level, fits, str(body.get("decision", "")))


def _action(judged: Mapping[str, Any]) -> Action:
    rest = {key: value for key, value in judged.items() if key not in ("kind", "cwd")}
    return Action(Kind(judged["kind"]), MappingProxyType(rest), str(judged.get("cwd", "")))


def _agent(said: object) -> AgentRef:
    who: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
    return AgentRef(*(str(who.get(key) or "") for key in ("principal", "name", "session", "parent")))


def _beside(grant: Grant, own: _Asked) -> Iterator[tuple[str, str, _Asked]]:
    if grant.digests:
        other = replace(own, keys=(_key(grant, "other"),), mark="v1:other")
        yield "the same program with other words", "any other action than the one that was held", other
        return
    for target in grant.targets[:3]:
        plain, at, place = target.partition(AT)
        plain, rest = plain.removesuffix("/**"), f"{at}{place}"
        above = plain.rpartition("/")[0] if "/" in plain else ""
        same, beside = _key(grant, f"{plain}{rest}"), _key(grant, f"{plain}-other{rest}")
        if above:
            yield "the folder above", above, replace(own, keys=(_key(grant, f"{above}{rest}"),))
        yield "a neighbour", f"{plain}-other", replace(own, keys=(beside,))
        yield "both at once", f"{plain} and {plain}-other", replace(own, keys=(same, beside))
    yield "a target that cannot be known", "?", replace(own, keys=(_key(grant, UNKNOWN),))


def _above(grant: Grant, own: _Asked) -> Iterator[tuple[str, str, _Asked]]:
    if grant.ceiling < Level.FORBIDDEN:
        worse = Level(grant.ceiling + 1)
        yield "the same, one level up", worse.word, replace(own, assessment=_seen(worse))
    hidden = replace(own, assessment=_seen(grant.ceiling, _UNREADABLE))
    yield "the same inside something that cannot be read", "a script that is not there", hidden


def _others(own: _Asked) -> Iterator[tuple[str, str, _Asked]]:
    who, what = own.who, "the same action"
    yield "another user or token", what, replace(own, who=replace(who, principal=f"{who.principal}-other"))
    yield "an agent of another name", what, replace(own, who=replace(who, name=f"{who.name}-other"))
    yield "another session", what, replace(own, who=replace(who, session=f"{who.session}-other"))


def _key(grant: Grant, target: str) -> EffectKey:
    named, _, place = target.partition(AT)
    return EffectKey(EARLIER.get(grant.effect, grant.effect), named, place)


def _seen(level: Level, rule: str = "near.miss") -> Assessment:
    finding = Finding(rule, level, False, "")
    return Assessment(level, False, 0, Tier.CONFIRM, Flags(), (finding,))


RECORDS = 500
EXAMPLES = 10


class StandingTrials(Struct, frozen=True):
    records: int
    changed: tuple[ChangedAnswer, ...]  # `why` says why more is asked all the same
    unchanged: tuple[ChangedAnswer, ...]  # which the pattern meets, and which are answered as before


def try_standing_answer(state: State, grant: Grant) -> StandingTrials:
    """Passes over recorded actions that cannot be judged again."""
    ((_, glob),) = parse_answers([grant]).values()
    rows = recent_attempts(state, RECORDS)
    one = PatternSet(deny=(glob,)) if grant.effect == DENY else PatternSet(allow=(glob,))
    with_it = apply_rules(state.policy, LoopRules(patterns=one, proved=True))
    found: tuple[list[ChangedAnswer], list[ChangedAnswer]] = [], []
    for row in rows:
        body = body_of(row)
        try:
            before, after = (replay_decision(body, state.rules, policy) for policy in (state.policy, with_it))
        except ReplayError:
            continue
        whole = bool(covers((glob,), after.named))
        if not whole and not hits((glob,), after.named):
            continue
        part = "" if whole else "the pattern meets only a part of it: several commands, or one that runs another"
        why = (part or after.weighed.reason()) if after.word != "allow" else ""
        found[before.word == after.word].append(ChangedAnswer.of(row, body, before, after, why))
    return StandingTrials(len(rows), *map(tuple, found))


OFTEN = 3  # approvals after which a grant is suggested
HABIT_SECONDS = 14 * 86_400.0
MOST_APPROVALS = 500  # tickets of one agent that are read, the newest first
HIGHEST = Level.DANGEROUS
_TERMS = ("--count", "5", "--for", "8h", "--why", "asked again and again")
_SAID_YES = (TicketState.APPROVED, TicketState.SPENT)


class Habit(Struct, frozen=True):
    """Repeated approvals of one agent that one grant would replace."""

    count: int
    command: tuple[str, ...]  # that makes the grant


def find_habit(state: State, id: str) -> Habit | None:
    """None where there is none yet, or no narrow grant covers it."""

    def work(tx: Tx) -> tuple[Ticket, list[Ticket]]:
        own = tx.ticket(id)
        if own is None:
            raise NotFound(f"no ticket {id!r}")
        return own, tx.tickets(TicketQuery(_SAID_YES, own.agent.principal, own.agent.name, limit=MOST_APPROVALS))

    own, tickets = state.store.read(work)
    since = state.clock.now() - HABIT_SECONDS
    yes = [one for one in tickets if one.decided_at >= since and one.decided_by not in ("", BY_TIME)]
    return _same(own, yes) or _near(own, yes) if own.level <= HIGHEST else None


def _same(own: Ticket, yes: Sequence[Ticket]) -> Habit | None:
    same = [one for one in yes if (one.effect_keys and one.effect_keys == own.effect_keys) or one.digest == own.digest]
    if len(same) < OFTEN:
        return None
    return Habit(len(same), ("interlock", "grants", "add", "--from", own.id, "--any-session", *_TERMS))


def _near(own: Ticket, yes: Sequence[Ticket]) -> Habit | None:
    cwd = str(own.action.get("cwd", ""))
    places = {_place(text) for text in own.effect_keys}
    effect, folder = next(iter(places)) if len(places) == 1 else ("", "")
    if not effect or cwd in ("", "/") or not folder.startswith(f"{cwd}/"):
        return None
    near = [one for one in yes if one.level <= HIGHEST and {_place(text) for text in one.effect_keys} == places]
    if len(near) < OFTEN:
        return None
    ceiling = max(one.level for one in near).word
    words = ("interlock", "grants", "add", "--effect", effect, "--target", f"{folder}/**", "--ceiling", ceiling)
    return Habit(len(near), (*words, *_TERMS))


def _place(text: str) -> tuple[str, str]:
    """The effect and the folder of its target; nothing for what no grant on effects can name."""
    key = parse(text)
    return (key.family, posixpath.dirname(key.path)) if key.path and key.grantable and not key.place else ("", "")
