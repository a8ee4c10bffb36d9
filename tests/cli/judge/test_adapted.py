"""What an adapter declares of an operation meets the parameters of the call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.cli.judge.adapter_operation import resolve_operation
from interlock.model import operation

HEAD = {
    "name": "records",
    "type": "adapter",
    "version": "1.0.0",
    "description": "Records",
    "target": {"base_url": "https://api.example.org", "transport": "http", "protocol": "rest", "serialization": "json"},
    "trust": {"level": "validated", "validated_at": "2026-01-01T00:00:00Z"},
}
CONDITIONAL = {
    "default_level": "reversible",
    "conditions": [
        {"when": "params.count > 100", "level": "dangerous", "reason": "Bulk delete of more than 100 records"},
        {"when": "params.permanent == true", "level": "destructive", "reason": "Permanent deletion requested"},
    ],
}

SCORED = {
    "score_factors": [{"base_level": "reversible"}, {"production_env": 1}, {"bulk_operation": "+1"}, {"no_backup": 1}],
    "computed_level": "dangerous",
}


def level(tmp_path: Path, danger: dict[str, Any], params: dict[str, Any]) -> tuple[str, str]:
    """The word of the level, and the key that decided."""
    called = {"name": "sync_records", "maps_to": "POST /records", "description": "Syncs", "danger": danger}
    path = tmp_path / "records.yaml"
    path.write_text(json.dumps({**HEAD, "operations": {"execute": [called]}}))
    asked = operation("sync_records", params, cwd="/home/dev/app")
    _, context, shown, _ = resolve_operation(str(path), asked)
    return context.call.level.word, shown["level_from"]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"count": 100, "permanent": False}, ("reversible", "declared")),
        ({"count": 101, "permanent": False}, ("dangerous", "conditions[0]")),
        ({"count": 1, "permanent": True}, ("destructive", "conditions[1]")),
        ({"count": 101, "permanent": True}, ("dangerous", "conditions[0]")),
        ({"count": "many", "permanent": False}, ("dangerous", "conditions[0]")),  # an error counts as true
    ],
)
def test_conditions_look_at_the_parameters_of_the_call(
    tmp_path: Path, params: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert level(tmp_path, CONDITIONAL, params) == expected


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"id": 7}, ("reversible", "declared")),
        ({"id": 7, "environment": "staging"}, ("reversible", "declared")),
        ({"id": 7, "environment": "production"}, ("destructive", "score_factors")),
        ({"ids": "*"}, ("destructive", "score_factors")),
        ({"id": 7, "backup": False}, ("destructive", "score_factors")),
        ({"id": 7, "backup": True}, ("reversible", "declared")),
        ({"id": 7, "environment": "production", "backup": False}, ("dangerous", "score_factors")),
        ({"ids": "*", "environment": "production", "backup": False}, ("dangerous", "score_factors")),  # the cap
    ],
)
def test_the_factors_of_a_score_are_read_from_the_call(
    tmp_path: Path, params: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert level(tmp_path, SCORED, params) == expected
