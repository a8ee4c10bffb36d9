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
        if word.lower().startswith("e-mail"):
            found.append(word[:1] + word[2:])
        elif head.lower() == "un":
            found.append(
                f"un{verb}" if form_of(f"un{verb}") else word
            )  # `un-publish`; what `un-cancel` does is no harm
        elif head.isalpha() and ((head.lower() in _LISTS.how and _is_done(verb, found)) or _harms(head, verb)):
            found += [head, verb]
        else:
            found.append(word)
    return found


def _is_done(verb: str, before: Tokens) -> bool:
    """True for a form of a verb that is no attribute: `will be hard-deleted`, not `the soft-deleted vaults`."""
    form = form_of(verb)
    return form != "past" or bool(before and before[-1].lower() in LISTS.will_be) if form else False


def _harms(head: str, verb: str) -> bool:
    """`gdpr-erase`: a verb of harm behind a word that says how."""
    known = verb_forms().get(verb.lower())
    return (
        known is not None
        and known[1] in ("base", "ing")
        and known[2] not in _LISTS.tame
        and head.lower() not in _LISTS.harmless_heads
    )


def clauses(words: Tokens) -> list[Tokens]:
    """The words of a sentence, cut where a new act can begin."""
    found: list[Tokens] = [[]]
    for at, word in enumerate(words):
        low = word.lower()
        if low == ":" and len(found[-1]) == 1 and form_of(found[-1][0]) in ("ing", "base"):
            if form_of(words[min(at + 1, len(words) - 1)]) not in ("ing", "base"):
                continue  # `Deleting: /srv/data`; not `Delegate: check …`
        if (
            (low in _LISTS.hence and found[-1] and found[-1][-1] == ",")
            or low in _LISTS.always
            or (
                low in _LISTS.joints
                and not (at and words[at - 1].lower() in LISTS.determiners)
                and not (low == "also" and form_of(words[min(at + 1, len(words) - 1)]) == "third")
                and _begins_act(words, at + 1)
                and not _ends_in_verb(found[-1], words[at + 1 : at + 4])
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
    at = _behind_a_remark(words, at)
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


def _behind_a_remark(words: Tokens, at: int) -> int:
    """The place behind `as a last step` and its like, which say only when."""
    if at < len(words) and words[at].lower() in _LISTS.remarks:
        for place in range(at + 1, min(at + 5, len(words))):
            if words[place].lower() in _LISTS.remarked:
                return place + 1
    return at


def _ends_in_verb(clause: Tokens, after: Tokens) -> bool:
    """`drop and recreate`: two verbs that share what follows."""
    if after and after[0].lower() in _LISTS.speakers:
        return False
    if (
        {"it", "them"} & set(after)
        and len(clause) > 3
        and clause[-3].lower() in LISTS.determiners
        and clause[-4].lower() in LISTS.prepositions
    ):
        return False  # `from the forum post and start it`
    return (
        len(clause) > 1
        and form_of(clause[-1]) in ("base", "ing")
        and clause[-2].lower() not in LISTS.determiners
        and (
            clause[-2].lower() in _LISTS.among
            or not any(form_of(word) in ("base", "ing") and word.lower() not in _LISTS.between for word in clause[:-2])
        )
    )


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
