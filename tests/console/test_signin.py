"""Signing in to the console: by passkey, or passphrase and code, from our own page alone, with a cookie that nobody else gets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from authenticator import ORIGIN, Authenticator
from browser_window import Window, signed_in_window
from daemons import PASSPHRASE, QUICK, InProcessDaemon, bearer, in_process_daemon
from interlock.identity.console_access import set_up_link
from interlock.identity.operators import add_operator, sign_in
from interlock.model import TicketState

PUSH = {"agent": {"name": "claude", "session": "s1"}, "cwd": "/home/dev/app", "command": "git push --force origin main"}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path, policy={"use": "default"}) as made:
        yield made


def held(app: InProcessDaemon) -> str:
    answer = app.call("POST", "/api/v1/evaluate", PUSH, peer="uid:1000").json()
    return str(answer["pendingId"])


def state_of(app: InProcessDaemon, id: str) -> TicketState:
    ticket = app.state.store.read(lambda tx: tx.ticket(id))
    assert ticket is not None
    return ticket.state


def test_from_the_link_of_a_terminal_to_a_signed_in_console(app: InProcessDaemon) -> None:
    window, _ = signed_in_window(app)
    page = window.get("/console/keys")
    assert page.status_code == 200 and "laptop" in page.text and "by a set-up link, from 127.0.0.1" in page.text
    assert window.get("/console/sign-in").headers["location"] == "/console"
    assert window.json("/console/sign-in/who").status_code == 404  # asked with GET
    assert window.get("/console/sign-in/who").json() == {"signedIn": True}


def test_the_sign_in_page_says_who_was_let_in_and_when_but_not_their_names(app: InProcessDaemon) -> None:
    signed_in_window(app)
    page = Window(app).get("/console/sign-in")
    assert "by a set-up link" in page.text and "127.0.0.1" in page.text and "3" in page.text
    assert ">ana<" not in page.text and "laptop" not in page.text


def test_the_cookie_is_for_our_pages_alone(app: InProcessDaemon) -> None:
    window, _ = signed_in_window(app)
    line, mark = window.set_cookies
    name, *attributes = (part.strip() for part in line.split(";"))
    assert name.startswith("interlock=con_")
    assert sorted(attributes) == ["HttpOnly", "Path=/console", "SameSite=Strict"]
    assert mark.startswith("interlock-browser=") and "HttpOnly" in mark and "Path=/console" in mark


def test_over_tls_the_cookie_has_the_name_that_no_other_host_can_set(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path, console={"public_url": "https://interlock.example.com"}) as app:
        window = Window(app, "https://interlock.example.com")
        _, session = sign_in(app.state, "ana", PASSPHRASE, "cli")
        token = set_up_link(app.state, session)
        answer = window.json("/console/set-up", {"token": token}, host="interlock.example.com")
        assert answer.status_code == 200, answer.text
        (line,) = window.set_cookies
        assert line.startswith("__Host-interlock=cos_") and "; Secure" in line and "Domain" not in line
        value = window.cookies["__Host-interlock"]
        window.mark = answer.json()["csrf"]
        assert window.json("/console/keys/passkey/begin", host="interlock.example.com").status_code == 200
        window.cookies = {"interlock": value}  # set by a neighbour under the same parent domain
        assert window.json("/console/keys/passkey/begin", host="interlock.example.com").status_code == 401


def test_a_session_that_was_planted_is_not_the_one_that_is_signed_in(app: InProcessDaemon) -> None:
    window, key = signed_in_window(app)
    planted = window.cookies["interlock"]
    victim = Window(app, cookies={"interlock": planted})
    assert victim.enter(key).status_code == 200
    assert victim.cookies["interlock"] != planted
    assert Window(app, cookies={"interlock": planted}).get("/console/keys").status_code == 303


def test_passphrase_and_code_sign_in_and_wrong_ones_do_not(app: InProcessDaemon) -> None:
    first = Window(app)
    first.set_up()
    codes = first.authenticator()
    window = Window(app)
    fields = {"name": "ana", "passphrase": PASSPHRASE, "code": "000000", "next": "/console/audit"}
    refused = window.form("/console/sign-in", fields)
    assert refused.status_code == 401 and "the code is wrong" in refused.text and PASSPHRASE not in refused.text
    done = window.form("/console/sign-in", fields | {"code": codes.at(int(app.clock.now()))})
    assert (done.status_code, done.headers["location"]) == (303, f"/console/audit#mark={window.mark}")
    assert window.get("/console/keys").status_code == 200


ELSEWHERE = [
    "https://evil.example", "//evil.example", "/\\evil.example", "/console/../../x//evil", "/console\\@evil", "javascript:alert(1)",
    "/console/sign-in?next=x", "/console/a\r\nset-cookie: x", "/api/v1/mode",
]  # fmt: skip


def test_a_sign_in_leads_nowhere_else(app: InProcessDaemon) -> None:
    first = Window(app)
    first.set_up()
    codes = first.authenticator()
    for wanted in ELSEWHERE:
        fields = {"name": "ana", "passphrase": PASSPHRASE, "code": codes.at(int(app.clock.now())), "next": wanted}
        answer = Window(app).form("/console/sign-in", fields)
        assert answer.headers["location"].partition("#")[0] == "/console", wanted
        assert len(answer.headers.get_list("set-cookie")) == 2, wanted
        app.clock.forward(30)


def test_a_sign_in_from_another_page_is_refused(app: InProcessDaemon) -> None:
    first = Window(app)
    first.set_up()
    codes = first.authenticator()
    fields = {"name": "ana", "passphrase": PASSPHRASE, "code": codes.at(int(app.clock.now()))}
    for origin in (None, "http://evil.example", "null", "http://localhost:9999", "http://127.0.0.1:7310"):
        headers = {"origin": origin} if origin else {}
        answer = Window(app).raw("POST", "/console/sign-in", headers, data=fields)
        assert answer.status_code == 403 and "set-cookie" not in answer.headers, origin
    assert Window(app).form("/console/sign-in", fields).status_code == 303


def test_a_form_of_ours_says_where_it_comes_from(app: InProcessDaemon) -> None:
    # Without any referrer a browser sends `Origin: null` with a form, and every sign-in by passphrase would be refused.
    assert Window(app).get("/console/sign-in").headers["referrer-policy"] == "same-origin"


def test_every_change_needs_the_mark_of_its_own_session(app: InProcessDaemon) -> None:
    window, key = signed_in_window(app)
    other, _ = signed_in_window(app, "bo")
    for mark in ("", "wrong", other.mark, window.mark[:-1]):
        stranger = Window(app, cookies=dict(window.cookies), mark=mark)
        for path in ("/console/sign-out", "/console/sign-out/everywhere", f"/console/keys/{key.id.hex()}/remove"):
            assert stranger.form(path).status_code == 403, path
        for path in (
            "/console/fresh/begin",
            "/console/keys/passkey/begin",
            "/console/keys/totp/begin",
            "/console/step-up/x/begin",
        ):
            assert stranger.json(path).status_code in (401, 403), path
    assert window.get("/console/keys").status_code == 200


def test_signing_out_ends_this_browser_and_everywhere_all_of_them(app: InProcessDaemon) -> None:
    window, key = signed_in_window(app)
    second, third = Window(app), Window(app)
    second.enter(key)
    third.enter(key)
    kept = window.cookies["interlock"]
    assert window.form("/console/sign-out").headers["location"] == "/console/sign-in"
    assert "interlock" not in window.cookies
    assert Window(app, cookies={"interlock": kept}).get("/console/keys").status_code == 303
    assert third.get("/console/keys").status_code == 200
    second.form("/console/sign-out/everywhere")
    assert third.get("/console/keys").status_code == 303


def test_a_browser_is_signed_out_when_it_idles(app: InProcessDaemon) -> None:
    window, _ = signed_in_window(app)
    app.clock.forward(30 * 60)
    assert window.get("/console/keys").headers["location"].startswith("/console/sign-in")


def test_a_page_that_is_left_open_keeps_nobody_signed_in(app: InProcessDaemon) -> None:
    window, _ = signed_in_window(app)
    for _ in range(3):
        app.clock.forward(10 * 60)
        part = window.get("/console/queue/count", hx_request="true")  # what a page fetches when something changed
    assert part.headers.get("location", part.headers.get("hx-redirect", "")).startswith("/console/sign-in")


def test_a_touch_approves_over_the_page_and_a_cookie_does_not(app: InProcessDaemon) -> None:
    window, key = signed_in_window(app)
    ticket = held(app)
    assert window.form(f"/console/tickets/{ticket}/approve").status_code >= 400
    asked = window.json(f"/console/step-up/{ticket}/begin").json()
    answer = key.get(asked["publicKey"])
    forged = {**answer, "response": {**answer["response"], "signature": answer["response"]["signature"][:-4] + "AAAA"}}
    refused = window.json(f"/console/step-up/{ticket}/approve", {"ceremony": asked["ceremony"], "response": forged})
    assert refused.status_code == 403 and "signature" in refused.json()["error"]
    assert state_of(app, ticket) is TicketState.WAITING
    asked = window.json(f"/console/step-up/{ticket}/begin").json()
    body = {"ceremony": asked["ceremony"], "response": key.get(asked["publicKey"])}
    done = window.json(f"/console/step-up/{ticket}/approve", body)
    assert done.status_code == 200 and done.json()["state"] == "approved", done.text
    assert window.json(f"/console/step-up/{ticket}/approve", body).status_code == 403
    again = app.call("POST", "/api/v1/evaluate", PUSH, peer="uid:1000").json()
    assert again["allowed"] is True


def test_passphrase_and_code_approve_over_the_page_for_whoever_has_no_passkey(app: InProcessDaemon) -> None:
    first = Window(app)
    first.set_up()
    codes = first.authenticator()
    window = Window(app)
    window.form("/console/sign-in", {"name": "ana", "passphrase": PASSPHRASE, "code": codes.at(int(app.clock.now()))})
    window.get("/console/keys")
    ticket = held(app)
    assert window.json(f"/console/step-up/{ticket}/begin").json() == {"passphrase": True}
    wrong = window.json(f"/console/step-up/{ticket}/approve", {"passphrase": PASSPHRASE, "code": "000000"})
    assert wrong.status_code == 401 and state_of(app, ticket) is TicketState.WAITING
    app.clock.forward(30)
    given = {"passphrase": PASSPHRASE, "code": codes.at(int(app.clock.now()))}
    assert window.json(f"/console/step-up/{ticket}/approve", given).status_code == 200
    assert state_of(app, ticket) is TicketState.APPROVED


def test_a_viewer_sees_and_changes_nothing(app: InProcessDaemon) -> None:
    _, session = sign_in(app.state, "ana", PASSPHRASE, "test")
    add_operator(app.state, session, "vic", PASSPHRASE, ["viewer"], kdf=QUICK)
    window, _ = signed_in_window(app, "vic")
    ticket = held(app)
    assert window.get("/console/keys").status_code == 200
    assert window.json(f"/console/step-up/{ticket}/begin").status_code == 403
    assert window.form(f"/console/tickets/{ticket}/reject", {"reason": "no"}).status_code == 403
    token, _ = sign_in(app.state, "vic", PASSPHRASE, "api")
    for method, path, body in (
        ("POST", f"/api/v1/tickets/{ticket}/reject", {"reason": "no"}),
        ("POST", "/api/v1/grants", {"effect": "delete", "targets": ["/x"], "why": "x"}),
        ("POST", "/api/v1/blocks", {"principal": "uid:1", "reason": "x"}),
    ):
        assert app.call(method, path, body, bearer(token)).status_code == 403, path
    assert app.call("GET", "/api/v1/tickets", None, bearer(token)).status_code == 200


def test_an_agents_token_opens_no_page(app: InProcessDaemon) -> None:
    agent = app.agent()
    for route in app.daemon.console.routes:
        path = route.path.replace("{", "").replace("}", "")
        for headers in ({**agent, "origin": ORIGIN}, agent):
            answer = Window(app).raw(route.method, path, headers)
            assert answer.status_code == 403, (route.method, path)
            assert "set-cookie" not in answer.headers


def test_nobody_gets_past_the_sign_in(app: InProcessDaemon) -> None:
    for route in app.daemon.console.routes:
        if not route.role:
            continue
        answer = Window(app).raw(route.method, route.path.replace("{", "").replace("}", ""), {"origin": ORIGIN})
        assert answer.status_code in (303, 401, 403), route
        assert answer.headers.get("location", "/console/sign-in").startswith("/console/sign-in"), route


def test_a_set_up_opens_nothing_but_a_way_in(app: InProcessDaemon) -> None:
    window = Window(app)
    window.set_up()
    for route in app.daemon.console.routes:
        if route.role:
            answer = window.raw(
                route.method,
                route.path.replace("{", "").replace("}", ""),
                {"origin": ORIGIN, "x-csrf-token": window.mark},
            )
            there = answer.headers.get("location", "").startswith("/console/sign-in")
            assert there or answer.status_code == 401, route
    assert window.register(Authenticator()).json() == {"name": "laptop", "waits": False}


def test_a_set_up_link_that_was_used_is_refused_in_words(app: InProcessDaemon) -> None:
    answer = Window(app).json("/console/set-up", {"token": "set_guess"})
    assert answer.status_code == 401 and "used already" in answer.json()["error"]


def test_garbage_is_refused_and_breaks_nothing(app: InProcessDaemon) -> None:
    window, _ = signed_in_window(app)
    for path in ("/console/sign-in/passkey/finish", "/console/keys/passkey/finish", "/console/fresh/finish"):
        for body in ({}, {"ceremony": 7}, {"ceremony": "x", "response": []}, {"ceremony": "x", "response": {"id": 1}}):
            assert window.json(path, body).status_code in (401, 403, 422), (path, body)
    assert app.state.troubles == {}
    assert window.get("/console/keys", cookie="interlock=\x7f; ;;=; interlock").status_code == 303


def test_what_is_named_with_markup_is_shown_as_text(app: InProcessDaemon) -> None:
    window, key = signed_in_window(app)
    asked = window.json("/console/fresh/begin").json()
    window.json("/console/fresh/finish", {"ceremony": asked["ceremony"], "response": key.get(asked["publicKey"])})
    assert window.register(Authenticator(), '<img src=x onerror="alert(1)">').status_code == 200
    page = window.get("/console/keys").text
    assert "<img src=x" not in page and "&lt;img src=x" in page
