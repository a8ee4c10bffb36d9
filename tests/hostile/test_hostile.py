"""The hostile run, in its short form: what an agent with a shell gets in each strength is what the threat model says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from agent import ATTEMPTS
from run import DETECTED, DOCUMENT, ORDER, PREVENTED, QUICK, STRENGTHS, SUCCEEDS, claims

HERE = Path(__file__).parent


def test_the_threat_model_says_what_comes_of_every_attempt() -> None:
    said = claims(DOCUMENT.read_text())
    assert set(said) == set(ATTEMPTS) == set(ORDER) and set(QUICK) <= set(ORDER)
    assert {outcome for row in said.values() for outcome in row.values()} <= {PREVENTED, DETECTED, SUCCEEDS}


@pytest.mark.slow("three daemons of three users, attacked; `make hostile` does all of it")
@pytest.mark.xdist_group("hostile")
def test_an_agent_with_a_shell_gets_what_the_threat_model_says_and_no_more() -> None:
    if os.geteuid() != 0:
        pytest.skip("root is missing")
    for tool in ("unshare", "setpriv", "useradd", "bwrap", "cc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is missing")
    argv = ["unshare", "-m", "-n", "--propagation", "private", sys.executable, HERE / "run.py", "--quick"]
    env = {**os.environ, "PYTHONPATH": f"{HERE.parent / 'support'}:{HERE}"}
    done = subprocess.run(argv, capture_output=True, text=True, env=env, timeout=300)
    if "unshare failed" in done.stderr:
        pytest.skip("a mount namespace is missing")
    assert done.returncode == 0, done.stderr[-6000:]
    found = json.loads(done.stdout)["outcomes"]
    assert set(found) == set(STRENGTHS) and all(set(one) == set(QUICK) for one in found.values())
