"""Servers, clients and daemons that break: contained, reported, and never a yes."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from proxy_client import ODD, PATIENCE, Bench, Proxy, greet_proxy, words_of

pytestmark = pytest.mark.xdist_group("proxy")


def test_a_server_that_dies_ends_the_proxy_and_whoever_waits_is_told(bench: Bench) -> None:
    proxy = bench.proxy(ODD)
    proxy.greet()
    found = proxy.request("tools/call", {"name": "crash"})
    assert "signal 9" in found["error"]["message"]
    assert proxy.ends() == 1
    assert "signal 9" in proxy.said


def test_a_server_that_cannot_be_started_is_said(bench: Bench) -> None:
    proxy = bench.proxy(("/nowhere/server",))
    assert proxy.ends() == 1
    assert "cannot be started: No such file" in proxy.said


def test_nonsense_of_a_server_is_reported_and_passed_on_to_nobody(bench: Bench) -> None:
    with greet_proxy(bench.proxy(ODD)) as proxy:
        assert words_of(proxy.call("invalid")) == "after nonsense"
        assert proxy.said.count("a line that is not passed on") == 5
        assert all(isinstance(one, dict) and one.get("jsonrpc") == "2.0" for one in proxy.seen)


def test_answers_to_questions_that_were_not_asked_reach_nobody(bench: Bench) -> None:
    with greet_proxy(bench.proxy(ODD)) as proxy:
        assert words_of(proxy.call("stray", {"ids": [99, "x", 1.0, True]})) == "after strays"
        assert words_of(proxy.call("twice")) == "first"
        proxy.request("ping", {})
        texts = [words_of(one["result"]) for one in proxy.seen if "content" in one.get("result", {})]
        assert texts == ["after strays", "first"]
        assert proxy.said.count("was not given") == 4
        assert proxy.said.count("neither a text nor a number") == 1


def test_a_line_without_end_is_dropped_and_the_call_fails(bench: Bench) -> None:
    with greet_proxy(bench.proxy(ODD, more="line_bytes = 65536")) as proxy:
        assert "65536 bytes" in proxy.request("tools/call", {"name": "huge"})["error"]["message"]
        assert proxy.call("get_note")["content"], "the server goes on"
        proxy.send(b'{"jsonrpc":"2.0","id":"long","method":"x","params":"' + b"x" * 70_000 + b'"}')
        assert "65536 bytes" in proxy.until(lambda one: one.get("id") is None, "an error")["error"]["message"]


def test_a_server_that_hangs_is_given_up_and_ended_with_its_client(bench: Bench) -> None:
    proxy = bench.proxy(ODD, more="answer_seconds = 1")
    proxy.greet()
    assert "did not answer within 1 s" in proxy.request("tools/call", {"name": "hang"})["error"]["message"]
    children = _children(proxy)
    assert children
    proxy.close()
    assert not any(_alive(child) for child in children)


def test_a_cancelled_call_is_cancelled_at_the_server_too(bench: Bench) -> None:
    with greet_proxy(bench.proxy(ODD)) as proxy:
        id = proxy.ask("resources/read", {"uri": "x:y"})
        line = b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": %d}}' % id
        proxy.send(line)
        proxy.request("ping", {})
        assert line in proxy.got


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel does this on Linux alone")
def test_a_proxy_that_is_killed_takes_its_server_with_it_and_its_client_sees_the_end(bench: Bench) -> None:
    proxy = bench.proxy(ODD)
    proxy.greet()
    children = _children(proxy)
    proxy.process.send_signal(signal.SIGKILL)
    assert proxy.process.stdout is not None
    assert proxy.process.stdout.read() == b""
    end = time.monotonic() + PATIENCE
    while any(_alive(child) for child in children):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_without_a_daemon_what_destroys_is_denied_and_it_says_so(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o700)
    path = tmp_path / "interlock.toml"
    path.write_text(f'[store]\nurl = "sqlite://{tmp_path}/state"\n')
    with greet_proxy(bench.proxy(ODD, config=path)) as proxy:
        denied = words_of(proxy.call("delete_note"))
        assert "No Interlock daemon answers" in denied
        assert "Silence is not consent" in denied
        assert proxy.call("get_note")["isError"] is True, "whether this user is blocked cannot be known here"
        assert not proxy.calls()
    assert (tmp_path / "state" / "hook-journal.jsonl").read_text().count('"verdict":"deny"') == 2


@pytest.mark.slow("two daemons are started, and one loads its rules in the proxy")
def test_a_daemon_that_stops_and_comes_back_is_asked_again(tmp_path: Path) -> None:
    from daemons import daemon, start_daemon

    with daemon(tmp_path, policy="default") as running:
        bench = Bench(running, tmp_path)
        with greet_proxy(bench.proxy(ODD)) as proxy:
            assert proxy.call("get_note")["content"]
            running.stop()
            assert words_of(proxy.call("get_note")) == "get_note {}", "everyday work goes on"
            assert "No Interlock daemon answers" in words_of(proxy.call("delete_note"))
            assert "No Interlock daemon answers" in words_of(proxy.call("archive_note")), "annotations count here too"
            again = start_daemon(tmp_path)
            try:
                assert "pdact_" in words_of(proxy.call("delete_note"))
                assert [one["name"] for one in proxy.calls()] == ["get_note", "get_note"]
            finally:
                again.stop()


def _children(proxy: Proxy) -> list[int]:
    path = Path(f"/proc/{proxy.process.pid}/task/{proxy.process.pid}/children")
    return [int(word) for word in path.read_text().split()]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]
