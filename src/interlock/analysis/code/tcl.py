"""Tcl and Expect scripts -> their effects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from interlock.analysis.code.lexing import ESCAPE, Unparsed, unescape
from interlock.analysis.code.program.walk import is_bare_shell
from interlock.analysis.facts import Report, hole, known

_BLANK = re.compile(r"[ \t]*(?:\\\n[ \t]*)*")
_ENDS = re.compile(r"[\n;]")
_VARIABLE = re.compile(r"\$(?:\{([^}]{0,200})\}|((?:::)?\w+(?:::\w+)*)(\([^()\s]*\))?)")
_REDIRECT = re.compile(r"(?:2>@?1?|[<>]{1,2}&?@?)")
_DEEPEST = 12


class _Word(Struct, frozen=True):
    """One word of a command; a braced one is text that may be code."""

    text: str
    braced: bool = False
    bulk: bool = False


def read_tcl(source: str, out: Report) -> None:
    """Tell what a Tcl or Expect script does."""
    script = _Script(out)
    try:
        script.read(source, 0)
    except (Unparsed, RecursionError, MemoryError, ValueError, LookupError):
        out.unreadable("Tcl that does not parse", "syntax")
    if script.socket and script.shells:
        out.effect("reverse_shell", script.socket)


class _Script:
    """What is known while a script is read."""

    def __init__(self, out: Report) -> None:
        self.out = out
        self.names: dict[str, str] = {}
        self.spawned = False
        self.listings: set[str] = set()
        self.socket = ""
        self.shells = 0

    def read(self, source: str, level: int) -> str:
        """Read commands one after the other; answers with the result of the last."""
        if level > _DEEPEST:
            raise Unparsed("too deep")
        at, result = 0, ""
        while at < len(source):
            self.out.step()
            words, at = self._words(source, at, level)
            if words:
                result = self._command(words, level)
        return result

    def _words(self, source: str, at: int, level: int) -> tuple[list[_Word], int]:
        words: list[_Word] = []
        while at < len(source):
            found = _BLANK.match(source, at)
            at = found.end() if found else at
            if at >= len(source) or _ENDS.match(source, at):
                return words, at + 1
            if source[at] == "#" and not words:
                end = source.find("\n", at)
                return [], len(source) if end < 0 else end + 1
            word, at = self._word(source, at, level)
            words.append(word)
        return words, at

    def _word(self, source: str, at: int, level: int) -> tuple[_Word, int]:
        if source.startswith("{*}", at):
            at += 3
        if source[at : at + 1] == "{":
            end = _closing(source, at, "{", "}")
            return _Word(source[at + 1 : end], True), end + 1
        quoted = source[at : at + 1] == '"'
        made: list[str] = []
        bulk = False
        at += quoted
        while at < len(source):
            char = source[at]
            if quoted and char == '"':
                return _Word("".join(made), False, bulk), at + 1
            if not quoted and (char in " \t\n;" or (char == "\\" and source[at + 1 : at + 2] == "\n")):
                return _Word("".join(made), False, bulk), at
            piece, at, listing = self._piece(source, at, level)
            bulk = bulk or listing
            made.append(piece)
        if quoted:
            raise Unparsed("no closing quote")
        return _Word("".join(made), False, bulk), at

    def _piece(self, source: str, at: int, level: int) -> tuple[str, int, bool]:
        char = source[at]
        if char == "\\" and (escape := ESCAPE.match(source, at)):
            return unescape(escape), escape.end(), False
        if char == "[":
            end = _closing(source, at, "[", "]")
            inner = source[at + 1 : end]
            return self.read(inner, level + 1), end + 1, inner.split()[:1] == ["glob"]
        found = _VARIABLE.match(source, at) if char == "$" else None
        if found:
            name = found[1] or found[2] or ""
            if name in ("env", "::env") and found[3]:
                return hole(found[3][1:-1]), found.end(), False
            return self.names.get(name + (found[3] or ""), hole(name)), found.end(), name in self.listings
        return char, at + 1, False

    def _command(self, words: list[_Word], level: int) -> str:
        name = words[0].text.removeprefix("::")
        command = _COMMANDS.get(name)
        if command:
            return command(self, words[1:], level)
        if not known(name) and len(words) > 1:
            self.out.unreadable("a command chosen at run time", "command")
        self._bodies(words[1:], level)
        return hole()

    def _bodies(self, words: list[_Word], level: int) -> None:
        """Braced words of control commands are code; so may be those of others."""
        for word in words:
            if word.braced and word.text.strip():
                saved = dict(self.names)
                self.read(word.text, level + 1)
                self.names = {
                    name: value if saved.get(name, value) == value else hole(name) for name, value in self.names.items()
                }

    # commands

    def exec(self, words: list[_Word], _level: int) -> str:
        argv = [word.text for word in words if word.text not in ("-ignorestderr", "-keepnewline", "--")]
        while argv and _REDIRECT.match(argv[-1]) and argv[-1] != "&":
            argv.pop()
        if argv:
            self.out.run([arg for arg in argv if arg != "&"])
            self.shells += is_bare_shell(" ".join(argv[:2]))
        return hole()

    def spawn(self, words: list[_Word], level: int) -> str:
        self.spawned = True
        return self.exec([word for word in words if word.text not in ("-noecho", "-ignore")], level)

    def send(self, words: list[_Word], _level: int) -> str:
        """Expect types into what it spawned; into a shell that runs."""
        text = words[-1].text.strip() if words else ""
        if text and self.spawned:
            self.out.shell(text)
        return ""

    def file(self, words: list[_Word], _level: int) -> str:
        if not words:
            return hole()
        kind = words[0].text
        rest = [word for word in words[1:] if word.text != "--"]
        if kind == "delete":
            forced = any(word.text == "-force" for word in rest)
            for word in rest:
                if word.text != "-force":
                    self.out.effect(
                        "delete", word.text, *(["recursive"] if forced else []), *(["bulk"] if word.bulk else [])
                    )
        elif kind in ("rename", "copy"):
            paths = [word.text for word in rest if word.text != "-force"]
            for path in paths[:-1]:
                self.out.effect("move" if kind == "rename" else "read", path)
            for path in paths[-1:]:
                self.out.effect("overwrite" if kind == "rename" else "write", path)
        elif kind == "attributes" and len(rest) > 2 and rest[1].text == "-permissions":
            mode = rest[2].text
            open_to_all = mode[-1:] in "2367" and mode.isdigit()
            self.out.effect("chmod", rest[0].text, *(["world_writable"] if open_to_all else []))
        elif kind == "join":
            return "/".join(word.text for word in rest)
        return hole()

    def open(self, words: list[_Word], _level: int) -> str:
        if not words:
            return hole()
        path, mode = words[0].text, words[1].text if len(words) > 1 else "r"
        if path.startswith("|"):
            self.out.shell(path[1:].strip())
        elif mode.startswith("w"):
            self.out.effect("write", path)
        elif mode.startswith("a"):
            self.out.effect("append", path)
        elif known(path):
            self.out.effect("read", path)
        return hole()

    def set(self, words: list[_Word], _level: int) -> str:
        if len(words) == 2:
            self.names[words[0].text] = words[1].text
            return words[1].text
        return self.names.get(words[0].text, hole(words[0].text)) if words else hole()

    def foreach(self, words: list[_Word], level: int) -> str:
        if len(words) > 2:
            self.names[words[0].text] = words[1].text
            self.listings |= {words[0].text} if words[1].bulk or not known(words[1].text) else set()
        self._bodies(words[-1:], level)
        return ""

    def condition(self, words: list[_Word], level: int) -> str:
        """if and while: a condition is no command, though one may stand in it."""
        is_condition = True
        for word in words:
            if is_condition:
                self._substituted(word.text, level)
            elif word.braced:
                self._bodies([word], level)
            is_condition = word.text == "elseif" and not word.braced
        return ""

    def _substituted(self, text: str, level: int) -> None:
        at = text.find("[")
        while at >= 0:
            end = _closing(text, at, "[", "]")
            self.read(text[at + 1 : end], level + 1)
            at = text.find("[", end)

    def loop(self, words: list[_Word], level: int) -> str:
        self._bodies([*words[:1], *words[2:]], level)
        return ""

    def choices(self, words: list[_Word], level: int) -> str:
        """switch and expect: patterns, each with its code."""
        for word in words:
            if word.braced:
                inner, _ = self._words(word.text.replace("\n", " "), 0, level)
                self._bodies([one for one in inner if one.braced], level)
        return ""

    def eval(self, words: list[_Word], level: int) -> str:
        return self.read(" ".join(word.text for word in words), level + 1)

    def system(self, words: list[_Word], _level: int) -> str:
        self.out.shell(" ".join(word.text for word in words))
        return hole()

    def source(self, words: list[_Word], _level: int) -> str:
        if words:
            self.out.effect("run_script", words[-1].text)
        return hole()

    def connect(self, words: list[_Word], _level: int) -> str:
        if len(words) > 1 and words[0].text != "-server":
            self.socket = ":".join(word.text for word in words[-2:])
        return hole()

    def glob(self, words: list[_Word], _level: int) -> str:
        return " ".join(word.text for word in words if not word.text.startswith("-"))

    def nothing(self, _words: list[_Word], _level: int) -> str:
        return ""

    def proc(self, words: list[_Word], level: int) -> str:
        self._bodies(words[2:], level)
        return ""


def _closing(source: str, at: int, opener: str, closer: str) -> int:
    depth = 0
    while at < len(source):
        char = source[at]
        if char == "\\":
            at += 2
            continue
        depth += (char == opener) - (char == closer)
        if not depth:
            return at
        at += 1
    raise Unparsed(f"no closing {closer!r}")


_COMMANDS: Mapping[str, Callable[[_Script, list[_Word], int], str]] = {
    "exec": _Script.exec,
    "spawn": _Script.spawn,
    "send": _Script.send,
    "exp_send": _Script.send,
    "file": _Script.file,
    "open": _Script.open,
    "set": _Script.set,
    "foreach": _Script.foreach,
    "if": _Script.condition,
    "while": _Script.condition,
    "for": _Script.loop,
    "switch": _Script.choices,
    "expect": _Script.choices,
    "eval": _Script.eval,
    "uplevel": _Script.eval,
    "system": _Script.system,
    "source": _Script.source,
    "socket": _Script.connect,
    "glob": _Script.glob,
    "puts": _Script.nothing,
    "expr": _Script.nothing,
    "proc": _Script.proc,
}
