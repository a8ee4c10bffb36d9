"""An intent in plain words -> its effects: commands and operations in it first, else its clauses, in whichever language they are."""

from __future__ import annotations

import re

from interlock.analysis.facts import Report
from interlock.analysis.lexicon.forms import nouns, scope
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.operations.names import may_be_operation
from interlock.analysis.prose.clauses import ENGLISH, NOTHING, AnnouncedAct, Tokens, Traits, clauses, sentences, tokens
from interlock.analysis.prose.embedded import MARK, Embedded, Lifted, shape_of
from interlock.analysis.prose.english import EnglishClause, mood, read_clause
from interlock.analysis.prose.english.objects import EnglishObject
from interlock.analysis.prose.files import file_effects
from interlock.analysis.prose.foreign import read_foreign
from interlock.analysis.prose.foreign.words import LONGEST
from interlock.analysis.prose.normalise import LIMIT, known_words, normalise, without_claims
from interlock.analysis.prose.operations import NAMED, ends_with, lists_names, mentions, unnamed, without_named
from interlock.analysis.prose.playing import Told, play, read_operations, running

_PATTERNS = Patterns("prose")
_LISTS = WordLists("prose")

__all__ = ["read_prose"]


def read_orders(text: str, out: Report) -> None:
    """Reports what another agent is told to do; orders that say nothing are no harm, for each of its calls is judged by itself."""
    read_prose(text, out, vague="act_change")


def read_prose(text: str, out: Report, vague: str = "act_vague") -> None:
    """Reports everything that a sentence says would be done; at least one effect, whatever the text is."""
    out.step()
    if len(text) > LIMIT:
        out.unreadable("a description that is too long to read", "budget")
    plain, hidden = normalise(text)
    if hidden:
        out.unreadable("characters that look like others or hide", "syntax")
    read_text(plain, out, vague)


_WORDS = re.compile(r"[^\W\d_][\w'-]*")
_CONTENT = 4_000


def is_vague(text: str, known: bool) -> bool:
    """True when no word says what is done to what; a verb that nobody knows is vague as well."""
    words = [word.lower() for word in _WORDS.findall(text[:_CONTENT])]
    if all(word in _LISTS.empty for word in words):
        return True
    if known:
        return False
    if sum(word in _LISTS.empty or word in ENGLISH.prepositions or word in known_words() for word in words) * 2 < len(
        words
    ):
        return True  # a language that nobody knows
    things = [nouns()[word] for word in words if word in nouns()]
    return (
        not things
        or any(traits for _, traits, _ in things)
        or any(scope().get(word) in ("all", "production") for word in words)
    )


_PRODUCTION = re.compile(r"\bprod(?:uction)?\b")


def read_text(text: str, out: Report, vague: str) -> None:
    """Reports what the text announces, and by the verb for `vague` texts that it announces nothing."""
    told = Told(out)
    lifted = Lifted(without_claims(text))
    before: EnglishObject | None = None
    if lifted.full:
        out.unreadable("more commands in one description than can be read", "budget")
    plain = mood.without_refused(lifted.text)
    if plain != lifted.text:
        told.known = told.looks = told.asked = True
    for sentence in sentences(plain):
        out.step()
        before = _read_sentence(sentence, lifted, before, told)
    if told.any:
        return
    verb = "act_read" if told.read_only and told.looks else "act_change"
    if told.vague or (not told.asked and is_vague(lifted.text, told.known)):
        verb = vague
    for sentence, language in told.plain[:_MOST_PLAIN] or [(text[:120], "")]:
        out.effect(verb, sentence[:_LONGEST_PLAIN], *([language] if language else []))


_MOST_PLAIN, _LONGEST_PLAIN = 10, 400


def _read_sentence(sentence: str, lifted: Lifted, before: EnglishObject | None, told: Told) -> EnglishObject | None:
    low = sentence.lower()
    if mood.is_question(low):
        told.known = told.looks = told.asked = True
        return before
    foreign = None if mood.reads_as_english(low) else read_foreign(sentence)
    if foreign is not None:
        told.known = True
        told.read_only = told.read_only and foreign.read_only
        told.looks = told.looks or foreign.known
        if len(sentence) > LONGEST:
            told.out.unreadable("a sentence that is too long to read", "budget")
        told.about([word for word in sentence.split() if MARK not in word])
        for one in foreign.acts:
            told.act(one)
        read_operations(foreign.calls, told)
        if not foreign.acts and MARK not in sentence and not foreign.looks and not foreign.spared:
            told.plain.append((sentence, "plain_foreign"))
        told.vague = told.vague or foreign.vague
        words = tokens(sentence)
        for word in words if foreign.runs_marks else ():
            if word.startswith(MARK):
                play(lifted.of(word), told)
        if foreign.known or foreign.acts or foreign.vague or not any(map(may_be_operation, words)):
            return before
    if mood.is_not_run(low):
        told.known = told.looks = True
        return before
    wide = frozenset({"production"}) if "prod" in low and _PRODUCTION.search(low) else NOTHING
    if ("no " in low or "only" in low) and _PATTERNS.no_copy.search(low):
        wide = wide | {"no_backup"}
    told.spoken.clear()
    told.mentioned.clear()
    told.ended, told.lists = "", lists_names(low)
    told.keeps = mood.keeps_data(low)
    plain = mood.without_question(sentence)
    if plain != sentence:
        told.known = told.looks = told.asked = True
    for words in clauses(tokens(mood.without_asides(plain, low))):
        told.about(_as_written(words, lifted))
        before = _read_clause(words, lifted, before, wide, told)
    if MARK not in sentence and not told.keeps and not ("told" in told.spoken and told.spoken <= _SPEAKING):
        told.plain.append((unnamed(sentence, told.mentioned), "plain"))
    return before


