"""What calls without effect give: texts, lists, paths and encodings, under the names that the call tables use."""

from __future__ import annotations

import html
import json
import operator
import re
import shlex
import urllib.parse
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import count

from interlock.analysis.code.program.encodings import ENCODINGS, plain, substituted
from interlock.analysis.code.program.paths import PATHS, spread
from interlock.analysis.code.program.values import (
    ENDLESS,
    MAX_ITEMS,
    MAX_TEXT,
    MEMORY,
    REGEX,
    UNKNOWN,
    Marked,
    Sym,
    Value,
    computed,
    concat,
    either,
    flat,
    join_path,
    listed,
    made_from,
    marked,
    path_of,
    text_of,
    traits_of,
)
from interlock.analysis.facts import hole, known

_MOST = 64  # numbers of a range
_IN_MEMORY = re.compile(
    r"(?i)(?:jdbc:|dbi:)?(?:sqlite3?(?:\+\w+)?:/{0,3})?(?:(?:dbname|database|data source)=)?(?::memory:|file::memory:[^;]*);?"
    r"|sqlite(?:\+\w+)?://|jdbc:(?:h2|hsqldb|derby):mem(?:ory)?:.*"
)
_VARIABLE = re.compile(r"\$\{?(\w{1,64})\}?")
_NAMED = frozenset({"braces", "dict"})  # results that depend on the names of arguments


def result(kind: str, given: Sequence[Value], named: Mapping[str, Value] | None = None) -> Value:
    work = work_of(kind)
    return attempt(partial(work, **named) if named and kind in _NAMED else work, given)


@cache
def work_of(kind: str) -> Callable[..., Value]:
    """`str:` is before a method of Python's texts; raises KeyError for another name."""
    name = kind.removeprefix("str:")
    if name == kind:
        return RESULTS[kind]
    if not hasattr(str, name) and not hasattr(bytes, name):
        raise KeyError(kind)
    return partial(_text_method, name)


def attempt(work: Callable[..., Value], given: Sequence[Value]) -> Value:
    """A value that remembers its parts where it cannot be known."""
    try:
        made = work(*given)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError, zlib.error):
        made = UNKNOWN
    return made_from(list(given)) if made is UNKNOWN else made


def _of_text(work: Callable[[str], str]) -> Callable[..., Value]:
    return lambda value, *_: marked(work(plain(value)), value)


def _join(between: Value, value: Value = UNKNOWN) -> Value:
    if isinstance(between, list):  # the list first, as some languages have it
        between, value = (value if value is not UNKNOWN else ""), between
    found = None if isinstance(between, Sym) else flat(value)
    if found is None:
        return marked(hole(), between, value)
    glued = concat(part for one in found for part in (between, one))
    return marked(str(glued)[len(text_of(between)) :], glued) if isinstance(glued, str) else glued


def _split(value: Value, between: Value = " ", *_: Value) -> Value:
    if not known(text_of(value)) or isinstance(value, Sym):
        return [Marked(hole(), traits_of(value))]
    text, mark = plain(value), text_of(between)
    pieces = list(text) if mark == "" else text.split() if mark in (" ", "\\s+", hole()) else text.split(mark)
    return [marked(piece, value) for piece in pieces[:MAX_ITEMS]]


def _chr(*codes: Value) -> Value:
    return "".join(chr(int(number)) for number in spread(codes))


def _repeat(value: Value, count: Value) -> Value:
    times = int(count)
    return marked(plain(value) * times, value) if times * len(plain(value)) <= MAX_TEXT else UNKNOWN


_PACKED: Mapping[str, Callable[..., Value]] = {  # what `pack` makes, by the first letter of its template
    **dict.fromkeys("cCUW", _chr),
    **dict.fromkeys("aA", lambda *texts: concat(texts)),
    "H": ENCODINGS["hex"],
    "m": ENCODINGS["base64"],
}


def _number(value: Value, base: Value = 10) -> Value:
    return int(plain(value), int(base)) if len(plain(value)) < 20 else UNKNOWN


def _list(*given: Value) -> Value:
    return [one for value in given for one in (value if isinstance(value, (list, tuple)) else [value])]


def _numbers(*bounds: Value) -> Value:
    numbers = range(*map(int, bounds[:3]))
    return list(numbers) if len(numbers) <= _MOST else UNKNOWN


