"""Performs on the record of a program what the tables say of a call, and gives what the call would give."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from msgspec.structs import replace

from interlock.analysis.code.library import (
    MADE,
    ON_PATHS,
    PROGRAM,
    Entry,
    chosen,
    flattened,
    holds,
    is_url,
    library,
    pick,
)
from interlock.analysis.code.performing.network import NETWORK_EFFECTS, file_content, leaks, request
from interlock.analysis.code.performing.running import RUNNING_EFFECTS, SHELL, Work, feed, member, shell_line
from interlock.analysis.code.program.paths import items
from interlock.analysis.code.program.results import result
from interlock.analysis.code.program.values import (
    UNKNOWN,
    LibraryCall,
    OpenFile,
    Partial,
    ProgramFunction,
    Sym,
    Value,
    concat,
    fetched,
    file_traits,
    label,
    links,
    listed,
    path_of,
    text_of,
    traits_of,
)
from interlock.analysis.facts import known, without_holes
from interlock.analysis.file_modes import mode_traits
from interlock.analysis.places import is_folder, named_in

FEW = 64  # items that a function is called with
_RIGHTS = re.compile(r"[-rwx]{9}")
_DONE = Sym("?")  # what a call gives that only changes something
# a filter that lets everything through
_ALWAYS = re.compile(r"\s*\(*\s*(?:(\d+)\s*=\s*\1|true|'(\w*)'\s*=\s*'\2')\s*\)*\s*", re.IGNORECASE)


# -- files


def _traits(call: LibraryCall, entry: Entry) -> list[str]:
    below = ["recursive"] if holds(chosen(call, entry, "recursive")) else entry.get("shallow", ())
    return [*entry.get("traits", ()), *below]


def _touch(verb: str, call: LibraryCall, entry: Entry) -> Value:
    given: Value = UNKNOWN
    for path in flattened(pick(call, entry[verb])):
        text, globs = text_of(path), entry.get("globs")
        something, url = without_holes(text).strip(), is_url(path)
        here = something and ("://" not in text or (verb == "read" and url))  # known, and of this machine
        if path is None or (globs and text.startswith("!")) or (entry.get("known") and not here):
            continue
        script = verb == "run_script" and (fetched(path) or call.world.downloads.get(text, "") or (url and text))
        if verb == "read" and (url or fetched(path)):
            given = request(call, "get", path, ())
        elif script:
            call.world.effect("run_download", script)
        elif isinstance(path, OpenFile):
            given = Sym("?", traits=file_traits(path.path))
            if verb == "truncate":
                call.world.effect("truncate", path.path)
            elif verb != "read":
                call.world.fill(path, UNKNOWN)
        elif verb == "read" and not something:
            given = Sym("?", traits=traits_of(path))
        else:
            if verb in ("write", "overwrite") and isinstance(path, str):
                path = _in_folder(call, entry, path)
            content = chosen(call, entry, "content")[:1] if verb == "write" else []
            how = "truncate" if content in ([""], [b""]) else verb  # where there is nothing to write
            how = "append" if verb == "write" and any(map(_adds, chosen(call, entry, "appends"))) else how
            many = ("bulk",) if globs and ("*" in text or "?" in text) else ()
            rights = _rights(call, entry) if verb == "chmod" else ()
            call.world.touch(how, path, *_traits(call, entry), *many, *rights)
            given = Sym("?", traits=file_traits(text)) if verb == "read" else _DONE
            for one in content:
                call.world.download(path, fetched(one))
    return given


def _in_folder(call: LibraryCall, entry: Entry, target: str) -> str:
    """The file that a copy or move makes in a folder, where its name is known."""
    where = entry.get("move", entry.get("read"))
    if where is None or not is_folder(target):
        return target
    sources = [text_of(one) for one in flattened(pick(call, where))]
    return (named_in(target, sources) or [target])[0] if len(sources) == 1 else target


def _adds(value: Value) -> bool:
    words = [path_of(one) or text_of(one) for one in items(value)]
    return value is True or value == 8 or any(word[:1] == "a" or "append" in word.lower() for word in words)


def _rights(call: LibraryCall, entry: Entry) -> list[str]:
    mode = (pick(call, entry.get("mode", 1)) or [UNKNOWN])[0]
    letters = f"{mode & 0o7777:03o}" if isinstance(mode, int) else text_of(mode)
    if _RIGHTS.fullmatch(letters):
        letters = f"{int(''.join('01'[letter != '-'] for letter in letters), 2):03o}"
    return mode_traits(letters.removeprefix("0o"))


def _open(call: LibraryCall, entry: Entry) -> Value:
    for path in pick(call, entry["open"])[:1]:
        text, given = text_of(path).lstrip(), chosen(call, entry, "mode")
        mode = open_mode(given) if given else entry.get("opens", "r")
        if text.startswith("|"):
            return shell_line(text[1:].strip(), call)
        return request(call, "get", path, ()) if is_url(path) else call.world.open(path, mode)
    return UNKNOWN


def open_mode(given: Sequence[Value]) -> str:
    if isinstance(given[0], int):  # flags, as the system has them
        return "a" if given[0] & 1024 else "w" if given[0] & 512 else "x" if given[0] & 3 else "r"
    mode = text_of(given[0])
    if isinstance(given[0], Sym) or not known(mode):
        mode = given[0].path if isinstance(given[0], Sym) and not given[0].path.islower() else "x"
    if mode in ("x", "?"):  # one of them, or a new file
        return "x"
    if "APPEND" in mode.upper() or mode.startswith((">>", "a", ":a")):
        return "a"
    if "+" in mode and "r" in mode[:1]:
        return "r+"
    written = any(word in mode.upper() for word in ("WRITE", "WRONLY", "RDWR", "TRUNC", "CREAT"))
    return "w" if mode.startswith((">", "w", "+>", "c", "x", ":w")) or written else "r"


def _fill(call: LibraryCall, entry: Entry) -> Value:
    at = entry.get("target")
    target = call.get(at) if isinstance(at, int) else call.owner
    content = pick(call, entry["fill"])
    if isinstance(target, OpenFile):
        call.world.fill(target, concat(content) if content else UNKNOWN)
    elif path_of(target).startswith(SHELL):
        feed(call, links(target)[-1], concat(content))
    elif path_of(target).startswith(("socket", "<response>")):
        peer = call.world.peer or fetched(target)
        if leak := leaks(content) or file_content(peer, content):
            call.world.effect("send", peer, *leak)
    return target if isinstance(target, OpenFile) else UNKNOWN


# -- processes, and what a table tells by itself


def _kill(call: LibraryCall, entry: Entry) -> Value:
    if any(text_of(signal) in ("0", "EXIT") for signal in chosen(call, entry, "signal")[:1]):
        return UNKNOWN
    for who in map(text_of, flattened(pick(call, entry["kill"]))):
        call.world.effect("kill", who, *["all"] * (who == "-1"))
    return UNKNOWN


def _fork(call: LibraryCall, entry: Entry) -> Value:
    call.walk.forks += 1
    if call.walk.endless:
        call.world.effect("fork_bomb")
    return UNKNOWN


def _tell(call: LibraryCall, entry: Entry) -> Value:
    given = flattened(chosen(call, entry, "target"))
    targets = [target for target in given if not isinstance(target, (bool, ProgramFunction))]
    for target in targets or ([] if entry.get("known") else [entry.get("called", "")]):
        if entry["tell"] == "store_drop" and "bulk" in traits_of(target):  # each of those that there are
            call.world.effect("store_drop", "", "all")
        else:
            whole = "filter" in entry and not any(map(_narrows, pick(call, entry["filter"])))
            call.world.effect(entry["tell"], text_of(target), *_traits(call, entry), *["unfiltered"] * whole)
    return None if entry.get("called") else UNKNOWN


def _narrows(value: Value) -> bool:
    if isinstance(value, dict) and value and value.keys() <= {"where", "filter", "q", "limit"}:
        return any(_narrows(one) for key, one in value.items() if key != "limit")
    if isinstance(value, list) and value:
        return all(map(_narrows, value))
    everything = value is None or value is False or value in ({}, []) or "match_all" in repr(value)[:400]
    return not everything and not isinstance(value, ProgramFunction)


def _orders(call: LibraryCall, entry: Entry) -> Value:
    """Objects whose first key says what is done: `{drop: "users"}`, `[{$out: "users"}]`, `[{deleteMany: {filter: {}}}]`."""
    entries, under, given = library(call.walk.language.key).calls, entry["under"], UNKNOWN
    for order in [one for value in pick(call, entry["orders"]) for one in listed(value) or [value]]:
        order = {order: None} if isinstance(order, str) else order
        if not isinstance(order, dict) or not order:
            continue
        key, value = next(iter(order.items()))
        named = {**order, **value} if isinstance(value, dict) else order
        if under == "on":
            call.walk.call(call.walk.language.attribute(call.walk, call.owner, text_of(key)), [named.get("filter")])
        else:
            path = f"{under}.{key}" if f"{under}.{key}" in entries else under
            asked = LibraryCall(call.walk, path, call.owner, [value] if isinstance(value, str) else [], named)
            given = perform(asked, entries[path])
    return given


def _chdir(call: LibraryCall, entry: Entry) -> Value:
    for path in pick(call, entry["chdir"])[:1]:
        call.world.cwd = call.world.located(path)
    return call.world.cwd


def _keep(call: LibraryCall, entry: Entry) -> Value:
    for made in pick(call, entry["keep"]):
        if isinstance(made, Sym) and len(call.args) > 2:
            call.walk.attributes[f"{made.path}.{label(call.args[1])}"] = call.args[2]
    return UNKNOWN


def _refuse(call: LibraryCall, entry: Entry) -> Value:
    call.world.unreadable(entry["unreadable"], *_traits(call, entry))
    return _DONE


_WORK: Mapping[str, Work] = {
    **RUNNING_EFFECTS,
    **NETWORK_EFFECTS,
    **{verb: partial(_touch, verb) for verb in ON_PATHS},
    "open": _open, "fill": _fill, "kill": _kill, "fork": _fork, "tell": _tell, "orders": _orders, "chdir": _chdir,
    "keep": _keep, "unreadable": _refuse, "close": lambda call, entry: _DONE,
    "and": lambda call, entry: (
        perform(call, entry["and"]) if applies(call, entry["and"]) else UNKNOWN
    ),
}  # fmt: skip


def applies(call: LibraryCall, entry: Entry) -> bool:
    return not (
        (entry.get("known") and "tell" in entry and not pick(call, entry["target"]))
        or ("when" in entry and not holds(pick(call, entry["when"])))
        or not entry.get("needs", 0) <= len(call.args)
        or len(call.given()) > entry.get("most", len(call.given()))
        or (entry.get("bare") and any(not isinstance(value, (dict, ProgramFunction)) for value in call.args))
        or ("always" in entry and not any(_ALWAYS.fullmatch(text_of(value)) for value in pick(call, entry["always"])))
        or (
            entry.get("address")
            and not (isinstance(call.owner, Sym) and any(map(is_url, pick(call, entry["http"])[:1])))
        )
    )


def perform(call: LibraryCall, entry: Entry) -> Value:
    """Tells what a call does in the order of its table."""
    given: Value = UNKNOWN
    steps, giving = _plan(entry)
    if "dry" in entry and pick(call, entry["dry"])[:1] == [True]:
        return UNKNOWN
    if "options" in entry:  # that were set on one of its arguments
        starts = tuple(f"{made.path}." for made in pick(call, entry["options"]) if isinstance(made, Sym))
        found = {key.rpartition(".")[2]: value for key, value in call.walk.attributes.items() if key.startswith(starts)}
        call = replace(call, named={**found, **call.named})
    for work in steps:
        made = work(call, entry)
        given = made if made is not UNKNOWN and (made is not _DONE or given is UNKNOWN) else given
    return given if giving is None else giving(call)


@cache
def _plan(entry: Entry) -> tuple[Sequence[Work], Callable[[LibraryCall], Value] | None]:
    steps = [_WORK[key] for key in entry if key in _WORK]
    if "value" in entry:
        return steps, lambda call: entry["value"]
    if "gives" not in entry:
        return steps, None
    kind, of = entry["gives"], entry.get("of")
    if kind in MADE or kind.startswith("ref:"):
        return steps, lambda call: _made(call, entry, kind)
    return steps, lambda call: result(kind, _given(call) if of is None else _picked(call, of), call.named)


def _picked(call: LibraryCall, places: object) -> list[Value]:
    return [one for place in (places if isinstance(places, list) else [places]) for one in pick(call, place)]


def _given(call: LibraryCall) -> Sequence[Value]:
    args = call.args
    if args and isinstance(args[-1], ProgramFunction) and args[-1].closes:
        args = args[:-1]
    return [call.owner, *args] if call.path[:1] in ".<" and "." in call.path else args


def _made(call: LibraryCall, entry: Entry, kind: str) -> Value:
    if kind == "module":
        named = text_of(call.get(0))
        return call.walk.language.look_up(call.walk, named) if known(named) else Sym("?")
    if kind == "program":
        return Partial(PROGRAM, list(call.args), call.named)
    given = tuple(_picked(call, entry["of"]) if "of" in entry else call.args)
    if kind == "partial":
        return Partial(given[0], list(given[1:]), call.named) if given[1:] or call.named else [*given, UNKNOWN][0]
    if kind == "member":
        return member(call.walk, *given) if len(given) == 2 else UNKNOWN
    return Sym(kind[4:], Sym(call.path, None, given, call.named), given, call.named, traits_of(list(given)))
