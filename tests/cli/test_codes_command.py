"""`interlock codes` at a real terminal: the code is on the alternate screen while somebody looks, and nowhere after."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desk import PASSPHRASE, WRONG_AGAIN, Desk
from interlock.identity.keys.codes import normal_code
from stopped_agent import REASON, stop_agent
from terminals import Screen, person_at

PATIENCE = 30.0
CODE = re.compile(r"\b[A-Z2-7]{5}(?:-[A-Z2-7]{5}){3}-[A-Z2-7]{6}\b")
ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"
XTERM = {"TERM": "xterm-256color"}


class Stopped(Desk):
    """A daemon whose agent is blocked."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "[limits]\nchallenge_seconds = 3600\n")
        self.challenge = stop_agent(self.config, "ana", PASSPHRASE)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stopped]:
    desk = Stopped(tmp_path_factory.mktemp("codes"))
    desk.start()
    yield desk
    desk.stop()


def signing_in(screen: Screen) -> None:
    screen.until(r"Passphrase of [^\n]*: ")
    screen.type(PASSPHRASE)


def test_the_code_is_on_the_alternate_screen_alone_and_gone_after_a_key(desk: Stopped) -> None:
    with person_at(*desk.argv("codes"), env=XTERM) as screen:
        signing_in(screen)
        before = screen.until(r"(?s)^(.*Show its code\? \[Enter\] )")
        assert desk.challenge.id in before and REASON in before and not CODE.search(before)
        screen.type("")
        assert not CODE.search(screen.until(rf"(?s)^(.*?){re.escape(ENTER)}"))
        shown = screen.until(r"(?s)^(.*so does a minute\.)")
        assert CODE.search(shown) and desk.challenge.id in shown and "claude" in shown
        os.write(screen.file, b"\x03")  # Ctrl-C is a key like others
        erasing = screen.until(rf"(?s)^(.*?){re.escape(LEAVE)}")
        assert erasing.count("\x1b[2K") == 9 and not CODE.search(erasing)
        after = screen.until(r"(?s)^(.*EXIT 0)\r")
        assert "was shown and erased" in after and not CODE.search(after)


def test_a_signal_erases_the_code_before_the_process_ends(desk: Stopped) -> None:
    with person_at(*desk.argv("codes", desk.challenge.id[:4]), env=XTERM) as screen:
        signing_in(screen)
        screen.until(r"so does a minute\.")
        [pid] = [
            pid
            for pid in _processes()
            if _words(pid)[2:4] == ["interlock", "codes"] and str(desk.config) in _words(pid)
        ]
        os.kill(pid, 15)
        assert "\x1b[2K" in screen.until(rf"(?s)^(.*?){re.escape(LEAVE)}")
        screen.until("EXIT 143")


def test_nobody_is_shown_a_code_where_it_cannot_be_erased(desk: Stopped) -> None:
    with person_at(*desk.argv("codes", desk.challenge.id), env={"TERM": "dumb"}) as screen:
        signing_in(screen)
        assert not CODE.search(screen.until(r"(?s)^(.*cannot erase a text.*EXIT 1)"))


def test_a_list_is_only_a_list(desk: Stopped) -> None:
    for option in ("--list", "--json"):
        shown, code = desk.signed("codes", option)
        assert code == 0 and desk.challenge.id in shown and not CODE.search(shown)


def test_at_an_agents_terminal_there_are_no_codes(desk: Stopped) -> None:
    shown, code = desk.person("codes", env={**XTERM, "CLAUDECODE": "1"})
    assert code == 1 and "agent's terminal" in shown and "Passphrase" not in shown and desk.challenge.id not in shown
    run = desk.program("codes", "--operator", "ana", given=f"{PASSPHRASE}\n" * 3)
    assert run.returncode == 1 and desk.challenge.id not in run.stdout + run.stderr


def test_a_wrong_passphrase_shows_nothing(desk: Stopped) -> None:
    shown, code = desk.signed("codes", passphrase="not the passphrase", more=WRONG_AGAIN)
    assert code == 1 and desk.challenge.id not in shown and not CODE.search(shown)


def test_an_id_that_nothing_waits_for_is_said(desk: Stopped) -> None:
    shown, code = desk.signed("codes", "ffffffff-0000")
    assert code == 1 and "no challenge begins with" in shown


@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is missing")
def test_in_a_real_terminal_the_code_is_in_no_scrollback_and_no_process_nor_file_has_it(
    desk: Stopped, tmp_path: Path
) -> None:
    tmux = Tmux(tmp_path / "tmux", desk.argv("codes", desk.challenge.id))
    try:
        tmux.until("Passphrase of ana")
        tmux.type(PASSPHRASE)
        found = CODE.search(tmux.until("so does a minute"))
        assert found is not None
        code = found.group(0)
        for secret in (code.encode(), normal_code(code).encode()):
            for pid in _processes():
                for name in ("cmdline", "environ"):
                    assert secret not in _bytes(Path(f"/proc/{pid}/{name}"))
            for path in desk.folder.rglob("*"):
                assert not path.is_file() or secret not in path.read_bytes(), path
        tmux.run("send-keys", "x")
        tmux.until("was shown and erased")
        for everything in (
            tmux.run("capture-pane", "-p", "-S", "-"),
            tmux.run("capture-pane", "-a", "-q", "-p", "-S", "-"),
        ):
            assert code not in everything and code[:11] not in everything
    finally:
        tmux.run("kill-server")


class Tmux:
    """A real terminal with a scrollback, which no agent started."""

    def __init__(self, socket: Path, argv: list[str]) -> None:
        self._words = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        self.run("new-session", "-d", "-x", "120", "-y", "40", *argv, ";", "set-option", "-g", "remain-on-exit", "on")

    def run(self, *words: str) -> str:
        clean = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": "/", "TERM": "xterm-256color"}
        run = subprocess.run([*self._words, *words], env=clean, capture_output=True, text=True, timeout=PATIENCE)
        return run.stdout

    def type(self, line: str) -> None:
        self.run("send-keys", "-l", line)
        self.run("send-keys", "Enter")

    def until(self, words: str) -> str:
        return _eventually(lambda: self.run("capture-pane", "-p"), words)


def _eventually(look: Callable[[], str], words: str) -> str:
    end = time.monotonic() + PATIENCE
    seen = look()
    while words not in seen:
        assert time.monotonic() < end, seen
        time.sleep(0.05)
        seen = look()
    return seen


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*")]


def _words(pid: int) -> list[str]:
    return _bytes(Path(f"/proc/{pid}/cmdline")).decode("utf-8", "replace").split("\0")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
