"""Who may do what in the console: no agent anything, a viewer nothing that changes, nobody with another's passkey, and no flood keeps people out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from authenticator import ORIGIN, UP, Authenticator
from browser_window import LOOKS, Window, route_path, signed_in_window
from daemons import PASSPHRASE, QUICK, InProcessDaemon, in_process_daemon
from interlock.identity.operators import add_operator, sign_in
from interlock.model import TicketState

OWN_ROUTES = re.compile("/console/(sign-in|sign-out|set-up|keys|fresh)")  # everybody's own session and ways in


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path_factory.mktemp("state"), policy={"use": "default"}) as made:
        yield made


@pytest.fixture(scope="module")
def ana(app: InProcessDaemon) -> tuple[Window, Authenticator]:
    return signed_in_window(app)


@pytest.fixture(scope="module")
def bo(app: InProcessDaemon) -> tuple[Window, Authenticator]:
    return signed_in_window(app, "bo")


def held(app: InProcessDaemon, command: str, peer: str = "uid:1000") -> str:
    body = {"command": command, "agent": {"name": "claude"}, "cwd": "/home/dev/app"}
    return str(app.call("POST", "/api/v1/evaluate", body, peer=peer).json()["pendingId"])


def state_of(app: InProcessDaemon, id: str) -> TicketState:
    ticket = app.state.store.read(lambda tx: tx.ticket(id))
    assert ticket is not None
    return ticket.state


def test_an_agents_token_opens_nothing_even_beside_a_cookie(
    app: InProcessDaemon, ana: tuple[Window, Authenticator]
) -> None:
    agent, window = app.agent(), ana[0]
    id = held(app, "rm -rf agent-token")
    for route in app.daemon.console.routes:
        for cookies in ({}, dict(window.cookies)):
            thief = Window(app, cookies=cookies)
            sent = {**agent, "origin": ORIGIN, "x-csrf-token": window.mark}
            answer = thief.raw(route.method, route_path(route, id), sent)
            assert answer.status_code == 403, route
    assert state_of(app, id) is TicketState.WAITING


def test_whoever_got_hold_of_the_cookie_alone_changes_nothing(
    app: InProcessDaemon, ana: tuple[Window, Authenticator]
) -> None:
    """A browser sends the cookie of localhost to every port there, such as a program's that an agent serves."""
    window, id = ana[0], held(app, "git branch -D old")
    thief = Window(app, cookies=dict(window.cookies))
    for route in app.daemon.console.routes:
        if route.method == "GET" and route.path != "/console/events":
            answer = thief.get(route_path(route, id))
            assert window.mark not in answer.text + str(answer.headers), route
    assert thief.form(f"/console/tickets/{id}/approve").status_code == 403
    setting_up = Window(app)
    setting_up.set_up("bo")
    assert setting_up.mark not in Window(app, cookies=dict(setting_up.cookies)).get("/console/set-up").text


def test_the_socket_of_agents_has_no_pages(app: InProcessDaemon) -> None:
    for route in app.daemon.console.routes:
        for headers in ({}, {"origin": ORIGIN}):
            answer = app.call(route.method, route_path(route), headers=headers, peer="uid:1000")
            assert answer.status_code in (403, 404), route
            assert "text/html" not in answer.headers["content-type"], route


def test_an_operators_own_token_of_the_api_opens_no_page(app: InProcessDaemon) -> None:
    assert Window(app).raw("GET", "/console/queue", app.sign_in()).status_code == 403


def test_a_viewer_changes_nothing_on_any_page(app: InProcessDaemon) -> None:
    _, session = sign_in(app.state, "ana", PASSPHRASE, "test")
    add_operator(app.state, session, "vic", PASSPHRASE, ["viewer"], kdf=QUICK)
    window, _ = signed_in_window(app, "vic")
    id = held(app, "rm -rf viewer")
    for route in app.daemon.console.routes:
        if route.method == "POST" and not OWN_ROUTES.match(route.path) and not LOOKS.fullmatch(route.path):
            answer = window.form(route_path(route, id), {"reason": "no", "typed": "viewer", "principal": "uid:1000"})
            assert answer.status_code == 403, route
    assert state_of(app, id) is TicketState.WAITING


