"""Manages passkeys and authenticators: sealed rows, a waiting period for unvouched ones, no silent removal of the last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from interlock.canonical_json import normal_name
from interlock.error_codes import AnswerRefused, NotFound
from interlock.identity.keys.roster import CREDENTIALS_SETTING, PASSKEY, TOTP, StoredRoster, credentials_seal, seal_row
from interlock.identity.session_shelf import LOCKED
from interlock.identity.sessions import SignInRefused
from interlock.identity.visitors import PASSPHRASE, SET_UP, Visitor
from interlock.ports import Tx
from interlock.records import Credential
from interlock.runtime.state import State

WAIT_SECONDS = 24 * 3600.0  # until a credential counts that no older one vouches for
MOST = 20  # of one operator
MOST_NAME = 60


def seal_key_of(state: State) -> bytes:
    if (key := state.sessions.seal_key()) is None or state.sessions.roster is None:
        raise SignInRefused(LOCKED)
    return key


def all_credentials(state: State) -> tuple[Credential, ...]:
    """Removed ones too; none while the daemon is locked."""
    return state.sessions.roster.credentials if state.sessions.roster else ()


def credentials_of(state: State, operator: str) -> list[Credential]:
    """Without the removed ones; the last use is the store's."""
    rows = {row.id: row for row in state.store.read(lambda tx: tx.credentials(operator))}
    return [replace(one, used_at=rows[one.id].used_at) if one.id in rows else one for one in _own(state, operator)]


def active_credentials(state: State, operator: str, kind: str = "") -> list[Credential]:
    now = state.clock.now()
    return [one for one in _own(state, operator) if one.active_at <= now and kind in ("", one.kind)]


def _own(state: State, operator: str) -> list[Credential]:
    return [one for one in all_credentials(state) if one.operator == operator and not one.removed_at]


def effective_from(state: State, visitor: Visitor) -> float:
    """When a new credential counts: at once for the first, and where an older one vouches; else after a day.

    Refuses a browser that could have used an older one and did not.
    """
    now, kinds = state.clock.now(), {one.kind for one in active_credentials(state, visitor.operator)}
    if not kinds:
        return now
    if visitor.how == SET_UP or (visitor.how == PASSPHRASE and PASSKEY in kinds):
        return now + WAIT_SECONDS
    if not visitor.fresh(now):
        raise AnswerRefused("confirm with one of your older credentials first")
    return now


def register(
    state: State, visitor: Visitor, id: str, kind: str, public: dict[str, Any], counter: int, name: str
) -> Credential:
    how = "by a set-up link" if visitor.how == SET_UP else f"by somebody signed in with a {visitor.how}"
    row = Credential(
        id, visitor.operator, kind, public, state.clock.now(), counter=counter, name=name, how=how, source=visitor.source,
        active_at=effective_from(state, visitor),
    )  # fmt: skip
    return add(state, visitor, row)


def add(state: State, visitor: Visitor, row: Credential) -> Credential:
    """Notifies every channel of one that waits. A new authenticator replaces the old one when it counts."""
    seal_key, now = seal_key_of(state), state.clock.now()

    def work(tx: Tx) -> Credential:
        rows = StoredRoster.of(tx).verified(seal_key).credentials
        own = [one for one in rows if one.operator == row.operator and not one.removed_at]
        first = not any(one.active_at <= now for one in own)  # of two links at once, only one is
        waits = visitor.how == SET_UP and not first
        made = seal_row(replace(row, active_at=now + WAIT_SECONDS) if waits else row, seal_key)
        if any(one.id == row.id for one in rows):
            raise AnswerRefused("this passkey is registered already")
        if len(own) >= MOST:
            raise AnswerRefused(f"{row.operator} has {MOST} credentials already; remove one first")
        old = [one for one in own if made.kind == TOTP == one.kind and made.active_at <= now]
        gone = [seal_row(replace(one, removed_at=now), seal_key) for one in old]
        _save(state, tx, rows, [*gone, made], seal_key, visitor.operator)
        return made

    made = state.store.write(work)
    state.sessions.confirm_roster()
    if made.active_at > now:
        words = (
            f"A new {made.kind} {made.name!r} for operator {made.operator} was registered ({made.how}, from {made.source or 'here'})."
            " It counts in 24 hours. If that was not you, remove it in the console under Keys, and change your passphrase."
        )
        state.tell("credential", None, words)
    return made


