"""Splits sentences into clauses of at most one announced effect each, and looks up that effect."""

from __future__ import annotations

import re

from msgspec import Struct

from interlock.analysis.lexicon.forms import form_of, nominals, verb_forms
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.lexicon.load import english as english_words
from interlock.analysis.operations.names import is_operation
from interlock.analysis.prose.embedded import MARK
from interlock.analysis.prose.english import LISTS

_PATTERNS = Patterns("clauses")
_LISTS = WordLists("clauses")

_ENDS = re.compile(r"[.!?;\n。！？；؟।]")
_PIECE = re.compile(
    rf"{MARK}.|[^\W_]++(?=[ ,]|$)|[~.]?/?[\w@#%&$*+~./:\\-]{{0,200}}[\w*/~](?:['’](?:s|t|m|re|ll|ve|d)\b|s['’](?=\s))?|[,:()—–|→\[\]]|--?>?|=>|&"
)
_LONGEST = 100  # words; a longer clause is read in pieces
Tokens = list[str]


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with its closing mark."""
    pieces = _PATTERNS.sentence.split(text) if _ENDS.search(text) else [text]
    return [piece.strip() for piece in pieces if piece and piece.strip(" .!;")]


def tokens(sentence: str) -> Tokens:
    """The words of a sentence in lower case; marks and names stay whole, and a trailing dot goes."""
    found: Tokens = []
    for piece in _PIECE.findall(sentence.replace("’", "'")):
        word = piece.rstrip(".:") or piece
        if "-" not in word:
            found.append(word)
            continue
        head, _, verb = word.partition("-")
        if head.lower() == "un":  # `un-publish`; what `un-cancel` does is no harm
            found.append(f"un{verb}" if form_of(f"un{verb}") else word)
        elif head.isalpha() and _harms(head.lower(), verb.lower()):
            found += [head, verb]
        else:
            found.append(word)
    return found


def _harms(head: str, verb: str) -> bool:
    """`hard-delete`, `gdpr-erase`: a verb of harm behind a word that says how."""
    _, form, kind = verb_forms().get(verb, ("", "", ""))
    return form in ("base", "ing") and (
        head in _LISTS.how or (kind not in _LISTS.tame and head not in _LISTS.harmless_heads)
    )


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
                and not (at and words[at - 1].lower() in LISTS.determiners)
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
        if (low in nominals() or low.removesuffix("s") in nominals()) and (
            place == len(words) or words[place].lower() in LISTS.prepositions
        ):
            return False  # `the disputes and refunds of last week`
        if word.startswith(MARK) or low in LISTS.negations or is_operation(word):
            return True
        if form_of(low) in ("base", "ing", "third"):
            return True
        if low not in _LISTS.between and low != ",":
            return False
    return False


Traits = frozenset[str]
NOTHING: Traits = frozenset()


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
    if effect == "act_send" and traits.isdisjoint(_SEVERAL):
        effect = "act_change"
    if traits.isdisjoint(_SEVERAL):
        traits = traits | {"one"}
    return AnnouncedAct(effect, target[:120], traits - {"admin", "public"})


_SEVERAL: Traits = frozenset({"all", "bulk"})
