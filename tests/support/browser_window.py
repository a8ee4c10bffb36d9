"""A browser window on the app in this process: keeps cookies, sends the origin, knows the mark of its page."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any

import httpx
import pyotp

from authenticator import ORIGIN, Authenticator
from daemons import PASSPHRASE, InProcessDaemon
from interlock.console.visit import PageRoute as Route
from interlock.identity.console_access import set_up_link
from interlock.identity.operators import sign_in

LOOKS = re.compile(
    r"/console/(audit/verify|rules/check|rules/\{id\}/try|try|policy/edit)"
)  # sent by POST, and keep nothing


@dataclass
class Window:
    """One browser."""

    app: InProcessDaemon = field(repr=False)  # which is long
    origin: str = ORIGIN
    cookies: dict[str, str] = field(default_factory=dict)
    mark: str = ""
    set_cookies: list[str] = field(default_factory=list)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self._send("GET", path, headers)

    def form(self, path: str, fields: dict[str, str] | None = None, **headers: str) -> httpx.Response:
        """Submits a form with the page's mark, as its script does."""
        answer = self._send(
            "POST", path, {"origin": self.origin, **headers}, data={**(fields or {}), "csrf": self.mark}
        )
        self.mark = answer.headers.get("location", "").partition("#mark=")[2] or self.mark
        return answer

    def json(self, path: str, body: dict[str, Any] | None = None, **headers: str) -> httpx.Response:
        """A request as the page's script sends it."""
        sent = {"origin": self.origin, "x-csrf-token": self.mark, "accept": "application/json", **headers}
        return self._send("POST", path, sent, json=body or {})

    def raw(self, method: str, path: str, headers: dict[str, str], **more: Any) -> httpx.Response:
        return self._send(method, path, headers, **more)

    def _send(self, method: str, path: str, headers: dict[str, str], **more: Any) -> httpx.Response:
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        if self.cookies:
            sent.setdefault("cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
        answer = asyncio.run(self._ask(method, path, sent, more))
        for line in answer.headers.get_list("set-cookie"):
            self.set_cookies.append(line)
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
            if not value:
                del self.cookies[name]
        return answer

    async def _ask(self, method: str, path: str, headers: dict[str, str], more: dict[str, Any]) -> httpx.Response:
        self.app.daemon.start()
        transport = httpx.ASGITransport(self.app.daemon, client=("127.0.0.1", 5))
        base = self.origin if self.origin.startswith("http://") else ORIGIN
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            return await client.request(method, path, headers=headers, **more)

    def set_up(self, name: str = "ana") -> None:
        """Follows the link that a terminal showed."""
        _, session = sign_in(self.app.state, name, PASSPHRASE, "cli")
        answer = self.json("/console/set-up", {"token": set_up_link(self.app.state, session)})
        assert answer.status_code == 200, answer.text
        self.mark = answer.json()["csrf"]

    def register(self, key: Authenticator, name: str = "laptop") -> httpx.Response:
        asked = self.json("/console/keys/passkey/begin").json()
        made = key.create(asked["publicKey"])
        return self.json(
            "/console/keys/passkey/finish", {"ceremony": asked["ceremony"], "response": made, "name": name}
        )

    def authenticator(self) -> pyotp.TOTP:
        asked = self.json("/console/keys/totp/begin").json()
        app = pyotp.TOTP(asked["secret"])
        code = app.at(int(self.app.clock.now()))
        assert self.json("/console/keys/totp/finish", {"ceremony": asked["ceremony"], "code": code}).status_code == 200
        self.app.clock.forward(30)
        return app

    def enter(self, key: Authenticator, **more: Any) -> httpx.Response:
        """Signs in with a passkey."""
        asked = self.json("/console/sign-in/passkey/begin").json()
        body = {"ceremony": asked["ceremony"], "response": key.get(asked["publicKey"]), **more}
        answer = self.json("/console/sign-in/passkey/finish", body)
        if answer.status_code == 200:
            self.mark = answer.json()["csrf"]
        return answer

    def touch(self, key: Authenticator) -> None:
        """A fresh touch, which covers the changes of the next two minutes."""
        asked = self.json("/console/fresh/begin").json()
        body = {"ceremony": asked["ceremony"], "response": key.get(asked["publicKey"])}
        assert self.json("/console/fresh/finish", body).status_code == 200


def signed_in_window(app: InProcessDaemon, name: str = "ana") -> tuple[Window, Authenticator]:
    """A window that somebody signed in to with their first passkey."""
    key, first = Authenticator(), Window(app)
    first.set_up(name)
    assert first.register(key).status_code == 200
    window = Window(app)
    assert window.enter(key).status_code == 200
    return window, key


def route_path(route: Route, id: str = "x") -> str:
    """A route's path, with something in every gap."""
    return re.sub(r"\{\w+\}", id, route.path)
