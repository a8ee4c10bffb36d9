"""The nouns: levels and tiers on the wire, and requirements that join the same way in every order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.model import (
    Action,
    Assessment,
    Category,
    Finding,
    Flags,
    Human,
    Kind,
    Level,
    Requirement,
    TicketState,
    Tier,
    command,
)

requirements = st.builds(
    Requirement,
    cooling_seconds=st.integers(0, 600),
    human=st.sampled_from(Human),
    approvers=st.frozensets(st.sampled_from(["role:admin", "team:db", "ana", "ben"])),
    quorum=st.integers(0, 3),
    reauth=st.booleans(),
    blocked=st.booleans(),
)
STRENGTH = ["allow", "cool_off", "confirm", "approve", "verify", "block"]


@given(requirements, requirements)
def test_requirements_join_the_same_way_round_and_back(one: Requirement, other: Requirement) -> None:
    assert one.join(other) == other.join(one)


@given(requirements, requirements, requirements)
def test_requirements_join_in_any_grouping(a: Requirement, b: Requirement, c: Requirement) -> None:
    assert a.join(b).join(c) == a.join(b.join(c))


@given(requirements)
def test_a_requirement_joined_with_itself_or_with_nothing_is_itself(one: Requirement) -> None:
    assert one.join(one) == one
    assert one.join(Requirement()) == one


@given(requirements, requirements)
def test_joining_never_asks_for_less(one: Requirement, other: Requirement) -> None:
    both = one.join(other)
    assert STRENGTH.index(both.word) >= max(STRENGTH.index(one.word), STRENGTH.index(other.word))
    for name in Requirement.__struct_fields__:
        assert getattr(both, name) >= getattr(one, name), name


@pytest.mark.parametrize(
    ("requirement", "word"),
    [
        (Requirement(), "allow"),
        (Requirement(cooling_seconds=30), "cool_off"),
        (Requirement(human=Human.CONFIRM), "confirm"),
        (Requirement(human=Human.APPROVE, cooling_seconds=30), "approve"),
        (Requirement(human=Human.VERIFY, approvers=frozenset({"ana"}), quorum=2), "verify"),
        (Requirement(blocked=True), "block"),
        (Requirement(blocked=True, human=Human.VERIFY, cooling_seconds=1), "block"),
    ],
)
def test_the_word_on_the_wire_is_the_strongest_part(requirement: Requirement, word: str) -> None:
    assert requirement.word == word


@pytest.mark.parametrize(
    ("enum", "words"),
    [
        ([level.word for level in Level], "safe reversible destructive dangerous forbidden"),
        ([tier.value for tier in Tier], "advisory confirm verify danger_zone"),
        ([kind.value for kind in Kind], "command operation tool intent"),
        (
            [state.value for state in TicketState],
            "pending_cooling pending_approval approved rejected expired executed",
        ),
        (
            [category.value for category in Category],
            "data_deletion access_revocation resource_termination credential_invalidation config_destruction "
            "communication_block financial_action account_action privilege_escalation remote_code_execution "
            "exfiltration disk_destruction history_rewrite",
        ),
    ],
    ids=["Level", "Tier", "Kind", "TicketState", "Category"],
)
def test_the_words_of_the_vocabulary_stay(enum: list[str], words: str) -> None:
    assert enum == words.split()
    assert [int(level) for level in Level] == [0, 1, 2, 3, 4]


def test_an_action_cannot_be_changed_once_it_is_judged() -> None:
    action = command("ls", "/srv")
    with pytest.raises(AttributeError):
        action.cwd = "/"  # type: ignore[misc]
    with pytest.raises(TypeError):
        action.fields["command"] = "rm -rf /"  # type: ignore[index]


@pytest.mark.parametrize(
    ("kind", "fields", "text"),
    [
        (Kind.COMMAND, {"command": "ls"}, "ls"),
        (Kind.OPERATION, {"operation": "get_user"}, "get_user"),
        (Kind.TOOL, {"tool": "Bash"}, "Bash"),
        (Kind.INTENT, {"hint": "read it"}, "read it"),
        (Kind.COMMAND, {}, ""),
    ],
)
def test_spans_point_into_the_text_of_the_action(kind: Kind, fields: dict[str, str], text: str) -> None:
    assert Action(kind, fields).text == text


def assessment(*findings: Finding) -> Assessment:
    irreversible = any(finding.irreversible for finding in findings)
    return Assessment(Level.SAFE, irreversible, 0, Tier.ADVISORY, Flags(), findings)


def test_one_finding_nobody_may_approve_is_enough() -> None:
    fine = Finding("a.b", Level.DANGEROUS, False, "x")
    never = Finding("a.c", Level.FORBIDDEN, True, "y", approvable=False)
    assert assessment(fine).approvable
    assert not assessment(fine, never).approvable
    assert assessment(fine).can_rollback and not assessment(fine, never).can_rollback
