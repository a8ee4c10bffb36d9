"""A text that stands alone, between backticks or quotes -> is it a command?"""

from __future__ import annotations

import re

from interlock.core.read.prose.commands import WORD, shaped, starts_alone
from interlock.core.read.prose.programs import ALONE, FAMILIAR, PLAIN, PROGRAMS

_PREFIX = re.compile(
    r"^(?:(?:[A-Za-z_]\w{0,60}=\S* +)|(?:sudo|doas|nohup|time|env|command|exec|builtin|nice) +(?=[\w./]))+"
)
_PIPED = re.compile(r":\(\)|\w+ .*\|\s*(?:(?:ba|z|da|k)?sh|python3?|perl|node|iex)\b|^:?\s?>\s?[/~\w]")
_CHAIN = re.compile(r"\s*(?:&&|\|\||;|\|)\s*")


def is_command(text: str) -> bool:
    """True when a shell would be meant to run this; a lone word is one only for a program that everybody knows."""
    bare = _PREFIX.sub("", text)
    prefixed = bare != text
    if prefixed and re.match(r"(?:\S+=\S* +)*(?:sudo|doas) ", text):
        return True
    if _PIPED.search(text[:2000]):
        return True
    return any(_begins(piece, prefixed) for piece in _CHAIN.split(bare[:2000])[:10] if piece)


def _begins(text: str, prefixed: bool) -> bool:
    match = WORD.match(text)
    if match is None:
        return False
    program = match[0].rpartition("/")[2].removesuffix(".exe").lower()
    rest = text[match.end() :].split()
    if match[0].startswith("./") or program.startswith("mkfs."):
        return True
    if program in PLAIN:
        return starts_alone(text) or any(shaped(word) for word in rest[:4]) or (prefixed and bool(rest))
    if program in PROGRAMS:
        return bool(rest) or program in FAMILIAR or program in ALONE
    return starts_alone(text)
