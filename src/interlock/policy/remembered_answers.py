"""Remembered answers that still bind: earlier denials of the same effect and target (R-22), and operators' standing patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from interlock.analysis.display_text import short_id
from interlock.model import TicketState
from interlock.policy.effect_key import EffectKey, Relation, parse, relation
from interlock.policy.patterns import Glob, PatternSyntax
from interlock.records import Denial, Grant, Ticket

_INCLUDING = (Relation.SAME, Relation.AROUND)
LASTS = 30 * 86_400.0  # seconds that a rejection binds its own session; it binds others much shorter


class MatchedDenial(Struct, frozen=True):
    """A denial, its ticket, and how the action's target relates to the denied one."""

    denial: Denial
    relation: Relation
    fresh: bool = False  # rejected so recently that no ticket is opened again
    ticket: Ticket | None = None

    @property
    def waits(self) -> bool:
        """Whether its ticket can still be answered."""
        return self.ticket is not None and self.ticket.open

    @property
    def words(self) -> str:
        """The denial in words: what was denied, by whom and why."""
        target = parse(self.denial.effect_key).target
        what = {
            Relation.SAME: "the same effect on the same target",
            Relation.INSIDE: f"the same effect on {target}, which this is a part of,",
            Relation.AROUND: f"the same effect on {target}, which is a part of this,",
        }[self.relation]
        if self.waits and self.ticket is not None:
            return f"{what} waits for an answer as {short_id(self.ticket.id)} ({self.ticket.title[:120]})"
        if self.ticket is None or not self.ticket.decided_by:
            return f"{what} was rejected as {short_id(self.denial.ticket)}"
        reason = f": {self.ticket.decision_reason}" if self.ticket.decision_reason else ""
        return f"{what} was rejected by {self.ticket.decided_by} as {short_id(self.ticket.id)}{reason}"


def matching_denials(
    denials: Iterable[Denial], keys: Sequence[EffectKey], session: str, folder: str, now: float, seconds: float
) -> list[MatchedDenial]:
    """The denials that bind these effects in this session, the most binding first; `seconds` is how long a no reaches other sessions."""
    found = []
    for one in denials:
        own, fresh = one.session == session, bool(one.rejected_at) and now < one.rejected_at + seconds
        if one.until <= now or not (own or fresh):
            continue
        near = _near(parse(one.effect_key), keys, own or one.folder == folder)
        if near is not None:
            found.append(MatchedDenial(one, near, fresh))
    order = tuple(Relation)
    return sorted(found, key=lambda one: (not one.fresh, order.index(one.relation), -one.denial.at))


def _near(denied: EffectKey, keys: Sequence[EffectKey], here: bool) -> Relation | None:
    """The closest relation; in another session what has no place of its own is the same only in the same folder."""
    if not here and not denied.anchored:
        return None
    found = {relation(denied, key) for key in keys}
    return next((one for one in Relation if one in found), None)


def binds(one: MatchedDenial) -> bool:
    """Whether a denial is in force: its ticket waits, or a person rejected it; an approval, a use or time ended the others."""
    if one.denial.rejected_at:
        return True
    return one.ticket is not None and (one.waits or one.ticket.state is TicketState.REJECTED)


def ended_denials(denials: Iterable[Denial], agreed: Iterable[str]) -> list[Denial]:
    """The denials that an approval ended: of the same effect, or of one that includes it."""
    keys = [parse(text) for text in agreed]
    return [one for one in denials if any(relation(parse(one.effect_key), key) in _INCLUDING for key in keys)]


ALLOW, DENY = "allow", "deny"
STANDING = frozenset({ALLOW, DENY})  # the effects of grants that are such answers
FOREVER = 253_402_300_799.0  # the end of the year 9999
SETTING = "standing"  # announces a change to replicas
Answer = tuple[Grant, Glob]


class StandingAnswers(Struct):
    """The operators' standing answers, as this process knows them."""

    answers: Mapping[str, Answer] = field(default_factory=dict)  # by id

    def of(self, verdict: str, now: float) -> list[Answer]:
        return [one for one in self.answers.values() if one[0].effect == verdict and one[0].expires_at > now]

    def put(self, *grants: Grant) -> None:
        self.answers = {**self.answers, **parse_answers(grants)}

    def drop(self, id: str) -> None:
        self.answers = {known: one for known, one in self.answers.items() if known != id}


def parse_answers(grants: Iterable[Grant]) -> dict[str, Answer]:
    """The answers by id; ignores a grant without a valid pattern, which Interlock never writes."""
    found = {}
    for grant in grants:
        origin = f"{grant.by}, `interlock {grant.effect}` {short_id(grant.id)}"
        try:
            found[grant.id] = (grant, Glob.of(grant.targets[0] if grant.targets else "", origin))
        except PatternSyntax:
            continue
    return found
