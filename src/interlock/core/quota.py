"""How much may an adapter still ask of its service? Limits of the service, quotas of its user, and what was used of both (RL-01, RL-02)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

from interlock.core.times import iso

WINDOWS = MappingProxyType({"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "month": 2_592_000})
METRICS = frozenset(
    {f"requests_per_{window}" for window in ("minute", "hour", "day")}
    | {f"cost_per_{window}" for window in ("hour", "day", "month")}
)
PIECES = (
    30  # of a window; what was used in a piece counts until all of it is over, so that no window ever holds too much
)
Buckets = Mapping[int, float]  # piece -> how much was used in it


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to the service: what it maps to, and its family."""

    maps_to: str
    category: str

    @property
    def endpoint(self) -> str:
        return self.maps_to.partition("?")[0]


@dataclass(frozen=True, slots=True)
class ApiLimit:
    """So many requests in a window, by the service's own rules."""

    limit: int
    window: str
    scope: str = "global"
    endpoint: str = ""
    category: str = ""
    remaining_header: str = ""
    reset_header: str = ""

    @property
    def key(self) -> str:
        """What it is counted under."""
        return f"{self.scope}:{self.endpoint or self.category}:{self.window}"

    @property
    def label(self) -> str:
        return self.scope if self.scope == "global" else f"{self.scope} {self.endpoint or self.category}"

    def covers(self, asked: Asked) -> bool:
        if self.scope == "endpoint":
            return fnmatchcase(asked.endpoint, self.endpoint)
        return self.scope == "global" or asked.category == self.category


@dataclass(frozen=True, slots=True)
class Quota:
    """A budget with three thresholds: a warning, a question, an end."""

    metric: str
    warn: float
    pause: float
    hard_stop: float | None = None
    currency: str = ""

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


@dataclass(frozen=True, slots=True)
class Limits:
    """Everything that an adapter file says about how often its service may be asked."""

    api: tuple[ApiLimit, ...] = ()
    quotas: tuple[Quota, ...] = ()
    prices: tuple[tuple[str, float], ...] = ()  # endpoint pattern, cost of a call
    concurrent: int = 0  # requests at a time; 0 means any number

    def __bool__(self) -> bool:
        return bool(self.api or self.quotas)

    def cost(self, asked: Asked) -> float:
        """The price of the longest pattern that matches: the one that means this call most."""
        found = [(len(glob), cost) for glob, cost in self.prices if glob == "*" or fnmatchcase(asked.endpoint, glob)]
        return max(found)[1] if found else 0.0


@dataclass(frozen=True, slots=True)
class Used:
    """What was used so far, by key; and by metric how much a human added to a pause, and until when."""

    buckets: Mapping[str, Buckets] = field(default_factory=dict)
    continued: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def current(self, key: str, window: str, now: float) -> float:
        return round(sum(amount for _, amount in self._counting(key, window, now)), 9)

    def room_at(self, key: str, window: str, now: float, most: float) -> float:
        """When no more than `most` is used any longer."""
        counting = sorted(self._counting(key, window, now))
        left, width = sum(amount for _, amount in counting), WINDOWS[window] / PIECES
        for piece, amount in counting:
            left -= amount
            if left <= most:
                return (piece + 1) * width + WINDOWS[window]
        return now

    def extra(self, metric: str, now: float) -> float:
        """What a human added; nothing once the time is over."""
        more, until = self.continued.get(metric, (0.0, 0.0))
        return more if now < until else 0.0

    def _counting(self, key: str, window: str, now: float) -> Iterable[tuple[int, float]]:
        seconds = WINDOWS[window]
        first = math.floor((now - seconds) / (seconds / PIECES))
        return [(piece, amount) for piece, amount in self.buckets.get(key, {}).items() if piece >= first]


@dataclass(frozen=True, slots=True)
class Refused:
    """No request now; a pause can be lifted by a human, the others by time."""

    code: str
    message: str
    details: Mapping[str, Any]
    pause: Quota | None = None


