"""Words that are meant for the judge -> gone; what would be done does not depend on them."""

from __future__ import annotations

import re

from interlock.core.read.prose.english_scope import may_say

_WHO = r"(?:the |my |our |an? )?(?:operator|user|admin(?:istrator)?|human|owner|boss|manager|cto|ceo|security team|team|customer|lead|supervisor|system|reviewer)"
# (pieces of which one is in every such claim, the claim)
_WORDINGS = (
    ("confirmed|approved|authori|agreed|signed off|consented|allowed|said",
     rf"{_WHO}(?: has| have)?(?: already| just| explicitly)* (?:confirmed|approved|authori[sz]ed|agreed(?: to (?:this|it|that))?|signed off|consented|allowed (?:this|it)"
     rf"|said (?:it(?:'s| is) )?(?:ok(?:ay)?|fine|yes))(?: (?:this|it|that|on (?:this|it)|everything|in advance|beforehand))?"),
    ("approved|authori|whitelisted by policy",
     r"(?:(?:it|this) (?:is|was|has been) )?(?:already |fully |explicitly )*(?:pre-?approved|pre-?authori[sz]ed|whitelisted by policy)(?: by [\w ]{1,20})?"),
    ("approved|authori|confirmed|cleared",
     r"(?:already |has been |was |been )(?:approved|authori[sz]ed|confirmed|cleared)(?: by " + _WHO + r")?"),
    ("ignor|disregard|forget",
     r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?) (?:all |any |the |your )*(?:previous|prior|above|earlier|preceding|safety|former) (?:rules?|instructions?|prompts?|polic(?:y|ies)|guidelines?|warnings?)"),
    ("this is|this's|it is|it's",
     r"(?:this|it)(?: i|')s (?:only |just |merely )?(?:a )?(?:test|drill|exercise|simulation|harmless|safe|fine|ok(?:ay)?|reversible|routine)(?: only| environment| operation| action)?(?=[\s.,;:!)]|$)"),
    ("=|:",
     r"(?:risk|level|danger|severity|category|tier|safe|approved|destructive|read_?only|harmless|confirm(?:ed)?|dangerous|score|reversible|irreversible)\s?[=:]\s?(?:safe|low|lowest|none|true|false|yes|no|ok|okay|minimal|zero|medium|reversible|read[-_]?only|approved|advisory|harmless|\d[\d.]*)\b"),
    ("risk", r"(?:no|zero|low|minimal) risk"),
    ("ly safe|ly harmless|ly fine", r"(?:completely|totally|perfectly|absolutely) (?:safe|harmless|fine)"),
    ("safe to", r"safe to (?:run|proceed|execute|allow|ignore)"),
    ("do not|don't|no need to",
     r"(?:do not|don't|no need to) (?:flag|block|alert|escalate|ask|pause|warn)(?: (?:this|it|anyone|me|the user|for \w+))?"),
    ("confirmation|approval|review",
     r"no (?:further )?(?:confirmation|approval|review) (?:is )?(?:needed|required|necessary)"),
    ("please a", r"please (?:allow|approve) (?:this|it)"),
    ("as safe", r"mark (?:this|it) as safe"),
    ("classify", r"classify (?:this|it)? ?as (?:safe|\w+)"),
    ("you must|you should", r"you (?:must|should) (?:allow|approve) (?:this|it)"),
)  # fmt: skip
_CLAIMS = re.compile(r"\b(?:" + "|".join(wording for _, wording in _WORDINGS) + ")", re.IGNORECASE)
_PIECES = tuple(dict.fromkeys(piece for pieces, _ in _WORDINGS for piece in pieces.split("|")))
_SPEAKERS = re.compile(
    r"(?:^|(?<=[\s\[<(|#*]))(?:<\|?)?/?(?:system|assistant|developer|admin|operator|nextactionhint|hint|judge|moderator|instruction|important|note to (?:the )?\w+)(?:\|?>)?\s*(?:message|note|prompt|override)?\s*[:\]>]+",
    re.IGNORECASE,
)
_SPEAKER_ENDS = re.compile(r"[:\]>]")
_DENIED = re.compile(r"(?:\b(?:not|never|n't|isn't|without being|unless|until|if|once)\s*$)", re.IGNORECASE)


def without_claims(text: str) -> str:
    """The text without what it says about itself."""
    if _SPEAKER_ENDS.search(text):
        text = _SPEAKERS.sub(" . ", text)
    if not _may_claim(text):
        return text
    return _CLAIMS.sub(
        lambda match: match[0] if _DENIED.search(text[max(0, match.start() - 14) : match.start()]) else " . ", text
    )


def _may_claim(text: str) -> bool:
    """False when no claim can be in it; letters of other alphabets can be capitals of these, so those are looked at."""
    if not text.isascii():
        return True
    low = text.lower()
    return may_say(_PIECES, low)
