"""What calls without effect give: texts, lists, paths and encodings, under the names that the call tables use."""

from __future__ import annotations

import base64
import codecs
import posixpath
import re
import urllib.parse
from collections.abc import Callable, Mapping, Sequence

from interlock.analysis.code.program.values import (
    MAX_ITEMS,
    MAX_TEXT,
    UNKNOWN,
    Marked,
    Sym,
    Value,
    concat,
    flat,
    index,
    join_path,
    made_from,
    marked,
    parent_of,
    text_of,
    traits_of,
)
from interlock.analysis.facts import hole, known

_MOST = 64  # numbers of a range
PATH = "kind:path"  # trait of a text that is a path object
_FORMAT = re.compile(r"%(?:(\d+)\$)?[-+ 0#]*\d*(?:\.\d+)?([a-zA-Z%])")


def result(kind: str, given: Sequence[Value]) -> Value:
    """What a call gives that only computes; a value that remembers its parts where it cannot be known."""
    try:
        made = RESULTS[kind](*given)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError):
        return made_from(list(given))
    return made_from(list(given)) if made is UNKNOWN else made


def _plain(value: Value) -> str:
    """The text of a value that is known; refuses another."""
    text = text_of(value)
    if not known(text) or isinstance(value, Sym):
        raise ValueError("not known")
    return text


def _of_text(work: Callable[[str], str]) -> Callable[..., Value]:
    return lambda value, *_: marked(work(_plain(value)), value)


def _strip(value: Value, *_: Value) -> Value:
    return marked(text_of(value).strip(), value)


def items(value: Value) -> list[Value]:
    """The items of a list; a text is one item."""
    found = None if isinstance(value, (str, bytes)) else flat(value)
    return [value] if found is None else found


def as_path(*parts: Value) -> Value:
    texts = [one for part in parts for one in items(part) if one is not None and one != ""]
    joined = join_path(*texts) if texts else "."
    return Marked(joined, traits_of(joined) | {PATH})


def listing(*patterns: Value) -> Value:
    """The files that a pattern or a folder stands for."""
    found = [one for pattern in patterns for one in items(pattern)] or ["*"]
    return [Marked(text_of(one), traits_of(one) | {"bulk", PATH} | _depth(one)) for one in found]


def _depth(pattern: Value) -> set[str]:
    return {"deep"} if "**" in text_of(pattern) else set()


def tree(*places: Value) -> Value:
    """Everything below a folder."""
    return [Marked(text, traits_of(text) | {"deep"}) for text in listing(*places)]


def _entries(*_: Value) -> Value:
    return [Marked(hole(), {"bulk"})]


def _reverse(value: Value, *_: Value) -> Value:
    found = flat(value) if isinstance(value, (list, tuple)) else None
    return found[::-1] if found is not None else marked(_plain(value)[::-1], value)


def _join(between: Value, value: Value = UNKNOWN) -> Value:
    if isinstance(between, list):  # the list first, as some languages have it
        between, value = (value if value is not UNKNOWN else ""), between
    if not isinstance(value, (list, tuple)):
        return marked(hole(), value)
    glued = concat(part for one in value for part in (between, one))
    return marked(str(glued)[len(text_of(between)) :], glued) if isinstance(glued, str) else glued


def _split(value: Value, between: Value = " ", *_: Value) -> Value:
    if not known(text_of(value)) or isinstance(value, Sym):
        return [Marked(hole(), traits_of(value))]
    text, mark = _plain(value), text_of(between)
    pieces = list(text) if mark == "" else text.split() if mark in (" ", "\\s+", hole()) else text.split(mark)
    return [marked(piece, value) for piece in pieces[:MAX_ITEMS]]


def _replace(value: Value, old: Value, new: Value, *_: Value) -> Value:
    return marked(_plain(value).replace(_plain(old), text_of(new))[:MAX_TEXT], value, new)


def _chr(*codes: Value) -> Value:
    numbers = [one for code in codes for one in items(code)]
    return "".join(chr(int(number)) for number in numbers)


def _repeat(value: Value, count: Value) -> Value:
    times = int(count)
    return marked(_plain(value) * times, value) if times * len(_plain(value)) <= MAX_TEXT else UNKNOWN


def _substr(value: Value, start: Value, length: Value = None) -> Value:
    rest = _plain(value)[int(start) :]
    return marked(rest if length is None else rest[: int(length)], value)


