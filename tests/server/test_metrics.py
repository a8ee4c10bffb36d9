"""What is counted: seed 003's figures and more, from durable data, the same at every exporter; and the alarm when nobody answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from daemons import InProcessDaemon, in_process_daemon
from interlock.engine.statistics import figures_of
from interlock.maintenance import TicketSettler, watch_expired_share
from interlock.model import Category
from interlock.records import Ticket
from interlock.startup import open_state, open_store
from interlock.web.wire import figures_json

VM = {"action": "terminate_vm", "resource": "web-1"}
COUNTERS = {  # seed 003's word -> ours
    "totalChecked": "interlock_checked_total",
    "destructiveDetected": "interlock_destructive_total",
    "blockedByCooling": "interlock_blocked_by_cooling_total",
    "blockedByApproval": "interlock_blocked_by_approval_total",
    "approved": "interlock_approved_total",
    "rejected": "interlock_rejected_total",
    "expired": "interlock_expired_total",
    "executed": "interlock_executed_total",
}
FAMILIES = {  # promises: changed only on purpose
    **{name.removesuffix("_total"): "counter" for name in COUNTERS.values()},
    "interlock_by_severity": "counter",
    "interlock_by_category": "counter",
    "interlock_decisions": "counter",
    "interlock_open_tickets": "gauge",
    "interlock_answer_seconds": "histogram",
    "interlock_expired_share": "gauge",
    "interlock_alert": "gauge",
    "interlock_mode": "gauge",
    "interlock_store_up": "gauge",
    "interlock_trouble": "counter",
    "interlock_unlocked": "gauge",
}
Labels = tuple[tuple[str, str], ...]


class Bell:
    """A way to a human that remembers what it said."""

    name = "bell"

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def tell(self, event: str, ticket: Ticket | None, words: str) -> None:
        self.told.append((event, words))


@pytest.fixture
def app(tmp_path: Path) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path) as made:
        yield made


def scraped(app: InProcessDaemon) -> dict[tuple[str, Labels], float]:
    text = app.call("GET", "/metrics").text
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def ask(app: InProcessDaemon, headers: dict[str, str], body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = app.call("POST", "/api/v1/evaluate", body, headers).json()
    return found


def say(app: InProcessDaemon, held: dict[str, Any], deed: str, headers: dict[str, str]) -> None:
    answer = app.call("POST", f"/api/v1/tickets/{held['pendingId']}/{deed}", {"reason": "because"}, headers)
    assert answer.status_code == 200, answer.text


def lived(app: InProcessDaemon) -> dict[str, Any]:
    """One of everything; seed 003's object afterwards."""
    agent = app.agent()
    for name in ("list_users", "list_orders"):
        ask(app, agent, {"action": name})
    ask(app, agent, {"action": "ban_user", "resource": "u1"})
    held = ask(app, agent, VM)
    app.clock.forward(45)
    TicketSettler(app.state).settle()  # the ban has cooled off
    say(app, held, "approve", app.sign_in())
    assert ask(app, agent, VM)["allowed"]
    app.call("POST", f"/api/v1/tickets/{held['pendingId']}/executed", {"outcome": "gone"}, agent)
    other = ask(app, agent, {"action": "revoke_api_key", "resource": "k1"})
    app.clock.forward(200)
    say(app, other, "reject", app.sign_in())
    ask(app, agent, {"action": "delete_account", "resource": "acme"})
    app.clock.forward(3_600)
    TicketSettler(app.state).settle()
    found: dict[str, Any] = app.call("GET", "/api/v1/metrics", headers=agent).json()
    return found


def test_prometheus_has_every_figure_with_its_help_and_its_type(app: InProcessDaemon) -> None:
    lived(app)
    text = app.call("GET", "/metrics").text
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert {name: family.type for name, family in families.items()} == FAMILIES
    assert all(len(family.documentation) > 10 for family in families.values())


def test_prometheus_and_the_api_tell_the_same(app: InProcessDaemon) -> None:
    api = lived(app)
    found = scraped(app)
    assert {word: found[name, ()] for word, name in COUNTERS.items()} == {word: api[word] for word in COUNTERS}
    for label, key in (("severity", "bySeverity"), ("category", "byCategory")):
        told = {labels[0][1]: value for (name, labels), value in found.items() if name == f"interlock_by_{label}_total"}
        assert told == api[key]
    assert {labels[0][1] for name, labels in found if name == "interlock_by_category_total"} == set(Category)
    assert api["bySeverity"] == {"low": 0, "medium": 1, "high": 3, "critical": 1}
    assert (api["approved"], api["rejected"], api["expired"], api["executed"]) == (2, 1, 2, 1)


