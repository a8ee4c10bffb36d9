"""`find X -name P -delete` -> exactly what it deletes; None for one that says more than is known here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.core.read.facts import QUOTED, Command, known

_NAMES = {"-name": False, "-iname": True}
_TYPES = frozenset("fdl")
_PLAIN = frozenset({"-print", "-depth", "-mount", "-xdev"})


def found_by(fact: Command) -> Mapping[str, Any] | None:
    """Where it begins, which names, which kinds, how deep."""
    if fact.program != "find" or fact.words[-1:] != ("-delete",) or not all(map(known, fact.words)) or fact.env:
        return None
    words = list(fact.words[:-1])
    roots: list[str] = []
    while words and not words[0].startswith(("-", "(", "!")):
        roots.append(words.pop(0))
    if len(roots) > 1:
        return None
    found: dict[str, Any] = {"root": (roots or ["."])[0], "name": "", "icase": False, "type": "", "depth": [0, -1]}
    while words:
        word = words.pop(0)
        if word in _PLAIN:
            continue
        if not words or not _taken(found, word, words.pop(0)):
            return None
    return found if found["name"] and not any(QUOTED in one for one in (found["root"], found["name"])) else None


def _taken(found: dict[str, Any], word: str, value: str) -> bool:
    """Whether an option and its value are known; one name, and one kind."""
    if word in _NAMES and not found["name"]:
        found["name"], found["icase"] = value, _NAMES[word]
    elif word == "-type" and value in _TYPES and not found["type"]:
        found["type"] = value
    elif word in ("-maxdepth", "-mindepth") and value.isdecimal() and len(value) < 4:
        found["depth"][word == "-maxdepth"] = int(value)
    else:
        return False
    return True
