"""What the source has done so far: where it stands, what it opened, fetched and connected, and what was told of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from interlock.core.read.facts import Report, known, without_holes
from interlock.core.read.inline.python.objects import Call, Class, Func
from interlock.core.read.inline.python.paths import join_path
from interlock.core.read.inline.python.values import File, Value, fetched, marked, text_of, traits_of

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "cmd", "cmd.exe", "powershell", "pwsh"})


@dataclass(slots=True, eq=False)
class World:
    """Tells the report each thing once, with paths as seen from the directory the source went to."""

    out: Report
    told: set[tuple[str, ...]] = field(default_factory=set)
    files: list[File] = field(default_factory=list)  # open for writing
    cwd: str = ""
    peer: str = ""  # the address of the last socket
    wired: bool = False  # the standard streams are that socket
    downloads: dict[str, str] = field(default_factory=dict)  # path -> address
    idle: bool = False  # inside a function that nothing of the source can call

    def _first(self, *words: str) -> bool:
        new = words not in self.told
        self.told.add(words)
        return new

    def effect(self, verb: str, target: Value = "", *traits: str) -> None:
        text = str(text_of(target))
        if self._first("effect", verb, text, *traits):
            self.out.effect(verb, text, *traits)

    def code(self, language: str, text: str) -> None:
        if self._first("code", language, str(text)):
            self.out.code(language, str(text))

    def unreadable(self, what: str, *traits: str) -> None:
        if self._first("unreadable", what, *traits):
            self.out.unreadable(what, *traits)

    def run(self, argv: Sequence[Value], call: Call | None = None) -> None:
        """A program is started without a shell."""
        words = [str(text_of(word)) for word in argv]
        if not words:
            return
        script = next((word for flag, word in pairwise(argv) if flag in ("-c", "-e")), None)
        if script is not None and fetched(script) and _base(words) in SHELLS | {"python", "python3"}:
            self.effect("run_download", fetched(script))
            return
        self._start(words, call)
        move = self._move(call)
        if move:
            self._shell(move + shlex.join(words))
        elif self._first("run", *words):
            self.out.run(words)

    def shell(self, text: Value, call: Call | None = None) -> None:
        """A line is handed to a shell."""
        line = str(text_of(text))
        if fetched(text) and not without_holes(line).strip():
            self.effect("run_download", fetched(text))
            return
        self._start(line[:10_000].split(), call)
        self._shell(self._move(call) + line)

    def _shell(self, line: str) -> None:
        if self._first("shell", line):
            self.out.shell(line)

    def _move(self, call: Call | None) -> str:
        """The words that take a shell to where the program would start."""
        cwd = call.named.get("cwd") if call else None
        place = self.located(text_of(cwd)) if cwd not in (None, "") else self.cwd
        return f"cd {shlex.quote(place)} && " if place not in ("", ".") else ""

    def _start(self, words: Sequence[str], call: Call | None) -> None:
        """What starting these words means beside running them: a download is run, a shell hangs on a socket."""
        for word in words if self.downloads else ():
            url = self.downloads.get(word.strip("'\";&").removeprefix("./"))
            if url is not None:
                self.effect("run_download", url)
        streams = call.named.values() if call else ()
        wired = self.wired or any("socket" in getattr(stream, "path", "") for stream in streams)
        terminal = call is not None and call.path == "pty.spawn"
        if self.peer and (wired or terminal) and words and _base(words) in SHELLS:
            self.effect("reverse_shell", self.peer)

    def execute(self, value: Value) -> None:
        """Text is run as Python."""
        if isinstance(value, (Func, Class)):
            return
        text = text_of(value)
        script = next((mark[5:] for mark in sorted(traits_of(value)) if mark.startswith("file:")), "")
        if fetched(value):
            self.effect("run_download", fetched(value))
        elif known(text):
            self.code("python", text)
        elif script in self.downloads:
            self.effect("run_download", self.downloads[script])
        elif script and known(script) and not without_holes(text).strip():
            self.effect("run_script", self.located(script))
        else:
            self.unreadable("exec of text made at run time", "payload")

    # files

    def located(self, path: str) -> str:
        """A path as seen from where the source began."""
        return path if not self.cwd or path.startswith(("/", "~")) else join_path(self.cwd, path)

    def touch(self, verb: str, path: Value, *traits: str) -> None:
        """An effect on a path, which may be one of many."""
        if self.idle and not known(str(text_of(path))):
            return  # what a helper does to whatever it would be given, in a run that gives it nothing
        marks = traits_of(path)
        bulk = ["bulk"] * ("bulk" in marks and verb not in ("read", "write"))
        deep = ["recursive"] * ("walk" in marks and verb in ("chmod", "chown"))
        self.effect(verb, self.located(text_of(path)), *traits, *bulk, *deep)

    def open(self, path: Value, mode: str) -> File:
        """A file is opened; what is written is told when the source ends."""
        file = File(marked(self.located(text_of(path)), path), mode)
        if any(letter in mode for letter in "wax"):
            self.files.append(file)
        else:
            self.touch("read", path)
        return file

    def fill(self, file: File, content: Value) -> None:
        """Something is written to an open file."""
        if not isinstance(content, (str, bytes)) or content:
            file.written = True
            if fetched(content):
                self.downloads[str(file.path).removeprefix("./")] = fetched(content)
        if "+" in file.mode and "r" in file.mode:
            self.effect("write", file.path)

    def close(self) -> None:
        """The source ends, and so do its files."""
        for file in self.files:
            emptied = "w" in file.mode and not file.written
            verb = "append" if "a" in file.mode else "truncate" if emptied else "write"
            self.effect(verb, file.path, *["bulk"] * ("bulk" in traits_of(file.path)))


def _base(words: Sequence[str]) -> str:
    return words[0].rpartition("/")[2]
