"""The status line: what it says of the daemon, how little it imports, and that nobody else's is replaced by it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from desk import Desk
from interlock.agents import STATUS_LINE, HookClient, agent
from interlock.cli.guard.statusline import status_text

CLAUDE = agent("claude-code")
CLIENT = HookClient("/state/bin/interlock-hook", status=f"/usr/bin/python3 -I -m {STATUS_LINE} /state/interlock.sock")
INPUT = json.dumps({"session_id": "s-1", "cwd": "/home/u/app", "model": {"id": "m", "display_name": "M"}})
WELL = {"mode": "enforcing", "policy": "default", "operators": 1, "unlocked": True}


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (None, "interlock: NO DAEMON, destructive calls are denied"),
        (WELL, "interlock: guarded · default · nothing waits"),
        ({**WELL, "openTickets": 2, "openChallenges": 1}, "interlock: guarded · default · 3 waiting"),
        ({**WELL, "unlocked": False}, "interlock: guarded · default · run `interlock unlock` · nothing waits"),
        ({**WELL, "operators": 0}, "interlock: guarded · default · no operator yet · nothing waits"),
        ({**WELL, "mode": "monitoring"}, "interlock: monitoring, nothing is stopped"),
        ({**WELL, "pause": {"paused": True}}, "interlock: PAUSED, nothing is stopped"),
    ],
)
def test_the_line_says_first_what_weakens_the_guard(status: dict[str, Any] | None, line: str) -> None:
    assert status_text(status) == line


def test_the_line_comes_from_a_real_daemon_without_the_analysis(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.start()
    try:
        code = f"import sys\nfrom {STATUS_LINE} import main\nmain([{str(desk.socket)!r}])\nprint(*sys.modules)"
        done = subprocess.run(
            [sys.executable, "-I", "-c", code], input=INPUT, text=True, capture_output=True, timeout=60
        )
    finally:
        desk.stop()
    line, modules = done.stdout.splitlines()
    assert line == "interlock: guarded · default · no operator yet · nothing waits"
    assert not any(name.startswith(("interlock.analysis", "interlock.config")) for name in modules.split())


def place(folder: Path, scope: str = "user") -> Any:
    return CLAUDE.places(scope, folder, folder)[0]


def test_install_sets_a_status_line_for_one_person_who_has_none(tmp_path: Path) -> None:
    before = '{\n  "model": "opus"\n}\n'
    written = CLAUDE.installed(place(tmp_path), before, CLIENT)
    assert json.loads(written)["statusLine"] == {"type": "command", "command": CLIENT.status}
    assert CLAUDE.installed(place(tmp_path), written, CLIENT) == written
    assert CLAUDE.removed(place(tmp_path), written) == before
    new = CLAUDE.installed(place(tmp_path), None, CLIENT)
    assert CLAUDE.removed(place(tmp_path), new) is None
    assert "statusLine" not in CLAUDE.installed(place(tmp_path, "project"), None, CLIENT)


def test_somebody_elses_status_line_stays(tmp_path: Path) -> None:
    before = '{\n  "statusLine": {"type": "command", "command": "~/my-line.sh"}\n}\n'
    written = CLAUDE.installed(place(tmp_path), before, CLIENT)
    assert json.loads(written)["statusLine"] == {"type": "command", "command": "~/my-line.sh"}
    assert CLAUDE.removed(place(tmp_path), written) == before


def test_a_status_line_alone_is_no_hook(tmp_path: Path) -> None:
    alone = json.dumps({"statusLine": {"type": "command", "command": CLIENT.status}})
    assert CLAUDE.removed(place(tmp_path), alone) == alone
