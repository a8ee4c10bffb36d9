"""JavaScript source (Node, Bun, Deno, TypeScript) -> its effects; dispatches every call by its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from interlock.analysis.code.javascript.execution import CODE, PROGRAMS, execa, on_made, shelljs, tagged
from interlock.analysis.code.javascript.expressions import EXPRESSIONS
from interlock.analysis.code.javascript.files import FILES, Args, Work, called_back, remove_globs
from interlock.analysis.code.javascript.flow import STATEMENTS
from interlock.analysis.code.javascript.methods import unknown_call
from interlock.analysis.code.javascript.names import text_of
from interlock.analysis.code.javascript.net import NET, network
from interlock.analysis.code.javascript.parse import errors, parsed, too_much
from interlock.analysis.code.javascript.stores import stores
from interlock.analysis.code.javascript.values import UNKNOWN, JsFunction, JsOrigin, JsPath, Value
from interlock.analysis.code.javascript.walk import Deed, JsTooDeep, JsWalk, TooLong
from interlock.analysis.facts import HOLE, Report

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

    from interlock.analysis.code.javascript.walk import JsWalk


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
    once = ReportOnce(out)
    seen = Survey(tree)
    walk = JsWalk(once, what, {**EXPRESSIONS, **STATEMENTS})
    try:
        walk.read(tree.root_node)
        walk.finish(seen.may_run)
    except (JsTooDeep, RecursionError, MemoryError, ArithmeticError, ValueError):
        once.unreadable("JavaScript too large or nested too deeply", "nesting")
    except TooLong:
        once.unreadable("JavaScript that takes too long to follow", "budget")
    _report_errors(seen, once)


def _report_errors(seen: Survey, out: ReportOnce) -> None:
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

    def may_run(self, func: JsFunction) -> bool:
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


class ReportOnce(Struct):
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


_CHOSEN_LATE = frozenset({"fs", "child_process", "globalThis", "Bun", "Deno", "shelljs", "process"})


def deed(walk: JsWalk, callee: JsPath, args: Args, base: Value) -> Value:
    """Report what a call does and give what it returns."""
    if isinstance(base, JsOrigin):
        if base.kind == "item" and stores(walk, JsPath(f"?.{callee.last}"), args, base):
            return UNKNOWN
        value = on_made(walk, base, callee.last, args)
        return value if value is not UNKNOWN else network(walk, callee, args, base)
    name = callee.name
    for key in (name, name.removesuffix("Sync")):
        work = _DEEDS.get(key)
        if work is not None:
            value = work(walk, callee, args)
            return called_back(walk, args, value) if name.startswith("fs.") else value
    root = name.partition(".")[0].removesuffix("()")
    if root in _CHOSEN_LATE and callee.last == "?":
        walk.dynamic = True
        walk.out.unreadable("a method that is chosen at run time", "command")
    if root in _FAMILIES:
        return _FAMILIES[root](walk, callee, args)
    if stores(walk, callee, args, base):
        return unknown_call(walk, callee, args)
    value = network(walk, callee, args, base)
    return unknown_call(walk, callee, args) if value is None else value


def _zx(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    if callee.last == "$":
        return tagged(walk, callee, args)
    if callee.name.startswith("zx.fs."):
        return deed(walk, JsPath(callee.name[3:], callee.chain), args, UNKNOWN)
    return unknown_call(walk, callee, args)


_DEEDS: dict[str, Work] = {**FILES, **PROGRAMS, **NET, **CODE}

# Libraries whose functions all do the same kind of thing.
_FAMILIES: dict[str, Work] = {
    "rimraf": remove_globs, "del": remove_globs, "shelljs": shelljs, "shx": shelljs, "execa": execa, "zx": _zx,
}  # fmt: skip
