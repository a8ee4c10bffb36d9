"""Words as written -> the words a program would get, holes where only running would tell."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Protocol

from interlock.core.read.facts import HOLE, QUOTED, hole, known
from interlock.core.read.shell.nodes import Arithmetic, Part, Substitution, Text, Variable, Word

MAX_WORDS = 512
MAX_BRACES = 24  # in one word

_HOME = "~"  # one's own home is written so everywhere behind this reader
WELL_KNOWN = {
    "HOME": _HOME, "USERPROFILE": _HOME, "TMPDIR": "/tmp", "TMP": "/tmp", "TEMP": "/tmp", "IFS": " \t\n", "SHELL": "/bin/bash",
    "BASH": "/bin/bash", "EDITOR": "vi", "VISUAL": "vi", "PAGER": "less", "PYTHON": "python3", "PYTHON3": "python3", "CC": "cc",
    "CXX": "c++", "MAKE": "make", "NODE": "node", "NPM": "npm", "GIT": "git", "KUBECTL": "kubectl", "DOCKER": "docker", "PIP": "pip",
    "JAVA": "java", "SUDO": "", "?": "0", "#": "0", "0": "bash", "-": "himBH", "LINENO": "1", "OSTYPE": "linux-gnu",
    "RUBY": "ruby", "PERL": "perl", "CARGO": "cargo", "GO": "go", "AWK": "awk", "SED": "sed", "GREP": "grep",
    "COMPOSE": "docker compose", "TERRAFORM": "terraform",
}  # fmt: skip
_PLACEHOLDER = 0xF0000  # private characters that stand for parts while braces are expanded
_RANGE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")
_NUMBER = re.compile(r"[\d+\-*/%() ]+")


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

    def step(self, count: int = 1) -> None: ...


def fields(word: Word, values: Values) -> list[str]:
    """The words that one written word becomes: braces, variables, substitutions and splitting worked out."""
    literal = word.literal
    if literal is not None and "{" not in literal:
        return [literal]
    out: list[str] = []
    for parts in _braces(word.parts):
        values.step()
        out += _split(parts, values)
        if len(out) > MAX_WORDS:
            return [*out[:MAX_WORDS], hole()]
    return out


def text(word: Word | None, values: Values) -> str:
    """The word as one text, without splitting, as in an assignment or a redirection."""
    if word is None:
        return ""
    out: list[str] = []
    for part in word.parts:
        out.append(" ".join(_value(part, values)))
    joined = "".join(out)
    return joined if not _quoted_tilde(word.parts, joined) else f"{QUOTED}{joined}"


def _quoted_tilde(parts: list[Part], joined: str) -> bool:
    """A `~` in quotes is a file's name, not the home."""
    return joined.startswith("~") and bool(parts) and isinstance(parts[0], Text) and parts[0].quoted and parts[0].text.startswith("~")


def _split(parts: list[Part], values: Values) -> list[str]:
    """One word's parts -> fields; what an unquoted expansion yields is split at IFS."""
    done: list[str] = []
    current: str | None = None
    for part in parts:
        if isinstance(part, Text):
            piece = part.text
            if part.quoted and current is None and piece.startswith("~"):
                piece = f"{QUOTED}{piece}"
            current = piece if current is None else current + piece
            if part.quoted is False and piece == "":
                current = current or None
            continue
        items = _value(part, values)
        if part_is_quoted(part):
            if not items:
                continue
            current = (current or "") + items[0]
            for item in items[1:]:
                done.append(current)
                current = item
            continue
        for number, item in enumerate(items):
            if number and current is not None:
                done.append(current)
                current = None
            pieces, glue_left, glue_right = _by_ifs(item, values)
            if not pieces:
                if item and current is not None:
                    done.append(current)
                    current = None
                continue
            if current is not None and not glue_left:
                done.append(current)
                current = None
            current = (current or "") + pieces[0]
            for piece in pieces[1:]:
                done.append(current)
                current = piece
            if not glue_right:
                done.append(current)
                current = None
    if current is not None:
        done.append(current)
    return done


def part_is_quoted(part: Part) -> bool:
    """True when what the part yields stays in one word."""
    return isinstance(part, Arithmetic) or part.quoted


