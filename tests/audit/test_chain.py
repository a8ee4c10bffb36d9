"""The record shows when it was touched, where, and up to when it is proved."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from audit_views import danger_entry, gate_entry, token_entry
from interlock.audit.chain import (
    GENESIS,
    Attempt,
    attempt_body,
    attempt_event,
    checkpoint,
    checkpoint_body,
    entry,
    event_body,
    fingerprint,
    hash_of,
    head_of,
    signed_checkpoint,
    token_body,
)
from interlock.audit.export import COLUMNS, csv_lines, from_jsonl, jsonl
from interlock.audit.verify import AuditVerdict, verify
from interlock.canonical_json import canonical_json, dump_json, parse_canonical
from interlock.model import AgentRef, Finding, Human, Level, Requirement
from interlock.records import AuditRow, Checkpoint
from interlock.times import iso

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32))
AT = 1_790_000_000.0


def sign(message: bytes) -> str:
    return KEY.sign(message).hex()


def signature_counts(key_id: str, message: bytes, signature: str) -> bool:
    public = {"k1": KEY.public_key()}[key_id]
    try:
        public.verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def chain(length: int, writer: str = "w1", at: float = AT) -> list[AuditRow]:
    rows: list[AuditRow] = []
    for number in range(length):
        body = {"operation": f"op {number}", "number": number}
        rows.append(entry(writer, rows[-1] if rows else None, at + number, "approve", body, "r1", "p1", "k1"))
    return rows


def pointed(*chains: list[AuditRow], at: float = AT + 1000, floors: dict[str, AuditRow] | None = None) -> Checkpoint:
    """A checkpoint of these chains' heads."""
    heads = {rows[-1].writer: head_of(rows[-1]) for rows in chains if rows}
    return signed_checkpoint(heads, {name: head_of(row) for name, row in (floors or {}).items()}, at, "k1", sign)


def judged(rows: list[AuditRow], *points: Checkpoint, writer: str = "w1") -> AuditVerdict:
    return verify({writer: rows}, points, signature_counts)


def rehashed(row: AuditRow, **changes: Any) -> AuditRow:
    changed = replace(row, **changes)
    return replace(changed, hash=hash_of(changed))


# --- what a record is


def test_a_record_follows_the_one_before_it_and_covers_every_field() -> None:
    first, second = chain(2)
    assert (first.seq, first.prev, second.seq, second.prev) == (0, GENESIS, 1, first.hash)
    for name in AuditRow.__struct_fields__:
        if name != "hash":
            value = getattr(second, name)
            other = value + 1 if isinstance(value, (int, float)) else value + "x"
            assert hash_of(replace(second, **{name: other})) != second.hash, name


def test_the_hash_of_a_record_never_changes_between_versions() -> None:
    row = entry("w1", None, 1_790_000_000.1234, "start", {"b": [1, "é"], "a": None}, "r", "p", "k")
    text = (
        '["interlock.audit",1,"w1",0,1790000000123,"start","{\\"a\\":null,\\"b\\":[1,\\"é\\"]}","'
        + GENESIS
        + '","k","r","p"]'
    )
    assert row.hash == hashlib.sha256(text.encode()).hexdigest()
    assert row.at == 1_790_000_000.123


def test_what_is_signed_of_a_checkpoint_has_one_form() -> None:
    message = checkpoint({"b": {"seq": 1, "hash": "h"}, "a": {"hash": "g", "seq": 0}}, {}, 5.0)
    assert message == (
        b'{"at":5000,"floors":{},"heads":{"a":{"hash":"g","seq":0},"b":{"hash":"h","seq":1}},"schema":1,"what":"interlock.checkpoint"}'
    )


@pytest.mark.parametrize(
    "head",
    [
        {"seq": 1},
        {"seq": "1", "hash": "h"},
        {"seq": -1, "hash": "h"},
        {"seq": 1, "hash": "h", "x": 1},
        7,
        {"seq": True, "hash": "h"},
    ],
)
def test_a_checkpoint_of_something_else_than_heads_is_refused(head: Any) -> None:
    with pytest.raises(ValueError, match="checkpoint 'w'"):
        checkpoint({"w": head}, {}, 1.0)


def test_a_record_of_another_writer_cannot_be_followed() -> None:
    with pytest.raises(ValueError, match="cannot follow"):
        entry("w2", chain(1)[0], AT, "start", {})


