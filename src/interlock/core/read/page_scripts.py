"""A script that runs in a page -> what it sends away, and what it deletes of the page's own store."""

from __future__ import annotations

import re

from interlock.core.read.facts import Report

_OWN = re.compile(
    r"document\.cookie|(?:local|session)Storage|indexedDB|\.(?:access_?)?token\b|credentials\.get\(|password",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r"(?:fetch|sendBeacon|XMLHttpRequest|axios|WebSocket|\.open|\.post|\.src|\.href|location|action|import)\W{0,4}[^;\n]{0,80}?[\"'`](?:https?:|wss?:)?//"
    r"(?!localhost|127\.0\.0\.1)",
    re.IGNORECASE,
)
_ERASES = re.compile(
    r"indexedDB\s*\.\s*deleteDatabase\s*\(|(?:local|session)Storage\s*\.\s*clear\s*\(|caches\s*\.\s*delete\s*\(|\.deleteDatabase\s*\(|\.getDirectory\(\).{0,80}\.remove"
)
_MOST = 20_000


def read_page_script(text: str, out: Report) -> None:
    """Reports what a script in a page does with what the page holds for its user."""
    text = text[:_MOST]
    if _OWN.search(text) and _AWAY.search(text):
        out.effect("act_leak", "what the page holds for its user")
    if _ERASES.search(text):
        out.effect("act_delete", "what the page has stored")
