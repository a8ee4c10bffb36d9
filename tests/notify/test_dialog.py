"""A code in a window: a real program gets it on stdin, and it is in no argument, no variable and no file."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gate import AGENT, Gate
from interlock.approvals import apply_move, challenges
from interlock.approvals.challenges import BLOCK, VERIFY, releasing
from interlock.error_codes import LoopProblem
from interlock.identity.keys.codes import new_code
from interlock.model import intent
from interlock.notify.channels import open_builtin_channels
from interlock.notify.desktop import KDIALOG, OSASCRIPT, POWERSHELL, ZENITY, Dialog, DialogProgram, dialog_program
from interlock.records import Block, Challenge

PATIENCE = 20.0
CODE = "AAAAA-BBBBB-CCCCC-DDDDD-EEEEEE"
PUSH = intent("run git push --force origin main")
# A window's program without a window: keeps what it was given until it is ended.
STAND_IN = """#!{python}
import os, pathlib, sys, time
folder = pathlib.Path({folder!r})
said = sys.stdin.buffer.read()
beside = folder / f".{{os.getpid()}}"
beside.write_bytes(said)
beside.rename(folder / f"shown.{{os.getpid()}}")
time.sleep(600)
"""


class Windows:
    """What the stand-in shows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / "program"
        path.write_text(STAND_IN.format(python=sys.executable, folder=str(folder)))
        path.chmod(0o700)
        self.program = DialogProgram(str(path), ZENITY.arguments, ZENITY.script)

    def shown(self, count: int = 1) -> list[str]:
        return [path.read_text() for path in self._until(lambda found: len(found) >= count)]

    def pid(self) -> int:
        return int(self._until(lambda found: bool(found))[-1].suffix[1:])

    def _until(self, enough: Callable[[list[Path]], bool]) -> list[Path]:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = sorted(self.folder.glob("shown.*"), key=lambda path: path.stat().st_mtime_ns)
            if enough(found):
                return found
            time.sleep(0.02)
        raise AssertionError("nothing was shown")


def gone(pid: int) -> bool:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes():
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def windows(tmp_path: Path) -> Windows:
    return Windows(tmp_path)


@pytest.fixture
def dialog(windows: Windows) -> Iterator[Dialog]:
    made = Dialog(windows.program, {"DISPLAY": ":9", "SECRET": "x", "LD_PRELOAD": "/x.so", "GTK_MODULES": "evil"})
    yield made
    made.hide("c1")


def challenge(id: str = "c1") -> Challenge:
    return Challenge(id, AGENT, "block", "why", 0.0, 300.0)


def test_the_window_has_the_text_on_stdin_and_nothing_of_it_anywhere_else(windows: Windows, dialog: Dialog) -> None:
    dialog.show(challenge(), CODE, "claude (uid:1000) is blocked", 60)
    [said] = windows.shown()
    assert CODE in said and "claude (uid:1000) is blocked" in said and "c1" in said
    pid = windows.pid()
    for name in ("cmdline", "environ"):
        assert CODE.encode() not in Path(f"/proc/{pid}/{name}").read_bytes()
    environ = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"DISPLAY=:9" in environ
    assert not any(name in environ for name in (b"SECRET", b"LD_PRELOAD", b"GTK_MODULES"))


def decoded(program: DialogProgram, said: str) -> str:
    """What a person would read, from what the program was given on stdin."""
    if program is POWERSHELL:
        return base64.b64decode(said.partition("FromBase64String('")[2].partition("'")[0]).decode()
    if program is OSASCRIPT:
        quoted = re.match(r'display dialog "((?:[^"\\]|\\.)*)" with title "Interlock" buttons', said)
        assert quoted is not None and said.count("\n") == 1, said  # one statement, whatever the text holds
        return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), quoted[1])
    return said


@pytest.mark.parametrize("program", [ZENITY, KDIALOG, OSASCRIPT, POWERSHELL], ids=lambda one: Path(one.path).stem)
def test_oob_14_oob_04_each_program_gets_the_words_on_stdin_and_none_of_them_as_an_argument(
    windows: Windows, program: DialogProgram
) -> None:
    """With a stand-in at its place: what it would be started with, and what it would read."""
    words = 'agent "x" \\ is blocked\n" & do shell script "id'  # an agent chose its name
    made = Dialog(replace(program, path=windows.program.path), {"DISPLAY": ":9"})
    made.show(challenge(), CODE, words, 60)
    [said] = windows.shown()
    read = decoded(program, said)
    assert CODE in read and words in read and "challenge  c1" in read
    given = Path(f"/proc/{windows.pid()}/cmdline").read_bytes().decode().split("\0")
    assert given[2:-1] == program.arguments(60) and CODE not in " ".join(given) and "blocked" not in " ".join(given)
    made.hide("c1")


