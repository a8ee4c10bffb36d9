"""Three worlds on one machine, in a mount namespace of their own: real users, real daemons, and an agent in each; only root can make them."""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from daemons import PASSPHRASE, bearer, enrol_operators
from interlock.config import load_config
from interlock.runtime.state import SystemClock
from interlock.startup import open_state, open_store

CODE = Path("/opt/interlock")
SYSTEM = Path("/etc/interlock/config.toml")
SITE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
PATIENCE = 30.0
USERS = {"plain": "paula", "jailed": "jan", "separate": "alice"}
QUICKLY = '[hooks]\nwait_seconds = 0\n[policy]\nuse = "default"\n'
NOTICED = ("alert", "block", "daemon_was_down", "hook_change")


def machine() -> None:
    """Everything that is going to be changed, replaced by a copy or by nothing; what is outside this namespace stays as it is."""
    _loopback_up()
    scratch = Path("/mnt")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "none", str(scratch))
    run("cp", "-a", "/etc", str(scratch / "etc"))
    run("mount", "--bind", str(scratch / "etc"), "/etc")
    for folder in ("/opt", "/home", "/run", "/var/lib", "/usr/local/bin"):
        run("mount", "-t", "tmpfs", "-o", "mode=755", "none", folder)
    for name in USERS.values():
        run("useradd", "--create-home", "--shell", "/bin/bash", name)
    run(sys.executable, "-m", "interlock", "install", "--system", "claude-code", "--for", USERS["separate"], "--yes")


def _loopback_up() -> None:
    """In a new network namespace there is nothing but a loopback device, and that is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: up, running


@dataclass
class World:
    """One strength: a daemon, its people, and an agent that is told what to try."""

    strength: str
    user: str
    config: Path
    hook_file: Path
    package: Path
    client: Path
    process: subprocess.Popen[bytes] | None = None
    agent: subprocess.Popen[str] | None = None
    marks: list[str] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return Path("/home") / self.user

    @property
    def settings(self) -> Any:
        return load_config(self.config, {"XDG_STATE_HOME": str(self.home / ".local/state")})

    def told(self) -> dict[str, Any]:
        """What the agent knows."""
        assert self.process is not None
        found = self.settings
        return {
            "home": str(self.home), "state": str(found.folder), "hook_file": str(self.hook_file), "client": str(self.client),
            "socket": str(found.agents_socket), "port": found.daemon.port, "config": str(self.config), "package": str(self.package),
            "daemon": self.process.pid, "cli": [*self.cli(), "interlock"],
        }  # fmt: skip

    def cli(self) -> list[str]:
        return [str(self.package.parents[3] / "bin" / "python"), "-I", "-m"]

    def start(self) -> None:
        """The daemon, ready to answer."""
        system = ["--system"] if self.strength == "separate" else []
        argv = [*self.cli(), "interlock", "serve", "--config", str(self.config), *system]
        with (Path("/mnt") / f"{self.strength}.log").open("ab") as log:
            self.process = subprocess.Popen(argv if system else as_user(self.user, argv), stdout=log, stderr=log)
        self.until(lambda: self.get("/status"), "the daemon answers")

    def stop(self, sig: int = signal.SIGTERM) -> None:
        assert self.process is not None
        self.process.send_signal(sig)
        self.process.wait(PATIENCE)

    def begin(self) -> None:
        """The agent, waiting for the names of attempts."""
        script, world = self.home / "agent.py", self.home / "world.json"
        for name in ("agent.py", "inside.py"):
            shutil.copy(Path(__file__).with_name(name), self.home / name)
        world.write_text(json.dumps(self.told()))
        argv = ["/usr/bin/python3", str(script), str(world)]
        if self.strength == "jailed":
            argv = [*self.cli(), "interlock", "run", "--config", str(self.config), "--", *argv]
        with (Path("/mnt") / f"{self.strength}-agent.log").open("ab") as log:
            self.agent = subprocess.Popen(
                as_user(self.user, argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self.home,
            )

    def tries(self, name: str) -> dict[str, Any]:
        """What came of one attempt, as the agent tells it."""
        assert self.agent is not None and self.agent.stdin is not None and self.agent.stdout is not None
        assert self.process is not None
        self.agent.stdin.write(json.dumps({"attempt": name, "world": {"daemon": self.process.pid}}) + "\n")
        self.agent.stdin.flush()
        line = self.agent.stdout.readline()
        assert line, (
            f"{self.strength}: the agent ended at {name}: "
            + (Path("/mnt") / f"{self.strength}-agent.log").read_text()[-2000:]
        )
        found: dict[str, Any] = json.loads(line)
        return found

    def fires(self, command: str, session: str = "harness") -> str:
        """What a session of the agent that still has its hooks is told."""
        given = {
            "session_id": session, "transcript_path": "/dev/null", "cwd": str(self.home), "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"h{time.time_ns()}",
        }  # fmt: skip
        argv = as_user(self.user, [str(self.client), "claude-code", "PreToolUse"])
        done = subprocess.run(argv, input=json.dumps(given).encode(), capture_output=True, timeout=60)
        if done.returncode != 0 or not done.stdout.strip():
            return "allow" if done.returncode == 0 else "deny"
        return str(json.loads(done.stdout).get("hookSpecificOutput", {}).get("permissionDecision", "allow"))

    def get(self, path: str, headers: dict[str, str] | None = None) -> Any:
        with httpx.Client(
            transport=httpx.HTTPTransport(uds=str(self.settings.socket_path)), base_url="http://interlock", timeout=20
        ) as client:
            return client.get(f"/api/v1{path}", headers=headers).json()

    def alarms(self, free: bool = False) -> int:
        """How much of what people are told of is on the record; `free` lifts the agent's block, so that the next attempt meets the wall itself."""
        with httpx.Client(
            transport=httpx.HTTPTransport(uds=str(self.settings.socket_path)), base_url="http://interlock", timeout=20
        ) as client:
            signed = client.post("/api/v1/session", json={"operator": "ana", "passphrase": PASSPHRASE})
            headers = bearer(signed.json()["token"])
            if free:
                client.delete(
                    f"/api/v1/blocks/uid:{pwd.getpwnam(self.user).pw_uid}",
                    params={"reason": "the next attempt"},
                    headers=headers,
                )
            rows = [
                client.get("/api/v1/audit", params={"event": event, "limit": 500}, headers=headers).json()
                for event in NOTICED
            ]
        return sum(len(found["records"]) for found in rows)

    def until(self, seen: Any, words: str, seconds: float = PATIENCE) -> Any:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if found := seen():
                    return found
            except (httpx.HTTPError, OSError, ValueError):
                assert self.process is not None
            time.sleep(0.05)
        raise AssertionError(f"{self.strength}: never seen: {words}")

    def close(self) -> None:
        for process in (self.agent, self.process):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


