"""Deliveries of messages by channels: leased, so that none is forgotten and none is sent twice."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

QUEUED, SENDING = "queued", "sending"
SENT, FAILED, DROPPED, NEEDLESS = "sent", "failed", "dropped", "needless"
LEASE = 180.0  # seconds for one sender; then another process may try
# Seconds before the second try, the third …; after the last one it has failed.
AGAIN = (2.0, 10.0, 30.0, 120.0, 300.0, 600.0)
ENOUGH = 2  # failed tries, after which delayed channels are notified at once


class Delivery(Struct, frozen=True):
    """One message that one channel sends once."""

    id: str  # of the subject and the channel
    channel: str
    event: str
    about: str  # a ticket, a challenge, a principal; or nothing
    words: str  # of a past event; a waiting subject is read when the message is sent
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
        """Whether its channel cannot deliver it: it failed, was dropped, or was tried often enough."""
        return self.state in (FAILED, DROPPED) or (self.waits and bool(self.reason) and self.tries >= ENOUGH)


def claim_delivery(row: Delivery, now: float) -> Delivery:
    """The delivery, leased to a sender."""
    return replace(row, state=SENDING, tries=row.tries + 1, due_at=now + LEASE, version=row.version + 1)


def finish_delivery(row: Delivery, state: str, now: float, reason: str = "") -> Delivery:
    """The delivery in its final state."""
    return replace(row, state=state, done_at=now, reason=reason, version=row.version + 1)


def fail_delivery(row: Delivery, now: float, reason: str, hopeless: bool = False) -> Delivery:
    """The delivery after a failed try: queued for another one, or failed."""
    if hopeless or row.tries > len(AGAIN):
        return finish_delivery(row, FAILED, now, reason)
    wait = AGAIN[max(0, row.tries - 1)]
    return replace(row, state=QUEUED, due_at=now + wait, reason=reason, version=row.version + 1)
