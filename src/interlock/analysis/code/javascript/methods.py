"""Calls on values that JavaScript itself knows: texts, arrays, promises, functions; other calls are dispatched by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from interlock.analysis.code.javascript.builtins import LIST_METHODS, PURE, TEXT_METHODS
from interlock.analysis.code.javascript.names import items_of, member, narrowed, text_of
from interlock.analysis.code.javascript.values import (
    UNKNOWN,
    JsChoice,
    JsFunction,
    JsOrigin,
    JsPath,
    JsScope,
    Value,
    clipped,
    concat,
    either,
    strongest,
    to_text,
)
from interlock.analysis.facts import hole, known

if TYPE_CHECKING:
    from interlock.analysis.code.javascript.walk import JsWalk

_UNTOUCHED = frozenset({"toString", "valueOf", "trim", "normalize", "trimEnd", "trimStart"})
_EACH = frozenset({"forEach", "map", "filter", "flatMap", "some", "every", "find", "findIndex", "each", "reduce"})


def call_method(walk: JsWalk, base: Value, name: str, args: list[Value]) -> Value:
    """Call a method by name on a value."""
    if isinstance(base, JsChoice):
        return either(*(call_method(walk, option, name, args) for option in base.options))
    if name in ("then", "catch", "finally"):
        return _promised(walk, base, name, args)
    if name in ("call", "apply", "bind") and isinstance(base, JsFunction | JsPath) and base.name != "Reflect":
        return _applied(walk, base, name, args)
    if isinstance(base, str):
        return _on_text(walk, base, name, args)
    if isinstance(base, list):
        return _on_list(walk, base, name, args)
    if isinstance(base, int) and name == "toString":
        return _digits(base, args[0] if args else 10)
    if isinstance(base, JsOrigin):
        return _on_made(walk, base, name, args)
    found = member(base, name)
    if isinstance(found, JsFunction | JsChoice):
        return walk.invoke(found, args)
    if isinstance(found, JsPath):
        return call(walk, JsPath(f"?.{name}") if found.name == "?" else found, args, base)
    return UNKNOWN


def call(walk: JsWalk, callee: JsPath, args: list[Value], base: Value = UNKNOWN) -> Value:
    """Call a thing known by its name: compute it where it only computes, else hand it on."""
    if callee.chain and callee.chain[-1][0] == "bind":
        args, callee = [*callee.chain[-1][1], *args], JsPath(callee.name, callee.chain[:-1])
    pure = PURE.get(callee.name)
    if pure is not None:
        if callee.name in ("path.join", "path.resolve") and any(isinstance(arg, list) for arg in args):
            args = [to_text(arg) if isinstance(arg, list) else arg for arg in args]
        return pure(args)
    if callee.name == "Array.from":
        items = items_of(args[0]) if args else []
        return _on_list(walk, items, "map", args[1:]) if len(args) > 1 else items
    if callee.name == "Reflect.apply":
        return walk.invoke(args[0], args[2] if len(args) > 2 and isinstance(args[2], list) else []) if args else UNKNOWN
    if callee.name in ("Reflect.get", "Object.getOwnPropertyDescriptor") and len(args) > 1:
        return member(args[0], to_text(args[1]))
    return walk.deed(walk, callee, args, base)


def unknown_call(walk: JsWalk, callee: JsPath, args: list[Value], given: Value = UNKNOWN) -> Value:
    """A call nothing is known of: functions among its arguments may run, and what went in may come out."""
    each = callee.last in _EACH
    origin = strongest(args)
    for arg in args:
        if isinstance(arg, JsFunction):
            walk.invoke(arg, [JsOrigin("item") if each else given] * 3)
        elif isinstance(arg, dict):
            for value in list(arg.values())[:50]:
                if isinstance(value, JsFunction):
                    walk.invoke(value, [given] * 3)
    if origin is not None and origin.kind in ("environment", "content", "fetched", "entry", "secret"):
        return origin if origin.kind == "entry" else replace(origin, text=hole())
    step = (callee.last, tuple(args[:4]))
    return JsPath(f"{callee.name}()", (*callee.chain, step)[-6:]) if len(callee.name) < 300 else UNKNOWN


def _promised(walk: JsWalk, base: Value, name: str, args: list[Value]) -> Value:
    if name != "then":
        for arg in args:
            walk.invoke(arg, [UNKNOWN])
        return base
    value = walk.invoke(args[0], [base]) if args else base
    for arg in args[1:]:
        walk.invoke(arg, [UNKNOWN])
    return value


def _applied(walk: JsWalk, base: JsFunction | JsPath, name: str, args: list[Value]) -> Value:
    if name == "call":
        return walk.invoke(base, args[1:])
    if name == "apply":
        given = args[1] if len(args) > 1 else []
        return walk.invoke(base, list(given) if isinstance(given, list) else [given])
    return (
        base
        if len(args) < 2 or isinstance(base, JsFunction)
        else JsPath(base.name, (*base.chain, ("bind", tuple(args[1:]))))
    )


def _on_text(walk: JsWalk, base: str, name: str, args: list[Value]) -> Value:
    if name in ("map", "forEach") or name not in TEXT_METHODS:
        unknown_call(walk, JsPath(f"?.{name}"), args)
        return hole()
    if name == "replace" and len(args) > 1 and isinstance(args[1], JsFunction):
        walk.invoke(args[1], [hole()])
        return hole()
    if not known(base):
        return base if name in _UNTOUCHED else concat(base, *args) if name == "concat" else hole()
    value = TEXT_METHODS[name](base, args)
    return clipped(value) if isinstance(value, str) else value


def _on_list(walk: JsWalk, base: list[Value], name: str, args: list[Value]) -> Value:
    callback = args[0] if args and isinstance(args[0], JsFunction | JsPath) else None
    if name == "reduce" and callback is not None:
        items = list(base)
        total = args[1] if len(args) > 1 else items.pop(0) if items else UNKNOWN
        for at, item in enumerate(items):
            total = walk.invoke(callback, [total, item, at, base])
        return total
    if name in _EACH and callback is not None:
        found = [walk.invoke(callback, [item, at, base]) for at, item in enumerate(list(base))]
        if name == "flatMap":
            return LIST_METHODS["flat"](found, [])
        if name == "filter":
            return [item for item, kept in zip(base, found, strict=False) if kept is not False]
        return found if name == "map" else either(*base) if name == "find" and base else UNKNOWN
    if name in LIST_METHODS:
        return LIST_METHODS[name](base, args)
    return unknown_call(walk, JsPath(f"?.{name}"), args)


def _on_made(walk: JsWalk, base: JsOrigin, name: str, args: list[Value]) -> Value:
    if name == "filter" and args and isinstance(args[0], JsFunction):
        walk.invoke(args[0], [base])
        return filtered(walk, base, args[0])
    done = walk.deed(walk, JsPath(f"{base.kind}!.{name}"), args, base)
    if not isinstance(done, JsPath):
        return done
    results = [walk.invoke(arg, [base] * 3) for arg in args if isinstance(arg, JsFunction | JsPath)]
    if name in ("map", "flatMap") and results and isinstance(results[0], JsOrigin | str | list):
        return results[0]
    if base.kind == "entry" and name in ("concat", "replace") and args:
        return concat(base, *args) if name == "concat" else base
    return base


def filtered(walk: JsWalk, base: JsOrigin, test: JsFunction) -> Value:
    """The entries that pass a filter, where the filter is one that a pattern can say."""
    body = test.node.child_by_field_name("body")
    name = test.node.child_by_field_name("parameter")
    if name is None:
        listed = test.node.child_by_field_name("parameters")
        name = listed.named_children[0] if listed is not None and len(listed.named_children) == 1 else None
    if body is None or name is None or body.type != "call_expression":
        return base
    outer, walk.scope = walk.scope, JsScope({text_of(name): base}, test.scope)
    try:
        found = narrowed(walk, body).get(text_of(name), base)
    finally:
        walk.scope = outer
    return found


def _digits(number: int, base: Value) -> Value:
    if not isinstance(base, int) or not 2 <= base <= 36 or abs(number) > 2**63:
        return to_text(number)
    digits, left = "", abs(number)
    while left:
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[left % base] + digits
        left //= base
    return ("-" if number < 0 else "") + (digits or "0")
