"""Opens channels; one that cannot be used says why, and an agent's daemon shows no codes."""

from __future__ import annotations

import io
import select
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from msgspec.structs import replace

from interlock.approvals.display import cut, display_action
from interlock.config.channels import ALERT, BLOCK, CHALLENGE, HELD, ChannelRoute, ChannelSettings, public_address
from interlock.notify import HEADINGS, clean_line, who
from interlock.notify.apprise import Apprise
from interlock.notify.desktop import MISSING, Desktop, Dialog, dialog_program, notifier
from interlock.notify.webhook import Webhook
from interlock.ports import Carrier, Channel, OpenChannel
from interlock.records import Challenge, Ticket


def open_builtin_channels(
    dialog: str, environ: Mapping[str, str], agents: str | None
) -> tuple[list[Channel], list[str]]:
    """And why configured ones are missing; a daemon started by an agent shows no codes (`agents` is the reason)."""
    found: list[Channel] = [TerminalLine(sys.stderr)] if sys.stderr.isatty() else []
    if dialog == "off":
        return found, []
    if agents:
        return found, [f"channels.dialog: no codes are shown on this desktop: {agents}"]
    if (program := dialog_program(environ)) is None:
        none = "there is no desktop here, or none of zenity, kdialog, osascript and PowerShell"
        return found, [f"channels.dialog: {none}"]
    return [*found, Dialog(program, environ)], []


MOST_BYTES = 16_384  # of a file with an address or a secret


def open_configured_channels(
    ways: tuple[ChannelRoute, ...], folder: Path, environ: Mapping[str, str], agents: str | None
) -> list[OpenChannel]:
    """Paths are relative to the configuration's folder. A daemon started by an agent sends no codes."""
    return [_open_channel(replace(way, private=way.private and not agents), folder, environ) for way in ways]


def open_implied_channel(
    settings: ChannelSettings, environ: Mapping[str, str], platform: str = sys.platform
) -> list[OpenChannel]:
    way = settings.implied
    screen = platform == "darwin" or environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    program = notifier(environ, platform) if way and screen else None
    return [OpenChannel(way, Desktop(program, environ))] if way and program is not None else []


def _open_channel(way: ChannelRoute, folder: Path, environ: Mapping[str, str]) -> OpenChannel:
    try:
        url = _resolve_value(way.url, way.url_env, way.url_file, "url", folder, environ)
        secret = _resolve_value("", way.secret_env, way.secret_file, "secret", folder, environ)
        return OpenChannel(way, _KINDS[way.kind](url, secret, environ), public_address(url, way.kind))
    except ValueError as error:
        return OpenChannel(way, problem=str(error))


def _resolve_value(plain: str, variable: str, name: str, what: str, folder: Path, environ: Mapping[str, str]) -> str:
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
    if (program := notifier(environ)) is None:
        raise ValueError(MISSING)
    return Desktop(program, environ)


_KINDS: Mapping[str, Callable[[str, str, Mapping[str, str]], Carrier]] = {
    "apprise": lambda url, secret, environ: Apprise(url),
    "desktop": _desktop,
    "webhook": lambda url, secret, environ: Webhook(url, secret),
}


TITLE = 200  # characters of an action


class TerminalLine:
    name = "terminal"

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def tell(self, event: str, about: Ticket | Challenge | None, words: str) -> None:
        said = _line(event, about, words)
        if said and _takes(self._out):
            self._out.write(f"interlock: {said}\n")
            self._out.flush()


def _line(event: str, about: Ticket | Challenge | None, words: str) -> str:
    if event == HELD and isinstance(about, Ticket):
        title = cut(clean_line(display_action(about.action, about.findings, about.title).lead), TITLE)
        return f"{who(about.agent)} {HEADINGS[HELD]}: {title}: interlock show {about.id}"
    return clean_line(words) if event in (ALERT, BLOCK, CHALLENGE) else ""


def _takes(out: TextIO) -> bool:
    """A stopped terminal (Ctrl-S) must not delay a decision."""
    try:
        return bool(select.select([], [out.fileno()], [], 0)[1])
    except io.UnsupportedOperation:  # not a file
        return True
