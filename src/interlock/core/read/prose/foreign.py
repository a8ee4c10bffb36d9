"""A sentence in another language than English -> its acts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module

from interlock.core.read.prose.acts import Act
from interlock.core.read.prose.clauses import is_operation
from interlock.core.read.prose.embedded import MARK
from interlock.core.read.prose.english_nouns import nouns
from interlock.core.read.prose.english_verbs import verb_forms
from interlock.core.read.prose.foreign_acts import act_of
from interlock.core.read.prose.foreign_words import WORD, Word, words_of
from interlock.core.read.prose.language import HEADS, Index
from interlock.core.read.prose.normalise import folded

CODES = ("es", "de", "fr", "pt", "it", "nl", "ru", "zh", "ja")
_LATIN = CODES[:6]
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_CUT = re.compile(r"[,:;()（），、：—–…]|\s-\s")
_NAMES = re.compile(r"[A-Za-z][\w.]{2,99}")
_LETTERS = tuple(
    (re.compile(letters), code)
    for letters, code in (("[ñ¿¡]", "es"), ("[ãõ]|ção", "pt"), ("[äöß]", "de"), ("[œêèùû]|à ", "fr"), ("[òì]", "it"))
)
_ENGLISH = frozenset(
    "the a an to of and from all for with on is are in it this that then by my our not please i will".split()
)
_WIDE = frozenset({"all", "production", "permanent"})
_LONGEST = 4_000


@dataclass(slots=True)
class Foreign:
    """What was read in a sentence of another language."""

    acts: list[Act] = field(default_factory=list)
    read_only: bool = True
    unsure: bool = True  # no verb was recognised
    runs_marks: bool = False
    cut: bool = False  # the sentence was longer than what is read
    fetched: bool = False  # a program was downloaded


@dataclass(slots=True)
class _Clause:
    """The words of a clause, and the text they were found in."""

    words: list[Word]
    raw: str

    def has(self, *roles: str) -> bool:
        return any(word.has(*roles) for word in self.words)


@cache
def index(code: str) -> Index:
    """The words of one language, put in order once."""
    return Index(import_module(f"interlock.core.read.prose.languages.{code}").LANGUAGE)


@cache
def _common() -> dict[str, tuple[str, ...]]:
    """Common words -> the languages that have them."""
    table: dict[str, tuple[str, ...]] = {}
    for code in _LATIN:
        language = index(code).language
        for word in {
            *language.common.split(),
            *language.empty.split(),
            *language.asked.split(),
            *language.never.split(),
        }:
            table[word] = (*table.get(word, ()), code)
    return table


def read_foreign(sentence: str) -> Foreign | None:
    """What the sentence announces, or None when it is not in a language known here."""
    code = language_of(sentence)
    if not code:
        return None
    book, found = index(code), Foreign(cut=len(sentence) > _LONGEST)
    sentence = sentence[:_LONGEST]
    asked = sentence.rstrip().endswith(("?", "？", "吗", "か", "吗。", "か。"))
    spoken_of = trial = wide = False
    for clause in _clauses(sentence, book):
        trial = trial or _is_trial(clause)
        if not trial and not (
            spoken_of and len(clause.words) == 1
        ):  # `DROP and TRUNCATE`: a bare verb belongs to what was spoken of
            _read(clause, book, found, asked)
        spoken_of = clause.has("look", "make")
        wide = wide or any(
            trait in _WIDE
            for word in clause.words
            for entry in word.entries
            if entry[0] == "scope"
            for trait in entry[2]
        )
    if not found.acts and not asked and MARK not in sentence and _says_nothing(sentence, found, wide, book):
        found.acts.append(Act("act_vague", sentence[:120]))
    return found


def _says_nothing(sentence: str, found: Foreign, wide: bool, book: Index) -> bool:
    """True when no word says what is done, or everything is done something to that nobody knows."""
    if found.unsure and wide:
        return not any(map(is_operation, _NAMES.findall(sentence)))
    return len(sentence) < 300 and bool(book.empty.match(folded(sentence)))


def _is_trial(clause: _Clause) -> bool:
    return clause.has("trial") and not clause.has("past_trial", "never")


def language_of(sentence: str) -> str:
    """The language by its script or by its common words and verbs; nothing for English."""
    if not sentence.isascii():
        if _KANA.search(sentence):
            return "ja"
        if _HAN.search(sentence):
            return "zh"
        if _CYRILLIC.search(sentence):
            return "ru"
    words = WORD.findall(folded(sentence[:_LONGEST]))[:60]
    scores = dict.fromkeys(_LATIN, 0)
    english = 0
    for word in words:
        in_english, others = _weights(word) if len(word) <= _KEPT else _weigh(word)
        english += in_english
        for code, weight in others:
            scores[code] += weight
    for letters, code in _LETTERS:
        if letters.search(sentence):
            scores[code] += 2
    _settle(words, scores)
    best = max(scores, key=lambda code: scores[code])
    return best if scores[best] > english else ""


def _weigh(word: str) -> tuple[int, tuple[tuple[str, int], ...]]:
    """How much a word speaks for English, and for each of the other languages."""
    english = 2 if word in verb_forms() else 1 if word in _ENGLISH or word in nouns() else 0
    others = [(code, 1) for code in _common().get(word, ())]
    for code in _LATIN:
        for entry in index(code).find(word):
            others.append((code, 2 if entry[0] in HEADS else 1))
            break
    return english, tuple(others)


_KEPT = 30  # characters of a word whose weights are remembered
_weights = lru_cache(maxsize=4096)(_weigh)


def _settle(words: list[str], scores: dict[str, int]) -> None:
    """Languages that are near each other are told apart by their idioms."""
    most = max(scores.values())
    near = [code for code in _LATIN if most and scores[code] >= most - 2]
    text = " ".join(words)
    for code in near if len(near) > 1 else ():
        idioms = index(code).idioms
        if idioms and idioms.search(text):
            scores[code] += 3


def _clauses(sentence: str, book: Index) -> Iterable[_Clause]:
    """The clauses of a sentence; a joint counts when a verb stands on both sides."""
    for piece in _CUT.split(sentence):
        words = words_of(piece, book)
        start = 0
        for at, word in enumerate(words):
            if word.has("joints") and _has_verb(words[start:at]) and _has_verb(words[at + 1 :]):
                yield _Clause(words[start:at], piece)
                start = at + 1
        if words[start:]:
            yield _Clause(words[start:], piece)


def _has_verb(words: list[Word]) -> bool:
    return any(word.has(*HEADS) for word in words)


def _read(clause: _Clause, book: Index, found: Foreign, asked: bool) -> None:
    """Reads one clause into what was found so far."""
    words = clause.words
    verbs = [at for at, word in enumerate(words) if word.has(*HEADS)]
    if not verbs:
        return
    found.unsure = False
    if clause.has("make", "do", "launch", "fetch"):
        found.read_only = False
    at = _governing(words, verbs, book.language.head)
    if asked or _asks(words, at if at >= 0 else verbs[0], book):
        return
    if clause.has("launch", "do", "fetch") and not clause.has("look", "make"):
        _run(clause, verbs, book, found)
    if at < 0 or _denied(words, at, book) or (words[at].past and not _passive(words)):
        return
    found.read_only = False
    found.runs_marks = True
    announced = act_of(words, at, book, clause.raw)
    if announced.harmful:
        found.acts.append(announced)


def _asks(words: list[Word], at: int, book: Index) -> bool:
    """True when the clause begins as a question or a condition."""
    last = min(3, at) if book.language.spaced else 3
    return any(word.has("asked") for word in words[:last])


def _run(clause: _Clause, verbs: list[int], book: Index, found: Foreign) -> None:
    """Programs that are fetched and run, and operations that are called by their names."""
    words = clause.words
    if any(_denied(words, at, book) for at in verbs):
        return
    found.runs_marks = True
    runs = next((at for at in verbs if words[at].has("launch")), -1)
    program = any(word.kind("noun") == "program" for word in words)
    fetches = next((at for at in verbs if words[at].has("fetch")), -1)
    known = any(
        word.kind("noun") in ("code", "scrap") for word in (words[runs:] if book.language.head == "first" else words)
    )
    strange = clause.has("outside") and program
    if runs >= 0 and not known and (found.fetched or strange or (0 <= fetches < runs and program)):
        found.acts.append(Act("act_run", clause.raw.strip()[:120]))
    found.fetched = found.fetched or (fetches >= 0 and (program or "://" in clause.raw))
    if clause.has("launch", "do"):
        found.acts += [one for name in _NAMES.findall(clause.raw) if is_operation(name) for one in _operation(name)]


def _governing(words: list[Word], verbs: list[int], head: str) -> int:
    """Where the verb stands that says what is done, or -1 when the clause only speaks of it."""
    lifts = [at for at in verbs if words[at].kind("verb") == "lift"]
    if head == "any":
        shielded = any(words[at].has("look", "make") for at in verbs)
        untold = any(words[at].has("do", "launch") for at in verbs) and any(
            word.kind("noun") == "code" for word in words
        )
        return -1 if shielded or untold else next((at for at in lifts or verbs if words[at].has("verb")), -1)
    order = verbs if head == "first" else verbs[::-1]
    for at in order:
        if words[at].past and not _passive(words):
            continue
        if words[at].has("do", "launch", "fetch") and not words[at].has("verb") and _leaves_open(words, at, head):
            continue
        if words[at].has("verb"):
            return lifts[0] if lifts else at
        return -1
    return -1


def _leaves_open(words: list[Word], at: int, head: str) -> bool:
    """`ejecutar el borrado`: the next word with a meaning is what is done."""
    near = words[at + 1 :] if head == "first" else words[:at][::-1]
    told = next((word for word in near if word.has("noun", "verb", "look", "make")), None)
    return told is not None and told.has("verb")


def _denied(words: list[Word], at: int, book: Index) -> bool:
    """True when a denial belongs to this verb; missing backups and questions deny nothing."""
    for place, word in enumerate(words):
        if not word.has("never"):
            continue
        near = words[place + 1 : place + 4] if book.language.head != "last" else words[max(0, place - 2) : place]
        if any(other.has("unless") for other in near):
            continue
        if book.language.head != "first" or (place < at and at - place <= 4) or abs(at - place) == 1:
            return True
    return False


def _passive(words: list[Word]) -> bool:
    return any(word.has("will") for word in words) and not any(word.has("was") for word in words)


def _operation(name: str) -> list[Act]:
    """What an operation of this name would do."""
    from interlock.core.read.operation import read_operation

    told = _Acts()
    read_operation(name, {}, "", told)
    return [one for one in told.found if one.harmful]


class _Acts:
    """A report that keeps acts; an operation without parameters tells nothing else."""

    def __init__(self) -> None:
        self.found: list[Act] = []

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        self.found.append(Act(verb, target, frozenset(traits)))

    def run(self, argv: Sequence[str]) -> None:
        """Nothing is run by a name alone."""

    def shell(self, text: str) -> None:
        """No shell is named."""

    def code(self, language: str, text: str) -> None:
        """No code is named."""

    def unreadable(self, what: str, *traits: str) -> None:
        """A name is always readable."""

    def step(self, count: int = 1) -> None:
        """One name is one step, and the sentence has counted it."""
