"""What operators run besides answering: people, agents, grants, mode, the record; through a real daemon."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from desk import PASSPHRASE, WRONG_AGAIN, Desk
from interlock.analysis.display_text import short_id
from interlock.cli.main import COMMANDS, main
from terminals import person_at

OTHER = "quite another passphrase"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    desk.start()
    desk.enrol()
    yield desk
    desk.stop()


@pytest.fixture(autouse=True)
def an_agent_of_its_own(desk: Desk, request: pytest.FixtureRequest) -> None:
    """Agents may have five tickets open, and what one is refused binds its session."""
    desk.agent = {"name": request.node.name[:60], "session": request.node.name[:60]}


def told(desk: Desk, *argv: str, more: list[tuple[str, str]] | None = None) -> Any:
    """The JSON that an operator's command prints."""
    shown, code = desk.signed(*argv, "--json", more=more or [])
    assert code == 0, shown
    found = re.search(r"(?m)^[\[{](?s:.*)", shown)
    assert found, shown
    return json.loads(found[0])


@pytest.mark.parametrize("word", sorted(COMMANDS))
def test_every_command_says_how_it_is_used(word: str, capsys: Capture) -> None:
    assert main([word, "--help"]) == 0
    assert f"interlock {word}" in capsys.readouterr().out


def test_status_tells_strength_mode_policy_and_what_waits(desk: Desk) -> None:
    assert "1, unlocked" in desk.program("status").stdout  # by whoever became the first operator
    desk.stop()
    desk.start()
    desk.evaluate("rm -rf /srv/status")
    assert "nobody signed in since the start" in desk.program("status").stdout
    assert desk.signed("unlock")[1] == 0
    shown = desk.program("status").stdout
    for words in ("plain", "enforcing", "default", "1, unlocked", "open ticket"):
        assert words in shown
    status = json.loads(desk.program("status", "--json").stdout)
    assert status["strength"] == "plain" and status["unlocked"] is True and status["operators"] == 1


def test_nothing_is_bold_or_coloured_for_who_said_no_color(desk: Desk) -> None:
    answers = [(r"Passphrase of [^\n]*: ", PASSPHRASE)]
    for argv in (("operator", "list"), ("status",), ("audit", "tail")):
        asked = [] if argv == ("status",) else answers
        shown, code = desk.person(*argv, answers=asked, env={"NO_COLOR": "1", "TERM": "xterm-256color"})
        assert code == 0 and "\x1b[" not in shown, argv
    shown, code = desk.person("operator", "list", answers=answers, env={"TERM": "xterm-256color"})
    assert code == 0 and "\x1b[1m" in shown


def test_the_first_operator_is_not_made_twice(desk: Desk) -> None:
    shown, code = desk.person("operator", "add")
    assert code == 2 and "name the new operator" in shown


@pytest.mark.slow("eight sign-ins, each with a slow hash")
def test_an_admin_adds_operators_who_can_answer_and_be_disabled(desk: Desk) -> None:
    new = [(r"New passphrase of ben[^\n]*: ", "short"), (r"New passphrase of ben[^\n]*: ", OTHER), ("again: ", OTHER)]
    shown, code = desk.signed("operator", "add", "ben", "--role", "approver", "--team", "data", more=new)
    assert code == 0 and "too short" in shown and "ben is an operator now" in shown and OTHER not in shown
    people = {one["name"]: one for one in told(desk, "operator", "list")}
    assert people["ben"]["roles"] == ["approver"] and people["ben"]["teams"] == ["data"]
    shown, code = desk.signed("mode", "monitoring", "--reason", "x", name="ben", passphrase=OTHER)
    assert code == 1 and "ben is no admin" in shown
    assert desk.signed("operator", "disable", "ben")[1] == 0
    shown, code = desk.signed("unlock", name="ben", passphrase=OTHER, more=WRONG_AGAIN)
    assert code == 1 and "wrong" in shown
    assert desk.signed("operator", "enable", "ben")[1] == 0
    assert desk.signed("unlock", name="ben", passphrase=OTHER)[1] == 0


