"""The key of a browser's session: made at a sign-in, vouched for by the passkey that signed in, gone with the session."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace

from interlock.core.assertion import Proof, key_id, session_challenge, to_hex
from interlock.keys.signing import SigningKey


@dataclass(frozen=True, slots=True)
class SessionKey:
    """A key that nobody vouches for yet."""

    key: SigningKey = field(default_factory=lambda: SigningKey.of(secrets.token_bytes(32)))
    nonce: str = field(default_factory=lambda: secrets.token_hex(32))

    @property
    def challenge(self) -> bytes:
        """What a passkey signs to vouch for it."""
        return session_challenge(self.key.public_key, self.nonce)

    def vouched(self, proof: Proof) -> Delegated:
        """The key, once a passkey has signed its challenge."""
        return Delegated(self.key, replace(proof, delegate=self.key.public_key, nonce=self.nonce))


@dataclass(frozen=True, slots=True)
class Delegated:
    """Signs as the passkey that vouches for it; what it signs never counts as a touch of that passkey."""

    _key: SigningKey = field(repr=False)
    _proof: Proof = field(repr=False)

    @property
    def key_id(self) -> str:
        return key_id(self._proof.credential)

    def sign(self, statement: str) -> str:
        """The signature with what vouches for it, in hex."""
        return to_hex(replace(self._proof, signed=self._key.sign(statement.encode())))
