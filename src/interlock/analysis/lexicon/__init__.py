"""English words of names and of sentences: kinds and forms of verbs, kinds of objects and words of scope; splits names into words."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise

from interlock.analysis.confusables import plain
from interlock.analysis.lexicon.english import VOWELS, plural
from interlock.analysis.lexicon.load import WordLists, WordMaps, english

_LISTS = WordLists("lexicon")
_MAPS = WordMaps("lexicon")

MAX_NAME = 400  # characters of a name that are read
MAX_WORDS = 40

# The words of names: verbs -> how the name is parsed that they lead, nouns -> the kind of object, verbs that are as often nouns, nouns
# that name a deed -> how a name is parsed with it (`process_refund`, `schedule_key_deletion`), and every word that matters.
verbs = cache(lambda: english().named)
objects = cache(lambda: english().name_nouns)
weak_verbs = cache(lambda: _LISTS.weak)
deed_nouns = cache(lambda: {noun: english().kinds[kind].name for noun, kind in english().named_nouns.items()})
reaches = cache(lambda: _MAPS.reach)  # words of a name that say how far it reaches -> the trait that they give
_far = cache(lambda: {word for word, trait in reaches().items() if trait != "staging"})
vocabulary = cache(lambda: frozenset({*verbs(), *objects(), *_LISTS.production, *_far()}))


_WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+|[^\W\dA-Za-z_]+")
_PARTS = re.compile(r"__+|[.:/\\#>|\s]+")


@lru_cache(maxsize=4096)
def split_name(name: str) -> tuple[tuple[str, ...], ...]:
    """A name -> its segments, each a tuple of lower-case words: `mcp__github__deleteRepo` -> (mcp) (github) (delete, repo)."""
    text = name[:MAX_NAME] if name.isascii() else plain(name[:MAX_NAME], vocabulary())
    segments = []
    left = MAX_WORDS
    for part in _PARTS.split(text):
        words = _joined([piece.lower() for piece in _WORD.findall(part)][:left])
        left -= len(words)
        if words:
            segments.append(words)
    return tuple(segments)


def _joined(words: list[str]) -> tuple[str, ...]:
    """Two words that are one idea become one (`shut_down`), one word that is two becomes two (`dropdatabase`)."""
    out: list[str] = []
    nouns, pairs, leads = objects(), _MAPS.pairs, _LISTS.in_order("split_verbs")
    for word in words:
        if out and (pair := f"{out[-1]}+{word}") in pairs:
            out[-1] = pairs[pair]
        elif len(word) > 6 and word.startswith(leads) and word not in verbs() and word not in nouns:
            verb = next(filter(word.startswith, leads))
            rest = word.removeprefix(verb)
            out += [verb, rest] if rest in nouns or reaches().get(rest) == "all" else [word]
        else:
            out.append(word)
    return tuple(out)


# Nouns that were joined, as the first two words that each stands for.
_joins = cache(lambda: [(word, pair.replace("+", " ")) for pair, word in _MAPS.pairs.items() if word in objects()])
apart = cache(lambda: dict(_joins()[::-1]))


def verb_kind(word: str) -> str:
    return verbs().get(word, "")


def object_kind(words: tuple[str, ...]) -> tuple[str, str]:
    """The kind of the object that a noun phrase names, and its head noun; the head is its last telling word."""
    table = objects()
    telling = [word for word in words if word not in _LISTS.passed_over] or [word for word in words if word in table]
    noun = (telling or words or ("",))[-1]
    if noun in _LISTS.hosts_of_data and any(table.get(other) == "database" for other in words):
        return "database", noun  # delete_db_instance
    return table.get(noun, ""), noun


def is_plural(noun: str) -> bool:
    return len(noun) > 3 and noun.endswith("s") and not noun.endswith(("ss", "us", "is", "dns", "aws", "access"))


def names_production(words: tuple[str, ...] | list[str]) -> bool:
    """True when the words name production, and not the stage before it."""
    names = _LISTS.production
    if names.isdisjoint(words):
        return False
    return any(word in names and before not in _LISTS.not_production for before, word in pairwise(("", *words)))


@lru_cache(maxsize=4096)
def reach_of(words: tuple[str, ...]) -> frozenset[str]:
    """The traits that words of a name give by how far they reach."""
    found = [reaches()[word] for word in words if word in reaches()]
    return frozenset((*found, "production") if names_production(words) else found)


# -- sentences

_VERB_LISTS = WordLists("verbs")


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
    found = dict.fromkeys(english().pasts.get(verb, past), "past") | dict.fromkeys(ing, "ing")
    return found | {f"{verb}es" if verb.endswith("o") else plural(verb): "third", verb: "base"}


Forms = dict[str, tuple[str, str, str]]


def form_of(word: str) -> str:
    """Which form of a verb a word is; empty for no verb."""
    table = verb_forms()
    known = table.get(word) or table.get(word.lower())
    return known[1] if known else ""


def may_be_verb(low: list[str], at: int) -> bool:
    """False for a form that is nearly always something else, but at the begin of a clause with an article behind it."""
    leads = not at or low[at - 1] in _VERB_LISTS.leads
    return low[at] not in opening_forms() or (leads and not _VERB_LISTS.articles.isdisjoint(low[at + 1 : at + 2]))


@cache
def _forms() -> tuple[Forms, Forms]:
    groups = [("do", english().phrasals), *english().said.items()]
    table = {form: (verb, name, kind) for kind, verbs in groups for verb in verbs for form, name in forms(verb).items()}
    taken = {form: table.pop(form) for form in _VERB_LISTS.not_verbs if form in table}
    return table, {form: entry for form, entry in taken.items() if entry[1] == "base"}


# Every written form -> the verb, the form, and its kind; harm outranks doing, and both outrank looking.
verb_forms = cache(lambda: _forms()[0])
opening_forms = cache(lambda: _forms()[1])  # those of a verb only where it opens a clause: `audit the code`
# Nouns made of verbs -> the kind of verb in a sentence: "the deletion of", "a full wipe"; and all words that may be verbs.
nominals = cache(lambda: {noun: english().kinds[kind].sentence for noun, kind in english().said_nouns.items()})
_nouns = cache(lambda: {noun: (noun, "noun", kind) for noun, kind in nominals().items()})
verbal_words = cache(lambda: _nouns() | opening_forms() | verb_forms())
# Every noun, singular and plural -> its kind, its traits, and whether it is many; and the last words of those with several.
nouns = cache(lambda: english().nouns)
last_words = cache(lambda: frozenset(noun.rpartition(" ")[2] for noun in nouns() if " " in noun))
scope = cache(lambda: english().scope)  # every word of scope -> how much it says: all, bulk, production, permanent…
