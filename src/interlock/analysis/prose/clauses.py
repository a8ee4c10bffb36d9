"""Sentences -> clauses of at most one announced effect each, the operations that they name, and the role of a word among those around it, by rows of data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, lru_cache

from msgspec import Struct

from interlock.analysis.lexicon import form_of, nominals, nouns, scope, split_name, verb_forms
from interlock.analysis.lexicon.load import Patterns, Rows, WordLists, english
from interlock.analysis.operations.names import harms, is_operation, may_be_operation
from interlock.analysis.prose.embedded import MARK

ENGLISH = WordLists("english")
_PATTERNS = Patterns("clauses")
_LISTS = WordLists("clauses")


def may_say(cues: tuple[str, ...], text: str) -> bool:
    """False when none of the pieces is in the text of which one is in every wording of a pattern."""
    return any(map(text.__contains__, cues))


_LONGEST = 100  # words; a longer clause is read in pieces
Tokens = list[str]


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with its closing mark."""
    pieces = _PATTERNS.sentence.split(text) if _PATTERNS.ends.search(text) else [text]
    return [piece.strip() for piece in pieces if piece and piece.strip(" .!;")]


def tokens(sentence: str) -> Tokens:
    """The words of a sentence in lower case; marks and names stay whole, and a trailing dot goes."""
    found: Tokens = []
    plain = sentence.replace(",", " , ").split()
    if "".join(plain).replace(",", "").isalpha():  # as most sentences are
        return plain
    for piece in _PATTERNS.piece.findall(sentence.replace("’", "'")):
        word = piece.rstrip(".:") or piece
        if "-" not in word:
            found.append(word)
            continue
        head, _, verb = word.partition("-")
        how, (_, form, kind) = head.lower(), verb_forms().get(verb.lower(), ("", "", ""))
        harms = how in _LISTS.how or (kind not in _LISTS.tame and how not in _LISTS.harmless_heads)
        # `hard-delete`, `gdpr-erase`: a verb of harm behind a word that says how
        apart = harms and how != "un" and head.isalpha() and form in ("base", "ing")
        undone = how == "un" and form_of(f"un{verb}")  # `un-publish`; what `un-cancel` does is no harm
        found += [head, verb] if apart else [f"un{verb}" if undone else word]
    return found


# Where a clause may end; most words are none of these.
_cutting = cache(lambda: _LISTS.hence | _LISTS.always | _LISTS.joints | _LISTS.ways | {","})


def clauses(words: Tokens) -> list[Tokens]:
    """The words of a sentence, cut where a new act can begin."""
    found: list[Tokens] = [[]]
    for at, word in enumerate(words):
        low = word.lower()
        if low not in _cutting() and len(found[-1]) < _LONGEST:
            found[-1].append(word)
        elif (
            (low in _LISTS.hence and found[-1] and found[-1][-1] == ",")
            or low in _LISTS.always
            or (
                low in _LISTS.joints
                and not (at and words[at - 1].lower() in ENGLISH.determiners)
                and not (low == "and" and _PATTERNS.belongs_with.search(" ".join(found[-1])))
                and not (low == "also" and form_of(words[min(at + 1, len(words) - 1)]) == "third")
                and not (at and words[at - 1].isupper() and form_of(words[at - 1]))  # `explain DROP and TRUNCATE`
                and _begins_act(words, at + 1)
                # `a rule that detects fork bombs`, which nothing runs
                and not (words[at + 1].startswith(MARK) and _PATTERNS.finds.search(" ".join(found[-1])))
            )
        ):
            found.append([])
        elif len(found[-1]) >= _LONGEST:
            found.append([word])
        elif low in _LISTS.ways and at + 1 < len(words) and form_of(words[at + 1]) == "ing":
            found.append([low])
        elif low != "," or found[-1]:
            found[-1].append(word)
    return [clause for clause in found if clause]


def framed(low: Tokens, at: int) -> str:
    """The words as one text with `¦` for the one that a pattern is about."""
    return " ".join([*low[:at], "¦", *low[at + 1 :]])


def _begins_act(words: Tokens, at: int) -> bool:
    """True when a verb, a denial, a command or an operation's name comes next."""
    for place, word in enumerate(words[at : at + 5], at + 1):
        low = word.lower()
        deed = low in nominals() or low.removesuffix("s") in nominals()
        if deed and (place == len(words) or words[place].lower() in ENGLISH.prepositions):
            return False  # `the disputes and refunds of last week`
        if word.startswith(MARK) or low in ENGLISH.negations or is_operation(word):
            return True
        if form_of(low) in ("base", "ing", "third"):
            return True
        if low not in _LISTS.between and low != ",":
            return False
    return False


