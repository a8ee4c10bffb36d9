"""Real `interlock serve` processes: starting, stopping, refusing, and what they do when the store is gone."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from daemons import Daemon, bearer, daemon, enrol_in_folder, folder_config, start_daemon, write_config
from interlock.audit.proof import verify_chains
from interlock.cli.guard import serve
from interlock.config import Config
from interlock.config.settings import DaemonSettings
from interlock.records import AuditQuery
from interlock.server.daemon import DaemonServer
from interlock.startup import open_state, open_store
from interlock.web.sockets import CannotServe, unix

DATABASE = {"agent": "agent_123", "action": "drop_database", "resource": "main"}


class Wall:
    def now(self) -> float:
        return time.time()


def ended(folder: Path, *words: str) -> tuple[int, str]:
    """A daemon that must not start: its exit code and what it said."""
    run = subprocess.run(
        [sys.executable, "-m", "interlock", "serve", "--config", str(folder / "interlock.toml"), "--port", "0", *words],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert run.stdout == ""
    return run.returncode, run.stderr


def token_of(running: Daemon, name: str = "agent_123") -> dict[str, str]:
    made = running.here().post("/api/v1/agents", json={"name": name}, headers=running.sign_in())
    return bearer(made.json()["token"])


def test_both_sockets_answer_and_stdout_says_what_to_do_next(tmp_path: Path) -> None:
    with daemon(tmp_path) as running:
        assert running.tcp().get("/healthz").json() == running.here().get("/healthz").json() == {"ok": True}
        assert running.tcp().get("/readyz").status_code == 200
        assert f"http://127.0.0.1:{running.port}" in running.said and "interlock pending" in running.said
        answer = running.tcp().post("/api/v1/evaluate", json={"command": "ls"}, headers=token_of(running))
        assert (answer.status_code, answer.json()["allowed"]) == (200, True)
        assert running.stop() == 0
        assert not running.socket.exists()


def test_a_daemon_that_nobody_asks_hardly_wakes_up(tmp_path: Path) -> None:
    with daemon(tmp_path, policy="default") as running:
        running.here().post("/api/v1/evaluate", json={"agent": "a", "command": "git push --force"})
        before = wakings(running.process.pid)
        time.sleep(4)  # a shorter time can only make it look better
        assert wakings(running.process.pid) - before < 30  # twice a second it looks whether its record was altered
        assert running.stop() == 0


def wakings(pid: int) -> int:
    """How often the threads of a process went to sleep."""
    states = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/status")]
    return sum(int(state.partition("\nvoluntary_ctxt_switches:")[2].split()[0]) for state in states)


def test_a_held_action_is_approved_spent_once_reported_and_recorded(tmp_path: Path) -> None:
    with daemon(tmp_path, toml="[gate]\nmaxCoolingOffMs = 1000") as running:
        agent = running.tcp(headers=token_of(running))
        held = agent.post("/api/v1/evaluate", json=DATABASE).json()["pendingId"]
        cooling = agent.post("/api/v1/evaluate", json={"action": "drop_table", "resource": "users"}).json()
        assert cooling["waitMs"] == 1_000
        operator = running.here(headers=running.sign_in())
        assert [
            ticket["id"] for ticket in operator.get("/api/v1/tickets?state=pending_approval").json()["tickets"]
        ] == [held]
        assert operator.post(f"/api/v1/tickets/{held}/approve", json={"reason": "fine"}).status_code == 200
        assert agent.post("/api/v1/evaluate", json={**DATABASE, "pendingId": held}).status_code == 200
        assert (
            agent.post("/api/v1/evaluate", json={**DATABASE, "pendingId": held}).json()["code"] == "TOKEN_ALREADY_USED"
        )
        assert agent.post(f"/api/v1/tickets/{held}/executed", json={"outcome": "done"}).json()["state"] == "executed"
        assert agent.get(f"/api/v1/tickets/{cooling['pendingId']}/wait?seconds=20").json()["state"] == "approved"
        retry = {"action": "drop_table", "resource": "users", "pendingId": cooling["pendingId"]}
        assert agent.post("/api/v1/evaluate", json=retry).status_code == 200
        figures = agent.get("/api/v1/metrics").json()
        assert (figures["approved"], figures["executed"], figures["bySeverity"]["critical"]) == (2, 1, 2)
        events = {row["event"] for row in operator.get("/api/v1/audit?limit=1000").json()["records"]}
        assert {"start", "approve", "executed", "CONFIRMATION_GRANTED"} <= events, events


def test_without_an_operator_it_says_how_to_make_one(tmp_path: Path) -> None:
    with daemon(tmp_path, people=False) as running:
        assert "interlock operator add" in running.said
        assert running.here().get("/api/v1/status").json()["operators"] == 0


def test_a_second_daemon_on_the_same_folder_refuses(tmp_path: Path) -> None:
    with daemon(tmp_path) as running:
        code, said = ended(tmp_path)
        assert code == 1 and f"in use by process {running.process.pid}" in said
        assert running.here().get("/healthz").status_code == 200  # and does no harm to the first


def test_a_path_that_is_too_long_for_a_socket_is_named_with_the_setting(tmp_path: Path) -> None:
    with pytest.raises(CannotServe, match=r"107 characters; set daemon\.socket"):
        unix(tmp_path / ("x" * 110))


@pytest.mark.slow(why="four daemons are really started")
def test_a_dead_daemons_socket_is_replaced_and_a_live_one_is_not(tmp_path: Path) -> None:
    with daemon(tmp_path) as running:
        running.stop(signal.SIGKILL)
        assert running.socket.exists()
    with daemon(tmp_path) as again:
        assert again.here().get("/healthz").status_code == 200
        again.stop()
    path = tmp_path / "state" / "interlock.sock"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        code, said = ended(tmp_path)
        assert code == 1 and "another daemon answers" in said
    path.unlink()
    path.write_text("a file of somebody's")
    code, said = ended(tmp_path)
    assert code == 1 and "is no socket" in said and path.read_text() == "a file of somebody's"


def test_a_taken_port_is_a_sentence(tmp_path: Path) -> None:
    write_config(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        code, said = ended(tmp_path, "--port", port)
    assert code == 1 and f"port {port} is taken" in said and "Traceback" not in said


def test_where_nobody_chose_a_port_a_taken_one_is_replaced_and_said(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = Config(daemon=DaemonSettings(port=other.getsockname()[1]))
        assert serve._with_free_port(taken).daemon.port == 0
        assert "is taken" in serve._with_free_port(taken).warnings[-1]
        path = tmp_path / "interlock.toml"
        path.write_text(f"[daemon]\nport = {taken.daemon.port}\n")
        assert serve._with_free_port(replace(taken, path=str(path))).daemon == taken.daemon
    assert serve._with_free_port(taken).daemon == taken.daemon


@pytest.mark.parametrize(
    ("words", "mode"),
    [((), "monitoring"), (("--safety-mode", "enforcing"), "enforcing"), (("--safety-mode", "disabled"), "monitoring"),
     (("--safety-mode", "nonsense"), "enforcing")],
)  # fmt: skip
def test_the_mode_flag_can_only_tighten(tmp_path: Path, words: tuple[str, ...], mode: str) -> None:
    with daemon(tmp_path, *words, toml='[safetyLoop]\nmode = "monitoring"', people=False) as running:
        assert running.here().get("/api/v1/status").json()["mode"] == mode


def test_no_flag_moves_time(capsys: pytest.CaptureFixture[str]) -> None:
    from interlock.cli.main import main

    assert main(["serve", "--help"]) == 0
    options = set(
        re.findall(
            r"(?<![\w-])--?[a-z][a-z-]*", capsys.readouterr().out.partition("options:")[2].partition("examples:")[0]
        )
    )
    assert options == {"-h", "--help", "--config", "--port", "--safety-mode", "--system"}


def test_logs_are_lines_of_json_without_secrets_or_requests(tmp_path: Path) -> None:
    with daemon(tmp_path, toml='[gate]\nbypassForTrustTiers = ["x"]') as running:
        token = token_of(running)
        running.tcp().post(
            "/api/v1/evaluate",
            json={"command": "curl -H 'Authorization: Bearer sk-live-12345678901234567890' x"},
            headers=token,
        )
        running.here().post("/api/v1/session", json={"operator": "ana", "passphrase": "hunter2 hunter2"})
        running.stop()
        lines = [json.loads(line) for line in running.errors().splitlines()]
        assert any("bypassForTrustTiers" in line["message"] for line in lines)
        for secret in ("sk-live", "hunter2", token["authorization"][12:30], "/api/v1/evaluate"):
            assert secret not in running.errors() + running.said


def test_a_term_signal_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    with daemon(tmp_path, policy="default") as running:
        agent, acknowledged, stop = token_of(running), [], threading.Event()

        def load(number: int) -> None:
            client = running.tcp(headers=agent)
            for turn in range(100_000):
                if stop.is_set():
                    return
                command = f"git show worker{number}turn{turn}"
                try:
                    answer = client.post("/api/v1/evaluate", json={"command": command})
                except httpx.HTTPError:
                    return
                if answer.status_code == 200:
                    acknowledged.append(command)

        threads = [threading.Thread(target=load, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 30
        while len(acknowledged) < 200 and time.monotonic() < deadline:
            time.sleep(0.05)
        code = running.stop()
        stop.set()
        for thread in threads:
            thread.join()
    assert code == 0 and len(acknowledged) > 50
    config = folder_config(tmp_path)
    store = open_store(config.store)
    try:
        rows = store.read(lambda tx: tx.audit(AuditQuery(limit=1_000_000)))
        bodies = "\n".join(row.body for row in rows)
        assert [command for command in acknowledged if command not in bodies] == []
        assert [row.event for row in rows][-2:] == ["stop", "CHECKPOINT"] or {row.event for row in rows[-2:]} >= {
            "stop"
        }
        verdict = verify_chains(open_state(config, store, Wall()))
        assert verdict.ok and verdict.unproved <= 1
    finally:
        store.close()


def test_without_its_store_it_denies_and_comes_back_by_itself(tmp_path: Path) -> None:
    with daemon(tmp_path) as running:
        agent = token_of(running)
        client = running.tcp(headers=agent)
        held = client.post("/api/v1/evaluate", json=DATABASE).json()["pendingId"]
        database = tmp_path / "state" / "state.db"
        aside = tmp_path / "aside.db"
        database.rename(aside)
        gone = client.post("/api/v1/evaluate", json={**DATABASE, "pendingId": held})
        body = gone.json()
        assert (gone.status_code, body["allowed"], body["success"]) == (503, False, False)
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
        assert client.get(f"/api/v1/tickets/{held}").status_code == 503
        status = running.here().get("/api/v1/status").json()
        assert status["operators"] is None and status["problems"]
        client.post("/api/v1/evaluate", json={"command": "ls"})
        deadline = time.monotonic() + 20
        while client.post("/api/v1/evaluate", json={"command": "ls"}).status_code == 200:
            assert time.monotonic() < deadline, "what cannot be recorded went on being allowed"
            time.sleep(0.1)
        assert client.post("/api/v1/evaluate", json={"command": "ls"}).json()["allowed"] is False
        aside.rename(database)
        deadline = time.monotonic() + 20
        while client.post("/api/v1/evaluate", json={"command": "ls"}).status_code != 200:
            assert time.monotonic() < deadline, "it did not come back"
            time.sleep(0.1)
        assert client.get("/readyz").status_code == 200
        assert client.get(f"/api/v1/tickets/{held}").json()["state"] == "pending_approval"
        assert running.process.poll() is None


def test_a_broken_configuration_is_two_and_a_sentence(tmp_path: Path) -> None:
    write_config(tmp_path, "[daemon]\nprot = 1")
    code, said = ended(tmp_path)
    assert code == 2 and "prot" in said and "Traceback" not in said


def test_the_record_is_searched_proved_and_taken_away(tmp_path: Path) -> None:
    with daemon(tmp_path) as running:
        client = running.here(headers=running.sign_in())
        running.here().post("/api/v1/evaluate", json=DATABASE)
        found = client.get("/api/v1/audit", params={"text": "drop_database"}).json()["records"]
        assert found and found[0]["body"]["operation"] == "drop_database"
        assert client.get("/api/v1/audit/verify").json()["ok"] is True
        lines = client.get("/api/v1/audit/export").text.splitlines()
        assert len(lines) == len(client.get("/api/v1/audit", params={"limit": 1000}).json()["records"])
        assert all(json.loads(line)["hash"] for line in lines)
        csv = client.get("/api/v1/audit/export", params={"format": "csv"})
        assert csv.headers["content-type"].startswith("text/csv") and csv.text.count("\n") == len(lines) + 1


def test_a_state_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    enrol_in_folder(tmp_path)
    with daemon(tmp_path) as running:
        assert running.socket.stat().st_mode & 0o777 == 0o700
        assert running.socket.parent.stat().st_mode & 0o777 == 0o700
        assert running.socket.stat().st_uid == os.getuid()


def test_started_helper_reports_a_daemon_that_ends(tmp_path: Path) -> None:
    write_config(tmp_path, "[nonsense]")
    running = start_daemon(tmp_path)
    assert running.process.wait(20) == 2 and running.said == ""


def test_commands_of_a_daemon_below_nohup_end_with_their_terminal() -> None:
    server = DaemonServer.__new__(DaemonServer)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with server.capture_signals():
            os.kill(os.getpid(), signal.SIGHUP)  # the daemon itself goes on
            ignored = subprocess.run(["grep", "SigIgn", "/proc/self/status"], capture_output=True, text=True).stdout
        assert not int(ignored.split()[1], 16) >> (signal.SIGHUP - 1) & 1
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
