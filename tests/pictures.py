"""Draws the pictures of the README from the real thing: the console's queue, and the demo as an animated terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import tempfile
import termios
import textwrap
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path

from chromium import close, console
from repository import ROOT

FOLDER = ROOT / "docs" / "pictures"
COLUMNS, LINE, TOP, LEFT, CHARACTER = 104, 19, 46, 18, 8.4
HOLD, TOUCH = 6.0, 1.0  # seconds that the end stays, and until a person touches the passkey
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea"}
HELD = (
    ("git push --force origin main", "/home/dev/shop"),
    ("psql $DATABASE_URL -c 'DROP TABLE customers'", "/home/dev/shop"),
    ("kubectl delete namespace staging", "/home/dev/infra"),
)
_ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")
_OTHER = re.compile(r"\x1b\[[0-9;?]*[A-Za-ln-z]|\r")

Written = list[tuple[float, str]]  # seconds since the start, text


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "demo.svg").write_text(animation(recorded("demo")), encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        queue(Path(place), FOLDER / "queue.png")


def recorded(*words: str) -> Written:
    """What a command writes to a terminal, and when."""
    child, master = pty.fork()
    if child == 0:
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
        os.execv(sys.executable, [sys.executable, "-m", "interlock", *words])
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
    begun, found = time.monotonic(), []
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:  # the terminal's other end is closed
            break
        found.append((time.monotonic() - begun, data.decode("utf-8", "replace")))
        if b"Press Enter" in data:  # the touch
            time.sleep(TOUCH)
            os.write(master, b"\n")
    os.close(master)
    _, status = os.waitpid(child, 0)
    assert status == 0, "".join(text for _, text in found)
    return found


def lines(written: Written) -> Iterator[tuple[float, str]]:
    """Each line with the time when it was complete."""
    rest = ""
    for at, text in written:
        *whole, rest = (rest + _OTHER.sub("", text)).split("\n")
        yield from ((at, line) for line in whole)


def spans(line: str) -> Iterator[tuple[str, str]]:
    """The parts of a line and their style, wrapped as the terminal would by whoever prints them."""
    style, place = "", 0
    for found in [*_ESCAPE.finditer(line), None]:
        text = line[place : found.start() if found else len(line)]
        if text:
            yield text, style
        if found:
            codes, place = [code for code in found[1].split(";") if code], found.end()
            style = _style(codes)


def _style(codes: list[str]) -> str:
    colour = next((COLOURS[code] for code in codes if code in COLOURS), "")
    marks = ["font-weight:bold"] * ("1" in codes) + ["opacity:.6"] * ("2" in codes)
    return ";".join([*([f"fill:{colour}"] if colour else []), *marks])


def wrapped(line: str) -> list[list[tuple[str, str]]]:
    """Rows of styled parts, none longer than the terminal."""
    rows: list[list[tuple[str, str]]] = [[]]
    room = COLUMNS
    for text, style in spans(line):
        pieces = textwrap.wrap(text, COLUMNS, initial_indent=" " * (COLUMNS - room), drop_whitespace=False) or [text]
        for number, piece in enumerate(pieces):
            if number:
                rows.append([])
                room = COLUMNS
            shown = piece[COLUMNS - room :] if not number else piece
            rows[-1].append((shown, style))
            room -= len(shown)
    return rows


def animation(written: Written) -> str:
    """An SVG whose lines appear when they did; without motion it shows the whole."""
    shown = [(at, row) for at, line in lines(written) for row in wrapped(line)]
    ends = shown[-1][0] + HOLD
    width, height = round(2 * LEFT + COLUMNS * CHARACTER), TOP + LINE * len(shown) + 12
    frames, texts = [], []
    for number, (at, row) in enumerate(shown):
        share = 100 * at / ends
        frames.append(f"@keyframes l{number}{{0%,{share:.2f}%{{opacity:0}}{share + 0.01:.2f}%,100%{{opacity:1}}}}")
        parts = "".join(f'<tspan style="{style}">{escape(text)}</tspan>' for text, style in row)
        place = f'x="{LEFT}" y="{TOP + LINE * number}"'
        texts.append(f'<text {place} style="animation:l{number} {ends:.1f}s infinite">{parts}</text>')
    dots = "".join(f'<circle cx="{20 + 18 * n}" cy="18" r="6" fill="#484f58"/>' for n in range(3))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="interlock demo">'
        f"<style>text{{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#e6edf3;white-space:pre}}{''.join(frames)}"
        "@media(prefers-reduced-motion:reduce){text{animation:none!important}}</style>"
        f'<rect width="{width}" height="{height}" rx="10" fill="#0d1117"/>{dots}{"".join(texts)}</svg>\n'
    )


def queue(folder: Path, target: Path) -> None:
    """The queue of a real daemon in a real browser, with three held actions."""
    with console(folder) as served:
        window = served.signed_in(color_scheme="light", device_scale_factor=1)
        for command, cwd in HELD:
            served.ask(command, cwd=cwd)
        page = window.open("/console/queue")
        page.set_viewport_size({"width": 1200, "height": 760})
        page.wait_for_selector("text=git push --force")
        page.wait_for_timeout(3_000)  # until the buttons are armed
        page.screenshot(path=target)
    close()


if __name__ == "__main__":
    main()
