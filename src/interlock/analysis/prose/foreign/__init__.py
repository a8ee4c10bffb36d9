"""A sentence in another language than English -> its effects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.lexicon.vocabulary import HEADS, Vocabulary
from interlock.analysis.operations.names import harms, is_english, is_operation
from interlock.analysis.prose.clauses import AnnouncedAct
from interlock.analysis.prose.embedded import MARK
from interlock.analysis.prose.foreign.acts import act_of
from interlock.analysis.prose.foreign.language import LONGEST, index, language_of
from interlock.analysis.prose.foreign.mood import (
    asks,
    by_somebody,
    denied,
    guards,
    is_told_of,
    is_trial,
    was_done,
)
from interlock.analysis.prose.foreign.words import ForeignClause, ForeignWord, some, words_of
from interlock.analysis.prose.operations import CALLED, Mention

_LISTS = WordLists("foreign")
_PATTERNS = Patterns("foreign")

__all__ = ["Foreign", "index", "language_of", "read_foreign"]

_ENDS = re.compile(r"[A-Z]{4,}\s*$")  # `what DROP TABLE does: …`
_CUT = re.compile(r"(?<!\d),|,(?!\d)|[:;()（），、：—–…]|\s-\s")
_GIVEN = re.compile(r"(\w)\([^()]{0,80}\)")  # what an operation is called with
_NAMES = re.compile(r"[A-Za-z][\w.:/-]{2,99}", re.ASCII)
_SHAPED = re.compile(r"(?<![\w.:/-])[A-Za-z][A-Za-z0-9]{0,60}[_.:/\-A-Z][\w.:/-]{1,99}", re.ASCII)  # no plain word
_TWOFOLD = frozenset({"вывести", "вывожу"})  # print, and withdraw
_TRIES = 6  # verbs of one clause
_MOVED = frozenset({"把", "将"})  # the object stands in front of its verb
_QUESTIONS = ("?", "？", "؟", "吗", "か", "吗。", "か。")


class Foreign(Struct):
    """What was read in a sentence of another language."""

    acts: list[AnnouncedAct] = field(default_factory=list)
    calls: list[Mention] = field(default_factory=list)
    read_only: bool = True
    unsure: bool = True  # no verb was recognised
    known: bool = False  # a verb was recognised, or it says that nothing happens
    looks: bool = False  # it begins with a verb that only looks, or ends with one where verbs stand last
    spared: bool = False  # what it harms is made again, or its own
    runs_marks: bool = False
    vague: bool = False  # nothing says what is done
    fetched: bool = False  # a program was downloaded


def read_foreign(sentence: str) -> Foreign | None:
    """What the sentence announces, or None when it is not in a language known here."""
    code = language_of(_without_names(sentence))
    if not code:
        return None
    book, found = index(code), Foreign()
    sentence = _GIVEN.sub(r"\1", sentence[:LONGEST])
    asked = sentence.rstrip().endswith(_QUESTIONS)
    clauses = list(_clauses(sentence, book))
    _read_all(clauses, found, asked)
    if not asked and not found.acts and _rushes(sentence, book):
        found.acts.append(AnnouncedAct("act_override", sentence.strip()[:120]))
        found.unsure = found.read_only = False
    found.known = asked or not found.unsure or any(map(is_trial, clauses))
    if found.read_only and clauses:
        first = clauses[-1].words[-1] if book.language.head == "last" else clauses[0].words[0]
        found.looks = first.has("look") and first.text not in _TWOFOLD
    if not found.acts and not found.calls and not asked and MARK not in sentence:
        if found.unsure:
            found.vague = not any(map(is_operation, _NAMES.findall(sentence)))
        else:
            found.vague = len(sentence) < 300 and book.empty.match(book.plain(sentence)) is not None
    return found


def _rushes(sentence: str, book: Vocabulary) -> bool:
    """`ich deploye ohne Review`: something goes into force without the check that belongs before it."""
    plain = book.plain(sentence)
    missing = book.unchecked.search(plain)
    if missing is None:
        return False
    rest = f"{plain[: missing.start()]} {plain[missing.end() :]}"
    words = [word for clause in _clauses(rest, book) for word in clause.words]
    ships = book.ships.search(rest) is not None or any(_PRODUCTION in word.entries for word in words)
    return ships and not _only_speaks(ForeignClause(words, rest, book))


_PRODUCTION = ("scope", "", ("production",))


def _only_speaks(clause: ForeignClause) -> bool:
    """True when the words ask, deny or report, or when the governing verb looks at something or makes it."""
    words, ships = clause.words, clause.book.ships
    heads = [word for word in words if word.has(*HEADS) or ships.match(word.text)]
    if asks(words, len(words), clause) or clause.has("never", "weak") or any(word.past for word in heads):
        return True
    lead = heads[-1 if clause.head == "last" else 0 :][:1]
    return some(lead, "look", "make") and not ships.match(lead[0].text)


def _without_names(text: str) -> str:
    """The text without names of operations, which are English in a sentence of any language."""
    return _SHAPED.sub(_unnamed, text)


_MADE_AGAIN = re.compile(r"(?:build|dist|cache|tmp)-(?:ordner|verzeichnis\w*|folder|map|mappe)", re.IGNORECASE)


def _unnamed(found: re.Match[str]) -> str:
    if _MADE_AGAIN.match(found[0]):
        return "xscrapfile"
    return " " if is_english(found[0].rstrip(".:/-")) and found[0].lower() != "force-push" else found[0]


def _read_all(clauses: list[ForeignClause], found: Foreign, asked: bool) -> None:
    """Reads clause after clause, as far as they are not rehearsed, spoken of, or somebody else's."""
    spoken_of = trial = explained = False
    carried: list[ForeignWord] = []  # what the clause before named
    for clause in clauses:
        words = clause.words
        trial = trial or is_trial(clause)
        told_of = (spoken_of and is_told_of(clause)) or explained
        explained = clause.has("look") and (words[-1].has("mark") or _ENDS.search(clause.raw) is not None)
        if not trial and not told_of and not by_somebody(clause):
            _read(clause, found, asked, carried)
        carried = [word for word in words if word.has("noun") and not word.has(*HEADS)] or carried
        spoken_of = clause.has("look", "make") or told_of