def _slice(value: Value, start: Value = 0, end: Value = None, *_: Value) -> Value:
    return index(value, slice(int(start), None if end is None else int(end)))


def _substring(value: Value, start: Value = 0, end: Value = None, *_: Value) -> Value:
    """Between two places, whichever of them comes first."""
    ends = sorted(max(0, int(place)) for place in (start, len(plain(value)) if end is None else end))
    return _slice(value, *ends)


def _between(value: Value, first: Value = 1, last: Value = -1, *_: Value) -> Value:
    """Places counted from one, or from the end where they are negative."""
    start, end = (int(place) + (len(plain(value)) + 1) * (int(place) < 0) for place in (first, last))
    return _slice(value, max(start, 1) - 1, max(end, 0))


def _replace(value: Value, old: Value, new: Value, *_: Value) -> Value:
    text, gone = text_of(value), plain(old)
    room = text.count(gone) * len(text_of(new)) <= MAX_TEXT
    return marked(text.replace(gone, text_of(new)), value, new) if room else UNKNOWN


def _replace_once(value: Value, old: Value, new: Value, *_: Value) -> Value:
    """All that a regular expression finds where it says so."""
    if path_of(old) == REGEX:
        return marked(substituted(plain(value), text_of(new), *map(plain, old.args)), value, new)
    return marked(plain(value).replace(plain(old), text_of(new), 1)[:MAX_TEXT], value, new)


# -- operators, templates and indexes

_TEXTS, _SEQUENCES = (str, bytes), (list, tuple)
_WIDE = re.compile(r"[0-9]{4}|\{[^{}]*\{")  # a width that could fill the memory


def operate(op: str, left: Value, right: Value) -> Value:
    """`op` is the name of an ast class."""
    try:
        made = _operate(op, left, right)
    except (TypeError, ValueError, ArithmeticError, IndexError, KeyError, AttributeError):
        made = UNKNOWN
    return Sym("?", traits=traits_of(left) | traits_of(right)) if made is UNKNOWN else made


def _operate(op: str, left: Value, right: Value) -> Value:
    if op == "Add" and (isinstance(left, _SEQUENCES) or isinstance(right, _SEQUENCES)):
        # one that is no list is part of a command line, still worth reading
        joined = _list(left, right)
        pair = isinstance(left, tuple) and isinstance(right, _SEQUENCES)
        return UNKNOWN if len(joined) > MAX_ITEMS else tuple(joined) if pair else joined
    if op == "Add" and (isinstance(left, str) or isinstance(right, str)):
        return concat((left, right))
    if op == "Div" and (isinstance(left, str) or isinstance(right, str)):
        return join_path(left, right)
    if op == "Mod" and isinstance(left, _TEXTS):
        return percent(left, right if isinstance(right, (tuple, dict)) else (right,))
    return _OPERATORS[op](left, right) if _is_small(op, left, right) else UNKNOWN


def _is_small(op: str, left: Value, right: Value) -> bool:
    sizes = [len(side) for side in (left, right) if isinstance(side, (*_TEXTS, list, tuple, dict))]
    counts = [abs(side) for side in (left, right) if isinstance(side, (int, float))]
    if len(counts) == 2:
        return max(counts) < 1 << 64 and (op not in ("LShift", "RShift", "Pow") or 0 <= right <= 64)
    room = MAX_TEXT if isinstance(left, _TEXTS) or isinstance(right, _TEXTS) else MAX_ITEMS
    return len(sizes + counts) == 2 and (sum(sizes) if len(sizes) == 2 else sizes[0] * counts[0]) <= room


_OPERATORS: Mapping[str, Callable[[Value, Value], Value]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "BitXor": operator.xor, "BitOr": operator.or_,
    "BitAnd": operator.and_, "FloorDiv": operator.floordiv, "Mod": operator.mod, "LShift": operator.lshift,
    "RShift": operator.rshift, "Pow": operator.pow, "Div": lambda a, b: a // b if a % b == 0 else a / b,
}  # fmt: skip


# place or name, width and precision, letter
_DIRECTIVE = re.compile(r"%(?:(\d{1,3})\$|\((\w{1,64})\))?([-+ 0#]*\d{0,3}(?:\.\d{1,3})?)l{0,2}([a-zA-Z%])")


