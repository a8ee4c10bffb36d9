"""Commands run in a terminal of their own: output as it comes, exit codes, an end when they are told to, nothing of the daemon's."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from interlock.config import config_of
from interlock.error_codes import AnswerRefused
from interlock.journal.build import begin_run, build_for
from interlock.journal.undo import JournalUndo
from interlock.plans import history, planning, running
from interlock.plans import history as terminals
from interlock.plans.process import RunningCommand, environment
from interlock.ports import PlannerError
from interlock.records.plans import PlanQuery
from interlock.runtime.plan_desk import ReviewedPlan
from planner_desk import PlannerDesk, ScriptedPlanner, consent_to, until


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlannerDesk]:
    made = PlannerDesk(tmp_path_factory.mktemp("running"), plan={"output_bytes": 2048, "confirmMediumRisk": False})
    yield made
    running.stop_all(made.state)
    made.close()


def test_a_command_has_a_terminal_of_its_own(gate: PlannerDesk) -> None:
    row = gate.run(gate.plan("test -t 0 && test -t 1 && echo ünï > /dev/tty"))
    assert (row.status, row.exit_code, row.output) == ("success", 0, "ünï\n")


def test_a_command_is_waited_for_until_its_end_is_stored(tmp_path: Path) -> None:
    ended: list[int] = []

    def end(code: int, *more: object) -> None:
        time.sleep(0.5)  # a store that takes its time
        ended.append(code)

    command = RunningCommand("exit 3", str(tmp_path), environment(os.environ), 100, 60, end, list)
    until(lambda: command.wait(0.01))
    assert ended == [3]


@pytest.mark.parametrize(
    ("text", "status", "code"), [("exit 3", "failure", 3), ("kill -9 $$", "failure", 137), ("true", "success", 0)]
)
def test_how_it_ended_is_kept(gate: PlannerDesk, text: str, status: str, code: int) -> None:
    row = gate.run(gate.plan(text))
    assert (row.status, row.exit_code) == (status, code) and row.ended_at >= row.started_at > 0


def test_output_is_followed_while_it_comes(gate: PlannerDesk) -> None:
    plan = gate.plan('echo first; read -r line < go; echo "$line"')
    os.mkfifo(gate.here / "go")
    running.start(gate.state, gate.by, plan.id, consent_to(plan))
    seen = until(lambda: (p := running.follow(gate.state, gate.by, plan.id, 0)).text and p)
    assert (seen.text, seen.status) == ("first\n", "running")
    with (gate.here / "go").open("w") as pipe:
        pipe.write("second\n")
    gate.ended(plan)
    rest = running.follow(gate.state, gate.by, plan.id, seen.next)
    assert (rest.text, rest.status, rest.exit_code) == ("second\n", "success", 0)


def test_whoever_runs_it_types_into_it_and_nobody_else(gate: PlannerDesk) -> None:
    plan = gate.plan('read -r -p "Name? " name; stty -echo; read -r word; echo "hello $name, ${#word} letters"')
    running.start(gate.state, gate.by, plan.id, consent_to(plan))
    until(lambda: "Name?" in running.follow(gate.state, gate.by, plan.id, 0).text)
    gate.add("bo")
    with pytest.raises(AnswerRefused, match="no plan"):
        running.type_line(gate.state, gate.sign_in("bo"), plan.id, "mallory")
    for line in ("x" * 1_001, "one\ntwo", "\x03", "rm -rf ~"):
        with pytest.raises(AnswerRefused):
            running.type_line(gate.state, gate.by, plan.id, line)
    with pytest.raises(AnswerRefused, match="not at this machine"):
        running.type_line(gate.state, gate.by, plan.id, "x", elsewhere=True)
    running.type_line(gate.state, gate.by, plan.id, "Ünï")
    until(lambda: "Ünï" in running.follow(gate.state, gate.by, plan.id, 0).text)
    running.type_line(gate.state, gate.by, plan.id, "hunter22")
    assert "hello Ünï, 8 letters" in gate.ended(plan).output
    assert [row for row in gate.records() if "hunter22" in row.body] == [] and len(gate.records("plan_input")) == 2
    with pytest.raises(AnswerRefused, match="not running"):
        running.type_line(gate.state, gate.by, plan.id, "too late")


@pytest.mark.parametrize(
    "text",
    [
        "bash",
        "sudo -n -s",
        "python3 -q",
        "env A=1 sh",
        "true | sqlite3 x.db",
        "X=bash; $X",
        "read -r c; $c",
        ". /dev/stdin",
    ],
)
def test_nobody_types_into_what_would_run_it(gate: PlannerDesk, text: str) -> None:
    """Or a plan that risks nothing is a way to run what nobody was asked about."""
    plan = gate.plan(text)
    for line in ("X=rm", "$X -rf .", "DROP TABLE users;", "y"):
        with pytest.raises(AnswerRefused, match=r"nobody reviewed it|would destroy"):
            running.type_line(gate.state, gate.by, plan.id, line)


def test_a_command_that_reads_nothing_holds_nobody_up_who_types(gate: PlannerDesk) -> None:
    plan = gate.plan("stty raw; echo ready; sleep 300")
    running.start(gate.state, gate.by, plan.id, consent_to(plan))
    until(lambda: "ready" in running.follow(gate.state, gate.by, plan.id, 0).text)
    with pytest.raises(AnswerRefused, match="takes no input"):
        for _ in range(200):
            running.type_line(gate.state, gate.by, plan.id, "x" * 1_000)
    running.cancel(gate.state, gate.by, plan.id)
    assert gate.ended(plan).status == "interrupted"


def test_cancelling_ends_the_whole_group_also_what_does_not_want_to(
    gate: PlannerDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlock.plans.process.GRACE", 0.5)
    plan = gate.plan("trap '' TERM HUP; sleep 300 & echo $! > pid; wait; sleep 300")
    running.start(gate.state, gate.by, plan.id, consent_to(plan))
    pid = int(until(lambda: (gate.here / "pid").exists() and (gate.here / "pid").read_text().strip()))
    running.cancel(gate.state, gate.by, plan.id)
    row = gate.ended(plan)
    assert row.status == "interrupted"
    until(lambda: not _lives(pid))
    with pytest.raises(AnswerRefused, match="not running"):
        running.cancel(gate.state, gate.by, plan.id)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def test_output_is_capped_and_says_so(gate: PlannerDesk) -> None:
    row = gate.run(gate.plan("seq 100000"))
    assert row.cut and row.status == "success" and 1000 < len(row.output) <= 2048


def test_what_moves_a_cursor_or_hides_is_not_shown(gate: PlannerDesk) -> None:
    row = gate.run(gate.plan(r"printf '\033[31mred\033[0m\033]0;title\007 \342\200\256evil\r\n'"))
    assert "\x1b" not in row.output and "\u202e" not in row.output and row.output.startswith("red ")


def test_a_command_gets_nothing_of_the_daemons_environment_that_could_be_a_key(
    gate: PlannerDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-do-not-pass")
    monkeypatch.setenv("DATABASE_URL", "postgres://u:p@h/x")
    row = gate.run(gate.plan("env"))
    assert "sk-do-not-pass" not in row.output and "DATABASE_URL" not in row.output and "PATH=" in row.output


def test_secrets_are_taken_out_of_what_is_kept(gate: PlannerDesk) -> None:
    row = gate.run(gate.plan("echo 'password=hunter2-very-secret-9'"))
    assert "hunter2" not in row.output + row.command + row.generated


def test_what_leaves_something_running_behind_still_ends(gate: PlannerDesk) -> None:
    row = gate.run(gate.plan("sleep 300 & echo done"))
    assert (row.status, row.output) == ("success", "done\n")


def test_a_folder_that_is_not_there_is_said_before_anything_runs(gate: PlannerDesk) -> None:
    plan = planning.plan_command(gate.state, gate.by, "touch x", "/nowhere/at/all", "test")
    with pytest.raises(AnswerRefused, match="there is no folder"):
        running.start(gate.state, gate.by, plan.id, consent_to(plan))
    with pytest.raises(AnswerRefused, match="absolute path"):
        planning.plan_command(gate.state, gate.by, "touch x", "relative", "test")


def test_the_history_is_searched_by_words_and_status(gate: PlannerDesk) -> None:
    gate.run(gate.plan("echo needle_100%_here"))
    gate.clock.forward(1)
    put_away = gate.plan("echo needle_100%_there")
    planning.reject(gate.state, gate.by, put_away.id)

    def found(**query: str) -> list[str]:
        return [row.command for row in history.search_plans(gate.state, PlanQuery(**query))]  # type: ignore[arg-type]

    assert found(text="NEEDLE_100%") == ["echo needle_100%_there", "echo needle_100%_here"]
    assert found(text="needle_100%", status="rejected") == ["echo needle_100%_there"]
    assert found(text="needle%here") == [] and found(text="nobody asked this") == []


def test_a_plan_that_was_put_away_does_not_run(gate: PlannerDesk) -> None:
    plan = gate.plan("touch away")
    planning.reject(gate.state, gate.by, plan.id)
    with pytest.raises(AnswerRefused):
        running.start(gate.state, gate.by, plan.id, consent_to(plan))
    with pytest.raises(AnswerRefused):
        planning.edit(gate.state, gate.by, plan.id, "touch again")


def test_a_planner_that_fails_is_said_in_its_words_and_the_next_one_is_asked(gate: PlannerDesk) -> None:
    gate.state.plans.planner = ScriptedPlanner(PlannerError("the model is asleep"))
    for _ in range(4):  # its place is free again each time
        with pytest.raises(AnswerRefused, match="the model is asleep"):
            planning.make_plan(gate.state, gate.by, "list files")
    gate.state.plans.planner = None
    with pytest.raises(AnswerRefused, match="no planner"):
        planning.make_plan(gate.state, gate.by, "list files")


def test_the_request_is_kept_as_it_was_said(gate: PlannerDesk) -> None:
    gate.state.plans.planner = says = ScriptedPlanner({"command": "ls"})
    plan = planning.make_plan(gate.state, gate.by, "  Show me  ALL files!  ", str(gate.here))
    assert plan.intent == says.asked[0][0] == "  Show me  ALL files!  "
    assert set(says.asked[0][1]) == {"system", "shell", "folder"}


@pytest.mark.parametrize(
    ("strength", "shared", "words"), [("separate", False, "user of its own"), ("plain", True, "people share")]
)
def test_a_daemon_that_is_not_the_persons_own_runs_nothing(
    gate: PlannerDesk, strength: str, shared: bool, words: str
) -> None:
    state = replace(gate.state, strength=strength, shared=shared)
    plan = gate.plan("touch not_here")
    with pytest.raises(AnswerRefused, match=words):
        running.start(state, gate.by, plan.id, consent_to(plan))
    assert not (gate.here / "not_here").exists()


def test_a_browser_from_elsewhere_runs_nothing(gate: PlannerDesk) -> None:
    plan = gate.plan("touch not_here")
    with pytest.raises(AnswerRefused, match="not at this machine"):
        running.start(gate.state, gate.by, plan.id, consent_to(plan), elsewhere=True)


def test_a_run_at_a_terminal_is_told_once(gate: PlannerDesk) -> None:
    plan = gate.plan("make something")
    assert running.release_to_terminal(gate.state, gate.by, plan.id, consent_to(plan)).status == "running"
    assert running.end_at_terminal(gate.state, gate.by, plan.id, 2).status == "failure"
    with pytest.raises(AnswerRefused):
        running.end_at_terminal(gate.state, gate.by, plan.id, 0)


def test_what_ran_when_the_daemon_ended_was_interrupted(tmp_path: Path) -> None:
    gate = PlannerDesk(tmp_path)
    plan = gate.plan("make something")
    running.release_to_terminal(gate.state, gate.by, plan.id, consent_to(plan))
    gate.restart()
    assert gate.row(plan).status == "interrupted"
    gate.close()


def at_a_terminal(gate: PlannerDesk, pid: int) -> ReviewedPlan:
    plan = gate.plan("make something")
    running.release_to_terminal(gate.state, gate.by, plan.id, consent_to(plan), pid)
    return plan


def test_what_ran_at_a_terminal_that_was_killed_was_interrupted_and_is_on_record(gate: PlannerDesk) -> None:
    program = subprocess.Popen(["sleep", "300"])
    try:
        plan = at_a_terminal(gate, program.pid)
        for _ in range(5):  # however long it takes, while its program lives
            gate.clock.forward(terminals.LEASE)
            assert terminals.renew_leases(gate.state) == 0 and gate.row(plan).status == "running"
    finally:
        program.kill()
        program.wait()
    assert terminals.renew_leases(gate.state) == 1
    row = gate.row(plan)
    assert (row.status, row.exit_code) == ("interrupted", -1) and row.ended_at == gate.clock.now()
    assert f'"plan":"{plan.id}"' in gate.records("plan_end")[-1].body
    assert terminals.renew_leases(gate.state) == 0


def test_a_run_whose_daemon_is_gone_is_ended_by_another_when_its_lease_is_over(gate: PlannerDesk) -> None:
    plan = at_a_terminal(gate, os.getpid())
    gate.state.plans.terminals.clear()  # as another replica knows it
    gate.clock.forward(terminals.LEASE - 1)
    assert terminals.renew_leases(gate.state) == 0
    gate.clock.forward(1)
    assert terminals.renew_leases(gate.state) == 1 and gate.row(plan).status == "interrupted"
    assert running.end_at_terminal(gate.state, gate.by, plan.id, 0).status == "success"  # it was only out of sight


def test_a_run_of_a_program_that_cannot_be_seen_is_missed_after_a_day(gate: PlannerDesk) -> None:
    plan = at_a_terminal(gate, 0)
    gate.clock.forward(86_399)
    assert terminals.renew_leases(gate.state) == 0
    gate.clock.forward(1)
    assert terminals.renew_leases(gate.state) == 1 and gate.row(plan).status == "interrupted"


@pytest.mark.skipif(sys.platform != "linux", reason="the journal is Linux's")
def test_what_a_plan_changed_can_be_undone(gate: PlannerDesk) -> None:
    config = config_of({"store": {"url": f"sqlite://{gate.here}/kept"}, "undo": {"free_bytes": 0}}, environ={})
    build_for(config)
    gate.state.plans.journal = partial(begin_run, config)
    try:
        row = gate.run(gate.plan('test -t 0 && echo "$(ps -o tty= $$ | grep -c pts)" > made; exit 4'))
        assert (row.status, row.exit_code, (gate.here / "made").read_text()) == ("failure", 4, "1\n")
        assert JournalUndo(config).undo(row.details["journal"], False)["undone"] and not (gate.here / "made").exists()
        assert "journal" not in gate.run(gate.plan("true")).details
        plan = gate.plan("sleep 100")
        running.start(gate.state, gate.by, plan.id, consent_to(plan))
        running.cancel(gate.state, gate.by, plan.id)
        assert gate.ended(plan).status == "interrupted"
    finally:
        gate.state.plans.journal = lambda agent: None