def test_secrets_never_enter_a_record() -> None:
    row = entry(
        "w1",
        None,
        AT,
        "start",
        {"parameters": {"password": "hunter22", "cmd": "mysql -phunter22"}, "note": "ghp_" + "a1" * 18},
    )
    assert "hunter22" not in row.body and "a1a1" not in row.body
    assert row.body.count("<secret:password>") == 2


def test_what_every_full_record_says_of_signing_in_again_hides_no_secret_beside_it() -> None:
    plain = {"requirement": {"reauth": False}, "note": "ls"}
    assert parse_canonical(entry("w1", None, AT, "start", plain).body) == plain
    for note in ("mysql -phunter22", {"auth": "hunter22:x"}, {"token": "hunter22"}):
        row = entry("w1", None, AT, "start", {**plain, "note": note})
        assert "hunter22" not in row.body and '"reauth":false' in row.body, note


texts = st.text(max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(texts, values, max_size=4))
def test_any_body_has_one_spelling_without_floats_and_is_never_refused(body: dict[str, Any]) -> None:
    text = canonical_json(body)
    assert text == canonical_json(dict(reversed(body.items())))
    assert text.encode() and "\n" not in text
    json.loads(text, parse_float=lambda number: pytest.fail(f"float {number}"))
    assert canonical_json(parse_canonical(text)) == text


@given(values)
def test_numbers_and_flags_come_back_from_a_body_as_they_were(value: Any) -> None:
    ascii_only = json.loads(json.dumps(value))
    if canonical_json(value).isascii():
        assert parse_canonical(canonical_json(value)) == ascii_only


def test_hostile_values_are_written_down_as_well() -> None:
    deep: Any = 1
    for _ in range(3000):
        deep = [deep]
    row = entry(
        "w1",
        None,
        AT,
        "start",
        {"deep": deep, "huge": 1 << 20_000, "half": "\ud800", "nan": float("nan"), "bytes": b"x", "~float": "1"},
    )
    assert judged([row]).ok
    assert parse_canonical(row.body)["huge"] == 1 << 20_000
    assert parse_canonical(row.body)["half"] == "\ud800"
    assert parse_canonical(row.body)["~float"] == "1"


def test_every_character_is_spelled_as_in_records_of_earlier_versions() -> None:
    characters = [chr(code) for code in range(0x110000)]
    written = {character: [2**64 + 1, True, None, {}] for character in characters[:400]} | {"all": characters}
    plain = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert dump_json(written) == plain.encode(written)
    whole = {**written, "all": [one for one in characters if not "\ud800" <= one <= "\udfff"]}
    assert dump_json(whole) == plain.encode(whole)


