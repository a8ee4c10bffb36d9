"""Reads the TOML configuration: checks every key, states every default, warns of what weakens it (R-12, R-14, R-19)."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.operations.name_patterns import NamePatterns
from interlock.canonical_json import canonical_json
from interlock.config.channels import ChannelSettings
from interlock.config.plans import PlannerSettings, PlanSettings
from interlock.config.settings import (
    AdapterFileList,
    AuditSettings,
    ConsoleSettings,
    DaemonSettings,
    HookSettings,
    ImpactSettings,
    LogSettings,
    LoopMode,
    NamePatternLists,
    PauseSettings,
    PolicyChoice,
    ProxySettings,
    RequestLimits,
    RulePackList,
    SeparateSettings,
    SnapshotSettings,
    StoreSettings,
    Telemetry,
)
from interlock.config.values import without_password
from interlock.policy.load import load_policy, policy_hash
from interlock.policy.overrides import LoopSettings, settings_json
from interlock.policy.policy import MODES, Policy, Severities
from interlock.policy.registry import Pattern, PatternError
from interlock.policy.rendering import policy_warnings, severity_warnings
from interlock.policy.trust_matrix import TrustPolicy
from interlock.problems import ExpectedError, Problem, Problems, describe_value
from interlock.problems import Path as Place
from interlock.schema import json_schema, read_table, says, shown_table

SYSTEM_CONFIG = Path("/etc/interlock/config.toml")  # of the daemon that `install --system` sets up
ENVIRONMENT_MODE = "MCPAQL_SAFETY_LOOP"
_RENAMED: Mapping[str, str] = {
    "looker": "[impact], with inspect (was look) and exempt (was relief)",
    "impact.look": "impact.inspect",
    "impact.relief": "impact.exempt",
    "loop.deeds": "loop.mismatch",
    "separate.looker": "separate.inspector",
    "undo.keep": "undo.enabled",
}  # fmt: skip


class ConfigError(ExpectedError, ValueError):
    """An invalid configuration; each argument names the file, a problem and its place."""

    def __str__(self) -> str:
        return "; ".join(map(str, self.args))


def _patterns(value: object, path: Place, problems: Problems, plain: object) -> tuple[Pattern, ...]:
    found = []
    for at, item in enumerate(problems.items(value, path)):
        data = problems.table(item, (*path, at))
        try:
            found += [Pattern.of(data)] if data is not None else []
        except PatternError as error:
            problems.error((*path, at), str(error))
    return tuple(found)


class RegistrySettings(Struct, frozen=True):
    pattern: Annotated[
        tuple[Pattern, ...],
        says("[registry patterns](configuration.md#a-registry-pattern)", read=_patterns),
    ] = ()


# In the order of `config show` and of the reference page.
TABLES: Mapping[str, type[Struct]] = {
    "daemon": DaemonSettings,
    "store": StoreSettings,
    "policy": PolicyChoice,
    "safetyLoop": LoopMode,
    "gate": Severities,
    "danger_patterns": NamePatternLists,
    "trust_policy": TrustPolicy,
    "loop": LoopSettings,
    "adapters": AdapterFileList,
    "rules": RulePackList,
    "registry": RegistrySettings,
    "limits": RequestLimits,
    "channels": ChannelSettings,
    "hooks": HookSettings,
    "impact": ImpactSettings,
    "undo": SnapshotSettings,
    "proxy": ProxySettings,
    "console": ConsoleSettings,
    "pause": PauseSettings,
    "planner": PlannerSettings,
    "plan": PlanSettings,
    "separate": SeparateSettings,
    "audit": AuditSettings,
    "telemetry": Telemetry,
    "log": LogSettings,
}  # fmt: skip


class Config(Struct, frozen=True):
    path: str = ""
    daemon: DaemonSettings = DaemonSettings()
    store: str = ""
    policy: str = "default"
    mode: str = "enforcing"
    mode_of_policy: bool = False  # the file names no mode, so that the policy's counts
    gate: Severities | None = None
    danger_patterns: NamePatterns = NamePatterns()
    trust_policy: TrustPolicy | None = None
    adapters: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    limits: RequestLimits = RequestLimits()
    audit: AuditSettings = AuditSettings()
    channels: ChannelSettings = ChannelSettings()
    loop: LoopSettings = LoopSettings()
    hooks: HookSettings = HookSettings()
    impact: ImpactSettings = ImpactSettings()
    undo: SnapshotSettings = SnapshotSettings()
    proxy: ProxySettings = ProxySettings()
    console: ConsoleSettings = ConsoleSettings()
    pause: PauseSettings = PauseSettings()
    planner: PlannerSettings = PlannerSettings()
    plan: PlanSettings = PlanSettings()
    separate: SeparateSettings = SeparateSettings()
    telemetry: Telemetry = Telemetry()
    log: LogSettings = LogSettings()
    warnings: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """With SQLite for everything, with PostgreSQL for the keys and the socket."""
        if self.store.startswith("sqlite:///"):
            return Path(self.store.removeprefix("sqlite://")).expanduser()
        return state_folder()

    @property
    def socket_path(self) -> Path:
        return Path(self.daemon.socket).expanduser() if self.daemon.socket else self.folder / "interlock.sock"

    @property
    def snapshots(self) -> Path:
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
        return self.override(load_policy(self.policy, Path(self.path).parent if self.path else None))

    def override(self, policy: Policy) -> Policy:
        if self.gate is not None:
            policy = replace(policy, severities=self.gate)
        return replace(policy, trust=self.trust_policy) if self.trust_policy is not None else policy

    def concerns(self) -> list[str]:
        """Warnings about odd settings and about those that weaken protection; raises PolicyError."""
        found = policy_warnings(self.effective_policy(), self.mode, self.danger_patterns)
        return list(dict.fromkeys([*self.warnings, *found]))


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    return Path(environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "interlock"


def config_path(environ: Mapping[str, str] = os.environ) -> Path:
    own = Path(environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "interlock" / "interlock.toml"
    return SYSTEM_CONFIG if SYSTEM_CONFIG.is_file() and not own.is_file() else own


def load_config(path: Path | None = None, environ: Mapping[str, str] = os.environ) -> Config:
    """The environment can only tighten it."""
    chosen = path or config_path(environ)
    if chosen.is_file():
        try:
            data = tomllib.loads(chosen.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigError(f"{chosen}: {error.strerror if isinstance(error, OSError) else error}") from None
        config = config_of(data, str(chosen), environ)
    elif path is not None:
        raise ConfigError(f"{path}: no such file")
    else:
        config = replace(Config(), store=f"sqlite://{state_folder(environ)}")
    return tighten_mode(config, environ.get(ENVIRONMENT_MODE) or None, f"{ENVIRONMENT_MODE}=")


def config_of(data: Mapping[str, Any], path: str = "", environ: Mapping[str, str] = os.environ) -> Config:
    problems = Problems()
    problems.only(data, TABLES, (), renamed=_RENAMED)
    tables = {
        key: read_table(form, data.get(key, {}), (key,), problems, renamed=_RENAMED) for key, form in TABLES.items()
    }
    config = _build(data, tables, path, problems, environ)
    if errors := [_message(path, problem) for problem in problems.found if problem.error]:
        raise ConfigError(*errors)
    return replace(config, warnings=(*config.warnings, *(_message(path, problem) for problem in problems.found)))


def _message(path: str, problem: Problem) -> str:
    return "".join(f"{part}: " for part in (path, problem.place) if part) + problem.message


def _build(
    data: Mapping[str, Any], tables: Mapping[str, Any], path: str, problems: Problems, environ: Mapping[str, str]
) -> Config:
    tables["separate"].check(problems)
    gate = tables["gate"] if data.get("gate") else None
    whole = {key: value for key, value in tables.items() if key in Config.__struct_fields__}
    config = Config(**whole | {
        "path": path,
        "store": tables["store"].url or f"sqlite://{state_folder(environ)}",
        "policy": tables["policy"].use,
        "mode": tables["safetyLoop"].mode,
        "gate": gate,
        "danger_patterns": _name_patterns(tables["danger_patterns"], problems),
        "trust_policy": tables["trust_policy"] if data.get("trust_policy") else None,
        "adapters": tables["adapters"].files,
        "rules": tables["rules"].files,
        "patterns": tables["registry"].pattern,
    })  # fmt: skip
    weak = severity_warnings(gate) if gate else ()
    parts = (config.channels, config.hooks, config.planner, config.plan)
    config = replace(config, warnings=(*weak, *(warning for part in parts for warning in part.warnings)))
    named = isinstance(data.get("safetyLoop"), Mapping) and "mode" in data["safetyLoop"]
    return config if named else _with_policy_mode(config)


def _name_patterns(lists: NamePatternLists, problems: Problems) -> NamePatterns:
    """R-19."""
    try:
        return NamePatterns.configured(lists.dangerous, lists.forbidden, lists.safe, lists.replace)
    except ValueError as error:
        problems.error(("danger_patterns",), str(error))
        return NamePatterns()


def _with_policy_mode(config: Config) -> Config:
    """R-12: seed 001's JSON may carry the mode; its errors are reported where it is loaded."""
    if not config.policy.endswith(".json"):
        return config
    try:
        mode = config.effective_policy().mode
    except ValueError:
        return config
    return config if mode in ("", "enforcing") else replace(config, mode=mode, mode_of_policy=True)


