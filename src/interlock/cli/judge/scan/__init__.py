"""`interlock scan`: finds dangerous commands in scripts and build files, and counts what it skips; prints a table, JSON or SARIF."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from itertools import islice
from typing import Any
from urllib.parse import quote

from msgspec import Struct, convert, field

import interlock
from interlock.analysis.display_text import visible
from interlock.analysis.programs.load import reads_posix
from interlock.cli.arguments import declared_parser
from interlock.cli.judge.scan import shell_text
from interlock.cli.judge.scan.ci import ci_steps
from interlock.cli.judge.scan.shell_text import TABLES, Snippet
from interlock.cli.output import pluralize, progress, say_json, say_table
from interlock.engine.assessment import Unjudged, judge
from interlock.impact.files import decode, read_bytes
from interlock.model import Finding, Level, command, finding_json


def main(argv: Sequence[str]) -> int:
    args = declared_parser(__name__, "scan").parse_args(list(argv))
    if lost := [path for path in args.paths if not os.path.isfile(path) and not os.path.isdir(path)]:
        print(f"interlock scan: no file or folder {lost[0]!r}", file=sys.stderr)
        return 2
    threshold = next(level for level in Level if level.word == args.fail_on)
    with progress("Scanning", quiet=args.quiet) as tick:
        result = scan(args.paths, args.exclude, min(threshold, Level.DESTRUCTIVE), tick)
    hits, failed = result.hits, sum(hit.finding.level >= threshold for hit in result.hits)
    if args.format == "json":
        body = {"files": result.files, "unread": result.unread, "findings": [_hit_json(hit) for hit in hits]}
        say_json(body)
    elif args.format == "sarif":
        say_json(sarif(hits, interlock.__version__))
    elif hits:
        rows = [(f"{hit.file}:{hit.line}", hit.finding.level.word, hit.finding.rule, hit.message) for hit in hits]
        say_table(("where", "level", "rule", "what"), rows)
    if not args.quiet:
        files = f"{pluralize(result.files, 'file')} with commands"
        unread = f", {len(result.unread)} too long to read" if result.unread else ""
        found = f"{pluralize(len(hits), 'finding')}, {failed} at {threshold.word} or above"
        words = f"{files}{unread}; {found if hits else 'nothing found'}."
        print(words, file=sys.stdout if args.format == "table" else sys.stderr)
    return 1 if failed else 0


def _hit_json(hit: Hit) -> dict[str, Any]:
    finding = finding_json(hit.finding)
    del finding["span"]  # of the piece that was read, which is not in the output
    place = {"file": hit.file, "line": hit.line, "kind": hit.kind, "rule": finding.pop("id")}
    return {**place, "level_name": hit.finding.level.word, **finding, "message": hit.message}


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVEL = ("none", "note", "warning", "error", "error")  # SARIF's word for each level
_SEVERITY = ("0.0", "2.0", "5.5", "8.0", "9.5")


def sarif(hits: Sequence[Hit], version: str) -> dict[str, Any]:
    rules: dict[str, Finding] = {}
    for hit in hits:
        rules.setdefault(hit.finding.rule, hit.finding)
    driver = {"name": "Interlock", "semanticVersion": version, "rules": list(map(_rule, rules.values()))}
    order = {rule: place for place, rule in enumerate(rules)}
    results = [_result(hit, order[hit.finding.rule]) for hit in hits]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(finding: Finding) -> dict[str, Any]:
    instead = f" Instead: {finding.instead}" if finding.instead else ""
    return {
        "id": finding.rule,
        "shortDescription": {"text": finding.reason},
        "help": {"text": f"{finding.reason}{instead}"},
        "defaultConfiguration": {"level": _LEVEL[finding.level]},
        "properties": {
            "tags": ["security", *([finding.category.value] if finding.category else [])],
            "security-severity": _SEVERITY[finding.level],
            "irreversible": finding.irreversible,
        },
    }


def _result(hit: Hit, rule_index: int) -> dict[str, Any]:
    path = quote(hit.file.replace("\\", "/").encode("utf-8", "surrogateescape"))
    uri = f"file://{path}" if path.startswith("/") else path
    place = {"artifactLocation": {"uri": uri}, "region": {"startLine": hit.line}}
    return {
        "ruleId": hit.finding.rule,
        "ruleIndex": rule_index,
        "level": _LEVEL[hit.finding.level],
        "message": {"text": hit.message},
        "locations": [{"physicalLocation": place}],
    }


MAX_BYTES = 1024 * 1024
MAX_FILES = 200_000
MAX_SNIPPETS = 5000  # of one file
_HEAD = 256
_PROJECT = "/home/user/project"  # the answer must not depend on where the files happen to be checked out

_ORDINARY = {place: frozenset(words) for place, words in TABLES["ordinary"].items()}


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
    for top in map(os.path.normpath, paths):
        pending = [top]
        while pending:
            path = pending.pop()
            if path != top and _is_excluded(path, excluded):
                continue
            if os.path.isdir(path):
                pending += reversed(_entries(path))
            else:
                yield path


def _entries(folder: str) -> list[str]:
    with suppress(OSError), os.scandir(folder) as found:
        return sorted(
            os.path.join(folder, entry.name) if folder != "." else entry.name
            for entry in found
            if entry.is_file(follow_symlinks=False)
            or (entry.is_dir(follow_symlinks=False) and entry.name not in TABLES["skipped"])
        )
    return []


def _is_excluded(path: str, excluded: Sequence[str]) -> bool:
    name = path.rsplit("/", 1)[-1]
    return any(fnmatch(path, glob) or fnmatch(name, glob) or fnmatch(path, f"*/{glob}") for glob in excluded)


def scan_file(path: str, into: Scan, lowest: Level) -> None:
    full = os.path.abspath(path)
    head = read_bytes(full, _HEAD)
    if not head or b"\0" in head or (source := source_of(full, head)) is None:
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


def scan(paths: Sequence[str], excluded: Sequence[str], lowest: Level, tick: Callable[[str], None]) -> Scan:
    result = Scan()
    for path in islice(files_under(paths, excluded), MAX_FILES):
        tick(path)
        scan_file(path, result, lowest)
    return result


class SourceKind(Struct, frozen=True):
    kind: str
    path: str
    reader: str = ""
    keys: frozenset[str] = frozenset()
    above: str = ""
    runs_in: str = "script"

    def read(self, text: str) -> list[Snippet]:
        if not self.reader:
            return ci_steps(text, self.keys, self.above)
        found: list[Snippet] = getattr(shell_text, self.reader)(text)
        return found


_SOURCES = convert(TABLES["source"], list[SourceKind])
_PATHS = [(re.compile(f"(?:^|.*/)(?:{one.path})"), one) for one in _SOURCES]


def source_of(path: str, head: bytes) -> SourceKind | None:
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
