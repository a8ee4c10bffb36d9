"""The steps of one command line, from its parsed text: where each begins, and which have succeeded where the line has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct, field

from interlock.analysis.facts import Command, Fact
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import program_set
from interlock.analysis.shell.syntax.nodes import (
    AndOr,
    Background,
    Branches,
    Expression,
    Node,
    ShellFunction,
    ShellGroup,
    ShellLoop,
    ShellPipeline,
    SimpleCommand,
)
from interlock.model import Span

# Variables that redirect a program or a word to another place.
_REDIRECTING = lazy_regex(
    r"HOME|CDPATH|GLOBIGNORE|IFS|PATH|ENV|BASH\w*|SHELLOPTS|(?:PG|MYSQL|MARIADB|REDIS|MONGO|SQLITE|DATABASE|DB|GIT|DOCKER|COMPOSE|RAILS|RACK"
    r"|NODE|DJANGO|FLASK|APP|MIX|TMP)\w*"
)
_MANY = 5_000  # nodes of one line


class CommandLine(Struct, frozen=True):
    """One command line: the start of each of its steps, whether it redirects later ones, and which of them must have succeeded."""

    starts: tuple[int, ...] = ()  # of the steps; empty where they do not run in order
    set_apart: bool = False  # a variable is set that could redirect later commands
    certain: Mapping[int, str] = field(default_factory=dict)  # by the start of a command: `yes`, `last` for a pipe

    def until(
        self,
        facts: Sequence[Fact],
        harmful: Collection[tuple[str, Span | None]],
        keys: Sequence[tuple[str, Span | None]],
    ) -> list[Fact]:
        """The facts up to the step of the last harmful effect; `keys` are the keys of the facts, in order."""
        places = [number for number, key in enumerate(keys) if key in harmful]
        if not places or not self.starts:
            return list(facts)
        last, step = places[-1], max(self._step(facts[number].span) for number in places)
        return [fact for number, fact in enumerate(facts) if number <= last or self._step(fact.span) <= step]

    def _step(self, span: Span | None) -> int:
        return sum(start <= span[0] for start in self.starts) if span is not None else 0

    def sure(self, fact: Command) -> str:
        """`yes` for a command that has succeeded where the line has, `last` for a pipe whose last stage decides, else empty."""
        return self.certain.get(fact.span[0], "") if fact.span is not None else ""


NOT_READ = CommandLine(set_apart=True)  # nothing is known of its order, so nothing is excused by it


def command_line(nodes: Sequence[Node], whole: bool) -> CommandLine:
    """The steps of parsed text; none where it is not `whole`, too long, or where a part runs in the background."""
    if whole and len(nodes) == 1 and isinstance(nodes[0], SimpleCommand) and nodes[0].words:
        return CommandLine((nodes[0].span[0],), False, _certain(nodes))
    inner = [one for node in nodes for one in _inner(node)]
    set_apart = any(_sets_apart(one) for one in inner)
    certain = _certain(nodes) if whole else {}
    if not whole or len(inner) > _MANY or any(isinstance(one, Background) for one in inner):
        return CommandLine((), set_apart, certain)
    starts = [_start(step) for node in nodes for step in _steps(node)]
    known = [start for start in starts if start is not None]
    return CommandLine(tuple(known) if len(known) == len(starts) else (), set_apart, certain)


def _steps(node: Node) -> list[Node]:
    return node.nodes if isinstance(node, AndOr) else [node]


def _start(node: Node) -> int | None:
    """The start of a node; None where it has no command."""
    return min((one.span[0] for one in _inner(node) if isinstance(one, SimpleCommand | ShellFunction)), default=None)


def _inner(node: Node) -> Iterator[Node]:
    """A node and all nodes inside it."""
    todo: list[Node] = [node]
    while todo:
        one = todo.pop()
        yield one
        todo += _parts(one)


def _parts(node: Node) -> list[Node]:
    match node:
        case ShellPipeline():
            return node.stages
        case AndOr():
            return node.nodes
        case ShellGroup():
            return node.body
        case Branches():
            return [*node.head, *(one for body in node.bodies for one in body)]
        case ShellLoop():
            return [*node.head, *node.body]
        case ShellFunction():
            return [node.body]
        case Background():
            return [node.node]
        case SimpleCommand() | Expression():
            return []


def _sets_apart(node: Node) -> bool:
    return (
        isinstance(node, SimpleCommand)
        and not node.words
        and any(_REDIRECTING.fullmatch(one.name) for one in node.assigns)
    )


def _certain(nodes: Sequence[Node]) -> dict[int, str]:
    """The commands that only `&&` joins; none where one may give later words another meaning."""
    if len(nodes) != 1:
        return {}
    chain: list[Node] = [nodes[0]]
    if isinstance(nodes[0], AndOr):
        chain = nodes[0].nodes if set(nodes[0].operators) == {"&&"} else []
    found: dict[int, str] = {}
    for one in chain:
        first = one.stages[0] if isinstance(one, ShellPipeline) else one
        if not isinstance(first, SimpleCommand) or first.negated:
            continue
        if first.words and first.words[0].literal in program_set("shell_state"):
            return {}
        found[first.span[0]] = "last" if isinstance(one, ShellPipeline) else "yes"
    return found
