"""An operation of an adapter and its params -> one HTTP request; nothing else is ever sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from interlock.adapters import Adapter, Operation
from interlock.core.quota import ApiLimit
from interlock.doors.adapter.auth import Auth, AuthError
from interlock.doors.adapter.failing import Failure, invalid
from interlock.doors.adapter.template import Template, TemplateError, scalar

INPUT = "input"  # where the fields of an UPDATE stand (EP-14)
WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})
SERIALIZATIONS = ("json", "form")
TIMEOUT, MOST_TIMEOUT = 30.0, 300.0


class CannotServe(ValueError):
    """An adapter whose operations cannot be performed; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One HTTP request, before signing in."""

    method: str
    url: str
    body: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """How one operation is performed."""

    operation: Operation
    template: Template
    slashed: frozenset[str]
    queried: frozenset[str]

    @property
    def updates(self) -> bool:
        return self.operation.category == "update"

    @property
    def merges(self) -> bool:
        """A PUT replaces everything: what is there is read first, and the input merged into it."""
        return self.updates and self.template.method == "PUT"

    @property
    def outer(self) -> frozenset[str]:
        """The params that stay outside of `input`."""
        return self.template.names | self.queried

    def resource(self, params: Mapping[str, Any]) -> tuple[str, str]:
        """What it is about, for an error: the noun of its name, and the last value in its path."""
        noun = self.operation.name.partition("_")[2] or self.operation.name
        last = self.template.last_name
        return noun, scalar(last, params[last])[:100] if params.get(last) is not None else ""

    @classmethod
    def of(cls, operation: Operation) -> Call:
        template = Template.of(operation.maps_to)
        names = {param.name for param in operation.params}
        if missing := sorted(template.names - names):
            raise TemplateError(f"maps_to uses '{missing[0]}', which is no parameter")
        if fixed := sorted(template.keys & names - template.names):
            raise TemplateError(f"maps_to fixes '{fixed[0]}', so it cannot be a parameter as well")
        marked = {key: frozenset(p.name for p in operation.params if p.rest.get(key)) for key in ("slashes",)}
        queried = frozenset(param.name for param in operation.params if param.rest.get("in") == "query")
        return cls(operation, template, marked["slashes"], queried)


@dataclass(frozen=True, slots=True)
class Service:
    """Where an adapter's requests go, and how each of its operations is performed."""

    name: str
    base_url: str
    auth: Auth
    calls: Mapping[str, Call]
    form: bool = False
    timeout: float = TIMEOUT
    headers: Mapping[str, str] = field(default_factory=dict)
    together: int = 0  # requests at a time; 0 means any number
    limits: tuple[ApiLimit, ...] = ()

    @classmethod
    def of(cls, adapter: Adapter) -> Service:
        """The service behind an adapter; raises CannotServe with everything that keeps it from being performed."""
        target, wrong = adapter.target, []
        for key, known in (
            ("transport", ("http", "https")),
            ("protocol", ("rest",)),
            ("serialization", SERIALIZATIONS),
        ):
            if target.get(key, known[0]) not in known:
                wrong.append(f"target.{key} {target[key]!r:.40}: expected {' or '.join(known)}")
        calls: dict[str, Call] = {}
        auth = Auth()
        try:
            auth = Auth.of(adapter.auth)
        except AuthError as error:
            wrong.append(str(error))
        for operation in adapter.operations:
            try:
                if operation.maps_to:
                    calls[operation.name] = Call.of(operation)
            except (TemplateError, ValueError) as error:
                wrong.append(f"{operation.name}: {error}")
        if wrong:
            raise CannotServe(f"{adapter.name}: " + "; ".join(wrong))
        timeout, headers = _timeout(target.get("timeout")), _headers(target.get("headers"))
        base = str(target.get("base_url", "")).rstrip("/")
        form, together = target.get("serialization") == "form", adapter.limits.concurrent
        return cls(adapter.name, base, auth, calls, form, timeout, headers, together, adapter.limits.api)

    def url(self, call: Call, params: Mapping[str, Any]) -> str:
        """The address of one call; whatever the params hold, it is on this service and under its base."""
        path = call.template.filled_path(params, call.slashed)
        query = call.template.filled_query(params) + self._queried(call, params)
        said = f"?{urlencode(query, quote_via=quote, safe='')}" if query else ""
        return f"{self.base_url}{path}{said}"

    def sent(self, call: Call, params: Mapping[str, Any]) -> Sent:
        """The request for these params."""
        method, headers = call.template.method, {"Accept": "application/json", **self.headers}
        rest = self.fields(call, params)
        if method in WITHOUT_BODY or (not rest and not call.updates):
            return Sent(method, self.url(call, params), None, headers)
        return self.sent_body(call, params, rest)

    def sent_body(self, call: Call, params: Mapping[str, Any], body: Mapping[str, Any]) -> Sent:
        """The request with this body."""
        kind = "application/x-www-form-urlencoded" if self.form else "application/json"
        data = urlencode(_form(body)) if self.form else json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        headers = {"Accept": "application/json", **self.headers, "Content-Type": kind}
        return Sent(call.template.method, self.url(call, params), data.encode("utf-8"), headers)

    def fields(self, call: Call, params: Mapping[str, Any]) -> dict[str, Any]:
        """What goes into the body: of an UPDATE its input, of others what has no place in the address."""
        if call.updates:
            return dict(params.get(INPUT) or {})
        return {name: value for name, value in params.items() if name not in call.outer and value is not None}

    def _queried(self, call: Call, params: Mapping[str, Any]) -> list[tuple[str, str]]:
        names = call.queried
        if call.template.method in WITHOUT_BODY:
            given = {**params, **(params.get(INPUT) or {})} if call.updates else dict(params)
            names = frozenset(given) - call.template.names - ({INPUT} if call.updates else set())
            params = given
        return [pair for name in sorted(names) for pair in _pairs(name, params.get(name))]


