"""WebAuthn: options for a browser, and verification of its answers and of stored proofs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from interlock.identity.keys.signing import verify_signature
from interlock.identity.passkey_proofs import PasskeyProof, ProofError, approval_challenge, from_hex, session_challenge
from interlock.model import Json
from interlock.records import Credential

RP_NAME = "Interlock"
TIMEOUT_MS = 120_000
MAX_ANSWER = 65_536  # characters of JSON
_PARTS = ("authenticatorData", "clientDataJSON", "signature")  # of a browser's answer, in the order of PasskeyProof


class PasskeyRefused(Exception):
    """An invalid response; the message says what was wrong, and repeats none of its content."""


def creation_options(rp_id: str, challenge: bytes, operator: str, known: Iterable[str]) -> dict[str, Any]:
    """The passkey verifies its user each time, and is not registered yet."""
    import webauthn
    from webauthn.helpers import structs

    options = webauthn.generate_registration_options(
        rp_id=rp_id,
        rp_name=RP_NAME,
        user_name=operator,
        user_id=hashlib.sha256(b"interlock operator\0" + operator.encode()).digest(),
        challenge=challenge,
        timeout=TIMEOUT_MS,
        authenticator_selection=structs.AuthenticatorSelectionCriteria(
            resident_key=structs.ResidentKeyRequirement.PREFERRED,
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[structs.PublicKeyCredentialDescriptor(id=bytes.fromhex(one)) for one in known],
    )
    return dict(json.loads(webauthn.options_to_json(options)))


def request_options(rp_id: str, challenge: bytes, allowed: Iterable[str] = ()) -> dict[str, Any]:
    """Without ids, the user chooses the passkey."""
    import webauthn
    from webauthn.helpers import structs

    options = webauthn.generate_authentication_options(
        rp_id=rp_id,
        challenge=challenge,
        timeout=TIMEOUT_MS,
        allow_credentials=[structs.PublicKeyCredentialDescriptor(id=bytes.fromhex(one)) for one in allowed],
        user_verification=structs.UserVerificationRequirement.REQUIRED,
    )
    return dict(json.loads(webauthn.options_to_json(options)))


def verify_registration(response: Json, challenge: bytes, rp_id: str, origin: str) -> tuple[str, int, dict[str, Any]]:
    """Its id in hex, counter and public part; refuses another challenge, site or origin, and an unverified user."""
    import webauthn

    found = _check(
        webauthn.verify_registration_response,
        credential=_bounded(response),
        expected_challenge=challenge,
        expected_rp_id=rp_id,
        expected_origin=origin,
        require_user_verification=True,
    )
    transports = (response.get("response") or {}).get("transports")
    words = [str(one)[:20] for one in transports[:8]] if isinstance(transports, list) else []
    key = found.credential_public_key.hex()  # COSE
    public = {"public_key": key, "rp_id": rp_id, "aaguid": str(found.aaguid), "transports": words}
    return found.credential_id.hex(), int(found.sign_count), public


def credential_id(response: Json) -> str:
    import webauthn.helpers

    claimed = response.get("id")
    if not isinstance(claimed, str) or len(claimed) >= 2_000:
        return ""
    try:
        return webauthn.helpers.base64url_to_bytes(claimed).hex()
    except ValueError:
        return ""


def verify_assertion(response: Json, challenge: bytes, origin: str, passkey: Credential) -> tuple[PasskeyProof, int]:
    """Refuses a counter that does not increase, and all that `verify_proof` does."""
    import webauthn.helpers

    found = _authentication(passkey, _bounded(response), challenge, origin, passkey.counter)
    if found.credential_id.hex() != passkey.id:
        raise PasskeyRefused("the answer is of another passkey")
    answer = response["response"]
    data, client, signature = (webauthn.helpers.base64url_to_bytes(answer[name]).hex() for name in _PARTS)
    proof = PasskeyProof(passkey.id, data, client, signature)
    _same_page(bytes.fromhex(proof.client_data))
    return proof, int(found.new_sign_count)


def signed_by(passkey: Credential, data: bytes, signature: str) -> bool:
    """Whether it signed the statement itself, or the key of the session that did; the latter signs none of a step-up."""
    try:
        proof = from_hex(signature)
        text = data.decode()
        statement = json.loads(text)
        if proof.head:
            return verify_proof(passkey, proof, approval_challenge(str(statement["digest"]), proof.head, text))
        anew = isinstance(statement, dict) and statement.get("reauth", False) is not False
        held = verify_signature(proof.delegate, data, proof.signed) and not anew
        return held and verify_proof(passkey, proof, session_challenge(proof.delegate, proof.nonce))
    except (ProofError, ValueError, KeyError, TypeError, RecursionError):
        return False


def verify_proof(passkey: Credential, proof: PasskeyProof, challenge: bytes) -> bool:
    import webauthn.helpers

    try:
        id, *parts = (webauthn.helpers.bytes_to_base64url(bytes.fromhex(value)) for value in proof.parts)
        response = dict(zip(_PARTS, parts, strict=True))
        client = bytes.fromhex(proof.client_data)
        _same_page(client)
        origin, rp_id = str(json.loads(client)["origin"]), str(passkey.public["rp_id"])
        host = urlsplit(origin).hostname or ""
        if proof.credential != passkey.id or not rp_id or not f".{host}".endswith(f".{rp_id}"):
            return False
        answer = {"id": id, "rawId": id, "type": "public-key", "response": response}
        _authentication(passkey, answer, challenge, origin, 0)
    except (PasskeyRefused, ValueError, KeyError, TypeError, RecursionError):
        return False
    return True


def _authentication(passkey: Credential, answer: Json, challenge: bytes, origin: str, counter: int) -> Any:
    import webauthn

    return _check(
        webauthn.verify_authentication_response,
        credential=answer,
        expected_challenge=challenge,
        expected_rp_id=str(passkey.public.get("rp_id", "")),
        expected_origin=origin,
        credential_public_key=bytes.fromhex(str(passkey.public.get("public_key", ""))),
        credential_current_sign_count=counter,
        require_user_verification=True,
    )


def _same_page(client_data: bytes) -> None:
    client = json.loads(client_data)
    if client.get("crossOrigin", False) is not False or "topOrigin" in client:
        raise PasskeyRefused("the passkey was asked from inside another page")


def _check(work: Any, **given: Any) -> Any:
    """Repeats only the library's own messages."""
    import webauthn.helpers.exceptions

    try:
        return work(**given)
    except webauthn.helpers.exceptions.WebAuthnException as error:
        words = next((words for mark, words in _REASONS if mark in str(error)), "the answer cannot be used")
        raise PasskeyRefused(words) from None
    except Exception as error:  # a hostile response can fail anywhere inside a parser
        raise PasskeyRefused(f"the answer cannot be read ({type(error).__name__})") from None


_REASONS = (
    ("Could not verify", "the signature is wrong"),
    ("challenge", "the answer is to another question"),
    ("origin", "the answer comes from another page"),
    ("RP ID", "the passkey is of another site"),
    ("verif", "the passkey did not check who you are (fingerprint, face or PIN)"),
    ("present", "nobody touched the passkey"),
    ("sign count", "the passkey's counter went back: it may have been copied"),
    ("signature", "the signature is wrong"),
)


def _bounded(response: Json) -> dict[str, Any]:
    whole = dict(response)
    if len(json.dumps(whole)) > MAX_ANSWER:
        raise PasskeyRefused("the answer is too long")
    return whole
