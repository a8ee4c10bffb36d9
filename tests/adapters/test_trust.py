"""Trust rises one step at a time and in writing; the matrix is the published one, with a floor under it."""

from __future__ import annotations

import pytest

from cases import each
from interlock.adapters.trust import (
    REVALIDATION_PERIODS,
    Certification,
    TrustError,
    TrustRecord,
    current_trust,
    demote,
    promote,
    revalidate,
    revalidation_due,
    settle_expired,
)
from interlock.model import Level, Trust
from interlock.policy.trust_matrix import (
    AdapterCall,
    TrustPolicy,
    category_minimum,
    gate,
    minimum_trust_required,
    passage,
)

SAFE, REVERSIBLE, DESTRUCTIVE, DANGEROUS, FORBIDDEN = Level
UNTESTED, GENERATED, VALIDATED, REVIEWED, CERTIFIED = Trust
DAY = 86_400.0
CERTIFICATE = Certification("ACME", "c-1", "sig", issued_at=0, expires_at=30 * DAY)

SPEC = """
safe        introspect_only allow allow   allow   allow
reversible  deny            deny  allow   allow   allow
destructive deny            deny  confirm allow   allow
dangerous   deny            deny  deny    confirm allow
forbidden   deny            deny  deny    deny    confirm
"""
FLOOR = """
safe        introspect_only allow allow   allow   allow
reversible  deny            deny  allow   allow   allow
destructive deny            deny  confirm confirm confirm
dangerous   deny            deny  deny    verify  verify
forbidden   deny            deny  deny    deny    deny
"""


def cells(table: str, matrix: str) -> list[tuple[Level, Trust, str, str]]:
    rows = [line.split() for line in table.strip().splitlines()]
    return [(Level[row[0].upper()], trust, matrix, row[1 + trust]) for row in rows for trust in Trust]


@each(("level", "trust", "matrix", "word"), [*cells(SPEC, "spec"), *cells(FLOOR, "floor")])
def test_every_cell_of_both_matrices(level: Level, trust: Trust, matrix: str, word: str) -> None:
    assert gate(level, trust, matrix) == word


def test_the_floor_is_the_default_and_other_matrices_are_refused() -> None:
    assert gate(DANGEROUS, CERTIFIED) == "verify"
    with pytest.raises(ValueError, match="no matrix 'loose'; known: floor, spec"):
        gate(SAFE, CERTIFIED, "loose")


def test_the_least_trust_is_the_first_cell_that_lets_through() -> None:
    assert [minimum_trust_required(level) for level in Level] == [GENERATED, VALIDATED, VALIDATED, REVIEWED, CERTIFIED]


def risen(to: Trust) -> TrustRecord:
    record = TrustRecord()
    for step in range(1, to + 1):
        certificate = CERTIFICATE if step == CERTIFIED else None
        record = promote(record, Trust(step), f"team-{step}", step * DAY, "passed", certificate)
    return record


def test_promotion_goes_one_step_at_a_time_and_is_written_down() -> None:
    record = risen(CERTIFIED)
    assert record.level is CERTIFIED and record.promoted_from is REVIEWED and record.certification is CERTIFICATE
    assert [(step.before, step.after) for step in record.history] == [(Trust(n), Trust(n + 1)) for n in range(4)]
    assert next((step.by, step.at, step.reason) for step in record.history) == ("team-1", DAY, "passed")
    assert (record.generated_by, record.validated_by, record.validated_at) == ("team-1", "team-2", 2 * DAY)


