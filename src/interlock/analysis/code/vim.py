"""Vim and ex commands -> their effects outside the editor."""

from __future__ import annotations

import re

from interlock.analysis.code.lexing import Unparsed, balanced, literal, template
from interlock.analysis.facts import Report, hole

_RANGE = re.compile(r"(?:[%.$]|\d+|'\w|/(?:[^/\\]|\\.)*/|[-+,;]\d*)*")
_MODIFIER = re.compile(
    r"(?:sil(?:e(?:n(?:t)?)?)?|noa(?:utocmd)?|verb(?:ose)?|keepalt|keepjumps|unsilent|tab|vert(?:ical)?|bot(?:right)?)\b!?\s*"
)
_WORD = re.compile(r"[A-Za-z]+\d?")
_CODE = {
    "python": "python",
    "py": "python",
    "py3": "python",
    "python3": "python",
    "pyx": "python",
    "pythonx": "python",
    "lua": "lua",
    "ruby": "ruby",
    "rub": "ruby",
    "perl": "perl",
    "pe": "perl",
    "tcl": "tcl",
}
_READS = frozenset({"r", "re", "rea", "read"})
_WRITES = frozenset(("w wr wri writ write up update sav saveas").split())
_GLOBALS = frozenset({"g", "global", "v", "vglobal"})
_DOES = frozenset({"bufdo", "windo", "argdo", "tabdo", "cdo", "cfdo", "ldo", "folddoo"})
_RUNS = frozenset({"ter", "term", "terminal", "make", "grep"})
_FUNCTION = re.compile(
    r"\b(system|systemlist|delete|writefile|rename|job_start|jobstart|termopen|term_start|execute|libcall|py3eval|luaeval)\s*\("
)
_STRING = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"\\\n]|\\.)*\"")
_LEVELS = 5


def read_vim(command: str, out: Report) -> None:
    """Tell what ex commands do to the machine; editing a buffer is nothing."""
    try:
        for line in command.split("\n"):
            _line(line, out, 0)
    except (Unparsed, RecursionError, MemoryError, ValueError, LookupError):
        out.unreadable("Vim commands that do not parse", "syntax")


def _line(line: str, out: Report, level: int) -> None:
    rest: str | None = line
    while rest is not None and rest.strip():
        out.step()
        rest = _one(rest, out, level)


def _one(line: str, out: Report, level: int) -> str | None:
    """Read one command; answers with what follows its bar."""
    if level > _LEVELS:
        raise Unparsed("too deep")
    rest = line.lstrip(": \t")
    while found := _MODIFIER.match(rest):
        rest = rest[found.end() :].lstrip(": ")
    ranged = _RANGE.match(rest)
    rest = rest[ranged.end() if ranged else 0 :].lstrip()
    if rest.startswith("!"):
        out.shell(rest[1:].strip())
        return None
    word = _WORD.match(rest)
    if not word:
        return _after_bar(rest)
    return _named(word.group(), rest[word.end() :], out, level)


def _named(name: str, rest: str, out: Report, level: int) -> str | None:
    if name in _CODE:
        out.code(_CODE[name], rest.strip())
        return None
    if name in _GLOBALS or name in _DOES:
        inner = _global_command(rest) if name in _GLOBALS else rest
        _line(inner, out, level + 1)
        return None
    if name in _RUNS and rest.strip(" !"):
        if name.startswith("ter"):
            out.shell(rest.strip(" !"))
        return None
    if name in _READS or name in _WRITES:
        return _file(name, rest, out)
    if name in ("so", "source"):
        out.effect("run_script", rest.strip())
        return None
    if name in ("exe", "exec", "execute", "norm", "normal"):
        return _execute(name, rest, out, level)
    _functions(rest, out)
    return (
        None
        if name in ("s", "substitute", "au", "autocmd", "map", "com", "command", "fu", "function")
        else _after_bar(rest)
    )


def _global_command(rest: str) -> str:
    """What `:g/pattern/` does on each line."""
    rest = rest.lstrip("! ")
    if not rest:
        return ""
    end = re.compile(rf"(?:[^\\{re.escape(rest[0])}]|\\.)*{re.escape(rest[0])}").match(rest, 1)
    return rest[end.end() :] if end else ""


