"""Scopes, functions, classes, instances and calls of a program."""

from __future__ import annotations

import ast

from msgspec import Struct, field

from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, either, text_of


class ProgramScope(Struct, eq=False):
    """The names of one block of code, inside those of the code around it."""

    parent: ProgramScope | None = None
    names: dict[str, Value] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)  # declared global or nonlocal
    trails: list[dict[str, Value]] = field(default_factory=list)  # per open branch: what its names were before it
    returns: list[Value] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    closes: bool = False  # a name of the code around it stays that

    def find(self, name: str, default: Value = None) -> Value:
        """What a name stands for, here or in the code around."""
        scope: ProgramScope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return default

    def set(self, name: str, value: Value) -> None:
        """Give a name a value, where the name belongs."""
        if self.parent is not None and (name in self.shared or (self.closes and self._around(name))):
            scope = self.parent
            while scope.parent is not None and name not in scope.names:
                scope = scope.parent
            scope.set(name, either(scope.names[name], value) if name in scope.names else value)
            return
        self.declare(name, value)

    def declare(self, name: str, value: Value) -> None:
        """Give a name of this block a value, whatever the code around calls by it."""
        if self.trails:
            self.trails[-1].setdefault(name, self.names.get(name, UNKNOWN))
        self.names[name] = value

    def _around(self, name: str) -> bool:
        return name not in self.names and self.parent is not None and self.parent.find(name, UNKNOWN) is not UNKNOWN

    def leave(self, trail: dict[str, Value]) -> None:
        """Close the branch that kept this trail; the branch around it has changed the same names."""
        self.trails.pop()
        if self.trails:
            for name, value in trail.items():
                self.trails[-1].setdefault(name, value)

    def restore(self, trail: dict[str, Value]) -> None:
        """Make the names again what they were before a branch."""
        self.names.update(trail)
        for name, value in trail.items():
            if value is UNKNOWN:
                del self.names[name]


MAX_PATH = 400
MAX_KINDS = 1000


class ProgramFunction(Struct, eq=False):
    """A function, a lambda or a method; `owner` is what a method is called on."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: ProgramScope
    owner: Value = None
    closes: bool = False  # assigns to the names of the code around it


class Class(Struct, eq=False):
    """A class and what its body defines."""

    name: str
    names: dict[str, Value]
    bases: list[Value]


class Instance(Struct, eq=False):
    """An instance of a class that the source defines."""

    cls: Class
    names: dict[str, Value] = field(default_factory=dict)


class Partial(Struct, eq=False):
    """A function with some of its arguments given."""

    func: Value
    args: list[Value]
    named: dict[str, Value]


class LibraryCall(Struct, frozen=True, eq=False):
    """One call of a library, with its function's path and everything it is given."""

    path: str
    owner: Value
    args: list[Value]
    named: dict[str, Value]

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    def get(self, at: int, name: str = "", default: Value = UNKNOWN) -> Value:
        """The argument at this place or of this name."""
        return self.args[at] if 0 <= at < len(self.args) else self.named.get(name, default)

    def text(self, at: int, name: str = "") -> str:
        return text_of(self.get(at, name))

    def given(self) -> list[Value]:
        return [*self.args, *self.named.values()]


def lineage(cls: Class) -> list[Class]:
    """A class and those of its bases that the source defines."""
    found = [cls]
    for kind in found:  # grows while bases are met
        fresh = [base for base in kind.bases if isinstance(base, Class) and base not in found]
        found += fresh[: MAX_KINDS - len(found)]
    return found


def member_of(owner: Instance | Class, name: str) -> Value:
    """An attribute of an instance or a class, a method bound to it."""
    if name in owner.names:
        return owner.names[name]
    cls = owner.cls if isinstance(owner, Instance) else owner
    for kind in lineage(cls):
        if name in kind.names:
            found = kind.names[name]
            return ProgramFunction(found.node, found.scope, owner) if isinstance(found, ProgramFunction) else found
    base = next((base for base in cls.bases if isinstance(base, Sym)), None)
    return Sym(f"{base.path}.{name}", base, traits=base.traits) if base else Sym(f"{cls.name}.{name}")


_MAX_LINKS = 1000


def links(value: Value) -> list[Sym]:
    """The links of a chain, the last one first."""
    found: list[Sym] = []
    while isinstance(value, Sym) and len(found) < _MAX_LINKS:
        found.append(value)
        value = value.owner
    return found


def label(value: Value) -> str:
    """The name of a model, a table or a collection."""
    if isinstance(value, Class):
        return value.name
    return value.name.rstrip("()") if isinstance(value, Sym) and value.name not in ("?", "[]") else text_of(value)
