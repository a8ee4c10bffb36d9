"""Expressions: what each kind stands for."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from interlock.core.read.inline.python.assign import assign
from interlock.core.read.inline.python.comprehensions import collect, collect_pairs
from interlock.core.read.inline.python.names import attribute, item, look_up
from interlock.core.read.inline.python.objects import Func
from interlock.core.read.inline.python.operators import operate
from interlock.core.read.inline.python.values import UNKNOWN, Either, Sym, Value, concat, either, made_from, text_of
from interlock.core.read.inline.python.walk import Expression, Walk


def _attribute(walk: Walk, node: ast.Attribute) -> Value:
    return walk.spread(lambda owner: attribute(walk, owner, node.attr), walk.eval(node.value))


def _subscript(walk: Walk, node: ast.Subscript) -> Value:
    return walk.spread(lambda owner, key: item(walk, owner, key), walk.eval(node.value), walk.eval(node.slice))


def _slice(walk: Walk, node: ast.Slice) -> Value:
    bounds = [None if part is None else walk.eval(part) for part in (node.lower, node.upper, node.step)]
    return slice(*bounds) if all(part is None or isinstance(part, int) for part in bounds) else UNKNOWN


def _binary(walk: Walk, node: ast.BinOp) -> Value:
    """A chain of operators without recursion, as strings are often built from many parts."""
    rest: list[tuple[str, ast.expr]] = []
    first: ast.expr = node
    while isinstance(first, ast.BinOp):
        rest.append((type(first.op).__name__, first.right))
        first = first.left
    value = walk.eval(first)
    for op, right in reversed(rest):
        other = walk.eval(right)
        if op == "BitAnd" and isinstance(value, Sym) and value.path.startswith("plumbum.cmd."):
            value = walk.call(value, [], {})  # plumbum's `program & FG` runs it
        value = walk.spread(lambda a, b, op=op: operate(op, a, b), value, other)
    return value


def _unary(walk: Walk, node: ast.UnaryOp) -> Value:
    value = walk.eval(node.operand)
    return -value if isinstance(value, (int, float)) and isinstance(node.op, ast.USub) else made_from(value)


def _and_or(walk: Walk, node: ast.BoolOp) -> Value:
    values = [walk.eval(value) for value in node.values]
    return either(*values) if isinstance(node.op, ast.Or) else values[-1]


def _if_else(walk: Walk, node: ast.IfExp) -> Value:
    walk.eval(node.test)
    return either(walk.eval(node.body), walk.eval(node.orelse))


def _named(walk: Walk, node: ast.NamedExpr) -> Value:
    value = walk.eval(node.value)
    assign(walk, node.target, value)
    return value


def _lambda(walk: Walk, node: ast.Lambda) -> Value:
    func = Func(node, walk.scope)
    walk.defined.append(func)
    return func


def _joined(walk: Walk, node: ast.JoinedStr) -> Value:
    return walk.spread(lambda *texts: concat(texts), *[walk.eval(part) for part in node.values])


def _formatted(walk: Walk, node: ast.FormattedValue) -> Value:
    if node.format_spec is not None:
        walk.eval(node.format_spec)
    value = walk.eval(node.value)
    return value if isinstance(value, Either) else text_of(value)


def _elements(walk: Walk, nodes: Sequence[ast.expr]) -> list[Value]:
    made: list[Value] = []
    for node in nodes:
        made += walk.items(walk.eval(node.value)) if isinstance(node, ast.Starred) else [walk.eval(node)]
    return made


def _list(walk: Walk, node: ast.List | ast.Set) -> Value:
    return _elements(walk, node.elts)


def _tuple(walk: Walk, node: ast.Tuple) -> Value:
    return tuple(_elements(walk, node.elts))


def _dict(walk: Walk, node: ast.Dict) -> Value:
    made: dict[Value, Value] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        held = walk.eval(value)
        name = UNKNOWN if key is None else walk.eval(key)
        if key is None and isinstance(held, dict):
            made.update(held)
        else:
            made[name if isinstance(name, (str, int, bytes, Sym)) else UNKNOWN] = held
    return made


def _yield(walk: Walk, node: ast.Yield) -> Value:
    if node.value is not None:
        walk.scope.yields.append(walk.eval(node.value))
    return UNKNOWN


def _yield_from(walk: Walk, node: ast.YieldFrom) -> Value:
    walk.scope.yields.extend(walk.items(walk.eval(node.value)))
    return UNKNOWN


def _call(walk: Walk, node: ast.Call) -> Value:
    func = walk.eval(node.func)
    args = _elements(walk, node.args)
    named: dict[str, Value] = {}
    for keyword in node.keywords:
        value = walk.eval(keyword.value)
        if keyword.arg is not None:
            named[keyword.arg] = value
        elif isinstance(value, dict):
            named.update({key: held for key, held in value.items() if isinstance(key, str)})
    return walk.call(func, args, named)


EXPRESSIONS: Mapping[type[ast.expr], Expression] = {
    ast.Constant: lambda walk, node: node.value,
    ast.Name: lambda walk, node: look_up(walk, node.id),
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _and_or,
    ast.IfExp: _if_else,
    ast.NamedExpr: _named,
    ast.Lambda: _lambda,
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    ast.List: _list,
    ast.Set: _list,
    ast.Tuple: _tuple,
    ast.Dict: _dict,
    ast.Await: lambda walk, node: walk.eval(node.value),
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.ListComp: collect,
    ast.SetComp: collect,
    ast.GeneratorExp: collect,
    ast.DictComp: collect_pairs,
    ast.Call: _call,
}
