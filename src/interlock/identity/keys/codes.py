"""Verification codes: generation, normalisation, hashing, comparison, and sealing a text under a code."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

LENGTH = 26  # base32 letters of five bits: 130 bits (OOB-03, C-44)
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
_ALIKE = str.maketrans("018", "OIB")  # digits that base32 does not have, for the letters they are read as
_BETWEEN = str.maketrans("", "", "- \t\r\n")
_MOST_TYPED = 200  # characters
_NONCE = bytes(12)  # a code seals one text, so that its key is used once


def new_code() -> str:
    """`K7QXD-…`, from the system's randomness."""
    letters = base64.b32encode(secrets.token_bytes(17)).decode()[:LENGTH]
    return "-".join([*(letters[at : at + 5] for at in (0, 5, 10, 15)), letters[20:]])


def normal_code(typed: str) -> str:
    if len(typed) > _MOST_TYPED:
        return ""
    letters = typed.upper().translate(_BETWEEN).translate(_ALIKE)
    return letters if len(letters) == LENGTH and _LETTERS.issuperset(letters) else ""


def code_hash(challenge: str, typed: str) -> str:
    """So many bits need no slow hash."""
    letters = normal_code(typed)
    return _derived(challenge, letters, b"hash").hex() if letters else ""


def same_hash(stored: str, given: str) -> bool:
    """Compares two hashes in constant time; an empty one equals none."""
    return bool(stored) and hmac.compare_digest(stored.encode("utf-8", "replace"), given.encode("utf-8", "replace"))


def seal_under(challenge: str, code: str, text: str) -> str:
    key = _derived(challenge, normal_code(code), b"seal")
    return ChaCha20Poly1305(key).encrypt(_NONCE, text.encode(), challenge.encode()).hex()


def open_under(challenge: str, code: str, box: str) -> str:
    key = _derived(challenge, normal_code(code), b"seal")
    try:
        return ChaCha20Poly1305(key).decrypt(_NONCE, bytes.fromhex(box), challenge.encode()).decode()
    except (InvalidTag, ValueError):
        return ""


def _derived(challenge: str, letters: str, purpose: bytes) -> bytes:
    bound = b"interlock code\0" + purpose + b"\0" + challenge.encode("utf-8", "replace")
    return hmac.new(letters.encode(), bound, hashlib.sha256).digest()
