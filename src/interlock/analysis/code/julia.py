"""Julia source -> its effects."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, text_of
from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.other import read_other
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import Made
from interlock.analysis.code.templates import by_grammar

if TYPE_CHECKING:
    from tree_sitter import Node


def _command(build: Builder, node: Node) -> Made:
    """`rm $x`: words, of which a value in it is one, or part of one."""
    words: list[list[str | ast.expr]] = [[]]
    made = grammar.texts(build, node)
    for part in made.values if isinstance(made, ast.JoinedStr) else [made]:
        if isinstance(part, ast.Constant):
            first, *rest = str(part.value).split(" ")
            words[-1] += [first] if first else []
            words += [[word] if word else [] for word in rest]
        else:
            words[-1].append(part)
    found = [nodes.joined(word) for word in words if word]
    return ast.List(
        [one.values[0] if isinstance(one, ast.JoinedStr) and len(one.values) == 1 else one for one in found]
    )


def _call(build: Builder, node: Node) -> Made:
    callee, args, named = build.expr(node.named_children[0]), list[ast.expr](), list[ast.keyword]()
    for part in node.named_children[1:]:
        if part.type == "do_clause":
            listed = next((child for child in part.named_children if child.type == "argument_list"), None)
            body = build.block(child for child in part.named_children if child != listed)
            params = [text_of(child) for child in listed.named_children] if listed is not None else []
            args.append(nodes.closure(params, nodes.returning(body)))
        else:
            more, titled = grammar.given(build, part)
            args, named = args + more, named + titled
    return nodes.call(callee, args, named)


def _broadcast(build: Builder, node: Node) -> Made:
    """rm.(list): called with each item."""
    made = _call(build, node)
    return nodes.call("<broadcast>", [made.func, *made.args]) if isinstance(made, ast.Call) else made


def _macro(build: Builder, node: Node) -> Made:
    return build.block(child for part in node.named_children[1:] for child in part.named_children)


def _assign(build: Builder, node: Node) -> Made:
    left, right = node.named_children[0], node.named_children[-1]
    if left.type == "call_expression":  # f(x) = …
        return [_function(build, left, [ast.Return(build.expr(right))])]
    sign = next((text_of(child) for child in node.children if child.type == "operator"), "=")
    target, value = build.expr(left), build.expr(right)
    if sign != "=":
        value = grammar.binary(sign[:-1], target, value, build.joins)
    return nodes.assign(target, value)


def _function(build: Builder, signature: Node, body: list[ast.stmt]) -> ast.stmt:
    while signature.type not in ("call_expression", "identifier") and signature.named_child_count:
        signature = signature.named_children[0]
    given = signature.named_children[-1].named_children if signature.type == "call_expression" else []
    params = [text_of(child.named_children[0] if child.named_child_count else child) for child in given]
    title = text_of(signature).partition("(")[0]
    return nodes.function(params, nodes.returning(body), title)


def _define(build: Builder, node: Node) -> Made:
    return [_function(build, node.named_children[0], build.block(node.named_children[1:]))]


def _for_each(build: Builder, node: Node) -> Made:
    bindings = [child for child in node.named_children if child.type == "for_binding"]
    made = build.block(child for child in node.named_children if child.type != "for_binding")
    for binding in reversed(bindings):
        parts = [child for child in binding.named_children if child.type != "operator"]
        made = nodes.loop(build.expr(parts[0]), build.expr(parts[-1]), made)
    return made


def _operation(build: Builder, node: Node) -> Made:
    left, right = node.named_children[0], node.named_children[-1]
    sign = next((text_of(child) for child in node.named_children if child.type == "operator"), "")
    if sign == "|>":
        return nodes.call(build.expr(right), [build.expr(left)])
    if sign == "=>":
        return ast.Tuple([build.expr(left), build.expr(right)])
    return grammar.binary(sign, build.expr(left), build.expr(right), build.joins)


read_julia = CodeLanguage(
    "Julia",
    "julia",
    by_grammar("julia", _command, _call, _broadcast, _macro, _assign, _define, _for_each, _operation),
    damaged=read_other,
).read
