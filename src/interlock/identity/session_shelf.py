"""Keeps sessions and their keys, set-up links and ceremonies by secret tokens: in memory, or sealed in the store that replicas share."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, Self, TypeVar

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
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
    """A session's key before a passkey has signed its challenge."""

    key: SigningKey = field(default_factory=lambda: SigningKey.of(secrets.token_bytes(32)))
    nonce: str = field(default_factory=lambda: secrets.token_hex(32))

    @property
    def challenge(self) -> bytes:
        """The challenge that a passkey signs to vouch for the key."""
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
    return seal_box(_key_of(token, seal_key), encode(value), purpose.encode())


def unseal(box: str, kind: type[T], token: str, purpose: str, seal_key: bytes) -> T | None:
    """Decrypts a sealed value; None where it was altered, or belongs to another token or purpose."""
    plain = open_box(_key_of(token, seal_key), box, purpose.encode())
    try:
        return decode(plain, kind) if plain is not None else None
    except ValueError:
        return None


def _key_of(token: str, seal_key: bytes) -> bytes:
    secret = b"interlock browser session\0" + token.encode("utf-8", "surrogatepass")
    return hmac.new(seal_key, secret, hashlib.sha256).digest()


SEEN_SECONDS = 15.0  # a request is noted in the store at most so often
LOCKED = "nobody has unlocked this daemon since it started: sign in with your passphrase, or run `interlock unlock`"


class ShelfItem(Protocol):
    """A session, a set-up link or a ceremony."""

    GROUPS: ClassVar[tuple[str, ...]]

    @property
    def group(self) -> str:
        """One of GROUPS; items are limited by group."""

    @property
    def owner(self) -> str: ...

    @property
    def ends_at(self) -> float: ...

    @property
    def seen_at(self) -> float:
        """The last request; items that do not idle return when they end."""

    def seen(self, at: float) -> Self:
        """The item after a request at this time."""


Item = TypeVar("Item", bound=ShelfItem)


Expiring = ShelfItem | SealedSession


class GroupLimit(Struct, frozen=True):
    """How many items a group has at most, and which one makes room for a new one."""

    most: int
    own_only: bool = False  # only an item of the same owner does
    idle_seconds: float = float("inf")

    def lasts(self, one: Expiring, now: float) -> bool:
        return now < one.ends_at and now - one.seen_at < self.idle_seconds

    def leaving(self, group: Mapping[str, Expiring], owner: str, now: float) -> list[str] | None:
        """Which of a group, the oldest first, go for a new item of this owner: those that ended, and one to make room; None where none may."""
        gone = [mark for mark, one in group.items() if not self.lasts(one, now)]
        if len(group) - len(gone) < self.most:
            return gone
        room = (mark for mark, one in group.items() if mark not in gone and (not self.own_only or one.owner == owner))
        oldest = next(room, None)
        return None if oldest is None else [*gone, oldest]


class SessionShelf(Protocol):
    """Items by token; only a hash of the token is kept."""

    def add(self, token: str, item: ShelfItem, now: float, limit: GroupLimit) -> bool:
        """Adds an item; above the limit the oldest one makes room. False where none may."""

    def find(self, token: str, kind: type[Item]) -> Item | None: ...

    def take(self, token: str, kind: type[Item]) -> Item | None:
        """Removes an item and returns it, to one caller only."""

    def change(self, token: str, item: ShelfItem) -> None:
        """Replaces an item that is there."""

    def note(self, token: str, item: ShelfItem) -> None:
        """Records the time of an item's last request."""

    def drop(self, token: str) -> None: ...

    def drop_owned(self, owner: str) -> None:
        """Removes the sessions and links of an operator."""


class MemoryShelf:
    """The items of the one process that uses a store: never stored, and gone when it ends."""

    def __init__(self) -> None:
        self._items: dict[str, Any] = {}  # by the token's fingerprint, the oldest first
        self._lock = threading.Lock()

    def add(self, token: str, item: ShelfItem, now: float, limit: GroupLimit) -> bool:
        with self._lock:
            group = {mark: one for mark, one in self._items.items() if one.group == item.group}
            leaving = limit.leaving(group, item.owner, now)
            for mark in leaving or ():
                del self._items[mark]
            if leaving is not None:
                self._items[hash_token(token)] = item
            return leaving is not None

    def find(self, token: str, kind: type[Item]) -> Item | None:
        found = self._items.get(hash_token(token))
        return found if isinstance(found, kind) else None

    def take(self, token: str, kind: type[Item]) -> Item | None:
        with self._lock:
            found = self._items.get(hash_token(token))
            if not isinstance(found, kind):
                return None
            del self._items[hash_token(token)]
            return found

    def change(self, token: str, item: ShelfItem) -> None:
        with self._lock:
            if hash_token(token) in self._items:
                self._items[hash_token(token)] = item

    note = change

    def drop(self, token: str) -> None:
        with self._lock:
            self._items.pop(hash_token(token), None)

    def drop_owned(self, owner: str) -> None:
        with self._lock:
            self._items = {mark: one for mark, one in self._items.items() if one.owner != owner}


class SharedShelf:
    """The items of all replicas: rows that open with their token and the seal key alone, so that an unlocked replica finds them."""

    def __init__(self, store: Store, seal_key: Callable[[], bytes | None]) -> None:
        self._store, self._seal_key = store, seal_key

    def add(self, token: str, item: ShelfItem, now: float, limit: GroupLimit) -> bool:
        row = self._row(token, item)

        def work(tx: Tx) -> bool:
            leaving = limit.leaving({one.mark: one for one in tx.sealed_sessions(item.group)}, item.owner, now)
            for mark in leaving or ():
                tx.delete_session(mark)
            if leaving is not None:
                tx.save_session(row)
            return leaving is not None

        return self._store.write(work)

    def find(self, token: str, kind: type[Item]) -> Item | None:
        row = self._store.read(lambda tx: tx.sealed_session(hash_token(token)))
        return self._open(row, token, kind)

    def take(self, token: str, kind: type[Item]) -> Item | None:
        def work(tx: Tx) -> SealedSession | None:
            row = tx.sealed_session(hash_token(token))
            return row if row is not None and tx.delete_session(row.mark) else None

        return self._open(self._store.write(work), token, kind)

    def change(self, token: str, item: ShelfItem) -> None:
        row = self._row(token, item)
        self._store.write(lambda tx: tx.save_session(row) if tx.sealed_session(row.mark) else None)

    def note(self, token: str, item: ShelfItem) -> None:
        mark, at = hash_token(token), item.seen_at
        self._store.write_soon(lambda tx: tx.note_session(mark, at, at - SEEN_SECONDS))

    def drop(self, token: str) -> None:
        self._store.write(lambda tx: tx.delete_session(hash_token(token)))

    def drop_owned(self, owner: str) -> None:
        self._store.write(lambda tx: tx.delete_sessions(owner))

    def _row(self, token: str, item: ShelfItem) -> SealedSession:
        key, mark = self._seal_key(), hash_token(token)
        if key is None:
            raise SignInRefused(LOCKED)
        box = seal(item, token, f"{item.group}\0{mark}", key)
        return SealedSession(mark, item.group, item.owner, box, item.seen_at, item.ends_at)

    def _open(self, row: SealedSession | None, token: str, kind: type[Item]) -> Item | None:
        key = self._seal_key()
        if row is None or key is None or row.kind not in kind.GROUPS:
            return None
        found = unseal(row.box, kind, token, f"{row.kind}\0{row.mark}", key)
        return found.seen(row.seen_at) if found is not None else None
