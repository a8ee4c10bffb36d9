"""Sentences -> clauses of at most one announced effect each, and the role of a word among those around it, by rows of data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache

from msgspec import Struct

from interlock.analysis.lexicon import form_of, nominals, nouns, scope, verb_forms
from interlock.analysis.lexicon.load import Patterns, Rows, WordLists
from interlock.analysis.lexicon.load import english as english_words
from interlock.analysis.operations.names import is_operation
from interlock.analysis.prose.embedded import MARK

ENGLISH = WordLists("english")
_PATTERNS = Patterns("clauses")
_LISTS = WordLists("clauses")


def may_say(cues: tuple[str, ...], text: str) -> bool:
    """False when none of the pieces is in the text of which one is in every wording of a pattern."""
    for cue in cues:  # noqa: SIM110 - a generator would cost more than what is saved by asking first
        if cue in text:
            return True
    return False


_LONGEST = 100  # words; a longer clause is read in pieces
Tokens = list[str]


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with its closing mark."""
    pieces = _PATTERNS.sentence.split(text) if _PATTERNS.ends.search(text) else [text]
    return [piece.strip() for piece in pieces if piece and piece.strip(" .!;")]


def tokens(sentence: str) -> Tokens:
    """The words of a sentence in lower case; marks and names stay whole, and a trailing dot goes."""
    found: Tokens = []
    for piece in _PATTERNS.piece.findall(sentence.replace("’", "'")):
        word = piece.rstrip(".:") or piece
        if "-" not in word:
            found.append(word)
            continue
        head, _, verb = word.partition("-")
        how, (_, form, kind) = head.lower(), verb_forms().get(verb.lower(), ("", "", ""))
        harms = how in _LISTS.how or (kind not in _LISTS.tame and how not in _LISTS.harmless_heads)
        if how == "un":  # `un-publish`; what `un-cancel` does is no harm
            found.append(f"un{verb}" if form_of(f"un{verb}") else word)
        elif harms and head.isalpha() and form in ("base", "ing"):
            found += [head, verb]  # `hard-delete`, `gdpr-erase`: a verb of harm behind a word that says how
        else:
            found.append(word)
    return found


def clauses(words: Tokens) -> list[Tokens]:
    """The words of a sentence, cut where a new act can begin."""
    found: list[Tokens] = [[]]
    for at, word in enumerate(words):
        low = word.lower()
        if (
            (low in _LISTS.hence and found[-1] and found[-1][-1] == ",")
            or low in _LISTS.always
            or (
                low in _LISTS.joints
                and not (at and words[at - 1].lower() in ENGLISH.determiners)
                and not (low == "also" and form_of(words[min(at + 1, len(words) - 1)]) == "third")
                and not (at and words[at - 1].isupper() and form_of(words[at - 1]))  # `explain DROP and TRUNCATE`
                and _begins_act(words, at + 1)
            )
        ):
            found.append([])
        elif len(found[-1]) >= _LONGEST:
            found.append([word])
        elif low in _LISTS.ways and at + 1 < len(words) and form_of(words[at + 1]) == "ing":
            found.append([low])
        elif low != ",":
            found[-1].append(word)
        elif found[-1]:
            found[-1].append(",")
    return [clause for clause in found if clause]


def framed(low: Tokens, at: int) -> str:
    """The words as one text with `¦` for the one that a pattern is about."""
    return " ".join([*low[:at], "¦", *low[at + 1 :]])


def _begins_act(words: Tokens, at: int) -> bool:
    """True when a verb, a denial, a command or an operation's name comes next."""
    for place, word in enumerate(words[at : at + 5], at + 1):
        low = word.lower()
        deed = low in nominals() or low.removesuffix("s") in nominals()
        if deed and (place == len(words) or words[place].lower() in ENGLISH.prepositions):
            return False  # `the disputes and refunds of last week`
        if word.startswith(MARK) or low in ENGLISH.negations or is_operation(word):
            return True
        if form_of(low) in ("base", "ing", "third"):
            return True
        if low not in _LISTS.between and low != ",":
            return False
    return False


Traits = frozenset[str]
NOTHING: Traits = frozenset()
SEVERAL: Traits = frozenset({"all", "bulk"})


class AnnouncedAct(Struct, frozen=True):
    """One thing that a sentence announces."""

    verb: str
    target: str = ""
    traits: Traits = NOTHING

    @property
    def harmful(self) -> bool:
        return self.verb not in ("act_change", "act_read", "act_vague") or "mutates" in self.traits


def act(kind: str, thing: str, target: str, traits: Traits) -> AnnouncedAct:
    """What a verb of this kind does to a thing of this kind, with everything that is known about it."""
    effect, traits = english_words().effect(kind, thing, traits)
    if effect == "act_send" and traits.isdisjoint(SEVERAL):
        effect = "act_change"
    if traits.isdisjoint(SEVERAL):
        traits = traits | {"one"}
    return AnnouncedAct(effect, target[:120], traits - {"admin", "public"})


# -- the words around a word ------------------------------------------------------------------------------


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
    verb, form, kind = verb_forms().get(word, ("", "", ""))
    stops = form in ("third", "past") and (kind in _LISTS.holds or verb in _LISTS.refuses)
    said = {
        "<scope>": word in scope(),
        "<owner>": word.endswith("'s") and word not in _LISTS.not_owners,
        "<adverb>": word.endswith(("ly", "all")),
        "<leads>": word.endswith(("ly", "_")) or kind == "do" or not word[:1].isalpha(),
        "<refuses>": stops or word in _LISTS.held,
        "<doing>": bool(verb) and word.endswith("ing"),
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
    "passive": lambda low, at: ("yes",) if _PASSIVES.first((), Around(low, at)) else (),
    "by": lambda low, at: who[1].split() if (who := _PATTERNS.who.search(" ".join(low[at:]))) else (),
}
AROUND = " ".join(("before", "after", *_SLOTS))
_PASSIVES: Rows = Rows("passive", "", AROUND)


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
    table, close, negations = verb_forms(), ENGLISH.close, ENGLISH.negations
    for place in range(at - 1, max(-1, at - far - 1), -1):
        word = low[place]
        if word == "," and not _LISTS.speakers.isdisjoint(low[place + 1 : at]):
            return False  # `I was asked not to, still I delete it`
        if word in negations:
            return word not in close or at - place <= near
        if word in table and table[word][2] not in ("do", "make", "look") and table[word][1] != "past":
            return False
    return False
