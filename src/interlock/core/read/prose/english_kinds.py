"""An English verb and its object -> the kind of the object, and whether it is only a piece of code or of a text."""

from __future__ import annotations

import re

from interlock.core.read.prose import english_scope as scope
from interlock.core.read.prose.acts import Traits
from interlock.core.read.prose.clauses import Tokens
from interlock.core.read.prose.english_objects import Thing


def kind_of(kind: str, verb: str, thing: Thing, low: Tokens, at: int) -> str:
    """The kind of the object, where the verb and the words around say more than the noun."""
    if kind in ("shed", "maybe") and not thing.direct:
        return ""
    if verb in _EDITS and not thing.traits & _WHOLLY and not _WRITINGS.isdisjoint(low[at + 1 : at + 6]):
        return "code"  # `clean up my notes`
    rest = set(low[at + 1 :])
    if thing.kind == "data" and "branch" in rest and _is_merged(thing):
        return "scrap"
    if (
        kind in ("bypass", "disable", "force", "remove")
        and thing.guards
        and thing.kind in ("code", "", "resource", "config", "data")
    ):
        return thing.guards
    if thing.kind == "scrap" and "production" in thing.traits:
        return "data"
    if thing.kind == "code" and (
        thing.traits & {"production", "database", "table"} or verb in ("unpublish", "deprovision")
    ):
        return "resource" if kind in ("disable", "stop") else "data"
    if kind in ("remove", "destroy", "revoke", "block") and thing.kind in ("account", "") and rest & _OUT_OF:
        if thing.group and kind != "block":
            return "access"
    if kind == "send" and verb in ("copy", "export") and rest & _HERE:
        return ""
    if kind == "disable" and rest & _FEATURES and not thing.traits & {"staging"}:
        return "config"
    if kind in ("send", "expose") and _PUBLIC_HALF.search(" ".join(low)):
        return ""
    if kind in ("send", "expose", "leak") and (thing.secret or thing.kind == "credential"):
        return "private"
    if kind == "cancel" and thing.kind == "credential" and rest & _SITTINGS:
        return ""
    if kind == "cancel" and (rest | set(thing.words.lower().split())) & _ORDERS:
        return "order"
    if (
        kind == "charge"
        and verb in ("pay", "wire", "payout", "disburse", "remit", "reimburse", "debit")
        and thing.kind != "code"
    ):
        return "" if verb == "wire" and rest & _INTO else "money"
    if kind == "charge" and any(word[:1] in "$€£" or (word[:1].isdigit() and len(word) > 2) for word in rest if word):
        return "money"
    return thing.kind


def _is_merged(thing: Thing) -> bool:
    """`the local branch x with -d`, `the merged branch x`: what it held is elsewhere, or Git refuses."""
    words = set(thing.words.split())
    return (
        not words.isdisjoint(("-d", "merged", "already-merged"))
        and words.isdisjoint(_UNMERGED)
        and "all" not in thing.traits
    )


_UNMERGED = frozenset("-D --force unmerged remote origin main master release not".split())
_EDITS = frozenset("clean tidy strip trim cleanse declutter".split())
_WHOLLY: Traits = frozenset({"all", "production", "permanent", "no_backup", "audit_log"})
_WRITINGS = frozenset(
    "notes note draft essay slides deck presentation readme docstring docstrings report wording formatting prose minutes transcript manuscript".split()
)
_HOOKED = re.compile(r"(?:component|use|on|ng|before|after|did|will|handle)[A-Z]\w+$")
_HERE = frozenset("home local locally clipboard keyring".split())
_FEATURES = frozenset("feature features".split())
_ORDERS = frozenset("order orders booking bookings reservation reservations".split())
_INTO = frozenset("into up in through together".split())
_PUBLIC_HALF = re.compile(r"\bpublic (?:\w+ )?keys?\b(?!.*\b(?:and|private|secret))")
_SITTINGS = frozenset("session sessions login cookie cookies".split())  # of a course, of a dialogue
_OUT_OF = frozenset("from of off in".split())


def in_code(thing: Thing, low: Tokens, at: int, traits: Traits, kind: str) -> bool:
    """True when what goes is a piece of source or of a text, not the thing itself."""
    if traits & {"production", "database", "table", "bucket", "volume", "backup", "all", "permanent"} or thing.kind in (
        "log",
        "machine",
        "device",
        "disk",
    ):
        return False
    if kind in ("leak", "send", "refund", "charge", "bypass"):
        return False
    if thing.kind in ("resource", "", "event") and any(map(_HOOKED.match, thing.words.split()[1:])):
        return True  # `the modal instance in componentWillUnmount`
    place = scope.CODE_PLACE.search(" ".join(low[at:]))
    return place is not None and not (thing.kind == "access" and place[0].startswith("to "))
