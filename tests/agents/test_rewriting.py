"""Each agent that takes rewritten calls: in its own shape, and only where its own rules are known to leave the original alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_golden import GOLDEN

from interlock.agents import Event, HookVerdict, RewrittenCall, agent, words
from interlock.agents.rewriting import ASKED, LEAVE, SILENT, ShellCall, with_originals

NEW = ". /state/bin/interlock-journaled x c1 0 make"
TAKES = {"claude-code", "gemini", "cursor", "copilot", "opencode"}
BEFORE = {
    "claude-code": ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "make", "timeout": 5}}),
    "gemini": ("BeforeTool", {"tool_name": "run_shell_command", "tool_input": {"command": "make", "dir_path": "a"}}),
    "cursor": ("preToolUse", {"tool_name": "Shell", "tool_input": {"command": "make"}, "conversation_id": "s"}),
    "copilot": ("preToolUse", {"toolName": "bash", "toolArgs": json.dumps({"command": "make", "description": "b"})}),
    "opencode": ("tool.execute.before", {"tool": "bash", "args": {"command": "make"}, "session_id": "s"}),
}


def decoded(word: str, cwd: Path, **more: Any) -> Event:
    name, given = BEFORE[word]
    event = agent(word).decode(json.dumps({"cwd": str(cwd), **given, **more}).encode(), name)
    assert not event.problem
    return event


def said(word: str, event: Event, asked: bool = False) -> Any:
    given = event.calls[0].input
    new = RewrittenCall({"command": NEW}, {**given, "command": NEW}, asked, "kept: make")
    return json.loads(agent(word).encode(event, HookVerdict("allow", rewrite=new)).stdout)


def test_these_agents_take_rewritten_calls() -> None:
    assert {word for word in words() if agent(word).rewrites is not None} == TAKES


def test_claude_code_takes_the_whole_input_with_a_decision(tmp_path: Path) -> None:
    event = decoded("claude-code", tmp_path, permission_mode="default", session_id="s")
    for asked, word in ((False, "allow"), (True, "ask")):
        assert said("claude-code", event, asked) == {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": word,
                "permissionDecisionReason": "kept: make",
                "updatedInput": {"command": NEW, "timeout": 5},
            }
        }


def test_the_others_take_the_input_and_decide_themselves(tmp_path: Path) -> None:
    merged = {"hookEventName": "BeforeTool", "tool_input": {"command": NEW}}
    assert said("gemini", decoded("gemini", tmp_path)) == {"hookSpecificOutput": merged}
    shown = said("cursor", decoded("cursor", tmp_path))
    assert shown == {"permission": "allow", "updated_input": {"command": NEW}}
    shown = said("copilot", decoded("copilot", tmp_path))
    assert shown["modifiedArgs"] == {"command": NEW, "description": "b"} and "permissionDecision" not in shown
    assert said("opencode", decoded("opencode", tmp_path)) == {"decision": "allow", "args": {"command": NEW}}
    assert (
        "Object.assign(output.args, answer.args)"
        in (GOLDEN.parents[2] / "src/interlock/agents/plugins/opencode.js").read_text()
    )


def test_a_denial_never_carries_a_new_input(tmp_path: Path) -> None:
    new = RewrittenCall({"command": NEW}, {"command": NEW}, False)
    for word in TAKES:
        for verdict in (HookVerdict("deny", "no", rewrite=new), HookVerdict("ask", "why", rewrite=new)):
            shown = agent(word).encode(decoded(word, tmp_path), verdict)
            assert b"interlock-journaled" not in shown.stdout + shown.stderr


RULES = [
    ("gemini", {}, ASKED),
    ("gemini", {".gemini/settings.json": {"tools": {"exclude": ["run_shell_command(rm)"]}}}, LEAVE),
    ("gemini", {".gemini/settings.json": {"tools": {"sandbox": "docker"}}}, LEAVE),
    ("gemini", {".gemini/settings.json": {"theme": "dark"}}, ASKED),
    ("gemini", {".gemini/policies/own.toml": "[[rule]]"}, LEAVE),
    ("gemini", {".gemini/settings.json": "{broken"}, LEAVE),
    ("gemini", {"work/.gemini/settings.json": {"hooks": {"BeforeTool": [{"hooks": [{"command": "rtk"}]}]}}}, LEAVE),
    ("cursor", {}, SILENT),
    ("cursor", {".cursor/cli-config.json": {"permissions": {"deny": ["Shell(rm)"]}}}, LEAVE),
    ("cursor", {".cursor/hooks.json": {"hooks": {"preToolUse": [{"command": "other"}]}}}, LEAVE),
    ("cursor", {".config/Cursor/User/globalStorage/state.vscdb": "SQLite"}, LEAVE),
    ("copilot", {}, ASKED),
    ("copilot", {"work/.github/hooks/other.json": {"hooks": {"preToolUse": [{"bash": "other"}]}}}, LEAVE),
    ("opencode", {}, SILENT),
    ("opencode", {".config/opencode/opencode.json": {"permission": {"bash": {"rm *": "ask"}}}}, LEAVE),
    ("opencode", {"work/opencode.jsonc": {"agent": {"build": {"permission": "allow"}}}}, LEAVE),
    ("opencode", {"work/opencode.json": {"model": "x"}}, SILENT),
]


@pytest.mark.parametrize("word, files, passage", RULES)
def test_a_rule_of_the_agents_own_leaves_the_call_as_it_is(
    word: str, files: dict[str, Any], passage: str, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for name, value in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
    event, rewriting = decoded(word, work), agent(word).rewrites
    assert rewriting is not None
    assert rewriting(ShellCall(event, event.calls[0], tmp_path, (("make",),))) == passage


RUNS, ASKS, REFUSES = 0, 1, 2  # what an agent does with a call, the strictest last
CLAUDE_RULES: list[dict[str, list[str]]] = [
    {},
    {"deny": ["Bash(rm:*)"]},
    {"ask": ["Bash(rm *)"]},
    {"allow": ["Bash(rm:*)"]},
    {"allow": ["Bash"]},
    {"allow": ["Bash"], "deny": ["Bash(rm -r:*)"]},
    {"allow": ["Bash(rm:*)"], "ask": ["Bash"]},
    {"allow": ["Bash(git *)"], "deny": ["WebFetch"]},
]


def claude_code_does(mode: str, rules: dict[str, list[str]], text: str) -> int:
    """What Claude Code's documentation says about a call of `rm`, by the rules above."""
    hits = {kind for kind, given in rules.items() if any("rm" in one or one == "Bash" for one in given)}
    if "deny" in hits and text.startswith("rm -r"):
        return REFUSES
    if "deny" in hits and rules["deny"] == ["Bash(rm:*)"]:
        return REFUSES
    if mode == "plan":
        return REFUSES
    if "ask" in hits:
        return ASKS
    if mode == "bypassPermissions" or "allow" in hits:
        return RUNS
    return {"dontAsk": REFUSES, "acceptEdits": RUNS}.get(mode, ASKS)


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "", "new"])
@pytest.mark.parametrize("rules", CLAUDE_RULES, ids=json.dumps)
@pytest.mark.parametrize("text", ["rm notes.txt", "rm -rf sub"])
def test_claude_code_is_never_told_less_than_it_would_do_itself(
    mode: str, rules: dict[str, list[str]], text: str, tmp_path: Path
) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"permissions": rules}))
    more = {"tool_name": "Bash", "tool_input": {"command": text}, "permission_mode": mode, "session_id": "s"}
    event, rewriting = decoded("claude-code", tmp_path, **more), agent("claude-code").rewrites
    assert rewriting is not None
    passage = rewriting(ShellCall(event, event.calls[0], tmp_path, (tuple(text.split()),)))
    plain = claude_code_does(mode, rules, text)
    assert {SILENT: RUNS, ASKED: ASKS, LEAVE: plain}[passage] >= plain


def test_a_terminal_of_vs_code_is_left_alone(tmp_path: Path) -> None:
    event = decoded("copilot", tmp_path, toolName="run_in_terminal")
    rewriting = agent("copilot").rewrites
    assert rewriting is not None and rewriting(ShellCall(event, event.calls[0], tmp_path)) == LEAVE


def test_every_agents_rewritten_call_is_read_as_its_original(tmp_path: Path) -> None:
    for word in TAKES:
        plain = decoded(word, tmp_path)
        name, given = BEFORE[word]
        text = json.dumps({"cwd": str(tmp_path), **given}).replace("make", NEW)
        rewritten = agent(word).decode(text.encode(), name)
        found = with_originals(rewritten, lambda text: "make" if text == NEW else "")
        assert found.calls[0].action == plain.calls[0].action and found.calls[0].input == plain.calls[0].input
        assert with_originals(plain, lambda text: "") is plain