def percent(template: Value, given: Sequence[Value] | Mapping[str, Value]) -> Value:
    """`%` directives filled, with holes for what is not known; refuses more of them than are read."""
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
    if len(template) > MAX_ITEMS or _WIDE.search(template):
        return concat((template, *args, *named.values()))
    loose = template if computed(list(args)) and computed(dict(named)) else re.sub(r"[!:][^{}]*\}", "}", template)
    loose = re.sub(r"\{(\w*)[.\[][^{}]*\}", "{\\1}", loose)
    made = loose.format(*map(_shown, args), **{key: _shown(item) for key, item in named.items()})
    return marked(made[:MAX_TEXT], template, *args, *named.values())


def _shown(value: Value) -> Value:
    return value if computed(value) else text_of(value)


def index(value: Value, key: Value) -> Value:
    try:
        if isinstance(value, dict):
            if key in value:
                return value[key]
            return either(*value.values()) if isinstance(key, Sym) and value else UNKNOWN
        if isinstance(value, (list, tuple)) and isinstance(key, Sym) and value:
            return either(*value)
        if isinstance(value, str) and (not known(value) or isinstance(key, Sym)):
            return marked(hole(), value)
        if isinstance(value, (*_TEXTS, list, tuple)) and isinstance(key, (int, slice)):
            found: Value = value[key]
            return marked(found, value) if isinstance(value, str) else found
    except (TypeError, ValueError, IndexError, KeyError):
        pass
    return made_from(value)


# -- lists and dictionaries, some changed in place


def _items(value: Value) -> list[Value]:
    return [made_from(value)] if (found := flat(value)) is None else found


def _put(found: list[Value], at: int, *given: Value) -> list[Value]:
    """A list that would grow without bound is no longer known."""
    if len(found) + len(given) > MAX_ITEMS:
        found[-1] = Sym("?")
    else:
        found[at:at] = given
    return found


def _merge(found: dict[Value, Value], *others: Value) -> Value:
    for other in others:
        found.update(other if isinstance(other, dict) else {})
    return found


_LISTS: Mapping[str, Callable[..., Value]] = {
    "each": lambda value=(), *_: UNKNOWN if (found := flat(value)) is None else found,
    "tuple": lambda value=(), *_: UNKNOWN if (found := flat(value)) is None else tuple(found),
    "sorted": lambda value, *_: sorted(value) if computed(value) and listed(value) else _LISTS["each"](value),
    "numbers": _numbers,
    "range": lambda first, last, *_: _numbers(first, int(last) + 1),
    "zip": lambda *values: UNKNOWN if None in map(flat, values) else list(zip(*map(_items, values), strict=False)),
    "numbered": lambda value, start=0: (
        [(UNKNOWN, made_from(value))] if flat(value) is None else list(enumerate(_items(value), start))
    ),
    "chain": lambda *lists: [one for value in lists for one in _items(value)],
    "endless": lambda *_: Sym(ENDLESS),
    "append": lambda found, *given: _put(found, len(found), *given),
    "extend": lambda found, given=(), *_: _put(found, len(found), *_items(given)[:MAX_ITEMS]),
    "insert": lambda found, at, one: _put(found, int(at), one),
    "reverse_in_place": lambda found, *_: found.reverse() or found,
    "dict": lambda value=(), **named: made_from(value) if isinstance(value, Sym) else {**dict(value), **named},
    "look_up": lambda found, key, default=UNKNOWN: found.get(key, default) if isinstance(key, (str, int)) else default,
    "merge": _merge,
    "push": lambda found, *given: len(_put(found, len(found), *given)),
    "unshift": lambda found, *given: len(_put(found, 0, *given)),
    "pop": lambda found, *_: found.pop(),
    "shift": lambda found, *_: found.pop(0),
    "keys": lambda found, *_: [str(at) for at in range(len(found))] if isinstance(found, list) else list(found.keys()),
    "pairs": lambda found, *_: list(enumerate(found) if isinstance(found, list) else found.items()),
    "values": lambda found, *_: found if isinstance(found, list) else list(found.values()),
    "add": lambda one, other: operate("Add", one, other),
}


