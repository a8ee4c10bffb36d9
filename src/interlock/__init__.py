"""Interlock: determines what an agent's action would really do, before it runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from interlock.analysis.assess import Judgement
    from interlock.analysis.rules import Rulebook
    from interlock.model import Action, Assessment, Decision
    from interlock.policy.registry import Pattern, Registry
    from interlock.sdk import Denied, GateError, Held, NotAllowed
    from interlock.sdk.async_gate import AsyncGate
    from interlock.sdk.destructive import DestructiveGate
    from interlock.sdk.gate import Gate, guard

__all__ = [
    "Action",
    "Assessment",
    "AsyncGate",
    "Decision",
    "Denied",
    "DestructiveGate",
    "Gate",
    "GateError",
    "Held",
    "NotAllowed",
    "Pattern",
    "Registry",
    "__version__",
    "assess",
    "guard",
]

# The module of each public name, imported on first use: every process of ours imports this package first.
_LAZY = {
    name: module
    for module, names in (
        ("interlock.model", ("Action", "Assessment", "Decision")),
        ("interlock.policy.registry", ("Pattern", "Registry")),
        ("interlock.sdk", ("Denied", "GateError", "Held", "NotAllowed")),
        ("interlock.sdk.async_gate", ("AsyncGate",)),
        ("interlock.sdk.destructive", ("DestructiveGate",)),
        ("interlock.sdk.gate", ("Gate", "guard")),
    )
    for name in names
}

_CACHED = 4_096  # characters; longer texts are judged anew, so that the cache stays small


@cache
def _judging() -> tuple[Callable[..., Judgement], Rulebook]:
    from interlock.analysis.assess import judge
    from interlock.analysis.rules.load import load

    return judge, load()


@lru_cache(maxsize=2048)
def _assess(text: str, cwd: str) -> Assessment:
    return _judge(text, cwd, None)


def _judge(action: str | Action, cwd: str, files: Callable[[str], str | None] | None) -> Assessment:
    if isinstance(action, str):
        from interlock.model import command

        action = command(action, cwd)
    judge, rules = _judging()
    return judge(action, rules, files).assessment


def assess(action: str | Action, cwd: str = "", files: Callable[[str], str | None] | None = None) -> Assessment:
    """Assesses what an action would do: shell text run in `cwd`, or an `Action` of any kind.

    `files` returns a script's text by its path, for callers who want scripts read too; without it no file is opened.
    """
    if isinstance(action, str) and files is None and len(action) <= _CACHED:
        return _assess(action, cwd)
    return _judge(action, cwd, files)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("interlock")
        except PackageNotFoundError:
            return "unknown"
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'interlock' has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(module), name)
    return found


def __dir__() -> list[str]:
    return __all__
