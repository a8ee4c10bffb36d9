"""How a jail begins, goes on without its daemon, and ends."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

import warm_processes
from daemons import in_process_daemon, start_daemon
from hook_client import PATIENCE, HookedDaemon, until
from interlock.audit import journal
from interlock.config import config_of
from interlock.identity.isolation import FOLDER, JOURNAL
from interlock.sandbox import Placeholders, SandboxSituation, plan_sandbox
from interlock.sandbox.command_line import seatbelt_argv, seatbelt_profile
from jails import Home, guarded_home, install_hooks

pytestmark = [
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bwrap is missing"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is missing"),
    pytest.mark.xdist_group("jail"),
]


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)]
)
def test_the_exit_code_is_the_agents(home: Home, script: str, code: int) -> None:
    assert home.run(script).returncode == code


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_are_passed_on_and_the_agent_ends_as_it_likes(home: Home, sig: signal.Signals) -> None:
    script = f"trap 'echo heard; exit 5' {sig.name.removeprefix('SIG')}; echo ready; while :; do sleep 0.05; done"
    process = subprocess.Popen(
        home.words("sh", "-c", script),
        env=home.environ,
        cwd=home.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(sig, signal.SIG_DFL),  # which whatever was started in the background ignores
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(sig)
    assert process.stdout.read() == b"heard\n" and process.wait(60) == 5
    process.stdout.close()


def test_everything_in_the_jail_ends_with_interlock_run(home: Home) -> None:
    process = subprocess.Popen(
        home.words("sh", "-c", "echo ready; sleep 600"),
        env=home.environ,
        cwd=home.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    process.kill()
    process.wait()
    assert process.stdout.read() == b""  # nobody holds the other end any more
    process.stdout.close()


def _at_a_terminal(home: Home, script: str, *keys: tuple[bytes, bytes]) -> tuple[bytes, int]:
    """What a person sees who types each keys once the words before them are there, and the exit code."""
    pid, master = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where the tests run in the background
        os.chdir(home.project)
        os.execve(sys.executable, home.words("sh", "-c", script), home.environ)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 97, 0, 0))
    seen, left, end = b"", list(keys), time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if not select.select([master], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(master, 4096)
        except OSError:
            break
        seen += data
        if left and left[0][0] in seen:
            os.write(master, left.pop(0)[1])
    os.close(master)
    return seen, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_person_at_a_terminal_types_to_the_agent_and_ctrl_c_is_its_own(home: Home) -> None:
    script = "trap 'echo stopped; exit 4' INT; stty size; echo ready; read line; echo got $line; read more; exit 9"
    seen, code = _at_a_terminal(home, script, (b"ready", b"hello\r"), (b"got hello", b"\x03"))
    assert b"33 97" in seen and b"got hello" in seen and b"stopped" in seen and code == 4, seen


def test_nothing_can_be_typed_into_the_persons_terminal(home: Home) -> None:
    """The agent's terminal is another one: what it types there is its own input."""
    type_in = "[fcntl.ioctl(0, termios.TIOCSTI, c.encode()) for c in 'touch escaped']"
    script = f'tty; python3 -c "import fcntl, termios; {type_in}"; ls -l /proc/self/fd/0; exit 3'
    seen, code = _at_a_terminal(home, script)
    assert code == 3 and not (home.project / "escaped").exists(), seen


