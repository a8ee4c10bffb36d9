"""Which remembered denial does an action meet (R-22)? The same effect on the same target, inside it or around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from interlock.analysis.effect_key import EffectKey, Relation, parse, relation
from interlock.core.excerpt import short
from interlock.core.model import TicketState
from interlock.core.records import Denial, Ticket

LASTS = 30 * 86_400.0  # seconds that a rejection is kept for its own session; any other one forgets it much sooner


@dataclass(frozen=True, slots=True)
class Met:
    """A denial, the ticket it belongs to, and how the action lies to what was denied."""

    denial: Denial
    relation: Relation
    fresh: bool = False  # rejected so lately that nobody is asked again
    ticket: Ticket | None = None

    @property
    def waits(self) -> bool:
        """Whether its ticket can still be answered."""
        return self.ticket is not None and self.ticket.open

    @property
    def words(self) -> str:
        """What was denied, by whom, as a person has to know it."""
        target = parse(self.denial.effect_key).target
        what = {
            Relation.SAME: "the same effect on the same target",
            Relation.INSIDE: f"the same effect on {target}, which this is a part of,",
            Relation.AROUND: f"the same effect on {target}, which is a part of this,",
        }[self.relation]
        if self.waits and self.ticket is not None:
            return f"{what} waits for an answer as {short(self.ticket.id)} ({self.ticket.title[:120]})"
        if self.ticket is None or not self.ticket.decided_by:
            return f"{what} was rejected as {short(self.denial.ticket)}"
        said = f": {self.ticket.decision_reason}" if self.ticket.decision_reason else ""
        return f"{what} was rejected by {self.ticket.decided_by} as {short(self.ticket.id)}{said}"


def met(
    denials: Iterable[Denial], keys: Sequence[EffectKey], session: str, folder: str, now: float, seconds: float
) -> list[Met]:
    """The denials that bind these effects in this session, the most binding first; `seconds` is how long a no reaches other sessions."""
    found = []
    for one in denials:
        own, fresh = one.session == session, bool(one.rejected_at) and now < one.rejected_at + seconds
        if one.until <= now or not (own or fresh):
            continue
        near = _near(parse(one.effect_key), keys, own or one.folder == folder)
        if near is not None:
            found.append(Met(one, near, fresh))
    order = tuple(Relation)
    return sorted(found, key=lambda one: (not one.fresh, order.index(one.relation), -one.denial.at))


def _near(denied: EffectKey, keys: Sequence[EffectKey], here: bool) -> Relation | None:
    """The closest relation; in another session what has no place of its own is the same only in the same folder."""
    if not here and not denied.anchored:
        return None
    found = {relation(denied, key) for key in keys}
    return next((one for one in Relation if one in found), None)


def binds(one: Met) -> bool:
    """Whether a denial still says something: its ticket waits, or a person rejected it; an approval, a use or time ended the others."""
    if one.denial.rejected_at:
        return True
    return one.ticket is not None and (one.waits or one.ticket.state is TicketState.REJECTED)


def ended(denials: Iterable[Denial], agreed: Iterable[str]) -> list[Denial]:
    """The denials that a person answered otherwise: by agreeing to the same effect, or to one around it."""
    keys = [parse(text) for text in agreed]
    return [one for one in denials if any(relation(parse(one.effect_key), key) in _ANSWERED for key in keys)]


_ANSWERED = (Relation.SAME, Relation.AROUND)
