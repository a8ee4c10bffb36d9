"""An agent in a jail: it works as always, and cannot reach what guards it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from hook_client import until
from jails import Home

pytestmark = [
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bwrap is missing"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is missing"),
    pytest.mark.xdist_group("jail"),
]
# What an agent's program does to say whether a socket answers it.
CONNECT = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1].replace('@', chr(0)))"


def test_what_installs_the_hooks_can_be_neither_written_nor_moved_nor_removed(home: Home) -> None:
    before = home.settings.read_bytes()
    done = home.run(
        "echo '{}' > ~/.claude/settings.json; rm -f ~/.claude/settings.json; mv ~/.claude/settings.json ~/x; chmod 777 ~/.claude/settings.json;"
        "truncate -s 0 ~/.claude/settings.json; ln -f /dev/null ~/.claude/settings.json; cp /dev/null ~/.claude/settings.json;"
        "mv ~/.claude ~/gone; rm -rf ~/.claude; mv ~ ~/../elsewhere; mkdir ~/y && mv -T ~/y ~/.claude; cat ~/.claude/settings.json"
    )
    assert home.settings.read_bytes() == before and done.stdout.encode() == before
    assert done.stderr.count("Read-only file system") + done.stderr.count("busy") >= 8, done.stderr


def test_nor_can_it_be_covered_by_namespaces_of_the_agents_own(home: Home) -> None:
    state = home.guard.daemon.folder / "state"
    done = home.run(
        f"unshare -Um sh -c 'umount ~/.claude/settings.json; umount -l {state}; mount --bind ~ /mnt && cat /mnt/state/*; mount -o remount,rw ~/.claude/settings.json;"
        " mv ~/.claude ~/gone; echo x > ~/.claude/settings.json; echo tried'"
    )
    assert "tried" in done.stdout and "SQLite" not in done.stdout, done.stderr
    assert b"interlock-hook" in home.settings.read_bytes()
    assert not (home.folder / "gone").exists()


def test_settings_that_could_switch_the_hooks_off_cannot_be_made(home: Home) -> None:
    done = home.run(
        """for name in settings.json settings.local.json; do echo '{"disableAllHooks": true}' > .claude/$name; cat .claude/$name; done"""
    )
    assert done.stdout.split() == ["{}", "{}"] and done.stderr.count("Read-only file system") == 2
    assert not (home.project / ".claude").exists()  # they are gone with the jail


def test_the_code_and_the_configuration_that_judge_cannot_be_written(home: Home) -> None:
    import interlock

    code = Path(interlock.__file__)
    done = home.run(
        'for one; do sh -c \'echo x >> "$0"\' "$one"; mv "$one" "$one.old"; done; mv ~/interlock.toml ~/i',
        str(code), str(code.parent / "engine" / "fallback.py"), str(home.folder / "interlock.toml"), home.guard.client,
    )  # fmt: skip
    assert done.stderr.count("Read-only file system") >= 4
    assert not list(code.parent.glob("*.old")) and (home.folder / "interlock.toml").exists()


def test_keys_and_database_are_not_to_be_seen(home: Home) -> None:
    state = home.folder / "state"
    done = home.run(
        f"ls -A {state}; ls -A {state}/jail; cat {state}/state.db {state}/*.key; touch {state}/x {state}/bin/x {state}/jail/x"
    )
    assert set(done.stdout.split()) == {"bin", "interlock.sock", "jail", "journal", "sock", "standing.json"}
    assert len(re.findall("touch: .*(Read-only file system|not permitted)", done.stderr)) == 3
    assert (state / "state.db").exists()


def test_the_daemon_cannot_be_seen_stopped_or_looked_into(home: Home) -> None:
    pid = home.guard.daemon.process.pid
    done = home.run(
        f"ls /proc/{pid}; kill -9 {pid}; kill -STOP {pid}; cat /proc/{pid}/mem; ls /proc | grep -c '^[0-9]'; kill -9 -1; echo alive"
    )
    assert int(done.stdout.split()[0]) < 10
    assert home.guard.daemon.process.poll() is None
    assert home.guard.daemon.here().get("/healthz").status_code == 200


def test_the_agent_works_as_always(home: Home) -> None:
    done = home.run(
        "mkdir -p ~/.claude/projects ~/.claude/todos; echo a > ~/.claude/projects/a; echo b > b && mv b c && cat c; echo t > /tmp/t && cat /tmp/t; python3 -c 'import socket'; pwd"
    )
    assert done.stdout.split() == ["b", "t", str(home.project)], done.stderr
    assert (home.folder / ".claude" / "projects" / "a").read_text() == "a\n"
    assert done.returncode == 0 and "Read-only" not in done.stderr


def test_a_call_from_inside_is_judged_and_recorded_as_jailed(home: Home) -> None:
    done = home.run(f"{home.hook('rm -rf /srv/customers', 'in1')}; {home.hook('git status', 'in2')}")
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny", done.stdout + done.stderr
    held = [ticket for ticket in home.guard.tickets() if "/srv/customers" in ticket["title"]]
    assert [ticket["strength"] for ticket in held] == ["jailed"]
    denied = [
        row
        for row in home.guard.records("OPERATION_DENIED") + home.guard.records("CONFIRMATION_REQUIRED")
        if row.get("ticket") == held[0]["id"]
    ]
    assert denied and {row["strength"] for row in denied} == {"jailed"}

    def everyday() -> list[str]:
        return [row["strength"] for row in home.guard.records("OPERATION_ALLOWED") if row["operation"] == "command:git"]

    assert until(everyday, "the record of everyday work") == ["jailed"]
    began = home.guard.records("jail")
    assert began and began[0]["program"] == "sh" and began[0]["grants"] == []


def test_a_call_from_outside_is_plain_while_a_jail_runs(home: Home) -> None:
    inside = subprocess.Popen(
        home.words("sleep", "600"), env=home.environ, cwd=home.project, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        found = until(lambda: home.guard.daemon.here().get("/api/v1/status").json()["jails"], "the jail")
        assert [jail["program"] for jail in found] == ["sleep"]
        home.guard.claude("rm -rf /srv/outside", "out1")
        assert [t["strength"] for t in home.guard.tickets() if "/srv/outside" in t["title"]] == ["plain"]
    finally:
        inside.terminate()
        assert inside.wait(60) == 128 + signal.SIGTERM
        assert inside.stderr is not None
        inside.stderr.close()
    assert home.guard.daemon.here().get("/api/v1/status").json()["jails"] == []


def _first(info: int) -> int:
    """What bubblewrap says, in pieces, of the first process inside."""
    said = b""
    while not said.rstrip().endswith(b"}"):
        said += os.read(info, 4096)
    return int(json.loads(said)["child-pid"])


@pytest.mark.parametrize("how", ["itself", "namespace"])
def test_nobody_is_jailed_for_saying_so(home: Home, how: str) -> None:
    """Neither a process without a namespace of its own, nor one in a namespace that sees the state."""
    info, told = os.pipe()
    words = ["bwrap", "--bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--info-fd", str(told), "sleep", "600"]
    other = subprocess.Popen(words if how == "namespace" else ["sleep", "600"], pass_fds=(told,))
    os.close(told)
    try:
        pid = _first(info) if how == "namespace" else other.pid
        answer = home.guard.daemon.here().post("/api/v1/jails", json={"pid": pid, "program": "sleep"})
        assert answer.status_code == 400 and "counts as plain" in answer.json()["error"]["message"], answer.text
    finally:
        os.close(info)
        other.kill()
        other.wait()


def test_nobody_in_a_jail_tells_of_another_one(home: Home) -> None:
    script = (
        "import http.client, socket, sys; c = http.client.HTTPConnection('x'); c.sock = socket.socket(socket.AF_UNIX); c.sock.connect(sys.argv[1]);"
        "c.request('POST', '/api/v1/jails', '{\"pid\": 2, \"program\": \"x\"}', {'content-type': 'application/json'}); print(c.getresponse().status)"
    )
    assert home.run('python3 -c "$1" "$2"', script, str(home.guard.daemon.socket)).stdout.strip() == "403"


def test_other_programs_that_would_do_the_work_are_out_of_reach(home: Home) -> None:
    """Sockets in every place where such programs listen; the last one has no path."""
    places = [home.folder / ".docker/run/docker.sock", home.folder / "runtime/bus", home.folder / "runtime/wayland-0"]
    places += [home.folder / "runtime/systemd/private", home.folder / ".gnupg/S.gpg-agent", home.folder / "agent.sock"]
    environ = {
        **home.environ,
        "SSH_AUTH_SOCK": str(home.folder / "agent.sock"),
        "TMUX": "/tmp/tmux-0/default,1,0",
        "DISPLAY": ":0",
    }
    environ["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={home.folder}/runtime/bus"
    listening = []
    for path in places:
        path.parent.mkdir(parents=True, exist_ok=True)
        listening.append(socket.socket(socket.AF_UNIX))
        listening[-1].bind(str(path))
        listening[-1].listen()
    try:
        script = 'code=$1; shift; for one; do python3 -c "$code" "$one" 2>/dev/null && echo "$one"; done; env'
        done = home.run(script, CONNECT, *map(str, places), env=environ)
        assert not any(str(path) in done.stdout.splitlines() for path in places), done.stdout
        left = {line.partition("=")[0] for line in done.stdout.splitlines()}
        assert left.isdisjoint({"SSH_AUTH_SOCK", "TMUX", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS"}) and "HOME" in left
        granted = home.run(script, CONNECT, *map(str, places), env=environ, grant="docker,dbus,ssh-agent")
        reached = [str(path) for path in places if str(path) in granted.stdout.splitlines()]
        assert reached == [str(places[0]), str(places[1]), str(places[5])], granted.stderr
        assert "SSH_AUTH_SOCK=" in granted.stdout and "TMUX=" not in granted.stdout
    finally:
        for sock in listening:
            sock.close()
        for path in places:
            path.unlink()


def test_a_terminal_multiplexer_is_out_of_reach(home: Home, tmp_path: Path) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is missing")
    name = f"jail{os.getpid()}"
    subprocess.run(
        ["tmux", "-L", name, "new-session", "-d", "sleep 600"],
        check=True,
        env={"PATH": os.environ["PATH"], "HOME": str(home.folder)},
    )
    try:
        place = f"/tmp/tmux-{os.getuid()}/{name}"
        done = home.run(f"tmux -S {place} send-keys 'touch {tmp_path}/escaped' Enter; tmux -L {name} ls; echo $?")
        assert done.stdout.strip() == "1" and not (tmp_path / "escaped").exists()
    finally:
        subprocess.run(["tmux", "-L", name, "kill-server"], check=True)


def _scopes_abstract_sockets() -> bool:
    """Landlock's ABI 6."""
    import ctypes

    return int(ctypes.CDLL(None).syscall(444, None, 0, 1)) >= 6


