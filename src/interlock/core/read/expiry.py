"""Rules about how long something is kept -> whether they delete what is there now."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from interlock.core.read.params import squash, walk

Deed = tuple[str, tuple[str, ...]]
KEEPING = frozenset("lifecycle retention ttl ilm expiration expiry expire lifetime retain live".split())
_SOON = 8 * 86_400  # seconds: what is deleted within a week was never to be kept
_SHORT = 86_400
_HOUR = 3600
_PER: Mapping[str, float] = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800, "": 86_400}
_AMOUNT = re.compile(r"\s*(\d{1,15})\s*(ms|min|s|m|h|d|w|)[a-z]{0,8}\s*$", re.IGNORECASE)
_PASSING = re.compile(
    r"tmp|temp|cache|scratch|preview|build|artifact|session|log|debug|trash|incomplete|multipart", re.IGNORECASE
)
_AGES = frozenset("days age minage afterdays daysafter expireafterdays numberofdays maxage expiredays".split())
_BORN = ("creat", "updat", "insert", "birth", "timestamp", "modif")


def expires(words: tuple[str, ...], params: Mapping[str, Any]) -> list[Deed]:
    """The deletions that a rule of keeping brings soon."""
    about = not KEEPING.isdisjoint(words)
    named = deletes = passing = passes = born = False
    soonest = float("inf")
    for key, value, depth, above in walk(params):
        if depth < 0:
            break
        short, upper = squash(key), squash(above)
        if about and isinstance(value, str) and short in ("attributename", "attribute", "field", "column"):
            named = named or value.lower().startswith(_BORN)
        if isinstance(value, str) and short in (
            "prefix",
            "matchesprefix",
            "pattern",
            "name",
            "bucket",
            "topic",
            "loggroupname",
        ):
            passing = passing or bool(value and _PASSING.search(value[:200]))
        if (
            "expiration" in (short, upper)
            or short == "delete"
            or str(value).lower()[:12] in ("delete", "expire", "purge")
        ):
            deletes = True
        if short.startswith("expireafter") and isinstance(value, (int, float)) and 0 < value <= _HOUR:
            passes = True
        born = born or (upper in ("keys", "key", "fields") and short.startswith(_BORN))
        seconds = _seconds(
            short, value, "retention" in short or (about and (short in _AGES or short in ("period", "value")))
        )
        if seconds is not None and "abort" not in upper and "transition" not in upper and "noncurrent" not in upper:
            if "retention" in short or ("retention" in words and short in (*_AGES, "period", "value")):
                if seconds <= _SHORT:
                    return [("act_delete", ("bulk",))]
            soonest = min(soonest, seconds)
    if named or (passes and born) or (about and deletes and (soonest < _SHORT or (soonest < _SOON and not passing))):
        return [("act_delete", ("bulk",))]
    return []


def _seconds(key: str, value: object, counts: bool) -> float | None:
    """How long a value says, in seconds."""
    if not counts or isinstance(value, bool) or value is None:
        return None
    unit = next((unit for ending, unit in _ENDINGS if key.endswith(ending)), "")
    if isinstance(value, (int, float)):
        return value * _PER[unit]
    found = _AMOUNT.match(value) if isinstance(value, str) else None
    return float(found[1]) * _PER[found[2].lower() or unit] if found else None


_ENDINGS = (("ms", "ms"), ("seconds", "s"), ("secs", "s"), ("minutes", "min"), ("hours", "h"), ("weeks", "w"))
