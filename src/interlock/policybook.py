"""Policies on disk -> Policy: the shipped ones by name, others by file."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

from interlock.core.policy import Policy
from interlock.core.policy_form import PolicyError, policy_of
from interlock.core.problems import Problem

SHIPPED = Path(__file__).parent / "policies"
_MAX_BYTES = 1_000_000


def names() -> list[str]:
    """The shipped policies."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def load_policy(name: str, base: Path | None = None) -> Policy:
    """A shipped policy by its name, or the one in a .toml or .json file (relative to `base`); raises PolicyError."""
    shipped = SHIPPED / f"{name}.toml"
    if name in names():
        return _parsed(shipped, name)
    path = Path(name).expanduser()
    path = path if path.is_absolute() or base is None else base / path
    if path.suffix not in (".toml", ".json") or not path.is_file():
        raise _error(name, f"no policy {name!r}; known: {', '.join(names())}, or a .toml or .json file")
    return _parsed(path, path.stem)


def policy_hash(policy: Policy) -> str:
    """The hash of the text a policy was made from."""
    return hashlib.sha256(policy.source.encode()).hexdigest()


def _parsed(path: Path, name: str) -> Policy:
    try:
        text = path.read_text(encoding="utf-8")
        if len(text) > _MAX_BYTES:
            raise _error(name, f"{path}: longer than any policy is")
        data: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise _error(name, f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise _error(name, f"{path}: {error}") from None
    base = _parsed(SHIPPED / "default.toml", "default") if path.suffix == ".json" else None
    return policy_of(data, name, text, base)


def _error(name: str, words: str) -> PolicyError:
    return PolicyError(name, [Problem((), words)])
