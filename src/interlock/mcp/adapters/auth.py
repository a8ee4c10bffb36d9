"""Builds authentication headers from an adapter's `auth` block and the environment; redacts the secret everywhere else."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from interlock.mcp.adapters import AdapterFailure
from interlock.model import Confidential

# The keys of each type that name a variable of the environment, the usual one first.
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


class AuthError(ValueError):
    """An `auth` block that cannot be used."""


class AuthHeaders(Confidential, Struct, frozen=True):
    """The headers of one request, and the secrets in them, which are redacted from the response."""

    HIDDEN = ("headers", "secrets")

    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()

    def redact(self, value: Any) -> Any:
        """Redacts the secrets from a value: a service may echo its request."""
        if not self.secrets:
            return value
        if isinstance(value, str):
            for secret in self.secrets:
                value = value.replace(secret, HIDDEN)
            return value
        if isinstance(value, dict):
            return {self.redact(key): self.redact(item) for key, item in value.items()}
        return [self.redact(item) for item in value] if isinstance(value, list) else value


class Auth(Struct, frozen=True):
    """The header to sign in with, and the environment variables that it is built from."""

    type: str = "none"
    header: str = "Authorization"
    variables: tuple[str, ...] = ()

    @classmethod
    def of(cls, block: Mapping[str, Any]) -> Auth:
        """Reads an `auth` block; raises AuthError where it names no variable, or an unknown type."""
        kind = str(block.get("type") or "none")
        if kind == "none":
            return cls()
        if kind not in _VARIABLES:
            raise AuthError(f"auth.type {kind[:40]!r} is not known; known: {', '.join(('none', *_VARIABLES))}")
        header = "Authorization"
        if kind == "api_key":
            header = str(block.get("header_name") or block.get("header") or "X-API-Key")
            if not _HEADER.fullmatch(header):
                raise AuthError("auth.header_name is not a valid header name")
        return cls(kind, header, tuple(_variable(block, *keys) for keys in _VARIABLES[kind]))

    def sign_in(self, environ: Mapping[str, str]) -> AuthHeaders:
        """The headers; raises AdapterFailure where a variable is not set, naming the variable and nothing more."""
        if self.type == "none":
            return AuthHeaders()
        values = [self._value(name, environ) for name in self.variables]
        if self.type == "basic":
            said = base64.b64encode(":".join(values).encode()).decode()
            return AuthHeaders({self.header: f"Basic {said}"}, _long((said, values[1])))
        said = f"Bearer {values[0]}" if self.type == "bearer" else values[0]
        return AuthHeaders({self.header: said}, _long(values))

    def _value(self, name: str, environ: Mapping[str, str]) -> str:
        value = environ.get(name, "").strip()
        if _SECRET.fullmatch(value):
            return value
        words = f"The adapter signs in with the environment variable '{name}', which is not set"
        if value:
            words = f"The environment variable '{name}' holds something no header can carry"
        raise AdapterFailure("PERMISSION_DENIED", words, {"reason": "not signed in"})


def _variable(block: Mapping[str, Any], *keys: str) -> str:
    given = next((block[key] for key in keys if isinstance(block.get(key), str)), "")
    found = _REFERENCE.fullmatch(given.strip())
    if found is None:
        raise AuthError(f"auth.{keys[0]} is missing: expected the name of an environment variable")
    return found[1]


def _long(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(value for value in values if len(value) >= _SHORTEST)
