"""The state of one walk through a JavaScript program: names, scopes, functions, and limits on depth and steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from interlock.analysis.code.javascript.methods import call
from interlock.analysis.code.javascript.names import member, text_of
from interlock.analysis.code.javascript.values import (
    LONGEST,
    NAMED,
    UNKNOWN,
    JsChoice,
    JsFunction,
    JsPath,
    JsScope,
    Value,
    either,
    to_text,
)
from interlock.analysis.facts import Report, hole

if TYPE_CHECKING:
    from tree_sitter import Node

DEPTH = 160  # how deep expressions and calls may nest
STEPS = 60_000  # how many nodes are looked at, functions and loops included
_REENTRY = 2

# What a call does: the walk, the name it is called by, its arguments, the object it is called on.
Deed = Callable[["JsWalk", JsPath, list[Value], Value], Value]
# How one kind of node is read.
Rule = Callable[["JsWalk", "Node"], Value]


class JsTooDeep(Exception):
    """The code nests deeper than code may."""


class TooLong(Exception):
    """The code takes more steps to follow than code may."""


class JsWalk:
    """One reading of one program: what its names stand for so far, and where to report."""

    def __init__(self, out: Report, deed: Deed, nodes: Mapping[str, Rule]) -> None:
        self.out = out
        self.nodes = nodes  # how each kind of node is read
        self.deed = deed
        self.scope = JsScope()
        self.depth = self.steps = self.branch = 0
        self.returns: list[Value] = []
        self.functions: list[JsFunction] = []
        self.ran: set[int] = set()
        self.active: list[int] = []
        self.dynamic = False  # text was run as code, so that any function may have been called by its name
        self.downloads: dict[str, str] = {}  # the files that fetched text was written to
        self.host = ""  # where a socket was last connected to

    def read(self, node: Node | None) -> Value:
        """The value of an expression, or of a statement the last one in it; what it does is reported on the way."""
        if node is None:
            return UNKNOWN
        self.out.step()
        self.steps += 1
        self.depth += 1
        try:
            if self.steps > STEPS:
                raise TooLong
            if self.depth > DEPTH:
                raise JsTooDeep
            return self.nodes.get(node.type, JsWalk.children)(self, node)
        finally:
            self.depth -= 1

    def children(self, node: Node) -> Value:
        """Read what is inside a node; the value of the last part."""
        value: Value = UNKNOWN
        for child in node.named_children:
            value = self.read(child)
        return value

    def key_of(self, node: Node | None) -> str:
        """The name of a property."""
        if node is None:
            return hole()
        if node.type in ("property_identifier", "private_property_identifier"):
            return text_of(node)
        return to_text(self.children(node) if node.type == "computed_property_name" else self.read(node))

    def lookup(self, name: str) -> Value:
        """What a name stands for; one that was never given a value is a global, or a module that `node -e` offers."""
        holder = self.scope.holder(name)
        if holder is not None:
            value: Value = holder.names[name]
            return value
        return NAMED[name] if name in NAMED else JsPath(name)

    def bind(self, target: Node | None, value: Value, declare: bool = True) -> None:
        """Give a name, or the names of a pattern, what they stand for."""
        if target is None:
            return
        kind = target.type
        if kind in ("identifier", "shorthand_property_identifier_pattern", "undefined"):
            self._set(text_of(target), value, declare)
        elif kind in ("member_expression", "subscript_expression"):
            self._set_member(target, value)
        elif kind in ("assignment_pattern", "object_assignment_pattern"):
            default = self.read(target.child_by_field_name("right"))
            missing = value is None or (isinstance(value, JsPath) and value.name == "?")
            self.bind(target.child_by_field_name("left"), default if missing else value, declare)
        elif kind == "array_pattern":
            for at, child in enumerate(target.named_children):
                rest = value[at:] if isinstance(value, list) else value
                self.bind(child, rest if child.type == "rest_pattern" else member(value, str(at)), declare)
        elif kind == "object_pattern":
            for child in target.named_children:
                self._bind_property(child, value, declare)
        elif kind in ("rest_pattern", "parenthesized_expression"):
            self.bind(target.named_children[0] if target.named_children else None, value, declare)

    def _bind_property(self, node: Node, value: Value, declare: bool) -> None:
        if node.type == "pair_pattern":
            inner = member(value, self.key_of(node.child_by_field_name("key")))
            self.bind(node.child_by_field_name("value"), inner, declare)
        elif node.type == "rest_pattern":
            self.bind(node, value, declare)
        else:
            name = node.child_by_field_name("left") if node.type == "object_assignment_pattern" else node
            self.bind(node, member(value, text_of(name)), declare)

    def _set(self, name: str, value: Value, declare: bool) -> None:
        # An assignment to a name that was never declared makes a global.
        holder = self.scope if declare else self.scope.holder(name) or self.outermost()
        if not declare and self.branch > holder.branch and name in holder.names:
            value = either(value, holder.names[name])
        holder.names[name] = value

    def _set_member(self, target: Node, value: Value) -> None:
        base = self.read(target.child_by_field_name("object"))
        field = target.child_by_field_name("property")
        key = self.key_of(field) if field is not None else to_text(self.read(target.child_by_field_name("index")))
        if isinstance(base, dict):
            base[key] = value
        elif isinstance(base, list) and key.isdigit() and int(key) < LONGEST:
            base += [None] * (int(key) + 1 - len(base))
            base[int(key)] = value
        elif isinstance(base, JsPath) and base.name in ("globalThis", "global", "window", "self"):
            self.outermost().names[key] = value

    def outermost(self) -> JsScope:
        """The scope of globals."""
        scope = self.scope
        while scope.outer is not None:
            scope = scope.outer
        return scope

    def in_branch(self, node: Node | None) -> Value:
        """Read what may or may not run: names keep their old value beside a new one."""
        self.branch += 1
        try:
            return self.read(node)
        finally:
            self.branch -= 1

    def made_function(self, node: Node, name: str = "") -> JsFunction:
        """Remember a function that the code defines."""
        self.functions.append(JsFunction(node, self.scope, name))
        return self.functions[-1]

    def invoke(self, callee: Value, args: list[Value]) -> Value:
        """Call a value with arguments, whatever it is."""
        if isinstance(callee, JsChoice):
            return either(*(self.invoke(option, args) for option in callee.options))
        if isinstance(callee, JsFunction):
            return self.run(callee, args)
        return call(self, callee, args) if isinstance(callee, JsPath) else UNKNOWN

    def run(self, func: JsFunction, args: list[Value]) -> Value:
        """Follow a function of the code; what it returns."""
        key = func.node.id
        self.ran.add(key)
        if self.active.count(key) >= _REENTRY:
            return UNKNOWN
        saved = (self.scope, self.returns, self.branch)
        self.scope, self.returns, self.branch = JsScope({"arguments": args}, func.scope), [], 0
        self.active.append(key)
        try:
            self._bind_parameters(func.node, args)
            body = func.node.child_by_field_name("body")
            value = self.read(body)
            if body is not None and body.type != "statement_block":
                return value
            return either(*self.returns) if self.returns else None
        finally:
            self.active.pop()
            self.scope, self.returns, self.branch = saved

    def _bind_parameters(self, node: Node, args: list[Value]) -> None:
        single = node.child_by_field_name("parameter")
        listed = node.child_by_field_name("parameters")
        names = [single] if single is not None else listed.named_children if listed is not None else []
        names = [name for name in names if name.type not in ("comment", "ERROR")]
        for at, name in enumerate(names):
            rest: Value = args[at:]
            self.bind(name, rest if name.type == "rest_pattern" else args[at] if at < len(args) else UNKNOWN)

    def finish(self, wanted: Callable[[JsFunction], bool]) -> None:
        """Run the functions that nothing ran but something may, with arguments that are not known."""
        at = 0
        while at < len(self.functions):
            func = self.functions[at]
            at += 1
            if func.node.id not in self.ran and (self.dynamic or wanted(func)):
                self.run(func, [])
