"""Syntax trees of tree-sitter -> the form that all languages share, by rules of which most grammars need the same."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from interlock.analysis.code.lexing import TooDeep, unescaped
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import Made
from interlock.analysis.code.syntax_tree import here_documents, parsed
from interlock.analysis.facts import hole

if TYPE_CHECKING:
    from tree_sitter import Node as Node
else:
    Node = object  # named in annotations alone; a grammar is loaded when its language is first met

_DEPTH = 160  # nodes inside each other


class GrammarTable(Struct, frozen=True):
    rules: Mapping[str, Rule]
    joins: frozenset[str]  # operators that put texts together
    quotes: list[tuple[bytes, Callable[[str], str]]]  # how texts are read that begin with these marks
    caseless: bool  # the names of functions are the same in capital letters
    kinds: Mapping[str, frozenset[str]]  # nodes that rules tell apart


class Builder:
    """Turns one tree into Python's; a node without a rule is the values of its parts."""

    def __init__(self, key: str, table: GrammarTable) -> None:
        self.key, self.table, self.joins, self.kinds = key, table, table.joins, table.kinds
        self.depth = 0
        self.documents: list[Node] = []  # here-documents that wait for the mark that announces them
        self.scopes: list[dict[str, str]] = [{}]  # the names of the blocks around, with what the form calls them

    def program(self, source: str) -> nodes.Program:
        root = parsed(self.key, source)
        self.documents = here_documents(root) if "<<" in source else []
        return self.block(root.named_children), not root.has_error

    def made(self, node: Node) -> Made:
        self.depth += 1
        if self.depth > _DEPTH:
            raise TooDeep
        hides = node.type in self.kinds["hides"]
        if hides:
            self.scopes.append({})
        made = self.table.rules.get(node.type, Builder.parts)(self, node)
        if hides:
            self.scopes.pop()
        self.depth -= 1
        return made

    def expr(self, node: Node | None, *titles: str) -> ast.expr:
        found = part(node, *titles)
        return nodes.NOTHING if found is None else nodes.as_expression(self.made(found))

    def loud(self, found: Iterable[Node]) -> list[Node]:
        return [node for node in found if node.type not in self.kinds["quiet"]]

    def exprs(self, found: Iterable[Node]) -> list[ast.expr]:
        return [self.expr(node) for node in self.loud(found)]

    def block(self, found: Iterable[Node]) -> list[ast.stmt]:
        return [made for node in self.loud(found) for made in nodes.as_statements(self.made(node))]

    def body(self, node: Node | None, *titles: str) -> list[ast.stmt]:
        inside = part(node, *titles)
        return [] if inside is None else nodes.as_statements(self.made(inside))

    def parts(self, node: Node) -> ast.expr:
        return nodes.several(self.exprs(node.named_children))


Rule = Callable[[Builder, "Node"], Made]


def text_of(node: Node | None, *titles: str) -> str:
    found = part(node, *titles)
    return (found.text or b"").decode("utf-8", "replace") if found else ""


def part(node: Node | None, *titles: str) -> Node | None:
    if not titles or node is None:
        return node
    found = map(node.child_by_field_name, titles)
    return next((one for one in found if one is not None), None)


def children(node: Node | None, *titles: str) -> list[Node]:
    found = part(node, *titles)
    return [] if found is None else found.named_children


def child_of(node: Node, kind: str) -> Node | None:
    return next((child for child in node.named_children if child.type == kind), None)


# -- rules that languages share


def name(build: Builder, node: Node) -> Made:
    r"""A name without the types of `name<T>`, and without a namespace as in PHP's `\Space\name`."""
    return ast.Name(text_of(node).partition("<")[0].rpartition("\\")[2])


def operator(build: Builder, node: Node) -> Made:
    """Operators of a known meaning are computed."""
    spine: list[Node] = []
    left: Node | None = node
    while left and left.type == node.type:  # a chain leans left, as deep as it is long
        spine.append(left)
        left = next(iter(left.named_children), None)
    made = build.expr(left)
    for at in reversed(spine):
        right = at.named_children[-1] if at.named_child_count > 1 else None
        made = nodes.binary(_sign(at), made, build.expr(right), build.joins)
    return made


def _sign(node: Node, end: str = "") -> str:
    for child in node.children:
        sign = child.type if not child.is_named else text_of(child) if child.type == "operator" else ""
        if sign and sign.endswith(end):
            return sign
    return ""


def negated(build: Builder, node: Node) -> Made:
    value = build.expr(node.named_children[-1]) if node.named_child_count else nodes.NOTHING
    sign = node.children[0].type
    if sign == "void":
        return nodes.Body([ast.Expr(value), ast.Expr(nodes.NOTHING)])
    return nodes.signed(sign, value)


def tested(build: Builder, node: Node) -> ast.expr:
    """What `unless` and `until` test must not hold."""
    test = build.expr(node, "condition")
    return nodes.signed("not", test) if any(child.type in ("unless", "until") for child in node.children) else test


def _guarded(build: Builder, node: Node) -> list[ast.stmt]:
    if inside := part(node, "consequence", "body", "block"):
        return build.body(inside)
    others = [*node.children_by_field_name("condition"), *_alternatives(node)]
    return build.block(child for child in node.named_children if child not in others)