def _by_ifs(value: str, values: Values) -> tuple[list[str], bool, bool]:
    """The pieces of a value, and whether the first and last stick to their neighbours."""
    separators = (values.lookup("IFS") or [" \t\n"])[0]
    if not separators:
        return ([value] if value else []), True, True
    pieces = [piece for piece in re.split(f"[{re.escape(separators)}]+", value) if piece]
    return pieces, bool(value) and value[0] not in separators, bool(value) and value[-1] not in separators


def _value(part: Part, values: Values) -> list[str]:
    if isinstance(part, Text):
        return [part.text]
    if isinstance(part, Substitution):
        return [values.output(part)]
    if isinstance(part, Arithmetic):
        return [_arithmetic(part, values)]
    return _variable(part, values)


def _arithmetic(part: Arithmetic, values: Values) -> str:
    inner = text(Word(part.parts, 0, 0), values)
    number = calculate(inner, values)
    return hole() if number is None else str(number)


def calculate(expression: str, values: Values) -> int | None:
    """The value of plain integer arithmetic on known numbers, else None."""
    if len(expression) > 200:
        return None

    def number_of(found: re.Match[str]) -> str:
        value = (values.lookup(found[0]) or [""])[0]
        return value if re.fullmatch(r"-?\d{1,9}", value) else "x"

    plain = re.sub(r"\$?[A-Za-z_]\w*", number_of, expression)
    if not _NUMBER.fullmatch(plain) or "**" in plain:
        return None
    try:
        return int(_sum(iter(re.findall(r"\d+|[-+*/%()]", plain))))
    except (ValueError, ZeroDivisionError, StopIteration, RecursionError):
        return None


