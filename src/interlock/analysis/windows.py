"""Shared by both Windows shells: recognising their text, well-known places and programs, downloaded files, relative paths."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from interlock.analysis.facts import HOLE, Report, hole, known, without_holes

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


def saved_download(program: str, words: Sequence[str]) -> tuple[str, str] | None:
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


def report_diskpart(script: str, out: Report) -> None:
    """Reports every line of a diskpart script that changes a disk."""
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
class WrittenTexts:
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


_PATH_VERBS = frozenset({"delete", "truncate", "overwrite", "write", "append", "move", "read", "run_script"})
_ABSOLUTE = re.compile(r"[A-Za-z]:|[\\/~]|\w{2,}::?\\|" + HOLE)


@dataclass(slots=True)
class RelocatedReport:
    """A Report with paths relative to the folder in which the text started."""

    out: Report
    base: str = ""
    left: list[str] = field(default_factory=list)

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

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        self.out.effect(verb, self.relocate(target) if verb in _PATH_VERBS else target, *traits)

    def run(self, argv: Sequence[str]) -> None:
        self.out.run(argv)

    def shell(self, text: str) -> None:
        self.out.shell(text)

    def code(self, language: str, text: str) -> None:
        self.out.code(language, f"cd /d {self.base} & {text}" if language == "cmd" and self.base else text)

    def unreadable(self, what: str, *traits: str) -> None:
        self.out.unreadable(what, *traits)

    def step(self, count: int = 1) -> None:
        self.out.step(count)


_WINDOWS_CWD = re.compile(r"[A-Za-z]:[\\/]|\\\\\w")
_LIMIT = 20_000

_VERBS = (
    "add|backup|clear|close|complete|compare|connect|convert|convertfrom|convertto|copy|debug|disable|disconnect|dismount|"
    "enable|enter|exit|expand|export|find|flush|format|get|grant|group|hide|import|initialize|install|invoke|join|limit|"
    "lock|measure|merge|mount|move|new|open|optimize|out|ping|pop|protect|publish|push|read|receive|redo|register|remove|"
    "rename|repair|request|reset|resize|resolve|restart|restore|resume|revoke|save|search|select|send|set|show|skip|sort|"
    "split|start|step|stop|submit|suspend|switch|sync|tee|test|trace|unblock|undo|uninstall|unlock|unprotect|unpublish|"
    "unregister|update|use|wait|watch|where|write|foreach"
)
_CMDLET = re.compile(
    rf"(?:^|[|;&({{]|=)\s*&?\s*(?:[\w.]+\\)?(?:{_VERBS})-[a-z]\w+(?=[\s|;)}}]|$)", re.IGNORECASE | re.MULTILINE
)
_SURE_NOUNS = (
    "item|itemproperty|childitem|content|volume|disk|partition|process|service|object|expression|webrequest|restmethod|"
    "computer|host|output|location|path|eventlog|aduser|adgroup|adcomputer|vm|vmsnapshot|netadapter|executionpolicy|"
    "localuser|localgroup|localgroupmember|scheduledtask|job|module|package|command|help|mppreference|recyclebin|"
    "azresourcegroup|azvm|azstorageaccount|physicaldisk|storagepool|bitlocker|smbshare|psdrive|variable|alias|random|date"
)
_FIRST_CMDLET = re.compile(rf"\s*(?:&\s*)?(?:{_VERBS})-(?:{_SURE_NOUNS})(?=[\s|;)]|$)", re.IGNORECASE)
_POWERSHELL_MARKS = re.compile(
    r"\$env:\w|\$\w+\s*=|\$(?:true|false|null|_|PSItem|PSScriptRoot|HOME)\b|\[[A-Za-z][\w.]*\]::|\[(?:char|string|int|byte)(?:\[\])?\]"
    r"|\s-(?:Recurse|Force|WhatIf|ErrorAction|Confirm|Path|LiteralPath|Filter|Include|Exclude|ItemType|ArgumentList|FilePath)\b"
    r"|@['\"]\s*\n|@[({]|\|\s*(?:%|\?|iex|foreach|where|select|ft|fl)\s*[{\w]?|^\s*(?:iex|iwr|irm|gci|ri|saps|spps|icm)\s"
    r"|^\s*(?:rm|del|rd|ls|dir|ri)\s[^\n]*\s-(?:r|fo|rec\w*)\b|^\s*&\s*['\"$(]|`\w|\bforeach\s*\(",
    re.IGNORECASE | re.MULTILINE,
)
_CMD_WORDS = (
    r"(?:rd|rmdir|del|erase|copy|xcopy|move|dir|robocopy)\s+(?:\S+\s+){0,8}/[a-z]|(?:rd|rmdir|del|erase)/[a-z]|format\s+(?:/\S+\s+)*[a-z]:|"
    r"format\s+/\?|net\s+(?:user|localgroup|stop|start|share|use)\b|reg\s+(?:delete|add|query)\b|vssadmin\b|wmic\b|"
    r"bcdedit\b|wevtutil\b|diskpart\b|bitsadmin\b|certutil\b|cipher\s+/|takeown\b|icacls\b|schtasks\b|fsutil\b|"
    r"if\s+(?:not\s+)?exist\s|for\s+(?:/[a-z]\s+)?%|setlocal\b|type\s+nul|sc\s+(?:delete|stop|config)\b|shutdown\s+/"
)
_CMD_MARKS = re.compile(
    rf"(?:^|[&|(@])\s*(?:{_CMD_WORDS})|%[A-Za-z_]\w*(?::~[^%\n]{{1,20}})?%|^\s*@echo\s|^\s*(?:rem\s|::)|\^\n|>\s*nul\b|%0\|%0",
    re.IGNORECASE | re.MULTILINE,
)
_SURE_CMD = re.compile(
    r"\s*(?:(?:rd|rmdir|del|erase)(?:\s+\S+){0,4}?\s*/[sqfa](?=[\s/]|$)|(?:rd|rmdir|del|erase)\s+(?:/\w\s+)*\"?[a-z]:\\"
    r"|format\s+(?:/\S+\s+)*[a-z]:(?=\s|$)|format\s+/\?|%0\|%0)",
    re.IGNORECASE,
)


# With a drive's path they are no program of a POSIX shell, whatever the folder.
_DRIVE = re.compile(r"(?:^|[\s\"'=])[A-Za-z]:\\")
_DRIVE_CMD = re.compile(
    r"\s*(?:robocopy|xcopy|copy|move|takeown|icacls|attrib|fsutil|cacls)(?:\.exe)?\s", re.IGNORECASE
)
_DRIVE_ALIAS = re.compile(r"\s*(?:gci|ri|gi|gc|mi|ni|rni|cpi|clc|sc|ac|rd|ls|dir|rm|del|erase)\s", re.IGNORECASE)


def looks_like_windows(text: str, cwd: str) -> str:
    """Which Windows shell a typed command is meant for: "powershell", "cmd", or "" for a POSIX shell."""
    head = text[:_LIMIT]
    if not _WINDOWS_CWD.match(cwd):
        if _FIRST_CMDLET.match(head):
            return "powershell"
        if _SURE_CMD.match(head):
            return "cmd"
        return _by_drive(head)
    outside = _without_data(head)
    if _CMDLET.search(outside) or _FIRST_CMDLET.match(head):
        return "powershell"
    if _CMD_MARKS.search(head):
        return "cmd"
    if _POWERSHELL_MARKS.search(outside):
        return "powershell"
    if not _POSIX_MARKS.search(head):
        return "cmd"
    return "powershell" if _BACKSLASH_PATH.search(outside) else ""


def _by_drive(head: str) -> str:
    if not _DRIVE.search(head):
        return ""
    if _DRIVE_CMD.match(head):
        return "cmd"
    return "powershell" if _DRIVE_ALIAS.match(head) else ""


# What cmd.exe does not know: a Windows machine has Git Bash too.
_POSIX_MARKS = re.compile(
    r"(?:^|[\s=])'[^'\n]*'|\$\(|\$\{?[A-Za-z_]|<<-?\s*['\"]?\w|/dev/null|;\s*(?:do|then|done|fi)\b|;\s|"
    r"^\s*(?:export|source)\s|`[^`\n]+`",
    re.MULTILINE,
)
_BACKSLASH_PATH = re.compile(r"[A-Za-z]:\\|\.\\\w|\w\\\w")


_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")


def _without_data(text: str) -> str:
    """The text with what stands in quotes left out, so that words in a message prove nothing."""
    return _QUOTED.sub("''", text)
