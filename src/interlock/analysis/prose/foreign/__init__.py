"""A sentence in another language than English -> its effects: clause by clause, what is not asked, denied, rehearsed, reported or left to others."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import takewhile

from msgspec import Struct

from interlock.analysis.lexicon.load import Patterns, Rows, WordLists
from interlock.analysis.lexicon.vocabulary import HEADS, Entry, Vocabulary
from interlock.analysis.operations.names import harms, is_english, is_operation, may_be_operation
from interlock.analysis.prose.clauses import CALLED, AnnouncedAct, Mention, act, tokens
from interlock.analysis.prose.embedded import MARK
from interlock.analysis.prose.foreign.words import LONGEST, ForeignClause, ForeignWord, book_of, some, words_of
from interlock.analysis.prose.playing import Told

_LISTS = WordLists("foreign")
_PATTERNS = Patterns("foreign")

_TRIES = 7  # verbs of one clause
_AHEAD = 16  # words behind a converb


class _Found(Struct):
    told: Told
    asked: bool
    acts: bool = False  # harm was announced
    calls: bool = False
    read_only: bool = True
    known: bool = False  # a verb was recognised
    runs_marks: bool = False
    fetched: bool = False  # a program was downloaded

    def act(self, one: AnnouncedAct) -> None:
        self.acts = True
        self.told.act(one)


def read_foreign(sentence: str, told: Told) -> bool:
    """Reports what a sentence announces in a language known here; True when nothing in it is left to be read as English."""
    book = book_of(_without_names(sentence))
    if book is None:
        return False
    told.language = "_foreign"
    if len(sentence) > LONGEST:
        told.out.unreadable("a sentence that is too long to read", "budget")
    text, words = _PATTERNS.given.sub(r"\1", sentence[:LONGEST]), tokens(sentence)
    found = _Found(told, asked=text.rstrip().endswith(_LISTS.in_order("question_ends")))
    told.about([word for word in sentence.split() if MARK not in word])
    clauses = list(_clauses(text, book))
    spoken_of = trial = explained = False
    carried: list[ForeignWord] = []  # what the clause before named
    for clause in clauses:
        trial = trial or _is_trial(clause)
        told_of = (spoken_of and _is_told_of(clause)) or explained
        quotes = clause.words[-1].has("mark") or _PATTERNS.ends_in_capitals.search(clause.raw) is not None
        explained = (quotes and clause.has("look")) or (clause.has("title") and f"{clause.raw}:" in text)
        if not trial and not told_of and not _is_somebodys(clause):
            _read(clause, found, carried)
        carried = [word for word in clause.words if word.has("noun") and not word.has(*HEADS)] or carried
        spoken_of = clause.has("look", "make") or told_of
    if not found.asked and not found.acts and _rushes(text, book):
        found.act(AnnouncedAct("act_override", text.strip()[:120]))
        found.known, found.read_only = True, False
    empty = len(text) < 300 and book.empty.match(book.plain(text)) is not None
    says = found.calls or found.asked or MARK in text
    told.vague |= not says and (empty if found.known else not any(map(is_operation, _PATTERNS.names.findall(text))))
    known = found.asked or found.known or any(map(_is_trial, clauses))
    looks = False  # the sentence begins with a verb that only looks, or ends with one where verbs stand last
    if found.read_only and clauses:
        first = clauses[-1].words[-1] if book.language.head == "last" else clauses[0].words[0]
        looks = first.has("look", "left") and first.text not in _LISTS.twofold
    told.known, told.looks, told.read_only = True, told.looks or known, told.read_only and found.read_only
    if MARK not in sentence:
        told.hear(sentence, not looks and not _starts_own(clauses, text, book))
    for word in words if found.runs_marks else ():
        if word.startswith(MARK):
            told.play(told.lifted.of(word))
    return known or not any(map(may_be_operation, words))


def _rushes(sentence: str, book: Vocabulary) -> bool:
    """`ich deploye ohne Review`: something goes into force without the check that belongs before it."""
    plain = book.plain(sentence)
    missing = book.unchecked.search(plain)
    if missing is None:
        return False
    rest = f"{plain[: missing.start()]} {plain[missing.end() :]}"
    words = [word for clause in _clauses(rest, book) for word in clause.words]
    if not book.ships.search(rest) and not any(("scope", "", ("production",)) in word.entries for word in words):
        return False
    clause = ForeignClause(words, rest, book)
    heads = [word for word in words if word.has(*HEADS) or book.ships.match(word.text)]
    if _asks(clause, len(words)) or clause.has("never", "weak") or any(word.past for word in heads):
        return False
    lead = heads[-1 if clause.head == "last" else 0 :][:1]  # may only look at something or make it
    return not some(lead, "look", "make") or book.ships.match(lead[0].text) is not None


def _starts_own(clauses: list[ForeignClause], text: str, book: Vocabulary) -> bool:
    """`ich starte den lokalen Server`: nothing but what runs on one's own machine."""
    words = [word for clause in clauses for word in clause.words]
    harmless = some(words, "launch") and not some(words, "verb", "scope", "outside", "personal", "never")
    own = {word.kind("noun") for word in words} <= _LISTS.own | {""}
    return harmless and own and _PATTERNS.local.search(book.plain(text)) is not None


