"""What a passkey signed: one form, one challenge for one action, and whatever is no proof is refused."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from interlock.identity.passkey_proofs import (
    Head,
    PasskeyProof,
    ProofError,
    approval_challenge,
    from_hex,
    key_id,
    session_challenge,
    to_hex,
)

HEAD = Head("main", 7, "ab" * 32)
PROOF = PasskeyProof("aa", "bb", "cc", "dd", HEAD)


def test_a_proof_comes_back_as_it_was_kept() -> None:
    delegated = replace(PROOF, head=None, delegate="ee" * 32, nonce="ff", signed="00")
    assert [from_hex(to_hex(one)) for one in (PROOF, delegated)] == [PROOF, delegated]


def test_another_action_record_or_statement_is_another_challenge() -> None:
    found = {
        approval_challenge("v1:a", HEAD, "{}"),
        approval_challenge("v1:b", HEAD, "{}"),
        approval_challenge("v1:a", replace(HEAD, hash="cd" * 32), "{}"),
        approval_challenge("v1:a", HEAD, "{ }"),
        session_challenge("aa" * 32, "bb"),
        session_challenge("aa" * 32, "cc"),
    }
    assert len(found) == 6 and {len(one) for one in found} == {32}


@pytest.mark.parametrize("head", [replace(HEAD, hash=""), replace(HEAD, hash="ab")], ids=str)
def test_without_a_record_there_is_no_challenge(head: Head) -> None:
    with pytest.raises(ProofError):
        approval_challenge("v1:a", head, "{}")


GOOD = json.loads(bytes.fromhex(to_hex(PROOF)))


@pytest.mark.parametrize(
    "edit",
    [
        {"credential": ""}, {"credential": "zz"}, {"signature": 7}, {"v": 2}, {"more": 1}, {"head": {}}, {"head": []}, {"head": None},
        {"head": {"writer": 1, "seq": "x", "hash": ""}}, {"delegate": "aa"}, {"signed": "xyz"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_proof_is_refused(edit: dict[str, object]) -> None:
    with pytest.raises(ProofError):
        from_hex(json.dumps({**GOOD, **edit}).encode().hex())


@pytest.mark.parametrize(
    "text", ["", "zz", "7b", "5b5d", "6e756c6c", "5b" * 6_000, "00" * 20_000], ids=lambda text: text[:8]
)
def test_garbage_is_refused(text: str) -> None:
    with pytest.raises(ProofError):
        from_hex(text)


def test_a_passkeys_key_id_looks_like_no_other() -> None:
    assert key_id("aa").startswith("passkey:") and key_id("aa") != key_id("ab")
