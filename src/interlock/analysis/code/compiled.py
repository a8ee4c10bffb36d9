"""Java, Go and C# source -> its effects: what `jshell`, `go run` and `dotnet script` would run."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Node, Rule, text_of
from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.other import read_other
from interlock.analysis.code.program import nodes
from interlock.analysis.code.templates import by_grammar
from interlock.analysis.facts import Report

_LISTS = frozenset({"array_type", "slice_type", "implicit_type"})


class _ProgramBuilder(Builder):
    """Calls the function that a program begins with, where it has one."""

    def module(self, source: str) -> tuple[ast.Module, bool]:
        if self.key == "go" and not re.search(r"(?m)^\s*(?:package|func)\s", source):  # statements for an interpreter
            source = f"package main\nfunc main() {{\n{source}\n}}"
        made, whole = super().module(source)
        names = [node.name for node in made.body if isinstance(node, ast.FunctionDef)]
        begins: list[ast.stmt] = [ast.Expr(nodes.call(name)) for name in names if name in ("main", "Main")]
        return ast.Module(made.body + begins, []), whole


def _reference(build: Builder, node: Node) -> nodes.Made:
    """File::delete: the function itself, or a method of what it is given."""
    owner, method = node.named_children[0], text_of(node.named_children[-1])
    given = nodes.call(nodes.member(nodes.name("it"), method))
    return nodes.closure(["it"], [ast.Return(given)]) if text_of(owner) != "Files" else nodes.path(f"Files.{method}")


def _new(build: Builder, node: Node) -> nodes.Made:
    kind, first = node.child_by_field_name("type"), node.child_by_field_name("initializer")
    if kind is not None and kind.type in _LISTS and first is not None:
        return build.expr(first)
    args, named = grammar.given(build, node, "arguments")
    for child in first.named_children if first is not None else ():
        if child.type == "assignment_expression":
            named.append(nodes.named(text_of(child, "left"), build.field(child, "right")))
    title = text_of(kind).rpartition(".")[2].partition("<")[0]
    return nodes.call(nodes.member(nodes.name(title), "new"), args, named)


def _composite(build: Builder, node: Node) -> nodes.Made:
    """Go's []string{…}, map[string]int{…} and T{…}."""
    kind, body = node.child_by_field_name("type"), node.child_by_field_name("body")
    found = body.named_children if body is not None else []
    if kind is not None and kind.type in ("slice_type", "array_type", "implicit_length_array_type"):
        return ast.List(build.exprs(found))
    items = [one.named_children for one in found if one.named_child_count]
    pairs = [(text_of(one[0]).strip('"'), build.expr(one[-1])) for one in items]
    if kind is not None and kind.type == "map_type":
        return grammar.mapping([(nodes.text(key), value) for key, value in pairs])
    title = text_of(kind).replace("*", "")
    called = f"{title}.new" if title.replace(".", "").isidentifier() else "new"
    return nodes.call(called, [], [nodes.named(*pair) for pair in pairs])


def _ranged(build: Builder, node: Node) -> nodes.Made:
    clause = next((child for child in node.named_children if child.type == "range_clause"), None)
    if clause is None:
        return grammar.counted(build, node)
    left = clause.child_by_field_name("left")
    target = build.expr(left.named_children[-1]) if left is not None else grammar.CONDITION
    return nodes.loop(target, build.field(clause, "right"), build.body(node, "body"))


def _flags(build: Builder, node: Node) -> nodes.Made:
    """Go's `os.O_APPEND|os.O_WRONLY` by its names; other operators as everywhere."""
    named = text_of(node)
    return nodes.text(named) if "O_" in named and "|" in named and "(" not in named else grammar.operator(build, node)


def _reader(name: str, key: str, *own: Rule) -> Callable[[str, Report], None]:
    parse = by_grammar(key, _new, *own, builder=_ProgramBuilder)
    return CodeLanguage(name, key, parse, damaged=read_other).read


read_java = _reader("Java", "java", _reference)
read_go = _reader("Go", "go", _composite, _flags, _ranged)
read_csharp = _reader("C#", "csharp")
