"""Keys open by passphrase alone, and what an agent writes into the operators table makes no approval count."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from cases import each
from interlock.approvals.statements import check_agreement, statement_text
from interlock.identity.keys.passphrases import (
    EnrolError,
    Kdf,
    OperatorKeys,
    WrongPassphrase,
    enrol,
    open_row,
    passphrase_problem,
)
from interlock.identity.keys.roster import Roster, RosterError, StoredRoster, roster_seal, seal_row
from interlock.identity.keys.signing import (
    KeyFileError,
    SigningKey,
    checkpoint_key,
    installation_key,
    verify_signature,
)
from interlock.model import AgentRef, Human, Level, Requirement, TicketState
from interlock.records import Approval, OperatorRow, Ticket
from interlock.redaction import hash_token

NOW = 1_700_000_000.25
CHEAP = Kdf(1, 8, 1)
ALICE, BOB, MALLORY = "correct horse battery", "stapled staples 7", "the agent's own words"


def enrolled(name: str, passphrase: str, seal_key: bytes | None, **more: Any) -> tuple[OperatorRow, bytes]:
    return enrol(name, passphrase, seal_key, now=NOW, by="terminal", kdf=CHEAP, **more)


ROW_A, SEAL_KEY = enrolled("alice", ALICE, None, roles=["admin"])
ROW_B, _ = enrolled("bob", BOB, SEAL_KEY, teams=["dba"])
ROWS = (ROW_A, ROW_B)
LISTED = roster_seal(ROWS, SEAL_KEY)
TICKET = Ticket(
    id="pdact_1",
    digest="v1:aa",
    agent=AgentRef("uid:1000"),
    state=TicketState.APPROVED,
    requirement=Requirement(human=Human.APPROVE, approvers=frozenset({"role:admin"})),
    opened_at=NOW,
    expires_at=NOW + 3600,
    level=Level.DANGEROUS,
    shown_hash="5a",
)


def approval(by: OperatorKeys, name: str = "") -> Approval:
    text = statement_text(
        TICKET,
        operator=name or by.operator,
        verdict="approve",
        channel="terminal",
        issued_at=NOW,
        expires_at=NOW + 300,
        nonce="0f" * 16,
    )
    signature = by.sign(text)
    return Approval(TICKET.id, by.operator, "approve", text, signature, by.key.key_id, "terminal", NOW, NOW + 300)


def load(rows: tuple[OperatorRow, ...], seal_key: bytes, listed: str | None) -> Roster:
    return Roster.load(StoredRoster(rows, listed), seal_key)


def counts(one: Approval, rows: tuple[OperatorRow, ...], listed: str | None) -> bool:
    """What the daemon does, knowing the seal key since an operator unlocked it."""
    roster = load(rows, SEAL_KEY, listed)
    return check_agreement(TICKET, [one], NOW, roster.people, roster.verify).satisfied


def test_an_operators_approval_counts_and_only_theirs() -> None:
    assert counts(approval(open_row(ROW_A, ALICE)), ROWS, LISTED)
    assert not counts(approval(open_row(ROW_B, BOB)), ROWS, LISTED)  # no admin
    assert not counts(approval(open_row(ROW_B, BOB), "alice"), ROWS, LISTED)


FORGED_ROW, FORGED_SEAL_KEY = enrolled("mallory", MALLORY, None, roles=["admin"])
AGENTS_KEY = open_row(FORGED_ROW, MALLORY)
TAMPERED: dict[str, tuple[Callable[[], tuple[tuple[OperatorRow, ...], str | None]], str]] = {
    "adds itself": (lambda: ((*ROWS, FORGED_ROW), LISTED), "'mallory': this row was added"),
    "adds itself under a seal copied from alice": (
        lambda: ((*ROWS, replace(FORGED_ROW, seal=ROW_A.seal)), LISTED),
        "'mallory': this row was added",
    ),
    "adds itself and seals the list with its own key": (
        lambda: ((*ROWS, FORGED_ROW), roster_seal((*ROWS, FORGED_ROW), FORGED_SEAL_KEY)),
        "'mallory': this row was added",
    ),
    "puts its key into alice's row": (
        lambda: (
            (replace(ROW_A, public_key=FORGED_ROW.public_key, key_id=FORGED_ROW.key_id), ROW_B),
            LISTED,
        ),
        "'alice': this row was added or altered",
    ),
    "puts its key under alice's key id": (
        lambda: ((replace(ROW_A, public_key=FORGED_ROW.public_key), ROW_B), LISTED),
        "'alice': this row was added or altered",
    ),
    "takes alice's name": (
        lambda: ((seal_row(replace(FORGED_ROW, name="alice"), FORGED_SEAL_KEY), ROW_B), LISTED),
        "'alice': this row was added or altered",
    ),
    "swaps two operators' names": (
        lambda: ((replace(ROW_A, name="bob"), replace(ROW_B, name="alice")), LISTED),
        "'bob': this row was added or altered",
    ),
    "swaps two operators' seals": (
        lambda: ((replace(ROW_A, seal=ROW_B.seal), replace(ROW_B, seal=ROW_A.seal)), LISTED),
        "'alice': this row was added or altered",
    ),
    "makes bob an admin": (lambda: ((ROW_A, replace(ROW_B, roles=("admin",))), LISTED), "'bob': this row"),
    "deletes bob": (lambda: ((ROW_A,), LISTED), "'bob': the row is missing"),
    "deletes bob and the list": (lambda: ((ROW_A,), None), "the sealed list of operators is missing"),
    "deletes bob and writes a list": (
        lambda: ((ROW_A,), roster_seal((ROW_A,), FORGED_SEAL_KEY)),
        "does not match",
    ),
    "spoils the list": (lambda: (ROWS, "[" * 9000), "'alice': not on the sealed list"),
    "doubles a row": (lambda: ((*ROWS, ROW_B), LISTED), "'bob': 2 rows"),
    "deletes everybody": (lambda: ((), LISTED), "there is no operator"),
    "writes a time that is none": (
        lambda: ((ROW_A, replace(ROW_B, created_at=float("inf"))), LISTED),
        "'bob': this row",
    ),
}


@each("what", TAMPERED)
def test_an_agent_that_edits_the_operators_table_cannot_make_an_approval_count(what: str) -> None:
    rows, listed = TAMPERED[what][0]()
    for name in ("mallory", "alice"):
        with pytest.raises(RosterError) as refused:
            counts(approval(AGENTS_KEY, name), rows, listed)
        assert TAMPERED[what][1] in str(refused.value)


def test_a_whole_new_roster_made_by_an_agent_is_not_the_one_that_was_unlocked() -> None:
    forged = (FORGED_ROW,)
    listed = roster_seal(forged, FORGED_SEAL_KEY)
    assert load(forged, FORGED_SEAL_KEY, listed).digest != load(ROWS, SEAL_KEY, LISTED).digest
    with pytest.raises(RosterError, match="mallory"):
        counts(approval(AGENTS_KEY), forged, listed)


def test_an_operator_who_was_disabled_is_not_enabled_by_an_older_row() -> None:
    disabled = seal_row(replace(ROW_A, disabled_at=NOW), SEAL_KEY)
    rows = (disabled, ROW_B)
    listed = roster_seal(rows, SEAL_KEY)
    assert not counts(approval(open_row(ROW_A, ALICE)), rows, listed)
    with pytest.raises(RosterError, match="older row"):
        counts(approval(open_row(ROW_A, ALICE)), ROWS, listed)
    with pytest.raises(WrongPassphrase):
        open_row(disabled, ALICE)


OTHER: dict[str, Any] = {"roles": ("x",), "teams": ("x",), "service": True, "created_at": 1.0, "disabled_at": 1.0}


@each("column", OperatorRow.__struct_fields__)
def test_every_column_is_sealed_and_pinned(column: str) -> None:
    edited = (replace(ROW_A, **{column: OTHER.get(column, "ff" * 16)}), ROW_B)
    with pytest.raises(RosterError):
        load(edited, SEAL_KEY, LISTED)
    assert StoredRoster(edited, LISTED).digest != load(ROWS, SEAL_KEY, LISTED).digest


def test_the_order_of_rows_does_not_matter() -> None:
    assert load(ROWS[::-1], SEAL_KEY, LISTED).digest == load(ROWS, SEAL_KEY, LISTED).digest
    assert roster_seal(ROWS[::-1], SEAL_KEY) == LISTED


def test_two_operators_cannot_share_a_key() -> None:
    twin = seal_row(replace(ROW_A, name="alice2"), SEAL_KEY)
    with pytest.raises(RosterError, match="2 operators have it"):
        load((ROW_A, twin), SEAL_KEY, roster_seal((ROW_A, twin), SEAL_KEY))


def test_a_key_that_is_not_on_the_roster_signed_nothing() -> None:
    roster = load(ROWS, SEAL_KEY, LISTED)
    assert roster.verify(ROW_A.key_id, b"x", open_row(ROW_A, ALICE).key.sign(b"x"))
    assert not roster.verify(AGENTS_KEY.key.key_id, b"x", AGENTS_KEY.key.sign(b"x"))


def test_every_operator_opens_the_same_seal() -> None:
    assert open_row(ROW_A, ALICE).seal_key == open_row(ROW_B, BOB).seal_key == SEAL_KEY


def test_the_same_passphrase_makes_different_keys_for_two_people() -> None:
    twin, _ = enrolled("carol", ALICE, SEAL_KEY)
    assert len({twin.public_key, ROW_A.public_key}) == len({twin.wrapped, ROW_A.wrapped}) == 2


def test_no_secret_shows_in_a_row_or_in_what_python_prints() -> None:
    unlocked = open_row(ROW_A, ALICE)
    printed = f"{ROW_A!r} {unlocked!r} {unlocked.key!r} {load(ROWS, SEAL_KEY, LISTED)!r}"
    assert ALICE not in printed and SEAL_KEY.hex() not in printed and repr(SEAL_KEY) not in printed


WRONG: list[tuple[OperatorRow | None, str]] = [
    (None, ALICE),
    (ROW_A, BOB),
    (ROW_A, ""),
    (ROW_A, ALICE + " "),
    (ROW_A, "x" * 100_000),
    (ROW_A, "\ud800lone surrogate"),
    (replace(ROW_A, salt="zz"), ALICE),
    (replace(ROW_A, salt=""), ALICE),
    (replace(ROW_A, salt=ROW_B.salt), ALICE),
    (replace(ROW_A, kdf="argon2id:1,16,1"), ALICE),
    (replace(ROW_A, kdf="plain"), ALICE),
    (replace(ROW_A, kdf="argon2id:99,9999999,99"), ALICE),
    (replace(ROW_A, kdf="argon2id:0,0,0"), ALICE),
    (replace(ROW_A, wrapped=""), ALICE),
    (replace(ROW_A, wrapped=ROW_B.wrapped), ALICE),
    (replace(ROW_A, name="bob"), ALICE),
    (replace(ROW_A, public_key=ROW_B.public_key), ALICE),
    (replace(ROW_A, public_key="é"), ALICE),
]


@each(("row", "passphrase"), WRONG)
def test_whatever_is_wrong_there_is_one_answer(row: OperatorRow | None, passphrase: str) -> None:
    with pytest.raises(WrongPassphrase, match=r"^wrong name or passphrase$"):
        open_row(row, passphrase)


def test_the_shipped_cost_is_kept_in_the_row_and_works() -> None:
    row, seal_key = enrol("alice", ALICE, None, now=NOW, by="terminal")
    assert row.kdf == "argon2id:3,65536,2" == str(Kdf())
    assert open_row(row, ALICE).seal_key == seal_key


def test_a_passphrase_typed_on_another_keyboard_is_the_same() -> None:
    row, _ = enrolled("zoë", "cafe\u0301 au lait", None)
    assert row.name == "zoë" and open_row(row, "caf\u00e9 au lait")


@pytest.mark.parametrize(
    "name", ["", " ", "human", "Human", "role:admin", "team:x", "a b", "-a", "a\nb", "a" * 65, "a\u202eb"]
)
def test_a_name_that_could_be_taken_for_something_else_is_refused(name: str) -> None:
    with pytest.raises(EnrolError):
        enrolled(name, ALICE, None)


@pytest.mark.parametrize("label", ["", "a:b", "x y"])
def test_roles_and_teams_are_plain_words(label: str) -> None:
    for what in ("roles", "teams"):
        with pytest.raises(EnrolError):
            enrolled("alice", ALICE, None, **{what: [label]})


def test_names_roles_and_teams_are_kept_as_they_are_compared() -> None:
    row, _ = enrolled(" Admin@Company.com ", ALICE, None, roles=["Admin", "admin"], teams=["DBA"])
    assert (row.name, row.roles, row.teams) == ("admin@company.com", ("admin",), ("dba",))


GUESSED = (
    "short12|password|Password1!|P@ssw0rd123|passwordpassword|12345678|87654321|aaaaaaaa|abababab|qwertyui|abcdefgh|"
    "changeme1|interlock|INTERLOCK-2024|alexander|Alexander99|alexanderalexander|42alexander42"
)


@each("passphrase", GUESSED.split("|"))
def test_a_passphrase_that_is_guessed_first_is_refused(passphrase: str) -> None:
    assert passphrase_problem(passphrase, "alexander@company.com")
    with pytest.raises(EnrolError):
        enrolled("alexander", passphrase, None)


@pytest.mark.parametrize(
    "passphrase", [ALICE, "8472-1190-5533", "my password is long", "tr0ub4dor&3", "日本語のパスフレーズ"]
)
def test_other_passphrases_are_taken(passphrase: str) -> None:
    assert passphrase_problem(passphrase, "alexander") is None


@pytest.mark.parametrize("words", ["a lantern by the quiet sea", "eine Laterne über dem Meer"])
def test_a_passphrase_that_was_checked_is_not_remembered(words: str) -> None:
    passphrase = " ".join([words, os.urandom(4).hex()])  # a text of its own
    known = sys.getrefcount(passphrase)
    assert passphrase_problem(passphrase, "ana") is None
    assert sys.getrefcount(passphrase) == known


def test_a_seal_key_has_its_length() -> None:
    with pytest.raises(EnrolError, match="expected 32 bytes, got 5"):
        enrolled("alice", ALICE, b"short")


def test_keys_of_the_installation_are_made_once_and_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    first, signer = installation_key(folder), checkpoint_key(folder)
    assert (installation_key(folder), checkpoint_key(folder).key_id) == (first, signer.key_id)
    assert len(first) == 32 and stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert sorted(path.name for path in folder.iterdir()) == ["checkpoint.key", "installation.key"]
    assert verify_signature(signer.public_key, b"head", checkpoint_key(folder).sign(b"head"))
    assert not verify_signature(signer.public_key, b"heat", signer.sign(b"head"))


def test_two_installations_have_different_keys(tmp_path: Path) -> None:
    assert installation_key(tmp_path / "a") != installation_key(tmp_path / "b")


def _shorten(path: Path) -> None:
    path.write_bytes(b"x" * 31)


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def _dangle(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir(0o700)


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut short": (_shorten, "expected 32 bytes, got 31"),
    "too long": (lambda path: path.write_bytes(b"x" * 33), "expected 32 bytes, got more"),
    "empty": (lambda path: path.write_bytes(b""), "got 0"),
    "readable by others": (lambda path: path.chmod(0o644), "mode 0644, expected 0600"),
    "a link": (_link, "symbolic link"),
    "a link to nothing": (_dangle, "symbolic link"),
    "a folder": (_folder, "expected a regular file|directory"),
    "a pipe": (_fifo, "expected a regular file"),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_key_file_that_was_touched_is_refused_and_not_replaced(how: str, tmp_path: Path) -> None:
    installation_key(tmp_path)
    SPOILT[how][0](tmp_path / "installation.key")
    for _ in range(2):
        with pytest.raises(KeyFileError, match=SPOILT[how][1]):
            installation_key(tmp_path)


def test_processes_that_start_at_once_agree_on_the_keys(tmp_path: Path) -> None:
    code = "import sys, pathlib; from interlock.identity.keys.signing import installation_key; sys.stdin.read(); print(installation_key(pathlib.Path(sys.argv[1])).hex())"
    command = [sys.executable, "-c", code, str(tmp_path / "state")]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for one in running:
        assert one.stdin
        one.stdin.close()
    found = set()
    for one in running:
        assert one.stdout
        found.add(one.stdout.read().strip())
        assert one.wait() == 0
    assert len(found) == 1 and [path.name for path in (tmp_path / "state").iterdir()] == ["installation.key"]


def test_a_fingerprint_is_one_way_and_its_own() -> None:
    assert hash_token("conf_a") == hash_token("conf_a") != hash_token("conf_A")
    assert len(hash_token("conf_a")) == 64 and "conf_a" not in hash_token("conf_a")


def test_malformed_keys_and_signatures_are_a_no() -> None:
    key = SigningKey.of(bytes(32))
    good = key.sign(b"x")
    assert verify_signature(key.public_key, b"x", good)
    for public, signature in [
        ("", good),
        ("zz", good),
        (key.public_key, ""),
        (key.public_key, good[:-2]),
        ("00", good),
    ]:
        assert not verify_signature(public, b"x", signature)
