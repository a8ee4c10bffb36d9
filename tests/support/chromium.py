"""A real Chromium in front of a real daemon: an operator signs in with a passkey of the browser and reads pages."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    CDPSession,
    Locator,
    LocatorAssertions,
    Page,
    PageAssertions,
    Playwright,
    Route,
    expect,
    sync_playwright,
)
from playwright.sync_api import TimeoutError as TooLate

from daemons import TLS
from desk import PASSPHRASE, Desk
from repository import ROOT

AXE = ROOT / ".venv" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = "/usr/bin/chromium"
PATIENCE = 30_000  # milliseconds
GLANCE = 400.0  # milliseconds: Playwright looks every 50 ms for so long, and only twice a second where it has patience
expect.set_options(timeout=PATIENCE)
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_PASSKEY = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True, "isUserVerified": True,
    "automaticPresenceSimulation": True,
}  # fmt: skip


def _eager(own: Callable[..., Any]) -> Callable[..., Any]:
    """The same wait, in many short ones."""

    def wait(self: Any, *given: Any, timeout: float = PATIENCE, **how: Any) -> Any:
        end, glance = time.monotonic() + timeout / 1_000, GLANCE
        while True:
            try:
                return own(self, *given, timeout=glance, **how)
            except (TooLate, AssertionError):
                if time.monotonic() > end:
                    raise
            glance = min(glance * 1.5, 6 * GLANCE)  # a busy machine takes long to look once

    return wait


for _owner, _start in ((Page, "wait_for_selector"), (Locator, "wait_for"), (LocatorAssertions, "to_"), (LocatorAssertions, "not_to_"), (PageAssertions, "to_")):  # fmt: skip
    for _name in [name for name in vars(_owner) if name.startswith(_start)]:
        setattr(_owner, _name, _eager(getattr(_owner, _name)))


@dataclass
class Window:
    """One browser profile with an authenticator of its own; every complaint of its pages is kept."""

    base: str
    context: BrowserContext
    page: Page
    cdp: CDPSession
    authenticator: str
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        self.page.goto(self.base + path)
        return self.page

    def hurried(self, path: str) -> Page:
        """The same, with a list that is fetched again five times a second instead of every few seconds."""

        def sooner(route: Route) -> None:
            answer = route.fetch()
            route.fulfill(response=answer, body=re.sub(r'data-poll="\d+"', 'data-poll="0.2"', answer.text()))

        self.page.route(self.base + path, sooner)
        try:
            return self.open(path)
        finally:
            self.page.unroute(self.base + path)

    def sign_in(self) -> None:
        """One touch."""
        self.open("/console/sign-in")
        self.page.click("[data-passkey-sign-in]")
        self.page.wait_for_url("**/console/queue", timeout=PATIENCE)

    def register(self, link: str) -> None:
        """The first passkey, through a set-up link."""
        self.page.goto(link)
        self.page.click("text=Register a passkey")
        self.page.wait_for_selector("[data-done]:not([hidden])", timeout=PATIENCE)

    def verified(self, yes: bool) -> None:
        """Whether the authenticator finds that it is its owner who touches it."""
        self.cdp.send("WebAuthn.setUserVerified", {"authenticatorId": self.authenticator, "isUserVerified": yes})

    def violations(self) -> list[str]:
        """The violations that axe finds, and too heavy a page; axe by the debugger, because the pages allow no foreign script."""
        if not self.page.evaluate("'axe' in window"):
            self.cdp.send("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
        found = self.page.evaluate(
            """async () => (await axe.run({ resultTypes: ["violations"] })).violations.map(v => [v.id, v.nodes.map(n => n.html)])"""
        )
        weight = self.page.evaluate(_WEIGHT)
        heavy = [f"it takes {weight} bytes"] if weight > HEAVIEST else []
        return [f"{rule}: {html[:3]}" for rule, html in found] + heavy


HEAVIEST = 200_000  # bytes of a page with all that it loads, uncompressed
_WEIGHT = """() => ["navigation", "resource"].flatMap(kind => performance.getEntriesByType(kind))
    .reduce((sum, one) => sum + one.decodedBodySize, 0)"""


class Console:
    """The daemon, its first operator, and Chromium."""

    def __init__(self, desk: Desk, browser: Browser) -> None:
        self.desk, self.browser = desk, browser
        self.base = f"http://localhost:{_port(desk)}"
        self.agent = self._token("claude")
        self.round = 0  # what was rejected stays so for a while: each test has its own

    def window(self, **options: Any) -> Window:
        context = self.browser.new_context(viewport={"width": 1440, "height": 900}, **options)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        cdp = context.new_cdp_session(page)
        cdp.send("WebAuthn.enable")
        made = cdp.send("WebAuthn.addVirtualAuthenticator", {"options": _PASSKEY})
        window = Window(self.base, context, page, cdp, made["authenticatorId"])
        page.on(
            "console", lambda said: window.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: window.complaints.append(str(error)))
        return window

    def signed_in(self, name: str = "ana", **options: Any) -> Window:
        """An operator's browser with a passkey, on the queue."""
        window = self.window(**options)
        window.register(self.link(name))
        window.sign_in()
        return window

    def link(self, name: str = "ana") -> str:
        """The set-up link, as the operator's terminal gets it."""
        with self.operator(name) as daemon:
            return str(daemon.post("/session/link")["url"])

    @contextmanager
    def operator(self, name: str = "ana") -> Iterator[Any]:
        signed = self.desk.daemon.post("/session", {"operator": name, "passphrase": PASSPHRASE})
        yield self.desk.daemon.on_behalf(str(signed["token"]))

    @property
    def deed(self) -> str:
        """A dangerous command that was not requested before."""
        return f"rm -rf src{self.round}"

    def ask(self, command: str, **more: Any) -> dict[str, Any]:
        """An agent asks for something."""
        body = {
            "agent": {"name": "claude", "session": f"s{self.round}"},
            "cwd": "/home/dev/app",
            "command": command,
            **more,
        }
        headers = {"authorization": f"Bearer {self.agent}"}
        answer = httpx.post(f"{self.base}/api/v1/evaluate", json=body, headers=headers, timeout=30, verify=TLS)
        return dict(answer.json())

    def ticket(self, id: str) -> dict[str, Any]:
        with self.operator() as daemon:
            return dict(daemon.get(f"/tickets/{id}"))

    def clear(self) -> None:
        """Rejects everything that is open."""
        self.round += 1
        with self.operator() as daemon:
            for ticket in daemon.get("/tickets", state="open", limit=500)["tickets"]:
                daemon.post(f"/tickets/{ticket['id']}/reject", {"reason": "next test"})

    def _token(self, name: str) -> str:
        with self.operator() as daemon:
            return str(daemon.post("/agents", {"name": name})["token"])


