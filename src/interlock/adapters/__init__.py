"""Adapter files: reads them strictly into an Adapter, and reports every problem with its line."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path as File
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.adapters.danger import FLAT_KEYS, DangerBlock, read_danger, template_params
from interlock.adapters.levels import CATEGORY_LEVELS, LevelClaims
from interlock.adapters.quota import ServiceLimits, read_limits
from interlock.adapters.trust import TrustRecord, read_trust
from interlock.adapters.yaml_lines import MARK, MAX_CHARACTERS, ParsedYaml, read_text
from interlock.model import Level
from interlock.problems import Path, Problem, Problems, describe_value

_MARKDOWN = frozenset({".md", ".markdown", ".mdx"})
METHODS = frozenset("GET HEAD OPTIONS POST PUT PATCH DELETE".split())
NOTHING: Mapping[str, Any] = MappingProxyType({})


class AdapterParam(Struct, frozen=True):
    """One parameter as an operation declares it."""

    name: str
    type: str = ""
    required: bool = False
    description: str = ""
    rest: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


class AdapterOperationSpec(Struct, frozen=True):
    """One operation, its endpoint family, and the danger it declares."""

    name: str
    category: str
    line: int
    maps_to: str = ""
    description: str = ""
    params: tuple[AdapterParam, ...] = ()
    danger: DangerBlock | None = None

    @property
    def method(self) -> str:
        """The HTTP method that it maps to, or empty."""
        word, *rest = self.maps_to.split(None, 1) or [""]
        return word.upper() if rest and word.upper() in METHODS else ""

    @property
    def claims(self) -> LevelClaims:
        """The inputs of its level; a request that deletes is destructive in every category."""
        mapped = Level.DESTRUCTIVE if self.method == "DELETE" else None
        return LevelClaims(self.name, self.category, self.danger, mapped)


class Adapter(Struct, frozen=True):
    """The content of one adapter file."""

    name: str
    type: str
    version: str
    description: str
    target: Mapping[str, Any]
    operations: tuple[AdapterOperationSpec, ...]
    trust: TrustRecord
    auth: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    limits: ServiceLimits = field(default_factory=ServiceLimits)

    def operation(self, name: str) -> AdapterOperationSpec | None:
        """The operation of that name."""
        return next((item for item in self.operations if item.name == name), None)


class AdapterError(ValueError):
    """An adapter that must not be used; the message lists what is wrong, line by line."""


class AdapterProblem(Struct, frozen=True):
    """One problem, and the line it is on."""

    line: int
    place: str
    message: str
    error: bool

    @property
    def word(self) -> str:
        return "error" if self.error else "warning"


class AdapterReading(Struct, frozen=True):
    """What came of reading an adapter file: the adapter as far as it could be read, and what is wrong with it."""

    adapter: Adapter | None
    problems: tuple[AdapterProblem, ...]
    mark: str = ""  # the hash of the file

    @property
    def usable(self) -> bool:
        return self.adapter is not None and not any(problem.error for problem in self.problems)


def read(text: str, markdown: bool | None = None) -> AdapterReading:
    """Reads an adapter from text; Markdown is recognised by its front matter where the format is not given."""
    if markdown is None:
        markdown = text.startswith("---\n") and "\n---\n" in text[4:]
    written = read_text(text, markdown)
    adapter = read_form(written)
    found = [_located(problem, written) for problem in written.problems.found]
    return AdapterReading(adapter, tuple(sorted(found, key=lambda problem: problem.line)))


def read_file(path: File) -> AdapterReading:
    """Reads an adapter file; raises OSError if there is none, and reads no more than the limit."""
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
    """The adapter in a file; raises AdapterError if anything in it is wrong."""
    reading = read_file(path)
    if reading.adapter is None or not reading.usable:
        errors = [problem for problem in reading.problems if problem.error]
        raise AdapterError("\n".join(f"{path}:{problem.line}: {problem.message}" for problem in errors))
    return reading.adapter


def _located(problem: Problem, written: ParsedYaml) -> AdapterProblem:
    keys = tuple(key for key in problem.path if not str(key).startswith(MARK))
    place = Problem(keys, "").place
    return AdapterProblem(written.line(problem.path), place, problem.message, problem.error)


_KEYS = frozenset(
    {"name", "type", "version", "description", "target", "auth", "operations", "trust", "trust_level", "rate_limits"}
    | {"author", "license", "tags", "homepage", "unique_id", "created", "modified", "constants"}
)
_TARGET_KEYS = frozenset("base_url transport protocol serialization timeout headers version".split())
_OPERATION_KEYS = frozenset(
    {"name", "maps_to", "description", "params", "danger", "optional", "returns", "response", "body", "pagination"}
    | {"examples", "deprecated", "lifecycle", *FLAT_KEYS}
)
_SECRETS = frozenset("token secret password api_key apikey access_key client_secret private_key".split())
_REFERENCE = re.compile(r"^(?:\$\{?[A-Za-z_]\w*\}?|\{\{.*\}\}|env:.*|(?!AKIA|ASIA)[A-Z][A-Z0-9_]*)$")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_HOLE = re.compile(r"\{([A-Za-z_]\w*)\}")
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
# Names that the protocol reserves, and their endpoint (ESL-04).
RESERVED = {
    "introspect": "read",
    "record_execution_step": "create",
    "verify_challenge": "create",
    "execute_agent": "execute",
    "complete_execution": "execute",
    "abort_execution": "execute",
    "confirm_operation": "execute",
}


def read_form(written: ParsedYaml) -> Adapter | None:
    """The adapter that was written; None where there is no table to read."""
    data, problems = written.data, written.problems
    if data is None:
        return None
    if "trust_policy" in data:
        problems.warn(("trust_policy",), "trust_policy is an operator's to set; an adapter's own is ignored")
    problems.only(data, _KEYS | {"trust_policy"}, (), error=False)
    named = {key: problems.text(data, key, (), required=True) for key in ("name", "type", "description")}
    if named["type"] not in ("adapter", ""):
        problems.warn(("type",), f"type is {describe_value(named['type'])}, not 'adapter'")
    if "trust" in data and "trust_level" in data:
        problems.error(("trust_level",), "trust and trust_level are both there; keep trust")
    auth = problems.inner(data, "auth", ()) or NOTHING
    _check_secrets(auth, ("auth",), problems)
    return Adapter(
        **named,
        version=_version(data, problems),
        target=_target(data, problems),
        operations=_operations(written, problems),
        trust=read_trust(data, problems),
        auth=auth,
        limits=read_limits(data, problems),
    )


def _version(data: Mapping[str, Any], problems: Problems) -> str:
    value = data.get("version")
    if isinstance(value, int | float) and not isinstance(value, bool):
        problems.warn(("version",), f"version {value} is a number; put it in quotes")
        return str(value)
    return problems.text(data, "version", (), required=True)


def _target(data: Mapping[str, Any], problems: Problems) -> Mapping[str, Any]:
    if "target" not in data:
        problems.error((), "target is missing")
        return NOTHING
    target = problems.table(data["target"], ("target",))
    if target is None:
        return NOTHING
    problems.only(target, _TARGET_KEYS, ("target",), error=False)
    over_http = target.get("transport", "http") in ("http", "https")
    url = problems.text(target, "base_url", ("target",), required=over_http)
    if url:
        _check_url(url, ("target", "base_url"), problems)
    return target


def _check_url(url: str, path: Path, problems: Problems) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        problems.error(path, f"base_url {describe_value(url)} is no URL")
        return
    if parts.username or parts.password:
        problems.error(path, "base_url carries a name or password; use auth")
    if not parts.scheme or (parts.scheme in ("http", "https") and not host):
        problems.error(path, f"base_url {describe_value(url)} has no scheme and host")
    elif parts.scheme == "http" and host not in _LOCAL:
        problems.warn(path, "base_url is not encrypted; use https")


def _check_secrets(auth: Mapping[str, Any], path: Path, problems: Problems) -> None:
    """A secret in the file is everybody's who can read it; a reference to one is fine."""
    for key, value in auth.items():
        if isinstance(value, Mapping):
            _check_secrets(value, (*path, key), problems)
        elif key.lower() in _SECRETS and isinstance(value, str) and not _REFERENCE.match(value):
            problems.error((*path, key), f"{key} looks like a secret; name an environment variable instead")