def test_an_approver_gets_no_page_of_an_admin(app: InProcessDaemon, bo: tuple[Window, Authenticator]) -> None:
    for route in app.daemon.console.routes:
        if route.role == "admin":
            window = bo[0]
            answer = window.form(route_path(route)) if route.method == "POST" else window.get(route_path(route))
            assert answer.status_code == 403, route


def touch(window: Window, key: Authenticator, ticket: str, **more: Any) -> dict[str, Any]:
    """What a page sends after a touch for a ticket."""
    asked = window.json(f"/console/step-up/{ticket}/begin").json()
    return {"ceremony": asked["ceremony"], "response": key.get(asked["publicKey"], **more)}


def test_a_touch_counts_for_its_own_action_operator_browser_and_once(
    app: InProcessDaemon, ana: tuple[Window, Authenticator], bo: tuple[Window, Authenticator]
) -> None:
    (window, key), (other, others) = ana, bo
    one, two = held(app, "rm -rf one"), held(app, "rm -rf two")
    second = Window(app)
    second.enter(key)

    def refused(by: Window, ticket: str, body: dict[str, Any]) -> None:
        answer = by.json(f"/console/step-up/{ticket}/approve", body)
        assert answer.status_code in (403, 422), answer.text
        assert state_of(app, ticket) is TicketState.WAITING

    refused(window, two, touch(window, key, one))  # another action
    refused(other, one, touch(window, key, one))  # another operator sends it
    refused(second, one, touch(window, key, one))  # another browser of the same operator
    refused(window, one, touch(window, others, one))  # the passkey of somebody else
    refused(window, one, touch(window, Authenticator(), one))  # a passkey that nobody knows
    refused(window, one, touch(window, key, one, flags=UP))  # touched, by whom is not known
    refused(window, one, touch(window, key, one, origin="http://localhost:3000"))  # a page of another program here
    refused(window, one, touch(window, key, one, rp_id="evil.example"))
    refused(window, one, touch(window, key, one, type="webauthn.create"))
    refused(window, one, touch(window, key, one, client={"crossOrigin": True}))  # in a frame of another page
    refused(window, one, touch(window, key, one, challenge="AAAA"))
    refused(window, one, {**touch(window, key, one), "ceremony": "guess"})
    for body in ({}, {"ceremony": "x"}, {"response": {}}, {"passphrase": PASSPHRASE, "code": "000000"}):
        refused(window, one, body)
    fresh = window.json("/console/fresh/begin").json()  # asked anew for changes: that approves nothing
    sign = {"ceremony": fresh["ceremony"], "response": key.get(fresh["publicKey"])}
    refused(window, one, sign)
    good = touch(window, key, one)
    assert window.json(f"/console/step-up/{one}/approve", good).status_code == 200
    assert state_of(app, one) is TicketState.APPROVED
    refused(window, two, good)  # sent once more
    assert window.json(f"/console/step-up/{one}/approve", good).status_code == 403


def test_being_asked_anew_for_changes_approves_nothing_dangerous(
    app: InProcessDaemon, ana: tuple[Window, Authenticator]
) -> None:
    window, key = ana
    asked = window.json("/console/fresh/begin").json()
    given = {"ceremony": asked["ceremony"], "response": key.get(asked["publicKey"])} if "ceremony" in asked else {}
    assert not given or window.json("/console/fresh/finish", given).status_code == 200
    id = held(app, "rm -rf fresh")
    assert window.form(f"/console/tickets/{id}/approve").status_code == 422
    assert state_of(app, id) is TicketState.WAITING


