"""An agent that means harm, as the same user: it edits rows, rewords, renames itself and races; nothing held is let go."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gate import AGENT, CHEAP, PASSPHRASE, Gate
from interlock import maintenance
from interlock.analysis.rules import load
from interlock.approvals import answers, grants
from interlock.approvals.tickets import seal_of, shown_hash
from interlock.error_codes import AnswerRefused
from interlock.identity import agents, operators
from interlock.identity.keys.passphrases import enrol
from interlock.identity.keys.roster import ROSTER_SETTING, roster_seal
from interlock.identity.sessions import SignInRefused
from interlock.impact.files import read_text
from interlock.model import Action, AgentRef, Level, Requirement, Trust, command, operation
from interlock.policy.circumstances import AdapterContext
from interlock.policy.trust_matrix import AdapterCall
from interlock.records import TicketQuery
from interlock.startup import open_state, open_store, record_start

W = "/home/dev/app"
PUSH = command("git push --force origin main", W)
BRANCH = command("git branch -D old", W)
OWN = "the agent's own words"


def edit(gate: Gate, sql: str, *values: object) -> None:
    """What an agent that is the same user can do to the database behind our back."""
    db = sqlite3.connect(Path(gate.folder) / "state.db", timeout=10)
    with db:
        db.execute(sql, values)
    db.close()


@pytest.fixture
def headless(tmp_path: Path) -> Iterator[Gate]:
    made = Gate(tmp_path / "headless", policy={"use": "headless"})
    made.enrol()
    yield made
    made.close()


# The operators


@pytest.mark.parametrize("unlocked", [True, False], ids=["unlocked", "locked"])
def test_a_whole_roster_put_in_the_place_of_the_real_one_signs_nobody_in(gate: Gate, unlocked: bool) -> None:
    """Rows and a list that prove each other, under a seal key of the agent's own."""
    gate.approve(gate.held(PUSH))
    gate.restart()
    if unlocked:
        gate.sign_in()
    row, key = enrol("ann", OWN, None, now=1.0, by="ann", roles=["admin"], kdf=CHEAP)
    gate.store.write(lambda tx: tx.save_operator(row))
    gate.store.write(lambda tx: tx.save_setting(ROSTER_SETTING, roster_seal([row], key)))
    with pytest.raises(SignInRefused):
        operators.sign_in(gate.state, "ann", OWN, "cli")
    assert gate.ask(PUSH).allowed is unlocked  # what ann signed counts where ann was known


@pytest.mark.parametrize("unlocked", [True, False], ids=["unlocked", "locked"])
def test_nobody_becomes_the_first_operator_by_deleting_the_others(gate: Gate, unlocked: bool) -> None:
    gate.restart()
    if unlocked:
        gate.sign_in()
    edit(gate, "DELETE FROM operators")
    edit(gate, "DELETE FROM settings")
    with pytest.raises((AnswerRefused, SignInRefused)):
        operators.enrol_first(gate.state, *enrol("eve", OWN, None, now=1.0, by="eve", roles=["admin"], kdf=CHEAP))


def test_an_operator_change_does_not_seal_a_row_that_was_put_back(gate: Gate) -> None:
    """An older row of the same operator has a good seal; only the list shows that it is old."""
    gate.add("bob", "admin")
    old = gate.store.read(lambda tx: next(row for row in tx.operators() if row.name == "bob"))
    operators.change_operator(gate.state, gate.sign_in(), "bob", roles=("dev",))
    session = gate.sign_in()
    gate.store.write(lambda tx: tx.save_operator(old))
    with pytest.raises((AnswerRefused, SignInRefused)):
        operators.add_operator(gate.state, session, "carol", PASSPHRASE, kdf=CHEAP)


# Tickets


def test_a_spent_ticket_is_not_spent_again_by_editing_its_row(gate: Gate) -> None:
    gate.approve(gate.held(PUSH))
    assert gate.ask(PUSH).allowed
    for version in ("version", "version - 1", "version + 7"):
        edit(gate, f"UPDATE tickets SET state = 'approved', spent_at = 0, executed_at = 0, version = {version}")
        assert not gate.ask(PUSH).allowed, version
    gate.restart()
    gate.sign_in()
    assert not gate.ask(PUSH).allowed  # the record knows


def test_of_many_who_spend_while_somebody_edits_the_row_one_is_let_through(gate: Gate) -> None:
    ticket = gate.held(PUSH)
    gate.approve(ticket)
    first = gate.store.read(lambda tx: tx.ticket(ticket.id))
    assert first is not None
    done = threading.Event()

    def keep_editing() -> None:
        while not done.is_set():
            with contextlib.suppress(sqlite3.Error):
                edit(
                    gate,
                    "UPDATE tickets SET state = 'approved', spent_at = 0, version = ? WHERE spent_at > 0",
                    first.version,
                )

    editor = threading.Thread(target=keep_editing)
    editor.start()
    with ThreadPoolExecutor(8) as pool:
        allowed = list(pool.map(lambda _: gate.ask(PUSH).allowed, range(40)))
    done.set()
    editor.join()
    assert sum(allowed) == 1


