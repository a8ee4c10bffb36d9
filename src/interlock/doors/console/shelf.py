"""The rules in force with their packs and examples; what lies on disk by now and is not in force is told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from interlock.core.classify import Rulebook
from interlock.core.decide import judge
from interlock.core.model import Action
from interlock.core.rules import Rule, RuleError
from interlock.doors.http.context import Context
from interlock.rulebook import SHIPPED, failures, load_files

Stamp = tuple[str, int, int]  # path, when it was written, how long it is


@dataclass(frozen=True, slots=True)
class Shelved:
    """One rule in force; its examples are those of its file, where the file still says the same."""

    rule: Rule
    pack: str
    changed: bool = False  # the file says something else by now


@dataclass(frozen=True, slots=True)
class Example:
    """What became of one example."""

    action: Action
    catch: bool  # it has to fire
    held: bool


def shelved(context: Context) -> dict[str, Shelved]:
    """Every rule in force, by its id."""
    on_disk = _read([_stamp(path) for path in _files(context)])
    return {id: _shelved(rule, on_disk.get(id)) for id, rule in context.state.rules.rules.items()}


def pack_words(context: Context) -> dict[str, str]:
    """What each pack is about: the comment that its file begins with."""
    return {path.stem: _opening(_stamp(path)) for path in _files(context)}


def examples(rule: Rule, rules: Rulebook) -> list[Example]:
    """A rule's own examples, judged by all rules that are in force."""
    each = [(action, True) for action in rule.match] + [(action, False) for action in rule.spare]
    return [Example(action, catch, _fires(rule, action, rules) is catch) for action, catch in each]


def problems(rule: Rule, rules: Rulebook) -> list[str]:
    """What is wrong with a rule by its own examples."""
    return failures(Rulebook.of([rule], rules.programs), rules)


def _fires(rule: Rule, action: Action, rules: Rulebook) -> bool:
    """Whether a rule speaks; one that calls something safe is heard by the level alone."""
    seen = judge(action, rules).assessment
    if not rule.level:
        return not seen.level
    return any(finding.rule == rule.id for finding in seen.findings)


def _shelved(rule: Rule, found: tuple[str, Rule] | None) -> Shelved:
    if found is None:
        return Shelved(rule, "", True)
    pack, other = found
    same = replace(other, match=(), spare=()) == replace(rule, match=(), spare=())
    return Shelved(other if same else rule, pack, not same)


def _files(context: Context) -> Sequence[Path]:
    return [*sorted(SHIPPED.glob("*.toml")), *context.config.rule_files]


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), found.st_mtime_ns, found.st_size


def _read(stamps: Sequence[Stamp]) -> dict[str, tuple[str, Rule]]:
    """The rules of files, by their id, with the name of the file."""
    return {id: (Path(stamp[0]).stem, rule) for stamp in stamps for id, rule in _rules(stamp).items()}


@lru_cache(maxsize=256)
def _opening(stamp: Stamp) -> str:
    try:
        with Path(stamp[0]).open(encoding="utf-8") as file:
            first = file.readline(400)
    except (OSError, ValueError):
        return ""
    return first[1:].strip() if first.startswith("#") else ""


@lru_cache(maxsize=256)
def _rules(stamp: Stamp) -> Mapping[str, Rule]:
    """The rules of one file as it is now; one that cannot be used any more has none."""
    try:
        return load_files([Path(stamp[0])]).rules
    except RuleError:
        return {}
