"""Adapter files: reads them strictly into an Adapter, and reports every problem with its line."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path as File
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from interlock.adapters.danger import DangerBlock, read_danger, template_params
from interlock.adapters.levels import CATEGORY_LEVELS, LevelClaims
from interlock.adapters.quota import ServiceLimits, read_limits
from interlock.adapters.trust import TrustRecord, read_trust
from interlock.adapters.yaml_lines import MARK, MAX_CHARACTERS, ParsedYaml, read_text
from interlock.analysis.packs import own_words
from interlock.model import NOTHING, Level
from interlock.problems import Path, Problem, Problems, WrittenTable, describe_value

_MARKDOWN = frozenset({".md", ".markdown", ".mdx"})
METHODS = frozenset("GET HEAD OPTIONS POST PUT PATCH DELETE".split())


class AdapterParam(Struct, frozen=True):
    name: str
    type: str = ""
    required: bool = False
    description: str = ""
    rest: Mapping[str, Any] = NOTHING


class AdapterOperationSpec(Struct, frozen=True):
    name: str
    category: str
    line: int
    maps_to: str = ""
    description: str = ""
    params: tuple[AdapterParam, ...] = ()
    danger: DangerBlock | None = None

    @property
    def method(self) -> str:
        word, *rest = self.maps_to.split(None, 1) or [""]
        return word.upper() if rest and word.upper() in METHODS else ""

    @property
    def claims(self) -> LevelClaims:
        """A request that deletes is destructive in every category."""
        mapped = Level.DESTRUCTIVE if self.method == "DELETE" else None
        return LevelClaims(self.name, self.category, self.danger, mapped)


class Adapter(Struct, frozen=True):
    name: str
    type: str
    version: str
    description: str
    target: Mapping[str, Any]
    operations: tuple[AdapterOperationSpec, ...]
    trust: TrustRecord
    auth: Mapping[str, Any] = NOTHING
    limits: ServiceLimits = ServiceLimits()

    def operation(self, name: str) -> AdapterOperationSpec | None:
        return next((item for item in self.operations if item.name == name), None)


class AdapterError(ValueError):
    """An adapter that must not be used; lists what is wrong, line by line."""


class AdapterProblem(Struct, frozen=True):
    line: int
    place: str
    message: str
    error: bool

    @property
    def word(self) -> str:
        return "error" if self.error else "warning"


class AdapterReading(Struct, frozen=True):
    adapter: Adapter | None
    problems: tuple[AdapterProblem, ...]
    mark: str = ""  # the hash of the file

    @property
    def usable(self) -> bool:
        return self.adapter is not None and not any(problem.error for problem in self.problems)

    def errors(self, path: File) -> str:
        errors = (problem for problem in self.problems if problem.error)
        return "\n".join(f"{path}:{problem.line}: {problem.message}" for problem in errors)


def read(text: str, markdown: bool | None = None) -> AdapterReading:
    """Without a format, front matter means Markdown."""
    if markdown is None:
        markdown = text.startswith("---\n") and "\n---\n" in text[4:]
    written = read_text(text, markdown)
    adapter = read_form(written)
    found = []
    for problem in written.problems.found:
        place = Problem(tuple(key for key in problem.path if not str(key).startswith(MARK)), "").place
        found.append(AdapterProblem(written.line(problem.path), place, problem.message, problem.error))
    return AdapterReading(adapter, tuple(sorted(found, key=lambda problem: problem.line)))


def read_file(path: File) -> AdapterReading:
    with path.open("rb") as file:
        raw = file.read(MAX_CHARACTERS * 4 + 1)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        return AdapterReading(None, (AdapterProblem(line, "", "is not UTF-8", True),))
    suffix = path.suffix.lower()
    reading = read(text, True if suffix in _MARKDOWN else False if suffix in (".yaml", ".yml") else None)
    return replace(reading, mark=hashlib.sha256(raw).hexdigest())


def load(path: File) -> Adapter:
    reading = read_file(path)
    if reading.adapter is None or not reading.usable:
        raise AdapterError(reading.errors(path))
    return reading.adapter


_WORDS = own_words("adapters/words.toml")
_REFERENCE = re.compile(r"^(?:\$\{?[A-Za-z_]\w*\}?|\{\{.*\}\}|env:.*|(?!AKIA|ASIA)[A-Z][A-Z0-9_]*)$")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_HOLE = re.compile(r"\{([A-Za-z_]\w*)\}")
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


def reserved_names() -> Mapping[str, str]:
    return _WORDS.table("reserved")


def read_form(written: ParsedYaml) -> Adapter | None:
    if written.data is None:
        return None
    data = WrittenTable(written.data, (), written.problems)
    if "trust_policy" in data:
        data.warn("trust_policy is an operator's to set; an adapter's own is ignored", "trust_policy")
    data.only(_WORDS.file, error=False)
    named = {key: data.text(key, required=True) for key in ("name", "type", "description")}
    if named["type"] not in ("adapter", ""):
        data.warn(f"type is {describe_value(named['type'])}, not 'adapter'", "type")
    if "trust" in data and "trust_level" in data:
        data.error("trust and trust_level are both there; keep trust", "trust_level")
    if (auth := data.inner("auth")) is not None:
        _check_secrets(auth)
    version = data.data.get("version")
    if isinstance(version, int | float) and not isinstance(version, bool):
        data.warn(f"version {version} is a number; put it in quotes", "version")
    else:
        version = data.text("version", required=True)
    return Adapter(
        **named,
        version=str(version),
        target=_target(data),
        operations=_operations(data, written),
        trust=read_trust(data),
        auth=NOTHING if auth is None else auth.data,
        limits=read_limits(data),
    )


def _target(data: WrittenTable) -> Mapping[str, Any]:
    if (target := data.required_table("target")) is None:
        return NOTHING
    target.only(_WORDS.target, error=False)
    url = target.text("base_url", required=target.data.get("transport", "http") in ("http", "https"))
    if url:
        _check_url(url, target)
    return target.data


def _check_url(url: str, target: WrittenTable) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        target.error(f"base_url {describe_value(url)} is no URL", "base_url")
        return
    if parts.username or parts.password:
        target.error("base_url carries a name or password; use auth", "base_url")
    if not parts.scheme or (parts.scheme in ("http", "https") and not host):
        target.error(f"base_url {describe_value(url)} has no scheme and host", "base_url")
    elif parts.scheme == "http" and host not in _LOCAL:
        target.warn("base_url is not encrypted; use https", "base_url")


def _check_secrets(auth: WrittenTable) -> None:
    """Refuses a secret, which everybody who reads the file would have; not a reference to one."""
    for key, value in auth.data.items():
        if isinstance(value, Mapping):
            _check_secrets(WrittenTable(value, (*auth.path, key), auth.problems))
        elif key.lower() in _WORDS.secrets and isinstance(value, str) and not _REFERENCE.match(value):
            auth.error(f"{key} looks like a secret; name an environment variable instead", key)


def _operations(data: WrittenTable, written: ParsedYaml) -> tuple[AdapterOperationSpec, ...]:
    if (families := data.required_table("operations")) is None:
        return ()
    given = families.data
    if not given:
        families.error("operations is empty")
    families.only(CATEGORY_LEVELS)
    found: dict[str, AdapterOperationSpec] = {}
    listed = []
    for category in given:
        for at, table in enumerate(families.tables(category) if category in CATEGORY_LEVELS else ()):
            operation = _operation(table, category, written.line(table.path))
            listed.append(operation)
            first = found.setdefault(operation.name, operation)
            if first is not operation and operation.name:
                words = f"operation {operation.name} is there twice; first on line {first.line}"
                families.error(words, category, at, "name")
    return tuple(listed)


def _operation(table: WrittenTable, category: str, line: int) -> AdapterOperationSpec:
    table.only(_WORDS.operation, error=False)
    name, reserved = table.text("name", required=True), reserved_names()
    if name and not _NAME.fullmatch(name):
        table.error(f"name {describe_value(name)} is not lower-case words joined by underscores", "name")
    if reserved.get(name, category) != category:
        table.error(f"{name} is reserved, and belongs to {reserved[name]}", "name")
    operation = AdapterOperationSpec(
        name=name,
        category=category,
        line=line,
        maps_to=table.text("maps_to", required=name not in reserved),
        description=table.text("description"),
        params=_params(table),
        danger=read_danger(table),
    )
    _check_whole(operation, table)
    return operation


def _params(table: WrittenTable) -> tuple[AdapterParam, ...]:
    """A table `name: {type, …}`, or a list of tables that carry their name, or of bare names."""
    given, here = table.data.get("params"), (*table.path, "params")
    pairs: list[tuple[Any, Any, Path]] = []
    if isinstance(given, list):
        named = [item.get("name") if isinstance(item, Mapping) else item for item in given]
        pairs = [(name, item, (*here, at)) for at, (name, item) in enumerate(zip(named, given))]
    elif given is not None:
        pairs = [(key, item, (*here, key)) for key, item in (table.problems.table(given, here) or {}).items()]
    problems = table.problems
    return tuple(_param(name if isinstance(name, str) else "", item, at, problems) for name, item, at in pairs)


def _param(name: str, item: object, path: Path, problems: Problems) -> AdapterParam:
    if not _NAME.fullmatch(name):
        problems.error(path, f"parameter {describe_value(name)} is not lower-case words joined by underscores")
    if isinstance(item, str):
        return AdapterParam(name, item if path[-1] == name else "")
    if not isinstance(item, Mapping):
        problems.error(path, f"parameter {describe_value(name)}: expected a table, got {describe_value(item)}")
        return AdapterParam(name)
    table = WrittenTable(item, path, problems)
    return AdapterParam(
        name=name,
        type=table.text("type"),
        required=table.flag("required"),
        description=table.text("description"),
        rest={key: value for key, value in item.items() if key not in ("name", "type", "required", "description")},
    )


def _check_whole(operation: AdapterOperationSpec, table: WrittenTable) -> None:
    known = {param.name for param in operation.params}
    for name in dict.fromkeys(_HOLE.findall(operation.maps_to)):
        if name not in known:
            table.warn(f"maps_to uses {{{name}}}, which is no parameter of {operation.name}", "maps_to")
    if operation.category == "read" and operation.method == "DELETE":
        table.error(f"{operation.name} is under read, but its request deletes", "maps_to")
    if operation.danger:
        for name in template_params(operation.danger.confirmation_message):
            if name.split(".")[0] not in known:
                message = f"confirmation_message uses {{{name}}}, which is no parameter of {operation.name}"
                table.warn(message, "danger", "confirmation_message")