def _unbase64(value: Value, *_: Value) -> Value:
    raw = "".join(_plain(value).split()).replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(raw + "=" * (-len(raw) % 4)).decode("utf-8", "replace")


def _unhex(value: Value, *_: Value) -> Value:
    return bytes.fromhex(_plain(value)).decode("utf-8", "replace")


def _pack(template: Value, *given: Value) -> Value:
    """pack: hexadecimal digits, character codes and plain texts."""
    shape, flat_items = _plain(template).replace(" ", "")[:1], [one for value in given for one in items(value)]
    if isinstance(template, list):
        return UNKNOWN
    if shape in ("c", "C", "U", "W"):
        return _chr(*flat_items)
    if shape == "H":
        return _unhex(flat_items[0])
    if shape == "m":
        return _unbase64(flat_items[0])
    return concat(flat_items) if shape in ("a", "A") else UNKNOWN


def _format(template: Value, *given: Value) -> Value:
    """sprintf with %s, %d and %c; other directives leave a hole."""
    rest, used = [one for value in given for one in items(value)], 0

    def fill(found: re.Match[str]) -> str:
        nonlocal used
        place, directive = found.groups()
        if directive == "%":
            return "%"
        at = int(place) - 1 if place and len(place) < 4 else used
        used += not place
        value = rest[at] if 0 <= at < len(rest) else hole()
        return text_of(_chr(value)) if directive == "c" else text_of(value) if directive in "sdiuv" else hole()

    return marked(_FORMAT.sub(fill, text_of(template)), template, *given)


def _number(value: Value, base: Value = 10) -> Value:
    return int(_plain(value), int(base)) if len(_plain(value)) < 20 else UNKNOWN


def _list(*given: Value) -> Value:
    return [one for value in given for one in (value if isinstance(value, (list, tuple)) else [value])]


def _range(first: Value, last: Value, *_: Value) -> Value:
    """The numbers from the first to the last, where they are few."""
    numbers = range(int(first), int(last) + 1)
    return list(numbers) if len(numbers) <= _MOST else UNKNOWN


def _rest(value: Value, *_: Value) -> Value:
    return list(value[1:]) if isinstance(value, (list, tuple)) else made_from(value)


RESULTS: Mapping[str, Callable[..., Value]] = {
    "same": lambda value=UNKNOWN, *_: value,
    "text": lambda value="", *_: value if isinstance(value, Sym) else text_of(value),
    "path": as_path,
    "listing": listing,
    "entries": _entries,
    "tree": tree,
    "env": lambda variable="", *_: hole(text_of(variable) if known(text_of(variable)) else ""),
    "home": lambda *_: hole("HOME"),
    "cwd": lambda *_: ".",
    "tmp": lambda *_: f"/tmp/tmp{hole()}",
    "upper": _of_text(str.upper),
    "lower": _of_text(str.lower),
    "strip": _strip,
    "reverse": _reverse,
    "join": _join,
    "join_rest": lambda between, *rest: _join(between, _list(*rest)),
    "reverse_all": lambda *given: _reverse(given[0] if len(given) == 1 else _list(*given)),
    "concat": lambda *given: concat([one for value in given for one in items(value)]),
    "split": _split,
    "split_each": lambda value, between=" ", *_: [_split(value, between)],
    "words": lambda value, *_: _split(value, " "),
    "replace": _replace,
    "replace_in": lambda old, new, value, *_: _replace(value, old, new),
    "chr": _chr,
    "repeat": _repeat,
    "substr": _substr,
    "base64": _unbase64,
    "hex": _unhex,
    "rot13": _of_text(lambda value: codecs.encode(value, "rot13")),
    "unquote": _of_text(urllib.parse.unquote),
    "pack": _pack,
    "unpack_text": lambda value, shape="", *_: _unbase64(value) if text_of(shape).startswith("m") else UNKNOWN,
    "format": _format,
    "number": _number,
    "from_hex": lambda value, *_: _number(value, 16),
    "octal": lambda value, *_: _number(value, 8),
    "list": _list,
    "range": _range,
    "until": lambda first, last, *_: _range(first, int(last) - 1),
    "times": lambda count, *_: _range(0, int(count) - 1),
    "items": items,
    "first": lambda value, *_: index(value, 0),
    "last": lambda value, *_: index(value, -1),
    "rest": _rest,
    "at": lambda value, key, *_: index(value, key),
    "basename": _of_text(posixpath.basename),
    "dirname": lambda value, *_: parent_of(text_of(value)),
    "unknown": lambda *given: made_from(list(given)),
}
