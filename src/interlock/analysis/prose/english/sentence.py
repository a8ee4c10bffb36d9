"""English sentences that announce nothing (guards, judgements, descriptions), and their references to data, quotations and buttons."""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from interlock.analysis.lexicon.forms import form_of, nouns, verb_forms
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.prose.clauses import AnnouncedAct, Tokens
from interlock.analysis.prose.english import LISTS, may_say
from interlock.analysis.prose.english.objects import EnglishObject, thing_in

_PATTERNS = Patterns("sentence")
_LISTS = WordLists("sentence")

# -- a stack that comes back, or whose data stays ----------------------------------------------------------

_KEPT_CUES = ("resum", "volume", "data", "again", "up", "without -v")


def keeps_data(low: str) -> bool:
    """True for a sentence that stops something and says that its data stays, or that it comes back."""
    if not may_say(_KEPT_CUES, low) or not _PATTERNS.stack.search(low):
        return False
    return _PATTERNS.kept.search(low) is not None and not _PATTERNS.lost.search(low) and "prod" not in low


def only_stops(one: AnnouncedAct) -> bool:
    """True for an act that takes containers down which are not production."""
    return (
        one.verb == "act_terminate"
        and "production" not in one.traits
        and _PATTERNS.stack.search(one.target.lower()) is not None
    )


# -- a quotation, and whoever does what it says -------------------------------------------------------------


def made_to(words: Tokens) -> str:
    """What a script or a migration does that is written here: `a migration that drops the column`."""
    for at, word in enumerate(words[:-2]):
        if word.lower() in ("that", "which", "to") and (known := verb_forms().get(words[at + 1].lower())):
            if known[2] not in ("do", "look", "make") and known[1] in ("third", "base"):
                return " ".join((known[0], *words[at + 2 :]))[:200]
    return ""


def described(words: Tokens) -> str:
    """What a piece of code does by a clause about it: `the script prune.py deletes old sessions`; empty for any other clause."""
    low = [word.lower() for word in words[:_REACH]]
    for at, word in enumerate(low):
        verb, form, kind = verb_forms().get(word, ("", "", ""))
        if at and form == "third" and kind not in ("do", "look", "make"):
            code = _PATTERNS.code_file.search(low[at - 1]) or (
                nouns().get(low[at - 1], ("",))[0] in ("code", "run") and low[at - 1] not in _LISTS.steps
            )
            return " ".join((verb, *words[at + 1 :])) if code else ""
        if word in _LISTS.speakers or (form in ("base", "ing") and word not in nouns()):
            return ""
    return ""


def is_followed(words: str) -> bool:
    """`I'm going to do exactly that`: true when a clause does what was quoted or described before."""
    return _PATTERNS.followed.match(words) is not None


_REACH = 9  # words in which a subject ends


def guard_at_work(words: Tokens, low: Tokens) -> EnglishObject | None:
    """The guard of a clause like `branch protection blocks my push`; none when somebody else acts."""
    low = low[:_REACH]
    if _noes().isdisjoint(low):
        return None
    for at, word in enumerate(low):
        if word in _LISTS.speakers:
            return None
        if at and word in _noes() and low[at - 1] not in ("a", "an", "the", "to", "not"):
            found = _guard(words, low, at)
            if found is None and word in _LISTS.held and (low[at - 1] in ("they", "he", "she") or _is_one(low, at)):
                return EnglishObject()  # `they shut it down in 2022`
            return found
    return None


@cache
def _noes() -> frozenset[str]:
    """The forms in which a guard says no."""
    return _LISTS.held | {
        word
        for word, (verb, form, kind) in verb_forms().items()
        if form in ("third", "past") and (kind in _LISTS.holds or verb in _LISTS.refuses)
    }


def _is_one(low: Tokens, at: int) -> bool:
    """`our vendor`: of one such somebody only the past is written without an s."""
    return at > 1 and low[0] in LISTS.determiners and low[at - 1].isalpha() and not low[at - 1].endswith("s")


