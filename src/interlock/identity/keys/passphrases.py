"""Derives an operator's signing key from a passphrase and unwraps the seal key; neither is stored in the clear."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import unicodedata
from collections.abc import Iterable
from contextlib import suppress

from argon2.low_level import Type, hash_secret_raw
from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.packs import own_words
from interlock.canonical_json import leaves_no_mark, normal_name
from interlock.identity.keys.roster import seal_row
from interlock.identity.keys.signing import SigningKey, open_box, seal_box
from interlock.model import Confidential
from interlock.records import OperatorRow

MIN_PASSPHRASE = 8
MAX_PASSPHRASE = 1024
SEAL_KEY_BYTES = 32
_SALT_BYTES = 16
_WORDS = own_words("identity/words.toml")
_LEET = str.maketrans("@4031!5$7", "aaoeiisst")
_AROUND = "0123456789!?.,-_# "  # padding that people put around a word
_RUNS = ("01234567890123456789", "09876543210987654321", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm")


class EnrolError(ValueError):
    """A name, a role or a passphrase that is not accepted; the message says why."""


class WrongPassphrase(Exception):
    """Whatever was wrong: the name, the passphrase, or the row."""

    def __init__(self) -> None:
        super().__init__("wrong name or passphrase")


class Kdf(Struct, frozen=True):
    time: int = 3
    memory: int = 64 * 1024  # KiB
    lanes: int = 2

    @classmethod
    def parse(cls, text: str) -> Kdf | None:
        """`argon2id:t,m,p`; None for anything else, and for a harmful cost."""
        if not (found := re.fullmatch(r"argon2id:(\d{1,2}),(\d{1,7}),(\d{1,2})", text, re.ASCII)):
            return None
        kdf = cls(*map(int, found.groups()))
        fine = 1 <= kdf.time <= 16 and 1 <= kdf.lanes <= 16 and 8 * kdf.lanes <= kdf.memory <= 1024 * 1024
        return kdf if fine else None

    def __str__(self) -> str:
        return f"argon2id:{self.time},{self.memory},{self.lanes}"

    def stretch(self, passphrase: str, salt: bytes) -> bytes:
        text = unicodedata.normalize("NFKC", passphrase).encode("utf-8", "surrogatepass")
        return hash_secret_raw(text, salt, self.time, self.memory, self.lanes, 32, Type.ID)


class OperatorKeys(Confidential, Struct, frozen=True):
    HIDDEN = ("seal_key",)

    operator: str
    key: SigningKey
    seal_key: bytes

    @property
    def key_id(self) -> str:
        return self.key.key_id

    def sign(self, statement: str) -> str:
        return self.key.sign(statement.encode())


def enrol(
    name: str,
    passphrase: str,
    seal_key: bytes | None,
    *,
    now: float,
    by: str,
    roles: Iterable[str] = (),
    teams: Iterable[str] = (),
    service: bool = False,
    kdf: Kdf | None = None,
) -> tuple[OperatorRow, bytes]:
    """A sealed row for a new operator, or for one with a new passphrase; makes the seal key for the first of all."""
    named = operator_name(name)
    if problem := passphrase_problem(passphrase, named):
        raise EnrolError(problem)
    seal_key = secrets.token_bytes(SEAL_KEY_BYTES) if seal_key is None else seal_key
    if len(seal_key) != SEAL_KEY_BYTES:
        raise EnrolError(f"seal key: expected {SEAL_KEY_BYTES} bytes, got {len(seal_key)}")
    cost, salt = kdf or Kdf(), secrets.token_bytes(_SALT_BYTES)
    stretched = cost.stretch(passphrase, salt)
    key = SigningKey.of(_part(stretched, "sign"))
    row = OperatorRow(
        name=named,
        public_key=key.public_key,
        key_id=key.key_id,
        salt=salt.hex(),
        kdf=str(cost),
        wrapped="",
        roles=tuple(sorted({plain_label(role, "role") for role in roles})),
        teams=tuple(sorted({plain_label(team, "team") for team in teams})),
        service=service,
        created_at=now,
        created_by=by,
    )
    box = seal_box(_part(stretched, "wrap"), seal_key, _bound_to(row))
    return seal_row(replace(row, wrapped=box), seal_key), seal_key


def open_row(row: OperatorRow | None, passphrase: str) -> OperatorKeys:
    """Raises WrongPassphrase after the same work, whatever was wrong. None stands for an unknown name."""
    kdf, salt = Kdf.parse(row.kdf) if row else None, b""
    with suppress(ValueError):
        salt = bytes.fromhex(row.salt) if row else b""
    fit = kdf is not None and len(salt) == _SALT_BYTES and len(passphrase) <= MAX_PASSPHRASE
    cost, salt = (kdf, salt) if fit and kdf else (Kdf(), bytes(_SALT_BYTES))
    stretched = cost.stretch(passphrase[:MAX_PASSPHRASE], salt)
    key = SigningKey.of(_part(stretched, "sign"))
    if row is None or not fit or row.disabled_at or key.public_key != row.public_key:
        raise WrongPassphrase
    if (seal_key := open_box(_part(stretched, "wrap"), row.wrapped, _bound_to(row))) is None:
        raise WrongPassphrase
    return OperatorKeys(row.name, key, seal_key)


def operator_name(name: str) -> str:
    named = plain_label(name, "name")
    if named in _WORDS.reserved:
        raise EnrolError(f"name {named!r} is reserved")
    return named


def passphrase_problem(passphrase: str, name: str) -> str | None:
    if len(passphrase) < MIN_PASSPHRASE:
        return f"the passphrase is too short: expected {MIN_PASSPHRASE} characters or more, got {len(passphrase)}"
    if len(passphrase) > MAX_PASSPHRASE:
        return f"the passphrase is too long: expected no more than {MAX_PASSPHRASE} characters"
    folded = normal_name(passphrase)
    if len(set(folded)) < 4 or any(folded in run * 2 for run in _RUNS):
        return "the passphrase is too simple: a run or a repetition is guessed first"
    own = {_letters(name), _letters(name.partition("@")[0])} - {""}
    stems = {_letters(folded), _letters(folded.strip(_AROUND).translate(_LEET))} - {""}
    if any(stem.replace(word, "") == "" for stem in stems for word in _WORDS.trivial | own):
        return "the passphrase is too simple: the name, or a word like 'password', is guessed first"
    return None


def _letters(text: str) -> str:
    return "".join(char for char in text if char.isalpha())


def plain_label(text: str, what: str) -> str:
    """A name, role or team as it is compared; raises EnrolError for what is no plain word."""
    named = normal_name(text)
    fits = 1 <= len(named) <= 64 and named[0].isalnum() and all(c.isalnum() or c in "._@+-" for c in named)
    if not fits or any(map(leaves_no_mark, text.strip())):
        expected = "expected up to 64 letters, digits or . _ @ + -, a letter or digit first"
        raise EnrolError(f"{what} {text!r:.80}: {expected}")
    return named


def _part(stretched: bytes, purpose: str) -> bytes:
    """A key for one purpose: signing and wrapping must not share one."""
    return hmac.new(stretched, b"interlock operator key\0" + purpose.encode(), hashlib.sha256).digest()


def _bound_to(row: OperatorRow) -> bytes:
    """A wrapped key opens only in the row that it was made for."""
    return json.dumps([row.name, row.key_id, row.public_key, row.salt, row.kdf]).encode()
