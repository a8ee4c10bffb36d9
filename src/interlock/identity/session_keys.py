"""A session's signing key, vouched for by a passkey; and sessions as sealed text that only their cookie and an unlocked daemon open."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from msgspec import Struct, field
from msgspec.structs import replace

from interlock.identity.keys import OperatorKeys
from interlock.identity.keys.signing import SigningKey
from interlock.identity.passkey_proofs import PasskeyProof, key_id, session_challenge, to_hex
from interlock.identity.sessions import Signer
from interlock.model import Confidential

T = TypeVar("T")
_NONCE_BYTES = 12


class SessionKey(Struct, frozen=True):
    """A session's key before a passkey has signed its challenge."""

    key: SigningKey = field(default_factory=lambda: SigningKey.of(secrets.token_bytes(32)))
    nonce: str = field(default_factory=lambda: secrets.token_hex(32))

    @property
    def challenge(self) -> bytes:
        """The challenge that a passkey signs to vouch for the key."""
        return session_challenge(self.key.public_key, self.nonce)

    def delegate(self, proof: PasskeyProof) -> DelegatedKey:
        """The key with the passkey's proof for it."""
        return DelegatedKey(self.key, replace(proof, delegate=self.key.public_key, nonce=self.nonce))


class DelegatedKey(Confidential, Struct, frozen=True):
    """Signs as the passkey that vouches for it; its signatures never count as a touch of that passkey."""

    HIDDEN = ("_key", "_proof")

    _key: SigningKey
    _proof: PasskeyProof

    @property
    def key_id(self) -> str:
        return key_id(self._proof.credential)

    def sign(self, statement: str) -> str:
        """The signature with the passkey's proof, in hex."""
        return to_hex(replace(self._proof, signed=self._key.sign(statement.encode())))


def encode(value: Any) -> bytes:
    """A session, or the subject of a ceremony, as JSON, private keys included: only to be held in memory or sealed."""
    return msgspec.json.encode(value, enc_hook=_plain)


def decode(data: bytes, kind: type[T]) -> T:
    """The value that `encode` was given; raises ValueError for anything else."""
    return msgspec.json.decode(data, type=kind, dec_hook=_typed)


def _plain(value: Any) -> Any:
    if isinstance(value, Ed25519PrivateKey):
        return value.private_bytes_raw().hex()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"no part of a session: {type(value).__name__}")


def _typed(kind: type, value: Any) -> Any:
    if kind is Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(value))
    if kind is Signer:
        signer: type[OperatorKeys | DelegatedKey] = OperatorKeys if "seal_key" in value else DelegatedKey
        return msgspec.convert(value, signer, dec_hook=_typed)
    raise TypeError(f"no part of a session: {kind.__name__}")


def seal(value: Any, token: str, purpose: str, seal_key: bytes) -> str:
    """Encrypts a value under its token and the operators' seal key: a copy of the store opens nothing, with either of them alone."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return (nonce + _cipher(token, seal_key).encrypt(nonce, encode(value), purpose.encode())).hex()


def unseal(box: str, kind: type[T], token: str, purpose: str, seal_key: bytes) -> T | None:
    """Decrypts a sealed value; None where it was altered, or belongs to another token or purpose."""
    try:
        data = bytes.fromhex(box)
        plain = _cipher(token, seal_key).decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], purpose.encode())
        return decode(plain, kind)
    except (InvalidTag, ValueError):
        return None


def _cipher(token: str, seal_key: bytes) -> ChaCha20Poly1305:
    secret = b"interlock browser session\0" + token.encode("utf-8", "surrogatepass")
    return ChaCha20Poly1305(hmac.new(seal_key, secret, hashlib.sha256).digest())
