"""An intent in plain words -> its effects: commands and operations in it first, else its clauses, in whichever language they are."""

from __future__ import annotations

import re
from functools import cache
from itertools import dropwhile

from msgspec.structs import replace

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import form_of, nouns, scope, split_name, verb_forms
from interlock.analysis.lexicon.load import Patterns, Rows, WordLists
from interlock.analysis.operations.names import harms, may_be_operation
from interlock.analysis.prose import clauses
from interlock.analysis.prose.clauses import ENGLISH, NOTHING, Mention, Tokens, may_say
from interlock.analysis.prose.embedded import MARK, Embedded, Lifted, calls_in, shape_of
from interlock.analysis.prose.english import EnglishObject, file_effects, read_clause, thing_in
from interlock.analysis.prose.foreign import read_foreign
from interlock.analysis.prose.normalise import LIMIT, known_words, normalise, without_claims
from interlock.analysis.prose.playing import Told

_PATTERNS = Patterns("prose")
_LISTS = WordLists("prose")

__all__ = ["announced_clauses", "read_prose"]

_MOST_PLAIN, _LONGEST_PLAIN = 10, 400
_CONTENT = 4_000  # characters of a text whose words are looked up
_LARGE = frozenset({"all", "production"})  # scopes
_SPEAKING = frozenset({"told", "look", "make"})  # what rules harm out, reports it or says what holds it back
_PRESSED = 80  # characters on a button
_AIMED = ("rm", "shred", "DROP", "TRUNCATE", "DELETE", "FLUSH")  # nothing without what the sentence names


def read_orders(text: str, out: Report) -> None:
    """Reports what another agent is told to do; orders that say nothing are no harm, for each of its calls is judged by itself."""
    read_prose(text, out, vague="act_change")


def read_prose(text: str, out: Report, vague: str = "act_vague") -> None:
    """Reports everything that a sentence says would be done, and by the verb for `vague` texts that it says nothing; at least one effect."""
    out.step()
    if len(text) > LIMIT:
        out.unreadable("a description that is too long to read", "budget")
    text, hidden = normalise(text)
    if hidden:
        out.unreadable("characters that look like others or hide", "syntax")
    told = Told(out, Lifted(without_claims(text)))
    if told.lifted.full:
        out.unreadable("more commands in one description than can be read", "budget")
    plain = without_refused(told.lifted.text)
    if plain != told.lifted.text:
        told.asks()
    if _PATTERNS.no_copy.search(plain.lower()):
        told.always = frozenset({"no_backup"})
    for sentence in clauses.sentences(plain):
        out.step()
        _read_sentence(sentence, told)
    if told.any:
        return
    verb = "act_read" if told.read_only and told.looks else "act_change"
    if told.vague or (not told.asked and is_vague(told.lifted.text, told.known)):
        verb = vague
    for sentence, trait in (told.plain or told.rest)[:_MOST_PLAIN]:
        out.effect(verb, sentence[:_LONGEST_PLAIN], trait)
    if not told.plain and not told.rest:
        out.effect(verb, text[:120])


# The words that speak for English, or say nothing.
_english = cache(lambda: known_words() | _LISTS.empty | ENGLISH.prepositions)


def is_vague(text: str, known: bool) -> bool:
    """True when no word says what is done to what; a verb that nobody knows is vague as well, and so is a language that nobody knows."""
    words = [word.lower() for word in _PATTERNS.words.findall(text[:_CONTENT])]
    if known or _LISTS.empty.issuperset(words):
        return _LISTS.empty.issuperset(words)
    foreign = len(words) - sum(map(_english().__contains__, words))
    things = [*filter(None, map(nouns().get, words))]
    large = not _LARGE.isdisjoint(map(scope().get, words))
    return foreign * 2 > len(words) or large or not things or any(traits for _, traits, _ in things)


