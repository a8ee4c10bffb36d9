"""A foreign verb and the objects of its clause -> the announced effect, unless the clause denies or postpones it."""

from __future__ import annotations

import re
from collections.abc import Collection

from msgspec import Struct

from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.lexicon.rows import Rows
from interlock.analysis.lexicon.vocabulary import HEADS, Entry, Vocabulary
from interlock.analysis.prose.clauses import AnnouncedAct, act
from interlock.analysis.prose.foreign.words import ForeignWord

_PATTERNS = Patterns("foreign_acts")
_LISTS = WordLists("foreign_acts")

_PRODUCTION = re.compile(r"(?:^|[-_./:@\s])prod(?:uction)?(?:[-_./:\d\s]|$)|(?<![a-z])prod(?![a-z])")
_BLOCKS = ("sperr", "blokk", "блокиров", "bann", "ban", "schors", "suspen", "blocc", "bloque", "bloqu")
_WORLD = ("internet", "интернет", "インターネット", "互联网", "全网", "公网", "xworld")
_FOLDER: Entry = ("noun", "data", ())  # its name says more
_FIRST = Rows("foreign_first", "kind", "named")
_OBJECTS = Rows("foreign_object", "kind name", "named verb text raw written")
_KINDS = Rows("foreign_kind", "kind name", "traits named roles verb raw")


class _Phrase(Struct, frozen=True):
    """A verb with the words of its clause, and the nouns among them with their places."""

    words: list[ForeignWord]
    at: int
    book: Vocabulary
    raw: str
    text: str
    nouns: list[tuple[int, Entry]]

    @property
    def roles(self) -> set[str]:
        return {entry[0] for word in self.words for entry in word.entries}

    @property
    def named(self) -> set[str]:
        """The kinds of the nouns."""
        return {entry[1] for _, entry in self.nouns}


def act_of(words: list[ForeignWord], at: int, book: Vocabulary, raw: str) -> AnnouncedAct:
    """The act of the verb at this place upon what the clause names; a verb of several kinds is what harms."""
    if _PATTERNS.line.search(raw.lower()) and words[at].has_kind(*_LISTS.deleting):
        return AnnouncedAct("act_change", raw[:120])
    nouns = [(place, entry) for place, word in enumerate(words) for entry in word.entries if entry[0] == "noun"]
    phrase = _Phrase(words, at, book, raw, " ".join(word.text for word in words), nouns)
    verbs = [entry for entry in words[at].entries if entry[0] == "verb"]
    acts = [_act(phrase, verb, thing) for verb in verbs for thing in _objects(phrase, verb[1])]
    return next((one for one in acts if one.harmful), acts[0])


def _objects(phrase: _Phrase, kind: str) -> list[Entry]:
    """What the verb acts on, and what else it may act on when that means nothing."""
    thing = _object(phrase, kind)
    if kind not in _LISTS.with_others or not phrase.named.isdisjoint({"code", "scrap", "letter"}):
        return [thing]
    return [thing, *(entry for _, entry in phrase.nouns if entry != thing)]