Traits = frozenset[str]
NOTHING: Traits = frozenset()
SEVERAL: Traits = frozenset({"all", "bulk"})


class AnnouncedAct(Struct, frozen=True):
    verb: str
    target: str = ""
    traits: Traits = NOTHING

    @property
    def harmful(self) -> bool:
        return self.verb not in ("act_change", "act_read", "act_vague") or "mutates" in self.traits


def act(kind: str, thing: str, target: str, traits: Traits) -> AnnouncedAct:
    """What a verb of this kind does to a thing of this kind, with everything that is known about it."""
    effect, traits = english().effect(kind, thing, traits)
    if effect == "act_send" and traits.isdisjoint(SEVERAL):
        effect = "act_change"
    if traits.isdisjoint(SEVERAL):
        traits = traits | {"one"}
    return AnnouncedAct(effect, target[:120], traits - {"admin", "public"})


# -- the words around a word


class Around(dict[str, Collection[str]]):
    """The words around one word of a clause, by slot, each found when a row asks for it; `given` are slots that no clause has."""

    def __init__(self, low: Tokens, at: int, given: Mapping[str, Collection[str]] | None = None) -> None:
        self.low, self.at = low, at
        self["before"] = classes(low[at - 1]) if at else _NOTHING  # most rows ask for these two
        self["after"] = classes(low[at + 1]) if at + 1 < len(low) else _NOTHING
        if given:
            self.update(given)

    def __missing__(self, slot: str) -> Collection[str]:
        found = self[slot] = _SLOTS[slot](self.low, self.at)
        return found


@lru_cache(maxsize=8192)
def classes(word: str) -> tuple[str, ...]:
    """The word, and what it can be: scope, owner of what follows, a form of a verb, or what can stand before a verb in its plain form."""
    verb, form, kind = verb_forms().get(word, ("", "", ""))
    stops = form in ("third", "past") and (kind in _LISTS.holds or verb in _LISTS.refuses)
    said = {
        "<scope>": word in scope(),
        "<owner>": word.endswith("'s") and word not in _LISTS.not_owners,
        "<adverb>": word.endswith(("ly", "all")),
        "<leads>": word.endswith(("ly", "_")) or kind == "do" or not word[:1].isalpha(),
        "<refuses>": stops or word in _LISTS.held,
        "<doing>": bool(verb) and word.endswith("ing"),
        "<says>": form == "third" or word in ("can", "may"),
        f"<{form_of(word)}>": word not in nouns(),
    }
    return (word, *(name for name, holds in said.items() if holds))


_NOTHING = ("",)
_SLOTS: Mapping[str, Callable[[Tokens, int], Collection[str]]] = {
    "word": lambda low, at: (low[at],),
    "place": lambda low, at: (str(at),),
    "before2": lambda low, at: (low[at - 2],) if at > 1 else _NOTHING,
    "after2": lambda low, at: (low[at + 2],) if at + 2 < len(low) else _NOTHING,
    "first": lambda low, at: low[:1],
    "second": lambda low, at: low[1:2],
    "early": lambda low, at: low[2:4],
    "front": lambda low, at: low[:at],
    "close": lambda low, at: low[max(0, at - 3) : at],
    "near": lambda low, at: low[at + 1 : at + 6],
    "beyond": lambda low, at: low[at + 2 : at + 9],
    "rest": lambda low, at: low[at + 1 :],
    "all": lambda low, at: low,
    "lately": lambda low, at: " ".join(low[max(0, at - 5) : at]),
    "ahead": lambda low, at: " ".join(low[:at]),
    "behind": lambda low, at: " ".join(low[at + 1 :]),
    "clause": lambda low, at: " ".join(low),
    "forms": lambda low, at: {form_of(word) for word in low[:at]},
    "verbs": lambda low, at: {verb_forms()[word][0] for word in low if word in verb_forms()},
    "denied": lambda low, at: ("yes",) if is_denied(low, at) else (),
    "passive": lambda low, at: ("yes",) if _PASSIVES.first((), Around(low, at)) else (),
    "by": lambda low, at: who[1].split() if (who := _PATTERNS.who.search(" ".join(low[at:]))) else (),
}
AROUND = " ".join(("before", "after", *_SLOTS))
_PASSIVES: Rows = Rows("passive", "", AROUND)


def topic_at(low: Tokens) -> int:
    """Where the topic of a text begins that the clause composes or reads: `write an article about …`; its end when there is none."""
    if _LISTS.speech.isdisjoint(low) and _LISTS.papers.isdisjoint(low):
        return len(low)
    head = next((at for at, word in enumerate(low) if word in verb_forms()), len(low))
    verb, form, kind = verb_forms().get(low[head], ("", "", "")) if head < len(low) else ("", "", "")
    if form not in ("base", "ing") or (kind not in ("make", "look") and verb not in _LISTS.composes):
        return len(low)
    text = _PATTERNS.topic.match(" ".join(low[head + 1 :]))
    about = head + 1 + text[1].count(" ") if text else len(low)
    return about if _LISTS.starts.isdisjoint(low[:about]) else len(low)