def test_while_no_daemon_answers_a_jailed_hook_judges_by_itself_and_the_next_daemon_hears_of_it(tmp_path: Path) -> None:
    with guarded_home(tmp_path) as home:
        gate = home.project / "go"
        everyday, harmful = home.hook("git status", "f1"), home.hook("rm -rf /srv/x", "f2")
        later = home.hook("rm -rf /srv/later", "f3")
        script = f"echo up; read one; {everyday}; echo; {harmful}; echo; echo down; read two; {later}"
        agent = subprocess.Popen(
            home.words("sh", "-c", script),
            env=home.environ,
            cwd=home.project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert agent.stdin is not None and agent.stdout is not None
        assert agent.stdout.readline() == "up\n"
        home.guard.daemon.stop(signal.SIGKILL)
        agent.stdin.write("go\n")
        agent.stdin.flush()
        assert agent.stdout.readline() == "\n"  # everyday work passes, without a word
        denied = json.loads(agent.stdout.readline())["hookSpecificOutput"]
        assert (
            denied["permissionDecision"] == "deny"
            and "No Interlock daemon answers" in denied["permissionDecisionReason"]
        )
        agent.stdout.readline()
        assert agent.stdout.readline() == "down\n"
        again = start_daemon(tmp_path)
        try:
            agent.stdin.write("go\n")
            agent.stdin.flush()
            assert "deny" in agent.stdout.read() and agent.wait(60) == 0
            back = HookedDaemon(again, home.guard.client)
            kept = until(lambda: back.records("journal"), "what was decided without a daemon")
            assert [(row["strength"], row["entry"]["verdict"]) for row in reversed(kept)] == [
                ("jailed", "allow"),
                ("jailed", "deny"),
            ]
            # the new daemon knows the jail that an earlier one was told of
            assert [ticket["strength"] for ticket in back.tickets()] == ["jailed"]
        finally:
            for client in again.clients:
                client.close()
            again.stop(signal.SIGKILL)
            assert again.process.stdout is not None
            again.process.stdout.close()
            agent.stdin.close()
            agent.stdout.close()
        assert not gate.exists()


_JUDGE = """
import sys
from pathlib import Path
from interlock.config import load_config
from interlock.proxy import ServerIdentity, ToolClaims
from interlock.proxy.fallback import judge_locally
body = {"tool": "mcp__notes__get_note", "input": {}, "cwd": "/", "agent": {"name": "one", "session": "s"}}
print(judge_locally(body, ServerIdentity("notes", "notes", "validated"), ToolClaims(), load_config(Path(sys.argv[1]))))
"""


def test_while_no_daemon_answers_a_proxy_in_a_jail_records_where_a_hook_does(tmp_path: Path) -> None:
    with guarded_home(tmp_path) as home:
        (home.project / "judge.py").write_text(_JUDGE)
        judging = f"{sys.executable} {home.project}/judge.py {tmp_path}/interlock.toml"
        agent = subprocess.Popen(
            home.words("sh", "-c", f"echo up; read one; {judging}"),
            env=home.environ,
            cwd=home.project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert agent.stdout is not None and agent.stdout.readline() == "up\n"
        home.guard.daemon.stop(signal.SIGKILL)
        assert agent.communicate("go\n", 60)[0] == "(True, '')\n"
        assert (tmp_path / "state" / FOLDER / JOURNAL / journal.NAME).read_text().count('"verdict":"allow"') == 1


def test_a_blocked_user_may_do_nothing_in_a_jail_without_a_daemon(tmp_path: Path) -> None:
    with guarded_home(tmp_path) as home:
        block, own = {"principal": f"uid:{os.getuid()}", "reason": "enough"}, home.guard.daemon.sign_in()
        assert home.guard.daemon.here().post("/api/v1/blocks", json=block, headers=own).status_code < 300
        words = home.words("sh", "-c", f"echo up; read one; {home.hook('git status')}")
        how = {"env": home.environ, "cwd": home.project, "text": True}
        agent = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how)  # type: ignore[call-overload]
        assert agent.stdout.readline() == "up\n"
        home.guard.daemon.stop(signal.SIGKILL)
        assert "is blocked (enough)" in agent.communicate("go\n", 60)[0]


def test_links_to_settings_stay_where_they_are(tmp_path: Path) -> None:
    """As with dotfiles that are kept elsewhere: neither the link nor what it leads to can be changed."""
    with guarded_home(tmp_path) as home:
        kept = tmp_path / "dotfiles" / "claude.json"
        kept.parent.mkdir()
        home.settings.rename(kept)
        home.settings.symlink_to(kept)
        done = home.run(
            "rm -f ~/.claude/settings.json; ln -sf /dev/null ~/.claude/settings.json; echo x > ~/.claude/settings.json; mv ~/dotfiles ~/gone; mv ~/.claude ~/gone;"
            "echo ok > ~/.claude/projects/ok; cat ~/.claude/settings.json"
        )
        assert "interlock-hook" in done.stdout and "is a symbolic link" in done.stderr
        assert home.settings.is_symlink() and b"interlock-hook" in kept.read_bytes()
        assert (tmp_path / ".claude" / "projects" / "ok").exists(), done.stderr


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "held"])
def test_whoever_puts_something_else_in_the_journals_place_stops_nobody(tmp_path: Path, kind: str) -> None:
    """Those in a jail can write there; whatever they do, the daemon goes on and takes what comes later."""
    with in_process_daemon(tmp_path) as found:
        folder = tmp_path / "state"
        place = folder / FOLDER / JOURNAL
        place.mkdir(parents=True)
        own = place / journal.NAME
        if kind == "held":
            journal.append(place, {"verdict": "allow"})
            with own.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                assert journal.take(found.state, folder) == [] and journal.is_pending(folder)
        else:
            {"pipe": os.mkfifo, "folder": os.mkdir, "link": lambda path: os.symlink("/etc/passwd", path)}[kind](own)  # type: ignore[operator]
            assert journal.take(found.state, folder) == [] and not journal.is_pending(folder)
            journal.append(place, {"verdict": "allow"})
        assert journal.take(found.state, folder) == [{"verdict": "allow"}] and not journal.is_pending(folder)