@given(st.integers(0, 4_000_000_000_000))
def test_times_are_written_in_utc_with_milliseconds(millis: int) -> None:
    expected = datetime.fromtimestamp(millis // 1000, UTC).replace(microsecond=millis % 1000 * 1000)
    assert iso(millis / 1000) == expected.isoformat(timespec="milliseconds").replace("+00:00", "Z")


# --- what verification finds

LENGTHS = st.integers(2, 12)


@given(LENGTHS, st.data())
def test_an_untouched_chain_is_proved_up_to_its_checkpoint(length: int, data: st.DataObject) -> None:
    rows = chain(length)
    covered = data.draw(st.integers(1, length))
    verdict = judged(rows, pointed(rows[:covered]))
    assert verdict.ok and verdict.rows == length
    assert verdict.proved == {"w1": covered - 1} and verdict.unproved == length - covered
    assert verdict.proved_until == AT + 1000


FIELD = st.sampled_from([name for name in AuditRow.__struct_fields__ if name not in ("writer", "seq")])


@given(LENGTHS, FIELD, st.data())
def test_any_edit_is_found_and_the_record_named(length: int, field: str, data: st.DataObject) -> None:
    rows = chain(length)
    at = data.draw(st.integers(0, length - 1))
    value = getattr(rows[at], field)
    edited = list(rows)
    edited[at] = replace(
        rows[at],
        **{
            field: value + data.draw(st.sampled_from([1, -1, 0.001, 0.0001]))
            if field == "at"
            else value + 1
            if field == "schema"
            else value + "0"
        },
    )
    verdict = judged(edited, pointed(rows))
    assert verdict.first is not None
    assert (verdict.first.writer, verdict.first.seq) == ("w1", at)
    assert verdict.first.what == ("foreign" if field == "schema" else "altered")
    assert verdict.proved_until is None


@given(LENGTHS, st.data())
def test_an_edit_with_its_hash_made_anew_is_found_and_the_record_named(length: int, data: st.DataObject) -> None:
    rows = chain(length)
    at = data.draw(st.integers(0, length - 1))
    edited = list(rows)
    edited[at] = rehashed(rows[at], body='{"forged":true}')
    verdict = judged(edited, pointed(rows))
    assert verdict.first is not None
    assert (verdict.first.seq, verdict.first.what) == (at, "altered")


@given(LENGTHS, st.data())
def test_a_chain_made_anew_from_some_record_on_is_found_between_two_checkpoints(
    length: int, data: st.DataObject
) -> None:
    rows = chain(length)
    at = data.draw(st.integers(0, length - 1))
    signed = data.draw(st.integers(0, length - 1))
    forged = list(rows[:at])
    for row in rows[at:]:
        body = '{"forged":true}' if row.seq == at else row.body
        forged.append(rehashed(row, body=body, prev=forged[-1].hash if forged else GENESIS))
    verdict = judged(forged, pointed(rows), pointed(rows[: signed + 1], at=AT + 500))
    assert verdict.first is not None and verdict.first.what == "altered"
    assert verdict.first.since <= at <= verdict.first.seq
    assert verdict.proved_until == (AT + 500 if signed < at else None)


@given(LENGTHS, st.data())
def test_a_missing_record_is_found_and_named(length: int, data: st.DataObject) -> None:
    rows = chain(length)
    at = data.draw(st.integers(0, length - 1))
    verdict = judged(rows[:at] + rows[at + 1 :], pointed(rows))
    assert verdict.first is not None
    assert (verdict.first.writer, verdict.first.seq) == ("w1", at)
    assert verdict.first.what == ("truncated" if at == length - 1 else "missing")


@given(LENGTHS, st.data())
def test_records_out_of_order_are_found_and_the_first_named(length: int, data: st.DataObject) -> None:
    rows = chain(length)
    one, other = sorted(data.draw(st.lists(st.integers(0, length - 1), min_size=2, max_size=2, unique=True)))
    swapped = list(rows)
    swapped[one], swapped[other] = rows[other], rows[one]
    verdict = judged(swapped, pointed(rows))
    assert verdict.first is not None
    assert (verdict.first.seq, verdict.first.what) == (one, "reordered")
    assert verdict.rows == length


@given(LENGTHS, st.data())
def test_records_that_changed_their_numbers_are_found_and_the_first_named(length: int, data: st.DataObject) -> None:
    rows = chain(length)
    one, other = sorted(data.draw(st.lists(st.integers(0, length - 1), min_size=2, max_size=2, unique=True)))
    swapped = list(rows)
    swapped[one], swapped[other] = replace(rows[other], seq=one), replace(rows[one], seq=other)
    verdict = judged(swapped, pointed(rows))
    assert verdict.first is not None and verdict.first.seq == one


@given(LENGTHS, st.booleans(), st.booleans(), st.data())
def test_an_inserted_record_is_found_and_named(length: int, before: bool, linked: bool, data: st.DataObject) -> None:
    rows = chain(length)
    at = data.draw(st.integers(0, length - 1))
    forged = rehashed(rows[at], body='{"forged":true}', prev=rows[at].prev if linked else "f" * 64)
    inserted = [*rows[: at + (not before)], forged, *rows[at + (not before) :]]
    verdict = judged(inserted, pointed(rows))
    assert verdict.first is not None
    assert (verdict.first.seq, verdict.first.what) == (at, "duplicated")


@given(LENGTHS, st.data())
def test_an_inserted_record_that_pushes_the_others_on_is_found_and_named(length: int, data: st.DataObject) -> None:
    rows = chain(length)
    at = data.draw(st.integers(0, length - 1))
    forged = rehashed(rows[at], body='{"forged":true}')
    pushed = [replace(row, seq=row.seq + 1) for row in rows[at:]]
    verdict = judged([*rows[:at], forged, *pushed], pointed(rows))
    assert verdict.first is not None and at <= verdict.first.seq <= at + 1
    assert verdict.first.since <= at


@given(LENGTHS, st.data())
def test_a_record_of_another_writer_in_a_chain_is_foreign(length: int, data: st.DataObject) -> None:
    rows = chain(length)
    at = data.draw(st.integers(0, length))
    foreign = chain(length + 1, "w2")[at]
    verdict = judged([*rows[:at], foreign, *rows[at:]], pointed(rows))
    assert verdict.first is not None
    assert (verdict.first.writer, verdict.first.seq, verdict.first.what) == ("w1", at, "foreign")


@given(LENGTHS, st.data())
def test_a_tail_that_was_cut_off_is_found_by_the_newest_checkpoint(length: int, data: st.DataObject) -> None:
    rows = chain(length)
    kept = data.draw(st.integers(0, length - 1))
    older = [pointed(rows[:kept], at=AT + 500)] if kept else []
    verdict = judged(rows[:kept], *older, pointed(rows))
    assert verdict.first is not None
    assert (verdict.first.seq, verdict.first.what) == (kept, "truncated" if kept else "missing")
    assert verdict.proved_until == (AT + 500 if kept else None)


def test_a_whole_writer_that_vanished_is_found() -> None:
    one, two = chain(3), chain(4, "w2")
    verdict = verify({"w1": one}, [pointed(one, two)], signature_counts)
    assert verdict.first is not None
    assert (verdict.first.writer, verdict.first.seq, verdict.first.what) == ("w2", 0, "missing")


@given(st.integers(3, 12), st.data())
def test_a_pruned_beginning_counts_only_with_a_signed_floor(length: int, data: st.DataObject) -> None:
    rows = chain(length)
    pruned = data.draw(st.integers(1, length))
    with_floor = pointed(rows, floors={"w1": rows[pruned - 1]})
    assert judged(rows[pruned:], with_floor).ok
    assert judged(rows[pruned:], with_floor).proved == {"w1": length - 1}
    assert judged(rows, with_floor).ok, "the floor is signed before anything is deleted"
    for bad in (judged(rows[pruned:], pointed(rows)), judged(rows[pruned + 1 :], with_floor)):
        if pruned < length:
            assert bad.first is not None and bad.first.what in ("missing", "truncated")
    unsigned = replace(with_floor, floors={"w1": {"seq": pruned - 1, "hash": "f" * 64}})
    assert not judged(rows[pruned:], unsigned).ok


def test_a_pruned_chain_whose_first_kept_record_was_replaced_is_found() -> None:
    rows = chain(6)
    forged = rehashed(rows[3], prev="f" * 64)
    verdict = judged([forged, *rows[4:]], pointed(rows, floors={"w1": rows[2]}))
    assert verdict.first is not None and (verdict.first.seq, verdict.first.what) == (3, "foreign")


def test_of_several_writers_each_first_fault_is_named_and_the_earliest_comes_first() -> None:
    one, two = chain(6), chain(6, "w2", AT + 0.5)
    point = pointed(one, two)
    one[4], two[2] = replace(one[4], body="{}"), replace(two[2], body="{}")
    verdict = verify({"w1": one, "w2": two}, [point], signature_counts)
    assert [(fault.writer, fault.seq) for fault in verdict.faults] == [("w2", 2), ("w1", 4)]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"signature": "00" * 64}, "altered"),
        ({"signature": "not hex"}, "altered"),
        ({"key_id": "k2"}, "unsigned"),
        ({"at": AT + 1001}, "altered"),
        ({"at": AT + 1000.0001}, "altered"),
        ({"at": float("nan")}, "altered"),
        ({"heads": {}}, "altered"),
        ({"heads": {"w1": 7}}, "altered"),
        ({"floors": {"w1": {"seq": 1, "hash": "x"}}}, "altered"),
    ],
)
def test_a_checkpoint_that_nobody_signed_proves_nothing_and_is_named(change: dict[str, Any], what: str) -> None:
    rows = chain(4)
    verdict = judged(rows, replace(pointed(rows), id=7, **change))
    assert verdict.first is not None
    assert (verdict.first.writer, verdict.first.seq, verdict.first.what) == ("", 7, what)
    assert verdict.proved_until is None


