"""Walks files and folders and judges the shell text in them, with file and line; skips what is too long, and says so."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from msgspec import Struct, convert, field

from interlock.analysis.display_text import visible
from interlock.analysis.programs.load import reads_posix
from interlock.cli.judge.scan.ci import ci_steps
from interlock.cli.judge.scan.shell_text import (
    Snippet,
    crontab,
    dockerfile,
    justfile,
    makefile,
    package_json,
    procfile,
    shell_script,
    system_crontab,
)
from interlock.engine.assessment import Unjudged, judge
from interlock.impact.files import decode, read_bytes
from interlock.model import Finding, Level, command

MAX_BYTES = 1024 * 1024
MAX_FILES = 200_000
MAX_SNIPPETS = 5000  # of one file
_HEAD = 256
_PROJECT = "/home/user/project"  # the answer must not depend on where the files happen to be checked out
_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache"})

_TABLES = tomllib.loads(Path(__file__).with_name("sources.toml").read_text("utf-8"))
_ORDINARY = {place: frozenset(words) for place, words in _TABLES["ordinary"].items()}


class Hit(Struct, frozen=True):
    file: str
    line: int
    finding: Finding
    kind: str

    @property
    def message(self) -> str:
        return f"{visible(self.finding.subject) or self.kind}: {self.finding.reason}"


class Scan(Struct):
    hits: list[Hit] = field(default_factory=list)
    files: int = 0  # those with shell text in them
    unread: list[str] = field(default_factory=list)


def files_under(paths: Sequence[str], excluded: Sequence[str]) -> Iterator[str]:
    """All files, in order; symbolic links inside a folder are not followed."""
    seen = 0
    for top in paths:
        pending = [os.path.normpath(top)]
        while pending:
            path = pending.pop()
            if path != os.path.normpath(top) and _is_excluded(path, excluded):
                continue
            if os.path.isdir(path):
                pending += reversed(_entries(path))
                continue
            seen += 1
            if seen > MAX_FILES:
                return
            yield path


def _entries(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as found:
            names = [entry for entry in found if not entry.is_symlink()]
            return sorted(
                os.path.join(folder, entry.name) if folder != "." else entry.name
                for entry in names
                if entry.is_file(follow_symlinks=False)
                or (entry.is_dir(follow_symlinks=False) and entry.name not in _SKIPPED)
            )
    except OSError:
        return []


def _is_excluded(path: str, excluded: Sequence[str]) -> bool:
    slashed = path.replace(os.sep, "/")
    name = slashed.rsplit("/", 1)[-1]
    return any(fnmatch(slashed, glob) or fnmatch(name, glob) or fnmatch(slashed, f"*/{glob}") for glob in excluded)


def scan_file(path: str, into: Scan, lowest: Level) -> None:
    full = os.path.abspath(path)
    head = read_bytes(full, _HEAD)
    source = source_of(full.replace(os.sep, "/"), head) if head else None
    if source is None or head is None or b"\0" in head:
        return
    data = read_bytes(full, MAX_BYTES)
    if data is None or len(data) > MAX_BYTES:
        into.unread.append(path)
        return
    into.files += 1
    pieces = source.read(decode(data).replace("\r\n", "\n"))
    if len(pieces) > MAX_SNIPPETS:
        into.unread.append(path)
    hits: dict[tuple[int, str, str], Hit] = {}
    for piece in pieces[:MAX_SNIPPETS]:
        for hit in _hits(path, piece, source, lowest):
            hits.setdefault((hit.line, hit.finding.rule, hit.finding.subject), hit)
    into.hits += sorted(hits.values(), key=lambda hit: (hit.line, -hit.finding.level))


def _hits(path: str, piece: Snippet, source: SourceKind, lowest: Level) -> Iterator[Hit]:
    found = judge(command(piece.text, piece.cwd or _PROJECT))
    if isinstance(found, Unjudged):
        unread = Finding("scan.unjudged", Level.FORBIDDEN, False, f"This {found.error}.", subject=source.kind)
        yield Hit(path, piece.lines[0], unread, source.kind)
        return
    for finding in found.findings:
        ordinary = _ORDINARY[source.runs_in] & {finding.rule, finding.rule.split(".")[0]}
        if finding.level >= lowest and (not ordinary or finding.level >= Level.FORBIDDEN):
            yield Hit(path, piece.line_at(finding.span[0] if finding.span else 0), finding, source.kind)


Tick = Callable[[str], None]


def scan(paths: Sequence[str], excluded: Sequence[str], lowest: Level, tick: Tick) -> Scan:
    result = Scan()
    for path in files_under(paths, excluded):
        tick(path)
        scan_file(path, result, lowest)
    return result


_READERS = {
    read.__name__: read
    for read in (shell_script, makefile, dockerfile, package_json, justfile, procfile, crontab, system_crontab)
}


class SourceKind(Struct, frozen=True):
    kind: str
    path: str
    reader: str = ""
    keys: frozenset[str] = frozenset()
    above: str = ""
    runs_in: str = "script"

    def read(self, text: str) -> list[Snippet]:
        return _READERS[self.reader](text) if self.reader else ci_steps(text, self.keys, self.above)


_SOURCES = convert(_TABLES["source"], list[SourceKind])
_PATHS = [(re.compile(f"(?:^|.*/)(?:{one.path})"), one) for one in _SOURCES]


def source_of(path: str, head: bytes) -> SourceKind | None:
    """How to read this file; None when it is nothing that runs."""
    name = path.lower()
    for pattern, source in _PATHS:
        if pattern.fullmatch(name):
            return source
    if not head.startswith(b"#!"):
        return None
    names = (word.rsplit("/", 1)[-1] for word in head.split(b"\n", 1)[0][2:].decode("utf-8", "replace").split())
    # The program that the first line names, through env and busybox.
    program = next((one for one in names if one not in ("env", "busybox") and one[:1] != "-" and "=" not in one), "")
    return _SOURCES[0] if reads_posix(program) else None
