"""What agents write is shown, and is never part of the page: in commands, hints, files, names, reasons and the record."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

import interlock.console as templates
from browser_window import LOOKS, Window, route_path, signed_in_window
from daemons import InProcessDaemon, in_process_daemon
from markup import PAYLOADS, UNSEEN

TAGS = frozenset("script img iframe object embed base style math template animate mglyph".split())
TEMPLATES = Path(templates.__file__).parent / "templates"
OWN_SCRIPTS = "/console/static/"


class Reading(HTMLParser):
    """A page as a browser takes it: what is markup in it that we did not write."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.foreign: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        ours = str(given.get("src") or "").startswith(OWN_SCRIPTS)
        if tag in TAGS and not ours:
            self.foreign.append(f"<{tag}>")
        if tag == "meta" and "http-equiv" in given:
            self.foreign.append("<meta http-equiv>")
        for name, value in given.items():
            if name.startswith("on") or name in ("style", "srcdoc", "formaction", "autofocus", "shadowrootmode"):
                self.foreign.append(f"{tag} {name}")
            if name in ("href", "src", "action", "hx-get", "hx-post") and not _local(value or ""):
                self.foreign.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        self.text += data


def _local(address: str) -> bool:
    return address.startswith(("/console", "#", "http://localhost:7310/console", "?")) and not address.startswith("//")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path_factory.mktemp("state"), policy={"use": "default"}) as made:
        yield made


@pytest.fixture(scope="module")
def ana(app: InProcessDaemon) -> Window:
    return signed_in_window(app)[0]


def pages(app: InProcessDaemon, id: str) -> list[str]:
    """Every page that shows something, and this ticket's own."""
    plain = [route.path for route in app.daemon.console.routes if route.method == "GET" and "{" not in route.path]
    return [
        f"/console/tickets/{id}",
        *(path for path in plain if path not in ("/console/events", "/console/sign-in/who")),
    ]


def clean(window: Window, path: str) -> str:
    """A page in which nothing is markup that we did not write, and nothing cannot be seen; its text."""
    answer = window.get(path)
    assert answer.status_code < 500, path
    if not answer.headers["content-type"].startswith("text/html"):
        return ""
    read = Reading(answer.text)
    assert read.foreign == [], path
    assert not UNSEEN & set(answer.text), (path, UNSEEN & set(answer.text))
    return read.text


def said(payload: str) -> list[str]:
    """The pieces of a payload that a page has to show as they are."""
    return [word for word in payload.split() if word.isascii() and word.isprintable() and len(word) > 2]


def ask(app: InProcessDaemon, peer: str = "uid:1000", **body: object) -> str:
    answer = app.call("POST", "/api/v1/evaluate", body, peer=peer).json()
    return str(answer["pendingId"]) if "pendingId" in answer else str(answer)


def reject(window: Window, id: str, reason: str = "next") -> None:
    assert window.form(f"/console/tickets/{id}/reject", {"reason": reason}).status_code == 303


def fresh() -> str:
    return f"f{secrets.token_hex(4)}"


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_what_an_agent_writes_is_text_on_every_page(app: InProcessDaemon, ana: Window, payload: str) -> None:
    name = fresh()
    agent = {"name": payload[:60], "session": payload[:60]}
    safe = payload.replace("'", "")
    id = ask(app, command=f"rm -rf {name} '{safe}'", cwd=f"/srv/{safe.splitlines()[0][:40]}", agent=agent)
    assert id.startswith("pdact_"), id
    assert name in clean(ana, f"/console/tickets/{id}")
    queue = clean(ana, "/console/queue")
    for word in said(safe):
        assert word in queue or word in clean(ana, f"/console/tickets/{id}"), word
    reject(ana, id, payload if payload.strip() else "no")
    clean(ana, f"/console/tickets/{id}")


def test_the_whole_corpus_is_text_on_every_page_at_once(app: InProcessDaemon, ana: Window) -> None:
    ids = []
    for number, payload in enumerate(PAYLOADS):
        peer, agent = f"uid:{2000 + number}", {"name": "painter"}
        ids.append(ask(app, peer, action="drop_table", params={"table": fresh(), payload[:40]: payload}, agent=agent))
        ask(app, peer, action="delete_files", resource=payload, agent=agent)
        ask(app, peer, command=f"cat {payload!r}", agent=agent)
        ask(app, peer, intent=f"delete {payload}", agent=agent)
    held = [id for id in ids if id.startswith("pdact_")]
    assert len(held) > len(PAYLOADS) / 2
    for path in pages(app, held[0]):
        clean(ana, path)
    assert app.state.troubles == {}


FIELDS = sorted(
    {*re.findall(r'name="(\w+)"', "".join(file.read_text() for file in TEMPLATES.rglob("*.html"))), "q", "page"}
    - {"csrf"}
)


@pytest.mark.parametrize("payload", [*PAYLOADS[::8], "-1", "1e999", "\U0001f4a3" * 50], ids=range(12))
def test_whatever_is_asked_of_a_page_comes_back_as_text(app: InProcessDaemon, ana: Window, payload: str) -> None:
    given = dict.fromkeys(FIELDS, payload)
    for route in app.daemon.console.routes:
        path = route_path(route)
        if path in ("/console/events", "/console/sign-in") or (
            route.method == "POST" and not LOOKS.fullmatch(route.path)
        ):
            continue
        answer = ana.form(path, given) if route.method == "POST" else ana.raw("GET", path, {}, params=given)
        assert answer.status_code < 500, route
        assert Reading(answer.text).foreign == [] or not answer.headers["content-type"].startswith("text/html"), route
        assert not UNSEEN & set("".join(answer.headers.values())), route
    assert app.state.troubles == {}


def test_what_is_typed_into_the_sign_in_is_text(app: InProcessDaemon) -> None:
    for payload in (PAYLOADS[0], PAYLOADS[15]):
        answer = Window(app).form("/console/sign-in", {"name": payload, "passphrase": payload, "code": payload})
        assert answer.status_code in (401, 422, 429, 503)
        assert Reading(answer.text).foreign == []
        assert all(sign not in value for value in answer.headers.values() for sign in "\r\n")


def test_what_stands_in_an_address_is_text(app: InProcessDaemon, ana: Window) -> None:
    for payload in PAYLOADS:
        for window in (ana, Window(app)):
            answer = window.raw("GET", "/console/tickets/" + "".join(f"%{byte:02x}" for byte in payload.encode()), {})
            assert answer.status_code in (303, 404)
            assert Reading(answer.text).foreign == []
            answer = window.raw("GET", "/console/sign-in", {}, params={"next": payload, "said": payload})
            assert answer.status_code in (200, 303, 422) and Reading(answer.text).foreign == []


def test_a_ticket_that_says_little_leaves_the_queue_whole(app: InProcessDaemon, ana: Window) -> None:
    for body in ({"command": f"rm -rf {fresh()}"}, {"action": "drop_database"}, {"intent": "delete all customers"}):
        ask(app, **body)
    assert ana.get("/console/queue").status_code == 200
