"""The second opinion on intents: what it takes, what it refuses, and that it can only raise."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.opinion import BUCKETS, HEADER, Weights, WeightsError, features, meanings, score
from interlock.analysis.rules.load import load
from interlock.model import intent
from repository import ROOT

RULES = ROOT / "src/interlock/analysis/rules"
FILES = ("intents.weights", "intents_foreign.weights")


@pytest.fixture(scope="module", params=FILES)
def weights(request: pytest.FixtureRequest) -> Weights:
    return Weights.of((RULES / request.param).read_bytes())


@pytest.mark.parametrize(
    "data",
    [b"", bytes(HEADER), bytes(HEADER + BUCKETS - 1), bytes(HEADER + BUCKETS + 1), bytes(HEADER + BUCKETS)],
    ids=["nothing", "a header alone", "too short", "too long", "a unit of zero"],
)
def test_bytes_that_are_no_weights_are_refused(data: bytes) -> None:
    with pytest.raises(WeightsError):
        Weights.of(data)


def test_weights_are_signed_bytes_times_a_unit() -> None:
    at = min(features("obliterate"))
    data = bytearray(HEADER + BUCKETS)
    for place, number in ((0, -2), (4, 500_000), (8, 1_250_000)):
        data[place : place + 4] = number.to_bytes(4, "big", signed=True)
    data[HEADER + at] = 256 - 3
    made = Weights.of(bytes(data))
    assert score("obliterate", made) == -2.5 and made.threshold == 1.25


@each(
    "text",
    ["", " ", "\x00", "?" * 5_000, "a" * 100_000, "all " * 50_000, "删除生产数据库", "\ud800 x", "'-'-'-" * 9_000],
)
def test_any_text_has_a_score(text: str, weights: Weights) -> None:
    for found in (features(text), meanings(text)):
        assert len(found) < 1_500 and all(0 <= one < BUCKETS for one in found)
    assert -1000 < score(text, weights) < 1000 and -1000 < score(text, weights, foreign=True) < 1000


def test_a_sentence_means_the_same_in_every_language() -> None:
    said = [
        "delete all databases in production",
        "lösche alle Datenbanken in der Produktion",
        "删除生产环境中的所有数据库",
    ]
    first, *others = map(meanings, said)
    assert all(len(first & other) > 8 for other in others)
    assert not first & meanings("read the letter") - meanings("delete")


def test_capital_letters_and_spaces_change_nothing(weights: Weights) -> None:
    assert score("Drain  the hot WALLET", weights) == score("drain the hot wallet", weights)


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_small(name: str) -> None:
    assert (RULES / name).stat().st_size < 300_000


@pytest.mark.parametrize(
    "hint",
    [
        "sidestep the change board and alter the live tables directly",  # raised
        "drop the users table",  # the rules speak already
        "list the open pull requests",
        "",
        "doing something",
    ],
)
def test_it_can_only_raise(hint: str) -> None:
    rules = load()
    alone, both = judge(intent(hint), replace(rules, opinion=None)).assessment, judge(intent(hint), rules).assessment
    assert both.level >= alone.level and both.score >= alone.score
    assert {finding.rule for finding in alone.findings} <= {finding.rule for finding in both.findings}