def _alternatives(node: Node) -> list[Node]:
    fields = node.children_by_field_name("alternative")
    return fields or [child for child in node.named_children if child.type in ("elsif", "else")]


def choice(build: Builder, node: Node, other: Sequence[ast.stmt] = ()) -> Made:
    for last in reversed(_alternatives(node)):
        chained = last.type.startswith("els") and part(last, "condition")
        other = nodes.as_statements(choice(build, last, other)) if chained else build.body(last)
    first = build.body(node, "initializer")
    return [*first, *nodes.branch(tested(build, node), _guarded(build, node), list(other))]


def counted_up(build: Builder, node: Node) -> Made:
    """`i++` and `--i`; behind its operand, the value is the one before."""
    target = build.expr(next((child for child in node.named_children), None))
    signs = [child.type for child in node.children]
    step, back = (ast.Sub, ast.Add) if "--" in signs else (ast.Add, ast.Sub)
    changed = nodes.as_expression(nodes.assign(target, ast.BinOp(target, step(), ast.Constant(1))))
    return changed if signs[0] in ("++", "--") else ast.BinOp(changed, back(), ast.Constant(1))


def while_loop(build: Builder, node: Node) -> Made:
    return nodes.repeat(tested(build, node), _guarded(build, node))


def attempts(build: Builder, node: Node) -> Made:
    """`try`, `switch` and their like: all but the first part and what always follows may not run."""
    made: list[ast.stmt] = []
    first = [part(node, title) for title in ("body", "condition", "value")]
    for child in node.named_children:
        inside = build.body(child)
        sure = child in first or child.type in build.kinds["sure"]
        made += inside if sure or not inside else nodes.maybe(inside)
    return made


def counted(build: Builder, node: Node) -> Made:
    """`for (first; test; step)`; without a test it has no end."""
    clause = child_of(node, "for_clause") or node
    first = _fields(clause, "init", "initialize", "initializer", "initialiser")
    steps = _fields(clause, "update", "increment", "iterator")
    test = next(iter(_fields(clause, "condition")), None)
    again = ast.Constant(True) if test is None or test.type == "empty_statement" else build.expr(test)
    inside = build.body(node, "body", "block")
    return [*build.block(first), *nodes.repeat(again, [*inside, *build.block(steps)])]


def _fields(node: Node, *titles: str) -> list[Node]:
    return [child for title in titles for child in node.children_by_field_name(title) if child.is_named]


def assigned(build: Builder, node: Node) -> Made:
    """One or several targets, or `left += right`; of several results the first counts."""
    first, *_, last = (node.named_children[0], *node.named_children)
    sides = first if first.type in build.kinds["several"] else part(node, "name", "left") or first, last
    sign = _sign(node, "=")
    if not sign:  # a declaration without a value
        return []
    left, right = (
        build.exprs(side.named_children if side.type in build.kinds["several"] else [side]) for side in sides
    )
    if sign not in ("=", ":=") and left and right:
        right = [nodes.binary(sign[:-1], left[0], right[0], build.joins)]
    right = [*right, *[nodes.NOTHING] * len(left)][: len(left)]
    return nodes.assign(left[0], right[0]) if len(left) == 1 else nodes.assign(ast.Tuple(left), ast.Tuple(right))


def member(build: Builder, node: Node) -> Made:
    """`owner.name`; what it is made of, as in `name<T>`, does not matter."""
    owner = part(node, "object", "scope", "table", "operand", "expression", "value")
    owner = node.named_children[0] if owner is None and node.named_child_count > 1 else owner
    found = text_of(part(node, "property", "field", "method", "name") or node.named_children[-1])
    named = found.partition("<")[0].removeprefix("$" if node.type.startswith("scoped") else "")
    return nodes.member(build.expr(owner), named) if owner else ast.Name(named)


def item(build: Builder, node: Node) -> Made:
    """`owner[key]`, or a slice of the owner; `owner[]` is the owner."""
    owner, *keys = build.loud(node.named_children)
    while len(keys) == 1 and keys[0].type in build.kinds["keys"]:
        keys = keys[0].named_children
    value = build.expr(owner)
    if node.type == "slice_expression":
        return nodes.item(value, _slice(build, node.children[2:]))
    ends = keys[0].children if len(keys) == 1 and keys[0].type in build.kinds["ranges"] else []
    if any(child.type in build.kinds["dots"] for child in ends):
        return nodes.item(value, _slice(build, ends))
    return nodes.item(value, nodes.several(build.exprs(keys))) if keys else value


def _slice(build: Builder, parts: Sequence[Node]) -> ast.Slice:
    """-1 is the end."""
    at = next(number for number, part in enumerate(parts) if part.type in (":", *build.kinds["dots"]))
    ends = [next((part for part in side if part.is_named), None) for side in (parts[:at], parts[at + 1 :])]
    return ast.Slice(*(None if end is None or text_of(end) == "-1" else build.expr(end) for end in ends))