def _read_sentence(sentence: str, told: Told) -> None:
    """Reads a sentence in its language, unless it only asks or rehearses."""
    low = sentence.lower()
    if is_question(low):
        told.asks()
        return
    if not reads_as_english(low) and read_foreign(sentence, told):
        return
    told.language = ""
    if is_not_run(low):
        told.known = told.looks = True
        return
    told.wide = told.always | ({"production"} if _PATTERNS.production.search(low) else NOTHING)
    told.spoken.clear()
    told.mentioned.clear()
    # stops something and says that its data stays, or that it comes back
    kept = _PATTERNS.stack.search(low) and _PATTERNS.kept.search(low)
    told.keeps = bool(kept) and "prod" not in low and not _PATTERNS.lost.search(low)
    plain = without_question(sentence)
    if plain != sentence:
        told.asks()
    for words, named, joined in clauses.named_clauses(without_asides(plain, low), low):
        told.about(words)
        told.named = told.named or joined
        _read_clause(words, named, told)
    if MARK not in sentence:
        for mention in told.mentioned:
            sentence = sentence.replace(mention.name, "it") if mention.harmless else sentence
        speaks = told.keeps or ("told" in told.spoken and told.spoken <= _SPEAKING)
        told.hear(sentence, not speaks)


def _read_clause(words: Tokens, named: list[Mention], told: Told) -> None:
    """Reports what a clause announces, what is embedded in it and would run, and what it does to files."""
    if told.last is not None and (subject := told.last.speaks_of()).kind:
        told.thing = subject
    told.last = None
    told.mentioned += named
    spoken_of = {one.at for one in named if one.harmless}  # a piece of code here
    words = ["function" if at in spoken_of else word for at, word in enumerate(words)] if spoken_of else words
    marks = [at for at, word in enumerate(words) if word.startswith(MARK)] if MARK in told.lifted.text else []
    low = [word.lower() for word in words]
    ruled_out = _ruled_out(words, low)
    if ruled_out is not None:
        told.known = told.looks = True
        told.spoken.add("guard" if ruled_out.kind else "told")
        told.thing = ruled_out if ruled_out.kind else told.thing
        return
    clause = read_clause(words, told.thing, told.wide)
    plain = not clause.shield and not clause.denied
    told.spoken.add("told" if clause.reported else clause.shield or ("look" if clause.denied else "done"))
    told.known = told.known or clause.known or clause.denied
    looks = clause.shield == "look" or clause.denied or clause.reported or low[0] in _LISTS.gets
    told.looks = told.looks or looks
    if marks or told.named:
        told.run(words, clause)
    if not clause.denied:
        written = " ".join(told.as_written(words)).lower() if marks else clause.text
        told.follow(written, bool(clause.shield))
    if plain:
        told.call(named)
        for at in marks:
            thing = told.lifted.of(words[at])
            if thing.kind == "quote" and _PATTERNS.pressed.search(" ".join(low[:at])):
                _read_said(thing.text, told)
    placed = file_effects(words, clause)
    for verb, path, *traits in placed:
        told.any = True
        told.out.effect(verb, path, *traits)
    if marks or told.quoted:
        said, which, tail = " ".join(low).partition(" which is ")
        if not clause.denied and _PATTERNS.followed.match(said):
            _do_as_quoted(told)
        told.quoted += [told.lifted.of(words[at]) for at in marks]
        if _PATTERNS.followed.match(f"{which[1:]}{tail}"):
            _do_as_quoted(told)
    if clause.shield == "make" and (made := made_to(words)):
        told.quoted.append(Embedded("quote", made))
    harmful = [one for one in clause.acts if one.harmful and not (told.keeps and one.verb == "act_terminate")]
    for one in harmful:
        configures = "production" in one.traits or one.verb == "act_unconfigure"
        if not placed or "audit_log" in one.traits or (placed[0][0] == "overwrite" and configures):
            told.act(one)  # more than what was already told of its files
    if (clause.acts and not harmful) or clause.shield == "make" or (clause.changes and plain):
        told.read_only = False
    told.last = clause