@pytest.mark.parametrize("restart", [False, True], ids=["running", "restarted"])
@pytest.mark.parametrize("how", ["revoke", "reject"])
def test_an_approval_that_was_taken_back_is_not_revived_by_editing_rows(gate: Gate, how: str, restart: bool) -> None:
    ticket = gate.held(PUSH)
    gate.approve(ticket)
    getattr(answers, how)(gate.state, gate.sign_in(), ticket.id, "second thoughts")
    edit(gate, "DELETE FROM approvals WHERE verdict = 'reject'")
    edit(gate, "DELETE FROM denials")
    edit(gate, "UPDATE tickets SET state = 'approved'")
    if restart:
        gate.restart()
        gate.sign_in()
    assert not gate.ask(PUSH).allowed


@pytest.mark.parametrize("forged", [False, True], ids=["old seal", "forged seal"])
def test_a_harmful_ticket_that_was_made_to_look_harmless_frees_nothing(gate: Gate, forged: bool) -> None:
    destroy = command("terraform destroy -auto-approve", W)
    ticket, other = gate.held(destroy), gate.held(BRANCH)
    looks = "title reason action findings factors effect_keys level irreversible severity".split()
    copied = ", ".join(f"{name} = (SELECT {name} FROM tickets WHERE id = '{other.id}')" for name in looks)
    edit(gate, f"UPDATE tickets SET {copied} WHERE id = ?", ticket.id)
    fake = gate.store.read(lambda tx: tx.ticket(ticket.id))
    assert fake is not None and fake.title == other.title
    fake = replace(fake, shown_hash=shown_hash(fake))
    seal = seal_of(gate.state, fake) if forged else fake.seal  # the same user can read the key
    edit(gate, "UPDATE tickets SET shown_hash = ?, seal = ? WHERE id = ?", fake.shown_hash, seal, ticket.id)
    if forged:
        gate.approve(fake)
    else:
        with pytest.raises(AnswerRefused, match="altered outside"):
            gate.approve(fake)
    assert not gate.ask(destroy).allowed


def test_the_same_operation_of_another_adapter_is_another_action(gate: Gate) -> None:
    """CT-05."""
    delete = operation("delete_user", {"id": 7})
    known = AdapterContext(
        AdapterCall("delete_user", Level.DESTRUCTIVE, Trust.VALIDATED, "delete")
    )  # as a door that proxies knows it
    ticket = gate.held(delete, adapter="staging", adapter_context=known)
    gate.approve(ticket)
    for more in ({"pending": ticket.id}, {}):
        assert not gate.ask(delete, adapter="production", adapter_context=known, **more).allowed
    assert gate.ask(delete, adapter="staging", adapter_context=known).allowed


def test_a_script_that_was_changed_after_it_was_approved_is_another_one(gate: Gate, tmp_path: Path) -> None:
    script = tmp_path / "deploy.sh"
    run = command(f"bash {script}", str(tmp_path))
    for lead in ("", "echo working\n" * 40_000):  # one that is read whole, and one that is cut
        script.write_text(f"{lead}rm -rf /srv/a\n")
        gate.approve(gate.held(run, files=read_text))
        script.write_text(f"{lead}rm -rf /srv/b\n")
        assert not gate.ask(run, files=read_text).allowed
        script.write_text(f"{lead}rm -rf /srv/a\n")
        assert gate.ask(run, files=read_text).allowed


# Grants

GRANT = {"effect": "destroy", "targets": ["/srv/media/**"], "why": "cleanup", "count": 1, "ceiling": "dangerous"}


@pytest.mark.parametrize(
    "sql", ["UPDATE grants SET remaining = 1", "UPDATE grants SET revoked_at = 0, revoked_by = ''"]
)
def test_a_grant_that_is_used_up_or_revoked_is_not_revived_by_editing_its_row(gate: Gate, sql: str) -> None:
    grant = grants.add_grant(gate.state, gate.sign_in(), GRANT)
    if "revoked" in sql:
        grants.revoke_grant(gate.state, gate.sign_in(), grant.id)
    else:
        assert gate.ask(command("rm -rf /srv/media/a", "/srv")).allowed
    edit(gate, sql)
    assert not gate.ask(command("rm -rf /srv/media/b", "/srv")).allowed


