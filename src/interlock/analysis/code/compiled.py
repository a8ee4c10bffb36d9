"""Java, Go and C# source -> its effects: what `jshell`, `go run` and `dotnet script` would run."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Rule, text_of
from interlock.analysis.code.language import CodeLanguage, read_with
from interlock.analysis.code.library import flattened
from interlock.analysis.code.other import read_other
from interlock.analysis.code.performing.programs import shell_line
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import Made
from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.results import result
from interlock.analysis.code.program.values import Sym, Value
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.facts import Report

if TYPE_CHECKING:
    from tree_sitter import Node

_JOINS = frozenset({"+"})
_BINARY = grammar.operator(_JOINS)
_LISTS = frozenset({"array_type", "slice_type", "implicit_type"})


def read_java(source: str, out: Report) -> None:
    """Report what a Java program, or a text for jshell, would do."""
    read_with(_JAVA, source, out)


def read_go(source: str, out: Report) -> None:
    """Report what a Go program, or statements for an interpreter of Go, would do."""
    loose = not re.search(r"(?m)^\s*(?:package|func)\s", source)
    read_with(_GO, f"package main\nfunc main() {{\n{source}\n}}" if loose else source, out)


def read_csharp(source: str, out: Report) -> None:
    """Report what a C# program or script would do."""
    read_with(_CSHARP, source, out)


class _ProgramBuilder(Builder):
    """Calls the function that a program begins with, where it has one."""

    def module(self, source: str) -> tuple[ast.Module, bool]:
        made, whole = super().module(source)
        begins = [
            node.name for node in made.body if isinstance(node, ast.FunctionDef) and node.name in ("main", "Main")
        ]
        return ast.Module([*made.body, *(ast.Expr(nodes.call(name)) for name in begins)], []), whole


# -- texts and names


def _go_text(build: Builder, node: Node) -> Made:
    raw = text_of(node)[1:-1]
    return nodes.text(raw if node.type == "raw_string_literal" else grammar.unescaped(raw))


def _verbatim(build: Builder, node: Node) -> Made:
    return nodes.text(text_of(node).lstrip("@")[1:-1].replace('""', '"'))


def _interpolation(build: Builder, node: Node) -> Made:
    inner = [child for child in node.named_children if child.type != "interpolation_brace"]
    return nodes.several(build.exprs(inner[:1]))


def _optional(build: Builder, node: Node) -> Made:
    """a?.b"""
    last = node.named_children[-1]
    return nodes.member(build.field(node, "condition"), text_of(last.child_by_field_name("name")))


def _reference(build: Builder, node: Node) -> Made:
    """File::delete: the function itself, or a method of what it is given."""
    owner, method = node.named_children[0], text_of(node.named_children[-1])
    given = nodes.call(nodes.member(nodes.name("it"), method))
    return nodes.closure(["it"], [ast.Return(given)]) if text_of(owner) != "Files" else nodes.path(f"Files.{method}")


# -- calls


def _new(build: Builder, node: Node) -> Made:
    kind, first = node.child_by_field_name("type"), node.child_by_field_name("initializer")
    if kind is not None and kind.type in _LISTS and first is not None:
        return build.expr(first)
    args, named = grammar.given(build, node.child_by_field_name("arguments"))
    for child in first.named_children if first is not None else ():
        if child.type == "assignment_expression":
            named.append(nodes.named(text_of(child.child_by_field_name("left")), build.field(child, "right")))
    title = text_of(kind).rpartition(".")[2].partition("<")[0]
    return nodes.call(nodes.member(nodes.name(title), "new"), args, named)


def _composite(build: Builder, node: Node) -> Made:
    """Go's []string{…}, map[string]int{…} and T{…}."""
    kind, body = node.child_by_field_name("type"), node.child_by_field_name("body")
    items = body.named_children if body is not None else []
    if kind is not None and kind.type in ("slice_type", "array_type", "implicit_length_array_type"):
        return ast.List(build.exprs(items))
    pairs = [
        (text_of(one.named_children[0]).strip('"'), build.expr(one.named_children[-1]))
        for one in items
        if one.named_child_count
    ]
    if kind is not None and kind.type == "map_type":
        return ast.Dict([nodes.text(key) for key, _ in pairs], [value for _, value in pairs])
    title = text_of(kind).replace("*", "")
    return nodes.call(
        f"{title}.new" if title.replace(".", "").isidentifier() else "new", [], [nodes.named(*pair) for pair in pairs]
    )