def test_sockets_without_a_path_are_out_of_reach_where_the_kernel_can_do_that(home: Home) -> None:
    if not _scopes_abstract_sockets():
        pytest.skip("the kernel's part is missing: Landlock with scopes, Linux 6.12")
    with socket.socket(socket.AF_UNIX) as display:
        name = f"/tmp/.X11-unix/X{os.getpid()}"
        display.bind(f"\0{name}")
        display.listen()
        assert home.run('python3 -c "$1" "$2"', CONNECT, f"@{name}").returncode == 1
        assert home.run('python3 -c "$1" "$2"', CONNECT, f"@{name}", grant="x11").returncode == 0


def test_browser_profiles_are_hidden_and_what_runs_later_cannot_be_written(home: Home) -> None:
    (home.folder / ".mozilla" / "firefox").mkdir(parents=True)
    (home.folder / ".mozilla" / "firefox" / "cookies").write_text("secret")
    (home.folder / ".bashrc").write_text("# mine\n")
    done = home.run("cat ~/.mozilla/firefox/cookies; echo 'evil' >> ~/.bashrc; rm -f ~/.bashrc; cat ~/.bashrc")
    assert done.stdout == "# mine\n" and "Read-only file system" in done.stderr
    assert (
        home.run("cat ~/.mozilla/firefox/cookies; echo more >> ~/.bashrc", grant="browsers,startup").stdout == "secret"
    )
    assert (home.folder / ".bashrc").read_text() == "# mine\nmore\n"


def test_steps_that_are_reported_from_inside_are_recorded_as_jailed(home: Home) -> None:
    """Over the execution safety loop, as an MCP server in the jail asks."""
    script = (
        "import http.client, json, socket, sys; c = http.client.HTTPConnection('x'); c.sock = socket.socket(socket.AF_UNIX); c.sock.connect(sys.argv[1]);"
        "body = {'session': 'mcp_session_in_a_jail', 'endpoint': 'execute', 'arguments': {'operation': 'execute_agent', 'params': {'element_name': 'jailed-loop'}}};"
        "c.request('POST', '/api/v1/aql', json.dumps(body), {'content-type': 'application/json'}); print(c.getresponse().read().decode())"
    )
    done = home.run('python3 -c "$1" "$2"', script, str(home.guard.daemon.socket))
    found = [
        row
        for event in ("OPERATION_ALLOWED", "CONFIRMATION_REQUIRED", "OPERATION_DENIED")
        for row in home.guard.records(event)
    ]
    mine = [row for row in found if row["agent"]["name"] == "jailed-loop"]
    assert mine and {row["strength"] for row in mine} == {"jailed"}, done.stdout + done.stderr
