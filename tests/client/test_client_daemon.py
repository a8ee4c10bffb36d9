"""What speaks to the daemon: words where nobody answers, and silence to a stranger."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from interlock.client import ApiError, DaemonClient, NoDaemon, find_daemon, path_segment
from interlock.config import Config
from interlock.config.settings import DaemonSettings
from raw_http import request


def served(path: Path, answer: bytes) -> list[bytes]:
    """One answer to one request, and what was asked."""
    heard: list[bytes] = []
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(path))
    listening.listen()

    def serve() -> None:
        with listening, listening.accept()[0] as sock:
            heard.append(request(sock))
            sock.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    return heard


def http(status: str, body: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def test_it_is_found_by_the_configuration(tmp_path: Path) -> None:
    assert find_daemon(Config(daemon=DaemonSettings(socket=str(tmp_path / "s")))).path == tmp_path / "s"
    assert find_daemon(Config(store=f"sqlite://{tmp_path}")).path == tmp_path / "interlock.sock"


def test_where_nobody_answers_it_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(NoDaemon, match=r"no daemon answers on .*; start one with `interlock serve`"):
        DaemonClient(tmp_path / "s").get("/status")
    left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left.bind(str(tmp_path / "s"))
    left.close()
    with pytest.raises(NoDaemon, match="start one"):
        DaemonClient(tmp_path / "s").get("/status")


@pytest.mark.parametrize(
    "answer", [b"", b"nonsense\r\n\r\n", http("200 OK", "<html>"), b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"]
)
def test_what_is_no_daemon_is_told_from_one(answer: bytes, tmp_path: Path) -> None:
    served(tmp_path / "s", answer)
    with pytest.raises(NoDaemon):
        DaemonClient(tmp_path / "s").get("/status")


def test_a_refusal_has_its_code_and_its_words(tmp_path: Path) -> None:
    served(
        tmp_path / "s", http("403 Forbidden", '{"success":false,"error":{"code":"PERMISSION_DENIED","message":"no"}}')
    )
    with pytest.raises(ApiError, match=r"^no$") as caught:
        DaemonClient(tmp_path / "s").post("/x", {})
    assert (caught.value.status, caught.value.code) == (403, "PERMISSION_DENIED")


def test_a_token_goes_in_a_header_and_into_no_text(tmp_path: Path) -> None:
    heard = served(tmp_path / "s", http("200 OK", '{"a": 1}'))
    daemon = DaemonClient(tmp_path / "s").on_behalf("ses_secret")
    assert daemon.get("/x", text="a b&c", none=None) == {"a": 1}
    assert b"GET /api/v1/x?text=a+b%26c HTTP/1.1" in heard[0] and b"Authorization: Bearer ses_secret" in heard[0]
    assert "ses_secret" not in repr(daemon)


def test_a_path_is_one_piece_whatever_it_contains() -> None:
    assert path_segment("../operators?x=1#y") == "..%2Foperators%3Fx%3D1%23y"


def test_a_path_that_no_socket_can_have_is_said_to_be_too_long(tmp_path: Path) -> None:
    with pytest.raises(NoDaemon, match=r"set daemon\.socket to a shorter one"):
        DaemonClient(tmp_path / ("s" * 120)).get("/status")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can let somebody else serve")
def test_a_socket_that_somebody_else_serves_is_told_nothing() -> None:
    """A passphrase must not reach whoever managed to put a socket where ours is looked for."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        _ask_a_stranger(folder / "s")


def _ask_a_stranger(path: Path) -> None:
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setgid(65534)
        os.setuid(65534)
        os.chdir("/")
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.bind(str(path))
            sock.listen()
            os.write(into, b"r")
            peer, _ = sock.accept()
            peer.settimeout(20)
            os.write(into, b"heard:" + peer.recv(1000))
        finally:
            os._exit(0)
    os.close(into)
    try:
        assert os.read(out, 1) == b"r"
        with pytest.raises(NoDaemon, match="served by user 65534, who is not you; nothing was sent"):
            DaemonClient(path).post("/session", {"passphrase": "secret"})
        assert os.read(out, 100) == b"heard:"
    finally:
        os.waitpid(pid, 0)
        os.close(out)
