"""Expands `$x` and `${x…}` from known values; marks what only running would tell."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from interlock.analysis.facts import hole, known
from interlock.analysis.shell.arithmetic import calculate, evaluate, subscript_of
from interlock.analysis.shell.syntax.nodes import ShellVariable, ShellWord, Substitution

_HOME = "~"  # one's own home is written so everywhere behind this reader
WELL_KNOWN = {
    "HOME": _HOME, "USERPROFILE": _HOME, "TMPDIR": "/tmp", "TMP": "/tmp", "TEMP": "/tmp", "IFS": " \t\n", "SHELL": "/bin/bash",
    "BASH": "/bin/bash", "EDITOR": "vi", "VISUAL": "vi", "PAGER": "less", "PYTHON": "python3", "PYTHON3": "python3", "CC": "cc",
    "CXX": "c++", "MAKE": "make", "NODE": "node", "NPM": "npm", "GIT": "git", "KUBECTL": "kubectl", "DOCKER": "docker", "PIP": "pip",
    "JAVA": "java", "SUDO": "", "?": "0", "#": "0", "0": "bash", "-": "himBH", "LINENO": "1", "OSTYPE": "linux-gnu",
    "RUBY": "ruby", "PERL": "perl", "CARGO": "cargo", "GO": "go", "AWK": "awk", "SED": "sed", "GREP": "grep",
    "COMPOSE": "docker compose", "TERRAFORM": "terraform",
}  # fmt: skip

_STARS = re.compile(r"\*+")
_GLOB = re.compile(r"[*?\[]")  # in a value that stands for several
_SPECIAL = re.compile(r"[\[\\(]")  # of patterns that are matched more simply here than by the shell


class Values(Protocol):
    """What expansion needs to know of the shell around it."""

    def lookup(self, name: str) -> list[str] | None:
        """The value of a variable (several items for an array), None when it is not set."""

    def environment(self, name: str) -> list[str] | None:
        """What a variable that the text does not set is well known to hold."""

    def assign(self, name: str, items: list[str]) -> None:
        """Set a variable, as `${x:=…}` does."""

    def output(self, part: Substitution) -> str:
        """What a substitution prints."""

    def require(self, name: str) -> None:
        """Take it that a variable is not empty from here on: `${x:?}` ends the shell where it is."""

    def run_in(self, text: str) -> None:
        """Text such as an array's index or a prompt, whose substitutions run."""

    def guess(self) -> None:
        """Note that a value may differ from what the shell makes of it."""

    def step(self, count: int = 1) -> None: ...


Joined = Callable[[ShellWord | None, Values], str]  # a word as one text: the arguments of an operator are words again

_QUOTES = "'\""


def items_of(part: ShellVariable, values: Values, joined: Joined) -> list[str]:
    """The items of a variable, its index, length, indirection and operator applied."""
    name = part.name
    if part.index and part.index not in ("@", "*"):
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
    elif part.index and items is not None:
        items = _indexed(items, part.index, values)
    elif items is not None and len(items) > 1 and name not in ("@", "*"):
        items = items[:1]
    if part.length:
        return [str(len(items[0])) if items and known(items[0]) else hole()]
    if part.operator:
        return _operated(part, items, values, joined)
    if items is None:
        return [hole(name)]
    if (name == "*" or part.index == "*") and part.quoted:
        return [separator(values).join(items)]
    return items


def separator(values: Values) -> str:
    """What joins the items of `"$*"`: the first character of IFS, which may be none."""
    ifs = values.lookup("IFS")
    return " " if ifs is None else ifs[0][:1] if ifs and known(ifs[0]) else hole() if ifs else ""


def _indexed(items: list[str], index: str, values: Values) -> list[str]:
    if index in ("@", "*"):
        return items
    number = calculate(index, values)
    if number is None:
        return [hole()] if len(items) != 1 else items
    return [items[number]] if -len(items) <= number < len(items) else [""]