def _text_method(name: str, value: Value, *given: Value) -> Value:
    if not all(map(computed, given)):
        return UNKNOWN
    made = getattr(value if isinstance(value, bytes) else text_of(value), name)(*given)
    if isinstance(made, int) and not computed(value):
        return UNKNOWN
    return marked(made, value) if isinstance(made, str) else made


def _environment_variable(variable: Value = None, default: Value = None, *_: Value) -> Value:
    if variable is None:
        return Sym("?", traits=frozenset({"environment"}))
    value = hole(text_of(variable) if known(text_of(variable)) else "")
    return either(value, default) if isinstance(default, str) else value


def _shell_join(words: Value, *_: Value) -> Value:
    texts = [text_of(word) for word in words]
    return marked(" ".join(shlex.quote(text) if known(text) else text for text in texts), words)


def _as_text(value: Value = "", *_: Value) -> Value:
    if isinstance(value, Sym):
        return value
    return str(value) if computed(value) and not isinstance(value, (str, bytes)) else text_of(value)


def _default(value: Value, default: Value, *_: Value) -> Value:
    nothing = path_of(value) == "?" and not value.traits
    return default if value is None or nothing else value


def _store(name: Value = "", *_: Value) -> Value:
    """One that lives in memory alone is nobody's data."""
    if isinstance(name, Sym):
        return name if name.path.startswith(MEMORY) else Sym("database")
    return Sym(MEMORY) if isinstance(name, str) and _IN_MEMORY.fullmatch(name) else Sym("database")


RESULTS: Mapping[str, Callable[..., Value]] = {
    **ENCODINGS,
    **PATHS,
    **_LISTS,
    "same": lambda value=UNKNOWN, *_: value,
    "default": _default,
    "text": lambda value="", *_: value if isinstance(value, Sym) else text_of(value),
    "env": _environment_variable,
    "environ": lambda *_: _environment_variable(),
    "expanded": lambda path, *_: marked(_VARIABLE.sub(lambda found: hole(found.group(1)), text_of(path)), path),
    "store": _store,
    "as_text": _as_text,
    "length": lambda value, *_: len(value if isinstance(value, (list, tuple, dict, bytes)) else plain(value)),
    "at": lambda value, at=0, *_: index(value, int(at)),
    "code": lambda value, at=0, *_: ord(plain(value)[int(at)]),
    "slice": _slice,
    "between": _between,
    "span": lambda value, first, last: _slice(value, first, None if last == "end" else int(last) + 1),
    "substring": _substring,
    "replace_once": _replace_once,
    "join_list": lambda value, between=",", *_: _join(value, between),
    "from_url": _of_text(lambda value: value.removeprefix("file://")),
    "html": _of_text(html.unescape),
    "json": lambda value, *_: json.loads(value) if len(value) < 10_000 else UNKNOWN,
    "braces": lambda template, *given, **named: fill(template, given, named),
    "shell_words": lambda value, *_: [marked(word, value) for word in shlex.split(text_of(value))],
    "shell_join": _shell_join,
    "reverse": lambda *given: (
        marked(plain(given[0])[::-1], given[0])
        if len(given) == 1 and not isinstance(given[0], (list, tuple))
        else _list(*given)[::-1]
    ),
    "join": _join,
    "join_rest": lambda between, *rest: _join(between, _list(*rest)),
    "concat": lambda *given: concat(spread(given)),
    "split": _split,
    "split_each": lambda value, between=" ", *_: [_split(value, between)],
    "replace": _replace,
    "chr": _chr,
    "repeat": _repeat,
    "substr": lambda value, start, length=None: marked(plain(value)[int(start) :][: length and int(length)], value),
    "unquote": _of_text(urllib.parse.unquote),
    "pack": lambda template, *given: _PACKED[plain(template).replace(" ", "")[:1]](*spread(given)),
    "unpack_text": lambda value, shape="", *_: ENCODINGS["base64"](value) if plain(shape)[:1] == "m" else UNKNOWN,
    "format": lambda template, *given: percent(template, spread(given)),
    "number": _number,
    "from_hex": lambda value, *_: _number(value, 16),
    "octal": lambda value, *_: _number(value, 8),
    "list": _list,
    "last": lambda value, *_: index(value, -1),
    "rest": lambda value, *_: list(value[1:]) if isinstance(value, (list, tuple)) else made_from(value),
    "unknown": lambda *given: made_from(list(given)),
}
