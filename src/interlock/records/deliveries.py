"""Delivery state of a message that a channel owes to people: leased, so that none is forgotten and none is sent twice."""

from __future__ import annotations

from dataclasses import dataclass, replace

QUEUED, SENDING = "queued", "sending"
SENT, FAILED, DROPPED, NEEDLESS = "sent", "failed", "dropped", "needless"
LEASE = 180.0  # seconds that whoever sends it has for it; then somebody else tries
# Seconds before the second try, the third …; after the last one it has failed.
AGAIN = (2.0, 10.0, 30.0, 120.0, 300.0, 600.0)
ENOUGH = 2  # tries that failed, after which somebody else is told without waiting longer


@dataclass(frozen=True, slots=True)
class Delivery:
    """One thing that one channel tells once."""

    id: str  # what it is about, and the channel
    channel: str
    event: str
    about: str  # a ticket, a challenge, a principal; or nothing
    words: str  # of something that happened; what waits is looked up when it is told
    made_at: float
    due_at: float
    state: str = QUEUED
    tries: int = 0
    reason: str = ""  # why the last try failed
    done_at: float = 0.0
    version: int = 0  # compare-and-set

    @property
    def waits(self) -> bool:
        return self.state in (QUEUED, SENDING)

    @property
    def stuck(self) -> bool:
        """Whether its channel does not get it through: it was given up or let go, or tried often enough in vain."""
        return self.state in (FAILED, DROPPED) or (self.waits and bool(self.reason) and self.tries >= ENOUGH)


def claim_delivery(row: Delivery, now: float) -> Delivery:
    """The same, in somebody's hands."""
    return replace(row, state=SENDING, tries=row.tries + 1, due_at=now + LEASE, version=row.version + 1)


def finish_delivery(row: Delivery, state: str, now: float, reason: str = "") -> Delivery:
    """The end of it."""
    return replace(row, state=state, done_at=now, reason=reason, version=row.version + 1)


def fail_delivery(row: Delivery, now: float, reason: str, hopeless: bool = False) -> Delivery:
    """After a try that failed: to be tried again later, or given up."""
    if hopeless or row.tries > len(AGAIN):
        return finish_delivery(row, FAILED, now, reason)
    wait = AGAIN[max(0, row.tries - 1)]
    return replace(row, state=QUEUED, due_at=now + wait, reason=reason, version=row.version + 1)
