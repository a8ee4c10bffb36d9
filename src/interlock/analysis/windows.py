"""Shared by both Windows shells: how their text is told apart, well-known places and programs, written and downloaded files, relative paths."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from types import MappingProxyType

from msgspec import Struct, field

from interlock.analysis.facts import HOLE, Report, hole, known, without_holes
from interlock.analysis.http import parse_requests
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import input_language, program_set, shipped_programs, word_set, word_table

SCRIPTS = MappingProxyType({".ps1": "powershell", ".psm1": "powershell", ".bat": "cmd", ".cmd": "cmd"})


class WindowsSyntaxError(Exception):
    """The text is not one of its shell; the argument gives the reason."""

    told = ("that does not parse", "syntax")


class WindowsTooDeep(WindowsSyntaxError):
    """The text nests deeper than a reader follows."""

    told = ("that is nested too deeply", "nesting")


_URL = lazy_regex(r"(?:https?|ftp)://[^\s\"'<>|]+", re.IGNORECASE)
# Programs that run a script of their own language, and the commands in it that only look.
SCRIPTED = MappingProxyType({
    "diskpart": re.compile(r"(?:list|detail|select|help|rem|exit|rescan|automount\s*$|filesystems)\b", re.IGNORECASE),
    "diskshadow": re.compile(r"(?:list|set|add|begin|end|load|writer|create|help|exit|rem)\b", re.IGNORECASE),
})  # fmt: skip
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
    """True for a path that names more than one file."""
    return any(mark in without_holes(path) for mark in "*?")


def program_name(path: str) -> str:
    """The bare name of a program, as rules know it."""
    name = path.strip().strip('"').replace("\\", "/").rpartition("/")[2].lower()
    return name[:-4] if name.endswith((".exe", ".com")) else name


def suffix(path: str) -> str:
    """The extension of a file name, in lower case, with its dot."""
    name = re.split(r"[\\/]", path)[-1]
    return name[name.rfind(".") :].lower() if "." in name else ""


def first_url(words: Sequence[str]) -> str:
    """The first address among some words."""
    return next((found.group() for word in words if (found := _URL.search(word))), "")


def saved_download(program: str, words: Sequence[str]) -> tuple[str, str] | None:
    """The address and the file of a program that downloads to a file."""
    url = first_url(words)
    if not url:
        return None
    described = shipped_programs().get(program)
    if described is not None and described.http:
        saved = next((request for request in parse_requests(described, words) if request.output), None)
        return (url, saved.output) if saved is not None else None
    if input_language(program) == "powershell":
        found = _POWERSHELL_FILE.search(" ".join(words))
        return (url, (found.group(1) or found.group(2)).strip("'\"")) if found else None
    plain_words = [word for word in words if not word.startswith(("/", "-")) and word.strip('"') != url]
    if described is not None and _FETCHES & frozenset(described.reader) and plain_words:
        return url, plain_words[-1]
    return None


def download_mark(url: str) -> str:
    """The mark for text that would come from this address."""
    return hole(_DOWNLOAD + without_holes(url, "…"))


def download_in(text: str) -> str | None:
    """The address that some of this text would come from, if any of it was downloaded."""
    for part in text.split(HOLE)[1::2]:
        if part.startswith(_DOWNLOAD):
            return part[len(_DOWNLOAD) :]
    return None


def plain_holes(text: str) -> str:
    """The text, with download marks as ordinary holes."""
    return text if known(text) else text.replace(HOLE + _DOWNLOAD, HOLE)


def report_script(program: str, script: str, out: Report) -> None:
    """Reports every line of a script of diskpart or diskshadow that changes something; `exec` runs a file."""
    for line in script.splitlines():
        out.step()
        words = line.lower().split()
        if words[:1] == ["exec"]:
            out.code("cmd", line.strip()[4:].strip())
        elif words and not SCRIPTED[program].match(line.strip()):
            out.run([program, *words])


def cmd_line(words: Sequence[str]) -> str:
    """Words as one line for cmd."""
    return " ".join(f'"{word}"' if _BLANK.search(word) else word for word in (one.replace('"', "") for one in words))


def runs_input(program: str, words: Sequence[str]) -> bool:
    """True for a program that, with these words, runs the text it is piped."""
    language = input_language(program)
    if language == "sql":
        return True
    return bool(language) and all(word == "-" or (word[:1] in "-/" and len(word) < 3) for word in words if word)


def pipe_source(program: str, words: Sequence[str], text: str, out: Report) -> None:
    """What a command printed flows into a program that sends: reported as the shell would say it, where it names its source."""
    source = text.strip().strip(HOLE)
    if source and not known(text) and known(source) and program in program_set("fetcher"):
        command = ["env"] if source == "environment" else ["cat", source]
        out.shell(f"{shlex.join(command)} | {shlex.join([program, *words])}")


def hand_over(language: str, text: str, out: Report) -> None:
    """Give text to the reader of its language."""
    if language == "shell":
        out.shell(text)
    else:
        out.code(language, text)


def _key(path: str) -> str:
    text = path.strip().strip("\"'").replace("/", "\\").lower()
    while text.startswith(".\\"):
        text = text[2:]
    return text


_PATH_VERBS = frozenset({"delete", "truncate", "overwrite", "write", "append", "move", "read", "run_script"})
_ABSOLUTE = lazy_regex(r"[A-Za-z]:|[\\/~]|\w{2,}::?\\|" + HOLE)


class WindowsReport(Struct):
    """A Report with paths relative to the folder in which the text started; knows the files that the text makes before it runs them."""

    out: Report
    base: str = ""
    left: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    urls: dict[str, str] = field(default_factory=dict)
    running: list[str] = field(default_factory=list)  # scripts that are being read

    def enter(self, path: str, remember: bool = False) -> None:
        """Change directory; `remember` as pushd does."""
        if remember:
            self.left.append(self.base)
        self.base = self.relocate(path)

    def leave(self) -> None:
        """Go back, as popd does."""
        self.base = self.left.pop() if self.left else ""

    def relocate(self, path: str) -> str:
        """A path relative to the folder in which the text started."""
        if not self.base or not path or _ABSOLUTE.match(path):
            return path
        if path in (".", ".\\", "./"):
            return self.base
        return f"{self.base.rstrip('/' + chr(92))}\\{path}"

    def write(self, path: str, text: str, append: bool = False) -> None:
        """Remember what was written."""
        key = _key(path)
        before = (self.written_text(path) or "") if append else ""
        self.texts[key] = f"{before}{text}\n"
        self._ask("keep_file", path, plain_holes(self.texts[key]))
        if (url := download_in(text)) is not None:
            self.urls[key] = url

    def download(self, path: str, url: str) -> None:
        """Remember where a file came from."""
        self.urls[_key(path)] = url

    def written_text(self, path: str) -> str | None:
        """What was written to this file, when it was written here."""
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
        """Where a program, or the file that a launcher is given, was downloaded from."""
        given, name = [program], program_name(program)
        if input_language(name) or name in program_set("opens"):  # they run the file that they are given
            given += [piece for word in words for piece in (word, *word.replace('"', " ").replace("'", " ").split())]
            given += [word.partition(",")[0] for word in words]
        return next((url for word in given if (url := self.url(word)) is not None), None)

    def file_text(self, path: str) -> str | None:
        """The text of a script, where the action wrote it or the caller reads files."""
        return self._ask("file_text", path)

    def _ask(self, what: str, path: str, *given: str) -> str | None:
        """What the report of a shell knows of its files; another report knows none."""
        asked: Callable[..., str | None] = getattr(self.out, what, lambda *_: None)
        return asked(self.relocate(path), *given)

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        self.out.effect(verb, self.relocate(target) if verb in _PATH_VERBS else target, *traits)

    def run(self, argv: Sequence[str]) -> None:
        with self._there():
            self.out.run(argv)

    def shell(self, text: str, *traits: str) -> None:
        with self._there():
            self.out.shell(text, *traits)

    def code(self, language: str, text: str) -> None:
        with self._there():
            self.out.code(language, text)

    def _there(self) -> AbstractContextManager[None]:
        """What is run starts in the folder that was entered, and leaves the one around this text alone."""
        within: Callable[[str], AbstractContextManager[None]] | None = getattr(self.out, "within", None)
        return within(self.base) if within is not None and self.base else nullcontext()

    def unreadable(self, what: str, *traits: str) -> None:
        self.out.unreadable(what, *traits)

    def step(self, count: int = 1) -> None:
        self.out.step(count)


# -- which shell a text is for ----------------------------------------------------------------------------

_WINDOWS_CWD = lazy_regex(r"[A-Za-z]:[\\/]|\\\\\w")
_LIMIT = 20_000

_CMDLET = lazy_regex(
    r"(?:^|[|;&({=])\s*&?\s*(?:[\w.]+\\)?([a-z]+)-[a-z]\w+(?=[\s|;)}]|$)", re.IGNORECASE | re.MULTILINE
)
_FIRST_CMDLET = lazy_regex(r"\s*(?:&\s*)?([a-z]+)-([a-z]+)(?=[\s|;)]|$)", re.IGNORECASE)
_PASCAL_CMDLET = lazy_regex(r"(?:.*\\)?([A-Z][a-z]+)-[A-Z]\w+")  # as no POSIX program is called
_POWERSHELL_MARKS = lazy_regex(
    r"\$env:\w|\$\w+\s*=|\$(?:true|false|null|_|PSItem|PSScriptRoot|HOME)\b|\[[A-Za-z][\w.]*\]::|\[(?:char|string|int|byte)(?:\[\])?\]"
    r"|\s-(?:Recurse|Force|WhatIf|ErrorAction|Confirm|Path|LiteralPath|Filter|Include|Exclude|ItemType|ArgumentList|FilePath)\b"
    r"|@['\"]\s*\n|@[({]|\|\s*(?:%|\?|iex|foreach|where|select|ft|fl)\s*[{\w]?|^\s*(?:iex|iwr|irm|gci|ri|saps|spps|icm|gwmi|gcim)\s"
    r"|^\s*(?:rm|del|rd|ls|dir|ri)\s[^\n]*\s-(?:r|fo|rec\w*)\b|^\s*&\s*['\"$(]|`\w|\bforeach\s*\(",
    re.IGNORECASE | re.MULTILINE,
)
_CMD_WORDS = (
    r"(?:rd|rmdir|del|erase|copy|xcopy|move|dir|robocopy)\s+(?:\S+\s+){0,8}/[a-z]|(?:rd|rmdir|del|erase)/[a-z]|format\s+(?:/\S+\s+)*[a-z]:|"
    r"format\s+/\?|net\s+(?:user|localgroup|stop|start|share|use)\b|reg\s+(?:delete|add|query)\b|vssadmin\b|wmic\b|"
    r"bcdedit\b|wevtutil\b|diskpart\b|bitsadmin\b|certutil\b|cipher\s+/|takeown\b|icacls\b|schtasks\b|fsutil\b|"
    r"if\s+(?:not\s+)?exist\s|for\s+(?:/[a-z]\s+)?%|setlocal\b|type\s+nul|sc\s+(?:delete|stop|config)\b|shutdown\s+/"
)
_CMD_MARKS = lazy_regex(
    rf"(?:^|[&|(@])\s*(?:{_CMD_WORDS})|%[A-Za-z_]\w*(?::~[^%\n]{{1,20}})?%|^\s*@echo\s|^\s*(?:rem\s|::)|\^\n|>\s*nul\b|%0\|%0",
    re.IGNORECASE | re.MULTILINE,
)
_SURE_CMD = lazy_regex(
    r"\s*(?:(?:rd|rmdir|del|erase)(?:\s+\S+){0,4}?\s*/[sqfa](?=[\s/]|$)|(?:rd|rmdir|del|erase)\s+(?:/\w\s+)*\"?[a-z]:\\"
    r"|format\s+(?:/\S+\s+)*[a-z]:(?=\s|$)|format\s+/\?|%0\|%0)",
    re.IGNORECASE,
)
# With a drive's path they are no program of a POSIX shell, whatever the folder.
_DRIVE = lazy_regex(r"(?:^|[\s\"'=])[A-Za-z]:\\")
_FIRST_WORD = lazy_regex(r"\s*(?:[@&.]\s*)?([A-Za-z][\w.\\-]*)(?=[\s/|;)]|$)")
_DRIVE_CMD = frozenset("copy move ren rename type attrib".split())
_KINDS = ("windows", "windows_too", "said_capital")


def looks_like_windows(text: str, cwd: str) -> str:
    """Which Windows shell a typed command is meant for: "powershell", "cmd", or "" for a POSIX shell."""
    head = text[:_LIMIT]
    if not _WINDOWS_CWD.match(cwd):
        return _whatever_the_folder(head)
    outside = _QUOTED.sub("''", head)  # words in a message prove nothing
    if _has_cmdlet(outside) or _opens_with_cmdlet(head):
        return "powershell"
    if _CMD_MARKS.search(head):
        return "cmd"
    if _POWERSHELL_MARKS.search(outside):
        return "powershell"
    if not _POSIX_MARKS.search(head):
        return "cmd"
    return "powershell" if _BACKSLASH_PATH.search(outside) else ""


@cache
def _named() -> frozenset[str]:
    """The programs of which some are, in some words, of a Windows shell."""
    return frozenset().union(*map(program_set, _KINDS))


def _has_cmdlet(text: str) -> bool:
    return any(found[1].lower() in word_set("cmdlet_verbs") for found in _CMDLET.finditer(text))


def _opens_with_cmdlet(text: str) -> bool:
    found = _FIRST_CMDLET.match(text)
    return (
        found is not None
        and found[1].lower() in word_set("cmdlet_verbs")
        and found[2].lower() in word_set("cmdlet_nouns")
    )


def _whatever_the_folder(head: str) -> str:
    """The Windows shell of a text whose first word says so, in a folder that is no Windows one."""
    first = _FIRST_WORD.match(head)
    if first is None:
        return "cmd" if head.lstrip().startswith("%0|%0") else ""
    word = first[1]
    name = program_name(word) if "\\" in word or "." in word else word.lower()
    if "-" in word and name not in program_set("windows"):
        pascal = _PASCAL_CMDLET.fullmatch(word)
        sure = (
            pascal and pascal[1].lower() in word_set("cmdlet_verbs") | word_set("cmdlet_verbs_in_capitals")
        ) or _opens_with_cmdlet(head)
        return "powershell" if sure else ""
    if name not in _named():
        return ""
    posix = ";" in head or _POSIX_MARKS.search(head) is not None
    if not posix and name in program_set("windows"):
        return "cmd"
    if _SURE_CMD.match(head) and not (posix and name == "format"):
        return "powershell" if posix else "cmd"  # which has the same words, and knows a semicolon
    if name in program_set("windows_too") and _DRIVE.search(head):
        return ("cmd" if not posix else "") if name in _DRIVE_CMD else "powershell"
    return ""


# What cmd.exe does not know: a Windows machine has Git Bash too.
_POSIX_MARKS = lazy_regex(
    r"(?:^|[\s=])'[^'\n]*'|\$\(|\$\{?[A-Za-z_]|<<-?\s*['\"]?\w|/dev/null|;\s*(?:do|then|done|fi)\b|;\s|"
    r"^\s*(?:export|source)\s|`[^`\n]+`",
    re.MULTILINE,
)
_BACKSLASH_PATH = lazy_regex(r"[A-Za-z]:\\|\.\\\w|\w\\\w")
_QUOTED = lazy_regex(r"'[^'\n]*'|\"[^\"\n]*\"")
