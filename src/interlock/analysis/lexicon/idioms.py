"""English phrases that announce an effect, from data: found by the words that begin them, as if each were searched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from interlock.analysis.lexicon.english import EFFECTS, English
from interlock.analysis.packs import Pack, PackError, only_keys

LONGEST = 200  # characters of one pattern
_KEY = 3  # letters by which the cues are kept
_NAME = re.compile(r"\{([a-z_]+)\}")
_DEEPEST = 6  # lists inside lists
_KEYS = frozenset({"cues", "effect", "kind", "patterns", "strong", "traits"})


class Phrase(Struct, frozen=True):
    """A wording that only as a whole says what happens."""

    cues: tuple[str, ...]
    pattern: str
    effect: str  # empty where the object decides
    kind: str  # of the verb that it stands for, where the object decides
    traits: frozenset[str]
    strong: bool  # counts even behind a verb of making


class Phrases:
    """All phrases, indexed by their cues."""

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        self.phrases = phrases
        self.always = [number for number, phrase in enumerate(phrases) if not phrase.cues]
        self.begun: dict[str, dict[str, list[int]]] = {}
        short: dict[str, list[int]] = {}
        for number, phrase in enumerate(phrases):
            for cue in phrase.cues:
                table = short if len(cue) < _KEY else self.begun.setdefault(cue[:_KEY], {})
                table.setdefault(cue, []).append(number)
        self.short, self.shortest = short, tuple(short)

    @cached_property
    def patterns(self) -> list[re.Pattern[str]]:
        """The patterns in the order of the phrases."""
        return [re.compile(phrase.pattern) for phrase in self.phrases]

    def found(self, text: str) -> Iterator[tuple[int, Phrase]]:
        """Where a text in lower case has which phrases, in their order."""
        wanted = set(self.always)
        for word in text.split():
            for piece in (word, *word.split("-")[1:]) if "-" in word else (word,):
                for cue, numbers in self.begun.get(piece[:_KEY], _NONE).items():
                    if piece.startswith(cue):
                        wanted.update(numbers)
                if piece.startswith(self.shortest):
                    wanted.update(*(numbers for cue, numbers in self.short.items() if piece.startswith(cue)))
        for number in sorted(wanted):
            match = self.patterns[number].search(text)
            if match:
                yield match.start(), self.phrases[number]


_NONE: dict[str, list[int]] = {}


def build_phrases(pack: Pack, english: English) -> Phrases:
    """The phrases of a pack; raises PackError on anything that is not exactly right."""
    only_keys("idioms", pack, {"idiom", "lists", "parts"})
    parts = {name: f"(?:{'|'.join(_checked(name, words))})" for name, words in pack["lists"].items()}
    parts.update({name: _checked(name, [part])[0] for name, part in pack["parts"].items()})
    return Phrases([_phrase(f"idiom {number}", data, parts, english) for number, data in enumerate(pack["idiom"], 1)])


def _phrase(where: str, data: Mapping[str, Any], parts: Mapping[str, str], english: English) -> Phrase:
    only_keys(where, data, _KEYS)
    effect, kind = data.get("effect", ""), data.get("kind", "")
    if bool(effect) is bool(kind) or (effect and effect not in EFFECTS) or (kind and kind not in english.kinds):
        raise PackError(f"{where}: effect {effect!r} and kind {kind!r}, expected one of them that is known")
    pattern = "|".join(_expanded(where, one, parts) for one in _checked(where, data["patterns"]))
    try:
        re.compile(pattern)
    except re.error as error:
        raise PackError(f"{where}: {error}") from None
    return Phrase(
        tuple(data["cues"].split()),
        pattern,
        f"act_{effect}" if effect else "",
        kind,
        frozenset(data.get("traits", "").split()),
        bool(data.get("strong", False)),
    )


def _expanded(where: str, pattern: str, parts: Mapping[str, str]) -> str:
    for _ in range(_DEEPEST):
        if unknown := next((name for name in _NAME.findall(pattern) if name not in parts), ""):
            raise PackError(f"{where}: no list {unknown!r}")
        pattern = _NAME.sub(lambda name: parts[name[1]], pattern)
    return pattern


def _checked(where: str, patterns: Any) -> list[str]:
    if not isinstance(patterns, list) or not patterns or not all(isinstance(one, str) and one for one in patterns):
        raise PackError(f"{where}: {patterns!r:.80}, expected a list of patterns")
    if long := next((one for one in patterns if len(one) > LONGEST), ""):
        raise PackError(f"{where}: a pattern of {len(long)} characters, expected at most {LONGEST}")
    return patterns
