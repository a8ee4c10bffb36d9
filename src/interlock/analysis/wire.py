"""Renders an assessment as the JSON object of 2.13, in the words of each seed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import astuple

from interlock.model import Assessment, EffectiveCommand, Flags, Level, finding_json

Id = str | int | None

# By level.
_SEVERITY = (None, "low", "medium", "high", "critical")
_CLI_RISK = ("safe", "moderate", "moderate", "dangerous", "dangerous")
_PLAN_RISK = ("low", "medium", "high", "high", "high")


def assessment_json(assessment: Assessment, id: Id = None) -> dict[str, Any]:
    findings = assessment.findings
    return {
        "id": id,
        "level": int(assessment.level),
        "level_name": assessment.level.word,
        "irreversible": assessment.irreversible,
        "approvable": assessment.approvable,
        "canRollback": assessment.can_rollback,
        "score": assessment.score,
        "tier": assessment.tier.value,
        "risk": plan_risk(assessment),
        "severity": _SEVERITY[assessment.level],
        "categories": _unique(finding.category.value for finding in findings if finding.category),
        "flags": flags_json(assessment.flags),
        "safetyFlags": safety_flags(assessment.flags),
        "cli": {"riskLevel": cli_risk(assessment), "score": assessment.score, "factors": list(assessment.factors)},
        "findings": [finding_json(finding) for finding in findings],
        "reasons": _unique(finding.reason for finding in findings),
        "instead": _unique(finding.instead for finding in findings),
    }


def error_json(message: str, id: Id = None) -> dict[str, Any]:
    """What stands for an assessment where there is none; an error is never a pass."""
    return {"id": id, "level": int(Level.FORBIDDEN), "error": message}


def step_json(step: EffectiveCommand) -> dict[str, Any]:
    return {"command": step.text, "via": list(step.via), "span": list(step.span) if step.span else None}


def flags_json(flags: Flags) -> dict[str, bool]:
    """The five booleans of a plan (X-09)."""
    names = ("destructive", "touchesFiles", "touchesNetwork", "escalatesPrivileges", "requiresConfirmation")
    return dict(zip(names, astuple(flags), strict=True))


def safety_flags(flags: Flags) -> list[str]:
    """The warning strings of a plan (X-09)."""
    told = {
        "DESTRUCTIVE_OPERATION": flags.destructive,
        "PRIVILEGE_ESCALATION": flags.escalates_privileges,
        "NETWORK_ACCESS": flags.touches_network,
    }
    return [word for word, holds in told.items() if holds]


def plan_risk(assessment: Assessment) -> str:
    """Seed 004's three tiers; rights that grow are high, whatever the level."""
    return "high" if assessment.flags.escalates_privileges else _PLAN_RISK[assessment.level]


def cli_risk(assessment: Assessment) -> str:
    """Seed 002's four classes; a finding that cannot be approved is blocked (X-02)."""
    return _CLI_RISK[assessment.level] if assessment.approvable else "blocked"


def _unique(texts: Iterable[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text]