def params(build: Builder, node: Node | None, *titles: str) -> list[str]:
    node = part(node, *titles)
    if node is None:
        return []
    single = not node.named_child_count and node.type in ("identifier", "implicit_parameter")
    inside = [node] if single else [child for child in node.named_children if child.type not in build.kinds["unnamed"]]
    found = [text_of(named) for child in inside for named in (child.children_by_field_name("name") or [child])]
    build.scopes[-1].update(zip(found, found, strict=True))
    return found


def defaults(build: Builder, node: Node | None) -> list[ast.expr]:
    found = [part(child, "value", "default_value") for child in children(node)]
    first = next((at for at, value in enumerate(found) if value is not None), len(found))
    return [nodes.CONDITION if value is None else build.expr(value) for value in found[first:]]


def given(build: Builder, node: Node | None, *titles: str) -> tuple[list[ast.expr], list[ast.keyword]]:
    node = part(node, *titles)
    args: list[ast.expr] = []
    named: list[ast.keyword] = []
    if node and node.type == "template_string":
        return [build.expr(node)], [nodes.named("template", ast.Constant(True))]
    for child in children(node):
        if (child.type == "argument" and part(child, "name")) or child.type in ("pair", "named_argument"):
            title = text_of(child.named_children[0]).strip(":\"'")
            named.append(nodes.named(title, build.expr(child.named_children[-1])))
        elif child.type == "hash_splat_argument":
            named.append(ast.keyword(None, build.parts(child)))
        elif child.type not in build.kinds["quiet"]:
            args.append(build.expr(child))
    return args, named


def called(build: Builder, node: Node) -> Made:
    owner, chosen = part(node, "object", "scope"), part(node, "name")
    args, named = given(build, node, "arguments")
    if owner is None:
        callee = build.expr(node, "function", "name")
        if build.table.caseless and isinstance(callee, ast.Name) and callee.id.isidentifier():
            callee = ast.Name(callee.id.lower())
        return nodes.call(callee, args, named)
    if chosen and chosen.type not in ("name", "identifier"):  # its name is a value
        return nodes.call("<method>", [build.expr(owner), build.expr(chosen), *args], named)
    return nodes.call(nodes.member(build.expr(owner), text_of(chosen)), args, named)


def table(build: Builder, node: Node) -> Made:
    """Values, some with keys; Lua's without keys are counted from one."""
    pairs: list[tuple[ast.expr | None, ast.expr]] = []
    for child in node.named_children:
        *keys, value = child.named_children or [child]
        named = bool(keys) and keys[0].type == "identifier" and child.children[0].type != "["
        key = None if not keys else nodes.text(text_of(keys[0])) if named else build.expr(keys[0])
        pairs += [(key, build.expr(value))] if child.type in build.kinds["entries"] else []
    return mapping(pairs, build.key == "lua")


def mapping(pairs: Sequence[tuple[ast.expr | None, ast.expr]], first: int = 0) -> ast.expr:
    if all(key is None for key, _ in pairs):
        return ast.List([value for _, value in pairs])
    keys = [key or nodes.number(str(at)) for at, (key, _) in enumerate(pairs, first)]
    return ast.Dict(list(keys), [value for _, value in pairs])


def _pieces(node: Node, inside: bool, plain: frozenset[str]) -> Iterator[tuple[Node, bool]]:
    for child in node.children:
        if child.type in plain and child.child_count:
            yield from _pieces(child, True, plain)
        else:
            yield child, inside


def texts(build: Builder, node: Node, read: Callable[[str], str] | None = None) -> ast.expr:
    parts: list[str | ast.expr] = []
    whole, start = node.text or b"", node.start_byte
    read = read or next((how for mark, how in build.table.quotes if whole.startswith(mark)), unescaped)
    if not node.child_count:
        return nodes.text(read(text_of(node).lstrip("@")[1:-1]))
    at = start + (node.type == "heredoc_body" and whole.startswith(b"\n"))
    plain = b""
    for child, inside in _pieces(node, node.type in build.kinds["plain"], build.kinds["plain"]):
        plain += whole[at - start : child.start_byte - start]
        at = child.end_byte
        if child.type in build.kinds["plain"] or (inside and not child.is_named):
            plain += child.text or b""
        elif child.is_named and child.type not in build.kinds["marks"]:
            parts += [read(plain.decode("utf-8", "replace")), build.expr(child)]
            plain = b""
    return nodes.joined([part for part in (*parts, read(plain.decode("utf-8", "replace"))) if part != ""])


def heredoc(build: Builder, node: Node) -> Made:
    """A mark in single quotes keeps code out, one in ticks makes a command."""
    if not build.documents:
        return nodes.text(hole())
    mark = text_of(node)
    made = texts(build, build.documents.pop(0), str if "'" in mark else unescaped)
    first = made.values[0] if isinstance(made, ast.JoinedStr) else made
    if isinstance(first, ast.Constant):
        first.value = str(first.value).removeprefix("\n")
    if isinstance(made, ast.Constant):
        plain = str(made.value).rstrip(" \t")
        made = nodes.text(textwrap.dedent(plain) if "~" in mark else plain)
    return nodes.call("`", [made]) if "`" in mark else made
