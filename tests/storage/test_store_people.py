"""Operators, agents, blocks, grants, patterns, settings: what every store promises about them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from interlock.ports import Store, StoreError
from interlock.records import AgentRow, Block, Credential, OperatorRow
from stored_records import NOW, grant

ANA = OperatorRow(
    "ana", "aa", "k1", "5a", "argon2id:3,65536,1", "ff", ("admin",), ("ops", "db"), False, NOW, "", 0, "s"
)
AGENT_ROW = AgentRow("uid:1000", "Claude", "trusted", NOW, NOW + 1, "h1", 0.0, {"a": [1]})


def test_operators_and_their_credentials_come_back_as_they_were_kept(store: Store) -> None:
    keys = [
        Credential("c1", "ana", "totp", {"x": 1}, NOW, NOW, 7, "s"),
        Credential("c2", "ana", "passkey", {}, NOW + 1),
    ]
    bo = replace(ANA, name="bo", service=True)
    for row in (bo, ANA):
        store.write(lambda tx, row=row: tx.save_operator(row))
    for key in keys:
        store.write(lambda tx, key=key: tx.save_credential(key))
    assert store.read(lambda tx: tx.operators()) == [ANA, bo]
    assert store.read(lambda tx: tx.credentials("ana")) == keys
    assert store.read(lambda tx: tx.credentials("bo")) == []


def test_saving_an_operator_or_a_credential_again_changes_it(store: Store) -> None:
    changed, key = replace(ANA, disabled_at=NOW, roles=()), Credential("c1", "ana", "totp")
    store.write(lambda tx: (tx.save_operator(ANA), tx.save_credential(key)))
    store.write(lambda tx: (tx.save_operator(changed), tx.save_credential(replace(key, counter=8))))
    assert store.read(lambda tx: tx.operators()) == [changed]
    assert store.read(lambda tx: tx.credentials("ana")) == [replace(key, counter=8)]


def test_a_credential_needs_its_operator(store: Store) -> None:
    with pytest.raises(StoreError):
        store.write(lambda tx: tx.save_credential(Credential("c1", "nobody", "totp")))


def test_an_agent_is_found_by_name_and_by_token(store: Store) -> None:
    store.write(lambda tx: tx.save_agent(AGENT_ROW))
    store.write(lambda tx: tx.save_agent(AgentRow("uid:1000", "codex")))
    assert store.read(lambda tx: tx.agent("uid:1000", "Claude")) == AGENT_ROW
    assert store.read(lambda tx: tx.agent("uid:1000", " CLAUDE")) == AGENT_ROW
    assert store.read(lambda tx: tx.agent("uid:1", "Claude")) is None
    assert store.read(lambda tx: tx.agent_by_token("h1")) == AGENT_ROW
    assert store.read(lambda tx: tx.agent_by_token("")) is None
    assert [row.name for row in store.read(lambda tx: tx.agents())] == ["Claude", "codex"]


def test_an_agent_that_is_saved_under_another_spelling_is_the_same(store: Store) -> None:
    store.write(lambda tx: tx.save_agent(AGENT_ROW))
    again = replace(AGENT_ROW, name="CLAUDE", revoked_at=NOW)
    store.write(lambda tx: tx.save_agent(again))
    assert store.read(lambda tx: tx.agents()) == [again]


def test_two_agents_cannot_have_one_token(store: Store) -> None:
    store.write(lambda tx: tx.save_agent(AGENT_ROW))
    with pytest.raises(StoreError):
        store.write(lambda tx: tx.save_agent(replace(AGENT_ROW, name="codex")))


def test_a_block_is_in_force_until_it_is_lifted(store: Store) -> None:
    first = Block("uid:1000", "tampering", NOW, "interlock", "Claude", "ch1")
    second = replace(first, since=NOW + 5, reason="again", by="ana")
    assert store.read(lambda tx: tx.block("uid:1000")) is None
    store.write(lambda tx: (tx.save_block(first), tx.save_block(second)))
    assert store.read(lambda tx: tx.block("uid:1000")) == second
    store.write(lambda tx: tx.save_block(replace(second, lifted_at=NOW + 9, lifted_by="ana")))
    assert store.read(lambda tx: tx.block("uid:1000")) == first
    lifted = [replace(second, lifted_at=NOW + 9, lifted_by="ana"), replace(first, lifted_at=NOW + 9)]
    store.write(lambda tx: tx.save_block(lifted[1]))
    assert store.read(lambda tx: tx.block("uid:1000")) is None
    assert store.read(lambda tx: tx.blocks()) == lifted


def test_a_grant_counts_until_it_is_used_up_revoked_or_over(store: Store) -> None:
    rows = [
        grant("g1", remaining=2),
        grant("g2", revoked_at=NOW),
        grant("g3", remaining=0),
        grant("g4", digests=("d",)),
    ]
    for row in rows:
        store.write(lambda tx, row=row: tx.save_grant(row))
    assert store.read(lambda tx: tx.grants(NOW)) == [rows[0], rows[3]]
    assert store.read(lambda tx: tx.grants(NOW + 600)) == []
    assert store.read(lambda tx: tx.grant("g2")) == rows[1]
    assert store.read(lambda tx: tx.grant("g9")) is None
    taken = [store.write(lambda tx, id=id: tx.use_grant(id, NOW)) for id in ("g1", "g1", "g1", "g2", "g3", "g9")]
    assert taken == [True, True, False, False, False, False]
    assert not store.write(lambda tx: tx.use_grant("g4", NOW + 600))


def test_a_grant_that_is_saved_again_can_only_shrink(store: Store) -> None:
    row = grant("g1", remaining=3)
    store.write(lambda tx: tx.save_grant(row))
    store.write(lambda tx: tx.save_grant(replace(row, remaining=9, targets=("/",), expires_at=NOW * 2)))
    assert store.read(lambda tx: tx.grant("g1")) == row
    store.write(lambda tx: tx.save_grant(replace(row, remaining=1, revoked_at=NOW + 1, revoked_by="ana")))
    store.write(lambda tx: tx.save_grant(row))
    assert store.read(lambda tx: tx.grant("g1")) == replace(row, remaining=1, revoked_at=NOW + 1, revoked_by="ana")


def test_patterns_are_kept_by_id(store: Store) -> None:
    one, two = {"id": "a", "pattern": "x|y", "coolingOffMs": 5}, {"id": "b", "canRollback": False}
    for pattern in (two, one, {"id": "c"}, {**two, "n": None}):
        store.write(lambda tx, pattern=pattern: tx.save_pattern(pattern))
    assert store.write(lambda tx: tx.delete_pattern("c"))
    assert not store.write(lambda tx: tx.delete_pattern("c"))
    assert store.read(lambda tx: tx.patterns()) == [one, {**two, "n": None}]


@pytest.mark.parametrize("pattern", [{}, {"id": ""}, {"id": 5}])
def test_a_pattern_needs_an_id(store: Store, pattern: dict[str, object]) -> None:
    with pytest.raises(StoreError, match="expected an id"):
        store.write(lambda tx: tx.save_pattern(pattern))


@pytest.mark.parametrize("value", ["", "enforcing", "{}", "a\0b\ud800", "\ufdd0x", "%s ? 'q'"])
def test_a_setting_comes_back_as_it_was_kept(store: Store, value: str) -> None:
    assert store.read(lambda tx: tx.setting(value)) is None
    store.write(lambda tx: tx.save_setting(value, "before"))
    store.write(lambda tx: tx.save_setting(value, value))
    assert store.read(lambda tx: tx.setting(value)) == value


def test_every_field_of_a_credential_comes_back_with_those_of_others(store: Store) -> None:
    bo = replace(ANA, name="bo")
    key = Credential("c1", "bo", "passkey", {"public_key": "aa", "transports": ["usb"]}, NOW, NOW, 7, "s")
    key = replace(key, name="läptop", how="by a link", source="127.0.0.1", active_at=NOW + 0.5, removed_at=NOW + 2)
    other = Credential("c0", "ana", "totp", created_at=NOW + 9)
    for row in (bo, ANA):
        store.write(lambda tx, row=row: tx.save_operator(row))
    for one in (key, other):
        store.write(lambda tx, one=one: tx.save_credential(one))
    assert store.read(lambda tx: tx.all_credentials()) == [other, key]


def test_of_two_uses_of_a_credential_that_saw_the_same_counter_one_counts(store: Store) -> None:
    store.write(lambda tx: (tx.save_operator(ANA), tx.save_credential(Credential("c1", "ana", "totp", counter=3))))
    assert store.write(lambda tx: tx.use_credential("c1", 3, 4, NOW + 1))
    assert not store.write(lambda tx: tx.use_credential("c1", 3, 5, NOW + 2))
    assert not store.write(lambda tx: tx.use_credential("c2", 0, 1, NOW))
    (kept,) = store.read(lambda tx: tx.credentials("ana"))
    assert (kept.counter, kept.used_at) == (4, NOW + 1)
