"""Rate limits of a service and quotas of its user: reads them from an adapter file, counts requests, refuses what exceeds them (RL-01, RL-02)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct, field

from interlock.adapters.levels import CATEGORY_LEVELS
from interlock.analysis.packs import own_words
from interlock.problems import WrittenTable, describe_value
from interlock.times import iso

WINDOWS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "month": 2_592_000}
_WORDS = own_words("adapters/words.toml")
# Of a window; what was used in a piece counts until all of it is over, so that no window ever holds too much.
PIECES = 30
Buckets = Mapping[int, float]  # piece -> how much was used in it


class ServiceRequest(Struct, frozen=True):
    maps_to: str
    category: str

    @property
    def endpoint(self) -> str:
        return self.maps_to.partition("?")[0]


class ApiLimit(Struct, frozen=True):
    limit: int
    window: str
    scope: str = "global"
    endpoint: str = ""
    category: str = ""
    remaining_header: str = ""
    reset_header: str = ""

    @property
    def key(self) -> str:
        return f"{self.scope}:{self.endpoint or self.category}:{self.window}"

    @property
    def label(self) -> str:
        return self.scope if self.scope == "global" else f"{self.scope} {self.endpoint or self.category}"

    def covers(self, asked: ServiceRequest) -> bool:
        if self.scope == "endpoint":
            return fnmatchcase(asked.endpoint, self.endpoint)
        return self.scope == "global" or asked.category == self.category


class Quota(Struct, frozen=True):
    """A budget with three thresholds: a warning, a question, an end."""

    metric: str
    warn: float
    pause: float
    hard_stop: float | None = None
    currency: str = ""

    @property
    def key(self) -> str:
        return self.metric

    @property
    def window(self) -> str:
        return self.metric.rpartition("_")[2]

    def amount(self, cost: float) -> float:
        return cost if self.metric.startswith("cost_") else 1.0

    def status(self, current: float, more: float = 0.0) -> str:
        """ok, warn, paused or exhausted; `more` is what a human added to the pause."""
        if self.hard_stop is not None and current >= self.hard_stop:
            return "exhausted"
        if current >= self.pause + more:
            return "paused"
        return "warn" if current >= self.warn else "ok"


class ServiceLimits(Struct, frozen=True):
    api: tuple[ApiLimit, ...] = ()
    quotas: tuple[Quota, ...] = ()
    prices: tuple[tuple[str, float], ...] = ()  # endpoint pattern, cost of a call
    concurrent: int = 0  # requests at a time; 0 means any number

    def __bool__(self) -> bool:
        return bool(self.api or self.quotas)

    def cost(self, asked: ServiceRequest) -> float:
        """By the longest pattern that matches: the one that means this call most."""
        found = ((len(glob), cost) for glob, cost in self.prices if glob == "*" or fnmatchcase(asked.endpoint, glob))
        return max(found, default=(0, 0.0))[1]


class QuotaUsage(Struct, frozen=True):
    """Uses by key; and by metric how much a human added to a pause, and until when."""

    buckets: Mapping[str, Buckets] = field(default_factory=dict, name="used")
    continued: Mapping[str, tuple[float, float]] = {}

    def current(self, of: ApiLimit | Quota, now: float) -> float:
        return round(sum(self.counting(of, now).values()), 9)

    def room_at(self, of: ApiLimit | Quota, now: float, most: float) -> float:
        """When no more than `most` is used any longer."""
        counting, seconds = self.counting(of, now), WINDOWS[of.window]
        left = sum(counting.values())
        for piece in sorted(counting):
            left -= counting[piece]
            if left <= most:
                return (piece + 1) * seconds / PIECES + seconds
        return now

    def extra(self, metric: str, now: float) -> float:
        more, until = self.continued.get(metric, (0.0, 0.0))
        return more if now < until else 0.0

    def counting(self, of: ApiLimit | Quota, now: float) -> dict[int, float]:
        seconds = WINDOWS[of.window]
        first = math.floor((now - seconds) / (seconds / PIECES))
        return {piece: amount for piece, amount in self.buckets.get(of.key, {}).items() if piece >= first}


class QuotaRefusal(Struct, frozen=True):
    """No request now; a pause can be lifted by a human, the others by time."""

    code: str
    message: str
    details: Mapping[str, Any]
    pause: Quota | None = None


def quota_refusal(limits: ServiceLimits, used: QuotaUsage, asked: ServiceRequest, now: float) -> QuotaRefusal | None:
    """The service's limits first, then what cannot be lifted, then the rest."""
    for limit in (one for one in limits.api if one.covers(asked)):
        if used.current(limit, now) + 1 > limit.limit:
            resets = used.room_at(limit, now, limit.limit - 1)
            details = {"limit": limit.limit, "remaining": 0, "window": limit.window, **_until(resets, now)}
            words = f"The service takes {limit.limit} requests a {limit.window}"
            return QuotaRefusal("RATE_LIMIT_EXCEEDED", words, details)
    cost, paused = limits.cost(asked), None
    for quota in limits.quotas:
        current = used.current(quota, now)
        after = current + quota.amount(cost)
        if quota.hard_stop is not None and after > quota.hard_stop:
            resets = used.room_at(quota, now, quota.hard_stop - quota.amount(cost))
            details = _figures(quota, current, "hard_stop") | _until(resets, now)
            return QuotaRefusal("RATE_LIMIT_QUOTA_EXHAUSTED", f"The quota '{quota.metric}' is used up", details)
        if after > quota.pause + used.extra(quota.metric, now) and paused is None:
            details = _figures(quota, current, "pause", "hard_stop")
            words = f"The quota '{quota.metric}' needs a human to go on"
            paused = QuotaRefusal("RATE_LIMIT_QUOTA_PAUSE", words, details, quota)
    return paused