@pytest.mark.parametrize(
    ("start", "to", "by", "reason", "certificate", "said"),
    [
        (UNTESTED, VALIDATED, "a", "b", None, "untested -> validated skips a level"),
        (UNTESTED, CERTIFIED, "a", "b", CERTIFICATE, "skips a level"),
        (VALIDATED, VALIDATED, "a", "b", None, "is no promotion"),
        (VALIDATED, GENERATED, "a", "b", None, "is no promotion"),
        (CERTIFIED, CERTIFIED, "a", "b", CERTIFICATE, "is no promotion"),
        (UNTESTED, GENERATED, " ", "b", None, "by is empty"),
        (UNTESTED, GENERATED, "a", "", None, "reason is empty"),
        (REVIEWED, CERTIFIED, "a", "b", None, "needs a certification"),
        (REVIEWED, CERTIFIED, "a", "b", Certification("ACME"), "needs a certification"),
        (REVIEWED, CERTIFIED, "a", "b", Certification("ACME", "c", "sig", expires_at=1), "has expired"),
        (UNTESTED, GENERATED, "a", "b", CERTIFICATE, "takes no certification"),
    ],
)
def test_a_promotion_that_is_not_right_is_refused(
    start: Trust, to: Trust, by: str, reason: str, certificate: Certification | None, said: str
) -> None:
    with pytest.raises(TrustError, match=said):
        promote(risen(start), to, by, 9 * DAY, reason, certificate)


def test_demotion_may_skip_and_keeps_when_it_was_validated() -> None:
    record = demote(risen(CERTIFIED), GENERATED, "security", 9 * DAY, "vulnerability")
    assert record.level is GENERATED and record.certification is None and record.validated_at == 2 * DAY
    assert (record.history[-1].before, record.history[-1].reason) == (CERTIFIED, "vulnerability")
    for to in (GENERATED, VALIDATED):
        with pytest.raises(TrustError, match="no demotion"):
            demote(record, to, "security", 9 * DAY, "again")
    with pytest.raises(TrustError, match="reason is empty"):
        demote(record, UNTESTED, "security", 9 * DAY, "")


def test_a_certification_counts_until_it_expires() -> None:
    record = risen(CERTIFIED)
    assert current_trust(record, 30 * DAY - 1) == (CERTIFIED, "")
    assert current_trust(record, 30 * DAY) == (REVIEWED, "the certification has expired")
    assert settle_expired(record, 29 * DAY, "clock") is record
    settled = settle_expired(record, 31 * DAY, "clock")
    assert settled.level is REVIEWED and settled.history[-1].by == "clock"
    assert current_trust(TrustRecord(CERTIFIED), 0) == (REVIEWED, "certified without a certification")


def call(level: Level, trust: Trust, category: str = "execute", introspection: bool = False) -> AdapterCall:
    return AdapterCall("op", level, trust, category, introspection, ("Because",))


def test_a_denial_of_the_matrix_says_what_trust_it_takes() -> None:
    answer = passage(call(DANGEROUS, VALIDATED))
    assert (answer.word, answer.code) == ("deny", "PERMISSION_DANGER_LEVEL_DENIED")
    assert answer.details == {
        "operation": "op",
        "danger_level": "dangerous",
        "adapter_trust": "validated",
        "minimum_trust_required": "community_reviewed",
        "reasons": ["Because"],
    }


def test_where_only_the_floor_denies_an_operator_may_override() -> None:
    answer = passage(call(FORBIDDEN, CERTIFIED))
    assert (answer.word, answer.code, answer.published) == ("deny", "PERMISSION_DENIED", "confirm")
    assert answer.details == {"reason": "operator override required"}
    assert passage(call(FORBIDDEN, CERTIFIED), override=True).word == "verify"
    assert passage(call(FORBIDDEN, REVIEWED), override=True).word == "deny"
    assert passage(call(FORBIDDEN, CERTIFIED), matrix="spec").word == "confirm"


def test_untested_means_introspection_only() -> None:
    answer = passage(call(SAFE, UNTESTED, "read"))
    assert (answer.word, answer.code) == ("deny", "PERMISSION_TRUST_LEVEL_INSUFFICIENT")
    assert answer.details == {
        "operation": "op",
        "required_trust": "generated",
        "actual_trust": "untested",
        "danger_level": 0,
    }
    looking = call(SAFE, UNTESTED, "read", introspection=True)
    assert passage(looking).word == "allow"
    assert passage(looking, policy=TrustPolicy(allow_untested_introspection=False)).word == "deny"


