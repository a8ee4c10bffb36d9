"""What a test proves: the variables that are not empty where it succeeds, and those that are not where it fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from interlock.analysis.shell.syntax.nodes import (
    AndOr,
    Expression,
    Node,
    ShellGroup,
    ShellText,
    ShellVariable,
    ShellWord,
    SimpleCommand,
)

Proof = tuple[frozenset[str], frozenset[str]]  # not empty on success, not empty on failure

NOTHING_PROVED: Proof = (frozenset(), frozenset())
# Tests that fail for an empty word: of a string, and of a file by that name.
_FAIL_FOR_EMPTY = frozenset("-n -b -c -d -e -f -g -h -k -L -O -G -p -r -s -S -u -w -x".split())
_EQUAL, _UNEQUAL = frozenset({"=", "=="}), frozenset({"!="})
_LEAVING = frozenset({"exit", "return", "break", "continue"})


def proof(node: Node | None) -> Proof:
    """What the success and the failure of a node prove; nothing for what is no test."""
    if isinstance(node, SimpleCommand) and node.words:
        name = node.words[0].literal
        if name not in ("[", "test"):
            return NOTHING_PROVED
        words = node.words[1:-1] if name == "[" else node.words[1:]
        return _swapped(_test(words, quoted_only=True), node.negated)
    if isinstance(node, Expression) and not node.arithmetic:
        return _swapped(_test(node.words, quoted_only=False), node.negated)
    if isinstance(node, AndOr) and len(set(node.operators)) == 1:
        return _joined([proof(item) for item in node.nodes], node.operators[0])
    return NOTHING_PROVED


def leaves(nodes: Sequence[Node], functions: Mapping[str, Node], depth: int = 0) -> bool:
    """Whether nothing that follows these nodes runs: one of them surely exits, returns or ends the round."""
    for node in nodes:
        if isinstance(node, ShellGroup) and not node.subshell and leaves(node.body, functions, depth):
            return True
        if isinstance(node, SimpleCommand) and node.words:
            name = node.words[0].literal or ""
            if name in _LEAVING:
                return depth == 0 or name == "exit"
            if depth < 3 and name in functions and leaves([functions[name]], functions, depth + 1):
                return True
    return False


def _swapped(found: Proof, negated: bool) -> Proof:
    return (found[1], found[0]) if negated else found


def _joined(found: Sequence[Proof], operator: str) -> Proof:
    """`a && b` succeeds where both do; `a || b` fails where both do."""
    if operator == "&&":
        return frozenset().union(*(one[0] for one in found)), frozenset()
    return frozenset(), frozenset().union(*(one[1] for one in found))


def _test(words: Sequence[ShellWord], quoted_only: bool) -> Proof:
    """The proof of one test's words; `[ -n $x ]` proves nothing, for an empty `$x` leaves `[ -n ]`, which succeeds."""
    texts = [_plain(word) for word in words]
    if "(" in texts or ")" in texts:
        return NOTHING_PROVED
    for marks, operator in ((("||", "-o"), "||"), (("&&", "-a"), "&&")):
        cuts = [index for index, text in enumerate(texts) if text in marks and index]
        if cuts:
            edges = [-1, *cuts, len(words)]
            parts = [words[a + 1 : b] for a, b in pairwise(edges)]
            return _joined([_test(part, quoted_only) for part in parts], operator)
    if texts[:1] == ["!"]:
        return _swapped(_test(words[1:], quoted_only), True)
    return _primary(words, texts, quoted_only)


def _primary(words: Sequence[ShellWord], texts: Sequence[str | None], quoted_only: bool) -> Proof:
    names = [_variable(word, quoted_only) for word in words]
    if len(words) == 1:
        return names[0], frozenset()
    if len(words) == 2 and texts[0] == "-z":
        return frozenset(), names[1]
    if len(words) == 2 and texts[0] in _FAIL_FOR_EMPTY:
        return names[1], frozenset()
    if len(words) == 3 and texts[1] in _EQUAL | _UNEQUAL:
        left, right = (names[0], texts[2]) if names[0] else (names[2], texts[0])
        same = texts[1] in _EQUAL
        if right == "":
            return _swapped((frozenset(), left), not same)
        return (left if same and right is not None and "*" not in right else frozenset()), frozenset()
    return NOTHING_PROVED


def _plain(word: ShellWord) -> str | None:
    """The text of a word in which nothing is expanded."""
    if all(isinstance(part, ShellText) for part in word.parts):
        return "".join(part.text for part in word.parts if isinstance(part, ShellText))
    return None


def _variable(word: ShellWord, quoted_only: bool) -> frozenset[str]:
    """The variable that is all of a word."""
    parts = [part for part in word.parts if not (isinstance(part, ShellText) and not part.text)]
    only = parts[0] if len(parts) == 1 else None
    if isinstance(only, ShellVariable) and not only.index and not only.length and not only.indirect:
        defaulted = only.operator.lstrip(":") in ("", "-") and (only.argument is None or not only.argument.parts)
        if defaulted and (only.quoted or not quoted_only):
            return frozenset({only.name})
    return frozenset()
