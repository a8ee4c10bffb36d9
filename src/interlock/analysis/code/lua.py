"""Lua source -> its effects."""

from __future__ import annotations

import ast

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Node, text_of
from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.values import Marked
from interlock.analysis.code.templates import by_grammar
from interlock.analysis.facts import hole


def _table(build: Builder, node: Node) -> nodes.Made:
    pairs: list[tuple[ast.expr | None, ast.expr]] = []
    for child in node.named_children:
        key = child.child_by_field_name("name")
        named = key is not None and key.type == "identifier" and child.children[0].type != "["
        made = nodes.text(text_of(key)) if named else build.expr(key) if key is not None else None
        pairs.append((made, build.field(child, "value")))
    return grammar.mapping(pairs, 1)


def _for_each(build: Builder, node: Node) -> nodes.Made:
    clause, body = node.child_by_field_name("clause"), build.body(node.child_by_field_name("body"))
    if clause is None:
        return nodes.repeat(grammar.CONDITION, body)
    if clause.type != "for_generic_clause":
        ends = nodes.call("<range>", [build.field(clause, "start"), build.field(clause, "end")])
        return nodes.loop(build.field(clause, "name"), ends, body)
    names, over = clause.named_children[0].named_children, clause.named_children[-1].named_children[0]
    return nodes.loop_last(build.exprs(names), build.expr(over), body)


read_lua = CodeLanguage(
    "Lua",
    "lua",
    by_grammar("lua", _table, _for_each),
    names={"arg": [Marked(hole("arg"), {"bulk"})]},
    first=1,
).read
