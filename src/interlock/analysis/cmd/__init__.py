"""cmd.exe text -> its effects; what cannot be read is reported as unreadable."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from interlock.analysis.cmd.parse import CmdGroup, CmdLine, CmdPipe, For, If, Node, expand, parse, split
from interlock.analysis.facts import DOWNLOAD, ENVIRONMENT, SECRET, Report, hole, known, without_holes
from interlock.analysis.packs import each_name
from interlock.analysis.places import is_secret
from interlock.analysis.programs.load import describe, input_language, word_set
from interlock.analysis.windows import (
    WindowsReport,
    download_in,
    download_mark,
    first_url,
    is_nothing,
    plain_holes,
    program_name,
    saved_download,
    wildcard,
)

_MAX_DEPTH = 8
_MAX_ROUNDS = 2_000
_MAX_ITEMS = 64
_SEPARATOR = re.compile(r"[&|\r\n]")
_ITSELF = re.compile(r'"?%~?[a-z]*0"?$', re.IGNORECASE)


class CmdReading(Struct):
    out: WindowsReport
    names: dict[str, str] = {}
    loops: dict[str, str] = {}
    deep: set[str] = set()  # values of `for /r`, which stand for a whole tree
    depth: int = 0
    rounds: int = 0
    goes_back: bool = False
    piped: str | None = None  # what flows into the command that is read

    def expand(self, text: str) -> str:
        return expand(text, self.names, self.loops)

    def split(self, text: str) -> CmdLine:
        return split(text, self.out.step)

    def effect(self, verb: str, path: str, *traits: str) -> None:
        self.out.effect(verb, plain_holes(path), *traits)


def read_cmd(source: str, out: Report) -> None:
    try:
        _text(CmdReading(WindowsReport(out), goes_back="goto" in source.lower()), source)
    except (RecursionError, MemoryError):
        out.unreadable("cmd text that is nested too deeply", "nesting")


def _text(session: CmdReading, source: str) -> str:
    """Give what it would print, as far as that is known."""
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
    session.out.step()
    return _NODES[type(node)](session, node)


def _group(session: CmdReading, group: CmdGroup) -> str:
    printed = _all(session, group.body)
    _write(session, session.split(session.expand(group.tail)), printed)
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
    raws = [part for part in pipe.parts if isinstance(part, str)]
    if len(raws) > 1 and all(map(_ITSELF.match, raws)):
        session.out.effect("fork_bomb")
        return ""
    outer = session.piped
    for part in pipe.parts:
        session.piped = _node(session, part)
    printed, session.piped = session.piped or "", outer
    return printed


def _for(session: CmdReading, node: For) -> str:
    switches = session.expand(node.switches)
    outer, printed = session.loops.get(node.name), ""
    # The letters that `tokens=` fills behind the first.
    more = [chr(ord(node.name) + step) for step in range(1, 5)] if "/f" in switches.lower() else []
    for value in _values(session, node.name, switches, session.expand(node.items)):
        session.rounds += 1
        if session.rounds > _MAX_ROUNDS:
            session.out.unreadable("a loop too long to follow", "budget")
            break
        session.loops[node.name] = value
        for letter in filter(str.isalpha, more):
            session.loops.setdefault(letter, hole(letter))
        printed += _all(session, node.body) + "\n"
    session.loops.pop(node.name, None)
    if outer is not None:
        session.loops[node.name] = outer
    return printed


def _values(session: CmdReading, name: str, switches: str, items: str) -> list[str]:
    low = switches.lower()
    if low.startswith("/l"):
        return [hole(name)]
    if low.startswith("/f"):
        return _lines(session, name, items, "usebackq" in low)
    listed = session.split(items).words
    if '"' not in items:
        listed = [piece for word in listed for piece in re.split(r"[,;\s]", word) if piece]
    if len(listed) > _MAX_ITEMS:
        return [hole(name)]
    if low.startswith("/r"):
        root = (session.split(switches[2:].strip()).words or ["."])[0].rstrip("\\")
        listed = [root if item in (".", "*", "*.*") else f"{root}\\{item}" for item in listed]
        session.deep |= set(listed)
    return [f'"{item}"' if " " in item else item for item in listed] or [hole(name)]


def _lines(session: CmdReading, name: str, items: str, backquotes: bool) -> list[str]:
    """`for /f`: the output of a command, a text, or the lines of a file."""
    mark, inner = items[:1], items[1:-1]
    if len(items) > 1 and (mark == "`" or (mark == "'" and not backquotes)):
        printed = _text(session, inner.replace("^", ""))
        lines = [line for line in printed.splitlines() if line.strip()]
        if lines and len(lines) <= _MAX_ITEMS and all(map(known, lines)):
            return [line.split()[0] for line in lines]
        return [plain_holes(printed) if download_in(printed) else hole(name)]
    if len(items) > 1 and mark == ("'" if backquotes else '"'):
        return [inner]
    session.out.effect("read", items.strip('"'))
    return [hole(name)]


def _simple(session: CmdReading, raw: str) -> str:
    text = session.expand(raw)
    if text != raw and _SEPARATOR.search(without_holes(re.sub(r'"[^"]*"|\^.', "", text))):
        nodes, _ = parse(text, session.out.step)
        if len(nodes) > 1:
            return _text(session, text)
    if _ITSELF.search(raw) and raw.lower().startswith("start") and session.goes_back:
        session.out.effect("fork_bomb")
    line = session.split(text)
    printed = _run_line(session, line)
    _write(session, line, printed)
    return "" if line.outputs else printed


def _write(session: CmdReading, line: CmdLine, printed: str) -> None:
    for path, append in line.outputs:
        empty = not printed.strip("\r\n") and not append and line.text[:4].lower() != "echo"
        session.effect("append" if append else "truncate" if empty else "write", path)
        session.out.write(path, printed, append)


_NODES: dict[type, Callable[[CmdReading, Any], str]] = {
    str: _simple,
    CmdPipe: _pipe,
    CmdGroup: _group,
    If: _if,
    For: _for,
}


def _run_line(session: CmdReading, line: CmdLine) -> str:
    if not line.words:
        return ""
    _unglue(line)
    name = line.words[0].lower()
    asks = any(word == "/?" and not quoted for word, quoted in zip(line.words, line.quoted))
    if not asks and (act := _BUILTINS.get(name)) is not None:
        return act(session, line) or ""
    return "" if name in word_set("cmd_silent") else _run_program(session, line)


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


# -- built-in commands


def _parted(line: CmdLine) -> tuple[frozenset[str], list[str]]:
    switches, others = set[str](), list[str]()
    for word, quoted in zip(line.words[1:], line.quoted[1:]):
        if word.startswith("/") and not quoted:
            switches |= {piece.lower() for piece in word.split("/") if piece}
        else:
            others += [word] if quoted else [piece for piece in re.split(r"[,;]", word) if piece]
    return frozenset(switches), others


def _delete(session: CmdReading, line: CmdLine) -> None:
    """A folder is only removed without /s where it is empty."""
    switches, paths = _parted(line)
    folders = line.words[0].lower() in ("rd", "rmdir")
    for path in paths:
        deep = path in session.deep
        traits = ["recursive"] if "s" in switches or (deep and not folders) else ["empty_only"] * folders
        session.effect("delete", path, *traits, *["bulk"] * (wildcard(path) or deep))


def _make_directory(session: CmdReading, line: CmdLine) -> None:
    for path in _parted(line)[1]:
        session.effect("write", path)


def _move(session: CmdReading, line: CmdLine) -> None:
    switches, paths = _parted(line)
    lost = len(paths) > 1 and is_nothing(paths[1])
    if paths:
        bulk = ["bulk"] * wildcard(paths[0])
        session.effect("delete" if lost else "move", paths[0], *["recursive"] * lost, *bulk)
    if len(paths) > 1 and not lost:
        session.effect("overwrite" if "y" in switches else "write", paths[1])
        session.out.carry(paths[0], paths[1])


def _copy(session: CmdReading, line: CmdLine) -> None:
    source, target = [*_parted(line)[1], "", ""][:2]
    target = target or "."
    if is_nothing(source):
        session.effect("truncate", target)
    elif source:
        for path in source.split("+"):
            session.effect("read", path)
            session.out.carry(path, target)
        if not is_nothing(target) and target.lower() != "con":
            session.effect("write", target)


def _robocopy(session: CmdReading, line: CmdLine) -> None:
    switches, paths = _parted(line)
    if len(paths) < 2 or "l" in switches:
        return
    session.effect("write", paths[1])
    if switches & {"mir", "purge"}:
        session.effect("delete", paths[1], "recursive", "bulk")
    if switches & {"mov", "move"}:
        session.effect("move", paths[0])


def _type(session: CmdReading, line: CmdLine) -> str:
    printed: list[str] = []
    for path in _parted(line)[1]:
        if is_nothing(path):
            continue
        session.effect("read", path)
        url, text = session.out.url(path), session.out.written_text(path)
        unread = hole(SECRET if is_secret(path.replace("\\", "/")) else without_holes(path))
        printed.append(download_mark(url) if url else unread if text is None else text)
    return "\n".join(printed)


def _echo(session: CmdReading, line: CmdLine) -> str:
    text = line.text[5:]
    return "" if text.strip().lower() in ("off", "on") else text


def _set(session: CmdReading, line: CmdLine) -> str:
    """Sums and questions give a name that holds anything."""
    text = re.sub(r"^set\s*", "", line.text, count=1, flags=re.IGNORECASE)
    computed = text[:2].lower() in ("/a", "/p")
    text = text[2:].strip() if computed else text
    if text.startswith('"'):
        text = text[1:].rpartition('"')[0] if text.count('"') > 1 else text[1:]
    name, mark, value = text.partition("=")
    if mark and name.strip():
        session.names[name.strip().lower()] = hole(name.strip()) if computed else value
    return "" if mark else hole(ENVIRONMENT)


def _call(session: CmdReading, line: CmdLine) -> str:
    if len(line.words) > 1 and not line.words[1].startswith(":"):
        return _run_line(session, _without(line, 1))
    return ""


def _start(session: CmdReading, line: CmdLine) -> str:
    at = 2 if len(line.words) > 2 and line.quoted[1] else 1
    while at < len(line.words) and line.words[at].startswith("/"):
        at += 2 if line.words[at].lower() in ("/d", "/node", "/affinity") else 1
    if at < len(line.words):
        return _run_line(session, _without(line, at))
    session.out.run(["start"])
    return ""


def _without(line: CmdLine, count: int) -> CmdLine:
    text = re.sub(rf'(?:(?:"[^"]*"?|[^\s"])+\s*){{0,{count}}}', "", line.text, count=1)
    return CmdLine(line.words[count:], line.quoted[count:], inputs=line.inputs, text=text)


def _inner(session: CmdReading, line: CmdLine) -> str:
    """The text is read here, with the names that are known."""
    found = re.search(r"(?:^|\s)/[cCkK](?=[\s\"]|$)\s*", line.text)
    if not found:
        return _run_program(session, line)
    text = line.text[found.end() :].strip()
    return _text(session, text[1:-1] if text.startswith('"') and text.endswith('"') and len(text) > 1 else text)


def _forfiles(session: CmdReading, line: CmdLine) -> str:
    options = {word.lower(): following for word, following in zip(line.words[1:], [*line.words[2:], ""])}
    root, mask = options.get("/p", ".").rstrip("\\"), options.get("/m", "*")
    deep = "/s" in options
    path = root if deep and mask == "*" else f"{root}\\{mask}"
    if deep:
        session.deep.add(path)
    command = re.sub(r"@(?:path|file|fname)", lambda _: path, options.get("/c", ""), flags=re.IGNORECASE)
    return _text(session, command) if command else ""


def _change_directory(session: CmdReading, line: CmdLine) -> str:
    paths = [word for word in line.words[1:] if word.lower() != "/d"]
    if paths:
        session.out.enter(plain_holes(" ".join(paths)), remember=line.words[0].lower() == "pushd")
    return "" if paths else "."


_BUILTINS: dict[str, Callable[[CmdReading, CmdLine], str | None]] = each_name({
    "del erase rd rmdir": _delete,
    "md mkdir": _make_directory,
    "move ren rename": _move,
    "copy xcopy": _copy,
    "robocopy robocopy.exe": _robocopy,
    "type": _type,
    "echo": _echo,
    "set": _set,
    "call": _call,
    "start": _start,
    "cmd cmd.exe %comspec% c:\\windows\\system32\\cmd.exe": _inner,
    "forfiles": _forfiles,
    "cd chdir pushd": _change_directory,
    "popd": lambda session, line: session.out.leave(),
    "break rem": lambda session, line: "",
})  # fmt: skip


# -- programs


def _run_program(session: CmdReading, line: CmdLine) -> str:
    program, words, out = line.words[0], list(map(plain_holes, line.words[1:])), session.out
    name = program_name(program)
    if (url := out.url_among(program, line.words[1:]) or download_in(program)) is not None:
        out.effect("run_download", url)
    if not without_holes(name).strip(".\\/"):
        if not _ITSELF.match(program):
            out.unreadable("a program whose name is made at run time is run", "command")
        return hole("output")
    if (saved := saved_download(name, words)) is not None:
        out.download(saved[1], saved[0])
    if not out.run_script(program, (".bat", ".cmd"), "cmd", partial(_text, session)):
        text = _input_of(session, name, line)
        url = download_in(text) if text is not None else None
        out.run([name, *words], text if url is None else hole(DOWNLOAD), url)
    fetched = first_url(words) if saved is None and describe(name).http else ""
    return download_mark(fetched) if fetched else hole("output")


def _input_of(session: CmdReading, name: str, line: CmdLine) -> str | None:
    """Of a program that would run a file without a text, only the name of that is reported."""
    given = session.piped
    for path in line.inputs:
        given = session.out.written_text(path)
        if given is None:
            given = session.out.file_text(path)
        if given is None and path != "nul":
            if input_language(name):
                session.effect("run_script", path)
            else:
                given = hole(without_holes(path))
    return given
