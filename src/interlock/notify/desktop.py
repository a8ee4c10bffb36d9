"""Shows notifications and release codes on the daemon's own desktop; a code goes to a program's stdin, never into arguments or files."""

from __future__ import annotations

import base64
import html
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from interlock.approvals.display import cut
from interlock.notify import Message
from interlock.ports import Undelivered
from interlock.records import Challenge, Ticket

TITLE = "Interlock"
_POWERSHELL = "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe"
# All that a window needs: other variables could make the program load or log something.
_NEEDED = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "LANG", "LC_ALL", "SystemRoot", "TEMP")
_NOWHERE = "/nonexistent"  # no home, whose settings others could write
_APART: dict[str, Any] = {
    "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/" if os.name == "posix" else None,
}  # fmt: skip


class DialogProgram(Struct, frozen=True):
    """A program that shows a window or a notification: its arguments, which never contain a window's text, and its stdin.

    A window gets the text and the seconds that it stays; a notification title and text.
    """

    path: str
    arguments: Callable[..., list[str]]
    script: Callable[..., str]


def apple_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def powershell_text(text: str) -> str:
    """A PowerShell expression of the text in base64, so that nothing needs quoting."""
    return f"[Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('{base64.b64encode(text.encode()).decode()}'))"


_TEXT_WINDOW = f"--text-info --title={TITLE} --width=760 --height=480 --font=monospace".split()
ZENITY = DialogProgram(
    "/usr/bin/zenity", lambda seconds: [*_TEXT_WINDOW, f"--timeout={seconds}"], lambda text, seconds: text
)
KDIALOG = DialogProgram(
    "/usr/bin/kdialog",
    lambda seconds: ["--title", TITLE, "--textbox", "-", "760", "480"],
    lambda text, seconds: text,
)
OSASCRIPT = DialogProgram(
    "/usr/bin/osascript",
    lambda *_: ["-"],
    lambda text, seconds: (
        f'display dialog "{apple_text(text)}" with title "{TITLE}" buttons {{"OK"}} default button 1 giving up after {seconds}\n'
    ),
)
POWERSHELL = DialogProgram(
    _POWERSHELL,
    lambda *_: ["-NoProfile", "-NonInteractive", "-WindowStyle", "Hidden", "-Command", "-"],
    lambda text, seconds: (
        f"(New-Object -ComObject WScript.Shell).Popup({powershell_text(text)}, {seconds}, '{TITLE}', 64) | Out-Null\n"
    ),
)


def dialog_program(environ: Mapping[str, str], platform: str = sys.platform) -> DialogProgram | None:
    kde = "kde" in environ.get("XDG_CURRENT_DESKTOP", "").casefold()
    here = {"darwin": [OSASCRIPT], "win32": [POWERSHELL]}.get(platform, [KDIALOG, ZENITY] if kde else [ZENITY, KDIALOG])
    return _usable(here, platform, any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")))


def _usable(programs: Sequence[DialogProgram], platform: str, screen: bool) -> DialogProgram | None:
    """None without a desktop, and for a program that this user could replace."""
    if platform == "win32":
        return programs[0]
    known = programs if platform == "darwin" or screen else ()
    return next((program for program in known if is_system_program(Path(program.path))), None)


def is_system_program(path: Path) -> bool:
    try:
        for place in (path.resolve(), path.resolve().parent):
            found = place.stat()
            if found.st_uid != 0 or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return False
    except OSError:
        return False
    return os.access(path, os.X_OK)


class Dialog:
    name = "dialog"

    def __init__(self, program: DialogProgram, environ: Mapping[str, str]) -> None:
        self._program = program
        self._environ = minimal_environment(environ)
        self._open: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    def tell(self, event: str, about: Ticket | Challenge | None, words: str) -> None:
        """Does nothing: windows show codes only."""

    def show(self, challenge: Challenge, code: str, words: str, seconds: float) -> None:
        self.hide(challenge.id)
        lasts = max(1, int(seconds))
        text = (
            f"{words}\n\nTo let it go on, give it this code; it counts once. To leave it stopped, close this window.\n\n"
            f"challenge  {challenge.id}\ncode       {code}\n"
        )
        argv = [self._program.path, *self._program.arguments(lasts)]
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, env=self._environ, start_new_session=True, **_APART)
        with self._lock:
            self._open[challenge.id] = process
        given = (challenge.id, process, self._program.script(text, lasts).encode(), lasts)
        threading.Thread(target=self._attend, args=given, daemon=True).start()

    def hide(self, challenge: str) -> None:
        with self._lock:
            process = self._open.pop(challenge, None)
        if process and process.poll() is None:
            process.terminate()

    def _attend(self, challenge: str, process: subprocess.Popen[bytes], text: bytes, seconds: int) -> None:
        try:
            process.communicate(text, timeout=seconds + 1)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        except (OSError, ValueError):  # the program ended before it had read the text
            process.kill()
            process.wait()
        with self._lock:
            if self._open.get(challenge) is process:
                del self._open[challenge]


def minimal_environment(environ: Mapping[str, str]) -> dict[str, str]:
    found = {name: environ[name] for name in _NEEDED if environ.get(name)}
    if os.name != "posix":
        return found
    if "DISPLAY" in found and "XAUTHORITY" not in found and environ.get("HOME"):
        found["XAUTHORITY"] = str(Path(environ["HOME"]) / ".Xauthority")
    if sys.platform == "darwin":
        return found
    nowhere = {"HOME": _NOWHERE, "XDG_CONFIG_HOME": _NOWHERE}
    return found | nowhere | {"PATH": "/usr/bin:/bin", "GTK_A11Y": "none", "NO_AT_BRIDGE": "1"}


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


NOTIFY_SEND = DialogProgram(
    "/usr/bin/notify-send",  # which reads the text as markup
    lambda title, text: [f"--app-name={TITLE}", "--urgency=critical", "--", title, html.escape(text, quote=False)],
    lambda title, text: "",
)
APPLE = DialogProgram(
    OSASCRIPT.path,
    OSASCRIPT.arguments,
    lambda title, text: f'display notification "{apple_text(text)}" with title "{apple_text(title)}"\n',
)
WINDOWS = DialogProgram(
    POWERSHELL.path,
    POWERSHELL.arguments,
    lambda title, text: _TOAST.format(title=powershell_text(title), text=powershell_text(text)),
)


def notifier(environ: Mapping[str, str], platform: str = sys.platform) -> DialogProgram | None:
    bus = any(environ.get(name) for name in ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"))
    return _usable([{"darwin": APPLE, "win32": WINDOWS}.get(platform, NOTIFY_SEND)], platform, bus)


class Desktop:
    def __init__(self, program: DialogProgram, environ: Mapping[str, str]) -> None:
        self._program = program
        bus = environ.get("DBUS_SESSION_BUS_ADDRESS")
        self._environ = minimal_environment(environ) | ({"DBUS_SESSION_BUS_ADDRESS": bus} if bus else {})

    def send(self, message: Message) -> None:
        title = message.title[:MOST]
        text = cut(message.text.partition("\nrecord:")[0], MOST)
        argv = [self._program.path, *self._program.arguments(title, text)]
        given = self._program.script(title, text).encode()
        try:
            run = subprocess.run(argv, input=given, env=self._environ, timeout=SECONDS, check=False, **_APART)
        except subprocess.TimeoutExpired:
            raise Undelivered(f"no answer within {SECONDS:g} s") from None
        except OSError as error:
            raise Undelivered(f"cannot be started: {error.strerror}") from None
        if run.returncode:
            raise Undelivered(f"it ended with {run.returncode}")
