"""A way to people, as it is configured -> what carries messages there, or why it cannot be used."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from interlock.channels.apprise import Apprise
from interlock.channels.notification import MISSING, Desktop, notifier
from interlock.channels.webhook import Webhook
from interlock.core.channel_rules import ChannelSettings, Way, public_address
from interlock.ports import Carrier, Opened

MOST_BYTES = 16_384  # of a file with an address or a secret


def open_ways(ways: tuple[Way, ...], folder: Path, environ: Mapping[str, str], agents: str | None) -> list[Opened]:
    """Each of them; files are meant from the configuration's folder. A daemon that an agent started sends no code."""
    return [_opened(replace(way, private=way.private and not agents), folder, environ) for way in ways]


def open_implied(settings: ChannelSettings, environ: Mapping[str, str], platform: str = sys.platform) -> list[Opened]:
    """A notification on this desktop that nobody had to configure; none where there is no desktop to be seen."""
    way = settings.implied
    screen = platform == "darwin" or environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    program = notifier(environ, platform) if way is not None and screen else None
    return [Opened(way, Desktop(program, environ))] if way is not None and program is not None else []


def _opened(way: Way, folder: Path, environ: Mapping[str, str]) -> Opened:
    try:
        url = _given(way.url, way.url_env, way.url_file, "url", folder, environ)
        secret = _given("", way.secret_env, way.secret_file, "secret", folder, environ)
        return Opened(way, _KINDS[way.kind](url, secret, environ), public_address(url, way.kind))
    except ValueError as error:
        return Opened(way, problem=str(error))


def _given(plain: str, variable: str, name: str, what: str, folder: Path, environ: Mapping[str, str]) -> str:
    """The text itself; refuses one that is not there, and a file that others can read."""
    if variable:
        if not environ.get(variable):
            raise ValueError(f"{what}_env: the daemon's environment has no {variable}")
        return environ[variable].strip()
    if not name:
        return plain
    path = folder / Path(name).expanduser()
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
            raise ValueError(f"{what}_file: no file of a sensible size: {name}")
        if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ValueError(f"{what}_file: others can read {name}; chmod 600 it")
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{what}_file: {name} cannot be read: {getattr(error, 'strerror', 'no text')}") from None
    if not text:
        raise ValueError(f"{what}_file: {name} is empty")
    return text


def _desktop(url: str, secret: str, environ: Mapping[str, str]) -> Carrier:
    program = notifier(environ)
    if program is None:
        raise ValueError(MISSING)
    return Desktop(program, environ)


_KINDS: Mapping[str, Callable[[str, str, Mapping[str, str]], Carrier]] = MappingProxyType({
    "apprise": lambda url, secret, environ: Apprise(url),
    "desktop": _desktop,
    "webhook": lambda url, secret, environ: Webhook(url, secret),
})  # fmt: skip
