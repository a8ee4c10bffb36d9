"""Windows programs: shells, remote runners, schedulers and services that run text, scripts of disk tools."""

from __future__ import annotations

import base64
import re
from itertools import pairwise

from interlock.analysis.facts import known
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import word_set
from interlock.analysis.shell import UNKNOWN, Job, Reader, Stream
from interlock.analysis.shell.interpreters import run_source
from interlock.analysis.windows import cmd_line, saved_download


def powershell(job: Job) -> Stream:
    words = list(job.words)
    while words:
        word = words.pop(0)
        flag = word.lower().lstrip("-/\u2013\u2014")
        if flag == word.lower():
            return _read(job, " ".join([word, *words]), job.program)
        if not flag:
            continue
        if ("command".startswith(flag) and flag != "co") or flag in ("commandwithargs", "cwa"):
            text = " ".join(words)
            text = job.stdin.text if text.strip() == "-" and job.piped else text
            return _read(job, text, f"{job.program} -Command")
        if "encodedcommand".startswith(flag) or flag == "ec":
            if code := _decoded("".join(words[:1])):
                return _read(job, code, f"{job.program} -EncodedCommand")
            job.unreadable("an encoded command cannot be decoded", "payload")
            return UNKNOWN
        if "file".startswith(flag) and words and words[0] != "-":
            return run_source(job, "powershell", words[0], words[1:])
        if flag in word_set("powershell_values"):
            del words[:1]
    _piped(job, "powershell")
    return UNKNOWN


def _read(job: Job, code: str, via: str) -> Stream:
    job.code("powershell", code, via)
    return UNKNOWN


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-16-le", "replace")
    except ValueError:
        return ""


def _piped(job: Job, language: str) -> None:
    if (text := job.text_to_run()) is not None:
        job.code(language, text, job.program)


def _cmd(job: Job) -> Stream | None:
    for index, word in enumerate(job.words):
        if found := _RUNS.match(word):
            text = " ".join(filter(None, [word[found.end() :], *job.words[index + 1 :]]))
            job.code("cmd", text, f"{job.program} {word[:2]}")
            return UNKNOWN
    _piped(job, "cmd")
    return UNKNOWN if job.piped else None


_RUNS = lazy_regex(r"/[ckr]|//[ck]$", re.IGNORECASE)


def _scripted(job: Job) -> None:
    """Named by /s, or flowing in."""
    paths = [after for word, after in pairwise(job.words) if word.lower() in ("/s", "-s")]
    for text in [*map(job.file_text, paths[:1])] or [job.stdin.text] * job.piped:
        if text is None or not known(text):
            job.unreadable(f"a script of {job.program} that cannot be read", "payload")
            continue
        for line in text.splitlines():
            job.step()
            words = line.lower().split()
            if words[:1] == ["exec"]:  # runs a file
                job.code("cmd", line.strip()[4:].strip())
            elif words and words[0] not in job.described.neutral:
                job.run([job.program, *words])


def _by_cmd(job: Job) -> Stream:
    """Known to cmd's reader, run from another shell."""
    job.code("cmd", cmd_line([job.program, *job.words]))
    return UNKNOWN


def _fetched(job: Job) -> None:
    """certutil -urlcache, bitsadmin /transfer: where the file came from."""
    if (saved := saved_download(job.program, job.words)) is not None:
        job.session.downloads[job.full(saved[1])] = saved[0]


READERS: dict[str, Reader] = {
    "powershell": powershell,
    "cmd": _cmd,
    "disk_script": _scripted,
    "by_cmd": _by_cmd,
    "fetched": _fetched,
}
