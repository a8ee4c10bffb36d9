"""`interlock explain` for what is no command: operations, tools, and what an agent announces."""

from __future__ import annotations

import json

import pytest

from interlock.cli.main import main
from repository import ROOT

ADAPTER = str(ROOT / "examples" / "github-adapter.md")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--operation", "get_deleted_items", "--crude", "read"], 0, "Allowed"),
        (["--operation", "drop_database"], 20, "Denied"),
        (["--operation", "execute_sql", "--params", '{"query": "DELETE FROM users"}'], 20, "data.delete_all"),
        (
            ["--tool", "Write", "--input", '{"file_path": "~/.ssh/authorized_keys", "content": "x"}'],
            10,
            "ssh.authorized_keys",
        ),
        (["--tool", "Bash", "--input", '{"command": "rm -rf ~"}'], 20, "filesystem.wipe"),
        (["--intent", "listing the open pull requests"], 0, "Allowed"),
        (["--intent", "cleaning out the customers collection before the import"], 20, "Denied"),
        (["--intent", "continue"], 10, "give detail"),
    ],
)
def test_every_kind_of_action_is_explained(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *words]) == code
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("operation", "params", "code", "said"),
    [
        ("delete_repo", '{"owner": "acme", "repo": "widgets"}', 10, "Delete repository 'acme/widgets'?"),
        ("force_sync", "{}", 0, "lowers it to reversible"),
        ("get_repo", "{}", 0, "level from category and name"),
    ],
)
def test_an_adapter_says_what_its_operation_is(
    operation: str, params: str, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "--operation", operation, "--params", params, "--adapter", ADAPTER]) == code
    assert said in capsys.readouterr().out


def test_what_the_parameters_carry_counts_whatever_the_adapter_declares(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["explain", "--operation", "force_sync", "--params", '{"command": "rm -rf ~"}', "--adapter", ADAPTER])
        == 20
    )


def test_the_json_form_names_the_action_and_its_adapter(capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", "--json", "--operation", "delete_repo", "--adapter", ADAPTER])
    found = json.loads(capsys.readouterr().out)
    assert (found["operation"], found["level"], found["adapter"]["trust"]) == ("delete_repo", 3, "community_reviewed")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--operation", "x", "--params", "{"], "--params is no JSON"),
        (["--operation", "x", "--params", "[]"], "expected an object"),
        (["--operation", "x", "--tool", "y"], "give one of"),
        (["ls", "--intent", "x"], "give one of"),
        (["--intent", "x", "--adapter", ADAPTER], "--adapter goes with --operation"),
        (["--params", "{}", "ls"], "--params goes with --operation"),
        (["--tool", "Write", "--crude", "read"], "--crude goes with --operation"),
        (["--input", "{}", "ls"], "--input goes with --tool"),
        (["--operation", "nope", "--adapter", ADAPTER], "no operation 'nope'"),
        (
            ["--operation", "x", "--adapter", "/nonexistent.yaml"],
            "explain: /nonexistent.yaml: No such file or directory",
        ),
        (["--operation", "x", "--crude", "remove"], "--crude: invalid choice: 'REMOVE' (choose from 'CREATE'"),
    ],
)
def test_wrong_usage_is_told(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["explain", *words])
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    assert code == 2
    assert said in capsys.readouterr().err
