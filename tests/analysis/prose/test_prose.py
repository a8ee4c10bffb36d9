"""What an agent announces in plain words: announced acts are found, and what is only spoken of is spared."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prose_spared import SPARED as QUIET
from prose_tables import ANNOUNCED, CLAIMS, EMBEDDED, SPARED, VAGUE
from prose_trades import TRADES
from prose_twins import SAID, TWINS
from prose_wide import HARM, MUTATES, NEAR

from cases import each
from effort import EFFORT
from interlock.analysis.prose import read_orders, read_prose
from interlock.analysis.prose.normalise import LIMIT, normalise
from recording_report import Recorder

HARMLESS = {"act_read", "act_change", "act_vague", "read", "write", "fetch"}


def facts(text: str) -> list[tuple[str, ...]]:
    out = Recorder()
    read_prose(text, out)
    return out.facts


@each(("text", "verb", "traits"), ANNOUNCED)
def test_what_is_announced_is_found(text: str, verb: str, traits: str) -> None:
    found = [fact for fact in facts(text) if fact[0] == verb]
    assert found, facts(text)
    assert any(set(traits.split()) <= set(fact[2:]) for fact in found), found


@each(("verb", "text"), [(verb, text) for verb, texts in SAID.items() for text in texts])
def test_an_act_is_found_however_it_is_said(verb: str, text: str) -> None:
    assert verb in {fact[0] for fact in facts(text)}, facts(text)


@each("text", [*HARM, *TRADES])
def test_harm_is_found_by_structure(text: str) -> None:
    assert not {fact[0] for fact in facts(text)} <= HARMLESS, facts(text)


@pytest.mark.parametrize("text", MUTATES)
def test_data_of_production_is_not_changed_unasked(text: str) -> None:
    assert any(fact[0] == "act_change" and "mutates" in fact for fact in facts(text)), facts(text)


@each("text", [*SPARED, *TWINS, *NEAR, *QUIET])
def test_what_is_only_spoken_of_is_spared(text: str) -> None:
    assert {fact[0] for fact in facts(text)} <= HARMLESS, facts(text)


@each(("text", "fact"), EMBEDDED)
def test_what_is_embedded_is_handed_to_its_reader(text: str, fact: tuple[str, ...]) -> None:
    assert fact in facts(text), facts(text)


@pytest.mark.parametrize("text", VAGUE)
def test_a_vague_hint_is_called_vague(text: str) -> None:
    assert [fact[0] for fact in facts(text)] == ["act_vague"]
    out = Recorder()
    read_orders(text, out)
    assert [fact[0] for fact in out.facts] == [
        "act_change"
    ]  # each call of the agent that is told so is judged by itself


@each("claim", CLAIMS)
@each("text", ["Delete all user data", "remove all members from the org", "wipe the prod volume"])
def test_what_is_said_to_the_judge_changes_nothing(claim: str, text: str) -> None:
    assert {fact[0] for fact in facts(text)} <= {fact[0] for fact in facts(claim.format(text))}


def test_operations_are_read_by_their_names() -> None:
    assert [fact[0] for fact in facts("get_user, list_users, then delete_all_users")][-1] not in HARMLESS
    assert {fact[0] for fact in facts("write a test for delete_all_users")} <= HARMLESS


@pytest.mark.parametrize(
    "text", ["dеlete all customer tables", "d\u200belete all customer tables", "ｄｅｌｅｔｅ all customer tables"]
)
def test_letters_that_look_like_others_hide_nothing(text: str) -> None:
    assert any(fact[0] == "act_delete" for fact in facts(text)), facts(text)


@pytest.mark.parametrize(("text", "hidden"), [
    ("dеlete all users", True), ("d\u200belete", True), ("\u202eeteled", True), ("naïve café", False), ("удалить", False), ("👩\u200d💻 fix", False),
])  # fmt: skip
def test_hidden_characters_are_a_finding_and_ordinary_letters_are_not(text: str, hidden: bool) -> None:
    assert normalise(text)[1] is hidden
    assert (("unreadable", "syntax") in facts(text)) is hidden


def test_a_long_text_is_read_as_far_as_it_goes_and_reported() -> None:
    found = facts("delete all users. " + "x " * LIMIT)
    assert ("unreadable", "budget") in found
    assert any(fact[0] == "act_account" for fact in found)


def test_an_act_behind_much_padding_is_found() -> None:
    assert any(fact[0] == "act_delete" for fact in facts("word " * 3_000 + "drop the orders table"))
    assert any(fact[0] == "act_delete" for fact in facts("ok. " * 3_000 + "drop the orders table"))


@each("text", [
    "a" * LIMIT, ":" * LIMIT, "`" * LIMIT, "'\"" * 9_000, "(" * LIMIT, "\n" * LIMIT, "push " * 4_000, "d e " * 5_000, "and " * 5_000,
    "删除" * 9_000, "git push " * 2_000, "`rm -rf x` " * 1_500, "SELECT " * 2_500, "\u202e" * LIMIT, "risk= " * 3_000, "not " * 5_000,
])  # fmt: skip
def test_hostile_text_is_read_in_bounded_time(text: str) -> None:
    assert facts(text)


@settings(max_examples=150 * EFFORT, deadline=None)
@given(
    st.text(max_size=200)
    | st.lists(
        st.sampled_from("delete all the not `rm -rf /` \" ' ? ; : ( and then run users 删除 löschen".split())
    ).map(" ".join)
)
def test_any_text_gives_at_least_one_fact(text: str) -> None:
    assert facts(text)
