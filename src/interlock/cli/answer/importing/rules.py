"""One rule of another guard as patterns of ours; a rule that no pattern says keeps the reason why."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

ALLOW, DENY, ASK = "allow", "deny", "ask"
NO_GLOB = "its regular expression says more than a pattern with `*` can"
_STAR = "\0"
_BLANKS = re.compile(r"\\s[+*]|\[ \]\+| \+|\\ ")
_ANYTHING = re.compile(r"\(\?:\.\*\)|\.\*\??|\.\+\??|\\S[+*]|\[\^ \][+*]|\(\s*\.\*\s*\)\??")
_ESCAPED = re.compile(r"\\([^A-Za-z0-9])")
_LEFT = re.compile(r"[\\^$.|?+()\[\]{}]")


class ForeignRule(Struct, frozen=True):
    """A rule as its file has it, and the patterns that say the same here; none where `problem` says why."""

    verdict: str
    source: str
    patterns: tuple[str, ...] = ()
    why: str = ""
    problem: str = ""
    seconds: int = 0  # that it still lasts; 0 for good


def carried(verdict: str, source: str, patterns: Sequence[str], why: str = "", seconds: int = 0) -> ForeignRule:
    """A rule that these patterns say."""
    return ForeignRule(verdict, source, tuple(dict.fromkeys(patterns)), why, "", seconds)


def left(verdict: str, source: str, problem: str) -> ForeignRule:
    """A rule that cannot be carried over."""
    return ForeignRule(verdict, source, (), "", problem)


def exact(verdict: str, source: str, command: str, why: str = "", seconds: int = 0) -> ForeignRule:
    """One command; a star in it would stand for anything here, so that only a denial may have one."""
    if "*" in command and verdict == ALLOW:
        return left(verdict, source, "its star is a character, and here a star stands for anything")
    return carried(verdict, source, [as_command(" ".join(command.split()))], why, seconds)


def prefix(verdict: str, source: str, words: str, why: str = "", seconds: int = 0) -> ForeignRule:
    """A command that begins so, alone or with arguments; an allow ends at a word."""
    words = " ".join(words.split())
    if not words.strip("* "):
        return left(verdict, source, "a pattern for everything is none")
    if verdict == ALLOW:
        return carried(verdict, source, [as_command(words), as_command(f"{words} *")], why, seconds)
    return carried(verdict, source, [f"{words}*" if " " in words else f"{words} *"], why, seconds)


def as_command(text: str) -> str:
    """The pattern for a command; a single word would be taken for the name of an operation."""
    return text if re.search(r"\s", text) else f"Bash:{text}"


def from_regex(verdict: str, source: str, expression: str, why: str = "", seconds: int = 0) -> ForeignRule:
    """The pattern that says the same as a simple regular expression; an allow matches the whole command."""
    text = _ANYTHING.sub(_STAR, _BLANKS.sub(" ", expression.strip()))
    ends = text.endswith("$") and not text.endswith("\\$")
    text = text.removeprefix("^").removesuffix("$" if ends else "").replace(r"\b", "")
    if _LEFT.search(_ESCAPED.sub("", text)) or "*" in text:
        return left(verdict, source, NO_GLOB)
    body = _ESCAPED.sub(r"\1", text).replace(_STAR, "*").strip()
    if not body.strip("* "):
        return left(verdict, source, "a pattern for everything is none")
    if verdict != ALLOW and not ends:
        body = f"{body.rstrip('*')}*"
    return carried(verdict, source, [as_command(body)], why, seconds)
