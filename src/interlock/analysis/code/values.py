"""Values of inline code: their possible texts, where they came from, and how texts are made of others."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.facts import HOLE, hole, known

LONGEST = 100_000  # characters of text, and items of a list, that are followed
MOST = 2_000
MOST_EACH = 50  # texts that one loop or choice is followed into
_FORMAT = re.compile(r"%(?:(\d+)\$)?([-+ 0#]*)(\d*)(?:\.(\d+))?([a-zA-Z%])")
_URL = re.compile(r"(?:https?|ftp)://", re.IGNORECASE)


class Value(Struct, frozen=True):
    """What is known about one value."""

    items: tuple[str, ...] = (HOLE + HOLE,)
    many: bool = False  # a list; otherwise one text
    traits: frozenset[str] = frozenset()  # of a listing of files: bulk, recursive
    ref: str = ""  # the names and calls that it came from, joined by dots
    url: str = ""  # where it was fetched from
    body: int = -1  # where the code of an anonymous function begins
    either: bool = False  # one of the items at a time, as in a loop or a choice

    @property
    def text(self) -> str:
        """The value as one text."""
        return self.items[0] if len(self.items) == 1 else " ".join(self.items)

    @property
    def known(self) -> bool:
        return all(known(item) for item in self.items)

    @property
    def blank(self) -> bool:
        """True for a value of which nothing is known."""
        return not self.many and self.text.startswith(HOLE) and self.text.count(HOLE) == 2 and self.text.endswith(HOLE)

    def also(self, *traits: str) -> Value:
        return replace(self, traits=self.traits | frozenset(traits))

    def each(self) -> Value:
        """One of the items, for a loop: a list that is not known is a computed one."""
        if self.many and self.known and not self.traits:
            return replace(self, ref="", either=len(self.items) > 1)
        return replace(self, many=False, ref="", traits=self.traits | {"bulk"})

    def at(self, key: Value) -> Value:
        """The item under a number or, in a list of pairs, under a name."""
        if not self.many or not key.known:
            return replace(UNKNOWN, traits=self.traits, url=self.url)
        index = _integer(key.text)
        if index is not None and -len(self.items) <= index < len(self.items):
            return text(self.items[index])
        pairs = dict(zip(self.items[::2], self.items[1::2], strict=False))
        return text(pairs[key.text]) if key.text in pairs else UNKNOWN


UNKNOWN = Value()
EMPTY = Value(("",))


def text(value: str) -> Value:
    return Value((value,)) if len(value) <= LONGEST else UNKNOWN


def unknown(name: str = "") -> Value:
    return Value((hole(name),))


def listed(values: Iterable[Value]) -> Value:
    """One flat list of several values."""
    parts = tuple(values)
    items = tuple(item for value in parts for item in value.items)
    traits = frozenset().union(*(value.traits for value in parts))
    url = next((value.url for value in parts if value.url), "")
    return Value(items, True, traits, url=url) if len(items) <= MOST else Value(many=True, traits=traits | {"bulk"})


def computed(name: str = "") -> Value:
    """A list that only running the code would tell."""
    return Value((hole(name),), True, frozenset({"bulk"}))


def glued(values: Sequence[Value], between: str = "") -> Value:
    """The texts one after the other; where one of them has several, each makes a text of its own."""
    several = next((value.items for value in values if value.either), ())
    if several and len(several) <= MOST_EACH:
        wholes = [between.join(item if value.either else value.text for value in values) for item in several]
        made = Value(tuple(whole[:LONGEST] for whole in wholes), True, either=True)
    else:
        made = text(between.join(value.text for value in values))
    url = next((value.url for value in values if value.url), "")
    traits = frozenset().union(*(value.traits for value in values))
    return replace(made, url=url, traits=traits)


def one_of(one: Value, other: Value) -> Value:
    """A choice between two values: both are followed while both are plain texts."""
    plain = all(
        value.known and (value.either or not value.many) and not value.ref and value.body < 0 for value in (one, other)
    )
    items = tuple(dict.fromkeys((*one.items, *other.items)))
    if not plain or len(items) > MOST_EACH:
        return same_or_unknown(one, other)
    return Value(items, len(items) > 1, one.traits | other.traits, url=one.url or other.url, either=len(items) > 1)


def same_or_unknown(one: Value, other: Value) -> Value:
    """What is known of a value that is one of two."""
    if one == other:
        return one
    return replace(UNKNOWN, traits=one.traits | other.traits, url=one.url or other.url)


def is_url(value: str) -> bool:
    return bool(_URL.match(value))


def _integer(value: str) -> int | None:
    try:
        return int(value, 0) if len(value) < 20 else None
    except ValueError:
        return int(value) if value.lstrip("-").isdecimal() and len(value) < 20 else None


def repeated(value: Value, count: Value) -> Value:
    times = _integer(count.text)
    if times is None or times < 0 or times * max(1, len(value.text)) > LONGEST:
        return UNKNOWN
    return text(value.text * times)


def character(value: Value) -> Value:
    """chr: every number of the list as a character."""
    numbers = [_integer(item) for item in value.items]
    if any(number is None or not 0 <= number < 0xD800 for number in numbers):
        return UNKNOWN
    return text("".join(chr(number) for number in numbers if number is not None))


def backwards(value: Value) -> Value:
    return text(value.text[::-1]) if value.known else UNKNOWN


def turned(value: Value) -> Value:
    return replace(value, items=value.items[::-1])


def joined(between: Value, items: Value) -> Value:
    return replace(text(between.text.join(items.items)), traits=items.traits, url=items.url)


def split(value: Value, between: str | None) -> Value:
    if not value.known:
        return replace(computed(), url=value.url)
    if between == "":
        return listed(text(char) for char in value.text[:MOST])
    return listed(text(piece) for piece in value.text.split(between)[:MOST])


def lower(value: Value) -> Value:
    return text(value.text.lower()) if value.known else UNKNOWN


def upper(value: Value) -> Value:
    return text(value.text.upper()) if value.known else UNKNOWN


def stripped(value: Value) -> Value:
    return replace(value, items=tuple(item.strip() for item in value.items))


def swapped(value: Value, old: Value, new: Value) -> Value:
    if not value.known or not old.known or not old.text:
        return UNKNOWN
    return text(value.text.replace(old.text, new.text))


def unbase64(value: Value) -> Value:
    raw = "".join(value.text.split())
    if not value.known:
        return replace(UNKNOWN, url=value.url)
    try:
        return text(base64.b64decode(raw + "=" * (-len(raw) % 4)).decode("utf-8", "replace"))
    except (binascii.Error, ValueError):
        return UNKNOWN


def unhex(value: Value) -> Value:
    try:
        return text(bytes.fromhex(value.text).decode("utf-8", "replace")) if value.known else UNKNOWN
    except ValueError:
        return UNKNOWN


def from_hex(value: Value) -> Value:
    """hex: the number that hexadecimal digits stand for."""
    return _number(value.text, 16) if value.known else UNKNOWN


def from_octal(value: Value) -> Value:
    return _number(value.text, 0 if value.text[:2].lower() in ("0x", "0b") else 8) if value.known else UNKNOWN


def _number(digits: str, base: int) -> Value:
    try:
        return text(str(int(digits, base))) if len(digits) < 20 else UNKNOWN
    except ValueError:
        return UNKNOWN


def rotated(value: Value) -> Value:
    return text(codecs.encode(value.text, "rot13")) if value.known else UNKNOWN


def substring(value: Value, start: Value, length: Value | None = None) -> Value:
    first = _integer(start.text)
    count = _integer(length.text) if length else None
    if not value.known or first is None or (length is not None and count is None):
        return UNKNOWN
    rest = value.text[first:]
    return text(rest if count is None else rest[:count])


def packed(template: Value, values: Sequence[Value]) -> Value:
    """pack: hexadecimal digits, character codes and plain texts; other templates stay unknown."""
    shape = template.text.replace(" ", "")
    flat = listed(values)
    if not template.known or not flat.items:
        return UNKNOWN
    if shape[:1] in ("H",):
        return unhex(text(flat.items[0]))
    if shape[:1] in ("c", "C", "U", "W"):
        return character(flat)
    if shape[:1] in ("a", "A"):
        return text("".join(flat.items))
    return unbase64(text(flat.items[0])) if shape[:1] == "m" else UNKNOWN


def formatted(template: Value, values: Sequence[Value]) -> Value:
    """sprintf with %s, %d, %c and %x; other directives leave a hole."""
    rest = [item for value in values for item in value.items]
    used = 0

    def fill(found: re.Match[str]) -> str:
        nonlocal used
        place, _flags, _width, _precision, directive = found.groups()
        if directive == "%":
            return "%"
        index = int(place) - 1 if place and len(place) < 4 else used
        used += not place
        item = rest[index] if 0 <= index < len(rest) else hole()
        if directive == "c":
            return character(text(item)).text
        return item if directive in "sdiuv" else hole()

    return glued([text(_FORMAT.sub(fill, template.text))])