@each(
    ("policy", "asked", "word"),
    [
        (TrustPolicy(minimum_trust_for_writes=REVIEWED), call(REVERSIBLE, VALIDATED, "update"), "deny"),
        (TrustPolicy(minimum_trust_for_writes=REVIEWED), call(SAFE, VALIDATED, "read"), "allow"),
        (TrustPolicy(minimum_trust_for_writes=REVIEWED), call(REVERSIBLE, REVIEWED, "update"), "allow"),
        (TrustPolicy(minimum_trust_for_deletes=CERTIFIED), call(DESTRUCTIVE, REVIEWED, "delete"), "deny"),
        (TrustPolicy(minimum_trust_for_deletes=CERTIFIED), call(REVERSIBLE, REVIEWED, "update"), "allow"),
        (TrustPolicy(minimum_trust_for_deletes=UNTESTED), call(DESTRUCTIVE, GENERATED, "delete"), "deny"),
        (TrustPolicy(require_confirmation_below=CERTIFIED), call(REVERSIBLE, REVIEWED, "update"), "confirm"),
        (TrustPolicy(require_confirmation_below=CERTIFIED), call(REVERSIBLE, CERTIFIED, "update"), "allow"),
        (TrustPolicy(require_confirmation_below=CERTIFIED), call(DANGEROUS, REVIEWED), "verify"),
        (TrustPolicy(strict_category_minimums=True), call(DESTRUCTIVE, VALIDATED, "delete"), "deny"),
        (TrustPolicy(strict_category_minimums=True), call(DANGEROUS, REVIEWED), "deny"),
        (TrustPolicy(strict_category_minimums=True), call(REVERSIBLE, VALIDATED, "create"), "allow"),
        (TrustPolicy(), call(DESTRUCTIVE, VALIDATED, "delete"), "confirm"),
    ],
)
def test_a_trust_policy_only_tightens(policy: TrustPolicy, asked: AdapterCall, word: str) -> None:
    assert passage(asked, policy=policy).word == word


def test_the_least_trust_by_kind_of_operation() -> None:
    assert category_minimum("read", SAFE) is GENERATED
    assert category_minimum("create", REVERSIBLE) is category_minimum("update", REVERSIBLE) is VALIDATED
    assert category_minimum("delete", DESTRUCTIVE) is REVIEWED
    assert category_minimum("execute", DANGEROUS) is CERTIFIED


def test_TL_04_a_look_counts_for_a_week_a_month_or_as_long_as_its_certificate() -> None:
    assert revalidation_due(TrustRecord()) is None and revalidation_due(risen(Trust.GENERATED)) is None
    for level, days in ((Trust.VALIDATED, 7), (Trust.COMMUNITY_REVIEWED, 30)):
        record = risen(level)
        assert revalidation_due(record) == record.history[-1].at + days * 86_400.0
        again = revalidate(record, "ana", 5_000_000.0, "the tests ran again")
        assert revalidation_due(again) == 5_000_000.0 + REVALIDATION_PERIODS[level]
        assert (again.level, again.validated_at, again.history[-1].reason) == (
            level,
            5_000_000.0,
            "the tests ran again",
        )
    certified = TrustRecord(Trust.CERTIFIED, certification=Certification("vendor", expires_at=9.0))
    assert revalidation_due(certified) == 9.0


@pytest.mark.parametrize("level", [Trust.UNTESTED, Trust.GENERATED])
def test_TL_04_what_was_never_validated_cannot_be_looked_at_again(level: Trust) -> None:
    with pytest.raises(TrustError):
        revalidate(risen(level), "ana", 1.0, "looked")
    with pytest.raises(TrustError):
        revalidate(risen(Trust.VALIDATED), "", 1.0, "looked")
