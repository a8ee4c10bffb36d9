"""An adapter's counters live in the store, and a pause is lifted by a human alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gate import AGENT, Gate
from interlock.adapters.quota import ApiLimit, Quota, ServiceLimits, ServiceRequest
from interlock.approvals import answers
from interlock.engine.quota import SETTING, QuotaQuestion, QuotaRefused, quota_status, take_quota

ASKED = ServiceRequest("GET /things", "read")
LIMITS = ServiceLimits((ApiLimit(8, "hour"),), (Quota("requests_per_hour", 1, 2, 4),))


@pytest.fixture(params=["default", "spec", "headless"])
def gate(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Gate]:
    made = Gate(tmp_path, policy={"use": request.param})
    made.enrol()
    yield made
    made.close()


def ask(
    gate: Gate, token: str = "", count: bool = True, adapter: str = "things", limits: ServiceLimits = LIMITS
) -> list[Any]:
    return take_quota(gate.state, QuotaQuestion(adapter, limits, ASKED, AGENT, "adapter", token, count))


def refused(gate: Gate, token: str = "", **more: Any) -> QuotaRefused:
    with pytest.raises(QuotaRefused) as caught:
        ask(gate, token, **more)
    return caught.value


def arm(gate: Gate) -> None:
    tickets = gate.store.read(lambda tx: [t for t in tx.tickets(_open()) if t.operation == "continue_quota"])
    assert len(tickets) == 1 and "Go on with adapter" in tickets[0].reason
    answers.approve(gate.state, gate.sign_in(), tickets[0].id)


def _open() -> Any:
    from interlock.records import TicketQuery

    return TicketQuery()


def test_counters_survive_a_restart_and_asking_alone_counts_nothing(gate: Gate) -> None:
    """RL-02."""
    assert ask(gate, count=False) == [] and ask(gate) != []
    gate.restart()
    assert quota_status(gate.state, "things", LIMITS)["quotas"][0]["current"] == 1
    assert quota_status(gate.state, "other", LIMITS)["quotas"][0]["current"] == 0


def test_a_pause_is_lifted_by_a_human_alone(gate: Gate) -> None:
    """C-14: the token is inert until somebody armed it, good once, and the end stays the end."""
    ask(gate)
    ask(gate)
    held = refused(gate)
    assert held.code == "RATE_LIMIT_QUOTA_PAUSE" and held.details["pause_threshold"] == 2
    token = held.details["confirmation_token"]
    assert token.startswith("quota_continue_") and held.confirmation is not None and held.confirmation["token"] == token
    assert refused(gate, token).code == "PERMISSION_DENIED"  # self-approval
    assert refused(gate, "quota_continue_x").code == "TOKEN_INVALID"
    assert refused(gate, token.replace("quota_continue_", "conf_")).code == "TOKEN_INVALID"
    arm(gate)
    ask(gate, token)
    ask(gate)
    assert refused(gate).code == "RATE_LIMIT_QUOTA_EXHAUSTED"
    gate.clock.forward(3 * 3600)
    ask(gate)
    ask(gate)
    assert refused(gate, token).code == "TOKEN_ALREADY_USED"


def test_a_token_of_one_adapter_is_none_of_another(gate: Gate) -> None:
    for adapter in ("things", "other"):
        ask(gate, adapter=adapter)
        ask(gate, adapter=adapter)
    token = refused(gate).details["confirmation_token"]
    arm(gate)
    assert refused(gate, token, adapter="other").code == "TOKEN_SCOPE_MISMATCH"
    ask(gate, token)


def test_a_rejected_pause_stays_one(gate: Gate) -> None:
    ask(gate)
    ask(gate)
    token = refused(gate).details["confirmation_token"]
    ticket = gate.store.read(lambda tx: tx.tickets(_open())[0])
    answers.reject(gate.state, gate.sign_in(), ticket.id, "enough for today")
    assert refused(gate, token).code in ("TOKEN_INVALID", "PERMISSION_DENIED")
    assert refused(gate).code != ""


def test_garbled_counters_begin_anew_and_are_noticed(gate: Gate) -> None:
    gate.store.write(lambda tx: tx.save_setting(SETTING + "things", "{oops"))
    ask(gate)
    assert any("counters" in words for words in gate.state.problems)


def test_an_adapter_without_limits_is_not_counted(gate: Gate) -> None:
    for _ in range(20):
        assert ask(gate, limits=ServiceLimits()) == []
    assert gate.store.read(lambda tx: tx.setting(SETTING + "things")) is None