def _index(build: Builder, node: Node) -> Made:
    owner = build.expr(node.named_children[0])
    bounds = [node.child_by_field_name("start"), node.child_by_field_name("end")]
    if node.type == "slice_expression":
        return nodes.item(owner, ast.Slice(*(build.expr(one) if one is not None else None for one in bounds)))
    key = node.named_children[-1]
    inner = (
        key.named_children[0].named_children[0]
        if key.type == "bracketed_argument_list" and key.named_child_count
        else key
    )
    if inner.type == "range_expression":
        return nodes.item(
            owner, ast.Slice(build.expr(inner.named_children[0]) if inner.named_child_count else None, None)
        )
    return nodes.item(owner, build.expr(inner))


# -- functions and statements


def _declared(build: Builder, node: Node) -> Made:
    named = node.child_by_field_name("name")
    value = node.child_by_field_name("value") or (node.named_children[-1] if node.named_child_count > 1 else None)
    if value is None or value == named:
        return []
    return nodes.assign(build.expr(named), build.expr(value))


def _assign(build: Builder, node: Node) -> Made:
    """An assignment; of several results the first is the one that counts."""
    targets, values = (_listed(build, node.child_by_field_name(side)) for side in ("left", "right"))
    sign = text_of(node.child_by_field_name("operator"))
    if sign not in ("", "=", ":=") and targets and values:
        values = [grammar.binary(sign[:-1], targets[0], values[0], _JOINS, frozenset({"??"}))]
    padded = [*values, *[nodes.NOTHING] * len(targets)]
    return [made for target, value in zip(targets, padded, strict=False) for made in nodes.assign(target, value)]


def _listed(build: Builder, node: Node | None) -> list[ast.expr]:
    if node is None:
        return []
    return build.exprs(node.named_children if node.type == "expression_list" else [node])


def _each(build: Builder, node: Node) -> Made:
    """for (File f : files), foreach (var f in files)."""
    named, over = grammar.first_field(node, "name", "left"), grammar.first_field(node, "value", "right")
    return nodes.loop(build.expr(named), build.expr(over), build.body(node.child_by_field_name("body")))


def _go_for(build: Builder, node: Node) -> Made:
    clause = next((child for child in node.named_children if child.type == "range_clause"), None)
    if clause is None:
        return grammar.counted(build, node)
    target = next(reversed(_listed(build, clause.child_by_field_name("left"))), grammar.CONDITION)
    return nodes.loop(target, build.field(clause, "right"), build.body(node.child_by_field_name("body")))


def _if(build: Builder, node: Node) -> Made:
    first = node.child_by_field_name("initializer")
    return [*(build.body(first) if first is not None else []), *nodes.as_statements(grammar.choice(build, node))]


