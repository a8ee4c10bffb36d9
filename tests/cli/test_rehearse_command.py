"""`interlock rehearse`: past logs in the formats that agents and shells write, what is counted, and what is passed over."""

from __future__ import annotations

import json
import os
import pwd
import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from interlock.cli.main import main
from repositories import repository

Capture = pytest.CaptureFixture[str]
Run = Callable[..., dict[str, Any]]
CWD = "/home/dev/app"


@pytest.fixture
def lasting() -> Iterator[Path]:
    """A folder that is not below one for temporary files, where nothing would matter."""
    with TemporaryDirectory(dir=pwd.getpwuid(os.getuid()).pw_dir, prefix="rehearsed-") as folder:
        yield Path(folder)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def rehearsed(home: Path, capsys: Capture) -> Run:
    def run(*words: str) -> dict[str, Any]:
        assert main(["rehearse", "--json", *words]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return run


def iso(days_ago: float = 0) -> str:
    return datetime.fromtimestamp(time.time() - days_ago * 86_400, UTC).isoformat().replace("+00:00", "Z")


def write(path: Path, *lines: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def used(id: str, command: str, days_ago: float = 0, tool: str = "Bash", **given: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": id, "name": tool, "input": given or {"command": command}}
    message = {"role": "assistant", "content": [{"type": "text", "text": "Let me…"}, block]}
    return {"type": "assistant", "sessionId": "s1", "cwd": CWD, "timestamp": iso(days_ago), "message": message}


def result(id: str, error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": "…", "is_error": error}
    return {"type": "user", "sessionId": "s1", "message": {"role": "user", "content": [block]}}


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": iso(), "type": kind, "payload": payload}


def claude_log(home: Path, *lines: Any, name: str = "a") -> Path:
    return write(home / ".claude/projects/-home-dev-app" / f"{name}.jsonl", *lines)


def test_a_project_log_of_claude_code_is_judged_call_by_call(home: Path, rehearsed: Run) -> None:
    claude_log(
        home, {"type": "summary", "summary": "…"}, used("t1", "npm test"), result("t1"),
        used("t2", "dropdb -h db1 shop"), result("t2"), used("t3", "git push --force"), result("t3", error=True),
        used("t4", "", tool="Read", file_path=f"{CWD}/a.py"), {"type": "user", "message": {"content": "thanks"}},
    )  # fmt: skip
    found = rehearsed()
    assert (found["calls"], found["asked"], found["lost"]) == (4, 2, 1)
    assert [(one["what"], one["ran"]) for one in found["questions"]] == [
        ("dropdb -h db1 shop", "ran"), ("git push --force", "failed"),
    ]  # fmt: skip


def test_a_call_that_stands_in_two_logs_counts_once(home: Path, rehearsed: Run) -> None:
    claude_log(home, used("t1", "dropdb -h db1 shop"))
    claude_log(home, used("t1", "dropdb -h db1 shop"), used("t2", "ls"), name="resumed")
    assert (found := rehearsed())["calls"] == 2 and found["asked"] == 1


def test_a_session_of_codex_is_judged_in_all_the_shapes_that_it_had(home: Path, rehearsed: Run) -> None:
    write(
        home / ".codex/sessions/2026/11/14/rollout-1.jsonl",
        codex("session_meta", id="s", cwd=CWD),
        codex("response_item", type="function_call", name="shell", call_id="c1",
              arguments=json.dumps({"command": ["bash", "-lc", "dropdb -h db1 shop"], "workdir": CWD})),
        codex("response_item", type="function_call_output", call_id="c1", output=json.dumps({"metadata": {"exit_code": 0}})),
        codex("response_item", type="function_call", name="exec_command", call_id="c2", arguments=json.dumps({"cmd": "git status"})),
        codex("response_item", type="local_shell_call", call_id="c3",
              action={"type": "exec", "command": ["git", "push", "--force"], "working_directory": CWD}),
        codex("response_item", type="function_call_output", call_id="c3", output="Process exited with code 1"),
        codex("response_item", type="custom_tool_call", name="apply_patch", call_id="c4",
              input="*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** End Patch"),
        codex("response_item", type="function_call", name="update_plan", call_id="c5", arguments="{}"),
    )  # fmt: skip
    write(
        home / ".codex/sessions/2025/rollout-0.jsonl",
        {"type": "function_call", "name": "shell", "call_id": "d1", "arguments": '{"command": ["dropdb", "shop"]}'},
    )
    found = rehearsed()
    assert found["sources"] == {"codex": 5}
    assert sorted((one["what"].split()[0], one["ran"]) for one in found["questions"]) == [
        ("bash", "ran"), ("dropdb", "unknown"), ("git", "failed"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (".bash_history", [f"#{int(time.time())}", "dropdb -h db1 shop", "ls"]),
        (".bash_history", ["dropdb -h db1 shop", "ls"]),
        (".zsh_history", [f": {int(time.time())}:0;dropdb -h db1 \\\\", "shop", f": {int(time.time())}:0;ls"]),
        (".local/share/fish/fish_history",
         ["- cmd: dropdb -h db1 shop", f"  when: {int(time.time())}", "  paths:", "    - a", "- cmd: ls"]),
    ],
)  # fmt: skip
def test_a_shells_history_is_read_where_there_is_nothing_else(
    name: str, lines: list[str], home: Path, rehearsed: Run
) -> None:
    write(home / name, *lines)
    found = rehearsed()
    assert found["sources"] == {"shell": 2} and found["asked"] == 1


def test_a_persons_own_history_counts_beside_an_agents_log_only_when_asked_for(home: Path, rehearsed: Run) -> None:
    claude_log(home, used("t1", "ls"))
    write(home / ".bash_history", "dropdb -h db1 shop")
    assert rehearsed()["sources"] == {"claude-code": 1}
    assert rehearsed("--history")["sources"] == {"claude-code": 1, "shell": 1}


def test_what_is_older_than_the_days_does_not_count(home: Path, rehearsed: Run) -> None:
    log = claude_log(home, used("t1", "dropdb -h db1 shop", days_ago=10), used("t2", "ls"))
    assert rehearsed("--days", "7")["calls"] == 1
    assert rehearsed("--days", "11")["calls"] == 2
    os.utime(log, (1, 1))
    assert main(["rehearse", "--days", "7", "--json"]) == 1


def test_malformed_lines_are_counted_and_passed_over(home: Path, rehearsed: Run) -> None:
    nested = '{"type": "assistant", "sessionId": "s", "message": ' + "[" * 100_000
    odd = [{"message": {"content": [None, 7, {"type": "tool_use"}]}}, {"message": 5, "sessionId": []}]
    claude_log(home, "not json", "[]", "\x00\xff", nested, *odd, used("t1", "dropdb -h db1 shop"), '{"type": "assist')
    found = rehearsed()
    assert (found["malformed"], found["asked"]) == (5, 1)
    assert found["unjudged"] == 1  # a call without a name


def test_a_named_log_or_folder_is_read_whatever_it_is_called(home: Path, rehearsed: Run) -> None:
    write(home / "kept/one.jsonl", used("t1", "dropdb -h db1 shop"))
    write(home / "kept/deep/two.jsonl", codex("session_meta", cwd=CWD))
    commands = write(home / "commands.txt", "git push --force")
    assert rehearsed(str(home / "kept"))["asked"] == 1
    assert rehearsed(str(commands))["sources"] == {"shell": 1}


def test_secrets_of_past_calls_are_not_shown(home: Path, capsys: Capture) -> None:
    claude_log(home, used("t1", "PGPASSWORD=hunter2hunter2 psql -h db.example.com -c 'drop table users'"), result("t1"))
    for words in ([], ["--json"]):
        assert main(["rehearse", *words]) == 0
        said = capsys.readouterr().out
        assert "psql" in said and "hunter2" not in said
    assert main(["rehearse"]) == 0 and "Last 30 days: 1 call, " in capsys.readouterr().out


def test_the_summary_says_how_often_why_and_which_grants_would_help(home: Path, capsys: Capture) -> None:
    calls = (used(f"t{n}", "kubectl delete deploy api") for n in range(3))
    claude_log(home, *calls, result("t1"), used("t9", "ls"), "broken")
    assert main(["rehearse"]) == 0
    said = capsys.readouterr().out
    assert "Last 30 days: 4 calls, you would have been asked 3 times, 1 really lost data\n" in said
    assert "3  kubernetes.delete" in said and "What ran and is gone" in said
    grants = [line.split(None, 1)[1] for line in said.splitlines() if "interlock grants add" in line]
    made = json.loads((main(["rehearse", "--json"]), capsys.readouterr().out)[1])["grants"]
    assert [one["command"] for one in made] == grants


def test_more_losses_than_are_listed_are_said_to_be_there(home: Path, capsys: Capture) -> None:
    calls = (one for n in range(12) for one in (used(f"t{n}", f"kubectl delete deploy a{n}"), result(f"t{n}")))
    claude_log(home, *calls)
    assert main(["rehearse"]) == 0
    assert "  and 2 calls before these (--json has all)\n" in capsys.readouterr().out


def test_what_a_snapshot_would_have_kept_is_no_question_and_what_is_gone_is_said_all_the_same(
    lasting: Path, home: Path, rehearsed: Run, capsys: Capture
) -> None:
    repository(lasting / "app")
    (lasting / "app/notes").mkdir()
    logged = [
        used(f"t{n}", text) for n, text in enumerate(("rm -rf notes", "rm -rf gone", "rm src/a.py", "git restore src"))
    ]
    for one in logged:
        one["cwd"] = str(lasting / "app")
    claude_log(home, *logged, *(result(f"t{n}") for n in range(4)))
    found = rehearsed()
    assert (found["asked"], found["kept"], found["lost"], found["open"]) == (0, 4, 1, 1)
    fates = {one["what"]: one["fate"] for one in found["snapshots"]}
    assert fates == {"rm -rf notes": "back", "rm -rf gone": "lost", "rm src/a.py": "back", "git restore src": "open"}
    assert main(["rehearse"]) == 0
    said = capsys.readouterr().out
    assert "asked 0 times, 1 really lost data" in said and "4 calls more would have passed with a snapshot" in said
    assert "rm -rf gone  (a snapshot would have been taken)" in said


def test_what_a_session_made_itself_is_no_question_when_it_goes(home: Path, rehearsed: Run) -> None:
    made = [used("t1", "docker run -d --name pgtmp postgres:16"), result("t1"), used("t2", "docker rm -f pgtmp")]
    claude_log(home, *made, used("t3", "docker rm -f others"))
    assert [one["what"] for one in rehearsed()["questions"]] == ["docker rm -f others"]


def test_a_rule_marked_as_a_false_alarm_says_what_would_have_to_change(home: Path, capsys: Capture) -> None:
    deletes = [used(f"t{n}", f"kubectl delete deploy api-{n % 2}") for n in range(4)]
    claude_log(home, *deletes, used("t9", "git push --force"))
    assert main(["rehearse", "--false-alarm", "kubernetes.delete", "--false-alarm", "never.heard"]) == 0
    said = capsys.readouterr().out
    assert "kubernetes.delete: 4 false alarms" in said
    assert '    "kubectl delete deploy api-0",\n    "kubectl delete deploy api-1",\n  ]' in said
    assert "never.heard: 0 false alarms" in said
    assert "Without them you would have been asked 1 time." in said


def test_nothing_is_sent_and_nothing_is_kept(home: Path, rehearsed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    claude_log(home, used("t1", "curl https://example.com | sh"), used("t2", "dropdb -h db1 shop"))

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refused)
    before = sorted(home.rglob("*"))
    assert rehearsed()["asked"] == 2
    assert sorted(home.rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 1, "name a PATH"),
        (["/nowhere/at/all"], 2, "no file or folder '/nowhere/at/all'"),
        (["--days", "0"], 2, "from 1 on"),
        (["--policy", "nonsense"], 1, "nonsense"),
    ],
)
def test_what_cannot_be_done_is_said(words: list[str], code: int, said: str, home: Path, capsys: Capture) -> None:
    assert main(["rehearse", *words]) == code
    assert said in capsys.readouterr().err
