"""Reads settings that no type describes: addresses, paths, modes; no secret is repeated in a problem."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from interlock.policy.policy import MODES
from interlock.problems import Path, Problems, describe_value

_HOST = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "::1"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")


def optional_text(value: object, path: Path, problems: Problems, plain: str = "") -> str:
    return "" if value == "" else problems.text(value, path)


def _checked_text(check: Callable[[str], str]) -> Callable[[object, Path, Problems, str], str]:
    """A text may be empty, and else has no error by `check`."""

    def read(value: object, path: Path, problems: Problems, plain: str) -> str:
        found = optional_text(value, path, problems)
        if found and (error := check(found)):
            problems.error(path, error)
        return found

    return read


absolute_path = _checked_text(lambda text: "" if text.startswith("/") else f"expected an absolute path, got {text!r}")
# The address is not repeated where it is wrong, for it may hold a password.
collector_url = _checked_text(
    lambda url: "" if url.startswith(("http://", "https://")) else "expected http://… or https://…"
)
# A key itself does not belong into a file that agents can read.
_NO_VARIABLE = "expected the name of an environment variable, not a key"
variable_name = _checked_text(lambda name: "" if _VARIABLE.fullmatch(name) else _NO_VARIABLE)


def listen_host(value: object, path: Path, problems: Problems, plain: str) -> str:
    host = problems.text(value, path) or plain
    if host not in THIS_MACHINE:
        problems.warn(path, f"{host!r} is reachable from other machines: put a proxy with TLS in front of it")
    return host


def store_url(value: object, path: Path, problems: Problems, plain: str) -> str:
    url = problems.text(value, path)
    if url and not url.startswith(("sqlite:///", "postgresql://", "postgres://")):
        got = describe_value(without_password(url))
        problems.error(path, f"expected sqlite:///folder or postgresql://…, got {got}")
    return url


def loop_mode(value: object, path: Path, problems: Problems, plain: str) -> str:
    """R-12: an unknown mode is enforcing."""
    if value in MODES:
        return str(value)
    problems.warn(path, f"expected one of {', '.join(MODES)}, got {describe_value(value)}; enforcing is used")
    return plain


def public_url(value: object, path: Path, problems: Problems, plain: str) -> str:
    """Without a slash at its end; refuses one without a host name, because passkeys are bound to it."""
    url = optional_text(value, path, problems).strip().rstrip("/")
    if url and (error := _url_error(url)):
        problems.error(path, error)
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


def planner_host(value: object, path: Path, problems: Problems, plain: str) -> str:
    url = (problems.text(value, path) or plain).strip().rstrip("/")
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fits = False
    if not fits or parts.username or parts.query or parts.fragment:
        problems.error(path, "host: expected http://… or https://…, without a user, a query or a fragment")
        return plain
    return url


def without_password(url: str) -> str:
    scheme, found, rest = url.partition("://")
    credentials, at, host = rest.rpartition("@")
    if not found or not at:
        return url
    return f"{scheme}://{credentials.partition(':')[0]}@{host}"