def _read_clause(
    words: Tokens, lifted: Lifted, before: EnglishObject | None, wide: Traits, told: Told
) -> EnglishObject | None:
    marked = MARK in lifted.text and any(word.startswith(MARK) for word in words)
    named = mentions(words, NAMED if told.lists else told.ended)
    told.named = told.named or told.ended == NAMED
    told.ended = ends_with(words, named)
    told.mentioned += named
    words = without_named(words, named)
    low = [word.lower() for word in words]
    guard = mood.guard_at_work(words, low)
    if guard is not None or mood.is_judged(low):
        told.known = told.looks = True
        told.spoken.add("told" if guard is None else "guard")
        return guard if guard is not None and guard.kind else before
    clause = read_clause(words, before, wide)
    told.spoken.add("told" if clause.reported else clause.shield or ("look" if clause.denied else "done"))
    told.known = told.known or clause.known or clause.denied
    told.looks = (
        told.looks or clause.shield == "look" or clause.denied or clause.reported or words[0].lower() in _LISTS.gets
    )
    if marked or told.named:
        for thing in running(words, clause, lifted, told):
            play(thing, told)
    if not clause.denied:
        told.follow(" ".join(_as_written(words, lifted)).lower(), bool(clause.shield))
    if not clause.shield and not clause.denied:
        read_operations(named, told)
        for at, word in enumerate(words if marked else ()):
            if (
                word.startswith(MARK)
                and lifted.of(word).kind == "quote"
                and mood.PATTERNS.pressed.search(" ".join(words[:at]).lower())
            ):
                _read_clause(tokens(lifted.of(word).text[:_PRESSED]), lifted, None, wide, told)
    placed = file_effects(words, clause)
    for verb, path, *traits in placed:
        told.any = True
        told.out.effect(verb, path, *traits)
    if marked or told.quoted:
        _quote(words, clause, lifted, wide, told)
    if clause.shield == "make" and (made := mood.made_to(words)):
        told.quoted.append(Embedded("quote", made))
    harmful = [one for one in clause.acts if one.harmful]
    if told.keeps:
        harmful = [one for one in harmful if one.verb != "act_terminate"]
    for one in harmful:
        configures = "production" in one.traits or one.verb == "act_unconfigure"
        if not placed or "audit_log" in one.traits or (placed[0][0] == "overwrite" and configures):
            told.act(one)  # more than what was already told of its files
    if (
        (clause.acts and not harmful)
        or clause.shield == "make"
        or (clause.changes and not clause.shield and not clause.denied)
    ):
        told.read_only = False
    spoken_of = clause.speaks_of()
    return spoken_of if spoken_of.kind else before


def _quote(words: Tokens, clause: EnglishClause, lifted: Lifted, wide: Traits, told: Told) -> None:
    """Remembers what a clause quotes, and does what was quoted where the clause says so."""
    said, _, tail = " ".join(words).lower().partition(" which is ")
    if told.quoted and not clause.denied and mood.PATTERNS.followed.match(said):
        _do_as_quoted(lifted, wide, told)
    told.quoted += [lifted.of(word) for word in words if word.startswith(MARK)]
    if tail and told.quoted and mood.PATTERNS.followed.match(f"which is {tail}"):
        _do_as_quoted(lifted, wide, told)


def _as_written(words: Tokens, lifted: Lifted) -> Tokens:
    """The words, with what stands for an embedded thing as its text."""
    if MARK not in lifted.text:
        return words
    return [lifted.of(word).text if word.startswith(MARK) else word for word in words]


_SPEAKING = frozenset({"told", "look", "make"})  # what rules harm out, reports it or says what holds it back
_PRESSED = 80  # characters on a button
_AIMED = ("rm", "shred", "DROP", "TRUNCATE", "DELETE", "FLUSH")  # nothing without what the sentence names


def _do_as_quoted(lifted: Lifted, wide: Traits, told: Told) -> None:
    """Reads what was quoted or described before as what is done now."""
    quoted, told.quoted = told.quoted, []
    for thing in quoted:
        known = shape_of(thing.extra or thing.text) if thing.kind == "quote" else thing
        if thing.kind == "quote" and thing.extra.startswith(_AIMED):
            told.act(AnnouncedAct("act_delete", thing.extra, frozenset({"bulk"})))
        elif known is not None:
            play(known, told)
            if thing.extra:
                _read_clause(tokens(thing.text[len(thing.extra) :][:_PRESSED]), lifted, None, wide, told)
        else:
            _read_clause(tokens(thing.text[:_PRESSED]), lifted, None, wide, told)
