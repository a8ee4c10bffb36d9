"""Effects of cmd.exe's built-in commands, and of the programs and batch files that it runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from interlock.analysis.cmd.parse import CmdLine, CmdReading
from interlock.analysis.facts import DOWNLOAD, ENVIRONMENT, SECRET, hole, without_holes
from interlock.analysis.places import is_secret
from interlock.analysis.programs.load import describe, input_language
from interlock.analysis.windows import (
    download_in,
    download_mark,
    first_url,
    is_nothing,
    plain_holes,
    program_name,
    saved_download,
    wildcard,
)


def _parted(line: CmdLine) -> tuple[frozenset[str], list[str]]:
    """The switches of a built-in command, one by one and in lower case, and its other words."""
    switches, others = set[str](), list[str]()
    for word, quoted in zip(line.words[1:], line.quoted[1:]):
        if word.startswith("/") and not quoted:
            switches |= {piece.lower() for piece in word.split("/") if piece}
        else:
            others += [word] if quoted else [piece for piece in re.split(r"[,;]", word) if piece]
    return frozenset(switches), others


def _delete(session: CmdReading, line: CmdLine) -> None:
    """del, rd: a folder is only removed without /s where it is empty."""
    switches, paths = _parted(line)
    for path in paths:
        deep = path in session.deep
        if line.words[0].lower() in ("rd", "rmdir"):
            traits = ["recursive" if "s" in switches else "empty_only"]
        else:
            traits = ["recursive"] if "s" in switches or deep else []
        session.out.effect("delete", plain_holes(path), *traits, *["bulk"] * (wildcard(path) or deep))


def _make_directory(session: CmdReading, line: CmdLine) -> None:
    for path in _parted(line)[1]:
        session.out.effect("write", plain_holes(path))


def _move(session: CmdReading, line: CmdLine) -> None:
    switches, paths = _parted(line)
    lost = len(paths) > 1 and is_nothing(paths[1])
    if paths:
        traits = ["recursive"] * lost + ["bulk"] * wildcard(paths[0])
        session.out.effect("delete" if lost else "move", plain_holes(paths[0]), *traits)
    if len(paths) > 1 and not lost:
        session.out.effect("overwrite" if "y" in switches else "write", plain_holes(paths[1]))
        _carry(session, paths[0], paths[1])


def _copy(session: CmdReading, line: CmdLine) -> None:
    source, target = [*_parted(line)[1], "", ""][:2]
    target = target or "."
    if is_nothing(source):
        session.out.effect("truncate", plain_holes(target))
    elif source:
        for path in source.split("+"):
            session.out.effect("read", plain_holes(path))
            _carry(session, path, target)
        if not is_nothing(target) and target.lower() != "con":
            session.out.effect("write", plain_holes(target))


def _carry(session: CmdReading, source: str, target: str) -> None:
    if (url := session.out.url(source)) is not None:
        session.out.download(target, url)
    if (text := session.out.written_text(source)) is not None:
        session.out.write(target, text.rstrip("\n"))


def _robocopy(session: CmdReading, line: CmdLine) -> None:
    """robocopy: with /MIR or /PURGE, what is not in the source is deleted from the destination."""
    switches, paths = _parted(line)
    if len(paths) < 2 or "l" in switches:
        return
    source, target = plain_holes(paths[0]), plain_holes(paths[1])
    session.out.effect("write", target)
    if switches & {"mir", "purge"}:
        session.out.effect("delete", target, "recursive", "bulk")
    if switches & {"mov", "move"}:
        session.out.effect("move", source)


def _type(session: CmdReading, line: CmdLine) -> str:
    printed: list[str] = []
    for path in _parted(line)[1]:
        if is_nothing(path):
            continue
        session.out.effect("read", plain_holes(path))
        url, text = session.out.url(path), session.out.written_text(path)
        printed.append(download_mark(url) if url else text if text is not None else _unread(path))
    return "\n".join(printed)


def _unread(path: str) -> str:
    return hole(SECRET if is_secret(path.replace("\\", "/")) else without_holes(path))


def _echo(session: CmdReading, line: CmdLine) -> str:
    text = line.text[5:]
    return "" if text.strip().lower() in ("off", "on") else text


def _set(session: CmdReading, line: CmdLine) -> str:
    """set: a name for the rest of the text; sums and questions give a name that holds anything."""
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
        return session.run_line(session, _without(line, 1))
    return ""


def _start(session: CmdReading, line: CmdLine) -> str:
    """start: an optional title in quotes, switches, then a program."""
    at = 1
    if at < len(line.words) and line.quoted[at]:
        at += 1 if len(line.words) > 2 else 0
    while at < len(line.words) and line.words[at].startswith("/"):
        at += 2 if line.words[at].lower() in ("/d", "/node", "/affinity") else 1
    if at < len(line.words):
        return session.run_line(session, _without(line, at))
    session.out.run(["start"])
    return ""


def _without(line: CmdLine, count: int) -> CmdLine:
    """The same command without its first words."""
    text = line.text
    for _ in range(count):
        found = re.match(r'(?:"[^"]*"?|[^\s"])+\s*', text)
        text = text[found.end() :] if found else text
    return CmdLine(line.words[count:], line.quoted[count:], inputs=line.inputs, text=text)


def _inner(session: CmdReading, line: CmdLine) -> str:
    """cmd /c: its text is read here, with the names that are known."""
    found = re.search(r"(?:^|\s)/[cCkK](?=[\s\"]|$)\s*", line.text)
    if not found:
        return run_program(session, line)
    text = line.text[found.end() :].strip()
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        text = text[1:-1]
    return session.run_text(session, text)


def _forfiles(session: CmdReading, line: CmdLine) -> str:
    """forfiles: its command runs for each file that it finds."""
    options = {word.lower(): following for word, following in zip(line.words[1:], [*line.words[2:], ""])}
    root, mask = options.get("/p", ".").rstrip("\\"), options.get("/m", "*")
    deep = "/s" in options
    path = root if deep and mask == "*" else f"{root}\\{mask}"
    if deep:
        session.deep.add(path)
    command = re.sub(r"@(?:path|file|fname)", lambda _: path, options.get("/c", ""), flags=re.IGNORECASE)
    return session.run_text(session, command) if command else ""


def _change_directory(session: CmdReading, line: CmdLine) -> str:
    paths = [word for word in line.words[1:] if word.lower() != "/d"]
    if paths:
        path = plain_holes(" ".join(paths))
        session.out.enter(path, remember=line.words[0].lower() == "pushd")
    return "" if paths else "."


BUILTINS: dict[str, Callable[[CmdReading, CmdLine], str | None]] = {
    **dict.fromkeys(["del", "erase", "rd", "rmdir"], _delete),
    **dict.fromkeys(["md", "mkdir"], _make_directory),
    **dict.fromkeys(["move", "ren", "rename"], _move),
    **dict.fromkeys(["copy", "xcopy"], _copy),
    **dict.fromkeys(["robocopy", "robocopy.exe"], _robocopy),
    "type": _type,
    "echo": _echo,
    "set": _set,
    "call": _call,
    "start": _start,
    **dict.fromkeys(["cmd", "cmd.exe", "%comspec%", "c:\\windows\\system32\\cmd.exe"], _inner),
    "forfiles": _forfiles,
    **dict.fromkeys(["cd", "chdir", "pushd"], _change_directory),
    "popd": lambda session, line: session.out.leave(),
    **dict.fromkeys(["break", "rem"], lambda session, line: ""),
}


ITSELF = re.compile(r'"?%~?[a-z]*0"?$', re.IGNORECASE)


def run_program(session: CmdReading, line: CmdLine) -> str:
    """Any other program: reported to the rules, and read where it is a file that the text itself wrote."""
    program, words = line.words[0], [plain_holes(word) for word in line.words[1:]]
    name = program_name(program)
    if (url := session.out.url_among(program, line.words[1:]) or download_in(program)) is not None:
        session.out.effect("run_download", url)
    if not without_holes(name).strip(".\\/"):
        if not ITSELF.match(program):
            session.out.unreadable("a program whose name is made at run time is run", "command")
        return hole("output")
    if (saved := saved_download(name, words)) is not None:
        session.out.download(saved[1], saved[0])
    if not session.out.run_script(program, (".bat", ".cmd"), "cmd", partial(session.run_text, session)):
        text = _input_of(session, name, line)
        url = download_in(text) if text is not None else None
        session.out.run([name, *words], text if url is None else hole(DOWNLOAD), url)
    fetched = first_url(words) if saved is None and describe(name).http else ""
    return download_mark(fetched) if fetched else hole("output")


def _input_of(session: CmdReading, name: str, line: CmdLine) -> str | None:
    """The text that flows into a program; one that would run a file without a text has only the name of that reported."""
    given = session.piped
    for path in line.inputs:
        given = session.out.written_text(path)
        if given is None:
            given = session.out.file_text(path)
        if given is None and path != "nul":
            if input_language(name):
                session.out.effect("run_script", plain_holes(path))
            else:
                given = hole(without_holes(path))
    return given
