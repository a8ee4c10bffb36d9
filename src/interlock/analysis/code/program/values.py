"""Values of a program that are known without running anything, and the results of operators and path functions on them."""

from __future__ import annotations

import operator
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, Self

from msgspec import Struct, field

from interlock.analysis.facts import HOLE, hole, known
from interlock.analysis.places import is_secret

Value = Any  # a constant (str, int, list…) or one of the classes below
NOTHING: frozenset[str] = frozenset()
MAX_TEXT = 1 << 20
MAX_ITEMS = 4096
MAX_OPTIONS = 16
MEMORY = "<memory>"  # the path of a database that ends with the program
ENDLESS = "<endless>"  # the path of a list without an end


class Marked(str):
    """Text that remembers where it came from: bulk, walk, environment, secret, `fetched:URL`, `file:PATH`."""

    __slots__ = ("traits",)
    traits: frozenset[str]

    def __new__(cls, text: str, traits: Iterable[str] = ()) -> Self:
        made = super().__new__(cls, text)
        made.traits = frozenset(traits)
        return made


class Sym(Struct, frozen=True, eq=False):
    """A value known only by how it is reached: `os.remove`, `boto3.client().delete_bucket`."""

    path: str
    owner: Value = None
    args: tuple[Value, ...] = ()
    named: Mapping[str, Value] = field(default_factory=dict)
    traits: frozenset[str] = NOTHING

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


class Either(Struct, frozen=True, eq=False):
    """A value that depends on a branch taken at run time."""

    options: tuple[Value, ...]


class OpenFile(Struct, eq=False):
    """An open file; `written` once anything but nothing may have gone into it."""

    path: str
    mode: str
    written: bool = False


UNKNOWN = Sym("?")
REGEX = "<regex>"  # the path of a regular expression, with its source and its flags as arguments


def made_from(value: Value) -> Sym:
    """A value that is not known, but remembers what it was made from."""
    return Sym("?", traits=traits_of(value))


def either(*values: Value) -> Value:
    """One value that stands for all of these."""
    options: list[Value] = []
    for value in values:
        for option in options_of(value):
            plain = isinstance(option, (str, bytes, int, float))
            alike = (seen for seen in options if plain and type(option) is type(seen) and option == seen)
            if not any(option is seen for seen in options) and traits_of(option) not in map(traits_of, alike):
                options.append(option)
    if len(options) > MAX_OPTIONS:  # what is left out is read as not known, never as absent
        options = [*options[:MAX_OPTIONS], UNKNOWN]
    return options[0] if len(options) == 1 else Either(tuple(options))


def options_of(value: Value) -> tuple[Value, ...]:
    """Every way that a value could be."""
    return value.options if isinstance(value, Either) else (value,)


# -- where a value came from -----------------------------------------------------------------------------------------


def file_traits(path: str) -> frozenset[str]:
    """What the content of this file carries with it."""
    return frozenset({f"file:{path}", "secret"} if is_secret(path[-300:]) else {f"file:{path}"})


_PLAIN = (str, int, float, bytes, type(None))


def traits_of(value: Value, depth: int = 0) -> frozenset[str]:
    """Everything that is remembered about a value and what it holds."""
    if isinstance(value, (Marked, Sym)):
        return value.traits
    if isinstance(value, _PLAIN) or depth > 3:
        return NOTHING
    if isinstance(value, OpenFile):
        return file_traits(value.path)
    inner: Iterable[Value] = ()
    if isinstance(value, (list, tuple)):
        inner = value[:64]
    elif isinstance(value, Either):
        inner = value.options
    elif isinstance(value, dict):
        inner = [*list(value.values())[:64], *list(value)[:64]]
    found = NOTHING
    for item in inner:
        found = found | traits if (traits := traits_of(item, depth + 1)) else found
    return found


