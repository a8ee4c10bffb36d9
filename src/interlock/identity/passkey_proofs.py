"""Encodes the proof that a passkey signed a statement, and the challenge it answers; refuses any other form."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct

from interlock.canonical_json import dump_json, simplify
from interlock.records import Approval, Grant

VERSION = 1
PREFIX = "passkey:"  # of the key ids of passkeys
MAX_TEXT = 16_384  # characters of a proof
_HASH = 64  # hex digits
_SESSION = b"interlock session key\0"


class ProofError(ValueError):
    """An invalid proof; the message says why."""


class Head(Struct, frozen=True, forbid_unknown_fields=True):
    """The end of a writer's chain when somebody signed: history before it cannot be rewritten without them."""

    writer: str
    seq: int
    hash: str


class PasskeyProof(Struct, frozen=True, forbid_unknown_fields=True):
    """A passkey's signature of a statement, or of a session's key, which then signs statements (`delegate`)."""

    credential: str  # its id, in hex
    authenticator_data: str  # hex
    client_data: str  # hex
    signature: str  # hex
    head: Head | None = None
    delegate: str = ""  # the session's public key, in hex
    nonce: str = ""  # of that delegation, in hex
    signed: str = ""  # the session's signature of the statement, in hex
    v: int = VERSION

    @property
    def parts(self) -> tuple[str, str, str, str]:
        return self.credential, self.authenticator_data, self.client_data, self.signature


def key_id(credential: str) -> str:
    return PREFIX + hashlib.sha256(credential.encode()).hexdigest()[:32]


def approval_challenge(digest: str, head: Head, statement: str) -> bytes:
    """SHA-256(action digest ‖ audit head ‖ nonce); the nonce is the hash of the whole statement, which holds a random one."""
    if not digest or len(head.hash) != _HASH:
        raise ProofError("challenge: an action and a record are needed")
    nonce = hashlib.sha256(statement.encode()).digest()
    return hashlib.sha256(digest.encode() + head.hash.encode() + nonce).digest()


def session_challenge(public_key: str, nonce: str) -> bytes:
    """The challenge of a sign-in: the session's key, which cannot stand in for a touch of the passkey."""
    return hashlib.sha256(_SESSION + bytes.fromhex(public_key) + bytes.fromhex(nonce)).digest()


def to_hex(proof: PasskeyProof) -> str:
    return dump_json(simplify(proof)).encode().hex()


def proof_fields(signed: Approval | Grant) -> dict[str, str]:
    """For the record; in hex, which is not mistaken for a secret."""
    return {"key_id": signed.key_id, "statement": signed.statement.encode().hex(), "proof": signed.signature}


def from_hex(text: str) -> PasskeyProof:
    if len(text) > MAX_TEXT:
        raise ProofError(f"proof: {len(text)} characters, at most {MAX_TEXT}")
    try:
        proof = msgspec.json.decode(bytes.fromhex(text), type=PasskeyProof)
        for part in (*proof.parts, proof.delegate, proof.nonce, proof.signed):
            bytes.fromhex(part)
        if proof.v != VERSION or not all(proof.parts) or (proof.head is None) is (proof.delegate == ""):
            raise ProofError("proof: of another form")
    except (ValueError, RecursionError) as error:
        raise ProofError(f"proof: not valid: {error}"[:200]) from None
    return proof
