"""What a request to the console may be: from our own page, with its own mark, in bounds; and what every answer says about itself."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from authenticator import ORIGIN
from browser_window import Window, route_path, signed_in_window
from daemons import InProcessDaemon, in_process_daemon
from interlock.records import AuditQuery, TicketQuery

CSP = "default-src 'none'"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path_factory.mktemp("state"), policy={"use": "default"}) as made:
        yield made


@pytest.fixture(scope="module")
def ana(app: InProcessDaemon) -> Window:
    return signed_in_window(app)[0]


def framed(answer: httpx.Response) -> bool:
    """Whether another site could show it in a frame, or run something in it."""
    policy = answer.headers.get("content-security-policy", "")
    tight = CSP in policy and "frame-ancestors 'none'" in policy and "base-uri 'none'" in policy
    return not tight or "unsafe" in policy or answer.headers.get("x-frame-options") != "DENY"


def held(app: InProcessDaemon, command: str = "rm -rf src") -> str:
    answer = app.call("POST", "/api/v1/evaluate", {"command": command, "agent": {"name": "a"}}, peer="uid:1000")
    return str(answer.json()["pendingId"])


def gets(app: InProcessDaemon) -> list[str]:
    return [route_path(route) for route in app.daemon.console.routes if route.method == "GET"]


STREAM = "/console/events"
FILES = ["/console/static/console.css", "/console/static/mark.svg", "/console/static/none.js"]


def test_no_answer_can_be_framed_or_run_a_foreign_script(app: InProcessDaemon, ana: Window) -> None:
    for path in [*gets(app), *FILES, "/console/nothing", "/console/tickets/none"]:
        for window in (Window(app),) if path == STREAM else (Window(app), ana):
            answer = window.get(path)
            assert not framed(answer), path
            assert answer.headers["x-content-type-options"] == "nosniff", path
            kept = "max-age" in answer.headers["cache-control"] and path in FILES
            assert kept or answer.headers["cache-control"] == "no-store", path
    for answer in (Window(app).form("/console/tickets/x/reject"), ana.raw("POST", "/console/sign-out", {})):
        assert answer.status_code in (303, 403) and not framed(answer)


def kept(app: InProcessDaemon) -> object:
    """What people could have changed, and the record of it."""
    now, query = app.clock.now(), AuditQuery(limit=1_000)
    tables = app.state.store.read(lambda tx: (tx.tickets(TicketQuery()), tx.blocks(), tx.grants(now), tx.operators()))
    return tables, [row.event for row in app.state.store.read(lambda tx: tx.audit(query))]


def test_a_get_changes_nothing(app: InProcessDaemon, ana: Window) -> None:
    id = held(app)
    before = kept(app)
    for route in app.daemon.console.routes:
        path = route_path(route, id)
        if path != STREAM:
            answer = ana.get(f"{path}?csrf={ana.mark}&reason=x")
            assert answer.status_code < 500 and (route_path(route) in gets(app) or answer.status_code == 404), route
    assert kept(app) == before


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"])
def test_other_methods_are_not_answered(app: InProcessDaemon, ana: Window, method: str) -> None:
    for path in ("/console/queue", "/console/sign-out", "/console/tickets/x/approve", "/console/static/console.js"):
        answer = ana.raw(method, path, {"origin": ORIGIN, "x-csrf-token": ana.mark})
        assert answer.status_code in (404, 405), (method, path)
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert ana.get("/console/queue").status_code == 200


def test_a_head_is_a_get_without_its_body(app: InProcessDaemon, ana: Window) -> None:
    assert ana.raw("HEAD", "/console/queue", {}).status_code == 200
    assert ana.raw("HEAD", "/console/tickets/x/approve", {"origin": ORIGIN}).status_code == 404


FOREIGN = [
    "https://evil.example",
    "null",
    "http://localhost:9999",
    "https://localhost:7310",
    "http://localhost:7310.evil",
    "file://",
    "",
]


def test_every_post_comes_from_our_own_page_with_its_own_mark(app: InProcessDaemon, ana: Window) -> None:
    other, _ = signed_in_window(app, "bo")
    for route in app.daemon.console.routes:
        if route.method != "POST":
            continue
        path = route_path(route)
        for origin in FOREIGN:
            answer = ana.raw("POST", path, {"origin": origin, "x-csrf-token": ana.mark})
            assert answer.status_code == 403, (path, origin)
        assert ana.raw("POST", path, {"x-csrf-token": ana.mark}).status_code == 403, path  # no origin at all
        for mark in ("", other.mark, ana.mark[:-1], ana.mark + "x", "ü"):
            answer = Window(app, cookies=dict(ana.cookies), mark=mark).form(path)
            if route.role:  # before anybody is signed in, the origin has to do
                assert answer.status_code == 403, (path, mark)
            elif path.startswith("/console/keys"):
                assert answer.status_code in (403, 422), (path, mark)
    assert ana.get("/console/queue").status_code == 200


def test_a_mark_in_the_address_is_none(app: InProcessDaemon, ana: Window) -> None:
    answer = ana.raw("POST", f"/console/sign-out?csrf={ana.mark}", {"origin": ORIGIN})
    assert answer.status_code == 403 and ana.get("/console/queue").status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "application/xml", ""])
def test_a_body_of_another_kind_is_not_read(app: InProcessDaemon, ana: Window, kind: str) -> None:
    body = f"csrf={ana.mark}&reason=x".encode()
    answer = ana.raw("POST", "/console/tickets/x/reject", {"origin": ORIGIN, "content-type": kind}, content=body)
    assert answer.status_code in (403, 422)


MANY = "&".join(f"f{number}=1" for number in range(300))
BODIES: list[tuple[bytes, str, int]] = [
    (b"x" * 1_200_000, FORM, 413),
    (MANY.encode(), FORM, 422),
    (b"a=\xff", FORM, 422),
    (b"reason=a%00b", FORM, 422),
    (b'{"reason": "\\ud800"}', "application/json", 400),
    (b'{"reason": "a\\u0000b"}', "application/json", 400),
    (b"[" * 100_000, "application/json", 413),
    (b'{"reason": ' + b"9" * 6_000 + b"}", "application/json", 400),
    (b'{"name": "ana", "name": "bo"}', "application/json", 400),
    (b"{", "application/json", 400),
]


@pytest.mark.parametrize(("body", "kind", "status"), BODIES, ids=range(len(BODIES)))
def test_a_body_that_is_no_form_is_refused_and_troubles_nobody(
    app: InProcessDaemon, ana: Window, body: bytes, kind: str, status: int
) -> None:
    for window in (ana, Window(app)):
        for path in ("/console/tickets/x/reject", "/console/sign-in", "/console/sign-in/passkey/finish"):
            answer = window.raw("POST", path, {"origin": ORIGIN, "content-type": kind}, content=body)
            assert answer.status_code == status, path
    assert app.state.troubles == {}


def test_a_reason_that_never_ends_is_refused(app: InProcessDaemon, ana: Window) -> None:
    answer = ana.form(f"/console/tickets/{held(app)}/reject", {"reason": "x" * 900_000})
    assert answer.status_code == 422


@pytest.mark.parametrize(
    "query",
    [MANY, "x=%ff", "x=%00", "=&=&&&", "a" * 9_000, "next=%0d%0aset-cookie:%20a=b", "%", "x[]=1&x.y=2"],
    ids=range(8),
)
def test_an_address_with_anything_behind_it_is_answered(app: InProcessDaemon, ana: Window, query: str) -> None:
    for window in (Window(app), ana):
        for path in ("/console/queue", "/console/sign-in", "/console/tickets/x"):
            answer = window.get(f"{path}?{query}")
            assert answer.status_code < 500, path
            assert not injected(answer), path
    assert app.state.troubles == {}


def injected(answer: httpx.Response) -> bool:
    """Whether a header has more than one line, or a cookie that we did not make."""
    lines = any(sign in value for value in answer.headers.values() for sign in "\r\n\0")
    return lines or any(
        not line.startswith(("interlock=", "interlock-browser=", "__Host-interlock"))
        for line in answer.headers.get_list("set-cookie")
    )


PATHS = [
    "/console/%0d%0aset-cookie:%20interlock=x", "/console/%0aset-cookie:%20a=b", "/console/tickets/%0d%0ax:%20y", "/console/%00", "/console/%ff",
    "/console/%E2%80%AE", "/console/%5cevil.example", "/console//evil.example", "/console/tickets/%2e%2e%2f%2e%2e", "/console/tickets/%252e",
    "/console/tickets/" + "a" * 5_000, "/console/tickets/%F0%9F%92%A3", "/console/..;/api/v1/mode",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", ["localhost:7310", "127.0.0.1:7310", "[::1]:7310"])
def test_nothing_in_a_path_reaches_a_header(app: InProcessDaemon, ana: Window, path: str, host: str) -> None:
    for window in (Window(app), ana):
        answer = window.raw("GET", path, {"host": host})
        assert answer.status_code < 500 and not injected(answer)
        there = answer.headers.get("location", "/console/")
        assert there.startswith(("/console", "http://localhost:7310/console/")), there
    assert app.state.troubles == {}


def test_by_its_number_the_same_page_is_under_its_name_with_what_was_asked(app: InProcessDaemon) -> None:
    answer = Window(app).raw("GET", "/console/audit?ticket=a%26b&x=1", {"host": "127.0.0.1:7310"})
    assert answer.headers["location"] == "http://localhost:7310/console/audit?ticket=a%26b&x=1"


ESCAPES = [
    "/console/static/../app.py", "/console/static/%2e%2e/app.py", "/console/static/..%2fapp.py", "/console/static/%2e%2e%2f%2e%2e%2fapp.py",
    "/console/static//etc/passwd", "/console/static/vendor/../../templates/base.html", "/console/static/..\\app.py", "/console/static/console.js%00.css",
    "/console/static/", "/console/static/vendor", "/console/static/vendor/README.md", "/console/static/CONSOLE.JS",
]  # fmt: skip


@pytest.mark.parametrize("path", ESCAPES)
def test_no_file_but_the_consoles_own_is_served(app: InProcessDaemon, path: str) -> None:
    answer = Window(app).get(path)
    assert answer.status_code == 404 and "import" not in answer.text


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil:7310",
        "127.0.0.1:80",
        "localhost",
        "",
        "localhost:7310@evil",
        "0.0.0.0:7310",
        "[::]:7310",
    ],
)
def test_a_name_that_is_not_ours_gets_no_page(app: InProcessDaemon, ana: Window, host: str) -> None:
    answer = ana.raw("GET", "/console/queue", {"host": host, "x-forwarded-host": "localhost:7310"})
    assert answer.status_code == 403 and "csrf" not in answer.text


def test_what_a_proxy_says_is_nobodys_word(app: InProcessDaemon, ana: Window) -> None:
    said = {
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "https",
        "forwarded": "host=evil.example",
        "x-original-url": "/console/queue",
    }
    answer = Window(app).raw("GET", "/console/queue", said)
    assert answer.headers["location"] == "/console/sign-in?next=/console/queue"
    assert "evil" not in Window(app).raw("GET", "/console/sign-in", said).text


ELSEWHERE = [
    "//evil.example", "/\\evil.example", "\\\\evil.example", "/console/..//evil.example", "/console/../api/v1/mode", "/console/%2e%2e/x", "/console/.%2E/x",
    "/console/./../x", "%2f%2fevil.example", "https:/console/evil", "https:evil.example", "/console@evil.example", "/consoleevil", "/console.evil.example/",
    "/console/\tx", "/console/\nx", "/console/ x\r", "javascript:alert(1)//console/", "data:text/html,x", " /console/x", "/console/" + "x" * 3_000,
]  # fmt: skip


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_a_sign_in_leads_to_a_page_of_ours(app: InProcessDaemon, ana: Window, wanted: str) -> None:
    answer = ana.raw("GET", "/console/sign-in", {}, params={"next": wanted})  # somebody who is signed in is sent on
    assert (answer.status_code, answer.headers["location"]) == (303, "/console"), wanted
    shown = Window(app).raw("GET", "/console/sign-in", {}, params={"next": wanted})
    assert 'data-next="/console"' in shown.text


OTHERS = ['theme={"dark": true}', "a=b c", "x; ;; =", '"', "expires=Thu, 01 Jan 1970", "a=[1, 2]", "interlocks=1"]


def test_cookies_of_other_programs_on_this_device_sign_nobody_out(app: InProcessDaemon, ana: Window) -> None:
    own = f"interlock={ana.cookies['interlock']}"
    for others in OTHERS:
        for line in (f"{others}; {own}", f"{own}; {others}", f"{others};{own};{others}"):
            assert Window(app).raw("GET", "/console/queue", {"cookie": line}).status_code == 200, line
