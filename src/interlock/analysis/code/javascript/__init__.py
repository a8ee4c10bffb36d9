"""JavaScript and TypeScript source (Node, Bun, Deno) -> the form that all languages share, and its effects."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Rule, first_field, text_of
from interlock.analysis.code.javascript.answers import ANSWERS, handed, item, member
from interlock.analysis.code.javascript.names import ScriptBuilder, bind, declare, identifier, key_of, own_names, titled
from interlock.analysis.code.language import CodeLanguage, read_with
from interlock.analysis.code.lexing import Unparsed
from interlock.analysis.code.library import words
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import THIS, Closure, Made
from interlock.analysis.code.syntax_tree import errors, parsed
from interlock.analysis.facts import HOLE, Report

if TYPE_CHECKING:
    from tree_sitter import Node

_JOINS = frozenset({"+"})
_CHOICES = frozenset({"||", "??"})
_CALLED = re.compile(r"\b(\w+)['\"\]]{0,3}\s{0,20}[(`]")
_WAY = re.compile(r"(?:Sync|Async|One|Many)$")


def read_javascript(source: str, out: Report) -> None:
    """Report what a program would do; what cannot be read is reported as such."""
    read_with(JAVASCRIPT, source, out)


# -- the tree


def parse(source: str) -> tuple[ast.Module, bool]:
    """The program, and whether all of it that could do anything was parsed."""
    source = source.removeprefix("\ufeff")
    root = _tree(source.partition("\n")[2] if source.startswith("#!") else source)
    broken = [text_of(node) for node in errors(root)]
    body = ScriptBuilder("javascript", _RULES).block(root.named_children)
    if any(HOLE in text for text in broken):
        return ast.Module([*body, ast.Expr(nodes.call("<hole>"))], []), True
    nothing = all(child.type in ("ERROR", "comment") for child in root.named_children)
    return ast.Module(body, []), not broken or not (nothing or any(map(_is_risky, broken)))


def _tree(source: str) -> Node:
    """The tree of a source; that of TypeScript where it has fewer errors."""
    try:
        plain = parsed("javascript", source)
    except Unparsed as problem:
        if problem.trait != "syntax":
            raise
        return parsed("typescript", source)
    if not plain.has_error:
        return plain
    try:
        return min(plain, parsed("typescript", source), key=_damage)
    except Unparsed:
        return plain


def _damage(root: Node) -> int:
    return sum(1 + node.end_byte - node.start_byte for node in errors(root))


def _is_risky(text: str) -> bool:
    """Whether a text calls something that ends or runs anything."""
    called = _CALLED.findall(text)
    return not words("javascript")["risky"].isdisjoint((*called, *(_WAY.sub("", name) for name in called)))


# -- names and texts


def _piece(node: Node) -> str:
    raw = text_of(node)
    return raw[1] if node.type == "escape_sequence" and raw[1:2] in ("a", "e") else grammar.unescaped(raw)


def _string(build: Builder, node: Node) -> Made:
    return nodes.text("".join(map(_piece, node.named_children)))


def _template(build: Builder, node: Node) -> Made:
    return nodes.joined(
        [
            build.parts(child) if child.type == "template_substitution" else _piece(child)
            for child in node.named_children
        ]
    )


def _regex(build: Builder, node: Node) -> Made:
    pattern, flags = node.child_by_field_name("pattern"), node.child_by_field_name("flags")
    return nodes.call("<regex>", [nodes.text(text_of(pattern)), nodes.text(text_of(flags))])


def _object(build: Builder, node: Node) -> Made:
    keys: list[ast.expr | None] = []
    values: list[ast.expr] = []
    for child in node.named_children:
        if child.type == "pair":
            key = key_of(build, child.child_by_field_name("key"))
            keys.append(key)
            values.append(titled(build.field(child, "value"), key))
        elif child.type == "shorthand_property_identifier":
            keys.append(nodes.text(text_of(child)))
            values.append(build.expr(child))
        elif child.type == "method_definition":
            key = key_of(build, child.child_by_field_name("name"))
            keys.append(key)
            values.append(titled(_closure(build, child), key))
        elif child.type == "spread_element":
            keys.append(None)
            values.append(build.parts(child))
    return ast.Dict(keys, values)


# -- calls and operators


def _call(build: Builder, node: Node) -> Made:
    function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    callee = nodes.name("require") if function is not None and function.type == "import" else build.expr(function)
    if given is not None and given.type == "template_string":
        return nodes.call(callee, [build.expr(given)], [nodes.named("template", ast.Constant(True))])
    return nodes.call(callee, build.exprs(given.named_children if given is not None else ()))


def _new(build: Builder, node: Node) -> Made:
    given = node.child_by_field_name("arguments")
    args = build.exprs(given.named_children if given is not None else ())
    return nodes.call("<new>", [build.field(node, "constructor"), *args])


def _sequence(build: Builder, node: Node) -> Made:
    return nodes.as_body([ast.Expr(value) for value in build.exprs(node.named_children)])


def _unary(build: Builder, node: Node) -> Made:
    sign, value = text_of(node.child_by_field_name("operator")), build.field(node, "argument")
    if sign == "!" and isinstance(value, ast.Constant):
        return ast.Constant(not value.value)
    if sign == "void":
        return nodes.as_body([ast.Expr(value), ast.Expr(nodes.NOTHING)])
    signs = {"-": ast.USub, "~": ast.Invert}
    return value if sign in ("+", "delete") else ast.UnaryOp(signs.get(sign, ast.Not)(), value)


def _update(build: Builder, node: Node) -> Made:
    """`i++`, whose value is the one before."""
    target, sign = build.field(node, "argument"), text_of(node.child_by_field_name("operator"))
    step, back = (ast.Add, ast.Sub) if sign == "++" else (ast.Sub, ast.Add)
    changed = nodes.as_expression(nodes.assign(target, ast.BinOp(target, step(), ast.Constant(1))))
    return changed if node.children[0].type == sign else ast.BinOp(changed, back(), ast.Constant(1))


def _assignment(build: Builder, node: Node) -> Made:
    return bind(build, node.child_by_field_name("left"), build.field(node, "right"), "")


def _declarator(build: Builder, node: Node) -> Made:
    value = build.field(node, "value")
    blockwise = node.parent is not None and node.parent.type != "variable_declaration"
    return bind(build, node.child_by_field_name("name"), value, "block" if blockwise else "function")


# -- functions and classes


def _function(build: Builder, node: Node, title: str = "") -> ast.FunctionDef:
    with own_names(build):
        return _function_of(build, node, title)


def _function_of(build: Builder, node: Node, title: str) -> ast.FunctionDef:
    single, listed = node.child_by_field_name("parameter"), node.child_by_field_name("parameters")
    given = [single] if single is not None else listed.named_children if listed is not None else []
    names, defaults, first, rest = list[str](), list[ast.expr](), list[ast.stmt](), ""
    for param in given:
        inner, default = first_field(param, "left", "pattern") or param, first_field(param, "right", "value")
        last = inner.type == "rest_pattern"
        inner = inner.named_children[0] if last else inner
        if inner.type in ("comment", "this"):
            continue
        plain = inner.type == "identifier"
        name = text_of(inner) if plain else f"<{inner.start_byte}>"
        declare(build, name)
        first += [] if plain else bind(build, inner, nodes.name(name))
        if last:
            rest = name
            continue
        names.append(name)
        if default is not None or defaults:
            defaults.append(build.expr(default) if default is not None else grammar.CONDITION)
    arrow = node.type == "arrow_function"
    if not arrow and not names and b"arguments" in (node.text or b""):
        rest = rest or "arguments"
    body = node.child_by_field_name("body")
    block = body is not None and body.type == "statement_block"
    made = nodes.function(
        names, [*first, *(build.body(body) if block else [ast.Return(build.expr(body))])], title, rest
    )
    made.args.defaults = defaults
    if not arrow:
        made.args.kwonlyargs, made.args.kw_defaults = [ast.arg(THIS)], [None]
    return made


def _closure(build: Builder, node: Node) -> Closure:
    made = Closure()
    made.function = _function(build, node, text_of(node.child_by_field_name("name")) if "function" in node.type else "")
    return made


def _define(build: Builder, node: Node) -> Made:
    return [_function(build, node, text_of(node.child_by_field_name("name")))]


def _class(build: Builder, node: Node) -> Made:
    title = text_of(node.child_by_field_name("name")) or f"<{node.start_byte}>"
    bases = [build.parts(child) for child in node.named_children if child.type == "class_heritage"]
    inside = node.child_by_field_name("body")
    body = [
        made for child in (inside.named_children if inside is not None else ()) for made in _class_part(build, child)
    ]
    made: list[ast.stmt] = [ast.ClassDef(title, bases, [], body or [ast.Pass()], [])]
    return made if node.type.endswith("class_declaration") else nodes.as_body([*made, ast.Expr(nodes.name(title))])


def _class_part(build: Builder, node: Node) -> list[ast.stmt]:
    """A method, a field or a block of a class; a function in a field is a method."""
    if node.type == "method_definition":
        name = text_of(node.child_by_field_name("name"))
        return [_function(build, node, "__init__" if name == "constructor" else name)]
    if not node.type.endswith("field_definition"):
        return build.body(node)
    name, value = text_of(first_field(node, "property", "name")), build.field(node, "value")
    if not isinstance(value, Closure):
        return nodes.assign(nodes.name(name), value)
    value.function.name = name
    value.function.args.kwonlyargs, value.function.args.kw_defaults = [ast.arg(THIS)], [None]
    return [value.function]


# -- statements


def _for_in(build: Builder, node: Node) -> Made:
    over, each = build.field(node, "right"), nodes.name(f"<{node.start_byte}>")
    if text_of(node.child_by_field_name("operator")) == "in":
        over = nodes.call("Object.keys", [over])
    given = bind(build, node.child_by_field_name("left"), each, "block" if node.child_by_field_name("kind") else "")
    return nodes.loop(each, over, [*given, *build.body(node.child_by_field_name("body"))])


def _inside(rule: Rule) -> Rule:
    """A rule for what has names of its own."""

    def read(build: Builder, node: Node) -> Made:
        with own_names(build):
            return rule(build, node)

    return read


def _import(build: Builder, node: Node) -> Made:
    if any(child.type == "type" for child in node.children):
        return []
    source = nodes.call("require", [build.field(node, "source")])
    clause = next((child for child in node.named_children if child.type == "import_clause"), None)
    if clause is None:
        return source
    whole = nodes.name(f"<{node.start_byte}>")
    made: list[ast.stmt] = [ast.AnnAssign(whole, nodes.NOTHING, source, 1)]
    for child in clause.named_children:
        if child.type != "named_imports":
            made += bind(build, child if child.type == "identifier" else child.named_children[0], whole)
            continue
        for one in child.named_children:
            name = one.child_by_field_name("name")
            made += bind(build, one.child_by_field_name("alias") or name, nodes.member(whole, text_of(name)))
    return made


def _export(build: Builder, node: Node) -> Made:
    declared = node.child_by_field_name("declaration")
    if declared is not None:
        return build.body(declared)
    return titled(build.field(node, "value"), nodes.text("default"))


_RULES: dict[str, Rule] = {
    **grammar.COMMON,
    **dict.fromkeys(["identifier", "shorthand_property_identifier", "super", "import"], identifier),
    "this": lambda build, node: nodes.name(THIS),
    "meta_property": lambda build, node: nodes.path(text_of(node)),
    "string": _string,
    "template_string": _template,
    "regex": _regex,
    "undefined": grammar.literal(None),
    "array": grammar.elements,
    "object": _object,
    "member_expression": grammar.member,
    "subscript_expression": grammar.item,
    "call_expression": _call,
    "new_expression": _new,
    "sequence_expression": _sequence,
    "binary_expression": grammar.operator(_JOINS, _CHOICES),
    "unary_expression": _unary,
    "update_expression": _update,
    "ternary_expression": grammar.ternary,
    "assignment_expression": _assignment,
    "augmented_assignment_expression": grammar.updated(_JOINS, _CHOICES),
    "variable_declarator": _declarator,
    **dict.fromkeys(["arrow_function", "function_expression", "generator_function", "method_definition"], _closure),
    **dict.fromkeys(["function_declaration", "generator_function_declaration"], _define),
    **dict.fromkeys(["class", "class_declaration", "abstract_class_declaration"], _class),
    "yield_expression": lambda build, node: ast.Yield(build.parts(node)),
    "for_statement": _inside(grammar.counted),
    "for_in_statement": _inside(_for_in),
    "statement_block": _inside(grammar.block),
    "switch_statement": grammar.cases,
    "try_statement": grammar.attempts,
    **dict.fromkeys(["catch_clause", "finally_clause"], grammar.body),
    "expression_statement": lambda build, node: build.made(node.named_children[0]) if node.named_child_count else [],
    "throw_statement": lambda build, node: [ast.Raise(build.parts(node), None)],
    "break_statement": lambda build, node: [ast.Break()],
    "continue_statement": lambda build, node: [ast.Continue()],
    **dict.fromkeys(["labeled_statement", "with_statement", "class_static_block"], grammar.body),
    "import_statement": _import,
    "export_statement": _export,
    **dict.fromkeys(
        ["else_clause", "lexical_declaration", "variable_declaration", "using_declaration", "program"], grammar.block
    ),
    **dict.fromkeys(["empty_statement", "debugger_statement", "hash_bang_line", "html_comment"], grammar.quiet),
    # TypeScript
    **dict.fromkeys(["as_expression", "satisfies_expression"], lambda build, node: build.expr(node.named_children[0])),
    "internal_module": grammar.body,
    **dict.fromkeys(
        ["interface_declaration", "type_alias_declaration", "ambient_declaration", "function_signature", "method_signature",
         "abstract_method_signature", "index_signature"],
        grammar.quiet,
    ),
}  # fmt: skip


JAVASCRIPT = CodeLanguage(
    "JavaScript", "javascript", parse, ANSWERS, item=item, member=member, handed=handed, lexical=True
)
