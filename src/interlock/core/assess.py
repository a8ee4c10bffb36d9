"""Findings -> level, irreversible, score, tier, flags: one assessment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from interlock.core.classify import Classified
from interlock.core.model import Assessment, Category, Flags, Level, Step, Tier
from interlock.core.read.facts import Command, Effect, Fact
from interlock.core.read.shell.session import shown
from interlock.core.rules import Program

# DESIGN: a level sets the base, factors add, the band's top caps (C-08, X-01).
_BASE = {Level.SAFE: 5, Level.REVERSIBLE: 25, Level.DESTRUCTIVE: 50, Level.DANGEROUS: 75, Level.FORBIDDEN: 95}
_TOP = {Level.SAFE: 15, Level.REVERSIBLE: 40, Level.DESTRUCTIVE: 60, Level.DANGEROUS: 85, Level.FORBIDDEN: 100}
_QUIET_TOP = 30  # at level 0-1 factors alone do not make a question
_VAGUE = 31  # the confirm tier
_CUTS = ((30, Tier.ADVISORY), (60, Tier.CONFIRM), (85, Tier.VERIFY), (100, Tier.DANGER_ZONE))
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
    level = max([classified.floor, *(finding.level for finding in findings)])
    irreversible = any(finding.irreversible for finding in findings)
    effects = [fact for fact in facts if isinstance(fact, Effect)]
    network = any(fact.verb in _NETWORK_VERBS for fact in effects) or _uses_network(facts, programs)
    score, factors = _score(level, irreversible, network, effects)
    privileged = any(finding.category is Category.PRIVILEGE_ESCALATION for finding in findings)
    flags = Flags(
        destructive=any(f.level >= Level.DESTRUCTIVE and (f.category in _DESTROYS or f.irreversible) for f in findings),
        touches_files=any(fact.verb in _FILE_VERBS and fact.place not in ("", "sink", "remote") for fact in effects),
        touches_network=network,
        escalates_privileges=privileged or any("privileged" in fact.traits for fact in facts),
        requires_confirmation=level >= Level.DESTRUCTIVE,
    )
    named = [f"{finding.rule}: {finding.reason}" for finding in findings]
    return Assessment(
        level=level,
        irreversible=irreversible,
        score=score,
        tier=next(tier for cut, tier in _CUTS if score <= cut),
        flags=flags,
        findings=tuple(findings),
        factors=(*factors, *dict.fromkeys(named)),
        steps=tuple(_steps(facts)),
    )


def _score(level: Level, irreversible: bool, network: bool, effects: Iterable[Effect]) -> tuple[int, list[str]]:
    score = _BASE[level]
    factors = [f"base: {level.word} ({score})"]
    reads = any(fact.verb == "read" and fact.place in _OUT_OF_SCOPE for fact in effects)
    creates = any(fact.verb in _CREATES and fact.place not in ("sink", "") for fact in effects)
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
    if score < _VAGUE and any(fact.verb == "act_vague" for fact in effects):  # C-45
        factors.append(f"says too little to judge: give detail (at least {_VAGUE})")
        return _VAGUE, factors
    return score, factors


def _uses_network(facts: Iterable[Fact], programs: Mapping[str, Program]) -> bool:
    for fact in facts:
        if not isinstance(fact, Command):
            continue
        if "remote" in fact.traits:
            return True
        program = programs.get(fact.program)
        if program is None or not program.network:
            continue
        if program.network is True or (
            isinstance(program.network, frozenset) and program.network.intersection(fact.words)
        ):
            return True
    return False


def _steps(facts: Iterable[Fact]) -> list[Step]:
    steps = [Step(shown(fact.program, fact.words), fact.via, fact.span) for fact in facts if isinstance(fact, Command)]
    return list(dict.fromkeys(steps))
