"""The value of an operand or of an operator's result: texts, names, brackets, members, assignments, choices, joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from interlock.analysis.code.dialect import PAIRS, CodeCall, dotted
from interlock.analysis.code.lexing import NOTHING, SEPARATORS, CodeToken, Splice
from interlock.analysis.code.values import EMPTY, UNKNOWN, Value, glued, listed, one_of, repeated, text, unknown

if TYPE_CHECKING:
    from interlock.analysis.code.walk import CodeWalk


def operand(walk: CodeWalk) -> Value:
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


def _literal(walk: CodeWalk, token: CodeToken) -> Value:
    if token.kind in ("text", "code"):
        return _filled(walk, token)
    if token.kind == "words":
        return listed(text(word) for word in token.text.split())
    if token.kind == "glob":
        return Value((_filled(walk, token).text,), True, frozenset({"bulk"}))
    if token.kind == "ticks":
        return walk.invoke(CodeCall("`", (_filled(walk, token),)))
    if token.kind == "regex":
        for part in token.parts:
            if isinstance(part, Splice):
                with walk.branch():
                    _splice(walk, part.code)
        return UNKNOWN
    return text(token.text)


def _filled(walk: CodeWalk, token: CodeToken) -> Value:
    """A text with the values of the code in it."""
    if not token.parts:
        return text(token.text)
    return glued([text(part) if isinstance(part, str) else _splice(walk, part.code) for part in token.parts])


def _splice(walk: CodeWalk, code: str) -> Value:
    """The value of code inside a text."""
    if code in walk.names:
        return walk.names[code]
    walk.sink(4)
    value = walk.program(code)
    walk.depth -= 4
    return value


def _bracket_or_prefix(walk: CodeWalk, start: int, token: CodeToken) -> Value:
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


def _word(walk: CodeWalk) -> Value:
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
        return walk.invoke(CodeCall(token.text, walk.arguments() + _block(walk)))
    if token.text in walk.names:
        return walk.names[token.text]
    count = walk.dialect.bare(walk, token)
    if count >= 0:
        return walk.invoke(CodeCall(token.text, walk.bare_arguments(count) + _block(walk)))
    return Value(unknown(token.text).items, ref=token.text)


def _begins_operand(walk: CodeWalk) -> bool:
    return walk.at < walk.stop and not (walk.token.kind == "op" and walk.token.text in (*SEPARATORS, "="))


def _hung(walk: CodeWalk, start: int, value: Value) -> Value:
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


def _indexed(walk: CodeWalk, start: int, value: Value) -> Value:
    key = walk.group()
    key = text(key.ref) if key.ref and key.ref != PAIRS else key
    key = replace(key, many=False) if len(key.items) == 1 else UNKNOWN
    whole = "".join(token.text for token in walk.source.tokens[start : min(walk.at, start + 8)])
    if whole in walk.names:
        return walk.names[whole]
    if value.ref in ("ENV", "environment"):
        return unknown(key.text if key.known else "")
    told = walk.dialect.call(walk, CodeCall("[]", (key,), value)) if value.ref else None
    if told is not None:
        return told
    holder = walk.source.tokens[start].text
    if walk.dialect.braces and holder.startswith("$") and not value.many:
        value = walk.names.get("@" + holder[1:], walk.names.get("%" + holder[1:], value))
    return value.at(key)


def _member(walk: CodeWalk, value: Value) -> Value:
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
        return walk.invoke(CodeCall(name, walk.arguments() + _block(walk), value))
    if walk.dialect.fields and not _calls_without_brackets(walk):
        return Value(ref=dotted(value.ref, name), url=value.url, traits=value.traits)
    count = walk.dialect.bare(walk, replace(token, parts=(".",)))
    return walk.invoke(CodeCall(name, walk.bare_arguments(max(0, count)) + _block(walk), value))


def _calls_without_brackets(walk: CodeWalk) -> bool:
    return walk.dialect.bare(walk, replace(NOTHING, parts=(".",))) >= 0


def _block(walk: CodeWalk) -> tuple[Value, ...]:
    return (walk.dialect.block(walk),) if walk.dialect.block and walk.is_op("{") else ()


_ASSIGNS = frozenset({"=", ":=", "<-"})
_COMPARES = frozenset({"==", "!=", "<=", ">=", "===", "!==", "~="})
_CHOICES = frozenset({"||", "&&", "or", "and", "//", "??"})


def combine(walk: CodeWalk, start: int, left: Value, rank: int) -> Value:
    """The value of the operator here and its right side; the left side began at token `start`."""
    op, op_at = walk.token.text, walk.at
    walk.at += 1
    if op in _ASSIGNS:
        right = walk.expression(rank)
        _assign(walk, start, op_at, right)
        return right
    if op == "?":
        return _choice(walk, rank)
    if op in _CHOICES:
        with walk.branch():
            right = walk.expression(rank + 1)
        return right if op in ("&&", "and") else left
    if op == "=~":
        return _matched(walk, start, op_at, rank)
    right = walk.expression(rank + 1)
    if op == "<<" and left.ref == "file":
        walk.notes.wrote(left.text)
        return left
    if op in walk.dialect.joins:
        return (
            listed([left, right])
            if left.many and right.many and not (left.either or right.either)
            else glued([left, right])
        )
    if op == walk.dialect.repeats:
        return repeated(left, right)
    if op.endswith("=") and op not in _COMPARES:
        return _updated(walk, start, op_at, left, right)
    return UNKNOWN


def _choice(walk: CodeWalk, rank: int) -> Value:
    with walk.branch():
        yes = walk.expression(1)
    walk.skip(":")
    with walk.branch():
        return one_of(yes, walk.expression(rank))


def _matched(walk: CodeWalk, start: int, op_at: int, rank: int) -> Value:
    """A substitution changes what it is bound to; a match does not."""
    changes = walk.token.kind == "regex" and walk.token.text != "m"
    walk.expression(rank + 1)
    if changes:
        _assign(walk, start, op_at, UNKNOWN)
    return UNKNOWN


def _updated(walk: CodeWalk, start: int, op_at: int, left: Value, right: Value) -> Value:
    """`x .= y` and its kin."""
    op = walk.source.tokens[op_at].text[:-1]
    if op in walk.dialect.joins:
        made = glued([left, right])
    elif op in ("||", "//", "??"):
        made = left if left.known else right
    else:
        made = UNKNOWN
    _assign(walk, start, op_at, made)
    return made


def _assign(walk: CodeWalk, start: int, end: int, value: Value) -> None:
    while start < end and walk.is_noise(walk.source.tokens[start]):
        start += 1
    tokens = walk.source.tokens[start:end]
    if len(tokens) > 2 and tokens[0].text in ("(", "["):
        targets = [token.text for token in tokens if token.kind in ("var", "name")]
        for index, name in enumerate(targets):
            walk.names[name] = value if name.startswith("@") else value.at(text(str(index)))
    elif tokens and len(tokens) <= 8:
        walk.names["".join(token.text for token in tokens)] = value
