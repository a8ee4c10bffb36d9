"""Ruby source -> its effects; `-n`, `-p` and `-i` are the caller's."""

from __future__ import annotations

import ast

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Node, text_of
from interlock.analysis.code.language import CodeLanguage, holes
from interlock.analysis.code.library import library
from interlock.analysis.code.program import nodes
from interlock.analysis.code.templates import by_grammar

_SELF = frozenset({"self", "Kernel", "Object"})


def _identifier(build: Builder, node: Node) -> nodes.Made:
    named = text_of(node)
    made = nodes.name(named)
    is_call = named in library("ruby").calls and named not in build.scopes[0]
    return nodes.call(made) if is_call else made


def _block_argument(build: Builder, node: Node) -> nodes.Made:
    inner = node.named_children[0] if node.named_child_count else None
    if inner is not None and inner.type == "simple_symbol":
        return nodes.closure(["it"], [ast.Return(nodes.call(nodes.member(nodes.name("it"), text_of(inner)[1:])))])
    return build.expr(inner)


def _call(build: Builder, node: Node) -> nodes.Made:
    receiver, method = node.child_by_field_name("receiver"), text_of(node.child_by_field_name("method"))
    args, named = grammar.given(build, node.child_by_field_name("arguments"))
    block = node.child_by_field_name("block")
    if block is not None:
        if receiver is None and method == "loop":
            return nodes.repeat(ast.Constant(True), build.body(block.child_by_field_name("body")))
        args.append(_closure(build, block))
    if receiver is None and method in ("lambda", "proc") and args:
        return args[-1]
    if receiver is None or text_of(receiver) in _SELF:
        return nodes.call(nodes.name(method), args, named)
    owner = build.expr(receiver)
    return nodes.call(nodes.member(owner, method) if method else owner, args, named)


def _closure(build: Builder, node: Node) -> ast.expr:
    params = grammar.params(build, node.child_by_field_name("parameters"))
    body = nodes.returning(build.body(node.child_by_field_name("body")))
    return nodes.closure(params or (["_1"] if "_1" in text_of(node) else ["it"]), body)


def _assign(build: Builder, node: Node) -> nodes.Made:
    left, sign = node.named_children[0], text_of(node.child_by_field_name("operator"))
    right = build.field(node, "right")
    return _set(build, left, grammar.binary(sign[:-1], build.expr(left), right, build.joins) if sign else right)


def _set(build: Builder, left: Node, right: ast.expr) -> list[ast.stmt]:
    """`a.b = …` calls no method `b`; a name with a sign belongs to all functions."""
    names = {"identifier": [left], "left_assignment_list": left.named_children}.get(left.type, [])
    build.scopes[0].update({text_of(one).lstrip("*"): "" for one in names})
    target = build.expr(left)
    target = target.func if isinstance(target, ast.Call) else target
    shared = isinstance(target, ast.Name) and target.id.startswith(("@", "$"))
    return [*([ast.Global([text_of(left)])] if shared else ()), *nodes.assign(target, right)]


def _added(build: Builder, node: Node) -> nodes.Made:
    if text_of(node.child_by_field_name("operator")) != "<<":
        return grammar.operator(build, node)
    left = node.named_children[0]
    added = nodes.call(nodes.member(build.expr(left), "<<"), [build.field(node, "right")])
    stays = left.type.endswith(("identifier", "variable"))  # what is added to stays under its name
    return _set(build, left, added) if stays else added


_OWN = (_identifier, _call, _closure, _assign, _added, _block_argument)
read_ruby = CodeLanguage("Ruby", "ruby", by_grammar("ruby", *_OWN), variable=holes("@$")).read