def test_a_grant_from_an_admin_who_is_none_any_more_covers_nothing_forbidden(gate: Gate) -> None:
    gate.add("bob", "admin")
    grants.add_grant(gate.state, gate.sign_in("bob"), {**GRANT, "targets": ["/etc"], "ceiling": "forbidden"})
    operators.change_operator(gate.state, gate.sign_in(), "bob", roles=())
    assert not gate.ask(command("rm -rf /etc", "/srv")).allowed


# Agents and blocks


def test_a_trust_tier_edited_in_the_database_skips_nothing(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "s", gate={"bypassForTrustTiers": ["privileged"]})
    gate.enrol()
    columns = "principal, name, trust_tier, first_seen, last_seen, token_hash, revoked_at, settings, name_key"
    edit(
        gate,
        f"INSERT INTO agents ({columns}) VALUES ('uid:1000', 'claude', 'privileged', 0, 0, '', 0, '{{}}', 'claude')",
    )
    assert not gate.ask(BRANCH).allowed
    agents.change_agent(gate.state, gate.sign_in(), "uid:1000", "claude", "privileged")
    assert gate.ask(BRANCH).allowed
    gate.close()


def test_a_block_whose_row_was_deleted_is_in_force_after_a_restart_and_can_be_lifted(gate: Gate) -> None:
    agents.block(gate.state, gate.sign_in(), "uid:1000", "looked odd")
    for sql in ("DELETE FROM blocks", "UPDATE blocks SET lifted_at = 1, lifted_by = 'ann'"):
        edit(gate, sql)
        gate.restart()
        assert gate.ask(command("npm install", W)).outcome == "block", sql
        assert any("deleted outside" in words for words in gate.state.problems)
    edit(gate, "DELETE FROM blocks")
    agents.unblock(gate.state, gate.sign_in(), "uid:1000")
    for _ in range(2):
        assert gate.ask(command("npm install", W)).allowed
        gate.restart()


def test_new_names_do_not_bury_what_waits(gate: Gate) -> None:
    answered = [gate.ask(PUSH, AgentRef("uid:1000", f"name{n}")) for n in range(110)]
    assert sum(one.ticket is not None for one in answered) == 100
    assert answered[-1].code == "RATE_LIMIT_EXCEEDED" and not answered[-1].allowed


# Cooling-off


def test_a_cooling_off_shortened_under_a_forged_seal_frees_nothing(headless: Gate) -> None:
    ticket = headless.held(BRANCH)
    short = replace(ticket, cooling_ends_at=headless.clock.now() - 1, opened_at=ticket.opened_at - 60)
    sql = "UPDATE tickets SET cooling_ends_at = ?, opened_at = ?, seal = ?"
    edit(headless, sql, short.cooling_ends_at, short.opened_at, seal_of(headless.state, short))
    assert not headless.ask(BRANCH).allowed
    headless.clock.forward(31)
    assert headless.ask(BRANCH).allowed


def test_a_ticket_put_into_the_database_cools_from_when_it_was_seen(headless: Gate) -> None:
    ticket = headless.held(BRANCH)
    old = replace(ticket, id="pdact_forged", opened_at=ticket.opened_at - 60, cooling_ends_at=ticket.opened_at - 30)
    old = replace(old, requirement=Requirement(30), token_hash="", seal="")
    old = replace(old, shown_hash=shown_hash(old))
    sql = "UPDATE tickets SET id = ?, opened_at = ?, cooling_ends_at = ?, token_hash = '', shown_hash = ?, seal = ?, state = 'approved'"
    edit(headless, sql, old.id, old.opened_at, old.cooling_ends_at, old.shown_hash, seal_of(headless.state, old))
    assert not headless.ask(BRANCH).allowed
    headless.clock.forward(31)
    assert headless.ask(BRANCH).allowed


ESCAPES: dict[str, dict[str, Any]] = {
    "the same again": {},
    "another session": {"agent": replace(AGENT, session="s2")},
    "another name": {"agent": replace(AGENT, name="other", session="")},
    "another wording": {"action": command("git branch --delete --force old", W)},
    "all of it": {"action": command("git branch -d -f old", W), "agent": AgentRef("uid:1000", "other", "s3")},
}


@pytest.mark.parametrize("deleted", [False, True], ids=["rows kept", "rows deleted"])
def test_a_veto_is_not_escaped_by_words_names_sessions_or_edits(headless: Gate, deleted: bool) -> None:
    rival = AgentRef("uid:1000", "rival", "s9")
    ticket, beside = headless.held(BRANCH), headless.held(BRANCH, rival)
    answers.reject(headless.state, headless.sign_in(), ticket.id, "still needed")
    if deleted:
        for table in ("denials", "approvals", "tickets"):
            edit(headless, f"DELETE FROM {table}")
    asked = {name: {"action": BRANCH, "agent": AGENT, **change} for name, change in ESCAPES.items()}
    for _ in range(3):
        for name, one in asked.items():
            assert not headless.ask(**one).allowed, name
        assert not headless.ask(BRANCH, rival).allowed, beside.id
        headless.clock.forward(40)
    headless.clock.forward(
        601
    )  # a no lasts ten minutes in other sessions, and in its own until a person answers otherwise
    fresh = AgentRef("uid:1000", "fresh", "s10")
    for agent in (fresh, AGENT):
        headless.ask(BRANCH, agent)
    headless.clock.forward(31)
    assert headless.ask(BRANCH, fresh).allowed
    assert deleted or not headless.ask(BRANCH).allowed


