"""Shared by both Windows shells: well-known places and programs, written and downloaded files, relative paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType

from msgspec import Struct

from interlock.analysis.facts import EFFECTS, HOLE, Report, hole, known, without_holes
from interlock.analysis.http import parse_requests
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import describe, input_language, program_set, word_table

SCRIPTS = MappingProxyType({".ps1": "powershell", ".psm1": "powershell", ".bat": "cmd", ".cmd": "cmd"})


class WindowsSyntaxError(Exception):
    """The argument gives the reason."""

    told = ("that does not parse", "syntax")


class WindowsTooDeep(WindowsSyntaxError):
    told = ("that is nested too deeply", "nesting")


_URL = lazy_regex(r"(?:https?|ftp)://[^\s\"'<>|]+", re.IGNORECASE)
_POWERSHELL_FILE = lazy_regex(r"-(?:OutFile|o)\s+(\S+)|DownloadFile\([^,]{1,2000},\s*['\"]?([^)'\"]+)", re.IGNORECASE)
_FETCHES = frozenset({"fetch", "fetched"})  # readers of programs that put a download into a file
_DOWNLOAD = "download "
_BLANK = lazy_regex(r"[\s&|<>^]|^$")


def place(name: str) -> str:
    """The value of an environment variable, where every machine has about the same one."""
    return word_table("windows_variables").get(name.lower(), hole(name))


def is_nothing(path: str) -> bool:
    """The device that keeps nothing: nul, nul:, \\\\.\\NUL."""
    return path.lower().rstrip(":").removeprefix("\\\\.\\") in ("nul", "$null", "/dev/null")


def wildcard(path: str) -> bool:
    return not {"*", "?"}.isdisjoint(without_holes(path))


def program_name(path: str) -> str:
    name = path.strip().strip('"').replace("\\", "/").rpartition("/")[2].lower()
    return name[:-4] if name.endswith((".exe", ".com")) else name


def suffix(path: str) -> str:
    name = re.split(r"[\\/]", path)[-1]
    return name[name.rfind(".") :].lower() if "." in name else ""


def first_url(words: Sequence[str]) -> str:
    return next((found[0] for word in words if (found := _URL.search(word))), "")


def saved_download(program: str, words: Sequence[str]) -> tuple[str, str] | None:
    url = first_url(words)
    if not url:
        return None
    described = describe(program)
    if described.http:
        saved = next((request for request in parse_requests(described, words) if request.output), None)
        return (url, saved.output) if saved is not None else None
    if input_language(program) == "powershell":
        found = _POWERSHELL_FILE.search(" ".join(words))
        return (url, (found[1] or found[2]).strip("'\"")) if found else None
    plain_words = [word for word in words if not word.startswith(("/", "-")) and word.strip('"') != url]
    if not _FETCHES.isdisjoint(described.reader) and plain_words:
        return url, plain_words[-1]
    return None


def download_mark(url: str) -> str:
    return hole(_DOWNLOAD + without_holes(url, "…"))


def download_in(text: str) -> str | None:
    marks = (part for part in text.split(HOLE)[1::2] if part.startswith(_DOWNLOAD))
    return next((mark[len(_DOWNLOAD) :] for mark in marks), None)


def plain_holes(text: str) -> str:
    return text if known(text) else text.replace(HOLE + _DOWNLOAD, HOLE)


def cmd_line(words: Sequence[str]) -> str:
    return " ".join(f'"{word}"' if _BLANK.search(word) else word for word in (one.replace('"', "") for one in words))


def _key(path: str) -> str:
    return re.sub(r"^(?:\.\\)+", "", path.strip().strip("\"'").replace("/", "\\").lower())


_ABSOLUTE = lazy_regex(r"[A-Za-z]:|[\\/~]|\w{2,}::?\\|" + HOLE)


class WindowsReport(Struct):
    """A Report with paths relative to the folder of the start, which knows the files that the text makes."""

    out: Report
    base: str = ""
    left: list[str] = []
    texts: dict[str, str] = {}
    urls: dict[str, str] = {}
    running: list[str] = []  # scripts that are being read

    def enter(self, path: str, remember: bool = False) -> None:
        """Change directory; `remember` as pushd does."""
        self.left += [self.base] * remember
        self.base = self.relocate(path)

    def leave(self) -> None:
        self.base = self.left.pop() if self.left else ""

    def relocate(self, path: str) -> str:
        if not self.base or not path or _ABSOLUTE.match(path):
            return path
        if path in (".", ".\\", "./"):
            return self.base
        return f"{self.base.rstrip('/' + chr(92))}\\{path}"

    def write(self, path: str, text: str, append: bool = False) -> None:
        before = (self.written_text(path) or "") if append else ""
        self.texts[_key(path)] = whole = f"{before}{text}\n"
        self._ask("keep_file", path, plain_holes(whole))
        if (url := download_in(text)) is not None:
            self.download(path, url)

    def download(self, path: str, url: str) -> None:
        self.urls[_key(path)] = url

    def carry(self, source: str, target: str) -> None:
        """What is known of a file is known of where it goes."""
        if (url := self.url(source)) is not None:
            self.download(target, url)
        if (text := self.written_text(source)) is not None:
            self.write(target, text.rstrip("\n"))

    def written_text(self, path: str) -> str | None:
        found = self.texts.get(_key(path))
        return found if found is not None else self._ask("written_text", path.strip("\"'"))

    def run_script(self, program: str, endings: Sequence[str], language: str, read: Callable[[str], object]) -> bool:
        """Reads the script file that a program is, whose ending may be left out, once where it calls itself; False for any other.

        One in the shell's own language is read by `read`, one without text is only named.
        """
        named = suffix(program) in SCRIPTS
        near = named or "\\" in program or "/" in program  # anything else is a program of the machine
        for path in [program] if named else [program + ending for ending in endings]:
            text = self.written_text(path)
            if text is None and near:
                text = self.file_text(path.strip("\"'") if named else path)
            if text is not None:
                break
        else:
            if named:
                self.effect("run_script", plain_holes(program))
            return named
        if path not in self.running:
            self.running.append(path)
            read(text) if SCRIPTS[suffix(path)] == language else self.code(SCRIPTS[suffix(path)], text)
            self.running.pop()
        return True

    def url(self, path: str) -> str | None:
        """Where this file was downloaded from, when that was here; the extension may be left out."""
        key = _key(path)
        return self.urls.get(key) or self.urls.get(key + ".exe") or self.urls.get(key + ".bat")

    def url_among(self, program: str, words: Sequence[str]) -> str | None:
        given, name = [program], program_name(program)
        if input_language(name) or name in program_set("opens"):  # they run the file that they are given
            given += [piece for word in words for piece in (word, *word.replace('"', " ").replace("'", " ").split())]
            given += [word.partition(",")[0] for word in words]
        return next((url for word in given if (url := self.url(word)) is not None), None)

    def file_text(self, path: str) -> str | None:
        return self._ask("file_text", path)

    def _ask(self, what: str, path: str, *given: str) -> str | None:
        """What the report of a shell knows of its files; another report knows none."""
        asked: Callable[..., str | None] = getattr(self.out, what, lambda *_: None)
        return asked(self.relocate(path), *given)

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        self.out.effect(verb, self.relocate(target) if verb in EFFECTS.paths else target, *traits)

    def run(self, argv: Sequence[str], text: str | None = None, url: str | None = None) -> None:
        fed: Callable[[str, str], Report] = getattr(self.out, "fed", lambda *_: self.out)
        with self._there():
            (self.out if text is None else fed(text, url or "")).run(argv)

    def shell(self, text: str, *traits: str) -> None:
        with self._there():
            self.out.shell(text, *traits)

    def code(self, language: str, text: str) -> None:
        with self._there():
            self.out.code(language, text)

    def _there(self) -> AbstractContextManager[None]:
        """What is run starts in the entered folder, and leaves the one around this text alone."""
        within: Callable[[str], AbstractContextManager[None]] = getattr(self.out, "within", lambda _: nullcontext())
        return within(self.base) if self.base else nullcontext()

    def unreadable(self, what: str, *traits: str) -> None:
        self.out.unreadable(what, *traits)

    def step(self, count: int = 1) -> None:
        self.out.step(count)
