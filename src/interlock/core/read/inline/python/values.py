"""What is known of a Python value without running anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from interlock.core.read.facts import hole, known

Value = Any  # a constant (str, int, list…) or one of the classes below
NOTHING: frozenset[str] = frozenset()
MAX_TEXT = 1 << 20
MAX_ITEMS = 4096
MAX_OPTIONS = 16


class Marked(str):
    """Text that remembers where it came from: bulk, walk, environment, secret, `fetched:URL`, `file:PATH`."""

    __slots__ = ("traits",)
    traits: frozenset[str]

    def __new__(cls, text: str, traits: Iterable[str] = ()) -> Self:
        made = super().__new__(cls, text)
        made.traits = frozenset(traits)
        return made


@dataclass(frozen=True, slots=True, eq=False)
class Sym:
    """A value known only by how it is reached: `os.remove`, `boto3.client().delete_bucket`."""

    path: str
    owner: Value = None
    args: tuple[Value, ...] = ()
    named: Mapping[str, Value] = field(default_factory=dict)
    traits: frozenset[str] = NOTHING

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """A value that depends on a branch taken at run time."""

    options: tuple[Value, ...]


@dataclass(slots=True, eq=False)
class File:
    """An open file; `written` once anything but nothing may have gone into it."""

    path: str
    mode: str
    written: bool = False


UNKNOWN = Sym("?")


def made_from(value: Value) -> Sym:
    """A value that is not known, but remembers what it was made from."""
    return Sym("?", traits=traits_of(value))


def either(*values: Value) -> Value:
    """One value that stands for all of these."""
    options: list[Value] = []
    for value in values:
        for option in options_of(value):
            if not any(option is seen or _same(option, seen) for seen in options):
                options.append(option)
    if len(options) > MAX_OPTIONS:  # what is left out is read as not known, never as absent
        options = [*options[:MAX_OPTIONS], UNKNOWN]
    return options[0] if len(options) == 1 else Either(tuple(options))


def _same(one: Value, other: Value) -> bool:
    plain = type(one) is type(other) and isinstance(one, (str, bytes, int, float))
    return plain and bool(one == other) and traits_of(one) == traits_of(other)


def options_of(value: Value) -> tuple[Value, ...]:
    """Every way that a value could be."""
    return value.options if isinstance(value, Either) else (value,)


# -- where a value came from -----------------------------------------------------------------------------------------

_SECRET = re.compile(
    r"(^|/)(\.ssh(/|$)|id_(rsa|dsa|ecdsa|ed25519)$|\.aws/|\.netrc$|\.pgpass$|\.npmrc$|\.pypirc$|\.git-credentials$"
    r"|\.gnupg(/|$)|\.kube/config|\.docker/config\.json|\.config/(gcloud|gh)/|\.env(\.[\w.-]+)?$|credentials(\.json)?$"
    r"|wallet\.dat$)|^/etc/(shadow|gshadow|sudoers)|\.(pem|p12|pfx|keystore)$|Login Data$|cookies\.sqlite$|\.kdbx$"
)


def file_traits(path: str) -> frozenset[str]:
    """What the content of this file carries with it."""
    secret = _SECRET.search(path) and not path.endswith((".example", ".sample"))
    return frozenset({f"file:{path}", "secret"} if secret else {f"file:{path}"})


def traits_of(value: Value, depth: int = 0) -> frozenset[str]:
    """Everything that is remembered about a value and what it holds."""
    if isinstance(value, (Marked, Sym)):
        return value.traits
    if isinstance(value, File):
        return file_traits(value.path)
    inner: Iterable[Value] = ()
    if isinstance(value, Either):
        inner = value.options
    elif isinstance(value, (list, tuple, set, frozenset)):
        inner = list(value)[:64]
    elif isinstance(value, dict):
        inner = [*list(value.values())[:64], *list(value)[:64]]
    return NOTHING if depth > 3 else NOTHING.union(*(traits_of(item, depth + 1) for item in inner))


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
    if isinstance(value, File):
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
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, (bytes, bytearray)) or (isinstance(value, str) and known(value)):
        return list(value) if len(value) <= MAX_ITEMS else None
    return None


def listed(value: Value) -> list[Value] | None:
    """The items of a list or a tuple, else None."""
    return list(value) if isinstance(value, (list, tuple)) else None


def computed(value: Value) -> bool:
    """True when the value is a constant through and through."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return len(value) <= MAX_ITEMS and all(map(_plain, value))
    if isinstance(value, dict):
        return len(value) <= MAX_ITEMS and all(map(_plain, value)) and all(map(_plain, value.values()))
    return _plain(value)


def _plain(value: Value) -> bool:
    if isinstance(value, str):
        return known(value) and "bulk" not in traits_of(value)
    return value is None or isinstance(value, (bytes, bytearray, int, float))
