"""The `rate_limits` block of an adapter file -> limits; a limit that nobody could keep is an error, not a comment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.core.levels import CATEGORY_LEVELS
from interlock.core.problems import Path, Problems, shown
from interlock.core.quota import METRICS, WINDOWS, ApiLimit, Limits, Quota

_KEYS = frozenset({"api_limits", "quotas", "cost", "concurrent_requests"} | {f"requests_per_{one}" for one in WINDOWS})
_LIMIT_KEYS = frozenset("scope endpoint category limit window remaining_header reset_header metric".split())
_QUOTAS_KEYS = frozenset("enabled limits persistence reset_schedule".split())
_QUOTA_KEYS = frozenset("metric warn pause hard_stop currency".split())
_COST_KEYS = frozenset("model currency pricing".split())
_PRICE_KEYS = frozenset("endpoint cost_per_call".split())
_SCOPES = ("global", "endpoint", "category")
_MOST = 1_000_000_000


def read_limits(data: Mapping[str, Any], problems: Problems) -> Limits:
    """What the block asks for; problems are named with the path to them."""
    path: Path = ("rate_limits",)
    if data.get("rate_limits") is None:
        return Limits()
    block = problems.table(data["rate_limits"], path)
    if block is None:
        return Limits()
    problems.only(block, _KEYS, path, error=False)
    short = [
        ApiLimit(int(number), window)
        for window in WINDOWS
        if (number := problems.number(block, f"requests_per_{window}", path, 1, _MOST, whole=True)) is not None
    ]
    api = [_api(item, (*path, "api_limits", at), problems) for at, item in _items(block, "api_limits", path, problems)]
    quotas, prices = _quotas(block, path, problems), _prices(block, path, problems)
    if any(quota.metric.startswith("cost_") for quota in quotas) and not prices:
        problems.error((*path, "quotas"), "a cost is limited, but rate_limits.cost says no price")
    together = problems.number(block, "concurrent_requests", path, 1, 1_000, whole=True)
    return Limits((*short, *(one for one in api if one is not None)), quotas, prices, int(together or 0))


def _items(block: Mapping[str, Any], key: str, path: Path, problems: Problems) -> list[tuple[int, Any]]:
    return list(enumerate(problems.items(block, key, path)))


def _api(item: Any, path: Path, problems: Problems) -> ApiLimit | None:
    table = problems.table(item, path)
    if table is None:
        return None
    problems.only(table, _LIMIT_KEYS, path)
    if "metric" in table:
        problems.error(
            (*path, "metric"), f"{shown(table['metric'])} cannot be counted here, only requests can; leave it out"
        )
        return None
    scope = table.get("scope", "global")
    if scope not in _SCOPES:
        problems.error((*path, "scope"), f"scope: expected one of {', '.join(_SCOPES)}, got {shown(scope)}")
        return None
    window = table.get("window")
    if window not in WINDOWS or window == "month":
        problems.error((*path, "window"), f"window: expected second, minute, hour or day, got {shown(window)}")
        return None
    number = problems.number(table, "limit", path, 1, _MOST, whole=True)
    if number is None:
        problems.error(path, "limit is missing") if "limit" not in table else None
        return None
    texts = {
        key: problems.text(table, key, path) for key in ("endpoint", "category", "remaining_header", "reset_header")
    }
    if scope != "global" and not texts[scope]:
        problems.error(path, f"{scope} is missing")
        return None
    if scope == "category" and texts["category"] not in CATEGORY_LEVELS:
        problems.error((*path, "category"), f"category: expected one of {', '.join(CATEGORY_LEVELS)}")
        return None
    return ApiLimit(int(number), str(window), str(scope), **texts)


def _quotas(block: Mapping[str, Any], path: Path, problems: Problems) -> tuple[Quota, ...]:
    if block.get("quotas") is None:
        return ()
    here = (*path, "quotas")
    table = problems.table(block["quotas"], here)
    if table is None:
        return ()
    problems.only(table, _QUOTAS_KEYS, here, error=False)
    found = [_quota(item, (*here, "limits", at), problems) for at, item in _items(table, "limits", here, problems)]
    if not problems.flag(table, "enabled", here, True):
        return ()
    return tuple(one for one in found if one is not None)


def _quota(item: Any, path: Path, problems: Problems) -> Quota | None:
    table = problems.table(item, path)
    if table is None:
        return None
    problems.only(table, _QUOTA_KEYS, path)
    metric = problems.text(table, "metric", path, required=True)
    if metric.startswith("tokens_"):
        problems.error((*path, "metric"), f"{metric} cannot be counted here, only requests and cost can; leave it out")
        return None
    if metric not in METRICS:
        problems.error((*path, "metric"), f"metric: expected one of {', '.join(sorted(METRICS))}, got {shown(metric)}")
        return None
    numbers = {key: problems.number(table, key, path, 0, _MOST) for key in ("warn", "pause", "hard_stop")}
    warn, pause, stop = numbers["warn"], numbers["pause"], numbers["hard_stop"]
    if pause is None:
        problems.error(path, "pause is missing") if "pause" not in table else None
        return None
    warn = pause if warn is None else warn
    if not warn <= pause or (stop is not None and pause > stop):
        problems.error(path, "expected warn <= pause <= hard_stop")
        return None
    return Quota(metric, warn, pause, stop, problems.text(table, "currency", path))


def _prices(block: Mapping[str, Any], path: Path, problems: Problems) -> tuple[tuple[str, float], ...]:
    if block.get("cost") is None:
        return ()
    here = (*path, "cost")
    table = problems.table(block["cost"], here)
    if table is None:
        return ()
    problems.only(table, _COST_KEYS, here, error=False)
    found = []
    for at, item in _items(table, "pricing", here, problems):
        price = problems.table(item, (*here, "pricing", at))
        if price is None:
            continue
        problems.only(price, _PRICE_KEYS, (*here, "pricing", at), error=False)
        cost = problems.number(price, "cost_per_call", (*here, "pricing", at), 0, _MOST)
        if cost is not None:
            found.append((problems.text(price, "endpoint", (*here, "pricing", at)) or "*", cost))
    return tuple(found)
