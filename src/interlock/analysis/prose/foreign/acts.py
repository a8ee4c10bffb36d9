"""A foreign verb and the objects of its clause -> the announced effect."""

from __future__ import annotations

from collections.abc import Collection

from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.lexicon.rows import Rows
from interlock.analysis.lexicon.vocabulary import Entry
from interlock.analysis.prose.clauses import AnnouncedAct, act
from interlock.analysis.prose.foreign.words import ForeignClause

_PATTERNS = Patterns("foreign_acts")
_LISTS = WordLists("foreign_acts")

_FOLDER: Entry = ("noun", "data", ())  # its name says more
_FIRST = Rows("foreign_first", "kind", "named")
_OBJECTS = Rows("foreign_object", "kind name", "named verb text raw written")
_KINDS = Rows("foreign_kind", "kind name", "traits named roles verb raw")


def act_of(clause: ForeignClause, at: int) -> AnnouncedAct:
    """The act of the verb at this place upon what the clause names; a verb of several kinds is what harms, and one of some kinds harms any of its nouns."""
    acts = []
    for verb in clause.words[at].entries:
        if verb[0] == "verb":
            things = [_object(clause, at, verb[1])]
            if verb[1] in _LISTS.with_others and clause.named.isdisjoint({"code", "scrap", "letter"}):
                things += [entry for _, entry in clause.nouns if entry != things[0]]
            acts += [_act(clause, at, verb, thing) for thing in things]
    return next((one for one in acts if one.harmful), acts[0])


def _act(clause: ForeignClause, at: int, verb: Entry, thing: Entry) -> AnnouncedAct:
    (_, kind, given), words, book = verb, clause.words, clause.book
    text, raw = " ".join(word.text for word in words), clause.raw.lower()
    blocks = _LISTS.in_order("blocks")
    undoes = any(thing in word.entries and word.text.startswith(blocks) for word in words)
    roles = {entry[0] for word in words for entry in word.entries} | {"undoes" if undoes else ""}
    traits = _traits(clause, thing) | set(given)
    published = book.publishes.match(words[at].text) is not None
    if published and _PATTERNS.registry.search(raw):
        return AnnouncedAct("act_send", text[:120], frozenset({"bulk"}))
    slots: dict[str, Collection[str]] = {
        "named": clause.named, "verb": {*given, *(entry[1] for entry in words[at].entries)}, "text": text, "raw": raw,
        "traits": traits, "roles": roles, "written": ("spaced" if book.language.spaced else "unspaced",),
    }  # fmt: skip
    name = thing[1] if (said := _OBJECTS.first((kind, thing[1]), slots)) is None else said
    # a secret goes out, or somebody's data to strangers
    outside = published or "public" in traits or "outside" in roles
    owned = "account" in clause.named or "personal" in roles or "backup" in traits
    leaks = not clause.named.isdisjoint({"data", "money", "list"} if outside and owned else ())
    leaks = leaks or not clause.named.isdisjoint({"credential", "private"})
    if leaks and (kind in _LISTS.out or (kind == "grant" and "outside" in roles)):
        return AnnouncedAct("act_leak", text[:120], frozenset(traits - {"admin", "public", "history"} | {"secret"}))
    kind = _KINDS.first((kind, name), slots) or kind
    if kind == "change":
        return AnnouncedAct("act_change", text[:120])
    if kind == "send_to_all":
        return AnnouncedAct("act_send", text[:120], frozenset(traits - {"admin", "public", "history"} | {"bulk"}))
    return act(kind, "data" if name == "message" else name, text, frozenset(traits - {"history"}))


def _object(clause: ForeignClause, at: int, kind: str) -> Entry:
    """The noun that the verb acts on."""
    nouns, language = clause.nouns, clause.book.language
    if any(word.text == "xscrapfile" for word in clause.words):
        return "noun", "scrap", ()
    if first := _FIRST.first((kind,), {"named": clause.named}):
        return next(entry for _, entry in nouns if entry[1] == first)
    if clause.has("also"):
        nouns = [pair for pair in nouns if pair[1][1] not in ("scrap", "code")] or nouns
    after = [pair for pair in nouns if pair[0] >= at]
    chosen = (after or nouns) if language.head == "first" else nouns
    if not chosen:
        return "noun", "", ()
    place, thing = chosen[0] if language.noun == "first" else chosen[-1]
    if thing != _FOLDER:
        return thing
    beside = clause.words[max(0, place - 1) : place + 2]
    made_again = any(word.kind("noun") == "scrap" or word.text in _LISTS.made_again for word in beside)
    return ("noun", "scrap", ()) if made_again else thing


def _traits(clause: ForeignClause, thing: Entry) -> set[str]:
    scopes = [entry for word in clause.words for entry in word.entries if entry[0] == "scope"]
    traits = set(thing[2]).union(*(entry[2] for entry in scopes))
    many = thing[1] in _LISTS.many_of or "backup" in thing[2]
    for place, entry in clause.nouns:
        traits.update(set(entry[2]) & (_LISTS.stores if thing[1] == "data" else {"production"}))
        if entry == thing and many and clause.book.plural.search(clause.words[place].text):
            traits.add("bulk")
    return traits
