"""`"DELETE /repos/{owner}/{repo}?force=true"` and values -> one path and query that no value can leave."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, quote

from interlock.adapters.model import METHODS
from interlock.doors.adapter.failing import Failure, invalid

_HOLE = re.compile(r"\{([A-Za-z_]\w*)\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]")
_DISGUISED = re.compile(r"%(?:2f|5c|2e|00|25)", re.IGNORECASE)  # a service that decodes twice would see a slash
_DOTS = frozenset({"", ".", ".."})
MOST_CHARACTERS = 2_000  # of one value in a path


class TemplateError(ValueError):
    """A `maps_to` that must not be performed."""


@dataclass(frozen=True)
class Template:
    """A method, the segments of a path, and a query; holes are filled one at a time."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, maps_to: str) -> Template:
        """Reads a `maps_to`; raises TemplateError for what is no method and path of the adapter's own service."""
        method, _, target = maps_to.strip().partition(" ")
        target = target.strip()
        if method.upper() not in METHODS or not target.startswith("/"):
            raise TemplateError(f"maps_to {maps_to[:80]!r}: expected a method and a path such as 'GET /things/{{id}}'")
        path, _, query = target.partition("?")
        bare = _HOLE.sub("x", path)
        if path.startswith("//") or re.search(r"[\s\\#{}]|[^\x21-\x7e]", bare):
            raise TemplateError(f"maps_to {maps_to[:80]!r}: the path has a character that it cannot have")
        if any(segment in (".", "..") or _DISGUISED.search(segment) for segment in bare.split("/")):
            raise TemplateError(f"maps_to {maps_to[:80]!r}: the path leaves its place")
        pairs = tuple(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
        if any(_HOLE.search(key) for key, _ in pairs):
            raise TemplateError(f"maps_to {maps_to[:80]!r}: a parameter cannot name a key of the query")
        return cls(method.upper(), path, pairs)

    @cached_property
    def path_names(self) -> frozenset[str]:
        """The params that stand in the path."""
        return frozenset(_HOLE.findall(self.path))

    @property
    def last_name(self) -> str:
        return str((_HOLE.findall(self.path) or [""])[-1])

    @cached_property
    def names(self) -> frozenset[str]:
        """The params that the template itself has a place for."""
        return self.path_names | {name for _, value in self.query for name in _HOLE.findall(value)}

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the query that the template fixes."""
        return frozenset(key for key, _ in self.query)

    def filled_path(self, params: Mapping[str, Any], slashed: frozenset[str] = frozenset()) -> str:
        """The path; a value stays inside its segment, or, where its param says `slashes`, inside its place."""
        pieces = [self._segment(piece, params, slashed) for piece in self.path.split("/")]
        return "/".join(pieces)

    def filled_query(self, params: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The query that the template asks for; a pair whose value was not given is left out."""
        found = []
        for key, value in self.query:
            names = _HOLE.findall(value)
            if all(params.get(name) is not None for name in names):
                found.append((key, _HOLE.sub(lambda hole: scalar(hole[1], params[hole[1]]), value)))
        return found

    def _segment(self, piece: str, params: Mapping[str, Any], slashed: frozenset[str]) -> str:
        names = _HOLE.findall(piece)
        if not names:
            return piece
        filled = _HOLE.sub(lambda hole: _encoded(hole[1], params.get(hole[1]), hole[1] in slashed), piece)
        if any(part in _DOTS for part in filled.split("/")):
            raise invalid(names[0], "the name of one thing; empty, '.' and '..' are none")
        return filled


def scalar(name: str, value: Any) -> str:
    """A value as it is written into a URL."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | str):
        text = str(value)
        if _CONTROL.search(text):
            raise invalid(name, "text without control characters")
        return text
    details = {"param_name": name, "expected_type": "string, number or boolean", "actual_type": type_name(value)}
    raise Failure("VALIDATION_INVALID_TYPE", f"'{name}': expected a text, a number or a boolean", details)


def type_name(value: Any) -> str:
    """What JSON calls it."""
    names = {type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return names.get(type(value), "object")


def _encoded(name: str, value: Any, slashes: bool) -> str:
    if value is None:
        raise Failure(
            "VALIDATION_MISSING_PARAM", f"Missing required parameter '{name}'", {"param_name": name}
        )  # a hole in a path has to be filled
    text = scalar(name, value)
    if not text.strip() or len(text) > MOST_CHARACTERS:
        raise invalid(name, f"1 to {MOST_CHARACTERS} characters")
    if "\\" in text or _DISGUISED.search(text) or ("/" in text and not slashes):
        raise invalid(name, "a value without slashes, backslashes and percent-encoded ones")
    return quote(text, safe="/" if slashes else "")
