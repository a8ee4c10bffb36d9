"""What time asks for: groups of records written, tickets expired, the record signed, old records let go, alarms raised."""

from __future__ import annotations

import logging
import threading

from interlock.core.audit import CHECKPOINT, checkpoint_body, head_of, signed_checkpoint
from interlock.core.model import TicketState
from interlock.core.records import AuditQuery, TicketQuery
from interlock.core.ticket import settled
from interlock.ports import StoreError, Tx
from interlock.service.record import deed
from interlock.service.state import State

LOG = logging.getLogger("interlock")
_OPEN = (TicketState.COOLING, TicketState.WAITING, TicketState.APPROVED)


def settle_tickets(state: State) -> int:
    """Moves every ticket that time has moved; how many those were."""
    now = state.clock.now()
    due = [t for t in state.store.read(lambda tx: tx.tickets(TicketQuery(_OPEN, limit=1000))) if settled(t, now) != t]

    def work(tx: Tx) -> int:
        moved = 0
        for ticket in due:
            after = settled(ticket, now)
            if tx.change_ticket(after, ticket):
                moved += 1
                if after.state is TicketState.EXPIRED:
                    state.recorder.now(tx, "expire", deed(now, "expire", "time", {"ticket": ticket.id}))
        return moved

    return state.store.write(work) if due else 0


def sign_record(state: State) -> None:
    """A checkpoint: every writer's head, signed."""

    def work(tx: Tx) -> None:
        writers = tx.audit_writers()
        heads = {writer: head_of(head) for writer in writers if (head := tx.audit_head(writer)) is not None}
        if not heads:
            return
        floors = {writer: place for point in tx.checkpoints()[-1:] for writer, place in point.floors.items()}
        key = state.installation.checkpoint
        point = signed_checkpoint(heads, floors, state.clock.now(), key.key_id, key.sign)
        tx.add_checkpoint(point)
        state.recorder.now(tx, CHECKPOINT, deed(state.clock.now(), "checkpoint", "interlock", checkpoint_body(point)))

    state.store.write(work)


def prune_record(state: State, keep_days: int) -> int:
    """Lets go of what is older than it is kept; the hash before the first kept record is signed, so that the rest still proves."""
    before = state.clock.now() - keep_days * 86_400

    def work(tx: Tx) -> int:
        gone, floors = (
            0,
            {writer: dict(place) for point in tx.checkpoints()[-1:] for writer, place in point.floors.items()},
        )
        for writer in tx.audit_writers():
            old = tx.audit(AuditQuery(writer=writer, until=before, limit=1, newest_first=True))
            if old and (head := tx.audit_head(writer)) is not None and old[0].seq < head.seq:
                floors[writer] = head_of(old[0])
                gone += tx.prune_audit(writer, old[0].seq + 1)
        if gone:
            heads = {
                writer: head_of(head) for writer in tx.audit_writers() if (head := tx.audit_head(writer)) is not None
            }
            key = state.installation.checkpoint
            tx.add_checkpoint(signed_checkpoint(heads, floors, state.clock.now(), key.key_id, key.sign))
            state.recorder.now(tx, "prune", deed(state.clock.now(), "prune", "interlock", {"records": gone}))
        return gone

    return state.store.write(work)


def expired_share(state: State) -> float:
    """Of the tickets that ended, how many nobody answered: agents are blocked and nobody looks (seed 003, best practice 5)."""
    figures = state.store.read(lambda tx: tx.figures())
    ended = figures.approved + figures.rejected + figures.expired
    return figures.expired / ended if ended >= 10 else 0.0


class Upkeep(threading.Thread):
    """Does all of it while the daemon runs; what fails is tried again, and said once."""

    def __init__(self, state: State, checkpoint_seconds: float, keep_days: int, alert: float) -> None:
        super().__init__(name="interlock-upkeep", daemon=True)
        self.state, self.keep_days, self.alert = state, keep_days, alert
        self.checkpoint_seconds = checkpoint_seconds
        self._ending = threading.Event()
        self._said = ""
        self._alerted = False

    def run(self) -> None:
        rounds = 0
        while not self._ending.wait(0.5):
            rounds += 1
            self._try(self.state.recorder.flush)
            if rounds % 2 == 0:
                self._try(lambda: settle_tickets(self.state))
            if rounds % max(1, int(self.checkpoint_seconds * 2)) == 0:
                self._try(lambda: sign_record(self.state))
                self._try(self._watch)
            if rounds % 7200 == 0:
                self._try(lambda: prune_record(self.state, self.keep_days))

    def stop(self) -> None:
        """Ends, with everything written."""
        self._ending.set()
        self.join(10)
        self._try(self.state.recorder.flush)

    def _watch(self) -> None:
        share = expired_share(self.state)
        if share >= self.alert and not self._alerted:
            words = f"{share:.0%} of the tickets expire unanswered: agents wait and nobody looks"
            self.state.tell("alert", None, words)
            body = deed(self.state.clock.now(), "alert", "interlock", {"words": words})
            self.state.store.write(lambda tx: self.state.recorder.now(tx, "alert", body))
        self._alerted = share >= self.alert

    def _try(self, work: object) -> None:
        try:
            work()  # type: ignore[operator]
            self._said = ""
        except StoreError as error:
            if str(error) != self._said:
                self._said = str(error)
                LOG.error("the store cannot be used: %s", error)
        except Exception:  # the thread goes on: without it nothing is written, expired or signed
            LOG.exception("upkeep failed")
