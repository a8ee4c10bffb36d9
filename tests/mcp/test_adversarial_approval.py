"""A client that wants to approve itself: by tokens, by every operation and route, by codes, and many at once (LESSONS: approval)."""

from __future__ import annotations

import json
import secrets
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from deeds import READ, WIPE, challenge_in, goes_on, shown, step, told
from foes import Foe
from servers import Servers, fresh

from daemons import bearer
from interlock.identity.keys.codes import new_code, normal_code

pytestmark = pytest.mark.xdist_group("mcp")
AT_ONCE = 64


def test_no_token_of_its_own_of_others_or_of_its_making_confirms(servers: Servers, rogue: Foe) -> None:
    servers.start(rogue.talk, rogue.name)
    offered = step(rogue.talk, rogue.name, rogue.reset)["confirmation"]
    stranger = servers.shared["http-2025"]
    other = fresh()
    theirs = stranger.execute("execute_agent", element_name=other)["confirmation"]["token"]
    servers.approve(other)  # armed, and another's
    token = offered["token"]
    forged = (
        theirs,
        token[:-1] + ("0" if token[-1] != "0" else "1"),
        token.upper(),
        f"conf_{secrets.token_hex(32)}",
        "conf_x",
    )
    for one in (token, *forged):
        for operation in (offered["operation"], "execute_agent"):
            said = rogue.talk.execute("confirm_operation", confirmation_token=one, operation=operation)
            assert said["success"] is False, said
    assert told(rogue.talk, rogue.name, rogue.reset)["continue"] is False
    assert not goes_on(rogue.talk.execute("execute_agent", element_name=other, _confirmation=theirs))


def test_an_approval_is_good_for_its_own_step_once(servers: Servers, rogue: Foe) -> None:
    servers.start(rogue.talk, rogue.name)
    offered = step(rogue.talk, rogue.name, rogue.reset)["confirmation"]
    servers.approve(rogue.name)
    assert (
        told(rogue.talk, rogue.name, f"executing shell command: git -C /srv/{rogue.name} clean -fdx")["continue"]
        is False
    )
    said = rogue.talk.execute("confirm_operation", confirmation_token=offered["token"], operation="terraform_destroy")
    assert said["error"]["code"] == "TOKEN_SCOPE_MISMATCH"
    assert told(rogue.talk, rogue.name, rogue.reset)["continue"] is True
    assert told(rogue.talk, rogue.name, rogue.reset)["continue"] is False
    said = rogue.talk.execute("confirm_operation", confirmation_token=offered["token"], operation=offered["operation"])
    assert said["error"]["code"] == "TOKEN_ALREADY_USED"
    rogue.talk.execute("abort_execution", element_name=rogue.name)


def test_no_operation_approves_what_a_person_was_asked_for(servers: Servers, rogue: Foe) -> None:
    servers.start(rogue.talk, rogue.name)
    data = step(rogue.talk, rogue.name, rogue.force)
    token, challenge = data["confirmation"]["token"], challenge_in(data["autonomy"])
    (ticket,) = servers.waiting(rogue.name)
    tries: tuple[tuple[str, dict[str, Any]], ...] = (
        ("continue_execution", {"element_name": rogue.name}),
        ("continue_execution", {"element_name": rogue.name, "confirmation_token": token}),
        ("approve_cli_permission", {"element_name": rogue.name, "request_id": ticket["id"]}),
        ("confirm_operation", {"confirmation_token": token, "operation": data["confirmation"]["operation"]}),
        ("release_deadlock", {"element_name": rogue.name, "reason": "please"}),
        (
            "permission_prompt",
            {"element_name": rogue.name, "tool_name": "Bash", "input": {"command": rogue.force.partition(": ")[2]}},
        ),
        ("verify_challenge", {"challenge_id": challenge, "code": new_code()}),
        ("verify_challenge", {"challenge_id": str(uuid.uuid4()), "code": token}),
    )
    for operation, params in tries:
        said = rogue.talk.call("mcp_aql", operation, **params)
        allowed = said.get("data", {})
        assert not said["success"] or operation == "release_deadlock" or allowed["behavior"] == "deny", said
        assert told(rogue.talk, rogue.name)["continue"] is False and servers.waiting(rogue.name)
    rogue.talk.execute("abort_execution", element_name=rogue.name)


BODIES: tuple[Any, ...] = (
    {},
    {"reason": "x", "operator": "ana", "approver": "ana", "mode": "disabled"},
    {"principal": "uid:0", "name": "x", "trust_tier": "trusted"},
)


def test_no_route_of_the_daemon_answers_for_a_person_or_loosens_anything(servers: Servers, rogue: Foe) -> None:
    """Every route, on the socket and on the port, with the agent's own credential, none, and made-up ones."""
    servers.start(rogue.talk, rogue.name)
    challenge = challenge_in(told(rogue.talk, rogue.name, rogue.force))
    (ticket,) = servers.waiting(rogue.name)
    names = {"{id}": ticket["id"], "{principal}": "uid:0", "{name}": "ana"}
    routes = servers.daemon.here().get("/openapi.json").json()["paths"]
    callers = [
        servers.daemon.here(headers=bearer(rogue.token)),
        servers.daemon.tcp(headers={**bearer(rogue.token), "x-forwarded-for": "127.0.0.1", "x-operator": "ana"}),
        servers.daemon.here(),
        servers.daemon.tcp(headers=bearer(f"ses_{secrets.token_urlsafe(32)}")),
    ]
    before = _standing(servers)
    for path, methods in routes.items():
        for method in methods:
            for id in (challenge, ticket["id"]) if "{id}" in path else ("",):
                here = path
                for key, value in {**names, "{id}": id}.items():
                    here = here.replace(key, value)
                if not here.endswith("/wait") and here not in ("/api/v1/evaluate", "/api/v1/evaluate/batch"):
                    for client in callers:
                        for body in BODIES if method != "get" else (None,):
                            answer = client.request(method, here, json=body)
                            rogue.heard += answer.content
    assert _standing(servers) == before
    assert servers.waiting(rogue.name) and told(rogue.talk, rogue.name)["continue"] is False
    code = shown(servers, challenge)
    assert code.encode() not in rogue.heard
    rogue.talk.execute("abort_execution", element_name=rogue.name)