def _operated(part: ShellVariable, items: list[str] | None, values: Values, joined: Joined) -> list[str]:
    operator = part.operator
    if operator.lstrip(":") in ("-", "=", "+", "?"):
        return _default(part, items, values, joined)
    argument = joined(part.argument, values)  # whatever becomes of it, what it expands has run
    second = joined(part.second, values)
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
        return _slice(items, argument, second, part.name in ("@", "*"))
    return [work(item, operator, argument, second) if known(item) else item for item in items]


def _default(part: ShellVariable, items: list[str] | None, values: Values, joined: Joined) -> list[str]:
    """`${x:-y}` and its kin; an environment variable that is not known here may be set or not."""
    operator = part.operator.lstrip(":")
    filled = items is not None and (any(items) or not part.operator.startswith(":"))
    if operator == "+":
        return [joined(part.argument, values)] if filled or items is None else [""]
    if filled and items is not None:
        return items
    value = joined(part.argument, values)
    if operator == "?":
        values.require(part.name)
        return [hole(part.name)]
    if operator == "=":
        values.assign(part.name, [value])
    return [value]


# -- operators on one item --------------------------------------------------------------------------------


def _slice(items: list[str], argument: str, second: str, positional: bool) -> list[str]:
    """`${x[@]:1:2}`: some of the items; `$@` counts from one."""
    try:
        start = max(0, int(argument.strip() or 0) - positional)
        length = int(second) if second.strip() else len(items)
    except ValueError:
        return items
    return items[start : start + length]


def _substring(item: str, _operator: str, argument: str, second: str) -> str:
    try:
        start = int(argument.strip() or 0)
        length = int(second) if second.strip() else None
    except ValueError:
        return hole()
    tail = item[start:] if start >= 0 or -start <= len(item) else item
    return tail if length is None else tail[:length]


def _strip(item: str, operator: str, argument: str, _second: str) -> str:
    """Remove a prefix (#) or suffix (%), the shortest or the longest that matches the glob."""
    if not known(argument) or len(item) > 2000:
        return hole()
    matches = re.compile(_glob_to_regex(argument), re.DOTALL).fullmatch
    lengths = range(len(item) + 1) if len(operator) == 1 else range(len(item), -1, -1)
    for length in lengths:
        if operator[0] == "#" and matches(item[:length]):
            return item[length:]
        if operator[0] == "%" and matches(item[len(item) - length :]):
            return item[: len(item) - length]
    return item


def _replace(item: str, operator: str, argument: str, second: str) -> str:
    if not known(argument) or not argument or len(item) > 2000 or len(argument) > 100:
        return item if known(argument) and not argument else hole()
    body = _glob_to_regex(argument)
    if operator == "/#":
        body = f"^(?:{body})"
    elif operator == "/%":
        body = f"(?:{body})$"
    return re.sub(body, lambda _: second, item, count=0 if operator == "//" else 1)


def _case_of(item: str, operator: str, _argument: str, _second: str) -> str:
    change: Callable[[str], str] = str.upper if operator[0] == "^" else str.lower
    return change(item) if len(operator) == 2 else change(item[:1]) + item[1:]


def _transform(item: str, operator: str, _argument: str, _second: str) -> str:
    return {"@U": item.upper(), "@L": item.lower(), "@u": item[:1].upper() + item[1:]}.get(operator, item)


_OPERATORS: dict[str, Callable[[str, str, str, str], str]] = {  # by the first character
    ":": _substring,
    "#": _strip,
    "%": _strip,
    "/": _replace,
    "^": _case_of,
    ",": _case_of,
    "@": _transform,
}


def _glob_to_regex(glob: str) -> str:
    """A shell glob as a regular expression that cannot backtrack badly: runs of `*` are one."""
    if glob.count("*") > 3:
        return re.escape(glob)
    return "".join({"*": ".*", "?": "."}.get(char) or re.escape(char) for char in _STARS.sub("*", glob))
