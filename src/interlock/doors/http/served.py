"""What a proxy says of the server behind it -> claims; every key is checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from interlock.core.model import Level
from interlock.core.trust import TRUSTS, Trust
from interlock.doors.http.errors import Problem
from interlock.service.servers import HINTS, Server

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MARK = re.compile(r"[0-9a-f]{64}")
_KEYS = frozenset({"name", "mark", "words", "trust", "level", "why", "hints"})
_RAISED: Mapping[int, Level] = {int(level): level for level in Level if level < Level.FORBIDDEN}
_LONG = 4_096


def server_of(given: Any) -> Server:
    """The server; raises Problem for one that cannot be told from others."""
    if type(given) is not dict or not _KEYS.issuperset(given):
        raise _wrong(f"server: expected an object with {', '.join(sorted(_KEYS))}")
    name, mark, level = given.get("name"), given.get("mark"), given.get("level", 0)
    if type(name) is not str or not NAME.fullmatch(name):
        raise _wrong("server.name: expected 1 to 64 of A-Z, a-z, 0-9, -, _ and .")
    if type(mark) is not str or not _MARK.fullmatch(mark):
        raise _wrong("server.mark: expected a SHA-256 in hexadecimal")
    if type(level) is not int or level not in _RAISED:
        raise _wrong(f"server.level: expected one of {', '.join(map(str, _RAISED))}")
    words, why = _words(given, "words"), _words(given, "why")
    return Server(name, mark, words, _trust(given), _RAISED[level], why, _hints(given), "trust" in given)


def _hints(given: Mapping[str, Any]) -> frozenset[str]:
    value = given.get("hints", [])
    if type(value) is not list or not all(type(one) is str for one in value) or not HINTS.issuperset(value):
        raise _wrong(f"server.hints: expected a list of {' and '.join(sorted(HINTS))}")
    return frozenset(value)


def _trust(given: Mapping[str, Any]) -> Trust:
    word = given.get("trust", Trust.UNTESTED.word)
    if type(word) is not str or word not in TRUSTS:
        raise _wrong(f"server.trust: expected one of {', '.join(TRUSTS)}")
    return TRUSTS[word]


def _words(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key, "")
    if type(value) is not str or len(value) > _LONG:
        raise _wrong(f"server.{key}: expected a text of up to {_LONG} characters")
    return value


def _wrong(words: str) -> Problem:
    return Problem("VALIDATION_INVALID_VALUE", words)
