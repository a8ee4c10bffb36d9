"""Trust levels of adapters and servers: raised by operators one step at a time, sealed and on record (TL-01, TL-03, TL-06)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict, replace

from interlock.adapters.trust import (
    Certification,
    TrustError,
    TrustRecord,
    TrustStep,
    demote,
    promote,
    revalidate,
    revalidation_due,
    settle_expired,
)
from interlock.canonical_json import canonical_json, json_table, parse_canonical
from interlock.error_codes import AnswerRefused, NotFound
from interlock.identity.operators import require_admin
from interlock.identity.sessions import OperatorSession
from interlock.model import TRUSTS, Trust
from interlock.ports import StoreEvent, Tx
from interlock.records import AuditQuery
from interlock.runtime.adapters import LoadedAdapter, TrustEntry, trust_seal
from interlock.runtime.state import State
from interlock.times import iso

if TYPE_CHECKING:
    from interlock.runtime.servers import ServerClaim

SETTING = "adapter.trust:"
EVENT = "adapter_trust"
BY_TIME = "interlock"
_MOST = 10_000  # records
_STEP = 0.001  # seconds


def begin(state: State) -> None:
    """Follows later changes of a shared store."""

    def mark_stale(id: str) -> None:
        if id == StoreEvent.SETTING or id.startswith(f"{StoreEvent.SETTING}{SETTING}"):
            state.adapters.stale = True

    if state.shared:
        state.store.listen(mark_stale)
    if state.adapters.loaded:
        refresh_trust(state)


def is_known(state: State, server: ServerClaim | None) -> bool:
    return not state.adapters.stale and (server is None or state.adapters.knows(server.loaded))


def ensure_known(state: State, server: ServerClaim | None) -> None:
    """Loads trust where it is missing or stale; raises StoreError."""
    if server is not None:
        with state.lock:
            state.adapters.meet(server.loaded)
    if state.adapters.stale:
        refresh_trust(state)


def known_adapters(state: State) -> list[LoadedAdapter]:
    """Every adapter and met server, at its current trust; raises StoreError."""
    ensure_known(state, None)
    return [loaded for name in state.adapters.names for loaded in state.adapters.found(name)]


def refresh_trust(state: State) -> None:
    """Raises StoreError."""
    state.adapters.stale = False
    try:
        state.store.read(lambda tx: _load(state, tx))
    except BaseException:
        state.adapters.stale = True
        raise


def change_trust(state: State, by: OperatorSession, name: str, to: Trust, reason: str, mark: str = "") -> LoadedAdapter:
    """Up one step by an admin after a fresh sign-in, down any number by any operator."""
    loaded = find_adapter(state, name, mark)
    now = state.clock.now()

    def work(tx: Tx) -> TrustEntry:
        if state.shared:
            _load(state, tx)
        before = _record(state, loaded, now)
        if to > before.level:
            require_admin(state, by)
        try:
            after = _change_level(before, to, by.operator, now, reason, loaded)
        except TrustError as error:
            raise AnswerRefused(str(error), "VALIDATION_INVALID_VALUE") from None
        return _save(state, tx, loaded, after, by.operator)

    _remember(state, name, state.store.write(work))
    standing = state.adapters.standing_of(loaded, now)
    state.tell(EVENT, None, f"{by.operator} made {loaded.kind} {name} {standing.trust.word}: {reason}")
    return loaded


def find_adapter(state: State, name: str, mark: str = "") -> LoadedAdapter:
    """Refuses a name that several servers share."""
    found = [one for one in state.adapters.found(name) if one.mark.startswith(mark)]
    if not found:
        known = ", ".join(sorted(state.adapters.names)) or "none"
        lead = f"no adapter {name!r} is loaded, and no proxy has reported a server of that name"
        raise NotFound(f"{lead}; known: {known}")
    if len(found) > 1:
        each = "; ".join(f"--mark {one.mark[:8]}: {one.path}" for one in found)
        words = f"{len(found)} servers go by the name {name!r}: say which ({each})"
        raise AnswerRefused(words, "VALIDATION_INVALID_VALUE")
    return found[0]


def review_due(state: State, loaded: LoadedAdapter) -> dict[str, Any]:
    """TL-04: and whether that date has passed."""
    kept = _proved(state, loaded.adapter.name)
    due = revalidation_due(kept.record if kept is not None and kept.mark == loaded.mark else loaded.adapter.trust)
    return {} if due is None else {"revalidate_by": iso(due), "overdue": state.clock.now() >= due}


def _proved(state: State, name: str) -> TrustEntry | None:
    kept = state.adapters.kept.get(name)
    return kept if kept is not None and kept.proved(state.sessions.seal_key()) else None


def settle_trust(state: State) -> int:
    """Records expired certifications as demotions and returns how many; without a signed-in operator there is no key to seal with."""
    now, ended = state.clock.now(), 0
    for name in list(state.adapters.kept):
        kept, own = _proved(state, name), state.adapters.loaded.get(name)
        loaded = next((one for one in state.adapters.found(name) if kept is not None and one.mark == kept.mark), own)
        if kept is None or loaded is None:
            continue
        after = settle_expired(kept.record, now, BY_TIME)
        if after != kept.record:
            _remember(state, name, state.store.write(lambda tx: _save(state, tx, loaded, after, BY_TIME)))  # noqa: B023
            state.tell(EVENT, None, f"{loaded.kind} {name} is {after.level.word}: {after.history[-1].reason}")
            ended += 1
    return ended


def _change_level(
    before: TrustRecord, to: Trust, by: str, now: float, reason: str, loaded: LoadedAdapter
) -> TrustRecord:
    if to < before.level:
        return demote(before, to, by, now, reason)
    if to is before.level:
        return revalidate(before, by, now, reason)
    certification = loaded.adapter.trust.certification if to is Trust.CERTIFIED else None
    if certification is None and to is Trust.CERTIFIED:
        raise TrustError("certified takes a certification in the adapter's file, with its authority and signature")
    return promote(before, to, by, now, reason, certification)


def _record(state: State, loaded: LoadedAdapter, now: float) -> TrustRecord:
    """The sealed trust record, lowered to the trust in force; a fresh one where no seal can be proved."""
    kept, standing = _proved(state, loaded.adapter.name), state.adapters.standing_of(loaded, now)
    if kept is None:
        return replace(loaded.adapter.trust, level=standing.trust, history=(), certification=None, promoted_from=None)
    if standing.trust < kept.record.level:
        return demote(kept.record, standing.trust, BY_TIME, now, standing.why)
    return kept.record


def _save(state: State, tx: Tx, loaded: LoadedAdapter, record: TrustRecord, by: str) -> TrustEntry:
    name, last = loaded.adapter.name, record.history[-1]
    before = state.adapters.kept.get(name)
    recorded = state.adapters.recorded.get(name, (0.0,))[0]
    at = max(state.clock.now(), recorded + _STEP, before.at + _STEP if before else 0.0)
    key = state.sessions.seal_key()
    if key is None:
        raise AnswerRefused("nobody has unlocked this daemon: an operator runs `interlock unlock`")
    text = canonical_json({"adapter": name, "file": loaded.mark, "at": repr(at), "trust": _json(record)})
    kept = TrustEntry(record, loaded.mark, at, text, trust_seal(text, key))
    tx.save_setting(f"{SETTING}{name}", json.dumps({"text": text, "seal": kept.seal}))
    change = {"from": last.before.word, "to": last.after.word, "reason": last.reason}
    state.recorder.event(tx, EVENT, by, {"adapter": name, **change, "file": loaded.mark, "order": repr(at)})
    return kept


def _remember(state: State, name: str, kept: TrustEntry) -> None:
    with state.lock:
        state.adapters.kept[name] = kept
        state.adapters.recorded[name] = (kept.at, kept.record.level)


def _load(state: State, tx: Tx) -> None:
    adapters = state.adapters
    for row in tx.audit(AuditQuery(event=EVENT, limit=_MOST)):  # the oldest first
        said = json_table(row.body)
        name, level, at = str(said.get("adapter")), TRUSTS.get(str(said.get("to"))), 0.0
        with suppress(ValueError):
            at = float(str(said.get("order")))
        if level is not None and at >= adapters.recorded.get(name, (0.0,))[0]:
            adapters.recorded[name] = (at, level)
    for name in adapters.names:
        text = tx.setting(f"{SETTING}{name}")
        kept = _parse_entry(name, text) if text else None
        if kept is not None:
            adapters.kept[name] = kept
            continue
        adapters.kept.pop(name, None)
        if text:
            state.trouble(f"the trust entry of adapter {name!r} cannot be read and is ignored", "altered")


def _parse_entry(name: str, text: str) -> TrustEntry | None:
    try:
        whole = json.loads(text)
        body = parse_canonical(whole["text"])
        if body["adapter"] != name:
            return None
        return TrustEntry(_of(body["trust"]), str(body["file"]), float(body["at"]), whole["text"], str(whole["seal"]))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _json(record: TrustRecord) -> dict[str, Any]:
    found, before = record.certification, record.promoted_from
    return asdict(record) | {
        "certification": {**asdict(found), "scope": list(found.scope)} if found is not None else None,
        "level": record.level.word,
        "promoted_from": before.word if before is not None else None,
        "history": [[one.before.word, one.after.word, one.at, one.by, one.reason] for one in record.history],
    }


def _of(data: Mapping[str, Any]) -> TrustRecord:
    certification, before = data["certification"], data["promoted_from"]
    if certification is not None:
        certification = Certification(**{**certification, "scope": tuple(certification["scope"])})
    return TrustRecord(
        TRUSTS[data["level"]],
        **{name: data[name] for name in ("generated_at", "generated_by", "validated_at", "validated_by")},
        promoted_from=TRUSTS[before] if before is not None else None,
        history=tuple(TrustStep(TRUSTS[a], TRUSTS[b], float(at), by, why) for a, b, at, by, why in data["history"]),
        certification=certification,
    )