def remove(state: State, visitor: Visitor, id: str, even_last: bool = False) -> None:
    seal_key, now = seal_key_of(state), state.clock.now()
    found = next((one for one in all_credentials(state) if one.id == id and not one.removed_at), None)
    if found is None or not (found.operator == visitor.operator or state.sessions.is_admin(visitor.operator)):
        raise NotFound("there is no such credential")
    waiting = found.active_at > now and found.operator == visitor.operator  # objecting is always possible
    if not visitor.fresh(now) and not waiting:
        raise AnswerRefused("confirm with your passkey, or passphrase and code, first")
    left = [one for one in active_credentials(state, found.operator) if one.id != id]
    if not left and not waiting and not even_last:
        raise AnswerRefused(f"this is the last way into the console of {found.operator}: say so to remove it")

    def work(tx: Tx) -> None:
        rows = StoredRoster.of(tx).verified(seal_key).credentials
        gone = seal_row(replace(found, removed_at=now), seal_key)
        _save(state, tx, rows, [gone], seal_key, visitor.operator)

    state.store.write(work)
    state.sessions.confirm_roster()


def use(state: State, tx: Tx, row: Credential, counter: int) -> None:
    """Refuses where another use came first, or the row was set back while this process runs."""
    if (kept := _stored(tx, row)) is None or not tx.use_credential(row.id, kept.counter, counter, state.clock.now()):
        raise AnswerRefused("it was used elsewhere just now; try again")
    with state.lock:
        state.visitors.counters[row.id] = max(counter, state.visitors.counters.get(row.id, 0))


def _stored(tx: Tx, row: Credential) -> Credential | None:
    return next((one for one in tx.credentials(row.operator) if one.id == row.id), None)


def with_latest_counter(state: State, tx: Tx, row: Credential) -> Credential:
    kept = _stored(tx, row) or row
    return replace(row, counter=max(kept.counter, state.visitors.counters.get(row.id, 0)))


def enrolments(state: State) -> list[dict[str, Any]]:
    found = [
        {"operator": row.name, "kind": "service" if row.service else "operator", "name": "", "at": row.created_at,
         "how": f"enrolled by {row.created_by}" if row.created_by else "enrolled", "source": "", "disabled": bool(row.disabled_at)}
        for row in state.store.read(lambda tx: tx.operators())
    ]  # fmt: skip
    found += [
        {"operator": one.operator, "kind": one.kind, "name": one.name, "at": one.created_at, "how": one.how, "source": one.source,
         "disabled": bool(one.removed_at)}
        for one in all_credentials(state)
    ]  # fmt: skip
    return sorted(found, key=lambda one: -float(one["at"]))


def label(name: str, default: str) -> str:
    words = " ".join("".join(char for char in name if char.isprintable()).split())
    return words[:MOST_NAME] or default


def _save(
    state: State, tx: Tx, rows: Sequence[Credential], changed: Iterable[Credential], seal_key: bytes, by: str
) -> None:
    after = {row.id: row for row in rows}
    for row in changed:
        after[row.id] = replace(row, counter=after.get(row.id, row).counter)
        tx.save_credential(after[row.id])
        details = {
            "operator": normal_name(row.operator), "kind": row.kind, "name": row.name, "how": row.how, "source": row.source,
            "what": "removed" if row.removed_at else "registered", "active_at": row.active_at,
        }  # fmt: skip
        state.recorder.event(tx, "credential_change", by, details)
    tx.save_setting(CREDENTIALS_SETTING, credentials_seal(after.values(), seal_key))
    state.sessions.take_roster(tx)
