"""Calls of methods in a sentence (`db.users.drop()`, `User.delete_all`) -> where each stands, and its language."""

from __future__ import annotations

import re
from collections.abc import Iterator

_HEAD = re.compile(r"(?<![\w./@$-])(?:await )?\$?[A-Za-z_]\w{0,60}(?:(?:\.|->|::)\$?[A-Za-z_]\w{0,60}){0,8}[!?]?\(")
_MORE = re.compile(r"(?:(?:\.|->|::)[A-Za-z_]\w{0,60}[!?]?){1,8}(\(?)")
_BARE = re.compile(
    r"(?<![\w./@$-])[A-Z]\w{0,60}(?:::\w{1,60}){0,4}(?:\.\w{1,60}){0,4}\."
    r"(?:delete_all|destroy_all|truncate|truncate!|drop_all|flush_all|flushall|flushdb|drop_table|delete_all!|destroy_all!|purge!|destroy!)(?![\w(])"
)
_BARE_ENDS = ("_all", "truncate", "flushall", "flushdb", "_table", "!")
_LEADS = frozenset(
    "call calling calls invoke invoking run running runs execute executing trigger triggering then and using use via with do doing fire"
    " firing evaluate evaluating type typing paste pasting enter entering issue issuing just now quick please plain by through hit hitting"
    " console repl shell exec".split()
)
_BRACKET = re.compile(r"[()]")
_CAMEL = re.compile(r"[.>:][a-z]+[A-Z]|^await ")
_MONGO = re.compile(r"db\.(?:getSiblingDB|getCollection|\w+\.(?:drop|delete|remove|insert|update|find|rename)|dropDatabase|dropUser|shutdownServer|runCommand|adminCommand|\w+\.\w+)")  # fmt: skip


def methods_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Where calls of methods stand that a sentence makes, and the language of each."""
    if "(" in text:
        start, closing = 0, _closing(text)
        for match in _HEAD.finditer(text):
            if match.start() < start:
                continue
            end = _end(text, match.end() - 1, closing)
            called = text[match.start() : end]
            if end and _is_chain(called) and _can_begin(text, match.start()):
                yield match.start(), end, language_of(called)
                start = end
    elif "." in text and any(word.rstrip(".,;:?)").endswith(_BARE_ENDS) for word in text.split() if "." in word):
        for match in _BARE.finditer(text):
            if _can_begin(text, match.start()):
                yield match.start(), match.end(), "ruby"


def is_method(text: str) -> bool:
    """True for a text that is a call of a method and nothing else."""
    match = _HEAD.match(text) if "(" in text else None
    if match is None:
        return _BARE.fullmatch(text) is not None
    end = _end(text, match.end() - 1, _closing(text))
    return end > 0 and not text[end:].strip(" ;") and _is_chain(text[:end])


def language_of(call: str) -> str:
    """The language that a call is most likely written in."""
    if "->" in call or ("::" in call and "." not in call.partition("(")[0]):
        return "php"
    if _MONGO.match(call) and "_" not in call.rpartition(".")[2].partition("(")[0] and "session" not in call:
        return "mongo"
    if "::" in call or "(" not in call or re.search(r"\.\w+[!?]", call) or re.search(r"[(,] ?:\w", call):
        return "ruby"
    if call.startswith("Repo."):
        return "elixir"
    if _CAMEL.search(call) or "({" in call or call.startswith("fs."):
        return "javascript"
    return "ruby" if re.search(r"\(\w+: ", call) else "python"


def _is_chain(call: str) -> bool:
    return "." in call.partition("(")[0] or "->" in call or "::" in call or ")." in call


def _can_begin(text: str, at: int) -> bool:
    before = text[max(0, at - 30) : at].rstrip()
    return not before or before[-1] in ".!?:;,(—–>" or before.rsplit(None, 1)[-1].lower() in _LEADS


def _end(text: str, at: int, closing: dict[int, int]) -> int:
    """Where the call ends whose bracket opens here, with all that is called on its result; 0 when it never does."""
    end = closing.get(at, 0)
    while end and (more := _MORE.match(text, end)):
        if more[1]:
            end = closing.get(more.end() - 1, 0)
        elif more.end() >= len(text) or text[more.end()] in " ;,":
            return more.end()
        else:
            return end
    return end


def _closing(text: str) -> dict[int, int]:
    """For each bracket that opens, the place behind the one that closes it."""
    opened: list[int] = []
    found: dict[int, int] = {}
    for match in _BRACKET.finditer(text):
        if match[0] == "(":
            opened.append(match.start())
        elif opened:
            found[opened.pop()] = match.end()
    return found
