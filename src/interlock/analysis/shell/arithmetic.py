"""Integer arithmetic of the shell: its value on known numbers, and the text that evaluating it runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

_RUNS = re.compile(r"\$[({]|`")
_SUBSCRIPT = re.compile(r"[A-Za-z_]\w*\[(.*)\]", re.DOTALL)
_MAX_DEPTH, _MAX_NAMES = 4, 16  # variables that hold names of variables, and names in one expression
_PLAIN = re.compile(r"[\d+\-*/%() ]+")
_NAME = re.compile(r"\$?[A-Za-z_]\w*")
_NUMBER = re.compile(r"-?\d{1,9}")
_TOKEN = re.compile(r"\d+|[-+*/%()]")


class Numbers(Protocol):
    """Where the values of variables come from, and what runs the substitutions of a subscript."""

    def lookup(self, name: str) -> list[str] | None:
        """The value of a variable, None when it is not set."""

    def run_in(self, text: str) -> None:
        """Read text such as a subscript, whose substitutions run."""

    def step(self, count: int = 1) -> None: ...


def evaluate(expression: str, values: Numbers, depth: int = 0) -> None:
    """Run what evaluating an expression runs: substitutions in subscripts, also of variables that hold an expression."""
    values.step()
    if _RUNS.search(expression):
        values.run_in(expression)
    if depth > _MAX_DEPTH:
        return
    for name in _NAME.findall(expression)[:_MAX_NAMES]:
        for item in (values.lookup(name.lstrip("$")) or ())[:1]:
            if "[" in item or item.isidentifier():
                evaluate(item, values, depth + 1)


def evaluate_test(words: Sequence[str], values: Numbers, numeric: frozenset[str] = frozenset()) -> None:
    """Run what a test runs: the subscript behind -v or -R, and both sides of a comparison of numbers."""
    for index, word in enumerate(words):
        if word in ("-v", "-R") and index + 1 < len(words):
            evaluate(subscript_of(words[index + 1]), values)
        elif word in numeric:
            for side in (*words[max(0, index - 1) : index], *words[index + 1 : index + 2]):
                evaluate(side, values)


def subscript_of(name: str) -> str:
    """The text between the brackets of `a[…]`, as a builtin gets it in a word; empty for a plain name."""
    found = _SUBSCRIPT.match(name)
    return found[1] if found else ""


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
            if len(token) > 9 or (token[0] == "0" and len(token) > 1):  # octal
                raise ValueError
            value = int(token)
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
    if operator not in ("/", "%") or left < 0 or right < 0:  # rounded to zero by the shell
        raise ValueError
    if not right:
        return 0
    return left // right if operator == "/" else left % right