@pytest.mark.parametrize(
    ("column", "value"), [("effect_keys", "x"), ("level", 77), ("approvers", "[1"), ("opened_at", "never")]
)
def test_a_row_that_was_garbled_hides_no_other_from_who_could_object(
    headless: Gate, column: str, value: object
) -> None:
    first, second = headless.held(BRANCH), headless.held(command("git branch -D other", W))
    edit(headless, f"UPDATE tickets SET {column} = ? WHERE id = ?", value, first.id)
    listed = headless.store.read(lambda tx: tx.tickets(TicketQuery()))
    assert [ticket.id for ticket in listed] == [second.id]
    headless.clock.forward(31)
    maintenance.TicketSettler(headless.state).settle()
    assert not headless.ask(BRANCH).allowed
    headless.restart()
    assert not headless.ask(BRANCH).allowed


# The record


@pytest.mark.parametrize("how", ["cut off", "rewritten"])
def test_a_record_that_is_rewritten_while_it_runs_is_noticed(gate: Gate, how: str) -> None:
    watch = maintenance.ChainWatch(gate.state)
    for _ in range(3):
        gate.ask(PUSH, AgentRef("uid:1000", f"n{_}"))
        assert watch.check()
    if how == "cut off":
        edit(gate, "DELETE FROM audit WHERE seq > 2")
    else:
        edit(gate, "UPDATE audit SET hash = 'x' WHERE seq = (SELECT max(seq) FROM audit)")
    edit(
        gate,
        "UPDATE audit_heads SET seq = (SELECT max(seq) FROM audit), hash = (SELECT hash FROM audit ORDER BY seq DESC LIMIT 1)",
    )
    edit(gate, "DELETE FROM checkpoints")
    assert not watch.check()
    assert any("rewritten outside" in words for words in gate.state.alerts.values()) and gate.records("alert")


def test_the_first_restart_of_an_installation_raises_no_alarm(
    gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the first start the rules are parsed, at the next they are read as they were kept."""
    shipped = tmp_path / "rules"
    shutil.copytree(load.SHIPPED, shipped, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(load, "SHIPPED", shipped)
    for _ in range(2):
        load._built.cache_clear()  # as another process does it
        gate.store.close()
        gate.store = open_store(gate.config.store)
        gate.state = open_state(gate.config, gate.store, gate.clock)
        record_start(gate.state, "1")
    assert (shipped / "__pycache__").exists() and not gate.state.alerts


def test_settings_that_were_edited_while_nothing_ran_show(gate: Gate) -> None:
    record_start(gate.state, "1")
    gate.restart()
    record_start(gate.state, "1")
    assert not gate.state.alerts
    gate.config = replace(gate.config, policy="spec", mode="monitoring")
    gate.restart()
    record_start(gate.state, "1")
    assert {words.partition(":")[0] for words in gate.state.alerts.values()} == {"policy", "mode"}


SECRET = "hunter2hunter2"
TELLING: list[Action] = [
    command(f"PGPASSWORD={SECRET} psql -c 'drop table x'", W),
    command(f"PGPASSWORD={SECRET} ls", W),
    command(f"mysql -p{SECRET} -e 'drop table x'", W),
    command(f"curl -u ann:{SECRET} -X DELETE https://host/x", W),
    command(f"sshpass -p {SECRET} ssh host 'rm -rf /x'", W),
    command(f"redis-cli -a {SECRET} flushall", W),
    operation("delete_user", {"id": 1, "api_key": SECRET}),
    operation("delete_session", {"session_key": SECRET}),
    operation("delete_page", {"url": f"https://ann:{SECRET}@host/x"}),
]


def test_secrets_reach_no_table_whatever_they_stand_beside(gate: Gate) -> None:
    for number, action in enumerate(TELLING):
        gate.ask(action, AgentRef("uid:1000", f"n{number}"))
    gate.state.trouble(f"ValueError: password={SECRET}")
    assert SECRET not in str(gate.state.problems)
    gate.state.recorder.flush()
    gate.store.close()
    for file in Path(gate.folder).glob("state.db*"):
        assert SECRET.encode() not in file.read_bytes(), file
