"""sed scripts -> the commands that they run and the files that they write."""

from __future__ import annotations

import re

from interlock.analysis.code.lexing import Scanner, Unparsed
from interlock.analysis.facts import Report, hole

# What does nothing outside: blanks, braces, comments, addresses that are no pattern, labels, commands that only edit or read.
_QUIET = re.compile(r"[\s;{}\d,~+!$]+|[#rR][^\n]*|[btT:][^\n;}]*|[dDgGhHnNpPxz=FlLqQ][ \t]*\d*")
_REFERENCE = re.compile(r"\\([0-9])|(?<!\\)&")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_FLAGS = re.compile(r"[gpiIeEmM0-9]*")
_LINE = re.compile(r"[^\n]*\n?")
_CASE = re.compile(r"[IM]*")


def read_sed(script: str, out: Report) -> None:
    """Tells what it does besides editing; what editing in place does is the caller's."""
    scanner = Scanner(script)
    try:
        while scanner.more:
            out.step()
            if scanner.peek() in ("/", "\\"):  # an address
                scanner.at += scanner.peek() == "\\"
                scanner.pattern()
                scanner.take(_CASE)
            elif not scanner.take(_QUIET):
                _command(scanner, out)
    except (Unparsed, RecursionError, MemoryError, ValueError, LookupError):
        out.unreadable("Sed that does not parse", "syntax")


def _line(scanner: Scanner) -> str:
    found = scanner.take(_LINE)
    return found[0].strip() if found else ""


def _command(scanner: Scanner, out: Report) -> None:
    char = scanner.peek()
    scanner.at += 1
    if char in "sy":
        _substitute(char, scanner, out)
    elif char == "e":
        command = _line(scanner)
        out.shell(hole("line") if not command or command.startswith((";", "}")) else command)
    elif char in "wW":
        _write(_line(scanner), out)
    elif char in "aic":  # the rest of the line, and the next one after a backslash
        while _line(scanner).endswith("\\") and scanner.more:
            out.step()
    else:
        raise Unparsed


def _write(path: str, out: Report) -> None:
    if path not in ("/dev/stdout", "/dev/stderr", "/dev/null"):
        out.effect("write", path, "output")


def _substitute(char: str, scanner: Scanner, out: Report) -> None:
    pattern = scanner.pattern()
    scanner.at -= 1
    replacement = scanner.pattern()
    if char == "y":
        return
    flags = scanner.take(_FLAGS)
    if scanner.peek() == "w":
        scanner.at += 1
        _write(_line(scanner), out)
    if flags and "e" in flags.group():
        filled = _REFERENCE.sub(lambda found: hole(found[1] or "match"), replacement)
        # What was put in is run with what of the line the pattern left before and behind it.
        before = "" if pattern.startswith(("^", ".*")) else hole("line")
        behind = "" if pattern.endswith(("$", ".*", ".+")) and not pattern.endswith("\\$") else hole("line")
        out.shell(before + _ESCAPED.sub(r"\1", filled) + behind)
