"""Ruby source -> its effects; `-n`, `-p` and `-i` are the caller's."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Rule, text_of
from interlock.analysis.code.language import CodeLanguage, by_grammar, chosen_method, method_of, read_with
from interlock.analysis.code.lexing import literal
from interlock.analysis.code.library import library
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import Made
from interlock.analysis.code.program.values import UNKNOWN, Marked, Value
from interlock.analysis.facts import Report, hole

if TYPE_CHECKING:
    from tree_sitter import Node

_JOINS = frozenset({"+", "<<"})
_SELF = frozenset({"self", "Kernel", "Object"})


def read_ruby(source: str, out: Report) -> None:
    """Report what a Ruby program would do."""
    read_with(_RUBY, source, out)


# -- names and texts


def _identifier(build: Builder, node: Node) -> Made:
    named = text_of(node)
    made = nodes.name(named)
    is_call = named in library("ruby").calls and named not in build.scopes[0]
    return nodes.call(made) if is_call else made


def _string(build: Builder, node: Node) -> Made:
    raw = text_of(node)
    plain = raw.startswith(("'", "%q"))
    return grammar.texts(build, node, literal if plain else grammar.unescaped)


def _symbol(build: Builder, node: Node) -> Made:
    return nodes.text(text_of(node).strip(":"))


def _words(build: Builder, node: Node) -> Made:
    return ast.List([grammar.texts(build, child) for child in node.named_children])


def _subshell(build: Builder, node: Node) -> Made:
    return nodes.call("`", [grammar.texts(build, node)])


# -- calls


def _block_argument(build: Builder, node: Node) -> Made:
    inner = node.named_children[0] if node.named_child_count else None
    if inner is not None and inner.type == "simple_symbol":
        return nodes.closure(["it"], [ast.Return(nodes.call(nodes.member(nodes.name("it"), text_of(inner)[1:])))])
    return build.expr(inner)


def _call(build: Builder, node: Node) -> Made:
    receiver, method = node.child_by_field_name("receiver"), text_of(node.child_by_field_name("method"))
    args, named = grammar.given(build, node.child_by_field_name("arguments"))
    block = node.child_by_field_name("block")
    if block is not None:
        if receiver is None and method == "loop":
            return nodes.repeat(ast.Constant(True), build.body(block.child_by_field_name("body")))
        args.append(_block(build, block))
    if receiver is None and method in ("lambda", "proc") and args:
        return args[-1]
    if receiver is None or text_of(receiver) in _SELF:
        return nodes.call(nodes.name(method), args, named)
    owner = build.expr(receiver)
    return nodes.call(nodes.member(owner, method) if method else owner, args, named)


def _block(build: Builder, node: Node) -> ast.expr:
    listed = node.child_by_field_name("parameters")
    params = _params(build, listed)
    body = nodes.returning(build.body(node.child_by_field_name("body")))
    return nodes.closure(params or (["_1"] if "_1" in text_of(node) else ["it"]), body)


def _lambda(build: Builder, node: Node) -> Made:
    inner = node.child_by_field_name("body")
    params = _params(build, node.child_by_field_name("parameters"))
    return (
        nodes.closure(params, nodes.returning(build.body(inner.child_by_field_name("body"))))
        if inner
        else nodes.NOTHING
    )


def _params(build: Builder, node: Node | None) -> list[str]:
    found = [text_of(child.child_by_field_name("name") or child) for child in node.named_children] if node else []
    build.scopes[0].update(zip(found, found, strict=True))
    return found


def _method(build: Builder, node: Node) -> Made:
    params = _params(build, node.child_by_field_name("parameters"))
    body = nodes.returning(build.body(node.child_by_field_name("body")))
    made = nodes.function(params, body, text_of(node.child_by_field_name("name")))
    made.decorator_list = [nodes.name("staticmethod")]  # what it is called on is no parameter
    return [made]


def _index(build: Builder, node: Node) -> Made:
    keys = node.named_children[1:]
    owner = build.field(node, "object")
    if len(keys) == 1 and keys[0].type == "range":
        ends = [build.field(keys[0], "begin"), build.field(keys[0], "end")]
        return nodes.item(owner, ast.Slice(ends[0], None if text_of(keys[0]).endswith("-1") else ends[1]))
    return nodes.item(owner, nodes.several(build.exprs(keys)))


# -- statements


def _assign(build: Builder, node: Node) -> Made:
    left, right = node.child_by_field_name("left"), build.field(node, "right")
    return _set(build, left, right)


def _set(build: Builder, left: Node | None, right: ast.expr) -> list[ast.stmt]:
    if left is None:
        return [ast.Expr(right)]
    if left.type in ("instance_variable", "global_variable", "class_variable"):
        return [ast.Global([text_of(left)]), *nodes.assign(nodes.name(text_of(left)), right)]
    if left.type == "identifier":
        build.scopes[0][text_of(left)] = text_of(left)
        return nodes.assign(nodes.name(text_of(left)), right)
    if left.type == "call":
        method = text_of(left.child_by_field_name("method"))
        return nodes.assign(nodes.member(build.field(left, "receiver"), method), right)
    if left.type == "left_assignment_list":
        build.scopes[0].update({text_of(child).lstrip("*"): text_of(child) for child in left.named_children})
        return nodes.assign(ast.Tuple(build.exprs(left.named_children)), right)
    return nodes.assign(build.expr(left), right)


def _update(build: Builder, node: Node) -> Made:
    left, sign = node.child_by_field_name("left"), text_of(node.child_by_field_name("operator"))[:-1]
    value = grammar.binary(sign, build.expr(left), build.field(node, "right"), _JOINS, frozenset({"||"}))
    return _set(build, left, value)


def _operator(build: Builder, node: Node) -> Made:
    if text_of(node.child_by_field_name("operator")) == "<<":  # what is added to stays under its name
        left = node.child_by_field_name("left")
        added = nodes.call(nodes.member(build.expr(left), "<<"), [build.field(node, "right")])
        return (
            _set(build, left, added) if left is not None and left.type.endswith(("identifier", "variable")) else added
        )
    return _BINARY(build, node)


_BINARY = grammar.operator(_JOINS)


def _for(build: Builder, node: Node) -> Made:
    value = node.child_by_field_name("value")
    over = build.expr(value.named_children[0]) if value is not None and value.named_child_count else nodes.NOTHING
    return nodes.loop(build.field(node, "pattern"), over, build.body(node.child_by_field_name("body")))


def _hash(build: Builder, node: Node) -> Made:
    pairs = [child for child in node.named_children if child.type == "pair"]
    keys = [child.child_by_field_name("key") for child in pairs]
    made = [_symbol(build, key) if key and "symbol" in key.type else build.expr(key) for key in keys]
    return ast.Dict(list(made), [build.field(child, "value") for child in pairs])  # type: ignore[arg-type]


def _range(build: Builder, node: Node) -> Made:
    ends = build.field(node, "begin"), build.field(node, "end")
    return grammar.binary(text_of(node.child_by_field_name("operator")), *ends, frozenset(), frozenset())


def _regex(build: Builder, node: Node) -> Made:
    return nodes.several(build.exprs(child for child in node.named_children if child.type == "interpolation"))


def _yielded(build: Builder, node: Node) -> Made:
    return nodes.several([value for child in node.named_children for value in grammar.given(build, child)[0]])


def _returned(build: Builder, node: Node) -> Made:
    return [ast.Return(nodes.as_expression(_yielded(build, node)))]


_RULES: dict[str, Rule] = {
    **grammar.COMMON,
    "identifier": _identifier,
    **dict.fromkeys(["constant", "instance_variable", "global_variable", "class_variable", "self"], grammar.name),
    "scope_resolution": grammar.member,
    "string": _string,
    "chained_string": lambda build, node: ast.JoinedStr(build.exprs(node.named_children)),
    **dict.fromkeys(["simple_symbol", "hash_key_symbol", "character"], _symbol),
    "delimited_symbol": _string,
    **dict.fromkeys(["string_array", "symbol_array"], _words),
    "subshell": _subshell,
    "heredoc_beginning": grammar.heredoc,
    "regex": _regex,
    "range": _range,
    "array": grammar.elements,
    "hash": _hash,
    "call": _call,
    "lambda": _lambda,
    **dict.fromkeys(["method", "singleton_method"], _method),
    "element_reference": _index,
    "assignment": _assign,
    "operator_assignment": _update,
    "binary": _operator,
    "unary": grammar.negated,
    "conditional": grammar.ternary,
    **dict.fromkeys(["if", "elsif", "unless", "if_modifier", "unless_modifier"], grammar.choice),
    **dict.fromkeys(["while", "until", "while_modifier", "until_modifier"], grammar.while_loop),
    "for": _for,
    **dict.fromkeys(["case", "case_match"], grammar.cases),
    "rescue": grammar.maybe,
    "rescue_modifier": grammar.block,
    **dict.fromkeys(["class", "module", "singleton_class"], grammar.body),
    "block_argument": _block_argument,
    "rest_assignment": grammar.spread,
    **dict.fromkeys(
        ["then", "else", "do", "begin", "ensure", "block_body", "body_statement", "begin_block", "end_block",
         "parenthesized_statements"],
        grammar.block,
    ),
    "right_assignment_list": grammar.row,
    "return": _returned,
    **dict.fromkeys(["yield", "next", "break"], _yielded),
    **dict.fromkeys(["empty_statement", "alias", "undef", "uninterpreted"], grammar.quiet),
}  # fmt: skip


def _variable(name: str) -> Value:
    return hole(name.lstrip("@$")) if name[:1] in ("@", "$") else UNKNOWN


_RUBY = CodeLanguage(
    "Ruby",
    "ruby",
    by_grammar("ruby", _RULES),
    {
        **dict.fromkeys(
            ["send", "public_send", "__send__", "<any>.send", "<any>.public_send", "<any>.__send__"], chosen_method
        ),
        **dict.fromkeys(["method", "const_get", "<any>.method", "<any>.const_get", "<any>.instance_method"], method_of),
    },
    _variable,
    {"ARGV": [Marked(hole("ARGV"), {"bulk"})]},
    rows="active_record",
)
