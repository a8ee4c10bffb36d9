"""Values of a program that are known without running anything, what it defines, and the scopes of its names."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct

from interlock.analysis.facts import HOLE, hole, known
from interlock.analysis.places import is_secret

if TYPE_CHECKING:
    from interlock.analysis.code.program.walk import ProgramEffects, ProgramWalk

Value = Any  # a constant (str, int, list…) or one of the classes below
NOTHING: frozenset[str] = frozenset()
MAX_TEXT = 1 << 20
MAX_ITEMS = 4096
MAX_OPTIONS = 16
MAX_PATH = 400  # characters
MAX_KINDS = MAX_LINKS = 1000
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
    named: Mapping[str, Value] = {}
    traits: frozenset[str] = NOTHING

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


def path_of(value: Value) -> str:
    return value.path if isinstance(value, Sym) else ""


class Either(Struct, frozen=True, eq=False):
    options: tuple[Value, ...]


class OpenFile(Struct, eq=False):
    """An open file; `written` once anything but nothing may have gone into it."""

    path: str
    mode: str
    written: bool = False


UNKNOWN = Sym("?")
REGEX = "<regex>"  # the path of a regular expression, with its source and its flags as arguments


def made_from(value: Value) -> Sym:
    """Not known, but remembers what it was made from."""
    return Sym("?", traits=traits_of(value))


def either(*values: Value) -> Value:
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
    return value.options if isinstance(value, Either) else (value,)


# -- where a value came from


def file_traits(path: str) -> frozenset[str]:
    return frozenset({f"file:{path}", "secret"} if is_secret(path[-300:]) else {f"file:{path}"})


_PLAIN = (str, int, float, bytes, type(None))


def traits_of(value: Value, depth: int = 0) -> frozenset[str]:
    if isinstance(value, (Marked, Sym)):
        return value.traits
    if isinstance(value, _PLAIN) or depth > 3:
        return NOTHING
    if isinstance(value, OpenFile):
        return file_traits(value.path)
    inner = value[:64] if isinstance(value, (list, tuple)) else value.options if isinstance(value, Either) else ()
    if isinstance(value, dict):
        inner = [*list(value.values())[:64], *list(value)[:64]]
    return NOTHING.union(*(traits_of(item, depth + 1) for item in inner))


def origin(value: Value, kind: str) -> str:
    return next((trait.removeprefix(kind) for trait in sorted(traits_of(value)) if trait.startswith(kind)), "")


def fetched(value: Value) -> str:
    return origin(value, "fetched:")


def marked(text: str, *sources: Value) -> str:
    traits = NOTHING.union(*map(traits_of, sources))
    return Marked(text, traits) if traits else text


# -- values as text and as lists


def tagged(text: Value, *traits: str) -> str:
    return Marked(text_of(text), traits_of(text).union(traits))


def text_of(value: Value) -> str:
    """What is not known becomes a hole."""
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
    items = list(parts)
    texts = [text_of(item) for item in items]
    if sum(map(len, texts)) > MAX_TEXT:
        return made_from(items)
    return marked("".join(texts), *items)


def flat(value: Value) -> list[Value] | None:
    """None for what is no known sequence."""
    if isinstance(value, (list, tuple, dict)):
        return list(value)
    several = isinstance(value, (bytes, bytearray)) or (isinstance(value, str) and known(value))
    return list(value) if several and len(value) <= MAX_ITEMS else None


def listed(value: Value) -> list[Value] | None:
    return list(value) if isinstance(value, (list, tuple)) else None


def computed(value: Value) -> bool:
    """Whether it is a constant through and through."""
    if not isinstance(value, (list, tuple, dict)):
        return _plain(value)
    held = value.values() if isinstance(value, dict) else ()
    return len(value) <= MAX_ITEMS and all(map(_plain, value)) and all(map(_plain, held))


def _plain(value: Value) -> bool:
    if isinstance(value, str):
        return known(value) and "bulk" not in traits_of(value)
    return value is None or isinstance(value, (bytes, bytearray, int, float))


def join_path(*parts: Value) -> str:
    texts = [text_of(part) for part in parts]
    joined = posixpath.join(*texts) if texts else "."
    while joined.startswith("./") and len(joined) > 2:
        joined = joined[2:].lstrip("/") or "."
    return marked(joined[:MAX_TEXT], *parts)


def parent_of(path: str) -> str:
    """Unknown where the last known part is not the name."""
    head, slash, tail = path.rstrip("/").rpartition("/")
    if tail.count(HOLE) % 2 or (HOLE in path and not slash):
        return marked(hole(), path)
    return marked(head or ("/" if slash else "."), path)


# -- what a program defines, and the names that it goes by


class ProgramScope(Struct, eq=False):
    parent: ProgramScope | None = None
    names: dict[str, Value] = {}
    shared: set[str] = set()  # declared global or nonlocal
    trails: list[dict[str, Value]] = []  # per open branch: what its names were before it
    returns: list[Value] = []
    yields: list[Value] = []
    closes: bool = False  # a name of the code around it stays that

    def find(self, name: str, default: Value = None) -> Value:
        scope: ProgramScope | None = self
        while scope:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return default

    def set(self, name: str, value: Value) -> None:
        around = self.closes and name not in self.names
        if self.parent and (name in self.shared or (around and self.parent.find(name, UNKNOWN) is not UNKNOWN)):
            scope = self.parent
            while scope.parent and name not in scope.names:
                scope = scope.parent
            scope.set(name, either(scope.names[name], value) if name in scope.names else value)
            return
        self.declare(name, value)

    def declare(self, name: str, value: Value) -> None:
        """Whatever the code around calls by it."""
        if self.trails:
            self.trails[-1].setdefault(name, self.names.get(name, UNKNOWN))
        self.names[name] = value

    def leave(self, trail: dict[str, Value]) -> None:
        """The branch around has changed the same names."""
        self.trails.pop()
        if self.trails:
            for name, value in trail.items():
                self.trails[-1].setdefault(name, value)

    def restore(self, trail: dict[str, Value]) -> None:
        self.names.update(trail)
        for name, value in trail.items():
            if value is UNKNOWN:
                del self.names[name]


class ProgramFunction(Struct, eq=False):
    """`owner` is what a method is called on."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: ProgramScope
    owner: Value = None
    closes: bool = False  # assigns to the names of the code around it


