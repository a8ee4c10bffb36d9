"""Command lines among the parameters, however they are spelt."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.analysis.facts import Effect
from interlock.analysis.operations.operation import read_operation
from interlock.analysis.read import read
from interlock.model import operation
from recording_report import Recorder

RUN: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("run_kubectl", {"args": ["delete", "ns", "payments"]}, ("kubectl", "delete", "ns", "payments")),
    ("run_kubectl", {"args": "get pods"}, ("kubectl", "get", "pods")),
    ("exec_cli", {"argv": ["terraform", "destroy"]}, ("terraform", "destroy")),
    ("subprocess_run", {"program": "git", "args": ["status"]}, ("git", "status")),
    ("process.spawn", {"file": "/bin/sh", "args": ["-c", "ls"]}, ("/bin/sh", "-c", "ls")),
    ("ansible_adhoc", {"hosts": "db", "module": "shell", "args": "uptime"}, ("ansible", "db", "-m", "shell", "-a", "uptime")),
    ("docker_cli", {"action": {"command": ["volume", "rm", "v"]}}, ("docker", "volume", "rm", "v")),
    ("flyctl", {"subcommand": "apps destroy", "args": ["shop"]}, ("flyctl", "apps", "destroy", "shop")),
    ("compose", {"command": "down", "volumes": True}, ("docker", "compose", "down", "--volumes")),
    ("git_push", {"remote": "origin", "refspec": "+HEAD:master"}, ("git", "push", "origin", "+HEAD:master")),
    ("git", {"subcommand": "reset", "flags": ["--hard", "HEAD~2"]}, ("git", "reset", "--hard", "HEAD~2")),
    ("kubectl_generic", {"command": "delete", "resourceType": "pvc", "flags": {"all": True, "n": "p"}}, ("kubectl", "delete", "--all", "-n", "p", "pvc")),
    ("sh", {"c": "bash -i"}, ("sh", "-c", "bash -i")),
    ("zsh", {"flags": ["-c"], "arguments": ["ls -l"]}, ("zsh", "-c", "ls -l")),
    ("curl", {"args": ["-X", "DELETE", "https://es/x"]}, ("curl", "-X", "DELETE", "https://es/x")),
    ("adb_shell", {"serial": "R5", "command": "pm clear com.x"}, ("adb", "shell", "pm", "clear", "com.x", "--serial=R5")),
    ("prisma", {"subcommand": "db push", "flags": ["--accept-data-loss"]}, ("prisma", "db", "push", "--accept-data-loss")),
    ("wevtutil", {"args": ["cl", "Security"]}, ("wevtutil", "cl", "Security")),
    ("pg_archivecleanup", {"dir": "/wal", "keep_from": "0001"}, ("pg_archivecleanup", "--keep_from=0001", "/wal")),
    ("dd", {"if": "/dev/zero", "of": "/dev/sda"}, ("dd", "if=/dev/zero", "of=/dev/sda")),
    ("mcp__redis__command", {"args": ["TTL", "purge:queue"]}, ("redis-cli", "TTL", "purge:queue")),
    ("ipmitool", {"host": "10.9.1.44", "args": "sdr list"}, ("ipmitool", "sdr", "list")),
    ("ldapdelete", {"dn": "ou=x", "r": True}, ("ldapdelete", "-r", "ou=x")),
]  # fmt: skip
NOT_RUN: list[tuple[str, dict[str, Any]]] = [
    ("act", {"instruction": "click on the search box and type it"}),
    ("find", {"name": "drop"}),
    ("wiremock.stub", {"method": "DELETE", "url": "/x"}),
    ("ssh_execute", {"host": "web-03", "command": "df -h && uptime"}),
    ("create_user", {"name": "anna"}),
    ("stagehand_act", {"action": "click the 'Sign in' button"}),
]
SHELL: list[tuple[str, dict[str, Any], str]] = [
    ("call_aws", {"cli_command": "aws s3 ls"}, "aws s3 ls"),
    ("heroku.cli", {"line": "heroku pg:reset"}, "heroku pg:reset"),
    ("mcp__docker__run_command", {"command": "system prune -a"}, "docker system prune -a"),
    ("serverless_cli", {"command": "sls remove --stage x"}, "sls remove --stage x"),
    ("add_cronjob", {"line": "0 0 * * * rm -rf /srv/x"}, "rm -rf /srv/x"),
]


def told(name: str, params: dict[str, Any]) -> list[tuple[object, ...]]:
    out = Recorder()
    read_operation(name, params, "", out)
    return [tuple(one) for one in out.told]


@pytest.mark.parametrize(("name", "params", "argv"), RUN)
def test_words_of_a_command(name: str, params: dict[str, Any], argv: tuple[str, ...]) -> None:
    assert ("run", *argv) in told(name, params), told(name, params)


@pytest.mark.parametrize(("name", "params"), NOT_RUN)
def test_what_is_no_program_is_not_run(name: str, params: dict[str, Any]) -> None:
    assert not any(one[0] == "run" for one in told(name, params)), told(name, params)


def test_a_program_is_judged_by_its_words_and_not_by_its_name() -> None:
    for name, params in (("rm", {"args": ["-rf", "x"]}), ("terraform-run", {"command": "plan", "target": "x"})):
        facts = read(operation(name, params)).facts
        assert not any(isinstance(fact, Effect) and fact.verb in ("act_delete", "act_terminate") for fact in facts), (
            facts
        )


@pytest.mark.parametrize(("name", "params", "text"), SHELL)
def test_text_of_a_command(name: str, params: dict[str, Any], text: str) -> None:
    assert ("shell", text) in told(name, params), told(name, params)


@pytest.mark.parametrize(
    ("name", "params", "runs"),
    [
        ("db-query", {"text": "DELETE FROM customers", "timeout": 30}, True),
        ("database.execute", {"body": "TRUNCATE orders"}, True),
        ("postgres_query", {"input": "UPDATE users SET admin=true"}, True),
        ("sqlite_exec", {"x": ["DROP TABLE users"]}, True),
        ("query_database", {"comment": "DELETE FROM customers is dangerous"}, False),
        ("db_note", {"text": "DELETE FROM customers"}, False),
        ("save_query", {"text": "DELETE FROM customers"}, False),
        ("send_message", {"text": "DELETE FROM customers"}, False),
    ],
)
def test_a_database_runs_a_statement_under_any_key(name: str, params: dict[str, Any], runs: bool) -> None:
    assert any(one[:2] == ("code", "sql") for one in told(name, params)) is runs, told(name, params)


def test_a_script_for_redis_is_read_by_its_calls() -> None:
    script = "for _,k in ipairs(redis.call('KEYS','*')) do redis.pcall('DEL', k) end"
    assert ("code", "lua", script) in told("redis_eval", {"script": script})
    facts = read(operation("redis_eval", {"script": script})).facts
    assert "store_delete" in {fact.verb for fact in facts if isinstance(fact, Effect)}


def test_which_of_two_rival_keys_counts_is_fixed() -> None:
    params = {"command": "git", "arguments": ["push"], "args": ["status"]}
    assert ("run", "git", "status") in told("run_program", params)


def test_code_without_a_language_is_read_as_what_it_looks_like() -> None:
    text = "require('fs').rmSync('/srv/data', {recursive: true})"
    assert ("code", "javascript", text) in told("evaluate", {"expression": text})