def test_a_window_closes_when_its_code_counts_no_more(windows: Windows, dialog: Dialog) -> None:
    dialog.show(challenge(), CODE, "words", 60)
    pid = windows.pid()
    dialog.hide("c1")
    assert gone(pid)


def test_a_window_closes_when_the_time_is_over(windows: Windows, dialog: Dialog) -> None:
    dialog.show(challenge(), CODE, "words", 1)
    assert gone(windows.pid())


def test_a_program_that_cannot_show_anything_harms_nobody(tmp_path: Path) -> None:
    Dialog(DialogProgram("/bin/false", ZENITY.arguments, ZENITY.script), {}).show(challenge(), CODE, "words", 5)
    with pytest.raises(OSError):
        Dialog(DialogProgram(str(tmp_path / "none"), ZENITY.arguments, ZENITY.script), {}).show(
            challenge(), CODE, "w", 5
        )


@pytest.mark.parametrize("program", [ZENITY, KDIALOG, OSASCRIPT, POWERSHELL], ids=lambda one: Path(one.path).name)
def test_no_program_is_told_the_code_in_an_argument(program: DialogProgram) -> None:
    assert CODE not in " ".join([program.path, *program.arguments(300)])
    script = program.script(f'it said "no" \\ and $(touch x)\n{CODE}', 300)
    if program is OSASCRIPT:
        assert '\\"no\\" \\\\ and $(touch x)\\n' in script and script.count("\n") == 1
    if program is POWERSHELL:
        assert "touch" not in script and script.count("\n") == 1


# Where there is one


def test_without_a_desktop_there_is_no_window() -> None:
    assert dialog_program({}, "linux") is None
    assert open_builtin_channels("auto", {}, None)[0] == open_builtin_channels("off", {"DISPLAY": ":0"}, None)[0]
    assert "no desktop" in open_builtin_channels("auto", {}, None)[1][0]


def test_a_daemon_that_an_agent_started_shows_no_code() -> None:
    found, missing = open_builtin_channels("auto", {"DISPLAY": ":0"}, "it was started by claude (process 7)")
    assert not any(isinstance(one, Dialog) for one in found)
    assert "started by claude" in missing[0]


def test_by_default_no_code_is_shown_in_a_window(gate: Gate) -> None:
    assert gate.config.channels.dialog == "off"


# With the service


class Shown(Gate):
    """A gate on a machine with a desktop."""

    def __init__(self, folder: Path, dialog: Dialog) -> None:
        super().__init__(folder)
        self.state.channels = [dialog]


def code_in(text: str) -> str:
    return text.split("code ")[1].split()[0]


@pytest.fixture
def desk(tmp_path: Path, dialog: Dialog) -> Iterator[Shown]:
    made = Shown(tmp_path / "state", dialog)
    made.enrol()
    yield made
    for one in challenges.list_waiting(made.state):
        dialog.hide(one.id)
    made.close()


def block(gate: Gate) -> Challenge:
    now = gate.clock.now()
    kept = Block(AGENT.principal, "danger zone", now, "interlock", AGENT.name)
    gate.store.write(lambda tx: tx.save_block(kept))
    gate.state.remember_block(kept)
    return gate.store.write(lambda tx: challenges.issue(tx, gate.state, AGENT, BLOCK, "danger zone", now))


def test_a_code_from_a_window_lifts_a_block_and_the_record_says_nobody_signed(desk: Shown, windows: Windows) -> None:
    made = block(desk)
    assert releasing.announce(desk.state) == 1
    releasing.verify(desk.state, AGENT, made.id, code_in(windows.shown()[0]))
    assert not desk.state.blocked(AGENT.principal)
    told = desk.records("unblock")[-1].body
    assert '"by":"dialog"' in told and '"signed":false' in told
    assert gone(windows.pid())


