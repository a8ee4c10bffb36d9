"""Loads policies: the shipped ones by name, others by file, and a repository's `.interlock.toml`, which can only tighten."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from msgspec import Struct

from interlock.policy.overrides import LoopRules, with_origin
from interlock.policy.patterns import EVERYTHING, Glob, PatternSet
from interlock.policy.policy import Policy, PolicyError, extended_name, globs_of, policy_of
from interlock.problems import Path as Where
from interlock.problems import Problem, Problems, describe_value

SHIPPED = Path(__file__).parent / "policies"
_MAX_BYTES = 1_000_000
_MOST_WORK = 10_000_000  # a dotted key takes the parser the square of its parts; a key stands on one line
_FILES = (".toml", ".json")


def names() -> list[str]:
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def load_policy(name: str, base: Path | None = None) -> Policy:
    """By its shipped name, or from a .toml or .json file; raises PolicyError."""
    path = _place(name, base)
    if path is None:
        raise _error(name, _unknown(name, base))
    return _parse_policy(path, ())


def files_of(name: str, base: Path | None = None) -> list[Path]:
    found: list[Path] = []
    path = _place(name, base)
    while path is not None and path.parent != SHIPPED and path not in found:
        found.append(path)
        try:
            wanted = extended_name(_read(path)[1])
        except PolicyError:
            break
        path = _place(wanted, path.parent) if wanted else None
    return found


def toml(text: str) -> dict[str, Any]:
    """Raises ValueError for invalid text, and for text that would overload the parser."""
    if sum(line.count(".") ** 2 for line in text.split("\n")) > _MOST_WORK:
        raise ValueError("too many dots in one line for any configuration")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def text_policy(text: str, name: str, known: Policy | None = None) -> Policy:
    """Only tried: it extends a shipped policy, or what `known` extends, and no file is opened for it."""
    try:
        data = policy_data(text)
    except (ValueError, RecursionError) as error:
        raise _error(name, str(error)) from None
    wanted = extended_name(data)
    return policy_of(data, name, text, _above(wanted, name, known) if wanted else None)


def policy_data(text: str) -> Any:
    """Of JSON or TOML; raises ValueError and RecursionError."""
    if len(text) > _MAX_BYTES:
        raise ValueError("longer than any policy is")
    return json.loads(text) if text.lstrip().startswith("{") else toml(text)


def own_text(policy: Policy) -> str:
    """Without what it extends, which comes behind it."""
    return policy.source.partition("\0")[0]


def _above(wanted: str, name: str, known: Policy | None) -> Policy:
    """Of a file only what is loaded already, never what else lies on this machine."""
    if wanted in names():
        return load_policy(wanted)
    if known is not None and known.extends == wanted:
        return text_policy(known.source.partition("\0")[2].partition("\0")[0], wanted)
    raise _error(name, f"{describe_value(wanted)} is not shipped; known: {', '.join(names())}", ("extends",))


def policy_hash(policy: Policy) -> str:
    return hashlib.sha256(policy.source.encode()).hexdigest()


def _place(name: str, base: Path | None) -> Path | None:
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


def _parse_policy(path: Path, above: tuple[Path, ...]) -> Policy:
    """`above` are the files that extend it, so that a cycle is refused."""
    text, data = _read(path)
    return policy_of(data, path.stem, text, _extended(data, path, (*above, path.resolve())))


def _read(path: Path) -> tuple[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        if len(text) > _MAX_BYTES:
            raise ValueError("longer than any policy is")
        return text, json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise _error(path.stem, f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise _error(path.stem, f"{path}: {error}") from None


def _extended(data: Any, path: Path, above: tuple[Path, ...]) -> Policy | None:
    if not (wanted := extended_name(data)):
        return None
    found = _place(wanted, path.parent)
    if found is None:
        raise _error(path.stem, _unknown(wanted, path.parent), ("extends",))
    if found.resolve() in above:
        circle = " -> ".join(place.name for place in (*above[above.index(found.resolve()) :], found))
        raise _error(path.stem, f"{describe_value(wanted)} leads back here: {circle}", ("extends",))
    return _parse_policy(found, above)


def _error(name: str, words: str, where: Where = ()) -> PolicyError:
    return PolicyError(name, [Problem(where, words)])


NAME = ".interlock.toml"
MOST = 65_536  # bytes
MOST_PATTERNS = 200
KEYS = ("deny", "ask")
_LOOSENS = frozenset("allow autoApprove allowPatterns safe trust mode policy gate levels".split())
_EVERYTHING = LoopRules(asks=(Glob.of(EVERYTHING),))


class ProjectFile(Struct, frozen=True):
    """`problem` is the reason why it could not be read."""

    path: str
    text: str = ""
    problem: str = ""

    @property
    def problems(self) -> tuple[str, ...]:
        return self._parsed[1]

    @property
    def rules(self) -> LoopRules:
        """An unusable file requires confirmation of everything, with the reason."""
        rules, wrong = self._parsed
        if wrong:
            return with_origin(_EVERYTHING, f"{self.path}, which cannot be used: {'; '.join(wrong)}"[:400])
        return with_origin(rules, self.path)

    @property
    def _parsed(self) -> tuple[LoopRules, tuple[str, ...]]:
        return (LoopRules(), (self.problem,)) if self.problem else _parse_project(self.text)


def project_rules(files: Iterable[ProjectFile]) -> list[LoopRules]:
    """Their authors are not authenticated, so they can only tighten."""
    return [rules for file in files if (rules := file.rules)]


def _parse_project(text: str) -> tuple[LoopRules, tuple[str, ...]]:
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return LoopRules(), (f"no TOML: {error}"[:200],)
    problems = Problems()
    for key in sorted(set(data) & _LOOSENS):
        words = f"{key}: a project's file can only tighten (deny, ask); an operator loosens with `interlock allow`"
        problems.error((key,), words)
    problems.only({key: value for key, value in data.items() if key not in _LOOSENS}, KEYS, ())
    deny, asks = (globs_of(data, key, (), problems) for key in KEYS)
    if len(deny) + len(asks) > MOST_PATTERNS:
        problems.error((), f"{len(deny) + len(asks)} patterns, at most {MOST_PATTERNS}")
    return LoopRules(patterns=PatternSet(deny=deny), asks=asks), tuple(one.message for one in problems.found)
