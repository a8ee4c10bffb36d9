"""The table `[channels]`: who is notified of which events, where and when; secrets in addresses are never shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from interlock.config.values import THIS_MACHINE, optional_text, variable_name
from interlock.model import Confidential, Level
from interlock.problems import Path, Problems, describe_value
from interlock.schema import read_table, says, shown_table

# Events that wait for an answer; a channel with a delay gets only these, and CREDENTIAL and EXPIRED.
HELD, COOLING, CHALLENGE, BLOCK = "held", "cooling", "challenge", "block"
WAITING = (HELD, COOLING, CHALLENGE, BLOCK)
# Events that are reported once.
ALERT, CHANGE, CREDENTIAL, EXPIRED, ANSWERED = "alert", "change", "credential", "expired", "answered"
EVENTS = (*WAITING, ALERT, CHANGE, CREDENTIAL, EXPIRED, ANSWERED)
ALSO_DELAYED = frozenset({CREDENTIAL, EXPIRED})
BY_DEFAULT = tuple(event for event in EVENTS if event != ANSWERED)
DESKTOP: Final = "desktop"
Switch = Literal["off", "auto"]
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_TAKEN = frozenset({"console", "terminal", "dialog"})
MOST_CHANNELS = 20


def _name(value: object, path: Path, problems: Problems, plain: str) -> str:
    name = optional_text(value, path, problems, plain)
    if not _NAME.fullmatch(name) or name in _TAKEN:
        problems.error(path, f"name: expected a word such as 'oncall', got {describe_value(value)}")
    return name


def _events(value: object, path: Path, problems: Problems, plain: object) -> tuple[str, ...]:
    given = problems.texts(value, path)
    for word in given:
        if word not in EVENTS:
            problems.error(path, f"expected some of {', '.join(EVENTS)}, got {describe_value(word)}")
    if not given:
        problems.error(path, "empty: name the events that are sent here, or leave it out")
    return tuple(event for event in EVENTS if event in given)


class ChannelRoute(Confidential, Struct, frozen=True):
    """One `[[channels.send]]`; its secret is in the environment, in a file, or in `url` itself."""

    HIDDEN = ("url",)

    name: Annotated[str, says("its name", read=_name)]
    kind: Annotated[Literal["apprise", "desktop", "webhook"], says("what carries its messages")]
    url: Annotated[str, says("its address", read=optional_text)] = ""
    url_env: Annotated[str, says("the variable with the address", read=variable_name)] = ""
    url_file: Annotated[str, says("the file with the address", read=optional_text)] = ""
    secret_env: Annotated[str, says("the variable with a webhook's key", read=variable_name)] = ""
    secret_file: Annotated[str, says("the file with a webhook's key", read=optional_text)] = ""
    events: Annotated[tuple[str, ...], says("what it is told", read=_events)] = BY_DEFAULT
    level: Annotated[Level, says("held actions below it are not sent here")] = Level.SAFE
    after_seconds: Annotated[int, says("without an answer before it is notified", 0, 86_400)] = 0
    per_minute: Annotated[int, says("messages; further events are sent together in one", 1, 60)] = 6
    private: Annotated[bool, says("codes may be in its messages")] = False
    implied: bool = False  # not configured by anybody: its failures raise no alarm

    def wants(self, event: str, level: Level | None = None) -> bool:
        """One with a delay gets only what can still be answered, or concerns everybody."""
        if event not in self.events or (level is not None and level < self.level):
            return False
        return not self.after_seconds or event in WAITING or event in ALSO_DELAYED

    @property
    def wire(self) -> dict[str, Any]:
        shown = {**shown_table(self), "url": public_address(self.url, self.kind)}
        return {key: value for key, value in shown.items() if value != ""}


def _routes(value: object, path: Path, problems: Problems, plain: object) -> tuple[ChannelRoute, ...]:
    items = problems.items(value, path) if value else []
    if len(items) > MOST_CHANNELS:
        problems.error(path, f"expected at most {MOST_CHANNELS}, got {len(items)}")
    routes = tuple(_route(item, (*path, at), problems) for at, item in enumerate(items[:MOST_CHANNELS]))
    names = [route.name for route in routes if route.name]
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.error(path, f"two channels are named {describe_value(name)}")
    return routes


def _route(item: object, path: Path, problems: Problems) -> ChannelRoute:
    route = read_table(ChannelRoute, item, path, problems, ChannelRoute("", "apprise"))
    for key in ("name", "kind"):
        if isinstance(item, Mapping) and key not in item:
            problems.error(path, f"{key} is missing")
    _sources(route, path, problems)
    if route.private and route.kind == "desktop":
        words = "notifications stay in a list that other programs can read: use channels.dialog"
        problems.error((*path, "private"), words)
    return route


class ChannelSettings(Struct, frozen=True):
    desktop: Annotated[
        Switch,
        says(
            "a [notification](../guide/channels.md) of what waits on the daemon's own desktop, where there is one and no channel is set for it; "
            "`off` for none"
        ),
    ] = "auto"
    dialog: Annotated[
        Switch,
        says(
            "`auto` shows [codes](../guide/codes.md#a-window) in a window on the daemon's desktop, where there is one",
            weakened_by="`auto`: whoever can read this screen has them",
        ),
    ] = "off"
    send: Annotated[
        tuple[ChannelRoute, ...],
        says(
            "[where people are told](../guide/channels.md): webhooks, Slack, e-mail and others, the desktop",
            weakened_by="an address in this file; `private`: whoever reads that channel has the codes",
            read=_routes,
        ),
    ] = ()

    @property
    def warnings(self) -> Iterator[str]:
        if self.dialog != "off":
            yield "channels.dialog: codes without a sign-in, to all who see the screen"
        for route in self.send:
            yield from _warnings(route)

    @property
    def files(self) -> tuple[str, ...]:
        """Relative to the configuration's folder."""
        return tuple(name for route in self.send for name in (route.url_file, route.secret_file) if name)

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(name for route in self.send for name in (route.url_env, route.secret_env) if name)

    @property
    def wire(self) -> dict[str, Any]:
        return {"desktop": self.desktop, "dialog": self.dialog, "send": [route.wire for route in self.send]}

    @property
    def implied(self) -> ChannelRoute | None:
        """The desktop notification that needs no configuration, of what waits for an answer."""
        if self.desktop == "off" or any(DESKTOP in (route.kind, route.name) for route in self.send):
            return None
        return ChannelRoute(DESKTOP, DESKTOP, events=WAITING, implied=True)


