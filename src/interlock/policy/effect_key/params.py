"""Targets and place of an operation from its parameters, however these are named and spelled."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from interlock.analysis.lexicon import is_plural, split_name
from interlock.analysis.programs.load import word_set
from interlock.policy.digest import normal_name

_OTHER = re.compile(r"[\W_]+")
_JOINS = re.compile(r"[\s_\-]+")  # `web-1`, `web_1` and `web 1` are one; `a.b` and `a-b` are two
_LONGEST = 80  # characters of one value; of a longer one its hash counts as well
_MOST = 50  # targets, values and parameters that are read
_DEEPEST = 3
# What people call the same thing.
_SAME = {
    "vms": "vm",
    "instance": "vm",
    "server": "vm",
    "machine": "vm",
    "droplet": "vm",
    "repository": "repo",
    "folder": "directory",
}
REPOSITORY = frozenset("repo repository repository_path repo_path working_directory owner org organization".split())
CLUSTER = frozenset("cluster context kube_context namespace".split())
DATABASE = frozenset(
    "host hostname server endpoint port database db dbname database_name db_name dsn url uri connection connection_string".split()
)


def noun(text: str) -> str:
    """What something is called, without its articles, in the singular, in one of several words for it."""
    words = [word for word in _OTHER.split(normal_name(text)) if word and word not in word_set("articles")]
    return "_".join(_SAME.get(one := _singular(word), one) for word in words)[:120]


def targets_in_params(given: object, about: str, exact: bool = False) -> tuple[tuple[str, ...], bool]:
    """The targets that the params name, and whether there are more of them; one empty text where they name none.

    `about` is the noun of what is done to them; `exact` keeps each name as it is written. Where a list stands for one of the names,
    each of its items is a target.
    """

    def spelled_out(value: str) -> str:
        return value.strip()[:_LONGEST] if exact else normal_spelling(value, about)

    pairs = list(_pairs(given, 0))[: _MOST * 2]
    named = [values for key, values in pairs if _is_name(key, about)]
    found = named or [values for key, values in pairs if not _words(key) & word_set("aside")]
    beside = {spelled_out(value) for values in found if len(values) == 1 for value in values}
    several = dict.fromkeys(spelled_out(value) for values in found if len(values) > 1 for value in values[:_MOST])
    targets = ["_".join(sorted({*beside, one} - {""})) for one in several or [""]]
    cut = len(several) > _MOST or any(len(values) > _MOST for values in found) or len(beside) > _MOST
    return tuple(dict.fromkeys(text[:200] for text in targets[:_MOST])), cut


def split_off(given: object, names: frozenset[str]) -> tuple[dict[str, str], dict[str, object]]:
    """The parameters of these names, which determine the place, by their first values; and all the others."""
    where: dict[str, str] = {}
    rest: dict[str, object] = {}
    for key, value in (given if isinstance(given, Mapping) else {}).items():
        name = "_".join(word for segment in split_name(str(key)) for word in segment)
        if name in names and _counts(value):
            where.setdefault(name, str(value))
        else:
            rest[str(key)] = value
    return where, rest


def _pairs(given: object, depth: int) -> Iterator[tuple[str, list[str]]]:
    """Each key with its texts and numbers; tables within are gone through."""
    if not isinstance(given, Mapping) or depth > _DEEPEST:
        return
    for key, value in given.items():
        if isinstance(value, Mapping):
            yield from _pairs(value, depth + 1)
        elif values := [
            _text(item) for item in (value if isinstance(value, list | tuple) else [value]) if _counts(item)
        ]:
            yield str(key), values


def _text(value: Any) -> str:
    """A value as it is compared: 4.0 is 4."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _counts(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def _is_name(key: str, about: str) -> bool:
    words = [word for segment in split_name(key) for word in segment]
    return bool(words) and (
        words[-1] in word_set("identifying") or noun("_".join(words)) in (about, about.rpartition("_")[2])
    )


def _words(key: str) -> set[str]:
    return {word for segment in split_name(key) for word in segment}


def normal_spelling(value: str, about: str = "") -> str:
    """`WEB-1`, `web_1` and `vm web-1` are one vm."""
    text = _JOINS.sub("_", normal_name(value)).strip("_")
    text = text.removeprefix(f"{about}_") if about else text
    mark = f"_{hashlib.sha256(text.encode()).hexdigest()[:12]}" if len(text) > _LONGEST else ""
    return text[:_LONGEST] + mark


def _singular(word: str) -> str:
    return word[:-1] if is_plural(word) else word