def test_a_checkpoint_signed_with_another_key_is_named() -> None:
    rows = chain(4)
    forged = signed_checkpoint({"w1": head_of(rows[-1])}, {}, AT, "k1", lambda message: OTHER.sign(message).hex())
    assert not judged(rows, forged).ok


def test_two_checkpoints_that_contradict_each_other_are_a_fork() -> None:
    rows = chain(4)
    other = rehashed(rows[3], body="{}")
    verdict = judged(rows, pointed(rows), pointed([*rows[:3], other], at=AT + 2000))
    assert verdict.first is not None and (verdict.first.seq, verdict.first.what) == (3, "forked")


def test_a_checkpoint_that_was_removed_is_missed() -> None:
    rows = chain(4)
    point = pointed(rows)
    rows.append(entry("w1", rows[-1], AT + 5, "checkpoint", checkpoint_body(point)))
    assert judged(rows, point).ok
    removed = judged(rows[:], pointed(rows[:1]))
    assert removed.first is not None
    assert (removed.first.writer, removed.first.what) == ("", "missing")
    assert "record 4" in removed.first.words


def test_a_clock_that_goes_backwards_is_a_note_and_no_fault() -> None:
    first = entry("w1", None, AT, "start", {})
    second = entry("w1", first, AT - 60, "stop", {})
    verdict = judged([first, second], pointed([first, second]))
    assert verdict.ok
    assert len(verdict.notes) == 1 and "w1: record 1 is dated before the one in front of it" in verdict.notes[0]


