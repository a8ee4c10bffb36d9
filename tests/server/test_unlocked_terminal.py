"""An unlocked terminal: what it reaches without the passphrase, from where, and for how long."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from daemons import PASSPHRASE, InProcessDaemon, bearer, in_process_daemon
from interlock import identity
from interlock.identity.agent_detection import TerminalPlace, place_of

ME = f"uid:{os.getuid()}"
SHELL = TerminalPlace(34816, 100, 5_000, 100, 5_000)
AGENT = {"name": "claude", "session": "s1"}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path, policy={"use": "default"}, limits={"unlock_minutes": 10}) as made:
        made.daemon.context.place_of = lambda pid, connected: SHELL
        yield made


def signed(here: InProcessDaemon, channel: str = "cli") -> dict[str, str]:
    body = {"operator": "ana", "passphrase": PASSPHRASE, "channel": channel}
    answer = here.call("POST", "/api/v1/session", body, peer=ME)
    assert answer.status_code == 200
    return dict(answer.json())


def resumed(here: InProcessDaemon, **body: str) -> dict[str, str] | None:
    answer = here.call("POST", "/api/v1/session/resume", body, peer=ME)
    return bearer(answer.json()["token"]) if answer.status_code == 200 else None


def held(here: InProcessDaemon, command: str) -> str:
    body = {"agent": AGENT, "command": command, "cwd": "/home/dev/app"}
    return str(here.call("POST", "/api/v1/evaluate", body, peer="uid:7").json()["pendingId"])


def test_it_answers_tickets_up_to_level_2_and_does_nothing_else(here: InProcessDaemon) -> None:
    assert resumed(here) is None
    assert signed(here)["unlockedUntil"]
    who = resumed(here)
    assert who is not None
    small, large = held(here, "git branch -D old"), held(here, "git push --force origin main")
    tickets = here.call("GET", "/api/v1/tickets", headers=who).json()["tickets"]
    assert {one["id"] for one in tickets} == {small, large}
    refused = here.call("POST", f"/api/v1/tickets/{large}/approve", {}, who)
    assert refused.status_code == 403 and "fresh sign-in" in refused.text
    approved = here.call("POST", f"/api/v1/tickets/{small}/approve", {}, who)
    assert approved.json()["state"] == "approved"
    assert here.call("POST", f"/api/v1/tickets/{large}/reject", {"reason": "no"}, who).json()["state"] == "rejected"
    for method, path, body in (
        ("PUT", "/api/v1/mode", {"mode": "disabled", "reason": "x"}),
        ("POST", "/api/v1/grants", {"effect": "destroy", "targets": ["/srv/x"], "why": "x"}),
        ("GET", "/api/v1/grants", None),
        ("POST", "/api/v1/standing", {"verdict": "allow", "pattern": "git *"}),
        ("POST", "/api/v1/standing/trial", {"verdict": "allow", "pattern": "git *"}),
        ("POST", "/api/v1/operators", {"name": "eve", "passphrase": "a long one indeed", "roles": ["admin"]}),
        ("PUT", "/api/v1/session/passphrase", {"passphrase": "a long one indeed"}),
        ("POST", "/api/v1/session/link", {}),
        ("POST", "/api/v1/agents", {"name": "x"}),
        ("POST", "/api/v1/blocks", {"principal": "uid:7", "reason": "x"}),
        ("GET", "/api/v1/audit", None),
        ("POST", "/api/v1/pause", {"seconds": 60, "reason": "x"}),
        ("GET", "/api/v1/challenges", None),
    ):
        answer = here.call(method, path, body, who)
        assert answer.status_code == 401 and "takes your passphrase" in answer.text, path


def test_a_dangerous_ticket_that_asks_for_no_fresh_sign_in_takes_one_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "lax.toml"
    path.write_text('extends = "default"\nirreversible = "off"\ntiers = false\n[levels]\ndangerous = "approve"\n')
    with in_process_daemon(tmp_path, policy={"use": str(path)}) as here:
        here.daemon.context.place_of = lambda pid, connected: SHELL
        signed(here)
        ticket = held(here, "git push --force origin main")
        answer = here.call("POST", f"/api/v1/tickets/{ticket}/approve", {}, resumed(here))
        assert answer.status_code == 403 and "an unlocked terminal alone does not approve it" in answer.text


@pytest.mark.parametrize(
    "elsewhere",
    [
        None,  # no terminal, in the background, or an agent's
        replace(SHELL, terminal=34817),
        replace(SHELL, session=101),
        replace(SHELL, session_started=5_001),  # the number was used again
        replace(SHELL, shell=102),  # started by another program of that terminal
        replace(SHELL, shell_started=5_001),
    ],
)
def test_it_is_that_shell_at_that_terminal_and_no_other_process(
    here: InProcessDaemon, elsewhere: TerminalPlace | None
) -> None:
    signed(here)
    assert resumed(here) is not None
    here.daemon.context.place_of = lambda pid, connected: elsewhere
    assert resumed(here) is None
    assert here.call("DELETE", "/api/v1/session/resume", peer=ME).status_code == 404


def test_it_ends_with_its_time_its_operator_and_when_somebody_locks_it(here: InProcessDaemon) -> None:
    signed(here)
    assert resumed(here, operator="ana") and resumed(here, operator="bo") is None
    assert here.call("POST", "/api/v1/session/resume", {}, peer="uid:7").status_code == 404  # another user
    assert here.call("POST", "/api/v1/session/resume", {}).status_code == 401  # not on the socket
    here.clock.forward(599)
    late = resumed(here)
    assert late is not None
    here.clock.forward(1)
    assert resumed(here) is None
    assert here.call("GET", "/api/v1/tickets", headers=late).status_code == 401  # what it gave ends with it
    signed(here)
    assert here.call("DELETE", "/api/v1/session/resume", peer=ME).status_code == 200 and resumed(here) is None
    signed(here, "test")
    assert resumed(here) is None  # a program that signs in unlocks no terminal


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path, limits={"unlock_minutes": 0}) as here:
        here.daemon.context.place_of = lambda pid, connected: SHELL
        assert "unlockedUntil" not in signed(here) and resumed(here) is None


def test_a_process_without_a_terminal_or_a_living_parent_is_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "PROC", tmp_path)

    def process(pid: int, parent: int, group: int, session: int, terminal: int, foreground: int, started: int) -> None:
        folder = tmp_path / str(pid)
        folder.mkdir()
        rest = " ".join(["0"] * 13)
        stat = f"{pid} (a) b) S {parent} {group} {session} {terminal} {foreground} {rest} {started} 0 0"
        (folder / "stat").write_text(stat)
        (folder / "cmdline").write_text(f"p{pid}\0")
        (folder / "environ").write_text("CLAUDECODE=1\0" if pid == 77 else "")

    process(100, 1, 100, 100, 34816, 200, 5_000)  # the shell
    process(1, 0, 1, 1, 0, -1, 1)
    process(200, 100, 200, 100, 34816, 200, 6_000)  # what a person typed
    process(201, 200, 200, 100, 34816, 200, 6_000)  # what that started
    process(202, 1, 200, 100, 34816, 200, 6_000)  # what left its parent
    process(203, 100, 203, 100, 34816, 200, 6_000)  # in the background
    process(204, 100, 200, 100, 0, 200, 6_000)
    process(77, 100, 200, 100, 34816, 200, 6_000)  # an agent's
    assert place_of(200) == TerminalPlace(34816, 100, 5_000, 100, 5_000)
    assert place_of(200, 6_000 / os.sysconf("SC_CLK_TCK")) is not None
    assert place_of(200, 5_000 / os.sysconf("SC_CLK_TCK")) is None  # it began after the connection did
    assert place_of(201) == TerminalPlace(34816, 100, 5_000, 200, 6_000)  # another place
    for pid in (202, 203, 204, 77, 999):
        assert place_of(pid) is None, pid
