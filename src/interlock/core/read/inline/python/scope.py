"""The names of a module, a function or a class, and what they stand for so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlock.core.read.inline.python.values import UNKNOWN, Value, either


@dataclass(slots=True, eq=False)
class Scope:
    """The names of one block of code, inside those of the code around it."""

    parent: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)  # declared global or nonlocal
    trails: list[dict[str, Value]] = field(default_factory=list)  # per open branch: what its names were before it
    returns: list[Value] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)

    def find(self, name: str, default: Value = None) -> Value:
        """What a name stands for, here or in the code around."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return default

    def set(self, name: str, value: Value) -> None:
        """Give a name a value, where the name belongs."""
        if name in self.shared and self.parent is not None:
            scope = self.parent
            while scope.parent is not None and name not in scope.names:
                scope = scope.parent
            scope.set(name, either(scope.names[name], value) if name in scope.names else value)
            return
        if self.trails:
            self.trails[-1].setdefault(name, self.names.get(name, UNKNOWN))
        self.names[name] = value

    def leave(self, trail: dict[str, Value]) -> None:
        """Close the branch that kept this trail; the branch around it has changed the same names."""
        self.trails.pop()
        if self.trails:
            for name, value in trail.items():
                self.trails[-1].setdefault(name, value)

    def restore(self, trail: dict[str, Value]) -> None:
        """Make the names again what they were before a branch."""
        self.names.update(trail)
        for name, value in trail.items():
            if value is UNKNOWN:
                del self.names[name]
