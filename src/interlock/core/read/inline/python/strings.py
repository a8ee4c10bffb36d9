"""Methods of str, bytes and pathlib.Path: what they give without running anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from interlock.core.read.facts import hole, known
from interlock.core.read.inline.python.encodings import transcode
from interlock.core.read.inline.python.operators import fill
from interlock.core.read.inline.python.paths import join_path, with_name, with_suffix
from interlock.core.read.inline.python.values import MAX_TEXT, UNKNOWN, Value, computed, concat, flat, marked, text_of

_Method = Callable[[Value, Sequence[Value], Mapping[str, Value]], Value]


def text_method(text: str | bytes, name: str, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """What a method of a text or a path gives; UNKNOWN when it cannot be known."""
    method = _OF_BOTH.get(name) or (_OF_STR.get(name) if isinstance(text, str) else None)
    try:
        if method is not None:
            return method(text, args, named)
        if name in _PLAIN and all(map(computed, args)):
            made = getattr(text, name)(*args)
            return marked(made, text) if isinstance(made, str) else made
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError):
        pass
    return UNKNOWN


def _join(text: Value, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    items = flat(args[0])
    if items is None:
        return marked(hole(), args[0])
    glued = concat(part for item in items for part in (text, item))
    return marked(glued[len(text) :], glued) if isinstance(glued, str) else glued


def _replace(text: Value, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    source, old, new = text_of(text), text_of(args[0]), text_of(args[1])
    room = source.count(old) * len(new) <= MAX_TEXT
    return marked(source.replace(old, new), text, *args) if room and known(old) else UNKNOWN


def _itself(text: Value, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    return text


_OF_BOTH: Mapping[str, _Method] = {
    "join": _join,
    "replace": _replace,
    "decode": lambda text, args, named: transcode(text, "decode", args),
    "encode": lambda text, args, named: transcode(text, "encode", args),
}
_OF_STR: Mapping[str, _Method] = {
    "format": fill,
    "joinpath": lambda text, args, named: join_path(text, *args),
    "__truediv__": lambda text, args, named: join_path(text, *args),
    "with_name": lambda text, args, named: with_name(text, text_of(args[0])),
    "with_suffix": lambda text, args, named: with_suffix(text, text_of(args[0])),
    **dict.fromkeys(["expanduser", "resolve", "absolute", "as_posix", "__str__", "__fspath__", "path"], _itself),
}
_PLAIN = frozenset({
    "lower", "upper", "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "title", "capitalize", "swapcase",
    "casefold", "removeprefix", "removesuffix", "partition", "rpartition", "hex", "startswith", "endswith", "find",
    "index", "count", "isdigit", "translate",
})  # fmt: skip
