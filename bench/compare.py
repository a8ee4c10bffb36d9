"""Runs other guards on the labelled commands beside Interlock, each as the hook of Claude Code that its installer sets up."""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.__main__ import rows
from bench.hook import asked, spawned
from bench.http import served
from interlock import assess
from interlock.config import load_config
from interlock.install import client_build
from interlock.model import Level, command

# By name and version: the program below the folder of `make compare`, and its arguments. nah without a model of its own.
GUARDS = {
    "cc-safety-net 2.4.5": ("node_modules/.bin/cc-safety-net", "hook", "--claude-code"),
    "nah 0.11.0": ("python/bin/nah", "_claude-hook"),
    "claude-safety-guard 0.2.0": ("python/bin/claude-safety-guard", "hook"),
    "vectimus 0.22.2": ("newer-python/bin/vectimus", "hook", "--source", "claude-code"),
}
DAEMON = ("newer-python/bin/vectimus", "daemon", "stop")  # the only one of them that starts a daemon
# The deny rules that guides recommend for settings files.
DENY_LIST = (
    "rm -rf *", "rm -fr *", "sudo *", "git push --force*", "git push -f*", "git reset --hard*", "git clean -f*", "git branch -D*",
    "dd if=*", "mkfs*", "chmod -R 777*", "curl * | sh", "curl * | bash", "DROP TABLE*", "terraform destroy*", "kubectl delete*",
)  # fmt: skip
HOME = "/home/dev"  # of the labelled commands
TIMED = 15  # calls of each guard, in turns
PATIENCE = 60.0
Guard = Callable[[Mapping[str, Any]], bool]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the other guards are installed")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth line of the large sets")
    given = parser.parse_args()
    harmful = rows("commands_bad") + rows("wide_bad")[:: given.every]
    benign = rows("commands_ok") + rows("wide_ok")[:: given.every]
    with tempfile.TemporaryDirectory() as place:
        environ = {"PATH": os.environ["PATH"], "HOME": place}
        programs = _installed(given.folder)
        guards: dict[str, Guard] = {"Interlock": _interlock, "a deny list of 16 patterns": _deny_list}
        guards |= {name: _hook(argv, environ) for name, argv in programs.items()}
        try:
            times = _timed(programs, environ, Path(place))
            print(f"| guard | of {len(harmful):,} harmful, stopped | of {len(benign):,} benign, interrupted | a call |")
            print("|---|---|---|---|")
            for name, guard in guards.items():
                shares = f"{share(guard, harmful)} | {share(guard, benign)}"
                print(f"| {name} | {shares} | {times.get(name, '-')} |", flush=True)
        finally:
            stop = given.folder / DAEMON[0]
            if stop.exists():
                subprocess.run([stop.absolute(), *DAEMON[1:]], env=environ, capture_output=True, timeout=PATIENCE)


def _installed(folder: Path) -> dict[str, list[str]]:
    """The command of each guard that is there; one takes a newer Python, which may be missing."""
    found = {name: [str((folder / argv[0]).absolute()), *argv[1:]] for name, argv in GUARDS.items()}
    for name in [name for name, argv in found.items() if not Path(argv[0]).exists()]:
        print(f"{name} is not installed, and left out", file=sys.stderr)
        del found[name]
    return found


def share(guard: Guard, lines: list[dict[str, Any]]) -> str:
    """The share of lines that a guard denies, or asks somebody about."""
    with ThreadPoolExecutor(2) as pool:
        return f"{100 * statistics.mean(pool.map(guard, lines)):.1f} %"


def _interlock(row: Mapping[str, Any]) -> bool:
    return assess(command(row["command"], row.get("cwd") or "")).level >= Level.DESTRUCTIVE


def _deny_list(row: Mapping[str, Any]) -> bool:
    return any(fnmatch.fnmatchcase(row["command"], pattern) for pattern in DENY_LIST)


def _hook(argv: list[str], environ: Mapping[str, str]) -> Guard:
    def stops(row: Mapping[str, Any]) -> bool:
        """Whether the hook denies or asks; a crash lets the call pass, as in Claude Code."""
        cwd = Path(environ["HOME"], (row.get("cwd") or HOME).removeprefix(HOME).strip("/"))
        cwd.mkdir(parents=True, exist_ok=True)  # one guard denies everything in a folder that is not there
        given = asked(row["command"], cwd=str(cwd))
        done = subprocess.run(
            argv, input=given, env=environ, cwd=environ["HOME"], capture_output=True, timeout=PATIENCE
        )
        try:
            said = json.loads(done.stdout).get("hookSpecificOutput", {}).get("permissionDecision")
        except ValueError:
            said = None
        return done.returncode == 2 or said in ("deny", "ask")

    return stops


def _timed(programs: Mapping[str, list[str]], environ: dict[str, str], folder: Path) -> dict[str, str]:
    """The median time of a call that is allowed, of each guard's process, in turns."""
    with served(folder, "") as daemon:
        config = load_config(folder / "interlock.toml", {})
        client = client_build.build(config)
        every = {"Interlock": [client.path, "claude-code", "PreToolUse"], **programs}
        taken: dict[str, list[float]] = {name: [] for name in every}
        for _ in range(TIMED):
            for name, argv in every.items():
                taken[name].append(spawned(argv, asked("ls -la", cwd=str(folder)), environ))
        os.kill(daemon.pid, 15)
    return {name: f"{1000 * statistics.median(times):.1f} ms" for name, times in taken.items()}


if __name__ == "__main__":
    main()
