"""A real daemon with a real person at a real terminal in front of it."""

from __future__ import annotations

import random
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import warm_processes
from gate import CHEAP, shipped
from interlock.client import DaemonClient, NoDaemon
from interlock.config import load_config
from interlock.identity.keys.passphrases import enrol
from interlock.identity.operators import enrol_first
from interlock.startup import open_state, open_store
from terminals import person_at

PASSPHRASE = "correct horse battery"
WRONG_AGAIN = [
    (r"2 more tries(?s:.*)Passphrase of [^\n]*: ", "nor this"),
    (r"one more try(?s:.*)Passphrase of [^\n]*: ", "no"),
]
PATIENCE = 60.0
_CODE = r"    ([2-9A-Z]{4}(?:-[2-9A-Z]{4}){2})\r"
AGENT = {"name": "claude", "session": "s1"}


def own_port() -> int:
    """A port that a daemon can bind again after a restart: outside the kernel's range for any free port."""
    given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(max(1_024, given - 16_000), given)
        with socket.socket() as sock, suppress(OSError):
            sock.bind(("127.0.0.1", port))
            return port


class _Wall:
    def now(self) -> float:
        return time.time()


class Desk:
    """One daemon in a folder of its own, and what people and agents do with it."""

    def __init__(self, folder: Path, more: str = "", port: int = 0) -> None:
        self.folder, self.config = folder, folder / "interlock.toml"
        self.socket = folder / "i.sock"
        self.config.write_text(
            f'[daemon]\nport = {port}\nsocket = "{self.socket}"\n[store]\nurl = "sqlite://{folder}/state"\n{more}'
        )
        self.daemon = DaemonClient(self.socket)
        self.process: subprocess.Popen[bytes] | None = None
        self.agent = AGENT

    def start(self) -> None:
        command = [*warm_processes.INTERLOCK, "serve", "--config", str(self.config)]
        with (self.folder / "log").open("ab") as log:
            self.process = warm_processes.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                self.daemon.get("/status")
                return
            except NoDaemon:
                assert self.process.poll() is None, (self.folder / "log").read_text()
                time.sleep(0.05)
        raise AssertionError("the daemon did not start")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            assert self.process.wait(PATIENCE) == 0, (self.folder / "log").read_text()
            self.process = None

    def open(self, name: str = "ana") -> None:
        """Starts with a first operator whose passphrase is cheap to guess, so that tests are quick; `enrol` is the real way."""
        config = load_config(self.config, {})
        store = open_store(config.store)
        try:
            state = open_state(config, store, _Wall(), known=shipped(config))
            roles = ("admin",)
            row = enrol(name, PASSPHRASE, None, now=state.clock.now(), by="terminal", roles=roles, kdf=CHEAP)
            enrol_first(state, *row)
        finally:
            store.close()
        self.start()
        self.daemon.post("/session", {"operator": name, "passphrase": PASSPHRASE})  # which unlocks

    def enrol(self, name: str = "ana") -> None:
        """The first operator, as somebody types it."""
        with person_at(*self.argv("operator", "add")) as screen:
            code = screen.until(_CODE)
            screen.until("Code .*: ")
            screen.type(code)
            screen.until("name: ")
            screen.type(name)
            for prompt in ("Passphrase .*: ", "again: "):
                screen.until(prompt)
                screen.type(PASSPHRASE)
            screen.until(rf"{name} is the first operator(?s:.*)EXIT 0")

    def person(
        self,
        *argv: str,
        answers: Sequence[tuple[str, str]] = (),
        env: Mapping[str, str] | None = None,
        script: str = "",
    ) -> tuple[str, int]:
        """Runs a command at a terminal with these answers to its prompts; returns the screen and the exit code."""
        words = [*warm_processes.INTERLOCK, *argv, "--config", str(self.config)]
        at = (
            person_at(*self.argv(*argv, script=script), env=env)
            if script
            else person_at(*words, env=env, start=warm_processes.at_terminal)
        )
        with at as screen:
            seen = ""
            for prompt, line in answers:
                seen += screen.until(f"(?s)^(.*?{prompt})")
                screen.type(line)
            end = screen.until(r"(?s)^(.*EXIT \d+)\r")
        words, _, code = end.rpartition("EXIT ")
        return (seen + words).replace("\r\n", "\n"), int(code)

    def signed(
        self,
        *argv: str,
        more: Sequence[tuple[str, str]] = (),
        name: str = "ana",
        passphrase: str = PASSPHRASE,
        script: str = "",
    ) -> tuple[str, int]:
        """As `person`, by an operator who signs in."""
        answers = [(r"Passphrase of [^\n]*: ", passphrase), *more]
        return self.person(*argv, "--operator", name, answers=answers, script=script)

    def program(self, *argv: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Runs a command without a terminal."""
        return warm_processes.run(
            *argv, "--config", str(self.config), given=given, timeout=PATIENCE, start_new_session=True
        )

    def evaluate(self, command: str, token: str = "", **more: Any) -> Mapping[str, Any]:
        """An agent's request."""
        body = {"agent": self.agent, "cwd": "/home/dev/app", "command": command, **more}
        answer = self.daemon.on_behalf(token).ask("POST", "/evaluate", body)
        assert isinstance(answer.body, dict)
        return answer.body

    def argv(self, *argv: str, script: str = "") -> list[str]:
        """The command in a shell that says its exit code; in a script it is "$@"."""
        run = script or '"$@"'
        words = [*warm_processes.INTERLOCK, *argv, "--config", str(self.config)]
        return ["/bin/sh", "-c", f'{run}; echo "EXIT $?"', "sh", *words]
