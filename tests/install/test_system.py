"""`install --system`: whose code, whose files, whose sockets; and what the units promise."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from daemons import write_config
from interlock.config import ConfigError, config_of
from interlock.impact.privileged_helper import answer, target_users
from interlock.impact.user_access import HelperUnavailable, UserHelper
from interlock.install.system import PORT, Layout, code, config_text, unit_files
from interlock.install.system.code import why_unreachable, why_writable, why_writable_inside
from repository import ROOT

TRIP = Path(__file__).with_name("system_trip.sh")


def as_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("root is missing")


def test_what_it_writes_is_a_configuration_that_keeps_agents_and_operators_apart() -> None:
    import tomllib

    config = config_of(tomllib.loads(config_text(Layout(), ["alice"], ["olga"])), environ={})
    assert config.separate.users == ("alice",) and config.separate.operators == ("olga",)
    assert config.agents_socket != config.socket_path
    assert config.daemon.port == PORT < 1024  # nobody but root can take it while the daemon is down


@pytest.mark.parametrize(
    "table",
    [
        {"hook_socket": "/run/i/h.sock"},  # whose agents?
        {"users": ["alice"]},  # where?
        {"hook_socket": "/run/i/h.sock", "users": []},
        {"hook_socket": "h.sock", "users": ["alice"]},
        {"hook_socket": "/run/i/h.sock", "users": ["root"]},
        {"hook_socket": "/run/i/h.sock", "users": ["alice"], "userz": ["bob"]},
    ],
)
def test_half_a_separation_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        config_of({"separate": table}, environ={})


def test_without_root_it_says_so_and_changes_nothing() -> None:
    as_root()
    site = next(Path(entry) for entry in sys.path if entry.endswith("site-packages"))
    argv = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", f"/usr/bin/{code._VERSION}"]
    if not Path(argv[-1]).exists():
        pytest.skip(f"{argv[-1]} is missing")
    env = {"PYTHONPATH": f"{ROOT / 'src'}:{site}", "HOME": "/nonexistent", "PATH": "/usr/bin:/bin"}
    for words in (["install", "--system", "claude-code", "--for", "nobody"], ["uninstall", "--system"]):
        done = subprocess.run([*argv, "-m", "interlock", *words, "--yes"], capture_output=True, text=True, env=env)
        assert done.returncode == 1 and "takes root" in done.stderr, done.stderr


def test_a_folder_that_others_can_write_is_no_place_for_code(tmp_path: Path) -> None:
    as_root()
    tmp_path.chmod(0o755)
    inner = tmp_path / "opt" / "interlock"
    inner.mkdir(parents=True)
    assert why_writable(inner) == ""
    inner.parent.chmod(0o777)
    assert "opt can be written by others" in why_writable(inner)
    with pytest.raises(code.CannotSetUp):
        code.copy_code(inner)
    inner.parent.chmod(0o755)
    os.chown(inner.parent, 65534, 0)
    assert "belongs to user 65534" in why_writable(inner)


def test_a_link_is_as_loose_as_where_it_leads(tmp_path: Path) -> None:
    as_root()
    theirs, link = tmp_path / "theirs", tmp_path / "link"
    theirs.mkdir()
    os.chown(theirs, 65534, 0)
    link.symlink_to(theirs)
    assert "theirs" in why_writable(link)
    (tmp_path / "file").write_text("")
    (tmp_path / "file").chmod(0o666)
    assert "can be written" in why_writable_inside(tmp_path) or "belongs to" in why_writable_inside(tmp_path)
    tmp_path.chmod(0o700)
    assert "closed to other users" in why_unreachable(tmp_path / "file")


@pytest.mark.parametrize("folder", ["/home/shared", "/root", "/run/user/0"])
def test_a_python_in_a_home_is_hidden_from_the_daemon(folder: str) -> None:
    assert "hidden from services" in why_unreachable(Path(folder) / ".pyenv/bin/python3")


def test_a_service_whose_program_cannot_be_executed_does_not_count_as_started() -> None:
    services = [text for path, text in unit_files(Layout()).items() if path.suffix == ".service"]
    assert len(services) == 2 and all("\nType=exec\n" in text for text in services)


def test_systemd_takes_the_units_and_finds_them_closed(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is missing")
    python = tmp_path / "code" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    units = tmp_path / "units"
    units.mkdir()
    layout = Layout(code=tmp_path / "code", units=units, tmpfiles=tmp_path / "t.conf")
    for path, text in unit_files(layout).items():
        path.write_text(text)
    for unit in units.iterdir():
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", unit], capture_output=True, text=True
        )
        assert done.returncode == 0 and not done.stderr, done.stderr
    for service in units.glob("*.service"):
        argv = ["systemd-analyze", "security", "--offline=yes", "--threshold=25", "--no-pager", service]
        done = subprocess.run(argv, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-400:]


def test_the_helper_sees_and_writes_what_users_do_and_has_no_right_over_their_files() -> None:
    units = {path.name: text.splitlines() for path, text in unit_files(Layout()).items()}
    helper, daemon = units["interlock-looker.service"], units["interlock.service"]
    assert "CapabilityBoundingSet=CAP_SETUID CAP_SETGID CAP_KILL" in helper
    for line in ("PrivateTmp=yes", "ProtectSystem=strict", "ProtectHome=yes", "RestrictSUIDSGID=yes"):
        assert line in daemon and line not in helper  # another /tmp than theirs would look empty
    (closed,) = [line.split("=")[1].split() for line in helper if line.startswith("ReadOnlyPaths=")]
    assert {"/opt/interlock", "/var/lib/interlock"} < set(closed) and "ProtectSystem=full" in helper


@pytest.fixture
def looker(tmp_path: Path) -> str:
    """The helper, in a process of its own."""
    as_root()
    tmp_path.chmod(0o755)
    for folder in tmp_path.parents:
        if folder != Path("/tmp") and str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    place = str(tmp_path / "looker.sock")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(place)
    sock.listen(8)
    parent, child = os.getpid(), os.fork()
    if child == 0:
        try:
            answer(sock, parent, target_users(["nobody"]), lambda: os.getppid() == parent)
        finally:
            os._exit(0)
    sock.close()
    yield place  # type: ignore[misc]
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_a_script_is_read_as_the_user_who_would_run_it_and_as_nobody_else(looker: str, tmp_path: Path) -> None:
    nobody = 65534
    roots, theirs = tmp_path / "roots.sh", tmp_path / "theirs.sh"
    for script, text in ((roots, "echo secret\n"), (theirs, "rm -rf /srv\n")):
        script.write_text(text)
        script.chmod(0o600)
    os.chown(theirs, nobody, nobody)
    assert UserHelper(looker, nobody).read(str(theirs)) == "rm -rf /srv\n"
    assert UserHelper(looker, nobody).read(str(roots)) is None  # what they cannot read, they cannot run either
    assert UserHelper(looker, nobody).read(str(tmp_path / "none.sh")) is None
    for uid in (0, 1):
        with pytest.raises(HelperUnavailable):
            UserHelper(looker, uid).read(str(roots))


@pytest.mark.parametrize("said", [b"", b"\n", b'"echo cut', b'"echo cut"', b'["echo"]\n'])
def test_an_answer_that_was_cut_off_is_none(said: bytes, tmp_path: Path) -> None:
    place = str(tmp_path / "l.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.bind(place)
        sock.listen(1)

        def serve() -> None:
            connection, _ = sock.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(said)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(HelperUnavailable):
            UserHelper(place, 65534).read("/x.sh")
        thread.join()
    with pytest.raises(HelperUnavailable):
        UserHelper(str(tmp_path / "nobody.sock"), 65534).read("/x.sh")


def test_a_port_that_is_held_open_is_nobody_elses_while_the_daemon_is_down(tmp_path: Path) -> None:
    """As systemd does it: the sockets are here, the daemon gets them, ends, and the next one gets them."""
    port, unix = socket.socket(), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    port.bind(("127.0.0.1", 0))
    number = port.getsockname()[1]
    (tmp_path / "state").mkdir(mode=0o700)
    unix.bind(str(tmp_path / "state" / "interlock.sock"))
    for sock in (port, unix):
        sock.listen(16)
    config = write_config(tmp_path, f"[daemon]\nport = {number}\n")
    first = _activated(config, port, unix)
    assert httpx.get(f"http://127.0.0.1:{number}/healthz", timeout=20).status_code == 200
    first.kill()
    first.wait(20)
    with socket.socket() as squatter, pytest.raises(OSError):
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind(("127.0.0.1", number))
    second = _activated(config, port, unix)
    try:
        transport = httpx.HTTPTransport(uds=str(tmp_path / "state" / "interlock.sock"))
        with httpx.Client(transport=transport, timeout=20) as client:
            assert client.get("http://interlock/healthz").status_code == 200
    finally:
        second.kill()
        second.wait(30)
    assert (tmp_path / "state" / "interlock.sock").exists()  # whoever holds it removes it
    port.close()
    unix.close()


def _activated(config: Path, *given: socket.socket) -> subprocess.Popen[bytes]:
    """`interlock serve` with these as the files that systemd hands over."""
    start = (
        "import fcntl, os, sys\n"
        "files = [int(word) for word in sys.argv[2:]]\n"
        "copies = [fcntl.fcntl(file, fcntl.F_DUPFD, 100) for file in files]\n"
        "for number, file in enumerate(copies): os.dup2(file, 3 + number)\n"
        "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(files)))\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'interlock', 'serve', '--config', sys.argv[1]])\n"
    )
    files = [sock.fileno() for sock in given]
    process = subprocess.Popen(
        [sys.executable, "-c", start, str(config), *map(str, files)], pass_fds=files, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    for line in process.stdout:
        if b"Ctrl-C" in line:
            process.stdout.close()
            break
    return process


@pytest.mark.slow("copies the code, makes users, starts the daemon as its own user")
def test_the_whole_trip_there_and_back_on_a_machine_of_its_own(tmp_path: Path) -> None:
    as_root()
    env = {**os.environ, "PYTHON": sys.executable, "TRIP": str(tmp_path)}
    try:
        done = subprocess.run(
            ["unshare", "-m", "-n", "--propagation", "private", "sh", TRIP],
            capture_output=True,
            text=True,
            env=env,
            timeout=120,
        )
    except FileNotFoundError:
        pytest.skip("unshare is missing")
    if "unshare failed" in done.stderr:
        pytest.skip("a mount namespace is missing")
    assert done.returncode == 0 and done.stdout.endswith("the trip is over\n"), (
        done.stdout[-3000:] + done.stderr[-3000:]
    )