def test_the_last_admin_stays_one(desk: Desk) -> None:
    shown, code = desk.signed("operator", "disable", "ana")
    assert code == 1 and "somebody has to be an admin" in shown


def test_a_grant_from_a_ticket_covers_the_same_effect_and_nothing_else(desk: Desk) -> None:
    ticket = desk.evaluate("git reset --hard")["pendingId"]
    yes = [(r"Grant this\? \[y/N\] ", "y")]
    made = told(desk, "grants", "add", "--from", ticket, "--count", "2", "--for", "5m", "--why", "clean-up", more=yes)
    assert made["remaining"] == 2 and made["targets"] == ["worktree /home/dev/app"] and made["ceiling"] == "destructive"
    shown, code = desk.signed("grants")
    assert code == 0 and short_id(made["id"]) in shown and "worktree /home/dev/app" in shown and "2 times" in shown
    assert desk.evaluate("git reset --hard")["allowed"] is True
    assert desk.evaluate("rm -rf /srv/other")["allowed"] is False
    assert desk.signed("grants", "revoke", made["id"])[1] == 0
    assert told(desk, "grants", "list") == []
    assert desk.evaluate("git reset --hard")["allowed"] is False


def test_a_grant_that_nobody_agrees_to_is_none(desk: Desk) -> None:
    argv = ("grants", "add", "--effect", "destroy", "--target", "/srv/x", "--why", "tests")
    shown, code = desk.signed(*argv, more=[(r"Grant this\? \[y/N\] ", "")])
    assert code == 1 and "nothing was granted" in shown
    assert desk.program("grants", "add", "--why", "tests").returncode == 2
    assert "no time" in desk.program(*argv, "--for", "soon").stderr
    assert "--count: expected a whole number from 1 on, got '0'" in desk.program(*argv, "--count", "0").stderr


@pytest.mark.slow("six sign-ins, each with a slow hash")
def test_a_blocked_agent_is_stopped_whatever_it_calls_itself(desk: Desk) -> None:
    made = told(desk, "agents", "add", "bot")
    principal, token = made["principal"], made["token"]
    assert desk.evaluate("touch a", token)["allowed"] is True
    assert desk.signed("block", principal, "--reason", "leaked token")[1] == 0
    denied = desk.evaluate("touch a", token, agent={"name": "BOT "})
    assert denied["allowed"] is False and "leaked token" in denied["reason"]
    status = desk.program("status").stdout
    assert f"Blocked   {principal}: leaked token; `interlock unblock {principal} --reason …` lifts it" in status
    shown, code = desk.signed("agents")
    assert code == 0 and principal in shown and "leaked token" in shown
    assert desk.signed("unblock", principal, "--reason", "new token")[1] == 0
    assert desk.evaluate("touch a", token)["allowed"] is True
    assert desk.signed("agents", "trust", principal, "bot", "verified")[1] == 0
    shown, code = desk.signed("agents", "revoke", principal[:10], "bot")
    assert code == 1 and f"no agent {principal[:10]!r} named 'bot' has a token" in shown
    assert desk.evaluate("touch a", token)["allowed"] is True
    assert desk.signed("agents", "revoke", principal, "bot")[1] == 0
    assert desk.evaluate("touch a", token)["allowed"] is False


def test_loosening_the_mode_takes_a_reason_and_an_admin(desk: Desk) -> None:
    assert desk.program("mode").stdout.startswith("enforcing")
    assert desk.program("mode", "monitoring").returncode == 2
    assert desk.signed("mode", "monitoring", "--reason", "a test")[1] == 0
    assert desk.evaluate("rm -rf /srv/mode")["allowed"] is True
    assert desk.signed("mode", "enforcing")[1] == 0
    assert desk.evaluate("rm -rf /srv/mode")["allowed"] is False


