"""Calls of a language's libraries, as the tables of `calls/` describe them -> their effects and results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from interlock.analysis.code.program.objects import LibraryCall, ProgramFunction
from interlock.analysis.code.program.results import RESULTS
from interlock.analysis.code.program.values import Sym
from interlock.analysis.facts import VERBS
from interlock.analysis.packs import Pack, PackError, load_packs, only_keys

Entry = Mapping[str, Any]  # the table of one call: effects in their order, with where their targets are
_SHIPPED = Path(__file__).parent / "calls"
COMMON = "common"  # the table that every language has

# What a call does to its arguments, each with the place of the argument.
ON_PATHS = tuple("read write overwrite append truncate delete move chmod chown run_script".split())
OTHER = tuple("open fill run shell command code sql fetch http connect listen kill fork calls tell close".split())
# How it does that: constants, or places of further arguments.
DETAILS = {
    "traits": list, "recursive": object, "mode": object, "opens": str, "content": object, "appends": object, "language": str,
    "method": str, "sends": object, "port": object, "signal": object, "each": object, "with": object, "target": object,
    "needs": int, "dry": str, "words": list, "gives": str, "of": object, "property": bool, "known": bool, "globs": bool,
}  # fmt: skip
KEYS = frozenset((*ON_PATHS, *OTHER, *DETAILS))
_BLOCK = ("example", "does", "calls")
_PLACE = re.compile(r"\d*\*|[A-Za-z_]\w*")


class Library:
    """What is known of the calls of one language."""

    def __init__(self, language: str, calls: Mapping[str, Entry], aliases: Mapping[str, str]) -> None:
        self.language = language
        self.calls = calls
        self.aliases = aliases
        self.handled = frozenset(calls)

    def canonical(self, path: str) -> str:
        """The one name of what goes by several, without the package that it is in."""
        if path in self.aliases:
            return self.aliases[path]
        head, dot, rest = path.partition(".")
        if dot and head in self.aliases:
            return f"{self.aliases[head]}.{rest}".lstrip(".")
        return path


def check_packs(packs: Sequence[Pack]) -> Sequence[Pack]:
    """The packs themselves; raises PackError where a key is unknown, a block has no example or a call is told twice."""
    for pack in packs:
        only_keys("calls", pack, ("language", "extends", "alias", "block", "words"))
        where, seen = str(pack.get("language", "?")), set[str]()
        for block in pack.get("block", ()):
            only_keys(where, block, _BLOCK)
            if not block.get("example") or not block.get("calls") or not isinstance(block.get("does"), list):
                raise PackError(f"{where}: a block needs `example`, `does` and `calls`: {block!r}"[:300])
            for name, entry in block["calls"].items():
                if name in seen:
                    raise PackError(f"{where} {name}: told twice")
                seen.add(name)
                _check_entry(f"{where} {name}", entry)
    return packs


def _check_entry(where: str, entry: Entry) -> None:
    only_keys(where, entry, KEYS)
    if not entry:
        raise PackError(f"{where}: says nothing")
    for key, value in entry.items():
        kind = DETAILS.get(key, object)
        if not isinstance(value, kind):
            raise PackError(f"{where}: {key} is {value!r}")
        if kind is object and not _is_place(value) and key not in ("tell", "fork", "close"):
            raise PackError(f"{where}: {key} = {value!r} is no place of an argument")
    if entry.get("gives", "module") not in (*RESULTS, "module") and not entry["gives"].startswith("ref:"):
        raise PackError(f"{where}: unknown result {entry['gives']!r}")
    if "tell" in entry and entry["tell"] not in VERBS:
        raise PackError(f"{where}: unknown verb {entry['tell']!r}")


def _is_place(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_place, value))
    return isinstance(value, int) or (isinstance(value, str) and bool(_PLACE.fullmatch(value)))


@cache
def library(language: str) -> Library:
    """The calls of a language, with those that every language has."""
    calls: dict[str, Entry] = {}
    aliases: dict[str, str] = {}
    packs = {pack["language"]: pack for pack in shipped()}
    for name in (COMMON, packs[language].get("extends", COMMON), language):
        aliases.update(packs[name].get("alias", {}))
        for block in packs[name].get("block", ()):
            calls.update(block["calls"])
    return Library(language, calls, aliases)


@cache
def shipped() -> Sequence[Pack]:
    """Every table that is shipped; refuses all of them when one is wrong."""
    return load_packs(_SHIPPED, check_packs)


def examples(packs: Iterable[Pack]) -> Iterable[tuple[str, str, list[str]]]:
    """The language, the code and the expected facts of every block."""
    for pack in packs:
        for block in pack.get("block", ()):
            yield pack["language"], block["example"], block["does"]


def pick(call: LibraryCall, where: object) -> list[Any]:
    """The arguments at a place: a number, `*`, `1*`, `on`, a name, or the first of several that is there."""
    if isinstance(where, int):
        return call.args[where:][:1] if where >= 0 else call.args[where:][-1:] if len(call.args) >= -where else []
    if isinstance(where, list):
        return next((found for one in where if (found := pick(call, one))), [])
    place = str(where)
    if place == "on":
        return [call.owner]
    if place == "from":  # what the call was given that made the value that this one is about
        made = call.owner if isinstance(call.owner, Sym) else call.get(0)
        made = made.owner if isinstance(made, Sym) and not made.args else made
        return list(made.args) if isinstance(made, Sym) else []
    if place.endswith("*"):
        return [value for value in call.args[int(place[:-1] or 0) :] if not isinstance(value, ProgramFunction)]
    return [call.named[place]] if place in call.named else []


@cache
def words(kind: str) -> Mapping[str, frozenset[str]]:
    """Lists of names that belong together, by their title."""
    pack = next(pack for pack in shipped() if pack["language"] == kind)
    return {title: frozenset(names) for title, names in pack["words"].items()}
