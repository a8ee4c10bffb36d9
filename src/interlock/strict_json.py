"""Reads JSON that has one reading only: no key twice, no number that is none, and none without end; and takes of it what has the expected form."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_DIGITS = 400  # of a number


class UnclearJson(ValueError):
    """JSON that two readers could take for different things; the message says why."""


def table_in(given: Any, key: str) -> Mapping[str, Any]:
    """Empty where something from outside has no such table."""
    found = given.get(key) if isinstance(given, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def list_in(given: Any, key: str) -> Sequence[Any]:
    """Empty where something from outside has no such list."""
    found = given.get(key) if isinstance(given, Mapping) else None
    return found if isinstance(found, list) else ()


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuses a duplicate key, of which some readers take the first and others the last."""
    table = dict(pairs)
    if len(table) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise UnclearJson(f"the key {twice!r:.80} is given twice")
    return table


def number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise UnclearJson("a number is too large")
    return value


def as_written(text: str) -> str:
    """A fraction as it was written: floats have many spellings, and digests exclude them."""
    if len(text) > _DIGITS:
        raise UnclearJson("a number is too long")
    return text


def decoder(fraction: Callable[[str], Any]) -> json.JSONDecoder:
    """A strict decoder; `fraction` makes a value of a number with a point or an exponent."""
    return json.JSONDecoder(
        object_pairs_hook=unique_keys, parse_int=_whole, parse_float=fraction, parse_constant=no_constant
    )


def no_constant(word: str) -> Any:
    """Refuses NaN and Infinity, which are JavaScript's and not JSON's."""
    raise UnclearJson(f"{word} is no number of JSON")


def _whole(text: str) -> int:
    return int(as_written(text))
