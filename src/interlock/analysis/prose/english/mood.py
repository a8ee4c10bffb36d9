"""The mood of an English sentence: which of its words are asked, refused or only rehearsed, and which are left to announce something."""

from __future__ import annotations

import re

from interlock.analysis.lexicon.forms import verb_forms
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.prose import english

_PATTERNS = Patterns("mood")
_LISTS = WordLists("mood")

NOT_RUN_CUES = ("not ", "nothing ", "don", "only", "dry", "without ", "never ", "simulat", "rehears", "if mode")
REFUSED_CUES = tuple("ask want told order beg tri request instruct says demand tell turn declin refus reject".split())


def is_question(low: str) -> bool:
    """True for what is asked; a polite request is none."""
    if _PATTERNS.polite.match(low):
        return False
    if _PATTERNS.asks.match(low):
        return low.rstrip().endswith("?") or (
            _PATTERNS.asks_openly.match(low) is not None and not _PATTERNS.answers.search(low)
        )
    return low.startswith("¿") and low.rstrip().endswith("?")


def without_question(sentence: str) -> str:
    """The sentence up to the question that it ends with: `one thing is open: may the logs go?`."""
    for cut in _PATTERNS.halt.finditer(sentence) if "?" in sentence or ": " in sentence or " —" in sentence else ():
        if (cut[0] != ", " or sentence.endswith("?")) and is_question(sentence[cut.end() :].lower()):
            return sentence[: cut.start()]
    return sentence


def without_refused(text: str) -> str:
    """The text without what somebody wants and the speaker refuses; what follows the refusal is read as ever."""
    return _PATTERNS.refused.sub(" . ", text) if english.may_say(REFUSED_CUES, text.lower()) else text


def is_not_run(low: str) -> bool:
    """True for a sentence that only rehearses, or says that nothing is run."""
    return (
        english.may_say(NOT_RUN_CUES, low)
        and bool(_PATTERNS.not_run.search(low))
        and not _PATTERNS.not_run_denied.search(low)
        and _PATTERNS.but_only.sub(_instead, low) == low
    )


_DRAGGED = re.compile("drag and drop", re.IGNORECASE)
_BRACKETS = re.compile(r"(?<=\w)\(\)")  # `exec()`
_GOES_ON = re.compile(r"(?:,| and|;) (?:then|afterwards|now) ", re.IGNORECASE)


def without_asides(sentence: str, low: str) -> str:
    """The sentence without `could you`, without what a colon only quotes or lists, and with both halves of `not only … but also`."""
    request = _PATTERNS.polite.match(low)
    if request and " we" not in request[0]:
        sentence = sentence[request.end() :]
    titled = _PATTERNS.titled.match(sentence) if ": " in sentence else None
    if titled and (
        verb_forms().get(titled["verb"].lower(), ("", "", ""))[2] in ("make", "look")
        or titled["verb"].lower() in _LISTS.composes
    ):
        after = _GOES_ON.search(sentence, titled.end())
        sentence = sentence[: titled.end() - 2] + (sentence[after.start() :] if after else "")
    if ": " in sentence and (listed := _PATTERNS.listed.match(sentence)) and _is_tame(listed["head"]):
        sentence = f"{listed['head']}."
    if low.startswith("in "):
        sentence = _PATTERNS.set_in.sub(r"\g<act> in \g<place>", sentence)
    if "drag and drop" in low:
        sentence = _DRAGGED.sub("drag-and-drop", sentence)
    if "()" in sentence:
        sentence = _BRACKETS.sub("", sentence)
    if "while" in low:
        sentence = _PATTERNS.meanwhile.sub("", sentence)
    if when := _PATTERNS.when.match(sentence):
        sentence = f"{when[0]}, {sentence[when.end() :]}"
    if "only" in low or "just" in low or "merely" in low or " but " in low:
        sentence = _PATTERNS.but_only.sub(_instead, _PATTERNS.only.sub(_both, sentence))
    return sentence


def _is_tame(head: str) -> bool:
    """True when no verb of these words does harm."""
    return all(verb_forms().get(word, ("", "", "do"))[2] in ("do", "look", "make") for word in head.lower().split())


def _instead(match: re.Match[str]) -> str:
    """What is denied, and the same verb with what is done instead."""
    if match["verb"].lower() not in verb_forms() or match["rest"].lower() in verb_forms():
        return match[0]
    return f"{match['no']} {match['verb']}{match['what']}, {match['verb']} {match['rest']}"


def _both(match: re.Match[str]) -> str:
    """The first half stays when it says what is done; a thing alone gives way to the one that matters more."""
    first = match["first"]
    return f"{first} and " if first.split()[0].lower() in verb_forms() else ""
