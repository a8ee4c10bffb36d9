"""Limits and quotas: what no window may hold, who is asked, and when there is room again."""

from __future__ import annotations

import random

import pytest

from cases import each
from interlock.adapters import read
from interlock.adapters.quota import (
    ApiLimit,
    Quota,
    QuotaUsage,
    ServiceLimits,
    ServiceRequest,
    count_request,
    extend_pause,
    quota_refusal,
    quota_report,
    quota_warnings,
)

GET = ServiceRequest("GET /things/{id}", "read")
POST = ServiceRequest("POST /premium/x?y=1", "create")
NOW = 1_780_000_000.0


def times(
    limits: ServiceLimits, asked: ServiceRequest, count: int, now: float = NOW, used: QuotaUsage | None = None
) -> QuotaUsage:
    used = used or QuotaUsage()
    for _ in range(count):
        assert quota_refusal(limits, used, asked, now) is None
        used = count_request(limits, used, asked, now)
    return used


def test_no_window_ever_holds_more_than_the_service_takes() -> None:
    """RL-01: whenever the requests come, and wherever the window is laid."""
    limits, dice = ServiceLimits((ApiLimit(5, "minute"),)), random.Random(7)
    now, used, done = NOW, QuotaUsage(), []
    for _ in range(2_000):
        now += dice.choice((0.0, 0.1, 3.0, 20.0))
        if quota_refusal(limits, used, GET, now) is None:
            used = count_request(limits, used, GET, now)
            done.append(now)
    assert len(done) > 300
    assert all(done[at + 5] - done[at] > 60 for at in range(len(done) - 5))


def test_a_limit_says_when_there_is_room_again() -> None:
    limits = ServiceLimits((ApiLimit(2, "minute"),))
    used = times(limits, GET, 2)
    found = quota_refusal(limits, used, GET, NOW)
    assert found is not None and found.code == "RATE_LIMIT_EXCEEDED"
    wait = found.details["retry_after_seconds"]
    assert found.details["limit"] == 2 and found.details["window"] == "minute" and 60 <= wait <= 63
    assert quota_refusal(limits, used, GET, NOW + wait) is None


@pytest.mark.parametrize(
    ("limit", "counts"),
    [
        (ApiLimit(1, "hour"), (True, True)),
        (ApiLimit(1, "hour", "category", category="read"), (True, False)),
        (ApiLimit(1, "hour", "endpoint", endpoint="POST /premium/*"), (False, True)),
        (ApiLimit(1, "hour", "endpoint", endpoint="GET /things/*"), (True, False)),
    ],
)
def test_a_limit_counts_what_it_covers(limit: ApiLimit, counts: tuple[bool, bool]) -> None:
    limits = ServiceLimits((limit,))
    for asked, counted_one in zip((GET, POST), counts):
        used = count_request(limits, QuotaUsage(), asked, NOW)
        assert (quota_refusal(limits, used, asked, NOW) is not None) == counted_one


QUOTA = Quota("requests_per_hour", 2, 3, 5)


def test_a_quota_warns_then_asks_then_ends() -> None:
    """RL-02."""
    limits = ServiceLimits(quotas=(QUOTA,))
    used = times(limits, GET, 1)
    assert (
        quota_warnings(limits, used, NOW) == [] and quota_report(limits, used, "a", NOW)["quotas"][0]["status"] == "ok"
    )
    used = times(limits, GET, 1, used=used)
    assert quota_warnings(limits, used, NOW)[0]["details"]["current"] == 2
    assert quota_report(limits, used, "a", NOW)["quotas"][0]["status"] == "warn"
    used = times(limits, GET, 1, used=used)
    paused = quota_refusal(limits, used, GET, NOW)
    assert paused is not None and paused.code == "RATE_LIMIT_QUOTA_PAUSE" and paused.pause is QUOTA
    assert quota_report(limits, used, "a", NOW)["quotas"][0]["status"] == "paused"
    used = times(limits, GET, 2, used=extend_pause(used, QUOTA, NOW))
    ended = quota_refusal(limits, used, GET, NOW)
    assert ended is not None and ended.code == "RATE_LIMIT_QUOTA_EXHAUSTED" and ended.details["retry_after_seconds"] > 0
    assert quota_report(limits, used, "a", NOW)["quotas"][0]["status"] == "exhausted"


