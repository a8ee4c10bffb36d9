"""Integer arithmetic of a shell text -> its value, where all numbers in it are known."""

from __future__ import annotations

import re
from typing import Protocol

_PLAIN = re.compile(r"[\d+\-*/%() ]+")
_NAME = re.compile(r"\$?[A-Za-z_]\w*")
_NUMBER = re.compile(r"-?\d{1,9}")
_TOKEN = re.compile(r"\d+|[-+*/%()]")


class Numbers(Protocol):
    """Where the values of variables come from."""

    def lookup(self, name: str) -> list[str] | None:
        """The value of a variable, None when it is not set."""


def calculate(expression: str, values: Numbers) -> int | None:
    """The value of plain integer arithmetic on known numbers, else None."""
    if len(expression) > 200:
        return None

    def number_of(found: re.Match[str]) -> str:
        value = (values.lookup(found[0].lstrip("$")) or [""])[0]
        return value if _NUMBER.fullmatch(value) else "x"

    plain = _NAME.sub(number_of, expression)
    if not _PLAIN.fullmatch(plain) or "**" in plain:
        return None
    try:
        return _sum(_TOKEN.findall(plain))
    except ValueError:
        return None


def _sum(tokens: list[str]) -> int:
    """A sum of products; refuses brackets and anything long."""
    if "(" in tokens or len(tokens) > 60:
        raise ValueError
    terms: list[int] = []
    sign, pending = 1, ""
    for token in tokens:
        if token.isdigit():
            value = int(token[:9])
            if pending and terms:
                terms.append(_product(terms.pop(), pending, value))
            else:
                terms.append(sign * value)
            sign, pending = 1, ""
        elif token in "+-":
            sign = -sign if token == "-" else sign
        else:
            pending = token
    return sum(terms)


def _product(left: int, operator: str, right: int) -> int:
    """Refuses an operator that is none of * / %."""
    if operator == "*":
        return left * right
    if operator not in ("/", "%"):
        raise ValueError
    if not right:
        return 0
    return left // right if operator == "/" else left % right