_SHARED: Mapping[str, Rule] = {
    **grammar.COMMON,
    **dict.fromkeys(["type_identifier", "field_identifier", "package_identifier", "this"], grammar.name),
    **dict.fromkeys(["field_access", "selector_expression", "member_access_expression"], grammar.member),
    **dict.fromkeys(["method_invocation", "call_expression", "invocation_expression"], grammar.called),
    **dict.fromkeys(["object_creation_expression"], _new),
    **dict.fromkeys(["decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "int_literal"], grammar.number),
    "binary_expression": _BINARY,
    **dict.fromkeys(["unary_expression", "prefix_unary_expression"], grammar.negated),
    **dict.fromkeys(["ternary_expression", "conditional_expression"], grammar.ternary),
    **dict.fromkeys(["array_access", "index_expression", "slice_expression", "element_access_expression"], _index),
    **dict.fromkeys(["array_initializer", "initializer_expression", "literal_value"], grammar.elements),
    **dict.fromkeys(["lambda_expression", "func_literal", "anonymous_method_expression"], grammar.closed),
    **dict.fromkeys(["method_declaration", "function_declaration", "local_function_statement", "constructor_declaration"], grammar.defined),
    **dict.fromkeys(["variable_declarator", "var_spec", "const_spec", "resource"], _declared),
    **dict.fromkeys(["assignment_expression", "assignment_statement", "short_var_declaration"], _assign),
    **dict.fromkeys(["enhanced_for_statement", "foreach_statement"], _each),
    "for_statement": grammar.counted,
    **dict.fromkeys(["update_expression", "inc_statement", "dec_statement", "postfix_unary_expression"], grammar.counted_up),
    "if_statement": _if,
    **dict.fromkeys(["try_statement", "try_with_resources_statement", "switch_expression", "switch_statement"], grammar.attempts),
    **dict.fromkeys(["switch_block", "switch_body", "expression_switch_statement", "type_switch_statement", "select_statement"], grammar.attempts),
    **dict.fromkeys(["class_declaration", "record_declaration", "struct_declaration", "namespace_declaration"], grammar.body),
    **dict.fromkeys(
        ["statement_list", "class_body", "declaration_list", "switch_block_statement_group", "switch_section", "expression_case",
         "default_case", "catch_clause", "finally_clause", "global_statement", "local_variable_declaration", "variable_declaration",
         "local_declaration_statement", "field_declaration", "var_declaration", "const_declaration", "resource_specification"],
        grammar.block,
    ),
    **dict.fromkeys(
        ["import_declaration", "package_clause", "package_declaration", "using_directive", "modifiers", "modifier", "type_list",
         "integral_type", "void_type", "array_type", "generic_type", "implicit_type", "predefined_type", "catch_formal_parameter",
         "catch_declaration", "switch_label", "dimensions", "empty_statement", "type_declaration", "interface_declaration", "throws",
         "break_statement", "continue_statement", "constant_pattern"],
        grammar.quiet,
    ),
}  # fmt: skip


def _cast(build: Builder, node: Node) -> Made:
    return build.field(node, "value")


_JAVA_RULES: Mapping[str, Rule] = {
    **_SHARED,
    "string_literal": grammar.texts,
    "character_literal": lambda build, node: nodes.text(grammar.unescaped(text_of(node)[1:-1])),
    "method_reference": _reference,
    "array_creation_expression": lambda build, node: build.field(node, "value"),
    "cast_expression": _cast,
    "local_variable_declaration": lambda build, node: build.block(node.children_by_field_name("declarator")),
    "field_declaration": lambda build, node: build.block(node.children_by_field_name("declarator")),
}
_GO_RULES: Mapping[str, Rule] = {
    **_SHARED,
    **dict.fromkeys(["interpreted_string_literal", "raw_string_literal"], _go_text),
    "composite_literal": _composite,
    "binary_expression": lambda build, node: _flags(build, node),
    "type_conversion_expression": lambda build, node: build.field(node, "operand"),
    "for_statement": _go_for,
}
_CSHARP_RULES: Mapping[str, Rule] = {
    **_SHARED,
    "string_literal": grammar.texts,
    "verbatim_string_literal": _verbatim,
    "interpolated_string_expression": grammar.texts,
    "interpolation": _interpolation,
    "conditional_access_expression": _optional,
    "cast_expression": _cast,
    "foreach_statement": _each,
    "generic_name": lambda build, node: nodes.name(text_of(node).partition("<")[0]),
    "qualified_name": lambda build, node: nodes.path(text_of(node)),
}


def _flags(build: Builder, node: Node) -> Made:
    """Go's `os.O_APPEND|os.O_WRONLY` by its names; other operators as everywhere."""
    named = text_of(node)
    return nodes.text(named) if "O_" in named and "|" in named and "(" not in named else _BINARY(build, node)


def _start(walk: ProgramWalk, call: LibraryCall) -> Value:
    """Process.Start: a program with its words as a list, or as one line."""
    words = flattened(call.args)
    if any(isinstance(given, list) for given in call.args[1:]):
        walk.world.run(words, call)
    elif words:
        return shell_line(walk, result("join", [" ", words]), call)
    return Sym("?")


_JAVA = CodeLanguage("Java", "java", _ProgramBuilder("java", _JAVA_RULES).module, damaged=read_other)
_GO = CodeLanguage("Go", "go", _ProgramBuilder("go", _GO_RULES).module, damaged=read_other)
_CSHARP = CodeLanguage(
    "C#", "csharp", _ProgramBuilder("csharp", _CSHARP_RULES).module, {"Process.Start": _start}, damaged=read_other
)