def test_a_code_from_a_window_approves_one_step_once(desk: Shown, windows: Windows) -> None:
    ticket = desk.held(PUSH, execution="e1")
    now = desk.clock.now()
    made = desk.store.write(
        lambda tx: challenges.issue(tx, desk.state, AGENT, VERIFY, "why", now, digest=ticket.digest)
    )
    releasing.announce(desk.state)
    said = windows.shown()[0]
    assert f"What would run:\n  {PUSH.text}\n" in said  # the action itself, above the code that frees it
    assert said.index(PUSH.text) < said.index(code_in(said))
    releasing.verify(desk.state, AGENT, made.id, code_in(said))
    assert desk.ask(PUSH, execution="e1").allowed
    assert not desk.ask(PUSH, execution="e1").allowed


def test_what_asks_for_somebody_in_particular_is_not_shown_in_a_window(desk: Shown, windows: Windows) -> None:
    ticket = desk.held(intent("delete the production database"), execution="e1")
    now = desk.clock.now()
    desk.store.write(lambda tx: challenges.issue(tx, desk.state, AGENT, VERIFY, "why", now, digest=ticket.digest))
    assert releasing.announce(desk.state) == 1
    assert not list(windows.folder.glob("shown.*")) and desk.records("reveal") == []


def test_a_code_that_nobody_signed_for_is_not_enough_for_what_asks_for_an_admin(desk: Shown) -> None:
    wipe = intent("delete the production database")
    ticket = desk.held(wipe, execution="e1")
    desk.state.codes.agree(ticket.id, desk.clock.now() + 300)
    desk.store.write(lambda tx: tx.change_ticket(apply_move(ticket, "approve", desk.clock.now()), ticket))
    assert not desk.ask(wipe, execution="e1").allowed


def test_a_window_closes_when_an_operator_has_another_code_shown(desk: Shown, windows: Windows) -> None:
    made = block(desk)
    releasing.announce(desk.state)
    first, pid = code_in(windows.shown()[0]), windows.pid()
    second = releasing.reveal(desk.state, desk.sign_in(), made.id).code
    assert gone(pid)
    with pytest.raises(LoopProblem):
        releasing.verify(desk.state, AGENT, made.id, first)
    assert second != first


def test_each_challenge_is_told_once(desk: Shown, windows: Windows) -> None:
    block(desk)
    assert [releasing.announce(desk.state) for _ in range(3)] == [1, 0, 0]


def test_a_challenge_that_never_got_to_disk_is_told_to_nobody(desk: Shown) -> None:
    desk.state.codes.issue("5f0c0000-0000-4000-8000-000000000000", desk.clock.now())
    assert releasing.announce(desk.state) == 0
    desk.clock.forward(61)
    assert releasing.announce(desk.state) == 0 and desk.state.codes.issued() == {}


# A real window


@pytest.mark.skipif(
    not (shutil.which("zenity") and shutil.which("Xvfb") and shutil.which("xwininfo")),
    reason="zenity, Xvfb or xwininfo is missing",
)
def test_zenity_shows_a_window_with_the_code_on_a_real_display(tmp_path: Path) -> None:
    number, writes = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writes), "-screen", "0", "800x600x24", "-nolisten", "tcp"],
        pass_fds=[writes],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writes)
    with os.fdopen(number) as said:
        environ = {"DISPLAY": f":{said.readline().strip()}", "HOME": str(tmp_path)}
    try:
        program = dialog_program(environ)
        assert program is ZENITY
        dialog, code = Dialog(program, environ), new_code()
        dialog.show(challenge(), code, "claude is blocked", 60)
        end = time.monotonic() + PATIENCE
        while "Interlock" not in _windows(environ) and time.monotonic() < end:
            time.sleep(0.05)
        assert "Interlock" in _windows(environ)
        for path in Path("/proc").glob("[0-9]*"):
            for name in ("cmdline", "environ"):
                assert code.encode() not in _bytes(path / name), path
        dialog.hide("c1")
        end = time.monotonic() + PATIENCE
        while "Interlock" in _windows(environ) and time.monotonic() < end:
            time.sleep(0.05)
        assert "Interlock" not in _windows(environ)
    finally:
        server.terminate()
        server.wait()


def _windows(environ: dict[str, str]) -> str:
    run = subprocess.run(
        ["xwininfo", "-root", "-tree"], env={**os.environ, **environ}, capture_output=True, text=True, timeout=PATIENCE
    )
    return run.stdout


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
