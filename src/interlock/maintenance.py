"""Periodic work of a running engine: expire tickets, sign and prune the audit record, watch its chain, raise alarms."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interlock.analysis.display_text import short_id
from interlock.approvals import ENDED, EXPIRED, EXPIRED_SHARE, LIVE_STATES, challenges, pausing, settle, share_of
from interlock.approvals.challenges import releasing
from interlock.audit.chain import CHECKPOINT, checkpoint_body, head_of, signed_checkpoint
from interlock.config.settings import AuditSettings
from interlock.engine import undoing
from interlock.plans import history
from interlock.ports import StoreError, Tx
from interlock.records import AuditQuery, AuditRow, Checkpoint, Ticket, TicketQuery
from interlock.runtime.adapter_trust import settle_trust
from interlock.runtime.state import State

LOG = logging.getLogger("interlock")
PAGE = 500  # tickets that are read or moved at a time


def _live(tx: Tx) -> list[Ticket]:
    """Page by page: an agent that opens many must not keep old ones from expiring."""
    found: dict[str, Ticket] = {}
    before, most = 0.0, PAGE
    while True:
        page = tx.tickets(TicketQuery(LIVE_STATES, before=before, limit=most))
        found |= {ticket.id: ticket for ticket in page}
        if len(page) < most:
            return list(found.values())
        if page[0].opened_at == page[-1].opened_at:  # more than a page of one moment
            most *= 2
        before = math.nextafter(page[-1].opened_at, math.inf)  # its own time again: others of that time may follow


def _move(state: State, due: Sequence[Ticket], now: float) -> int:
    unanswered: list[Ticket] = []

    def work(tx: Tx) -> int:
        unanswered.clear()
        moved = [(ticket, after) for ticket in due if tx.change_ticket(after := settle(ticket, now), ticket)]
        for ticket, after in moved:
            if after.state is EXPIRED:
                state.recorder.event(tx, "expire", "time", {"ticket": ticket.id})
                unanswered.extend([ticket] if ticket.open else [])
        return len(moved)

    count = state.store.write(work)
    for ticket in unanswered:
        state.tell("expired", ticket, f"nobody answered {short_id(ticket.id)}, and it expired: {ticket.title}")
    return count


def sign_record(state: State) -> None:
    def work(tx: Tx) -> None:
        tx.forget_denials(state.clock.now())
        if point := _add_checkpoint(state, tx, _floors(tx)):
            state.recorder.event(tx, CHECKPOINT, "interlock", checkpoint_body(point))

    state.store.write(work)


def _floors(tx: Tx) -> dict[str, Any]:
    return {writer: place for point in tx.checkpoints()[-1:] for writer, place in point.floors.items()}


def _add_checkpoint(state: State, tx: Tx, floors: Mapping[str, Any]) -> Checkpoint | None:
    heads = {writer: head_of(head) for writer in tx.audit_writers() if (head := tx.audit_head(writer)) is not None}
    if not heads:
        return None
    key = state.installation.checkpoint
    point = signed_checkpoint(heads, floors, state.clock.now(), key.key_id, key.sign)
    tx.add_checkpoint(point)
    return point


def prune_record(state: State, keep_days: int) -> int:
    """Signs where the rest begins, so that it still verifies."""
    before = state.clock.now() - keep_days * 86_400

    def work(tx: Tx) -> int:
        gone, floors = 0, _floors(tx)
        for writer in tx.audit_writers():
            old = tx.audit(AuditQuery(writer=writer, until=before, limit=1, newest_first=True))
            if old and (head := tx.audit_head(writer)) is not None and old[0].seq < head.seq:
                floors[writer] = head_of(old[0])
                gone += tx.prune_audit(writer, old[0].seq + 1)
        if gone:
            _add_checkpoint(state, tx, floors)
            state.recorder.event(tx, "prune", "interlock", {"records": gone})
        return gone

    return state.store.write(work)


def expired_share(state: State) -> float:
    """Of recently ended tickets (seed 003, best practice 5)."""
    return share_of(state.store.read(lambda tx: tx.tickets(ENDED)))


def watch_expired_share(state: State, alert: float) -> bool:
    """Raises an alert once, and clears it below `alert`."""
    share = expired_share(state)
    if share < alert:
        state.alerts.pop(EXPIRED_SHARE, None)
        return False
    known = EXPIRED_SHARE in state.alerts
    words = f"{share:.0%} of the tickets expire unanswered: agents wait and nobody answers"
    state.alerts[EXPIRED_SHARE] = words
    if not known:
        _alarm(state, words)
    return True


def _alarm(state: State, words: str) -> None:
    state.tell("alert", None, words)
    state.recorder.event_alone("alert", "interlock", {"words": words})


class ChainWatch:
    """Detects a rewritten or truncated record by the end of this process's chain, signed anew or not."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._last: AuditRow | None = None

    def check(self) -> bool:
        last, writer = self._last, self.state.recorder.writer
        query = AuditQuery(writer, last.seq - 1, limit=1) if last else None
        kept, self._last = self.state.store.read(lambda tx: (tx.audit(query) if query else [], tx.audit_head(writer)))
        if last is None or kept == [last]:
            return True
        words = f"the record was rewritten outside Interlock: its last record, number {last.seq}, is missing or altered"
        self.state.alerts["record"] = words
        self.state.trouble(words, "altered")
        _alarm(self.state, words)
        return False