def _guard(words: Tokens, low: Tokens, at: int) -> EnglishObject | None:
    if low[0] in verb_forms() and low[0] not in _LISTS.guards and verb_forms()[low[0]][1] in ("base", "ing") and at > 1:
        return None  # `remove the rule that blocks`
    if low[at - 1] in ("that", "which", "who") or not any(word in _LISTS.guards for word in low[max(0, at - 2) : at]):
        return None
    return replace(thing_in(words, 0, at), kind="safety")


def _is_general(low: Tokens) -> bool:
    """`deleting a namespace also deletes what is in it`, `GitHub deletes the branch by itself`: what happens in general."""
    if not _LISTS.at_once.isdisjoint(low) and low[0] not in _LISTS.products:
        return _is_law(low)
    if low[0] in _LISTS.products and _LISTS.at_once.isdisjoint(low):
        return any(_happens(word) for word in low[1:5])
    said = next((at for at, word in enumerate(low[:7]) if at and _happens(word)), 0)
    return (said > 0 and low[said - 1] in _LISTS.mechanisms) or _is_law(low)


def _is_law(low: Tokens) -> bool:
    """`purging a queue discards its messages`."""
    if form_of(low[0]) != "ing" or low[1:2] not in (["a"], ["an"]):
        return False
    said = next((at for at, word in enumerate(low[:8]) if at > 1 and _happens(word)), 0)
    return said > 0 and {"that", "which", "who"}.isdisjoint(low[:said])


def _happens(word: str) -> bool:
    return word in ("can", "may") or form_of(word) == "third"


@cache
def _signs() -> frozenset[str]:
    """Words of which one is in every clause that judges, describes or relabels something."""
    thirds = {word for word, (_, form, _) in verb_forms().items() if form == "third"}
    return _LISTS.edits | _LISTS.must | thirds | {"can", "may", "is", "was", "are", "cannot", "can't", "never"}


def _relabels(words: Tokens, low: Tokens) -> bool:
    """`change the label from Delete to Remove`: words in capitals are what is written there."""
    if low[0] not in _LISTS.edits or _LISTS.labels.isdisjoint(low[1:7]):
        return False
    said = [word for word in words[1:] if word.lower() in verb_forms() and verb_forms()[word.lower()][1] == "base"]
    return bool(said) and all(word[:1].isupper() for word in said if word.lower() not in _LISTS.labels)


def is_judged(words: Tokens, low: Tokens) -> bool:
    """`dropping the table is forbidden`, `a dropped schema cannot be restored`, `the label goes from Delete to Remove`."""
    if _signs().isdisjoint(low):
        return False
    if "," in low[:5] and low[0] in ("to", "in", "by", "for", "note"):
        low = low[low.index(",") + 1 :] or low  # `to be clear, …`
    if (
        _relabels(words, low)
        or _is_general(low)
        or (low[1:2] and low[1] in _LISTS.keys and not _LISTS.must.isdisjoint(low[2:4]))
    ):
        return True
    if low[0] in ("a", "an") and not {"cannot", "can't", "never"}.isdisjoint(low[2:6]):
        return True
    return form_of(low[0]) == "ing" and _PATTERNS.judged.match(" ".join(low)) is not None


def reads_as_english(low: str) -> bool:
    """True when the sentence begins with an English verb or article and has a word that only English has."""
    words = low.split()
    if words and words[0] in _LISTS.opens:
        return True
    if words and words[0].endswith("ing") and words[0] in verb_forms() and _LISTS.not_here.isdisjoint(words):
        return True
    return (
        bool(words)
        and (words[0] in verb_forms() or words[0] in _LISTS.only_here or words[0] == "no")
        and not _LISTS.only_here.isdisjoint(words)
    )


def is_pressed(words: Tokens, at: int) -> bool:
    """True when what stands here is pressed or confirmed: a verb of pressing in front, and nothing but its place between."""
    return _PATTERNS.pressed.search(" ".join(words[:at]).lower()) is not None