def test_everyday_work_that_was_kept_for_its_group_is_no_clock_that_was_set_back() -> None:
    held = entry("w1", None, AT, "CONFIRMATION_REQUIRED", {})
    everyday = entry("w1", held, AT - 0.5, "OPERATION_ALLOWED", {})
    assert judged([held, everyday], pointed([held, everyday])).notes == ()


def test_without_a_checkpoint_nothing_is_proved_and_it_says_so() -> None:
    verdict = judged(chain(3))
    assert verdict.ok and verdict.proved_until is None and verdict.unproved == 3
    assert verdict.notes == ("w1: no checkpoint names this writer, so nothing of it is proved",)
    assert verify({}, [], signature_counts) == AuditVerdict()


@pytest.mark.parametrize(
    "change",
    [{"at": float("inf")}, {"at": "x"}, {"seq": "x"}, {"seq": None}, {"body": None}, {"hash": None}, {"seq": -5}],
)
def test_a_value_of_a_wrong_type_is_a_fault_and_no_crash(change: dict[str, Any]) -> None:
    rows = chain(4)
    edited = [*rows[:2], replace(rows[2], **change), rows[3]]
    verdict = judged(edited, pointed(rows))
    assert verdict.first is not None and verdict.first.seq == 2


def test_a_long_chain_is_verified_without_holding_it() -> None:
    def stream(length: int) -> Iterator[AuditRow]:
        row = None
        for number in range(length):
            row = entry("w1", row, AT + number, "start", {"number": number})
            yield row

    tracemalloc.start()
    verdict = verify({"w1": stream(5_000)}, [], signature_counts)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert verdict.rows == 5_000 and peak < 2_000_000


# --- what records say

AGENT = AgentRef("uid:1000", "builder", "s1")
ATTEMPT = Attempt(
    at=AT,
    adapter_name="hook",
    operation="git push",
    level=Level.DANGEROUS,
    outcome="denied",
    agent=AGENT,
    reason="CONFIRMATION_REQUIRED",
    confirmation_token="conf_" + "aB3" * 14,
    parameters={"command": "git push -f", "password": "hunter22"},
    digest="v1:" + "0" * 64,
    ticket="pdact_1",
    endpoint="execute",
    findings=(Finding("git.force_push", Level.DANGEROUS, True, "Overwrites commits."),),
    requirement=Requirement(human=Human.VERIFY, approvers=frozenset({"role:admin", "bob"})),
)


def test_a_held_attempt_is_denied_until_it_is_spent() -> None:
    spent = replace(ATTEMPT, outcome="confirmed", reason="")
    row = entry("w1", None, AT, attempt_event(ATTEMPT), attempt_body(ATTEMPT))
    assert [attempt_event(one) for one in (ATTEMPT, spent, replace(spent, outcome="allowed"), replace(spent, outcome="denied"))] == [
        "CONFIRMATION_REQUIRED", "CONFIRMATION_GRANTED", "OPERATION_ALLOWED", "OPERATION_DENIED",
    ]  # fmt: skip
    assert gate_entry(row) == {
        "timestamp": iso(AT), "event": "CONFIRMATION_REQUIRED", "operation": "git push", "endpoint": "execute", "result": "denied", "reason": "CONFIRMATION_REQUIRED",
    }  # fmt: skip


