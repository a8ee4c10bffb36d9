"""Are these still the passkeys and authenticators that operators registered? Each is sealed, and so is the list of them."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable
from dataclasses import replace

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from interlock.core.records import Credential

CREDENTIALS_SETTING = "credentials_seal"  # the setting that keeps the seal of the list
PASSKEY, TOTP = "passkey", "totp"
_NONCE_BYTES = 12


def seal_credential(row: Credential, seal_key: bytes) -> Credential:
    """The row with its seal; its counter and when it was used are not under it."""
    return replace(row, seal=_mac(seal_key, "credential", _canonical(row)))


def credentials_seal(rows: Iterable[Credential], seal_key: bytes) -> str:
    """What the setting keeps, to be saved with every change of a row."""
    return _mac(seal_key, "credentials", json.dumps(sorted(row.seal for row in rows)))


def credentials_digest(rows: Iterable[Credential]) -> str:
    """One hash over all that is sealed: pinned in memory, it shows any change without the seal key."""
    texts = sorted(json.dumps([_canonical(row), row.seal]) for row in rows)
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def credential_problems(rows: Iterable[Credential], seal_key: bytes, listed: str | None) -> tuple[str, ...]:
    """What was done to them behind the operator commands' back, in words that name the operator."""
    kept = tuple(rows)
    found = [
        f"operator {row.operator!r:.80}: a {row.kind!r:.20} was added or altered outside Interlock"
        for row in kept
        if not _same(seal_credential(row, seal_key).seal, row.seal)
    ]
    if found or (not kept and listed is None):
        return tuple(found)
    if listed is None or not _same(credentials_seal(kept, seal_key), listed):
        return ("the sealed list of passkeys does not fit: one was removed, or an older one was put back",)
    return ()


def wrapped(secret: str, operator: str, id: str, seal_key: bytes) -> str:
    """A secret that only an unlocked daemon can read, for this credential of this operator."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return (nonce + _box(seal_key).encrypt(nonce, secret.encode(), _bound(operator, id))).hex()


def unwrapped(box: str, operator: str, id: str, seal_key: bytes) -> str:
    """What was wrapped; empty where it was touched, or wrapped for another."""
    try:
        data = bytes.fromhex(box)
        return _box(seal_key).decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], _bound(operator, id)).decode()
    except (InvalidTag, ValueError):
        return ""


def _box(seal_key: bytes) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(hmac.new(seal_key, b"interlock wrap totp", hashlib.sha256).digest())


def _bound(operator: str, id: str) -> bytes:
    return json.dumps([operator, id]).encode()


def _canonical(row: Credential) -> str:
    times = {"created_at": row.created_at, "active_at": row.active_at, "removed_at": row.removed_at}
    whole = {
        "how": row.how, "id": row.id, "kind": row.kind, "name": row.name, "operator": row.operator, "public": dict(row.public),
        "source": row.source, **{key: f"{value:.3f}" for key, value in times.items()},
    }  # fmt: skip
    return json.dumps(whole, sort_keys=True, separators=(",", ":"))


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "replace"))


def _mac(seal_key: bytes, purpose: str, text: str) -> str:
    return hmac.new(seal_key, f"interlock {purpose}\0{text}".encode(), hashlib.sha256).hexdigest()
