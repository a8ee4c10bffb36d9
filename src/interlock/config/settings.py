"""The smaller tables of the configuration: limits, audit, telemetry, hooks, impact, snapshots, separate daemon, console, proxy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from interlock.model import Level
from interlock.problems import Path, Problems, describe_value

HOOK_KEYS = frozenset({"wait_seconds", "without_daemon", "bypassed", "start_daemon"})
IMPACT_KEYS = frozenset({"inspect", "exempt"})
SEPARATE_KEYS = frozenset({"hook_socket", "inspector", "code", "users", "operators"})
CONSOLE_KEYS = frozenset({"public_url", "idle_minutes", "session_hours"})
PROXY_KEYS = frozenset({"wait_seconds", "answer_seconds", "line_bytes"})
NOTHING_PASSES = "none"
PASSES = (NOTHING_PASSES, "safe", "reversible", "destructive", "dangerous")
_CAREFUL = frozenset({NOTHING_PASSES, "safe", "reversible"})
BYPASSED = ("block", "note")
MOST_WAIT = 3_600
_LEVELS = MappingProxyType({NOTHING_PASSES: -1, **{level.word: int(level) for level in Level}})
_SNAPSHOT_BOUNDS = {
    "files": (1, 100_000),
    "bytes": (1, 100_000_000_000),
    "ms": (10, 10_000),
    "days": (1, 3_650),
    "total_bytes": (1, 10_000_000_000_000),
    "journal_files": (1, 100_000_000),
    "journal_bytes": (1, 100_000_000_000_000),
    "journal_total_bytes": (1, 100_000_000_000_000),
    "free_bytes": (0, 100_000_000_000_000),
}
SNAPSHOT_KEYS = frozenset({"enabled", "journal", "wrap", *_SNAPSHOT_BOUNDS})
_HOST = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_PROXY_BOUNDS = {"wait_seconds": (0, 3_600), "answer_seconds": (1, 86_400), "line_bytes": (4_096, 268_435_456)}


class RequestLimits(Struct, frozen=True):
    """The table `[limits]`: bounds for one caller."""

    requests_per_minute: int = 6_000
    body_bytes: int = 1_048_576
    long_poll_seconds: int = 60
    session_minutes: int = 15
    unlock_minutes: int = 15  # that a terminal needs no passphrase after a sign-in there; 0: never
    challenge_seconds: int = 300  # OOB-08


class AuditSettings(Struct, frozen=True):
    """The table `[audit]`: how long records are stored, and how often they are signed."""

    keep_days: int = 400
    checkpoint_minutes: int = 15
    expired_share_alert: float = 0.3


class Telemetry(Struct, frozen=True):
    """The table `[telemetry]`: the OTLP collector that gets the metrics besides /metrics; none by default."""

    otlp: str = ""
    interval_seconds: int = 60


def limits_of(table: Mapping[str, Any], problems: Problems) -> RequestLimits:
    return RequestLimits(**{
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
    """The settings of the table; a wrong address is not repeated, for it may hold a password."""
    url = problems.text(table, "otlp", ("telemetry",)) if table.get("otlp") != "" else ""
    if url and not url.startswith(("http://", "https://")):
        problems.error(("telemetry", "otlp"), "expected http://… or https://…")
    return Telemetry(url, whole(table, "interval_seconds", ("telemetry",), 60, 5, 3_600, problems))


def without_password(url: str) -> str:
    """A database's address without its password."""
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
    problems.error((*path, key), f"{key}: expected one of {', '.join(known)}, got {describe_value(value)}")
    return default


def whole(
    table: Mapping[str, Any], key: str, path: Path, default: int, least: int, most: int, problems: Problems
) -> int:
    value = problems.number(table, key, path, least, most, whole=True)
    return default if value is None else int(value)


class HookSettings(Struct, frozen=True):
    """The table `[hooks]`."""

    wait_seconds: int = 300  # that a held call waits for a person; an agent's own limit counts too
    without_daemon: str = "reversible"  # the highest level that passes while no daemon answers
    bypassed: str = "block"  # the consequence of a call that ran without its hook
    start_daemon: bool = False  # whether a hook starts the daemon when none runs

    @property
    def passes(self) -> int:
        """The highest level that passes without a daemon; -1 for none."""
        return _LEVELS[self.without_daemon]

    @property
    def warnings(self) -> tuple[str, ...]:
        found = []
        if self.without_daemon not in _CAREFUL:
            found.append(f"hooks.without_daemon: {self.without_daemon} actions pass while no daemon answers")
        if self.bypassed == "note":
            found.append("hooks.bypassed: an agent that bypasses its hook is only recorded, and goes on")
        return tuple(found)


def hooks_of(table: Mapping[str, Any], problems: Problems) -> HookSettings:
    """The settings of the table; errors go to `problems`."""
    plain = HookSettings()
    return HookSettings(
        whole(table, "wait_seconds", ("hooks",), plain.wait_seconds, 0, MOST_WAIT, problems),
        one_of(table, "without_daemon", PASSES, plain.without_daemon, ("hooks",), problems),
        one_of(table, "bypassed", BYPASSED, plain.bypassed, ("hooks",), problems),
        problems.flag(table, "start_daemon", ("hooks",), plain.start_daemon),
    )


class ImpactSettings(Struct, frozen=True):
    """The table `[impact]`."""

    inspect: bool = True  # whether targets are inspected
    exempt: bool = True  # whether a harmless impact lowers the requirement, where the policy says so


