"""Which ways to a person does this machine have?"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from interlock.channels.dialog import Dialog, desktop
from interlock.channels.terminal import TerminalLine
from interlock.ports import Channel

__all__ = ["open_channels"]


def open_channels(dialog: str, environ: Mapping[str, str], agents: str | None) -> tuple[list[Channel], list[str]]:
    """The channels, and what is configured and not there; a daemon that an agent started shows no code (`agents` says why it looks so)."""
    found: list[Channel] = [TerminalLine(sys.stderr)] if sys.stderr.isatty() else []
    if dialog == "off":
        return found, []
    if agents:
        return found, [f"channels.dialog: no codes are shown on this desktop: {agents}"]
    program = desktop(environ)
    if program is None:
        return found, [
            "channels.dialog: there is no desktop here, or none of zenity, kdialog, osascript and PowerShell"
        ]
    return [*found, Dialog(program, environ)], []
