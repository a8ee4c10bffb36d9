"""One English clause -> the effect that it announces, by its verb or else by object, particle and adverbs; a denial announces none. Files that it names plainly are told one by one."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.analysis.lexicon import (
    form_of,
    last_words,
    may_be_verb,
    nominals,
    nouns,
    scope,
    verb_forms,
    verbal_words,
)
from interlock.analysis.lexicon.english import blank
from interlock.analysis.lexicon.load import Patterns, Rows, WordLists, english, harmless_phrases, phrases
from interlock.analysis.operations.names import is_operation
from interlock.analysis.prose import clauses
from interlock.analysis.prose.clauses import ENGLISH, NOTHING, AnnouncedAct, Around, Tokens, Traits, act, is_denied
from interlock.analysis.prose.embedded import MARK

_LISTS = WordLists("clause")
_PATTERNS = Patterns("clause")

_PARTICLE_REACH = 9
_MOST_ACTS = 12
_LONGEST = 4_000
_THINGS, _VERBS = Rows("is_thing", "form kind", clauses.AROUND), Rows("verb", "form kind verb", clauses.AROUND)
_JOBS, _REPORTS = Rows("own_job", "", clauses.AROUND), Rows("report", "kind", clauses.AROUND)
_LOSSES = Rows("loss_by_default", "known thing", f"{clauses.AROUND} traits")
_GOES_OUT = frozenset({"act_leak", "act_send"})  # also as the topic of a text that is written


class EnglishClause(Struct):
    words: Tokens
    low: Tokens  # its words in lower case, those blanked that mean no harm here
    text: str  # its words in lower case
    before: EnglishObject | None  # what the clause in front spoke of
    wide: Traits  # what holds for the whole sentence
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
    thing: EnglishObject | None = None  # the object of its verb
    whole: EnglishObject | None = None  # what all of its words name

    @property
    def harmful(self) -> bool:
        return any(act.harmful for act in self.acts)

    def shield_by(self, kind: str, verb: str, at: int) -> None:
        """From this verb on, the clause only speaks of something."""
        self.known, self.shield, self.head = True, kind, verb
        self.head_at = len(" ".join(self.low[:at])) + bool(at)

    def speaks_of(self) -> EnglishObject:
        """What the clause speaks of: the object of its verb, or else what its words name."""
        words = self.words
        if self.thing is not None:
            return self.thing
        order = words[-1 if len(words) == 1 else 1].lstrip("#")[:1].isdigit()  # `order 12`
        thing = thing_in(words, 1, len(words)) if self.low[0] in verb_forms() and not order else EnglishObject()
        return thing if thing.kind else self.whole or thing_in(words, 0, len(words))


def read_clause(words: Tokens, before: EnglishObject | None, wide: Traits) -> EnglishClause:
    """Reads one clause; `before` is what the clause in front spoke of, `wide` what holds for the whole sentence."""
    low = [word.lower() for word in words]
    text = " ".join(low)
    found = EnglishClause(words, low, text, before, wide)
    if _PATTERNS.supposes.match(text) or low[0] == "before":
        found.denied = True
        return found
    plain = harmless_phrases().without(_PATTERNS.not_negations.sub(blank, text))
    if plain != text:
        found.known, found.low = True, plain.split(" ")
    topic = clauses.topic_at(low)
    table = verbal_words()
    for at, word in enumerate(found.low):
        if at == topic and not found.shield and not found.harmful:
            found.shield_by("make", "", at)
        if word.startswith(MARK):
            near = set(found.low[max(0, at - 3) : at])
            means = not found.shield or (found.head not in ENGLISH.tells and not near.isdisjoint(_LISTS.runs))
            if means and not is_denied(found.low, at):  # not only spoken of
                found.marks.append(words[at])
                # `call execute_sql with "…"`: what is quoted is what the operation is given
                given = any(map(is_operation, words[max(0, at - 4) : at]))
                found.runs = found.runs or given or not near.isdisjoint(_LISTS.strictly)
        elif at < topic and word in table and may_be_verb(found.low, at):
            _read_verb(found, at)
    found.low = low
    if not found.harmful:
        _read_whole(found, plain, topic)
    return found


def _read_verb(found: EnglishClause, at: int) -> None:
    """Reads the verb at this place: one that only looks or makes shields the rest, one of harm may announce its effect."""
    low = found.low
    verb, form, kind = verbal_words()[low[at]]
    options = english().phrasals.get(verb, {})  # words that turn it into another one: `turn … off`
    places = range(at + 1, min(len(low), at + _PARTICLE_REACH)) if options else ()
    particle = next((place for place in places if low[place] in options), 0)
    kind = options[low[particle]] if particle else kind
    around = Around(low, at)
    if found.shield and not (found.shield == "make" and _JOBS.first((), around)):
        return
    if len(found.acts) > _MOST_ACTS or found.harmful or _THINGS.first((form, kind), around) == "thing":
        return
    said = (_VERBS.first((form, kind, verb), around) or "announced").split()
    if said[0] in ("look", "make"):
        found.shield_by(said[0], verb, at)
        return
    past = "past" in said and bool(_REPORTS.first((kind,), around))
    found.known |= said[0] in ("known", "announced")
    found.changes |= "changes" in said
    found.denied |= "denied" in said
    found.reported |= past or "reported" in said
    found.shield = "make" if "told" in said else found.shield
    if "mutates" in said:
        _read_mutation(found, at)
    elif said[0] == "announced":
        _announce(found, at, kind, verb, form == "past", particle)


def _read_mutation(found: EnglishClause, at: int) -> None:
    """`update the prices in the production database`: data of production changes under those who use it."""
    thing = thing_in(found.words, at + 1, len(found.words))
    traits = thing.traits | found.wide
    one = any(word.lstrip("#").isdigit() for word in found.low[at + 1 :]) and not traits & _LISTS.stores
    valued = thing.kind in ("data", "account", "money") and _LISTS.looks.isdisjoint(found.low)
    if "production" in traits and valued and (one or traits & _LISTS.stores):
        found.acts.append(AnnouncedAct("act_change", thing.words, traits | {"mutates"} | ({"one"} if one else set())))


def _announce(found: EnglishClause, at: int, kind: str, name: str, passive: bool, particle: int) -> None:
    low = found.low
    thing = _object(found, at, kind, name, passive, particle)
    if not thing.words and found.acts:
        return
    found.thing = thing
    traits = thing.traits | found.wide
    if kind == "reset" and "factory" in low:
        traits = traits | {"permanent"}
    known, named = english(), None  # the kind of the object, where the verb and the words around say more
    if _KINDS.of((kind, name, thing.kind)):
        given = {
            "is": (thing.guards, thing.direct * "direct", thing.group * "group"),
            "traits": thing.traits,
            "words": thing.said.split(),
            "text": thing.said,
            "named": thing.words,
        }
        named = _KINDS.first((kind, name, thing.kind), Around(low, at, given))
    sense = kind if particle else known.senses.get(name) or known.said_nouns.get(name) or kind
    announced = act(sense, thing.kind if named is None else named, thing.words, traits)
    whole = traits & _LISTS.real or (thing.direct and thing.kind in _LISTS.whole) or kind in _LISTS.no_edits
    piece = None if whole else _PATTERNS.code_place.search(" ".join(low[at:]))  # of a source or of a text
    if piece is not None and not (thing.kind == "access" and piece[0].startswith("to ")):
        announced = AnnouncedAct("act_change", thing.words, traits)
    found.acts.append(announced)
    if kind == "block" and announced.verb == "act_change":
        found.shield_by("make", name, 0)  # a guard against what the clause goes on to name


def _object(found: EnglishClause, at: int, kind: str, name: str, passive: bool, particle: int) -> EnglishObject:
    words, low, before = found.words, found.low, found.before
    thing = thing_in(words, 0, at) if passive else thing_in(words, at + 1, len(words), particle)
    if not passive and at > 2 and _PATTERNS.fronted.match(clauses.framed(low, at)):  # `the old logs I delete tonight`
        thing = thing_in(words, 0, at - 1).with_traits(thing.traits)
    if name in nominals() and not thing.kind and at:  # `a bucket removal`, `schedule the key for deletion`
        thing = thing_in(words, 0, at).with_traits(thing.traits)
    if kind == "expire" and low[at - 1] == "to" and not _LISTS.sets.isdisjoint(low[:2]):
        thing = thing_in(words, 1, at).with_traits(thing.traits)  # `set all documents to expire`
    if (thing.bare or (thing.kind == "" and thing.pronoun)) and before is not None and before.kind:
        thing = before.with_traits(thing.traits)
    if kind in ("overwrite", "reset") and thing.kind == "resource":
        named = (nouns()[word][1] for word in thing.said.split() if word in nouns())
        if any("database" in traits for traits in named):  # with a server of a database goes the data in it
            return replace(thing, kind="data", traits=thing.traits | {"database"})
    return thing


def _read_whole(found: EnglishClause, plain: str, topic: int) -> None:
    """Reads a clause that no verb of its own makes harmful: by its phrases, or else by its object, particle and adverbs.

    Behind a verb that shields, a phrase counts that begins before it, or at it where it is strong; what only the topic of a text has,
    `an article about ransomware`, is not done.
    """
    before, low = found.before, found.low
    whole = found.whole = thing_in(found.words, 0, len(found.words))
    if not whole.kind and (whole.pronoun or _PATTERNS.it.search(found.text)) and before is not None and before.kind:
        whole = before.with_traits(whole.traits)
        if before.words:
            plain = _PATTERNS.it.sub(lambda _: whole.words.lower(), plain, count=1)
    head = found.head_at if found.shield else len(plain)
    said = phrases().found(" ".join(plain.split(" ")[:topic])) if topic < len(low) else ()
    done = _GOES_OUT.union(one.effect for _, one in said)
    for start, wording in phrases().found(plain[:_LONGEST]):
        if start >= head + wording.strong or (topic < len(low) and wording.effect not in done):
            continue
        if found.harmful or is_denied([*low, ""], min(len(plain[:start].split()), len(low))):
            continue
        kind, traits = whole.kind, found.wide.union(wording.traits)
        if wording.effect in _LISTS.things and kind in ("code", "scrap"):
            continue
        if wording.kind == "reset" and kind in ("code", "resource", ""):
            kind = "data" if "production" in whole.traits else ""
        found.known, found.shield = True, ""
        if wording.effect:
            traits |= whole.traits - {"admin", "public"}
            found.acts.append(AnnouncedAct(wording.effect, plain[:120], traits))
        else:
            found.acts.append(act(wording.kind, kind, whole.words or plain, whole.traits | traits))
    if not found.shield and not found.denied and not found.harmful:
        # something of value is taken away for good, or all of it by a verb that nobody knows
        traits = whole.traits | found.wide
        lost = _LOSSES.first(("yes" if found.known else "no", whole.kind), Around(low, 0, {"traits": traits}))
        if lost:
            found.known = True
            found.acts.append(act(lost, whole.kind, whole.words, traits))


# -- the things that words name

_SCRAP = Rows("scrap", "kind", "words all first scopes traits text")
_KINDS = Rows("object_kind", "kind verb thing", f"{clauses.AROUND} is traits words text named")


class EnglishObject(Struct, frozen=True):
    kind: str = ""
    words: str = ""
    traits: Traits = NOTHING
    pronoun: bool = False
    group: bool = False  # a group or role that somebody is in
    said: str = ""  # all of the words, in lower case
    bare: bool = False  # a pronoun and nothing else
    direct: bool = True  # the kind is that of the thing itself, not of what it belongs to
    guards: str = ""  # a safety measure among the words in front of the noun

    def with_traits(self, more: Traits) -> EnglishObject:
        return replace(self, traits=self.traits | more)


def thing_in(words: Tokens, start: int, end: int, particle: int = -1) -> EnglishObject:
    """The thing that these words name; what comes first counts, what it is in adds to it."""
    kept = words[start:end]
    if particle >= start:
        del kept[particle - start]
    low = [word.lower() for word in kept]
    cut: list[Tokens] = [[]]  # at prepositions
    spared = False
    for word in low:
        if word in ENGLISH.prepositions or word == ",":
            spared = word == "except"
            cut.append([])
        elif word not in ENGLISH.determiners and not spared:
            cut[-1].append(word)
    scopes = _scope(low)
    first, *_ = phrases = list(filter(None, cut)) or [[]]
    # `record 42`, `one row`: a piece of a store, and not the store
    single = not _LISTS.records.isdisjoint(first) and clauses.SEVERAL.isdisjoint(map(scope().get, first))
    kind, many, group, direct = "", False, False, True
    traits: set[str] = set()
    for number, phrase in enumerate(phrases):
        group = group or (number > 0 and not _LISTS.groups.isdisjoint(phrase))
        got = _noun(phrase)
        if got is None:
            continue
        their_kind, their_traits, their_many = got
        if not kind:
            kind, many = their_kind, their_many
            direct = (number == 0 and bool(cut[0])) or not _LISTS.generic.isdisjoint(first)
            traits.update(their_traits if direct else set(their_traits) & {"production", "database"})
        else:
            traits.update(their_traits if kind == "data" and not single else set(their_traits) & {"production"})
    text = " ".join(low)
    if _LISTS.shared.isdisjoint(low):
        slots = {"words": low, "all": low, "first": first, "scopes": scopes, "traits": traits, "text": text}
        kind = _SCRAP.first((kind,), slots) or kind
    elif kind == "scrap":
        kind = "data"
    traits |= scopes
    if many:
        traits.add("bulk")
    if _PATTERNS.no_backup.search(text):
        traits.add("no_backup")
    if _PATTERNS.no_undo.search(text):
        traits.add("permanent")
    if kind == "credential":
        traits |= {"secret", "permanent"} if any(word.startswith("encrypt") for word in low) else {"secret"}
    table, pronoun = nouns(), not low or not _LISTS.pronouns.isdisjoint(low[:3])
    bare, kinds = bool(low) and low[0] in _LISTS.bare, {table[word][0] for word in first if word in table}
    guards = "safety" if "safety" in kinds else "guard" if "guard" in kinds else ""
    return EnglishObject(kind, " ".join(kept[:12]), frozenset(traits), pronoun, group, text, bare, direct, guards)


def _noun(phrase: Tokens) -> tuple[str, tuple[str, ...], bool] | None:
    """The last noun of a phrase, by its longest name."""
    table, ends = nouns(), last_words()
    for end in range(len(phrase), 0, -1):
        last = phrase[end - 1]
        if last not in table and last not in ends and last.isalpha():
            continue
        bare = last.removesuffix("'s").removesuffix("'")
        for length in (3, 2, 1) if last in ends or bare in ends else (1,):
            front = " ".join(phrase[end - length : end - 1]) + " " if length > 1 else ""
            known = table.get(front + last) or table.get(front + bare)
            if known is None:
                continue
            before = phrase[: end - length]
            worthless = known[0] in _LISTS.lasting and not _LISTS.throwaway.isdisjoint(before)
            if last in _LISTS.holders:  # is worth what it holds
                worthless |= any(word.endswith("cache") or table.get(word, ("",))[0] == "scrap" for word in before)
            return ("scrap", (), False) if worthless else known
        tail = last.rpartition("_")[2]
        if tail in table and tail != last:
            return table[tail]
        if shape := _PATTERNS.shapes.search(last):
            return (shape.lastgroup or "", (), False)
    return None


def _scope(low: Tokens) -> set[str]:
    """How many, where and for how long, by the words themselves and by the names among them."""
    table = scope()
    found = {table[word] for word in low if word in table}
    for at, word in enumerate(low):
        if word.isalpha() or word == ",":
            continue
        if word.isdigit() and int(word[:9]) > 1 and at + 1 < len(low) and low[at + 1].endswith("s"):
            found.add("bulk")
        if "_" in word:
            found.update(table[piece] for piece in word.split("_") if piece in table)
        if where := _PATTERNS.where.match(word):
            found.add(where.lastgroup or "")
    return found


# -- files

_MOST_FILES, _LONGEST_PATH = 20, 300
_FILE_EFFECTS = Rows("file_effect", "shield verb", "text clause path reach head before")
_DIRECTORIES = {"home": "~", "root": "/", "here": "."}


def file_effects(words: Tokens, clause: EnglishClause) -> list[tuple[str, ...]]:
    """What the clause does to the files that it names; only where verb and path are plain."""
    text, found = clause.text, []
    if clause.denied or not _PATTERNS.places.search(text):
        return []
    verb, reach = (clause.acts[0].verb, clause.acts[0].traits) if clause.acts else ("", NOTHING)
    if not clause.shield and verb in _LISTS.destroys and _PATTERNS.killers.search(text):
        if directory := _PATTERNS.directories.search(text):
            return [("delete", _DIRECTORIES[directory.lastgroup or "here"], "recursive")]
        if _PATTERNS.no_files.search(text):
            return []
        folder = _PATTERNS.named_folder.search(text)
        rights = clause.thing is not None and clause.thing.kind == "access"  # on a folder, not the folder
        if folder and folder[1] not in _LISTS.no_names and not rights:
            return [("delete", folder[1], "recursive")]
    acts = next((at for at, word in enumerate(words) if form_of(word) == "third"), 0)  # not `prune.py deletes …`
    for at, path in [(at, word) for at, word in enumerate(words) if at >= acts and _is_path(word)][:_MOST_FILES]:
        given = {"text": text, "clause": text, "path": path.replace("\\", "/"), "reach": reach, "head": (clause.head,)}
        said = _FILE_EFFECTS.first((clause.shield, verb), given | {"before": (words[at - 1].lower(),)}) or ""
        found += [(effect, path, *traits) for effect, *traits in map(str.split, said.split(", ") if said else ())]
    return found


def _is_path(word: str) -> bool:
    """True for a path and the name of a file; not for a version, a host, or owner/repository."""
    if word.isalpha() or len(word) > _LONGEST_PATH:
        return False
    return bool(_PATTERNS.path.match(word) or (_PATTERNS.file.match(word) and not _PATTERNS.no_file.fullmatch(word)))