def _read_said(text: str, told: Told) -> None:
    words, around = clauses.tokens(text[:_PRESSED]), told.thing
    told.thing = None
    _read_clause(words, clauses.mentions(words), told)
    told.thing, told.last = around, None


def _do_as_quoted(told: Told) -> None:
    """Reads what was quoted or described before as what is done now."""
    quoted, told.quoted = told.quoted, []
    for thing in quoted:
        known = shape_of(thing.extra or thing.text) if thing.kind == "quote" else thing
        if thing.kind == "quote" and thing.extra.startswith(_AIMED):
            told.act(clauses.AnnouncedAct("act_delete", thing.extra, frozenset({"bulk"})))
            continue
        if known is not None:
            told.play(known)
        if known is None or thing.extra:
            _read_said(thing.text[len(thing.extra) if known is not None else 0 :], told)


# -- sentences: what is asked, refused, rehearsed, judged or described, and what is left to announce something

_TAME = ("do", "look", "make")  # kinds of verbs that do no harm
_JUDGED = Rows("judged", "opening", clauses.AROUND)
_REACH = 9  # words in which a subject ends


def is_question(low: str) -> bool:
    """True for what is asked; a polite request is none."""
    marked = low.rstrip().endswith("?")
    if (not marked and not _PATTERNS.asks_openly.match(low)) or _PATTERNS.polite.match(low):
        return False
    if _PATTERNS.asks.match(low):
        return marked or not _PATTERNS.answers.search(low)
    return marked and low.startswith("¿")


def without_question(sentence: str) -> str:
    """The sentence up to the question that it ends with: `one thing is open: may the logs go?`."""
    for cut in _PATTERNS.halt.finditer(sentence) if "?" in sentence or ": " in sentence or " —" in sentence else ():
        if (cut[0] != ", " or sentence.endswith("?")) and is_question(sentence[cut.end() :].lower()):
            return sentence[: cut.start()]
    return sentence


def without_refused(text: str) -> str:
    """The text without what somebody wants and the speaker refuses; what follows the refusal is read as ever."""
    return _PATTERNS.refused.sub(" . ", text) if may_say(_LISTS.in_order("refuses"), text.lower()) else text


def is_not_run(low: str) -> bool:
    """True for a sentence that only rehearses, or says that nothing is run."""
    said = _PATTERNS.not_run.search(low) and not _PATTERNS.not_run_denied.search(low)
    return bool(said) and _PATTERNS.but_only.sub(_instead, low) == low


def without_asides(sentence: str, low: str) -> str:
    """The sentence without `could you`, without what a colon only quotes or lists, and with both halves of `not only … but also`."""
    request = _PATTERNS.polite.match(low)
    if request and " we" not in request[0]:
        sentence = sentence[request.end() :]
    if titled := _PATTERNS.titled.match(sentence) if ": " in sentence else None:
        verb = titled["verb"].lower()
        if verb in _LISTS.composes or verb_forms().get(verb, ("", "", ""))[2] in ("make", "look"):
            after = _PATTERNS.goes_on.search(sentence, titled.end())
            sentence = sentence[: titled.end() - 2] + (sentence[after.start() :] if after else "")
    if listed := _PATTERNS.listed.match(sentence) if ": " in sentence else None:
        head = listed["head"].lower().split()
        if all(verb_forms().get(word, ("", "", "do"))[2] in _TAME for word in head):
            sentence = f"{listed['head']}."
    if low.startswith("in "):
        sentence = _PATTERNS.in_general.sub("", _PATTERNS.set_in.sub(r"\g<act> in \g<place>", sentence))
    if "()" in low or "while" in low:
        sentence = _PATTERNS.aside.sub("", sentence)
    if later := _PATTERNS.when.match(sentence):
        sentence = f"{later[0]},{sentence[later.end() :]}"
    if "only" in low or "just" in low or "merely" in low or " but " in low:
        sentence = _PATTERNS.but_only.sub(_instead, _PATTERNS.only.sub(r"\g<first> and ", sentence))
    return sentence


