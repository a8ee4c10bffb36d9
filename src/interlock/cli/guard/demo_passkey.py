"""The demo's operator in the console, with a passkey that lives in this process."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from typing import Any

import httpx
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn.helpers import bytes_to_base64url, encode_cbor

_PRESENT_AND_VERIFIED, _WITH_KEY = 0x05, 0x40  # of authenticator data: a person touched it; it has the public key
_PATIENCE = 30.0  # seconds


class SoftwarePasskey:
    """One ES256 passkey; it proves that the protocol works, not that a person was there."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.id = os.urandom(32)
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.uses = 0

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        point = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")}
        attested = bytes(16) + struct.pack(">H", len(self.id)) + self.id + encode_cbor(cose)
        data = self._data(options["rp"]["id"], _PRESENT_AND_VERIFIED | _WITH_KEY) + attested
        made = encode_cbor({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client_data("webauthn.create", options["challenge"])
        return self._answer(clientDataJSON=client, attestationObject=made)

    def sign(self, options: dict[str, Any]) -> dict[str, Any]:
        self.uses += 1
        data = self._data(options["rpId"], _PRESENT_AND_VERIFIED)
        client = self._client_data("webauthn.get", options["challenge"])
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer(clientDataJSON=client, authenticatorData=data, signature=signature)

    def _data(self, site: str, flags: int) -> bytes:
        return hashlib.sha256(site.encode()).digest() + bytes([flags]) + struct.pack(">I", self.uses)

    def _client_data(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}).encode()

    def _answer(self, **parts: bytes) -> dict[str, Any]:
        response = {name: bytes_to_base64url(part) for name, part in parts.items()}
        id = bytes_to_base64url(self.id)
        return {"id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {}}


class ConsoleOperator:
    """A browser without a window: cookies, the page's token and the passkey, over the console's routes."""

    def __init__(self, set_up_link: str) -> None:
        origin, _, rest = set_up_link.partition("/console/")
        self.passkey = SoftwarePasskey(origin)
        headers = {"origin": origin, "accept": "application/json"}
        self._browser = httpx.Client(base_url=origin, headers=headers, timeout=_PATIENCE, trust_env=False)
        self._open("set-up", {"token": rest.partition("#")[2]})
        asked = self._post("keys/passkey/begin")
        self._post("keys/passkey/finish", self._touched(asked, self.passkey.create(asked["publicKey"])))
        asked = self._post("sign-in/passkey/begin")
        self._open("sign-in/passkey/finish", self._touched(asked, self.passkey.sign(asked["publicKey"])))

    def approve(self, ticket: str) -> None:
        asked = self._post(f"step-up/{ticket}/begin")
        self._post(f"step-up/{ticket}/approve", self._touched(asked, self.passkey.sign(asked["publicKey"])))

    def close(self) -> None:
        self._browser.close()

    def _touched(self, asked: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
        return {"ceremony": asked["ceremony"], "response": response}

    def _open(self, path: str, body: dict[str, Any]) -> None:
        self._browser.headers["x-csrf-token"] = self._post(path, body)["csrf"]

    def _post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        answer = self._browser.post(f"/console/{path}", json=body or {})
        answer.raise_for_status()
        return dict(answer.json())
