"""`interlock scan`: finds dangerous commands in the scripts and build files of a repository; prints a table, JSON or SARIF."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import interlock
from interlock.analysis.display_text import visible
from interlock.cli.arguments import declared_parser
from interlock.cli.judge.scan.scanner import Hit, Scan, missing_paths, scan
from interlock.cli.output import print_table, progress
from interlock.model import Finding, Level, finding_json

_LEVELS = {level.word: level for level in Level if level > Level.SAFE}


def main(argv: Sequence[str]) -> int:
    """Scan the paths and print what was found; returns 1 when something reaches the threshold."""
    args = declared_parser(__name__, "scan").parse_args(list(argv))
    if lost := missing_paths(args.paths):
        print(f"interlock scan: no file or folder {lost[0]!r}", file=sys.stderr)
        return 2
    threshold = _LEVELS[args.fail_on]
    with progress("Scanning", "files", quiet=args.quiet) as tick:
        result = scan(args.paths, args.exclude, min(threshold, Level.DESTRUCTIVE), tick)
    _FORMATS[args.format](result)
    failed = sum(hit.finding.level >= threshold for hit in result.hits)
    if not args.quiet:
        print(_summary(result, failed, threshold), file=sys.stdout if args.format == "table" else sys.stderr)
    return 1 if failed else 0


def _table(result: Scan) -> None:
    if not result.hits:
        return
    rows = [
        (f"{visible(hit.file)}:{hit.line}", hit.finding.level.word, hit.finding.rule, hit.message)
        for hit in result.hits
    ]
    print_table(("where", "level", "rule", "what"), rows, sys.stdout)


def _json(result: Scan) -> None:
    report = {"files": result.files, "unread": result.unread, "findings": [_hit_json(hit) for hit in result.hits]}
    print(json.dumps(report, indent=2))


def _hit_json(hit: Hit) -> dict[str, Any]:
    finding = finding_json(hit.finding)
    del finding["span"]  # of the piece that was read, which is not in the output
    rule = finding.pop("id")
    place = {"file": hit.file, "line": hit.line, "kind": hit.kind, "rule": rule, "level_name": hit.finding.level.word}
    return {**place, **finding, "message": hit.message}


def _sarif(result: Scan) -> None:
    print(json.dumps(sarif(result.hits, interlock.__version__), indent=2))


_FORMATS: Mapping[str, Callable[[Scan], None]] = {"table": _table, "json": _json, "sarif": _sarif}


def _summary(result: Scan, failed: int, threshold: Level) -> str:
    files = f"{result.files} file{'' if result.files == 1 else 's'} with commands"
    unread = f", {len(result.unread)} too long to read" if result.unread else ""
    if not result.hits:
        return f"{files}{unread}; nothing found."
    found = f"{len(result.hits)} finding{'' if len(result.hits) == 1 else 's'}"
    return f"{files}{unread}; {found}, {failed} at {threshold.word} or above."


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVEL = {
    Level.SAFE: "none",
    Level.REVERSIBLE: "note",
    Level.DESTRUCTIVE: "warning",
    Level.DANGEROUS: "error",
    Level.FORBIDDEN: "error",
}
_SEVERITY = {
    Level.SAFE: "0.0",
    Level.REVERSIBLE: "2.0",
    Level.DESTRUCTIVE: "5.5",
    Level.DANGEROUS: "8.0",
    Level.FORBIDDEN: "9.5",
}


def sarif(hits: Sequence[Hit], version: str) -> dict[str, Any]:
    """One run with the rules that fired and every hit."""
    rules: dict[str, Finding] = {}
    for hit in hits:
        rules.setdefault(hit.finding.rule, hit.finding)
    order = {rule: place for place, rule in enumerate(rules)}
    driver = {"name": "Interlock", "semanticVersion": version, "rules": [_rule(finding) for finding in rules.values()]}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(hit, order[hit.finding.rule]) for hit in hits],
            }
        ],
    }


def _rule(finding: Finding) -> dict[str, Any]:
    help_text = f"{finding.reason} Instead: {finding.instead}" if finding.instead else finding.reason
    return {
        "id": finding.rule,
        "shortDescription": {"text": finding.reason},
        "help": {"text": help_text},
        "defaultConfiguration": {"level": _LEVEL[finding.level]},
        "properties": {
            "tags": ["security", *([finding.category.value] if finding.category else [])],
            "security-severity": _SEVERITY[finding.level],
            "irreversible": finding.irreversible,
        },
    }


def _result(hit: Hit, rule_index: int) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": _uri(hit.file)}, "region": {"startLine": hit.line}}
    return {
        "ruleId": hit.finding.rule,
        "ruleIndex": rule_index,
        "level": _LEVEL[hit.finding.level],
        "message": {"text": hit.message},
        "locations": [{"physicalLocation": place}],
    }


def _uri(path: str) -> str:
    slashed = quote(path.replace("\\", "/").encode("utf-8", "surrogateescape"))
    return f"file://{slashed}" if slashed.startswith("/") else slashed