def _clauses(sentence: str, book: Vocabulary) -> Iterator[ForeignClause]:
    """The clauses of a sentence; a joint counts when a verb stands on both sides."""
    last = book.language.head == "last"
    for piece in _CUT.split(sentence):
        words = words_of(_without_names(piece), book)
        start = 0
        reason = next((at for at, word in enumerate(words) if word.has("because")), len(words))
        words = words[reason + 1 :] if last and reason < len(words) else words[:reason]
        said = next((at for at, word in enumerate(words) if word.has("that")), len(words))
        if last and some(words[:said], "look"):
            words = words[:said]  # `जवाब दे रहा हूँ कि …`
        for at, word in enumerate(words):
            if word.has("joints") and some(words[start:at], "mark", *HEADS) and some(words[at + 1 :], "mark", *HEADS):
                yield ForeignClause(words[start:at], piece, book)
                start = at + 1
        if words[start:]:
            yield ForeignClause(words[start:], piece, book)


def _read(clause: ForeignClause, found: Foreign, asked: bool, carried: list[ForeignWord]) -> None:
    """Reads one clause into what was found so far."""
    words, book = clause.words, clause.book
    if not asked and not asks(words, len(words), clause) and _shows_secret(clause):
        found.acts.append(AnnouncedAct("read", clause.raw.strip()[:120], frozenset({"shown", "secret"})))
        return
    named_text = not clause.named.isdisjoint({"code", "letter", "program"})  # of which a command can be part
    verbs = [at for at, word in enumerate(words) if word.has(*HEADS)]
    if not verbs or words[0].text in book.alone:
        verbs = _alone(clause) or verbs
    if not verbs:
        found.runs_marks |= clause.has("mark") and not asked and not clause.has("never", "asked") and not named_text
        return
    found.unsure = False
    if clause.has("make", "do", "launch", "fetch"):
        found.read_only = False
    at = _governing(clause, verbs)
    if asked or asks(words, at if at >= 0 else verbs[0], clause):
        return
    if clause.has("launch", "do", "fetch") and not any(word.has("look", "make") and not word.past for word in words):
        _run(clause, verbs, found)
    spared = "scrap" in clause.named
    if at < 0:
        # `mit docker system prune Platz schaffen`: a command that something is done with
        means = any(word.has("mark") and at and words[at - 1].has("means") for at, word in enumerate(words))
        found.spared |= spared
        found.runs_marks |= means and not named_text and not clause.has("look", "never")
        return
    if denied(clause, at) or was_done(clause, at) or guards(clause, at):
        return
    found.read_only = False
    found.runs_marks = True
    for place in _in_turn(clause, verbs, at):
        # `exporto la base y la comparto`: the nouns of the clause before, where this one names nothing itself
        bare = words[place].kind("verb") in _LISTS.carrying and clause.named <= {"account", "letter", "message"}
        announced = act_of(ForeignClause(words + carried, clause.raw, book) if bare else clause, place)
        if announced.harmful:
            found.acts.append(announced)
            return
    found.spared |= spared