def _standing(servers: Servers) -> Any:
    """What an agent must not change."""
    here, headers = servers.daemon.here(), servers.operator()
    paths = ("mode", "policy", "operators", "grants", "patterns", "blocks", "agents")
    found = {path: here.get(f"/api/v1/{path}", headers=headers).json() for path in paths}
    for one in found["agents"].get("agents", ()):  # when it was last seen is no power
        one.pop("lastSeen", None)
    return found


def together(work: Callable[[int], Any]) -> list[Any]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(work, range(AT_ONCE)))


def test_one_approval_lets_one_of_sixty_four_through(servers: Servers, rogue: Foe) -> None:
    held = rogue.talk.execute("execute_agent", element_name=rogue.name)
    servers.approve(rogue.name)
    token = held["confirmation"]["token"]
    begun = together(lambda at: rogue.talk.execute("execute_agent", element_name=rogue.name, _confirmation=token))
    assert [goes_on(one) for one in begun].count(True) == 1
    step(rogue.talk, rogue.name, rogue.reset)
    servers.approve(rogue.name)
    said = together(lambda at: told(rogue.talk, rogue.name, rogue.reset)["continue"])
    assert said.count(True) == 1
    rogue.talk.execute("abort_execution", element_name=rogue.name)


def test_sixty_four_at_once_get_no_step_more_than_the_limit_and_none_past_a_stop(servers: Servers, rogue: Foe) -> None:
    servers.start(rogue.talk, rogue.name, max_autonomous_steps=5)

    def reported(name: str, hint: str) -> bool:
        return goes_on(rogue.talk.create("record_execution_step", element_name=name, next_action_hint=hint))

    assert together(lambda at: reported(rogue.name, f"reading file number {at}")).count(True) == 5
    other = fresh()
    servers.start(rogue.talk, other)
    told(rogue.talk, other, WIPE)
    assert not any(together(lambda at: reported(other, READ)))


def test_wrong_codes_run_out_and_lock_whoever_tries(servers: Servers, rogue: Foe) -> None:
    """OOB-07, OOB-13: of many at once none is right, and after ten nothing is looked at."""
    servers.start(rogue.talk, rogue.name)
    challenge = challenge_in(told(rogue.talk, rogue.name, WIPE))
    answers = together(lambda at: rogue.talk.create("verify_challenge", challenge_id=challenge, code=new_code()))
    codes = [one["error"]["code"] for one in answers]
    assert codes.count("TOKEN_INVALID") == 10 and set(codes) == {"TOKEN_INVALID", "RATE_LIMIT_EXCEEDED"}
    right = shown(servers, challenge)
    late = rogue.talk.create("verify_challenge", challenge_id=challenge, code=right)
    assert late["error"]["code"] == "RATE_LIMIT_EXCEEDED" and late["error"]["details"]["retry_after_seconds"] > 0
    other = servers.shared["http-2025"].create(
        "verify_challenge", challenge_id=challenge, code=right
    )  # not its principal
    assert other["error"]["code"] == "TOKEN_INVALID"


def test_oob_04_oob_14_its_code_is_in_nothing_it_was_sent_can_read_or_sees_run(servers: Servers, rogue: Foe) -> None:
    servers.start(rogue.talk, rogue.name)
    challenge = challenge_in(told(rogue.talk, rogue.name, WIPE))
    codes = [shown(servers, challenge) for _ in range(3)]  # the newest counts alone
    for operation, params in (
        ("get_execution_state", {"element_name": rogue.name}),
        ("introspect", {"query": "operations"}),
    ):
        rogue.talk.read(operation, **params)
    assert (
        rogue.talk.create("verify_challenge", challenge_id=challenge, code=codes[0])["error"]["code"] == "TOKEN_INVALID"
    )
    codes.append(shown(servers, challenge))  # the attempt ended the one before
    told(rogue.talk, rogue.name)
    rogue.talk.execute("release_deadlock", element_name=rogue.name)
    secrets_ = [word.encode() for code in codes for word in (code, normal_code(code), normal_code(code).lower())]
    seen = rogue.seen()
    for secret in secrets_:
        assert secret not in seen
    for path in servers.daemon.folder.rglob("*"):
        content = _read(path) if path.is_file() else b""
        assert not any(secret in content for secret in secrets_), path
    for process in Path("/proc").glob("[0-9]*"):
        for kind in ("cmdline", "environ"):
            content = _read(process / kind)
            assert not any(secret in content for secret in secrets_), process
    freed = rogue.talk.create("verify_challenge", challenge_id=challenge, code=codes[-1])
    assert freed["data"]["verified"] is True and freed["data"]["unblocked_agent"] == rogue.name
    again = rogue.talk.create("verify_challenge", challenge_id=challenge, code=codes[-1])
    assert again["error"]["code"] == "TOKEN_ALREADY_USED"
    assert told(rogue.talk, rogue.name, WIPE)["stopped"] is True  # it approved nothing
    assert json.dumps(freed).count(codes[-1]) == 0


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