def test_an_attempt_is_recorded_in_the_specified_words() -> None:
    row = entry("w1", None, AT, attempt_event(ATTEMPT), attempt_body(ATTEMPT))
    assert danger_entry(row) == {
        "timestamp": iso(AT),
        "adapter_name": "hook",
        "operation": "git push",
        "danger_level": 3,
        "adapter_trust": "none",
        "outcome": "denied",
        "confirmation_token": fingerprint(ATTEMPT.confirmation_token),
        "parameters": {"command": "git push -f", "password": "<secret:password>"},
    }
    body = parse_canonical(row.body)
    assert body["agent"]["principal"] == "uid:1000" and body["session"] == "s1"
    assert body["requirement"] == {
        "approvers": ["bob", "role:admin"], "blocked": False, "cooling_seconds": 0, "human": 3, "quorum": 0, "reauth": False, "word": "verify",
    }  # fmt: skip
    assert body["findings"][0]["rule"] == "git.force_push"
    assert ATTEMPT.confirmation_token not in row.body


def test_a_token_is_recorded_by_its_fingerprint() -> None:
    row = entry(
        "w1",
        None,
        AT,
        "TOKEN_REJECTED",
        token_body(AT, "TOKEN_REJECTED", "conf_abc", "delete_user", "crm", "expired", session_id="s1"),
    )
    assert token_entry(row) == {
        "timestamp": iso(AT),
        "event": "TOKEN_REJECTED",
        "token_id": fingerprint("conf_abc"),
        "operation": "delete_user",
        "adapter_name": "crm",
        "outcome": "failure",
        "failure_reason": "expired",
        "client_context": {"session_id": "s1"},
    }
    assert "conf_abc" not in row.body
    assert danger_entry(row) is None and gate_entry(row) is None


@pytest.mark.parametrize(
    "bad",
    [
        lambda: attempt_body(replace(ATTEMPT, outcome="held")),
        lambda: token_body(AT, "TOKEN_USED", "t", "o", "a"),
        lambda: event_body(AT, "aprove", "bob"),
        lambda: event_body(AT, "approve", "bob", {"by": "eve"}),
    ],
)
def test_a_word_that_nobody_specified_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError):
        bad()


def test_names_with_two_spellings_at_every_depth_are_looked_at_once() -> None:
    body: dict[str, Any] = {}
    for _ in range(60):
        body = {"inside": body, "ünï": 1}
    assert canonical_json(body).count("inside") == 60  # and not after 2 to the 60th looks


# --- what is exported


@given(st.lists(st.dictionaries(texts, values, max_size=3), min_size=1, max_size=4))
def test_an_export_as_json_lines_still_verifies(bodies: list[dict[str, Any]]) -> None:
    rows: list[AuditRow] = []
    for body in bodies:
        rows.append(entry("w1", rows[-1] if rows else None, AT, "start", body))
    back = [from_jsonl(line) for line in jsonl(rows)]
    assert back == rows
    assert judged(back, pointed(rows)).ok


@given(
    st.sampled_from("=+-@\t\r") | st.sampled_from([" =", "\n=", "\0="]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
)
def test_no_cell_of_a_csv_export_is_a_formula(start: str, rest: str) -> None:
    assume("\r" not in rest and "\n" not in rest)
    row = replace(chain(1)[0], event=start + rest, body=canonical_json({"operation": start + rest, "by": '"=1+1'}))
    lines = list(csv_lines([row]))
    heading, cells = csv.reader(io.StringIO("\r\n".join(lines), newline=""))
    assert heading == list(COLUMNS) and len(cells) == len(COLUMNS)
    assert not any(cell.lstrip(" \n").startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells if cell)


def test_a_body_that_somebody_broke_is_exported_as_it_is() -> None:
    row = replace(chain(1)[0], body='{"a": 1.50', at=float("inf"))
    assert from_jsonl(next(iter(jsonl([row])))).body == row.body
    assert list(csv_lines([row]))[1].endswith('"{""a"": 1.50"')
