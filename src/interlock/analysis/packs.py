"""Reads folders of TOML packs strictly, with a JSON copy of the checked ones: parsing TOML takes most of a start."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from msgspec import ValidationError, convert, json

Pack = Mapping[str, Any]
Kept = TypeVar("Kept")
Named = TypeVar("Named")
Words = tuple[str, ...]
_DIGEST = 64  # letters
_PACKAGE = Path(__file__).parent.parent


class PackError(ValueError):
    """The message names the rule or program and its error."""


def folder_digest(folder: Path, files: str = "*.toml") -> str:
    """Over the packs of a folder and the module that gives their copy its shape; the copy's name has it."""
    paths = [*sorted(folder.glob(files)), *folder.glob("__init__.py")]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()


def load_packs(
    folder: Path, check: Callable[[Sequence[Pack]], Sequence[Kept]], files: str = "*.toml", kept: Any = dict
) -> Sequence[Kept]:
    """`check` refuses invalid packs and returns what is worth a copy, all of it `kept`."""
    name = files.partition(".")[0].strip("*")
    copy = folder / "__pycache__" / f"{name}{folder_digest(folder, files)}.json"
    try:
        found: list[Kept] = json.decode(copy.read_bytes(), type=list[kept])
        return found
    except (OSError, ValueError):
        checked = check([read_pack(path) for path in sorted(folder.glob(files))])
        _keep(copy, checked)
        return checked


def each_name(table: Mapping[str, Named]) -> dict[str, Named]:
    """An entry for each of the names in a key."""
    return {name: entry for names, entry in table.items() for name in names.split()}


class PackWords:
    """The words that `words_of` finds in a pack, as attributes; KeyError for any other."""

    def __init__(self, told: Callable[[], Pack]) -> None:
        self.told = cache(told)

    def __getattr__(self, name: str) -> frozenset[str]:
        found = self.__dict__[name] = frozenset(self.told()[name])
        return found

    def in_order(self, name: str) -> Sequence[str]:
        return cast("Sequence[str]", self.told()[name])

    def table(self, name: str) -> Mapping[str, str]:
        return cast("Mapping[str, str]", self.told()[name])


@cache
def own_words(name: str) -> PackWords:
    path = _PACKAGE / name
    return PackWords(lambda: load_packs(path.parent, lambda packs: [words_of(packs[0])], path.name)[0])


def load_words(name: str, kept: type[Kept]) -> Kept:
    """As `own_words`, in a type that has a field for every key; refuses a pack with others, and one without."""
    path = _PACKAGE / name
    return load_packs(path.parent, lambda packs: [convert_pack(name, words_of(packs[0]), kept)], path.name, kept)[0]


def convert_pack(where: str, pack: Pack, kept: type[Kept]) -> Kept:
    """A pack in a type with a field for every key; refuses any other."""
    try:
        return convert(pack, kept)
    except ValidationError as error:
        raise PackError(f"{where}: {error}") from None


def words_of(pack: Pack) -> Pack:
    """Its texts as lists of words, its tables of texts as the heading of each of their words."""

    def words(said: Any) -> Any:
        if isinstance(said, Mapping):
            return {word: heading for heading, text in said.items() for word in text.split()}
        return said.split() if isinstance(said, str) else said

    return {key: words(said) for key, said in pack.items()}


def read_pack(path: Path) -> Pack:
    try:
        return tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise PackError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PackError(f"{path.name}: {error}") from None


def _keep(copy: Path, checked: Sequence[object]) -> None:
    try:
        copy.parent.mkdir(exist_ok=True)
        for old in copy.parent.glob(f"{copy.stem[:-_DIGEST]}{'?' * _DIGEST}.json"):
            old.unlink()
        part = copy.with_suffix(".part")
        part.write_bytes(json.encode(checked))
        part.replace(copy)
    except OSError:
        return  # a read-only installation parses again; nothing depends on the copy


def only_keys(where: str, data: object, known: Iterable[str]) -> None:
    if not isinstance(data, Mapping):
        raise PackError(f"{where}: expected a table, got {data!r}")
    known_only(where, "key", data, known)


def known_only(where: str, what: str, words: Iterable[str], known: Iterable[str]) -> None:
    for word in words:
        if word not in known:
            raise PackError(f"{where}: unknown {what} {word!r}; known: {', '.join(sorted(known))}")


def typed_field(where: str, key: str, value: object, usual: object) -> Any:
    """A value with the type of the usual one, words of a list as a tuple or a set."""
    kind = type(usual)
    if kind in (tuple, frozenset):
        return kind(word_list(where, key, value))
    if not isinstance(value, kind):
        expected = "a number" if kind is int else kind.__name__
        raise PackError(f"{where}: {key} is {value!r}, expected {expected}")
    return value


def word_list(where: str, key: str, value: object) -> Words:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise PackError(f"{where}: {key} is {value!r}, expected a list of words")
    return tuple(value)
