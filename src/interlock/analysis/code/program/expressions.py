"""Expressions -> their values: names, attributes, comprehensions, assignments, and tests that narrow a value."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from interlock.analysis.code.program.nodes import Body, Closure
from interlock.analysis.code.program.results import operate
from interlock.analysis.code.program.values import (
    MAX_ITEMS,
    REGEX,
    UNKNOWN,
    Class,
    Either,
    Instance,
    Marked,
    OpenFile,
    Partial,
    ProgramScope,
    Sym,
    Value,
    concat,
    either,
    flat,
    made_from,
    path_of,
    text_of,
)
from interlock.analysis.code.program.walk import Expression, ProgramWalk
from interlock.analysis.facts import known

_FILTERS = {"endswith": "*{}", "startswith": "{}*", "match": "{}", "fnmatch": "{}"}
_ENDING = re.compile(r"((?:\\\.|[\w-])+)\$")


def narrow(walk: ProgramWalk, test: ast.expr) -> None:
    for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
        name, pattern = "", ""  # that is filtered, and what is left of `*`
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.args:
            name, pattern = _method(walk, part.func, part.args)
        elif isinstance(part, ast.Compare) and len(part.ops) == 1:
            name, pattern = _comparison(walk, part.left, part.ops[0], part.comparators[0])
        value = walk.scope.find(name) if name else None
        if isinstance(value, Marked) and "bulk" in value.traits and value.endswith("*") and known(pattern):
            walk.scope.set(name, Marked(f"{value[:-1]}{pattern}", value.traits))


def narrowed(after: Value, before: Value) -> bool:
    """Whether a branch did no more to a name than narrow it."""
    many = isinstance(before, Marked) and "bulk" in before.traits
    return many and isinstance(after, Marked) and after.traits == before.traits


def _method(walk: ProgramWalk, func: ast.Attribute, args: list[ast.expr]) -> tuple[str, str]:
    given = walk.eval(args[0])
    if func.attr == "fnmatch" and len(args) > 1:
        return _root(args[0]), text_of(walk.eval(args[1]))
    regex = walk.eval(func.value) if func.attr == "test" else UNKNOWN
    if path_of(regex) == REGEX and regex.args:
        if ending := _ENDING.fullmatch(text_of(regex.args[0])):
            return _root(args[0]), "*" + ending[1].replace("\\", "")
    text = _any_of(given) if isinstance(given, tuple) else text_of(given)
    pattern = _FILTERS.get(func.attr.lower())
    return (_root(func.value), pattern.format(text)) if pattern else ("", "")


def _comparison(walk: ProgramWalk, left: ast.expr, op: ast.cmpop, right: ast.expr) -> tuple[str, str]:
    if not isinstance(op, (ast.Eq, ast.In)):
        return "", ""
    start = "*" if isinstance(left, ast.Attribute) and left.attr == "suffix" else ""
    value = walk.eval(right)
    if isinstance(op, ast.Eq) or isinstance(value, (list, tuple)):
        return _root(left), start + (text_of(value) if isinstance(op, ast.Eq) else _any_of(value))
    return (_root(right), f"*{text_of(left.value)}*") if isinstance(left, ast.Constant) else ("", "")


def _any_of(values: Sequence[Value]) -> str:
    return "{" + ",".join(map(text_of, values)) + "}"


def _root(node: ast.expr) -> str:
    """`f` of `f`, `f.name`, `f.suffix.lower()`."""
    for _ in range(4):
        if isinstance(node, ast.Attribute):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
    return node.id if isinstance(node, ast.Name) else ""


def assign(walk: ProgramWalk, target: ast.expr, value: Value) -> None:
    if isinstance(target, ast.Name):
        walk.scope.set(target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(walk, target.elts, value)
    elif isinstance(target, ast.Starred):
        assign(walk, target.value, value)
    elif isinstance(target, ast.Attribute):
        _set_attribute(walk, walk.eval(target.value), target.attr, value)
    elif isinstance(target, ast.Subscript):
        owner, key = walk.eval(target.value), walk.eval(target.slice)
        counted = isinstance(owner, list) and isinstance(key, int)
        _set_item(owner, key - walk.language.first if counted else key, value)


def _unpack(walk: ProgramWalk, targets: Sequence[ast.expr], value: Value) -> None:
    items = None if isinstance(value, (str, dict)) else flat(value)
    star = next((at for at, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    if items is not None and star is not None and len(items) >= len(targets) - 1:
        end = len(items) - (len(targets) - star - 1)
        items = [*items[:star], items[star:end], *items[end:]]
    if items is None or (len(items) != len(targets) and not walk.world.loose):
        items = []
    for target, item in zip(targets, [*items, *(made_from(value) for _ in targets)], strict=False):
        assign(walk, target, item)


def _set_attribute(walk: ProgramWalk, owner: Value, name: str, value: Value) -> None:
    if isinstance(value, OpenFile):  # it may be written by code that is not seen
        value.written = True
    if isinstance(owner, (Instance, Class)):
        owner.names[name] = value
    elif isinstance(owner, dict):
        _set_item(owner, name, value)
    elif isinstance(owner, Sym):
        walk.attributes[f"{owner.path}.{name}"] = value
    elif isinstance(owner, str) and walk.world.loose:
        walk.call(walk.language.attribute(walk, owner, f"{name}="), [value])


def _set_item(owner: Value, key: Value, value: Value) -> None:
    slot = isinstance(owner, list) and isinstance(key, int) and -len(owner) <= key < len(owner)
    entry = isinstance(owner, dict) and isinstance(key, (str, int, bytes)) and len(owner) < MAX_ITEMS
    if slot or entry:
        owner[key] = value
    elif isinstance(owner, list) and key == len(owner) < MAX_ITEMS:
        owner.append(value)


def _collect(walk: ProgramWalk, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
    with walk.inside(ProgramScope(walk.scope)):
        turns = _turns(walk, node.generators)
        if isinstance(node, ast.DictComp):
            return {_key(walk.eval(node.key)): walk.eval(node.value) for _ in turns}
        return [walk.eval(node.elt) for _ in turns]


def _key(value: Value) -> Value:
    return value if isinstance(value, (str, int, bytes, Sym)) else UNKNOWN


def _turns(walk: ProgramWalk, generators: Sequence[ast.comprehension]) -> Iterator[None]:
    """Stops once for each turn, with its names set."""
    if not generators:
        yield
        return
    for item in walk.items(walk.eval(generators[0].iter)):
        assign(walk, generators[0].target, item)
        for test in generators[0].ifs:
            walk.eval(test)
            narrow(walk, test)
        yield from _turns(walk, generators[1:])


def _slice(walk: ProgramWalk, node: ast.Slice) -> Value:
    bounds = [None if part is None else walk.eval(part) for part in (node.lower, node.upper, node.step)]
    return slice(*bounds) if all(part is None or isinstance(part, int) for part in bounds) else UNKNOWN


def _binary(walk: ProgramWalk, node: ast.BinOp) -> Value:
    """A chain of operators without recursion, as strings are often built from many parts."""
    rest: list[tuple[str, ast.expr]] = []
    first: ast.expr = node
    while isinstance(first, ast.BinOp):
        rest.append((type(first.op).__name__, first.right))
        first = first.left
    value = walk.eval(first)
    for op, right in reversed(rest):
        other = walk.eval(right)
        if op == "BitAnd" and isinstance(value, Partial):
            value = walk.call(value)  # `program & FOREGROUND` runs it
        value = walk.spread(lambda a, b, op=op: operate(op, a, b), value, other)
    return value


def _unary(walk: ProgramWalk, node: ast.UnaryOp) -> Value:
    value = walk.eval(node.operand)
    return -value if isinstance(value, (int, float)) and isinstance(node.op, ast.USub) else made_from(value)


def _and_or(walk: ProgramWalk, node: ast.BoolOp) -> Value:
    values = [walk.eval(value) for value in node.values]
    return either(*values) if isinstance(node.op, ast.Or) else values[-1]


def _compare(walk: ProgramWalk, node: ast.Compare) -> Value:
    sides = [walk.eval(side) for side in (node.left, *node.comparators)]
    holds = _HOLDS.get(type(node.ops[0])) if len(sides) == 2 else None
    plain = all(isinstance(side, (int, float)) for side in sides) or all(
        isinstance(side, str) and known(side) for side in sides
    )
    return holds(*sides) if holds and plain else made_from(sides)


_HOLDS: Mapping[type[ast.cmpop], Callable[[Value, Value], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def _if_else(walk: ProgramWalk, node: ast.IfExp) -> Value:
    walk.eval(node.test)
    return either(walk.eval(node.body), walk.eval(node.orelse))


def _named(walk: ProgramWalk, node: ast.NamedExpr) -> Value:
    value = walk.eval(node.value)
    assign(walk, node.target, value)
    return value


def _body(walk: ProgramWalk, node: Body) -> Value:
    *first, last = node.body
    walk.block(first)
    if isinstance(last, ast.Expr):
        return walk.eval(last.value)
    walk.block([last])
    return UNKNOWN


def _formatted(walk: ProgramWalk, node: ast.FormattedValue) -> Value:
    if node.format_spec:
        walk.eval(node.format_spec)
    value = walk.eval(node.value)
    return value if isinstance(value, Either) else text_of(value)


def _elements(walk: ProgramWalk, nodes: Sequence[ast.expr]) -> list[Value]:
    made: list[Value] = []
    for node in nodes:
        made += walk.items(walk.eval(node.value)) if isinstance(node, ast.Starred) else [walk.eval(node)]
    return made


def _dict(walk: ProgramWalk, node: ast.Dict) -> Value:
    made: dict[Value, Value] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        held = walk.eval(value)
        if key is None:
            made.update(held if isinstance(held, dict) else {UNKNOWN: held})
        else:
            made[_key(walk.eval(key))] = held
    return made


def _yield(walk: ProgramWalk, node: ast.Yield | ast.YieldFrom) -> Value:
    if node.value:
        value = walk.eval(node.value)
        walk.scope.yields += [value] if isinstance(node, ast.Yield) else walk.items(value)
    return UNKNOWN


def _call(walk: ProgramWalk, node: ast.Call) -> Value:
    func = walk.eval(node.func)
    args = _elements(walk, node.args)
    named: dict[str, Value] = {}
    for keyword in node.keywords:
        value = walk.eval(keyword.value)
        if keyword.arg:
            named[keyword.arg] = value
        elif isinstance(value, dict):
            named.update({key: held for key, held in value.items() if isinstance(key, str)})
        else:
            named["**"] = value  # arguments whose names are not known
    return walk.call(func, args, named)


EXPRESSIONS: Mapping[type[ast.expr], Expression] = {
    ast.Constant: lambda walk, node: node.value,
    ast.Name: lambda walk, node: walk.language.look_up(walk, node.id),
    ast.Attribute: lambda walk, node: walk.spread(
        lambda one: walk.language.attribute(walk, one, node.attr), walk.eval(node.value)
    ),
    ast.Subscript: lambda walk, node: walk.spread(
        lambda one, at: walk.language.item(walk, one, at), walk.eval(node.value), walk.eval(node.slice)
    ),
    ast.Slice: _slice,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _and_or,
    ast.Compare: _compare,
    ast.IfExp: _if_else,
    ast.NamedExpr: _named,
    ast.Lambda: lambda walk, node: walk.define(node),
    Closure: lambda walk, node: walk.define(node.function, closes=True),
    Body: _body,
    ast.JoinedStr: lambda walk, node: walk.spread(lambda *texts: concat(texts), *map(walk.eval, node.values)),
    ast.FormattedValue: _formatted,
    **dict.fromkeys((ast.List, ast.Set), lambda walk, node: _elements(walk, node.elts)),
    ast.Tuple: lambda walk, node: tuple(_elements(walk, node.elts)),
    ast.Dict: _dict,
    ast.Await: lambda walk, node: walk.eval(node.value),
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp), _collect),
    ast.Call: _call,
}
