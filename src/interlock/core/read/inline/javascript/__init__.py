"""JavaScript source (Node, Bun, Deno, TypeScript) -> what running it would do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.core.read.facts import HOLE, Report
from interlock.core.read.inline.javascript.deeds import deed
from interlock.core.read.inline.javascript.expressions import EXPRESSIONS
from interlock.core.read.inline.javascript.flow import STATEMENTS
from interlock.core.read.inline.javascript.names import text_of
from interlock.core.read.inline.javascript.parse import errors, parsed, too_much
from interlock.core.read.inline.javascript.values import Func
from interlock.core.read.inline.javascript.walk import Deed, TooDeep, TooLong, Walk

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_RISKY = re.compile(
    r"\b(?:rm|rmdir|unlink|remove|rimraf|del|emptyDir|truncate|exec|execFile|spawn|fork|eval|Function|execa|deleteMany"
    r"|dropDatabase|drop|destroy|query|execute)(?:Sync|Async|One|Many)?['\"\]]{0,3}\s{0,20}[(`]"
)
_EXPORTS = re.compile(r"(?:module\.)?exports\b")


def read_javascript(source: str, out: Report) -> None:
    """Report what this program would do; what cannot be read is reported as such."""
    read_tree(source, out, deed)


def read_tree(source: str, out: Report, what: Deed) -> None:
    """Report what this program would do, where `what` says what a call does."""
    source = source.removeprefix("\ufeff")
    if source.startswith("#!"):
        source = source.partition("\n")[2]
    if too_much(source):
        out.unreadable("JavaScript too large or nested too deeply", "nesting")
        return
    tree, complete = parsed(source)
    if not complete:
        out.unreadable("JavaScript that does not parse", "syntax")
    if tree is None:
        return
    once = Once(out)
    seen = Survey(tree)
    walk = Walk(once, what, {**EXPRESSIONS, **STATEMENTS})
    try:
        walk.read(tree.root_node)
        walk.finish(seen.may_run)
    except (TooDeep, RecursionError, MemoryError, ArithmeticError, ValueError):
        once.unreadable("JavaScript too large or nested too deeply", "nesting")
    except TooLong:
        once.unreadable("JavaScript that takes too long to follow", "budget")
    _report_errors(seen, once)


def _report_errors(seen: Survey, out: Once) -> None:
    if any(HOLE in text for text in seen.errors):
        out.unreadable("JavaScript that is put together at run time", "payload")
    elif seen.nothing or any(_RISKY.search(text) for text in seen.errors):
        out.unreadable("JavaScript that does not parse", "syntax")


class Survey:
    """One look over a whole tree: how often names occur, and which parts of the text did not parse."""

    def __init__(self, tree: Tree) -> None:
        self.names: Counter[str] = Counter()
        self.errors = [text_of(node) for node in errors(tree.root_node)]
        self.exported: set[int] = set()
        root = tree.root_node
        self._look(root)
        statements = [child for child in root.named_children if child.type not in ("ERROR", "comment")]
        self.nothing = bool(self.errors) and not statements

    def _look(self, root: Node) -> None:
        stack: list[tuple[Node, bool]] = [(root, False)]
        while stack:
            node, exported = stack.pop()
            kind = node.type
            if kind.endswith("identifier") or kind == "shorthand_property_identifier_pattern":
                self.names[text_of(node)] += not exported
            exported = exported or kind == "export_statement" or _is_export(node)
            if exported:
                self.exported.add(node.id)
            stack += [(child, exported and kind != "statement_block") for child in node.children]

    def may_run(self, func: Func) -> bool:
        """Whether something other than its definition speaks of a function, so that it may be called."""
        if func.node.id in self.exported:
            return self.names[func.name] > 0 if func.name else False
        return not func.name or func.name == "constructor" or self.names[func.name] > 1


def _is_export(node: Node) -> bool:
    left = node.child_by_field_name("left") if node.type == "assignment_expression" else None
    return left is not None and _EXPORTS.match(text_of(left)) is not None


def whole(text: str) -> str:
    """The text with pairs of surrogates as the characters they stand for, and no half of a pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass(slots=True)
class Once:
    """Hands on each report once, however often the code says it."""

    out: Report
    seen: set[tuple[str, ...]] = field(default_factory=set)

    def _new(self, *words: str) -> bool:
        fresh = words not in self.seen
        self.seen.add(words)
        return fresh

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        target = whole(target)
        if self._new("effect", verb, target, *traits):
            self.out.effect(verb, target, *traits)

    def run(self, argv: Sequence[str]) -> None:
        argv = [whole(word) for word in argv]
        if self._new("run", *argv):
            self.out.run(argv)

    def shell(self, text: str) -> None:
        text = whole(text)
        if self._new("shell", text):
            self.out.shell(text)

    def code(self, language: str, text: str) -> None:
        text = whole(text)
        if self._new("code", language, text):
            self.out.code(language, text)

    def unreadable(self, what: str, *traits: str) -> None:
        if self._new("unreadable", what, *traits):
            self.out.unreadable(what, *traits)

    def step(self, count: int = 1) -> None:
        self.out.step(count)
