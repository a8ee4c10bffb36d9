"""What operators can set about the console: where it is reached, and how long a browser stays signed in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from interlock.core.problems import Problems

KEYS = frozenset({"public_url", "idle_minutes", "session_hours"})
_HOST = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """The table `[console]`."""

    public_url: str = ""  # https://name, where people reach it from elsewhere; empty: this device only
    idle_minutes: int = 30  # without a request, after which a browser is signed out
    session_hours: int = 12  # after which it is signed out anyway


def console_of(table: Mapping[str, Any], problems: Problems) -> ConsoleSettings:
    """The settings that a table describes; what is wrong with it goes to `problems`."""
    plain = ConsoleSettings()
    idle = problems.number(table, "idle_minutes", ("console",), 1, 720, whole=True)
    hours = problems.number(table, "session_hours", ("console",), 1, 72, whole=True)
    return ConsoleSettings(
        _address(table, problems),
        plain.idle_minutes if idle is None else int(idle),
        plain.session_hours if hours is None else int(hours),
    )


def _address(table: Mapping[str, Any], problems: Problems) -> str:
    """The address without a slash at its end; passkeys are bound to its name, so that it has to have one."""
    url = (
        str(problems.text(table, "public_url", ("console",)) if table.get("public_url") != "" else "")
        .strip()
        .rstrip("/")
    )
    if url and (wrong := _wrong(url)):
        problems.error(("console", "public_url"), wrong)
        return ""
    return url.lower()


def _wrong(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = (parts.hostname or ""), parts.port
    except ValueError:
        return "no address"
    if parts.scheme != "https" or parts.path or parts.query or parts.fragment or parts.username:
        return "expected https:// and a name alone, such as https://interlock.example.com"
    if not _HOST.fullmatch(host) or host.rpartition(".")[2].isdigit():
        return "expected a name, not a number: passkeys are bound to a name"
    return ""
