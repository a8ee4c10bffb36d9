"""A language by its grammar and its table of calls: source -> its effects."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.code.lexing import TooDeep, Unparsed
from interlock.analysis.code.library import PROGRAM, holds, library
from interlock.analysis.code.performing import FEW, applies, perform
from interlock.analysis.code.program.expressions import EXPRESSIONS
from interlock.analysis.code.program.nodes import Program
from interlock.analysis.code.program.paths import PATH
from interlock.analysis.code.program.results import index
from interlock.analysis.code.program.statements import STATEMENTS, invoke, read_uncalled, takes_this
from interlock.analysis.code.program.values import (
    MAX_PATH,
    UNKNOWN,
    Class,
    Instance,
    LibraryCall,
    Marked,
    OpenFile,
    Partial,
    ProgramFunction,
    Sym,
    Value,
    made_from,
    member_of,
    path_of,
    traits_of,
)
from interlock.analysis.code.program.walk import Answer, ProgramEffects, ProgramWalk
from interlock.analysis.facts import Report, hole, known
from interlock.analysis.packs import each_name


def holes(sigils: str) -> Callable[[str], Value]:
    """What variables with these signs are before the program sets them."""
    return lambda name: hole(name.lstrip(sigils)) if name.startswith(tuple(sigils)) else UNKNOWN


class CodeLanguage(Struct, eq=False):
    """What one language adds to what all of them share."""

    name: str  # for a person
    key: str  # of its grammar and its table
    parse: Callable[[str], Program]  # raises Unparsed
    extra: Mapping[str, Answer] = {}  # calls that no table can describe
    variable: Callable[[str], Value] = lambda name: UNKNOWN  # a name that the program does not set
    names: Mapping[str, Value] = {}  # set before it starts
    own_item: Callable[[ProgramWalk, Value, Value], Value] = lambda walk, owner, key: UNKNOWN  # `owner[key]`
    own_member: Callable[[ProgramWalk, Value, str], Value] = lambda walk, owner, name: UNKNOWN  # `owner.name`
    handed: Callable[[Value], list[list[Value]]] = (
        lambda given: [  # what functions get that a call is given
            [one] for one in (given[:FEW] if isinstance(given, list) else [given])
        ]
    )
    # Names are declared, any function assigns to those around it, and one that nothing names never runs; the objects
    # among the arguments of a call are its options.
    lexical: bool = False
    first: int = 0  # the number of the first item of a list
    damaged: Callable[[str, Report], None] | None = None  # reads a source that the grammar did not parse
    dormant: bool = False  # a function that nothing calls is not read
    strict: bool = False  # a text is no name of a function, and what a function is handed to does not call it

    def __post_init__(self) -> None:
        self.extra = each_name(self.extra)

    def read(self, source: str, out: Report, given: Mapping[str, Value] = {}) -> None:
        """What is too large, nests too deeply or does not parse is unreadable."""
        out.step(1 + len(source) // 256 + sum(map(source.count, "\n(=")))
        body: list[ast.stmt] = []
        try:
            body, whole = self.parse(source)
            problem = None if whole else Unparsed()
        except Unparsed as error:
            problem = error
        except LookupError:  # a node without a part that its grammar promises, in a source with errors
            problem = Unparsed()
        except RecursionError:
            problem = TooDeep()
        if problem and self.damaged:
            self.damaged(source, out)
        elif problem:
            out.unreadable(f"{self.name} {problem}", problem.trait)
        walk = ProgramWalk(out, self, ProgramEffects(out, self.key, loose=not self.strict), STATEMENTS, EXPRESSIONS)
        if words := library(self.key).arguments:
            walk.scope.names[words] = [Marked(hole(words.lstrip("$")), {"bulk"})]
        walk.scope.names.update({**self.names, **given})
        try:
            walk.block(body)
            if not self.dormant:
                read_uncalled(body, walk)
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, MemoryError):
            out.unreadable(f"{self.name} that cannot be followed", "payload")  # never a reason to pass, nor to crash
        except RecursionError:
            out.unreadable(f"{self.name} nested too deeply", "nesting")
        finally:
            walk.world.close()

    def answer(self, func: Sym, call: LibraryCall) -> Value:
        walk, known_calls = call.walk, library(self.key)
        for file in call.given() if not walk.world.loose else ():
            if isinstance(file, OpenFile):  # taken to be written by what it is handed to
                walk.world.fill(file, made_from([other for other in call.given() if other is not file]))
        if self.lexical:
            objects = [value.items() for value in call.args if isinstance(value, dict)]
            given_too = {key: value for pairs in objects for key, value in pairs if isinstance(key, str)}
            call = replace(call, named={**given_too, **call.named})
        path, name = call.path, call.name
        keys = [f"{kind}.{name}" for kind in kinds(call.owner)] if path[:1] == "." else [path]
        if name != path:
            keys.append(f"<any>.{name}")
        options = [f"?{key}" for key, value in call.named.items() if name in known_calls.choices and holds([value])]
        for key in keys:
            own = self.extra.get(key)
            if own and (given := own(call)) is not UNKNOWN:
                return given
            ways = (known_calls.entry(key + option, name) for option in (*options, ""))  # an option that is set, first
            entry = next(filter(None, ways), None)
            if entry and applies(call, entry):
                cwd = walk.world.cwd
                given = perform(call, entry)
                if given is UNKNOWN and "client" in entry:
                    continue
                func_given = call.args[-1] if call.args and walk.world.loose else None
                if isinstance(func_given, ProgramFunction):  # gets what the call gives, perhaps in another directory
                    for row in self.handed(given) if id(func_given.node) not in walk.followed else ():
                        walk.call(func_given, row)
                    walk.world.cwd = cwd
                return _unknown(func, call) if given is UNKNOWN else given
        method = walk.scope.find(name) if walk.world.loose and name != path else None
        if isinstance(method, ProgramFunction):  # of a class of the program
            return walk.call(method, call.args, call.named)
        return _unknown(func, call)

    def look_up(self, walk: ProgramWalk, name: str) -> Value:
        if (found := walk.scope.find(name, UNKNOWN)) is not UNKNOWN:
            return found
        known_calls = library(self.key)
        if name not in known_calls.environment and (given := self.variable(name)) is not UNKNOWN:
            return given
        for module in walk.stars:
            if f"{module}.{name}" in known_calls.calls:
                return known_calls.reach(f"{module}.{name}")
        return known_calls.reach(known_calls.canonical(name))

    def attribute(self, walk: ProgramWalk, owner: Value, name: str) -> Value:
        if (given := self.own_member(walk, owner, name)) is not UNKNOWN:
            return given
        if name == "__call__" and isinstance(owner, (Sym, ProgramFunction, Partial)):
            return owner
        known_calls = library(self.key)
        if isinstance(owner, Sym):
            if name in ("call", "apply", "invoke") and owner.path in known_calls.calls:
                return owner
            path = known_calls.canonical(f"{owner.path}.{name}"[-MAX_PATH:] if owner.path else name)
            return walk.attributes[path] if path in walk.attributes else known_calls.reach(path, owner)
        if isinstance(owner, (Instance, Class)):
            return member_of(owner, name)
        if isinstance(owner, dict) and name in owner and walk.world.loose:
            found = owner[name]
            bound = isinstance(found, ProgramFunction) and found.owner is None and takes_this(found)
            return ProgramFunction(found.node, found.scope, owner) if bound else found
        if isinstance(owner, Partial) and owner.func is PROGRAM and f"<function>.{name}" not in known_calls.calls:
            return Partial(PROGRAM, [*owner.args, name.replace("_", "-")], owner.named)  # `git.push`
        for kind in kinds(owner):
            if (entry := known_calls.calls.get(f"{kind}.{name}")) and entry.get("property"):
                return perform(LibraryCall(walk, f".{name}", owner, []), entry)
        return Sym(f".{name}", owner, traits=traits_of(owner))

    def item(self, walk: ProgramWalk, owner: Value, key: Value) -> Value:
        if (given := self.own_item(walk, owner, key)) is not UNKNOWN:
            return given
        if isinstance(owner, Partial):  # a program with more of its words
            return Partial(owner.func, [*owner.args, *(key if isinstance(key, tuple) else (key,))], owner.named)
        if not isinstance(owner, Sym):
            counted = self.first and isinstance(owner, (list, tuple, str)) and isinstance(key, int)
            return index(owner, key - self.first if counted and key >= self.first else UNKNOWN if counted else key)
        if entry := library(self.key).calls.get(f"{owner.path}[]"):
            return perform(LibraryCall(walk, f"{owner.path}.[]", owner, [key]), entry)
        if not isinstance(key, str) or not known(key):
            return Sym(f"{owner.path}.[]"[-MAX_PATH:], owner, traits=owner.traits)
        return self.attribute(walk, owner, key)

    def invoke(self, walk: ProgramWalk, func: Value, args: list[Value], named: dict[str, Value]) -> Value:
        """Unless the language is strict, the text of a name stands for what the name does."""
        if self.strict:
            return invoke(walk, func, args, named)
        if isinstance(func, list) and len(func) == 2 and all(isinstance(part, str) for part in func):
            func = ".".join(func)  # a class and the name of its method
        if isinstance(func, str) and (args or known(func)):
            if not known(func):
                walk.world.unreadable("a function chosen at run time", "command")
                return Sym("?")
            return walk.call(self.look_up(walk, func.lstrip("\\")), args, named)
        return invoke(walk, func, args, named)

    def handles(self, func: Value) -> bool:
        return path_of(func) in library(self.key).calls


def kinds(value: Value) -> tuple[str, ...]:
    if isinstance(value, Marked) and value.traits & {PATH, "bulk"}:
        return ("<path>", "<text>")
    return tuple(kind for kind, types in _KINDS.items() if isinstance(value, types))


_KINDS: Mapping[str, tuple[type, ...]] = {
    "<file>": (OpenFile,), "<list>": (list, tuple), "<text>": (str, bytes), "<function>": (ProgramFunction, Partial),
    "<number>": (int, float), "<dict>": (dict,),
}  # fmt: skip


def _unknown(func: Sym, call: LibraryCall) -> Value:
    """Functions among its arguments may run, and what went in may come out."""
    mapped: list[Value] = []
    for given in call.given() if call.world.loose else ():
        unread = isinstance(given, ProgramFunction) and id(given.node) not in call.walk.followed
        if unread or call.walk.language.handles(given):
            mapped = [call.walk.call(given, [one]) for one in _each(call)]
    if isinstance(call.owner, OpenFile) and "w" in call.owner.mode:
        call.owner.written = True
    if isinstance(call.owner, list) and call.world.loose:
        return mapped if mapped and call.name in ("map", "collect", "flat_map", "flatMap") else call.owner
    traits = traits_of(call.given()) | func.traits if call.args or call.named else func.traits
    return Sym(f"{func.path}()"[-MAX_PATH:], func, tuple(call.args), call.named, traits)


def _each(call: LibraryCall) -> list[Value]:
    handles = call.walk.language.handles
    plain = [value for value in call.args if not (isinstance(value, ProgramFunction) or handles(value))]
    if isinstance(call.owner, (list, tuple)):
        return list(call.owner)[:FEW] or [UNKNOWN]
    if plain:
        return [one for value in plain for one in call.walk.items(value)][:FEW] or [UNKNOWN]
    if isinstance(call.owner, Sym):
        return [Sym(f"{call.owner.path}.[]"[-MAX_PATH:], call.owner, traits=call.owner.traits)]
    return [made_from(call.owner)]
