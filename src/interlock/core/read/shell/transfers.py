"""Clients that carry files to another machine -> what their own commands delete there, and what of this machine they run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from interlock.core.read.places import resolve
from interlock.core.read.shell.options import options, valued
from interlock.core.read.shell.session import Job, Stream

_DELETES = frozenset("rm mrm delete mdelete del mdel dele rmdir rmd".split())
_SEPARATED = re.compile(r"[;\n]|&&|\|\|")


def lftp(job: Job) -> Stream | None:
    """lftp -e 'text' site, lftp -c 'text', lftp -f FILE, and what flows in."""
    found = options(job.words, valued("-e -c -f -u -p -s"))
    texts = [*found.all("-e", "-c"), *_files(job, found.all("-f"))]
    _told(job, texts or _stdin(job))
    return None


def sftp(job: Job) -> Stream | None:
    """sftp -b FILE host, ftp host, and what flows in."""
    found = options(job.words, valued("-b -i -P -o -F -B -c -D -J -l -R -S -s"))
    files = [path for path in found.all("-b") if path != "-"]
    _told(job, [*_files(job, files)] if files else _stdin(job))
    return None


def _told(job: Job, texts: Sequence[str]) -> None:
    for text in texts:
        for line in _SEPARATED.split(text):
            words = line.replace('"', "").replace("'", "").split()
            if words and words[0].startswith("!"):
                job.shell_text(line.strip()[1:], f"{job.program} !")
            elif words:
                _command(job, words[0].lstrip("-").lower(), words[1:])


def _command(job: Job, name: str, words: Sequence[str]) -> None:
    """`glob rm x*` and `rm -rf x` alike; `mirror --delete` makes the target what the source is."""
    if name == "glob" and words:
        name, words = words[0], words[1:]
    names = [word for word in words if not word.startswith("-")]
    flags = {letter for word in words if re.fullmatch(r"-\w+", word) for letter in word[1:]}
    if name == "mirror" and ("e" in flags or any(word.startswith("--delete") for word in words)):
        target = names[-1] if names else "."
        job.effect(
            "delete",
            target,
            "recursive",
            "bulk",
            "mirror",
            *(["remote"] if "R" in flags or "--reverse" in words else []),
        )
    elif name in _DELETES:
        many = "r" in flags or name in ("mdelete", "mrm", "mdel") or any(set("*?[") & set(word) for word in names)
        for path in names:
            job.effect("delete", path, "remote", *(("recursive", "bulk") if many else ()))


def _stdin(job: Job) -> list[str]:
    return [job.stdin.text] if job.stdin is not None and job.stdin.known else []


def _files(job: Job, paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        text = job.host.session.files.get(resolve(path, job.host.cwds[0]))
        if text is not None:
            yield text


HANDLERS: dict[str, Callable[[Job], Stream | None]] = {
    "lftp": lftp,
    **dict.fromkeys(("sftp", "ftp", "ncftp", "psftp", "tnftp"), sftp),
}
