"""Names of a JavaScript program: which block they belong to, and the patterns that give them values."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interlock.analysis.code.grammar import Builder, text_of
from interlock.analysis.code.javascript.answers import GLOBALS
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import Closure, Made
from interlock.analysis.facts import HOLE

if TYPE_CHECKING:
    from tree_sitter import Node


class ScriptBuilder(Builder):
    """Defines the functions of a block before the rest of it runs."""

    def block(self, found: Iterable[Node]) -> list[ast.stmt]:
        return super().block(sorted(found, key=lambda node: not _defines(node)))


def _defines(node: Node) -> bool:
    inner = node.child_by_field_name("declaration") if node.type == "export_statement" else node
    return inner is not None and inner.type.endswith("function_declaration")


def identifier(build: Builder, node: Node) -> Made:
    """A name, as the block that it stands in has it."""
    named = text_of(node)
    return nodes.call("<hole>") if HOLE in named else nodes.name(_called(build, named))


def _called(build: Builder, name: str) -> str:
    return next((scope[name] for scope in reversed(build.scopes) if name in scope), name)


def declare(build: Builder, name: str) -> None:
    """A parameter: it hides a name of the code around, and is called as it is."""
    build.scopes[-1][name] = name


def _declared(build: Builder, node: Node) -> str:
    """A name of the innermost block; where it hides another, it is called differently."""
    *around, own = build.scopes
    name = text_of(node)
    own.setdefault(name, f"{name}@{node.start_byte}" if any(name in scope for scope in around) else name)
    return own[name]


@contextmanager
def own_names(build: Builder) -> Iterator[None]:
    """Read what has names of its own."""
    build.scopes.append({})
    yield
    build.scopes.pop()


def key_of(build: Builder, node: Node | None) -> ast.expr:
    """The name of a property."""
    if node is None or node.type in ("property_identifier", "private_property_identifier"):
        return nodes.text(text_of(node))
    return build.parts(node) if node.type == "computed_property_name" else build.expr(node)


def titled(value: ast.expr, name: ast.expr | None) -> ast.expr:
    """A function without a name goes by the one that it is given to."""
    title = (
        getattr(name, "value", "") if isinstance(name, ast.Constant) else getattr(name, "id", getattr(name, "attr", ""))
    )
    if isinstance(value, Closure) and not value.function.name and isinstance(title, str):
        value.function.name = title
    return value


def bind(build: Builder, target: Node | None, value: ast.expr, declare: str = "block") -> list[ast.stmt]:
    """Give a name, or the names of a pattern, a value."""
    kind = target.type if target is not None else ""
    if target is None or kind in ("comment", "ERROR"):
        return []
    if kind in ("identifier", "shorthand_property_identifier_pattern", "undefined"):
        name = nodes.name(_declared(build, target) if declare == "block" else _called(build, text_of(target)))
        value = titled(value, name)
        return [ast.AnnAssign(name, nodes.NOTHING, value, 1)] if declare else nodes.assign(name, value)
    if kind in ("assignment_pattern", "object_assignment_pattern"):
        filled = nodes.call("<default>", [value, build.field(target, "right")])
        return bind(build, target.child_by_field_name("left"), filled, declare)
    if kind in ("object_pattern", "array_pattern"):
        return _take_apart(build, target, value, declare)
    if kind in ("rest_pattern", "parenthesized_expression"):
        return bind(build, target.named_children[0], value, declare)
    place = build.expr(target)
    if isinstance(place, ast.Attribute) and isinstance(place.value, ast.Name) and place.value.id in GLOBALS:
        place = nodes.name(place.attr)
    return nodes.assign(place, titled(value, place))


def _take_apart(build: Builder, pattern: Node, value: ast.expr, declare: str) -> list[ast.stmt]:
    whole = value if isinstance(value, ast.Name) else nodes.name(f"<{pattern.start_byte}>")
    made: list[ast.stmt] = [] if whole is value else [ast.AnnAssign(whole, nodes.NOTHING, value, 1)]
    at = 0
    for child in pattern.children:
        at += child.type == ","
        if not child.is_named:
            continue
        if child.type == "rest_pattern":
            part: ast.expr = (
                nodes.item(whole, ast.Slice(ast.Constant(at))) if pattern.type == "array_pattern" else whole
            )
        elif pattern.type == "array_pattern":
            part = nodes.item(whole, ast.Constant(at))
        else:
            named = child.child_by_field_name("key") or child.child_by_field_name("left") or child
            part = nodes.item(
                whole, key_of(build, named) if child.type == "pair_pattern" else nodes.text(text_of(named))
            )
        made += bind(build, child.child_by_field_name("value") or child, part, declare)
    return made
