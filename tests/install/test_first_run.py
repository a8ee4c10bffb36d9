"""`interlock init` and `uninstall --all`: from nothing to a guarded agent and back, with a real daemon and a person at a terminal."""

from __future__ import annotations

import os
import plistlib
import re
import signal
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from msgspec.structs import replace

import warm_processes
from interlock.agents.toml_edit import END
from interlock.config import Config, load_config
from interlock.install.files import FileProblem
from interlock.install.system.code import CannotSetUp
from interlock.install.user_service import (
    add_channel,
    daemon_process,
    service_file,
    service_text,
    settings_file,
    start_steps,
    stop_steps,
    switch_off,
    until_running,
)
from terminals import Screen, person_at

PASSPHRASE = "orchid lantern 47 river"
# Stands for systemd: it keeps what it was asked for, and `restart` starts what the unit names.
SYSTEMCTL = """\
#!/bin/sh
echo "$*" >> "$HOME/asked"
case "$*" in
  *restart*) eval "set -- $(sed -n 's/^ExecStart=//p' "$HOME/.config/systemd/user/interlock.service")"
             setsid "$@" >/dev/null 2>&1 </dev/null & ;;
esac
"""


class FreshHome:
    """A home with Claude Code in it, and a service manager of its own: none, or one that the test watches."""

    def __init__(self, folder: Path, systemctl: str) -> None:
        self.home, self.bin = folder / "home", folder / "bin"
        (self.home / ".claude").mkdir(parents=True)
        (self.home / ".config/interlock").mkdir(parents=True)
        (self.home / ".config/interlock/interlock.toml").write_text("[undo]\njournal = false\n")  # saves compiling it
        self.bin.mkdir()
        program = self.bin / "systemctl"
        program.write_text(systemctl)
        program.chmod(0o755)
        self.env = {
            "HOME": str(self.home),
            "USER": "ana",
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "XDG_STATE_HOME": str(self.home / "state"),
        }

    @property
    def config(self) -> Config:
        return load_config(environ={**self.env, "XDG_CONFIG_HOME": str(self.home / ".config")})

    def files(self) -> set[str]:
        return {str(path.relative_to(self.home)) for path in self.home.rglob("*") if path.is_file()}

    def program(self, *argv: str) -> tuple[int, str]:
        """A command without a terminal."""
        done = warm_processes.run(*argv, env=self.env, timeout=60, start_new_session=True, cwd=self.home)
        return done.returncode, done.stdout + done.stderr

    def at_terminal(self, *argv: str) -> object:
        script = f'cd "{self.home}"; "$@"; echo "EXIT $?"'
        return person_at("/bin/sh", "-c", script, "sh", *warm_processes.INTERLOCK, *argv, env=self.env)

    def stop(self) -> None:
        if pid := daemon_process(self.config):
            os.kill(pid, signal.SIGTERM)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short name, for the path of a socket has at most 107 characters."""
    with TemporaryDirectory(prefix="i-") as made:
        yield Path(made)


@pytest.fixture
def bare(folder: Path) -> Iterator[FreshHome]:
    """A machine without a service manager, as a container is."""
    fresh = FreshHome(folder, "#!/bin/sh\nexit 1\n")
    yield fresh
    fresh.stop()


@pytest.fixture
def managed(folder: Path) -> Iterator[FreshHome]:
    fresh = FreshHome(folder, SYSTEMCTL)
    yield fresh
    fresh.stop()


def enrol(screen: Screen) -> None:
    code = screen.until(r"    ([2-9A-Z]{4}(?:-[2-9A-Z]{4}){2})\r")
    screen.until("Code .*: ")  # what is typed before a prompt does not count
    screen.type(code)
    screen.until("name .*: ")
    screen.type("")
    for prompt in ("Passphrase .*: ", "again: "):
        screen.until(prompt)
        screen.type(PASSPHRASE)


@pytest.mark.slow("a daemon, started twice, a compiled client and journal, three real passphrases")
def test_a_first_run_guards_an_agent_and_is_taken_back(bare: FreshHome) -> None:
    (bare.home / ".config/interlock/interlock.toml").unlink()  # as a new user has none
    with bare.at_terminal("init") as screen:
        screen.until(r"guard Claude Code(?s:.*)Go on\? \[Y/n\] ")
        screen.type("")
        screen.until("Enter for none: ")
        screen.type("over there")
        screen.until("Apprise does not know such an address; expected one such as(?s:.*)Enter for none: ")
        screen.type("")
        screen.until("The daemon answers on")
        screen.until("start the daemon anew, with commands below the journal")
        enrol(screen)
        screen.until(r"Claude Code \(user\)(?s:.*)All is well: the guard fires")
        screen.until("Passphrase of ana: ")
        screen.type(PASSPHRASE)
        screen.until(r"Allowed once: ana approved it(?s:.*)All is set up(?s:.*)EXIT 0")
    code, said = bare.program("init", "--dry-run")
    assert code == 0 and said.count("nothing to do") == 2 and "become the operator" not in said
    with bare.at_terminal("uninstall", "--all", "--data") as screen:
        screen.until("Passphrase of ana: ")
        screen.type(PASSPHRASE)
        screen.until(r"Change 1 file and take \d steps\? \[y/N\] ")
        screen.type("y")
        screen.until(r"done: delete(?s:.*)EXIT 0")
    assert bare.files() == set() and daemon_process(bare.config) == 0


def test_an_address_that_nothing_can_be_sent_to_changes_nothing(bare: FreshHome) -> None:
    before = bare.files()
    code, said = bare.program("init", "--yes", "--notify", "over there")
    assert code == 2 and "--notify: Apprise does not know such an address" in said and "over there" not in said
    assert bare.files() == before


@pytest.mark.slow("a daemon and a compiled client")
def test_without_questions_the_daemon_is_a_service_and_the_rest_is_named(managed: FreshHome) -> None:
    code, said = managed.program("init", "--yes")
    assert code == 0, said
    assert "All is well: the guard fires" in said and "Left to do" in said and "operator add" in said
    assert "--user enable interlock.service" in (managed.home / "asked").read_text()
    assert (managed.home / ".config/systemd/user/interlock.service").is_file()
    code, said = managed.program("init", "--yes")
    assert code == 0 and said.count("nothing to do") == 2
    code, said = managed.program("uninstall", "--all", "--yes")
    assert code == 1 and "not a terminal" in said  # taking the guard away is for a person
    assert (managed.home / ".claude/settings.json").is_file()


def test_without_a_terminal_it_asks_nobody_and_changes_nothing(bare: FreshHome) -> None:
    before = bare.files()
    code, said = bare.program("init")
    assert code == 2 and "give --yes" in said and "guard Claude Code" in said
    assert bare.files() == before


def test_a_unit_quotes_what_systemd_would_expand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/var/my state")
    text = service_text("systemd", Config(path="/home/a b/50%/$x.toml"))
    assert '"--config" "/home/a b/50%%/$$x.toml"' in text
    assert 'Environment="XDG_STATE_HOME=/var/my state"\n' in text


def test_a_launchd_agent_runs_the_same_command() -> None:
    found = plistlib.loads(service_text("launchd", Config()).encode())
    assert found["ProgramArguments"][1:] == ["-I", "-m", "interlock", "serve"] and found["RunAtLoad"] is True
    path = service_file("launchd")
    assert path is not None and path.parts[-2:] == ("LaunchAgents", "interlock.daemon.plist")


def test_settings_that_a_first_run_adds_are_taken_out_again(tmp_path: Path) -> None:
    path = tmp_path / "interlock" / "interlock.toml"
    path.parent.mkdir()
    before = f'# mine\n[store]\nurl = "sqlite://{tmp_path}/state"\n'
    path.write_text(before)
    next(iter(start_steps("hooks", load_config(path, {})))).do()
    add_channel(load_config(path, {}), "ntfys://ntfy.sh/topic")
    after = load_config(path, {})
    assert after.hooks.start_daemon and [one.name for one in after.channels.send] == ["me"]
    assert (path.with_name("channel-url").stat().st_mode & 0o777) == 0o600
    assert "ntfy.sh" not in path.read_text()
    for step in stop_steps(after):
        step.do()
    assert path.read_text() == before


def test_settings_with_the_same_table_are_left_to_their_owner(tmp_path: Path) -> None:
    path = tmp_path / "interlock.toml"
    path.write_text("[hooks]\nwait_seconds = 10\n")
    with pytest.raises(CannotSetUp, match=r"(?s)add this to it:.*start_daemon = true"):
        next(iter(start_steps("hooks", load_config(path, {})))).do()
    assert tomllib.loads(path.read_text()) == {"hooks": {"wait_seconds": 10}}
    assert settings_file(load_config(path, {})) == path


def test_settings_with_half_a_block_are_left_to_their_owner(tmp_path: Path) -> None:
    path = tmp_path / "interlock.toml"
    add_channel(replace(Config(), path=str(path)), "ntfys://ntfy.sh/topic")
    text = path.read_text().replace(END, "# mine")
    path.write_text(text)
    with pytest.raises(CannotSetUp, match="add this to it"):
        add_channel(replace(Config(), path=str(path)), "ntfys://ntfy.sh/topic")
    with pytest.raises(FileProblem, match="the block has no line"):
        switch_off(replace(Config(), path=str(path)))
    assert path.read_text() == text


def test_a_daemon_that_never_answers_ends_the_wait(tmp_path: Path) -> None:
    assert not until_running(Config(store=f"sqlite://{tmp_path}"), 0.0)


def test_what_uninstall_leaves_is_said(bare: FreshHome) -> None:
    (bare.home / "state" / "interlock").mkdir(parents=True)
    code, said = bare.program("uninstall", "--all", "--dry-run")
    assert code == 0 and re.search(r"Stays: \S*state/interlock, .*uninstall --all --data", said)
