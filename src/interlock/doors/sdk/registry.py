"""Seed 003's globalRegistry: the patterns that a gate decides with, listed, matched, added to and taken from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from interlock.core.registry import Matched, Pattern, Registry
from interlock.doors.sdk.backend import Backend, Session


class GateRegistry:
    """A gate's patterns. In this process a program adds its own and takes them back; all else takes an operator's session."""

    def __init__(self, backend: Callable[[], Backend]) -> None:
        self._backend = backend

    def register(
        self,
        pattern: Pattern | Mapping[str, Any] | None = None,
        /,
        *,
        session: Session | None = None,
        **fields: Any,
    ) -> Pattern:
        """Adds a pattern, given whole, as a mapping or by its fields; raises PatternError for one that must not be used."""
        if isinstance(pattern, Pattern):
            if fields:
                raise TypeError("a Pattern is complete: no field goes beside it")
            made = pattern
        else:
            made = Pattern.of({**(pattern or {}), **fields})
        self._backend().register(made, session)
        return made

    def unregister(self, id: str, *, session: Session | None = None) -> Pattern:
        """Takes a pattern out and returns it."""
        return self._backend().unregister(id, session)

    def match(self, action: str) -> Matched:
        """What the patterns say of an action's name; raises MatchFailure where that cannot be told."""
        return Registry(self.list()).match(action)

    def list(self) -> tuple[Pattern, ...]:
        return self._backend().patterns()

    def __iter__(self) -> Iterator[Pattern]:
        return iter(self.list())

    def __len__(self) -> int:
        return len(self.list())