def _operations(written: ParsedYaml, problems: Problems) -> tuple[AdapterOperationSpec, ...]:
    data = written.data or {}
    if "operations" not in data:
        problems.error((), "operations is missing")
        return ()
    families = problems.table(data["operations"], ("operations",))
    if families is None:
        return ()
    if not families:
        problems.error(("operations",), "operations is empty")
    problems.only(families, CATEGORY_LEVELS, ("operations",))
    found: list[AdapterOperationSpec] = []
    for category in families:
        if category not in CATEGORY_LEVELS:
            continue
        for path, table in problems.tables(families, category, ("operations",)):
            found.append(_operation(table, category, path, written.line(path), problems))
    _check_names(found, problems)
    return tuple(found)


def _operation(
    data: Mapping[str, Any], category: str, path: Path, line: int, problems: Problems
) -> AdapterOperationSpec:
    problems.only(data, _OPERATION_KEYS, path, error=False)
    name = problems.text(data, "name", path, required=True)
    if name and not _NAME.fullmatch(name):
        problems.error((*path, "name"), f"name {describe_value(name)} is not lower-case words joined by underscores")
    if RESERVED.get(name, category) != category:
        problems.error((*path, "name"), f"{name} is reserved, and belongs to {RESERVED[name]}")
    operation = AdapterOperationSpec(
        name=name,
        category=category,
        line=line,
        maps_to=problems.text(data, "maps_to", path, required=name not in RESERVED),
        description=problems.text(data, "description", path),
        params=_params(data, path, problems),
        danger=read_danger(data, path, problems),
    )
    _check_whole(operation, path, problems)
    return operation


