"""What does a PowerShell text know and reach while it is read?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from interlock.core.read.facts import hole
from interlock.core.read.powershell.tree import Block, Body, Expr
from interlock.core.read.powershell.values import Script, Value
from interlock.core.read.windows import Files, place
from interlock.core.read.windows.located import Located

MAX_ROUNDS = 6_000

_CONSTANTS: dict[str, Value] = {
    "true": True,
    "false": False,
    "null": None,
    "home": "~",
    "pwd": ".",
    "psscriptroot": ".",
    "pshome": "C:\\Windows\\System32\\WindowsPowerShell\\v1.0",
    "verbosepreference": "SilentlyContinue",
    "debugpreference": "SilentlyContinue",
    "shellid": "Microsoft.PowerShell",
    "ofs": " ",
}
_SCOPES = ("global:", "script:", "local:", "private:", "using:", "variable:")


@dataclass(slots=True)
class Session:
    """The names that are known so far, and where to tell what happens."""

    out: Located
    run_block: Callable[[Session, Script, dict[str, Value]], list[Value]]
    run_text: Callable[[Session, str], list[Value]]
    invoke: Callable[[Session, Value, str], Value]  # calls a method without arguments
    run_body: Callable[[Session, Body], list[Value]]
    value_of: Callable[[Session, Expr], Value]
    variables: dict[str, Value] = field(default_factory=dict)
    functions: dict[str, Block] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    files: Files = field(default_factory=Files)
    active: list[str] = field(default_factory=list)  # functions that are being read
    depth: int = 0
    rounds: int = 0
    socket: str | None = None  # where a socket was opened to
    commanded: bool = False  # something was run that came from outside

    def get(self, name: str) -> Value:
        """What a variable holds; a hole when nothing here says."""
        key = variable_key(name)
        if key in self.variables:
            return self.variables[key]
        if key.startswith("env:"):
            return place(name[4:])
        return _CONSTANTS[key] if key in _CONSTANTS else hole(name)

    def set(self, name: str, value: Value) -> None:
        """Let a variable hold a value."""
        self.variables[variable_key(name)] = value

    def more(self) -> bool:
        """True while loops may go around, and functions be called, once more; the first refusal is told."""
        self.rounds += 1
        if self.rounds == MAX_ROUNDS + 1:
            self.out.unreadable("PowerShell that goes around too often to follow", "budget")
        return self.rounds <= MAX_ROUNDS


def variable_key(name: str) -> str:
    """The one spelling of a variable's name."""
    key = name.lower()
    scope = next((scope for scope in _SCOPES if key.startswith(scope)), "")
    return "_" if key == "psitem" else key[len(scope) :]
