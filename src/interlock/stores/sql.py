"""One transaction in SQL, written once for every database; its parts are in the files named after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.stores.counting import Counting
from interlock.stores.deliveries import Deliveries
from interlock.stores.loop import Loop
from interlock.stores.people import People
from interlock.stores.permissions import Permissions
from interlock.stores.plans import Plans
from interlock.stores.record import Record
from interlock.stores.seam import Session
from interlock.stores.snapshots import Snapshots
from interlock.stores.tickets import Tickets

if TYPE_CHECKING:
    from interlock.ports import Tx


class SqlTx(Tickets, People, Counting, Permissions, Loop, Record, Plans, Deliveries, Snapshots):
    """Everything that a transaction can do."""

    def __init__(self, db: Session) -> None:
        self.db = db


def _is_a_transaction(session: Session) -> Tx:
    """Lets the type checker compare the parts with the port."""
    return SqlTx(session)