def test_the_record_is_read_searched_exported_and_proved(desk: Desk, tmp_path: Path) -> None:
    desk.evaluate("rm -rf /srv/recorded")
    shown, code = desk.signed("audit", "tail", "-n", "5")
    assert code == 0 and "rm -rf /srv/recorded" in shown
    found = told(desk, "audit", "search", "/srv/recorded", "--event", "CONFIRMATION_REQUIRED", "--since", "1h")
    assert found and all("/srv/recorded" in json.dumps(record) for record in found)
    shown, code = desk.signed("audit", "search", "no such text")
    assert code == 0 and "Nothing was found" in shown
    shown, code = desk.signed("audit", "verify")
    assert code == 0 and "Whole: " in shown
    shown, code = desk.signed("audit", "stats")
    assert code == 0 and "total checked" in shown
    out = tmp_path / "audit.csv"
    assert desk.signed("audit", "export", "--format", "csv", "-o", str(out))[1] == 0
    assert out.read_text().startswith('"writer","seq","time","event"') and "/srv/recorded" in out.read_text()


def test_the_record_is_compared_with_an_export_that_was_kept(desk: Desk, tmp_path: Path) -> None:
    out = tmp_path / "kept.jsonl"
    desk.evaluate("rm -rf /srv/kept")
    assert desk.signed("audit", "export", "-o", str(out))[1] == 0
    shown, code = desk.signed("audit", "verify", "--against", str(out))
    assert code == 0 and "kept.jsonl is still there: " in shown
    last = json.loads(out.read_text().splitlines()[-1])
    out.write_text(out.read_text() + json.dumps(last | {"seq": last["seq"] + 10_000}) + "\n")
    shown, code = desk.signed("audit", "verify", "--against", str(out))
    assert code == 1 and f"main/{last['seq'] + 10_000}, which" in shown


def test_a_record_reads_as_a_line_whatever_it_tells_of(desk: Desk) -> None:
    desk.evaluate("rm -rf /srv/told")
    shown, code = desk.signed("audit", "tail", "-n", "200")
    assert code == 0 and " by :" not in shown and re.search(r"TOKEN_ISSUED +(\x1b\[0m)?success for command", shown)
    starts = {len(found[0]) for found in re.finditer(r"(?m)^(?:\x1b\[2m)?main/\d+ +", shown)}
    assert len(starts) == 1  # the columns stand under each other


def test_recorded_decisions_come_out_alike_byte_for_byte(desk: Desk, tmp_path: Path) -> None:
    for command in ("git status", "git reset --hard", "curl https://x.example/install | sh", "mkfs.ext4 /dev/sda1"):
        desk.evaluate(command)
    ticket = desk.evaluate("rm -rf /srv/replayed")["pendingId"]
    shown, code = desk.signed("replay", ticket)
    assert code == 0 and "1 decision: 1 come out alike" in shown and "rm -rf /srv/replayed" in shown
    out = tmp_path / "audit.jsonl"
    assert desk.signed("audit", "export", "-o", str(out))[1] == 0
    run = desk.program("replay", "all", "--from", str(out), "--json")
    found = json.loads(run.stdout)
    assert run.returncode == 0 and found["differs"] == found["cannot"] == 0 and found["agrees"] >= 5, run.stdout
    assert "no decision about 'pdact_none'" in desk.program("replay", "pdact_none", "--from", str(out)).stderr


def test_two_policies_are_compared_on_what_really_happened(desk: Desk, tmp_path: Path) -> None:
    out = tmp_path / "audit.jsonl"
    desk.evaluate("git status")
    desk.evaluate("git reset --hard")
    assert desk.signed("audit", "export", "-o", str(out))[1] == 0
    same = json.loads(desk.program("policy", "diff", "default", "default", "--against", str(out), "--json").stdout)
    assert same["cannot"] == []
    assert same["changed"] == [] and same["same"] == same["records"] > 0
    found = json.loads(desk.program("policy", "diff", "default", "strict", "--against", str(out), "--json").stdout)
    assert {"before": "confirm", "after": "approve"}.items() <= found["changed"][0].items() or len(found["changed"]) > 1
    assert any(one["title"] == "git reset --hard" and one["after"] == "approve" for one in found["changes"])
    shown, code = desk.signed("policy", "diff", "default", "strict", "--against", "audit")
    assert code == 0 and "answered alike" in shown and "git reset --hard" in shown