def effective_settings(config: Config) -> dict[str, Any]:
    policy, patterns = config.effective_policy(), config.danger_patterns
    lists = {key: list(getattr(patterns, key)) for key in ("dangerous", "forbidden", "safe")}
    special = {
        "daemon": {**shown_table(config.daemon), "socket": str(config.socket_path)},
        "store": {"url": without_password(config.store)},
        "policy": {"use": config.policy},
        "safetyLoop": {"mode": config.mode},
        "gate": shown_table(policy.severities),
        "danger_patterns": lists,
        "trust_policy": shown_table(policy.trust),
        "loop": settings_json(config.loop),
        "adapters": {"files": list(config.adapters)},
        "rules": {"files": list(config.rules)},
        "registry": {"pattern": [pattern.wire for pattern in config.patterns]},
        "channels": config.channels.wire,
        "telemetry": {**shown_table(config.telemetry), "otlp": without_password(config.telemetry.otlp)},
    }
    return {key: special.get(key) or shown_table(getattr(config, key)) for key in TABLES}


def settings_schema() -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "interlock.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": {key: json_schema(form) for key, form in TABLES.items()},
    }


def tighten_mode(config: Config, wanted: str | None, lead: str) -> Config:
    """R-12: this mode counts only where it is the stricter one; an unknown value is enforcing."""
    if wanted is None:
        return config
    if wanted not in MODES:
        warning = f"{lead}{describe_value(wanted)}: expected one of {', '.join(MODES)}; enforcing is used"
        return replace(config, mode="enforcing", warnings=(*config.warnings, warning))
    if MODES.index(wanted) > MODES.index(config.mode):
        warning = f"{lead}{wanted} would loosen {config.mode} and is ignored: only the file and `interlock mode` can"
        return replace(config, warnings=(*config.warnings, warning))
    return replace(config, mode=wanted)


def policy_mark(config: Config, policy: Policy) -> str:
    overrides = canonical_json({"gate": config.gate, "trust": config.trust_policy})
    return hashlib.sha256(f"{policy_hash(policy)}{overrides}".encode()).hexdigest()
