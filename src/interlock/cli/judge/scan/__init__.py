"""`interlock scan`: finds dangerous commands in the scripts and build files of a repository; prints a table, JSON or SARIF."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import interlock
from interlock.cli.arguments import declared_parser
from interlock.cli.judge.scan.scanner import Hit, scan
from interlock.cli.output import print_table, progress
from interlock.model import Finding, Level, finding_json


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
        print(json.dumps(body, indent=2))
    elif args.format == "sarif":
        print(json.dumps(sarif(hits, interlock.__version__), indent=2))
    elif hits:
        rows = [(f"{hit.file}:{hit.line}", hit.finding.level.word, hit.finding.rule, hit.message) for hit in hits]
        print_table(("where", "level", "rule", "what"), rows, sys.stdout)
    if not args.quiet:
        files = f"{result.files} file{'' if result.files == 1 else 's'} with commands"
        unread = f", {len(result.unread)} too long to read" if result.unread else ""
        found = f"{len(hits)} finding{'' if len(hits) == 1 else 's'}, {failed} at {threshold.word} or above"
        words = f"{files}{unread}; {found if hits else 'nothing found'}."
        print(words, file=sys.stdout if args.format == "table" else sys.stderr)
    return 1 if failed else 0


def _hit_json(hit: Hit) -> dict[str, Any]:
    finding = finding_json(hit.finding)
    del finding["span"]  # of the piece that was read, which is not in the output
    rule = finding.pop("id")
    place = {"file": hit.file, "line": hit.line, "kind": hit.kind, "rule": rule, "level_name": hit.finding.level.word}
    return {**place, **finding, "message": hit.message}


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVEL = ("none", "note", "warning", "error", "error")  # SARIF's word for each level
_SEVERITY = ("0.0", "2.0", "5.5", "8.0", "9.5")


def sarif(hits: Sequence[Hit], version: str) -> dict[str, Any]:
    rules: dict[str, Finding] = {}
    for hit in hits:
        rules.setdefault(hit.finding.rule, hit.finding)
    order = {rule: place for place, rule in enumerate(rules)}
    driver = {"name": "Interlock", "semanticVersion": version, "rules": [_rule(finding) for finding in rules.values()]}
    results = [_result(hit, order[hit.finding.rule]) for hit in hits]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


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
