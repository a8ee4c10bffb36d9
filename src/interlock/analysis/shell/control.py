"""Follows pipes, lists, branches, loops, groups, functions and aliases, with the state and what tests prove."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from interlock.analysis.facts import Effect, hole, known
from interlock.analysis.programs.load import word_set
from interlock.analysis.shell import (
    MAX_CHOICES,
    NOTHING,
    TERMINAL,
    UNKNOWN,
    Stream,
    Where,
    assignments,
    bombs,
    expand,
    join_streams,
)
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
    ShellText,
    ShellVariable,
    ShellWord,
    SimpleCommand,
)
from interlock.analysis.shell.variables import evaluate, evaluate_test

if TYPE_CHECKING:
    from interlock.analysis.shell.walk import Shell

Proof = tuple[frozenset[str], frozenset[str]]  # not empty on success, not empty on failure

NOTHING_PROVED: Proof = (frozenset(), frozenset())


def proof(node: Node | None) -> Proof:
    """What success and failure prove; nothing for what is no test."""
    if isinstance(node, SimpleCommand) and node.words and (name := node.words[0].literal) in ("[", "test"):
        return _swapped(_test(node.words[1:-1] if name == "[" else node.words[1:], quoted_only=True), node.negated)
    if isinstance(node, Expression) and not node.arithmetic:
        return _swapped(_test(node.words, quoted_only=False), node.negated)
    if isinstance(node, AndOr) and len(set(node.operators)) == 1:
        return _joined([proof(item) for item in node.nodes], node.operators[0])
    return NOTHING_PROVED


def leaves(nodes: Sequence[Node], functions: Mapping[str, Node], depth: int = 0) -> bool:
    """Whether nothing behind these nodes runs: one surely exits, returns or ends the round."""
    for node in nodes:
        if isinstance(node, ShellGroup) and not node.subshell and leaves(node.body, functions, depth):
            return True
        if isinstance(node, SimpleCommand) and node.words:
            name = node.words[0].literal or ""
            if name in {"exit", "return", "break", "continue"}:
                return depth == 0 or name == "exit"
            if depth < 3 and name in functions and leaves([functions[name]], functions, depth + 1):
                return True
    return False


def _swapped(found: Proof, negated: bool) -> Proof:
    return (found[1], found[0]) if negated else found


def _joined(found: Sequence[Proof], operator: str) -> Proof:
    """`a && b` succeeds where both do; `a || b` fails where both do."""
    side = 0 if operator == "&&" else 1
    both = frozenset[str]().union(*(one[side] for one in found))
    return _swapped((both, frozenset()), side == 1)


def _test(words: Sequence[ShellWord], quoted_only: bool) -> Proof:
    """`[ -n $x ]` proves nothing, for an empty `$x` leaves `[ -n ]`, which succeeds."""
    texts = [_text(word) for word in words]
    if "(" in texts or ")" in texts:
        return NOTHING_PROVED
    for operator, mark in (("||", "-o"), ("&&", "-a")):
        cuts = [index for index, text in enumerate(texts) if text in (operator, mark) and index]
        if cuts:
            parts = [words[a + 1 : b] for a, b in pairwise([-1, *cuts, len(words)])]
            return _joined([_test(part, quoted_only) for part in parts], operator)
    negated = texts[:1] == ["!"]
    return _swapped(_test(words[1:], quoted_only), True) if negated else _primary(words, texts, quoted_only)


def _text(word: ShellWord) -> str | None:
    """None where something in it is expanded."""
    texts = [part.text for part in word.parts if isinstance(part, ShellText)]
    return "".join(texts) if len(texts) == len(word.parts) else None


def _primary(words: Sequence[ShellWord], texts: Sequence[str | None], quoted_only: bool) -> Proof:
    names = [_variable(word, quoted_only) for word in words]
    if len(words) == 1:
        return names[0], frozenset()
    if len(words) == 2 and (texts[0] == "-z" or texts[0] in word_set("test_flags")):
        return _swapped((names[1], frozenset()), texts[0] == "-z")
    if len(words) == 3 and texts[1] in ("=", "==", "!="):
        left, right = (names[0], texts[2]) if names[0] else (names[2], texts[0])
        same = texts[1] != "!="
        if right == "":
            return _swapped((frozenset(), left), not same)
        return (left if same and right is not None and "*" not in right else frozenset()), frozenset()
    return NOTHING_PROVED


def _variable(word: ShellWord, quoted_only: bool) -> frozenset[str]:
    parts = [part for part in word.parts if not (isinstance(part, ShellText) and not part.text)]
    only = parts[0] if len(parts) == 1 else None
    if not isinstance(only, ShellVariable) or only.index or only.length or only.indirect:
        return frozenset()
    defaulted = only.operator.lstrip(":") in ("", "-") and (only.argument is None or not only.argument.parts)
    return frozenset({only.name} if defaulted and (only.quoted or not quoted_only) else ())


MAX_ROUNDS = 24  # loop items read one by one; more are read as one unknown
MANY = 8  # loop items from which on a loop counts as bulk


def pipeline(shell: Shell, node: ShellPipeline, stdin: Stream) -> Stream:
    """Each stage gets what the one before prints; its changes stay its own."""
    stream = stdin
    shell.piped += 1
    try:
        for stage in node.stages:
            saved = shell.save()
            if stage is not node.stages[-1]:
                shell.outputs.pop("1", None)
            stream = shell.walk(stage, stream)
            shell.restore(saved)
    finally:
        shell.piped -= 1
    return stream


def and_or(shell: Shell, node: AndOr, stdin: Stream) -> Stream:
    """What follows && sees what went before; what follows || also the state in which that failed."""
    before, left, filled = list(shell.cwds), shell.left, set(shell.filled)
    streams = [shell.walk(node.nodes[0], stdin)]
    missed, shell.missed = shell.missed, []
    left = _left(node.nodes[0], before, shell.cwds, left)
    shell.unsure += 1
    first, ends = proof(node.nodes[0]), False
    proved = set(first[0])  # on success of all so far
    try:
        for index, (operator, item) in enumerate(zip(node.operators, node.nodes[1:], strict=True)):
            reached = list(shell.cwds)
            shell.left = left = left if operator == "&&" else None
            shell.filled = filled | (proved if operator == "&&" else first[1] if index == 0 else set())
            if operator == "||" and (missed or reached != before):
                shell.cwds = missed or before
            streams.append(shell.walk(item, stdin))
            left = _left(item, reached, shell.cwds, left)
            ends = leaves([item], shell.functions)
            if operator == "&&":
                missed, shell.missed = _union(missed, shell.missed), []
                proved |= proof(item)[0]
                if ends:  # what follows runs where one of them failed
                    proved = set(first[1]) if not index else set()
                shell.cwds = (missed or before) if ends else shell.cwds
            else:
                shell.cwds = reached if ends else _union(reached, shell.cwds)
                missed, shell.missed = [], []
                proved = proved if ends else set()
    finally:
        shell.unsure -= 1
        shell.left = shell.left if shell.cwds == before else None
        shell.missed = missed
        shell.filled = filled | (proved if ends else set())
    return join_streams(streams)


def _left(item: Node, before: Sequence[str], after: Sequence[str], left: str | None) -> str | None:
    """The folder left for good if this item succeeds: the first of a row of `cd`."""
    if before == after:
        return left
    return (before[0] if left is None else left) if isinstance(item, SimpleCommand) and len(before) == 1 else None


def group(shell: Shell, node: ShellGroup, stdin: Stream) -> Stream:
    """`{ }` changes this shell, `( )` a copy of it."""
    saved = shell.save()
    stream = shell.walk_list(node.body, stdin)
    if node.subshell:
        shell.restore(saved)
    return stream


def branches(shell: Shell, node: Branches, stdin: Stream) -> Stream:
    """Every branch may run; afterwards any of their folders may be the current one."""
    for word in node.words:
        shell.text(word)
    before = list(shell.cwds)
    shell.walk_list(node.head[:-1], stdin)
    for last in node.head[-1:]:
        shell.walk(last, stdin)
    missed, shell.missed = shell.missed, []
    shell.unsure += 1
    start, filled = list(shell.cwds), set(shell.filled)
    if missed and isinstance(node.head[-1], SimpleCommand) and node.head[-1].negated:
        start, missed = missed, start  # if ! cd x; then …
    ends: list[str] = []
    streams: list[Stream] = []
    proofs = [proof(node.head[at]) for at in node.tests if at >= 0]
    failed: set[str] = set()
    after: list[set[str]] = []
    for index, body in enumerate(node.bodies):
        passes, fails = proofs[index] if index < len(proofs) else NOTHING_PROVED
        shell.cwds = list(start) if index < max(1, len(proofs)) or not missed else missed
        shell.filled = filled | failed | passes
        streams.append(shell.walk_list(body, stdin))
        failed |= fails
        if not leaves(body, shell.functions):
            ends = _union(ends, shell.cwds)
            after.append(shell.filled)
    shell.unsure -= 1
    if len(node.bodies) <= len(proofs) or not proofs:  # it may be that none of them runs
        after.append(filled | failed)
        ends = _union(ends, missed or start) if node.bodies else start
    shell.filled = set.intersection(*after) if after else filled
    shell.cwds = ends or before
    return join_streams(streams)


def loop(shell: Shell, node: ShellLoop, stdin: Stream) -> Stream:
    """Known items one by one, unknown ones as one unknown."""
    if bombs.spawns_without_end(node):
        shell.job("while").effect("fork_bomb", "an endless loop")
    elif bombs.fills_without_end(node):
        shell.job("while").effect("fill_disk", "folders without end")
    streams: list[Stream] = []
    if node.items is None:
        commands = [[word.literal or "" for word in one.words] for one in node.head if isinstance(one, SimpleCommand)]
        names = next((words[1:] for words in commands if words[:1] == ["read"]), [])  # `while read -r f`
        if not names and _sets_values([*node.head, *node.body]):  # each round has other values
            shell.guess()
        lines = stdin.text.splitlines() if names and stdin.known else []
        bulk = stdin is not TERMINAL and (not lines or len(lines) >= MANY or "bulk" in stdin.taints)
        # All of it at once when the lines are not known.
        for line in [Stream(f"{line}\n", stdin.taints) for line in expand.bounded(lines, MAX_ROUNDS)] or [stdin]:
            if names:
                assignments.assign_read(shell, names, line)
            streams.append(shell.walk_list(node.head, line))
            passed = proof(node.head[-1]) if node.head else NOTHING_PROVED  # by the test that lets the body run
            filled, shell.filled = shell.filled, shell.filled | passed[1 if node.until else 0]
            streams.append(_round(shell, node.body, stdin, bulk))
            shell.filled = filled
    else:
        items = [item for word in node.items for item in expand.fields(word, shell)]
        bulk = len(items) >= MANY or not all(map(known, items))
        parts = [word.parts[0] for word in node.items if len(word.parts) == 1]
        over = {part.name for part in parts if isinstance(part, ShellVariable) and not part.quoted}  # empty: no round
        filled, shell.filled = shell.filled, shell.filled | over
        for item in expand.bounded(items, MAX_ROUNDS):
            shell.session.step(2)
            shell.variables[node.name] = [item]
            shell.choices.pop(node.name, None)
            streams.append(_round(shell, node.body, stdin, bulk))
        shell.filled = filled
    return join_streams(streams)


def _round(shell: Shell, body: Sequence[Node], stdin: Stream, bulk: bool) -> Stream:
    """Over a long or unknown list, whatever it does is done in bulk."""
    outer = shell.where
    shell.where = outer.marked("bulk") if bulk else outer
    try:
        return shell.walk_list(body, stdin)
    finally:
        shell.where = outer


def _sets_values(nodes: Sequence[Node]) -> bool:
    return any(
        (
            isinstance(node, SimpleCommand)
            and (node.assigns or (node.words and node.words[0].literal in word_set("setters")))
        )
        or (isinstance(node, Expression) and node.arithmetic)
        or (isinstance(node, AndOr) and _sets_values(node.nodes))
        for node in nodes
    )


def define(shell: Shell, node: ShellFunction, stdin: Stream) -> Stream:
    """Read when it is called; a function that can only multiply is an attempt before that."""
    shell.functions[node.name] = node.body
    if bombs.is_bomb(node.name, node.body):
        shell.job(node.name).effect("fork_bomb", node.name)
    if node.name.startswith("command_not_found_handle"):  # any mistyped word calls it
        call_function(shell, node.name, [hole()], shell.where)
    return NOTHING


def expression(shell: Shell, node: Expression, stdin: Stream) -> Stream:
    """A test runs what it expands, and what evaluating numbers and names runs."""
    texts = [shell.text(word) for word in node.words]
    evaluate(texts[0], shell) if node.arithmetic else evaluate_test(texts, shell, word_set("numeric_tests"))
    return NOTHING


def background(shell: Shell, node: Background, stdin: Stream) -> Stream:
    """In its own shell; a coprocess reads what is written to its descriptor."""
    if node.coprocess:
        shell.assign(node.coprocess, list(_COPROCESS))
        shell.inputs[_COPROCESS[0]], shell.outputs[_COPROCESS[1]] = UNKNOWN, [node.node]
    shell.piped += 1
    saved = shell.save()
    try:
        return shell.walk(node.node, stdin)
    finally:
        shell.piped -= 1
        shell.restore(saved)


_COPROCESS = ("63", "60")  # the descriptors that one is read from and written to


def _union(first: list[str], second: list[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))[:MAX_CHOICES]


MAX_CALLS = 12  # functions within functions


def expand_alias(shell: Shell, name: str, words: list[str], where: Where, stdin: Stream) -> Stream:
    """An alias that ends in a blank makes an alias of the next word, too."""
    text, rest, used = shell.aliases[name], list(words), [name]
    while text.endswith((" ", "\t")) and rest and rest[0] in shell.aliases and rest[0] not in used:
        used.append(rest[0])
        text += shell.aliases[rest.pop(0)]
    shell.calls += used
    try:
        return shell.read(" ".join([text, *map(_requoted, rest)]), where.inside(f"alias {name}"), stdin)
    finally:
        del shell.calls[-len(used) :]


def call_function(shell: Shell, name: str, words: list[str], where: Where, stdin: Stream = TERMINAL) -> Stream:
    body = shell.functions[name]
    if (begun := next((at for one, at in shell.running if one is body), None)) is not None:
        if shell.piped:
            job = shell.job(name, words, where)
            if bombs.may_end(words, shell.arguments, shell.unsure > begun or "bulk" in where.traits):
                job.unreadable("a function starts copies of itself, how many is only known at run time", "syntax")
            elif not any(isinstance(fact, Effect) and fact.verb == "fork_bomb" for fact in shell.session.facts):
                job.effect("fork_bomb", name)
        return UNKNOWN
    if len(shell.running) >= MAX_CALLS:
        shell.job(name, words, where).unreadable("functions nested too deeply", "nesting")
        return UNKNOWN
    outer = shell.arguments, shell.where, shell.offset
    shell.arguments, shell.where, shell.offset = words, where.inside(f"{name}()"), None
    shell.running.append((body, shell.unsure))
    shell.scopes.append({})
    try:
        return shell.walk(body, stdin)
    finally:
        shell.running.pop()
        assignments.leave_scope(shell)
        shell.arguments, shell.where, shell.offset = outer


def _requoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'" if not re.fullmatch(r"[\w./:=@%+,~-]+", word) else word


WALKERS: dict[type, Callable[[Shell, Any, Stream], Stream]] = {
    ShellPipeline: pipeline,
    AndOr: and_or,
    ShellGroup: group,
    Branches: branches,
    ShellLoop: loop,
    ShellFunction: define,
    Expression: expression,
    Background: background,
}
