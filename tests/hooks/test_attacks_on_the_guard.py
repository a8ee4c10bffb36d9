"""R-9 at every interface: an agent that attacks the guard is blocked at its hook and over HTTP alike, until an operator lifts it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from hook_client import CWD, HookedDaemon, hooked_daemon

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is missing")
ME = f"uid:{os.getuid()}"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HookedDaemon]:
    with hooked_daemon(tmp_path_factory.mktemp("attacks")) as found:
        yield found


def evaluated(here: HookedDaemon, command: str) -> tuple[int, str]:
    body = {"agent": "shell", "command": command, "cwd": CWD}
    answer = here.daemon.here().post("/api/v1/evaluate", json=body)
    return answer.status_code, str(answer.json()["reason"])


def lift(here: HookedDaemon) -> None:
    url, headers = f"/api/v1/blocks/{ME}", here.daemon.sign_in()
    answer = here.daemon.here().delete(url, params={"reason": "a test is over"}, headers=headers)
    assert answer.status_code == 200, answer.text


def test_R_9_a_hooks_agent_that_attacks_the_guard_is_blocked_everywhere_until_it_is_lifted(here: HookedDaemon) -> None:
    assert here.claude("cat docs/interlock.md", "toolu_0").decision != "deny"
    said = here.claude("pkill -f interlockd", "toolu_1")
    assert said.decision == "deny" and "blocked from now on" in said.words
    assert "blocked" in here.claude("touch x", "toolu_2").words
    assert here.claude("git status", "toolu_3").decision != "deny"  # reading stays possible
    assert evaluated(here, "touch x")[0] == 403
    lift(here)
    assert here.claude("touch x", "toolu_4").decision != "deny"


def test_R_9_whoever_attacks_the_guard_over_http_is_blocked_at_its_hook_too(here: HookedDaemon) -> None:
    status, words = evaluated(here, "rm -rf ~/.local/state/interlock")
    assert status == 202 and "blocked from now on" in words
    assert here.claude("touch y", "toolu_5").decision == "deny"
    assert [row for row in here.records("block") if "guard" in str(row)]
    lift(here)
    assert evaluated(here, "touch y")[0] == 200
