"""Calls of a language's libraries, as the tables of `calls/` describe them -> their effects and results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from interlock.analysis.code.program.paths import spread
from interlock.analysis.code.program.results import work_of
from interlock.analysis.code.program.values import (
    LibraryCall,
    Marked,
    Partial,
    ProgramFunction,
    Sym,
    Value,
    label,
    links,
    path_of,
    traits_of,
)
from interlock.analysis.facts import effect_verbs, hole
from interlock.analysis.packs import Pack, PackError, load_packs, only_keys


class Entry(dict[str, Any]):
    """The table of one call; only itself is the same."""

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


COMMON = "common"  # the table that every language has

# What a call does to its arguments, each with the place of the argument.
ON_PATHS = tuple("read write overwrite append truncate delete move chmod chown run_script".split())
OTHER = tuple(
    "open fill run start shell command code load sql fetch http connect listen receive send wire kill fork calls tell orders chdir "
    "close client keep unreadable".split()
)
# How it does that: constants of a type, or places of further arguments.
_TYPES: Mapping[type, str] = {
    list: "traits words shallow",
    str: "opens language method dry gives base called makes under value",
    int: "needs most",
    bool: "property known globs address spread indexed store bare",
    dict: "flags and",
    object: "recursive mode content appends sends port signal each with target of argv input shelled to by filter among when always options",
}
DETAILS = {name: kind for kind, names in _TYPES.items() for name in names.split()}
KEYS = frozenset((*ON_PATHS, *OTHER, *DETAILS))
_PACK = tuple("language extends arguments caseless alias constant environment programs block words pattern".split())
_BLOCK = ("example", "does", "calls")
_PATTERN = ("example", "does", "finds", "tells", "traits", "tree", "called")
_PLACE = re.compile(r"\d*\*|[A-Za-z_]\w*")
_CONSTANT = frozenset({"tell", "fork", "wire", "close", "client", "unreadable"})  # say more than where an argument is
URL = re.compile(r"(?i)(?:https?|ftp)://[^\s'\"|;)]*")
_CLOSED = frozenset({False, None, "", "0", "false", "FALSE"})
_CHOICE = re.compile(r"\{([^{}]*)\}")
MADE = frozenset({"module", "member", "partial", "program"})  # results that need the walk
PROGRAM = Sym("<program>")  # runs what it is given, word by word


class Library:
    def __init__(self, packs: Sequence[Pack]) -> None:
        self.calls: dict[str, Entry] = {}
        self.aliases: dict[str, str] = {}
        self.constants: dict[str, Value] = {}
        self.environment = frozenset(name for pack in packs for name in pack.get("environment", ()))
        self.programs = tuple(name for pack in packs for name in pack.get("programs", ()))
        caseless = packs[-1].get("caseless", False)
        self.arguments = packs[-1].get("arguments", "")  # the name of the words that a program is started with
        for pack in packs:
            self.aliases.update(pack.get("alias", {}))
            self.constants.update(pack.get("constant", {}))
            for block in pack.get("block", ()):
                for key, entry in block["calls"].items():
                    key = key.lower() if caseless else key
                    more = {"and": Entry(entry["and"])} if "and" in entry else {}
                    self.calls.update(dict.fromkeys(spellings(key), Entry(entry, **more)))
        self.choices = frozenset(  # the names of calls of which an option changes the entry
            key.partition("?")[0].rpartition(".")[2] for key in self.calls if "?" in key
        )
        self.patterns: dict[str, list[tuple[str, str, Entry]]] = {}  # by what a path begins or ends with
        for key in [key for key in self.calls if "*" in key]:
            start, end = key.split("*")
            index = start.partition(".")[0] or end.rpartition(".")[2]
            self.patterns.setdefault(index, []).append((start, end, self.calls.pop(key)))

    def canonical(self, path: str) -> str:
        if path in self.aliases:
            return self.aliases[path]
        head, dot, rest = path.partition(".")
        if dot and head in self.aliases:
            return f"{self.aliases[head]}.{rest}".lstrip(".")
        return path

    def entry(self, path: str, name: str) -> Entry | None:
        if path in self.calls:
            return self.calls[path]
        for index in (path.partition(".")[0].rstrip("()"), name) if self.patterns else ():
            for start, end, found in self.patterns.get(index, ()):
                if path.startswith(start) and path.endswith(end):
                    return found
        return None

    def reach(self, path: str, owner: Sym | None = None) -> Value:
        if path in self.constants:
            return self.constants[path]
        if self.programs and path.startswith(self.programs) and path not in self.calls:
            return Partial(PROGRAM, [path.rpartition(".")[2]])
        traits = frozenset({"environment"}) if path in self.environment else traits_of(owner)
        return Sym(path, owner, traits=traits)


def spellings(key: str) -> list[str]:
    found = _CHOICE.search(key)
    if found is None:
        return [key]
    parts = (key[: found.start()] + one + key[found.end() :] for one in found.group(1).split(","))
    return [name for part in parts for name in spellings(part)]


def check_packs(packs: Sequence[Pack]) -> Sequence[Pack]:
    """Raises PackError where a key is unknown, a block has no example or a call is told twice."""
    for pack in packs:
        only_keys("calls", pack, _PACK)
        where, seen = str(pack.get("language", "?")), set[str]()
        for pattern in pack.get("pattern", ()):
            only_keys(where, pattern, _PATTERN)
            if not all(pattern.get(key) for key in _PATTERN[:4]):
                raise PackError(f"{where}: a pattern needs {', '.join(_PATTERN[:4])}: {pattern!r}"[:300])
        for block in pack.get("block", ()):
            only_keys(where, block, _BLOCK)
            if not block.get("example") or not block.get("calls") or not isinstance(block.get("does"), list):
                raise PackError(f"{where}: a block needs `example`, `does` and `calls`: {block!r}"[:300])
            for key, entry in block["calls"].items():
                _check_entry(f"{where} {key}", entry)
                for name in spellings(key):
                    if name in seen or name.count("*") > 1:
                        raise PackError(f"{where} {name}: {'told twice' if name in seen else 'more than one *'}")
                    seen.add(name)
    return packs


def _check_entry(where: str, entry: Pack) -> None:
    only_keys(where, entry, KEYS)
    if not entry:
        raise PackError(f"{where}: says nothing")
    for key, value in entry.items():
        kind = DETAILS.get(key, object)
        if not isinstance(value, kind):
            raise PackError(f"{where}: {key} is {value!r}")
        if kind is object and not _is_place(value) and key not in _CONSTANT:
            raise PackError(f"{where}: {key} = {value!r} is no place of an argument")
    kind = entry.get("gives", "module")
    if kind not in MADE and not kind.startswith("ref:"):
        try:
            work_of(kind)
        except KeyError:
            raise PackError(f"{where}: unknown result {kind!r}") from None
    if "and" in entry:
        _check_entry(where, entry["and"])
    if "tell" in entry and entry["tell"] not in effect_verbs():
        raise PackError(f"{where}: unknown verb {entry['tell']!r}")


def _is_place(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_place, value))
    return isinstance(value, int) or (isinstance(value, str) and bool(_PLACE.fullmatch(value)))


@cache
def library(language: str) -> Library:
    own = shipped()[language]
    return Library([shipped()[name] for name in (COMMON, *own.get("extends", ()), language)])


@cache
def shipped() -> Mapping[str, Pack]:
    return {pack["language"]: pack for pack in load_packs(Path(__file__).parent / "calls", check_packs)}


@cache
def words(kind: str) -> Mapping[str, frozenset[str]]:
    return {title: frozenset(names) for title, names in shipped()[kind].get("words", {}).items()}


def pick(call: LibraryCall, where: object) -> list[Any]:
    """The arguments at a place: a number, `*`, `1*`, `on`, a name, or the first of several that is there."""
    if isinstance(where, int):
        return call.args[where : where + 1] if where >= 0 else call.args[where:][:1] if len(call.args) >= -where else []
    if isinstance(where, list):
        return next(filter(None, (pick(call, one) for one in where)), [])
    place = str(where)
    if place == "on":
        return [call.owner]
    if place in CHAINED:
        return CHAINED[place](call)
    if place.endswith("*"):
        rest = call.args[int(place[:-1] or 0) :]
        return [value for value in rest if not (isinstance(value, ProgramFunction) and value.closes)]
    if place in call.named:
        return [call.named[place]]
    return [call.named["**"]] if "**" in call.named and not call.args else []  # whatever it is called with


def chosen(call: LibraryCall, entry: Entry, detail: str) -> list[Any]:
    return pick(call, entry[detail]) if detail in entry else []


def is_url(value: Value) -> bool:
    return isinstance(value, str) and bool(URL.match(value))


def holds(values: Sequence[Value]) -> bool:
    """Whether an option is set; one that is not known is."""
    return any(not isinstance(value, (str, int, float, type(None))) or value not in _CLOSED for value in values)


def flattened(values: Iterable[Value]) -> list[Value]:
    """Lists taken apart; pairs are options."""
    return spread(value for value in values if not isinstance(value, dict))


# -- places in the chain that a call ends: what made it, and the model, the table or the collection that it is about


def _made_from(call: LibraryCall) -> list[Value]:
    made = call.owner if isinstance(call.owner, Sym) else call.get(0)
    made = made.owner if isinstance(made, Sym) and not made.args else made
    return list(made.args) if isinstance(made, Sym) else []


def _root(call: LibraryCall) -> list[Value]:
    begins = (link for link in reversed(links(call.owner)) if path_of(call.owner).startswith(link.path))
    return next(([*link.args, *link.named.values()][:1] for link in begins if link.args or link.named), [])


def _label(call: LibraryCall) -> list[Value]:
    return [label(link) for link in links(call.owner) if not link.name.startswith("__")][:1]


def _table(call: LibraryCall) -> list[Value]:
    """`from("users")`, `model("User")`."""
    told = (
        link.args[0] for link in links(call.owner) if link.args and link.name.rstrip("()") in words("rows")["naming"]
    )
    return [value for value in told if isinstance(value, str)][:1]


def _title(call: LibraryCall) -> list[Value]:
    parts = [part for part in path_of(call.owner).split(".") if part not in ("", "?") and not part.endswith("()")]
    return _table(call) or [part for part in parts[-1:] if part != "[]"]


def _below(call: LibraryCall) -> list[Value]:
    """`a.b` of `db.a.b`; one that is each of those listed is marked as such."""
    path = ".".join(takewhile(lambda part: not part.endswith("()"), path_of(call.owner).split(".")[1:]))
    return [Marked("*", {"bulk"}) if path == "*" else hole() if path == "[]" else path]


# -- object mappers: a chain begins at a model, and its links leave rows out or do not


def _links(call: LibraryCall) -> list[str]:
    """Without an object that is made for a query alone; none where the chain begins at no model."""
    path = path_of(call.owner).replace("()", "")
    for link in words("rows")["begins"]:
        path = path.replace(f".new.{link}", f".{link}")
    chain = path.split(".")
    return chain if chain[0] and chain[0] not in words("rows")["other"] else []


def _model(call: LibraryCall) -> list[Value]:
    chain = _links(call)
    named = "::".join([part for part in chain if part[:1].isupper() and part not in words("rows")["namespaces"]][:3])
    return (_table(call) or [named] * bool(named)) if chain else []


def _rows(call: LibraryCall) -> list[Value]:
    chain = _links(call)
    alone = bool(call.args) and chain[1:] in ([], ["new"]) and any(part[:1].isupper() for part in chain[:1])
    return _model(call) if alone or not words("rows")["finders"].isdisjoint(chain[1:]) else []


def _queried(call: LibraryCall) -> list[Value]:
    """`User.objects.…` or `session.query(User).…`."""
    for link in links(call.owner):
        if link.name.removesuffix("()") in words("rows")["queries"] and "." in link.path:
            called = link.path.endswith("()")
            return [label(link.args[0] if called and link.args else link.owner) if link.args or not called else hole()]
    return []


CHAINED: Mapping[str, Callable[[LibraryCall], list[Value]]] = {
    "from": _made_from,
    "root": _root,
    "label": _label,
    "member": lambda call: _label(call) if "." in path_of(call.owner) else [],
    "table": _table,
    "title": _title,
    "filters": lambda call: [link.args for link in links(call.owner) if link.args and link.name.lower()[:5] == "where"],
    "below": _below,
    "model": _model,
    "mapped": lambda call: _model(call) or list(_links(call)[-1:]),
    "rows": _rows,
    "narrowing": lambda call: [
        part for part in _links(call)[1:] if not part[:1].isupper() and part not in words("rows")["whole"]
    ],
    "queried": _queried,
    "managed": lambda call: _queried(call) if ".objects" in path_of(call.owner) and call.named else [],
    "query_filters": lambda call: [
        link.name for link in links(call.owner) if link.name.removesuffix("()") in words("rows")["narrows"]
    ],
    # a query that is given first: its table, and whether it may leave rows out
    "selected": lambda call: [part for part in path_of(call.get(0)).split(".where")[:1] if part],
    "selecting": lambda call: [".where" in path_of(call.get(0)) or not path_of(call.get(0))[:1].isupper()],
    "given": lambda call: call.given(),
}