def _instead(match: re.Match[str]) -> str:
    """What is denied, and the same verb with what is done instead."""
    if match["verb"].lower() not in verb_forms() or match["rest"].lower() in verb_forms():
        return match[0]
    return f"{match['no']} {match['verb']}{match['what']}, {match['verb']} {match['rest']}"


def made_to(words: Tokens) -> str:
    """What a script or a migration does that is written here: `a migration that drops the column`."""
    for at, word in enumerate(words[:-2]):
        if word.lower() in ("that", "which", "to") and (known := verb_forms().get(words[at + 1].lower())):
            if known[2] not in _TAME and known[1] in ("third", "base"):
                return " ".join((known[0], *words[at + 2 :]))[:200]
    return ""


def _ruled_out(words: Tokens, low: Tokens) -> EnglishObject | None:
    """The guard of a clause like `branch protection blocks my push`, unless somebody else acts; nothing of a kind for `dropping it is forbidden`."""
    guards, said = _LISTS.guards, [*map(clauses.classes, low[:_REACH])]
    at = next((at for at, classes in enumerate(said) if "<refuses>" in classes), 0)
    # not `remove the rule that blocks …`
    if not guards.isdisjoint(low[max(0, at - 2) : at]) and low[at - 1] not in _LISTS.not_guards:
        if at < 2 or form_of(low[0]) not in ("base", "ing") or low[0] in guards:
            return replace(thing_in(words, 0, at), kind="safety")
    happens = clauses.Around(low, next((at for at, classes in enumerate(said[1:8], 1) if "<says>" in classes), 0))
    return EnglishObject() if _JUDGED.first((form_of(low[0]),), happens) else None


def reads_as_english(low: str) -> bool:
    """True when the sentence begins with an English verb or article and has a word that only English has."""
    words = low.split()
    first = words[0] if words else ""
    verb = first in verb_forms()
    if verb and first.endswith("ing") and _LISTS.not_here.isdisjoint(words):
        return True
    return (verb or first in _LISTS.only_here or first == "no") and not _LISTS.only_here.isdisjoint(words)


# -- the words of what is announced


def announced_clauses(text: str) -> list[tuple[str, ...]]:
    """The words of every clause that announces something, verbs in base form, for matching against name patterns; a question and a denial announce nothing."""
    lifted = Lifted(without_claims(normalise(text[:_CONTENT])[0]))
    found = []
    for sentence in map(without_question, clauses.sentences(without_refused(lifted.text))):
        low = sentence.lower()
        for words, named, _ in () if is_question(low) or is_not_run(low) else clauses.named_clauses(sentence, low):
            clause = read_clause(words, None, NOTHING)
            # operations that the clause calls in no way
            spoken_of = {
                one.at for one in named if one.role != clauses.CALLED and (clause.shield or one.role == clauses.NAMED)
            }
            kept = [] if clause.denied else [word for at, word in enumerate(words) if at not in spoken_of]
            parts = (part for word in kept for part in _parts(word, lifted) if part)
            found.append(tuple(dropwhile(_LISTS.leads.__contains__, parts)))
    return [words for words in found if words]


def _parts(token: str, lifted: Lifted) -> list[str]:
    verb, form, _ = verb_forms().get(token.lower(), ("", "", ""))
    if not token.startswith(MARK):
        return _PATTERNS.not_words.split(verb) if form in ("ing", "third", "base") else _split(token)
    thing = lifted.of(token)
    names = [name for name, _ in calls_in(thing.text)] if thing.kind == "json" else [thing.text]
    return [] if thing.kind.startswith("quote") else [word for name in names for word in _split(name)]


def _split(token: str) -> list[str]:
    """The words of a token; a file that is called like an operation is one word."""
    file = _PATTERNS.file.fullmatch(token)
    if file and harms(file["stem"]):
        return ["".join(_PATTERNS.not_words.split(token.lower()))]
    if may_be_operation(token) or _PATTERNS.dashed.fullmatch(token):
        return [word for segment in split_name(token) for word in segment]
    return _PATTERNS.not_words.split(token.lower())
