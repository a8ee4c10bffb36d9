"""Is a sentence English, is a quoted word the name of a thing, is a quoted text on a button that is pressed?"""

from __future__ import annotations

import re

from interlock.core.read.operation_names import is_operation
from interlock.core.read.prose.clauses import Tokens
from interlock.core.read.prose.english_nouns import nouns
from interlock.core.read.prose.english_scope import SCOPE
from interlock.core.read.prose.english_verbs import verb_forms

# None of these is a word of the other languages that are read.
_ONLY_HERE = frozenset("the to that with from and our my this by their its".split())
_OPENS = frozenset("never don't i'll i'm we'll not".split())
_WORDS = re.compile(r"[^\W\d_][\w'-]*")
_NAME = re.compile(r"[A-Za-z][\w.-]{1,60}")
_PRESSES = frozenset(
    "click clicks clicking press presses pressing tap taps tapping hit hits hitting confirm confirms confirming choose chooses choosing select"
    " selects selecting accept accepts accepting push pushing".split()
)
_NEAR = frozenset("on the button link option dialog prompt box".split())


def reads_as_english(low: str) -> bool:
    """True when the sentence begins with an English verb or article and has a word that only English has."""
    words = low.split()
    if words and (words[0] in _OPENS or (words[0].endswith("ing") and words[0] in verb_forms())):
        return True
    return (
        bool(words)
        and (words[0] in verb_forms() or words[0] in _ONLY_HERE or words[0] == "no")
        and not _ONLY_HERE.isdisjoint(words)
    )


def all_english(sentence: str) -> bool:
    """True when every word is an English one that is known; names of operations count as none."""
    return all(
        is_operation(word)
        or (low := word.lower()) in verb_forms()
        or low in nouns()
        or low in _ONLY_HERE
        or low in SCOPE
        or low in _OPENS
        for word in _WORDS.findall(sentence)
    )


def is_name(text: str) -> bool:
    """`audit_trail`: true for one word that names a thing and is no verb."""
    if not _NAME.fullmatch(text) or text.lower() in verb_forms():
        return False
    low = text.lower().replace("_", " ")
    return low in nouns() or low.rpartition(" ")[2] in nouns()


def is_pressed(words: Tokens, at: int) -> bool:
    """True when what stands here is pressed or confirmed: a verb of pressing in front, and nothing but its place between."""
    for word in reversed(words[max(0, at - 4) : at]):
        low = word.lower()
        if low in _PRESSES:
            return True
        if low not in _NEAR:
            return False
    return False