def _sum(tokens: Iterator[str]) -> int:
    """A small calculator: sums of products, one bracket level handled by recursion; unknown forms raise ValueError."""
    items = list(tokens)
    if "(" in items or len(items) > 60:
        raise ValueError
    terms: list[int] = []
    sign, pending = 1, ""
    for item in items:
        if item.isdigit():
            value = int(item[:9])
            if pending and terms:
                left = terms.pop()
                value = {"*": left * value, "/": left // value if value else 0, "%": left % value if value else 0}[pending]
                terms.append(value)
            else:
                terms.append(sign * value)
            sign, pending = 1, ""
        elif item in "+-":
            sign = -sign if item == "-" else sign
        else:
            pending = item
    return sum(terms)


# -- variables ------------------------------------------------------------------------------------------


def _variable(part: Variable, values: Values) -> list[str]:
    name = part.name
    items = values.lookup(name)
    if part.indirect and items:
        name = items[0]
        items = values.lookup(name) if known(name) else None
    if items is None:
        items = values.environment(name)
    if part.index and items is not None:
        items = _indexed(items, part.index, values)
    elif items is not None and len(items) > 1 and name not in ("@", "*"):
        items = items[:1]
    if part.length:
        return [str(len(items[0])) if items and known(items[0]) else hole()]
    if part.operator:
        return _operated(part, items, values)
    if items is None:
        return [hole(name)]
    if (name == "*" or part.index == "*") and part.quoted:
        return [" ".join(items)]
    return items


def _indexed(items: list[str], index: str, values: Values) -> list[str]:
    if index in ("@", "*"):
        return items
    number = calculate(index, values)
    if number is None:
        return [hole()] if len(items) != 1 else items
    return [items[number]] if -len(items) <= number < len(items) else [""]


def _operated(part: Variable, items: list[str] | None, values: Values) -> list[str]:
    operator = part.operator
    handler = _OPERATORS.get(operator) or _OPERATORS.get(operator[:1])
    if operator.lstrip(":") in ("-", "=", "+", "?"):
        return _default(part, items, values)
    if items is None:
        return [hole(part.name)]
    if handler is None:
        return items
    argument = text(part.argument, values)
    second = text(part.second, values)
    return [handler(item, operator, argument, second) if known(item) else item for item in items]


def _default(part: Variable, items: list[str] | None, values: Values) -> list[str]:
    """`${x:-y}` and its kin; an environment variable that is not known here may be set or not."""
    operator = part.operator.lstrip(":")
    filled = (items is not None and any(items)) or (items is not None and not part.operator.startswith(":"))
    if operator == "+":
        return [text(part.argument, values)] if filled or items is None else [""]
    if filled and items is not None:
        return items
    if operator == "?":
        text(part.argument, values)
        return [hole(part.name)]
    value = text(part.argument, values)
    if operator == "=":
        values.assign(part.name, [value])
    return [value]


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
    matches = re.compile(glob_to_regex(argument), re.DOTALL).fullmatch
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
    body = glob_to_regex(argument)
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


_OPERATORS: dict[str, Callable[[str, str, str, str], str]] = {
    ":": _substring,
    "#": _strip,
    "##": _strip,
    "%": _strip,
    "%%": _strip,
    "/": _replace,
    "//": _replace,
    "/#": _replace,
    "/%": _replace,
    "^": _case_of,
    "^^": _case_of,
    ",": _case_of,
    ",,": _case_of,
    "@": _transform,
}


def glob_to_regex(glob: str) -> str:
    """A shell glob as a regular expression that cannot backtrack badly: runs of `*` are one."""
    out: list[str] = []
    for char in re.sub(r"\*+", "*", glob):
        out.append({"*": ".*", "?": "."}.get(char) or re.escape(char))
    return "".join(out) if glob.count("*") <= 3 else re.escape(glob)


# -- braces ---------------------------------------------------------------------------------------------


def _braces(parts: list[Part]) -> list[list[Part]]:
    """The words that `a{b,c}d` and `{1..3}` stand for; the word itself when there are no braces."""
    if not any(isinstance(part, Text) and not part.quoted and "{" in part.text for part in parts):
        return [parts]
    template: list[str] = []
    for number, part in enumerate(parts):
        template.append(part.text if isinstance(part, Text) and not part.quoted else chr(_PLACEHOLDER + number))
    return [_unplaced(line, parts) for line in expand_braces("".join(template))]


def _unplaced(line: str, parts: list[Part]) -> list[Part]:
    out: list[Part] = []
    plain = ""
    for char in line:
        number = ord(char) - _PLACEHOLDER
        if 0 <= number < len(parts):
            if plain:
                out.append(Text(plain, False))
                plain = ""
            out.append(parts[number])
        else:
            plain += char
    if plain or not out:
        out.append(Text(plain, False))
    return out


def expand_braces(line: str) -> list[str]:
    """Brace expansion of one word; more than MAX_BRACES of them, and nobody can say which words it makes."""
    if line.count("{") > MAX_BRACES:
        return [hole()]
    done: list[str] = []
    todo = [line]
    while todo and len(done) < MAX_WORDS:
        item = todo.pop()
        found = _first_brace(item)
        if not found or len(todo) > MAX_WORDS:
            done.append(item)
            continue
        start, end, choices = found
        todo += [item[:start] + choice + item[end:] for choice in reversed(choices)]
    return done


def _first_brace(item: str) -> tuple[int, int, list[str]] | None:
    start = item.find("{")
    tries = 0
    while start >= 0 and tries < 20:
        tries += 1
        found = _brace_at(item, start)
        if found:
            return start, found[0], found[1]
        start = item.find("{", start + 1)
    return None


def _brace_at(item: str, start: int) -> tuple[int, list[str]] | None:
    depth = 0
    commas: list[int] = []
    for pos in range(start, min(len(item), start + 4000)):
        char = item[pos]
        if char == "{":
            depth += 1
        elif char == "," and depth == 1:
            commas.append(pos)
        elif char == "}":
            depth -= 1
            if depth == 0:
                inner = item[start + 1 : pos]
                if commas:
                    cuts = [start, *commas, pos]
                    return pos + 1, [item[a + 1 : b] for a, b in itertools.pairwise(cuts)]
                span = _RANGE.fullmatch(inner)
                return (pos + 1, _range(span[1], span[2], span[3])) if span else None
    return None


def _range(first: str, last: str, step: str | None) -> list[str]:
    if first.lstrip("-").isdigit() != last.lstrip("-").isdigit():
        return [f"{{{first}..{last}}}"]
    numeric = first.lstrip("-").isdigit()
    low, high = (int(first[:9]), int(last[:9])) if numeric else (ord(first), ord(last))
    by = abs(int(step[:6])) if step and int(step[:6]) else 1
    numbers = range(low, high + 1, by) if low <= high else range(low, high - 1, -by)
    return [str(n) if numeric else chr(n) for n in numbers[:MAX_WORDS]]


def is_unknown(word: str) -> bool:
    """True when nothing of the word is known."""
    return word.startswith(HOLE) and word.find(HOLE, 1) == len(word) - 1
