"""English sentences: which of their words are asked, refused, rehearsed, judged or described, and which are left to announce something."""

from __future__ import annotations

import re

from msgspec.structs import replace

from interlock.analysis.lexicon import form_of, verb_forms
from interlock.analysis.lexicon.load import Patterns, Rows, WordLists
from interlock.analysis.prose.clauses import AROUND, Around, Tokens, classes, may_say
from interlock.analysis.prose.english import EnglishObject, thing_in

PATTERNS = Patterns("sentence")
_LISTS = WordLists("sentence")
_TAME = ("do", "look", "make")  # kinds of verbs that do no harm

NOT_RUN_CUES = ("not ", "nothing ", "don", "only", "dry", "without ", "never ", "simulat", "rehears", "if mode")
REFUSED_CUES = tuple(
    "ask want told order beg tri request instruct says demand tell turn declin refus reject reading documenting checking reviewing studying auditing".split()
)


def is_question(low: str) -> bool:
    """True for what is asked; a polite request is none."""
    marked = low.rstrip().endswith("?")
    if (not marked and not PATTERNS.asks_openly.match(low)) or PATTERNS.polite.match(low):
        return False
    if PATTERNS.asks.match(low):
        return marked or not PATTERNS.answers.search(low)
    return marked and low.startswith("¿")


def without_question(sentence: str) -> str:
    """The sentence up to the question that it ends with: `one thing is open: may the logs go?`."""
    for cut in PATTERNS.halt.finditer(sentence) if "?" in sentence or ": " in sentence or " —" in sentence else ():
        if (cut[0] != ", " or sentence.endswith("?")) and is_question(sentence[cut.end() :].lower()):
            return sentence[: cut.start()]
    return sentence


def without_refused(text: str) -> str:
    """The text without what somebody wants and the speaker refuses; what follows the refusal is read as ever."""
    return PATTERNS.refused.sub(" . ", text) if may_say(REFUSED_CUES, text.lower()) else text


def is_not_run(low: str) -> bool:
    """True for a sentence that only rehearses, or says that nothing is run."""
    return (
        may_say(NOT_RUN_CUES, low)
        and bool(PATTERNS.not_run.search(low))
        and not PATTERNS.not_run_denied.search(low)
        and PATTERNS.but_only.sub(_instead, low) == low
    )


_GOES_ON = re.compile(r"(?:,| and|;) (?:then|afterwards|now) ", re.IGNORECASE)


def without_asides(sentence: str, low: str) -> str:
    """The sentence without `could you`, without what a colon only quotes or lists, and with both halves of `not only … but also`."""
    request = PATTERNS.polite.match(low)
    if request and " we" not in request[0]:
        sentence = sentence[request.end() :]
    if titled := PATTERNS.titled.match(sentence) if ": " in sentence else None:
        verb = titled["verb"].lower()
        if verb in _LISTS.composes or verb_forms().get(verb, ("", "", ""))[2] in ("make", "look"):
            after = _GOES_ON.search(sentence, titled.end())
            sentence = sentence[: titled.end() - 2] + (sentence[after.start() :] if after else "")
    if listed := PATTERNS.listed.match(sentence) if ": " in sentence else None:
        head = listed["head"].lower().split()
        if all(verb_forms().get(word, ("", "", "do"))[2] in _TAME for word in head):
            sentence = f"{listed['head']}."
    if low.startswith("in "):
        sentence = PATTERNS.set_in.sub(r"\g<act> in \g<place>", sentence)
    if "drag and drop" in low:
        sentence = PATTERNS.dragged.sub("drag-and-drop", sentence)
    if "()" in sentence:
        sentence = PATTERNS.brackets.sub("", sentence)
    if "while" in low:
        sentence = PATTERNS.meanwhile.sub("", sentence)
    if when := PATTERNS.when.match(sentence):
        sentence = f"{when[0]}, {sentence[when.end() :]}"
    if "only" in low or "just" in low or "merely" in low or " but " in low:
        sentence = PATTERNS.but_only.sub(_instead, PATTERNS.only.sub(r"\g<first> and ", sentence))
    return sentence


def _instead(match: re.Match[str]) -> str:
    """What is denied, and the same verb with what is done instead."""
    if match["verb"].lower() not in verb_forms() or match["rest"].lower() in verb_forms():
        return match[0]
    return f"{match['no']} {match['verb']}{match['what']}, {match['verb']} {match['rest']}"


def keeps_data(low: str) -> bool:
    """True for a sentence that stops something and says that its data stays, or that it comes back."""
    kept = PATTERNS.stack.search(low) and PATTERNS.kept.search(low)
    return bool(kept) and not PATTERNS.lost.search(low) and "prod" not in low


def made_to(words: Tokens) -> str:
    """What a script or a migration does that is written here: `a migration that drops the column`."""
    for at, word in enumerate(words[:-2]):
        if word.lower() in ("that", "which", "to") and (known := verb_forms().get(words[at + 1].lower())):
            if known[2] not in _TAME and known[1] in ("third", "base"):
                return " ".join((known[0], *words[at + 2 :]))[:200]
    return ""


_REACH = 9  # words in which a subject ends


def guard_at_work(words: Tokens, low: Tokens) -> EnglishObject | None:
    """The guard of a clause like `branch protection blocks my push`; none when somebody else acts."""
    guards = _LISTS.guards
    at = next((at for at, word in enumerate(low[:_REACH]) if "<refuses>" in classes(word)), 0)
    if guards.isdisjoint(low[max(0, at - 2) : at]) or low[at - 1] in _LISTS.not_guards:
        return None  # not `remove the rule that blocks …`
    acts = at > 1 and form_of(low[0]) in ("base", "ing") and low[0] not in guards
    return None if acts else replace(thing_in(words, 0, at), kind="safety")


_JUDGED = Rows("judged", "opening", AROUND)


def is_judged(low: Tokens) -> bool:
    """`dropping the table is forbidden`, `a dropped schema cannot be restored`."""
    says = (at for at, word in enumerate(low[:8]) if word in ("can", "may") or form_of(word) == "third")
    happens = next(filter(None, says), 0)
    return bool(_JUDGED.first((form_of(low[0]),), Around(low, happens)))


def reads_as_english(low: str) -> bool:
    """True when the sentence begins with an English verb or article and has a word that only English has."""
    words = low.split()
    first = words[0] if words else ""
    verb = first in verb_forms()
    if verb and first.endswith("ing") and _LISTS.not_here.isdisjoint(words):
        return True
    return (verb or first in _LISTS.only_here or first == "no") and not _LISTS.only_here.isdisjoint(words)