def _figures(quota: Quota, current: float, *thresholds: str) -> dict[str, Any]:
    marks = {f"{name}_threshold": getattr(quota, name) for name in thresholds}
    return {"metric": quota.metric, **_numbers(current=current, **marks)}


def count_request(limits: ServiceLimits, used: QuotaUsage, asked: ServiceRequest, now: float) -> QuotaUsage:
    cost = limits.cost(asked)
    amounts: list[tuple[ApiLimit | Quota, float]] = [(one, float(one.covers(asked))) for one in limits.api]
    amounts += [(one, one.amount(cost)) for one in limits.quotas]
    after = {}
    for of, amount in amounts:
        after[of.key] = counting = used.counting(of, now)
        if amount:
            piece = math.floor(now / (WINDOWS[of.window] / PIECES))
            counting[piece] = counting.get(piece, 0.0) + amount
    return QuotaUsage(after, {metric: one for metric, one in used.continued.items() if now < one[1]})


def extend_pause(used: QuotaUsage, quota: Quota, now: float) -> QuotaUsage:
    """After a human's yes the pause comes one quota later, for one window; the end stays."""
    more = used.extra(quota.metric, now) + quota.pause
    return QuotaUsage(used.buckets, {**used.continued, quota.metric: (more, now + WINDOWS[quota.window])})


def quota_warnings(limits: ServiceLimits, used: QuotaUsage, now: float) -> list[dict[str, Any]]:
    currents = ((quota, used.current(quota, now)) for quota in limits.quotas)
    return [
        {
            "code": "RATE_LIMIT_QUOTA_WARNING",
            "message": f"The quota '{quota.metric}' is nearly used",
            "severity": "medium",
            "details": _figures(quota, current, "warn", "pause"),
        }
        for quota, current in currents
        if current >= quota.warn
    ]


def quota_report(limits: ServiceLimits, used: QuotaUsage, adapter: str, now: float) -> dict[str, Any]:
    """`introspect query:"quota_status"`."""
    api, resets = {}, []
    for limit in limits.api:
        current = used.current(limit, now)
        reset = used.room_at(limit, now, 0)
        resets += [reset] if current else []
        api[limit.label] = {
            "limit": limit.limit,
            "remaining": max(0, limit.limit - round(current)),
            "window": limit.window,
            "resets_at": iso(reset),
        }
    quotas = []
    for quota in limits.quotas:
        current, more = used.current(quota, now), used.extra(quota.metric, now)
        resets += [used.room_at(quota, now, 0)] if current else []
        figures = _numbers(current=current, warn=quota.warn, pause=quota.pause + more, hard_stop=quota.hard_stop)
        shown = {"metric": quota.metric, **figures, "status": quota.status(current, more)}
        quotas.append(shown | ({"currency": quota.currency} if quota.currency else {}))
    found = {"adapter": adapter, "api_limits": api, "quotas": quotas}
    return found | ({"next_reset": iso(min(resets))} if resets else {})