def wait_until_armed(button: Locator) -> None:
    """Waits for a button that works two seconds after its card came into view; by the page's clock they pass at once."""
    later = "() => { const own = performance.now.bind(performance); performance.now = () => own() + 2000; }"
    until(lambda: (button.page.evaluate(later), button.is_enabled())[1], "the armed button")


def until(holds: Callable[[], Any], what: str, seconds: float = 30.0) -> Any:
    """Waits for something outside the browser."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come")


@contextmanager
def console(folder: Path, more: str = "", port: int = 0) -> Iterator[Console]:
    """A daemon with one operator, and windows of Chromium, for as long as the tests of a module."""
    if shutil.which("chromium") is None or not AXE.is_file():
        pytest.skip("chromium or axe-core is missing")
    desk = Desk(folder, more, port)
    desk.open()
    try:
        yield Console(desk, _browser())
    finally:
        for context in _browser().contexts:
            context.close()
        desk.stop()


_OPEN: list[tuple[Playwright, Browser]] = []


def _browser() -> Browser:
    """The Chromium of this worker: started once, for starting it takes as long as many tests."""
    if not _OPEN:
        playwright = sync_playwright().start()
        _OPEN.append((playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)))
    return _OPEN[0][1]


def close() -> None:
    """No test of the group follows; as long as it is open, nothing else in this thread has an event loop."""
    while _OPEN:
        playwright, browser = _OPEN.pop()
        browser.close()
        playwright.stop()


def _port(desk: Desk) -> int:
    """The port that the daemon printed at its start."""
    said = (desk.folder / "log").read_text(encoding="utf-8")
    return int(said.partition("http://127.0.0.1:")[2].split()[0])
