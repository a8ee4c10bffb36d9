"""Policies on disk -> Policy: the shipped ones by name, others by file, each with what it extends."""

from __future__ import annotations

import hashlib
import json
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from interlock.core.policy import Policy
from interlock.core.policy_form import PolicyError, extended, policy_of
from interlock.core.problems import Path as Where
from interlock.core.problems import Problem, shown

SHIPPED = Path(__file__).parent / "policies"
_MAX_BYTES = 1_000_000
_MOST_WORK = 10_000_000  # a dotted key takes the parser the square of its parts; a key stands on one line
_FILES = (".toml", ".json")


def names() -> list[str]:
    """The shipped policies."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def load_policy(name: str, base: Path | None = None) -> Policy:
    """A shipped policy by its name, or the one in a .toml or .json file (relative to `base`); raises PolicyError."""
    path = _place(name, base)
    if path is None:
        raise _error(name, _unknown(name, base))
    return _parsed(path, path.stem, ())


def files_of(name: str, base: Path | None = None) -> list[Path]:
    """The files that a policy is made of, those that it extends included; none of what is shipped."""
    found: list[Path] = []
    path = _place(name, base)
    while path is not None and path.parent != SHIPPED and path not in found:
        found.append(path)
        try:
            text = path.read_text(encoding="utf-8")
            wanted = extended(json.loads(text) if path.suffix == ".json" else tomllib.loads(text))
        except (OSError, ValueError, RecursionError):
            break
        path = _place(wanted, path.parent) if isinstance(wanted, str) and wanted.strip() else None
    return found


def toml(text: str) -> dict[str, Any]:
    """The table in TOML that somebody sent; raises ValueError for what is none, and for what would keep the parser busy."""
    if sum(line.count(".") ** 2 for line in text.split("\n")) > _MOST_WORK:
        raise ValueError("too many dots in one line for any configuration")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def text_policy(text: str, name: str, known: Policy | None = None) -> Policy:
    """The policy in a text that is only tried; it extends a shipped one, or what `known` extends, and no file is opened for it."""
    if len(text) > _MAX_BYTES:
        raise _error(name, "longer than any policy is")
    try:
        data: Any = json.loads(text) if text.lstrip().startswith("{") else toml(text)
    except (ValueError, RecursionError) as error:
        raise _error(name, str(error)) from None
    wanted, base = extended(data), None
    if isinstance(wanted, str) and wanted.strip():
        base = _above(wanted, name, known)
    return policy_of(data, name, f"{text}\0{base.source}" if base else text, base)


def own_text(policy: Policy) -> str:
    """The text that a policy was made from, without what it extends."""
    return policy.source.partition("\0")[0]


def _above(wanted: str, name: str, known: Policy | None) -> Policy:
    """What a tried policy extends: of a file only what is loaded already, never what else lies on this machine."""
    if wanted in names():
        return load_policy(wanted)
    if known is not None and known.extends == wanted:
        return text_policy(known.source.partition("\0")[2].partition("\0")[0], wanted)
    raise _error(name, f"{shown(wanted)} is not shipped; known: {', '.join(names())}", ("extends",))


def policy_hash(policy: Policy) -> str:
    """The hash of the text a policy was made from, and of what it extends."""
    return hashlib.sha256(policy.source.encode()).hexdigest()


def _place(name: str, base: Path | None) -> Path | None:
    """Where a policy is: a shipped name comes first; None where there is none."""
    if name in names():
        return SHIPPED / f"{name}.toml"
    path = Path(name).expanduser()
    path = path if path.is_absolute() or base is None else base / path
    return path if path.suffix in _FILES and path.is_file() else None


def _unknown(name: str, base: Path | None) -> str:
    if Path(name).suffix in _FILES:
        return f"no file {name!r}" + (f" in {base}" if base and not Path(name).expanduser().is_absolute() else "")
    near = get_close_matches(name, names(), 1)
    hint = f"did you mean {near[0]!r}? known" if near else "known"
    return f"no policy {name!r:.80}; {hint}: {', '.join(names())}, or a .toml or .json file"


def _parsed(path: Path, name: str, above: tuple[Path, ...]) -> Policy:
    """The policy in a file; `above` are the files that extend it, so that a circle is seen."""
    try:
        text = path.read_text(encoding="utf-8")
        if len(text) > _MAX_BYTES:
            raise _error(name, f"{path}: longer than any policy is")
        data: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise _error(name, f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise _error(name, f"{path}: {error}") from None
    base = _extended(data, path, name, (*above, path.resolve()))
    return policy_of(data, name, f"{text}\0{base.source}" if base else text, base)


def _extended(data: Any, path: Path, name: str, above: tuple[Path, ...]) -> Policy | None:
    wanted = extended(data)
    if not isinstance(wanted, str) or not wanted.strip():
        return None  # nothing, or what is no name, which the form refuses
    found = _place(wanted, path.parent)
    if found is None:
        raise _error(name, _unknown(wanted, path.parent), ("extends",))
    if found.resolve() in above:
        circle = " -> ".join(place.name for place in (*above[above.index(found.resolve()) :], found))
        raise _error(name, f"{shown(wanted)} leads back here: {circle}", ("extends",))
    return _parsed(found, found.stem, above)


def _error(name: str, words: str, where: Where = ()) -> PolicyError:
    return PolicyError(name, [Problem(where, words)])
