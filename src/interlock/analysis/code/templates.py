"""Tables of `grammars/`: each node of a language's grammar -> the rule or the template in Python's syntax that builds its form."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, GrammarTable, Node, Rule, text_of
from interlock.analysis.code.lexing import READS
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import Made
from interlock.analysis.packs import Pack, PackError, load_packs, only_keys

_Make = Callable[[Builder, Node], Any]
_Find = Callable[[Node], list[Node]]
_SHIPPED = Path(__file__).parent / "grammars"
_KEYS = ("language", "extends", "joins", "quotes", "caseless", "nodes")
_MARK = re.compile(r"\$(?:\*|-?\d+\*?|[a-z_]+(?:\|[a-z_]+)*(?:\|?\*)?)|<[a-z?]+>|`")
_PLACE = re.compile(r"(-?\d+)(\*?)")
_CONSTANTS = frozenset({"None", "True", "False", "break", "continue"})


def by_grammar(
    key: str, *own: Rule, wrap: Callable[[str], str] = str, builder: type[Builder] = Builder
) -> Callable[[str], tuple[ast.Module, bool]]:
    """A parser by a tree-sitter grammar, its table, and the rules that are this language's own."""
    return lambda source: builder(key, rules_of(key, *own)).module(wrap(source))


@cache
def rules_of(key: str, *own: Rule) -> GrammarTable:
    """What the nodes of a language become, and the rest of its table; refuses the name of a rule that is none."""
    packs = {pack["language"]: pack for pack in load_packs(_SHIPPED, check_tables)}
    table = packs[key]
    known = {**_SHARED, **{rule.__name__.lstrip("_"): rule for rule in own}}
    rules: dict[str, Rule] = {}
    for pack in (packs["common"], packs.get(table.get("extends", ""), {}), table):
        for names, made in pack.get("nodes", {}).items():
            rules.update(dict.fromkeys(names.split(), known.get(made) or FormTemplate(key, made)))
    quotes = [(mark.encode(), READS[how]) for mark, how in table.get("quotes", {}).items()]
    return GrammarTable(rules, frozenset(table.get("joins", ())), quotes, table.get("caseless", False))


def check_tables(packs: Sequence[Pack]) -> Sequence[Pack]:
    """The tables themselves; raises PackError where a key is unknown or a node is told twice."""
    for pack in packs:
        only_keys("grammars", pack, _KEYS)
        names = [name for listed in pack["nodes"] for name in listed.split()]
        if twice := {name for name in names if names.count(name) > 1}:
            raise PackError(f"{pack['language']}: told twice: {sorted(twice)}")
    return packs


