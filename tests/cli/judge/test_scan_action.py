"""The GitHub Action for `interlock scan`: its script runs as written, and the project's own YAML files can be read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]


def test_the_action_writes_sarif_and_fails_on_what_is_dangerous(tmp_path: Path) -> None:
    (tmp_path / "clean.sh").write_text("make test\n")
    (tmp_path / "deploy.sh").write_text("rm -rf /srv/data\n")
    program = tmp_path / "bin" / "interlock"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m interlock "$@"\n')
    program.chmod(0o755)

    def scan(paths: str, sarif: str) -> int:
        step = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"][-1]
        given = {"PATHS": paths, "FAIL_ON": "dangerous", "EXCLUDE": "", "SARIF": sarif}
        assert set(given) == set(step["env"])
        env = {**os.environ, **given, "PATH": f"{program.parent}:{os.environ['PATH']}"}
        return subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], cwd=tmp_path, env=env).returncode

    assert scan("clean.sh", "") == 0
    assert scan("clean.sh deploy.sh", "found.sarif") == 1
    assert json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"]


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_templates_and_workflows_are_yaml(path: Path) -> None:
    assert yaml.safe_load(path.read_text())
