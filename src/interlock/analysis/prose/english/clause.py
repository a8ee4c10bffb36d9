"""One English clause -> the effect that it announces, by its verb or else by object, particle and adverbs; a denial announces none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, field

from interlock.analysis.lexicon.forms import is_opening, nominals, nouns, opening_forms, sense, verb_forms
from interlock.analysis.lexicon.idioms import Phrase
from interlock.analysis.lexicon.lists import WordLists
from interlock.analysis.lexicon.load import english as english_words
from interlock.analysis.lexicon.load import harmless_phrases, phrases
from interlock.analysis.operations.names import is_operation
from interlock.analysis.prose import english
from interlock.analysis.prose.acts import AnnouncedAct, Traits, act
from interlock.analysis.prose.clauses import Tokens
from interlock.analysis.prose.embedded import MARK
from interlock.analysis.prose.english.objects import EnglishObject, in_code, kind_of, thing_in, with_its_data
from interlock.analysis.prose.english.roles import (
    GRAVE,
    LEADERS,
    by_others,
    is_checked,
    is_empty,
    is_fronted,
    is_noun,
    is_passive,
    is_recipient,
    is_relative,
    is_report,
    is_subject,
    is_told,
    job_does,
    only_looks,
    reports,
    topic_at,
)

_LISTS = WordLists("clause")

# Heads after which even a command with "using" before it is only spoken of.
TELLS = frozenset(
    "explain document describe discuss mention quote answer summarize summarise record note compare comment translate teach write"
    " report draft warn ask plan propose suggest recommend outline question explain recap remind argue debate cite".split()
)
_IT = re.compile(r"\b(?:it|them)\b")
_PARTICLE_REACH = 9
_MOST_ACTS = 12


class EnglishClause(Struct):
    """What was read in one clause."""

    acts: list[AnnouncedAct] = field(default_factory=list)
    shield: str = ""  # look or make, when the clause only speaks of something
    head: str = ""  # the verb that shields
    head_at: int = 0  # where in the clause's text it stands
    runs: bool = False  # a verb of running stands before what is embedded
    changes: bool = False  # a verb was there that does something
    known: bool = False  # some verb was recognised
    denied: bool = False
    reported: bool = False  # harm was done already by somebody, or is plainly ruled out
    marks: list[str] = field(default_factory=list)  # what is embedded and would really run
    text: str = ""  # its words, in lower case
    thing: EnglishObject | None = None  # the object of its verb
    whole: EnglishObject | None = None  # what all of its words name


def read_clause(words: Tokens, before: EnglishObject | None, wide: Traits) -> EnglishClause:
    """Reads one clause; `before` is what the clause in front spoke of, `wide` what holds for the whole sentence."""
    found = EnglishClause()
    low = [word.lower() for word in words]
    text = found.text = " ".join(low)
    if english.PATTERNS.supposes.match(text) or low[0] == "before":
        found.denied = True
        return found
    text_plain = text
    if english.may_say(english.NOT_NEGATIONS_CUES, text):
        text_plain = english.PATTERNS.not_negations.sub(_blank, text)
    text_plain = harmless_phrases().without(text_plain)
    found.known = text_plain != text
    topic = topic_at(low)
    _read_words(words, _aligned(low, text_plain) if found.known else low, before, wide, found, topic)
    if not found.acts or not any(act.harmful for act in found.acts):
        whole = found.whole = thing_in(words, 0, len(words))
        if not whole.kind and (whole.pronoun or _IT.search(text)) and before is not None and before.kind:
            whole = before = before.with_traits(whole.traits)
        if reports(low):
            found.known = found.reported = True
        else:
            meant = before.words.lower() if before is not None and whole is before else ""
            _read_idioms(
                low, _IT.sub(lambda _: meant, text_plain, count=1) if meant else text_plain, whole, wide, found, topic
            )
        if not found.shield and not found.denied and not any(act.harmful for act in found.acts):
            taken = by_default(low, whole, wide, found.known)
            if taken is not None:
                found.known = True
                found.acts.append(taken)
    return found


def thing_of(words: Tokens, clause: EnglishClause) -> EnglishObject:
    """What a clause speaks of: the object of its verb, or else what its words name."""
    if clause.thing is None:
        opens = words[0].lower() in verb_forms() and not (len(words) > 1 and words[1].lstrip("#")[:1].isdigit())
        if opens:  # not `order 12`
            clause.thing = thing_in(words, 1, len(words))
        if clause.thing is None or not clause.thing.kind:
            clause.thing = clause.whole or thing_in(words, 0, len(words))
    return clause.thing


def _blank(match: re.Match[str]) -> str:
    return "_" * len(match[0])


def _aligned(low: Tokens, text: str) -> Tokens:
    """The words again, with those blanked that the text no longer has."""
    result, at = [], 0
    for word in low:
        piece = text[at : at + len(word)]
        result.append(piece)
        at += len(word) + 1
    return result


def _read_words(
    words: Tokens, low: Tokens, before: EnglishObject | None, wide: Traits, found: EnglishClause, topic: int
) -> None:
    table, at = verb_forms(), 0
    while at < len(low):
        word = low[at]
        if at == topic and not found.shield and not any(one.harmful for one in found.acts):
            found.known, found.shield = True, "make"
        if word.startswith(MARK):
            means = bool(set(low[max(0, at - 3) : at]) & _LISTS.runs)
            if not _denied(low, at, table) and (not found.shield or (found.head not in TELLS and means)):
                found.marks.append(words[at])
                found.runs = found.runs or bool(set(low[max(0, at - 3) : at]) & _LISTS.strictly) or _is_given(words, at)
        elif at < topic and (word in table or word in nominals() or is_opening(low, at)):
            at = _read_verb(words, low, at, before, wide, found)
        at += 1


def _is_given(words: Tokens, at: int) -> bool:
    """`call execute_sql with "…"`: what is quoted is what the operation is given."""
    near = words[max(0, at - 4) : at]
    return any(is_operation(word) for word in near) and bool({word.lower() for word in near} & _LISTS.gives)


def _read_verb(
    words: Tokens, low: Tokens, at: int, before: EnglishObject | None, wide: Traits, found: EnglishClause
) -> int:
    """Reads the verb at this place; returns the place where reading goes on."""
    table = verb_forms()
    verb, form, kind = table.get(low[at]) or opening_forms().get(low[at]) or (low[at], "noun", nominals()[low[at]])
    particle = _particle(verb, low, at)
    if particle:
        kind = english_words().phrasals[verb][low[particle]]
        if low[particle : particle + 2] == ["out", "of"] and kind == "stop":
            kind = "remove"  # `take every row out of the table`
    if (
        (found.shield and not (found.shield == "make" and job_does(low, at)))
        or len(found.acts) > _MOST_ACTS
        or any(act.harmful for act in found.acts)
    ):
        return at
    if is_noun(low, at, form, kind):
        return at
    if form != "past" and verb in LEADERS:
        speaks = "make" if is_told(verb, low, at) else only_looks(verb, low, at)
        if speaks and not _denied(low, at, table):
            found.known, found.shield, found.head, found.head_at = (
                True,
                speaks,
                verb,
                len(" ".join(low[:at])) + bool(at),
            )
            return at
    if kind in ("look", "make"):
        if form == "past" or (form == "third" and not at):
            return at
        if (verb == "plan" and low[at + 1 : at + 2] == ["to"]) or (
            verb == "see" and low[at + 1 : at + 3] == ["to", "it"]
        ):
            return at
        found.known = True
        if verb == "back" and "up" not in low[at + 1 : at + 8]:
            return at
        found.shield, found.head, found.head_at = kind, verb, len(" ".join(low[:at])) + bool(at)
        return at
    if (
        "if" in low[:at]
        or "whether" in low[:at]
        or (verb in ("stop", "quit") and low[at + 1 : at + 2] and low[at + 1].endswith("ing") and low[at + 1] in table)
    ):
        found.known = True
        return at
    if kind == "do" and verb in _LISTS.mutates and form != "past" and not _denied(low, at, table):
        changed = mutation(words, low, at, wide)
        found.acts += [changed] if changed is not None else []
    if kind == "do":
        found.known = found.known or form != "past"
        found.changes = found.changes or (form != "past" and verb not in _LISTS.enters)
        return at
    if _denied(low, at, table) or is_empty(low, at):
        found.denied, found.known = True, True
        found.reported = found.reported or (kind in GRAVE and english.LISTS.close.isdisjoint(low))
        return at
    if is_subject(low, at) or is_checked(low, at, kind):
        found.known, found.shield = True, "make"
        return at
    passive = form == "past"
    if passive and (not is_passive(low, at) or set(low[:at]) & english.LISTS.close or is_relative(low, at)):
        found.reported = found.reported or is_report(low, at, kind)
        return at
    if passive and by_others(low, at):
        found.known = found.reported = True
        return at
    if low[max(0, at - 1)] in english.LISTS.modal_maybe or (
        at > 1 and low[at - 2] in english.LISTS.modal_maybe and low[at - 1] not in ("like",)
    ):
        found.denied = True
        return at
    found.known = True
    _announce(words, low, at, (kind, verb, passive, particle), before, wide, found)
    return at


def _announce(
    words: Tokens,
    low: Tokens,
    at: int,
    verb: tuple[str, str, bool, int],
    before: EnglishObject | None,
    wide: Traits,
    found: EnglishClause,
) -> None:
    kind, name, passive, particle = verb
    thing = thing_in(words, 0, at) if passive else thing_in(words, at + 1, len(words), particle)
    if (
        name in nominals()
        and name == low[at]
        and low[at + 1 : at + 2] != ["of"]
        and (not thing.kind or not thing.direct or thing.kind == "code")
    ):
        ahead = thing_in(words, max(0, at - 3), at)  # `a bucket removal`
        thing = ahead.with_traits(thing.traits) if ahead.kind not in ("", "code") else thing
    if not passive and is_fronted(low, at):
        thing = thing_in(words, 0, at - 1).with_traits(thing.traits)
    if name in nominals() and at > 2 and low[at - 1] == "for":
        marked = thing_in(words, 1, at - 1)  # `schedule the key for deletion`
        thing = marked.with_traits(thing.traits) if marked.kind else thing
    if kind == "reset" and not thing.words:
        return
    if kind == "expire" and not thing.kind and at > 1 and low[at - 1] == "to" and not _LISTS.sets.isdisjoint(low[:2]):
        thing = thing_in(words, 1, at).with_traits(thing.traits)  # `set all documents to expire`
    if (thing.bare or (thing.kind == "" and thing.pronoun)) and before is not None and before.kind:
        thing = before.with_traits(thing.traits)
    if not thing.words and found.acts:
        return
    if passive:
        thing = thing.with_traits(thing_in(words, at + 1, len(words)).traits)
    if kind in ("overwrite", "reset"):
        thing = with_its_data(thing)
    found.thing = thing
    traits = thing.traits | wide
    if kind == "grant" and "admin" in traits and is_recipient(low):
        traits = traits - {"admin"}
    if kind == "reset" and "factory" in low:
        traits = traits | {"permanent"}
    announced = act(kind if particle else sense(name, kind), kind_of(kind, name, thing, low, at), thing.words, traits)
    if announced.verb != "act_change" and in_code(thing, low, at, traits, kind):
        announced = AnnouncedAct("act_change", thing.words, traits)
    found.acts.append(announced)
    if kind == "block" and announced.verb == "act_change":
        found.shield, found.head, found.head_at = "make", name, 0  # a guard against what the clause goes on to name


def _particle(verb: str, low: Tokens, at: int) -> int:
    """Where the word stands that turns the verb into another one: `turn … off`."""
    options = english_words().phrasals.get(verb)
    if not options:
        return 0
    for place in range(at + 1, min(len(low), at + _PARTICLE_REACH)):
        if low[place] in options:
            return place
        if (
            place > at + 1
            and low[place] in verb_forms()
            and verb_forms()[low[place]][1] == "ing"
            and low[place] not in nouns()
        ):
            return 0
    return 0


def _denied(low: Tokens, at: int, table: dict[str, tuple[str, str, str]]) -> bool:
    """True when a denial stands in front of this word and belongs to it."""
    if low[max(0, at - 3) : at] == ["no", "need", "to"]:
        return True
    close, negations = english.LISTS.close, english.LISTS.negations
    for place in range(at - 1, max(-1, at - 7), -1):
        word = low[place]
        if word in negations:
            return word not in close or at - place <= 2
        if word in table and table[word][2] not in ("do", "make", "look") and table[word][1] != "past":
            return False
    return False


_GOES_OUT = frozenset({"act_leak", "act_send"})


def _read_idioms(low: Tokens, text: str, thing: EnglishObject, wide: Traits, found: EnglishClause, topic: int) -> None:
    """Wording that only as a whole says what happens."""
    if re.match(r"(?:would|could|might)\b", text):
        return
    head = found.head_at if found.shield else -1
    begun = None if topic >= len(low) else {one.effect for _, one in idioms(" ".join(text.split(" ")[:topic]), head)}
    for start, wording in idioms(text, head):
        if begun is not None and wording.effect not in begun and wording.effect not in _GOES_OUT:
            continue  # what only the topic has
        at = min(text[:start].count(" "), len(low) - 1)
        if _denied([*low, ""], min(len(text[:start].split()), len(low)), verb_forms()):
            return
        if (wording.effect == "act_rewrite" and _was_done(low, at)) or (
            wording.effect == "act_run" and _is_kind(low, at)
        ):
            continue
        said = _said(wording, thing, text, wide)
        if said is None:
            continue
        found.known, found.shield = True, ""
        found.acts.append(said)
        if said.harmful:
            return


def idioms(text: str, at: int) -> Iterator[tuple[int, Phrase]]:
    """Where which phrases begin; only those that begin no later than `at`, when the verb there says what is done."""
    for start, phrase in phrases().found(text[:_LONGEST]):
        if at < 0 or start < at or (phrase.strong and start == at):
            yield start, phrase


_LONGEST = 4_000


def _was_done(low: Tokens, at: int) -> bool:
    """`somebody force-pushed over main`: true for what is reported, and neither announced nor asked for."""
    return low[at].endswith(("pushed", "overwrote", "rewrote", "clobbered")) and not is_passive(low, at)


def _is_kind(low: Tokens, at: int) -> bool:
    """`the install script`: true for a verb that only says of which kind a thing is."""
    return at > 0 and low[at - 1] in english.LISTS.determiners and low[at] in ("install", "setup", "update", "build")


def _said(wording: Phrase, thing: EnglishObject, text: str, wide: Traits) -> AnnouncedAct | None:
    """The act that a wording stands for, with the thing that the clause speaks of."""
    kind = thing.kind if wording.kind != "reset" or thing.kind not in ("code", "resource") else ""
    if (
        wording.kind == "reset"
        and not kind
        and (thing.traits & {"production"} or re.search(r"\b(?:database|db|schema|data|tables?)\b", text))
    ):
        kind = "data"
    if wording.effect in _LISTS.things and thing.kind in ("code", "scrap"):
        return None
    if wording.effect:
        return AnnouncedAct(wording.effect, text[:120], thing.traits - {"admin", "public"} | wide | wording.traits)
    return act(wording.kind, kind, thing.words or text, thing.traits | wide | wording.traits)


VALUED = frozenset("data log account access credential guard safety config resource disk device money".split())
_NEVER_BACK: Traits = frozenset({"permanent", "no_backup"})


def by_default(low: Tokens, thing: EnglishObject, wide: Traits, known: bool) -> AnnouncedAct | None:
    """The act, when something of value is taken away for good, or all of it by a verb that nobody knows."""
    if thing.kind not in VALUED or not low:
        return None
    traits = thing.traits | wide
    away = not _LISTS.away.isdisjoint(low)
    for_good = not _NEVER_BACK.isdisjoint(traits)
    if known and not (away and for_good):
        return None
    if not known and not (for_good or (away and "all" in traits)):
        return None
    if not known and not _looks_like_a_verb(low):
        return None
    if any(verb_forms().get(word, ("",))[0] in _LISTS.keeps for word in low):
        return None
    return act("shed", thing.kind, thing.words, traits)


def mutation(words: Tokens, low: Tokens, at: int, wide: Traits) -> AnnouncedAct | None:
    """`update the prices in the production database`: data of production changes under those who use it."""
    thing = thing_in(words, at + 1, len(words))
    traits = thing.traits | wide
    if "production" not in traits or thing.kind not in ("data", "account", "money") or not _LISTS.looks.isdisjoint(low):
        return None
    if traits & _LISTS.stores:
        return AnnouncedAct("act_change", thing.words, traits | {"mutates"})
    placed = any(word in ("in", "on") and low[place + 1] in _LISTS.live for place, word in enumerate(low[:-1]))
    if placed and any(word.lstrip("#").isdigit() for word in low[at + 1 :]):
        return AnnouncedAct("act_change", thing.words, traits | {"mutates", "one"})
    return None


def _looks_like_a_verb(low: Tokens) -> bool:
    """True when the first word that is not a lead can be a verb: a gerund, or a plain word with a thing behind it."""
    for at, word in enumerate(low[:8]):
        if word in _LISTS.leads:
            continue
        if not word.isalpha() or verb_forms().get(word):
            return False
        return word.endswith("ing") or (at + 1 < len(low) and low[at + 1] in _LISTS.opens)
    return False