def test_decisions_are_counted_by_outcome_and_level(app: InProcessDaemon) -> None:
    lived(app)
    found = {labels: value for (name, labels), value in scraped(app).items() if name == "interlock_decisions_total"}
    told = {(dict(labels)["outcome"], dict(labels)["level"]): value for labels, value in found.items()}
    assert sum(told.values()) == scraped(app)["interlock_checked_total", ()]
    assert told["allow", "reversible"] + told.get(("allow", "safe"), 0) == 2 and told["allow", "destructive"] == 1
    assert told["approve", "dangerous"] == 1 and any(outcome == "cool_off" for outcome, _ in told)


def test_how_long_people_take_is_a_histogram_and_time_is_nobody(app: InProcessDaemon) -> None:
    lived(app)
    found = scraped(app)

    def value(kind: str, verdict: str, **more: str) -> float:
        return found[f"interlock_answer_seconds_{kind}", tuple(sorted({"verdict": verdict, **more}.items()))]

    assert (value("count", "approved"), value("sum", "approved")) == (1, 45)  # what only cooled off is not among them
    assert [value("bucket", "approved", le=le) for le in ("30.0", "60.0", "+Inf")] == [0, 1, 1]
    assert (value("count", "rejected"), value("sum", "rejected")) == (1, 200)
    assert [value("bucket", "rejected", le=le) for le in ("120.0", "300.0", "+Inf")] == [0, 1, 1]


def test_open_tickets_are_told_by_level(app: InProcessDaemon) -> None:
    agent = app.agent()
    ask(app, agent, VM)
    ask(app, agent, {"action": "delete_account", "resource": "acme"})
    found = {labels[0][1]: value for (name, labels), value in scraped(app).items() if name == "interlock_open_tickets"}
    assert found == {"safe": 0, "reversible": 0, "destructive": 1, "dangerous": 1, "forbidden": 0}


def test_every_figure_survives_a_restart(app: InProcessDaemon) -> None:
    before, told = lived(app), scraped(app)
    app.state.store.close()
    app.state.store = store = open_store(app.config.store)
    app.state.recorder.store = store
    again = open_state(app.config, store, app.clock)
    assert figures_json(figures_of(again)) == before
    durable = {key: value for key, value in scraped(app).items() if "unlocked" not in key[0]}
    assert durable == {key: value for key, value in told.items() if "unlocked" not in key[0]}


def test_a_store_that_is_gone_is_told_and_not_an_error(app: InProcessDaemon) -> None:
    lived(app)
    app.state.store.close()
    found = scraped(app)
    assert found["interlock_store_up", ()] == 0 and ("interlock_checked_total", ()) not in found
    assert found["interlock_trouble_total", (("kind", "store"),)] >= 1


def test_when_tickets_expire_unanswered_everybody_hears_of_it(app: InProcessDaemon) -> None:
    """Seed 003, best practice 5."""
    bell, alert = Bell(), app.config.audit.expired_share_alert
    app.state.channels = [bell]
    agents = [app.agent(f"agent {number}") for number in range(10)]
    held = [ask(app, agent, VM) for agent in agents]
    for agent, one in zip(agents[:7], held):
        say(app, one, "approve", app.sign_in())
        assert ask(app, agent, VM)["allowed"]
    assert not watch_expired_share(app.state, alert)  # three wait, nothing expired
    app.clock.forward(3_600)
    assert TicketSettler(app.state).settle() == 3
    bell.told.clear()
    assert watch_expired_share(app.state, alert) and watch_expired_share(app.state, alert)
    words = "30% of the tickets expire unanswered: agents wait and nobody answers"
    assert bell.told == [("alert", words)]  # once
    assert words in app.call("GET", "/api/v1/status", headers=app.sign_in()).json()["problems"]
    found = scraped(app)
    assert found["interlock_alert", (("alert", "expired_share"),)] == 1 and found["interlock_expired_share", ()] == 0.3
    records = app.call("GET", "/api/v1/audit?event=alert", headers=app.sign_in()).json()["records"]
    assert [record["body"]["words"] for record in records] == [words]
    answered = ask(app, agents[0], {**VM, "resource": "db-1"})
    say(app, answered, "reject", app.sign_in())
    assert not watch_expired_share(app.state, alert)  # somebody looks again
    assert scraped(app)["interlock_alert", (("alert", "expired_share"),)] == 0
    assert words not in app.call("GET", "/api/v1/status", headers=app.sign_in()).json()["problems"]


def test_a_few_tickets_that_expire_are_no_alarm(app: InProcessDaemon) -> None:
    ask(app, app.agent(), VM)
    app.clock.forward(3_600)
    TicketSettler(app.state).settle()
    assert not watch_expired_share(app.state, 0.3)