class TicketSettler:
    """Moves due tickets; reads them only after a change or at the next due time."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._hears = False
        self._changed = True
        self._due = 0.0

    def begin(self) -> None:
        self.state.store.listen(self._heard)
        self._hears = True

    def settle(self) -> int:
        now = self.state.clock.now()
        if self._hears and not self._changed and now < self._due:
            return 0
        self._changed = False
        try:
            live = self.state.store.read(_live)
            due = [ticket for ticket in live if settle(ticket, now) != ticket]
            moved = sum(_move(self.state, due[start : start + PAGE], now) for start in range(0, len(due), PAGE))
        except BaseException:
            self._changed = True
            raise
        times = (at for ticket in live for at in (ticket.cooling_ends_at, ticket.expires_at) if at > now)
        self._due = min([now + 60, *times])  # at the latest in a minute: the clock can be set
        return moved

    def _heard(self, id: str) -> None:
        if not id.startswith("\0"):
            self._changed = True


class Maintenance(threading.Thread):
    """Retries failures, and reports each once."""

    def __init__(self, state: State, audit: AuditSettings) -> None:
        super().__init__(name="interlock-upkeep", daemon=True)
        self.state, self.audit = state, audit
        self._ending = threading.Event()
        self._said = ""
        self._watch, self._settling = ChainWatch(state), TicketSettler(state)

    def run(self) -> None:
        rounds, state, audit = 0, self.state, self.audit
        every = (  # rounds of half a second, and the work that is due after so many
            (1, state.recorder.flush),
            (1, self._watch.check),
            (1, self._settling.settle),
            (1, lambda: pausing.refresh(state)),
            (1, lambda: releasing.announce(state)),
            (audit.checkpoint_minutes * 120, lambda: sign_record(state)),
            (10, lambda: history.renew_leases(state)),
            (10, lambda: undoing.record_journal_undos(state)),
            (20, lambda: undoing.is_crowded(state) and undoing.prune(state)),
            (60, lambda: challenges.expire(state)),
            (60, lambda: history.close_abandoned(state)),
            (60, lambda: settle_trust(state)),
            (60, lambda: watch_expired_share(state, audit.expired_share_alert)),
            (7200, lambda: undoing.prune(state)),
            (7200, lambda: undoing.prune_journal(state)),
            (7200, lambda: prune_record(state, audit.keep_days)),
        )
        for work in self._settling.begin, lambda: undoing.prune(state), lambda: undoing.prune_journal(state):
            self._try(work)
        while not self._ending.wait(0.5):
            rounds += 1
            for due, work in every:
                if rounds % due == 0:
                    self._try(work)

    def stop(self) -> None:
        self._ending.set()
        self.join(10)
        self._try(self.state.recorder.flush)

    def _try(self, work: Callable[[], object]) -> None:
        try:
            work()
            self._said = ""
        except StoreError as error:
            if str(error) != self._said:
                self._said = str(error)
                self.state.trouble(f"the store cannot be used: {error}", "store")
        except Exception:  # the thread goes on: without it nothing is written, expired or signed
            LOG.exception("upkeep failed")
