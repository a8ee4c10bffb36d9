"""The specified name patterns (DL-11): dangerous, forbidden and safe globs over operation names; refuses malformed patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from msgspec import Struct

# DL-11: the union of both lists of the specification.
DANGEROUS = ("force_*", "*_permanently", "bulk_delete*", "override_*", "bypass_*", "*_without_backup", "purge_*")
FORBIDDEN = ("drop_*", "delete_all*", "truncate_*", "reset_*", "destroy_*", "wipe_*", "*_production")
SAFE = ("get_*", "list_*", "search_*", "count_*", "check_*", "introspect*")
_GLOB = re.compile(r"[a-z0-9_*]+")
_OTHER, _HUMP = re.compile(r"[^a-z0-9]+"), re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MAX_STARS = 4
Globs = Iterable[str]


class NamePatterns(Struct, frozen=True, cache_hash=True):
    """Three lists of globs over names; a name is matched in lower case, its words joined by `_`."""

    dangerous: tuple[str, ...] = DANGEROUS
    forbidden: tuple[str, ...] = FORBIDDEN
    safe: tuple[str, ...] = SAFE
    exempt: tuple[str, ...] = ()  # names that an operator lists as safe, whatever they say

    @classmethod
    def configured(
        cls, dangerous: Globs = (), forbidden: Globs = (), safe: Globs = (), replace: bool = False
    ) -> NamePatterns:
        """R-19: configuration extends the built-in lists, or replaces them; refuses what is no pattern."""
        base = cls((), (), ()) if replace else cls()
        listed = tuple(glob for glob in safe if glob not in SAFE)
        made = cls((*base.dangerous, *dangerous), (*base.forbidden, *forbidden), (*base.safe, *safe), listed)
        for globs in (made.dangerous, made.forbidden, made.safe):
            _compiled(globs)
        return made


BUILT_IN_PATTERNS = NamePatterns()


class PatternMatch(Struct, frozen=True):
    """A pattern that a name matches, and the word of the name at which it begins."""

    glob: str
    at: int
    forbidden: bool


@lru_cache(maxsize=4096)
def matches(words: tuple[str, ...], patterns: NamePatterns) -> Sequence[PatternMatch]:
    """Every dangerous and forbidden pattern that matches at the start of some word."""
    text, found = "_".join(words), []
    for globs, forbidden in ((patterns.forbidden, True), (patterns.dangerous, False)):
        for glob, piece, expression in _compiled(globs):
            hit = expression.search(text) if piece in text else None
            if hit:  # an ending is about the whole name: it begins at its last word
                at = text.count("_") if glob.startswith("*") else text.count("_", 0, hit.start() + 1)
                found.append(PatternMatch(glob, at, forbidden))
    return found


def is_safe(words: tuple[str, ...], patterns: NamePatterns) -> bool:
    return any(expression.match("_".join(words)) for _, _, expression in _compiled(patterns.safe))


def exemption(name: str, patterns: NamePatterns) -> str:
    """R-26: the operator's pattern that is the whole of this name; empty for none, and for a name that only looks like one."""
    if not patterns.exempt or not name.isascii():
        return ""
    own = name.split("__", 2)[2] if name.startswith("mcp__") and name.count("__") > 1 else name
    spelled = {_OTHER.sub("_", _HUMP.sub("_", one).lower()).strip("_") for one in (name, own)}
    wholes = ((glob, _normal(_HUMP.sub("_", glob))) for glob in patterns.exempt)
    return next((glob for glob, whole in wholes if any(fnmatchcase(one, whole) for one in spelled)), "")


@lru_cache(maxsize=64)
def _compiled(globs: tuple[str, ...]) -> Sequence[tuple[str, str, re.Pattern[str]]]:
    """Globs with the longest piece between their stars, which is in every name that they match, and as expressions."""
    return [(glob, max(_normal(glob).split("*"), key=len), re.compile(_expression(glob))) for glob in globs]


def _normal(glob: str) -> str:
    return glob.strip().lower().replace("-", "_")


def _expression(glob: str) -> str:
    """A glob as an expression over words joined by `_`; a star stands for letters, digits and `_`."""
    words = _normal(glob)
    if not _GLOB.fullmatch(words) or not words.strip("*_") or words.count("*") > _MAX_STARS:
        raise ValueError(f"name pattern {glob!r}: expected words, `_` and up to {_MAX_STARS} stars, such as drop_*")
    start = "" if words[0] == "*" else "(?:^|_)"
    body = words.removeprefix("*").removesuffix("*").replace("*", "[a-z0-9_]*")
    last = body.rpartition("_")[2]
    end = "" if not last or len(last) > 3 else "(?:_|$)"  # delete_all*, not delete_allocation
    return f"{start}{body}{end if words.endswith('*') else '$'}"