def _without_names(text: str) -> str:
    """The text without names of operations, which are English in a sentence of any language."""
    text = _PATTERNS.made_again.sub("xscrapfile", text)
    return _PATTERNS.shaped.sub(lambda found: " " if is_english(found[0].rstrip(".:/-")) else found[0], text)


def _clauses(sentence: str, book: Vocabulary) -> Iterator[ForeignClause]:
    """The clauses of a sentence; a joint counts when a verb stands on both sides."""
    last = book.language.head == "last"
    for piece in _PATTERNS.cut.split(sentence):
        words = words_of(_without_names(piece), book)
        start = 0
        reason = next((at for at, word in enumerate(words) if word.has("because")), len(words))
        words = words[reason + 1 :] if last and reason < len(words) else words[:reason]
        said = next((at for at, word in enumerate(words) if word.has("that")), len(words))
        if last and some(words[:said], "look"):
            words = words[:said]  # `जवाब दे रहा हूँ कि …`
        if words and words[0].has("mark"):  # `chmod … auf /srv damit nichts mehr scheitert`
            words = list(takewhile(lambda word: word.text.partition(" ")[0] not in _LISTS.purposes, words))
        for at, word in enumerate(words):
            leads = last and word.has("verb") and _leads_on(words[at : at + _AHEAD], book)
            sides = (words[start:at], words[at + 1 :]) if word.has("joints") else ()
            if leads or (sides and all(some(side, "mark", *HEADS) for side in sides)):
                yield ForeignClause(words[start : at + leads], piece, book)
                start = at + 1
        if words[start:]:
            yield ForeignClause(words[start:], piece, book)


def _leads_on(words: list[ForeignWord], book: Vocabulary) -> bool:
    """`silerek yer açıyorum`, `비우고 시작합니다`: the first word is an act that another one follows in the same clause."""
    said = " ".join(word.text for word in words) if book.language.spaced else words[0].after
    return book.converb.match(said) is not None