class Class(Struct, eq=False):
    name: str
    names: dict[str, Value]
    bases: list[Value]


class Instance(Struct, eq=False):
    cls: Class
    names: dict[str, Value] = {}


class Partial(Struct, eq=False):
    func: Value
    args: list[Value]
    named: dict[str, Value] = {}


class LibraryCall(Struct, frozen=True, eq=False):
    walk: ProgramWalk
    path: str
    owner: Value
    args: list[Value]
    named: dict[str, Value] = {}

    @property
    def world(self) -> ProgramEffects:
        return self.walk.world

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    def get(self, at: int, name: str = "", default: Value = UNKNOWN) -> Value:
        return self.args[at] if 0 <= at < len(self.args) else self.named.get(name, default)

    def text(self, at: int, name: str = "") -> str:
        return text_of(self.get(at, name))

    def given(self) -> list[Value]:
        return [*self.args, *self.named.values()]


def lineage(cls: Class) -> list[Class]:
    found = [cls]
    for kind in found:  # grows while bases are met
        fresh = [base for base in kind.bases if isinstance(base, Class) and base not in found]
        found += fresh[: MAX_KINDS - len(found)]
    return found


def member_of(owner: Instance | Class, name: str) -> Value:
    if name in owner.names:
        return owner.names[name]
    cls = owner.cls if isinstance(owner, Instance) else owner
    for kind in lineage(cls):
        if name in kind.names:
            found = kind.names[name]
            return ProgramFunction(found.node, found.scope, owner) if isinstance(found, ProgramFunction) else found
    base = next((base for base in cls.bases if isinstance(base, Sym)), None)
    return Sym(f"{base.path}.{name}", base, traits=base.traits) if base else Sym(f"{cls.name}.{name}")


def links(value: Value) -> list[Sym]:
    """The last one first."""
    found: list[Sym] = []
    while isinstance(value, Sym) and len(found) < MAX_LINKS:
        found.append(value)
        value = value.owner
    return found


def label(value: Value) -> str:
    if isinstance(value, Class):
        return value.name
    return value.name.rstrip("()") if isinstance(value, Sym) and value.name not in ("?", "[]") else text_of(value)