def _file(name: str, rest: str, out: Report) -> str | None:
    stripped = rest.strip()
    if stripped.startswith("!") and (rest[:1].isspace() or name in _READS):
        out.shell(stripped[1:].strip())
        return None
    target = re.split(r"\s*\|", stripped.lstrip("!").strip(), maxsplit=1)[0]
    if target.startswith("!"):
        out.shell(target[1:].strip())
    elif target.startswith(">>"):
        out.effect("append", target[2:].strip())
    elif name in _WRITES and target and target != "%":
        out.effect("write", target)
    return _after_bar(rest)


def _execute(name: str, rest: str, out: Report, level: int) -> str | None:
    """:execute runs the text of an expression as a command; :normal types keys."""
    if name.startswith("norm"):
        keys = rest.strip("! ")
        if ":" in keys:
            _line(keys.partition(":")[2].replace("\\<CR>", "\n").split("\n")[0], out, level + 1)
        return None
    _functions(rest, out)
    made = _joined(rest)
    if made.lstrip(": ").startswith(hole()[0]):
        out.unreadable("a Vim command made at run time", "command")
    else:
        _line(made, out, level + 1)
    return None


def _functions(rest: str, out: Report) -> None:
    """The functions in an expression that reach outside of the editor."""
    at = 0
    while found := _next_function(rest, at):
        out.step()
        end = balanced(rest, found.end() - 1)
        inner = rest[found.end() : end - 1]
        _function(found[1], _split(inner), out)
        at = found.end()


def _next_function(rest: str, at: int) -> re.Match[str] | None:
    """The next such call that is not inside a text."""
    while found := _FUNCTION.search(rest, at):
        quoted = next((text for text in _STRING.finditer(rest, at) if text.start() < found.start() < text.end()), None)
        if quoted is None:
            return found
        at = quoted.end()
    return None


def _function(name: str, args: list[str], out: Report) -> None:
    first = _joined(args[0]) if args else ""
    if name in ("system", "systemlist", "job_start", "jobstart", "termopen", "term_start"):
        if args and args[0].lstrip().startswith("["):
            out.run([_joined(item) for item in _split(args[0].strip()[1:-1])])
        else:
            out.shell(first)
    elif name == "delete":
        recursive = len(args) > 1 and "rf" in args[1]
        out.effect("delete", first, *(["recursive"] if recursive else []))
    elif name == "writefile" and len(args) > 1:
        out.effect("write", _joined(args[1]))
    elif name == "rename":
        out.effect("move", first)
    elif name == "libcall":
        out.unreadable("a function of a library", "command")
    elif name in ("py3eval", "luaeval"):
        out.code("python" if name == "py3eval" else "lua", first)
    elif name == "execute":
        _line(first, out, 1)


def _split(inner: str) -> list[str]:
    """The arguments between commas that stand in no bracket and no text."""
    parts, start, at = [], 0, 0
    while at < len(inner):
        found = _STRING.match(inner, at)
        if found:
            at = found.end()
        elif inner[at] in "([{":
            at = balanced(inner, at)
        elif inner[at] == ",":
            parts.append(inner[start:at])
            start = at = at + 1
        else:
            at += 1
    parts.append(inner[start:])
    return parts


def _joined(expression: str) -> str:
    """The text of an expression: strings joined by dots, the rest unknown."""
    made: list[str] = []
    at = 0
    while at < len(expression):
        found = _STRING.match(expression, at)
        if found:
            made.append(_text(found.group()))
            at = found.end()
        elif expression[at] in " .\t":
            at += 1
        else:
            made.append(hole())
            at = _skip_operand(expression, at)
    return "".join(made)


def _skip_operand(expression: str, at: int) -> int:
    """The offset after an operand that is not read; a quote that never closes is one too."""
    at += expression[at] in "\"'"
    while at < len(expression) and expression[at] not in " .\"'":
        at = balanced(expression, at) if expression[at] in "([{" else at + 1
    return at


def _text(quoted: str) -> str:
    if quoted.startswith("'"):
        return literal(quoted[1:-1].replace("''", "'"), "'")
    return "".join(part for part in template(quoted[1:-1]) if isinstance(part, str))


def _after_bar(rest: str) -> str | None:
    """What follows the first bar that is neither escaped nor in a text."""
    at = 0
    while at < len(rest):
        found = _STRING.match(rest, at)
        if found:
            at = found.end()
        elif rest[at] == "\\":
            at += 2
        elif rest[at] == "|":
            return rest[at + 1 :].lstrip("|")
        else:
            at += 1
    return None
