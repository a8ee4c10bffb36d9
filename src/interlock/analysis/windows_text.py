"""Recognises text for a Windows shell: PowerShell, cmd, or neither."""

from __future__ import annotations

import re
from functools import cache

from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import program_set
from interlock.analysis.windows import program_name

_WINDOWS_CWD = re.compile(r"[A-Za-z]:[\\/]|\\\\\w")
_LIMIT = 20_000

_VERBS = frozenset(
    """add backup clear close complete compare connect convert convertfrom convertto copy debug disable disconnect dismount
    enable enter exit expand export find flush format get grant group hide import initialize install invoke join limit lock
    measure merge mount move new open optimize out ping pop protect publish push read receive redo register remove rename
    repair request reset resize resolve restart restore resume revoke save search select send set show skip sort split start
    step stop submit suspend switch sync tee test trace unblock undo uninstall unlock unprotect unpublish unregister update
    use wait watch where write foreach""".split()
)
_VERBS_OF_PASCAL = _VERBS | frozenset("block deny assert approve confirm".split())
_CMDLET = lazy_regex(
    r"(?:^|[|;&({=])\s*&?\s*(?:[\w.]+\\)?([a-z]+)-[a-z]\w+(?=[\s|;)}]|$)", re.IGNORECASE | re.MULTILINE
)
_SURE_NOUNS = frozenset(
    """item itemproperty childitem content volume disk partition process service object expression webrequest restmethod
    computer host output location path eventlog aduser adgroup adcomputer vm vmsnapshot netadapter executionpolicy localuser
    localgroup localgroupmember scheduledtask job module package command help mppreference recyclebin azresourcegroup azvm
    azstorageaccount physicaldisk storagepool bitlocker smbshare psdrive variable alias random date""".split()
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
_FIRST_WORD = re.compile(r"\s*(?:[@&.]\s*)?([A-Za-z][\w.\\-]*)(?=[\s/|;)]|$)")
_DRIVE_CMD = frozenset("copy move ren rename type attrib".split())


_KINDS = ("windows", "windows_too", "said_capital")


def looks_like_windows(text: str, cwd: str) -> str:
    """Which Windows shell a typed command is meant for: "powershell", "cmd", or "" for a POSIX shell."""
    head = text[:_LIMIT]
    if not _WINDOWS_CWD.match(cwd):
        return _whatever_the_folder(head)
    outside = _without_data(head)
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
    return any(found[1].lower() in _VERBS for found in _CMDLET.finditer(text))


def _opens_with_cmdlet(text: str) -> bool:
    found = _FIRST_CMDLET.match(text)
    return found is not None and found[1].lower() in _VERBS and found[2].lower() in _SURE_NOUNS


def _whatever_the_folder(head: str) -> str:
    """The Windows shell of a text whose first word says so, in a folder that is no Windows one."""
    first = _FIRST_WORD.match(head)
    if first is None:
        return "cmd" if head.lstrip().startswith("%0|%0") else ""
    word = first[1]
    name = program_name(word) if "\\" in word or "." in word else word.lower()
    if "-" in word and name not in program_set("windows"):
        pascal = _PASCAL_CMDLET.fullmatch(word)
        sure = (pascal and pascal[1].lower() in _VERBS_OF_PASCAL) or _opens_with_cmdlet(head)
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


def _without_data(text: str) -> str:
    """The text with what stands in quotes left out, so that words in a message prove nothing."""
    return _QUOTED.sub("''", text)