def fetched(value: Value) -> str:
    """The address that a value was fetched from, else nothing."""
    return next((trait[8:] for trait in sorted(traits_of(value)) if trait.startswith("fetched:")), "")


def marked(text: str, *sources: Value) -> str:
    """The text, with the traits of everything it was made from."""
    traits = NOTHING.union(*map(traits_of, sources))
    return Marked(text, traits) if traits else text


# -- values as text and as lists -------------------------------------------------------------------------------------


def text_of(value: Value) -> str:
    """A value as text; what is not known becomes a hole."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, (int, float)) or value is None:
        return str(value)
    if isinstance(value, OpenFile):
        return value.path
    return marked(hole(), value)


def concat(parts: Iterable[Value]) -> Value:
    """Texts put together; refuses what would grow without bound."""
    items = list(parts)
    texts = [text_of(item) for item in items]
    if sum(map(len, texts)) > MAX_TEXT:
        return made_from(items)
    return marked("".join(texts), *items)


def flat(value: Value) -> list[Value] | None:
    """The items of a value that is a known sequence, else None."""
    if isinstance(value, (list, tuple, dict)):
        return list(value)
    if isinstance(value, (bytes, bytearray)) or (isinstance(value, str) and known(value)):
        return list(value) if len(value) <= MAX_ITEMS else None
    return None


def listed(value: Value) -> list[Value] | None:
    """The items of a list or a tuple, else None."""
    return list(value) if isinstance(value, (list, tuple)) else None


def computed(value: Value) -> bool:
    """True when the value is a constant through and through."""
    if isinstance(value, (list, tuple)):
        return len(value) <= MAX_ITEMS and all(map(_plain, value))
    if isinstance(value, dict):
        return len(value) <= MAX_ITEMS and all(map(_plain, value)) and all(map(_plain, value.values()))
    return _plain(value)


def _plain(value: Value) -> bool:
    if isinstance(value, str):
        return known(value) and "bulk" not in traits_of(value)
    return value is None or isinstance(value, (bytes, bytearray, int, float))


def join_path(*parts: Value) -> str:
    """Path segments put together."""
    texts = [text_of(part) for part in parts]
    joined = posixpath.join(*texts) if texts else "."
    while joined.startswith("./") and len(joined) > 2:
        joined = joined[2:].lstrip("/") or "."
    return marked(joined[:MAX_TEXT], *parts)


def parent_of(path: str) -> str:
    """The directory a path is in; unknown where the last known part is not the name."""
    head, slash, tail = path.rstrip("/").rpartition("/")
    if tail.count(HOLE) % 2 or (HOLE in path and not slash):
        return marked(hole(), path)
    return marked(head or ("/" if slash else "."), path)


_TEXT, _LISTS = (str, bytes), (list, tuple)
_WIDE = re.compile(r"[0-9]{4}|\{[^{}]*\{")  # a width that could fill the memory


def operate(op: str, left: Value, right: Value) -> Value:
    """The value of `left op right`, `op` being the name of its ast class."""
    try:
        made = _operate(op, left, right)
    except (TypeError, ValueError, ArithmeticError, IndexError, KeyError, AttributeError):
        made = UNKNOWN
    return Sym("?", traits=traits_of(left) | traits_of(right)) if made is UNKNOWN else made


def _operate(op: str, left: Value, right: Value) -> Value:
    if op == "Add" and (isinstance(left, _LISTS) or isinstance(right, _LISTS)):
        # one that is no list is part of a command line, still worth reading
        joined = [one for side in (left, right) for one in (side if isinstance(side, _LISTS) else [side])]
        pair = isinstance(left, tuple) and isinstance(right, _LISTS)
        return UNKNOWN if len(joined) > MAX_ITEMS else tuple(joined) if pair else joined
    if op == "Add" and (isinstance(left, str) or isinstance(right, str)):
        return concat((left, right))
    if op == "Div" and (isinstance(left, str) or isinstance(right, str)):
        return join_path(left, right)
    if op == "Mod" and isinstance(left, _TEXT):
        return percent(left, right if isinstance(right, (tuple, dict)) else (right,))
    return _OPERATORS[op](left, right) if _is_small(op, left, right) else UNKNOWN


def _is_small(op: str, left: Value, right: Value) -> bool:
    """Whether the result of an operator has a size that programs compute with."""
    sizes = [len(side) for side in (left, right) if isinstance(side, (*_TEXT, list, tuple, dict))]
    counts = [abs(side) for side in (left, right) if isinstance(side, (int, float))]
    if len(counts) == 2:
        return max(counts) < 1 << 64 and (op not in _GROWING or 0 <= right <= 64)
    room = MAX_TEXT if isinstance(left, _TEXT) or isinstance(right, _TEXT) else MAX_ITEMS
    return len(sizes + counts) == 2 and (sum(sizes) if len(sizes) == 2 else sizes[0] * counts[0]) <= room


_GROWING = frozenset({"LShift", "RShift", "Pow"})
_OPERATORS: Mapping[str, Callable[[Value, Value], Value]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "BitXor": operator.xor, "BitOr": operator.or_,
    "BitAnd": operator.and_, "FloorDiv": operator.floordiv, "Mod": operator.mod, "LShift": operator.lshift,
    "RShift": operator.rshift, "Pow": operator.pow, "Div": lambda a, b: a // b if a % b == 0 else a / b,
}  # fmt: skip


# place or name, width and precision, letter
_DIRECTIVE = re.compile(r"%(?:(\d{1,3})\$|\((\w{1,64})\))?([-+ 0#]*\d{0,3}(?:\.\d{1,3})?)l{0,2}([a-zA-Z%])")


def percent(template: Value, given: Sequence[Value] | Mapping[str, Value]) -> Value:
    """A text whose `%` directives are filled, with holes for what is not known; refuses more of them than are read."""
    text, places = text_of(template), count()
    if text.count("%") > MAX_ITEMS:
        return UNKNOWN

    def filled(found: re.Match[str]) -> str:
        place, name, shape, letter = found.groups()
        if letter == "%":
            return "%"
        value = index(given, name or (int(place) - 1 if place else next(places)))
        try:
            return f"%{shape}{letter}" % (value,) if computed(value) else text_of(value)
        except (TypeError, ValueError, OverflowError):
            return text_of(value)

    return marked(_DIRECTIVE.sub(filled, text)[:MAX_TEXT], template, given)


def fill(template: str, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """`template.format(…)`, with holes for what is not known."""
    if len(template) > MAX_ITEMS or _WIDE.search(template):
        return concat((template, *args, *named.values()))
    loose = template if computed(list(args)) and computed(dict(named)) else re.sub(r"[!:][^{}]*\}", "}", template)
    loose = re.sub(r"\{(\w*)[.\[][^{}]*\}", "{\\1}", loose)
    made = loose.format(*map(_shown, args), **{key: _shown(item) for key, item in named.items()})
    return marked(made[:MAX_TEXT], template, *args, *named.values())


def _shown(value: Value) -> Value:
    return value if computed(value) else text_of(value)


def index(value: Value, key: Value) -> Value:
    """`value[key]`, for an index, a slice or a dictionary's key."""
    try:
        if isinstance(value, dict):
            if key in value:
                return value[key]
            return either(*value.values()) if isinstance(key, Sym) and value else UNKNOWN
        if isinstance(value, (list, tuple)) and isinstance(key, Sym) and value:
            return either(*value)
        if isinstance(value, str) and (not known(value) or isinstance(key, Sym)):
            return marked(hole(), value)
        if isinstance(value, (*_TEXT, list, tuple)) and isinstance(key, (int, slice)):
            found: Value = value[key]
            return marked(found, value) if isinstance(value, str) else found
    except (TypeError, ValueError, IndexError, KeyError):
        pass
    return made_from(value)
