"""A language by its grammar and its table of calls: source -> its effects."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.analysis.code.lexing import Unparsed
from interlock.analysis.code.library import PROGRAM, Entry, Library, holds, library
from interlock.analysis.code.performing import FEW, applies, perform
from interlock.analysis.code.program.expressions import EXPRESSIONS
from interlock.analysis.code.program.functions import invoke, takes_this
from interlock.analysis.code.program.objects import (
    MAX_PATH,
    Class,
    Instance,
    LibraryCall,
    Partial,
    ProgramFunction,
    member_of,
)
from interlock.analysis.code.program.paths import PATH, items
from interlock.analysis.code.program.statements import FLOW, STATEMENTS
from interlock.analysis.code.program.uncalled import read_uncalled
from interlock.analysis.code.program.values import (
    UNKNOWN,
    Marked,
    OpenFile,
    Sym,
    Value,
    index,
    made_from,
    text_of,
    traits_of,
)
from interlock.analysis.code.program.walk import Answer, ProgramEffects, ProgramWalk, Semantics
from interlock.analysis.code.rows import change_rows, row_changes
from interlock.analysis.facts import Report, known


class CodeLanguage(Struct, eq=False):
    """What one language adds to what all of them share."""

    name: str  # for a person
    key: str  # of its grammar and its table
    parse: Callable[[str], tuple[ast.Module, bool]]  # the program, and whether all of it was parsed; raises Unparsed
    extra: Mapping[str, Answer] = field(default_factory=dict)  # calls that no table can describe
    variable: Callable[[str], Value] = lambda name: UNKNOWN  # a name that the program does not set
    names: Mapping[str, Value] = field(default_factory=dict)  # set before it starts
    item: Callable[[ProgramWalk, Value, Value], Value] | None = None  # `owner[key]`, where it is its own
    member: Callable[[ProgramWalk, Value, str], Value] | None = None  # `owner.name`, likewise
    handed: Callable[[Value], list[list[Value]]] | None = (
        None  # what functions get that a call is given, by what it gives
    )
    lexical: bool = False  # see Semantics; the objects among the arguments of a call are its options
    damaged: Callable[[str, Report], None] | None = None  # reads a source that the grammar did not parse
    rows: str = ""  # the words by which its object mappers are known
    dormant: bool = False  # a function that nothing calls is not read
    strict: bool = False  # a text is no name of a function, and what a function is handed to does not call it

    def read(self, source: str, out: Report) -> None:
        """Report what a source would do; one that is too large, nests too deeply or does not parse is unreadable."""
        out.step(1 + len(source) // 256 + sum(map(source.count, "\n(=")))
        try:
            tree, whole = _parsed(self, source)
        except Unparsed as problem:
            if self.damaged is not None:
                self.damaged(source, out)
            else:
                what = "that does not parse" if problem.trait == "syntax" else str(problem)
                out.unreadable(f"{self.name} {what}", problem.trait)
            return
        if not whole and self.damaged is not None:
            self.damaged(source, out)
        elif not whole:
            out.unreadable(f"{self.name} that does not parse", "syntax")
        walk = ProgramWalk(out, _semantics(self), ProgramEffects(out, self.key, loose=not self.strict))
        walk.scope.names.update(self.names)
        try:
            walk.block(tree.body)
            if not self.dormant:
                read_uncalled(tree, walk)
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, MemoryError):
            out.unreadable(f"{self.name} that cannot be followed", "payload")  # never a reason to pass, nor to crash
        except RecursionError:
            out.unreadable(f"{self.name} nested too deeply", "nesting")
        finally:
            walk.world.close()


def _parsed(language: CodeLanguage, source: str) -> tuple[ast.Module, bool]:
    try:
        return language.parse(source)
    except LookupError as error:  # a node without a part that its grammar promises, in a source with errors
        raise Unparsed from error
    except RecursionError as error:
        raise Unparsed("nested too deeply", "nesting") from error


@cache
def _semantics(language: CodeLanguage) -> Semantics:
    known_calls = library(language.key)
    return Semantics(
        language.name,
        {**STATEMENTS, **FLOW},
        EXPRESSIONS,
        invoke if language.strict else calling,
        answering(known_calls, language),
        known_calls.handled,
        looking_up(known_calls, language.variable),
        reaching(known_calls, language.member),
        indexing(known_calls, language.item),
        language.lexical,
    )


def kinds(value: Value) -> tuple[str, ...]:
    """What the methods of a value are listed under."""
    if isinstance(value, OpenFile):
        return ("<file>",)
    if isinstance(value, (list, tuple)):
        return ("<list>",)
    if isinstance(value, (str, bytes)):
        return ("<path>", "<text>") if isinstance(value, Marked) and value.traits & {PATH, "bulk"} else ("<text>",)
    if isinstance(value, (ProgramFunction, Partial)):
        return ("<function>",)
    if isinstance(value, (int, float)):
        return ("<number>",)
    return ("<dict>",) if isinstance(value, dict) else ()


def answering(library: Library, language: CodeLanguage) -> Callable[[ProgramWalk, Sym, LibraryCall], Value]:
    """What calls of a language give: first its own `extra` answers, then those of its table and its object mappers."""
    extra, rows, handed = language.extra, language.rows, language.handed or _each_given
    wide = any("*" in key for key in extra)

    def answer(walk: ProgramWalk, func: Sym, call: LibraryCall) -> Value:
        if walk.world.opened and not walk.world.loose:
            _escape(walk, call)
        if language.lexical:
            call = _with_options(call)
        path, name = call.path, call.name
        keys = [f"{kind}.{name}" for kind in kinds(call.owner)] if path[:1] == "." else [path]
        if name != path:
            keys.append(f"<any>.{name}")
        for key in keys:
            own = extra.get(key) or (_wide(extra, key, name) if wide else None)
            given = own(walk, call) if own is not None else UNKNOWN
            if given is not UNKNOWN:
                return given
            entry = _chosen(library, key, call) if name in library.choices else None
            entry = entry or library.calls.get(key) or library.match(key, name)
            if entry is not None and applies(call, entry):
                cwd = walk.world.cwd
                given = perform(walk, call, entry)
                if given is UNKNOWN and "client" in entry:
                    continue
                if call.args and walk.world.loose:
                    _run_blocks(walk, call, handed(given), cwd)
                return _unknown(walk, func, call) if given is UNKNOWN else given
        given = change_rows(walk, call, rows) if rows and name in row_changes() else UNKNOWN
        return _unknown(walk, func, call) if given is UNKNOWN else given

    return answer


def _wide(extra: Mapping[str, Answer], key: str, name: str) -> Answer | None:
    """The answer for any call of a name below the root of a path, or for any call there."""
    root = key.partition(".")[0].rstrip("()")
    return extra.get(f"{root}.*.{name}") or extra.get(f"{root}.*")


def _chosen(library: Library, key: str, call: LibraryCall) -> Entry | None:
    """The entry for an option of a call that is set."""
    for way in [f"{key}?{option}" for option, value in call.named.items() if holds([value])]:
        if entry := library.calls.get(way) or library.match(way, call.name):
            return entry
    return None


def _with_options(call: LibraryCall) -> LibraryCall:
    objects = [value for value in call.args if isinstance(value, dict)]
    if not objects:
        return call
    options = {key: value for one in objects for key, value in one.items() if isinstance(key, str)}
    return replace(call, named={**options, **call.named})


def _each_given(given: Value) -> list[list[Value]]:
    return [[one] for one in given[:FEW]] if isinstance(given, list) else [[given]]


def _run_blocks(walk: ProgramWalk, call: LibraryCall, rows: list[list[Value]], cwd: str) -> None:
    """Functions that a call is handed get what it gives: an open file, each of a list, or another working directory."""
    func = call.args[-1]
    if isinstance(func, ProgramFunction):
        for row in rows if id(func.node) not in walk.followed else ():
            walk.call(func, row, {})
        walk.world.cwd = cwd


def chosen_method(walk: ProgramWalk, call: LibraryCall) -> Value:
    """send(:name, …): a call whose name is a value."""
    named = text_of(call.get(0))
    if not known(named):
        if len(call.args) > 1:
            walk.world.unreadable("a function chosen at run time", "command")
        return Sym("?")
    return walk.call(_named(walk, call, named), call.args[1:], call.named)


def chosen_member(walk: ProgramWalk, call: LibraryCall) -> Value:
    """`owner->$name(…)`: a method whose name, or whose code, is a value."""
    owner, method, *args = call.args
    if isinstance(method, ProgramFunction):
        return walk.call(method, [owner, *args], {})
    if not known(text_of(method)):
        walk.world.unreadable("a function chosen at run time", "command")
        return Sym("?")
    return walk.call(walk.language.attribute(walk, owner, text_of(method)), args, call.named)


def call_with_list(walk: ProgramWalk, call: LibraryCall) -> Value:
    """A function that is called with the items of a list."""
    return walk.call(call.get(0), items(call.get(1)), {})


def method_of(walk: ProgramWalk, call: LibraryCall) -> Value:
    """A function or a constant by its name."""
    named = text_of(call.get(0)).replace("::", ".")
    return _named(walk, call, named) if known(named) and call.args else UNKNOWN


def _named(walk: ProgramWalk, call: LibraryCall, named: str) -> Value:
    outer = call.owner is None or (
        isinstance(call.owner, Sym) and call.owner.path in ("Kernel", "Object", "self", "Module")
    )
    return walk.language.look_up(walk, named) if outer else walk.language.attribute(walk, call.owner, named)


def _unknown(walk: ProgramWalk, func: Sym, call: LibraryCall) -> Value:
    """A call of which no more is known: functions among its arguments may run, and what went in may come out."""
    mapped: list[Value] = []
    for given in call.given() if walk.world.loose else ():
        unread = isinstance(given, ProgramFunction) and id(given.node) not in walk.followed
        if unread or _is_call(walk, given):
            mapped = [walk.call(given, [one], {}) for one in _each(walk, call)]
    if isinstance(call.owner, OpenFile) and "w" in call.owner.mode:
        call.owner.written = True
    if isinstance(call.owner, list) and walk.world.loose:
        return mapped if mapped and call.name in ("map", "collect", "flat_map", "flatMap") else call.owner
    traits = traits_of(call.given()) | func.traits if call.args or call.named else func.traits
    return Sym(f"{func.path}()"[-MAX_PATH:], func, tuple(call.args), call.named, traits)


def _escape(walk: ProgramWalk, call: LibraryCall) -> None:
    """A file that is handed to a function is taken to be written by it."""
    for value in call.given():
        if isinstance(value, OpenFile):
            walk.world.fill(value, made_from([other for other in call.given() if other is not value]))


def _is_call(walk: ProgramWalk, value: Value) -> bool:
    return isinstance(value, Sym) and value.path in walk.language.handled


def _each(walk: ProgramWalk, call: LibraryCall) -> list[Value]:
    functions = [value for value in call.args if isinstance(value, ProgramFunction) or _is_call(walk, value)]
    plain = [value for value in call.args if not any(value is one for one in functions)]
    if isinstance(call.owner, (list, tuple)):
        return list(call.owner)[:FEW] or [UNKNOWN]
    if plain:
        return [one for value in plain for one in walk.items(value)][:FEW] or [UNKNOWN]
    if isinstance(call.owner, Sym):
        return [Sym(f"{call.owner.path}.[]"[-MAX_PATH:], call.owner, traits=call.owner.traits)]
    return [made_from(call.owner)]


def calling(walk: ProgramWalk, func: Value, args: list[Value], named: dict[str, Value]) -> Value:
    """Call one value; the text of a name stands for what the name does."""
    if isinstance(func, list) and len(func) == 2 and all(isinstance(part, str) for part in func):
        func = ".".join(func)  # a class and the name of its method
    if isinstance(func, str) and (args or known(func)):
        if not known(func):
            walk.world.unreadable("a function chosen at run time", "command")
            return Sym("?")
        return walk.call(walk.language.look_up(walk, func.lstrip("\\")), args, named)
    return invoke(walk, func, args, named)


def looking_up(library: Library, variable: Callable[[str], Value]) -> Callable[[ProgramWalk, str], Value]:
    """Names: as the program defines them, else as the language does."""

    def look_up(walk: ProgramWalk, name: str) -> Value:
        found = walk.scope.find(name, UNKNOWN)
        if found is not UNKNOWN:
            return found
        given = variable(name)
        if given is not UNKNOWN:
            return given
        for module in walk.stars:
            if f"{module}.{name}" in library.handled:
                return library.reach(f"{module}.{name}")
        return library.reach(library.canonical(name))

    return look_up


def reaching(
    library: Library, own: Callable[[ProgramWalk, Value, str], Value] | None
) -> Callable[[ProgramWalk, Value, str], Value]:
    """`owner.name`."""

    def attribute(walk: ProgramWalk, owner: Value, name: str) -> Value:
        given = own(walk, owner, name) if own is not None else UNKNOWN
        if given is not UNKNOWN:
            return given
        if isinstance(owner, Sym):
            if name == "__call__" or (name in ("call", "apply", "invoke") and owner.path in library.handled):
                return owner
            path = library.canonical(f"{owner.path}.{name}"[-MAX_PATH:] if owner.path else name)
            return walk.attributes[path] if path in walk.attributes else library.reach(path, owner)
        if isinstance(owner, (Instance, Class)):
            return member_of(owner, name)
        if isinstance(owner, dict) and name in owner and walk.world.loose:
            found = owner[name]
            bound = isinstance(found, ProgramFunction) and found.owner is None and takes_this(found)
            return ProgramFunction(found.node, found.scope, owner) if bound else found
        if isinstance(owner, (ProgramFunction, Partial)) and name == "__call__":
            return owner
        if isinstance(owner, Partial) and owner.func is PROGRAM and f"<function>.{name}" not in library.calls:
            return Partial(PROGRAM, [*owner.args, name.replace("_", "-")], owner.named)  # `git.push`
        for kind in kinds(owner) if name in library.properties else ():
            entry = library.calls.get(f"{kind}.{name}")
            if entry is not None and entry.get("property"):
                return perform(walk, LibraryCall(f".{name}", owner, [], {}), entry)
        return Sym(f".{name}", owner, traits=traits_of(owner))

    return attribute


def indexing(
    library: Library, own: Callable[[ProgramWalk, Value, Value], Value] | None
) -> Callable[[ProgramWalk, Value, Value], Value]:
    """`owner[key]`."""

    def item(walk: ProgramWalk, owner: Value, key: Value) -> Value:
        given = own(walk, owner, key) if own is not None else UNKNOWN
        if given is not UNKNOWN:
            return given
        if isinstance(owner, Partial):  # a program with more of its words
            return Partial(owner.func, [*owner.args, *(key if isinstance(key, tuple) else (key,))], owner.named)
        if not isinstance(owner, Sym):
            return index(owner, key)
        entry = library.calls.get(f"{owner.path}.[]")
        if entry is not None:
            return perform(walk, LibraryCall(f"{owner.path}.[]", owner, [key], {}), entry)
        if not isinstance(key, str) or not known(key):
            return Sym(f"{owner.path}.[]"[-MAX_PATH:], owner, traits=owner.traits)
        return walk.language.attribute(walk, owner, key)

    return item
