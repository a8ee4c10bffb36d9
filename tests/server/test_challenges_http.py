"""Challenges over HTTP: an operator who is signed in has a code shown; nobody else sees that there is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from daemons import InProcessDaemon, in_process_daemon
from interlock.approvals import challenges
from interlock.approvals.challenges import releasing
from interlock.model import AgentRef
from interlock.records import Block, Challenge

AGENT = AgentRef("uid:1000", "claude", "s1")
PATH = "/api/v1/challenges"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path, policy={"use": "default"}) as made:
        yield made


def blocked(app: InProcessDaemon) -> Challenge:
    now, state = app.clock.now(), app.state
    block = Block(AGENT.principal, "danger zone", now, "interlock", AGENT.name)
    state.store.write(lambda tx: tx.save_block(block))
    state.remember_block(block)
    return state.store.write(lambda tx: challenges.issue(tx, state, AGENT, "block", "danger zone", now))


def test_an_operator_sees_what_waits_and_has_its_code_shown(app: InProcessDaemon) -> None:
    made = blocked(app)
    operator = app.sign_in("bo")
    [listed] = app.call("GET", PATH, headers=operator).json()["challenges"]
    assert (listed["id"], listed["kind"], listed["reason"], listed["shown"]) == (made.id, "block", "danger zone", False)
    answer = app.call("POST", f"{PATH}/{made.id}/reveal", {}, operator)
    assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
    assert releasing.verify(app.state, AGENT, made.id, answer.json()["code"])["verified"] is True
    assert app.call("GET", PATH, headers=operator).json() == {"challenges": []}


@pytest.mark.parametrize("way", ["", "/{id}/reveal", "/{id}/reissue"])
def test_no_agent_gets_anywhere_near_a_code(app: InProcessDaemon, way: str) -> None:
    made, token = blocked(app), app.agent()
    method, path = "POST" if way else "GET", PATH + way.format(id=made.id)
    for headers, peer, status in ((token, "", 403), (None, "uid:1000", 403), (None, "uid:0", 403), (None, "", 401)):
        answer = app.call(method, path, {} if way else None, headers, peer)
        assert answer.status_code == status and made.id not in answer.text and "code" not in answer.json()
    assert app.state.store.read(lambda tx: tx.challenge(made.id)) == made


def test_a_code_takes_a_fresh_sign_in(app: InProcessDaemon) -> None:
    made, operator = blocked(app), app.sign_in()
    app.clock.forward(121)
    assert app.call("POST", f"{PATH}/{made.id}/reveal", {}, operator).status_code == 403


@pytest.mark.parametrize("id", ["none", "5f0c0000-0000-4000-8000-000000000000", "%00", "..", "x" * 500])
def test_there_is_no_code_for_what_is_no_challenge(app: InProcessDaemon, id: str) -> None:
    for way in ("reveal", "reissue"):
        assert app.call("POST", f"{PATH}/{id}/{way}", {}, app.sign_in()).status_code in (400, 404)


def test_a_challenge_that_ran_out_is_listed_and_issued_anew(app: InProcessDaemon) -> None:
    made = blocked(app)
    app.clock.forward(301)
    operator = app.sign_in()
    assert app.call("POST", f"{PATH}/{made.id}/reveal", {}, operator).status_code == 409
    [listed] = app.call("GET", PATH, headers=operator).json()["challenges"]
    assert listed["id"] == made.id
    again = app.call("POST", f"{PATH}/{made.id}/reissue", {}, operator).json()
    assert again["id"] != made.id and again["state"] == "open"
    assert app.call("POST", f"{PATH}/{again['id']}/reveal", {}, operator).status_code == 200


def test_a_paused_step_is_listed_with_what_it_would_do(app: InProcessDaemon) -> None:
    headers = app.agent("claude")
    asked = {"hint": "run git push --force origin main", "agent": "claude"}
    ticket = app.call("POST", "/api/v1/evaluate", asked, headers).json()["pendingId"]
    held = app.state.store.read(lambda tx: tx.ticket(ticket))
    assert held is not None
    now, state, digest = app.clock.now(), app.state, held.digest
    state.store.write(lambda tx: challenges.issue(tx, state, held.agent, "verify", "score 85", now, digest=digest))
    [listed] = app.call("GET", PATH, headers=app.sign_in()).json()["challenges"]
    assert (listed["ticket"], listed["title"]) == (ticket, "run git push --force origin main")


def test_a_block_is_lifted_by_hand_only_with_a_reason(app: InProcessDaemon) -> None:
    blocked(app)
    operator = app.sign_in()
    for reason in ("", "?reason="):
        assert app.call("DELETE", f"/api/v1/blocks/uid:1000{reason}", headers=operator).status_code == 400
    assert app.call("DELETE", "/api/v1/blocks/uid:1000?reason=talked", headers=operator).status_code == 200
    assert app.call("GET", PATH, headers=operator).json() == {"challenges": []}
