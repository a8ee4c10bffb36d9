"""Targets of a program from its words: infrastructure, clusters, containers, services, databases, and its own verbs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from types import MappingProxyType

from interlock.analysis.facts import Command, Effect, known
from interlock.analysis.lexicon import verb_kind
from interlock.analysis.programs.objects import in_repository, named_objects
from interlock.analysis.read import read
from interlock.model import operation
from interlock.policy.effect_key.git import git_keys, repository
from interlock.policy.effect_key.key import FAMILIES, REMOVE, RUN, STOP, WRITE, EffectKey
from interlock.policy.effect_key.params import normal_spelling, noun
from interlock.redaction import redact

_PARTS = re.compile(r"[-:_./\s]+")
_VERBS = frozenset(
    "delete terminate stop revoke invalidate reset block account override grant send leak rewrite archive".split()
)
_LONGEST = 200
FORGE = "forge"  # where repositories are known by owner and name


def command_keys(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    """The keys of one command without known effects: by the targets in its words, else by its own text."""
    if all(map(known, command.words)):
        wraps = "wrapper" in command.traits  # what it runs is reported by itself
        found = [] if wraps else git_keys(command) or _by_description(command, before) or _by_verb(command)
        if found:
            return [EffectKey(one.family, one.target, one.place, grantable=False) for one in found]
    return [run_key(command)]


def run_key(command: Command) -> EffectKey:
    """A program whose effects are not known: its name and the words that are no flags, in its own folder."""
    words = sorted(
        word.lstrip("+") for word in redact([command.program, *command.words])[1:] if not word.startswith("-")
    )
    place = repository(command) if in_repository(command) else command.cwd
    return EffectKey(RUN, f"{command.program} {' '.join(words)}".strip()[:_LONGEST], place, grantable=False)


def _by_description(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    """The objects that the description of the program names."""
    found: list[EffectKey] = []
    for one in named_objects(command, before):
        kind = noun(one.kind)
        family = _FAMILIES.get(one.effect) or _family(f"{one.effect}_{kind}")
        name = normal_spelling(one.name) if kind == "database" else one.name.removesuffix(".service")
        found.append(EffectKey(family, f"{kind}_{name}", one.place))
    return [one for one in found if one.family]


_FAMILIES = MappingProxyType({"remove": REMOVE, "stop": STOP, "write": WRITE})


# All other programs, by their own verb: `gh repo delete org/app`, `aws rds delete-db-instance`, `heroku apps:destroy shop`.


def _by_verb(command: Command) -> list[EffectKey]:
    found = _verb(command.words)
    if found is None:
        return []
    name, rest = found
    family = _family(name)
    if not family:
        return []
    ids = sorted({normal_spelling(word) for word in redact(["", *rest])[1:] if word} - {""})
    thing = _thing(name)
    located = [word for word in rest if "://" in word]
    if len(located) == 1:
        return [EffectKey(family, located[0].rstrip("/"))]
    hosted = thing == "repo" and len(ids) == 1 and "/" in ids[0]
    target = f"{thing}_{'_'.join(ids)}".strip("_")[:_LONGEST]
    return [EffectKey(family, target, FORGE if hosted else command.cwd)] if ids else []


def _verb(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """The first words up to a verb, as the name of an operation; and the values behind it."""
    plain = [word for word in words if not word.startswith("-")]
    for at, word in enumerate(plain[:5]):
        parts = [part for part in _PARTS.split(word.lower()) if part]
        verb = next((part for part in parts if verb_kind(part) in _VERBS or part == "rb"), "")
        if verb:
            others = [part for part in parts if part != verb]
            thing = others or [part for part in _PARTS.split(plain[at - 1].lower()) if part][-1:] if at else others
            values = [word.partition("=")[2] for word in words if word.startswith("-") and "=" in word]
            return "_".join(["delete" if verb == "rb" else verb, *thing]), [*plain[at + 1 :], *values]
    return None


@lru_cache(maxsize=512)
def _act(name: str) -> Effect | None:
    """What an operation of this name announces, by the lexicon of names."""
    for fact in read(operation(name, {})).facts:
        if isinstance(fact, Effect) and fact.verb.startswith("act_"):
            return fact
    return None


def _family(name: str) -> str:
    act = _act(name)
    return FAMILIES.get(act.verb, "") if act is not None else ""


def _thing(name: str) -> str:
    act = _act(name)
    return noun(act.target) if act is not None else ""
