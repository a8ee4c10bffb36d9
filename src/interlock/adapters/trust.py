"""The five trust levels of an adapter: how one is read, gained, lost and expires; an unknown or inconsistent block is untested (TL-05)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.packs import own_words
from interlock.model import TRUSTS, Trust
from interlock.problems import WrittenTable, describe_value

# TL-04: how long a validation counts. A generated adapter is checked with every use: its file is compared with the loaded one.
REVALIDATION_PERIODS = {Trust.VALIDATED: 7 * 86_400.0, Trust.COMMUNITY_REVIEWED: 30 * 86_400.0}
HIGHEST_CLAIM = Trust.VALIDATED  # of a file about itself; beyond it an operator has to promote it
CLAIMS = tuple(word for word, trust in TRUSTS.items() if trust <= HIGHEST_CLAIM)


class TrustError(ValueError):
    """A refused change of trust; the message names it and the reason."""


class TrustStep(Struct, frozen=True):
    before: Trust
    after: Trust
    at: float
    by: str
    reason: str = ""


class Certification(Struct, frozen=True):
    authority: str
    certificate_id: str = ""
    signature: str = ""
    issued_at: float | None = None
    expires_at: float | None = None
    scope: tuple[str, ...] = ()

    def expired(self, now: float) -> bool:
        return self.expires_at is not None and now >= self.expires_at


class TrustRecord(Struct, frozen=True):
    """What is known about an adapter's trust (TL-07)."""

    level: Trust = Trust.UNTESTED
    generated_at: float | None = None
    generated_by: str = ""
    validated_at: float | None = None
    validated_by: str = ""
    promoted_from: Trust | None = None
    history: tuple[TrustStep, ...] = ()
    certification: Certification | None = None


def promote(
    record: TrustRecord, to: Trust, by: str, at: float, reason: str, certification: Certification | None = None
) -> TrustRecord:
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
    changed = _with_step(record, to, by, at, reason)
    stamped = to in (Trust.GENERATED, Trust.VALIDATED)
    stamps: dict[str, Any] = {f"{to.word}_at": at, f"{to.word}_by": by} if stamped else {}
    return replace(changed, promoted_from=record.level, certification=certification, **stamps)


def demote(record: TrustRecord, to: Trust, by: str, at: float, reason: str) -> TrustRecord:
    """The record at a lower level, with the step recorded; the time of the last validation stays (TL-03)."""
    if to >= record.level:
        raise TrustError(f"{record.level.word} -> {to.word} is no demotion")
    return replace(_with_step(record, to, by, at, reason), certification=None)


def revalidate(record: TrustRecord, by: str, at: float, reason: str) -> TrustRecord:
    """The record at the same level after another validation (TL-04); refuses a level below validated."""
    if record.level < Trust.VALIDATED:
        raise TrustError(f"{record.level.word} -> {record.level.word} is no promotion; trust rises by one step")
    return replace(_with_step(record, record.level, by, at, reason), validated_at=at, validated_by=by)


def revalidation_due(record: TrustRecord) -> float | None:
    """TL-04: after a week, a month, or with the certification; None where there is none."""
    if record.level is Trust.CERTIFIED:
        return record.certification.expires_at if record.certification is not None else None
    times = [record.validated_at, *(one.at for one in record.history if one.after is record.level)]
    last = max((at for at in times if at is not None), default=None)
    period = REVALIDATION_PERIODS.get(record.level)
    return None if last is None or period is None else last + period


def current_trust(record: TrustRecord, now: float) -> tuple[Trust, str]:
    """The trust that counts at `now`, and why it is less than recorded."""
    if record.level is not Trust.CERTIFIED:
        return record.level, ""
    if record.certification is None:
        return Trust.COMMUNITY_REVIEWED, "certified without a certification"
    if record.certification.expired(now):
        return Trust.COMMUNITY_REVIEWED, "the certification has expired"
    return record.level, ""


def settle_expired(record: TrustRecord, now: float, by: str) -> TrustRecord:
    trust, reason = current_trust(record, now)
    return record if trust is record.level else demote(record, trust, by, now, reason)


def _with_step(record: TrustRecord, to: Trust, by: str, at: float, reason: str) -> TrustRecord:
    for what, text in (("by", by), ("reason", reason)):
        if not text.strip():
            raise TrustError(f"{what} is empty: a change of trust needs its author and a reason")
    change = TrustStep(record.level, to, at, by, reason)
    return replace(record, level=to, history=(*record.history, change))


