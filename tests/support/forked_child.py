"""Runs a function in a forked child."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stored_records import child


def in_child(work: Callable[[], Any]) -> Any:
    """The result of a forked child, or the error it met."""

    def said(say: Callable[[Any], None]) -> None:
        try:
            say(work())
        except Exception as error:
            say(f"{type(error).__name__}: {error}")

    with child(said) as (_, lines):
        return next(lines)