def is_denied(low: Tokens, at: int, near: int = 2, far: int = 6) -> bool:
    """True when a denial stands in front of this word and belongs to it: no further than `far`, a weak one no further than `near`."""
    table, close, negations = verb_forms(), ENGLISH.close, ENGLISH.negations
    for place in range(at - 1, max(-1, at - far - 1), -1):
        word = low[place]
        if word == "," and not _LISTS.speakers.isdisjoint(low[place + 1 : at]):
            return False  # `I was asked not to, still I delete it`
        if word in negations:
            reaches = word not in close or at - place <= near
            return reaches or _PATTERNS.nobody.match(f"{' '.join(low[place:at])} ") is not None
        if word in table and table[word][2] not in ("do", "make", "look") and table[word][1] != "past":
            return False
    return False


# -- the operations that clauses name


class Mention(Struct, frozen=True):
    """An operation that a clause names: called, only named, or open where the words around it do not tell."""

    at: int
    name: str
    role: str  # called, named or open
    given: dict[str, str]  # what it is said to work on

    @property
    def harmless(self) -> bool:
        """True for the name of a harm that is only spoken of."""
        return self.role == NAMED and harms(self.name)


CALLED, NAMED, OPEN = "called", "named", "open"
_NAMED_ROLES = Rows("operation_role", "last how", f"{AROUND} lead said judged")


def named_clauses(sentence: str, low: str) -> Iterator[tuple[Tokens, list[Mention], bool]]:
    """The clauses of a sentence, each with the operations that it names, and whether the one in front ended with one only named."""
    # `the tools of the server: x, y`
    listed = _PATTERNS.listed.match(low) if ":" in low else None
    lists = listed is not None and _LISTS.calls.isdisjoint(listed["head"].split())
    ended = ""
    for words in clauses(tokens(sentence)):
        named = mentions(words, NAMED if lists else ended)
        yield words, named, ended == NAMED
        ended = named[-1].role if named and named[-1].at == len(words) - 1 else ""


def mentions(words: Tokens, before: str = "") -> list[Mention]:
    """Every operation that a clause names; `before` is the role of the name that the clause in front ended with."""
    low: Tokens = []
    found: list[Mention] = []
    for at, word in enumerate(words):
        if word in _LISTS.inside:
            found.append(Mention(at, word, NAMED, {}))
        elif not (word.isalpha() and word.islower()) and may_be_operation(word):
            low = low or [word.lower() for word in words]
            last = found[-1].role if found and found[-1].at == at - 2 and low[at - 1] in _LISTS.name_joints else ""
            path = _PATTERNS.given.match(" ".join(words[at + 1 : at + 8]))  # `on project/config.json`
            given = {"path": next(filter(None, path.groups()))} if path else {}
            found.append(Mention(at, word, _role(words, low, at, last if at else before), given))
    return found


def _role(words: Tokens, low: Tokens, at: int, last: str) -> str:
    """Whether a name is called, only named, or open; `last` is the role of the one that it is joined to."""
    front = next((place for place in range(at - 1, -1, -1) if low[place] not in _LISTS.skipped), -1)
    lead = next((place for place, word in enumerate(low) if word not in _LISTS.name_leads), 0)
    how = last if last == CALLED else "" if last else _how(words, low, at, front)
    given = {"lead": low[lead : lead + 1] if lead < at else (), "said": classes(low[front]) if front >= 0 else ()}
    given["judged"] = low[at + 2 : at + 4]
    denied = is_denied(low, at, near=3, far=5)
    return NAMED if denied else _NAMED_ROLES.first((last, how), Around(low, at, given)) or OPEN


def _how(words: Tokens, low: Tokens, at: int, front: int) -> str:
    """How a clause calls an operation: by a word in front, as in `use the x tool`, or by its place at the start; empty for not."""
    told_of = front > 0 and (low[front - 1] in _LISTS.refers or form_of(low[front - 1]) == "past")
    lent = front >= 0 and low[front] in ("with", "by")
    if not told_of if lent else _PATTERNS.called.match(framed(low, at)):
        return "called"
    if not _LISTS.name_leads.issuperset(low[:at]) or split_name(words[at])[-1][-1] in _LISTS.settings:
        return ""  # `purge_interval = 60`
    alone = at + 1 == len(words) or low[at + 1] in _LISTS.called_on
    return "first" if is_operation(words[at]) or alone or "." in words[at] or ":" in words[at] else ""
