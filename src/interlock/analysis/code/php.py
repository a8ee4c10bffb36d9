"""PHP source -> its effects."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Rule, text_of
from interlock.analysis.code.language import CodeLanguage, call_with_list, chosen_member, read_with
from interlock.analysis.code.lexing import literal
from interlock.analysis.code.performing.network import leaks
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import Made
from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.values import UNKNOWN, Marked, Sym, Value
from interlock.analysis.code.program.values import text_of as value_text
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.facts import Report, hole, known

if TYPE_CHECKING:
    from tree_sitter import Node


def read_php(source: str, out: Report) -> None:
    """Report what a PHP program would do, with or without its opening tag."""
    read_with(_PHP, source, out)


def _parse(source: str) -> tuple[ast.Module, bool]:
    ended = source if source.rstrip().endswith((";", "}", ">")) else f"{source};"
    return Builder("php" if "<?" in source else "php_only", _RULES).module(ended)


# -- names and texts


def _title(node: Node | None) -> str:
    """A name without its namespace."""
    return text_of(node).replace("/", "\\").rpartition("\\")[2]


def _name(build: Builder, node: Node) -> Made:
    named = _title(node)
    return nodes.text(".") if named == "__DIR__" else nodes.name(named)


def _string(build: Builder, node: Node) -> Made:
    return nodes.text(literal(text_of(node)[1:-1]))


def _heredoc(build: Builder, node: Node) -> Made:
    value = node.child_by_field_name("value")
    if node.type == "nowdoc":
        return nodes.text(text_of(value).strip("\n"))
    return grammar.texts(build, value) if value is not None else nodes.text("")


def _array(build: Builder, node: Node) -> Made:
    items = [build.exprs(child.named_children) for child in node.named_children if child.named_child_count]
    return grammar.mapping([(parts[0] if len(parts) > 1 else None, parts[-1]) for parts in items])


# -- calls


def _call(build: Builder, node: Node) -> Made:
    function = node.child_by_field_name("function")
    plain = function is not None and function.type in ("name", "qualified_name")
    callee = nodes.name(_title(function).lower()) if plain else build.expr(function)
    return nodes.call(callee, *grammar.given(build, node.child_by_field_name("arguments")))


def _method(build: Builder, node: Node) -> Made:
    owner = build.expr(node.child_by_field_name("object") or node.child_by_field_name("scope"))
    args, named = grammar.given(build, node.child_by_field_name("arguments"))
    chosen = node.child_by_field_name("name")
    if chosen is not None and chosen.type != "name":
        return nodes.call("<method>", [owner, build.expr(chosen), *args], named)
    return nodes.call(nodes.member(owner, text_of(chosen)), args, named)


def _new(build: Builder, node: Node) -> Made:
    made = next((child for child in node.named_children if child.type in ("name", "qualified_name")), None)
    given = next((child for child in node.named_children if child.type == "arguments"), None)
    if made is None:
        return build.parts(node)
    return nodes.call(nodes.member(nodes.name(_title(made)), "new"), *grammar.given(build, given))


def _shell(build: Builder, node: Node) -> Made:
    return nodes.call("`", [grammar.texts(build, node)])


def _include(build: Builder, node: Node) -> Made:
    return nodes.call("<include>", build.exprs(node.named_children))


# -- functions and statements


def _define(build: Builder, node: Node) -> Made:
    made = grammar.defined(build, node)
    for function in made if isinstance(made, list) else ():
        assert isinstance(function, ast.FunctionDef)
        function.name = function.name.lower()
    return made


def _foreach(build: Builder, node: Node) -> Made:
    parts = [child for child in node.named_children if child != node.child_by_field_name("body")]
    names = parts[-1].named_children if parts[-1].type == "pair" else parts[-1:]
    targets = build.exprs(names)
    keys = [made for key in targets[:-1] for made in nodes.assign(key, targets[-1])]
    return nodes.loop(targets[-1], build.expr(parts[0]), [*keys, *build.body(node.child_by_field_name("body"))])


def _global(build: Builder, node: Node) -> Made:
    return [ast.Global([text_of(child) for child in node.named_children])]


_RULES: dict[str, Rule] = {
    **grammar.COMMON,
    "name": _name,
    "qualified_name": _name,
    "variable_name": grammar.name,
    "string": _string,
    "encapsed_string": grammar.texts,
    **dict.fromkeys(["heredoc", "nowdoc"], _heredoc),
    "array_creation_expression": _array,
    "list_literal": grammar.row,
    "function_call_expression": _call,
    **dict.fromkeys(["member_call_expression", "nullsafe_member_call_expression", "scoped_call_expression"], _method),
    **dict.fromkeys(
        ["member_access_expression", "nullsafe_member_access_expression", "scoped_property_access_expression", "class_constant_access_expression"],
        grammar.member,
    ),
    "object_creation_expression": _new,
    "shell_command_expression": _shell,
    **dict.fromkeys(
        ["include_expression", "include_once_expression", "require_expression", "require_once_expression"], _include
    ),
    **dict.fromkeys(["function_definition", "method_declaration"], _define),
    **dict.fromkeys(["anonymous_function", "anonymous_function_creation_expression", "arrow_function"], grammar.closed),
    **dict.fromkeys(["assignment_expression", "reference_assignment_expression"], grammar.assigned),
    "augmented_assignment_expression": grammar.updated(frozenset({"."}), frozenset({"??"})),
    "update_expression": grammar.counted_up,
    "subscript_expression": grammar.item,
    "binary_expression": grammar.operator(frozenset({"."})),
    "unary_op_expression": grammar.negated,
    "conditional_expression": grammar.ternary,
    "foreach_statement": _foreach,
    "for_statement": grammar.counted,
    **dict.fromkeys(["switch_statement", "match_expression"], grammar.cases),
    "try_statement": grammar.attempts,
    **dict.fromkeys(["catch_clause", "finally_clause"], grammar.body),
    "global_declaration": _global,
    **dict.fromkeys(
        ["compound_statement", "declaration_list", "colon_block", "else_clause", "namespace_definition", "case_statement"], grammar.block
    ),
    **dict.fromkeys(
        ["php_tag", "php_end_tag", "text", "text_interpolation", "namespace_use_declaration", "namespace_name", "base_clause", "cast_type"],
        grammar.quiet,
    ),
    **dict.fromkeys(["class_declaration", "trait_declaration"], grammar.body),
}  # fmt: skip


# -- calls that no table describes


def _set_option(walk: ProgramWalk, call: LibraryCall) -> Value:
    """curl_setopt: where a request goes, and what it carries."""
    option = call.get(1)
    if isinstance(option, Sym) and option.path == "CURLOPT_URL":
        walk.attributes["curl.url"] = call.get(2)
    elif leak := leaks([call.get(2)]):
        walk.world.effect("send", _curl_url(walk, call), *leak)
    return Sym("?")


def _curl_url(walk: ProgramWalk, call: LibraryCall) -> str:
    handle = call.get(0)
    made = handle.args if isinstance(handle, Sym) else ()
    return value_text(made[0] if made else walk.attributes.get("curl.url", UNKNOWN))


def _curl(walk: ProgramWalk, call: LibraryCall) -> Value:
    address = _curl_url(walk, call)
    walk.world.effect("fetch", address)
    return Sym("?", traits=frozenset({f"fetched:{address if known(address) else 'the network'}"}))


def _artisan(walk: ProgramWalk, call: LibraryCall) -> Value:
    options = call.get(1)
    flags = (
        [name for name in options if isinstance(name, str) and name.startswith("-")]
        if isinstance(options, dict)
        else []
    )
    walk.world.run(["php", "artisan", *value_text(call.get(0)).split(), *flags])
    return Sym("?")


_ENVIRONMENT = Sym("$_ENV", traits=frozenset({"environment"}))
_PHP = CodeLanguage(
    "PHP",
    "php",
    _parse,
    {
        "<method>": chosen_member,
        "call_user_func_array": call_with_list,
        "curl_setopt": _set_option,
        "curl_exec": _curl,
        "Artisan.call": _artisan,
        "Artisan.queue": _artisan,
    },
    lambda name: hole(name[1:]) if name.startswith("$") else UNKNOWN,
    {"$argv": [Marked(hole("argv"), {"bulk"})], "$_SERVER": _ENVIRONMENT, "$_ENV": _ENVIRONMENT},
    rows="eloquent",
)