def _params(data: Mapping[str, Any], path: Path, problems: Problems) -> tuple[AdapterParam, ...]:
    """A table `name: {type, …}`, or a list of tables that carry their name, or of bare names."""
    given = data.get("params")
    if given is None:
        return ()
    here = (*path, "params")
    if isinstance(given, list):
        pairs = [(_param_name(item), item, (*here, at)) for at, item in enumerate(given)]
    else:
        table = problems.table(given, here)
        pairs = [(key, item, (*here, key)) for key, item in (table or {}).items()]
    return tuple(_param(name, item, where, problems) for name, item, where in pairs)


def _param_name(item: object) -> str:
    name = item.get("name") if isinstance(item, Mapping) else item
    return name if isinstance(name, str) else ""


def _param(name: str, item: object, path: Path, problems: Problems) -> AdapterParam:
    if not _NAME.fullmatch(name):
        problems.error(path, f"parameter {describe_value(name)} is not lower-case words joined by underscores")
    if isinstance(item, str):
        return AdapterParam(name, item if path[-1] == name else "")
    if not isinstance(item, Mapping):
        problems.error(path, f"parameter {describe_value(name)}: expected a table, got {describe_value(item)}")
        return AdapterParam(name)
    return AdapterParam(
        name=name,
        type=problems.text(item, "type", path),
        required=problems.flag(item, "required", path, False),
        description=problems.text(item, "description", path),
        rest={key: value for key, value in item.items() if key not in ("name", "type", "required", "description")},
    )


def _check_whole(operation: AdapterOperationSpec, path: Path, problems: Problems) -> None:
    """Reports contradictions between the parts of an operation."""
    known = {param.name for param in operation.params}
    for name in dict.fromkeys(_HOLE.findall(operation.maps_to)):
        if name not in known:
            problems.warn((*path, "maps_to"), f"maps_to uses {{{name}}}, which is no parameter of {operation.name}")
    if operation.category == "read" and operation.method == "DELETE":
        problems.error((*path, "maps_to"), f"{operation.name} is under read, but its request deletes")
    if operation.danger:
        for name in template_params(operation.danger.confirmation_message):
            if name.split(".")[0] not in known:
                message = f"confirmation_message uses {{{name}}}, which is no parameter of {operation.name}"
                problems.warn((*path, "danger", "confirmation_message"), message)


def _check_names(operations: list[AdapterOperationSpec], problems: Problems) -> None:
    first: dict[str, AdapterOperationSpec] = {}
    counts: dict[str, int] = {}
    for operation in operations:
        at = counts.get(operation.category, 0)
        counts[operation.category] = at + 1
        other = first.setdefault(operation.name, operation)
        if other is not operation and operation.name:
            path = ("operations", operation.category, at, "name")
            problems.error(path, f"operation {operation.name} is there twice; first on line {other.line}")
