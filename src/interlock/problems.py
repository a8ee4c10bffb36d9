"""Collects every problem of hand-written data, each with its path; reads values one by one and raises nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace


class ExpectedError(Exception):
    """No defect: its message is a sentence for a person, and ends a command."""


Key = str | int
Path = tuple[Key, ...]  # the keys from the top of the data, list positions as numbers

MISSING = object()


class Problem(Struct, frozen=True):
    """One problem of the data; an error refuses the data, a warning does not."""

    path: Path
    message: str
    error: bool = True

    @property
    def place(self) -> str:
        """The path in words: `operations.delete[0].danger`."""
        return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.path).lstrip(".")


class Problems:
    def __init__(self) -> None:
        self.found: list[Problem] = []

    def error(self, path: Path, message: str) -> None:
        self.found.append(Problem(path, message))

    def warn(self, path: Path, message: str) -> None:
        self.found.append(Problem(path, message, error=False))

    def expected(self, what: str, value: object, path: Path) -> None:
        """The last key of the place names the value."""
        self.error(path, f"{path[-1]}: expected {what}, got {describe_value(value)}")

    def table(self, data: object, path: Path) -> Mapping[str, Any] | None:
        """`data` if it is a table; None, with a problem, for anything else."""
        if isinstance(data, Mapping):
            return data
        self.error(path, f"expected a table, got {describe_value(data)}")
        return None

    def items(self, value: object, path: Path) -> list[Any]:
        """The list; refuses an empty one."""
        if not isinstance(value, list):
            self.expected("a list", value, path)
            return []
        if not value:
            self.error(path, f"{path[-1]} is empty")
        return value

    def texts(self, value: object, path: Path) -> tuple[str, ...]:
        found = []
        for at, item in enumerate(self.items(value, path)):
            if isinstance(item, str) and item.strip():
                found.append(item)
            else:
                self.error((*path, at), f"{path[-1]}[{at}]: expected text, got {describe_value(item)}")
        return tuple(found)

    def text(self, value: object, path: Path) -> str:
        """The text; refuses an empty one."""
        if isinstance(value, str) and value.strip():
            return value
        if value in ("", None):
            self.error(path, f"{path[-1]} is empty")
        else:
            self.expected("text", value, path)
        return ""

    def flag(self, value: object, path: Path, default: bool) -> bool:
        if isinstance(value, bool):
            return value
        self.expected("true or false", value, path)
        return default

    def number(self, value: Any, path: Path, least: float, most: float, whole: bool = False) -> float | None:
        """The number if it lies between `least` and `most`."""
        fits = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        if fits and math.isfinite(value) and least <= value <= most:
            return float(value)
        self.expected(f"a {'whole ' if whole else ''}number from {_digits(least)} to {_digits(most)}", value, path)
        return None

    def only(
        self,
        data: Mapping[str, Any],
        known: Iterable[str],
        path: Path,
        error: bool = True,
        renamed: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Names each unknown key's new name (`renamed`), or the key that was probably meant."""
        names = sorted(known)
        for key in (key for key in data if key not in names):
            from difflib import get_close_matches  # few files have a wrong key

            near = get_close_matches(str(key)[:60], names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
            problem = Problem((*path, key), f"unknown key {describe_value(key)}; {hint}", error)
            if new := renamed.get(problem.place):
                problem = replace(problem, message=f"renamed: use {new}")
            self.found.append(problem)


def _digits(value: float) -> str:
    """A number without an exponent: 10000000, 0.01."""
    return str(int(value)) if value == int(value) else f"{value:g}"


def describe_value(value: object) -> str:
    """A value for a message, always short."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a huge number"
    text = repr(value) if not isinstance(value, str) else repr(value[:60])
    return text if len(text) <= 70 else f"{text[:66]}…{text[-1]}"


class WrittenTable(Struct, frozen=True):
    data: Mapping[str, Any]
    path: Path
    problems: Problems

    def __contains__(self, key: object) -> bool:
        return key in self.data

    def error(self, message: str, *keys: Key) -> None:
        self.problems.error((*self.path, *keys), message)

    def warn(self, message: str, *keys: Key) -> None:
        self.problems.warn((*self.path, *keys), message)

    def only(self, known: Iterable[str], error: bool = True) -> None:
        self.problems.only(self.data, known, self.path, error)

    def _has(self, key: str, required: bool) -> bool:
        if required and key not in self.data:
            self.error(f"{key} is missing")
        return key in self.data

    def text(self, key: str, required: bool = False) -> str:
        return self.problems.text(self.data[key], (*self.path, key)) if self._has(key, required) else ""

    def texts(self, key: str) -> tuple[str, ...]:
        return self.problems.texts(self.data[key], (*self.path, key)) if key in self.data else ()

    def flag(self, key: str, default: bool = False) -> bool:
        return self.problems.flag(self.data.get(key, default), (*self.path, key), default)

    def number(self, key: str, least: float, most: float, whole: bool = False, required: bool = False) -> float | None:
        place = (*self.path, key)
        return self.problems.number(self.data[key], place, least, most, whole) if self._has(key, required) else None

    def items(self, key: str) -> list[Any]:
        return self.problems.items(self.data[key], (*self.path, key)) if key in self.data else []

    def required_table(self, key: str) -> WrittenTable | None:
        return self._table(self.data[key], key) if self._has(key, True) else None

    def inner(self, key: str) -> WrittenTable | None:
        return self._table(self.data[key], key) if self.data.get(key) is not None else None

    def tables(self, key: str) -> Iterator[WrittenTable]:
        """The tables of the list under `key`; refuses anything else in it."""
        for at, item in enumerate(self.items(key)):
            if (table := self._table(item, key, at)) is not None:
                yield table

    def _table(self, item: object, *keys: Key) -> WrittenTable | None:
        found = self.problems.table(item, (*self.path, *keys))
        return None if found is None else WrittenTable(found, (*self.path, *keys), self.problems)
