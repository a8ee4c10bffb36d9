"""Elixir source -> its effects."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import chain

from msgspec import Struct

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Node, children, part, text_of
from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import Made
from interlock.analysis.code.program.values import UNKNOWN, LibraryCall, Sym, Value
from interlock.analysis.code.templates import by_grammar


def _atom(build: Builder, node: Node) -> Made:
    named = text_of(node)
    is_module = node.parent and node.parent.type == "dot"
    return nodes.name(named) if is_module else nodes.text(named.removeprefix(":").strip('"'))


def _sigil(build: Builder, node: Node) -> Made:
    kind = next((text_of(child) for child in node.children if child.type == "sigil_name"), "s")
    made = grammar.texts(build, node) if kind.islower() else nodes.text(text_of(node)[3:-1])
    if kind in ("w", "W") and isinstance(made, ast.Constant):
        return ast.List([nodes.text(word) for word in str(made.value).removeprefix(kind).split()])
    return made


class _Parts(Struct, frozen=True):
    """A call taken apart: its arguments, and its block by the words in it, as `do` and `else`."""

    args: list[Node]
    named: dict[str, Node]
    blocks: dict[str, list[Node]]

    def body(self, word: str = "do") -> list[Node]:
        """What stands behind a word in the block, or after `do:`."""
        if self.blocks or word not in self.named:
            return self.blocks.get(word, [])
        return [self.named[word]]


def _parts(node: Node) -> _Parts:
    inside = {child.type: child.named_children for child in node.named_children}
    listed = inside.get("arguments", [])
    named = dict(pair for child in listed if child.type == "keywords" for pair in _pairs(child))
    blocks: dict[str, list[Node]] = {"do": []} if "do_block" in inside else {}
    for child in inside.get("do_block", ()):
        word, part, _ = child.type.rpartition("_block")
        blocks.setdefault(word if part else "do", []).extend(child.named_children if part else [child])
    return _Parts([child for child in listed if child.type != "keywords"], named, blocks)


def _pairs(node: Node) -> list[tuple[str, Node]]:
    found = [(text_of(pair, "key"), part(pair, "value")) for pair in node.named_children]
    return [(key.strip().rstrip(":").strip('"'), value) for key, value in found if value is not None]


def _keywords(build: Builder, node: Node) -> Made:
    return grammar.mapping([(nodes.text(key), build.expr(value)) for key, value in _pairs(node)])


def _call(build: Builder, node: Node) -> Made:
    target, call = part(node, "target"), _parts(node)
    form = _FORMS.get(text_of(target)) if target and target.type == "identifier" else None
    if form and (call.args or call.blocks):
        return form(build, call)
    args, callee = build.exprs(call.args), build.expr(target)
    if call.blocks:
        args.append(nodes.closure([], build.block(chain.from_iterable(call.blocks.values()))))
    return nodes.call(callee, args, [nodes.named(key, build.expr(value)) for key, value in call.named.items()])


def _if(build: Builder, call: _Parts) -> Made:
    return nodes.branch(nodes.several(build.exprs(call.args)), build.block(call.body()), build.block(call.body("else")))


def _case(build: Builder, call: _Parts) -> Made:
    """Each clause may be the one."""
    subject = nodes.name("<subject>")
    made = [one for value in build.exprs(call.args) for one in nodes.assign(subject, value)]
    for clause in (*call.body(), *call.body("after")):
        inner = build.block(children(clause, "right"))
        for pattern in build.exprs(children(clause, "left")):
            if call.args:
                inner = [*nodes.assign(pattern, subject), *inner]
            else:
                made.append(ast.Expr(pattern))
        made += nodes.maybe(inner)
    return made


def _for(build: Builder, call: _Parts) -> Made:
    body = build.block(call.body())
    for child in reversed(call.args):
        if child.type == "binary_operator" and text_of(child, "operator") == "<-":
            body = nodes.loop(build.expr(child, "left"), build.expr(child, "right"), body)
    return body


def _try(build: Builder, call: _Parts) -> Made:
    """What else there is may not run."""
    made = build.block([*call.args, *call.body()])
    for other in filter(None, map(call.body, ("else", "rescue", "catch", "after"))):
        made += nodes.maybe(build.block(other))
    return made


def _define(build: Builder, call: _Parts) -> Made:
    head = call.args[0]
    while head.type == "binary_operator":
        head = head.named_children[0]
    params = [text_of(param).split("\\\\")[0].strip() for param in _parts(head).args]
    return [nodes.function(params, nodes.returning(build.block(call.body())), text_of(part(head, "target") or head))]


def _from(build: Builder, call: _Parts) -> Made:
    """Which table is queried, and whether all of it."""
    first = call.args[0]
    table = build.expr(first, *["right"] * (first.type == "binary_operator"))
    return table if {"where", "limit", "or_where", "join"}.isdisjoint(call.named) else nodes.member(table, "where")


_FORMS: dict[str, Callable[[Builder, _Parts], Made]] = {
    **dict.fromkeys(["if", "unless"], _if),
    **dict.fromkeys(["case", "cond", "receive"], _case),
    **dict.fromkeys(["def", "defp", "defmacro", "defmacrop", "test"], _define),
    **dict.fromkeys(["import", "alias", "require", "use"], lambda build, call: []),
    "defmodule": lambda build, call: build.block(call.body()),
    "for": _for,
    **dict.fromkeys(["try", "with"], _try),
    "from": _from,
}  # fmt: skip


def _function(build: Builder, node: Node) -> Made:
    params: list[str] = []
    body: list[ast.stmt] = []
    for clause in node.named_children:
        params = params or [text_of(child) for child in children(clause, "left")]
        body += build.block(children(clause, "right"))
    return nodes.closure(params, nodes.returning(body))


def _operation(build: Builder, node: Node) -> Made:
    sign, left, right = text_of(node, "operator"), build.expr(node, "left"), build.expr(node, "right")
    if sign in ("=", "<-"):
        return nodes.assign(left, right)
    if sign == "|":
        return ast.Tuple([left, ast.Starred(right)])
    if sign == "/" and isinstance(right, ast.Constant) and isinstance(left, ast.Call) and not left.args:
        return left.func  # a function by its name and the number of its arguments
    return nodes.binary(sign, left, right, build.joins)


def _unary(build: Builder, node: Node) -> Made:
    sign = text_of(node, "operator")
    operand = next((child for child in reversed(node.children) if child.is_named and child.type != "operator"), None)
    if sign == "&":
        if operand and operand.type == "integer":
            return nodes.name(f"&{text_of(operand)}")
        made = build.expr(operand)
        return nodes.closure(["&1", "&2"], [ast.Return(made)]) if "&" in text_of(operand) else made
    return ast.UnaryOp(ast.USub() if sign == "-" else ast.Not(), build.expr(operand))


def _list_of(build: Builder, node: Node) -> Made:
    made = build.exprs(node.named_children)
    if len(made) == 1 and isinstance(made[0], (ast.Tuple, ast.Dict)) and node.named_children[0].type != "tuple":
        return made[0]  # [head | tail], or a list of keywords
    return ast.List(made)


def _narrowed(call: LibraryCall) -> Value:
    query = call.get(0)
    return Sym(f"{query.path}.where") if isinstance(query, Sym) else UNKNOWN


read_elixir = CodeLanguage("Elixir", "elixir", by_grammar("elixir", "elixir"), {"where": _narrowed}).read
