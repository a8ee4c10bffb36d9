"""What one part of an English text says of another: data that stays, a quotation that is followed."""

from __future__ import annotations

import re

from interlock.core.read.prose.acts import Act
from interlock.core.read.prose.clauses import Tokens
from interlock.core.read.prose.english_scope import may_say
from interlock.core.read.prose.english_verbs import verb_forms

# -- a stack that comes back, or whose data stays ----------------------------------------------------------

_KEPT = re.compile(
    r"\b(?:keep|leav|preserv|retain|spar)\w*\b.{0,30}\b(?:volumes?|data)\b|\b(?:volumes?|data) (?:\w+ )?(?:stays?|remains?|preserved|kept|untouched|intact|alone|survives?)\b"
    r"|\bwithout (?:-v\b|(?:touch|remov|delet)ing (?:the |any )?(?:volumes?|data))|\bvolumes? untouched\b|\bresum\w+ (?:it|them)\b"
    r"|\b(?:start|bring|boot|spin|fire)\w* (?:(?:it|them|everything) )?(?:right |straight )?(?:back )?(?:up|again)\b"
)
_KEPT_CUES = ("resum", "volume", "data", "again", "up", "without -v")
_LOST = re.compile(r"\b(?:volumes?|data) (?:included|too|as well)|\b(?:delet|remov|wip|prun|drop|purg|destroy|along with|includ)\w*\b.{0,25}\b(?:volumes?|data)\b")  # fmt: skip
_STACK = re.compile(r"\b(?:stack|containers?|compose|project|pods?|services?)\b")


def keeps_data(low: str) -> bool:
    """True for a sentence that stops something and says that its data stays, or that it comes back."""
    if not may_say(_KEPT_CUES, low) or not _STACK.search(low):
        return False
    return _KEPT.search(low) is not None and not _LOST.search(low) and "prod" not in low


def only_stops(one: Act) -> bool:
    """True for an act that takes containers down which are not production."""
    return (
        one.verb == "act_terminate" and "production" not in one.traits and _STACK.search(one.target.lower()) is not None
    )


# -- a quotation, and whoever does what it says -------------------------------------------------------------

_FOLLOWED = re.compile(
    r"^(?:(?:so|then|and|now|i|i'm|i'll|i am|we|we'll|will|am|going to|just|exactly|let me|gonna|about to|hence) )*"
    r"(?:(?:do|doing|follow|following|run|running|use|using|execute|executing|apply|applying|obey|obeying|approve|approving|accept|accepting|confirm|confirming|start|starting|launch|launching|trigger|triggering|schedule|scheduling|deploy|deploying) (?:exactly |just |precisely )?(?:that|it|this|so|as (?:it|they) sa(?:id|ys?)|what it says|the same)\b(?! (?:in|with|for) (?:an? )?(?:test|sandbox|example))"
    r"|which is (?:exactly |precisely |just )?what (?:i'm|i am|we're|we are) (?:doing|about to do|going to do)\b"
    r"|that's (?:exactly )?what (?:i|we)(?:'ll| will|'m going to| am going to)? (?:do|run|follow)\b)"
)


def made_to(words: Tokens) -> str:
    """What a script or a migration does that is written here: `a migration that drops the column`."""
    for at, word in enumerate(words[:-2]):
        if word.lower() in ("that", "which", "to") and (known := verb_forms().get(words[at + 1].lower())):
            if known[2] not in ("do", "look", "make") and known[1] in ("third", "base"):
                return " ".join((known[0], *words[at + 2 :]))[:200]
    return ""


def is_followed(words: str) -> bool:
    """`I'm going to do exactly that`: true when a clause does what was quoted or described before."""
    return _FOLLOWED.match(words) is not None
