"""An agent with a token, the unix socket and the database file sends any bytes; nothing held is let go, and tampering shows."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import astuple

from daemons import PASSPHRASE, Daemon, InProcessDaemon, bearer, daemon, in_process_daemon
from interlock.identity.keys.passphrases import Kdf, enrol
from interlock.identity.keys.roster import ROSTER_SETTING, roster_seal
from interlock.redaction import hash_token

EVALUATE = "/api/v1/evaluate"
W = "/home/dev/app"
QUICK = Kdf(1, 64, 1)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path_factory.mktemp("state"), policy={"use": "default"}) as made:
        made.daemon.context.agent_above = lambda pid: None
        yield made


def edited(folder: Path, sql: str, *values: object) -> None:
    db = sqlite3.connect(folder / "state" / "state.db", timeout=10)
    with db:
        db.execute(sql, values)
    db.close()


# Bytes that look like an approved action, one pair a row: what a person approved, what the agent sends then.
USER = b'{"action":"delete_user","params":{"id":%s}}'
RM = b'{"cwd":"/srv","command":"git branch -D old%s"}'
ALIKE: dict[str, tuple[bytes, bytes]] = {
    "true for 1": (USER % b"1", USER % b"true"),
    "text for 1": (USER % b"1", USER % b'"1"'),
    "1.0 for 1": (USER % b"1", USER % b"1.0"),
    "1e0 for 1": (USER % b"1", USER % b"1e0"),
    "a list": (USER % b"1", USER % b"[1]"),
    "one more digit of many": (USER % (b"1" * 300), USER % (b"1" * 299 + b"2")),
    "a param more": (USER % b"1", USER % b'1,"all":null'),
    "a private param": (USER % b"1", USER % b'1,"_filter":"*"'),
    "another private param": (USER % b'1,"_id":1', USER % b'1,"_id":2'),
    "sql in a private param": (
        b'{"action":"run_job","params":{"_sql":"DELETE FROM tmp WHERE a=1"}}',
        b'{"action":"run_job","params":{"_sql":"DELETE FROM users WHERE a=1"}}',
    ),
    "a description": (USER % b'1,"description":"a"', USER % b'1,"description":"b"'),
    "a timeout": (USER % b'1,"timeout":1', USER % b'1,"timeout":2'),
    "another category": (USER % b"1", USER.replace(b"{", b'{"crude":"READ",', 1) % b"1"),
    "another resource": (
        b'{"action":"delete_user","resource":"a"}',
        b'{"action":"delete_user","resource":"b"}',
    ),
    "a tool for an operation": (USER % b"1", b'{"tool":"delete_user","input":{"id":1}}'),
    "another case": (USER % b"1", b'{"action":"Delete_User","params":{"id":1}}'),
    "a Greek question mark": (RM % " \u037e rm -rf data".encode(), RM % b" ; rm -rf data"),
    "an escaped one": (RM % b" \\u037e rm -rf data", RM % b" \\u003b rm -rf data"),
    "a Greek varia": (RM % " \u1fefrm x\u1fef".encode(), RM % b" `rm x`"),
    "a Kelvin sign": (RM % "\u212a".encode(), RM % b"K"),
    "a full-width letter": (RM % "\uff41".encode(), RM % b"a"),
    "an invisible letter": (RM % "\u200b".encode(), RM % b""),
    "another folder": (RM % b"", RM.replace(b"/srv", b"/srv/") % b""),
    "out and back": (RM % b"", RM.replace(b"/srv", b"/srv/x/..") % b""),
    "the last of many letters": (RM % (b" #" + b"x" * 9000 + b"a"), RM % (b" #" + b"x" * 9000 + b"b")),
}


def test_an_approval_is_for_its_own_bytes_and_none_that_look_like_them(app: InProcessDaemon) -> None:
    for name, (one, other) in ALIKE.items():
        agent = app.agent(name[:20])
        held = app.call("POST", EVALUATE, headers=agent, content=one)
        assert held.status_code == 202, (name, held.text)
        ticket = held.json()["pendingId"]
        operator = app.sign_in()
        assert app.call("POST", f"/api/v1/tickets/{ticket}/approve", {}, operator).status_code == 200, name
        app.clock.forward(31)  # what cools has cooled
        named = other.replace(b"{", b'{"pendingId":"%s",' % ticket.encode(), 1)
        for body in (other, named):
            answer = app.call("POST", EVALUATE, headers=agent, content=body)
            assert answer.json()["allowed"] is False, (name, answer.text)
        assert app.call("POST", EVALUATE, headers=agent, content=one).json()["allowed"] is True, name


NO_ONE_MEANING = [
    b'{"command":"ls","command":"rm -rf /"}',
    b'{"command":"ls","c\\u006fmmand":"rm -rf /"}',
    b'{"action":"x","params":{"id":1,"id":2}}',
    b'{"command":"ls\\u0000rm"}',
    b'{"command":"ls","cwd":"/w\\u0000/x"}',
    b'{"command":"ls\\ud800"}',
    b'{"command":"ls\xed\xa0\x80"}',
    b'{"action":"x","params":{"a":NaN}}',
    b'{"action":"x","params":{"a":' + b"9" * 500 + b"}}",
    b'{"action":"x","params":' + b'{"a":' * 40 + b"1" + b"}" * 41,
    b'{"command":"ls","tool":"Bash","input":{"command":"rm -rf /"}}',
    b'{"command":"ls"} {"command":"rm -rf /"}',
    b'\xef\xbb\xbf{"command":"ls"}',
    b'{"command":["rm","-rf","/"]}',
    b'{"command":"ls","allowed":true}',
    b'{"command":"ls","agent":{"name":"x","principal":"uid:0"}}',
    b'{"command":"ls","agent":{"name":"x","trust_tier":"privileged"}}',
    b'{"action":"x","resource":"a","params":{"resource":"b"}}',
    b'{"command":"ls","risk":-1}',
    b'{"action":"x","params":{"_confirmation":["conf_x"]}}',
]


def test_bytes_that_have_no_one_meaning_are_denied(app: InProcessDaemon) -> None:
    agent = app.agent()
    for body in NO_ONE_MEANING:
        answer = app.call("POST", EVALUATE, headers=agent, content=body)
        assert answer.status_code >= 400 and answer.json()["allowed"] is False, body


def test_a_token_put_into_the_database_is_nobodys(app: InProcessDaemon) -> None:
    """A blocked agent would make itself another principal."""
    folder = Path(app.config.folder).parent
    columns = "principal, name, trust_tier, first_seen, last_seen, token_hash, revoked_at, settings, name_key"
    mark = hash_token("agt_of_my_own")
    edited(folder, f"INSERT INTO agents ({columns}) VALUES ('token:x', 'x', '', 0, 0, ?, 0, '{{}}', 'x')", mark)
    assert app.call("POST", EVALUATE, {"command": "ls"}, bearer("agt_of_my_own")).status_code == 401
    made = app.call("POST", "/api/v1/agents", {"name": "was"}, app.sign_in()).json()
    change = {"principal": made["principal"], "name": "was", "revoked": True}
    assert app.call("PATCH", "/api/v1/agents", change, app.sign_in()).status_code == 200
    edited(folder, "UPDATE agents SET revoked_at = 0")
    assert app.call("POST", EVALUATE, {"command": "ls"}, bearer(made["token"])).status_code == 401


def test_an_agent_that_floods_the_socket_does_not_keep_a_person_from_signing_in(tmp_path: Path) -> None:
    """Else nobody objects while something cools."""
    with in_process_daemon(tmp_path, limits={"requests_per_minute": 20}) as app:
        app.daemon.context.agent_above = lambda pid: "it runs under an agent"
        guess = {"operator": "ana", "passphrase": "not hers"}
        for _ in range(25):
            evaluated = app.call("POST", EVALUATE, {"command": "ls"}, peer="uid:0")
            guessed = app.call("POST", "/api/v1/session", guess, peer="uid:0")
        assert evaluated.status_code == guessed.status_code == 429 and evaluated.json()["allowed"] is False
        app.daemon.context.agent_above = lambda pid: None
        signed = {"operator": "ana", "passphrase": PASSPHRASE}
        assert app.call("POST", "/api/v1/session", signed, peer="uid:0").status_code == 200


# A real process

OWN = "the agent's own words"
HELD = {"command": "git push --force origin main", "cwd": W, "agent": "eve"}


def ask(running: Daemon, **more: Any) -> bool:
    body = running.here().post(EVALUATE, json={**HELD, **more}).json()
    return bool(body["allowed"])


def usurp(folder: Path) -> tuple[list[Any], list[Any]]:
    """Puts an operator of the agent's own in the place of all others, with a list that fits; returns what was there."""
    db = sqlite3.connect(folder / "state" / "state.db", timeout=10)
    people = db.execute("SELECT * FROM operators").fetchall()
    listed = db.execute("SELECT value FROM settings WHERE key = ?", (ROSTER_SETTING,)).fetchone()
    row, key = enrol("ana", OWN, None, now=1.0, by="ana", roles=["admin"], kdf=QUICK)
    values = [json.dumps(v) if isinstance(v, tuple) else v for v in astuple(row)]
    with db:
        db.execute("DELETE FROM operators")
        db.execute(f"INSERT INTO operators VALUES ({', '.join('?' * len(values))})", values)
        db.execute("UPDATE settings SET value = ? WHERE key = ?", (roster_seal([row], key), ROSTER_SETTING))
    db.close()
    return people, listed


