"""The small tables of the configuration: limits, record, telemetry; each with its defaults and its reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.core.problems import Path, Problems, shown


@dataclass(frozen=True, slots=True)
class Limits:
    """What one caller may ask for."""

    requests_per_minute: int = 6_000
    body_bytes: int = 1_048_576
    long_poll_seconds: int = 60
    session_minutes: int = 15
    unlock_minutes: int = 15  # that a terminal answers without the passphrase after somebody signed in there; 0: never
    challenge_seconds: int = 300  # OOB-08


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """How long the record is kept, and when it is signed."""

    keep_days: int = 400
    checkpoint_minutes: int = 15
    expired_share_alert: float = 0.3


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Where the figures are sent, besides /metrics: an OTLP collector; nowhere by default."""

    otlp: str = ""
    interval_seconds: int = 60


def limits_of(table: Mapping[str, Any], problems: Problems) -> Limits:
    return Limits(**{
        name: whole(table, name, ("limits",), default, least, most, problems)
        for name, default, least, most in (
            ("requests_per_minute", 6_000, 1, 10_000_000), ("body_bytes", 1_048_576, 65_536, 10_485_760),
            ("long_poll_seconds", 60, 1, 600), ("session_minutes", 15, 1, 720), ("unlock_minutes", 15, 0, 480),
            ("challenge_seconds", 300, 30, 3_600),
        )
    })  # fmt: skip


def audit_of(table: Mapping[str, Any], problems: Problems) -> AuditSettings:
    return AuditSettings(
        whole(table, "keep_days", ("audit",), 400, 1, 36_500, problems),
        whole(table, "checkpoint_minutes", ("audit",), 15, 1, 1_440, problems),
        problems.number(table, "expired_share_alert", ("audit",), 0.01, 1.0) or AuditSettings().expired_share_alert,
    )


def telemetry_of(table: Mapping[str, Any], problems: Problems) -> Telemetry:
    """An empty address sends nothing; a wrong one is not repeated, for it may hold a password."""
    url = problems.text(table, "otlp", ("telemetry",)) if table.get("otlp") != "" else ""
    if url and not url.startswith(("http://", "https://")):
        problems.error(("telemetry", "otlp"), "expected http://… or https://…")
    return Telemetry(url, whole(table, "interval_seconds", ("telemetry",), 60, 5, 3_600, problems))


def without_password(url: str) -> str:
    """A database's address as it may be shown."""
    scheme, found, rest = url.partition("://")
    credentials, at, host = rest.rpartition("@")
    if not found or not at:
        return url
    return f"{scheme}://{credentials.partition(':')[0]}@{host}"


def one_of(
    table: Mapping[str, Any], key: str, known: tuple[str, ...], default: str, path: Path, problems: Problems
) -> str:
    value = table.get(key, default)
    if value in known:
        return str(value)
    problems.error((*path, key), f"{key}: expected one of {', '.join(known)}, got {shown(value)}")
    return default


def whole(
    table: Mapping[str, Any], key: str, path: Path, default: int, least: int, most: int, problems: Problems
) -> int:
    value = problems.number(table, key, path, least, most, whole=True)
    return default if value is None else int(value)
