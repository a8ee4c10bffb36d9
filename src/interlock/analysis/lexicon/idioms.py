"""English phrases that announce an effect, from data: found by the words that begin them, as if each were searched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.lexicon.english import EFFECTS, READS, English, Words, decode
from interlock.analysis.packs import Pack, PackError, only_keys

LONGEST = 200  # characters of one pattern
_KEY = 3  # letters by which the cues are kept
_NAME = re.compile(r"\{([a-z_]+(?:\.[a-z_]+)?)\}")
_LETTERS = re.compile(r"\S")
_DEEPEST = 6  # lists inside lists


class Phrase(Struct, frozen=True, forbid_unknown_fields=True):
    """A wording that only as a whole says what happens."""

    cues: Words  # of which a word begins with one, or has it inside where the cue begins with `*`
    pattern: str
    effect: str = ""  # empty where the object decides
    kind: str = ""  # of the verb that it stands for, where the object decides
    traits: Words = Words()
    strong: bool = False  # counts even behind a verb of making
    also: Words = Words()  # cues of which one has to be there as well


def blank(match: re.Match[str]) -> str:
    """As many words as were found, none of which says anything."""
    return _LETTERS.sub("_", match[0])


class Phrases:
    """All phrases, indexed by their cues."""

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        self.phrases, self.patterns = phrases, [lazy_regex(phrase.pattern) for phrase in phrases]
        self.inside: list[tuple[str, int]] = []  # what may stand anywhere in a word, and its phrase
        self.begun: dict[str, list[tuple[str, int]]] = {}  # the first letters of a cue -> the cue and its phrase
        self.also: dict[str, list[tuple[str, int]]] = {}  # the same for what has to be there as well
        for number, phrase in enumerate(phrases):
            for cue in phrase.cues:
                if cue[0] == "*":
                    self.inside.append((cue[1:], number))
                self.begun.setdefault(cue[:_KEY], []).append((cue, number))
            for cue in phrase.also:
                self.also.setdefault(cue[:_KEY], []).append((cue, number))
        self.twofold = {number for number, phrase in enumerate(phrases) if phrase.also}
        self.begun_by = lru_cache(maxsize=4096)(self._begun_by)

    def found(self, text: str) -> Iterator[tuple[int, Phrase]]:
        """Where a text in lower case has which phrases, in their order."""
        for number in self._begun_in(text):
            match = self.patterns[number].search(text)
            if match:
                yield match.start(), self.phrases[number]

    def without(self, text: str) -> str:
        for number in self._begun_in(text):
            text = self.patterns[number].sub(blank, text)
        return text

    def _begun_in(self, text: str) -> list[int]:
        """The numbers of the phrases that a word of the text may begin."""
        words = text.split()
        if "-" in text:
            words += [piece for word in words if "-" in word for piece in word.split("-")[1:]]
        found = list(map(self.begun_by, words))
        wanted = {number for piece, number in self.inside if piece in text}.union(*[begun for begun, _ in found])
        if twofold := wanted & self.twofold:
            wanted -= twofold.difference(*[also for _, also in found])
        return sorted(wanted)

    def _begun_by(self, word: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The numbers of the phrases that one word may begin, and of those that it may complete."""
        keys = {word[:length] for length in range(1, _KEY + 1)}
        begun, also = (
            tuple(number for key in keys for cue, number in table.get(key, ()) if word.startswith(cue))
            for table in (self.begun, self.also)
        )
        return begun, also


def build_parts(pack: Pack) -> dict[str, str]:
    """The lists and parts that a pattern may name."""
    parts = {name: f"(?:{'|'.join(checked_patterns(name, words))})" for name, words in pack["lists"].items()}
    return parts | {name: checked_patterns(name, [part])[0] for name, part in pack.get("parts", {}).items()}


def build_phrases(pack: Pack, english: English) -> tuple[Phrases, Phrases]:
    """The phrases that announce an effect, and those that make a word of harm harmless; raises PackError on anything wrong."""
    only_keys("idioms", pack, {"harmless", "idiom", "lists", "parts"})
    parts = build_parts(pack)
    idioms = [_phrase(f"idiom {number}", data, parts) for number, data in enumerate(pack["idiom"], 1)]
    for number, one in enumerate(idioms, 1):
        known = one.kind in english.kinds or one.effect == READS or one.effect[4:] in EFFECTS
        if bool(one.effect) is bool(one.kind) or not known:
            raise PackError(f"idiom {number}: effect {one.effect!r} and kind {one.kind!r}, expected one that is known")
    harmless = [_phrase(f"harmless {number}", data, parts) for number, data in enumerate(pack["harmless"], 1)]
    return Phrases(idioms), Phrases(harmless)


def _phrase(where: str, data: Mapping[str, Any], parts: Mapping[str, str]) -> Phrase:
    rest = {key: value for key, value in data.items() if key != "patterns"}
    one = decode(where, rest | {"pattern": joined(where, data.get("patterns"), parts)}, Phrase)
    if not one.cues:
        raise PackError(f"{where}: no cues, expected words that begin it")
    return one if one.effect in ("", READS) else replace(one, effect=f"act_{one.effect}")


def joined(where: str, alternatives: Any, parts: Mapping[str, str]) -> str:
    """One pattern of all alternatives, with the parts that they name; raises PackError where it is none."""
    pattern = "|".join(checked_patterns(where, alternatives))
    try:
        for _ in range(_DEEPEST):
            pattern = _NAME.sub(lambda name: parts[name[1]], pattern)
        re.compile(pattern)
    except KeyError as error:
        raise PackError(f"{where}: no list {error}") from None
    except re.error as error:
        raise PackError(f"{where}: {error}") from None
    return pattern


def checked_patterns(where: str, patterns: Any) -> list[str]:
    """The patterns of a list; raises PackError for anything else, and for one that is too long."""
    if not isinstance(patterns, list) or not patterns or not all(isinstance(one, str) and one for one in patterns):
        raise PackError(f"{where}: {patterns!r:.80}, expected a list of patterns")
    if long := next((one for one in patterns if len(one) > LONGEST), ""):
        raise PackError(f"{where}: a pattern of {len(long)} characters, expected at most {LONGEST}")
    return patterns
