"""What operators can set about proxies: how long a held call waits, how long a server may take, how much it may say at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.core.problems import Problems

KEYS = frozenset({"wait_seconds", "answer_seconds", "line_bytes"})


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """The table `[proxy]`."""

    wait_seconds: int = 45  # that a held call waits for a person; clients give up after a minute
    answer_seconds: int = 3_600  # that a server may take for one answer
    line_bytes: int = 16_777_216  # that one message may have


_BOUNDS = {"wait_seconds": (0, 3_600), "answer_seconds": (1, 86_400), "line_bytes": (4_096, 268_435_456)}


def proxy_of(table: Mapping[str, Any], problems: Problems) -> ProxySettings:
    """The settings that a table describes; what is wrong with it goes to `problems`."""
    found = {
        key: problems.number(table, key, ("proxy",), least, most, whole=True) for key, (least, most) in _BOUNDS.items()
    }
    return ProxySettings(**{key: int(value) for key, value in found.items() if value is not None})
