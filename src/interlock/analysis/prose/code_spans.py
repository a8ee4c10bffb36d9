"""Finds SQL and Redis statements, method calls and JSON tool calls that stand bare in a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.lexicon.rows import Rows
from interlock.analysis.operations.names import may_be_operation
from interlock.analysis.operations.nested import PARAMS, given_params, read_calls
from interlock.analysis.operations.params import short_keys, squash

_PATTERNS = Patterns("code_spans")
_LISTS = WordLists("code_spans")

_SAYS_TO = re.compile(r"\s(?:on|to|from)\s", re.IGNORECASE)
_PUNCTUATION = "`'\"(),.;:"


def statements_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Where statements stand in the text, and the language of each; several with `;` between them are one."""
    words = {word.strip(_PUNCTUATION) for word in text.lower().split()}
    for redis in _PATTERNS.redis.finditer(text) if not _LISTS.redis_first.isdisjoint(words) else ():
        yield *redis.span(), "redis"
    start = 0
    while not _LISTS.first.isdisjoint(words):
        found = [one for one in (_PATTERNS.capitals.search(text, start), _PATTERNS.small.search(text, start)) if one]
        if not found:
            return
        match = min(found, key=lambda one: one.start())
        end = _PATTERNS.ends.search(text, match.end() if _SAYS_TO.search(match[0]) else match.start() + 12)
        start = max(end.start() if end else len(text), match.start() + 1)
        yield match.start(), start, "sql"


_HEAD = re.compile(r"(?<![\w./@$-])(?:await )?\$?[A-Za-z_]\w{0,60}(?:(?:\.|->|::)\$?[A-Za-z_]\w{0,60}){0,8}[!?]?\(")
_MORE = re.compile(r"(?:(?:\.|->|::)[A-Za-z_]\w{0,60}[!?]?){1,8}(\(?)")
_BARE_ENDS = ("_all", "truncate", "flushall", "flushdb", "_table", "!")
_BRACKET = re.compile(r"[()]")
_LANGUAGES = Rows("method_language", "", "call head last")


def methods_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Where calls of methods stand that a sentence makes, and the language of each."""
    if "(" in text:
        start, closing = 0, _closing(text)
        for match in _HEAD.finditer(text):
            if match.start() < start:
                continue
            end = _end_of_call(text, match.end() - 1, closing)
            called = text[match.start() : end]
            chain = "." in called.partition("(")[0] or any(link in called for link in ("->", "::", ")."))
            if end and chain and _can_begin(text, match.start()):
                yield match.start(), end, _language_of(called)
                start = end
    elif "." in text and any(word.rstrip(".,;:?)").endswith(_BARE_ENDS) for word in text.split() if "." in word):
        for match in _PATTERNS.bare.finditer(text):
            if _can_begin(text, match.start()):
                yield match.start(), match.end(), "ruby"


def _language_of(call: str) -> str:
    """The language that a call is most likely written in."""
    head, last = call.partition("(")[0], call.rpartition(".")[2].partition("(")[0]
    return _LANGUAGES.first((), {"call": call, "head": head, "last": last}) or "python"


def _can_begin(text: str, at: int) -> bool:
    before = text[max(0, at - 30) : at].rstrip()
    return not before or before[-1] in ".!?:;,(—–>" or before.rsplit(None, 1)[-1].lower() in _LISTS.leads


def _end_of_call(text: str, at: int, closing: dict[int, int]) -> int:
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


Call = tuple[str, Mapping[str, Any]]
_OPENS = re.compile(r'[{\[]\s*[{"]')
_MOST, _DEEPEST, _LONGEST = 8, 4, 20_000
_WORD = re.compile(r"[A-Za-z][\w.:/-]{0,99}")
_DECODER = json.JSONDecoder()
_PARAMS = frozenset(PARAMS)


def objects_in(text: str) -> Iterator[tuple[int, int]]:
    """Where JSON stands that calls something, by one of its keys."""
    done = tried = 0
    for found in _OPENS.finditer(text[:_LONGEST]):
        if found.start() < done or tried >= _MOST:
            continue
        tried += 1
        try:
            value, done = _DECODER.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        if any(not _LISTS.call_keys.isdisjoint(short_keys(one)) for one in _objects(value)):
            yield found.start(), done


def calls_in(text: str) -> list[Call]:
    """The operations that a JSON text calls, with what they are given; one that names none is given to whatever runs it."""
    found: list[Call] = []
    for value in _objects(json.loads(text)):
        keys = short_keys(value)
        name = _name(keys)
        if name:
            beside = {key: item for key, item in value.items() if squash(key) not in _LISTS.names}
            found.append((name, given_params(keys, {}) if not _PARAMS.isdisjoint(keys) else beside))
        elif not read_calls({"call": value}, lambda name, given: found.append((name, given))):
            said = ". ".join(_said(value))
            found.append(("Task", {"prompt": said}) if said else ("call_tool", value))
    return found


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [one for one in (value if isinstance(value, list) else [value])[:_MOST] if isinstance(one, Mapping)]


def _said(value: object, depth: int = 0) -> Iterator[str]:
    """What an agent is told in plain words, at any place in an object."""
    if isinstance(value, list) and depth < _DEEPEST:
        for item in value[:_MOST]:
            yield from _said(item, depth + 1)
    for key, item in value.items() if isinstance(value, Mapping) and depth < _DEEPEST else ():
        if isinstance(item, str) and squash(key) in _LISTS.says:
            yield item
        yield from _said(item, depth + 1)


def _name(keys: Mapping[str, Any]) -> str:
    name = next((keys[key] for key in _LISTS.in_order("names") if isinstance(keys.get(key), str)), "")
    if not name and (not _PARAMS.isdisjoint(keys) or keys.get("type") in ("tool_use", "function")):
        name = keys.get("name", "")
    if not isinstance(name, str) or not _WORD.fullmatch(name):
        return ""
    upon = next((keys[key] for key in _LISTS.in_order("upon") if isinstance(keys.get(key), str)), "")
    upon = "_".join(upon.split())
    return f"{name}_{upon}" if name.isalpha() and not may_be_operation(name) and _WORD.fullmatch(upon) else name
