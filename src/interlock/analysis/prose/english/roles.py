"""The role of a word in its clause, by rows of data about the words around it: a thing, an announced effect, a report, or a topic."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache

from interlock.analysis.lexicon.forms import form_of, nouns, scope, verb_forms
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.lexicon.rows import Rows
from interlock.analysis.prose import english
from interlock.analysis.prose.clauses import Tokens

_LISTS = WordLists("roles")
_PATTERNS = Patterns("roles")


class Around(dict[str, Collection[str]]):
    """The words around one word of a clause, by slot, each found when a row asks for it; `given` are slots that no clause has."""

    def __init__(self, low: Tokens, at: int, given: Mapping[str, Collection[str]] | None = None) -> None:
        self.low, self.at = low, at
        self["before"] = classes(low[at - 1]) if at else _NOTHING  # most rows ask for these two
        self["after"] = classes(low[at + 1]) if at + 1 < len(low) else _NOTHING
        if given:
            self.update(given)

    def __missing__(self, slot: str) -> Collection[str]:
        found = self[slot] = _SLOTS[slot](self.low, self.at)
        return found


@lru_cache(maxsize=8192)
def classes(word: str) -> tuple[str, ...]:
    """The word, and what it can be: scope, owner of what follows, a form of a verb, or what can stand before a verb in its plain form."""
    known = verb_forms().get(word)
    said = {
        "<scope>": word in scope(),
        "<owner>": word.endswith("'s") and word not in _LISTS.not_owners,
        "<adverb>": word.endswith(("ly", "all")),
        "<leads>": word.endswith(("ly", "_")) or (known is not None and known[2] == "do") or not word[:1].isalpha(),
        f"<{form_of(word)}>": word not in nouns(),
    }
    return (word, *(name for name, holds in said.items() if holds))


_NOTHING = ("",)
_SLOTS: Mapping[str, Callable[[Tokens, int], Collection[str]]] = {
    "word": lambda low, at: (low[at],),
    "place": lambda low, at: (str(at),),
    "before2": lambda low, at: (low[at - 2],) if at > 1 else _NOTHING,
    "after2": lambda low, at: (low[at + 2],) if at + 2 < len(low) else _NOTHING,
    "first": lambda low, at: low[:1],
    "second": lambda low, at: low[1:2],
    "early": lambda low, at: low[2:4],
    "front": lambda low, at: low[:at],
    "close": lambda low, at: low[max(0, at - 3) : at],
    "near": lambda low, at: low[at + 1 : at + 6],
    "beyond": lambda low, at: low[at + 2 : at + 9],
    "rest": lambda low, at: low[at + 1 :],
    "all": lambda low, at: low,
    "lately": lambda low, at: " ".join(low[max(0, at - 5) : at]),
    "ahead": lambda low, at: " ".join(low[:at]),
    "behind": lambda low, at: " ".join(low[at + 1 :]),
    "clause": lambda low, at: " ".join(low),
    "forms": lambda low, at: {form_of(word) for word in low[:at]},
    "verbs": lambda low, at: {verb_forms()[word][0] for word in low if word in verb_forms()},
    "denied": lambda low, at: ("yes",) if is_denied(low, at) else (),
    "passive": lambda low, at: ("yes",) if is_passive(low, at) else (),
    "others": lambda low, at: ("yes",) if by_others(low, at) else (),
}
AROUND = " ".join(("before", "after", *_SLOTS))
THINGS, ANNOUNCED = Rows("is_thing", "form kind", AROUND), Rows("announced", "form kind", AROUND)
SPEAKS, JOBS = Rows("speaks", "verb", AROUND), Rows("own_job", "", AROUND)
_PASSIVES, _REPORTS = Rows("passive", "", AROUND), Rows("report", "kind", AROUND)


def is_passive(low: Tokens, at: int) -> bool:
    """`will be deleted`, `get the table dropped`; not `was deleted`."""
    return bool(_PASSIVES.first((), Around(low, at)))


def is_report(low: Tokens, at: int, kind: str) -> bool:
    """`somebody dropped the table`: the past is what the clause is about, and somebody else's or one's own."""
    return bool(_REPORTS.first((kind,), Around(low, at)))


def by_others(low: Tokens, at: int) -> bool:
    """`will be dropped next quarter by the DBA`: somebody else does it, and not what an agent starts."""
    who = _PATTERNS.who.search(" ".join(low[at:]))
    return who is not None and not _LISTS.others.isdisjoint(named := who[1].split()) and _LISTS.tools.isdisjoint(named)


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


def is_denied(low: Tokens, at: int, near: int = 2, far: int = 6) -> bool:
    """True when a denial stands in front of this word and belongs to it: no further than `far`, a weak one no further than `near`."""
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
