"""JavaScript expressions -> their values; effects are reported on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.analysis.code.javascript.names import combined, member, module, text_of, unescaped
from interlock.analysis.code.javascript.values import (
    LONGEST,
    UNKNOWN,
    JsFunction,
    JsPath,
    Regex,
    Value,
    concat,
    either,
    options,
    to_text,
    truth,
)
from interlock.analysis.facts import HOLE

if TYPE_CHECKING:
    from tree_sitter import Node

    from interlock.analysis.code.javascript.walk import JsWalk, Rule


def _string(walk: JsWalk, node: Node) -> Value:
    return "".join(unescaped(child) for child in node.named_children)


def template(walk: JsWalk, node: Node) -> list[Value]:
    """The parts of a template literal, texts and values in turn."""
    return [
        walk.children(child) if child.type == "template_substitution" else unescaped(child)
        for child in node.named_children
    ]


def _template(walk: JsWalk, node: Node) -> Value:
    return concat(*template(walk, node))


def _number(walk: JsWalk, node: Node) -> Value:
    text = text_of(node).replace("_", "").rstrip("n")
    try:
        if text[:2].lower() in ("0x", "0o", "0b"):
            return int(text, 0)
        if len(text) > 1 and text.isdigit() and text[0] == "0":
            return int(text, 8)
        return int(text) if text.isdigit() and len(text) < 300 else float(text)
    except ValueError:
        return UNKNOWN


def values(walk: JsWalk, node: Node | None) -> list[Value]:
    """The values of an array's items or a call's arguments, spreads spread."""
    found: list[Value] = []
    for child in node.named_children if node is not None else ():
        if child.type == "spread_element":
            value = walk.children(child)
            found += value if isinstance(value, list) else list(value) if isinstance(value, str) else [value]
        elif child.type not in ("comment", "ERROR"):
            found.append(walk.read(child))
    return found[:LONGEST]


def _object(walk: JsWalk, node: Node) -> Value:
    made: dict[str, Value] = {}
    for child in node.named_children:
        if child.type == "pair":
            made[walk.key_of(child.child_by_field_name("key"))] = walk.read(child.child_by_field_name("value"))
        elif child.type == "shorthand_property_identifier":
            made[text_of(child)] = _identifier(walk, child)
        elif child.type == "method_definition":
            name = walk.key_of(child.child_by_field_name("name"))
            made[name] = walk.made_function(child, name)
        elif child.type == "spread_element":
            value = walk.children(child)
            made.update(value if isinstance(value, dict) else {"...": value})
    return made


def _regex(walk: JsWalk, node: Node) -> Value:
    parts = text_of(node).rpartition("/")
    return Regex(parts[0][1:], parts[2])


def _identifier(walk: JsWalk, node: Node) -> Value:
    name = text_of(node)
    if HOLE in name:
        walk.out.unreadable("JavaScript that is put together at run time", "payload")
    return walk.lookup(name)


def _member(walk: JsWalk, node: Node) -> Value:
    return member(walk.read(node.child_by_field_name("object")), walk.key_of(node.child_by_field_name("property")))


def _subscript(walk: JsWalk, node: Node) -> Value:
    base, key = walk.read(node.child_by_field_name("object")), walk.read(node.child_by_field_name("index"))
    return either(*(member(base, to_text(option)) for option in options(key)))


def _import(walk: JsWalk, node: Node) -> Value:
    source = module(walk, to_text(walk.read(node.child_by_field_name("source"))))
    clause = next((child for child in node.named_children if child.type == "import_clause"), None)
    for child in clause.named_children if clause is not None else ():
        if child.type == "named_imports":
            for one in child.named_children:
                name = one.child_by_field_name("name")
                walk.bind(one.child_by_field_name("alias") or name, member(source, text_of(name)))
        else:
            walk.bind(child if child.type == "identifier" else child.named_children[0], source)
    return UNKNOWN


def _meta(walk: JsWalk, node: Node) -> Value:
    return JsPath(text_of(node))


def _declarator(walk: JsWalk, node: Node) -> Value:
    given = node.child_by_field_name("value")
    value = walk.read(given) if given is not None else None
    name = node.child_by_field_name("name")
    if isinstance(value, JsFunction) and not value.name:
        value.name = text_of(name)
    walk.bind(name, value)
    return UNKNOWN


def _assignment(walk: JsWalk, node: Node) -> Value:
    value = walk.read(node.child_by_field_name("right"))
    left = node.child_by_field_name("left")
    if isinstance(value, JsFunction) and not value.name:
        value.name = text_of(left).rpartition(".")[2]
    walk.bind(left, value, declare=False)
    return value


def _augmented(walk: JsWalk, node: Node) -> Value:
    left, operator = node.child_by_field_name("left"), text_of(node.child_by_field_name("operator"))
    old, new = walk.read(left), walk.read(node.child_by_field_name("right"))
    branch, walk.branch = walk.branch, walk.branch if operator in ("||=", "&&=", "??=") else 0
    value = combined(operator[:-1], old, new)
    walk.bind(left, value, declare=False)
    walk.branch = branch
    return value


def _binary(walk: JsWalk, node: Node) -> Value:
    # A chain of operators leans left, as deep as it is long: it is walked, not recursed into.
    spine: list[Node] = []
    left: Node | None = node
    while left is not None and left.type == "binary_expression":
        spine.append(left)
        left = left.child_by_field_name("left")
    value = walk.read(left)
    sums: list[Value] = []
    for at in reversed(spine):
        operator, right = text_of(at.child_by_field_name("operator")), walk.read(at.child_by_field_name("right"))
        numbers = isinstance(right, int | float) and (not sums and isinstance(value, int | float))
        if operator == "+" and not numbers:
            sums = [*sums, right] if sums and len(sums) < 50 else [concat(*sums) if sums else value, right]
        else:
            value, sums = combined(operator, concat(*sums) if sums else value, right), []
    return concat(*sums) if sums else value


def _unary(walk: JsWalk, node: Node) -> Value:
    value, operator = walk.read(node.child_by_field_name("argument")), text_of(node.child_by_field_name("operator"))
    number = value if isinstance(value, int | float) else None
    if operator == "!":
        holds = truth(value)
        return UNKNOWN if holds is None else not holds
    if operator == "-":
        return -number if number is not None else UNKNOWN
    if operator == "~" and isinstance(number, int):
        return ~number
    return number if operator == "+" and number is not None else UNKNOWN


def _update(walk: JsWalk, node: Node) -> Value:
    target = node.child_by_field_name("argument")
    value = walk.read(target)
    if isinstance(value, int | float):
        holder = walk.scope.holder(text_of(target))
        if holder is not None:
            holder.names[text_of(target)] = value + (1 if "++" in text_of(node) else -1)
    return value


def _ternary(walk: JsWalk, node: Node) -> Value:
    walk.read(node.child_by_field_name("condition"))
    sides = (node.child_by_field_name("consequence"), node.child_by_field_name("alternative"))
    return either(*(walk.in_branch(side) for side in sides))


EXPRESSIONS: dict[str, Rule] = {
    "string": _string, "template_string": _template, "number": _number, "true": lambda walk, node: True,
    "false": lambda walk, node: False, "null": lambda walk, node: None, "undefined": lambda walk, node: None,
    "array": values, "object": _object, "regex": _regex, "identifier": _identifier, "this": _identifier,
    "member_expression": _member, "subscript_expression": _subscript, "meta_property": _meta, "import": _meta,
    "variable_declarator": _declarator, "assignment_expression": _assignment, "binary_expression": _binary,
    "augmented_assignment_expression": _augmented, "unary_expression": _unary, "update_expression": _update,
    "ternary_expression": _ternary, "import_statement": _import,
}  # fmt: skip
