"""Lua source -> its effects."""

from __future__ import annotations

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Node
from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.program import nodes
from interlock.analysis.code.templates import by_grammar


def _for_each(build: Builder, node: Node) -> nodes.Made:
    clause, body = node.child_by_field_name("clause"), build.body(node.child_by_field_name("body"))
    if clause is None:
        return nodes.repeat(grammar.CONDITION, body)
    if clause.type != "for_generic_clause":
        ends = nodes.call("<range>", [build.field(clause, "start"), build.field(clause, "end")])
        return nodes.loop(build.field(clause, "name"), ends, body)
    names, over = clause.named_children[0].named_children, clause.named_children[-1].named_children[0]
    return nodes.loop_last(build.exprs(names), build.expr(over), body)


read_lua = CodeLanguage("Lua", "lua", by_grammar("lua", _for_each), first=1).read
