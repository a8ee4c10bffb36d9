"""An English clause whose verb says nothing -> the act that its object, its particle and its adverbs give away."""

from __future__ import annotations

from interlock.core.read.prose.acts import Act, Traits, act
from interlock.core.read.prose.clauses import Tokens
from interlock.core.read.prose.english_objects import Thing, thing_in
from interlock.core.read.prose.english_verbs import verb_forms

VALUED = frozenset("data log account access credential guard safety config resource disk device money".split())
# Where a thing goes that does not come back; a verb and one of these say that it is taken away.
_AWAY = frozenset("away out off overboard gone down under".split())
# Verbs that leave a thing where it is, whatever stands behind them.
_KEEPS = frozenset(
    "redirect store keep save grant pin set move migrate link add enable attach fix solve resolve log sign send ship point print write carry sort"
    " work lay stand rule map find figure check try read build point spell start roll hand fan help pad fill"
    " bring sell".split()
)
_NEVER_BACK: Traits = frozenset({"permanent", "no_backup"})


def by_default(low: Tokens, thing: Thing, wide: Traits, known: bool) -> Act | None:
    """The act, when something of value is taken away for good, or all of it by a verb that nobody knows."""
    if thing.kind not in VALUED or not low:
        return None
    traits = thing.traits | wide
    away = not _AWAY.isdisjoint(low)
    for_good = not _NEVER_BACK.isdisjoint(traits)
    if known and not (away and for_good):
        return None
    if not known and not (for_good or (away and "all" in traits)):
        return None
    if not known and not _looks_like_a_verb(low):
        return None
    if any(verb_forms().get(word, ("",))[0] in _KEEPS for word in low):
        return None
    return act("shed", thing.kind, thing.words, traits)


def mutation(words: Tokens, low: Tokens, at: int, wide: Traits) -> Act | None:
    """`update the prices in the production database`: data of production changes under those who use it."""
    thing = thing_in(words, at + 1, len(words))
    traits = thing.traits | wide
    if "production" not in traits or thing.kind not in ("data", "account", "money") or not _LOOKS.isdisjoint(low):
        return None
    if traits & _STORES:
        return Act("act_change", thing.words, traits | {"mutates"})
    placed = any(word in ("in", "on") and low[place + 1] in _LIVE for place, word in enumerate(low[:-1]))
    if placed and any(word.lstrip("#").isdigit() for word in low[at + 1 :]):
        return Act("act_change", thing.words, traits | {"mutates", "one"})
    return None


_LIVE = frozenset("prod production live".split())
_LOOKS = frozenset(
    "page styling style layout dashboard diagram docs documentation banner text template heading label readme handbook ticket issue mode chart".split()
)
_STORES: Traits = frozenset({"database", "table", "schema"})
_LEADS = frozenset(
    "i i'm i'll we we're we'll am are will shall gonna going to about let's let me us now next then first finally also just please so hence by and".split()
)


def _looks_like_a_verb(low: Tokens) -> bool:
    """True when the first word that is not a lead can be a verb: a gerund, or a plain word with a thing behind it."""
    for at, word in enumerate(low[:8]):
        if word in _LEADS:
            continue
        if not word.isalpha() or verb_forms().get(word):
            return False
        return word.endswith("ing") or (at + 1 < len(low) and low[at + 1] in _OPENS)
    return False


_OPENS = frozenset("the all every each any our their its his her both whole entire my those these".split())
