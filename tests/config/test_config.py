"""One file configures everything; what it does not know it refuses, and what weakens it says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.config import (
    TABLES,
    ConfigError,
    config_of,
    effective_settings,
    load_config,
    settings_schema,
    without_password,
)
from interlock.model import Trust, operation
from interlock.schema import settings_of

NOBODY: dict[str, str] = {"XDG_STATE_HOME": "/state", "XDG_CONFIG_HOME": "/nowhere"}
KEYS = {  # promises: changed only on purpose, everywhere at once
    "daemon": ["host", "port", "socket", "workers", "agent_hosts", "strict_introspection"],
    "store": ["url"],
    "policy": ["use"],
    "safetyLoop": ["mode"],
    "gate": [
        "enabled", "defaultCoolingOffMs", "maxCoolingOffMs", "requireApprovalForCritical", "allowedApprovers", "autoExpireMs",
        "bypassForTrustTiers", "blockOnMatchFailure",
    ],
    "danger_patterns": ["dangerous", "forbidden", "safe"],
    "trust_policy": ["allow_untested_introspection", "strict_category_minimums"],
    "adapters": ["files"],
    "rules": ["files"],
    "registry": ["pattern"],
    "limits": ["requests_per_minute", "body_bytes", "long_poll_seconds", "session_minutes", "unlock_minutes", "challenge_seconds"],
    "channels": ["desktop", "dialog", "send"],
    "loop": ["agent", "adapter", "mismatch"],
    "hooks": ["wait_seconds", "without_daemon", "bypassed", "start_daemon"],
    "impact": ["inspect", "exempt"],
    "undo": [
        *("enabled", "journal", "files", "bytes", "ms", "days", "total_bytes"),
        *("journal_files", "journal_bytes", "journal_total_bytes", "free_bytes", "wrap"),
    ],
    "separate": ["hook_socket", "inspector", "code", "users", "operators"],
    "proxy": ["wait_seconds", "answer_seconds", "line_bytes"],
    "pause": ["max_minutes"],
    "planner": ["use", "host", "model", "key_env", "seconds"],
    "plan": ["confirmMediumRisk", "run_in_console", "run_from_elsewhere", "max_minutes", "output_bytes"],
    "console": ["public_url", "idle_minutes", "session_hours"],
    "audit": ["keep_days", "checkpoint_minutes", "expired_share_alert"],
    "telemetry": ["otlp", "interval_seconds"],
    "log": ["level"],
}  # fmt: skip


def test_the_keys_are_these() -> None:
    shown = effective_settings(config_of({}, environ=NOBODY))
    assert {table: list(values) for table, values in shown.items()} == KEYS


def test_what_is_shown_can_be_read_again() -> None:
    shown = effective_settings(
        config_of({"gate": {"autoExpireMs": 5_000}, "policy": {"use": "strict"}}, environ=NOBODY)
    )
    shown = {table: {key: value for key, value in values.items() if value != []} for table, values in shown.items()}
    assert (
        effective_settings(config_of({**shown, "danger_patterns": {}}, environ=NOBODY))["gate"]["autoExpireMs"] == 5_000
    )


def test_the_schema_accepts_the_settings_in_force_and_refuses_what_the_reader_refuses() -> None:
    check = Draft202012Validator(settings_schema()).is_valid
    assert check(effective_settings(config_of({}, environ=NOBODY)))
    for wrong in ({"x": {}}, {"daemon": {"port": 70_000}}, {"log": {"level": "loud"}}, {"undo": {"wrap": "yes"}}):
        assert not check(wrong), wrong


@each("table", list(TABLES))
def test_every_setting_says_what_it_means_and_has_bounds(table: str) -> None:
    for one in settings_of(TABLES[table]):
        assert one.means, f"{table}.{one.key}"
        assert one.kind not in (int, float) or None not in (one.meta.ge, one.meta.le), f"{table}.{one.key}"


@each(
    ("data", "said"),
    [
        ({"x": {}}, "unknown key 'x'"),
        ({"gate": {"enabld": True}}, "did you mean 'enabled'"),
        ({"daemon": {"port": 70_000}}, "daemon.port: port: expected a whole number from 0 to 65535"),
        ({"store": {"url": "mysql://u:hunter2@h/db"}}, "expected sqlite:///folder or postgresql://"),
        ({"danger_patterns": {"forbidden": ["("]}}, "name pattern '('"),
        ({"danger_patterns": {"forbidden": "x_*"}}, "expected a list"),
        ({"trust_policy": {"minimum_trust_for_writes": "high"}}, "expected one of untested"),
        ({"registry": {"pattern": [{"id": "a"}]}}, "pattern is missing"),
        ({"log": {"level": "loud"}}, "expected one of debug"),
        ({"hooks": {"without_daemon": "forbidden"}}, "expected one of none, safe"),
        ({"console": {"public_url": "http://interlock.example.com"}}, "expected https://"),
        ({"console": {"public_url": "https://10.0.0.1"}}, "expected a name, not a number"),
        ({"console": {"public_url": "https://interlock.example.com/console"}}, "a name alone"),
        ({"console": {"idle_minutes": 0}}, "expected a whole number from 1 to 720"),
        ({"hooks": {"wait_seconds": -1}}, "expected a whole number from 0 to 3600"),
        ({"pause": {"max_minutes": 1_441}}, "expected a whole number from 0 to 1440"),
        ({"planner": {"use": "oracle"}}, "expected one of auto, ollama, openai_compatible, mock"),
        ({"planner": {"host": "ftp://x"}}, "expected http://… or https://…"),
        ({"planner": {"host": "https://user:secret@x"}}, "without a user"),
        ({"planner": {"key_env": "sk-live-123"}}, "expected the name of an environment variable, not a key"),
        ({"plan": {"confirmMediumRisk": "no"}}, "expected true or false"),
        ({"plan": {"confirm_medium_risk": False}}, "unknown key 'confirm_medium_risk'"),
        ({"loop": {"mismatch": {"destructive": "shout"}}}, "expected one of off, note, pause, block"),
        ({"looker": {"look": False}}, "looker: renamed: use [impact], with inspect (was look) and exempt (was relief)"),
        ({"impact": {"look": False}}, "impact.look: renamed: use impact.inspect"),
        ({"impact": {"relief": False}}, "impact.relief: renamed: use impact.exempt"),
        ({"loop": {"deeds": {"everyday": "note"}}}, "loop.deeds: renamed: use loop.mismatch"),
        ({"separate": {"looker": "/run/x.sock"}}, "separate.looker: renamed: use separate.inspector"),
        ({"undo": {"keep": False}}, "undo.keep: renamed: use undo.enabled"),
        ({"telemetry": {"otlp": "collector:4317"}}, "telemetry.otlp: expected http://"),
        ({"telemetry": {"otlp": "u:hunter2@collector"}}, "expected http://"),
        ({"telemetry": {"interval_seconds": 0}}, "expected a whole number from 5 to 3600"),
        ({"gate": {"allowedApprovers": []}}, "allowedApprovers is empty"),
    ],
)
def test_a_wrong_configuration_is_refused_with_its_place(data: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as found:
        config_of(data, "interlock.toml", NOBODY)
    assert said in str(found.value) and "hunter2" not in str(found.value)


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ({"enabled": False}, "nothing is held"),
        ({"requireApprovalForCritical": False}, "critical actions pass without a human"),
        ({"blockOnMatchFailure": False}, "what cannot be matched passes"),
        ({"bypassForTrustTiers": ["privileged"]}, "skip cooling-off"),
        ({"defaultCoolingOffMs": 29_000}, "under 30 s"),
    ],
)
def test_what_weakens_the_gate_is_said(gate: dict[str, Any], said: str) -> None:
    """R-14."""
    assert any(said in words for words in config_of({"gate": gate}, environ=NOBODY).warnings)
    assert not config_of({"gate": {"autoExpireMs": 60_000}}, environ=NOBODY).warnings


@pytest.mark.parametrize(
    ("file", "variable", "mode"),
    [
        ("enforcing", "disabled", "enforcing"),
        ("enforcing", "monitoring", "enforcing"),
        ("monitoring", "enforcing", "enforcing"),
        ("disabled", "logging", "logging"),
        ("monitoring", "nonsense", "enforcing"),
    ],
)
def test_the_environment_tightens_and_never_loosens(tmp_path: Path, file: str, variable: str, mode: str) -> None:
    """R-12."""
    path = tmp_path / "interlock.toml"
    path.write_text(f'[safetyLoop]\nmode = "{file}"\n')
    assert load_config(path, {**NOBODY, "MCPAQL_SAFETY_LOOP": variable}).mode == mode


def test_an_unknown_mode_is_enforcing_and_an_error() -> None:
    made = config_of({"safetyLoop": {"mode": "off"}}, environ=NOBODY)
    assert made.mode == "enforcing" and any("enforcing is used" in words for words in made.warnings)


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_config(tmp_path / "x.toml", NOBODY)
    assert load_config(None, NOBODY).store == "sqlite:///state/interlock"


@pytest.mark.parametrize(
    ("table", "name", "level"),
    [
        ({"forbidden": ["decommission_*"]}, "decommission_rack", 4),
        ({"dangerous": ["*_irrevocably"]}, "close_ledger_irrevocably", 3),
        ({"forbidden": ["decommission_*"]}, "drop_table", 4),  # extends
        ({"forbidden": ["decommission_*"], "replace": True}, "deploy_production", 2),  # replaces; its words still count
        ({}, "deploy_production", 4),
    ],
)
def test_danger_patterns_extend_the_lists_or_replace_them(table: dict[str, Any], name: str, level: int) -> None:
    """R-19."""
    patterns = config_of({"danger_patterns": table}, environ=NOBODY).danger_patterns
    rules = replace(load(), patterns=patterns)
    assert judge(operation(name, {}), rules).assessment.level == level


def test_the_trust_policy_is_the_operators() -> None:
    made = config_of({"trust_policy": {"minimum_trust_for_deletes": "certified"}}, environ=NOBODY)
    assert made.effective_policy().trust.minimum_trust_for_deletes is Trust.CERTIFIED


def test_a_password_is_not_shown() -> None:
    assert without_password("postgresql://u:p:w@host/db") == "postgresql://u@host/db"
    url = "postgresql://ann:hunter2@h/db"
    assert "hunter2" not in str(effective_settings(config_of({"store": {"url": url}}, environ=NOBODY)))


def test_codes_in_a_window_are_off_and_warned_of() -> None:
    assert config_of({}, environ=NOBODY).channels.dialog == "off"
    made = config_of({"channels": {"dialog": "auto"}}, environ=NOBODY)
    assert made.channels.dialog == "auto" and "without a sign-in" in made.warnings[0]
    with pytest.raises(ConfigError, match="expected one of off, auto"):
        config_of({"channels": {"dialog": "on"}}, environ=NOBODY)


def test_the_desktop_is_told_by_default_and_by_nobody_where_it_is_switched_off_or_set_otherwise() -> None:
    implied = config_of({}, environ=NOBODY).channels.implied
    assert implied is not None and implied.wants("held") and not implied.wants("alert") and not implied.private
    own = {"name": "mine", "kind": "desktop", "events": ["block"]}
    for table in ({"desktop": "off"}, {"send": [own]}):
        assert config_of({"channels": table}, environ=NOBODY).channels.implied is None
    with pytest.raises(ConfigError, match="desktop: expected one of off, auto"):
        config_of({"channels": {"desktop": "on"}}, environ=NOBODY)


def test_whoever_lets_destructive_calls_pass_without_a_daemon_is_warned() -> None:
    made = config_of({"hooks": {"without_daemon": "destructive", "bypassed": "note"}}, environ=NOBODY)
    assert made.hooks.passes == 2
    assert [words.split(":")[0] for words in made.warnings] == ["hooks.without_daemon", "hooks.bypassed"]
    assert config_of({}, environ=NOBODY).hooks.passes == 1
