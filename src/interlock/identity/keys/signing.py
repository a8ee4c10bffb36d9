"""Ed25519 signing keys by key id, and the installation's key files, which only its user may read."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from msgspec import Struct

from interlock.model import Confidential

_NONCE_BYTES = 12


class SigningKey(Confidential, Struct, frozen=True):
    """A private key; its text never shows it."""

    HIDDEN = ("_private",)

    key_id: str
    public_key: str  # hex
    _private: str  # hex

    @classmethod
    def of(cls, seed: bytes) -> SigningKey:
        public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw().hex()
        return cls(key_id(public), public, seed.hex())

    def sign(self, data: bytes) -> str:
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(self._private)).sign(data).hex()


def key_id(public_key: str) -> str:
    return "ed25519:" + hashlib.sha256(public_key.encode()).hexdigest()[:32]


def verify_signature(public_key: str, data: bytes, signature: str) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(bytes.fromhex(signature), data)
    except (InvalidSignature, ValueError):
        return False
    return True


def seal_box(key: bytes, plain: bytes, bound_to: bytes) -> str:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return (nonce + ChaCha20Poly1305(key).encrypt(nonce, plain, bound_to)).hex()


def open_box(key: bytes, box: str, bound_to: bytes) -> bytes | None:
    """None where it was altered, or belongs to another key or context."""
    try:
        data = bytes.fromhex(box)
        return ChaCha20Poly1305(key).decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], bound_to)
    except (InvalidTag, ValueError):
        return None


KEY_BYTES = 32
INSTALLATION = "installation.key"  # digests are made under it
CHECKPOINTS = "checkpoint.key"  # the audit's checkpoints are signed with it


class KeyFileError(Exception):
    """A key file that cannot be trusted or used; the message says what to do."""


def installation_key(folder: Path) -> bytes:
    return _load_or_make(folder / INSTALLATION)


def checkpoint_key(folder: Path) -> SigningKey:
    return SigningKey.of(_load_or_make(folder / CHECKPOINTS))


def _load_or_make(path: Path) -> bytes:
    """Refuses a file that others can read, a link, and a truncated file."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.path.lexists(path):
            _make(path)
        return _read(path)
    except OSError as error:
        raise KeyFileError(f"{path}: {error.strerror or error}") from None


def _make(path: Path) -> None:
    """A crash leaves no half key, and of two processes one wins."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(file, "wb") as out:
            out.write(secrets.token_bytes(KEY_BYTES))
            out.flush()
            os.fsync(out.fileno())
        with suppress(FileExistsError):
            os.link(beside, path)
    finally:
        os.unlink(beside)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read(path: Path) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(file, "rb") as source:
        found = os.fstat(source.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise KeyFileError(f"{path}: expected a regular file")
        if found.st_uid != os.geteuid():
            raise KeyFileError(f"{path}: belongs to user {found.st_uid}, expected {os.geteuid()}")
        if found.st_mode & 0o077:
            mode = stat.S_IMODE(found.st_mode)
            raise KeyFileError(f"{path}: mode {mode:04o}, expected 0600; others could read it, so replace the key")
        key = source.read(KEY_BYTES + 1)
    if len(key) != KEY_BYTES:
        raise KeyFileError(f"{path}: expected {KEY_BYTES} bytes, got {'more' if len(key) > KEY_BYTES else len(key)}")
    return key