def put_back(folder: Path, people: list[Any], listed: list[Any]) -> None:
    edited(folder, "DELETE FROM operators")
    for row in people:
        edited(folder, f"INSERT INTO operators VALUES ({', '.join('?' * len(row))})", *row)
    edited(folder, "UPDATE settings SET value = ? WHERE key = ?", *listed, ROSTER_SETTING)


def until(said: Callable[[], bool]) -> bool:
    return any(said() or time.sleep(0.1) for _ in range(100))


def noticed(running: Daemon, folder: Path) -> bool:
    """Cuts off what was recorded since the last time; whether the daemon says so."""
    ask(running)
    time.sleep(0.6)  # the watch looks twice a second, or later: then it sees the next end, which is cut off as well
    edited(folder, "DELETE FROM audit WHERE seq > 2")
    edited(folder, "UPDATE audit_heads SET seq = 2, hash = (SELECT hash FROM audit WHERE seq = 2)")
    return "rewritten outside" in running.here().get("/api/v1/status").text


def test_an_agent_beside_a_real_daemon_gets_nothing_let_go(tmp_path: Path) -> None:
    with daemon(tmp_path, policy="default") as running:
        ticket = running.here().post(EVALUATE, json=HELD).json()["pendingId"]
        # 1. it approves by editing the row
        edited(tmp_path, "UPDATE tickets SET state = 'approved', decided_by = 'ana'")
        assert not ask(running) and not ask(running, pendingId=ticket)
        edited(tmp_path, "UPDATE tickets SET state = 'pending_approval', decided_by = ''")
        # 2. it becomes the only operator, before and after the real one signed in
        for _ in range(2):
            before = usurp(tmp_path)
            answer = running.here().post("/api/v1/session", json={"operator": "ana", "passphrase": OWN})
            assert answer.status_code == 401, answer.text
            put_back(tmp_path, *before)
            running.sign_in()
        # 3. it edits the files that the daemon was started with
        (tmp_path / "interlock.toml").write_text("[safetyLoop]\nmode = 'disabled'\n")
        (tmp_path / "state" / "installation.key").write_bytes(bytes(32))
        assert not ask(running) and running.here().get("/api/v1/mode").json()["mode"] == "enforcing"
        # 4. a person approves: it is let go once, and never again
        approve = f"/api/v1/tickets/{ticket}/approve"
        assert running.here().post(approve, json={}, headers=running.sign_in()).status_code == 200
        assert ask(running)
        edited(tmp_path, "UPDATE tickets SET state = 'approved', spent_at = 0 WHERE id = ?", ticket)
        assert not ask(running)
        # 5. it cuts the record off
        edited(tmp_path, "DELETE FROM checkpoints")
        assert until(lambda: noticed(running, tmp_path))
