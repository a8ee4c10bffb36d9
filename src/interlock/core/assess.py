"""Findings -> level, irreversible, score, tier, flags: one assessment."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from interlock.core.classify import Classified
from interlock.core.model import Assessment, Category, Finding, Flags, Level, Step, Tier
from interlock.core.read.facts import Command, Effect, Fact
from interlock.core.read.shell.session import shown
from interlock.core.rules import Program

Happening = tuple[str, str]  # an effect's verb, and the kind of place it happens to
# DESIGN: a level sets the base, factors add, the band's top caps (C-08, X-01). By level, from safe to forbidden.
_BASE = (5, 25, 50, 75, 95)
_TOP = (15, 40, 60, 85, 100)
_BASE_WORDS = tuple(f"base: {level.word} ({_BASE[level]})" for level in Level)
_QUIET_TOP = 30  # at level 0-1 factors alone do not make a question
_VAGUE = 31  # the confirm tier
_CUTS = (30, 60, 85)  # the last scores of the first three tiers
_TIERS = (Tier.ADVISORY, Tier.CONFIRM, Tier.VERIFY, Tier.DANGER_ZONE)
_DESTROYS = frozenset({
    Category.DATA_DELETION, Category.RESOURCE_TERMINATION, Category.CONFIG_DESTRUCTION, Category.DISK_DESTRUCTION,
    Category.HISTORY_REWRITE, Category.CREDENTIAL_INVALIDATION, Category.ACCOUNT_ACTION,
})  # fmt: skip
_FILE_VERBS = frozenset("delete truncate overwrite write append move chmod chown read".split())
_NETWORK_VERBS = frozenset({"fetch", "send", "listen", "http", "run_download", "reverse_shell"})
_CREATES = frozenset({"write", "append"})
_OUT_OF_SCOPE = frozenset(
    {"secret", "system_part", "other_home", "home_part", "user_data", "guard", "agent_config", "above"}
)


def assess(
    facts: Sequence[Fact], classified: Classified, programs: Mapping[str, Program] = MappingProxyType({})
) -> Assessment:
    """What one action would do, from its facts and what the rules said of them."""
    findings = classified.findings
    level = max([classified.floor, *[finding.level for finding in findings]])
    irreversible = any(finding.irreversible for finding in findings)
    commands = [fact for fact in facts if isinstance(fact, Command)]
    happens = {(fact.verb, fact.place) for fact in facts if isinstance(fact, Effect)}
    verbs = {verb for verb, _ in happens}
    network = not _NETWORK_VERBS.isdisjoint(verbs) or _uses_network(commands, programs)
    score, factors = _score(level, irreversible, network, verbs, happens)
    traits = frozenset().union(*[fact.traits for fact in facts])
    flags = Flags(
        destructive=any(map(_destroys, findings)),
        touches_files=not _FILE_VERBS.isdisjoint(verbs) and any(map(_touches_file, happens)),
        touches_network=network,
        escalates_privileges="privileged" in traits or any(map(_escalates, findings)),
        requires_confirmation=level >= Level.DESTRUCTIVE,
    )
    named = [f"{finding.rule}: {finding.reason}" for finding in findings]
    return Assessment(
        level=level,
        irreversible=irreversible,
        score=score,
        tier=_TIERS[bisect_left(_CUTS, score)],
        flags=flags,
        findings=tuple(findings),
        factors=(*factors, *dict.fromkeys(named)),
        steps=_steps(commands),
    )


def _destroys(finding: Finding) -> bool:
    return finding.level >= Level.DESTRUCTIVE and (finding.irreversible or finding.category in _DESTROYS)


def _escalates(finding: Finding) -> bool:
    return finding.category is Category.PRIVILEGE_ESCALATION


def _touches_file(happening: Happening) -> bool:
    verb, place = happening
    return verb in _FILE_VERBS and place not in ("", "sink", "remote")


def _score(
    level: Level, irreversible: bool, network: bool, verbs: Collection[str], happens: Iterable[Happening]
) -> tuple[int, list[str]]:
    score = _BASE[level]
    factors = [_BASE_WORDS[level]]
    reads = "read" in verbs and any(verb == "read" and place in _OUT_OF_SCOPE for verb, place in happens)
    creates = not _CREATES.isdisjoint(verbs) and any(
        verb in _CREATES and place not in ("sink", "") for verb, place in happens
    )
    for holds, words, points in (
        (irreversible, "cannot be undone", 10),
        (network, "network", 10),
        (reads, "reads outside the project", 10),
        (creates, "creates a file", 5),
    ):
        if holds:
            score += points
            factors.append(f"{words} (+{points})")
    top = _TOP[level]
    if level <= Level.REVERSIBLE and not irreversible:
        top = min(top, _QUIET_TOP)
    score = min(score, top)
    if score < _VAGUE and "act_vague" in verbs:  # C-45
        factors.append(f"says too little to judge: give detail (at least {_VAGUE})")
        return _VAGUE, factors
    return score, factors


def _uses_network(commands: Iterable[Command], programs: Mapping[str, Program]) -> bool:
    for command in commands:
        if "remote" in command.traits:
            return True
        program = programs.get(command.program)
        if program is None or not program.network:
            continue
        if program.network is True or (
            isinstance(program.network, frozenset) and program.network.intersection(command.words)
        ):
            return True
    return False


def _steps(commands: Iterable[Command]) -> tuple[Step, ...]:
    return tuple(dict.fromkeys(Step(shown(fact.program, fact.words), fact.via, fact.span) for fact in commands))
