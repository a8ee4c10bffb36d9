"""Julia source -> its effects."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Rule, text_of
from interlock.analysis.code.language import CodeLanguage, by_grammar, read_with
from interlock.analysis.code.other import read_other
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import Made
from interlock.analysis.facts import Report

if TYPE_CHECKING:
    from tree_sitter import Node

_JOINS = frozenset({"*"})


def read_julia(source: str, out: Report) -> None:
    """Report what a Julia program would do."""
    read_with(_JULIA, source, out)


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
    return ast.List(
        [word[0] if len(word) == 1 and not isinstance(word[0], str) else nodes.joined(word) for word in words if word]
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


def _index(build: Builder, node: Node) -> Made:
    owner, keys = node.named_children[0], node.named_children[-1].named_children
    return nodes.item(build.expr(owner), build.expr(keys[0]) if keys else nodes.NOTHING)


def _assign(build: Builder, node: Node) -> Made:
    left, right = node.named_children[0], node.named_children[-1]
    if left.type == "call_expression":  # f(x) = …
        return [_function(build, left, [ast.Return(build.expr(right))])]
    sign = next((text_of(child) for child in node.children if child.type == "operator"), "=")
    target, value = build.expr(left), build.expr(right)
    if sign != "=":
        value = grammar.binary(sign[:-1], target, value, _JOINS, frozenset())
    return nodes.assign(target, value)


def _function(build: Builder, signature: Node, body: list[ast.stmt]) -> ast.stmt:
    while signature.type not in ("call_expression", "identifier") and signature.named_child_count:
        signature = signature.named_children[0]
    given = signature.named_children[-1].named_children if signature.type == "call_expression" else []
    params = [text_of(child.named_children[0] if child.named_child_count else child) for child in given]
    return nodes.function(
        params, nodes.returning(body), text_of(signature.named_children[0] if given else signature).partition("(")[0]
    )


def _define(build: Builder, node: Node) -> Made:
    signature, *body = node.named_children
    return [_function(build, signature, build.block(body))]


def _arrow(build: Builder, node: Node) -> Made:
    first, body = node.named_children[0], node.named_children[-1]
    params = [text_of(child) for child in first.named_children] if first.named_child_count else [text_of(first)]
    return nodes.closure(params, nodes.returning(nodes.as_statements(build.made(body))))


def _for(build: Builder, node: Node) -> Made:
    bindings = [child for child in node.named_children if child.type == "for_binding"]
    made = build.block(child for child in node.named_children if child.type != "for_binding")
    for binding in reversed(bindings):
        parts = [child for child in binding.named_children if child.type != "operator"]
        made = nodes.loop(build.expr(parts[0]), build.expr(parts[-1]), made)
    return made


def _operator(build: Builder, node: Node) -> Made:
    left, right = node.named_children[0], node.named_children[-1]
    sign = next((text_of(child) for child in node.named_children if child.type == "operator"), "")
    if sign == "|>":
        return nodes.call(build.expr(right), [build.expr(left)])
    if sign == "=>":
        return ast.Tuple([build.expr(left), build.expr(right)])
    return grammar.binary(sign, build.expr(left), build.expr(right), _JOINS, frozenset({"||"}))


def _ternary(build: Builder, node: Node) -> Made:
    test, yes, no = (build.exprs(node.named_children) + [nodes.NOTHING] * 3)[:3]
    return ast.IfExp(test, yes, no)


_RULES: dict[str, Rule] = {
    **grammar.COMMON,
    "string_literal": grammar.texts,
    "command_literal": _command,
    "prefixed_string_literal": lambda build, node: nodes.text("".join(map(text_of, node.named_children[1:]))),
    "call_expression": _call,
    "broadcast_call_expression": _broadcast,
    "macrocall_expression": _macro,
    "field_expression": grammar.member,
    "index_expression": _index,
    **dict.fromkeys(["assignment", "compound_assignment_expression", "let_binding"], _assign),
    **dict.fromkeys(["function_definition", "macro_definition"], _define),
    "arrow_function_expression": _arrow,
    "for_statement": _for,
    "binary_expression": _operator,
    "unary_expression": grammar.negated,
    "range_expression": lambda build, node: nodes.call("<range>", build.exprs(node.named_children)),
    "ternary_expression": _ternary,
    **dict.fromkeys(["vector_expression", "tuple_expression"], grammar.elements),
    **dict.fromkeys(
        "compound_statement let_statement module_definition else_clause finally_clause try_statement source_file".split(),
        grammar.block,
    ),
    "catch_clause": grammar.maybe,
    **dict.fromkeys(["using_statement", "import_statement", "export_statement", "operator"], grammar.quiet),
}
_JULIA = CodeLanguage("Julia", "julia", by_grammar("julia", _RULES), damaged=read_other)
