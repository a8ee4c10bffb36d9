"""Perl source -> its effects; `-n`, `-p` and `-i` are the caller's."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Rule, first_field
from interlock.analysis.code.grammar import text_of as source_of
from interlock.analysis.code.language import CodeLanguage, by_grammar, chosen_member, read_with
from interlock.analysis.code.lexing import literal
from interlock.analysis.code.library import library
from interlock.analysis.code.performing import open_mode
from interlock.analysis.code.performing.programs import shell_line
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import Made
from interlock.analysis.code.program.objects import LibraryCall, ProgramFunction
from interlock.analysis.code.program.paths import items, tree
from interlock.analysis.code.program.values import UNKNOWN, Marked, Sym, Value, text_of
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.facts import Report, hole

if TYPE_CHECKING:
    from tree_sitter import Node

_JOINS = frozenset({"."})
_CHOICES = frozenset({"||", "or", "//"})
_TOPICAL = frozenset("unlink rmdir glob chr hex oct lc uc quotemeta decode_base64 eval".split())
_TOPIC = "$_"
_SIGILS = {"scalar": "$", "array": "@", "hash": "%"}
_CODE_IN_REGEX = re.compile(r"\(\?\??\{(.*?)\}\)")


def read_perl(source: str, out: Report) -> None:
    """Report what a Perl program would do."""
    read_with(_PERL, source, out)


# -- names and texts


def _variable_of(build: Builder, node: Node, sigil: str) -> ast.expr:
    """A variable by its sigil and its name, or what a reference stands for."""
    inner = node.named_children[0]
    inner = inner.named_children[0] if inner.type == "varname" and inner.named_child_count else inner
    return nodes.name(sigil + source_of(inner)) if inner.type == "varname" else build.expr(inner)


def _variable_node(build: Builder, node: Node) -> Made:
    return _variable_of(build, node, _SIGILS[node.type])


def _element(build: Builder, node: Node) -> Made:
    """`$x[0]`, `$x{key}`, `$x->[0]` and `$x->{key}`; several of them are all."""
    owner, sigil = first_field(node, "array", "hash"), "@" if node.child_by_field_name("array") else "%"
    held = build.expr(node.named_children[0]) if owner is None else _variable_of(build, owner, sigil)
    key = first_field(node, "index", "key")
    return nodes.item(held, build.expr(key)) if key is not None else held


def _bareword(build: Builder, node: Node) -> Made:
    return nodes.path(source_of(node).removesuffix("::").replace("::", "."))


def _plain(build: Builder, node: Node) -> Made:
    return grammar.texts(build, node, lambda raw: literal(raw, source_of(node)[-1]))


def _words(build: Builder, node: Node) -> Made:
    return ast.List([nodes.text(word) for word in source_of(node.child_by_field_name("content")).split()])


def _regex(build: Builder, node: Node) -> Made:
    """A pattern, with the code that it runs while it matches, or for what it replaces."""
    code = _CODE_IN_REGEX.findall(source_of(node.child_by_field_name("content")))
    new = next((child for child in node.named_children if child.type == "replacement"), None)
    if "e" in source_of(node.child_by_field_name("modifiers")) and new is not None:
        code, new = [*code, source_of(new)], None
    run = [nodes.as_expression(Builder("perl", _RULES).module(text)[0].body) for text in code]
    holes = [child for child in new.named_children if source_of(child)[1:2] == "{"] if new is not None else []
    return nodes.call("<regex>", [*run, *build.exprs(holes)])


# -- lists and calls


def _given(build: Builder, node: Node | None) -> tuple[list[ast.expr], list[ast.keyword]]:
    """The values of a list, those behind a constant and an arrow by their name."""
    args: list[ast.expr] = []
    named: list[ast.keyword] = []
    listed = [] if node is None else node.children if node.type == "list_expression" else [node]
    key: ast.expr | None = None
    for child in listed:
        if child.type == "=>":
            key = args.pop() if args else None
        elif child.is_named and child.type not in ("comment", "pod"):
            value = build.expr(child)
            if isinstance(key, ast.Constant):
                named.append(nodes.named(str(key.value), value))
            else:
                args += [value] if key is None else [key, value]
            key = None
    return args, named


def _values(build: Builder, node: Node | None) -> list[ast.expr]:
    args, named = _given(build, node)
    return [*args, *(one.value for one in named)]


def _flat(build: Builder, node: Node | None) -> ast.expr:
    return nodes.call("<list>", _values(build, node))


def _group(build: Builder, node: Node) -> Made:
    """What is between brackets: one value, a list, or pairs."""
    listed = node.named_children[0] if node.named_child_count else None
    args, named = _given(build, listed)
    if not args and (named or node.type == "anonymous_hash_expression"):
        return ast.Dict([nodes.text(one.arg or "") for one in named], [one.value for one in named])
    single = node.type == "parenthesized_expression" and listed is not None and listed.type != "list_expression"
    return args[0] if single else ast.List([*args, *(one.value for one in named)])


def _callee(word: str) -> ast.expr:
    """A function by its own name, whatever package it is called through."""
    own = word.rpartition("::")[2]
    return nodes.name(own) if own in library("perl").calls else nodes.path(word.replace("::", "."))


def _function(build: Builder, node: Node) -> Made:
    """A function called by its name alone, with its arguments, or through a reference; `-e` is a test."""
    function = node if node.type == "function" else node.child_by_field_name("function")
    if function is None:
        return nodes.NOTHING
    listed = node.child_by_field_name("arguments")
    if listed is None and node.type.startswith("func1op"):
        listed = next((child for child in node.named_children if child != function), None)
    handle = next((child for child in node.named_children if child.type == "indirect_object"), None)
    inner = function.named_children[0] if function.named_child_count else None
    if inner is not None and (inner.named_child_count or inner.type != "varname"):
        return nodes.call(build.parts(inner), *_given(build, listed))
    word = source_of(inner or function)
    form = _FORMS.get(word.rpartition("::")[2])
    if form is not None:
        return form(build, listed, handle)
    args, named = _given(build, listed)
    if word.startswith("-"):
        return ast.UnaryOp(ast.Not(), args[0]) if args else grammar.CONDITION
    if not args and not named and word in _TOPICAL:
        args = [nodes.name(_TOPIC)]
    return nodes.call(_callee(word), args, named)


def _reference(build: Builder, node: Node) -> Made:
    inner = node.named_children[0]
    return _callee(source_of(inner).lstrip("&")) if inner.type == "function" else build.expr(inner)


def _method(build: Builder, node: Node) -> Made:
    owner, method = build.field(node, "invocant"), node.child_by_field_name("method")
    args, named = _given(build, node.child_by_field_name("arguments"))
    if method is not None and method.named_child_count:
        return nodes.call("<method>", [owner, build.parts(method), *args], named)
    return nodes.call(nodes.member(owner, source_of(method)), args, named)


def _through(build: Builder, node: Node) -> Made:
    return nodes.call(build.expr(node.named_children[0]), *_given(build, node.child_by_field_name("arguments")))


def _print(build: Builder, listed: Node | None, handle: Node | None) -> Made:
    """print to a handle writes to what was opened under it; `print F "x"` looks like a call of F."""
    title = source_of(listed.child_by_field_name("function")) if listed is not None else ""
    if listed is not None and title.isupper():
        return nodes.call("fwrite", [nodes.name(title), *_values(build, listed.child_by_field_name("arguments"))])
    return nodes.call("fwrite", [build.parts(handle) if handle is not None else nodes.NOTHING, *_values(build, listed)])


def _open(build: Builder, listed: Node | None, handle: Node | None) -> Made:
    """open HANDLE, MODE, PATH: a file, or a pipe from or to a command."""
    args = _given(build, listed)[0] or [nodes.NOTHING]
    return nodes.assign(args[0], nodes.call("<open>", args[1:]))


def _system(build: Builder, listed: Node | None, handle: Node | None) -> Made:
    """system and exec: a block before the list names the program that really runs."""
    words = _values(build, listed)
    return nodes.call("system", words) if handle is None else nodes.call("<start>", [build.parts(handle), *words[1:]])


def _scalar(build: Builder, listed: Node | None, handle: Node | None) -> Made:
    return build.expr(listed)


_FORMS = {
    **dict.fromkeys(["print", "say", "printf"], _print),
    "open": _open,
    **dict.fromkeys(["system", "exec"], _system),
    **dict.fromkeys(["scalar", "not"], _scalar),
}


def _eval(build: Builder, node: Node) -> Made:
    """eval and do: a block, a text, or a file."""
    word, inner = node.children[0].type, node.named_children[0] if node.named_child_count else None
    if inner is not None and inner.type == "block":
        return build.made(inner)
    return nodes.call(word, [build.expr(inner) if inner is not None else nodes.name(_TOPIC)])


# -- operators


def _binary(build: Builder, node: Node) -> Made:
    sign, left, right = (node.child_by_field_name(field) for field in ("operator", "left", "right"))
    if source_of(sign) in ("=~", "!~") and left is not None and right is not None:
        matched = build.expr(right)
        changes = right.type.startswith(("subst", "translit"))
        return nodes.assign(build.expr(left), nodes.call("<regex>", [matched])) if changes else matched
    if left is not None and (
        source_of(sign) in ("..", "...") or source_of(left).endswith(".")
    ):  # `1..3` is `1.` and `.3`
        return nodes.call("<range>", [build.expr(left), build.expr(right)])
    return _OPERATOR(build, node)


_OPERATOR = grammar.operator(_JOINS, _CHOICES)


def _assign(build: Builder, node: Node) -> Made:
    target, sign, value = (
        build.field(node, "left"),
        source_of(node.child_by_field_name("operator")),
        build.field(node, "right"),
    )
    if isinstance(target, ast.List):
        target = ast.Tuple(target.elts)
    return nodes.assign(target, value if sign == "=" else grammar.binary(sign[:-1], target, value, _JOINS, _CHOICES))


def _declared(build: Builder, node: Node) -> Made:
    several = build.exprs(node.children_by_field_name("variables"))
    return ast.List(several) if several else build.field(node, "variable")


# -- statements


def _sub(build: Builder, node: Node) -> Made:
    title = source_of(node.child_by_field_name("name"))
    listed = next((child for child in node.named_children if child.type == "signature"), None)
    params = [source_of(child.named_children[0]) for child in listed.named_children] if listed is not None else []
    body = nodes.returning(build.body(node.child_by_field_name("body")))
    made = nodes.function(params, body, title, rest="" if params else "@_")
    if title:
        return [made]
    closure = nodes.closure([], [])
    closure.function = made
    return closure


def _behind(build: Builder, node: Node) -> Made:
    """A condition or a loop that follows its statement."""
    body = nodes.as_statements(build.made(node.named_children[0]))
    if node.type == "postfix_for_expression":
        return nodes.loop(nodes.name(_TOPIC), _flat(build, node.child_by_field_name("list")), body)
    test = grammar.tested(build, node)
    return nodes.repeat(test, body) if node.type == "postfix_loop_expression" else nodes.branch(test, body, [])


def _foreach(build: Builder, node: Node) -> Made:
    named = node.child_by_field_name("variable")
    target = build.expr(named) if named is not None else nodes.name(_TOPIC)
    over = _flat(build, node.child_by_field_name("list"))
    return nodes.loop(target, over, build.body(node.child_by_field_name("block")))


def _over_list(build: Builder, node: Node) -> Made:
    """map, grep, sort: the block is read with each item of the list."""
    over, block = _flat(build, node.child_by_field_name("list")), build.body(node.child_by_field_name("callback"))
    if node.children[0].type == "map":
        pair = ast.comprehension(target=nodes.name(_TOPIC), iter=over, ifs=[], is_async=0)
        return ast.ListComp(nodes.as_expression(block), [pair])
    listed = nodes.name("<list>")
    return nodes.as_body(
        [*nodes.assign(listed, over), *nodes.loop(nodes.name(_TOPIC), listed, block), ast.Expr(listed)]
    )


def _return(build: Builder, node: Node) -> Made:
    args = [value for child in node.named_children for value in _values(build, child)]
    return [ast.Return(args[0] if len(args) == 1 else ast.List(args))]


def _jump(build: Builder, node: Node) -> Made:
    return [ast.Break()] if node.children[0].type == "last" else [ast.Continue()]


_RULES: dict[str, Rule] = {
    **grammar.COMMON,
    **dict.fromkeys(["scalar", "array", "hash"], _variable_node),
    **dict.fromkeys(["array_element_expression", "hash_element_expression", "slice_expression"], _element),
    "arraylen": lambda build, node: grammar.CONDITION,
    **dict.fromkeys(["bareword", "filehandle"], _bareword),
    "autoquoted_bareword": lambda build, node: nodes.text(source_of(node)),
    "interpolated_string_literal": grammar.texts,
    "string_literal": _plain,
    "quoted_word_list": _words,
    "command_string": lambda build, node: nodes.call("`", [grammar.texts(build, node)]),
    "fileglob_expression": lambda build, node: nodes.call("glob", [grammar.texts(build, node)]),
    "readline_expression": lambda build, node: nodes.call("readline"),
    "heredoc_token": grammar.heredoc,
    **dict.fromkeys(["match_regexp", "quoted_regexp", "substitution_regexp", "transliteration_expression"], _regex),
    **dict.fromkeys(["parenthesized_expression", "anonymous_array_expression", "anonymous_hash_expression"], _group),
    "list_expression": lambda build, node: ast.List(_values(build, node)),
    **dict.fromkeys(
        ["function", "function_call_expression", "ambiguous_function_call_expression", "func1op_call_expression", "func0op_call_expression"],
        _function,
    ),
    "refgen_expression": _reference,
    "method_call_expression": _method,
    "coderef_call_expression": _through,
    **dict.fromkeys(["eval_expression", "do_expression"], _eval),
    "require_expression": lambda build, node: nodes.call("require", build.exprs(node.named_children)),
    "binary_expression": _binary,
    **dict.fromkeys(["lowprec_logical_expression", "equality_expression", "relational_expression"], _OPERATOR),
    **dict.fromkeys(["unary_expression", "logical_not_expression"], grammar.negated),
    **dict.fromkeys(["postinc_expression", "preinc_expression"], grammar.counted_up),
    "assignment_expression": _assign,
    "variable_declaration": _declared,
    "conditional_expression": grammar.ternary,
    **dict.fromkeys(["subroutine_declaration_statement", "anonymous_subroutine_expression"], _sub),
    **dict.fromkeys(["conditional_statement", "elsif"], grammar.choice),
    "else": lambda build, node: build.body(node.child_by_field_name("block")),
    **dict.fromkeys(["postfix_conditional_expression", "postfix_loop_expression", "postfix_for_expression"], _behind),
    "loop_statement": grammar.while_loop,
    "for_statement": _foreach,
    "cstyle_for_statement": grammar.counted,
    **dict.fromkeys(["map_grep_expression", "sort_expression"], _over_list),
    "return_expression": _return,
    "loopex_expression": _jump,
    **dict.fromkeys(
        ["expression_statement", "block_statement", "phaser_statement", "package_statement", "statement_label", "try_statement"],
        grammar.block,
    ),
    **dict.fromkeys(["use_statement", "package", "identifier", "eof_marker", "data_section", "pod"], grammar.quiet),
}  # fmt: skip


# -- calls that no table describes


def _opened(walk: ProgramWalk, call: LibraryCall) -> Value:
    if not call.args:
        return Sym("?")
    mode, rest = text_of(call.get(0)).strip(), call.args[1:]
    if not rest:
        if mode.startswith("|") or mode.endswith("|"):
            return shell_line(walk, mode.strip("|").strip(), call)
        path = mode.lstrip("+<> ")
        return (
            Sym("?")
            if path.startswith("&")
            else walk.world.open(path, open_mode([mode[: len(mode) - len(path)].strip() or "r"]))
        )
    if mode in ("-|", "|-"):
        return walk.call(Sym("system"), rest, {})
    if "&" in mode or (isinstance(rest[0], Sym) and rest[0].path.startswith("socket")):
        return Sym("?")
    return walk.world.open(rest[0], open_mode([mode.partition(":")[0].strip()]))


def _shift(walk: ProgramWalk, call: LibraryCall) -> Value:
    """The next argument of this function."""
    given = walk.scope.find("@_") if not call.args else call.get(0)
    if not isinstance(given, list) or not given:
        return hole()
    first = given[0]
    walk.scope.set("@_", given[1:]) if not call.args and len(given) > 1 else None
    return first


def _find(walk: ProgramWalk, call: LibraryCall) -> Value:
    """File::Find: the function gets every file below the directories."""
    parts = [one for given in call.args for one in (given.values() if isinstance(given, dict) else [given])]
    wanted = [one for one in parts if isinstance(one, ProgramFunction)] or list(walk.defined)
    places = [
        one for given in call.args for one in items(given) if isinstance(one, str) and not isinstance(given, dict)
    ]
    for file in tree(*places):
        for name in (_TOPIC, "$File::Find::name", "$File::Find::dir"):
            walk.scope.set(name, file)
        for func in wanted:
            walk.call(func, [file], {})
    walk.scope.set(_TOPIC, Marked(hole("_"), {"bulk"}))
    return Sym("?")


def _variable(name: str) -> Value:
    if name in ("%ENV", "$ENV"):
        return library("perl").reach("%ENV")
    if name[:1] in ("@", "%"):
        return [Marked(hole(name[1:]), {"bulk"})]
    return hole(name[1:]) if name.startswith("$") else UNKNOWN


_PERL = CodeLanguage(
    "Perl",
    "perl",
    by_grammar("perl", _RULES),
    {
        "<open>": _opened,
        "<method>": chosen_member,
        "shift": _shift,
        **dict.fromkeys(["find", "finddepth"], _find),
    },
    _variable,
    {_TOPIC: Marked(hole("_"), {"bulk"})},
)
