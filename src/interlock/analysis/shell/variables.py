"""Expands `$x`, `${x…}` and arithmetic from known values, with the text that evaluating runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import floordiv, mod
from typing import TYPE_CHECKING

from interlock.analysis.facts import hole, known
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.shell.syntax.nodes import ShellVariable

if TYPE_CHECKING:
    from interlock.analysis.shell.walk import Shell


_STARS = lazy_regex(r"\*+")
_GLOB = lazy_regex(r"[*?\[]")  # in a value that stands for several
_SPECIAL = lazy_regex(r"[\[\\(]")  # of patterns that are matched more simply here than by the shell
_QUOTES = "'\""


def items_of(part: ShellVariable, values: Shell) -> list[str]:
    name = part.name
    single = part.index not in ("", "@", "*")
    if single:
        evaluate(part.index, values)
    items = values.lookup(name)
    if part.indirect and items:
        name = items[0]
        evaluate(subscript_of(name), values)
        items = values.lookup(name) if known(name) else None
    if items is None:
        items = values.environment(name)
    if part.index and (item := values.lookup(f"{name}[{part.index.strip(_QUOTES)}]")) is not None:
        items = item
    elif single and items is not None:
        number = calculate(part.index, values)
        if number is not None:
            items = [items[number]] if -len(items) <= number < len(items) else [""]
        elif len(items) != 1:
            items = [hole()]
    elif items is not None and len(items) > 1 and not part.index and name not in ("@", "*"):
        items = items[:1]
    if part.length:
        return [str(len(items[0])) if items and known(items[0]) else hole()]
    if part.operator:
        return _operated(part, items, values)
    if items is None:
        return [hole(name)]
    if (name == "*" or part.index == "*") and part.quoted:
        return [separator(values).join(items)]
    return items


def separator(values: Shell) -> str:
    ifs = values.lookup("IFS")
    return " " if ifs is None else ifs[0][:1] if ifs and known(ifs[0]) else hole() if ifs else ""


def _operated(part: ShellVariable, items: list[str] | None, values: Shell) -> list[str]:
    operator = part.operator
    if operator.lstrip(":") in ("-", "=", "+", "?"):
        return _default(part, items, values)
    argument = values.text(part.argument)  # whatever becomes of it, what it expands has run
    second = values.text(part.second)
    work = _OPERATORS.get(operator[:1])
    if items is None:
        return [hole(part.name)]
    if work is None:
        return items
    if (operator[0] in "#%/" and _SPECIAL.search(argument)) or (
        operator[0] not in "#%" and _GLOB.search("".join(items))
    ):
        values.guess()
    if operator == ":":
        evaluate(argument, values)
        evaluate(second, values)
    elif operator == "@P":  # expanded as a prompt is
        for item in items:
            values.run_in(item)
    if operator == ":" and (part.name in ("@", "*") or part.index in ("@", "*")):
        if (bounds := _bounds(argument, second)) is None:
            return items
        return items[max(0, bounds[0] - (part.name in ("@", "*"))) :][: bounds[1]]  # `$@` counts from one
    return [work(item, operator, argument, second) if known(item) else item for item in items]


def _default(part: ShellVariable, items: list[str] | None, values: Shell) -> list[str]:
    """An unknown environment variable may be set or not."""
    operator = part.operator.lstrip(":")
    filled = items is not None and (any(items) or not part.operator.startswith(":"))
    if operator == "+":
        return [values.text(part.argument)] if filled or items is None else [""]
    if filled and items is not None:
        return items
    value = values.text(part.argument)
    if operator == "?":
        values.require(part.name)
        return [hole(part.name)]
    if operator == "=":
        values.assign(part.name, [value])
    return [value]


# -- operators on one item


def _bounds(start: str, length: str) -> tuple[int, int | None] | None:
    """A length that is not written is none."""
    try:
        return int(start.strip() or 0), int(length) if length.strip() else None
    except ValueError:
        return None


def _substring(item: str, _operator: str, argument: str, second: str) -> str:
    if (bounds := _bounds(argument, second)) is None:
        return hole()
    start, length = bounds
    return (item[start:] if start >= 0 or -start <= len(item) else item)[:length]


def _strip(item: str, operator: str, argument: str, _second: str) -> str:
    """A prefix (#) or suffix (%), the shortest or longest that matches."""
    if not known(argument) or len(item) > 2000:
        return hole()
    matches = re.compile(_glob_to_regex(argument), re.DOTALL).fullmatch
    cuts = range(len(item) + 1)
    if (operator[0] == "%") == (len(operator) == 1):  # the shortest suffix, the longest prefix
        cuts = cuts[::-1]
    if operator[0] == "#":
        return next((item[cut:] for cut in cuts if matches(item[:cut])), item)
    return next((item[:cut] for cut in cuts if matches(item[cut:])), item)


def _replace(item: str, operator: str, argument: str, second: str) -> str:
    if not argument:
        return item
    if not known(argument) or len(item) > 2000 or len(argument) > 100:
        return hole()
    body = {"/#": "^(?:{})", "/%": "(?:{})$"}.get(operator, "{}").replace("{}", _glob_to_regex(argument))
    return re.sub(body, lambda _: second, item, count=0 if operator == "//" else 1)


def _case_of(item: str, operator: str, *_: str) -> str:
    change: Callable[[str], str] = str.upper if operator[0] == "^" else str.lower
    return change(item) if len(operator) == 2 else change(item[:1]) + item[1:]


_OPERATORS: dict[str, Callable[[str, str, str, str], str]] = {  # by the first character
    ":": _substring,
    "#": _strip,
    "%": _strip,
    "/": _replace,
    "^": _case_of,
    ",": _case_of,
    "@": lambda item, operator, *_: {"@U": item.upper(), "@L": item.lower(), "@u": item[:1].upper() + item[1:]}.get(
        operator, item
    ),
}


def _glob_to_regex(glob: str) -> str:
    """One that cannot backtrack badly."""
    if glob.count("*") > 3:
        return re.escape(glob)
    return "".join({"*": ".*", "?": "."}.get(char) or re.escape(char) for char in _STARS.sub("*", glob))


# -- arithmetic

_RUNS = lazy_regex(r"\$[({]|`")
_SUBSCRIPT = lazy_regex(r"[A-Za-z_]\w*\[(.*)\]", re.DOTALL)
_MAX_DEPTH, _MAX_NAMES = 4, 16  # variables that hold names of variables, and names in one expression
_PRODUCT = r"(?:0|[1-9]\d{0,8})(?:\s*[*/%]\s*(?:0|[1-9]\d{0,8}))*"
_TERMS = lazy_regex(rf"([-+\s]*)({_PRODUCT})")
_SUM = lazy_regex(rf"[-+\s]*{_PRODUCT}(?:\s*[-+][-+\s]*{_PRODUCT})*\s*")
_DIVIDING = {"/": floordiv, "%": mod}  # as the shell does, where signs are applied afterwards
_NAME = lazy_regex(r"\$?[A-Za-z_]\w*")


def evaluate(expression: str, values: Shell, depth: int = 0) -> None:
    """Run the substitutions in subscripts, also of variables that hold an expression."""
    values.step()
    if _RUNS.search(expression):
        values.run_in(expression)
    if depth > _MAX_DEPTH:
        return
    for name in _NAME.findall(expression)[:_MAX_NAMES]:
        for item in (values.lookup(name.lstrip("$")) or ())[:1]:
            if "[" in item or item.isidentifier():
                evaluate(item, values, depth + 1)


def evaluate_test(words: Sequence[str], values: Shell, numeric: frozenset[str] = frozenset()) -> None:
    for index, word in enumerate(words):
        if word in ("-v", "-R") and index + 1 < len(words):
            evaluate(subscript_of(words[index + 1]), values)
        elif word in numeric:
            for side in (*words[max(0, index - 1) : index], *words[index + 1 : index + 2]):
                evaluate(side, values)


def subscript_of(name: str) -> str:
    """The text in the brackets of `a[…]`, as a builtin gets it; empty for a plain name."""
    found = _SUBSCRIPT.match(name)
    return found[1] if found else ""


def calculate(expression: str, values: Shell) -> int | None:
    """A sum of products of known numbers; None for brackets, octal numbers and anything long."""
    if len(expression) > 200:
        return None

    def number_of(found: re.Match[str]) -> str:
        value = (values.lookup(found[0].lstrip("$")) or [""])[0]
        return value if re.fullmatch(r"-?\d{1,9}", value) else "x"

    plain = _NAME.sub(number_of, expression)
    if not _SUM.fullmatch(plain):
        return None
    total = 0
    for signs, product in _TERMS.findall(plain):
        first, *others = re.findall(r"\d+|[*/%]", product)
        number = int(first)
        for operator, other in zip(others[::2], map(int, others[1::2])):
            number = number * other if operator == "*" else other and _DIVIDING[operator](number, other)
        total += -number if signs.count("-") % 2 else number
    return total


def computed(expression: str, values: Shell, name: str = "") -> str:
    """The number, or a hole of this name, after what evaluating the expression runs."""
    evaluate(expression, values)
    number = calculate(expression, values)
    return hole(name) if number is None else str(number)
