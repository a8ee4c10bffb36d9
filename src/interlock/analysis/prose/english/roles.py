"""The role of a word in its clause: a thing, an announced effect, a report, or a topic."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise

from interlock.analysis.lexicon.forms import form_of, nouns, scope, verb_forms
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps
from interlock.analysis.lexicon.rows import Rows
from interlock.analysis.prose import english
from interlock.analysis.prose.clauses import Tokens, framed

_LISTS = WordLists("roles")
_PATTERNS = Patterns("roles")
_MAPS = WordMaps("roles")


_THINGS = Rows("is_thing", "form kind", "word before before2 after front first")


def is_noun(low: Tokens, at: int, form: str, kind: str) -> bool:
    """True when the word is a thing here: after an article with nothing done to it, or in front of a noun it belongs to."""
    said = _THINGS.first(
        (form, kind),
        lambda: {
            "word": (low[at],),
            "before": _classes(low[at - 1]) if at else _NOTHING,
            "before2": (low[at - 2] if at > 1 else "",),
            "after": (low[at + 1] if at + 1 < len(low) else "",),
            "front": low[:at],
            "first": low[:1],
        },
    )
    return said == "thing"


_NOTHING = ("",)


@lru_cache(maxsize=8192)
def _classes(word: str) -> tuple[str, ...]:
    """The word, and what it can be: scope, owner of what follows, or something behind which a verb in its plain form can stand."""
    known = verb_forms().get(word)
    leads = word.endswith(("ly", "_")) or (known is not None and known[2] == "do") or not word[:1].isalpha()
    owns = word.endswith("'s") and word not in _LISTS.not_owners
    said = {"<scope>": word in scope(), "<owner>": owns, "<leads>": leads}
    return (word, *(name for name, holds in said.items() if holds))


def is_passive(low: Tokens, at: int) -> bool:
    """`will be deleted`, `get the table dropped`; not `was deleted`."""
    near = low[max(0, at - 3) : at]
    if set(near) & english.LISTS.reported:
        return False
    if near and near[-1] in english.LISTS.will_be:
        return True
    if (
        len(near) > 1
        and near[-2] in english.LISTS.will_be
        and (near[-1] in _LISTS.how or near[-1].endswith(("ly", "all")))
    ):
        return True
    return at > 1 and low[0] in ("have", "having", "get", "getting", "want", "need", "needs") and at <= 8


def is_report(low: Tokens, at: int, kind: str) -> bool:
    """`somebody dropped the table`: the past is what the clause is about, and somebody else's or one's own."""
    if (
        kind not in english.LISTS.grave
        or not 0 < at <= 5
        or low[at - 1] in english.LISTS.determiners
        or low[at - 1] in english.LISTS.prepositions
    ):
        return False
    after = low[at + 1] if at + 1 < len(low) else ""
    return (after in english.LISTS.determiners or after in scope()) and not any(
        form_of(word) in ("base", "ing") for word in low[:at]
    )


def is_relative(low: Tokens, at: int) -> bool:
    """`the timeout after which connections are dropped`: what only says when or where something else happens."""
    return _PATTERNS.relative.search(" ".join(low[:at])) is not None


def by_others(low: Tokens, at: int) -> bool:
    """`will be dropped next quarter by the DBA`: somebody else does it, and not what an agent starts."""
    who = _PATTERNS.who.search(" ".join(low[at:]))
    return who is not None and not _LISTS.others.isdisjoint(named := who[1].split()) and _LISTS.tools.isdisjoint(named)


def reports(low: Tokens) -> bool:
    """`ops rebooted the database`: true when the first verb of a clause is what somebody has done to something."""
    for at, word in enumerate(low[:6]):
        known = verb_forms().get(word)
        if known is not None and known[1] != "noun":
            return (
                known[1] == "past"
                and word not in _LISTS.caused
                and is_report(low, at, "stop")
                and not is_passive(low, at)
            )
    return False


def topic_at(low: Tokens) -> int:
    """Where the topic of a text begins that the clause composes or reads: `write an article about …`; its end when there is none."""
    if _LISTS.speech.isdisjoint(low) and _LISTS.papers.isdisjoint(low):
        return len(low)
    head = next((at for at, word in enumerate(low) if word in verb_forms()), len(low))
    verb, form, kind = verb_forms().get(low[head], ("", "", "")) if head < len(low) else ("", "", "")
    if form not in ("base", "ing") or (kind not in ("make", "look") and verb not in _LISTS.composes):
        return len(low)
    text = _PATTERNS.topic.match(" ".join(low[head + 1 :]))
    about = head + 1 + text[1].count(" ") if text else len(low)
    return about if _LISTS.starts.isdisjoint(low[:about]) else len(low)


def is_checked(low: Tokens, at: int, kind: str) -> bool:
    """`a check that blocks force pushes`: what is set up here stops others from doing harm."""
    return (
        kind in _LISTS.stops and at > 1 and low[at - 1] in ("that", "which") and not _LISTS.checks.isdisjoint(low[:at])
    )


def is_subject(low: Tokens, at: int) -> bool:
    """`a meeting about deleting …`: what somebody speaks or writes of."""
    near = low[max(0, at - 5) : at]
    return any(word in _LISTS.speech and set(near[place + 1 :]) & _LISTS.about for place, word in enumerate(near))


def is_told(verb: str, low: Tokens, at: int) -> bool:
    """`tell the user that dropping it is forbidden`: the rest of the clause is what somebody is told."""
    if verb not in _LISTS.tellers:
        return False
    said = _PATTERNS.tells if verb in _LISTS.speak else _PATTERNS.tells_somebody
    return said.match(" ".join(low[at + 1 :])) is not None


def only_looks(verb: str, low: Tokens, at: int) -> str:
    """look or make, when the word behind makes a verb of reading, restoring or composing out of it: `go through the logs`."""
    after = low[at + 1] if at + 1 < len(low) else ""
    kind = _MAPS.looking.get(f"{verb}+{after}", "")
    if kind and after == "through" and not {"with", "to"}.isdisjoint(low[at + 2 :]):
        return ""  # `go through with it`, `go through the list to empty it`
    if not kind and verb in _LISTS.brings and _PATTERNS.out_of_the_bin.search(" ".join(low[at + 1 :])):
        return "make"
    if not kind and verb in _LISTS.brings and "back" in low[at + 2 : at + 9]:
        return "make" if not _LISTS.lost.isdisjoint(low[at:]) else ""
    return kind


@cache
def leaders() -> frozenset[str]:
    """Verbs that may do nothing but lead to what is told, read or restored."""
    return _LISTS.tellers | _LISTS.brings | {pair.partition("+")[0] for pair in _MAPS.looking}


def job_does(low: Tokens, at: int) -> bool:
    """`create a cron job that deletes …`: what is made here will do it by itself."""
    near = low[max(0, at - 3) : at]
    return bool({"that", "to", "which"} & set(near[-2:])) and bool(
        set(low[:at]) & {"cron", "nightly", "scheduled", "lifecycle"}
    )


def is_fronted(low: Tokens, at: int) -> bool:
    """`the old logs I delete tonight`: what the verb is done to stands in front of who does it."""
    return at > 2 and _PATTERNS.fronted.match(framed(low, at)) is not None


def is_denied(low: Tokens, at: int, near: int = 2, far: int = 6) -> bool:
    """True when a denial stands in front of this word and belongs to it: no further than `far`, a weak one no further than `near`."""
    if low[max(0, at - 3) : at] == ["no", "need", "to"]:
        return True
    table, close, negations = verb_forms(), english.LISTS.close, english.LISTS.negations
    for place in range(at - 1, max(-1, at - far - 1), -1):
        word = low[place]
        if word == "," and not _SPEAKERS.isdisjoint(low[place + 1 : at]):
            return False  # `I was asked not to, still I delete it`
        if word in negations:
            return word not in close or at - place <= near
        if word in table and table[word][2] not in ("do", "make", "look") and table[word][1] != "past":
            return False
    return False


_SPEAKERS = frozenset("i we i'll we'll i'm we're".split())


def is_empty(low: Tokens, at: int) -> bool:
    """`delete nothing`, `remove no rows`; not `delete no longer needed rows`, nor `nothing but`."""
    after = low[at + 1 : at + 3]
    return bool(after) and (
        (after[0] in ("nothing", "none", "nobody") and after[1:] != ["but"])
        or (after[0] in ("no", "zero") and len(after) > 1 and after[1] not in ("longer", "more", "out"))
    )


def is_recipient(low: Tokens) -> bool:
    """`give the admin a report`: who has the rights already is given something else."""
    return any(
        scope().get(word) == "admin" and other in english.LISTS.determiners for word, other in pairwise(low)
    ) and not any(word in nouns() and nouns()[word][0] == "access" for word in low)