def test_it_says_what_it_would_do_and_what_it_cannot(home: Home) -> None:
    def said(*words: str) -> subprocess.CompletedProcess[str]:
        config = ["--config", str(home.folder / "interlock.toml")]
        return subprocess.run(
            [*warm_processes.INTERLOCK, "run", *config, *words],
            text=True,
            capture_output=True,
            env=home.environ,
            cwd=home.project,
            stdin=subprocess.DEVNULL,
        )

    dry = said("--dry-run", "--", "true")
    assert (
        dry.returncode == 0
        and dry.stdout.startswith("/")
        and "--unshare-pid" in dry.stdout
        and str(home.settings) in dry.stdout
    )
    assert (said("--", "no-such-agent").returncode, said("--").returncode) == (127, 2)
    wrong = said("--grant", "dokcer", "--", "true")
    assert wrong.returncode == 2 and "known: docker" in wrong.stderr


def test_an_agent_without_hooks_is_warned_of(home: Home, tmp_path: Path) -> None:
    codex = tmp_path / "codex"
    codex.write_text("#!/bin/sh\nexit 0\n")
    codex.chmod(0o755)
    done = subprocess.run(
        home.words(str(codex)), text=True, capture_output=True, env=home.environ, cwd=tmp_path, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0 and "interlock install codex" in done.stderr, done.stderr


def test_a_daemon_is_started_where_none_answers(tmp_path: Path) -> None:
    (tmp_path / "interlock.toml").write_text(f'[store]\nurl = "sqlite://{tmp_path}/state"\n[daemon]\nport = 0\n')
    install_hooks(tmp_path)
    environ = {**os.environ, "HOME": str(tmp_path)}
    words = [
        *warm_processes.INTERLOCK,
        "run",
        "--config",
        str(tmp_path / "interlock.toml"),
        "--",
        "sh",
        "-c",
        "ls -A ~/state",
    ]
    done = subprocess.run(
        words, text=True, capture_output=True, env=environ, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=120
    )
    lock = tmp_path / "state" / "lock"
    try:
        assert done.returncode == 0 and "one was started" in done.stderr, done.stderr
        assert "state.db" not in done.stdout and "jail" in done.stdout
    finally:
        if lock.exists():
            os.kill(int(lock.read_text()), signal.SIGTERM)


def test_where_namespaces_are_forbidden_it_says_so(home: Home) -> None:
    """In a user namespace that forbids further ones, as an ordinary user."""
    shut = [
        "bwrap",
        "--bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--unshare-user",
        "--uid",
        "1000",
        "--disable-userns",
        "--",
    ]
    done = subprocess.run(
        [*shut, *home.words("true")],
        text=True,
        capture_output=True,
        env=home.environ,
        cwd=home.project,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 1 and "namespace" in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_an_ordinary_user_has_a_jail_too(home: Home) -> None:
    """Without any privilege: bubblewrap makes a user namespace by itself."""
    as_user = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"]
    words = home.words("sh", "-c", "id -u; mv ~/.claude ~/gone; ls -A ~/state")
    done = subprocess.run(
        [*as_user, *words], text=True, capture_output=True, env=home.environ, cwd=home.project, stdin=subprocess.DEVNULL
    )
    assert "does not take this for a jail" not in done.stderr
    assert done.stdout.split()[0] == "1000" and "busy" in done.stderr and "state.db" not in done.stdout, done.stderr


def test_the_profile_for_macos_fixes_and_hides_the_same(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(
        '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "/x/interlock-hook"}]}]}}'
    )
    (tmp_path / ".mozilla").mkdir()
    (tmp_path / "state").mkdir()
    config = config_of({"store": {"url": f"sqlite://{tmp_path}/state"}}, environ={})
    jail = plan_sandbox(SandboxSituation(config, tmp_path, tmp_path, ["claude"], {}, ["tmp"]))
    text = seatbelt_profile(jail)
    assert text.startswith("(version 1)\n(allow default)\n")
    for line in (
        f'(deny file* network-outbound (subpath "{tmp_path}/state"))',
        f'(deny file* network-outbound (subpath "{tmp_path}/.mozilla"))',
        f'(deny file-write* (literal "{tmp_path}/.claude/settings.json"))',
        f'(deny file-write-unlink (literal "{tmp_path}/.claude"))',
    ):
        assert line in text.splitlines(), text
    assert seatbelt_argv(jail)[:2] == ["/usr/bin/sandbox-exec", "-p"] and seatbelt_argv(jail)[-1] == "claude"


def test_a_link_in_place_of_a_placeholder_is_reported_and_left_alone(tmp_path: Path) -> None:
    link, file, holders = tmp_path / "link", tmp_path / "folder" / "file", Placeholders()
    link.symlink_to("nowhere")
    assert len(holders.make([link, file])) == 1 and file.is_file()
    holders.remove()
    assert link.is_symlink() and not file.parent.exists()
