"""Tables of hand-written files, declared once as Structs: read with every problem named, shown, and described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import lru_cache
from types import MappingProxyType, NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import fields, replace

from interlock.problems import Path, Problems

S = TypeVar("S", bound=Struct)
Reader = Callable[[Any, Path, Problems, Any], Any]  # value, its place, problems, and the value where it is wrong
_TYPES = MappingProxyType({bool: "boolean", int: "integer", float: "number", str: "string"})


def says(
    means: str,
    least: float | None = None,
    most: float | None = None,
    *,
    weakened_by: str = "",
    default: str = "",
    none: str = "",
    empty: bool = False,
    read: Reader | None = None,
) -> Meta:
    """Annotates a setting: one sentence, its bounds, and what weakens protection.

    `default` words a default that its value does not show, `none` is the word for None,
    `empty` lets a list be empty, `read` reads what has no plain type.
    """
    extra = {"weakened_by": weakened_by, "worded": default, "none": none, "empty": empty, "read": read}
    return Meta(ge=least, le=most, description=means, extra=extra)


class Setting(Struct, frozen=True):
    name: str  # of the field
    key: str  # in the file
    kind: Any
    default: Any
    meta: Meta
    weakened_by: str = ""
    worded: str = ""  # the default
    none: str = ""
    empty: bool = False
    read: Reader | None = None

    @property
    def means(self) -> str:
        return self.meta.description or ""

    @property
    def choices(self) -> Mapping[str, Any]:
        """Words with their values; empty where any value of its type may stand."""
        if get_origin(self.kind) is Literal:
            return {word: word for word in get_args(self.kind)}
        if isinstance(self.kind, type) and issubclass(self.kind, Enum) and self.read is None:
            return {shown_value(value): value for value in self.kind}
        return {}

    @property
    def table(self) -> type[Struct] | None:
        inner = isinstance(self.kind, type) and issubclass(self.kind, Struct) and self.read is None
        return self.kind if inner else None


@lru_cache(maxsize=256)
def settings_of(form: type[Struct]) -> tuple[Setting, ...]:
    """The keys of a table: the fields of its Struct that say what they mean."""
    found = []
    for one in fields(form):
        kind, *notes = get_args(one.type) if get_origin(one.type) is Annotated else (one.type,)
        meta = next((note for note in notes if isinstance(note, Meta)), None)
        if meta is None:
            continue
        if NoneType in get_args(kind):
            kind = next(part for part in get_args(kind) if part is not NoneType)
        default = one.default
        if default is NODEFAULT:
            default = None if one.default_factory is NODEFAULT else one.default_factory()
        found.append(Setting(one.name, one.encode_name, kind, default, meta, **(meta.extra or {})))
    return tuple(found)


def read_table(
    form: type[S],
    data: object,
    path: Path,
    problems: Problems,
    plain: S | None = None,
    renamed: Mapping[str, str] = MappingProxyType({}),
) -> S:
    """A wrong value and an unknown key are problems; what is left out stays as in `plain`."""
    plain = form() if plain is None else plain
    table = problems.table(data, path)
    if not table:
        return plain
    known = settings_of(form)
    problems.only(table, [one.key for one in known], path, renamed=renamed)
    given = {
        one.name: _read_value(one, table[one.key], (*path, one.key), problems, getattr(plain, one.name))
        for one in known
        if one.key in table
    }
    return replace(plain, **given)


def _read_value(one: Setting, value: Any, path: Path, problems: Problems, plain: Any) -> Any:
    kind = one.kind
    if one.read is not None:
        return one.read(value, path, problems, plain)
    if one.none and value == one.none:
        return None
    if one.table is not None:
        return read_table(one.table, value, path, problems, plain)
    if choices := one.choices:
        if isinstance(value, str) and value in choices:
            return choices[value]
        problems.expected(f"one of {', '.join(choices)}", value, path)
        return plain
    if kind is bool:
        return problems.flag(value, path, plain)
    if kind is str:
        return problems.text(value, path) or plain
    if kind in (int, float):
        number = problems.number(value, path, one.meta.ge or 0, one.meta.le or 0, whole=kind is int)
        return plain if number is None else kind(number)
    collection = get_origin(kind)
    return collection() if value == [] and one.empty else collection(problems.texts(value, path))


def shown_table(values: Struct) -> dict[str, Any]:
    """Under the keys of the file; what is None has no key."""
    found = {one.key: getattr(values, one.name) for one in settings_of(type(values))}
    return {key: shown_value(value) for key, value in found.items() if value is not None}


def shown_value(value: Any) -> Any:
    if isinstance(value, Enum):
        return getattr(value, "word", value.name.lower())
    if isinstance(value, Struct):
        return shown_table(value)
    if isinstance(value, frozenset):
        return sorted(map(shown_value, value))
    return [shown_value(item) for item in value] if isinstance(value, tuple | list) else value


def json_schema(form: type[Struct]) -> dict[str, Any]:
    """The JSON Schema of a table, for editors and checks outside Interlock."""
    properties = {one.key: _schema_of(one) for one in settings_of(form)}
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _schema_of(one: Setting) -> dict[str, Any]:
    about: dict[str, Any] = {"description": one.means}
    if one.table is not None:
        return {**json_schema(one.table), **about}
    if isinstance(one.default, bool | int | float | str) and not isinstance(one.default, Enum):
        about["default"] = one.default
    if one.choices:
        return {"enum": list(one.choices), **about}
    if one.kind in _TYPES:
        bounds = {"minimum": one.meta.ge, "maximum": one.meta.le}
        typed = {"type": _TYPES[one.kind], **{key: value for key, value in bounds.items() if value is not None}}
        return {"anyOf": [typed, {"const": one.none}], **about} if one.none else {**typed, **about}
    if get_origin(one.kind) in (tuple, frozenset) and one.read is None:
        return {"type": "array", "items": {"type": "string"}, **about}
    return about
