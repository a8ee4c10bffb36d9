"""Elixir source -> its effects."""

from __future__ import annotations

import ast

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Node, Rule, text_of
from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import Made
from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.code.templates import by_grammar

_NARROWS = frozenset({"where", "limit", "or_where", "join"})


def _atom(build: Builder, node: Node) -> Made:
    named = text_of(node)
    is_module = node.parent is not None and node.parent.type == "dot"
    return nodes.name(named) if is_module else nodes.text(named.removeprefix(":").strip('"'))


def _sigil(build: Builder, node: Node) -> Made:
    kind = next((text_of(child) for child in node.children if child.type == "sigil_name"), "s")
    made = grammar.texts(build, node) if kind.islower() else nodes.text(text_of(node)[3:-1])
    if kind in ("w", "W") and isinstance(made, ast.Constant):
        return ast.List([nodes.text(word) for word in str(made.value).removeprefix(kind).split()])
    return made


def _given(build: Builder, node: Node) -> tuple[list[ast.expr], list[ast.keyword]]:
    """The arguments of a call, its block of code as one of them."""
    args = [build.expr(child) for child in _arguments(node) if child.type != "keywords"]
    if (block := _do_block(node)) is not None:
        args.append(nodes.closure([], build.block(block.named_children)))
    return args, [nodes.named(key, build.expr(value)) for key, value in _options(node)]


def _arguments(node: Node) -> list[Node]:
    return next((child.named_children for child in node.named_children if child.type == "arguments"), [])


def _first(node: Node) -> Node | None:
    return next(iter(_arguments(node)), None)


def _do_block(node: Node) -> Node | None:
    return next((child for child in node.named_children if child.type == "do_block"), None)


def _pairs(node: Node) -> list[tuple[str, Node]]:
    found = [(pair.child_by_field_name("key"), pair.child_by_field_name("value")) for pair in node.named_children]
    return [(text_of(key).strip().rstrip(":").strip('"'), value) for key, value in found if value is not None]


def _options(node: Node) -> list[tuple[str, Node]]:
    """The arguments of a call that have names."""
    return [pair for child in _arguments(node) if child.type == "keywords" for pair in _pairs(child)]


def _keywords(build: Builder, node: Node) -> Made:
    return grammar.mapping([(nodes.text(key), build.expr(value)) for key, value in _pairs(node)])


def _call(build: Builder, node: Node) -> Made:
    target = node.child_by_field_name("target")
    form = _FORMS.get(text_of(target)) if target is not None and target.type == "identifier" else None
    if form is not None:
        return form(build, node)
    return nodes.call(build.expr(target), *_given(build, node))


def _body(build: Builder, node: Node, word: str = "do") -> list[ast.stmt]:
    """What stands between `do` and `end`, or after `do:`; `else` and its like are parts of that block."""
    block = _do_block(node)
    if block is not None:
        own = [child for child in block.named_children if not child.type.endswith("_block")]
        other = [child for child in block.named_children if child.type == f"{word}_block"]
        return build.block(own if word == "do" else [inner for child in other for inner in child.named_children])
    return next((nodes.as_statements(build.made(value)) for key, value in _options(node) if key == word), [])


def _if(build: Builder, node: Node) -> Made:
    return nodes.branch(build.expr(_first(node)), _body(build, node), _body(build, node, "else"))


def _case(build: Builder, node: Node) -> Made:
    """case, cond and receive: each clause may be the one, and takes the subject apart."""
    subject, block = _first(node), _do_block(node)
    made: list[ast.stmt] = nodes.assign(nodes.name("<subject>"), build.expr(subject)) if subject is not None else []
    for clause in block.named_children if block is not None else ():
        left, right = clause.child_by_field_name("left"), clause.child_by_field_name("right")
        inner = build.block(right.named_children) if right is not None else []
        for pattern in left.named_children if left is not None else ():
            if subject is not None:
                inner = [*nodes.assign(build.expr(pattern), nodes.name("<subject>")), *inner]
            else:
                made.append(ast.Expr(build.expr(pattern)))
        made += nodes.branch(grammar.CONDITION, inner, [])
    return made


def _for(build: Builder, node: Node) -> Made:
    body = _body(build, node)
    for child in reversed(_arguments(node)):
        if child.type == "binary_operator" and text_of(child.child_by_field_name("operator")) == "<-":
            body = nodes.loop(build.field(child, "left"), build.field(child, "right"), body)
    return body


