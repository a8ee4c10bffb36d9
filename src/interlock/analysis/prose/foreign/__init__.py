"""A sentence in another language than English -> its effects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from msgspec import Struct, field

from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.lexicon.vocabulary import HEADS, Vocabulary
from interlock.analysis.operations.names import harms, is_english, is_operation
from interlock.analysis.prose.clauses import AnnouncedAct
from interlock.analysis.prose.embedded import MARK
from interlock.analysis.prose.foreign.acts import act_of, by_somebody, denied, guards, withheld
from interlock.analysis.prose.foreign.language import LONGEST, index, language_of, may_be_english
from interlock.analysis.prose.foreign.words import ForeignWord, words_of
from interlock.analysis.prose.operations import CALLED, Mention

_PATTERNS = Patterns("foreign")
_LISTS = WordLists("foreign")

__all__ = ["Foreign", "index", "language_of", "read_foreign"]

_ENDS = re.compile(r"[A-Z]{4,}\s*$")  # `what DROP TABLE does: …`
_CUT = re.compile(r"(?<!\d),|,(?!\d)|[:;()（），、：—–…]|\s-\s")
_GIVEN = re.compile(r"(\w)\([^()]{0,80}\)")  # what an operation is called with
_NAMES = re.compile(r"[A-Za-z][\w.:/-]{2,99}", re.ASCII)
_SHAPED = re.compile(r"(?<![\w.:/-])[A-Za-z][A-Za-z0-9]{0,60}[_.:/\-A-Z][\w.:/-]{1,99}", re.ASCII)  # no plain word
_TWOFOLD = frozenset({"вывести", "вывожу"})  # print, and withdraw
_TRIES = 6  # verbs of one clause
_IN_ORDER = frozenset({"um", "om"})
_MOVED = frozenset({"把", "将"})  # the object stands in front of its verb


class Foreign(Struct):
    """What was read in a sentence of another language."""

    acts: list[AnnouncedAct] = field(default_factory=list)
    calls: list[Mention] = field(default_factory=list)
    read_only: bool = True
    unsure: bool = True  # no verb was recognised, and it may be English
    known: bool = False  # a verb was recognised, or it says that nothing happens
    looks: bool = False  # it begins with a verb that only looks
    spared: bool = False  # what it harms is made again, or its own
    runs_marks: bool = False
    vague: bool = False  # nothing says what is done
    cut: bool = False  # the sentence was longer than what is read
    fetched: bool = False  # a program was downloaded


class _Clause(Struct):
    """The words of a clause, and the text they were found in."""

    words: list[ForeignWord]
    raw: str

    def has(self, *roles: str) -> bool:
        for word in self.words:
            for entry in word.entries:
                if entry[0] in roles:
                    return True
        return False


def read_foreign(sentence: str) -> Foreign | None:
    """What the sentence announces, or None when it is not in a language known here."""
    code = language_of(_without_names(sentence))
    if not code:
        return None
    book, found = index(code), Foreign(cut=len(sentence) > LONGEST)
    sentence = _GIVEN.sub(r"\1", sentence[:LONGEST])
    asked = sentence.rstrip().endswith(("?", "？", "؟", "吗", "か", "吗。", "か。"))
    clauses = list(_clauses(sentence, book))
    if any(withheld(clause.words, book) for clause in clauses):
        found.unsure, found.known = False, True
        return found
    wide = _read_all(clauses, book, found, asked)
    if not asked and not found.acts and _rushes(sentence, book):
        found.acts.append(AnnouncedAct("act_override", sentence.strip()[:120]))
        found.unsure = found.read_only = False
    found.known = asked or not found.unsure or any(map(_is_trial, clauses))
    found.looks = found.read_only and len(clauses) == 1 and clauses[0].words[0].has("look")
    found.looks = found.looks and clauses[0].words[0].text not in _TWOFOLD
    found.looks |= (
        found.read_only and book.language.head == "last" and any(c.words[-1].has("look") for c in clauses[-1:])
    )
    if (
        not found.acts
        and not found.calls
        and not asked
        and MARK not in sentence
        and _says_nothing(sentence, found, wide, book)
    ):
        found.vague = True
    elif found.unsure:
        found.unsure = may_be_english(sentence, code)
    return found


def _rushes(sentence: str, book: Vocabulary) -> bool:
    """`ich deploye ohne Review`: something goes into force without the check that belongs before it."""
    plain = book.plain(sentence)
    missing = book.unchecked.search(plain)
    if missing is None:
        return False
    text = sentence if len(plain) == len(sentence) else plain
    rest = f"{text[: missing.start()]} {text[missing.end() :]}"
    clauses = list(_clauses(rest, book))
    words = [word for clause in clauses for word in clause.words]
    if any(_is_trial(one) or by_somebody(one.words, one.raw, book) for one in clauses) or _only_speaks(words, book):
        return False
    return book.ships.search(book.plain(rest)) is not None or any(_PRODUCTION in word.entries for word in words)


_PRODUCTION = ("scope", "", ("production",))


def _only_speaks(words: list[ForeignWord], book: Vocabulary) -> bool:
    """True when the words ask, deny or report, or when the governing verb looks at something or makes it."""
    heads = [word for word in words if word.has(*HEADS) or book.ships.match(word.text)]
    if _asks(words, len(words), book) or any(word.has("never", "weak") for word in words):
        return True
    if any(word.past for word in heads):
        return True
    lead = heads[-1 if book.language.head == "last" else 0] if heads else None
    return lead is not None and lead.has("look", "make") and not book.ships.match(lead.text)


def _without_names(text: str) -> str:
    """The text without names of operations, which are English in a sentence of any language."""
    return _SHAPED.sub(lambda found: _SCRAP if _MADE_AGAIN.match(found[0]) else _unnamed(found[0]), text)


_MADE_AGAIN = re.compile(r"(?:build|dist|cache|tmp)-(?:ordner|verzeichnis\w*|folder|map|mappe)", re.IGNORECASE)
_SCRAP = "xscrapfile"


def _unnamed(name: str) -> str:
    return " " if is_english(name.rstrip(".:/-")) and name.lower() != "force-push" else name


def _read_all(clauses: list[_Clause], book: Vocabulary, found: Foreign, asked: bool) -> bool:
    """Reads clause after clause; True when one of them speaks of everything, of production or of what is final."""
    spoken_of = trial = wide = explained = False
    carried: list[ForeignWord] = []  # what the clause before named
    for clause in clauses:
        trial = trial or _is_trial(clause)
        told_of = (spoken_of and _is_told_of(clause, book)) or explained
        told_of = told_of or (clause is not clauses[0] and _is_said_of(clause.words, book))
        explained = clause.has("look") and (clause.words[-1].has("mark") or _ENDS.search(clause.raw) is not None)
        if not trial and not told_of and not by_somebody(clause.words, clause.raw, book):
            _read(clause, book, found, asked, carried)
        carried = [word for word in clause.words if word.has("noun") and not word.has(*HEADS)] or carried
        spoken_of = clause.has("look", "make") or told_of
        wide = wide or any(
            trait in _LISTS.wide
            for word in clause.words
            for entry in word.entries
            if entry[0] == "scope"
            for trait in entry[2]
        )
    return wide


def _is_told_of(clause: _Clause, book: Vocabulary) -> bool:
    """`DROP and TRUNCATE`, `that deleting asks first`: a clause that belongs to what was spoken of before it."""
    words = clause.words
    if len(words) == 1 or any(word.has("that") for word in words[:2]):
        return True
    if _is_relative(words, book):
        return True
    return words[0].text not in _IN_ORDER and any(_is_infinitive(words, at) for at in range(len(words)))


def _is_said_of(words: list[ForeignWord], book: Vocabulary) -> bool:
    """`ein X, das den Begriff leert`: a relative clause in which a thing acts."""
    return words[0].text in book.relatives and words[-1].text.endswith("t") and _is_relative(words, book)


def _is_relative(words: list[ForeignWord], book: Vocabulary) -> bool:
    """`die Funktion, die Benutzer löscht`, `Stellen, an denen gelöscht wird`."""
    return any(word.text in book.relatives for word in words[:2]) and words[-1].has("verb", "will")


def _is_infinitive(words: list[ForeignWord], at: int) -> bool:
    """`MFA abzuschalten`: what is proposed, feared or forbidden."""
    if not words[at].has("verb"):
        return False
    return (bool(at) and words[at - 1].text in ("zu", "te")) or _PATTERNS.zu.match(words[at].text) is not None


def _says_nothing(sentence: str, found: Foreign, wide: bool, book: Vocabulary) -> bool:
    """True when no word says what is done, or everything is done something to that nobody knows."""
    if found.unsure and not may_be_english(sentence, book.language.code):
        return not any(map(is_operation, _NAMES.findall(sentence)))
    return len(sentence) < 300 and bool(book.empty.match(book.plain(sentence)))


def _is_trial(clause: _Clause) -> bool:
    """`a dry run of it`; not `after the dry run`, nor `without one`."""
    return not clause.has("past_trial") and any(
        word.has("trial") and not any(other.has("never") for other in clause.words[max(0, at - 2) : at])
        for at, word in enumerate(clause.words)
    )


def _clauses(sentence: str, book: Vocabulary) -> Iterator[_Clause]:
    """The clauses of a sentence; a joint counts when a verb stands on both sides."""
    for piece in _CUT.split(sentence):
        words = words_of(_without_names(piece), book)
        start = 0
        reason = next((at for at, word in enumerate(words) if word.has("because")), len(words))
        words = words[reason + 1 :] if book.language.head == "last" and reason < len(words) else words[:reason]
        if book.language.head == "last":
            said = next((at for at, word in enumerate(words) if word.has("that")), len(words))
            words = words[:said] if any(word.has("look") for word in words[:said]) else words  # `जवाब दे रहा हूँ कि …`
        for at, word in enumerate(words):
            if word.has("joints") and _has_verb(words[start:at]) and _has_verb(words[at + 1 :]):
                yield _Clause(words[start:at], piece)
                start = at + 1
        if words[start:]:
            yield _Clause(words[start:], piece)


def _has_verb(words: list[ForeignWord]) -> bool:
    return any(word.has("mark", *HEADS) for word in words)


def _read(clause: _Clause, book: Vocabulary, found: Foreign, asked: bool, carried: list[ForeignWord]) -> None:
    """Reads one clause into what was found so far."""
    words = clause.words
    if not asked and not _asks(words, len(words), book) and _shows_secret(clause, book):
        found.acts.append(AnnouncedAct("read", clause.raw.strip()[:120], frozenset({"shown", "secret"})))
        return
    verbs = [at for at, word in enumerate(words) if word.has(*HEADS)]
    if not verbs or words[0].text in book.alone:
        verbs = _alone(clause, book) or verbs
    if not verbs:
        found.runs_marks |= (
            clause.has("mark") and not asked and not clause.has("never", "asked") and not _names_text(words)
        )
        return
    found.unsure = False
    if clause.has("make", "do", "launch", "fetch"):
        found.read_only = False
    at = _governing(words, verbs, book.language.head)
    if asked or _asks(words, at if at >= 0 else verbs[0], book):
        return
    if clause.has("launch", "do", "fetch") and not any(word.has("look", "make") and not word.past for word in words):
        _run(clause, verbs, book, found)
    if at < 0:
        found.spared |= any(word.kind("noun") == "scrap" for word in words)
        found.runs_marks |= _is_means(words) and not clause.has("look", "never")
        return
    if (
        denied(words, at, book)
        or _was_done(words, at, book)
        or (words[at].past and not _passive(words))
        or guards(words, at, book)
    ):
        return
    found.read_only = False
    found.runs_marks = True
    for place in _in_turn(words, verbs, at, book):
        announced = act_of(*_with_carried(words, place, carried, book), book, clause.raw)
        if announced.harmful:
            found.acts.append(announced)
            return
    found.spared |= any(word.kind("noun") == "scrap" for word in words)


def _was_done(words: list[ForeignWord], at: int, book: Vocabulary) -> bool:
    """`letzte Woche wurde der Knoten ersetzt`: a word of the past in front of the verb, or behind it where verbs stand last."""
    if any(word.has("will") for word in words):
        return False
    return any(word.has("was") for word in (words[at:] if book.language.head == "last" else words[:at]))


def _shows_secret(clause: _Clause, book: Vocabulary) -> bool:
    """`afficher le contenu de credentials.json`: a secret comes into view."""
    if not any(word.kind("noun") == "credential" for word in clause.words) or clause.has("never", "that"):
        return False
    named = [word for word in clause.words if word.text.replace(" ", "_") not in _LISTS.screens]
    if any(word.kind("noun") in ("code", "letter", "message", "list", "log") for word in named):
        return False
    plain = book.plain(clause.raw.lower())
    return not _LISTED.search(plain) and _shows(book.language.spaced).search(plain) is not None


_LISTED = re.compile(r"一覧|列表|列出|목록|danh sách|\blist|\belenc|\bauflist|спис|قائمة|सूची")  # only their names


@cache
def _shows(spaced: bool) -> re.Pattern[str]:
    stems = "|".join(sorted(_LISTS.shows))
    return re.compile(rf"(?<!\w)(?:{stems})" if spaced else stems)


def _with_carried(
    words: list[ForeignWord], at: int, carried: list[ForeignWord], book: Vocabulary
) -> tuple[list[ForeignWord], int]:
    """`exporto la base y la comparto`: the words, and those of the clause before when this one names nothing itself."""
    named = {word.kind("noun") for word in words} - {""}
    if words[at].kind("verb") not in _LISTS.carrying or not named <= {"account", "letter", "message"}:
        return words, at
    if book.language.noun == "last":
        return carried + words, at + len(carried)
    return words + carried, at


def _in_turn(words: list[ForeignWord], verbs: list[int], at: int, book: Vocabulary) -> Iterable[int]:
    """The governing verb, and those behind it that are done as well."""
    yield at
    behind = [place for place in verbs if place > at]
    if book.language.head == "last":
        behind = [place for place in reversed(verbs) if place < at]
    for place in behind[:_TRIES]:
        if words[place].has("look", "make"):
            return
        if words[place].has("verb") and not words[place].past and not denied(words, place, book):
            yield place


def _alone(clause: _Clause, book: Vocabulary) -> list[int]:
    """`Firewall aus`, `las copias, fuera`: a particle that says without a verb what is done."""
    words = clause.words
    named = any(word.kind("noun") in _LISTS.placed for word in words)
    reported = any(word.text in _LISTS.gone or (word.has("was") and word.text not in book.alone) for word in words)
    if not named or reported or any(word.has("asked", "never") for word in words[:3]):
        return []
    for at in (len(words) - 1, 0):
        entry = book.alone.get(words[at].text)
        if entry is not None:
            words[at].entries = [entry]
            return [at]
    return []


def _is_means(words: list[ForeignWord]) -> bool:
    """`mit docker system prune Platz schaffen`: a command that something is done with."""
    done_with = any(word.has("mark") and at and words[at - 1].has("means") for at, word in enumerate(words))
    return done_with and not _names_text(words)


def _names_text(words: list[ForeignWord]) -> bool:
    """True when a text is named that a command can be part of."""
    return any(word.kind("noun") in ("code", "letter", "program") for word in words)


def _asks(words: list[ForeignWord], at: int, book: Vocabulary) -> bool:
    """True when the clause begins as a question or a condition."""
    last = min(3, at) if book.language.spaced else 3 if book.language.head == "last" else len(words)
    return any(word.has("asked") and (not at or not word.has("that", "will")) for at, word in enumerate(words[:last]))


def _run(clause: _Clause, verbs: list[int], book: Vocabulary, found: Foreign) -> None:
    """Programs that are fetched and run, and operations that are called by their names."""
    words = clause.words
    if any(denied(words, at, book) for at in verbs):
        return
    found.runs_marks = True
    runs = next((at for at in verbs if words[at].has("launch")), -1)
    program = any(word.kind("noun") == "program" for word in words)
    fetches = next((at for at in verbs if words[at].has("fetch")), -1)
    known = any(
        word.kind("noun") in ("code", "scrap") for word in (words[runs:] if book.language.head == "first" else words)
    )
    strange = clause.has("outside") and program
    if runs >= 0 and _as_root(words):
        found.acts.append(AnnouncedAct("act_escalate", clause.raw.strip()[:120]))
    if runs >= 0 and not known and (found.fetched or strange or (0 <= fetches < runs and program)):
        found.acts.append(AnnouncedAct("act_run", clause.raw.strip()[:120]))
    found.fetched = found.fetched or (fetches >= 0 and (program or "://" in clause.raw))
    if clause.has("launch", "do"):
        names = _NAMES.findall(clause.raw)
        found.calls += [Mention(0, name, CALLED, {}) for name in names if is_operation(name) and harms(name)]
        found.acts += [one for name in names if "_" in name for one in _named_operation(name, book)]


def _as_root(words: list[ForeignWord]) -> bool:
    """`mit sudo`, `como root`; not `sin root`."""
    return any(
        not _LISTS.root.isdisjoint(word.text.split()) and not (at and words[at - 1].has("never"))
        for at, word in enumerate(words)
    )


def _governing(words: list[ForeignWord], verbs: list[int], head: str) -> int:
    """Where the verb stands that says what is done, or -1 when the clause only speaks of it."""
    lifts = [at for at in verbs if words[at].kind("verb") == "lift"]
    if head == "any":
        shielded = any(words[at].has("look", "make") for at in verbs)
        untold = any(words[at].has("do", "launch") for at in verbs) and any(
            word.kind("noun") == "code" for word in words
        )
        return -1 if shielded or untold else next((at for at in lifts or verbs if words[at].has("verb")), -1)
    moved = any(word.text in _MOVED for word in words)
    order = verbs if head == "first" and not moved else verbs[::-1]
    for at in order:
        if words[at].past and not _passive(words):
            continue
        if words[at].has("do", "launch", "fetch") and not words[at].has("verb") and _leaves_open(words, at, head):
            continue
        if words[at].has("verb"):
            return lifts[0] if lifts else at
        return -1
    return -1


def _leaves_open(words: list[ForeignWord], at: int, head: str) -> bool:
    """`ejecutar el borrado`: the next word with a meaning is what is done."""
    near = words[at + 1 :] if head == "first" else words[:at][::-1]
    told = next((word for word in near if word.has("noun", "verb", "look", "make")), None)
    return told is not None and told.has("verb")


def _passive(words: list[ForeignWord]) -> bool:
    return any(word.has("will") for word in words) and not any(word.has("was") for word in words)


def _named_operation(name: str, book: Vocabulary) -> list[AnnouncedAct]:
    """What an operation does whose name is in the sentence's own language: `borrar_expedientes`."""
    words = [ForeignWord(part, book.find_whole(part)) for part in book.plain(name).split("_") if part]
    if not words or not words[0].has("verb"):
        return []
    announced = act_of(words, 0, book, name)
    return [announced] if announced.harmful else []
