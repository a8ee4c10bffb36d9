"""An operator who reads console pages in this process while agents send requests; and a check for injected markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx

from authenticator import Authenticator
from browser_window import Window, signed_in_window
from daemons import InProcessDaemon, in_process_daemon

PUSH, DELETE, LIST = "git push --force origin main", "rm -rf src", "ls -la"
PAYLOADS = (
    "<script>alert(1)</script>",
    "'\"><img src=x onerror=alert(1)>",
    "</code></pre><svg onload=alert(1)>",
    "javascript:alert(1)",
    '" autofocus onfocus=alert(1) x="',
    "{{ 7*7 }}{% raw %}",
    "\u202egnp.exe\x1b[31m\x07",
    "</title><iframe src=//evil.example>",
)


@dataclass
class ConsoleVisitor:
    """An operator's window, and an agent that has a token."""

    app: InProcessDaemon
    window: Window
    key: Authenticator
    agent: dict[str, str] = field(default_factory=dict)

    def later(self, seconds: float) -> None:
        """Time goes on, and the operator comes back."""
        self.app.clock.forward(seconds)
        self.window = Window(self.app)
        assert self.window.enter(self.key).status_code == 200

    def ask(self, command: str, name: str = "claude", **more: Any) -> dict[str, Any]:
        """An agent asks for something."""
        body = {"agent": {"name": name, "session": "s1"}, "cwd": "/home/dev/app", "command": command, **more}
        return dict(self.app.call("POST", "/api/v1/evaluate", body, self.agent).json())

    def page(self, path: str, **headers: str) -> str:
        """A page that is there."""
        answer = self.window.get(path, **headers)
        assert answer.status_code == 200, (answer.status_code, answer.text[-800:])
        return answer.text

    def part(self, path: str) -> str:
        """The part of a page that htmx fetches."""
        return self.page(path, hx_request="true")

    def links(self, path: str, to: str) -> list[str]:
        """The links of a page that begin with `to`."""
        return [unescape(found) for found in re.findall(r'href="([^"]+)"', self.page(path)) if found.startswith(to)]

    def record(self, **query: str) -> str:
        """The address of the newest record that fits."""
        return self.links("/console/audit?" + str(httpx.QueryParams(query)), "/console/audit/record")[0]

    def said(self, path: str) -> str:
        """A page as text."""
        return page_text(self.page(path))


@contextmanager
def visit_console(folder: Path, name: str = "ana", **tables: Any) -> Iterator[ConsoleVisitor]:
    with in_process_daemon(folder, **{"policy": {"use": "default"}, **tables}) as app:
        window, key = signed_in_window(app, name)
        yield ConsoleVisitor(app, window, key, app.agent("claude"))


def page_text(html: str) -> str:
    """The text of a page."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


def foreign_markup(html: str) -> list[str]:
    """Markup that our templates never write: elements and attributes that run something, foreign addresses."""
    parser = _Tags()
    parser.feed(html)
    return [f"<{tag} {attrs}>" for tag, attrs in parser.found if _strange(tag, attrs)]


def _strange(tag: str, attrs: dict[str, str]) -> bool:
    addresses = [attrs[name] for name in ("href", "src", "action", "hx-get", "hx-post") if name in attrs]
    return (
        tag in ("iframe", "object", "embed", "style")
        or any(name.startswith(("on", "style", "hx-on")) for name in attrs)
        or not all(to.startswith(("/", "#", "?")) and not to.startswith("//") for to in addresses)
        or (tag == "script" and not attrs.get("src", "").startswith("/console/static/"))
    )
