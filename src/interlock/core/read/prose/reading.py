"""A text in plain letters -> effects: sentence by sentence, clause by clause, in whichever language it is."""

from __future__ import annotations

import re

from interlock.core.read.facts import Report
from interlock.core.read.prose import english_scope as scope
from interlock.core.read.prose.acts import NOTHING, Act, Traits, act
from interlock.core.read.prose.carried import Carried
from interlock.core.read.prose.claims import without_claims
from interlock.core.read.prose.clauses import Tokens, clauses, is_operation, sentences, tokens
from interlock.core.read.prose.embedded import MARK, Embedded, Lifted, arguments
from interlock.core.read.prose.english import Clause, read_clause
from interlock.core.read.prose.english_nouns import nouns
from interlock.core.read.prose.english_objects import Thing
from interlock.core.read.prose.english_verbs import verb_forms
from interlock.core.read.prose.files import file_effects
from interlock.core.read.prose.foreign import read_foreign
from interlock.core.read.prose.vague import is_vague

_POLITE = re.compile(r"^(?:please |so |ok(?:ay)?,? )?(?:can|could|will|would) (?:you|we|someone)(?: please| just)? ")
_CALLS = frozenset("call calling calls use using invoke invoking run running execute executing trigger triggering operation tool then with"
                   " via , function to and perform performing by endpoint".split())  # fmt: skip


class Told:
    """Passes effects on, and remembers whether there was one."""

    def __init__(self, out: Report) -> None:
        self.out = out
        self.any = self.known = False
        self.read_only = True
        self.asked = False
        self.carried = Carried()

    def act(self, one: Act) -> None:
        self.any = True
        self.out.effect(one.verb, one.target, *sorted(one.traits))


def read_text(text: str, out: Report) -> None:
    """Reports what the text announces, and that it is vague when it announces nothing."""
    told = Told(out)
    lifted = Lifted(without_claims(text))
    before: Thing | None = None
    if lifted.full:
        out.unreadable("more commands in one description than can be read", "budget")
    for sentence in sentences(lifted.text):
        out.step()
        before = _read_sentence(sentence, lifted, before, told)
    if told.any:
        return
    if not told.asked and is_vague(lifted.text, told.known):
        out.effect("act_vague", text[:120])
    else:
        out.effect("act_read" if told.read_only and told.known else "act_change", text[:120])


def _read_sentence(sentence: str, lifted: Lifted, before: Thing | None, told: Told) -> Thing | None:
    low = sentence.lower()
    if _is_question(low):
        told.known = told.asked = True
        return before
    foreign = read_foreign(sentence)
    if foreign is not None:
        told.known = True
        told.read_only = told.read_only and foreign.read_only
        if foreign.cut:
            told.out.unreadable("a sentence that is too long to read", "budget")
        for one in foreign.acts:
            told.act(one)
        if foreign.acts or not foreign.unsure:
            _play_marks(sentence, lifted, told) if foreign.runs_marks else None
            return before
    if _is_not_run(low) or _DECLINED.search(low):
        told.known = True
        return before
    wide = frozenset({"production"}) if re.search(r"\b(?:prod|production)\b", low) else NOTHING
    for words in clauses(tokens(_plain(sentence))):
        before = _read_clause(words, lifted, before, wide, told)
    return before


def _read_clause(words: Tokens, lifted: Lifted, before: Thing | None, wide: Traits, told: Told) -> Thing | None:
    if all(word.lower() in ("and", "or", ",") for word in words):
        return before
    clause = read_clause(words, before, wide)
    told.known = told.known or clause.known or clause.denied
    for word in clause.marks:
        if clause.runs or not lifted.of(word).kind.startswith("quoted_"):
            _play(lifted.of(word), told)
    _follow([lifted.of(word).text if word.startswith(MARK) else word for word in words], clause, told)
    if not clause.shield and not clause.denied:
        _read_operations(words, told)
    placed = file_effects(words, clause)
    for verb, path, *traits in placed:
        told.any = True
        told.out.effect(verb, path, *traits)
    harmful = [one for one in clause.acts if one.harmful]
    for one in [
        one
        for one in harmful
        if not placed or (placed[0][0] == "overwrite" and ("production" in one.traits or one.verb == "act_unconfigure"))
    ]:
        told.act(one)
    if (
        (clause.acts and not harmful)
        or clause.shield == "make"
        or (clause.changes and not clause.shield and not clause.denied)
    ):
        told.read_only = False
    return clause.thing if clause.known and clause.thing is not None and clause.thing.kind else before


def _follow(words: Tokens, clause: Clause, told: Told) -> None:
    """What a clause does with what the one in front of it got."""
    done = told.carried.follow(" ".join(words).lower(), bool(clause.shield), clause.denied)
    if done is not None:
        told.act(done)


def _play_marks(sentence: str, lifted: Lifted, told: Told) -> None:
    for word in tokens(sentence):
        if word.startswith(MARK):
            _play(lifted.of(word), told)


def _play(thing: Embedded, told: Told) -> None:
    """Hands something embedded to the reader of its language."""
    kind = thing.kind.removeprefix("quoted_")
    if kind == "quote":
        return
    told.any = told.known = True
    if kind == "shell":
        told.out.shell(thing.text)
        _read_windows(thing.text, told)
    elif kind == "sql":
        told.out.code("sql", thing.text)
    elif kind == "http":
        from interlock.core.read.http import read_http

        read_http(thing.extra, thing.text, "", (), told.out)
        _read_route(thing.text, told)
    elif kind == "call":
        from interlock.core.read.operation import read_operation

        read_operation(thing.text, arguments(thing.extra), "", told.out)


