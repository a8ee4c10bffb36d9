"""Shows a notification on the daemon's own desktop: who waits for what; never a code."""

from __future__ import annotations

import html
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from interlock.notify import Message
from interlock.notify.dialog import (
    OSASCRIPT,
    POWERSHELL,
    TITLE,
    apple_text,
    is_system_program,
    minimal_environment,
    powershell_text,
)
from interlock.ports import Undelivered

SECONDS = 10.0
MOST = 300  # characters
MISSING = "there is no desktop here, or none of notify-send, osascript and PowerShell"
_TOAST = (
    "$x = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime];"
    "$t = $x::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02);"
    "$n = $t.GetElementsByTagName('text');"
    "$n.Item(0).AppendChild($t.CreateTextNode({title})) | Out-Null;"
    "$n.Item(1).AppendChild($t.CreateTextNode({text})) | Out-Null;"
    "$x::CreateToastNotifier('Interlock').Show([Windows.UI.Notifications.ToastNotification]::new($t))\n"
)


class Notifier(Struct, frozen=True):
    """A program that shows a notification: its arguments and its stdin."""

    path: str
    arguments: Callable[[str, str], list[str]]
    script: Callable[[str, str], str]


def _notify_send(title: str, text: str) -> list[str]:
    """The arguments of notify-send, which reads the text as markup."""
    return [f"--app-name={TITLE}", "--urgency=critical", "--", title, html.escape(text, quote=False)]


def _applescript(title: str, text: str) -> str:
    return f'display notification "{apple_text(text)}" with title "{apple_text(title)}"\n'


def _powershell(title: str, text: str) -> str:
    return _TOAST.format(title=powershell_text(title), text=powershell_text(text))


NOTIFY_SEND = Notifier("/usr/bin/notify-send", _notify_send, lambda title, text: "")
APPLE = Notifier(OSASCRIPT.path, lambda title, text: ["-"], _applescript)
WINDOWS = Notifier(POWERSHELL.path, lambda title, text: POWERSHELL.arguments(0), _powershell)


def notifier(environ: Mapping[str, str], platform: str = sys.platform) -> Notifier | None:
    """The program that shows notifications here; None without a desktop, and for a program that this user could replace."""
    if platform == "win32":
        return WINDOWS
    found = APPLE if platform == "darwin" else NOTIFY_SEND
    bus = any(environ.get(name) for name in ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"))
    return found if (platform == "darwin" or bus) and is_system_program(Path(found.path)) else None


class Desktop:
    """Shows messages as notifications on one desktop."""

    def __init__(self, program: Notifier, environ: Mapping[str, str]) -> None:
        self._program = program
        bus = environ.get("DBUS_SESSION_BUS_ADDRESS")
        self._environ = minimal_environment(environ) | ({"DBUS_SESSION_BUS_ADDRESS": bus} if bus else {})

    def send(self, message: Message) -> None:
        title = message.title[:MOST]
        text = message.text.partition("\nrecord:")[0]
        text = text if len(text) <= MOST else f"{text[: MOST - 1]}…"
        try:
            run = subprocess.run(
                [self._program.path, *self._program.arguments(title, text)],
                input=self._program.script(title, text).encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=self._environ,
                cwd="/" if os.name == "posix" else None,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Undelivered(f"no answer within {SECONDS:g} s") from None
        except OSError as error:
            raise Undelivered(f"cannot be started: {error.strerror}") from None
        if run.returncode:
            raise Undelivered(f"it ended with {run.returncode}")
