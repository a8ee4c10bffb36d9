"""`make newcomer`: a fresh user with a fresh clone types what the README and the commands print, until an agent is guarded, held, approved and undone."""

from __future__ import annotations

import itertools
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pages import fenced
from repository import ROOT
from terminals import Screen, person_at

PASSPHRASE = "orchid lantern 47 river"
PYTHON = "/usr/bin/python3"
PROMPT = "typed> "
CODE = r"    ([2-9A-Z]{4}(?:-[2-9A-Z]{4}){2})\r"
HELD = "git push --force origin main"
SECONDS = 300
RUNUSER = shutil.which("runuser") or ""


class Newcomer:
    """A user of this machine who has a clone and nothing else; the packages that a download would bring are there already."""

    def __init__(self, name: str, home: Path) -> None:
        self.name, self.home, self.clone = name, home, home / "interlock"
        self.calls = itertools.count()
        git = ["git", "-c", "safe.directory=*"]
        subprocess.run([*git, "clone", "--quiet", "--no-hardlinks", str(ROOT), str(self.clone)], check=True)
        (home / ".claude").mkdir()
        subprocess.run(["chown", "-R", f"{name}:", str(home)], check=True)
        self.env = {
            "HOME": str(home),
            "USER": name,
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "xterm",
        } | _pip()
        self.run(PYTHON, "-m", "venv", ".venv")
        packages = next((self.clone / ".venv/lib").glob("python*/site-packages"))
        own = Path(next(path for path in sys.path if path.endswith("site-packages")))
        (packages / "downloaded.pth").write_text(f"{own}\n")

    def run(self, *argv: str, given: str = "") -> str:
        """A program of theirs without a terminal."""
        words = [RUNUSER, "-u", self.name, "--", *argv]
        done = subprocess.run(
            words, cwd=self.clone, env=self.env, input=given, text=True, capture_output=True, timeout=SECONDS
        )
        assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
        return done.stdout

    @contextmanager
    def terminal(self) -> Iterator[Screen]:
        script = f'cd "{self.clone}"; exec {RUNUSER} -u {self.name} -- env PS1="{PROMPT}" bash --norc -i'
        with person_at("/bin/sh", "-c", script, env=self.env) as screen:
            screen.until(PROMPT)
            yield screen

    def hook(self, command: str) -> subprocess.Popen[str]:
        """The agent asks before a command, as its settings say."""
        settings = json.loads((self.home / ".claude/settings.json").read_text())
        handler: dict[str, Any] = settings["hooks"]["PreToolUse"][0]["hooks"][0]
        given = {
            "session_id": "s-1", "transcript_path": "/dev/null", "cwd": str(self.home / "shop"), "permission_mode": "bypassPermissions",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"toolu_{next(self.calls)}",
        }  # fmt: skip
        words = [RUNUSER, "-u", self.name, "--", handler["command"], *handler["args"]]
        pipe = subprocess.PIPE
        process = subprocess.Popen(words, cwd=self.home, env=self.env, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        assert process.stdin is not None
        process.stdin.write(json.dumps(given))
        process.stdin.close()
        process.stdin = None
        return process


def play(person: Newcomer) -> None:
    shown = (person.clone / "README.md").read_text().partition("## Guard the agent you have")[2]
    first, second, *_ = [line.partition("#")[0].strip() for line in next(iter(fenced(shown, "sh"))).splitlines()]
    with person.terminal() as screen:
        _type(screen, first)
        began = time.monotonic()
        said = _type(screen, f"{second} --yes")
        print(f"guarded {time.monotonic() - began:.1f} s after the packages were there", flush=True)
        assert "All is well: the guard fires" in said, said
        _enrol(screen, _printed(said, r"in a terminal of your own: (.+)"), person.name)
        _approve(screen, person, _printed(said, r"What waits for you: (\S+ \w+)"))
        _undo(screen, person, _printed(said, r"What waits for you: (\S+) "))
        _leave(screen, _printed(said, r"What waits for you: (\S+) "), person)


def _type(screen: Screen, line: str) -> str:
    """Types a line as it was printed; returns what the terminal showed until the next prompt."""
    print(f"$ {line}", flush=True)
    screen.type(line)
    return screen.until(rf"(?s)^(.*?){re.escape(PROMPT)}", SECONDS).replace("\r\n", "\n")


def _printed(said: str, pattern: str) -> str:
    found = re.search(pattern, said)
    assert found, f"{pattern!r} is not in:\n{said}"
    return found[1].strip()


def _enrol(screen: Screen, line: str, name: str) -> None:
    print(f"$ {line}", flush=True)
    screen.type(line)
    code = screen.until(CODE)
    screen.until("Code .*: ")  # what is typed before a prompt does not count
    screen.type(code)
    screen.until(r"name \[.*\]: ")
    screen.type("")
    for prompt in ("Passphrase .*: ", "again: "):
        screen.until(prompt)
        screen.type(PASSPHRASE)
    screen.until(rf"{name} is the first operator(?s:.*){re.escape(PROMPT)}")


def _approve(screen: Screen, person: Newcomer, pending: str) -> None:
    """An agent is held, and goes on as soon as the person has approved."""
    (person.home / "shop").mkdir()
    shutil.chown(person.home / "shop", person.name, person.name)
    agent = person.hook(HELD)
    end = time.monotonic() + 60
    while HELD not in (said := _type(screen, pending)):
        assert time.monotonic() < end and agent.poll() is None, said
        time.sleep(0.5)
    line = _printed(said, r"then `([^`]+ approve)`")
    print(f"$ {line}", flush=True)
    screen.type(line)
    screen.until("Passphrase of .*: ")
    screen.type(PASSPHRASE)
    screen.until(rf"Approved(?s:.*){re.escape(PROMPT)}")
    out, errors = agent.communicate(timeout=60)
    assert agent.returncode == 0 and '"deny"' not in out, out + errors
    print("held, approved, allowed once", flush=True)


def _undo(screen: Screen, person: Newcomer, name: str) -> None:
    """What exists nowhere else is kept before an agent deletes it, and comes back."""
    file = person.home / "shop" / "notes.txt"
    file.write_text("the only copy\n")
    shutil.chown(file, person.name, person.name)
    agent = person.hook("rm notes.txt")
    out, errors = agent.communicate(timeout=60)
    assert agent.returncode == 0 and '"deny"' not in out, out + errors
    file.unlink()  # as the agent does, once it may
    line = f"{name} " + _printed(out, r"interlock (undo \w+)")
    print(f"$ {line}", flush=True)
    screen.type(line)
    if "[y/N]" in screen.until(rf"(\[y/N\] |{re.escape(PROMPT)})"):
        screen.type("y")
        screen.until(re.escape(PROMPT))
    assert file.read_text() == "the only copy\n"
    print("undone", flush=True)


def _leave(screen: Screen, name: str, person: Newcomer) -> None:
    print(f"$ {name} uninstall --all --data", flush=True)
    screen.type(f"{name} uninstall --all --data")
    screen.until("Passphrase of .*: ")
    screen.type(PASSPHRASE)
    screen.until(r"\[y/N\] ")
    screen.type("y")
    screen.until(rf"done: delete(?s:.*){re.escape(PROMPT)}")
    assert not (person.home / ".claude/settings.json").exists()
    assert not (person.home / ".local/state/interlock").exists()
    print("taken back", flush=True)


def _pip() -> dict[str, str]:
    """Where packages come from on this machine, in case a build needs one."""
    said = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True).stdout
    found = dict(re.findall(r"^global\.([a-z-]+)='(.*)'$", said, re.MULTILINE))
    named = {f"PIP_{key.upper().replace('-', '_')}": value for key, value in found.items()}
    return named | {key: value for key, value in os.environ.items() if key.startswith("PIP_")}


def _end_processes(uid: int) -> None:
    """Ends what a user of ours left running, process by process."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folder.stat().st_uid == uid:
                os.kill(int(folder.name), signal.SIGKILL)


def main() -> int:
    if os.getuid() != 0 or shutil.which("useradd") is None or not RUNUSER:
        print("skipped: a fresh user is made by root, with useradd and runuser", file=sys.stderr)
        return int(os.environ.get("CI") == "true")
    name = f"newcomer{os.getpid()}"
    subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", name], check=True)
    try:
        play(Newcomer(name, Path(pwd.getpwnam(name).pw_dir)))
    finally:
        _end_processes(pwd.getpwnam(name).pw_uid)
        subprocess.run(["userdel", "--force", "--remove", name], capture_output=True)
    print("All of it worked as printed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