def _until(resets: float, now: float) -> dict[str, Any]:
    return {"resets_at": iso(resets), "retry_after_seconds": max(1, math.ceil(resets - now))}


def _numbers(**figures: float | None) -> dict[str, float]:
    given = ((name, value) for name, value in figures.items() if value is not None)
    return {name: int(value) if float(value).is_integer() else round(value, 6) for name, value in given}


_SCOPES = ("global", "endpoint", "category")
_MOST = 1_000_000_000


def read_limits(adapter: WrittenTable) -> ServiceLimits:
    if (block := adapter.inner("rate_limits")) is None:
        return ServiceLimits()
    block.only(_WORDS.rate_limits, error=False)
    counts = {window: block.number(f"requests_per_{window}", 1, _MOST, whole=True) for window in WINDOWS}
    short = [ApiLimit(int(count), window) for window, count in counts.items() if count is not None]
    api = [one for one in map(_api, block.tables("api_limits")) if one is not None]
    quotas, prices = _quotas(block), _prices(block)
    if any(quota.metric.startswith("cost_") for quota in quotas) and not prices:
        block.error("a cost is limited, but rate_limits.cost has no price", "quotas")
    together = block.number("concurrent_requests", 1, 1_000, whole=True)
    return ServiceLimits((*short, *api), quotas, prices, int(together or 0))


def _api(table: WrittenTable) -> ApiLimit | None:
    table.only((*ApiLimit.__struct_fields__, "metric"))
    scope, window = table.data.get("scope", "global"), table.data.get("window")
    if "metric" in table:
        metric = describe_value(table.data["metric"])
        table.error(f"{metric} cannot be counted here, only requests can; leave it out", "metric")
    elif scope not in _SCOPES:
        table.error(f"scope: expected one of {', '.join(_SCOPES)}, got {describe_value(scope)}", "scope")
    elif str(window) not in WINDOWS or window == "month":
        table.error(f"window: expected second, minute, hour or day, got {describe_value(window)}", "window")
    elif (number := table.number("limit", 1, _MOST, whole=True, required=True)) is not None:
        texts = {key: table.text(key) for key in ("endpoint", "category", "remaining_header", "reset_header")}
        if scope != "global" and not texts[scope]:
            table.error(f"{scope} is missing")
        elif scope == "category" and texts["category"] not in CATEGORY_LEVELS:
            table.error(f"category: expected one of {', '.join(CATEGORY_LEVELS)}", "category")
        else:
            return ApiLimit(int(number), str(window), str(scope), **texts)
    return None


def _quotas(block: WrittenTable) -> tuple[Quota, ...]:
    if (table := block.inner("quotas")) is None:
        return ()
    table.only(_WORDS.quotas, error=False)
    found = [one for one in map(_quota, table.tables("limits")) if one is not None]
    return tuple(found) if table.flag("enabled", True) else ()


def _quota(table: WrittenTable) -> Quota | None:
    table.only(Quota.__struct_fields__)
    metric = table.text("metric", required=True)
    if metric.startswith("tokens_"):
        table.error(f"{metric} cannot be counted here, only requests and cost can; leave it out", "metric")
        return None
    known = sorted(_WORDS.metrics)
    if metric not in known:
        table.error(f"metric: expected one of {', '.join(known)}, got {describe_value(metric)}", "metric")
        return None
    warn, stop = (table.number(key, 0, _MOST) for key in ("warn", "hard_stop"))
    if (pause := table.number("pause", 0, _MOST, required=True)) is None:
        return None
    warn = pause if warn is None else warn
    if warn <= pause and (stop is None or pause <= stop):
        return Quota(metric, warn, pause, stop, table.text("currency"))
    table.error("expected warn <= pause <= hard_stop")
    return None


def _prices(block: WrittenTable) -> tuple[tuple[str, float], ...]:
    if (table := block.inner("cost")) is None:
        return ()
    table.only(_WORDS.cost, error=False)
    found = []
    for price in table.tables("pricing"):
        price.only(("endpoint", "cost_per_call"), error=False)
        if (cost := price.number("cost_per_call", 0, _MOST)) is not None:
            found.append((price.text("endpoint") or "*", cost))
    return tuple(found)