def _try(build: Builder, node: Node) -> Made:
    """try and with: what else there is may not run."""
    made = [*build.block(child for child in _arguments(node) if child.type != "keywords"), *_body(build, node)]
    for other in filter(None, (_body(build, node, word) for word in ("else", "rescue", "catch", "after"))):
        made += nodes.branch(grammar.CONDITION, other, [])
    return made


def _define(build: Builder, node: Node) -> Made:
    head = _first(node)
    while head is not None and head.type == "binary_operator":
        head = head.child_by_field_name("left")
    if head is None:
        return []
    target = head.child_by_field_name("target") if head.type == "call" else head
    params = [text_of(param).split("\\\\")[0].strip() for param in _arguments(head)] if head.type == "call" else []
    return [nodes.function(params, nodes.returning(_body(build, node)), text_of(target))]


def _from(build: Builder, node: Node) -> Made:
    """from x in Table, where: …: which table, and whether all of it."""
    first = _first(node)
    table = build.field(first, "right") if first is not None and first.type == "binary_operator" else build.expr(first)
    return nodes.member(table, "where") if any(key in _NARROWS for key, _ in _options(node)) else table


_FORMS: dict[str, Rule] = {
    **dict.fromkeys(["if", "unless"], _if),
    **dict.fromkeys(["case", "cond", "receive"], _case),
    **dict.fromkeys(["def", "defp", "defmacro", "defmacrop", "test"], _define),
    **dict.fromkeys(["import", "alias", "require", "use"], lambda build, node: []),
    "defmodule": lambda build, node: _body(build, node),
    "for": _for,
    **dict.fromkeys(["try", "with"], _try),
    "from": _from,
}  # fmt: skip


def _function(build: Builder, node: Node) -> Made:
    params: list[str] = []
    body: list[ast.stmt] = []
    for clause in node.named_children:
        left, right = clause.child_by_field_name("left"), clause.child_by_field_name("right")
        params = params or ([text_of(child) for child in left.named_children] if left is not None else [])
        body += build.block(right.named_children) if right is not None else []
    return nodes.closure(params, nodes.returning(body))


def _operation(build: Builder, node: Node) -> Made:
    sign = text_of(node.child_by_field_name("operator"))
    right = node.child_by_field_name("right")
    if sign in ("=", "<-"):
        return nodes.assign(build.field(node, "left"), build.expr(right))
    if sign == "|":
        return ast.Tuple([build.field(node, "left"), ast.Starred(build.expr(right))])
    if sign == "/" and right is not None and right.type == "integer":
        left = build.field(node, "left")  # a function by its name and the number of its arguments
        return left.func if isinstance(left, ast.Call) and not left.args else left
    return grammar.binary(sign, build.field(node, "left"), build.expr(right), build.joins)


def _unary(build: Builder, node: Node) -> Made:
    sign = text_of(node.child_by_field_name("operator"))
    operand = next((child for child in reversed(node.children) if child.is_named and child.type != "operator"), None)
    if sign == "&":
        if operand is not None and operand.type == "integer":
            return nodes.name(f"&{text_of(operand)}")
        made = build.expr(operand)
        return nodes.closure(["&1", "&2"], [ast.Return(made)]) if "&" in text_of(operand) else made
    return ast.UnaryOp(ast.USub() if sign == "-" else ast.Not(), build.expr(operand))


def _list_of(build: Builder, node: Node) -> Made:
    made = build.exprs(node.named_children)
    if len(made) == 1 and isinstance(made[0], (ast.Tuple, ast.Dict)) and node.named_children[0].type != "tuple":
        return made[0]  # [head | tail], or a list of keywords
    return ast.List(made)


def _rows(walk: ProgramWalk, call: LibraryCall) -> Value:
    """Rows that a repository deletes: all of a table, or those of a query."""
    query = call.get(0)
    if not call.path.endswith(f"Repo.{call.name}") or not isinstance(query, Sym):
        return UNKNOWN
    whole = query.path[:1].isupper() and ".where" not in query.path and call.name == "delete_all"
    walk.world.effect("sql_delete", query.path.split(".where")[0], *(("unfiltered",) if whole else ()))
    return Sym("?")


def _narrowed(walk: ProgramWalk, call: LibraryCall) -> Value:
    query = call.get(0)
    return Sym(f"{query.path}.where") if isinstance(query, Sym) else UNKNOWN


read_elixir = CodeLanguage(
    "Elixir",
    "elixir",
    by_grammar("elixir", _atom, _sigil, _call, _keywords, _function, _operation, _unary, _list_of),
    {**dict.fromkeys(["<any>.delete_all", "<any>.delete", "<any>.delete!"], _rows), "where": _narrowed},
).read