class FormTemplate:
    """A piece of Python with marks, in whose place a node's parts are put."""

    def __init__(self, language: str, text: str) -> None:
        if text.isidentifier() and text not in _CONSTANTS:
            raise PackError(f"{language}: no rule {text!r}")
        self.marks: dict[str, str] = {}
        try:
            first = ast.parse(_MARK.sub(self._mark, text)).body[0]
        except SyntaxError as error:
            raise PackError(f"{language}: {text!r} is no template: {error}") from None
        whole = first.value if isinstance(first, ast.Expr) else first
        mark = self.marks.get(whole.id, "") if isinstance(whole, ast.Name) else ""
        self.make = _parts_alone(_finder(mark)) if mark[:1] == "$" and mark != "$*" else self._maker(whole)

    def _mark(self, found: re.Match[str]) -> str:
        self.marks[f"mark_{len(self.marks)}"] = found.group()
        return f"mark_{len(self.marks) - 1}"

    def __call__(self, build: Builder, node: Node) -> Made:
        made: Made | ast.stmt = self.make(build, node)
        return [made] if isinstance(made, ast.stmt) else made

    def _maker(self, part: Any) -> _Make:
        """What makes a part of the template."""
        if isinstance(part, list):
            makers = [self._each(one) for one in part]
            return lambda build, node: [made for make in makers for made in make(build, node)]
        if isinstance(part, str) and part in self.marks:
            find = _finder(self.marks[part])
            return lambda build, node: "".join(map(text_of, find(node)))
        if isinstance(part, ast.Name) and part.id in self.marks:
            return _value(self.marks[part.id])
        if isinstance(part, (ast.FunctionDef, ast.Lambda)):
            return self._function(part)
        if not isinstance(part, ast.AST):
            return lambda build, node: part
        kind, fields = (
            type(part),
            [(name, self._maker(value)) for name, value in ast.iter_fields(part) if name != "ctx"],
        )
        make: _Make = lambda build, node: kind(**{name: make(build, node) for name, make in fields})  # noqa: E731
        return _attribute(make) if kind is ast.Attribute else make

    def _each(self, part: Any) -> _Make:
        """What makes one part of a list: statements and values with a mark may be several."""
        if isinstance(part, str) and part in self.marks:
            find = _finder(self.marks[part])
            return lambda build, node: map(text_of, find(node))
        inner = part.value if isinstance(part, (ast.Expr, ast.Starred)) else None
        if not isinstance(inner, ast.Name) or inner.id not in self.marks:
            make = self._maker(part)
            return lambda build, node: (make(build, node),)
        mark = self.marks[inner.id]
        found = _finder(mark)
        if isinstance(part, ast.Expr):
            return lambda build, node: build.block(found(node))
        if mark == "$*":
            return lambda build, node: build.exprs(found(node))
        return lambda build, node: build.exprs([child for one in found(node) for child in one.named_children])

    def _function(self, part: ast.FunctionDef | ast.Lambda) -> _Make:
        """A function with the parameters that `*$list` has; it gives its last value where it is a lambda, or says `return $body`."""
        inside: Any = part.body[0] if isinstance(part, ast.FunctionDef) else ast.Return(part.body)
        find_body, gives = _finder(self.marks[inside.value.id]), isinstance(inside, ast.Return)
        assert part.args.vararg is not None
        find_params = _finder(self.marks[part.args.vararg.arg])
        find_title = _finder(self.marks[part.name]) if isinstance(part, ast.FunctionDef) else None

        def make(build: Builder, node: Node) -> Made | ast.stmt:
            names = [name for listed in find_params(node) for name in grammar.params(build, listed)]
            body = find_body(node)
            made = nodes.returning(build.block(body)) if gives else build.block(body)
            if find_title is None:
                return nodes.closure(names, made)
            title = find_title(node)[0]
            if title.named_child_count:  # a member
                return nodes.assign(build.expr(title), nodes.closure(names, made))
            named = text_of(title).lower() if build.table.caseless else text_of(title)
            function = nodes.function(names, made, named)
            function.decorator_list = getattr(part, "decorator_list", [])
            return function if body else []

        return make


def _parts_alone(find: _Find) -> _Make:
    def make(build: Builder, node: Node) -> Made:
        found = find(node)
        return build.made(found[0]) if len(found) == 1 else build.block(found)

    return make


def _attribute(make: _Make) -> _Make:
    def owned(build: Builder, node: Node) -> ast.expr:
        made: ast.Attribute = make(build, node)
        made.attr = made.attr.lstrip(".")  # of a part that has the dot in it
        return made if made.attr else made.value

    return owned


def _value(mark: str) -> _Make:
    if mark == "$text":
        return grammar.texts
    if mark[0] != "$":
        return lambda build, node: nodes.name(mark.replace("<?>", "?"))
    found = _finder(mark)
    if mark == "$*":
        return lambda build, node: nodes.several(build.exprs(found(node)))
    return lambda build, node: build.expr(next(iter(found(node)), None))


def _finder(mark: str) -> _Find:
    """What finds the parts of a node that a mark means."""
    name = mark[1:]
    if name == "*":
        return lambda node: node.named_children
    if place := _PLACE.fullmatch(name):
        first = int(place[1])
        last = None if place[2] or first == -1 else first + 1
        return lambda node: [child for child in node.named_children if child.type not in grammar.QUIET][first:last]
    titles = name.removesuffix("|*").split("|")
    if name.endswith("*") and not name.endswith("|*"):
        return lambda node: node.children_by_field_name(name[:-1])

    def find(node: Node) -> list[Node]:
        field = grammar.first_field(node, *titles)
        return [field] if field is not None else node.named_children if name.endswith("|*") else []

    return find


_SHARED: Mapping[str, Rule] = {
    "block": lambda build, node: build.block(node.named_children),
    "path": lambda build, node: nodes.path(text_of(node)),
    "number": lambda build, node: nodes.number(text_of(node)),
    "truth": lambda build, node: ast.Constant(text_of(node).lower() == "true"),
    "quiet": lambda build, node: [],
    **{
        rule.__name__: rule
        for rule in (
            grammar.name, grammar.operator, grammar.negated, grammar.choice, grammar.counted_up, grammar.while_loop, grammar.cases,
            grammar.attempts, grammar.counted, grammar.assigned, grammar.member, grammar.item, grammar.called, grammar.texts,
            grammar.heredoc,
        )
    },
}  # fmt: skip
