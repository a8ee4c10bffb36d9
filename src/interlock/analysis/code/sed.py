"""sed scripts -> the commands that they run and the files that they write."""

from __future__ import annotations

import re

from interlock.analysis.code.lexing import Unparsed
from interlock.analysis.facts import Report, hole

_BLANK = re.compile(r"[\s;]+")
_ADDRESS = re.compile(r"[\d,~+!$\s]+")
_REFERENCE = re.compile(r"\\([0-9])|(?<!\\)&")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_FLAGS = re.compile(r"[gpiIeEmM0-9]*")
_TEXTS = frozenset("aic")
_FILES = frozenset("rRwW")
_LABELS = frozenset("btT:")
_PLAIN = frozenset("dDgGhHnNpPxz=FlLqQ")
_STREAMS = frozenset({"/dev/stdout", "/dev/stderr", "/dev/null"})


def read_sed(script: str, out: Report, in_place: bool = False) -> None:
    """Tell what a sed script does besides editing; what editing in place does is the caller's."""
    try:
        _Script(script, out).read()
    except (Unparsed, RecursionError, MemoryError, ValueError, LookupError):
        out.unreadable("Sed that does not parse", "syntax")


class _Script:
    """A position in a sed script."""

    def __init__(self, text: str, out: Report) -> None:
        self.text, self.out, self.at = text, out, 0

    @property
    def char(self) -> str:
        return self.text[self.at : self.at + 1]

    def read(self) -> None:
        while self.at < len(self.text):
            self.out.step()
            if self._skip(_BLANK):
                continue
            if self.char == "#":
                self._line()
            elif not self._address():
                self._command()

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found.group() if found else ""

    def _line(self) -> str:
        """The rest of the line, stepped over."""
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        line, self.at = self.text[self.at : end], end + 1
        return line

    def _address(self) -> bool:
        if self._skip(_ADDRESS):
            return True
        if self.char == "/" or self.char == "\\":
            self.at += self.char == "\\"
            self._delimited()
            while self.char and self.char in "IM":
                self.at += 1
            return True
        return False

    def _delimited(self) -> str:
        """The text up to the next unescaped delimiter; a delimiter in a bracket expression still ends it in no sed."""
        delimiter = self.char
        self.at += 1
        start, in_set = self.at, False
        while self.at < len(self.text):
            char = self.char
            if char == "\\":
                self.at += 2
                continue
            if char == delimiter and not in_set:
                self.at += 1
                return self.text[start : self.at - 1]
            in_set = self._in_set(char, in_set, delimiter)
            self.at += 1
        raise Unparsed(f"no closing {delimiter!r}")

    def _in_set(self, char: str, in_set: bool, delimiter: str) -> bool:
        if in_set:
            return char != "]"
        closes = self.text.find("]", self.at + 2)
        return (
            char == "["
            and closes >= 0
            and delimiter in self.text[self.at + 1 : closes]
            and delimiter in self.text[closes:]
        )

    def _command(self) -> None:
        char = self.char
        self.at += 1
        if char in "{}":
            return
        if char in "sy":
            self._substitute(char)
        elif char == "e":
            self._execute(self._line().strip())
        elif char in _FILES:
            self._file(char, self._line().strip())
        elif char in _TEXTS:
            self._text()
        elif char in _LABELS:
            self._skip(re.compile(r"[^\n;}]*"))
        elif char in _PLAIN:
            self._skip(re.compile(r"[ \t]*\d*"))
        else:
            raise Unparsed(f"unknown command {char!r}")

    def _text(self) -> None:
        """a, i and c take the rest of the line, and the next one after a backslash."""
        while self._line().endswith("\\") and self.at < len(self.text):
            self.out.step()

    def _execute(self, command: str) -> None:
        if not command or command.startswith((";", "}")):
            self.out.shell(hole("line"))
            return
        self.out.shell(command)

    def _file(self, char: str, path: str) -> None:
        if char in "wW" and path not in _STREAMS:
            self.out.effect("write", path, "output")

    def _substitute(self, char: str) -> None:
        pattern = self._delimited()
        self.at -= 1
        replacement = self._delimited()
        if char == "y":
            return
        flags = self._skip(_FLAGS)
        if self.char == "w":
            self.at += 1
            self._file("w", self._line().strip())
        if "e" in flags:
            filled = _REFERENCE.sub(lambda found: hole(found[1] or "match"), replacement)
            self.out.shell(_whole(pattern, _ESCAPED.sub(r"\1", filled)))


def _whole(pattern: str, filled: str) -> str:
    """The line that `s///e` runs: what was put in, and what of the line the pattern left before and behind it."""
    before = "" if pattern.startswith(("^", ".*")) else hole("line")
    behind = "" if pattern.endswith(("$", ".*", ".+")) and not pattern.endswith("\\$") else hole("line")
    return before + filled + behind
