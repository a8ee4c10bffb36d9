"""Where do relative paths lead, after the text itself has changed directory?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from interlock.core.read.facts import HOLE, Report

_PATH_VERBS = frozenset({"delete", "truncate", "overwrite", "write", "append", "move", "read", "run_script"})
_ABSOLUTE = re.compile(r"[A-Za-z]:|[\\/~]|\w{2,}::?\\|" + HOLE)


@dataclass(slots=True)
class Located:
    """A Report that tells paths as seen from where the text started."""

    out: Report
    base: str = ""
    left: list[str] = field(default_factory=list)

    def enter(self, path: str, remember: bool = False) -> None:
        """Change directory; `remember` as pushd does."""
        if remember:
            self.left.append(self.base)
        self.base = self.seen(path)

    def leave(self) -> None:
        """Go back, as popd does."""
        self.base = self.left.pop() if self.left else ""

    def seen(self, path: str) -> str:
        """A path as seen from where the text started."""
        if not self.base or not path or _ABSOLUTE.match(path):
            return path
        if path in (".", ".\\", "./"):
            return self.base
        return f"{self.base.rstrip('/' + chr(92))}\\{path}"

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        self.out.effect(verb, self.seen(target) if verb in _PATH_VERBS else target, *traits)

    def run(self, argv: Sequence[str]) -> None:
        self.out.run(argv)

    def shell(self, text: str) -> None:
        self.out.shell(text)

    def code(self, language: str, text: str) -> None:
        self.out.code(language, f"cd /d {self.base} & {text}" if language == "cmd" and self.base else text)

    def unreadable(self, what: str, *traits: str) -> None:
        self.out.unreadable(what, *traits)

    def step(self, count: int = 1) -> None:
        self.out.step(count)
