"""Judges an action by the rules: reads it, classifies its facts, and turns the findings into one assessment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.classify import Classified, classify
from interlock.analysis.facts import EFFECTS, Command, Fact, show_command
from interlock.analysis.programs import Program
from interlock.analysis.programs.load import UNDESCRIBED
from interlock.analysis.read import BUDGET, FileReader, read
from interlock.analysis.rules import Rulebook
from interlock.analysis.targets.ordering import NOT_READ, CommandLine
from interlock.model import (
    NOTHING,
    TIER_TOPS,
    Action,
    Assessment,
    Category,
    EffectiveCommand,
    Flags,
    Kind,
    Level,
    Witness,
    finding_factor,
    tier_of,
)

T = TypeVar("T")
Happening = tuple[str, str]  # an effect's verb, and the kind of place it happens to
# DESIGN: a level sets the base, factors add, the band's top caps (C-08, X-01). By level, from safe to forbidden.
_BASE = (5, 25, 50, 75, 95)
_TOP = (15, 40, 60, 85, 100)
_BASE_WORDS = tuple(f"base: {level.word} ({_BASE[level]})" for level in Level)
_QUIET_TOPS = (15, TIER_TOPS[0], *_TOP[2:])  # at level 0-1 factors alone require no person
_VAGUE = TIER_TOPS[0] + 1  # the confirm tier
_DESTROYS = frozenset({
    Category.DATA_DELETION, Category.RESOURCE_TERMINATION, Category.CONFIG_DESTRUCTION, Category.DISK_DESTRUCTION,
    Category.HISTORY_REWRITE, Category.CREDENTIAL_INVALIDATION, Category.ACCOUNT_ACTION,
})  # fmt: skip
_DESTRUCTIVE, _ESCALATES = Level.DESTRUCTIVE, Category.PRIVILEGE_ESCALATION
_OUT_OF_SCOPE = "secret system_part other_home home_part user_data guard agent_config above".split()
_READ_OUT_OF_SCOPE = frozenset(product(["read"], _OUT_OF_SCOPE))


def assess(facts: Sequence[Fact], classified: Classified, programs: Mapping[str, Program] = NOTHING) -> Assessment:
    commands: list[Command] = []
    happens: set[Happening] = set()
    escalates = False
    exempt: dict[str, None] = {}
    for fact in facts:
        escalates = escalates or "privileged" in fact.traits
        if isinstance(fact, Command):
            commands.append(fact)
        else:
            happens.add((fact.verb, fact.place))
            if "exempt" in fact.traits:
                exempt[f"named safe by the operator (danger_patterns.safe): {fact.target}"] = None
    verbs = {verb for verb, _ in happens}
    findings, level = classified.findings, classified.floor
    irreversible = destructive = False
    named: dict[str, None] = {}  # each once, in order
    for finding in findings:
        level = max(level, finding.level)
        irreversible = irreversible or finding.irreversible
        destructive = destructive or (
            finding.level >= _DESTRUCTIVE and (finding.irreversible or finding.category in _DESTROYS)
        )
        escalates = escalates or finding.category is _ESCALATES
        named[finding_factor(finding.rule, finding.reason)] = None
    network = not EFFECTS.network.isdisjoint(verbs) or (bool(commands) and _uses_network(commands, programs))
    score, factors = _score(level, irreversible, network, verbs, happens)
    files = not EFFECTS.files.isdisjoint(verbs) and any(
        verb in EFFECTS.files and place not in ("", "sink", "remote") for verb, place in happens
    )
    steps = [EffectiveCommand(show_command(fact.program, fact.words), fact.via, fact.span) for fact in commands]
    return Assessment(
        level,
        irreversible,
        score,
        tier_of(score),
        _FLAGS[destructive, files, network, escalates, escalates or level >= _DESTRUCTIVE],
        tuple(findings),
        (*factors, *exempt, *named),
        tuple(dict.fromkeys(steps) if len(steps) > 1 else steps),
    )


# Every value that flags can have, by the order of their fields.
_FLAGS = {held: Flags(*held) for held in product((False, True), repeat=5)}


def _score(
    level: Level, irreversible: bool, network: bool, verbs: Collection[str], happens: Iterable[Happening]
) -> tuple[int, list[str]]:
    creates = not EFFECTS.creates.isdisjoint(verbs) and any(
        verb in EFFECTS.creates and place not in ("sink", "") for verb, place in happens
    )
    score, factors = _BASE[level], [_BASE_WORDS[level]]
    for holds, points, name in (
        (irreversible, 10, "cannot be undone"),
        (network, 10, "network"),
        (not _READ_OUT_OF_SCOPE.isdisjoint(happens), 10, "reads outside the project"),
        (creates, 5, "creates a file"),
    ):
        if holds:
            score += points
            factors.append(f"{name} (+{points})")
    score = min(score, _QUIET_TOPS[level] if not irreversible else _TOP[level])
    if score < _VAGUE and "act_vague" in verbs:  # C-45
        factors.append(f"says too little to judge: give detail (at least {_VAGUE})")
        return _VAGUE, factors
    return score, factors


def _uses_network(commands: Iterable[Command], programs: Mapping[str, Program]) -> bool:
    for command in commands:
        network = programs.get(command.program, UNDESCRIBED).network
        if "remote" in command.traits or network is True or (network and not network.isdisjoint(command.words)):
            return True
    return False


class Judgement(Struct, frozen=True, dict=True):
    assessment: Assessment
    witnesses: tuple[Witness, ...] = ()
    facts: tuple[Fact, ...] = ()
    line: CommandLine = NOT_READ  # the order of a command's own steps

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Follows from the action alone: judgements of everyday work are cached."""
        if name not in self.__dict__:
            self.__dict__[name] = make()
        found: T = self.__dict__[name]
        return found


def judge(action: Action, rules: Rulebook, files: FileReader | None = None, budget: int = BUDGET) -> Judgement:
    """Pure: the same for the same arguments."""
    reading = read(action, files, rules.patterns, budget)
    facts = reading.facts
    if rules.opinion is not None and action.kind is not Kind.COMMAND:
        facts = rules.opinion().heard(facts, action)
    assessment = assess(facts, classify(facts, rules), rules.programs)
    if action.kind is Kind.INTENT and assessment.steps:
        ran = {step.text for step in assessment.steps}
        findings = tuple(replace(one, quoted=one.subject in ran) for one in assessment.findings)
        assessment = replace(assessment, findings=findings)
    return Judgement(assessment, reading.witnesses, facts, reading.line)


def join_judgements(own: Judgement, more: Judgement, rules: Rulebook) -> Judgement:
    """What an action would do together with what it starts that was judged by itself."""
    facts = tuple(dict.fromkeys((*own.facts, *more.facts)))
    witnesses = tuple(dict.fromkeys((*own.witnesses, *more.witnesses)))
    return Judgement(assess(facts, classify(facts, rules), rules.programs), witnesses, facts, own.line)
