"""The table `[channels]`: who is notified of which events, where and when; secrets in addresses are never shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from interlock.model import Confidential, Level
from interlock.problems import Path, Problems, describe_value
from interlock.schema import says

KINDS = ("apprise", "desktop", "webhook")
# Events that wait for an answer; a channel with a delay gets only these, and CREDENTIAL and EXPIRED.
HELD, COOLING, CHALLENGE, BLOCK = "held", "cooling", "challenge", "block"
WAITING = (HELD, COOLING, CHALLENGE, BLOCK)
# Events that are reported once.
ALERT, CHANGE, CREDENTIAL, EXPIRED, ANSWERED = "alert", "change", "credential", "expired", "answered"
EVENTS = (*WAITING, ALERT, CHANGE, CREDENTIAL, EXPIRED, ANSWERED)
ALSO_DELAYED = frozenset({CREDENTIAL, EXPIRED})
BY_DEFAULT = tuple(event for event in EVENTS if event != ANSWERED)
DESKTOP = "desktop"
Switch = Literal["off", "auto"]
_SEND_KEYS = frozenset(
    "name kind url url_env url_file secret_env secret_file events level after_seconds per_minute private".split()
)
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_TAKEN = frozenset({"console", "terminal", "dialog"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_LEVELS = tuple(level.word for level in Level)
MOST_CHANNELS = 20
PER_MINUTE = 6


class ChannelRoute(Confidential, Struct, frozen=True):
    """One `[[channels.send]]`; its secret is in the environment, in a file, or else in `url` itself."""

    HIDDEN = ("url",)

    name: str
    kind: str
    url: str = ""
    url_env: str = ""
    url_file: str = ""
    secret_env: str = ""
    secret_file: str = ""
    events: tuple[str, ...] = BY_DEFAULT
    level: Level = Level.SAFE  # held actions below it are not sent here
    after_seconds: int = 0  # without an answer before it is notified
    per_minute: int = PER_MINUTE  # messages; further events are sent together in one
    private: bool = False  # codes may be in its messages
    implied: bool = False  # not configured by anybody: its failures raise no alarm

    def wants(self, event: str, level: Level | None = None) -> bool:
        """Whether it gets such an event; one with a delay gets only events that can still be answered, or concern everybody."""
        if event not in self.events or (level is not None and level < self.level):
            return False
        return not self.after_seconds or event in WAITING or event in ALSO_DELAYED

    @property
    def wire(self) -> dict[str, Any]:
        """The settings as they may be shown, without secrets."""
        settings = {
            "name": self.name, "kind": self.kind, "url": public_address(self.url, self.kind), "url_env": self.url_env,
            "url_file": self.url_file, "secret_env": self.secret_env, "secret_file": self.secret_file,
        }  # fmt: skip
        return {key: value for key, value in settings.items() if value} | {
            "events": list(self.events), "level": self.level.word, "after_seconds": self.after_seconds,
            "per_minute": self.per_minute, "private": self.private,
        }  # fmt: skip


def _routes(value: object, path: Path, problems: Problems, plain: object) -> tuple[ChannelRoute, ...]:
    """The routes; errors go to `problems`, and no address is repeated in them."""
    items = problems.items({"send": value}, "send", path[:-1]) if value else []
    if len(items) > MOST_CHANNELS:
        problems.error(path, f"expected at most {MOST_CHANNELS}, got {len(items)}")
    routes = tuple(_route(item, (*path, at), problems) for at, item in enumerate(items[:MOST_CHANNELS]))
    names = [route.name for route in routes if route.name]
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.error(path, f"two channels are named {describe_value(name)}")
    return routes


class ChannelSettings(Struct, frozen=True):
    """The table `[channels]`."""

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
    def warnings(self) -> tuple[str, ...]:
        found = () if self.dialog == "off" else ("channels.dialog: codes without a sign-in, to all who see the screen",)
        return (*found, *(warning for route in self.send for warning in _warnings(route)))

    @property
    def files(self) -> tuple[str, ...]:
        """The files that hold addresses and keys; a relative path starts at the configuration's folder."""
        return tuple(name for route in self.send for name in (route.url_file, route.secret_file) if name)

    @property
    def variables(self) -> frozenset[str]:
        """The environment variables that hold addresses and keys."""
        return frozenset(name for route in self.send for name in (route.url_env, route.secret_env) if name)

    @property
    def wire(self) -> dict[str, Any]:
        return {"desktop": self.desktop, "dialog": self.dialog, "send": [route.wire for route in self.send]}

    @property
    def implied(self) -> ChannelRoute | None:
        """The desktop notification that needs no configuration; only for events that wait for an answer."""
        if self.desktop == "off" or any(DESKTOP in (route.kind, route.name) for route in self.send):
            return None
        return ChannelRoute(DESKTOP, DESKTOP, events=WAITING, implied=True)


