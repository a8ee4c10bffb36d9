"""PHP source -> its effects."""

from __future__ import annotations

import ast

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Node, text_of
from interlock.analysis.code.language import CodeLanguage, holes
from interlock.analysis.code.program import nodes
from interlock.analysis.code.templates import rules_of


def _document(build: Builder, node: Node) -> nodes.Made:
    value = node.child_by_field_name("value")
    if node.type == "nowdoc":
        return nodes.text(text_of(value).strip("\n"))
    return grammar.texts(build, value) if value is not None else nodes.text("")


def _new(build: Builder, node: Node) -> nodes.Made:
    kind, *rest = node.named_children
    given = next((child for child in rest if child.type == "arguments"), None)
    return nodes.call(nodes.member(build.expr(kind), "new"), *grammar.given(build, given))


def _foreach(build: Builder, node: Node) -> nodes.Made:
    parts = [child for child in node.named_children if child != node.child_by_field_name("body")]
    names = parts[-1].named_children if parts[-1].type == "pair" else parts[-1:]
    return nodes.loop_last(build.exprs(names), build.expr(parts[0]), build.body(node.child_by_field_name("body")))


def _parse(source: str) -> tuple[ast.Module, bool]:
    """The program, with or without its opening tag, and with the end of its last statement."""
    ended = source if source.rstrip().endswith((";", "}", ">")) else f"{source};"
    rules = rules_of("php", _document, _new, _foreach)
    return Builder("php" if "<?" in source else "php_only", rules).module(ended)


read_php = CodeLanguage("PHP", "php", _parse, variable=holes("$")).read
