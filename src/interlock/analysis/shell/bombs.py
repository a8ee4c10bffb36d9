"""Recognises fork bombs: functions and endless loops that start processes faster than any of them ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.analysis.facts import HOLE
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import describe, program_set, word_set
from interlock.analysis.shell.syntax.nodes import (
    Background,
    Expression,
    Node,
    ShellGroup,
    ShellLoop,
    ShellPipeline,
    ShellText,
    SimpleCommand,
)

# `:(){:|:&}:` is refused by bash, and an attempt all the same.
_ATTEMPT = lazy_regex(
    r"(?<![^\s;&|({'\"`])(?:function\s+)?([^\s(){}|&;<>\"'$`=]{1,60})\s*(?:\(\s*\)\s*[{(]?|[{(])\s*\1\s*(?:\|&?\s*\1|&)"
)


def attempted_bomb(text: str) -> str:
    """The function that broken text would have called without end; empty for none."""
    found = _ATTEMPT.search(text) if "&" in text or "|" in text else None
    return found[1] if found else ""


def is_bomb(name: str, body: Node, beside: bool = False) -> bool:
    """Whether a function starts itself beside itself, whatever happens: defining it is an attempt."""
    if isinstance(body, SimpleCommand):
        return beside and bool(body.words) and body.words[0].literal == name
    if isinstance(body, ShellGroup):
        return any(is_bomb(name, node, beside) for node in body.body)
    if isinstance(body, ShellPipeline):
        return any(is_bomb(name, node, True) for node in body.stages)
    return isinstance(body, Background) and is_bomb(name, body.node, True)


def may_end(words: Sequence[str], arguments: Sequence[str] | None, conditional: bool) -> bool:
    """Whether a call of itself depends on a condition, with other arguments than the running one: `walk "$child"`."""
    return conditional and (any(HOLE in word for word in words) or list(words) != list(arguments or ()))


def spawns_without_end(loop: ShellLoop) -> bool:
    nodes = list(_ungrouped(loop.body))
    spawns = any(isinstance(node, Background) and not node.coprocess for node in nodes)
    return spawns and _is_endless(loop) and all(map(_takes_no_time, nodes))


def fills_without_end(loop: ShellLoop) -> bool:
    """Whether an endless loop nests folders, appends, or copies under ever new names."""
    commands = [node for node in loop.body if isinstance(node, SimpleCommand) and node.words]
    names = {node.words[0].literal for node in commands}
    only = len(commands) == len(loop.body) and names <= program_set("fill") | _MOVES | word_set("instant")
    if not only or not _is_endless(loop):
        return False
    anew = any(word.literal is None for node in commands for word in node.words)
    appends = any(one.operator == ">>" for node in commands for one in node.redirects)
    into = not _MOVES.isdisjoint(names) and any(_writes(name, folder=True) for name in names)
    return appends or into or (anew and any(_writes(name, folder=False) for name in names))


def _writes(name: str | None, folder: bool) -> bool:
    return any(item.effect == "write" and ("create" in item.traits) == folder for item in describe(name or "").paths)


_MOVES = frozenset({"cd", "pushd"})


def _is_endless(loop: ShellLoop) -> bool:
    test = loop.head[0] if len(loop.head) == 1 and loop.items is None else None
    if isinstance(test, Expression):
        text = "".join(part.text for word in test.words for part in word.parts if isinstance(part, ShellText))
        return not loop.until and text.replace(" ", "") in (";;", "1", ";1;")
    if not isinstance(test, SimpleCommand) or test.negated:
        return False
    words = " ".join(word.literal or "?" for word in test.words)
    return words == "false" if loop.until else words in (":", "true", "[ 1 ]", "test 1")


def _ungrouped(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield from _ungrouped(node.body) if isinstance(node, ShellGroup) else [node]


def _takes_no_time(node: Node) -> bool:
    if isinstance(node, SimpleCommand):
        return not node.words or node.words[0].literal in word_set("instant")
    return isinstance(node, Background | Expression)
