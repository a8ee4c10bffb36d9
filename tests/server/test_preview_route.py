"""POST /api/v1/preview: what would be answered, without a ticket, a record or a count."""

from __future__ import annotations

from pathlib import Path

from daemons import in_process_daemon


def test_a_preview_answers_and_keeps_nothing(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path, policy={"use": "default"}) as here:
        before = here.call("GET", "/api/v1/audit", headers=here.sign_in()).json()["records"]
        asked = [("ls", "allow"), ("git push --force origin main", "ask"), ("rm -rf /", "deny")]
        for command, verdict in asked * 2:  # forbidden attempts would block a caller in the end
            found = here.call("POST", "/api/v1/preview", {"command": command, "cwd": "/srv"}, here.agent()).json()
            assert found["verdict"] == verdict, found
        assert here.call("GET", "/api/v1/tickets", headers=here.sign_in()).json()["tickets"] == []
        after = here.call("GET", "/api/v1/audit", headers=here.sign_in()).json()["records"]
        assert [row for row in after if row["event"] in ("decision", "evaluate")] == [
            row for row in before if row["event"] in ("decision", "evaluate")
        ]


def test_a_preview_takes_a_caller_and_a_command(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path) as here:
        assert here.call("POST", "/api/v1/preview", {"command": "ls"}).status_code == 401
        assert here.call("POST", "/api/v1/preview", {"command": ""}, here.agent()).status_code == 400
