"""Queries for tickets and approvals: opened once, changed by compare-and-set."""

from __future__ import annotations

from msgspec.structs import replace

from interlock.approvals import BY_TIME
from interlock.model import AgentRef, TicketState
from interlock.policy.digest import normal_name
from interlock.ports import QueueFull, StoreError
from interlock.records import Approval, Ticket, TicketQuery
from interlock.storage import Transaction
from interlock.storage.counters import answer_figures, increment
from interlock.storage.rows import RecordTable

TICKETS = RecordTable("tickets", Ticket, key=("id",), by_name=True)
APPROVALS = RecordTable("approvals", Approval, key=("ticket", "operator", "signature"))

# The action of a ticket is fixed: these columns are never changed.
_FIXED = ("id", "digest", "principal", "name", "session", "parent", "opened_at")
# Spelled as in the partial indexes, so that both databases use them.
_LIVE = "spent_at = 0 AND state IN ('pending_cooling', 'pending_approval', 'approved')"
_UNSPENT = "spent_at = 0 AND state <> 'executed'"
_OPEN = "state IN ('pending_cooling', 'pending_approval')"
_NAMES = 20  # times the limit of one name, for all names of a principal
_SAME = "digest = ? AND principal = ? AND name_key = ?"

_OPENED_AS = {TicketState.COOLING: "blocked_by_cooling", TicketState.WAITING: "blocked_by_approval"}
_ANSWERED = {TicketState.APPROVED: "approved", TicketState.REJECTED: "rejected"}
_BECAME = {TicketState.APPROVED: "approved", TicketState.REJECTED: "rejected", TicketState.EXPIRED: "expired"}


class TicketQueries:
    """The part of a transaction for tickets."""

    db: Transaction

    def open_ticket(self, ticket: Ticket, most_open: int) -> Ticket:
        """Adds a new ticket, or returns the live one of the same action; raises QueueFull."""
        agent = ticket.agent
        live = TICKETS.first(self.db, f"WHERE {_SAME} AND {_LIVE}", _same(ticket.digest, agent))
        if live is not None:
            return live
        # Two openers of one agent change the same row, so that they count one after the other.
        increment(self.db, agent, {"opened": 1})
        waiting = self._open_tickets(agent)
        if self._open_of_all_names(agent.principal) >= most_open * _NAMES:
            raise QueueFull(f"{agent.principal!r} has {most_open * _NAMES} open tickets under all its names")
        if waiting >= most_open:
            whose = f"{(agent.name or agent.principal)!r}{f' in session {agent.session!r}' if agent.session else ''}"
            raise QueueFull(f"{whose} has {waiting} open tickets, at most {most_open}")
        added = f"{TICKETS.insert} ON CONFLICT DO NOTHING RETURNING id"
        if not self.db.execute(added, TICKETS.values(ticket)):
            raise StoreError(f"ticket {ticket.id!r} cannot be opened: its id or its token is taken")
        if ticket.state in _OPENED_AS:
            increment(self.db, agent, {_OPENED_AS[ticket.state]: 1})
        self.db.changed.append(ticket.id)
        return ticket

    def ticket(self, id: str) -> Ticket | None:
        return TICKETS.first(self.db, "WHERE id = ?", (id,))

    def live_ticket(self, digest: str, agent: AgentRef) -> Ticket | None:
        """The live ticket of an action, else the newest that is not spent."""
        same = _same(digest, agent)
        return TICKETS.first(self.db, f"WHERE {_SAME} AND {_LIVE}", same) or TICKETS.first(
            self.db, f"WHERE {_SAME} AND {_UNSPENT} ORDER BY opened_at DESC, id DESC", same
        )

    def ticket_by_token(self, token_hash: str) -> Ticket | None:
        """None for the empty hash, which many tickets have."""
        return TICKETS.first(self.db, "WHERE token_hash = ? AND token_hash <> ''", (token_hash,))

    def tickets(self, query: TicketQuery) -> list[Ticket]:
        """The newest first; queries each state by itself, so that a rare one is found among millions."""
        where, params = "state = ?", []
        if query.principal:
            where, params = f"principal = ? AND {where}", [query.principal]
        tail: list[str | float] = []
        if query.name:
            where, tail = f"{where} AND name_key = ?", [normal_name(query.name)]
        if query.prefix:  # not a range: the databases differ in collation
            where, tail = f"{where} AND substr(id, 1, ?) = ?", [*tail, len(query.prefix), query.prefix]
        if query.before:
            where, tail = f"{where} AND opened_at < ?", [*tail, query.before]
        order = f"WHERE {where} ORDER BY opened_at DESC, id DESC LIMIT ?"
        found = [
            ticket
            for state in query.states or tuple(TicketState)
            for ticket in TICKETS.readable(self.db, order, [*params, str(state), *tail, query.limit])
        ]
        found.sort(key=lambda ticket: (ticket.opened_at, ticket.id), reverse=True)
        return found[: query.limit]

    def change_ticket(self, ticket: Ticket, before: Ticket) -> bool:
        """Compare-and-sets a ticket on state and version; its action stays. False where it changed in between."""
        if ticket.id != before.id:
            raise StoreError(f"ticket {before.id!r} cannot become ticket {ticket.id!r}")
        after = replace(ticket, version=before.version + 1)
        changed = self.db.execute(
            f"{TICKETS.update(_FIXED)} WHERE id = ? AND state = ? AND version = ? RETURNING id",
            [*TICKETS.changes(after, _FIXED), before.id, str(before.state), before.version],
        )
        if not changed:
            return False
        became = {_BECAME[after.state]: 1} if after.state is not before.state and after.state in _BECAME else {}
        if after.executed_at and not before.executed_at:
            became["executed"] = 1
        if before.open and after.state in _ANSWERED and after.decided_by not in ("", BY_TIME):
            became |= answer_figures(_ANSWERED[after.state], after.decided_at - before.opened_at)
        increment(self.db, before.agent, became)
        self.db.changed.append(before.id)
        return True

    def add_approval(self, approval: Approval) -> None:
        """Adds a signed statement; ignores a duplicate."""
        self.db.execute(f"{APPROVALS.insert} ON CONFLICT DO NOTHING", APPROVALS.values(approval))
        self.db.changed.append(approval.ticket)

    def approvals(self, ticket: str) -> list[Approval]:
        return APPROVALS.find(self.db, "WHERE ticket = ? ORDER BY at, operator", (ticket,))

    def _open_tickets(self, agent: AgentRef) -> int:
        """The open tickets of one session, so that those of another session do not count."""
        sql = f"SELECT count(*) FROM tickets WHERE principal = ? AND name_key = ? AND session = ? AND {_OPEN}"
        return int(self.db.execute(sql, (agent.principal, normal_name(agent.name), agent.session))[0][0])

    def _open_of_all_names(self, principal: str) -> int:
        """The open tickets under all names: names are claims, and with new ones an agent could flood the queue."""
        return int(self.db.execute(f"SELECT count(*) FROM tickets WHERE principal = ? AND {_OPEN}", (principal,))[0][0])


def _same(digest: str, agent: AgentRef) -> tuple[str, str, str]:
    return digest, agent.principal, normal_name(agent.name)