def test_no_yes_moves_the_hard_stop_and_a_yes_is_over_after_a_window() -> None:
    limits = ServiceLimits(quotas=(QUOTA,))
    used = extend_pause(extend_pause(times(limits, GET, 3), QUOTA, NOW), QUOTA, NOW)
    used = times(limits, GET, 2, used=used)
    assert quota_refusal(limits, used, GET, NOW) is not None
    later = NOW + 4_000
    used = times(limits, GET, 3, later, used)
    again = quota_refusal(limits, used, GET, later)
    assert again is not None and again.code == "RATE_LIMIT_QUOTA_PAUSE"


def test_a_quota_without_an_end_asks_again_after_one_more_quota() -> None:
    """C-20's way: a yes is good for one more quota, never for all."""
    quota = Quota("requests_per_hour", 1, 3)
    limits = ServiceLimits(quotas=(quota,))
    used = times(limits, GET, 3, used=extend_pause(times(limits, GET, 3), quota, NOW))
    found = quota_refusal(limits, used, GET, NOW)
    assert found is not None and found.code == "RATE_LIMIT_QUOTA_PAUSE"


def test_a_cost_is_that_of_the_pattern_that_means_the_call_most() -> None:
    limits = ServiceLimits(
        quotas=(Quota("cost_per_day", 0.01, 0.02, 0.03, "USD"),), prices=(("*", 0.001), ("POST /premium/*", 0.01))
    )
    used = times(limits, POST, 2)
    assert quota_report(limits, used, "a", NOW)["quotas"][0] == {
        "metric": "cost_per_day", "current": 0.02, "warn": 0.01, "pause": 0.02, "hard_stop": 0.03, "status": "paused", "currency": "USD",
    }  # fmt: skip
    assert limits.cost(GET) == 0.001


ADAPTER = """\
name: a
type: adapter
version: "1.0.0"
description: d
target: {{ base_url: "https://x.example" }}
operations: {{ read: [{{ name: get_x, maps_to: "GET /x" }}] }}
rate_limits: {block}
"""


def problems(block: str) -> list[str]:
    return [problem.message for problem in read(ADAPTER.format(block=block)).problems if "trust" not in problem.message]


def test_the_block_is_read() -> None:
    block = (
        "{ requests_per_minute: 100, concurrent_requests: 2, api_limits: [{ scope: category, category: read, limit: 3, window: day }],"
        " quotas: { enabled: true, limits: [{ metric: cost_per_day, warn: 1, pause: 2, currency: USD }] },"
        " cost: { model: per_call, pricing: [{ endpoint: '*', cost_per_call: 0.5 }] } }"
    )
    found = read(ADAPTER.format(block=block))
    assert found.usable and found.adapter is not None
    limits = found.adapter.limits
    assert [(one.limit, one.window, one.scope) for one in limits.api] == [
        (100, "minute", "global"),
        (3, "day", "category"),
    ]
    assert limits.quotas == (Quota("cost_per_day", 1, 2, None, "USD"),) and limits.cost(GET) == 0.5
    assert limits.concurrent == 2


@each(
    ("block", "said"),
    [
        ("{ api_limits: [{ limit: 5, window: week }] }", "window: expected"),
        ("{ api_limits: [{ limit: 5, window: [hour] }] }", "window: expected"),
        ("{ api_limits: [{ limit: 0, window: hour }] }", "limit: expected a whole number"),
        ("{ api_limits: [{ window: hour }] }", "limit is missing"),
        ("{ api_limits: [{ limits: 5, window: hour }] }", "unknown key 'limits'"),
        ("{ api_limits: [{ scope: endpoint, limit: 5, window: hour }] }", "endpoint is missing"),
        ("{ api_limits: [{ scope: some, limit: 5, window: hour }] }", "scope: expected"),
        ("{ api_limits: [] }", "api_limits is empty"),
        ("{ quotas: { limits: [{ metric: requests_per_hour, warn: 9, pause: 5 }] } }", "expected warn <= pause"),
        ("{ quotas: { limits: [{ metric: requests_per_hour, warn: 1 }] } }", "pause is missing"),
        ("{ quotas: { limits: [{ metric: smiles_per_hour, pause: 1 }] } }", "metric: expected one of"),
        ("{ quotas: { limits: [{ metric: cost_per_day, pause: 1 }] } }", "has no price"),
        ("{ quotas: { limits: [{ metric: tokens_per_day, pause: 1 }] } }", "cannot be counted here"),
        ("{ api_limits: [{ metric: tokens, limit: 5, window: hour }] }", "cannot be counted here"),
        ("[]", "expected a table"),
    ],
)
def test_a_limit_that_nobody_could_keep_is_named(block: str, said: str) -> None:
    assert any(said in message for message in problems(block)), problems(block)
