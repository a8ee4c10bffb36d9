"""English words of sentences: the inflected forms of verbs and their kinds, nouns and their kinds, words of scope."""

from __future__ import annotations

from functools import cache

from interlock.analysis.lexicon.english import VOWELS, plural
from interlock.analysis.lexicon.load import WordLists, english

_LISTS = WordLists("verbs")

BASE, THIRD, ING, PAST = "base", "third", "ing", "past"


def forms(verb: str) -> dict[str, str]:
    """Every form of a verb, and which one it is; a base that is also a past form counts as base."""
    doubles = len(verb) > 2 and verb[-1] not in "aeiouwxy" and verb[-2] in VOWELS and verb[-3] not in VOWELS
    stems = (verb, verb + verb[-1]) if doubles else (verb,)
    past, ing = [f"{stem}ed" for stem in stems], [f"{stem}ing" for stem in stems]
    if verb.endswith("e"):
        past = [f"{verb}d"]
        ing = ing if verb.endswith(("ee", "oe", "ye")) else [f"{verb[:-1]}ing"]
    elif verb.endswith("y") and verb[-2:-1] not in VOWELS:
        past = [f"{verb[:-1]}ied"]
    found = dict.fromkeys(english().pasts.get(verb, past), PAST) | dict.fromkeys(ing, ING)
    return found | {f"{verb}es" if verb.endswith("o") else plural(verb): THIRD, verb: BASE}


Forms = dict[str, tuple[str, str, str]]


def form_of(word: str) -> str:
    """Which form of a verb a word is; empty for no verb."""
    known = verb_forms().get(word) or verb_forms().get(word.lower())
    return known[1] if known else ""


def is_opening(low: list[str], at: int) -> bool:
    """True for such a form where it is a verb."""
    leads = not at or low[at - 1] in _LISTS.leads
    return leads and low[at] in opening_forms() and not _LISTS.articles.isdisjoint(low[at + 1 : at + 2])


@cache
def _forms() -> tuple[Forms, Forms]:
    groups = [("do", english().phrasals), *english().said.items()]
    table = {form: (verb, name, kind) for kind, verbs in groups for verb in verbs for form, name in forms(verb).items()}
    taken = {form: table.pop(form) for form in _LISTS.not_verbs if form in table}
    return table, {form: entry for form, entry in taken.items() if entry[1] == BASE}


# Every written form -> the verb, the form, and its kind; harm outranks doing, and both outrank looking.
verb_forms = cache(lambda: _forms()[0])
# Forms that are nearly always something else, but for the begin of a clause with an article behind them: `audit the code`.
opening_forms = cache(lambda: _forms()[1])
# Nouns made of verbs -> the kind of verb in a sentence: "the deletion of", "a full wipe".
nominals = cache(lambda: {noun: english().kinds[kind].sentence for noun, kind in english().said_nouns.items()})
# Every noun, singular and plural -> its kind, its traits, and whether it is many; and the last words of those with several.
nouns = cache(lambda: english().nouns)
last_words = cache(lambda: frozenset(noun.rpartition(" ")[2] for noun in nouns() if " " in noun))
scope = cache(lambda: english().scope)  # every word of scope -> how much it says: all, bulk, production, permanent…