def _act(phrase: _Phrase, verb: Entry, thing: Entry) -> AnnouncedAct:
    _, kind, given = verb
    text, raw, traits = phrase.text, phrase.raw.lower(), _traits(phrase, thing) | set(given)
    roles = phrase.roles | ({"undoes"} if _undoes(phrase.words, thing) else set())
    if _PRODUCTION.search(text):
        traits.add("production")
    if kind in ("grant", "lift", "expose") and any(word.text.startswith(_WORLD) for word in phrase.words):
        traits.add("public")
    published = phrase.book.publishes.match(phrase.words[phrase.at].text) is not None
    if published and _PATTERNS.registry.search(raw):
        return AnnouncedAct("act_send", text[:120], frozenset({"bulk"}))
    slots: dict[str, Collection[str]] = {
        "named": phrase.named, "verb": {*given, *(entry[1] for entry in phrase.words[phrase.at].entries)}, "text": text, "raw": raw,
        "traits": traits, "roles": roles, "written": ("spaced" if phrase.book.language.spaced else "unspaced",),
    }  # fmt: skip
    name = thing[1] if (said := _OBJECTS.first((kind, thing[1]), slots)) is None else said
    if kind in ("charge", "send", "grant", "refund") and _PATTERNS.amount.search(raw):
        kind, name = "charge" if kind != "refund" else kind, "money"
    if (kind in _LISTS.out or (kind == "grant" and "outside" in roles)) and _leaks(phrase, name, traits, published):
        return AnnouncedAct("act_leak", text[:120], frozenset(traits - {"admin", "public", "history"} | {"secret"}))
    kind = _KINDS.first((kind, name), slots) or kind
    if kind == "change":
        return AnnouncedAct("act_change", text[:120])
    if kind == "send_to_all":
        return AnnouncedAct("act_send", text[:120], frozenset(traits - {"admin", "public", "history"} | {"bulk"}))
    if kind == "grant" and name == "access" and "all" in traits:
        traits.add("admin")
    return act(kind, "data" if name == "message" else name, text, frozenset(traits - {"history"}))


def _object(phrase: _Phrase, kind: str) -> Entry:
    """The noun that the verb acts on."""
    nouns, language = phrase.nouns, phrase.book.language
    if any(word.text == "xscrapfile" for word in phrase.words):
        return "noun", "scrap", ()
    if first := _FIRST.first((kind,), {"named": phrase.named}):
        return next(entry for _, entry in nouns if entry[1] == first)
    if "also" in phrase.roles:
        nouns = [pair for pair in nouns if pair[1][1] not in ("scrap", "code")] or nouns
    after = [pair for pair in nouns if pair[0] >= phrase.at]
    chosen = (after or nouns) if language.head == "first" else nouns
    if not chosen:
        return "noun", "", ()
    at, thing = chosen[0] if language.noun == "first" else chosen[-1]
    if thing != _FOLDER:
        return thing
    beside = phrase.words[max(0, at - 1) : at + 2]
    made_again = any(word.kind("noun") == "scrap" or word.text in _LISTS.made_again for word in beside)
    return ("noun", "scrap", ()) if made_again else thing


def _traits(phrase: _Phrase, thing: Entry) -> set[str]:
    scopes = [entry for word in phrase.words for entry in word.entries if entry[0] == "scope"]
    traits = set(thing[2]).union(*(entry[2] for entry in scopes))
    many = thing[1] in _LISTS.many_of or "backup" in thing[2]
    for place, entry in phrase.nouns:
        traits.update(set(entry[2]) & (_LISTS.stores if thing[1] == "data" else {"production"}))
        if entry == thing and many and phrase.book.plural.search(phrase.words[place].text):
            traits.add("bulk")
    return traits


def _leaks(phrase: _Phrase, name: str, traits: set[str], published: bool) -> bool:
    """True when a secret goes out, or somebody's data to strangers."""
    outside = published or "public" in traits or "outside" in phrase.roles
    if name in ("code", "letter") and not outside:
        return False
    if not phrase.named.isdisjoint({"credential", "private"}):
        return True
    owned = "account" in phrase.named or "personal" in phrase.roles or "backup" in traits
    return outside and owned and not phrase.named.isdisjoint({"data", "money", "list"})


def _undoes(words: list[ForeignWord], thing: Entry) -> bool:
    """`die Sperre aufheben`: somebody is let in again."""
    return any(thing in word.entries and word.text.startswith(_BLOCKS) for word in words)


_NEAR = 2  # characters
_TO = frozenset({"zu", "te"})
_APART = re.compile(
    r"て(?!い)|で(?!す)|[がを](?!(?:行|実|し|やら|す))|、"
)  # between a verb and a denial that is not its own


def denied(words: list[ForeignWord], at: int, book: Vocabulary) -> bool:
    """True when a denial belongs to this verb; missing backups and questions deny nothing."""
    for place, word in enumerate(words):
        if not word.has("never", "weak"):
            continue
        near = words[place + 1 : place + 4] if book.language.head != "last" else words[max(0, place - 2) : place]
        if any(other.has("unless") for other in near):
            continue
        if _reaches(words, place, at, book):
            return True
    return False


