"""`interlock ask` by a person at a real terminal, before a real daemon that is killed while a command runs."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from desk import PASSPHRASE, PATIENCE, Desk
from interlock.client import ApiError
from terminals import person_at

pytestmark = pytest.mark.xdist_group("ask")
PLANNER = '[planner]\nuse = "mock"\n'
CHOICE = r"discards it: "


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = Desk(tmp_path_factory.mktemp("ask"), PLANNER)
    made.open()
    yield made
    made.stop()


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def signed(desk: Desk) -> Any:
    token = desk.daemon.post("/session", {"operator": "ana", "passphrase": PASSPHRASE})["token"]
    return desk.daemon.on_behalf(str(token))


def until(holds: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def test_without_a_persons_terminal_nothing_is_planned_or_run(desk: Desk, here: Path) -> None:
    for argv in (("create a file called x",), ("--json", "list files"), ("--history",)):
        done = (
            desk.program("ask", *argv, "--cwd", str(here), given="r\ny\n")
            if argv[0] != "--history"
            else desk.program("ask", *argv)
        )
        assert done.returncode == 1 and "an operator has to sign in" in done.stderr
    assert names(here) == []


@pytest.mark.slow("two sign-ins, each with a slow hash, and a daemon")
def test_a_plan_is_edited_read_anew_ticked_and_run_here(desk: Desk, here: Path) -> None:
    shown, code = desk.signed(
        "ask", "create a file called one", "--cwd", str(here),
        more=[
            (CHOICE, "r"), (r"medium-risk command\. \[y/N\] ", ""),  # no tick, no run
            (CHOICE, "e"), ("Command: ", "; rm -rf ./data"),
            (CHOICE, "r"), (r"high-risk command\. \[y/N\] ", "y"),
        ],
    )  # fmt: skip
    shown = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "Mock planner: Ollama not connected" in shown and "Asked    create a file called one" in shown
    assert "medium risk" in shown and "high risk" in shown and "DESTRUCTIVE_OPERATION" in shown
    assert "Not run." in shown
    _, edited, after = shown.partition("Edited   it was touch -- one")
    assert edited and "Effect   " not in after  # a planner's word is about its own text
    assert code == 0 and names(here) == ["one"]
    kept = signed(desk).get("/plans", q="create a file")["plans"][0]
    assert kept["generated"] == "touch -- one" and kept["command"] == "touch -- one; rm -rf ./data"


def test_putting_it_away_runs_nothing_and_is_kept(desk: Desk, here: Path) -> None:
    shown, code = desk.signed("ask", "create a file called away", "--cwd", str(here), more=[(CHOICE, "")])
    assert code == 0 and "nothing was run" in shown and names(here) == []
    assert signed(desk).get("/plans", q="away")["plans"][0]["status"] == "rejected"


@pytest.mark.slow("two sign-ins, each with a slow hash")
def test_what_is_dangerous_takes_the_passphrase_again_and_the_exit_code_is_the_commands(desk: Desk, here: Path) -> None:
    operator = signed(desk)
    made = operator.post("/plans", {"intent": "where am i", "cwd": str(here)})
    operator.call("PUT", f"/plans/{made['id']}", {"command": "rm -rf /home/nobody-7f3/photos; touch done; exit 7"})
    shown, code = desk.signed(
        "ask", "--again", made["id"],
        more=[
            (CHOICE, "r"), (r"high-risk command\. \[y/N\] ", "y"), (r"with your passphrase\? \[y/N\] ", "y"),
            ("Passphrase of ana: ", PASSPHRASE),
        ],
    )  # fmt: skip
    assert code == 7 and "ended with 7" in shown and names(here) == ["done"]
    row = operator.get("/plans", q="photos", status="failure")["plans"][0]
    assert (row["exitCode"], row["place"], row["level_name"]) == (7, "terminal", "dangerous")


def test_json_is_a_plan_and_runs_nothing(desk: Desk, here: Path) -> None:
    shown, code = desk.signed("ask", "--json", "create a file called one", "--cwd", str(here))
    plan = json.loads(shown[shown.index("{") : shown.rindex("}") + 1])
    assert code == 0 and plan["command"] == "touch -- one" and plan["risk"] == "medium" and names(here) == []
    assert set(plan) >= {
        "intent", "command", "risk", "flags", "safetyFlags", "explanation", "assumptions", "confidence", "expectedEffect",
    }  # fmt: skip
    assert set(plan["flags"]) == {
        "destructive", "touchesFiles", "touchesNetwork", "escalatesPrivileges", "requiresConfirmation",
    }  # fmt: skip


@pytest.mark.slow("saves, runs, and looks at what is kept: three sign-ins")
def test_a_saved_workflow_is_reviewed_step_by_step_and_stops_where_one_fails(desk: Desk, here: Path) -> None:
    steps = [{"command": text, "cwd": str(here)} for text in ("touch one", "false", "touch three")]
    signed(desk).post("/workflows", {"name": "three", "steps": steps})
    shown, code = desk.signed(
        "ask", "--workflow", "three",
        more=[(CHOICE, "r"), (r"medium-risk command\. \[y/N\] ", "y"), (CHOICE, "r")],
    )  # fmt: skip
    assert code == 1 and "Step 2 of 3" in shown and "this step failed" in shown and names(here) == ["one"]
    history, _ = desk.signed("ask", "--history", "touch one")
    assert "success" in history


@pytest.mark.slow("the daemon looks every five seconds")
def test_an_ask_that_is_killed_leaves_interrupted_in_the_history(desk: Desk, here: Path) -> None:
    with person_at(*desk.argv("ask", "where am i", "--cwd", str(here))) as screen:
        for prompt, line in (
            (r"Passphrase of [^\n]*: ", PASSPHRASE), (CHOICE, "e"),
            ("Command: ", "; echo $PPID > asking; sleep 600"), (CHOICE, "r"), (r"risk command\. \[y/N\] ", "y"),
        ):  # fmt: skip
            screen.until(prompt)
            screen.type(line)
        pid = int(until(lambda: (here / "asking").exists() and (here / "asking").read_text().strip()))
        operator = signed(desk)
        plan = operator.get("/plans", q="asking")["plans"][0]["id"]
        assert operator.get(f"/plans/{plan}")["status"] == "running"
        os.kill(pid, signal.SIGKILL)
        until(lambda: operator.get(f"/plans/{plan}")["status"] == "interrupted")


@pytest.mark.slow("kills a daemon and starts it again")
def test_a_daemon_that_is_killed_leaves_interrupted_in_the_history(desk: Desk, here: Path) -> None:
    operator = signed(desk)
    made = operator.post("/plans", {"intent": "where am i", "cwd": str(here)})
    path = f"/plans/{made['id']}"
    plan = operator.call("PUT", path, {"command": "echo $$ > pid; echo begun; sleep 600"})
    with pytest.raises(ApiError, match="tick the box"):
        operator.post(f"{path}/run", {"command": plan["command"], "mark": plan["mark"]})
    operator.post(f"{path}/run", {"command": plan["command"], "mark": plan["mark"], "understood": True})
    until(lambda: operator.get(f"{path}/output")["text"] == "begun\n")
    assert operator.get(path)["status"] == "running"
    assert desk.process is not None
    desk.process.send_signal(signal.SIGKILL)
    desk.process.wait(PATIENCE)
    pid = int((here / "pid").read_text())
    until(lambda: not Path(f"/proc/{pid}").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text())
    desk.start()
    again = signed(desk)
    row = again.get(path)
    assert (row["status"], row["exitCode"]) == ("interrupted", None)
    with pytest.raises(ApiError, match="ask again"):
        again.post(f"{path}/run", {"command": plan["command"], "mark": plan["mark"], "understood": True})
