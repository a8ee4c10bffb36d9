"""Keeps sessions, set-up links and ceremonies by secret tokens: in memory, or sealed in the store that replicas share."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from interlock.identity.keys.passphrases import OperatorKeys
from interlock.identity.keys.signing import SigningKey, open_box, seal_box
from interlock.identity.passkey_proofs import PasskeyProof, key_id, session_challenge, to_hex
from interlock.identity.sessions import Signer, SignInRefused
from interlock.model import Confidential
from interlock.ports import Store, Tx
from interlock.records import SealedSession
from interlock.redaction import hash_token

T = TypeVar("T")


class SessionKey(Struct, frozen=True):
    key: SigningKey = field(default_factory=lambda: SigningKey.of(secrets.token_bytes(32)))
    nonce: str = field(default_factory=lambda: secrets.token_hex(32))

    @property
    def challenge(self) -> bytes:
        return session_challenge(self.key.public_key, self.nonce)

    def delegate(self, proof: PasskeyProof) -> DelegatedKey:
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
        return to_hex(replace(self._proof, signed=self._key.sign(statement.encode())))


def encode(value: Any) -> bytes:
    """JSON, private keys included: only to be held in memory or sealed."""
    return msgspec.json.encode(value, enc_hook=_plain)


def decode(data: bytes, kind: type[T]) -> T:
    return msgspec.json.decode(data, type=kind, dec_hook=_typed)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"no part of a session: {type(value).__name__}")


def _typed(kind: type, value: Any) -> Any:
    if kind is Signer:
        signer = OperatorKeys if "seal_key" in value else DelegatedKey
        return msgspec.convert(value, signer, dec_hook=_typed)
    raise TypeError(f"no part of a session: {kind.__name__}")


SEEN_SECONDS = 15.0  # a request is noted in the store at most so often
LOCKED = "nobody has unlocked this daemon since it started: sign in with your passphrase, or run `interlock unlock`"


class GroupLimit(Struct, frozen=True):
    most: int
    own_only: bool = False  # only one of the same owner does
    idle_seconds: float = float("inf")

    def lasts(self, one: SealedSession, now: float) -> bool:
        return now < one.ends_at and now - one.seen_at < self.idle_seconds

    def leaving(self, group: list[SealedSession], owner: str, now: float) -> list[str] | None:
        """Those that ended, and the oldest where a new one needs room; None where it gets none."""
        gone = [one.mark for one in group if not self.lasts(one, now)]
        if len(group) - len(gone) < self.most:
            return gone
        room = [one.mark for one in group if one.mark not in gone and (not self.own_only or one.owner == owner)]
        return [*gone, room[0]] if room else None


class MemorySessions:
    """Never stored, and gone when the process ends."""

    def __init__(self) -> None:
        self._rows: dict[str, SealedSession] = {}  # the oldest first
        self._lock = threading.Lock()

    def write(self, work: Callable[[Any], T]) -> T:
        with self._lock:
            return work(self)

    read = write_soon = write

    def sealed_session(self, mark: str) -> SealedSession | None:
        return self._rows.get(mark)

    def sealed_sessions(self, kind: str) -> list[SealedSession]:
        return [row for row in self._rows.values() if row.kind == kind]

    def save_session(self, row: SealedSession) -> None:
        self._rows[row.mark] = row

    def note_session(self, mark: str, at: float, before: float) -> None:
        if mark in self._rows:
            self._rows[mark] = replace(self._rows[mark], seen_at=at)

    def delete_session(self, mark: str) -> bool:
        return self._rows.pop(mark, None) is not None

    def delete_sessions(self, owner: str) -> None:
        self._rows = {mark: row for mark, row in self._rows.items() if row.owner != owner}


class SessionShelf(Struct, frozen=True):
    """Sessions, links and ceremonies by secret tokens, of which only hashes are kept; a row opens with its token and the seal key alone.

    Replicas share the rows in their store, so that any unlocked one finds them.
    """

    _store: Store | MemorySessions
    _seal_key: Callable[[], bytes | None]

    def add(
        self, token: str, kind: str, owner: str, value: object, now: float, ends_at: float, limit: GroupLimit
    ) -> bool:
        """Above the limit the oldest one makes room; False where none may."""
        row = self._sealed(SealedSession(hash_token(token), kind, owner, "", now, ends_at), token, value)

        def work(tx: Tx) -> bool:
            leaving = limit.leaving(tx.sealed_sessions(kind), owner, now)
            for mark in leaving or ():
                tx.delete_session(mark)
            if leaving is not None:
                tx.save_session(row)
            return leaving is not None

        return self._store.write(work)

    def find(self, token: str, of: type[T], *kinds: str) -> tuple[SealedSession, T] | None:
        return self._open(self._store.read(lambda tx: tx.sealed_session(hash_token(token))), token, of, kinds)

    def take(self, token: str, of: type[T], *kinds: str) -> tuple[SealedSession, T] | None:
        """To one caller only."""

        def work(tx: Tx) -> SealedSession | None:
            row = tx.sealed_session(hash_token(token))
            return row if row and row.kind in kinds and tx.delete_session(row.mark) else None

        return self._open(self._store.write(work), token, of, kinds)

    def change(self, token: str, value: object) -> None:
        def work(tx: Tx) -> None:
            if (row := tx.sealed_session(hash_token(token))) is not None:
                tx.save_session(self._sealed(row, token, value))

        self._store.write(work)

    def note(self, token: str, at: float) -> None:
        self._store.write_soon(lambda tx: tx.note_session(hash_token(token), at, at - SEEN_SECONDS))

    def drop(self, token: str) -> None:
        self._store.write(lambda tx: tx.delete_session(hash_token(token)))

    def drop_owned(self, owner: str) -> None:
        """Signs an operator out everywhere: at every replica that shares the rows."""
        self._store.write(lambda tx: tx.delete_sessions(owner))

    def _sealed(self, row: SealedSession, token: str, value: object) -> SealedSession:
        if (key := self._seal_key()) is None:
            raise SignInRefused(LOCKED)
        return replace(row, box=seal_box(_key_of(token, key), encode(value), _bound(row)))

    def _open(
        self, row: SealedSession | None, token: str, of: type[T], kinds: tuple[str, ...]
    ) -> tuple[SealedSession, T] | None:
        key = self._seal_key()
        if row is None or key is None or row.kind not in kinds:
            return None
        plain = open_box(_key_of(token, key), row.box, _bound(row))
        try:
            return (row, decode(plain, of)) if plain is not None else None
        except ValueError:
            return None


def _key_of(token: str, seal_key: bytes) -> bytes:
    secret = b"interlock browser session\0" + token.encode("utf-8", "surrogatepass")
    return hmac.new(seal_key, secret, hashlib.sha256).digest()


def _bound(row: SealedSession) -> bytes:
    return f"{row.kind}\0{row.mark}".encode()