def _read(clause: ForeignClause, found: _Found, carried: list[ForeignWord]) -> None:
    words, book, asked = clause.words, clause.book, found.asked
    if "credential" in clause.named and not asked and not clause.has("never", "that") and not _asks(clause, len(words)):
        raw = book.plain(clause.raw.lower())  # `afficher le contenu de credentials.json`
        if _PATTERNS.shows.search(raw) and not _PATTERNS.listed.search(raw):
            found.act(AnnouncedAct("read", clause.raw.strip()[:120], frozenset({"shown", "secret"})))
            return
    named_text = not clause.named.isdisjoint({"code", "letter", "program"})  # of which a command can be part
    verbs = [at for at, word in enumerate(words) if word.has(*HEADS)]
    if not verbs or words[0].text in book.alone:
        verbs = _alone(clause) or verbs
    found.known |= clause.has("left")
    if not verbs:
        found.runs_marks |= clause.has("mark") and not asked and not clause.has("never", "asked") and not named_text
        return
    found.known = True
    if clause.has("make", "do", "launch", "fetch"):
        found.read_only = False
    results = [at for at in verbs if words[at].has("result")] if not named_text and not clause.has("look") else []
    at = next((at for at in (_governing(clause, verbs), *results) if at >= 0), -1)
    if asked or _asks(clause, verbs[0]):
        return
    if clause.has("launch", "do", "fetch") and not any(word.has("look", "make") and not word.past for word in words):
        _run(clause, verbs, found)
    if at < 0:
        # `mit docker system prune Platz schaffen`, `git clean -fdx 로 정리`: a command that something is done with
        means = clause.has("means") and (clause.head == "last" or not clause.has("look"))
        found.runs_marks |= means and not named_text and not clause.has("never")
        return
    # `letzte Woche wurde der Knoten ersetzt`: a past form, or a word of the past
    told_of = words[at].past + some(words[:at], "was") > clause.has("will")
    if told_of or _denied(clause, at) or _guards(clause, at):
        return
    found.read_only, found.runs_marks = False, True
    order = verbs[::-1] if clause.head == "last" else verbs
    for place in order[order.index(at) :][:_TRIES] + results:
        if place != at and (not words[place].has("verb", "result") or words[place].past or _denied(clause, place)):
            continue
        # `exporto la base y la comparto`: the nouns of the clause before, where this one names nothing itself
        bare = words[place].kind("verb") in _LISTS.carrying and clause.named <= {"account", "letter", "message"}
        announced = act_of(clause, place)
        # `the linter finds a variable without a use, I remove it`
        code = {word.kind("noun") for word in carried} == {"code"} and not clause.has("scope")
        if bare and (not announced.harmful or (code and any(word.text in _LISTS.referring for word in words))):
            announced = act_of(ForeignClause(words + carried, clause.raw, book), place)
        if announced.harmful:
            found.act(announced)
            return


def _alone(clause: ForeignClause) -> list[int]:
    """`Firewall aus`, `las copias, fuera`: a particle that says without a verb what is done."""
    words, alone = clause.words, clause.book.alone
    for at in () if clause.named.isdisjoint(_LISTS.placed) or some(words[:3], "asked", "never") else (-1, 0):
        if words[at].text in alone:
            words[at].entries = [alone[words[at].text]]
            return [at % len(words)]
    return []


def _governing(clause: ForeignClause, verbs: list[int]) -> int:
    """Where the verb stands that says what is done, or -1 when the clause only speaks of it."""
    words, head = clause.words, clause.head
    if head == "any":
        lifts = [at for at in verbs if words[at].kind("verb") == "lift"]
        meant = (words[at] for at in verbs if not some(words[max(0, at - 2) : at], "without"))  # not `ohne zu prüfen`
        return -1 if some(meant, "look", "make") else next((at for at in lifts or verbs if words[at].has("verb")), -1)
    for at in verbs if head == "first" else verbs[::-1]:
        if words[at].has("verb"):
            return at
        near = words[at + 1 :] if head == "first" else words[:at][::-1]
        told = next((word for word in near if word.has("noun", "verb", "look", "make")), None)
        if not words[at].has("do", "launch", "fetch") or told is None or not told.has("verb"):
            return -1  # not `ejecutar el borrado`, where the next word with a meaning is what is done
    return -1


