"""What a person approves is what would run: unwrapped, decoded, with the harm marked, and nothing left out."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from interlock.analysis.assess import judge
from interlock.analysis.rules import load
from interlock.approvals.display import (
    RUNS,
    ActionDisplay,
    display_action,
    list_text,
    one_line,
    reasons,
    ticket_text,
    unwrap_commands,
)
from interlock.model import Action, command, finding_json, intent, operation, tool
from interlock.policy.impact import RECOVERABLE, recoverable, undo_words_after
from stored_records import ticket

RM = "rm -rf /srv/data"
CODED = base64.b64encode(RM.encode()).decode()
WIDE = base64.b64encode(RM.encode("utf-16-le")).decode()


def form(action: Action) -> ActionDisplay:
    seen = judge(action, load.load()).assessment
    kept: dict[str, Any] = {"kind": action.kind.value, **action.fields}
    findings = [finding_json(finding) for finding in seen.findings]
    return display_action({**kept, RUNS: unwrap_commands(seen.steps, findings, kept)}, findings)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (f"echo {CODED} | base64 -d | sh", "sh"),
        (f"bash -c '{RM}'", "bash -c"),
        (f'sh -c "{RM}"', "sh -c"),
        (f"sudo bash -c 'bash -c \"{RM}\"'", ""),
        ("X=rm; D=/srv/data; $X -rf $D", ""),
        ("rm -rf ${HOME%%/*}/srv/data; D=/srv/data; rm -rf $D", ""),
        ("a=(rm -rf /srv/data); \"${a[@]}\"", ""),
        ("r\\m -r'f' /srv/data", ""),
        ("rm -rf /srv/d{at,}a", ""),
        (f"eval $(printf '{RM.replace('r', chr(92) + 'x72')}')", "eval"),
        (f"bash <<'X'\n{RM}\nX", "bash"),
        (f"ssh web1 '{RM}'", "ssh"),
        (f"trap '{RM}' EXIT", "trap"),
        (f"watch '{RM}'", "watch"),
        (f"node -e \"require('child_process').execSync('{RM}')\"", "node"),
        (f"pwsh -EncodedCommand {WIDE}", ""),
        ("alias ll='rm -rf'; shopt -s expand_aliases\nll /srv/data", ""),
        ("f(){ rm -rf \"$1\"; }; f /srv/data", "f()"),
    ],
)  # fmt: skip
def test_what_a_text_hides_leads(text: str, inside: str) -> None:
    found = form(command(text, "/home/dev/app"))
    assert any(run.text.startswith("rm -rf /srv/d") and inside in run.inside for run in found.harm), found.harm
    assert found.text == text and found.lead.startswith("rm -rf")


@pytest.mark.parametrize(
    "text",
    [
        RM,
        "git push --force origin main",
        f"cd /srv && git pull && sudo {RM} && echo done",
        f"env A=1 timeout 5 {RM} > log 2>&1",
        'psql prod -c "DROP TABLE users"',
        "rm -rf 'my dir' \"your dir\"",
        "python3 -c \"import shutil; shutil.rmtree('/srv/data')\"",
        "kubectl exec pod -- rm -rf /data",
        "ls -la",
    ],
)
def test_a_text_that_shows_what_would_run_is_not_said_twice(text: str) -> None:
    found = form(command(text, "/home/dev/app"))
    assert not found.harm and not found.others and found.text == text


def test_the_harm_is_marked_in_the_text_and_what_runs_beside_it_is_named() -> None:
    text = f"cd /srv && git pull && {RM} && echo done"
    found = form(command(text))
    assert [text[start:end].strip() for start, end in found.marks] == [RM]
    found = form(command(f"git pull && bash -c '{RM} && echo done'"))
    assert [run.text for run in found.harm] == [RM]
    assert [run.text for run in found.others] == ["git pull", "echo done"]  # not the wrapper, which says it again


def test_the_worst_of_many_commands_is_never_cut_off() -> None:
    lines = "\n".join(f"echo {number}" for number in range(100))
    found = form(command(f"bash -c '{lines}\n{RM}'"))
    assert [run.text for run in found.harm] == [RM] and len(found.others) < 100


def test_a_secret_that_decoding_brings_out_is_taken_out() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    hidden = base64.b64encode(f"curl -X DELETE -H 'Authorization: Bearer {token}' https://x.example/all".encode())
    found = form(command(f"echo {hidden.decode()} | base64 -d | bash"))
    assert found.harm and token not in repr((found.harm, found.others))


def test_letters_that_look_like_others_are_named_wherever_they_stand() -> None:
    assert any("cyrillic" in words for words in form(command("rm -rf /srv/\u0430pp")).letters)
    assert any("cyrillic" in words for words in form(operation("drop", {"table": "us\u0435rs"})).letters)
    assert form(operation("drop", {"table": "users"})).letters == ()


CALLS = [
    ({"id": 5}, "delete_user(id=5)"),
    ({"id": 5, "force": True, "who": "ana"}, 'delete_user(id=5, force=true, who="ana")'),
    ({}, "delete_user"),
    ({"ids": [1, 2], "at": {"x": None}}, 'delete_user(ids=[1, 2], at={"x": null})'),
]


@pytest.mark.parametrize(("params", "line"), CALLS)
def test_an_operation_is_one_line_with_its_parameters(params: dict[str, Any], line: str) -> None:
    for kept in ({"kind": "operation", "operation": "delete_user", "params": params}, {"kind": "tool", "tool": "delete_user", "input": params}):  # fmt: skip
        assert display_action(kept).text == one_line(kept) == line and not display_action(kept).fields


def test_a_parameter_that_is_long_or_has_lines_stands_below_whole() -> None:
    sql = "DELETE FROM orders;\nDELETE FROM users;"
    found = form(tool("mcp__db__query", {"database": "shop", "sql": sql, "note": "n" * 300}))
    assert found.text == 'mcp__db__query(database="shop", sql=…, note=…)'
    assert found.fields == {"sql": sql, "note": "n" * 300}
    assert one_line({"kind": "tool", "tool": "q", "input": {"sql": sql}}).startswith('q(sql="DELETE FROM orders;')


def test_a_command_inside_a_tool_call_is_unwrapped_too() -> None:
    found = form(tool("run_shell_command", {"command": f"echo {CODED} | base64 -d | sh"}))
    assert [run.text for run in found.harm] == [RM]
    assert not form(tool("run_shell_command", {"command": RM})).harm
    assert not form(intent(f"I will now run {RM} to clean up")).harm


def test_lists_keep_the_breaks_of_lines() -> None:
    kept = {"kind": "command", "command": "set -e\n  make   all\n" + "x" * 400}
    assert (
        list_text(kept).startswith("set -e\nmake all\nxxx")
        and len(list_text(kept)) == 300
        and "\n" not in one_line(kept)
    )


def test_a_window_shows_the_action_and_says_where_it_is_cut() -> None:
    action = {
        "kind": "command",
        "command": f"bash -c '{RM}'\x1b[2J",
        "cwd": "/srv",
        RUNS: [{"command": RM, "via": ["bash -c"]}],
    }
    held = ticket("pdact_1", action=action, findings=({"level": 3, "subject": RM},))  # fmt: skip
    lines = ticket_text(held)
    assert lines[:2] == ["What would run:", f"! {RM}   (inside bash -c)"]
    assert f"  bash -c '{RM}'\\x1b[2J" in lines and lines[-1] == "In /srv"
    long = ticket_text(ticket("pdact_2", action={"kind": "command", "command": "x" * 9_000}))
    assert "interlock show pdact_2" in long[-1] and sum(map(len, long)) < 4_200


def test_cannot_be_undone_never_stands_beside_what_can_be_had_back() -> None:
    back = ("cannot be undone (+10)", f"looked: would delete 3 files, 9 bytes; {RECOVERABLE}")
    assert recoverable(back) and not recoverable(back[:1])
    assert "cannot be undone" not in undo_words_after("irreversible: cannot be undone", back)
    assert undo_words_after("cannot be undone", back[:1]) == "cannot be undone"


def test_every_reason_that_changed_the_answer_is_told_once() -> None:
    findings = [{"id": "git.force_push", "level": 3, "reason": "Overwrites commits."}]
    factors = [
        "base: dangerous (75)", "network (+10)", "Overwrites commits (git.force_push)", "level: dangerous: Overwrites commits.",
        "irreversible: cannot be undone", "tier: score 85: verify", "looked: would delete 1 file", "not kept: too much",
        "repetition: the same operation 50 times in this execution",
        "raised: more is asked this time: the same operation 50 times in this execution", "claimed: its caller says so",
    ]  # fmt: skip
    assert reasons("dangerous: Overwrites commits.", "dangerous", findings, factors) == (
        "Overwrites commits.",
        "More is asked this time: the same operation 50 times in this execution",
        "Its caller says so",
    )


def test_a_step_limit_is_told_once_as_the_reason() -> None:
    limit = "Step limit exceeded. A yes allows this step and 9 more after it"
    factors = ["steps: Step limit exceeded", "raised: asked about this time: Step limit exceeded"]
    assert reasons(limit, "safe", [], factors) == (limit,)
