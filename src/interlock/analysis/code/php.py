"""PHP source -> its effects."""

from __future__ import annotations

import ast

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Node, text_of
from interlock.analysis.code.language import CodeLanguage, holes
from interlock.analysis.code.performing.network import leaks
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value
from interlock.analysis.code.program.values import text_of as value_text
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.code.templates import rules_of
from interlock.analysis.facts import known

# -- names and texts


def _constant(build: Builder, node: Node) -> nodes.Made:
    """A name without its namespace."""
    return nodes.name(text_of(node).replace("/", "\\").rpartition("\\")[2])


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


def _parse(source: str) -> tuple[ast.Module, bool]:
    """The program, with or without its opening tag, and with the end of its last statement."""
    ended = source if source.rstrip().endswith((";", "}", ">")) else f"{source};"
    rules = rules_of("php", _constant, _document, _new, _foreach)
    return Builder("php" if "<?" in source else "php_only", rules).module(ended)


_ENVIRONMENT = Sym("$_ENV", traits=frozenset({"environment"}))
read_php = CodeLanguage(
    "PHP",
    "php",
    _parse,
    {"curl_setopt": _set_option, "curl_exec": _curl},
    holes("$"),
    {"$_SERVER": _ENVIRONMENT, "$_ENV": _ENVIRONMENT},
).read
