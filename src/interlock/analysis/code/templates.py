"""Tables of `grammars/`: each node of a language's grammar -> the rule or the template in Python's syntax that builds its form."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, GrammarTable, Node, Rule, text_of
from interlock.analysis.code.lexing import READS, function_of
from interlock.analysis.code.program import nodes
from interlock.analysis.packs import Pack, PackError, load_packs, only_keys

_SHIPPED = Path(__file__).parent / "grammars"
_KEYS = ("language", "extends", "joins", "quotes", "caseless", "nodes", "kinds")
_MARK = re.compile(r"\$(?:\*|-?\d+\*?|[a-z_]+(?:\|[a-z_]+)*(?:\|?\*)?)|<[a-z?]+>|`")
_LANGUAGES = "grammar_languages"  # the module of most
_PLACE = re.compile(r"(-?\d+)(\*?)")


def by_grammar(key: str, module: str = _LANGUAGES, builder: type[Builder] = Builder) -> Callable[[str], nodes.Program]:
    return lambda source: builder(key, rules_of(key, module)).program(source)


@cache
def rules_of(key: str, module: str = _LANGUAGES) -> GrammarTable:
    """Those that all share, then those of a module, by name; refuses a name of none."""
    packs = {pack["language"]: pack for pack in load_packs(_SHIPPED, check_tables)}
    table = packs[key]
    shared = {**vars(grammar), **_SHARED}
    rules: dict[str, Rule] = {}
    for pack in (packs["common"], packs.get(table.get("extends", ""), {}), table):
        for names, made in pack.get("nodes", {}).items():
            rule = shared.get(made) or function_of(module, key, made) or FormTemplate(key, made)
            rules.update(dict.fromkeys(names.split(), rule))
    quotes = [(mark.encode(), READS[how]) for mark, how in table.get("quotes", {}).items()]
    kinds = {**packs["common"]["kinds"], **table.get("kinds", {})}
    kinds = {kind: frozenset(names.split()) for kind, names in kinds.items()}
    return GrammarTable(rules, frozenset(table.get("joins", ())), quotes, table.get("caseless", False), kinds)


def check_tables(packs: Sequence[Pack]) -> Sequence[Pack]:
    for pack in packs:
        only_keys("grammars", pack, _KEYS)
        names = [name for listed in pack["nodes"] for name in listed.split()]
        if twice := {name for name in names if names.count(name) > 1}:
            raise PackError(f"{pack['language']}: told twice: {sorted(twice)}")
    return packs


class FormTemplate:
    """Python with marks, in whose place a node's parts are put."""

    def __init__(self, language: str, text: str) -> None:
        if text.isidentifier() and text not in ("None", "True", "False", "break", "continue"):
            raise PackError(f"{language}: no rule {text!r}")
        self.marks: dict[str, str] = {}
        try:
            self.body = ast.parse(_MARK.sub(self._mark, text)).body
        except SyntaxError as error:
            raise PackError(f"{language}: {text!r} is no template: {error}") from None

    def _mark(self, found: re.Match[str]) -> str:
        self.marks[f"mark_{len(self.marks)}"] = found.group()
        return f"mark_{len(self.marks) - 1}"

    def __call__(self, build: Builder, node: Node) -> nodes.Made:
        first = self.body[0]
        whole = first.value if isinstance(first, ast.Expr) else first
        mark = self.marks.get(whole.id, "") if isinstance(whole, ast.Name) else ""
        if mark[:1] == "$" and mark != "$*":
            found = _parts(build, node, mark)
            return build.made(found[0]) if len(found) == 1 else build.block(found)
        made: nodes.Made | ast.stmt = _Filling(self.marks, build, node).filled(whole)
        return [made] if isinstance(made, ast.stmt) else made


