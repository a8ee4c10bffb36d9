"""Finds the names of operations that a clause calls, with their targets."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from interlock.analysis.lexicon import split_name
from interlock.analysis.operations.names import harms, is_operation, may_be_operation
from interlock.analysis.programs.load import called_programs, program_set
from interlock.analysis.prose import english
from interlock.analysis.prose.clauses import Tokens
from interlock.analysis.prose.english.nouns import nouns
from interlock.analysis.prose.english.verbs import verb_forms

# Words in front of a name that call it, and nouns that stand between.
_CALLS = frozenset(
    "call calling calls use using invoke invoking run running execute executing trigger triggering perform performing issue issuing fire"
    " firing launch launching submit submitting apply applying via through then do doing try trying start starting begin beginning schedule"
    " scheduling queue enqueue confirm confirming retry retrying rerun repeat off ahead".split()
)
_NOUNS = frozenset("operation tool function endpoint action method mutation procedure step command api rpc op".split())
_SKIPPED = frozenset("the a an this that our its my mcp following named called".split())
# What may stand in front of a name that opens a clause.
_LEADS = frozenset(
    "now next then first second third finally also lastly please i i'm i'll i'd we we're we'll am are will shall going gonna to let me let's us"
    " just immediately about directly simply afterwards ok okay so and or but * • - > + #".split()
)
# What an operation may be one of: `github delete_repo`.
_SERVICES = frozenset(
    "ec2 s3 iam rds lambda dynamodb route53 cloudtrail kms github gitlab bitbucket stripe paypal slack jira linear notion postgres postgresql"
    " mysql sqlite mongo mongodb redis elastic elasticsearch kafka azure gcp cloudflare okta auth0 salesforce hubspot shopify "
    " db database api mcp".split()
)


def _is_service(word: str) -> bool:
    return word in _SERVICES or word in program_set("operation_names") or word in called_programs()


# Verbs whose object is a piece of code.
EDITS = frozenset(
    "replace replacing swap swapping remove removing delete deleting drop dropping rename renaming extract extracting strip stripping"
    " inline inlining comment commenting uncomment quote quoting".split()
)
_REWORKS = EDITS | frozenset(
    "change changing refactor refactoring convert converting turn turning migrate migrating move moving fix fixing".split()
)
_PLAINLY = frozenset("calling running invoking executing triggering via using by then and".split())
_PAST = frozenset("called ran invoked executed used triggered".split())
_HOLDS = frozenset(
    "forbid forbids forbidding deny denying disallow disallowing ban banning intercept intercepting prohibit mock mocking stub stubbing".split()
)
_REFERS = frozenset(
    "refer refers referring related similar equivalent compared alias link links according map maps redirect redirects call calls reference"
    " references due access respect regard problem problems issue issues bug bugs error errors trouble help deal deals dealing wrong work"
    " works name names".split()
)
# What is told of an operation, behind its name.
_TOLD = frozenset(
    "vs versus means mean meant works stands was were had did failed fails crashed hung raises raised returns returned lacks prints printed exits"
    " exited hangs throws errors behaves appears occurs exists lives belongs shows comes should must needs need can could would may might has have doesn't does isn't cannot can't"
    " takes accepts expects requires docs documentation manual semantics syntax usage example examples".split()
)
_JUDGED = frozenset(
    "off forbidden banned not never blocked denied disallowed prohibited dangerous risky bad discouraged deprecated documented mentioned"
    " described explained rejected disabled refused unsafe harmful evil called defined implemented used a an the broken slow covered"
    " untested tested available missing unused private public where".split()
)
# Pieces of a program that are named after an operation.
_PIECES = frozenset(
    "helper method class component hook handler route migration test tests spec suite page button form flow modal dialog screen view"
    " event webhook permission scope flag column field variable constant type enum file module package workflow pipeline template label docs"
    " documentation mutation endpoint function command script job stub mock fixture decorator macro signature docstring name string icon"
    " events hooks callback listener checkbox link tab menu toggle notebook snippet example section chapter commit branch".split()
)
_SETTINGS = frozenset(
    "timeout rate interval size url uri ttl limit count flag mode at path threshold ratio delay period enabled option setting parameter seconds"
    " ms days id name prefix suffix level score date time status state reason message text title".split()
)
_CALLED_ON = frozenset({"on", "for", "against", "with", "in", "across", "to"})
# Methods of libraries for tables and models, which change what is in memory.
_INSIDE = frozenset(
    "reset_index drop_duplicates drop_na drop_nulls drop_null drop_level drop_vars set_index zero_grad clear_output clear_session remove_columns reset_rng"
    " reset_seed reset_parameters reset_states reset_default_graph remove_stopwords truncate_sequences pad_sequences remove_nodes_from"
    " remove_edges_from drop_first dropDuplicates dropna clear_figure empty_cache reset_peak_memory_stats remove_outliers drop_missing removeChild"
    " resetForm resetState clearTimeout clearInterval removeEventListener deleteContents removeClass removeAttribute truncateText".split()
)


class Mention(Struct, frozen=True):
    """An operation that a clause names: called, only named, or open where the words around it do not tell."""

    at: int
    name: str
    role: str  # called, named or open
    given: dict[str, str]  # what it is said to work on


CALLED, NAMED, OPEN = "called", "named", "open"


def mentions(words: Tokens, before: str) -> list[Mention]:
    """Every operation that a clause names; `before` is the role of the name that the clause in front ended with."""
    low = [word.lower() for word in words]
    found: list[Mention] = []
    for at, word in enumerate(words):
        if word in _INSIDE:
            found.append(Mention(at, word, NAMED, {}))
        elif may_be_operation(word):
            last = found[-1].role if found and found[-1].at == at - 2 and low[at - 1] in _JOINTS else ""
            found.append(Mention(at, word, _role(words, low, at, before if not at else last), _given(words[at + 1 :])))
    return found


def ends_with(words: Tokens, found: list[Mention]) -> str:
    """The role of the name that a clause ends with; empty where it ends with another word."""
    return found[-1].role if found and found[-1].at == len(words) - 1 else ""


def unnamed(sentence: str, found: Iterable[Mention]) -> str:
    """The sentence without the operations that it only names."""
    for mention in found:
        if mention.role == NAMED and harms(mention.name):
            sentence = sentence.replace(mention.name, "it")
    return sentence


def without_named(words: Tokens, found: list[Mention]) -> Tokens:
    """The words, with each operation that is only named as the piece of code it is here."""
    named = {mention.at for mention in found if mention.role == NAMED and harms(mention.name)}
    return ["function" if at in named else word for at, word in enumerate(words)] if named else words


_JOINTS = frozenset({",", "and", "or", "&", "plus"})
_LISTED = re.compile(
    r"^(?P<head>[^:]{0,80}\b(?:tools|operations|functions|methods|endpoints|commands|names|mutations|procedures|verbs)\b[^:]{0,40}):"
)


def lists_names(low: str) -> bool:
    """`the tools of the server: x, y`: true for a sentence that lists operations and calls none."""
    listed = _LISTED.match(low)
    return listed is not None and _CALLS.isdisjoint(listed["head"].split())


def _role(words: Tokens, low: Tokens, at: int, last: str) -> str:
    how = last if last == CALLED else "" if last else _how(words, low, at)
    if last == NAMED or _was_called(low, at) or _is_denied(low, at) or _is_reworked(low, at) or _is_told(low, at, how):
        return NAMED
    if how:
        return CALLED
    return NAMED if _is_object(low, at) else OPEN


def _was_called(low: Tokens, at: int) -> bool:
    """`the agent called x yesterday`; not `the tool called x`, nor `will be called x`."""
    return at > 1 and low[at - 1] in _PAST and low[at - 2] not in _NOUNS and "be" not in low[:at]


def _is_reworked(low: Tokens, at: int) -> bool:
    """`replace the call stopAll with haltAll`: code is changed, and nothing is called."""
    first = next((place for place, word in enumerate(low) if word not in _LEADS), 0)
    return first < at and low[first] in _REWORKS and low[at - 1] not in _PLAINLY


def _is_object(low: Tokens, at: int) -> bool:
    """`document x`, `block the x`: the object of a verb that calls nothing."""
    front = at - 1
    while front >= 0 and low[front] in _SKIPPED:
        front -= 1
    if front < 0:
        return False
    return low[front] in _HOLDS or (low[front] not in nouns() and _form(low[front]) in ("base", "ing", "third"))


def _how(words: Tokens, low: Tokens, at: int) -> str:
    """How a clause calls the operation that is named here: by a word in front, or by its place at the start; empty for not."""
    if _is_called(low, at):
        return "called"
    opens = all(one in _LEADS for one in low[:at])
    if opens or (_is_service(low[at - 1]) and all(one in _LEADS for one in low[: at - 1])):
        alone = at + 1 == len(words) or low[at + 1] in _CALLED_ON
        if split_name(words[at])[-1][-1] in _SETTINGS:
            return ""  # `purge_interval = 60`
        return "first" if is_operation(words[at]) or alone or "." in words[at] or ":" in words[at] else ""
    return ""


def _is_called(low: Tokens, at: int) -> bool:
    """`call the operation x`, `use the x tool`, `the next action is x`; not `the function x lacks a test`."""
    front = at - 1
    while front >= 0 and low[front] in _SKIPPED:
        front -= 1
    if front < 0:  # `the drop_table tool on orders`
        return (
            at > 0
            and low[at + 1 : at + 2] != []
            and low[at + 1] in _NOUNS
            and (low[at + 2 : at + 3] or ["on"])[0] in _CALLED_ON - {"in"}
        )
    before = low[front]
    if before in _NOUNS:
        return front == 0 or not _CALLS.isdisjoint(low[:front]) or (before == "step" and "next" in low[:front])
    if before in ("is", "be", "=") and front:
        return not _NOUNS.isdisjoint(low[:front]) and not {"what", "how", "why"} & set(low[:front])
    if before == "to":
        return front == at - 1 and not (front and low[front - 1] in _REFERS)
    if before in ("with", "by"):
        return not (front and (low[front - 1] in _REFERS or _form(low[front - 1]) == "past"))
    return before in _CALLS


def _is_denied(low: Tokens, at: int) -> bool:
    """`do not call x`, `instead of x`, `without x`: a denial in front, and no other act between."""
    for place in range(at - 1, max(-1, at - 6), -1):
        if low[place] in english.CLOSE:
            return at - place <= 3
        if low[place] in english.NEGATIONS:
            return True
        known = verb_forms().get(low[place])
        if known and known[2] not in ("do", "make", "look") and known[1] != "past":
            return False
    return False


def _is_told(low: Tokens, at: int, how: str) -> bool:
    """True where something is only said of the operation: `x removes rows`, `x is deprecated`, `the x endpoint`."""
    after = low[at + 1 : at + 6]
    if not after:
        return False
    if after[0] in ("is", "are"):
        return not _JUDGED.isdisjoint(after[1:3])
    if how == "called":
        return after[0] in _PIECES - _NOUNS - {"job", "script", "migration", "workflow", "pipeline"}
    return after[0] in _TOLD or after[0] in _PIECES or (_form(after[0]) == "third" and after[0] not in nouns())


def _form(word: str) -> str:
    known = verb_forms().get(word)
    return known[1] if known else ""


def _given(words: Tokens) -> dict[str, str]:
    """`on project/config.json`: the path that an operation is said to work on."""
    if words and re.match(r"[~.]?/|~", words[0]):
        return {"path": words[0]}
    for at, word in enumerate(words[:6]):
        if word.lower() in ("on", "for", "to", "in", "with", "at") and at + 1 < len(words):
            target = words[at + 1]
            if "/" in target or re.search(r"\w\.\w{1,5}$", target):
                return {"path": target}
    return {}
