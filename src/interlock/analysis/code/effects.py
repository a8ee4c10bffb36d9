"""Reports the effects that calls of the small languages share: files, programs, code, SQL, network, permissions, processes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from interlock.analysis.code.dialect import CodeDialect
from interlock.analysis.code.lexing import CodeToken, Unparsed
from interlock.analysis.code.values import UNKNOWN, Value, computed, glued, is_url, listed
from interlock.analysis.code.walk import CodeWalk
from interlock.analysis.facts import Report, known, without_holes

_SHELLS = frozenset(("sh bash zsh dash ksh ash fish cmd cmd.exe powershell powershell.exe pwsh").split())
PIPE = "pipe"  # the ref of a shell that waits for text
_FETCHERS = re.compile(r"\s*(?:curl|wget|fetch|lwp-request|GET)\s")
_URL = re.compile(r"(?:https?|ftp)://[^\s'\"|;)]+")
_ENDLESS = frozenset({"1", "true", "True", "TRUE", "fork", "pcntl_fork"})
_PATIENT = frozenset(("wait waitpid accept sleep pcntl_wait pcntl_waitpid exit _exit break last").split())


def read(dialect: CodeDialect, source: str, out: Report, names: dict[str, Value] | None = None) -> None:
    """Tell what a program does; one that cannot be parsed is told as such."""
    walk = CodeWalk(dialect, out)
    walk.names.update(names or {})
    try:
        walk.program(source)
        walk.leftovers()
    except (Unparsed, RecursionError, MemoryError, ValueError, LookupError):
        out.unreadable(f"{dialect.name} that does not parse", "syntax")
    conclude(walk)
    if dialect.fork and dialect.fork in source:
        _fork_bomb(dialect, source, out)


def _fork_bomb(dialect: CodeDialect, source: str, out: Report) -> None:
    try:
        tokens = dialect.scan(source)
    except (Unparsed, RecursionError):
        return
    if _is_fork_bomb(tokens, dialect.fork, dialect.endless):
        out.effect("fork_bomb")


def conclude(walk: CodeWalk) -> None:
    """Tell what only the end of the program shows."""
    for path, written in walk.notes.opened.items():
        walk.out.effect("write" if written else "truncate", path)
    if walk.notes.socket and walk.notes.shells:
        walk.out.effect("reverse_shell", walk.notes.socket)


def delete(walk: CodeWalk, values: Iterable[Value], *traits: str) -> Value:
    """Every text of the values names something that is deleted."""
    paths(walk, "delete", values, *traits)
    return UNKNOWN


def paths(walk: CodeWalk, verb: str, values: Iterable[Value], *traits: str) -> None:
    """One effect for each path; a list that came from a listing says so."""
    for value in values:
        for item in value.items:
            walk.out.effect(verb, item, *dict.fromkeys((*traits, *sorted(value.traits))))


def shell(walk: CodeWalk, value: Value) -> Value:
    """A text is given to a shell; what it prints may be something fetched."""
    if value.url:
        walk.out.effect("run_download", value.url)
        return UNKNOWN
    if value.ref.startswith("socket"):  # what the other side sends is run
        walk.notes.shells += 1
        return UNKNOWN
    for item in value.items if value.either else (value.text,):
        walk.out.shell(item)
        _note_shell(walk, without_holes(item, " ").split())
    return Value(ref=PIPE) if is_bare_shell(value.text) else printed(value)


def is_bare_shell(text: str) -> bool:
    """True for a shell that reads its commands from elsewhere."""
    words = text.split()
    own = words[1 : words.index("-s")] if "-s" in words else words[1:]  # what follows -s are the commands' arguments
    return bool(words) and _base(words[0]) in _SHELLS and all(word in ("-", "-i", "-x", "-e", "-l") for word in own)


def _base(word: str) -> str:
    return word.replace("\\", "/").rsplit("/", 1)[-1].lower()


def printed(value: Value) -> Value:
    """What a command prints: unknown, but fetched if the command fetches."""
    found = _URL.search(value.text)
    if _FETCHERS.match(value.text):
        return Value(url=found.group() if found else "the network")
    return UNKNOWN


def run(walk: CodeWalk, values: Iterable[Value]) -> Value:
    """A program is run with these words, without a shell."""
    words = listed(values)
    if not words.items:
        return UNKNOWN
    walk.out.run(words.items)
    _note_shell(walk, list(words.items))
    return printed(Value((" ".join(words.items),)))


def command(walk: CodeWalk, values: tuple[Value, ...]) -> Value:
    """One text goes through a shell; several words do not."""
    if not values:
        return UNKNOWN
    if len(values) == 1 and (not values[0].many or values[0].either or len(values[0].items) == 1):
        return shell(walk, values[0])
    return run(walk, values)


def _note_shell(walk: CodeWalk, words: list[str]) -> None:
    if words and _base(words[0]) in _SHELLS and "-c" not in words[1:2]:
        walk.notes.shells += 1


def evaluate(walk: CodeWalk, value: Value, language: str, name: str) -> Value:
    """A text is run as code: read if it is known, told if it is not."""
    if value.url:
        walk.out.effect("run_download", value.url)
    elif value.known:
        for item in value.items if value.either else (value.text,):
            walk.out.code(language, item)
    else:
        walk.out.unreadable(f"{name} code made at run time", "payload")
    return UNKNOWN


def sql(walk: CodeWalk, value: Value) -> Value:
    """A text is run as SQL."""
    if not value.blank:
        walk.out.code("sql", value.text)
    return UNKNOWN


def fetch(walk: CodeWalk, value: Value) -> Value:
    """Something is fetched from a URL; the value remembers where from."""
    walk.out.effect("fetch", value.text)
    return Value(url=value.text if value.known else "the network")


def read_file(walk: CodeWalk, value: Value) -> Value:
    """A file is read, or a URL fetched where the language allows both."""
    if is_url(value.text):
        return fetch(walk, value)
    if known(value.text):
        walk.out.effect("read", value.text)
    return UNKNOWN


def write_file(walk: CodeWalk, path: Value, content: Value | None) -> Value:
    """A file is written in one go; with nothing, it is emptied."""
    empty = content is not None and content.known and content.text == ""
    paths(walk, "truncate" if empty else "write", [path])
    return UNKNOWN


def opened(walk: CodeWalk, path: Value, mode: str) -> Value:
    """A file is opened: the value stands for it until something is written."""
    if mode.startswith(("w", ">")) and not mode.startswith(">>"):
        walk.notes.opened.setdefault(path.text, False)
    elif mode.startswith(("a", ">>")):
        walk.out.effect("append", path.text)
    elif known(path.text):
        walk.out.effect("read", path.text)
    return Value(path.items, ref="file")


def written(walk: CodeWalk, value: Value, content: Iterable[Value] = ()) -> None:
    """Something is written to an opened file, or to a shell that runs it."""
    if value.ref == "file":
        walk.notes.wrote(value.text)
    elif value.ref == PIPE:
        shell(walk, glued(tuple(content)))


def socket(walk: CodeWalk, host: Value, port: Value | None = None) -> Value:
    """A connection is opened; with a shell it is a reverse shell."""
    walk.notes.socket = f"{host.text}:{port.text}" if port is not None and port.text else host.text
    return Value(ref="socket")


def chmod(walk: CodeWalk, mode: Value, values: Iterable[Value], *traits: str) -> Value:
    """Permissions are changed; the mode says whether that opens or closes a file to all."""
    paths(walk, "chmod", values, *traits, *_mode_traits(mode.text))
    return UNKNOWN


def _mode_traits(mode: str) -> list[str]:
    digits = mode.lower().removeprefix("0o").lstrip("0") if mode.strip("0") else "0"
    if not digits.isdecimal():
        return ["world_writable"] if re.search(r"[ao][^,]*[+=][rx]*w", mode) else []
    found = ["world_writable"] if digits[-1] in "2367" else []
    found += ["no_access"] if digits == "0" else []
    return found + (["setuid"] if len(digits) == 4 and digits[0] in "24567" else [])


def kill(walk: CodeWalk, values: Iterable[Value]) -> Value:
    """Processes are signalled; -1 stands for all of them."""
    for item in listed(values).items:
        walk.out.effect("kill", item, *(["all"] if item == "-1" else []))
    return UNKNOWN


def listing(value: Value, *traits: str) -> Value:
    """The files that a pattern or a directory stands for."""
    return Value(value.items or computed().items, True, frozenset({"bulk", *traits}))


def _is_fork_bomb(tokens: Iterable[CodeToken], fork: str, loops: frozenset[str]) -> bool:
    """True for an endless loop that forks and never waits."""
    words = [token.text for token in tokens if token.kind != "end" and token.text not in ("(", ")")]
    if fork not in words or _PATIENT & set(words):
        return False
    pairs = zip(words, [*words[1:], ""], strict=True)
    return any(
        (word in loops and (nxt in _ENDLESS or nxt == ";"))
        or (word in ("until",) and nxt in ("0", "false"))
        or word in ("loop", "redo")
        for word, nxt in pairs
    )
