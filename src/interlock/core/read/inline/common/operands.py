"""What is the value of one operand: a text, a name, a bracket, and everything that is hung on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from interlock.core.read.inline.common.dialect import PAIRS, Call, dotted
from interlock.core.read.inline.common.lexing import NOTHING, SEPARATORS, Splice, Token
from interlock.core.read.inline.common.values import EMPTY, UNKNOWN, Value, glued, listed, text, unknown

if TYPE_CHECKING:
    from interlock.core.read.inline.common.walk import Walk


def operand(walk: Walk) -> Value:
    """One operand with everything that is hung on it: members, indexes, calls."""
    start, token = walk.at, walk.token
    if token.kind == "op":
        return _bracket_or_prefix(walk, start, token)
    if token.kind == "end":
        return EMPTY
    walk.at += 1
    if token.kind == "name":
        walk.at -= 1
        return _hung(walk, start, _word(walk))
    if token.kind == "var":
        return _hung(walk, start, walk.variable(token.text))
    return _hung(walk, start, _literal(walk, token))


def _literal(walk: Walk, token: Token) -> Value:
    if token.kind in ("text", "code"):
        return _filled(walk, token)
    if token.kind == "words":
        return listed(text(word) for word in token.text.split())
    if token.kind == "glob":
        return Value((_filled(walk, token).text,), True, frozenset({"bulk"}))
    if token.kind == "ticks":
        return walk.invoke(Call("`", (_filled(walk, token),)))
    if token.kind == "regex":
        for part in token.parts:
            if isinstance(part, Splice):
                with walk.branch():
                    _splice(walk, part.code)
        return UNKNOWN
    return text(token.text)


def _filled(walk: Walk, token: Token) -> Value:
    """A text with the values of the code in it."""
    if not token.parts:
        return text(token.text)
    return glued([text(part) if isinstance(part, str) else _splice(walk, part.code) for part in token.parts])


def _splice(walk: Walk, code: str) -> Value:
    """The value of code inside a text."""
    if code in walk.names:
        return walk.names[code]
    walk.sink(4)
    value = walk.program(code)
    walk.depth -= 4
    return value


def _bracket_or_prefix(walk: Walk, start: int, token: Token) -> Value:
    if token.text in ("(", "[", "{"):
        return _hung(walk, start, walk.group())
    if token.text in SEPARATORS:
        return EMPTY
    walk.at += 1
    if token.text == "-" and walk.token.kind == "number":
        return glued([text("-"), operand(walk)])
    if walk.at >= walk.stop:
        return UNKNOWN
    walk.sink()
    value = operand(walk)
    walk.depth -= 1
    return UNKNOWN if token.text in ("!", "~", "#") else value


def _word(walk: Walk) -> Value:
    """A name: a form of the language, a call, or a value."""
    token = walk.token
    if walk.ahead(1).kind == "op" and walk.ahead(1).text == "=>":
        walk.at += 1
        return text(token.text)
    form = walk.dialect.forms.get(token.text)
    if form is not None:
        walk.at += 1
        return form(walk)
    if walk.is_noise(token):
        walk.at += 1
        return operand(walk) if _begins_operand(walk) else EMPTY
    walk.at += 1
    if walk.is_op("(") and walk.dialect.fields and token.text in walk.names:
        return walk.called(walk.names[token.text], walk.arguments())
    if walk.is_op("(") and not (walk.token.spaced and token.text in walk.names):
        return walk.invoke(Call(token.text, walk.arguments() + _block(walk)))
    if token.text in walk.names:
        return walk.names[token.text]
    count = walk.dialect.bare(walk, token)
    if count >= 0:
        return walk.invoke(Call(token.text, walk.bare_arguments(count) + _block(walk)))
    return Value(unknown(token.text).items, ref=token.text)


def _begins_operand(walk: Walk) -> bool:
    return walk.at < walk.stop and not (walk.token.kind == "op" and walk.token.text in (*SEPARATORS, "="))


def _hung(walk: Walk, start: int, value: Value) -> Value:
    """The value after the members, indexes and calls that follow it."""
    while walk.at < walk.stop and walk.token.kind == "op":
        walk.out.step()
        token = walk.token
        if token.text in walk.dialect.members:
            walk.at += 1
            value = _member(walk, value)
        elif (token.text == "[" and not (token.spaced and not walk.dialect.braces)) or (
            token.text == "{" and walk.dialect.braces and walk.source.tokens[walk.at - 1].kind == "var"
        ):
            value = _indexed(walk, start, value)
        elif token.text == "(" and not token.spaced and walk.at - start >= 1:
            value = walk.called(value, walk.arguments())
        else:
            break
    return value


def _indexed(walk: Walk, start: int, value: Value) -> Value:
    key = walk.group()
    key = text(key.ref) if key.ref and key.ref != PAIRS else key
    key = replace(key, many=False) if len(key.items) == 1 else UNKNOWN
    whole = "".join(token.text for token in walk.source.tokens[start : min(walk.at, start + 8)])
    if whole in walk.names:
        return walk.names[whole]
    if value.ref in ("ENV", "environment"):
        return unknown(key.text if key.known else "")
    told = walk.dialect.call(walk, Call("[]", (key,), value)) if value.ref else None
    if told is not None:
        return told
    holder = walk.source.tokens[start].text
    if walk.dialect.braces and holder.startswith("$") and not value.many:
        value = walk.names.get("@" + holder[1:], walk.names.get("%" + holder[1:], value))
    return value.at(key)


def _member(walk: Walk, value: Value) -> Value:
    token = walk.token
    if token.kind == "op" and token.text == "(":
        return walk.called(value, walk.arguments())
    if token.kind == "op" and token.text in ("[", "{"):
        return _indexed(walk, walk.at, value)
    if token.kind not in ("name", "var", "text"):
        return value
    walk.at += 1
    name = token.text
    if token.kind == "var":
        chosen = walk.variable(name)
        if chosen.body >= 0:
            return walk.called(chosen, (value, *walk.arguments()) if walk.is_op("(") else (value,))
        if not chosen.known:
            return walk.called(chosen, walk.arguments()) if walk.is_op("(") else UNKNOWN
        name = chosen.text
    if walk.is_op("(") and not walk.token.spaced:
        return walk.invoke(Call(name, walk.arguments() + _block(walk), value))
    if walk.dialect.fields and not _calls_without_brackets(walk):
        return Value(ref=dotted(value.ref, name), url=value.url, traits=value.traits)
    count = walk.dialect.bare(walk, replace(token, parts=(".",)))
    return walk.invoke(Call(name, walk.bare_arguments(max(0, count)) + _block(walk), value))


def _calls_without_brackets(walk: Walk) -> bool:
    return walk.dialect.bare(walk, replace(NOTHING, parts=(".",))) >= 0


def _block(walk: Walk) -> tuple[Value, ...]:
    return (walk.dialect.block(walk),) if walk.dialect.block and walk.is_op("{") else ()
