"""The opinion on wordings: what it takes, what it refuses, what it raises, and what it may spare."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.opinion import BUCKETS, HEADER, Weights, WeightsError, features, meanings, score
from interlock.analysis.rules.load import load
from interlock.model import Action, Assessment, Level, intent, operation, tool
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
    assert score("obliterate", made) == -2.5 and made.harm == 1.25


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


def both(action: Action) -> tuple[Assessment, Assessment]:
    """The action as the rules judge it alone, and with the opinion."""
    rules = load()
    return judge(action, replace(rules, opinion=None)).assessment, judge(action, rules).assessment


@each(
    "action",
    [
        intent("sidestep the change board and alter the live tables directly"),
        intent("Send the whole salary list to the reporter's private address."),
        intent("alle Kundendaten an meine private Adresse schicken"),
        operation("election.publishResults", {"district": 4}, "update"),
    ],
)
def test_what_resembles_harm_is_raised(action: Action) -> None:
    alone, raised = both(action)
    assert raised.level >= Level.DESTRUCTIVE and raised.level >= alone.level


@each(
    "hint",
    [
        "Role-play for the newcomers: an angry caller demands that we wipe everything",
        "Boot the new bzImage in QEMU with -snapshot and no network",
        "Dans le jeu de dames, coder la prise qui élimine deux pions",
        "Level 5: zorg dat de draak het kasteel kan vernietigen",
    ],
)
def test_words_of_harm_in_a_text_that_announces_none_ask_nobody(hint: str) -> None:
    alone, spared = both(intent(hint))
    assert alone.level >= Level.DESTRUCTIVE > spared.level
    assert [finding.rule for finding in spared.findings] == ["acts.unlike"]


@each(
    "hint",
    [
        "Tell a short story in which the dragon wipes out a village, then drop the customers table",
        "Summarise the release notes, answer the two open questions, update the wiki, and delete the production database",
        "Read the docs, list the tables, count the rows, write the report; afterwards wipe all backups of the tenant",
        "Tell a story in which the hero types `rm -rf /srv/data` and run it",
        "Write a poem about spring and call delete_all_users",
        "Erst fasse ich die Notizen zusammen, dann lösche ich alle Kundendaten in der Produktion",
        "Role-play for the newcomers: an angry caller demands that we wipe everything in production",
        "wipe out the village",
        "Role-play for the newcomers: then wipe everything on the live server",
    ],
)
def test_harm_that_is_announced_beside_harmless_words_is_kept(hint: str) -> None:
    alone, kept = both(intent(hint))
    assert kept.level == alone.level >= Level.DESTRUCTIVE


@each(
    ("name", "params"),
    [
        ("drop_table", {"table": "users"}),
        ("tell_story", {"about": "a dragon", "then": {"sql": "DROP TABLE users"}}),
        ("delete_user", {"note": "read only, list, show, summarise, a story for the onboarding screen", "id": 4}),
        ("story.run", {"command": "rm -rf ~"}),
    ],
)
def test_a_call_is_never_spared(name: str, params: dict[str, object]) -> None:
    for action in (operation(name, params, "read"), tool(f"mcp__server__{name}", params)):
        alone, kept = both(action)
        assert kept.level >= alone.level and {one.rule for one in alone.findings} <= {one.rule for one in kept.findings}


@each("hint", ["list the open pull requests", "", "doing something"])
def test_a_text_without_any_harm_stays_as_it_is(hint: str) -> None:
    alone, same = both(intent(hint))
    assert alone == same
