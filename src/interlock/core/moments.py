"""What of a command line has happened by the time that something in it is destroyed? What stands behind the deed cannot change what it meets."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from interlock.core.model import Span
from interlock.core.read.facts import Fact
from interlock.core.read.shell.nodes import (
    AndOr,
    Background,
    Branches,
    Expression,
    Function,
    Group,
    Loop,
    Node,
    Pipeline,
    Simple,
)
from interlock.core.read.shell.parse import parse

# Variables that make a program or a word mean another place.
_TELLING = re.compile(
    r"HOME|CDPATH|GLOBIGNORE|IFS|PATH|ENV|BASH\w*|SHELLOPTS|(?:PG|MYSQL|MARIADB|REDIS|MONGO|SQLITE|DATABASE|DB|GIT|DOCKER|COMPOSE|RAILS|RACK"
    r"|NODE|DJANGO|FLASK|APP|MIX|TMP)\w*"
)
_MANY = 5_000  # nodes of one line


@dataclass(frozen=True, slots=True)
class Line:
    """One command line: where each of its moments begins, and what is set in it for all that follows."""

    starts: tuple[int, ...] = ()  # empty where one thing does not wait for another
    set_apart: bool = False  # a variable is set that could make what follows mean another place

    def until(
        self, facts: Sequence[Fact], deeds: Collection[tuple[str, Span | None]], keys: Sequence[tuple[str, Span | None]]
    ) -> list[Fact]:
        """The facts that come before the last deed, or with it; `keys` are what the facts point at, one by one."""
        places = [number for number, key in enumerate(keys) if key in deeds]
        if not places or not self.starts:
            return list(facts)
        last, moment = places[-1], max(self._moment(facts[number].span) for number in places)
        return [fact for number, fact in enumerate(facts) if number <= last or self._moment(fact.span) <= moment]

    def _moment(self, span: Span | None) -> int:
        return sum(start <= span[0] for start in self.starts) if span is not None else 0


def line_of(text: str) -> Line:
    """The moments of a line; what cannot be parsed, or runs beside the rest, has none."""
    nodes, errors = parse(text, lambda _: None)
    inner = [one for node in nodes for one in _inner(node)]
    set_apart = any(_sets_apart(one) for one in inner)
    if errors or len(inner) > _MANY or any(isinstance(one, Background) for one in inner):
        return Line(set_apart=set_apart)
    starts = [_start(moment) for node in nodes for moment in _moments(node)]
    if any(start is None for start in starts):
        return Line(set_apart=set_apart)
    return Line(tuple(start for start in starts if start is not None), set_apart)


def _moments(node: Node) -> list[Node]:
    return node.nodes if isinstance(node, AndOr) else [node]


def _start(node: Node) -> int | None:
    """Where a node begins; None where nothing in it says so."""
    return min((one.span[0] for one in _inner(node) if isinstance(one, Simple | Function)), default=None)


def _inner(node: Node) -> Iterator[Node]:
    """A node and all that it is made of; what stands in its words counts for where they stand."""
    todo: list[Node] = [node]
    while todo:
        one = todo.pop()
        yield one
        todo += _parts(one)


def _parts(node: Node) -> list[Node]:
    match node:
        case Pipeline():
            return node.stages
        case AndOr():
            return node.nodes
        case Group():
            return node.body
        case Branches():
            return [*node.head, *(one for body in node.bodies for one in body)]
        case Loop():
            return [*node.head, *node.body]
        case Function():
            return [node.body]
        case Background():
            return [node.node]
        case Simple() | Expression():
            return []


def _sets_apart(node: Node) -> bool:
    return isinstance(node, Simple) and not node.words and any(_TELLING.fullmatch(one.name) for one in node.assigns)
