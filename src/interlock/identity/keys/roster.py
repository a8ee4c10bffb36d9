"""Seals operators and their credentials, row by row and as lists; a row added, altered or put back from outside is refused."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

from interlock.approvals.statements import RosterEntry
from interlock.error_codes import AnswerRefused
from interlock.identity.keys.signing import key_id, open_box, seal_box, verify_signature
from interlock.identity.passkey_proofs import PREFIX
from interlock.identity.passkey_proofs import key_id as passkey_id
from interlock.model import Confidential
from interlock.ports import Tx
from interlock.records import Credential, OperatorRow

CREDENTIALS_SETTING = "credentials_seal"  # the setting that keeps the seal of the list
PASSKEY, TOTP = "passkey", "totp"
_UNSEALED = frozenset({"seal", "counter", "used_at"})
R = TypeVar("R", OperatorRow, Credential)


def seal_row(row: R, seal_key: bytes) -> R:
    """Except for counter and last use; after every change, the row and its list are to be sealed again."""
    purpose = "operator" if isinstance(row, OperatorRow) else "credential"
    return replace(row, seal=_mac(seal_key, purpose, _canonical(row)))


def credentials_seal(rows: Iterable[Credential], seal_key: bytes) -> str:
    return _mac(seal_key, "credentials", json.dumps(sorted(row.seal for row in rows)))


def credential_problems(rows: Iterable[Credential], seal_key: bytes, listed: str | None) -> tuple[str, ...]:
    kept = tuple(rows)
    found = [
        f"operator {row.operator!r:.80}: a {row.kind!r:.20} was added or altered outside Interlock"
        for row in kept
        if not _same(seal_row(row, seal_key).seal, row.seal)
    ]
    if found or (not kept and listed is None):
        return tuple(found)
    if listed is None or not _same(credentials_seal(kept, seal_key), listed):
        return ("the sealed list of passkeys does not match: one was removed, or an older one was put back",)
    return ()


def wrap_secret(secret: str, operator: str, id: str, seal_key: bytes) -> str:
    """Only an unlocked daemon can decrypt it."""
    return seal_box(_wrapping_key(seal_key), secret.encode(), _bound(operator, id))


def unwrap_secret(box: str, operator: str, id: str, seal_key: bytes) -> str:
    return (open_box(_wrapping_key(seal_key), box, _bound(operator, id)) or b"").decode()


def _wrapping_key(seal_key: bytes) -> bytes:
    return hmac.new(seal_key, b"interlock wrap totp", hashlib.sha256).digest()


def _bound(operator: str, id: str) -> bytes:
    return json.dumps([operator, id]).encode()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "replace"))


def _mac(seal_key: bytes, purpose: str, text: str) -> str:
    return hmac.new(seal_key, f"interlock {purpose}\0{text}".encode(), hashlib.sha256).hexdigest()


ROSTER_SETTING = "roster_seal"  # the setting with the seal of the list


class RosterError(AnswerRefused):
    """No approval counts until the change is resolved."""

    def __init__(self, problems: Iterable[str]) -> None:
        super().__init__(f"the operators were changed behind Interlock's back: {'; '.join(problems)}")


class StoredRoster(Struct, frozen=True):
    rows: Sequence[OperatorRow]
    listed: str | None  # the setting `roster_seal`
    credentials: Sequence[Credential] = ()  # the removed ones too
    credentials_listed: str | None = None

    @classmethod
    def of(cls, tx: Tx) -> StoredRoster:
        return cls(tx.operators(), tx.setting(ROSTER_SETTING), tx.all_credentials(), tx.setting(CREDENTIALS_SETTING))

    @property
    def digest(self) -> tuple[str, str]:
        """Pinned in memory, it detects any change without the seal key."""
        return _digest(self.rows), _digest(self.credentials)

    def verified(self, seal_key: bytes) -> StoredRoster:
        wrong = problems(self.rows, seal_key, self.listed)
        wrong = wrong or credential_problems(self.credentials, seal_key, self.credentials_listed)
        if wrong:
            raise RosterError(wrong)
        return self


class Roster(Confidential, Struct, frozen=True):
    HIDDEN = ("_public", "_now")

    people: Mapping[str, RosterEntry]
    digest: tuple[str, str]
    _public: Mapping[str, str]  # key id -> hex
    credentials: tuple[Credential, ...]
    _now: Callable[[], float]

    @classmethod
    def load(cls, stored: StoredRoster, seal_key: bytes, now: Callable[[], float] = lambda: math.inf) -> Roster:
        rows, ways = stored.verified(seal_key).rows, tuple(stored.credentials)
        people = {row.name: _person(row, ways) for row in rows}
        public = {row.key_id: row.public_key for row in rows}
        return cls(MappingProxyType(people), stored.digest, MappingProxyType(public), ways, now)

    def verify(self, key: str, data: bytes, signature: str) -> bool:
        if key.startswith(PREFIX):
            from interlock.identity.keys.webauthn import signed_by

            if (passkey := self.passkey(key)) is None or passkey.removed_at or passkey.active_at > self._now():
                return False
            return signed_by(passkey, data, signature)
        public = self._public.get(key)
        return public is not None and verify_signature(public, data, signature)

    def holds(self, operator: str, key: str) -> bool:
        person = self.people.get(operator)
        return person is not None and not person.disabled and key in person.keys

    def passkey(self, key: str) -> Credential | None:
        """Also one that was removed."""
        return next((one for one in self.credentials if one.kind == PASSKEY and passkey_id(one.id) == key), None)


def roster_seal(rows: Iterable[OperatorRow], seal_key: bytes) -> str:
    kept = sorted(rows, key=lambda row: row.name)
    names = [row.name for row in kept]
    mac = _mac(seal_key, "roster", json.dumps([names, sorted(row.seal for row in kept)]))
    return json.dumps({"names": names, "seal": mac}, sort_keys=True, separators=(",", ":"))


def _digest(rows: Iterable[OperatorRow | Credential]) -> str:
    texts = sorted(json.dumps([_canonical(row), row.seal]) for row in rows)
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def problems(rows: Iterable[OperatorRow], seal_key: bytes, listed: str | None) -> tuple[str, ...]:
    """Changes made outside the operator commands; each names the row."""
    if not (kept := tuple(rows)):
        return ("there is no operator",)
    names = Counter(row.name for row in kept)
    keys = Counter(row.key_id for row in kept)
    found = []
    for row in kept:
        if not _same(seal_row(row, seal_key).seal, row.seal):
            found.append(f"operator {row.name!r:.80}: this row was added or altered outside the operator commands")
        elif row.key_id != key_id(row.public_key):
            found.append(f"operator {row.name!r:.80}: the key id belongs to another key")
    found += [f"operator {name!r:.80}: {count} rows" for name, count in names.items() if count > 1]
    found += [f"key {key!r:.80}: {count} operators have it" for key, count in keys.items() if count > 1]
    return tuple(found) or _list_problems(kept, seal_key, listed)


def _list_problems(rows: tuple[OperatorRow, ...], seal_key: bytes, listed: str | None) -> tuple[str, ...]:
    if listed is None:
        return (f"the sealed list of operators is missing (setting {ROSTER_SETTING})",)
    if _same(roster_seal(rows, seal_key), listed):
        return ()
    here, before = {row.name for row in rows}, set[str]()
    with suppress(ValueError, KeyError, TypeError, RecursionError):  # unverified, to report missing ones
        before = {name for name in json.loads(listed)["names"] if isinstance(name, str)}
    found = [f"operator {name!r:.80}: the row is missing" for name in sorted(before - here)]
    found += [f"operator {name!r:.80}: not on the sealed list" for name in sorted(here - before)]
    return tuple(found) or ("the sealed list of operators does not match: an older row or list was put back",)


def _person(row: OperatorRow, credentials: Iterable[Credential]) -> RosterEntry:
    own = (one for one in credentials if one.operator == row.name and one.kind == PASSKEY and not one.removed_at)
    return RosterEntry(
        name=row.name,
        keys=frozenset({row.key_id, *(passkey_id(one.id) for one in own)}),
        roles=frozenset(row.roles),
        teams=frozenset(row.teams),
        service=row.service,
        disabled=bool(row.disabled_at),
    )


def _canonical(row: OperatorRow | Credential) -> str:
    """Times in milliseconds, which every store preserves."""
    whole = {name: value for name, value in asdict(row).items() if name not in _UNSEALED}
    whole |= {name: f"{value:.3f}" for name, value in whole.items() if name.endswith("_at")}
    whole |= {name: sorted(value) for name, value in whole.items() if isinstance(value, tuple)}
    return json.dumps(whole, sort_keys=True, separators=(",", ":"), default=dict)
