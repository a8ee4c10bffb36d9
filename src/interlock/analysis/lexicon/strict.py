"""Decodes tables of words; refuses unknown and missing keys, and values of another type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from msgspec import ValidationError, convert

from interlock.analysis.packs import PackError

Decoded = TypeVar("Decoded")


class Words(tuple[str, ...]):
    """Words that stand as one text in the data, in their order."""


class WordSet(frozenset[str]):
    """The same, without an order."""


def decode(where: str, data: Any, kind: type[Decoded]) -> Decoded:
    """The data as a value of this kind; raises PackError where it is none."""
    try:
        return convert(data, kind, dec_hook=_split)
    except ValidationError as error:
        raise PackError(f"{where}: {error}") from None


def _split(kind: type, value: object) -> Words | WordSet:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.80}, expected words")
    return WordSet(value.split()) if kind is WordSet else Words(value.split())


def known(where: str, name: str, names: Iterable[str]) -> str:
    """A name that is among these; raises PackError for any other."""
    if name not in names:
        raise PackError(f"{where}: unknown {name!r}; known: {', '.join(sorted(names))}")
    return name