_WINDOWS = re.compile(
    r"^(?:del|erase|rd|rmdir)\b(?=.*\s/[sq]\b).*?\s(?P<path>[A-Za-z]:\S*|\*\S*|%\w+%\S*)", re.IGNORECASE
)


# A program for disks whose disk the sentence says in its own words: `wipefs -a on both disks`.
_AIMLESS = re.compile(
    r"^(?:sudo )?(?:wipefs|blkdiscard|sgdisk|mkfs(?:\.\w+)?|mkswap|badblocks)(?: -{1,2}(?!help|version|n\b)\S+)+$"
)


def _read_windows(text: str, told: Told) -> None:
    """`del /s /q` with a drive behind it: what the shells that are read here do not know."""
    match = _WINDOWS.match(text[:400])
    if match:
        told.out.effect("act_delete", match["path"], "all", "permanent")
    if _AIMLESS.match(text[:400]):
        told.out.effect("act_disk", text[:120], "all")


def _read_route(url: str, told: Told) -> None:
    """`/orgs/acme/suspend`: a route that ends in a verb does what the verb says to what stands in front."""
    pieces = [piece for piece in re.split(r"[/:]", url.partition("?")[0].lower()) if piece]
    known = verb_forms().get(pieces[-1]) if pieces else None
    if known is None or known[1] != "base" or known[2] in ("do", "look", "make", "send", "format", "grant"):
        return
    things = [nouns()[piece] for piece in pieces[:-1] if piece in nouns()]
    kind, traits, _ = things[-1] if things else ("", (), False)
    told.act(act(known[2], kind, url[:120], frozenset(traits)))


def _read_operations(words: Tokens, told: Told) -> None:
    """Names of operations where a sentence calls them: at its start, or after a word of calling."""
    for at, word in enumerate(words):
        if not is_operation(word) or not (at == 0 or words[at - 1].lower() in _CALLS):
            continue
        from interlock.core.read.operation import read_operation

        told.any = told.known = True
        read_operation(word, _params(words[at + 1 :]), "", told.out)


def _params(words: Tokens) -> dict[str, str]:
    """`on project/config.json`: the path that an operation is said to work on."""
    if words and re.match(r"[~.]?/|~", words[0]):
        return {"path": words[0]}
    for at, word in enumerate(words[:6]):
        if word.lower() in ("on", "for", "to", "in", "with", "at") and at + 1 < len(words):
            target = words[at + 1]
            if "/" in target or re.search(r"\w\.\w{1,5}$", target):
                return {"path": target}
    return {}


def _is_question(low: str) -> bool:
    """True for what is asked; a polite request is none."""
    if _POLITE.match(low):
        return False
    if scope.ASKS.match(low):
        return (
            low.rstrip().endswith("?")
            or re.match(r"(?:so |and )?(?:what|how|why|which|who|whether)\b", low) is not None
        )
    return low.startswith("¿") and low.rstrip().endswith("?")


_DECLINED = re.compile(
    r"\b(?:asked|wanted|told|ordered|begged|tried to get|requested|instructed)\b.{0,120}\b(?:declined|refused|rejected|said no|did not|didn't|won't|decided against|turned .{1,12} down)\b"
)
# `write a guide: how to …`: what stands behind the colon is what the text will say.
_TITLED = re.compile(
    r"^(?:(?:i'?m|i will|i'll|please|now|next|first|then|also|let me) )*(?P<verb>[\w-]+) [^:]{0,60}\b(?:tests?|guide|note|notes|ticket|issue|article|page|doc|docs|chapter|section|story|report|comment|question|faq"
    r"|how-?to|runbook|checklist|reminder|summary|documentation|card|task|todo|spec|rfc|adr|proposal|email|mail|message|reply|answer|slide|title|heading|entry|scenario|case|example|function|stub|mock): ",
    re.IGNORECASE,
)
_ONLY = re.compile(
    r"\bnot (?:only|just|merely|simply) (?P<first>.{1,80}?),? but (?:also |even |rather )?", re.IGNORECASE
)
_WHEN = re.compile(
    r"^(?:once|as soon as|when|after|unless|until) [^,]{1,100}?(?= (?:i|we)(?:'ll| will| am| are| shall) )",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"(?<=\w)\(\)")  # `exec()`
_GOES_ON = re.compile(r"(?:,| and|;) (?:then|afterwards|now) ", re.IGNORECASE)


def _plain(sentence: str) -> str:
    """The sentence without what a colon only quotes, and with both halves of `not only … but also`."""
    titled = _TITLED.match(sentence)
    if titled and verb_forms().get(titled["verb"].lower(), ("", "", ""))[2] in ("make", "look"):
        after = _GOES_ON.search(sentence, titled.end())
        sentence = sentence[: titled.end() - 2] + (sentence[after.start() :] if after else "")
    sentence = _BRACKETS.sub("", sentence)
    return _ONLY.sub(_both, _WHEN.sub(r"\g<0>, ", sentence))


def _both(match: re.Match[str]) -> str:
    """The first half stays when it says what is done; a thing alone gives way to the one that matters more."""
    first = match["first"]
    return f"{first} and " if first.split()[0].lower() in verb_forms() else ""


def _is_not_run(low: str) -> bool:
    return bool(scope.NOT_RUN.search(low)) and not scope.NOT_RUN_DENIED.search(low)