def _run(clause: ForeignClause, verbs: list[int], found: _Found) -> None:
    """Programs that are fetched and run, and operations that are called by their names."""
    words, book, text = clause.words, clause.book, clause.raw.strip()[:120]
    if any(_denied(clause, at) for at in verbs):
        return
    found.runs_marks = True
    runs = next((at for at in verbs if words[at].has("launch")), -1)
    fetches = next((at for at in verbs if words[at].has("fetch")), -1)
    program = "program" in clause.named
    roots = [at for at, word in enumerate(words) if not _LISTS.root.isdisjoint(word.text.split())]
    if runs >= 0 and any(not (at and words[at - 1].has("never")) for at in roots):  # `mit sudo`; not `sin root`
        found.act(AnnouncedAct("act_escalate", text))
    strange = found.fetched or (program and (clause.has("outside") or 0 <= fetches < runs))
    if runs >= 0 and strange and clause.named.isdisjoint({"code", "scrap"}):
        found.act(AnnouncedAct("act_run", text))
    found.fetched = found.fetched or (fetches >= 0 and (program or "://" in clause.raw))
    written = clause.has("make") and "code" in clause.named  # `viết test cho hàm deleteUser`
    for name in _PATTERNS.names.findall(clause.raw) if clause.has("launch", "do") and not written else ():
        if is_operation(name) and harms(name):
            found.calls = True
            found.told.call([Mention(0, name, CALLED, {})])
        parts = [ForeignWord(part, book.find_whole(part)) for part in book.plain(name).split("_") if part]
        if "_" in name and some(parts[:1], "verb"):  # `borrar_expedientes`, in the sentence's own language
            found.act(act_of(ForeignClause(parts, name, book), 0))


# -- the mood of a clause

_NEAR = 2  # characters


def _denied(clause: ForeignClause, at: int) -> bool:
    """True when a denial belongs to this verb; missing backups and questions deny nothing."""
    words, last = clause.words, clause.head == "last"
    for place, word in enumerate(words):
        near = words[max(0, place - 2) : place] if last else words[place + 1 : place + 4]
        if word.has("never", "weak") and not some(near, "unless") and _reaches(clause, place, at):
            return True
    return False


def _reaches(clause: ForeignClause, place: int, at: int) -> bool:
    """True when the denial at one place is one of the verb at the other."""
    words, no, verb = clause.words, clause.words[place], clause.words[at]
    if place > at and not no.has("without") and some(words[place + 1 : place + 3], "do"):
        return True  # `il force push non lo faccio`
    if not clause.book.language.spaced:
        if clause.head == "last":
            between = verb.after[: max(0, no.start - verb.start - len(verb.text))]
            return place > at and len(between) < 14 and not _PATTERNS.apart.search(between)
        return place < at and (not no.has("weak") or verb.start - no.start - len(no.text) <= _NEAR)
    if no.has("without") and clause.head == "last":
        return 0 < place - at <= 2  # `हटाए बिना`
    if no.has("without"):  # `sin borrar nada`: without doing it, rather than doing it without something
        near = words[at - 1].text in _LISTS.to or "zu" in verb.text[2:] if clause.head == "any" else at - place <= 3
        return place < at and near
    if clause.head != "first":
        # `sluit de accounts die niet betaald hebben`
        return words[place - 1].text not in clause.book.relatives or not some(words[place + 1 :], "was", *HEADS)
    return (place < at and at - place <= 4) or abs(at - place) == 1


def _asks(clause: ForeignClause, at: int) -> bool:
    words = clause.words[: min(3, at)] if clause.book.language.spaced else clause.words
    return any(word.has("asked") and (not at or not word.has("that", "will")) for at, word in enumerate(words))


def _is_trial(clause: ForeignClause) -> bool:
    """`a dry run of it`; not `after the dry run`, nor `without one`."""
    words = clause.words
    trials = [at for at, word in enumerate(words) if word.has("trial")]
    return not clause.has("past_trial") and any(not some(words[max(0, at - 2) : at], "never") for at in trials)


def _is_told_of(clause: ForeignClause) -> bool:
    """`DROP and TRUNCATE`, `that deleting asks first`, `MFA abzuschalten`: a clause that belongs to what was spoken of before it."""
    words = clause.words
    relative = any(word.text in clause.book.relatives for word in words[:2])
    if len(words) == 1 or some(words[:2], "that") or (relative and words[-1].has("verb", "will")):
        return True  # `die Funktion, die Benutzer löscht`
    return words[0].text not in _LISTS.in_order_to and any(
        word.has("verb") and ((at and words[at - 1].text in _LISTS.to) or _PATTERNS.zu.match(word.text))
        for at, word in enumerate(words)
    )


