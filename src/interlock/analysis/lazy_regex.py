"""Regular expressions that are compiled when first used: most processes that judge one call need few of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast


class _LazyRegex:
    """What was once asked of it is an attribute of its own from then on."""

    def __init__(self, text: str | Callable[[], str], flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        text = self._text if isinstance(self._text, str) else self._text()
        found = getattr(re.compile(text, self._flags), name)  # compiled once: re remembers it meanwhile
        setattr(self, name, found)
        return found


def lazy_regex(text: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, but an invalid expression is found when it is first used; so is its text, where a function gives it."""
    return cast("re.Pattern[str]", _LazyRegex(text, flags))