_WORDS = own_words("adapters/words.toml")


def read_trust(adapter: WrittenTable) -> TrustRecord:
    """The trust of an adapter: a block, a bare word, or nothing, which is untested."""
    key = "trust" if "trust" in adapter else "trust_level"
    if key not in adapter:
        adapter.warn("declares no trust: untested")
        return TrustRecord()
    if not isinstance(adapter.data[key], Mapping):
        return TrustRecord(_word(adapter, key))
    table = WrittenTable(adapter.data[key], (key,), adapter.problems)
    table.only(_WORDS.trust, error=False)
    if "level" not in table:
        table.warn("trust has no level: untested")
    errors = len(table.problems.found)
    if (report := table.inner("validation_report")) is not None:
        report.only(_WORDS.validation_report, error=False)
    record = TrustRecord(
        level=_word(table, "level") if "level" in table else Trust.UNTESTED,
        generated_at=_time(table, "generated_at"),
        generated_by=table.text("generated_by"),
        validated_at=_time(table, "validated_at"),
        validated_by=table.text("validated_by"),
        promoted_from=_word(table, "promoted_from") if table.data.get("promoted_from") is not None else None,
        history=_history(table),
        certification=_certification(table),
    )
    if record.history and record.history[-1].after is not record.level:
        last = record.history[-1].after.word
        table.error(f"level is {record.level.word}, but the history ends at {last}", "level")
    if record.level is Trust.CERTIFIED and record.certification is None:
        table.warn("certified without a certification counts as community_reviewed", "level")
    broken = any(problem.error for problem in table.problems.found[errors:])
    return TrustRecord() if broken else record


def _word(table: WrittenTable, key: str) -> Trust:
    """Any other word is untested, and none of another scale is translated (C-06)."""
    value = table.data[key]
    if isinstance(value, str) and value in TRUSTS:
        return TRUSTS[value]
    table.warn(f"no trust level {describe_value(value)}, so untested; known: {', '.join(TRUSTS)}", key)
    return Trust.UNTESTED


def _time(table: WrittenTable, key: str) -> float | None:
    """An ISO 8601 time, in seconds; one without a zone is UTC."""
    if (value := table.data.get(key)) is None:
        return None
    try:
        at = datetime.fromisoformat(str(value))
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        table.error(f"{key}: expected a time such as 2026-01-28T12:05:00Z, got {describe_value(value)}", key)
        return None


def _history(trust: WrittenTable) -> tuple[TrustStep, ...]:
    found: list[TrustStep] = []
    if trust.data.get("promotion_history") in (None, []):
        return ()
    for table in trust.tables("promotion_history"):
        table.only(("from", "to", "at", "by", "reason"), error=False)
        if (change := _change(table)) is None:
            continue
        if change.after > change.before + 1:
            table.error(f"{change.before.word} -> {change.after.word} skips a level")
        if found and change.before is not found[-1].after:
            table.error(f"starts from {change.before.word}, but the last step ended at {found[-1].after.word}")
        if found and change.at < found[-1].at:
            table.error("is earlier than the step before it", "at")
        found.append(change)
    return tuple(found)


def _change(table: WrittenTable) -> TrustStep | None:
    ends = []
    for key in ("from", "to"):
        value = table.data.get(key)
        if isinstance(value, str) and value in TRUSTS:
            ends.append(TRUSTS[value])
        else:
            table.error(f"{key}: expected a trust level, got {describe_value(value)}", key)
    when = _time(table, "at")
    if "at" not in table:
        table.error("at is missing")
    by, reason = table.text("by", required=True), table.text("reason")
    return TrustStep(ends[0], ends[1], when, by, reason) if len(ends) == 2 and when is not None else None


def _certification(trust: WrittenTable) -> Certification | None:
    if (table := trust.inner("certification")) is None:
        return None
    table.only(Certification.__struct_fields__, error=False)
    if "expires_at" not in table:
        table.warn("the certification never expires")
    return Certification(
        authority=table.text("authority", required=True),
        certificate_id=table.text("certificate_id"),
        signature=table.text("signature", required=True),
        issued_at=_time(table, "issued_at"),
        expires_at=_time(table, "expires_at"),
        scope=table.texts("scope"),
    )