def separate() -> World:
    """The installation that `install --system` made."""
    with SYSTEM.open("a") as file:
        file.write(QUICKLY)
    run(str(CODE / "bin/python"), "-I", "-m", "interlock.install.client_build", str(SYSTEM))
    made = World(
        "separate", USERS["separate"], SYSTEM, Path("/etc/claude-code/managed-settings.json"), CODE / SITE / "interlock",
        CODE / "bin/interlock-hook",
    )  # fmt: skip
    _people(made, "interlock")
    return made


def own(strength: str, port: int) -> World:
    """An installation of the user's own: code, state, configuration and hooks in its home."""
    user = USERS[strength]
    home = Path("/home") / user
    code, config = home / ".local/interlock", home / ".config/interlock/interlock.toml"
    (code / "bin").mkdir(parents=True)
    (code / SITE).mkdir(parents=True)
    (code / "bin/python").symlink_to(os.readlink(CODE / "bin/python"))
    shutil.copy(CODE / "pyvenv.cfg", code / "pyvenv.cfg")
    shutil.copytree(CODE / SITE / "interlock", code / SITE / "interlock")
    (code / SITE / "shared.pth").write_text(f"{CODE / SITE}\n")
    config.parent.mkdir(parents=True)
    config.write_text(f'[daemon]\nport = {port}\n[store]\nurl = "sqlite://{home}/.local/state/interlock"\n{QUICKLY}')
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text('{"model": "opus"}\n')
    run("chown", "-R", f"{user}:{user}", str(home))
    made = World(
        strength, user, config, home / ".claude/settings.json", code / SITE / "interlock",
        home / ".local/state/interlock/bin/interlock-hook",
    )  # fmt: skip
    _people(made, user)
    run(*as_user(user, [*made.cli(), "interlock", "install", "claude-code", "--yes", "--config", str(config)]))
    return made


def _people(world: World, owner: str) -> None:
    """Operators, before any daemon has the state."""
    config = world.settings
    store = open_store(config.store)
    try:
        enrol_operators(open_state(config, store, SystemClock()))
    finally:
        store.close()
    run("chown", "-R", f"{owner}:{owner}", str(config.folder))
    if world.strength != "separate":
        run("chown", "-R", f"{owner}:{owner}", str(world.home / ".local"))


def as_user(name: str, argv: Sequence[str]) -> list[str]:
    home = pwd.getpwnam(name).pw_dir
    clean = ["env", "-i", f"HOME={home}", "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", f"USER={name}"]
    return ["setpriv", "--reuid", name, "--regid", name, "--init-groups", *clean, *argv]


def run(*argv: str) -> None:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{' '.join(argv)}: {done.stdout[-1000:]}{done.stderr[-2000:]}"
