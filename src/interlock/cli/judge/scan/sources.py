"""Picks the extractor of shell text by a file's name and first line."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from interlock.analysis.programs.load import reads_posix
from interlock.cli.judge.scan.ci import ci_file
from interlock.cli.judge.scan.docker import dockerfile
from interlock.cli.judge.scan.make import justfile, makefile
from interlock.cli.judge.scan.shell_text import Snippet, crontab, package_json, procfile, shell_script, system_crontab

Extract = Callable[[str], list[Snippet]]


class SourceKind(Struct, frozen=True):
    """One kind of file: how it is called, how it is read, and what its commands run on."""

    kind: str
    read: Extract
    disposable: str = ""  # "image" or "job": what runs there is thrown away afterwards


SHELL = SourceKind("shell", shell_script)


def _ci(kind: str) -> SourceKind:
    return SourceKind(f"{kind} steps", ci_file(kind), "job")


# The first line that matches decides; the path has / between its parts and is in lower case.
_BY_PATH: tuple[tuple[re.Pattern[str], SourceKind], ...] = tuple(
    (re.compile(f"(?:^|.*/)(?:{pattern})"), source)
    for pattern, source in (
        (r"[^/]+\.(sh|bash|zsh|ksh)", SHELL),
        (r"(gnu)?makefile|[^/]+\.(mk|mak)|makefile\.[^/]+", SourceKind("makefile", makefile)),
        (
            r"(dockerfile|containerfile)(\.[^/]+)?|[^/]+\.(dockerfile|containerfile)",
            SourceKind("dockerfile", dockerfile, "image"),
        ),
        (r"\.github/workflows/[^/]+\.ya?ml|action\.ya?ml", _ci("github")),
        (r"[^/]*\.gitlab-ci\.ya?ml|\.gitlab/ci/.*\.ya?ml|\.gitlab-ci/.*\.ya?ml", _ci("gitlab")),
        (r"\.circleci/[^/]+\.ya?ml", _ci("circleci")),
        (r"[^/]*azure-pipelines[^/]*\.ya?ml|\.azure(-pipelines|-devops)?/.*\.ya?ml", _ci("azure")),
        (r"bitbucket-pipelines\.ya?ml", _ci("bitbucket")),
        (r"\.travis\.ya?ml", _ci("travis")),
        (r"\.(drone|woodpecker)\.ya?ml|\.woodpecker/[^/]+\.ya?ml", _ci("drone")),
        (r"\.buildkite/[^/]+\.ya?ml", _ci("buildkite")),
        (r"taskfile(\.dist)?\.ya?ml", SourceKind("taskfile steps", ci_file("taskfile"))),
        (r"package\.json", SourceKind("package scripts", package_json)),
        (r"\.?justfile|[^/]+\.just", SourceKind("justfile", justfile)),
        (r"procfile(\.[^/]+)?", SourceKind("procfile", procfile)),
        (r"cron\.d/[^/]+|etc/crontab", SourceKind("crontab", system_crontab)),
        (r"crontab|[^/]+\.(cron|crontab)", SourceKind("crontab", crontab)),
    )
)


def source_of(path: str, head: bytes) -> SourceKind | None:
    """How to read this file; None when it is nothing that runs."""
    name = path.lower()
    for pattern, source in _BY_PATH:
        if pattern.fullmatch(name):
            return source
    return SHELL if reads_posix(_interpreter(head).decode("utf-8", "replace")) else None


def _interpreter(head: bytes) -> bytes:
    """The program that a first line of #! names, through env and busybox; empty when there is none."""
    if not head.startswith(b"#!"):
        return b""
    for word in head.split(b"\n", 1)[0][2:].split():
        name = word.rsplit(b"/", 1)[-1]
        if name not in (b"env", b"busybox") and not name.startswith(b"-") and b"=" not in name:
            return name
    return b""
