"""What a source defines and calls: functions, classes, their instances, and calls."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from interlock.core.read.inline.python.modules import reach
from interlock.core.read.inline.python.scope import Scope
from interlock.core.read.inline.python.values import UNKNOWN, Sym, Value, text_of

MAX_KINDS = 1000


@dataclass(slots=True, eq=False)
class Func:
    """A function, a lambda or a method; `owner` is what a method is called on."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    owner: Value = None


@dataclass(slots=True, eq=False)
class Class:
    """A class and what its body defines."""

    name: str
    names: dict[str, Value]
    bases: list[Value]


@dataclass(slots=True, eq=False)
class Instance:
    """An instance of a class that the source defines."""

    cls: Class
    names: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Partial:
    """A function with some of its arguments given."""

    func: Value
    args: list[Value]
    named: dict[str, Value]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
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


def member(owner: Instance | Class, name: str) -> Value:
    """An attribute of an instance or a class, a method bound to it."""
    if name in owner.names:
        return owner.names[name]
    cls = owner.cls if isinstance(owner, Instance) else owner
    for kind in lineage(cls):
        if name in kind.names:
            found = kind.names[name]
            return Func(found.node, found.scope, owner) if isinstance(found, Func) else found
    base = next((base for base in cls.bases if isinstance(base, Sym)), None)
    return reach(f"{base.path}.{name}", base) if base else Sym(f"{cls.name}.{name}")