def test_whoever_floods_with_questions_leaves_the_queue_usable(
    app: InProcessDaemon, ana: tuple[Window, Authenticator]
) -> None:
    window, _ = ana
    for number in range(60):
        for peer in ("uid:3000", "uid:3001"):
            body = {"command": f"rm -rf flood{number}", "agent": {"name": f"a{number}"}}
            app.call("POST", "/api/v1/evaluate", body, peer=peer)
    id = held(app, "rm -rf meant", peer="uid:3002")
    page = window.get("/console/queue")
    assert page.status_code == 200 and f'data-item="{id}"' in page.text
    assert window.form(f"/console/tickets/{id}/reject", {"reason": "no"}).status_code == 303


def test_guesses_are_slowed_down_and_a_passkey_still_signs_in(
    app: InProcessDaemon, ana: tuple[Window, Authenticator]
) -> None:
    fields = {"name": "bo", "passphrase": "wrong", "code": "000000"}
    statuses = [Window(app).form("/console/sign-in", fields).status_code for _ in range(12)]
    assert statuses[0] == 401 and statuses[-1] == 429
    assert Window(app).enter(ana[1]).status_code == 200


def test_a_flood_without_a_cookie_does_not_keep_out_whoever_is_signed_in(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with in_process_daemon(tmp_path_factory.mktemp("few"), limits={"requests_per_minute": 30}) as app:
        window, _ = signed_in_window(app)
        app.clock.forward(120)
        answers = [Window(app).get("/console/sign-in").status_code for _ in range(40)]
        assert answers[-1] == 429
        assert window.get("/console/queue").status_code == 200


def test_a_flood_without_a_cookie_keeps_nobody_from_signing_in(tmp_path_factory: pytest.TempPathFactory) -> None:
    with in_process_daemon(tmp_path_factory.mktemp("flooded"), limits={"requests_per_minute": 30}) as app:
        window, key = signed_in_window(app)
        window.form("/console/sign-out")
        app.clock.forward(120)
        assert [Window(app).get("/console/queue").status_code for _ in range(40)][-1] == 429
        assert Window(app).enter(key).status_code == 200  # a stranger's browser: another page was flooded
        for path in ("/console/sign-in", "/console/sign-in/who"):
            assert [Window(app).get(path).status_code for _ in range(40)][-1] == 429
        for path in ("begin", "finish"):
            assert [Window(app).json(f"/console/sign-in/passkey/{path}").status_code for _ in range(40)][-1] == 429
        assert window.get("/console/sign-in").status_code == 200
        assert window.enter(key).status_code == 200  # a browser that was signed in before
        assert window.get("/console/queue").status_code == 200


def test_the_mark_of_a_browser_opens_nothing_and_cannot_be_made_up(tmp_path_factory: pytest.TempPathFactory) -> None:
    with in_process_daemon(tmp_path_factory.mktemp("marked"), limits={"requests_per_minute": 30}) as app:
        window, key = signed_in_window(app)
        mark = window.cookies["interlock-browser"]
        assert Window(app, cookies={"interlock-browser": mark}).get("/console/queue").status_code == 303
        app.clock.forward(120)
        assert [Window(app).get("/console/sign-in").status_code for _ in range(40)][-1] == 429
        for wrong in ("", "x", f"{mark[:16]}.{'0' * 64}", f"{'0' * 16}{mark[16:]}", f"{mark}0"):
            assert Window(app, cookies={"interlock-browser": wrong}).get("/console/sign-in").status_code == 429, wrong
        assert Window(app, cookies={"interlock-browser": mark}).get("/console/sign-in").status_code == 200
        asked = Window(app, cookies={"interlock-browser": mark}).json("/console/sign-in/passkey/begin").json()
        app.clock.forward(60)
        for _ in range(600):
            app.state.visitors.begin("sign-in", b"x", "", app.clock.now())  # strangers' questions
        body = {"ceremony": asked["ceremony"], "response": key.get(asked["publicKey"])}
        assert (
            Window(app, cookies={"interlock-browser": mark}).json("/console/sign-in/passkey/finish", body).status_code
            == 200
        )


PUBLIC = "https://interlock.example.com"
HOST = {"host": "interlock.example.com"}
AGENTS = [
    ("POST", "/api/v1/evaluate"), ("POST", "/api/v1/evaluate/batch"), ("GET", "/api/v1/status"), ("GET", "/api/v1/tickets"), ("POST", "/api/v1/session"),
    ("POST", "/api/v1/aql"), ("POST", "/mcp"), ("POST", "/api/v1/hook/claude-code?event=PreToolUse"), ("GET", "/api/v1/hook/codex"), ("GET", "/metrics"), ("GET", "/healthz"), ("GET", "/openapi.json"), ("GET", "/consoles"), ("GET", "/console.json"),
]  # fmt: skip


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path_factory.mktemp("public"), console={"public_url": PUBLIC}) as made:
        yield made


