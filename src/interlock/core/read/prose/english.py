"""One English clause -> the act that it announces, if it announces one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from interlock.core.read.prose import english_scope as scope
from interlock.core.read.prose.acts import Act, Traits, act
from interlock.core.read.prose.clauses import Tokens, is_operation
from interlock.core.read.prose.embedded import MARK
from interlock.core.read.prose.english_idioms import Idiom, idioms
from interlock.core.read.prose.english_objects import Thing, thing_in
from interlock.core.read.prose.english_verbs import NOMINALS, PHRASALS, verb_forms

# Heads after which even a command with "using" before it is only spoken of.
_TELLS = frozenset(
    "explain document describe discuss mention quote answer summarize summarise record note compare comment translate teach write"
    " report draft warn ask plan propose suggest recommend outline question explain recap remind argue debate cite".split()
)
_RUNS = frozenset("run running execute executing using with via runs use through issue issuing invoke invoking".split())
_STRICTLY = frozenset(
    "run running runs execute executing issue issuing invoke invoking query statement sql command".split()
)
_ENTERS = frozenset(
    "open connect go login log navigate visit enter switch let have need want try do start begin use get take hit".split()
)
_PARTICLE_REACH = 9
_MOST_ACTS = 12


@dataclass(slots=True)
class Clause:
    """What was read in one clause."""

    acts: list[Act] = field(default_factory=list)
    shield: str = ""  # look or make, when the clause only speaks of something
    head: str = ""  # the verb that shields
    head_at: int = 0  # where in the clause's text it stands
    runs: bool = False  # a verb of running stands before what is embedded
    changes: bool = False  # a verb was there that does something
    known: bool = False  # some verb was recognised
    denied: bool = False
    marks: list[str] = field(default_factory=list)  # what is embedded and would really run
    thing: Thing | None = None


def read_clause(words: Tokens, before: Thing | None, wide: Traits) -> Clause:
    """Reads one clause; `before` is what the clause in front spoke of, `wide` what holds for the whole sentence."""
    found = Clause()
    low = [word.lower() for word in words]
    text = " ".join(low)
    if scope.SUPPOSES.match(text) or low[0] == "before":
        found.denied = True
        return found
    text_plain = scope.HARMLESS.sub(_blank, scope.NOT_NEGATIONS.sub(_blank, text))
    found.known = text_plain != text
    _read_words(words, _aligned(low, text_plain), before, wide, found)
    if not found.acts or not any(act.harmful for act in found.acts):
        _read_idioms(low, text_plain, wide, found)
    found.thing = found.thing or thing_in(words, 0, len(words))
    return found


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


def _read_words(words: Tokens, low: Tokens, before: Thing | None, wide: Traits, found: Clause) -> None:
    table, at = verb_forms(), 0
    while at < len(low):
        word = low[at]
        if word.startswith(MARK):
            means = bool(set(low[max(0, at - 3) : at]) & _RUNS)
            if not _denied(low, at, table) and (not found.shield or (found.head not in _TELLS and means)):
                found.marks.append(words[at])
                found.runs = found.runs or bool(set(low[max(0, at - 3) : at]) & _STRICTLY) or _is_given(words, at)
        elif word in table or word in NOMINALS:
            at = _read_verb(words, low, at, before, wide, found)
        at += 1


def _is_given(words: Tokens, at: int) -> bool:
    """`call execute_sql with "…"`: what is quoted is what the operation is given."""
    near = words[max(0, at - 4) : at]
    return any(is_operation(word) for word in near) and bool({word.lower() for word in near} & _GIVES)


_GIVES = frozenset("with on using passing pass sending giving query sql statement command argument input".split())


def _read_verb(words: Tokens, low: Tokens, at: int, before: Thing | None, wide: Traits, found: Clause) -> int:
    """Reads the verb at this place; returns the place where reading goes on."""
    table = verb_forms()
    verb, form, kind = table.get(low[at], (low[at], "noun", NOMINALS.get(low[at], "")))
    particle = _particle(verb, low, at)
    if particle:
        kind = PHRASALS[verb][low[particle]]
    if (
        (found.shield and not _job_does(low, at))
        or len(found.acts) > _MOST_ACTS
        or any(act.harmful for act in found.acts)
    ):
        return at
    if _is_noun(low, at, form, kind):
        return at
    if kind in ("look", "make"):
        if form == "past" or (form == "third" and not at):
            return at
        if verb == "plan" and low[at + 1 : at + 2] == ["to"]:
            return at
        found.known = True
        if verb == "back" and "up" not in low[at + 1 : at + 8]:
            return at
        found.shield, found.head, found.head_at = kind, verb, len(" ".join(low[:at])) + bool(at)
        return at
    if "if" in low[:at] or (
        verb in ("stop", "quit") and low[at + 1 : at + 2] and low[at + 1].endswith("ing") and low[at + 1] in table
    ):
        found.known = True
        return at
    if kind == "do":
        found.known = found.known or form != "past"
        found.changes = found.changes or (form != "past" and verb not in _ENTERS)
        return at
    if _denied(low, at, table):
        found.denied, found.known = True, True
        return at
    if _is_subject(low, at):
        found.known, found.shield = True, "make"
        return at
    passive = form == "past"
    if passive and (not _is_passive(low, at) or set(low[:at]) & scope.CLOSE):
        return at
    if low[max(0, at - 1)] in scope.MODAL_MAYBE or (
        at > 1 and low[at - 2] in scope.MODAL_MAYBE and low[at - 1] not in ("like",)
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
    before: Thing | None,
    wide: Traits,
    found: Clause,
) -> None:
    kind, name, passive, particle = verb
    thing = thing_in(words, 0, at) if passive else thing_in(words, at + 1, len(words), particle)
    if kind == "reset" and not thing.words:
        return
    if thing.kind == "" and thing.pronoun and before is not None and before.kind:
        thing = before.with_traits(thing.traits)
    if not thing.words and found.acts:
        return
    if passive:
        thing = thing.with_traits(thing_in(words, at + 1, len(words)).traits)
    found.thing = thing
    traits = thing.traits | wide
    announced = act(kind, _kind_of(kind, name, thing, low, at), thing.words, traits)
    if announced.verb != "act_change" and _in_code(thing, low, at, traits, kind):
        announced = Act("act_change", thing.words, traits)
    found.acts.append(announced)


def _kind_of(kind: str, verb: str, thing: Thing, low: Tokens, at: int) -> str:
    """The kind of the object, where the verb and the words around say more than the noun."""
    rest = set(low[at + 1 :])
    if (
        kind in ("bypass", "disable", "force", "remove")
        and thing.guards
        and thing.kind in ("code", "", "resource", "config", "data")
    ):
        return thing.guards
    if thing.kind == "scrap" and "production" in thing.traits:
        return "data"
    if thing.kind == "code" and (
        thing.traits & {"production", "database", "table"} or verb in ("unpublish", "deprovision")
    ):
        return "data"
    if kind in ("remove", "destroy", "revoke", "block") and thing.kind in ("account", "") and rest & _OUT_OF:
        if thing.group and kind != "block":
            return "access"
    if kind in ("send", "expose") and _PUBLIC_HALF.search(" ".join(low)):
        return ""
    if kind in ("send", "expose", "leak") and (thing.secret or thing.kind == "credential"):
        return "private"
    if kind == "cancel" and thing.kind == "credential" and rest & _SITTINGS:
        return ""
    if kind == "cancel" and rest & {"order", "orders", "booking", "bookings", "reservation", "reservations"}:
        return "order"
    if (
        kind == "charge"
        and verb in ("pay", "wire", "payout", "disburse", "remit", "reimburse", "debit")
        and thing.kind != "code"
    ):
        return "money"
    if kind == "charge" and any(word[:1] in "$€£" or (word[:1].isdigit() and len(word) > 2) for word in rest if word):
        return "money"
    return thing.kind


_PUBLIC_HALF = re.compile(r"\bpublic (?:\w+ )?keys?\b(?!.*\b(?:and|private|secret))")
_SITTINGS = frozenset("session sessions login cookie cookies".split())  # of a course, of a dialogue
_OUT_OF = frozenset("from of off in".split())


def _in_code(thing: Thing, low: Tokens, at: int, traits: Traits, kind: str) -> bool:
    """True when what goes is a piece of source or of a text, not the thing itself."""
    if traits & {"production", "database", "table", "bucket", "volume", "backup", "all", "permanent"} or thing.kind in (
        "log",
        "disk",
    ):
        return False
    if kind in ("leak", "send", "refund", "charge", "bypass"):
        return False
    return bool(scope.CODE_PLACE.search(" ".join(low[at:])))


def _particle(verb: str, low: Tokens, at: int) -> int:
    """Where the word stands that turns the verb into another one: `turn … off`."""
    options = PHRASALS.get(verb)
    if not options:
        return 0
    for place in range(at + 1, min(len(low), at + _PARTICLE_REACH)):
        if low[place] in options:
            return place
        if place > at + 1 and low[place] in verb_forms() and verb_forms()[low[place]][1] == "ing":
            return 0
    return 0


_RUNNABLE = frozenset("job script procedure task routine workflow pipeline playbook".split())
_STARTS = frozenset("run running execute executing trigger triggering launch launching start starting kick".split())
_NOT_OWNERS = frozenset("let's it's that's here's there's what's who's".split())
_NOUNISH = frozenset("base third noun".split())


def _is_noun(low: Tokens, at: int, form: str, kind: str) -> bool:
    """True when the word is a thing here: after an article with nothing done to it, or in front of a noun it belongs to."""
    before = low[at - 1] if at else ""
    after = low[at + 1] if at + 1 < len(low) else ""
    if after in _RUNNABLE and set(low[:at]) & _STARTS:
        return False
    if form == "noun":
        return after in scope.NOUN_AFTER and kind not in ("refund", "charge")
    if form == "third" and before in ("that", "which"):
        return False
    if kind in ("look", "make", "do") and form in _NOUNISH and before in scope.SCOPE:
        return True
    if before in scope.DETERMINERS or (before.endswith("'s") and before not in _NOT_OWNERS):
        return form != "ing" or kind in ("look", "make", "do") or after in scope.NOUN_AFTER
    if at and form in ("base", "third", "ing") and after in scope.NOUN_AFTER and before not in _VERBAL:
        return kind != "do"
    if at and kind in ("look", "make") and form == "base" and not _can_lead(before):
        return True
    return bool(at) and kind in ("look", "make", "do") and form in _NOUNISH and before in scope.PREPOSITIONS - _VERBAL


def _can_lead(word: str) -> bool:
    """True for a word behind which a verb in its plain form can stand."""
    known = verb_forms().get(word)
    return (
        word in _VERBAL
        or word in _LEADS
        or word.endswith(("ly", "_"))
        or (known is not None and known[2] == "do")
        or not word[0].isalpha()
    )


_LEADS = frozenset(
    "can could would may might do don't not never only also let's me us you they people users first finally always next we'll must again but".split()
)
_VERBAL = frozenset(
    "to will and then just now please shall must should i we i'll we'll or , not by so that".split()
) | {""}


def _is_passive(low: Tokens, at: int) -> bool:
    """`will be deleted`, `get the table dropped`; not `was deleted`."""
    near = low[max(0, at - 3) : at]
    if set(near) & scope.REPORTED:
        return False
    if near and near[-1] in scope.WILL_BE:
        return True
    if len(near) > 1 and near[-2] in scope.WILL_BE and near[-1].endswith(("ly", "all")):
        return True
    return at > 1 and low[0] in ("have", "having", "get", "getting", "want", "need", "needs") and at <= 8


def _denied(low: Tokens, at: int, table: dict[str, tuple[str, str, str]]) -> bool:
    """True when a denial stands in front of this word and belongs to it."""
    for place in range(at - 1, max(-1, at - 7), -1):
        word = low[place]
        if word in scope.CLOSE:
            return at - place <= 2
        if word in scope.NEGATIONS:
            return True
        if word in table and table[word][2] not in ("do", "make", "look") and table[word][1] != "past":
            return False
    return False


_SPEECH = frozenset(
    "meeting reminder discussion talk presentation ticket issue story note question proposal document doc docs page article section post"
    " report guide test tests example checklist runbook documentation chapter paragraph comment reminders tickets notes option toggle"
    " lecture webinar course lesson tutorial faq wiki slide slides memo announcement todo readme changelog agenda thread poll survey".split()
)
_ABOUT = frozenset(
    "about on to for regarding describing of that how concerning covering explaining which where".split()
)


def _is_subject(low: Tokens, at: int) -> bool:
    """`a meeting about deleting …`: what somebody speaks or writes of."""
    near = low[max(0, at - 5) : at]
    return any(word in _SPEECH and set(near[place + 1 :]) & _ABOUT for place, word in enumerate(near))


def _job_does(low: Tokens, at: int) -> bool:
    """`create a cron job that deletes …`: what is made here will do it by itself."""
    near = low[max(0, at - 3) : at]
    return bool({"that", "to", "which"} & set(near[-2:])) and bool(
        set(low[:at]) & {"cron", "nightly", "scheduled", "lifecycle"}
    )


# What is done to a piece of code or to scrap is none of these.
_THINGS = frozenset({"act_delete", "act_revoke", "act_unconfigure", "act_block"})


def _read_idioms(low: Tokens, text: str, wide: Traits, found: Clause) -> None:
    """Wording that only as a whole says what happens."""
    if re.match(r"(?:would|could|might)\b", text):
        return
    for wording in idioms(text, found.head_at if found.shield else -1):
        if _denied([*low, ""], len(text[: wording.start].split()), verb_forms()):
            return
        said = _said(wording, thing_in(low, 0, len(low)), text, wide)
        if said is None:
            continue
        found.known, found.shield = True, ""
        found.acts.append(said)
        if said.harmful:
            return


def _said(wording: Idiom, thing: Thing, text: str, wide: Traits) -> Act | None:
    """The act that a wording stands for, with the thing that the clause speaks of."""
    kind = thing.kind if wording.kind != "reset" or thing.kind not in ("code", "resource") else ""
    if (
        wording.kind == "reset"
        and not kind
        and (thing.traits & {"production"} or re.search(r"\b(?:database|db|schema|data|tables?)\b", text))
    ):
        kind = "data"
    if wording.act in _THINGS and thing.kind in ("code", "scrap"):
        return None
    if wording.act:
        return Act(wording.act, text[:120], thing.traits - {"admin", "public"} | wide | wording.traits)
    return act(wording.kind, kind, thing.words or text, thing.traits | wide | wording.traits)
