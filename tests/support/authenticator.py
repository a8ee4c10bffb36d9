"""A passkey in software: ES256 keys, attestation "none", answers built byte by byte, and whatever can be wrong with them."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import struct
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

ORIGIN = "http://localhost:7310"
UP, UV, AT = 0x01, 0x04, 0x40


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Authenticator:
    """One passkey; `create` and `get` answer what a page asks, `more` replaces parts of the answer."""

    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    id: bytes = field(default_factory=lambda: os.urandom(32))
    counter: int = 0
    flags: int = UP | UV

    def create(self, options: dict[str, Any], origin: str = ORIGIN, **more: Any) -> dict[str, Any]:
        numbers = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        attested = bytes(16) + struct.pack(">H", len(self.id)) + self.id + cbor2.dumps(cose)
        rp_id = more.get("rp_id", options["rp"]["id"])
        data = self._data(rp_id, self.flags | AT) + attested
        client = client_data("webauthn.create", options["challenge"], origin, **more.get("client", {}))
        object = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._answer(
            {"clientDataJSON": b64(client), "attestationObject": b64(object), "transports": ["internal"]}
        )

    def get(self, options: dict[str, Any], origin: str = ORIGIN, **more: Any) -> dict[str, Any]:
        self.counter += more.get("step", 1)
        data = self._data(more.get("rp_id", options.get("rpId")), more.get("flags", self.flags))
        client = client_data(
            more.get("type", "webauthn.get"),
            more.get("challenge", options["challenge"]),
            origin,
            **more.get("client", {}),
        )
        signed = data + hashlib.sha256(client).digest()
        signature = more.get("key", self.key).sign(signed, ec.ECDSA(hashes.SHA256()))
        answer = {"authenticatorData": b64(data), "clientDataJSON": b64(client), "signature": b64(signature)}
        return self._answer(answer)

    def _data(self, rp_id: str, flags: int) -> bytes:
        return hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + struct.pack(">I", self.counter)

    def _answer(self, response: dict[str, Any]) -> dict[str, Any]:
        id = b64(self.id)
        return {"id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {}}


def client_data(kind: str, challenge: str, origin: str, **more: Any) -> bytes:
    return json.dumps({"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": False, **more}).encode()