def test_under_its_public_name_there_is_a_console_and_nothing_for_agents(public: InProcessDaemon) -> None:
    agent = public.agent()
    for method, path in AGENTS:
        for host in ("interlock.example.com", "INTERLOCK.example.com"):
            for headers in ({}, agent, public.sign_in()):
                answer = public.call(method, path, {"command": "ls"}, {**headers, "host": host})
                assert answer.status_code == 404, (method, path)
    assert Window(public).raw("GET", "/console/sign-in", HOST).status_code == 200
    for host in (
        "interlock.example.com:443",
        "interlock.example.com.",
        "evil.interlock.example.com",
        "interlock.example.com@evil",
    ):
        assert Window(public).raw("GET", "/console/sign-in", {"host": host}).status_code == 403, host


@pytest.mark.parametrize("name", ["x-forwarded-for", "X-Real-IP", "cf-connecting-ip"])
def test_a_proxy_that_hides_the_public_name_serves_nobody_what_is_for_agents_here(
    public: InProcessDaemon, name: str
) -> None:
    agent = public.agent()
    for method, path in (*AGENTS[:8], ("GET", "/console/sign-in"), ("POST", "/api/v1/session")):
        answer = public.call(method, path, {"command": "ls"}, {**agent, name: "203.0.113.7"})
        assert "does not pass the Host header on" in answer.text, (method, path, answer.text)
    assert public.call("POST", "/api/v1/evaluate", {"command": "ls"}, agent).json()["allowed"] is True


def test_under_its_public_name_forms_come_from_there_alone(public: InProcessDaemon) -> None:
    for origin in ("http://interlock.example.com", ORIGIN, "https://evil.example", "null", f"{PUBLIC}:8443"):
        answer = Window(public).raw("POST", "/console/sign-in/passkey/begin", {**HOST, "origin": origin})
        assert answer.status_code == 403, origin
    assert Window(public).raw("POST", "/console/sign-in/passkey/begin", {**HOST, "origin": PUBLIC}).status_code == 200


def test_a_cookie_of_this_device_is_none_under_the_public_name_and_the_other_way_round(public: InProcessDaemon) -> None:
    here, _ = signed_in_window(public)
    token = here.cookies["interlock"]
    for name in ("interlock", "__Host-interlock"):
        answer = Window(public).raw("GET", "/console/keys", {**HOST, "cookie": f"{name}={token}"})
        assert answer.status_code == 303, name
    assert Window(public).raw("GET", "/console/keys", {"cookie": f"__Host-interlock={token}"}).status_code == 303


def test_a_passkey_of_this_device_approves_nothing_under_the_public_name(public: InProcessDaemon) -> None:
    _, key = signed_in_window(public, "bo")
    asked = Window(public, PUBLIC).json("/console/sign-in/passkey/begin", **HOST).json()
    body = {"ceremony": asked["ceremony"], "response": key.get(asked["publicKey"], origin=PUBLIC)}
    assert Window(public, PUBLIC).json("/console/sign-in/passkey/finish", body, **HOST).status_code in (401, 403)
