"""Renders the hits of a scan as SARIF 2.1.0, which code hosts show beside the lines."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from interlock.cli.judge.scan.scanner import Hit
from interlock.model import Finding, Level

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVEL = MappingProxyType(
    {
        Level.SAFE: "none",
        Level.REVERSIBLE: "note",
        Level.DESTRUCTIVE: "warning",
        Level.DANGEROUS: "error",
        Level.FORBIDDEN: "error",
    }
)
_SEVERITY = MappingProxyType(
    {
        Level.SAFE: "0.0",
        Level.REVERSIBLE: "2.0",
        Level.DESTRUCTIVE: "5.5",
        Level.DANGEROUS: "8.0",
        Level.FORBIDDEN: "9.5",
    }
)


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