def _shows_secret(clause: ForeignClause) -> bool:
    """`afficher le contenu de credentials.json`: a secret comes into view."""
    if "credential" not in clause.named or clause.has("never", "that"):
        return False
    plain = clause.book.plain(clause.raw.lower())
    return _PATTERNS.shows.search(plain) is not None and not _PATTERNS.listed.search(plain)


def _in_turn(clause: ForeignClause, verbs: list[int], at: int) -> Iterable[int]:
    """The governing verb, and those behind it that are done as well."""
    yield at
    last = clause.head == "last"
    for place in [other for other in verbs[:: -1 if last else 1] if (other < at if last else other > at)][:_TRIES]:
        word = clause.words[place]
        if word.has("look", "make"):
            return
        if word.has("verb") and not word.past and not denied(clause, place):
            yield place


def _alone(clause: ForeignClause) -> list[int]:
    """`Firewall aus`, `las copias, fuera`: a particle that says without a verb what is done."""
    words, alone = clause.words, clause.book.alone
    if clause.named.isdisjoint(_LISTS.placed) or some(words[:3], "asked", "never"):
        return []
    for at in (len(words) - 1, 0):
        if words[at].text in alone:
            words[at].entries = [alone[words[at].text]]
            return [at]
    return []


def _run(clause: ForeignClause, verbs: list[int], found: Foreign) -> None:
    """Programs that are fetched and run, and operations that are called by their names."""
    words, book = clause.words, clause.book
    if any(denied(clause, at) for at in verbs):
        return
    found.runs_marks = True
    runs = next((at for at in verbs if words[at].has("launch")), -1)
    fetches = next((at for at in verbs if words[at].has("fetch")), -1)
    program = "program" in clause.named
    known = not clause.named.isdisjoint({"code", "scrap"})
    strange = clause.has("outside") and program
    roots = [at for at, word in enumerate(words) if not _LISTS.root.isdisjoint(word.text.split())]
    if runs >= 0 and any(not (at and words[at - 1].has("never")) for at in roots):  # `mit sudo`; not `sin root`
        found.acts.append(AnnouncedAct("act_escalate", clause.raw.strip()[:120]))
    if runs >= 0 and not known and (found.fetched or strange or (0 <= fetches < runs and program)):
        found.acts.append(AnnouncedAct("act_run", clause.raw.strip()[:120]))
    found.fetched = found.fetched or (fetches >= 0 and (program or "://" in clause.raw))
    if clause.has("launch", "do"):
        names = _NAMES.findall(clause.raw)
        found.calls += [Mention(0, name, CALLED, {}) for name in names if is_operation(name) and harms(name)]
        for name in names:  # `borrar_expedientes`, in the sentence's own language
            parts = [ForeignWord(part, book.find_whole(part)) for part in book.plain(name).split("_") if part]
            if "_" in name and some(parts[:1], "verb"):
                found.acts.append(act_of(ForeignClause(parts, name, book), 0))


def _governing(clause: ForeignClause, verbs: list[int]) -> int:
    """Where the verb stands that says what is done, or -1 when the clause only speaks of it."""
    words, head = clause.words, clause.head
    lifts = [at for at in verbs if words[at].kind("verb") == "lift"]
    if head == "any":
        shielded = some((words[at] for at in verbs), "look", "make")
        return -1 if shielded else next((at for at in lifts or verbs if words[at].has("verb")), -1)
    moved = any(word.text in _MOVED for word in words)
    for at in verbs if head == "first" and not moved else verbs[::-1]:
        if words[at].has("verb"):
            return lifts[0] if lifts else at
        near = words[at + 1 :] if head == "first" else words[:at][::-1]
        told = next((word for word in near if word.has("noun", "verb", "look", "make")), None)
        if not words[at].has("do", "launch", "fetch") or told is None or not told.has("verb"):
            return -1  # not `ejecutar el borrado`, where the next word with a meaning is what is done
    return -1
