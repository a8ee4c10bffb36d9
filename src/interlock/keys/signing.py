"""Who signed this? Ed25519 keys by their ids."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key; its text never shows it."""

    key_id: str
    public_key: str  # hex
    _private: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def of(cls, seed: bytes) -> SigningKey:
        """The key that these 32 bytes stand for."""
        private = Ed25519PrivateKey.from_private_bytes(seed)
        public = private.public_key().public_bytes_raw().hex()
        return cls(key_id(public), public, private)

    def sign(self, data: bytes) -> str:
        """The signature in hex."""
        return self._private.sign(data).hex()


def key_id(public_key: str) -> str:
    """A short name for a public key in hex."""
    return "ed25519:" + hashlib.sha256(public_key.encode()).hexdigest()[:32]


def verified(public_key: str, data: bytes, signature: str) -> bool:
    """Whether the holder of this key signed exactly this; anything malformed is a no."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(bytes.fromhex(signature), data)
    except (InvalidSignature, ValueError):
        return False
    return True


def fingerprint(token: str) -> str:
    """What is kept of a token instead of it. Tokens are long and random, so one hash is enough."""
    return hashlib.sha256(b"interlock token\0" + token.encode("utf-8", "surrogatepass")).hexdigest()