def _warnings(route: ChannelRoute) -> Iterator[str]:
    lead = f"channels.send {route.name}"
    if route.url and route.kind != "desktop":
        yield f"{lead}: its address is in this file, which agents of the same user can read: use url_file or url_env"
    if route.private:
        yield f"{lead}: private: codes without a sign-in, to all who can read it"


def _sources(route: ChannelRoute, path: Path, problems: Problems) -> None:
    """Exactly one for the address, and for a webhook's key one of its two."""
    urls = [key for key in ("url", "url_env", "url_file") if getattr(route, key)]
    secrets = [key for key in ("secret_env", "secret_file") if getattr(route, key)]
    if route.kind == "desktop":
        for key in (*urls, *secrets):
            problems.error((*path, key), "the desktop has no address and no key")
        return
    if len(urls) != 1:
        problems.error(path, f"expected one of url_file, url_env and url, got {', '.join(urls) or 'none'}")
    if route.kind == "webhook" and len(secrets) != 1:
        problems.error(path, f"expected one of secret_file and secret_env, got {', '.join(secrets) or 'none'}")
    if route.kind == "webhook" and route.url and (wrong := wrong_webhook(route.url)):
        problems.error((*path, "url"), wrong)
    for key in secrets if route.kind == "apprise" else ():
        problems.error((*path, key), "only webhooks are signed")


def wrong_webhook(url: str) -> str:
    """The error in an address, which is not repeated: it may hold a secret."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "not a URL"
    if parts.scheme not in ("http", "https") or not host:
        return "expected https://…"
    if parts.username or parts.password:
        return "a password in the address: the receiver checks the signature instead"
    if parts.scheme == "http" and host not in THIS_MACHINE:
        return "expected https://…: http:// only on this machine"
    return ""


def public_address(url: str, kind: str) -> str:
    """An address without the parts that may hold a secret."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2] if kind == "webhook" else ""
    except ValueError:
        return "…" if url else ""
    return f"{parts.scheme}://{host + '/' if host else ''}…" if url else ""
