"""Builds one HTTP request from a path template, parameters and the `auth` block; no value can leave its place, and secrets stay in their header."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from operator import methodcaller
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from msgspec import Struct, field

from interlock.adapters import METHODS, Adapter, AdapterOperationSpec
from interlock.adapters.quota import ApiLimit
from interlock.error_codes import LoopProblem
from interlock.loop.protocol.gatekeeper import type_of
from interlock.model import Confidential, Json
from interlock.strict_json import table_in

# Keys that name a variable of the environment, the usual one first.
_VARIABLES = {
    "bearer": (("token_env", "token"),),
    "api_key": (("key_env", "key", "api_key"),),
    "basic": (("username_env", "username"), ("password_env", "password")),
}
HIDDEN = "[secret]"
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_REFERENCE = re.compile(r"(?:\$\{?|env:)?([A-Za-z_][A-Za-z0-9_]*)\}?")
_SECRET = re.compile(r"[\x21-\x7e]{1,8192}")  # what a header can carry
_SHORTEST = 6  # characters; shorter secrets are not searched for in responses


class AdapterUnusable(ValueError):
    """An adapter whose operations cannot be performed; the message says which and why."""


def invalid_value(param: str, expected: str) -> LoopProblem:
    """The value itself is not repeated: it may be a secret."""
    details = {"param_name": param, "expected": expected}
    return LoopProblem("VALIDATION_INVALID_VALUE", f"'{param}': expected {expected}", details)


class AuthHeaders(Confidential, Struct, frozen=True):
    """The headers of one request, and the secrets in them, which are redacted from the response."""

    HIDDEN = ("headers", "secrets")

    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()

    def redact(self, value: Any) -> Any:
        """A service may echo its request."""
        for secret in self.secrets:
            value = on_texts(value, methodcaller("replace", secret, HIDDEN))
        return value


def on_texts(value: Any, work: Callable[[str], str]) -> Any:
    """Keys included."""
    if isinstance(value, str):
        return work(value)
    if isinstance(value, dict):
        return {on_texts(key, work): on_texts(item, work) for key, item in value.items()}
    return [on_texts(item, work) for item in value] if isinstance(value, list) else value


class Auth(Struct, frozen=True):
    type: str = "none"
    header: str = "Authorization"
    variables: tuple[str, ...] = ()

    @classmethod
    def of(cls, block: Json) -> Auth:
        """Raises AdapterUnusable where it names no variable, or an unknown type."""
        kind = str(block.get("type") or "none")
        if kind == "none":
            return cls()
        if kind not in _VARIABLES:
            raise AdapterUnusable(f"auth.type {kind[:40]!r} is not known; known: {', '.join(('none', *_VARIABLES))}")
        header = "Authorization"
        if kind == "api_key":
            header = str(block.get("header_name") or block.get("header") or "X-API-Key")
            if not _HEADER.fullmatch(header):
                raise AdapterUnusable("auth.header_name is not a valid header name")
        names = []
        for keys in _VARIABLES[kind]:
            given = next((block[key] for key in keys if isinstance(block.get(key), str)), "")
            found = _REFERENCE.fullmatch(given.strip())
            if found is None:
                raise AdapterUnusable(f"auth.{keys[0]} is missing: expected the name of an environment variable")
            names.append(found[1])
        return cls(kind, header, tuple(names))

    def sign_in(self, environ: Mapping[str, str]) -> AuthHeaders:
        """Raises LoopProblem where a variable is not set, naming the variable and nothing more."""
        if self.type == "none":
            return AuthHeaders()
        values = [environ.get(name, "").strip() for name in self.variables]
        for name, value in zip(self.variables, values):
            if not _SECRET.fullmatch(value):
                words = f"The adapter signs in with the environment variable '{name}', which is not set"
                if value:
                    words = f"The environment variable '{name}' holds something no header can carry"
                raise LoopProblem("PERMISSION_DENIED", words, {"reason": "not signed in"})
        if self.type == "basic":
            values[0] = base64.b64encode(":".join(values).encode()).decode()
        word = {"basic": "Basic ", "bearer": "Bearer "}.get(self.type, "")
        secrets = tuple(value for value in values if len(value) >= _SHORTEST)
        return AuthHeaders({self.header: f"{word}{values[0]}"}, secrets)


_HOLE = re.compile(r"\{([A-Za-z_]\w*)\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]")
_DISGUISED = re.compile(r"%(?:2f|5c|2e|00|25)", re.IGNORECASE)  # a service that decodes twice would see a slash
_DOTS = frozenset({"", ".", ".."})
MOST_CHARACTERS = 2_000  # of one value in a path


class Template(Struct, frozen=True, dict=True):
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, maps_to: str) -> Template:
        """Raises AdapterUnusable unless it stays on the adapter's own service."""
        method, _, target = maps_to.strip().partition(" ")
        path, _, query = target.strip().partition("?")
        bare, why = _HOLE.sub("x", path), ""
        if method.upper() not in METHODS or not path.startswith("/"):
            why = "expected a method and a path such as 'GET /things/{id}'"
        elif path.startswith("//") or re.search(r"[\s\\#{}]|[^\x21-\x7e]", bare):
            why = "the path has an invalid character"
        elif any(segment in (".", "..") or _DISGUISED.search(segment) for segment in bare.split("/")):
            why = "the path leaves the base path"
        pairs = () if why else tuple(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
        if any(_HOLE.search(key) for key, _ in pairs):
            why = "a parameter cannot name a key of the query"
        if why:
            raise AdapterUnusable(f"maps_to {maps_to[:80]!r}: {why}")
        return cls(method.upper(), path, pairs)

    @cached_property
    def path_names(self) -> list[str]:
        return _HOLE.findall(self.path)

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset((*self.path_names, *(name for _, value in self.query for name in _HOLE.findall(value))))

    def filled_path(self, params: Json, slashed: frozenset[str] = frozenset()) -> str:
        """A value stays inside its segment, or, for a param with `slashes`, below it."""
        return "/".join(self._segment(piece, params, slashed) for piece in self.path.split("/"))

    def filled_query(self, params: Json) -> list[tuple[str, str]]:
        """Omits pairs without a value."""
        return [
            (key, _HOLE.sub(lambda hole: scalar(hole[1], params[hole[1]]), value))
            for key, value in self.query
            if all(params.get(name) is not None for name in _HOLE.findall(value))
        ]

    def _segment(self, piece: str, params: Json, slashed: frozenset[str]) -> str:
        names = _HOLE.findall(piece)
        if not names:
            return piece
        filled = _HOLE.sub(lambda hole: _encoded(hole[1], params.get(hole[1]), hole[1] in slashed), piece)
        if any(part in _DOTS for part in filled.split("/")):
            raise invalid_value(names[0], "the name of one thing; empty, '.' and '..' are none")
        return filled


def scalar(name: str, value: Any) -> str:
    """Refuses lists, tables and control characters."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | str):
        text = str(value)
        if _CONTROL.search(text):
            raise invalid_value(name, "text without control characters")
        return text
    details = {"param_name": name, "expected_type": "string, number or boolean", "actual_type": type_of(value)}
    raise LoopProblem("VALIDATION_INVALID_TYPE", f"'{name}': expected a text, a number or a boolean", details)


def _encoded(name: str, value: Any, slashes: bool) -> str:
    if value is None:
        raise LoopProblem("VALIDATION_MISSING_PARAM", f"Missing required parameter '{name}'", {"param_name": name})
    text = scalar(name, value)
    if not text.strip() or len(text) > MOST_CHARACTERS:
        raise invalid_value(name, f"1 to {MOST_CHARACTERS} characters")
    if "\\" in text or _DISGUISED.search(text) or ("/" in text and not slashes):
        raise invalid_value(name, "a value without slashes, backslashes and percent-encoded ones")
    return quote(text, safe="/" if slashes else "")


INPUT = "input"  # holds the fields of an UPDATE (EP-14)
WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})
_TARGET = {"transport": ("http", "https"), "protocol": ("rest",), "serialization": ("json", "form")}
TIMEOUT, MOST_TIMEOUT = 30.0, 300.0


class OutgoingRequest(Confidential, Struct, frozen=True):
    HIDDEN = ("body",)

    method: str
    url: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class ServiceCall(Struct, frozen=True):
    operation: AdapterOperationSpec
    template: Template
    slashed: frozenset[str]
    queried: frozenset[str]

    @property
    def updates(self) -> bool:
        return self.operation.category == "update"

    @property
    def merges(self) -> bool:
        """Whether the input is merged into the resource, read first: a PUT replaces everything."""
        return self.updates and self.template.method == "PUT"

    @property
    def outer(self) -> frozenset[str]:
        return self.template.names | self.queried

    def resource(self, params: Json) -> tuple[str, str]:
        """The operation's noun, and the last value in its path, for an error."""
        noun = self.operation.name.partition("_")[2] or self.operation.name
        last = (self.template.path_names or [""])[-1]
        return noun, scalar(last, params[last])[:100] if params.get(last) is not None else ""

    @classmethod
    def of(cls, operation: AdapterOperationSpec) -> ServiceCall:
        template = Template.of(operation.maps_to)
        names = {param.name for param in operation.params}
        if missing := sorted(template.names - names):
            raise AdapterUnusable(f"maps_to uses '{missing[0]}', which is not a parameter")
        if fixed := sorted({key for key, _ in template.query} & names - template.names):
            raise AdapterUnusable(f"maps_to fixes '{fixed[0]}', so it cannot be a parameter as well")
        slashed = frozenset(param.name for param in operation.params if param.rest.get("slashes"))
        queried = frozenset(param.name for param in operation.params if param.rest.get("in") == "query")
        return cls(operation, template, slashed, queried)


class Service(Struct, frozen=True):
    name: str
    base_url: str
    auth: Auth
    calls: Mapping[str, ServiceCall]
    form: bool = False
    timeout: float = TIMEOUT
    headers: Mapping[str, str] = field(default_factory=dict)
    together: int = 0  # requests at a time; 0 means any number
    limits: tuple[ApiLimit, ...] = ()

    @classmethod
    def of(cls, adapter: Adapter) -> Service:
        """Raises AdapterUnusable with every problem found."""
        target, auth, calls = adapter.target, Auth(), {}
        wrong = [
            f"target.{key} {target[key]!r:.40}: expected {' or '.join(known)}"
            for key, known in _TARGET.items()
            if target.get(key, known[0]) not in known
        ]
        try:
            auth = Auth.of(adapter.auth)
        except AdapterUnusable as error:
            wrong.append(str(error))
        for operation in adapter.operations:
            try:
                if operation.maps_to:
                    calls[operation.name] = ServiceCall.of(operation)
            except ValueError as error:
                wrong.append(f"{operation.name}: {error}")
        if wrong:
            raise AdapterUnusable(f"{adapter.name}: " + "; ".join(wrong))
        lines = {str(name): str(value) for name, value in table_in(target, "headers").items()}
        headers = {name: value for name, value in lines.items() if not {"\n", "\r"} & {*name, *value}}
        headers = {"Accept": "application/json", **headers}
        given, timeout = target.get("timeout"), TIMEOUT
        if isinstance(given, int | float) and not isinstance(given, bool) and given > 0:
            timeout = min(given / 1000 if given > 1000 else float(given), MOST_TIMEOUT)  # some write milliseconds
        base = str(target.get("base_url", "")).rstrip("/")
        form, together = target.get("serialization") == "form", adapter.limits.concurrent
        return cls(adapter.name, base, auth, calls, form, timeout, headers, together, adapter.limits.api)

    def url(self, call: ServiceCall, params: Json) -> str:
        """On this service and below its base, whatever the params hold."""
        path = call.template.filled_path(params, call.slashed)
        query = urlencode(call.template.filled_query(params) + _query(call, params), quote_via=quote, safe="")
        return f"{self.base_url}{path}{query and '?'}{query}"

    def request(self, call: ServiceCall, params: Json, merged: Json | None = None) -> OutgoingRequest:
        method, headers, data = call.template.method, self.headers, None
        body = self.fields(call, params) if merged is None else merged
        if method not in WITHOUT_BODY and (body or call.updates):
            kind = "application/x-www-form-urlencoded" if self.form else "application/json"
            text = urlencode(_form(body)) if self.form else json.dumps(body, ensure_ascii=False, separators=(",", ":"))
            headers, data = {**headers, "Content-Type": kind}, text.encode("utf-8")
        return OutgoingRequest(method, self.url(call, params), data, headers)

    def fields(self, call: ServiceCall, params: Json) -> dict[str, Any]:
        if call.updates:
            return dict(params.get(INPUT) or {})
        return {name: value for name, value in params.items() if name not in call.outer and value is not None}


def _query(call: ServiceCall, params: Json) -> list[tuple[str, str]]:
    names = call.queried
    if call.template.method in WITHOUT_BODY:
        params = {**params, **(params.get(INPUT) or {})} if call.updates else params
        names = frozenset(params) - call.template.names - ({INPUT} if call.updates else set())
    values = {name: params[name] for name in sorted(names) if params.get(name) is not None}
    return [
        (name, scalar(name, item))
        for name, value in values.items()
        for item in (value if isinstance(value, list) else [value])
    ]


def merge_fields(before: Any, given: Any) -> Any:
    """EP-14: tables are merged key by key, null removes, everything else replaces."""
    if not isinstance(given, dict):
        return given
    after = dict(before) if isinstance(before, dict) else {}
    for key, value in given.items():
        after[key] = merge_fields(after.get(key), value)
        if value is None:
            del after[key]
    return after


def _form(body: Json, above: str = "") -> list[tuple[str, str]]:
    """A table as form fields, nested as `a[b]`; null empties a field."""
    found = []
    for key, value in body.items():
        if "[" in key or "]" in key:
            raise invalid_value(above or "input", "names without brackets")
        name = f"{above}[{key}]" if above else key
        if isinstance(value, dict):
            found += _form(value, name)
        elif isinstance(value, list):
            found += [(f"{name}[]", scalar(key, item)) for item in value]
        else:  # line breaks are allowed in a body, unlike in a URL
            found.append((name, value or "" if isinstance(value, str | None) else scalar(key, value)))
    return found