class _Filling(Struct):
    marks: Mapping[str, str]
    build: Builder
    node: Node

    def filled(self, part: Any) -> Any:
        if isinstance(part, list):
            return [made for one in part for made in self._each(one)]
        if isinstance(part, str):
            return "".join(map(text_of, self._found(part))) if part in self.marks else part
        if isinstance(part, ast.Name) and part.id in self.marks:
            return self._value(self.marks[part.id])
        if isinstance(part, (ast.FunctionDef, ast.Lambda)):
            return self._function(part)
        if not isinstance(part, ast.AST):
            return part
        made = type(part)(**{name: self.filled(value) for name, value in vars(part).items() if name in part._fields})
        if isinstance(made, ast.Attribute):
            made.attr = made.attr.lstrip(".")  # of a part that has the dot in it
            return made if made.attr else made.value
        return made

    def _function(self, part: ast.FunctionDef | ast.Lambda) -> Any:
        """With the parameters that `*$list` has; gives its last value where it is a lambda, or says `return $body`."""
        inside: Any = part.body[0] if isinstance(part, ast.FunctionDef) else ast.Return(part.body)
        body = self._found(inside.value.id)
        listed = self._found(part.args.vararg.arg) if part.args.vararg else []
        names = [name for node in listed for name in grammar.params(self.build, node)]
        defaults = [value for node in listed for value in grammar.defaults(self.build, node)][: len(names)]
        made = self.build.block(body)
        made = made if isinstance(inside, ast.Expr) else nodes.returning(made)
        if isinstance(part, ast.Lambda):
            return nodes.closure(names, made)
        title = next(iter(self._found(part.name)), None)
        if title and title.type.endswith("index_expression"):  # a member
            return nodes.assign(self.build.expr(title), nodes.closure(names, made))
        named = text_of(title).lower() if self.build.table.caseless else text_of(title)
        function = nodes.function(names, made, named, defaults=defaults)
        function.decorator_list = part.decorator_list
        return function if body else []

    def _each(self, part: Any) -> list[Any]:
        if isinstance(part, str) and part in self.marks:
            return [text_of(child) for child in self._found(part)]
        inner = part.value if isinstance(part, (ast.Expr, ast.Starred)) else None
        if not isinstance(inner, ast.Name) or inner.id not in self.marks:
            return [self.filled(part)]
        found = self._found(inner.id)
        if isinstance(part, ast.Expr):
            return self.build.block(found)
        inside = found if self.marks[inner.id] == "$*" else [child for one in found for child in one.named_children]
        return self.build.exprs(inside)

    def _value(self, mark: str) -> ast.expr:
        if mark == "$text":
            return grammar.texts(self.build, self.node)
        if mark[0] != "$":
            return ast.Name(mark.replace("<?>", "?"))
        found = _parts(self.build, self.node, mark)
        return nodes.several(self.build.exprs(found)) if mark == "$*" else self.build.expr(next(iter(found), None))

    def _found(self, name: str) -> list[Node]:
        return _parts(self.build, self.node, self.marks[name])


def _parts(build: Builder, node: Node, mark: str) -> list[Node]:
    name = mark[1:]
    if name == "*":
        return node.named_children
    if place := _PLACE.fullmatch(name):
        found = build.loud(node.named_children)[int(place[1]) :]
        return found if place[2] else found[:1]
    titles = name.removesuffix("|*")
    if titles == name and name.endswith("*"):
        return node.children_by_field_name(name[:-1])
    field = grammar.part(node, *titles.split("|"))
    return [field] if field else node.named_children if titles != name else []


_SHARED: Mapping[str, Rule] = {
    "block": lambda build, node: build.block(node.named_children),
    "path": lambda build, node: nodes.path(text_of(node)),
    "number": lambda build, node: nodes.number(text_of(node)),
    "symbol": lambda build, node: nodes.text(text_of(node).strip(":")),
    "truth": lambda build, node: ast.Constant(text_of(node).lower() == "true"),
    "quiet": lambda build, node: [],
}
