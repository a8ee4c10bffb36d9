"""What does a cmd.exe text know and reach while it is read?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from interlock.core.read.cmd.words import Line
from interlock.core.read.windows import Files
from interlock.core.read.windows.located import Located


@dataclass(slots=True)
class Session:
    """The names and files that are known so far, and where to tell what happens."""

    out: Located
    run_text: Callable[[Session, str], str]  # reads a text in this session, gives what it prints
    run_line: Callable[[Session, Line], str]
    names: dict[str, str] = field(default_factory=dict)
    loops: dict[str, str] = field(default_factory=dict)
    files: Files = field(default_factory=Files)
    deep: set[str] = field(default_factory=set)  # values of `for /r`, which stand for a whole tree
    depth: int = 0
    rounds: int = 0
    goes_back: bool = False
