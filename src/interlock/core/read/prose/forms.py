"""An English verb -> the forms in which it is written."""

from __future__ import annotations

_VOWELS = frozenset("aeiou")
BASE, THIRD, ING, PAST = "base", "third", "ing", "past"
_IRREGULAR = {
    "send": "sent", "give": "gave given", "take": "took taken", "make": "made", "get": "got gotten", "tear": "tore torn",
    "blow": "blew blown", "throw": "threw thrown", "shut": "shut", "cut": "cut", "put": "put", "run": "ran", "let": "let",
    "write": "wrote written", "overwrite": "overwrote overwritten", "rewrite": "rewrote rewritten", "pay": "paid",
    "sell": "sold", "buy": "bought", "bring": "brought", "spin": "spun", "wind": "wound", "see": "saw seen", "read": "read",
    "find": "found", "lose": "lost", "leave": "left", "strike": "struck", "burn": "burnt burned", "go": "went gone",
    "show": "showed shown", "reset": "reset", "build": "built", "set": "set", "think": "thought", "tell": "told",
    "undo": "undid undone", "draw": "drew drawn", "hold": "held", "keep": "kept", "know": "knew known", "do": "did done",
    "begin": "began begun", "start": "started", "shred": "shredded", "withdraw": "withdrew withdrawn",
    "freeze": "froze frozen", "redo": "redid redone", "do away": "did away", "expose": "exposed", "cast": "cast",
    "rip": "ripped", "hide": "hid hidden", "quit": "quit", "say": "said", "stick": "stuck", "break": "broke broken",
}  # fmt: skip


def forms(verb: str) -> dict[str, str]:
    """Every form of a verb, and which one it is; a base that is also a past form counts as base."""
    found = dict.fromkeys(_pasts(verb), PAST)
    found |= dict.fromkeys(_gerunds(verb), ING)
    found |= {_third(verb): THIRD, verb: BASE}
    return found


def _third(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return verb[:-1] + "ies"
    return verb + "s"


def _gerunds(verb: str) -> set[str]:
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return {verb[:-1] + "ing"}
    return {verb + "ing", *([verb + verb[-1] + "ing"] if _doubles(verb) else [])}


def _pasts(verb: str) -> set[str]:
    if verb in _IRREGULAR:
        return set(_IRREGULAR[verb].split())
    if verb.endswith("e"):
        return {verb + "d"}
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return {verb[:-1] + "ied"}
    return {verb + "ed", *([verb + verb[-1] + "ed"] if _doubles(verb) else [])}


def _doubles(verb: str) -> bool:
    return len(verb) > 2 and verb[-1] not in "aeiouwxy" and verb[-2] in _VOWELS and verb[-3] not in _VOWELS


def plural(noun: str) -> str:
    """The plural of an English noun."""
    if noun.endswith(("s", "sh", "ch", "x", "z")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in _VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"