def impact_settings_of(table: Mapping[str, Any], problems: Problems) -> ImpactSettings:
    """The settings of the table; errors go to `problems`."""
    plain = ImpactSettings()
    return ImpactSettings(
        problems.flag(table, "inspect", ("impact",), plain.inspect),
        problems.flag(table, "exempt", ("impact",), plain.exempt),
    )


class SnapshotSettings(Struct, frozen=True):
    """The table `[undo]`."""

    enabled: bool = True  # whether snapshots are taken
    journal: bool = True  # whether commands run below the journal's supervisor, where that is possible
    files: int = 5_000  # of one snapshot
    bytes: int = 200_000_000
    ms: int = 300  # that taking one may last
    days: int = 7  # that one is stored
    total_bytes: int = 2_000_000_000  # of all snapshots together; the oldest go first
    journal_files: int = 200_000  # that the journal keeps of one action; beyond that destroying is refused
    journal_bytes: int = 5_000_000_000
    journal_total_bytes: int = 20_000_000_000  # of all actions together; none younger than `days` goes to make room
    free_bytes: int = 1_000_000_000  # that the disk has left after keeping
    wrap: bool = False  # whether hooks let shell calls run below the journal's supervisor


def snapshot_settings_of(table: Mapping[str, Any], problems: Problems) -> SnapshotSettings:
    """The settings of the table; errors go to `problems`."""
    plain = SnapshotSettings()
    bounds = {
        key: whole(table, key, ("undo",), getattr(plain, key), least, most, problems)
        for key, (least, most) in _SNAPSHOT_BOUNDS.items()
    }
    flags = {key: problems.flag(table, key, ("undo",), getattr(plain, key)) for key in ("enabled", "journal", "wrap")}
    return replace(plain, **flags, **bounds)


class SeparateSettings(Struct, frozen=True):
    """The table `[separate]`: a daemon with a user of its own, where it names a socket for agents."""

    hook_socket: str = ""  # for agents; daemon.socket is then for operators
    inspector: str = ""  # the socket of the helper that reads scripts as the agent's user
    code: str = ""  # the folder with Interlock's code that only root can change
    users: tuple[str, ...] = ()  # whose agents may use hook_socket
    operators: tuple[str, ...] = ()  # may use daemon.socket, as root may

    @property
    def on(self) -> bool:
        return bool(self.hook_socket)


def separate_of(table: Mapping[str, Any], problems: Problems) -> SeparateSettings:
    """The settings of the table; refuses a socket without users, and users without a socket."""
    where, table = ("separate",), {key: value for key, value in table.items() if value != ""}
    found = SeparateSettings(
        hook_socket=problems.text(table, "hook_socket", where),
        inspector=problems.text(table, "inspector", where),
        code=problems.text(table, "code", where),
        users=problems.texts(table, "users", where),
        operators=problems.texts(table, "operators", where),
    )
    for key in ("hook_socket", "inspector", "code"):
        if (value := getattr(found, key)) and not value.startswith("/"):
            problems.error((*where, key), f"expected an absolute path, got {value!r}")
    if found.on != bool(found.users):
        problems.error(
            (*where, "users"), "hook_socket and users go together: name the users whose agents may use that socket"
        )
    if "root" in found.users:
        problems.error((*where, "users"), "agents of root cannot be restricted")
    return found


class ConsoleSettings(Struct, frozen=True):
    """The table `[console]`."""

    public_url: str = ""  # https://name for access from other devices; empty: this device only
    idle_minutes: int = 30  # without a request, after which a browser is signed out
    session_hours: int = 12  # after which it is signed out anyway


def console_of(table: Mapping[str, Any], problems: Problems) -> ConsoleSettings:
    """The settings of the table; errors go to `problems`."""
    plain = ConsoleSettings()
    return ConsoleSettings(
        _address(table, problems),
        whole(table, "idle_minutes", ("console",), plain.idle_minutes, 1, 720, problems),
        whole(table, "session_hours", ("console",), plain.session_hours, 1, 72, problems),
    )


def _address(table: Mapping[str, Any], problems: Problems) -> str:
    """The address without a slash at its end; refuses one without a host name, because passkeys are bound to it."""
    url = problems.text(table, "public_url", ("console",)) if table.get("public_url") != "" else ""
    url = url.strip().rstrip("/")
    if url and (error := _url_error(url)):
        problems.error(("console", "public_url"), error)
        return ""
    return url.lower()


def _url_error(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = (parts.hostname or ""), parts.port
    except ValueError:
        return "not a URL"
    if parts.scheme != "https" or parts.path or parts.query or parts.fragment or parts.username:
        return "expected https:// and a name alone, such as https://interlock.example.com"
    if not _HOST.fullmatch(host) or host.rpartition(".")[2].isdigit():
        return "expected a name, not a number: passkeys are bound to a name"
    return ""


class ProxySettings(Struct, frozen=True):
    """The table `[proxy]`."""

    wait_seconds: int = 45  # that a held call waits for a person; clients give up after a minute
    answer_seconds: int = 3_600  # that a server may take for one reply
    line_bytes: int = 16_777_216  # of one message at most


def proxy_of(table: Mapping[str, Any], problems: Problems) -> ProxySettings:
    """The settings of the table; errors go to `problems`."""
    found = {
        key: problems.number(table, key, ("proxy",), least, most, whole=True)
        for key, (least, most) in _PROXY_BOUNDS.items()
    }
    return ProxySettings(**{key: int(value) for key, value in found.items() if value is not None})
