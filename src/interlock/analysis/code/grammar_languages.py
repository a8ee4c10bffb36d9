"""Lua, PHP, Julia, Ruby, Java, Go and C# source -> its effects, each by its grammar and a few rules of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from itertools import chain

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Node, child_of, children, part, text_of
from interlock.analysis.code.language import CodeLanguage, holes
from interlock.analysis.code.library import library
from interlock.analysis.code.other import read_other
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import Made
from interlock.analysis.code.templates import by_grammar, rules_of
from interlock.analysis.facts import Report

# -- Lua


def _lua_for_each(build: Builder, node: Node) -> Made:
    clause, body = part(node, "clause"), build.body(node, "body")
    if clause is None:
        return nodes.repeat(nodes.CONDITION, body)
    if clause.type != "for_generic_clause":
        ends = nodes.call("<range>", [build.expr(clause, "start"), build.expr(clause, "end")])
        return nodes.loop(build.expr(clause, "name"), ends, body)
    names, over = clause.named_children[0].named_children, clause.named_children[-1].named_children[0]
    return nodes.loop_last(build.exprs(names), build.expr(over), body)


read_lua = CodeLanguage("Lua", "lua", by_grammar("lua", "grammar_languages"), first=1).read


# -- PHP


def _php_document(build: Builder, node: Node) -> Made:
    value = part(node, "value")
    if node.type == "nowdoc":
        return nodes.text(text_of(value).strip("\n"))
    return grammar.texts(build, value) if value else nodes.text("")


def _php_new(build: Builder, node: Node) -> Made:
    made = nodes.member(build.expr(node.named_children[0]), "new")
    return nodes.call(made, *grammar.given(build, child_of(node, "arguments")))


def _php_foreach(build: Builder, node: Node) -> Made:
    parts = [child for child in node.named_children if child != part(node, "body")]
    names = parts[-1].named_children if parts[-1].type == "pair" else parts[-1:]
    return nodes.loop_last(build.exprs(names), build.expr(parts[0]), build.body(node, "body"))


def _php_parse(source: str) -> nodes.Program:
    """With or without its opening tag; ends its last statement."""
    ended = source if source.rstrip().endswith((";", "}", ">")) else f"{source};"
    key = "php" if "<?" in source else "php_only"
    return Builder(key, rules_of("php", "grammar_languages")).program(ended)


read_php = CodeLanguage("PHP", "php", _php_parse, variable=holes("$")).read


# -- Julia


def _julia_command(build: Builder, node: Node) -> Made:
    """`rm $x`: words, of which a value is one, or part of one."""
    words: list[list[str | ast.expr]] = [[]]
    made = grammar.texts(build, node)
    for piece in made.values if isinstance(made, ast.JoinedStr) else [made]:
        if isinstance(piece, ast.Constant):
            first, *rest = str(piece.value).split(" ")
            words[-1] += [first] if first else []
            words += [[word] if word else [] for word in rest]
        else:
            words[-1].append(piece)
    found = [nodes.joined(word) if len(word) > 1 or isinstance(word[0], str) else word[0] for word in words if word]
    return ast.List(found)


def _julia_call(build: Builder, node: Node) -> Made:
    callee, *parts = node.named_children
    given = [grammar.given(build, part) if part.type == "argument_list" else ([build.expr(part)], []) for part in parts]
    return nodes.call(build.expr(callee), *(chain.from_iterable(kind) for kind in zip(*given, strict=True)))


def _julia_assign(build: Builder, node: Node) -> Made:
    left, right = node.named_children[0], node.named_children[-1]
    if left.type == "call_expression":  # f(x) = …
        return [_julia_function(left, [ast.Return(build.expr(right))])]
    return grammar.assigned(build, node)


def _julia_function(signature: Node, body: list[ast.stmt]) -> ast.stmt:
    while signature.type not in ("call_expression", "identifier") and signature.named_child_count:
        signature = signature.named_children[0]
    given = signature.named_children[-1].named_children if signature.type == "call_expression" else []
    params = [text_of(child.named_children[0] if child.named_child_count else child) for child in given]
    title = text_of(signature).partition("(")[0]
    return nodes.function(params, nodes.returning(body), title)


def _julia_define(build: Builder, node: Node) -> Made:
    return [_julia_function(node.named_children[0], build.block(node.named_children[1:]))]


def _julia_for_each(build: Builder, node: Node) -> Made:
    bindings = [child for child in node.named_children if child.type == "for_binding"]
    made = build.block(child for child in node.named_children if child.type != "for_binding")
    for binding in reversed(bindings):
        parts = [child for child in binding.named_children if child.type != "operator"]
        made = nodes.loop(build.expr(parts[0]), build.expr(parts[-1]), made)
    return made


read_julia = CodeLanguage("Julia", "julia", by_grammar("julia", "grammar_languages"), damaged=read_other, first=1).read


# -- Ruby; `-n`, `-p` and `-i` are the caller's


def _ruby_identifier(build: Builder, node: Node) -> Made:
    named = text_of(node)
    made = nodes.name(named)
    is_call = named in library("ruby").calls and named not in build.scopes[0]
    return nodes.call(made) if is_call else made


def _ruby_block_argument(build: Builder, node: Node) -> Made:
    inner = node.named_children[0] if node.named_child_count else None
    if inner and inner.type == "simple_symbol":
        return nodes.closure(["it"], [ast.Return(nodes.call(nodes.member(nodes.name("it"), text_of(inner)[1:])))])
    return build.expr(inner)


def _ruby_call(build: Builder, node: Node) -> Made:
    receiver, method = part(node, "receiver"), text_of(node, "method")
    args, named = grammar.given(build, node, "arguments")
    if block := part(node, "block"):
        if receiver is None and method == "loop":
            return nodes.repeat(ast.Constant(True), build.body(block, "body"))
        args.append(_ruby_closure(build, block))
    if receiver is None and method in ("lambda", "proc") and args:
        return args[-1]
    if receiver is None or text_of(receiver) in ("self", "Kernel", "Object"):
        return nodes.call(nodes.name(method), args, named)
    owner = build.expr(receiver)
    return nodes.call(nodes.member(owner, method) if method else owner, args, named)


def _ruby_closure(build: Builder, node: Node) -> ast.expr:
    params = grammar.params(build, node, "parameters")
    body = nodes.returning(build.body(node, "body"))
    return nodes.closure(params or (["_1"] if "_1" in text_of(node) else ["it"]), body)


def _ruby_assign(build: Builder, node: Node) -> Made:
    left, sign = node.named_children[0], text_of(node, "operator")
    right = build.expr(node, "right")
    return _ruby_set(build, left, nodes.binary(sign[:-1], build.expr(left), right, build.joins) if sign else right)


def _ruby_set(build: Builder, left: Node, right: ast.expr) -> list[ast.stmt]:
    """`a.b = …` calls no method `b`; a name with a sign belongs to all functions."""
    names = {"identifier": [left], "left_assignment_list": left.named_children}.get(left.type, [])
    build.scopes[0].update({text_of(one).lstrip("*"): "" for one in names})
    target = build.expr(left)
    target = target.func if isinstance(target, ast.Call) else target
    shared = isinstance(target, ast.Name) and target.id.startswith(("@", "$"))
    return [*([ast.Global([text_of(left)])] if shared else ()), *nodes.assign(target, right)]


def _ruby_added(build: Builder, node: Node) -> Made:
    if text_of(node, "operator") != "<<":
        return grammar.operator(build, node)
    left = node.named_children[0]
    added = nodes.call(nodes.member(build.expr(left), "<<"), [build.expr(node, "right")])
    stays = left.type.endswith(("identifier", "variable"))  # what is added to stays under its name
    return _ruby_set(build, left, added) if stays else added


read_ruby = CodeLanguage("Ruby", "ruby", by_grammar("ruby", "grammar_languages"), variable=holes("@$")).read


# -- Java, Go and C#: what `jshell`, `go run` and `dotnet script` would run


class _ProgramBuilder(Builder):
    """Calls the function that a program begins with, where it has one."""

    def program(self, source: str) -> nodes.Program:
        if self.key == "go" and not re.search(r"(?m)^\s*(?:package|func)\s", source):  # statements for an interpreter
            source = f"package main\nfunc main() {{\n{source}\n}}"
        body, whole = super().program(source)
        names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
        return [*body, *(ast.Expr(nodes.call(name)) for name in names if name in ("main", "Main"))], whole


def _reference(build: Builder, node: Node) -> Made:
    """File::delete: the function itself, or a method of what it is given."""
    owner, method = node.named_children[0], text_of(node.named_children[-1])
    given = nodes.call(nodes.member(nodes.name("it"), method))
    return nodes.closure(["it"], [ast.Return(given)]) if text_of(owner) != "Files" else nodes.path(f"Files.{method}")


def _new(build: Builder, node: Node) -> Made:
    kind, first = part(node, "type"), part(node, "initializer")
    if kind and kind.type in build.kinds["lists"] and first:
        return build.expr(first)
    args, named = grammar.given(build, node, "arguments")
    for child in children(first):
        if child.type == "assignment_expression":
            named.append(nodes.named(text_of(child, "left"), build.expr(child, "right")))
    title = text_of(kind).rpartition(".")[2].partition("<")[0]
    return nodes.call(nodes.member(nodes.name(title), "new"), args, named)


def _composite(build: Builder, node: Node) -> Made:
    """`[]string{…}`, `map[string]int{…}` and `T{…}`."""
    kind, found = getattr(part(node, "type"), "type", ""), children(node, "body")
    if kind in build.kinds["lists"]:
        return ast.List(build.exprs(found))
    items = [one.named_children for one in found if one.named_child_count]
    pairs = [(text_of(one[0]).strip('"'), build.expr(one[-1])) for one in items]
    if kind == "map_type":
        return grammar.mapping([(nodes.text(key), value) for key, value in pairs])
    title = text_of(node, "type").replace("*", "")
    called = f"{title}.new" if title.replace(".", "").isidentifier() else "new"
    return nodes.call(called, [], [nodes.named(*pair) for pair in pairs])


def _ranged(build: Builder, node: Node) -> Made:
    clause = child_of(node, "range_clause")
    if clause is None:
        return grammar.counted(build, node)
    targets = children(clause, "left")
    target = build.expr(targets[-1]) if targets else nodes.CONDITION
    return nodes.loop(target, build.expr(clause, "right"), build.body(node, "body"))


def _flags(build: Builder, node: Node) -> Made:
    """`os.O_APPEND|os.O_WRONLY` by its names; other operators as everywhere."""
    named = text_of(node)
    return nodes.text(named) if "O_" in named and "|" in named and "(" not in named else grammar.operator(build, node)


def _reader(name: str, key: str) -> Callable[[str, Report], None]:
    return CodeLanguage(name, key, by_grammar(key, "grammar_languages", _ProgramBuilder), damaged=read_other).read


read_java, read_go, read_csharp = _reader("Java", "java"), _reader("Go", "go"), _reader("C#", "csharp")
