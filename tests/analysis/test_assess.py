"""Score, tier and flags: bases, factors, caps and cuts as the design states them."""

from __future__ import annotations

import pytest

from cases import each
from interlock.analysis.assess import assess
from interlock.analysis.classify import Classified
from interlock.analysis.facts import Command, Effect, Fact
from interlock.analysis.programs import Program
from interlock.model import Assessment, Category, Finding, Level, Tier

FETCH = Effect("fetch", "https://example.org")
READ_OUTSIDE = Effect("read", "/etc/passwd", "system_part")
READ_INSIDE = Effect("read", "src/a.py", "source")
CREATE = Effect("write", "src/b.py", "source")
TO_NULL = Effect("write", "/dev/null", "sink")


def finding(level: int, irreversible: bool = False, category: Category | None = Category.DATA_DELETION) -> Finding:
    return Finding("demo.rule", Level(level), irreversible, "Does something.", category)


def judged(level: int, *facts: Fact, irreversible: bool = False) -> Assessment:
    found = [finding(level, irreversible)] if level or irreversible else []
    return assess(facts, Classified(found, Level(level)))


SCORES = [
    # level, irreversible, facts, score, tier
    (0, False, [], 5, Tier.ADVISORY),
    (0, False, [FETCH], 15, Tier.ADVISORY),
    (0, False, [READ_OUTSIDE], 15, Tier.ADVISORY),
    (0, False, [FETCH, READ_OUTSIDE], 15, Tier.ADVISORY),  # the band's top
    (1, False, [], 25, Tier.ADVISORY),
    (1, False, [CREATE], 30, Tier.ADVISORY),
    (1, False, [FETCH], 30, Tier.ADVISORY),  # factors alone stop at 30: npm install is no question
    (1, False, [FETCH, READ_OUTSIDE, CREATE], 30, Tier.ADVISORY),
    (1, True, [], 35, Tier.CONFIRM),  # what cannot be undone may pass it
    (1, True, [FETCH], 40, Tier.CONFIRM),
    (2, False, [], 50, Tier.CONFIRM),
    (2, False, [CREATE], 55, Tier.CONFIRM),
    (2, True, [], 60, Tier.CONFIRM),
    (2, True, [FETCH, READ_OUTSIDE, CREATE], 60, Tier.CONFIRM),
    (3, False, [], 75, Tier.VERIFY),
    (3, False, [FETCH], 85, Tier.VERIFY),
    (3, True, [FETCH, READ_OUTSIDE, CREATE], 85, Tier.VERIFY),
    (4, False, [], 95, Tier.DANGER_ZONE),
    (4, False, [CREATE], 100, Tier.DANGER_ZONE),
    (4, True, [FETCH], 100, Tier.DANGER_ZONE),
]  # fmt: skip


@each(("level", "irreversible", "facts", "score", "tier"), SCORES)
def test_a_level_sets_the_base_factors_add_and_the_band_caps(
    level: int, irreversible: bool, facts: list[Fact], score: int, tier: Tier
) -> None:
    found = judged(level, *facts, irreversible=irreversible)
    assert (found.score, found.tier) == (score, tier)
    assert found.factors[0] == f"base: {Level(level).word} ({[5, 25, 50, 75, 95][level]})"


@pytest.mark.parametrize(
    ("facts", "factor", "there"),
    [
        ([FETCH], "network (+10)", True),
        ([Effect("send", "x")], "network (+10)", True),
        ([Effect("reverse_shell", "x")], "network (+10)", True),
        ([READ_OUTSIDE], "reads outside the project (+10)", True),
        ([Effect("read", "~/.ssh/id_rsa", "secret")], "reads outside the project (+10)", True),
        ([READ_INSIDE], "reads outside the project (+10)", False),
        ([CREATE], "creates a file (+5)", True),
        ([Effect("append", "a", "source")], "creates a file (+5)", True),
        ([TO_NULL], "creates a file (+5)", False),
        ([Effect("delete", "a", "source")], "creates a file (+5)", False),
    ],
)
def test_each_factor_comes_from_what_would_happen(facts: list[Fact], factor: str, there: bool) -> None:
    assert (factor in judged(2, *facts).factors) is there


def test_a_factor_counts_once_however_often_it_holds() -> None:
    assert judged(2, CREATE, CREATE, Effect("append", "x", "source")).score == 55


def test_irreversible_is_a_fact_of_its_own_and_not_of_the_level() -> None:
    assert not judged(4).irreversible
    assert judged(1, irreversible=True).irreversible
    assert "cannot be undone (+10)" in judged(2, irreversible=True).factors


def test_the_worst_finding_wins_whatever_its_place() -> None:
    several = [finding(2), finding(4), finding(3, True)]
    for order in (several, several[::-1]):
        found = assess([], Classified(order))
        assert (found.level, found.irreversible) == (Level.FORBIDDEN, True)


def test_without_findings_the_floor_is_the_level() -> None:
    assert assess([], Classified([], Level.REVERSIBLE)).level is Level.REVERSIBLE
    assert assess([], Classified([])).level is Level.SAFE


@pytest.mark.parametrize(
    ("network", "words", "touches"),
    [
        (True, ("status",), True),
        (frozenset({"push", "pull"}), ("push", "origin"), True),
        (frozenset({"push", "pull"}), ("status",), False),
        (False, ("push",), False),
    ],
)
def test_a_program_says_itself_when_it_uses_the_network(
    network: bool | frozenset[str], words: tuple[str, ...], touches: bool
) -> None:
    found = assess([Command("demo", words)], Classified(), {"demo": Program(network=network)})
    assert found.flags.touches_network is touches


FLAGS = [
    # findings, facts, destructive, files, network, privileges, confirmation
    ([], [], "-----"),
    ([], [READ_INSIDE], "-f---"),
    ([], [TO_NULL], "-----"),
    ([], [FETCH], "--n--"),
    ([finding(2)], [Effect("delete", "a", "source")], "df--c"),
    ([finding(3, category=Category.PRIVILEGE_ESCALATION)], [], "---pc"),
    ([], [Command("ls", (), traits=frozenset({"privileged"}))], "---pc"),
    ([finding(3, category=Category.EXFILTRATION)], [Effect("send", "x")], "--n-c"),
    ([finding(3, True, Category.EXFILTRATION)], [], "d---c"),
    ([finding(1)], [], "-----"),
    ([], [Command("ls", (), traits=frozenset({"remote"}))], "--n--"),
]  # fmt: skip


@pytest.mark.parametrize(("findings", "facts", "letters"), FLAGS)
def test_the_five_flags_of_a_plan(findings: list[Finding], facts: list[Fact], letters: str) -> None:
    flags = assess(facts, Classified(findings)).flags
    have = [
        flags.destructive,
        flags.touches_files,
        flags.touches_network,
        flags.escalates_privileges,
        flags.requires_confirmation,
    ]
    assert "".join(letter if holds else "-" for letter, holds in zip("dfnpc", have)) == letters


def test_steps_name_each_effective_command_once_with_what_it_was_wrapped_in() -> None:
    twice = [Command("rm", ("-rf", "x y"), (0, 3), ("sudo",)), Command("rm", ("-rf", "x y"), (0, 3), ("sudo",))]
    steps = assess(twice, Classified()).steps
    assert [(step.text, step.via) for step in steps] == [("rm -rf 'x y'", ("sudo",))]
