"""Who vouches for an adapter: the five levels of trust, how one is gained, lost and outlived. Times are in seconds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from types import MappingProxyType
from typing import Any


class Trust(IntEnum):
    """TL-01, lowest first."""

    UNTESTED = 0
    GENERATED = 1
    VALIDATED = 2
    COMMUNITY_REVIEWED = 3
    CERTIFIED = 4

    @property
    def word(self) -> str:
        return self.name.lower()


TRUSTS = MappingProxyType({trust.word: trust for trust in Trust})
# TL-04: how long a look counts. What is generated is looked at with every use: its file is compared with the one that was loaded.
LOOKS = MappingProxyType({Trust.VALIDATED: 7 * 86_400.0, Trust.COMMUNITY_REVIEWED: 30 * 86_400.0})
CLAIMED = Trust.VALIDATED  # what a file says of itself counts up to here; beyond it an operator has to say so


class TrustError(ValueError):
    """A step that trust cannot take; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Change:
    """One step up, or any number down: who made it, when and why."""

    before: Trust
    after: Trust
    at: float
    by: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Certification:
    """An authority's word for an adapter, for as long as it lasts."""

    authority: str
    certificate_id: str = ""
    signature: str = ""
    issued_at: float | None = None
    expires_at: float | None = None
    scope: tuple[str, ...] = ()

    def expired(self, now: float) -> bool:
        return self.expires_at is not None and now >= self.expires_at


@dataclass(frozen=True, slots=True)
class TrustRecord:
    """What is known about an adapter's trust (TL-07)."""

    level: Trust = Trust.UNTESTED
    generated_at: float | None = None
    generated_by: str = ""
    validated_at: float | None = None
    validated_by: str = ""
    validation_report: MappingProxyType[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    promoted_from: Trust | None = None
    history: tuple[Change, ...] = ()
    certification: Certification | None = None


def promote(
    record: TrustRecord, to: Trust, by: str, at: float, reason: str, certification: Certification | None = None
) -> TrustRecord:
    """The record one step higher; refuses a skipped step, a nameless or reasonless one, and an unsigned certificate."""
    _named(by, reason)
    if to != record.level + 1:
        way = "is no promotion" if to <= record.level else "skips a level"
        raise TrustError(f"{record.level.word} -> {to.word} {way}; trust rises by one step")
    if to is Trust.CERTIFIED:
        if certification is None or not certification.authority or not certification.signature:
            raise TrustError("certified needs a certification with its authority and signature")
        if certification.expired(at):
            raise TrustError("the certification has expired")
    elif certification is not None:
        raise TrustError(f"{to.word} takes no certification")
    changed = _moved(record, to, by, at, reason)
    stamps: dict[str, Any] = {}
    if to is Trust.GENERATED:
        stamps = {"generated_at": at, "generated_by": by}
    elif to is Trust.VALIDATED:
        stamps = {"validated_at": at, "validated_by": by}
    return replace(changed, promoted_from=record.level, certification=certification, **stamps)


def demote(record: TrustRecord, to: Trust, by: str, at: float, reason: str) -> TrustRecord:
    """The record at a lower level, with the step written down; when it was last validated is kept (TL-03)."""
    _named(by, reason)
    if to >= record.level:
        raise TrustError(f"{record.level.word} -> {to.word} is no demotion")
    return replace(_moved(record, to, by, at, reason), certification=None)


def looked_at(record: TrustRecord, by: str, at: float, reason: str) -> TrustRecord:
    """The record at the same level after another look (TL-04); refuses what was never validated."""
    _named(by, reason)
    if record.level < Trust.VALIDATED:
        raise TrustError(f"{record.level.word} -> {record.level.word} is no promotion; trust rises by one step")
    return replace(_moved(record, record.level, by, at, reason), validated_at=at, validated_by=by)


def look_due(record: TrustRecord) -> float | None:
    """TL-04: by when somebody should look again: after a week, a month, or with the certification; None where nothing says when."""
    if record.level is Trust.CERTIFIED:
        return record.certification.expires_at if record.certification is not None else None
    times = [record.validated_at, *(one.at for one in record.history if one.after is record.level)]
    last = max((at for at in times if at is not None), default=None)
    return last + LOOKS[record.level] if last is not None and record.level in LOOKS else None


def current(record: TrustRecord, now: float) -> tuple[Trust, str]:
    """The trust that counts at `now`, and why it is less than the record says."""
    if record.level is not Trust.CERTIFIED:
        return record.level, ""
    if record.certification is None:
        return Trust.COMMUNITY_REVIEWED, "certified without a certification"
    if record.certification.expired(now):
        return Trust.COMMUNITY_REVIEWED, "the certification has expired"
    return record.level, ""


def settle(record: TrustRecord, now: float, by: str) -> TrustRecord:
    """The record with an expired certification written down as a demotion; unchanged if nothing expired."""
    trust, reason = current(record, now)
    return record if trust is record.level else demote(record, trust, by, now, reason)


def _moved(record: TrustRecord, to: Trust, by: str, at: float, reason: str) -> TrustRecord:
    change = Change(record.level, to, at, by, reason)
    return replace(record, level=to, history=(*record.history, change))


def _named(by: str, reason: str) -> None:
    for what, text in (("by", by), ("reason", reason)):
        if not text.strip():
            raise TrustError(f"{what} is empty: a change of trust says who made it and why")
