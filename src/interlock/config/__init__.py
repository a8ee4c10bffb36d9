"""Reads the TOML configuration: checks every key, states every default, warns of what weakens it (R-12, R-14, R-19)."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from interlock.analysis.operations.name_patterns import NamePatterns
from interlock.canonical_json import canonical_json
from interlock.config.channels import CHANNEL_KEYS, ChannelSettings, channels_of
from interlock.config.plans import PLAN_KEYS, PLANNER_KEYS, PlannerSettings, PlanSettings, plan_of, planner_of
from interlock.config.settings import (
    CONSOLE_KEYS,
    HOOK_KEYS,
    IMPACT_KEYS,
    PROXY_KEYS,
    SEPARATE_KEYS,
    SNAPSHOT_KEYS,
    AuditSettings,
    ConsoleSettings,
    HookSettings,
    ImpactSettings,
    ProxySettings,
    RequestLimits,
    SeparateSettings,
    SnapshotSettings,
    Telemetry,
    audit_of,
    console_of,
    hooks_of,
    impact_settings_of,
    limits_of,
    one_of,
    proxy_of,
    separate_of,
    snapshot_settings_of,
    telemetry_of,
    whole,
    without_password,
)
from interlock.policy.exemptions import PAUSE_KEYS, PauseSettings, pause_of
from interlock.policy.load import load_policy, policy_hash
from interlock.policy.overrides import LoopSettings, settings_json, settings_of
from interlock.policy.policy import MODES, Policy, Severities, severities_of, trust_policy_of
from interlock.policy.registry import Pattern, PatternError
from interlock.policy.rendering import policy_warnings, severity_warnings
from interlock.policy.trust_matrix import TrustPolicy
from interlock.problems import Problem, Problems, describe_value

PORT = 7310
SYSTEM_CONFIG = Path("/etc/interlock/config.toml")  # of the daemon that `install --system` sets up
ENVIRONMENT_MODE = "MCPAQL_SAFETY_LOOP"
_STRICTNESS = MappingProxyType({"enforcing": 3, "monitoring": 2, "logging": 1, "disabled": 0})
_KEYS: Mapping[str, frozenset[str]] = MappingProxyType({
    "daemon": frozenset({"host", "port", "socket", "workers", "agent_hosts", "strict_introspection"}),
    "store": frozenset({"url"}),
    "policy": frozenset({"use"}),
    "safetyLoop": frozenset({"mode"}),
    "gate": frozenset({
        "enabled", "defaultCoolingOffMs", "maxCoolingOffMs", "requireApprovalForCritical", "allowedApprovers", "autoExpireMs",
        "bypassForTrustTiers", "blockOnMatchFailure",
    }),
    "danger_patterns": frozenset({"dangerous", "forbidden", "safe", "replace"}),
    "trust_policy": frozenset({
        "minimum_trust_for_writes", "minimum_trust_for_deletes", "allow_untested_introspection", "require_confirmation_below",
        "strict_category_minimums",
    }),
    "adapters": frozenset({"files"}),
    "rules": frozenset({"files"}),
    "registry": frozenset({"pattern"}),
    "limits": frozenset({"requests_per_minute", "body_bytes", "long_poll_seconds", "session_minutes", "unlock_minutes", "challenge_seconds"}),
    "channels": CHANNEL_KEYS,
    "loop": frozenset({"agent", "adapter", "mismatch"}),
    "hooks": HOOK_KEYS,
    "impact": IMPACT_KEYS,
    "undo": SNAPSHOT_KEYS,
    "proxy": PROXY_KEYS,
    "console": CONSOLE_KEYS,
    "separate": SEPARATE_KEYS,
    "pause": PAUSE_KEYS,
    "planner": PLANNER_KEYS,
    "plan": PLAN_KEYS,
    "audit": frozenset({"keep_days", "checkpoint_minutes", "expired_share_alert"}),
    "telemetry": frozenset({"otlp", "interval_seconds"}),
    "log": frozenset({"level"}),
})  # fmt: skip
_RENAMED: Mapping[str, str] = MappingProxyType({
    "looker": "[impact], with inspect (was look) and exempt (was relief)",
    "impact.look": "impact.inspect",
    "impact.relief": "impact.exempt",
    "loop.deeds": "loop.mismatch",
    "separate.looker": "separate.inspector",
    "undo.keep": "undo.enabled",
})  # fmt: skip


class ConfigError(ValueError):
    """An invalid configuration; the message names the file, every problem and its place."""


class Config(Struct, frozen=True):
    """Everything an operator can set."""

    path: str = ""
    host: str = "127.0.0.1"
    port: int = PORT
    socket: str = ""
    workers: int = 8
    agent_hosts: tuple[str, ...] = ()  # Host headers of agents on other machines, who need a token
    strict_introspection: bool = False
    store: str = ""
    policy: str = "default"
    mode: str = "enforcing"
    mode_of_policy: bool = False  # the file names no mode, so that the policy's counts
    gate: Severities | None = None
    danger_patterns: NamePatterns = field(default_factory=NamePatterns)
    trust_policy: TrustPolicy | None = None
    adapters: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    limits: RequestLimits = field(default_factory=RequestLimits)
    audit: AuditSettings = field(default_factory=AuditSettings)
    channels: ChannelSettings = field(default_factory=ChannelSettings)
    loop: LoopSettings = field(default_factory=LoopSettings)
    hooks: HookSettings = field(default_factory=HookSettings)
    impact: ImpactSettings = field(default_factory=ImpactSettings)
    undo: SnapshotSettings = field(default_factory=SnapshotSettings)
    proxy: ProxySettings = field(default_factory=ProxySettings)
    console: ConsoleSettings = field(default_factory=ConsoleSettings)
    pause: PauseSettings = field(default_factory=PauseSettings)
    planner: PlannerSettings = field(default_factory=PlannerSettings)
    plan: PlanSettings = field(default_factory=PlanSettings)
    separate: SeparateSettings = field(default_factory=SeparateSettings)
    telemetry: Telemetry = field(default_factory=Telemetry)
    log_level: str = "info"
    warnings: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The state folder: with SQLite for everything, with PostgreSQL for the keys and the socket."""
        if self.store.startswith("sqlite:///"):
            return Path(self.store.removeprefix("sqlite://")).expanduser()
        return state_folder()

    @property
    def socket_path(self) -> Path:
        return Path(self.socket).expanduser() if self.socket else self.folder / "interlock.sock"

    @property
    def snapshots(self) -> Path:
        """The folder of the snapshots."""
        return self.folder / "undo"

    @property
    def agents_socket(self) -> Path:
        """The socket for agents; a daemon with a user of its own has a separate one for them."""
        return Path(self.separate.hook_socket) if self.separate.on else self.socket_path

    @property
    def rule_files(self) -> tuple[Path, ...]:
        """The operator's own rule packs; a relative path starts at the configuration's folder."""
        paths = (Path(name).expanduser() for name in self.rules)
        return tuple(path if path.is_absolute() or not self.path else Path(self.path).parent / path for path in paths)

    def effective_policy(self) -> Policy:
        """The policy in force: the named one, with the overrides of this configuration."""
        return self.override(load_policy(self.policy, Path(self.path).parent if self.path else None))

    def override(self, policy: Policy) -> Policy:
        """A policy with this configuration's `[gate]` and `[trust_policy]` in place of its own."""
        if self.gate is not None:
            policy = replace(policy, severities=self.gate)
        return replace(policy, trust=self.trust_policy) if self.trust_policy is not None else policy

    def concerns(self) -> list[str]:
        """Warnings about odd settings and about those that weaken protection; raises PolicyError."""
        found = policy_warnings(self.effective_policy(), self.mode, self.danger_patterns)
        return list(dict.fromkeys([*self.warnings, *found]))


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """The default state folder of this user."""
    return Path(environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "interlock"


def config_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's own file, or else that of the machine's daemon, if it has one."""
    own = Path(environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "interlock" / "interlock.toml"
    return SYSTEM_CONFIG if SYSTEM_CONFIG.is_file() and not own.is_file() else own


def load_config(path: Path | None = None, environ: Mapping[str, str] = os.environ) -> Config:
    """The configuration in a file, or the defaults where there is none; the environment can only tighten it."""
    chosen = path or config_path(environ)
    if not chosen.is_file():
        if path is not None:
            raise ConfigError(f"{path}: no such file")
        return _tighten(replace(Config(), store=f"sqlite://{state_folder(environ)}"), environ)
    try:
        data = tomllib.loads(chosen.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{chosen}: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{chosen}: {error}") from None
    return _tighten(config_of(data, str(chosen), environ), environ)


def config_of(data: Mapping[str, Any], path: str = "", environ: Mapping[str, str] = os.environ) -> Config:
    """The configuration that `data` describes; raises ConfigError with every problem."""
    problems = Problems()
    problems.only(data, _KEYS, (), renamed=_RENAMED)
    tables = {key: problems.table(data.get(key, {}), (key,)) or {} for key in _KEYS}
    for key, known in _KEYS.items():
        problems.only(tables[key], known, (key,), renamed=_RENAMED)
    config = _build(tables, path, problems, environ)
    errors = [problem for problem in problems.found if problem.error]
    if errors:
        raise ConfigError("; ".join(_message(path, problem) for problem in errors))
    return replace(config, warnings=(*config.warnings, *(_message(path, problem) for problem in problems.found)))


def _message(path: str, problem: Problem) -> str:
    return "".join(f"{part}: " for part in (path, problem.place) if part) + problem.message


def _build(
    tables: Mapping[str, Mapping[str, Any]], path: str, problems: Problems, environ: Mapping[str, str]
) -> Config:
    daemon, plain = tables["daemon"], Config()
    gate = severities_of(tables["gate"], ("gate",), problems) if tables["gate"] else None
    trust = trust_policy_of(tables["trust_policy"], ("trust_policy",), problems) if tables["trust_policy"] else None
    config = Config(
        path=path,
        host=_host(daemon, problems),
        port=whole(daemon, "port", ("daemon",), PORT, 0, 65_535, problems),
        socket=problems.text(daemon, "socket", ("daemon",)),
        workers=whole(daemon, "workers", ("daemon",), plain.workers, 1, 64, problems),
        agent_hosts=tuple(name.lower() for name in problems.texts(daemon, "agent_hosts", ("daemon",))),
        strict_introspection=problems.flag(daemon, "strict_introspection", ("daemon",), False),
        store=_store(tables["store"], problems, environ),
        policy=problems.text(tables["policy"], "use", ("policy",)) or plain.policy,
        mode=_mode(tables["safetyLoop"], problems),
        gate=gate,
        danger_patterns=_danger_patterns(tables["danger_patterns"], problems),
        trust_policy=trust,
        adapters=problems.texts(tables["adapters"], "files", ("adapters",)),
        rules=problems.texts(tables["rules"], "files", ("rules",)),
        patterns=_registry(tables["registry"], problems),
        limits=limits_of(tables["limits"], problems),
        audit=audit_of(tables["audit"], problems),
        channels=channels_of(tables["channels"], problems),
        loop=settings_of(tables["loop"], problems),
        hooks=hooks_of(tables["hooks"], problems),
        impact=impact_settings_of(tables["impact"], problems),
        undo=snapshot_settings_of(tables["undo"], problems),
        proxy=proxy_of(tables["proxy"], problems),
        console=console_of(tables["console"], problems),
        pause=pause_of(tables["pause"], problems),
        planner=planner_of(tables["planner"], problems),
        plan=plan_of(tables["plan"], problems),
        separate=separate_of(tables["separate"], problems),
        telemetry=telemetry_of(tables["telemetry"], problems),
        log_level=one_of(tables["log"], "level", ("debug", "info", "warning", "error"), "info", ("log",), problems),
    )  # fmt: skip
    weak = severity_warnings(gate) if gate else ()
    parts = (config.channels, config.hooks, config.planner, config.plan)
    config = replace(config, warnings=(*weak, *(warning for part in parts for warning in part.warnings)))
    return config if "mode" in tables["safetyLoop"] else _with_policy_mode(config)


def _with_policy_mode(config: Config) -> Config:
    """R-12: seed 001's JSON may carry the mode; errors of the policy are reported where it is loaded."""
    if not config.policy.endswith(".json"):
        return config
    try:
        mode = config.effective_policy().mode
    except ValueError:
        return config
    if mode in ("", "enforcing"):
        return config
    return replace(config, mode=mode, mode_of_policy=True)


def effective_settings(config: Config) -> dict[str, Any]:
    """The settings in force, under the keys of the file."""
    policy = config.effective_policy()
    gate, patterns = policy.severities, config.danger_patterns
    trust = {key: getattr(value, "word", value) for key, value in _trust_settings(policy.trust).items()}
    return {
        "daemon": {
            "host": config.host, "port": config.port, "socket": str(config.socket_path), "workers": config.workers,
            "agent_hosts": list(config.agent_hosts), "strict_introspection": config.strict_introspection,
        },
        "store": {"url": without_password(config.store)},
        "policy": {"use": config.policy},
        "safetyLoop": {"mode": config.mode},
        "gate": {
            "enabled": gate.enabled, "defaultCoolingOffMs": gate.default_cooling_off_ms, "maxCoolingOffMs": gate.max_cooling_off_ms,
            "requireApprovalForCritical": gate.require_approval_for_critical,
            "allowedApprovers": sorted(gate.allowed_approvers), "autoExpireMs": gate.auto_expire_ms,
            "bypassForTrustTiers": sorted(gate.bypass_for_trust_tiers), "blockOnMatchFailure": gate.block_on_match_failure,
        },
        "danger_patterns": {
            "dangerous": list(patterns.dangerous), "forbidden": list(patterns.forbidden), "safe": list(patterns.safe),
        },
        "trust_policy": {key: value for key, value in trust.items() if value is not None},
        "loop": settings_json(config.loop),
        "adapters": {"files": list(config.adapters)},
        "rules": {"files": list(config.rules)},
        "registry": {"pattern": [pattern.wire for pattern in config.patterns]},
        "limits": asdict(config.limits),
        "channels": config.channels.wire,
        "hooks": asdict(config.hooks),
        "impact": asdict(config.impact),
        "undo": asdict(config.undo),
        "proxy": asdict(config.proxy),
        "console": asdict(config.console),
        "pause": asdict(config.pause),
        "planner": asdict(config.planner),
        "plan": config.plan.wire(),
        "separate": {**asdict(config.separate), "users": list(config.separate.users), "operators": list(config.separate.operators)},
        "audit": asdict(config.audit),
        "telemetry": {**asdict(config.telemetry), "otlp": without_password(config.telemetry.otlp)},
        "log": {"level": config.log_level},
    }  # fmt: skip


def _trust_settings(trust: TrustPolicy) -> dict[str, Any]:
    return {name: getattr(trust, name) for name in sorted(_KEYS["trust_policy"])}


def _tighten(config: Config, environ: Mapping[str, str]) -> Config:
    """R-12: the environment's mode counts only where it is the stricter one; an unknown value is enforcing."""
    wanted = environ.get(ENVIRONMENT_MODE)
    if not wanted:
        return config
    if wanted not in MODES:
        warning = f"{ENVIRONMENT_MODE}={describe_value(wanted)}: expected one of {', '.join(MODES)}; enforcing is used"
        return replace(config, mode="enforcing", warnings=(*config.warnings, warning))
    if _STRICTNESS[wanted] < _STRICTNESS[config.mode]:
        warning = f"{ENVIRONMENT_MODE}={wanted} would loosen {config.mode} and is ignored: only the file and `interlock mode` can"
        return replace(config, warnings=(*config.warnings, warning))
    return replace(config, mode=wanted)


def _mode(table: Mapping[str, Any], problems: Problems) -> str:
    value = table.get("mode", "enforcing")
    if value in MODES:
        return str(value)
    problems.warn(
        ("safetyLoop", "mode"), f"expected one of {', '.join(MODES)}, got {describe_value(value)}; enforcing is used"
    )
    return "enforcing"


def _host(table: Mapping[str, Any], problems: Problems) -> str:
    host = problems.text(table, "host", ("daemon",)) or "127.0.0.1"
    if host not in ("127.0.0.1", "localhost", "::1"):
        problems.warn(
            ("daemon", "host"), f"{host!r} is reachable from other machines: put a proxy with TLS in front of it"
        )
    return host


def _store(table: Mapping[str, Any], problems: Problems, environ: Mapping[str, str]) -> str:
    url = problems.text(table, "url", ("store",)) or f"sqlite://{state_folder(environ)}"
    if not url.startswith(("sqlite:///", "postgresql://", "postgres://")):
        got = describe_value(without_password(url))
        problems.error(("store", "url"), f"expected sqlite:///folder or postgresql://…, got {got}")
    return url


def _danger_patterns(table: Mapping[str, Any], problems: Problems) -> NamePatterns:
    """R-19."""
    lists = {key: problems.texts(table, key, ("danger_patterns",)) for key in ("dangerous", "forbidden", "safe")}
    try:
        return NamePatterns.configured(**lists, replace=problems.flag(table, "replace", ("danger_patterns",), False))
    except ValueError as error:
        problems.error(("danger_patterns",), str(error))
        return NamePatterns()


def _registry(table: Mapping[str, Any], problems: Problems) -> tuple[Pattern, ...]:
    found = []
    for at, item in enumerate(problems.items(table, "pattern", ("registry",)) if "pattern" in table else []):
        data = problems.table(item, ("registry", "pattern", at))
        try:
            found += [Pattern.of(data)] if data is not None else []
        except PatternError as error:
            problems.error(("registry", "pattern", at), str(error))
    return tuple(found)


def policy_mark(config: Config, policy: Policy) -> str:
    """One hash of everything that is evaluated: the policy's text and the overrides of the configuration."""
    overrides = canonical_json({"gate": config.gate, "trust": config.trust_policy})
    return hashlib.sha256(f"{policy_hash(policy)}{overrides}".encode()).hexdigest()
