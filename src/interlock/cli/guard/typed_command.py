"""Judges one line typed into a guarded shell, and asks at the same terminal; the exit code says whether it may run."""

from __future__ import annotations

import os
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interlock.cli.guard.statusline import quick_request

RUN, SKIP, AGREED = 0, 1, 3
DANGEROUS = 3
_YES = frozenset({"y", "yes"})
_INPUT, _LOCAL = 0, 3  # the indices of the input and local modes in the result of tcgetattr
_MOST = 4_096


def main(argv: Sequence[str]) -> int:
    """SOCKET CONFIG LINE [zle] -> 0 to run it, 3 after a yes, 1 to skip it; CONFIG may be empty, zle still edits the line."""
    socket, config, line, *editing = argv
    if not line.strip():
        return RUN
    cwd = os.getcwd()
    answer = quick_request(Path(socket), "/preview", {"command": line, "cwd": cwd}) or _local(line, cwd, config)
    verdict = answer.get("verdict")
    if verdict == "allow":
        return RUN
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return SKIP
    try:
        _write(terminal, ("\n" if editing else "") + _words(answer))
        return AGREED if verdict == "ask" and _agrees(terminal, int(answer.get("level") or 0)) else SKIP
    finally:
        os.close(terminal)


def _local(line: str, cwd: str, config: str) -> Mapping[str, Any]:
    """By the same rules; it takes a moment, because they are read first."""
    from interlock.engine.assessment import Unjudged
    from interlock.engine.preview import local_policy, preview, preview_json
    from interlock.impact.files import read_text
    from interlock.model import command

    answer = preview(command(line, cwd), local_policy(config=config or None), read_text)
    if isinstance(answer, Unjudged):
        return {"verdict": "ask", "level": DANGEROUS, "reason": "This could not be judged."}
    return preview_json(answer)


def _words(answer: Mapping[str, Any]) -> str:
    undo = ", cannot be undone" if answer.get("irreversible") else ""
    rule = f" ({answer['rule']})" if answer.get("rule") else ""
    lines = [f"Interlock: {answer.get('levelName') or 'asks'}{undo}. {answer.get('reason', '')}{rule}"]
    lines += [f"  Impact: {answer['impact']}"] if answer.get("impact") else []
    lines += [f"  Instead: {answer['instead']}"] if answer.get("instead") else []
    if answer.get("verdict") != "ask":
        lines.append("  Not run. `interlock_off` switches this guard off in this shell.")
    return "\n".join(lines) + "\n"


def _agrees(terminal: int, level: int) -> bool:
    """To what is dangerous only the whole word is a yes, so that no habit answers it."""
    whole = level >= DANGEROUS
    before = termios.tcgetattr(terminal)
    asking = list(before)
    asking[_INPUT] = (asking[_INPUT] | termios.ICRNL) & ~termios.INLCR  # which zle exchanges
    asking[_LOCAL] |= termios.ICANON | termios.ISIG | termios.ECHO
    try:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, asking)  # discards what was typed ahead
        _write(terminal, "Run it? Type yes to agree: " if whole else "Run it? [y/N] ")
        typed = os.read(terminal, _MOST).decode("utf-8", "replace").strip().casefold()
    except KeyboardInterrupt:
        return False
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
    return typed == "yes" if whole else typed in _YES


def _write(terminal: int, text: str) -> None:
    shown = "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)
    os.write(terminal, shown.encode("utf-8", "replace"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
