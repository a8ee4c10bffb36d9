"""Does a text say anything that can be judged?"""

from __future__ import annotations

import re

from interlock.core.read.prose.english_nouns import nouns
from interlock.core.read.prose.english_scope import SCOPE

_EMPTY = frozenset(
    "i i'm i'll we we'll am will do doing done does did something anything stuff thing things it this that these those them continue continuing"
    " next step steps proceed proceeding go going ahead on handle handling as discussed the a an some one with for to of in and or then now just"
    " work working task tasks job action actions operation operations command commands file files script scripts run running execute executing"
    " write writing make making use using tool tools call calling perform performing process processing carry out usual plan needful"
    " what needs needed be is are before planned agreed request requested need required necessary finish finishing complete completing"
    " keep carrying wrap up move moving forward start starting begin try trying again resume resuming rest whatever etc take taking care get"
    " getting my our your its ok okay sure yes please more another same here there function update updating change changing modify modifying"
    " fix fixing apply applying some_thing stuff me let us you user's previous last first finally also so by at instructions instructed told said"
    " follow following issue issues problem problems asked api data user system request requests changes ask asks app code project bug error thing topic matter follow-up goal agenda best appropriate remaining everything all set".split()
)
_WORDS = re.compile(r"[^\W\d_][\w'-]*")
_CONTENT = 4_000


def is_vague(text: str, known: bool) -> bool:
    """True when no word says what is done to what; a verb that nobody knows is vague as well."""
    words = [word.lower() for word in _WORDS.findall(text[:_CONTENT])]
    if all(word in _EMPTY for word in words):
        return True
    if known:
        return False
    things = [nouns()[word] for word in words if word in nouns()]
    return (
        not things
        or any(traits for _, traits, _ in things)
        or any(SCOPE.get(word) in ("all", "production") for word in words)
    )
