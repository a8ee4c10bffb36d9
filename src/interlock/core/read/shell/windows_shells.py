"""PowerShell and cmd started from another shell: their -Command, -EncodedCommand and /c text."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from interlock.core.read.facts import known
from interlock.core.read.shell.interpret import run_source
from interlock.core.read.shell.session import UNKNOWN, Job, Stream


def powershell(job: Job) -> Stream | None:
    """powershell -Command text, -EncodedCommand base64, -File path, or what flows in."""
    words = job.words
    for index, word in enumerate(words):
        flag = word.lower().lstrip("-/")
        if word[:1] not in ("-", "/"):
            job.code("powershell", " ".join(words[index:]), job.program)
            return UNKNOWN
        if (flag and "command".startswith(flag) and flag != "co") or flag in ("c", "commandwithargs", "cwa"):
            text = " ".join(words[index + 1 :])
            if text.strip() == "-" and job.stdin is not None:
                text = job.stdin.text
            job.code("powershell", text, f"{job.program} -Command")
            return UNKNOWN
        if flag and ("encodedcommand".startswith(flag) or flag in ("ec", "enc")):
            _encoded(job, words[index + 1] if index + 1 < len(words) else "")
            return UNKNOWN
        if flag and "file".startswith(flag) and index + 1 < len(words):
            return run_source(job, "powershell", words[index + 1], words[index + 2 :])
        if flag in (
            "executionpolicy",
            "ep",
            "ex",
            "exec",
            "windowstyle",
            "w",
            "version",
            "configurationname",
            "workingdirectory",
            "wd",
            "inputformat",
            "outputformat",
            "psconsolefile",
        ):
            return (
                powershell(Job(job.host, job.program, words[index + 2 :], job.where, job.stdin))
                if index + 2 < len(words)
                else None
            )
    if job.stdin is not None:
        job.code("powershell", job.stdin.text, job.program)
    return UNKNOWN


def _encoded(job: Job, text: str) -> None:
    try:
        code = base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-16-le", "replace") if known(text) else ""
    except (ValueError, binascii.Error):
        code = ""
    if code:
        job.code("powershell", code, f"{job.program} -EncodedCommand")
    else:
        job.unreadable("an encoded command cannot be decoded", "payload")


def cmd(job: Job) -> Stream | None:
    """cmd /c text."""
    for index, word in enumerate(job.words):
        if word.lower()[:2] in ("/c", "/k", "/r") or word.lower() in ("//c", "//k"):
            attached = word[2:] if word[:2] != "//" else ""
            text = " ".join([*([attached] if attached else []), *job.words[index + 1 :]])
            job.code("cmd", text, f"{job.program} {word[:2]}")
            return UNKNOWN
    return None


def scheduled(job: Job) -> Stream | None:
    """schtasks /create /tr text: what the task will run."""
    for flag, text in zip(job.words, job.words[1:], strict=False):
        if flag.lower() == "/tr":
            job.code("cmd", text, "schtasks /tr")
    return None


HANDLERS: dict[str, Callable[[Job], Stream | None]] = {
    **dict.fromkeys(("powershell", "pwsh", "powershell_ise"), powershell),
    "cmd": cmd,
    "schtasks": scheduled,
}
