"""Two replicas on one PostgreSQL: whatever waits is told once, by whichever is first, and by the other when that one is gone."""

from __future__ import annotations

import threading

import pytest

from gate import AGENT
from interlock.config.channels import ChannelRoute
from interlock.engine.evaluate import Request, evaluate
from interlock.model import operation
from interlock.notify.outbox import Outbox
from interlock.notify.webhook import Webhook
from interlock.ports import OpenChannel
from interlock.records import LEASE, claim_delivery
from message_servers import Receiver, http_receiver
from shared_services import Replica

pytestmark = pytest.mark.xdist_group("pg")
WAY = ChannelRoute("hook", "webhook")


def outbox(replica: Replica, to: Receiver) -> Outbox:
    opened = [OpenChannel(WAY, Webhook(f"{to.url}/x", "a key of the receiver 0123456789"))]
    return Outbox(replica.state, opened, lambda: "http://localhost", False)


def both(*boxes: Outbox) -> None:
    """At the same time."""

    def run(box: Outbox) -> None:
        box.look()
        box.couriers["hook"].round()

    threads = [threading.Thread(target=run, args=(box,)) for box in boxes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_two_replicas_tell_of_a_ticket_once_and_one_takes_over_from_the_other(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    with http_receiver() as receiver:
        boxes = outbox(one, receiver), outbox(two, receiver)
        for name in ("users", "orders", "carts"):
            held = evaluate(one.state, Request(operation("drop_database", {"name": name}), AGENT, "test"))
            assert held.ticket is not None
            both(*boxes)
        about = [id for found in receiver.bodies() for id in found["about"]]
        assert len(about) == len(set(about)) == 3
        evaluate(one.state, Request(operation("drop_database", {"name": "drop_shops"}), AGENT, "test"))
        boxes[0].look()
        now = one.clock.now()
        [row] = one.store.read(lambda tx: tx.due_deliveries("hook", now, 10))
        assert one.store.write(lambda tx: tx.change_delivery(claim_delivery(row, now), row))  # and then it is gone
        two.clock.forward(LEASE + 1)
        boxes[1].look()
        boxes[1].couriers["hook"].round()
        assert len(receiver.bodies()[-1]["about"]) == 1 and len(receiver.bodies()) == 4