def _reaches(words: list[ForeignWord], place: int, at: int, book: Vocabulary) -> bool:
    """True when the denial at one place is one of the verb at the other."""
    if not book.language.spaced:
        return _reaches_unspaced(words, place, at, book)
    if words[place].has("without"):
        return _goes_without(words, place, at, book)
    if place > at and any(word.has("do") for word in words[place + 1 : place + 3]):
        return True  # `il force push non lo faccio`
    if book.language.head != "first":
        told_of = place > at and words[place - 1].text in book.relatives  # `sluit de accounts die niet betaald hebben`
        return not (told_of and any(word.has("was", *HEADS) for word in words[place + 1 :]))
    return (place < at and at - place <= 4) or abs(at - place) == 1


def _goes_without(words: list[ForeignWord], place: int, at: int, book: Vocabulary) -> bool:
    """`ohne etwas zu löschen`, `sin borrar nada`: without doing it, rather than doing it without something."""
    if place > at or any(word.has(*HEADS) for word in words[place + 1 : at]):
        return False
    if book.language.head == "any":
        return words[at - 1].text in _TO or "zu" in words[at].text[2:]
    return at - place <= 3


def _reaches_unspaced(words: list[ForeignWord], place: int, at: int, book: Vocabulary) -> bool:
    if book.language.head == "last":
        between = words[at].after[: max(0, words[place].start - words[at].end)]
        return place > at and len(between) < 14 and not _APART.search(between)
    if place > at:
        return any(word.has("do") for word in words[place + 1 : place + 2])
    if words[place].has("weak"):
        return words[at].start - words[place].end <= _NEAR
    return True


def withheld(words: list[ForeignWord], book: Vocabulary) -> bool:
    """`sin ejecutarlo`, `noch nicht ausführen`, `暂不执行`: a clause that only says that nothing is run yet."""
    runs = next((at for at, word in enumerate(words) if word.has("launch", "do", "send")), -1)
    if runs < 0 or any(word.has("noun", "verb", "look", "make", "mark") for word in words):
        return False
    return denied(words, runs, book)


_SOMEBODY_ELSE = ("同事", "同僚", "前任", "有人", "誰か", "某人")


def by_somebody(words: list[ForeignWord], raw: str, book: Vocabulary) -> bool:
    """`jemand hat … gelöscht`, `wird vom DBA gelöscht`: what somebody else did or does, and not who speaks."""
    if any(
        word.text in book.by and any(other.text.rpartition("'")[2] in book.others for other in words[at + 1 : at + 4])
        for at, word in enumerate(words)
    ):
        return any(word.has("will", "was") or word.past for word in words)
    if any(word.text in _LISTS.colleagues for word in words[:3]) and not any(word.has(*HEADS) for word in words[:2]):
        return any(word.past or word.has("was") or word.text in _LISTS.before for word in words)
    return any(word.text in _LISTS.somebody for word in words[:2]) or raw.lstrip().startswith(_SOMEBODY_ELSE)


_HOLDS = ("block", "stop", "revoke", "lock")
_THIRD = {"de": ("t",), "nl": ("t",), "ru": ("ет", "ит", "ют")}
_ROMANCE = ("a", "e")


def guards(words: list[ForeignWord], at: int, book: Vocabulary) -> bool:
    """`der Branch-Schutz blockiert meinen Push`: a guard in front of the verb is who acts."""
    if not book.language.spaced or words[at].past or not words[at].has_kind(*_HOLDS):
        return False
    verb = words[at].text
    if verb.endswith("re") or not verb.endswith(_THIRD.get(book.language.code, _ROMANCE)):
        return False
    return any(word.kind("noun") in ("safety", "guard", "config") for word in words[:at]) and not any(
        word.text in _LISTS.speakers for word in words
    )
