"""What channels owe to people is kept, sent once, tried again, told in few messages, and recorded; nobody waits for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gate import AGENT, Gate
from interlock.analysis.display_text import short_id
from interlock.approvals import answers, challenges
from interlock.approvals.challenges import releasing
from interlock.approvals.rendering import ticket_lines
from interlock.config.channels import ALERT, ANSWERED, BLOCK, CHALLENGE, COOLING, EXPIRED, HELD, ChannelRoute
from interlock.console.cards import card_of
from interlock.console.replies import environment
from interlock.maintenance import TicketSettler
from interlock.model import AgentRef, Level, command, intent, operation
from interlock.notify import ConsoleAddress, ticket_message
from interlock.notify.outbox import MOST_OWED, Outbox
from interlock.notify.webhook import Webhook
from interlock.ports import OpenChannel
from interlock.records import AGAIN, DROPPED, Block
from interlock.times import iso
from interlock.web.wire import ticket_json
from message_servers import Receiver, http_receiver

SECRET = "a key of the receiver 0123456789"
RM = command("rm -rf /srv/shop/uploads")


class Post:
    """A gate whose messages go out when a test says so."""

    def __init__(self, gate: Gate, *ways: tuple[ChannelRoute, Receiver], public: bool = False) -> None:
        self.gate, self._ways, self._public = gate, ways, public
        self.open()

    def open(self) -> None:
        """Another outbox on the same store, as after a restart."""
        opened = [OpenChannel(way, Webhook(f"{to.url}/x", SECRET, 5)) for way, to in self._ways]
        address = "https://gate.example.com" if self._public else "http://localhost:7310"
        self.outbox = self.gate.state.outbox = Outbox(self.gate.state, opened, lambda: address, self._public)
        self.gate.state.channels = [self.outbox]

    def go(self) -> None:
        """Looks once, and sends all that is due now."""
        self.outbox.look()
        for courier in self.outbox.couriers.values():
            while courier.round() == 0:
                pass

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(row.body) for row in self.gate.records("delivery")]


def way(name: str = "hook", **more: Any) -> ChannelRoute:
    return ChannelRoute(name, "webhook", **more)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with http_receiver() as made:
        yield made


@pytest.fixture
def post(gate: Gate, receiver: Receiver) -> Post:
    return Post(gate, (way(), receiver))


def test_a_held_action_is_told_once_whatever_the_agent_asks_again(post: Post, receiver: Receiver) -> None:
    ticket = post.gate.held(RM)
    for _ in range(3):
        post.gate.ask(RM)
        post.go()
    [found] = receiver.bodies()
    assert found["event"] == HELD and found["ticket"] == ticket.id and found["title"] == RM.text
    assert [(one["channel"], one["outcome"], one["about"]) for one in post.records()] == [
        ("hook", "sent", [f"ticket {ticket.id}"])
    ]


def test_the_link_is_the_public_one_where_there_is_one(gate: Gate, receiver: Receiver) -> None:
    ticket = Post(gate, (way(), receiver), public=True).gate.held(RM)
    gate.state.outbox.look()  # type: ignore[union-attr]
    gate.state.outbox.couriers["hook"].round()  # type: ignore[union-attr]
    [found] = receiver.bodies()
    assert found["link"] == f"https://gate.example.com/console/tickets/{ticket.id}" and not found["this_device_only"]


def test_tickets_of_one_effect_are_one_message(post: Post, receiver: Receiver) -> None:
    first = post.gate.held(RM)
    post.gate.clock.forward(1)
    post.gate.held(command("rm -r -f /srv/shop/uploads/"), replace(AGENT, name="another name", session="s2"))
    post.go()
    [found] = receiver.bodies()
    assert found["ticket"] == first.id and found["same_effect"] == 1


def test_what_was_answered_before_it_was_sent_is_not_sent(post: Post, receiver: Receiver) -> None:
    ticket = post.gate.held(RM)
    post.outbox.look()
    answers.reject(post.gate.state, post.gate.sign_in(), ticket.id, "no")
    post.outbox.couriers["hook"].round()
    assert receiver.bodies() == [] and post.records() == []


def test_a_message_is_tried_again_later_and_later_and_then_given_up(gate: Gate) -> None:
    with http_receiver(500) as broken:
        post = Post(gate, (way(), broken))
        gate.held(RM)
        post.go()
        for wait in AGAIN:
            post.go()
            gate.clock.forward(wait)
            post.go()
        gate.clock.forward(3600)
        post.go()
    assert len(broken.got) == len(AGAIN) + 1
    outcomes = [one["outcome"] for one in post.records()]
    assert outcomes == ["retried"] * len(AGAIN) + ["failed"] and post.records()[-1]["reason"] == "answered 500"
    assert "did not get through" in gate.state.alerts["channel hook"]


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404, 410])
def test_a_redirect_is_not_followed_and_a_refusal_not_repeated(gate: Gate, receiver: Receiver, status: int) -> None:
    with http_receiver(status, location=f"{receiver.url}/elsewhere") as refusing:
        post = Post(gate, (way(), refusing))
        gate.held(RM)
        post.go()
        gate.clock.forward(3600)
        post.go()
    assert len(refusing.got) == 1 and receiver.got == []
    assert [one["outcome"] for one in post.records()] == ["failed"]


def test_a_message_that_cannot_be_written_is_given_up_and_holds_up_no_others(
    post: Post, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("what it was about")

    post.gate.held(RM)
    with monkeypatch.context() as patched:
        patched.setattr("interlock.notify.ticket_message", broken)
        post.go()
        for wait in AGAIN:
            post.gate.clock.forward(wait)
            post.go()
    assert [one["outcome"] for one in post.records()] == ["retried"] * len(AGAIN) + ["failed"]
    post.gate.held(operation("drop_table", {"table": "users"}))
    post.go()
    assert [one["event"] for one in receiver.bodies()] == [HELD]


def test_what_was_kept_and_not_sent_is_sent_after_a_restart(gate: Gate, receiver: Receiver) -> None:
    post = Post(gate, (way(), receiver))
    ticket = gate.held(RM)
    gate.state.tell("alert", None, "the daemon was down")
    post.outbox.look()
    gate.restart()
    post.open()
    post.go()
    [found] = receiver.bodies()
    assert {ticket.id} <= set(found["about"]) and found["more"] == 1


def test_a_message_that_somebody_died_over_is_sent_by_the_next(gate: Gate, receiver: Receiver) -> None:
    post = Post(gate, (way(), receiver))
    gate.held(RM)
    post.outbox.look()
    courier, now = post.outbox.couriers["hook"], gate.clock.now()
    [row] = gate.store.read(lambda tx: tx.due_deliveries("hook", now, 10))
    from interlock.records import claim_delivery

    assert gate.store.write(lambda tx: tx.change_delivery(claim_delivery(row, now), row))  # and then a power cut
    courier.round()
    assert receiver.got == []
    gate.clock.forward(200)
    courier.round()
    assert len(receiver.got) == 1


def test_a_flood_is_one_message_that_counts_the_rest(post: Post, receiver: Receiver) -> None:
    for number in range(13):
        post.gate.held(command(f"rm -rf /srv/shop/data{number}"), replace(AGENT, name=f"agent {number}"))
        post.gate.clock.forward(0.01)
    post.go()
    [found] = receiver.bodies()
    assert found["more"] == 12 and len(found["about"]) == 13 and "(and 12 more)" in found["subject"]
    assert found["link"].endswith("/console/queue")


def test_the_pace_of_a_channel_is_kept(gate: Gate, receiver: Receiver) -> None:
    courier = Post(gate, (way(per_minute=6), receiver)).outbox.couriers["hook"]
    assert [courier._pace_delay() for _ in range(2)] == [0.0, 0.0]
    courier._left = 0.0
    assert 5 < courier._pace_delay() <= 10


def test_of_too_many_messages_the_oldest_are_dropped_which_is_recorded(gate: Gate) -> None:
    with http_receiver() as gone:
        pass
    post = Post(gate, (way(), gone))
    for number in range(MOST_OWED + 30):
        gate.state.tell("alert", None, f"something happened: {number}")
    post.outbox.look()
    assert gate.store.read(lambda tx: tx.owed("hook")) == MOST_OWED
    [told] = [one for one in post.records() if one["outcome"] == DROPPED]
    assert "30 messages" in told["reason"]


def test_an_escalation_waits_and_hears_nothing_that_was_answered(gate: Gate, receiver: Receiver) -> None:
    with http_receiver() as boss:
        post = Post(gate, (way(), receiver), (way("boss", after_seconds=120), boss))
        answered, left = gate.held(RM), gate.held(command("rm -rf /srv/shop/other"))
        gate.state.tell("alert", None, "only for those who are told at once")
        post.go()
        assert len(receiver.bodies()) == 1 and boss.bodies() == []
        answers.reject(gate.state, gate.sign_in(), answered.id, "no")
        assert 0 < post.outbox.look() <= 5
        gate.clock.forward(121)
        post.go()
        [found] = boss.bodies()
        assert found["ticket"] == left.id and found["about"] == [left.id]


def test_where_the_first_channel_fails_the_next_one_is_told_at_once(gate: Gate, receiver: Receiver) -> None:
    with http_receiver(404) as gone, http_receiver() as last:
        hour = way("last", after_seconds=3600)
        post = Post(gate, (way(), gone), (way("boss", after_seconds=120), receiver), (hour, last))
        ticket = gate.held(RM)
        post.go()
        post.go()
        [found] = receiver.bodies()
        assert found["ticket"] == ticket.id and last.bodies() == []  # the second one was reached: the third waits


def test_a_first_try_that_failed_is_no_reason_to_tell_the_next_yet(gate: Gate, receiver: Receiver) -> None:
    with http_receiver(500) as shaky:
        post = Post(gate, (way(), shaky), (way("boss", after_seconds=120), receiver))
        gate.held(RM)
        post.go()
        post.go()
        assert receiver.bodies() == []
        gate.clock.forward(AGAIN[0])
        post.go()
        post.go()
        assert len(shaky.got) == 2 and len(receiver.bodies()) == 1


def test_where_the_first_channel_cannot_be_opened_the_next_one_is_told_at_once(gate: Gate, receiver: Receiver) -> None:
    boss = OpenChannel(way("boss", after_seconds=120), Webhook(f"{receiver.url}/x", SECRET, 5))
    closed = OpenChannel(way(), None, "there is no such file")
    outbox = Outbox(gate.state, [closed, boss], lambda: "http://localhost:7310", False)
    gate.held(RM)
    outbox.look()
    outbox.couriers["boss"].round()
    assert len(receiver.bodies()) == 1


def test_a_channel_that_fails_wakes_the_outbox_by_itself(gate: Gate, receiver: Receiver) -> None:
    with http_receiver(404) as gone:
        post = Post(gate, (way(), gone), (way("boss", after_seconds=3600), receiver))
        gate.state.channels = []
        post.outbox.start()
        try:
            ticket = gate.held(RM)
            receiver.until(lambda got: any(ticket.id in one["about"] for one in got))
        finally:
            post.outbox.stop()


def test_whoever_asked_for_dangerous_things_hears_of_nothing_less(gate: Gate, receiver: Receiver) -> None:
    post = Post(gate, (way(level=Level.DANGEROUS), receiver))
    assert gate.held(command("git reset --hard HEAD~3")).level < Level.DANGEROUS
    worse = gate.held(command("git push --force origin main"))
    assert worse.level >= Level.DANGEROUS
    post.go()
    [found] = receiver.bodies()
    assert found["about"] == [worse.id]


def test_a_ticket_that_nobody_answered_is_told_when_it_expires_on_every_channel(gate: Gate, receiver: Receiver) -> None:
    with http_receiver() as boss:
        post = Post(gate, (way(events=(EXPIRED,)), receiver), (way("boss", events=(EXPIRED,), after_seconds=60), boss))
        ticket = gate.held(RM)
        gate.clock.forward(4_000)
        TicketSettler(gate.state).settle()
        post.go()
        for one in (receiver, boss):
            [found] = one.bodies()
            assert found["event"] == EXPIRED and short_id(ticket.id) in found["words"]


def test_a_block_and_a_new_way_in_and_a_change_are_told(post: Post, receiver: Receiver) -> None:
    state, now = post.gate.state, post.gate.clock.now()
    post.gate.store.write(lambda tx: tx.save_block(Block("uid:7", "three forbidden attempts", now, "interlock", "x")))
    post.go()
    state.tell("credential", None, "a passkey of ana counts tomorrow")
    post.go()
    state.tell("mode", None, "ana changed the mode")
    post.go()
    state.tell("approve", post.gate.held(RM))  # only where it is asked for
    assert [one["event"] for one in receiver.bodies()] == [BLOCK, "credential", "change"]
    assert "three forbidden attempts" in receiver.bodies()[0]["reason"]


def test_answers_are_told_where_that_is_asked_for(gate: Gate, receiver: Receiver) -> None:
    post = Post(gate, (way(events=(ANSWERED,)), receiver))
    gate.approve(gate.held(RM))
    post.go()
    [found] = receiver.bodies()
    assert found["event"] == ANSWERED and "ann approved" in found["words"]


def test_a_cooling_off_is_told_with_the_time_until_which_somebody_can_object(
    tmp_path: Path, receiver: Receiver
) -> None:
    slow = {
        "id": "x",
        "pattern": "move_price",
        "category": "financial_action",
        "severity": "low",
        "coolingOffMs": 30_000,
    }
    gate = Gate(tmp_path / "cooling", registry={"pattern": [slow]})
    try:
        post = Post(gate, (way(), receiver))
        found = gate.ask(operation("move_price", {"to": 5}))
        assert found.outcome == "cool_off" and found.ticket is not None, found
        post.go()
        [told] = receiver.bodies()
        assert told["event"] == COOLING and told["decision"] == "cool_off"
        assert told["until"] == iso(found.ticket.cooling_ends_at)
    finally:
        gate.close()


def test_what_a_person_is_asked_about_is_held_from_the_start_and_says_when_it_may_run(
    tmp_path: Path, receiver: Receiver
) -> None:
    """R-21: it never runs by itself, however long it cools; whoever listens for `held` hears of it at once."""
    both = {
        "id": "x",
        "pattern": "move_price",
        "category": "financial_action",
        "severity": "high",
        "description": "Sale!",
    }
    gate = Gate(tmp_path, registry={"pattern": [{**both, "coolingOffMs": 30_000, "requiresHumanApproval": True}]})
    gate.enrol()
    try:
        post = Post(gate, (way(events=(HELD,)), receiver))
        found = gate.ask(operation("move_price", {"to": 5}))
        assert found.ticket is not None and found.ticket.state == "pending_approval"
        post.go()
        [told] = receiver.bodies()
        assert told["event"] == HELD and told["not_before"] == iso(found.ticket.cooling_ends_at)
        assert told["until"] == iso(found.ticket.expires_at)
        lines = dict(ticket_message(found.ticket, HELD, ConsoleAddress(""), gate.clock.now()).lines)
        assert "(in 30 s)" in lines["not before"] and "it runs" not in lines
        assert "It runs no sooner than in 30 s." in found.reason and "Sale!" in found.reason
        assert "Sale!" in lines["why"] and lines["level"] == "dangerous"
        page = environment().from_string('{% from "queue/_card.html" import facts %}{{ facts(card) }}')
        assert "Sale!" in page.render(card=card_of(found.ticket))
        shown = [part.text for line in ticket_lines(ticket_json(found.ticket, [])) for part in line]
        assert any("Sale!" in text for text in shown) and any("no sooner than" in text for text in shown)
    finally:
        gate.close()


# Codes


def blocked(gate: Gate) -> str:
    now = gate.clock.now()
    kept = Block(AGENT.principal, "danger zone", now, "interlock", AGENT.name)
    gate.store.write(lambda tx: tx.save_block(kept))
    gate.state.remember_block(kept)
    made = gate.store.write(lambda tx: challenges.issue(tx, gate.state, AGENT, challenges.BLOCK, "danger zone", now))
    return made.id


def test_no_code_is_in_a_message_of_an_ordinary_channel(post: Post, receiver: Receiver) -> None:
    blocked(post.gate)
    post.go()
    [found] = receiver.bodies()
    assert found["event"] == BLOCK and "code" not in found and post.gate.records("reveal") == []


def test_a_private_channel_gets_a_code_that_counts_once_and_others_get_none(gate: Gate, receiver: Receiver) -> None:
    with http_receiver() as second:
        post = Post(gate, (way(private=True), receiver), (way("second", private=True), second))
        id = blocked(gate)
        post.go()
        [found], [other] = receiver.bodies(), second.bodies()
        assert "code" not in other
    releasing.verify(gate.state, AGENT, id, found["code"])
    assert not gate.state.blocked(AGENT.principal)
    assert '"by":"channel:hook"' in gate.records("reveal")[-1].body
    rows = gate.store.read(lambda tx: tx.deliveries("hook", 10))
    everything = "".join(row.body for row in gate.records()) + repr(rows) + repr(gate.state.problems)
    assert found["code"] not in everything


def test_a_code_that_an_operator_was_shown_is_not_replaced_by_a_message(gate: Gate, receiver: Receiver) -> None:
    post = Post(gate, (way(private=True), receiver))
    id = blocked(gate)
    shown = releasing.reveal(gate.state, gate.sign_in(), id).code
    post.go()
    assert "code" not in receiver.bodies()[0]
    releasing.verify(gate.state, AGENT, id, shown)
    assert not gate.state.blocked(AGENT.principal)


def test_a_step_that_waits_for_a_code_is_one_message(post: Post, receiver: Receiver) -> None:
    gate = post.gate
    ticket = gate.held(intent("run git push --force origin main"), execution="e1")
    now = gate.clock.now()
    gate.store.write(
        lambda tx: challenges.issue(tx, gate.state, AGENT, challenges.VERIFY, "why", now, digest=ticket.digest)
    )
    releasing.announce(gate.state)
    post.go()
    assert [(one["event"], one["about"]) for one in receiver.bodies()] == [(CHALLENGE, [ticket.id])]


# On threads of their own


def test_a_channel_that_hangs_delays_neither_the_answer_nor_the_others(gate: Gate, receiver: Receiver) -> None:
    with http_receiver() as stuck:
        stuck.hangs = threading.Event()
        post = Post(gate, (way("stuck"), stuck), (way(), receiver))
        gate.state.channels = []
        post.outbox.start()
        try:
            for number in range(5):
                ticket = gate.held(command(f"rm -rf /srv/shop/data{number}"))
            receiver.until(lambda got: any(ticket.id in one["about"] for one in got))
            assert stuck.got == []
        finally:
            stuck.hangs.set()
            post.outbox.stop()


def test_telling_a_full_outbox_takes_no_time_and_loses_the_oldest(gate: Gate, receiver: Receiver) -> None:
    post = Post(gate, (way(events=(ALERT,)), receiver))
    for number in range(1_500):
        gate.state.tell("alert", None, f"number {number}")
    post.outbox.look()
    assert any("500 messages" in one["reason"] for one in post.records())
    kept = gate.store.read(lambda tx: tx.due_deliveries("hook", gate.clock.now(), 1_000))
    assert len(kept) == MOST_OWED and "number 1499" in {row.words for row in kept}


def test_a_store_that_cannot_be_used_loses_no_note(gate: Gate, receiver: Receiver) -> None:
    post = Post(gate, (way(), receiver))
    gate.state.tell("alert", None, "remember this")
    store = gate.state.store
    gate.store.close()
    with pytest.raises(Exception, match="closed"):
        post.outbox.look()
    gate.restart()
    gate.state.channels = [post.outbox]
    post.outbox.state = post.outbox.couriers["hook"].state = gate.state
    assert gate.state.store is not store
    post.go()
    assert receiver.bodies()[0]["words"] == "remember this"


def test_an_agents_words_lead_nowhere_and_call_nobody(post: Post) -> None:
    from interlock.notify import ConsoleAddress

    post.gate.held(
        command("rm -rf /srv/x # <!channel> @everyone https://evil.example/console\x1b[2J"), AgentRef("uid:1", "@here")
    )
    matter = next(iter(post.gate.store.read(lambda tx: _matters(tx, post.gate.clock.now())).values()))
    text = matter.message(ConsoleAddress("http://localhost:7310"), post.gate.clock.now()).text
    assert "https://" not in text and "@everyone" not in text and "<!" not in text and "@here" not in text
    assert "\x1b" not in text and "http://localhost:7310/console/tickets/" in text


def _matters(tx: Any, now: float) -> dict[str, Any]:
    from interlock.notify.delivery import pending_items

    return pending_items(tx, now)


class Broken:
    """A way that fails as nobody expected, with its address in its words."""

    def send(self, message: object) -> None:
        raise RuntimeError("no way to https://hooks.example/T0/hunter2secret")


def test_what_a_channel_says_when_it_breaks_stays_out_of_the_log_and_the_record(
    post: Post, caplog: pytest.LogCaptureFixture
) -> None:
    for courier in post.outbox.couriers.values():
        courier.carrier = Broken()  # type: ignore[assignment]
    post.gate.held(RM)
    post.go()
    assert "channel hook failed: RuntimeError" in caplog.text
    assert "hunter2secret" not in caplog.text + str(post.records())