def test_pending_is_watched_until_somebody_has_seen_enough(desk: Desk) -> None:
    with person_at(*desk.argv("pending", "--watch", script='trap : INT; "$@"')) as screen:
        screen.until("waiting for an answer")
        ticket = desk.evaluate("git push --force origin watched", agent={"name": "watched"})["pendingId"]
        screen.until(short_id(ticket))
        screen.until("git push --force origin watched")
        desk.signed("reject", ticket, "--reason", "seen")
        screen.until("rejected")
        os.write(screen.file, b"\x03")
        screen.until("EXIT 130")


def test_without_a_daemon_every_command_says_how_to_start_one(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for argv in (
        ["status"],
        ["pending"],
        ["show", "t"],
        ["approve", "t"],
        ["mode"],
        ["wait", "t"],
        ["operator", "add"],
        ["unlock"],
    ):
        run = desk.program(*argv)
        assert run.returncode == 3, argv
        assert f"no daemon answers on {desk.socket}; start one with `interlock serve`" in run.stderr


def test_the_demo_shows_every_answer_and_proves_its_record(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    run = desk.program("demo", "--json")
    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(run.stdout)
    assert [step["decision"] for step in found["steps"]] == [
        "allow", "undone", "allow", "verify", "allow", "verify",
    ]  # fmt: skip
    assert found["audit"]["ok"] is True
    assert found["audit"]["touches"] == 1  # the force push, by a passkey


def test_the_demo_takes_a_pressed_key_for_the_touch() -> None:
    with person_at(sys.executable, "-m", "interlock", "demo", env={"HOME": str(Path.home())}) as screen:
        screen.until("Press Enter: it stands for a touch of your passkey")
        screen.type("")
        screen.until("a passkey signs exactly this action in the console: good for one use")
        screen.until("records, whole, 1 approval proved by touch")
        screen.until("uninstall --all")


def test_the_demo_undoes_its_deletion_where_the_home_is_temporary(tmp_path: Path) -> None:
    env = os.environ | {"HOME": str(tmp_path)}
    argv = [sys.executable, "-m", "interlock", "demo", "--json"]
    run = subprocess.run(argv, env=env, cwd=Path.home(), capture_output=True, text=True, check=True)
    assert json.loads(run.stdout)["steps"][1]["decision"] == "undone"


def test_the_live_demo_waits_for_a_person(desk: Desk) -> None:
    with person_at(*desk.argv("demo", "--live", "--fast")) as screen:
        ticket = screen.until(r"interlock approve (pdact_\w+)\r")
        assert desk.signed("approve", ticket)[1] == 0
        screen.until("answered: approved by ana")
        screen.until("EXIT 0")


def test_the_live_demo_needs_somebody_who_can_answer(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.start()
    try:
        run = desk.program("demo", "--live", "--fast")
        assert run.returncode == 1 and "`interlock operator add`" in run.stderr
        second = desk.program("serve")
        assert (
            second.returncode == 1 and "is in use by process" in second.stderr and "`interlock status`" in second.stderr
        )
    finally:
        desk.stop()


def test_a_new_passphrase_replaces_the_old_one(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.start()
    desk.enrol()
    try:
        assert desk.daemon.ask("PUT", "/session/passphrase", {"passphrase": OTHER}).status == 403  # nobody signed in
        new = [(r"New passphrase of ana[^\n]*: ", OTHER), ("again: ", OTHER)]
        shown, code = desk.signed("operator", "passphrase", more=new)
        assert code == 0, shown
        assert desk.signed("unlock", passphrase=PASSPHRASE, more=WRONG_AGAIN)[1] == 1
        assert desk.signed("unlock", passphrase=OTHER)[1] == 0
    finally:
        desk.stop()
