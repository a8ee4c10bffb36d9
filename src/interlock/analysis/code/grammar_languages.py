"""Lua, PHP, Julia, Ruby, Java, Go, C# and Elixir source -> its effects, each by its grammar and a few rules of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from itertools import chain

from msgspec import Struct

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Node, child_of, children, part, text_of
from interlock.analysis.code.language import CodeLanguage, holes
from interlock.analysis.code.library import library
from interlock.analysis.code.other import read_other
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import Made
from interlock.analysis.code.program.values import UNKNOWN, LibraryCall, Sym, Value
from interlock.analysis.code.templates import by_grammar, rules_of
from interlock.analysis.facts import Report
from interlock.analysis.packs import each_name

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


read_lua = CodeLanguage("Lua", "lua", by_grammar("lua"), first=1).read


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
    return Builder(key, rules_of("php")).program(ended)


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


read_julia = CodeLanguage("Julia", "julia", by_grammar("julia"), damaged=read_other, first=1).read


# -- Ruby; `-n`, `-p` and `-i` are the caller's


def _ruby_identifier(build: Builder, node: Node) -> Made:
    named = text_of(node)
    made = ast.Name(named)
    is_call = named in library("ruby").calls and named not in build.scopes[0]
    return nodes.call(made) if is_call else made


def _ruby_block_argument(build: Builder, node: Node) -> Made:
    inner = node.named_children[0] if node.named_child_count else None
    if inner and inner.type == "simple_symbol":
        return nodes.closure(["it"], [ast.Return(nodes.call(nodes.member(ast.Name("it"), text_of(inner)[1:])))])
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
        return nodes.call(ast.Name(method), args, named)
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
    """`a.b = …` calls no method; a name with a sign belongs to all functions."""
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


read_ruby = CodeLanguage("Ruby", "ruby", by_grammar("ruby"), variable=holes("@$")).read


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
    given = nodes.call(nodes.member(ast.Name("it"), method))
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
    return nodes.call(nodes.member(ast.Name(title), "new"), args, named)


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
    return CodeLanguage(name, key, by_grammar(key, builder=_ProgramBuilder), damaged=read_other).read


read_java, read_go, read_csharp = _reader("Java", "java"), _reader("Go", "go"), _reader("C#", "csharp")


# -- Elixir


def _atom(build: Builder, node: Node) -> Made:
    named = text_of(node)
    is_module = node.parent and node.parent.type == "dot"
    return ast.Name(named) if is_module else nodes.text(named.removeprefix(":").strip('"'))


def _sigil(build: Builder, node: Node) -> Made:
    kind = next((text_of(child) for child in node.children if child.type == "sigil_name"), "s")
    made = grammar.texts(build, node) if kind.islower() else nodes.text(text_of(node)[3:-1])
    if kind in ("w", "W") and isinstance(made, ast.Constant):
        return ast.List([nodes.text(word) for word in str(made.value).removeprefix(kind).split()])
    return made


class _Parts(Struct, frozen=True):
    args: list[Node]
    named: dict[str, Node]
    blocks: dict[str, list[Node]]

    def body(self, word: str = "do") -> list[Node]:
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
    subject = ast.Name("<subject>")
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
    first = call.args[0]
    table = build.expr(first, *["right"] * (first.type == "binary_operator"))
    return table if {"where", "limit", "or_where", "join"}.isdisjoint(call.named) else nodes.member(table, "where")


_FORMS: dict[str, Callable[[Builder, _Parts], Made]] = each_name({
    "if unless": _if,
    "case cond receive": _case,
    "def defp defmacro defmacrop test": _define,
    "import alias require use": lambda build, call: [],
    "defmodule": lambda build, call: build.block(call.body()),
    "for": _for,
    "try with": _try,
    "from": _from,
})  # fmt: skip


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
            return ast.Name(f"&{text_of(operand)}")
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


read_elixir = CodeLanguage("Elixir", "elixir", by_grammar("elixir"), {"where": _narrowed}).read