def _warnings(route: ChannelRoute) -> tuple[str, ...]:
    found = []
    if route.url and route.kind != "desktop":
        found.append("its address is in this file, which agents of the same user can read: use url_file or url_env")
    if route.private:
        found.append("private: codes without a sign-in, to all who can read it")
    return tuple(f"channels.send {route.name}: {words}" for words in found)


def _route(item: object, path: Path, problems: Problems) -> ChannelRoute:
    data = problems.table(item, path) or {}
    problems.only(data, _SEND_KEYS, path)
    kind, name = _kind(data, path, problems), _name(data, path, problems)
    texts = {
        key: problems.text(data, key, path) if data.get(key) else ""
        for key in ("url", "url_env", "url_file", "secret_env", "secret_file")
    }
    _sources(kind, texts, path, problems)
    after = problems.number(data, "after_seconds", path, 0, 86_400, whole=True)
    rate = problems.number(data, "per_minute", path, 1, 60, whole=True)
    private = problems.flag(data, "private", path, False)
    if private and kind == "desktop":
        problems.error(
            (*path, "private"), "notifications stay in a list that other programs can read: use channels.dialog"
        )
    return ChannelRoute(
        name=name,
        kind=kind,
        **texts,
        events=_events(data, path, problems),
        level=_level(data, path, problems),
        after_seconds=int(after or 0),
        per_minute=PER_MINUTE if rate is None else int(rate),
        private=private,
        implied=False,
    )


def _kind(data: Mapping[str, Any], path: Path, problems: Problems) -> str:
    kind = problems.text(data, "kind", path, required=True)
    if kind and kind not in KINDS:
        problems.error((*path, "kind"), f"kind: expected one of {', '.join(KINDS)}, got {describe_value(kind)}")
    return kind


def _name(data: Mapping[str, Any], path: Path, problems: Problems) -> str:
    name = problems.text(data, "name", path, required=True)
    if name and (not _NAME.fullmatch(name) or name in _TAKEN):
        problems.error((*path, "name"), f"name: expected a word such as 'oncall', got {describe_value(name)}")
    return name


def _sources(kind: str, texts: Mapping[str, str], path: Path, problems: Problems) -> None:
    """Refuses all but one source for the address, and for a webhook's key one of its two."""
    urls = [key for key in ("url", "url_env", "url_file") if texts[key]]
    secrets = [key for key in ("secret_env", "secret_file") if texts[key]]
    if kind == "desktop":
        for key in (*urls, *secrets):
            problems.error((*path, key), "the desktop has no address and no key")
        return
    if len(urls) != 1:
        problems.error(path, f"expected one of url_file, url_env and url, got {', '.join(urls) or 'none'}")
    if kind == "webhook" and len(secrets) != 1:
        problems.error(path, f"expected one of secret_file and secret_env, got {', '.join(secrets) or 'none'}")
    if kind == "apprise":
        for key in secrets:
            problems.error((*path, key), "only webhooks are signed")
    if kind == "webhook" and texts["url"] and (wrong := wrong_webhook(texts["url"])):
        problems.error((*path, "url"), wrong)
    for key in ("url_env", "secret_env"):
        if texts[key] and not _VARIABLE.fullmatch(texts[key]):
            problems.error((*path, key), "expected the name of an environment variable")


def wrong_webhook(url: str) -> str:
    """The error in a webhook's address, or empty; the address is not repeated, for it may hold a secret."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "not a URL"
    if parts.scheme not in ("http", "https") or not host:
        return "expected https://…"
    if parts.username or parts.password:
        return "a password in the address: the receiver checks the signature instead"
    if parts.scheme == "http" and host not in ("localhost", "127.0.0.1", "::1"):
        return "expected https://…: http:// only on this machine"
    return ""


def _events(data: Mapping[str, Any], path: Path, problems: Problems) -> tuple[str, ...]:
    if "events" not in data:
        return BY_DEFAULT
    given = problems.texts(data, "events", path)
    for word in (word for word in given if word not in EVENTS):
        problems.error((*path, "events"), f"expected some of {', '.join(EVENTS)}, got {describe_value(word)}")
    if not given:
        problems.error((*path, "events"), "empty: name the events that are sent here, or leave it out")
    return tuple(event for event in EVENTS if event in given)


def _level(data: Mapping[str, Any], path: Path, problems: Problems) -> Level:
    word = data.get("level", Level.SAFE.word)
    if word in _LEVELS:
        return Level(_LEVELS.index(str(word)))
    problems.error((*path, "level"), f"level: expected one of {', '.join(_LEVELS)}, got {describe_value(word)}")
    return Level.SAFE


def public_address(url: str, kind: str) -> str:
    """An address without the parts that may hold a secret."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2] if kind == "webhook" else ""
    except ValueError:
        return "…" if url else ""
    return f"{parts.scheme}://{host + '/' if host else ''}…" if url else ""
