"""What do the two Windows shells have in common: well-known places, programs, and files made along the way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from interlock.core.read.facts import HOLE, Report, hole, known, without_holes

TEMP = "~\\AppData\\Local\\Temp"

PLACES = MappingProxyType({
    "userprofile": "~",
    "homepath": "~",
    "home": "~",
    "homedrive": "",
    "systemroot": "C:\\Windows",
    "windir": "C:\\Windows",
    "systemdrive": "C:",
    "temp": TEMP,
    "tmp": TEMP,
    "appdata": "~\\AppData\\Roaming",
    "localappdata": "~\\AppData\\Local",
    "programfiles": "C:\\Program Files",
    "programfiles(x86)": "C:\\Program Files (x86)",
    "programw6432": "C:\\Program Files",
    "programdata": "C:\\ProgramData",
    "allusersprofile": "C:\\ProgramData",
    "public": "C:\\Users\\Public",
    "onedrive": "~\\OneDrive",
    "comspec": "C:\\Windows\\system32\\cmd.exe",
})  # fmt: skip

SCRIPTS = MappingProxyType({".ps1": "powershell", ".bat": "cmd", ".cmd": "cmd"})

# Programs that run the text they are piped, and the language of that text.
INTERPRETERS = MappingProxyType({
    "cmd": "cmd",
    "powershell": "powershell",
    "pwsh": "powershell",
    "bash": "shell",
    "sh": "shell",
    "wsl": "shell",
    "python": "python",
    "python3": "python",
    "py": "python",
    "node": "javascript",
    "perl": "perl",
    "ruby": "ruby",
    "php": "php",
    "psql": "sql",
    "mysql": "sql",
    "mariadb": "sql",
    "sqlcmd": "sql",
    "sqlite3": "sql",
})  # fmt: skip

# Programs that run the file they are given, so that a downloaded file among their words is run.
LAUNCHERS = frozenset({
    "cmd", "powershell", "pwsh", "start", "call", "msiexec", "rundll32", "regsvr32", "mshta", "wscript", "cscript",
    "python", "python3", "py", "node", "bash", "sh", "perl", "ruby", "php", "java", "explorer", "wsl", "forfiles",
})  # fmt: skip

_URL = re.compile(r"(?:https?|ftp)://[^\s\"'<>|]+", re.IGNORECASE)
_DISKPART = re.compile(r"(?:clean|format|delete|convert|create|offline)\b", re.IGNORECASE)
_CURL_FILE = frozenset({"-o", "--output", "-OutFile", "--output-document", "-Lo", "-sLo", "-fsSLo", "-so", "-sSLo"})
_POWERSHELL_FILE = re.compile(r"-(?:OutFile|o)\s+(\S+)|DownloadFile\([^,]{1,2000},\s*['\"]?([^)'\"]+)", re.IGNORECASE)
_DOWNLOAD = "download "


def place(name: str) -> str:
    """The value of an environment variable, where every machine has about the same one."""
    return PLACES.get(name.lower(), hole(name))


def wildcard(path: str) -> bool:
    """True for a path that names more than one file."""
    return any(mark in without_holes(path) for mark in "*?")


def program_name(path: str) -> str:
    """The bare name of a program, as rules know it."""
    name = re.split(r"[\\/]", path.strip().strip('"'))[-1].lower()
    return name.removesuffix(".exe")


def suffix(path: str) -> str:
    """The extension of a file name, in lower case, with its dot."""
    name = re.split(r"[\\/]", path)[-1]
    return name[name.rfind(".") :].lower() if "." in name else ""


def first_url(words: Sequence[str]) -> str:
    """The first address among some words."""
    return next((found.group() for word in words if (found := _URL.search(word))), "")


def saved_by(program: str, words: Sequence[str]) -> tuple[str, str] | None:
    """The address and the file of a program that downloads to a file."""
    url = first_url(words)
    if not url:
        return None
    if program in ("curl", "wget"):
        for word, following in zip(words, [*words[1:], ""]):
            if word in _CURL_FILE:
                return url, following
            if word.startswith(("--output=", "--output-document=")):
                return url, word.partition("=")[2]
            if word in ("-O", "--remote-name", "-LO", "-OL") or (program == "wget" and word == url):
                return url, url.rpartition("/")[2]
        return None
    if program in ("powershell", "pwsh"):
        found = _POWERSHELL_FILE.search(" ".join(words))
        return (url, (found.group(1) or found.group(2)).strip("'\"")) if found else None
    plain_words = [word for word in words if not word.startswith(("/", "-")) and word.strip('"') != url]
    if program in ("bitsadmin", "certutil", "aria2c") and plain_words:
        return url, plain_words[-1]
    return None


def downloaded(url: str) -> str:
    """The mark for text that would come from this address."""
    return hole(_DOWNLOAD + without_holes(url, "…"))


def download_in(text: str) -> str | None:
    """The address that some of this text would come from, if any of it was downloaded."""
    for part in text.split(HOLE)[1::2]:
        if part.startswith(_DOWNLOAD):
            return part[len(_DOWNLOAD) :]
    return None


def plain_holes(text: str) -> str:
    """The text, with download marks told as ordinary holes."""
    return text if known(text) else text.replace(HOLE + _DOWNLOAD, HOLE)


def report_diskpart(script: str, out: Report) -> None:
    """Tell every line of a diskpart script that changes a disk."""
    for line in script.splitlines():
        out.step()
        if _DISKPART.match(line.strip()):
            out.run(["diskpart", *line.lower().split()])


def runs_input(program: str, words: Sequence[str]) -> bool:
    """True for a program that, with these words, runs the text it is piped."""
    language = INTERPRETERS.get(program)
    if language == "sql":
        return True
    return language is not None and all(word == "-" or (word[:1] in "-/" and len(word) < 3) for word in words if word)


def hand_over(language: str, text: str, out: Report) -> None:
    """Give text to the reader of its language."""
    if language == "shell":
        out.shell(text)
    else:
        out.code(language, text)


@dataclass(slots=True)
class Files:
    """The files that a text makes before it runs them."""

    texts: dict[str, str] = field(default_factory=dict)
    urls: dict[str, str] = field(default_factory=dict)

    def write(self, path: str, text: str, append: bool = False) -> None:
        """Remember what was written."""
        key = _key(path)
        self.texts[key] = f"{self.texts.get(key, '')}{text}\n" if append else f"{text}\n"
        if (url := download_in(text)) is not None:
            self.urls[key] = url

    def download(self, path: str, url: str) -> None:
        """Remember where a file came from."""
        self.urls[_key(path)] = url

    def text(self, path: str) -> str | None:
        """What was written to this file, when it was written here."""
        return self.texts.get(_key(path))

    def url(self, path: str) -> str | None:
        """Where this file was downloaded from, when that was here; the extension may be left out."""
        key = _key(path)
        return self.urls.get(key) or self.urls.get(key + ".exe") or self.urls.get(key + ".bat")

    def url_among(self, program: str, words: Sequence[str]) -> str | None:
        """Where a program, or the file that a launcher is given, was downloaded from."""
        given = [program]
        if program_name(program) in LAUNCHERS:
            given += [piece for word in words for piece in (word, *word.replace('"', " ").replace("'", " ").split())]
            given += [word.partition(",")[0] for word in words]
        return next((url for word in given if (url := self.url(word)) is not None), None)


def _key(path: str) -> str:
    text = path.strip().strip("\"'").replace("/", "\\").lower()
    while text.startswith(".\\"):
        text = text[2:]
    return text
