"""One walk through a Python tree, the way Python would go, but taking every branch."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

from interlock.core.read.facts import Report
from interlock.core.read.inline.python.objects import Call, Func
from interlock.core.read.inline.python.scope import Scope
from interlock.core.read.inline.python.values import (
    UNKNOWN,
    Either,
    Sym,
    Value,
    either,
    flat,
    made_from,
    options_of,
    traits_of,
)
from interlock.core.read.inline.python.world import World

MAX_LOOP = 1000
MAX_WAYS = 64


@dataclass(frozen=True, slots=True)
class Language:
    """How each kind of node is read, and what calls give."""

    statements: Mapping[type[ast.stmt], Statement]
    expressions: Mapping[type[ast.expr], Expression]
    invoke: Callable[[Walk, Value, list[Value], dict[str, Value]], Value]  # any value is called
    answer: Callable[[Walk, Sym, Call], Value]  # a library is called
    handled: frozenset[str]  # the functions of libraries that have an answer


@dataclass(slots=True, eq=False)
class Walk:
    """Where the walk is and what it has met."""

    out: Report
    language: Language
    world: World
    scope: Scope = field(default_factory=Scope)
    defined: list[Func] = field(default_factory=list)
    followed: set[int] = field(default_factory=set)  # functions whose body was read
    active: list[int] = field(default_factory=list)  # functions whose body is being read
    calls: int = 0
    endless: int = 0  # loops without an end around this place
    forks: int = 0
    stars: list[str] = field(default_factory=list)  # modules imported with *
    attributes: dict[str, Value] = field(default_factory=dict)  # what the source put on others' objects

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Read statements, up to one that leaves."""
        for node in body:
            self.out.step()
            self.language.statements.get(type(node), Walk.parts)(self, node)
            if leaves(node):
                return

    def eval(self, node: ast.expr) -> Value:
        """What an expression stands for, after telling what it does."""
        self.out.step()
        return self.language.expressions.get(type(node), Walk.parts)(self, node)

    def parts(self, node: ast.stmt | ast.expr) -> Value:
        """Read the expressions in a node whose own meaning does not matter."""
        return made_from([self.eval(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)])

    @contextmanager
    def inside(self, scope: Scope) -> Iterator[Scope]:
        """Read with these names, then go back to the names before."""
        outer, self.scope = self.scope, scope
        try:
            yield scope
        finally:
            self.scope = outer

    def spread(self, work: Callable[..., Value], *values: Value) -> Value:
        """Do the work for every way that the values could be."""
        if not any(isinstance(value, Either) for value in values):
            return work(*values)
        made = [work(*chosen) for chosen in islice(product(*map(options_of, values)), MAX_WAYS)]
        if len(made) == MAX_WAYS:  # what was left out is read as not known, never as absent
            made.append(work(*(UNKNOWN if isinstance(value, Either) else value for value in values)))
        return either(*made)

    def call(self, func: Value, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
        """Call a value, in every way that it and its arguments could be."""
        count = len(args)

        def one(target: Value, *given: Value) -> Value:
            self.out.step()
            return self.language.invoke(self, target, list(given[:count]), dict(zip(named, given[count:], strict=True)))

        return self.spread(one, func, *args, *named.values())

    def items(self, value: Value) -> list[Value]:
        """What a loop over this value would see, no more than a bounded number of them."""
        found = [item for option in options_of(value) for item in self._items(option)]
        return found if len(found) <= MAX_LOOP else [*found[:MAX_LOOP], made_from(found)]

    def _items(self, value: Value) -> list[Value]:
        found = flat(value)
        if found is not None:
            return found
        if isinstance(value, Sym) and value.path == "itertools.count()":
            self.endless += 1  # stays: nothing after such a loop is reached
        if isinstance(value, Sym) and value.owner is not None and value.path.endswith("()"):
            return [Sym(f"{value.path}.[]", value, traits=traits_of(value))]  # one of what a client or a query finds
        return [made_from(value)]


def leaves(node: ast.stmt) -> bool:
    """True for a statement after which the block is left."""
    return isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue))


Statement = Callable[[Walk, Any], object]
Expression = Callable[[Walk, Any], Value]
Answer = Callable[[Walk, Call], Value]  # what a call of a library gives; UNKNOWN where it has nothing to say
