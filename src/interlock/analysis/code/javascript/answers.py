"""What JavaScript's names, members and those of its calls give that no table describes: modules, code as text, lists, `call`."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from interlock.analysis.code.library import library
from interlock.analysis.code.performing.programs import run_code
from interlock.analysis.code.program.functions import follow, takes_this
from interlock.analysis.code.program.objects import Class, LibraryCall, ProgramFunction
from interlock.analysis.code.program.results import result
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, index, text_of
from interlock.analysis.code.program.walk import Answer, ProgramWalk
from interlock.analysis.facts import hole, known, without_holes

GLOBALS = frozenset({"globalThis", "global", "window", "self", "top"})
_TRANSPARENT = frozenset({"default", "promises", "posix", "win32", "prototype", "__proto__"})
_APPLY = frozenset({"call", "apply", "bind"})
_CONNECTIONS = frozenset({"<response>", "socket", "web_server", "web_socket"})


def member(walk: ProgramWalk, owner: Value, name: str) -> Value:
    """`owner.name`, where JavaScript has its own idea of it; UNKNOWN elsewhere."""
    if name == "constructor":
        maker = isinstance(owner, (ProgramFunction, Class)) or (
            isinstance(owner, Sym) and owner.path in ("constructor", "?")
        )
        return Sym("Function" if maker else "constructor", owner)
    if not isinstance(owner, Sym):
        return UNKNOWN
    path = f"{owner.path}.{name}"
    if owner.path in GLOBALS:
        return walk.language.look_up(walk, name)
    if owner.path in library("javascript").environment and path not in library("javascript").calls:
        return "~" if name in ("HOME", "USERPROFILE") else hole(name if known(name) else "")
    if name in _TRANSPARENT:
        return owner
    if name.lower() == "prisma":
        return Sym("prisma")
    if name in _APPLY:
        return Sym(path, owner, traits=owner.traits)
    if name.endswith("Sync") and path not in library("javascript").calls:
        return walk.language.attribute(walk, owner, name.removesuffix("Sync"))
    return UNKNOWN


def item(walk: ProgramWalk, owner: Value, key: Value) -> Value:
    """`owner[key]`: a place in a list, else a member."""
    named = isinstance(key, str) and known(key)
    if isinstance(owner, Sym) and owner.path in library("javascript").environment and not named:
        return hole()
    if isinstance(owner, (list, str)) and named and key.isdecimal() and len(key) < 7:
        return index(owner, int(key))
    member = named and (isinstance(owner, (list, str)) or (isinstance(owner, dict) and key in owner))
    return walk.language.attribute(walk, owner, key) if member else UNKNOWN


def handed(given: Value) -> list[list[Value]]:
    """What the functions get that a call is given: a connection, else an error and then the result."""
    connection = isinstance(given, Sym) and given.path in _CONNECTIONS
    return [[given, given] if connection else [None, given, given]]


# -- modules and code


def module(walk: ProgramWalk, given: Value) -> Value:
    """What `require` or `import` of this name gives, after telling what runs by it."""
    name = text_of(given)
    if isinstance(given, Sym) and any(trait.startswith("file:") for trait in given.traits):
        return Sym("?")
    if name.startswith("data:") and "," in name:
        head, _, body = name.partition(",")
        walk.world.execute(result("base64", [body]) if head.endswith("base64") else unquote(body))
    elif name.startswith((".", "/", "~")):
        if not name.endswith(".json"):
            walk.world.effect("run_script", walk.world.located(name))
    elif not without_holes(name):
        walk.world.unreadable("a module that is chosen at run time", "payload")
    elif name.startswith(("http:", "https:")):
        walk.world.effect("run_download", name)
    else:
        for prefix in ("node:", "npm:", "bun:", "@aws-sdk/client-"):
            name = name.removeprefix(prefix) if prefix[0] != "@" else name.replace(prefix, "aws-sdk.", 1)
        return Sym(library("javascript").canonical(name))
    return Sym("?")


def _worker(walk: ProgramWalk, call: LibraryCall) -> Value:
    if call.named.get("eval") is True:
        walk.world.execute(call.get(0))
    elif known(call.text(0)):
        module(walk, call.get(0))
    return Sym("?")


def _function(walk: ProgramWalk, call: LibraryCall) -> Value:
    """`Function("a", "b", "return …")`, whose last argument is the code."""
    return Sym("<made>", run_code(walk, call.args[-1])) if call.args else UNKNOWN


def _new(walk: ProgramWalk, call: LibraryCall) -> Value:
    """`new f(…)`: an object that the function fills, unless it gives another."""
    made, *args = call.args
    if not isinstance(made, ProgramFunction) or not takes_this(made):
        return walk.call(made, args, {})
    thing: dict[str, Value] = {}
    given = follow(walk, ProgramFunction(made.node, made.scope, thing), args, {})
    return thing if given is None else given


ANSWERS: Mapping[str, Answer] = {
    "require": lambda walk, call: module(walk, call.args[0]) if call.args else UNKNOWN,
    "worker_threads.Worker": _worker,
    **dict.fromkeys(["Function", "GeneratorFunction", "AsyncFunction"], _function),
    "<made>": lambda walk, call: call.owner,
    "<new>": _new,
}
