"""Matches paths against a repository's ignore files; a pattern that is not understood ignores nothing."""

from __future__ import annotations

import os
import re

from msgspec import Struct

from interlock.impact import Budget, Unclear, read_contents

MOST = 1 << 20  # bytes of one such file
_RULES = 5_000


class IgnoreRule(Struct, frozen=True):
    fits: re.Pattern[str]
    base: str  # from the top, with a slash at its end
    folders_only: bool
    spares: bool
    whole: bool  # it is compared with the path from its base, not with the name alone

    def matches(self, path: str, folder: bool) -> bool:
        if (self.folders_only and not folder) or not path.startswith(self.base):
            return False
        inner = path[len(self.base) :]
        return bool(self.fits.fullmatch(inner if self.whole else inner.rpartition("/")[2]))


class IgnoreRules(Struct):
    """Each file is read when it is needed."""

    top: str
    shared: str
    budget: Budget
    _rules: dict[str, list[IgnoreRule]] = {}
    _known: dict[str, bool] = {}

    def __call__(self, path: str, folder: bool = False) -> bool:
        """By itself or with a folder that it is in."""
        parts = path.split("/")
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        return any(map(self._folder, above)) or self._is_ignored(path, folder)

    def _folder(self, path: str) -> bool:
        if path not in self._known:
            self._known[path] = self._is_ignored(path, True)
        return self._known[path]

    def _is_ignored(self, path: str, folder: bool) -> bool:
        """The last rule that fits decides; those nearer to the path come later."""
        self.budget.tick()
        parts = path.split("/")
        for depth in range(len(parts) - 1, -2, -1):
            where = "/".join(parts[:depth]) if depth >= 0 else None
            for rule in reversed(self._of(where)):
                if rule.matches(path, folder):
                    return not rule.spares
        return False

    def _of(self, folder: str | None) -> list[IgnoreRule]:
        """None stands for those of the repository alone."""
        key = "\0" if folder is None else folder
        if key not in self._rules:
            if folder is None:
                path, base = f"{self.shared}/info/exclude", ""
            else:
                path, base = os.path.join(self.top, folder, ".gitignore"), f"{folder}/" if folder else ""
            try:
                text = os.fsdecode(read_contents(path, self.budget, MOST))
            except OSError:
                text = ""
            lines = text.split("\n")
            if len(lines) > _RULES:
                raise Unclear("there are too many ignore rules")
            self._rules[key] = [rule for line in lines if (rule := parse_ignore_rule(line, base)) is not None]
        return self._rules[key]


def parse_ignore_rule(line: str, base: str = "") -> IgnoreRule | None:
    """None for a comment and for an unknown pattern."""
    text = re.sub(r"(?<!\\) +$", "", line.rstrip("\r"))
    if not text or text.startswith("#"):
        return None
    spares = text.startswith("!")
    text = text[1:] if spares else text
    folders_only = text.endswith("/")
    text = text.rstrip("/") if folders_only else text
    whole = "/" in text
    text = text.removeprefix("/")
    pattern = _pattern(text) if text else None
    return IgnoreRule(pattern, base, folders_only, spares, whole) if pattern is not None else None


_PIECES = re.compile(r"^\*\*/|/\*\*/|/\*\*$|\*+|\?|\[(?:!|\^)?\]?[^\]]*\]|\\.|.", re.DOTALL)
_STARS = {"**/": "(?:.*/)?", "/**/": "/(?:.*/)?", "/**": "/.+", "?": "[^/]"}


def _pattern(text: str) -> re.Pattern[str] | None:
    pieces = []
    for piece in _PIECES.findall(text):
        if piece.startswith("[") and len(piece) > 1:
            inner = piece[1:-1]
            if "[:" in inner:
                return None
            negated = inner[:1] in ("!", "^")
            body = inner[negated:].replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
            body = body.replace("&&", "&\\&").replace("||", "|\\|").replace("~~", "~\\~")
            pieces.append(f"(?!/)[{'^' if negated else ''}{body}]")
        elif piece in _STARS or piece.startswith("*"):
            pieces.append(_STARS.get(piece, "[^/]*"))
        else:
            pieces.append(re.escape(piece[-1]))
    try:
        return re.compile("".join(pieces), re.DOTALL)
    except re.error:
        return None