def _is_somebodys(clause: ForeignClause) -> bool:
    """`jemand hat … gelöscht`, `wird vom DBA gelöscht`: what somebody else did or does, and not who speaks."""
    words, others = clause.words, clause.book.others
    for at, word in enumerate(words):
        if word.text in clause.book.by and any(one.text.rpartition("'")[2] in others for one in words[at + 1 : at + 4]):
            return clause.has("was", "will") or any(word.past for word in words)
    named = any(word.text in _LISTS.somebody for word in words[:2])
    return named or clause.raw.lstrip().startswith(_LISTS.in_order("somebody_unspaced"))


def _guards(clause: ForeignClause, at: int) -> bool:
    """`der Branch-Schutz blockiert meinen Push`: a guard in front of the verb is who acts."""
    words, verb = clause.words, clause.words[at]
    return (
        not verb.past
        and clause.book.third.search(verb.text) is not None
        and any(entry[0] == "verb" and entry[1] in _LISTS.holds for entry in verb.entries)
        and any(word.kind("noun") in ("safety", "guard", "config") for word in words[:at])
        and _LISTS.speakers.isdisjoint(word.text for word in words)
    )


# -- the act of a verb

_FOLDER: Entry = ("noun", "data", ())  # its name says more
_FIRST = Rows("foreign_first", "kind", "named")
_OBJECTS = Rows("foreign_object", "kind name", "named verb text raw written")
_KINDS = Rows("foreign_kind", "kind name", "traits named roles verb raw")


def act_of(clause: ForeignClause, at: int) -> AnnouncedAct:
    """The act of the verb at this place upon what the clause names; a verb of several kinds is what harms, and one of some kinds harms any of its nouns."""
    acts = []
    for verb in clause.words[at].entries:
        if verb[0] in ("verb", "result"):
            things = [_object(clause, at, verb[1])]
            if verb[1] in _LISTS.with_others and clause.named.isdisjoint({"code", "scrap", "letter"}):
                things += [entry for _, entry in clause.nouns if entry != things[0]]
            acts += [_act(clause, at, verb, thing) for thing in things]
    return next((one for one in acts if one.harmful), acts[0])


def _act(clause: ForeignClause, at: int, verb: Entry, thing: Entry) -> AnnouncedAct:
    (_, kind, given), words, book = verb, clause.words, clause.book
    text, raw = " ".join(word.text for word in words), clause.raw.lower()
    undoes = any(thing in word.entries and word.text.startswith(_LISTS.in_order("blocks")) for word in words)
    roles = {entry[0] for word in words for entry in word.entries} | {"undoes" if undoes else ""}
    scopes = (entry[2] for word in words for entry in word.entries if entry[0] == "scope")
    traits = {*thing[2], *given}.union(*scopes)
    many = thing[1] in _LISTS.many_of or "backup" in thing[2]
    for place, entry in clause.nouns:
        traits.update(set(entry[2]) & (_LISTS.stores if thing[1] == "data" or kind == "restart" else {"production"}))
        if entry == thing and many and book.plural.search(words[place].text):
            traits.add("bulk")
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
    told = ("data", "money", "list") if outside and owned else ()
    leaks = not clause.named.isdisjoint({"credential", "private", *told})
    if leaks and (kind in _LISTS.out or (kind == "grant" and "outside" in roles)):
        return AnnouncedAct("act_leak", text[:120], frozenset(traits - {"admin", "public", "history"} | {"secret"}))
    kind = _KINDS.first((kind, name), slots) or kind
    if kind == "change":
        return AnnouncedAct("act_change", text[:120])
    if kind == "send_to_all":
        return AnnouncedAct("act_send", text[:120], frozenset(traits - {"admin", "public", "history"} | {"bulk"}))
    return act(kind, "data" if name == "message" else name, text, frozenset(traits - {"history"}))


def _object(clause: ForeignClause, at: int, kind: str) -> Entry:
    nouns, language = clause.nouns, clause.book.language
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