def refused(limits: Limits, used: Used, asked: Asked, now: float) -> Refused | None:
    """Why there may be no request now; None where there may. The service's limits first, then what cannot be lifted, then the rest."""
    for limit in (one for one in limits.api if one.covers(asked)):
        if used.current(limit.key, limit.window, now) + 1 > limit.limit:
            resets = used.room_at(limit.key, limit.window, now, limit.limit - 1)
            details = {"limit": limit.limit, "remaining": 0, "window": limit.window, **_until(resets, now)}
            return Refused("RATE_LIMIT_EXCEEDED", f"The service takes {limit.limit} requests a {limit.window}", details)
    cost, paused = limits.cost(asked), None
    for quota in limits.quotas:
        current = used.current(quota.metric, quota.window, now)
        after = current + quota.amount(cost)
        if quota.hard_stop is not None and after > quota.hard_stop:
            resets = used.room_at(quota.metric, quota.window, now, quota.hard_stop - quota.amount(cost))
            details = {
                "metric": quota.metric,
                "current": _number(current),
                "hard_stop_threshold": _number(quota.hard_stop),
            }
            said = f"The quota '{quota.metric}' is used up"
            return Refused("RATE_LIMIT_QUOTA_EXHAUSTED", said, details | _until(resets, now))
        if after > quota.pause + used.extra(quota.metric, now):
            paused = paused or _paused(quota, current)
    return paused


def counted(limits: Limits, used: Used, asked: Asked, now: float) -> Used:
    """With one more request; what is over is forgotten."""
    cost, after = limits.cost(asked), {}
    entries = [(one.key, one.window, 1.0 if one.covers(asked) else 0.0) for one in limits.api]
    entries += [(one.metric, one.window, one.amount(cost)) for one in limits.quotas]
    for key, window, amount in dict.fromkeys(entries):
        width = WINDOWS[window] / PIECES
        counting = dict(used._counting(key, window, now))
        if amount:
            piece = math.floor(now / width)
            counting[piece] = counting.get(piece, 0.0) + amount
        after[key] = counting
    return Used(after, {metric: one for metric, one in used.continued.items() if now < one[1]})


def going_on(used: Used, quota: Quota, now: float) -> Used:
    """After a human's yes: the pause comes one quota later, for one window; the end stays where it is."""
    more = used.extra(quota.metric, now) + quota.pause
    return Used(used.buckets, {**used.continued, quota.metric: (more, now + WINDOWS[quota.window])})


def warnings(limits: Limits, used: Used, now: float) -> list[dict[str, Any]]:
    """What a success carries once a quota is nearly used."""
    found = []
    for quota in limits.quotas:
        current = used.current(quota.metric, quota.window, now)
        if current >= quota.warn:
            details = {
                "metric": quota.metric,
                "current": _number(current),
                "warn_threshold": _number(quota.warn),
                "pause_threshold": _number(quota.pause),
            }
            words = f"The quota '{quota.metric}' is nearly used"
            found.append(
                {"code": "RATE_LIMIT_QUOTA_WARNING", "message": words, "severity": "medium", "details": details}
            )
    return found


def status(limits: Limits, used: Used, adapter: str, now: float) -> dict[str, Any]:
    """`introspect query:"quota_status"`."""
    api, resets = {}, []
    for limit in limits.api:
        current = used.current(limit.key, limit.window, now)
        reset = used.room_at(limit.key, limit.window, now, 0)
        resets += [reset] if current else []
        api[limit.label] = {
            "limit": limit.limit,
            "remaining": max(0, limit.limit - round(current)),
            "window": limit.window,
            "resets_at": iso(reset),
        }
    quotas = []
    for quota in limits.quotas:
        current, more = used.current(quota.metric, quota.window, now), used.extra(quota.metric, now)
        resets += [used.room_at(quota.metric, quota.window, now, 0)] if current else []
        shown: dict[str, Any] = {"metric": quota.metric, "current": _number(current), "warn": _number(quota.warn)}
        shown["pause"] = _number(quota.pause + more)
        shown |= {"hard_stop": _number(quota.hard_stop)} if quota.hard_stop is not None else {}
        quotas.append(
            shown | {"status": quota.status(current, more)} | ({"currency": quota.currency} if quota.currency else {})
        )
    found = {"adapter": adapter, "api_limits": api, "quotas": quotas}
    return found | ({"next_reset": iso(min(resets))} if resets else {})


def _paused(quota: Quota, current: float) -> Refused:
    details = {"metric": quota.metric, "current": _number(current), "pause_threshold": _number(quota.pause)}
    details |= {"hard_stop_threshold": _number(quota.hard_stop)} if quota.hard_stop is not None else {}
    words = f"The quota '{quota.metric}' asks a human whether to go on"
    return Refused("RATE_LIMIT_QUOTA_PAUSE", words, details, quota)


def _until(resets: float, now: float) -> dict[str, Any]:
    return {"resets_at": iso(resets), "retry_after_seconds": max(1, math.ceil(resets - now))}


def _number(value: float) -> int | float:
    return int(value) if float(value).is_integer() else round(value, 6)
