"""JavaScript statements, functions, classes and calls -> what runs, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.analysis.code.javascript.expressions import template, values
from interlock.analysis.code.javascript.methods import call_method
from interlock.analysis.code.javascript.names import items_of, narrowed, text_of
from interlock.analysis.code.javascript.values import (
    UNKNOWN,
    JsFunction,
    JsPath,
    JsScope,
    Value,
    concat,
    either,
    options,
    to_text,
    truth,
)
from interlock.analysis.facts import hole

if TYPE_CHECKING:
    from tree_sitter import Node

    from interlock.analysis.code.javascript.walk import JsWalk, Rule

ROUNDS = 300  # how often a counted loop is followed


def _statements(walk: JsWalk, node: Node) -> Value:
    _hoist(walk, node)
    return walk.children(node)


def _block(walk: JsWalk, node: Node) -> Value:
    outer, walk.scope = walk.scope, JsScope(outer=walk.scope, branch=walk.branch)
    try:
        return _statements(walk, node)
    finally:
        walk.scope = outer


def _hoist(walk: JsWalk, node: Node) -> None:
    for child in node.named_children:
        target = child.child_by_field_name("declaration") if child.type == "export_statement" else child
        if target is not None and target.type.endswith("function_declaration"):
            name = text_of(target.child_by_field_name("name"))
            walk.scope.names[name] = walk.made_function(target, name)


def _nothing(walk: JsWalk, node: Node) -> Value:
    return UNKNOWN


def _if(walk: JsWalk, node: Node) -> Value:
    condition = node.child_by_field_name("condition")
    walk.read(condition)
    if text_of(condition) != "(false)":
        outer, walk.scope = walk.scope, JsScope(narrowed(walk, condition), walk.scope, walk.branch + 1)
        try:
            walk.in_branch(node.child_by_field_name("consequence"))
        finally:
            walk.scope = outer
    return walk.in_branch(node.child_by_field_name("alternative"))


def _branches(walk: JsWalk, node: Node) -> Value:
    for child in node.named_children:
        walk.in_branch(child)
    return UNKNOWN


def _catch(walk: JsWalk, node: Node) -> Value:
    walk.bind(node.child_by_field_name("parameter"), UNKNOWN)
    return walk.in_branch(node.child_by_field_name("body"))


def _for(walk: JsWalk, node: Node) -> Value:
    walk.read(node.child_by_field_name("initializer"))
    for _ in range(ROUNDS):
        holds = truth(walk.read(node.child_by_field_name("condition")))
        if holds is False:
            return UNKNOWN
        walk.read(node.child_by_field_name("body"))
        walk.read(node.child_by_field_name("increment"))
        if holds is None:
            break
    return UNKNOWN


def _for_in(walk: JsWalk, node: Node) -> Value:
    over, left = walk.read(node.child_by_field_name("right")), node.child_by_field_name("left")
    keys = text_of(node.child_by_field_name("operator")) == "in"
    body = node.child_by_field_name("body")
    outer, walk.scope = walk.scope, JsScope(outer=walk.scope, branch=walk.branch)
    try:
        for item in items_of(over, keys):
            walk.bind(left, item, declare=left is not None and node.child_by_field_name("kind") is not None)
            walk.read(body)
    finally:
        walk.scope = outer
    return UNKNOWN


def _return(walk: JsWalk, node: Node) -> Value:
    walk.returns.append(walk.children(node))
    return UNKNOWN


def _function(walk: JsWalk, node: Node) -> Value:
    name = text_of(node.child_by_field_name("name"))
    func = walk.made_function(node, name)
    if name and node.type == "function_expression":
        func.scope = JsScope({name: func}, walk.scope, walk.branch)
    return func


def _declared(walk: JsWalk, node: Node) -> Value:
    return UNKNOWN  # it was hoisted


def _class(walk: JsWalk, node: Node) -> Value:
    made: dict[str, Value] = {}
    parent = next((child for child in node.named_children if child.type == "class_heritage"), None)
    if parent is not None:
        base = walk.children(parent)
        made.update(base if isinstance(base, dict) else {"...": base})
    walk.bind(node.child_by_field_name("name"), made)
    outer, walk.scope = walk.scope, JsScope({"this": made}, walk.scope, walk.branch)
    try:
        body = node.child_by_field_name("body")
        for child in body.named_children if body is not None else ():
            _class_member(walk, child, made)
    finally:
        walk.scope = outer
    return made


def _class_member(walk: JsWalk, node: Node, made: dict[str, Value]) -> None:
    if node.type == "method_definition":
        name = walk.key_of(node.child_by_field_name("name"))
        made[name] = walk.made_function(node, name)
    elif node.type == "field_definition":
        made[walk.key_of(node.child_by_field_name("property"))] = walk.read(node.child_by_field_name("value"))
    else:
        walk.read(node)


def _call_node(walk: JsWalk, node: Node) -> Value:
    function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    base, name, callee = _callee(walk, function)
    if given is not None and given.type == "template_string":
        args: list[Value] = [concat(*template(walk, given)), JsPath("template")]
    else:
        args = values(walk, given)
    if not name:
        return walk.invoke(callee, args)
    return either(*(_call_on(walk, option, name, args) for option in options(base)))


def _callee(walk: JsWalk, function: Node | None) -> tuple[Value, str, Value]:
    """What is called: the object and the method's name, or the function itwalk."""
    while function is not None and function.type == "parenthesized_expression" and function.named_children:
        function = function.named_children[-1]
    if function is not None and function.type == "member_expression":
        base = walk.read(function.child_by_field_name("object"))
        return base, walk.key_of(function.child_by_field_name("property")), UNKNOWN
    if function is not None and function.type == "subscript_expression":
        base, key = walk.read(function.child_by_field_name("object")), function.child_by_field_name("index")
        return base, to_text(walk.read(key)) or hole(), UNKNOWN
    return UNKNOWN, "", JsPath("import") if function is not None and function.type == "import" else walk.read(function)


def _call_on(walk: JsWalk, base: Value, name: str, args: list[Value]) -> Value:
    callee = base.get(name) if isinstance(base, dict) else None
    if isinstance(callee, JsFunction):
        return walk.run(JsFunction(callee.node, JsScope({"this": base}, callee.scope), callee.name), args)
    return call_method(walk, base, name, args)


def _new(walk: JsWalk, node: Node) -> Value:
    made = walk.read(node.child_by_field_name("constructor"))
    args = values(walk, node.child_by_field_name("arguments"))
    if not isinstance(made, dict | JsFunction):
        return walk.invoke(made, args)
    thing: dict[str, Value] = dict(made) if isinstance(made, dict) else {}
    maker = made if isinstance(made, JsFunction) else made.get("constructor")
    if isinstance(maker, JsFunction):
        walk.run(JsFunction(maker.node, JsScope({"this": thing}, maker.scope), maker.name), args)
    return thing


STATEMENTS: dict[str, Rule] = {
    "program": _statements, "statement_block": _block, "switch_body": _branches, "comment": _nothing,
    "if_statement": _if, "catch_clause": _catch, "for_statement": _for, "for_in_statement": _for_in,
    "return_statement": _return, "class": _class, "class_declaration": _class, "call_expression": _call_node,
    "new_expression": _new, "statement_identifier": _nothing, "function_declaration": _declared,
    "generator_function_declaration": _declared, "function_expression": _function, "generator_function": _function,
    "arrow_function": _function, "method_definition": _function,
}  # fmt: skip
