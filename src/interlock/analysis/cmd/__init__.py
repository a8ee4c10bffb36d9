"""cmd.exe text -> its effects; what cannot be read is reported as unreadable."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from interlock.analysis.cmd.commands import BUILTINS, ITSELF, run_program
from interlock.analysis.cmd.parse import (
    CmdCommand,
    CmdGroup,
    CmdLine,
    CmdPipe,
    CmdReading,
    For,
    If,
    Node,
    expand,
    parse,
    split,
)
from interlock.analysis.facts import Report, hole, known, without_holes
from interlock.analysis.programs.load import word_set
from interlock.analysis.windows import WindowsReport, download_in, plain_holes

_MAX_DEPTH = 8
_MAX_ROUNDS = 2_000
_MAX_ITEMS = 64
_SEPARATOR = re.compile(r"[&|\r\n]")


def read_cmd(source: str, out: Report) -> None:
    """Reports all effects of this text, and the text that cannot be read."""
    try:
        _text(CmdReading(WindowsReport(out), _text, run_line, goes_back="goto" in source.lower()), source)
    except (RecursionError, MemoryError):
        out.unreadable("cmd text that is nested too deeply", "nesting")


def _text(session: CmdReading, source: str) -> str:
    if session.depth >= _MAX_DEPTH:
        session.out.unreadable("cmd inside cmd, too deep to follow", "nesting")
        return ""
    nodes, trouble = parse(source, session.out.step)
    session.depth += 1
    printed = _all(session, nodes)
    session.depth -= 1
    if trouble is not None:
        what, trait = trouble.told
        session.out.unreadable(f"cmd text {what}", trait)
    return printed


def _all(session: CmdReading, nodes: Sequence[Node]) -> str:
    return "\n".join([_node(session, node) for node in nodes])


def _node(session: CmdReading, node: Node) -> str:
    """Read one command; give what it would print, as far as that is known."""
    session.out.step()
    return _NODES[type(node)](session, node)


def _group(session: CmdReading, group: CmdGroup) -> str:
    printed = _all(session, group.body)
    tail = split(expand(group.tail, session.names, session.loops), session.out.step)
    _write(session, tail, printed)
    return printed


def _if(session: CmdReading, node: If) -> str:
    before = dict(session.names)
    printed = _all(session, node.then)
    taken, session.names = session.names, dict(before)
    printed += _all(session, node.otherwise)
    if not node.otherwise or any(session.names.get(name) == before.get(name) for name in taken):
        session.names |= {name: text for name, text in taken.items() if before.get(name) != text}
    return printed


def _pipe(session: CmdReading, pipe: CmdPipe) -> str:
    raws = [part.raw for part in pipe.parts if isinstance(part, CmdCommand)]
    if len(raws) > 1 and all(ITSELF.match(raw) for raw in raws):
        session.out.effect("fork_bomb")
        return ""
    outer = session.piped
    for part in pipe.parts:
        session.piped = _node(session, part)
    printed, session.piped = session.piped or "", outer
    return printed


def _for(session: CmdReading, node: For) -> str:
    switches = expand(node.switches, session.names, session.loops)
    items = expand(node.items, session.names, session.loops)
    outer, printed = session.loops.get(node.name), ""
    for value in _values(session, node.name, switches, items):
        session.rounds += 1
        if session.rounds > _MAX_ROUNDS:
            session.out.unreadable("a loop too long to follow", "budget")
            break
        session.loops[node.name] = value
        for step in (
            range(1, 5) if "/f" in switches.lower() else ()
        ):  # the letters that `tokens=` fills behind the first
            if (letter := chr(ord(node.name) + step)).isalpha():
                session.loops.setdefault(letter, hole(letter))
        printed += _all(session, node.body) + "\n"
    session.loops.pop(node.name, None)
    if outer is not None:
        session.loops[node.name] = outer
    return printed


def _values(session: CmdReading, name: str, switches: str, items: str) -> list[str]:
    """What the variable of a for would hold, round by round."""
    low = switches.lower()
    if low.startswith("/l"):
        return [hole(name)]
    if low.startswith("/f"):
        return _lines(session, name, items, "usebackq" in low)
    found = [word for word in re.split(r"[,;]", " ".join(_words(session, items))) if word] if '"' not in items else None
    listed = [piece for word in found for piece in word.split()] if found is not None else _words(session, items)
    if len(listed) > _MAX_ITEMS:
        return [hole(name)]
    if low.startswith("/r"):
        root = (_words(session, switches[2:].strip()) or ["."])[0].rstrip("\\")
        listed = [root if item in (".", "*", "*.*") else f"{root}\\{item}" for item in listed]
        session.deep |= set(listed)
    return [f'"{item}"' if " " in item else item for item in listed] or [hole(name)]


def _words(session: CmdReading, text: str) -> list[str]:
    return split(text, session.out.step).words


def _lines(session: CmdReading, name: str, items: str, backquotes: bool) -> list[str]:
    """`for /f`: the output of a command, a text, or the lines of a file."""
    mark = items[:1]
    if mark in ("'", "`") and len(items) > 1 and (mark == "`" or not backquotes):
        printed = _text(session, items[1:-1].replace("^", ""))
        lines = [line for line in printed.splitlines() if line.strip()]
        if lines and len(lines) <= _MAX_ITEMS and all(known(line) for line in lines):
            return [line.split()[0] for line in lines]
        return [plain_holes(printed) if download_in(printed) else hole(name)]
    if mark == ('"' if not backquotes else "'") and len(items) > 1:
        return [items[1:-1]]
    session.out.effect("read", items.strip('"'))
    return [hole(name)]


def _simple(session: CmdReading, simple: CmdCommand) -> str:
    """One command: expanded, split into words and reported, with its redirections."""
    text = expand(simple.raw, session.names, session.loops)
    if text != simple.raw and _SEPARATOR.search(without_holes(re.sub(r'"[^"]*"|\^.', "", text))):
        nodes, _ = parse(text, session.out.step)
        if len(nodes) > 1:
            return _text(session, text)
    if ITSELF.search(simple.raw) and simple.raw.lower().startswith("start") and session.goes_back:
        session.out.effect("fork_bomb")
    line = split(text, session.out.step)
    printed = run_line(session, line)
    _write(session, line, printed)
    return "" if line.outputs else printed


def _write(session: CmdReading, line: CmdLine, printed: str) -> None:
    for path, append in line.outputs:
        empty = not printed.strip("\r\n") and not append and line.text[:4].lower() != "echo"
        verb = "append" if append else "truncate" if empty else "write"
        session.out.effect(verb, plain_holes(path))
        session.out.write(path, printed, append)


def run_line(session: CmdReading, line: CmdLine) -> str:
    """Run the words of one command; give what it would print."""
    if not line.words:
        return ""
    _unglue(line)
    name = line.words[0].lower()
    asks = any(word == "/?" and not quoted for word, quoted in zip(line.words, line.quoted))
    act = None if asks else BUILTINS.get(name)
    if act is not None:
        return act(session, line) or ""
    if name in word_set("cmd_silent"):
        return ""
    return run_program(session, line)


_GLUED = re.compile(
    r"(del|erase|rd|rmdir|move|ren|copy|md|mkdir|type|start|call|dir|cd|set|if)(/.*)$", re.IGNORECASE | re.DOTALL
)
_DOTTED = re.compile(r"(echo|cd|chdir)([.(:,;\\+\[\]].*)$", re.IGNORECASE | re.DOTALL)


def _unglue(line: CmdLine) -> None:
    """`rd/s/q x` and `echo.text`: the name stands without a blank."""
    first = line.words[0]
    if line.quoted[0] or not (found := _GLUED.match(first) or _DOTTED.match(first)):
        return
    rest = found[2]
    if found[1].lower() == "echo":
        line.text = "echo " + line.text[5:]
        rest = rest[1:]
    line.words[0:1] = [found[1], *([rest] if rest else [])]
    line.quoted[0:1] = [False, *([False] if rest else [])]


_NODES: dict[type, Callable[[CmdReading, Any], str]] = {
    CmdCommand: _simple,
    CmdPipe: _pipe,
    CmdGroup: _group,
    If: _if,
    For: _for,
}
