"""Julia source -> its effects."""

from __future__ import annotations

import ast
from itertools import chain

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Node, text_of
from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.other import read_other
from interlock.analysis.code.program import nodes
from interlock.analysis.code.templates import by_grammar


def _command(build: Builder, node: Node) -> nodes.Made:
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
    found = [nodes.joined(word) if len(word) > 1 or isinstance(word[0], str) else word[0] for word in words if word]
    return ast.List(found)


def _call(build: Builder, node: Node) -> nodes.Made:
    callee, *parts = node.named_children
    given = [grammar.given(build, part) if part.type == "argument_list" else ([build.expr(part)], []) for part in parts]
    return nodes.call(build.expr(callee), *(chain.from_iterable(kind) for kind in zip(*given, strict=True)))


def _assign(build: Builder, node: Node) -> nodes.Made:
    left, right = node.named_children[0], node.named_children[-1]
    if left.type == "call_expression":  # f(x) = …
        return [_function(build, left, [ast.Return(build.expr(right))])]
    return grammar.assigned(build, node)


def _function(build: Builder, signature: Node, body: list[ast.stmt]) -> ast.stmt:
    while signature.type not in ("call_expression", "identifier") and signature.named_child_count:
        signature = signature.named_children[0]
    given = signature.named_children[-1].named_children if signature.type == "call_expression" else []
    params = [text_of(child.named_children[0] if child.named_child_count else child) for child in given]
    title = text_of(signature).partition("(")[0]
    return nodes.function(params, nodes.returning(body), title)


def _define(build: Builder, node: Node) -> nodes.Made:
    return [_function(build, node.named_children[0], build.block(node.named_children[1:]))]


def _for_each(build: Builder, node: Node) -> nodes.Made:
    bindings = [child for child in node.named_children if child.type == "for_binding"]
    made = build.block(child for child in node.named_children if child.type != "for_binding")
    for binding in reversed(bindings):
        parts = [child for child in binding.named_children if child.type != "operator"]
        made = nodes.loop(build.expr(parts[0]), build.expr(parts[-1]), made)
    return made


_OWN = (_command, _call, _assign, _define, _for_each)
read_julia = CodeLanguage("Julia", "julia", by_grammar("julia", *_OWN), damaged=read_other, first=1).read