def merged(before: Any, given: Any) -> Any:
    """EP-14: tables are merged key by key, null removes, everything else replaces."""
    if not isinstance(given, dict):
        return given
    after = dict(before) if isinstance(before, dict) else {}
    for key, value in given.items():
        if value is None:
            after.pop(key, None)
        else:
            after[key] = merged(after.get(key), value) if isinstance(value, dict) else value
    return after


def _pairs(name: str, value: Any) -> list[tuple[str, str]]:
    if value is None:
        return []
    if isinstance(value, list):
        return [(name, scalar(name, item)) for item in value]
    return [(name, scalar(name, value))]


def _form(body: Mapping[str, Any], above: str = "") -> list[tuple[str, str]]:
    """A table as form fields, nested as `a[b]`; null empties a field."""
    found: list[tuple[str, str]] = []
    for key, value in body.items():
        if "[" in key or "]" in key:
            raise invalid(above or "input", "names without brackets")
        name = f"{above}[{key}]" if above else key
        if isinstance(value, dict):
            found += _form(value, name)
        elif isinstance(value, list):
            found += [(f"{name}[]", scalar(key, item)) for item in value]
        else:
            found.append((name, "" if value is None else _form_text(key, value)))
    return found


def _form_text(key: str, value: Any) -> str:
    """A body may hold line breaks, an address may not."""
    return value if isinstance(value, str) else scalar(key, value)


def _timeout(value: Any) -> float:
    """Seconds; a larger number is milliseconds, as some adapters write it."""
    if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
        return TIMEOUT
    return min(float(value) / 1000 if value > 1000 else float(value), MOST_TIMEOUT)


def _headers(value: Any) -> dict[str, str]:
    given = value if isinstance(value, Mapping) else {}
    return {
        str(name): str(said)
        for name, said in given.items()
        if "\n" not in f"{name}{said}" and "\r" not in f"{name}{said}"
    }


def not_an_operation(name: str) -> Failure:
    return Failure("NOT_FOUND_OPERATION", f"There is no operation '{name}'", {"operation": name})
